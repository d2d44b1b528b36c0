"""action.yml: its shape is GitHub's, and its script does in a shell what it says."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.places import SICK, WELL, a_run

ACTION = Path(__file__).parents[2] / "action.yml"
BASH = shutil.which("bash") or ""
ANNOTATED = ("::error ", "::warning ", "::notice ")


def action() -> dict[str, Any]:
    """Return the action as GitHub reads it."""
    content: dict[str, Any] = yaml.safe_load(ACTION.read_text(encoding="utf-8"))
    return content


def step(name: str) -> dict[str, Any]:
    """Return one step by its name."""
    [found] = [one for one in action()["runs"]["steps"] if one["name"] == name]
    return dict(found)


def ran(tmp_path: Path, runs: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run the step that diagnoses as a runner does, with this Python in the place of its venv."""
    binaries = tmp_path / "temp" / "runlens" / "bin"
    binaries.mkdir(parents=True)
    for name, command in (("python", sys.executable), ("runlens", f"{sys.executable} -m runlens")):
        (binaries / name).write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
        (binaries / name).chmod(0o755)
    given = {"RUNS": runs, "FAIL_ON": "", "CONFIG": "", "REPORT": "runlens-report"} | more
    return subprocess.run(
        [BASH, "--noprofile", "--norc", "-eo", "pipefail", "-c", step("Diagnose")["run"]],
        env={
            "PATH": os.environ["PATH"],
            "RUNNER_TEMP": str(tmp_path / "temp"),
            "GITHUB_OUTPUT": str(tmp_path / "output"),
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
            **given,
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def outputs(tmp_path: Path) -> dict[str, str]:
    """Return the outputs of the step."""
    lines = (tmp_path / "output").read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines)


def test_the_action_has_the_shape_that_github_asks_for() -> None:
    """By the schema that comes with check-jsonschema."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "github-actions"]
    ended = subprocess.run([*command, str(ACTION)], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout


def test_inputs_reach_the_shell_through_the_environment_alone() -> None:
    """Pasted into a script they would be run: a run may have any name."""
    for one in action()["runs"]["steps"]:
        assert "${{" not in one.get("run", "")
    known = set(action()["inputs"])
    used = {
        value.removeprefix("${{ inputs.").removesuffix(" }}")
        for one in action()["runs"]["steps"]
        for value in one.get("env", {}).values()
    }
    assert used == known


@pytest.mark.skipif(not BASH, reason="no bash on PATH")
def test_a_run_gives_annotations_a_summary_outputs_and_pages(tmp_path: Path) -> None:
    """Two runs, one a line, with blanks in the name of one."""
    place = a_run(tmp_path / "my run $(touch x)")
    ended = ran(tmp_path, f"{SICK}\n\n{place.name}\n")
    assert ended.returncode == 0, ended.stderr
    assert all(line.startswith(ANNOTATED) for line in ended.stdout.splitlines())
    assert "::error title=divergence in divergence" in ended.stdout
    assert (tmp_path / "summary").read_text(encoding="utf-8").startswith("### 2 runs")
    told = outputs(tmp_path)
    assert told["health"] == "critical"
    assert len(json.loads(Path(told["json"]).read_text(encoding="utf-8"))) == 2
    pages = {path.name for path in (tmp_path / "temp" / "runlens-pages").iterdir()}
    assert pages == {"diagnosis.json", "runlens-divergence.html", "runlens-my-run-touch-x.html"}
    assert not (tmp_path / "x").exists()


@pytest.mark.skipif(not BASH, reason="no bash on PATH")
@pytest.mark.parametrize(("place", "code"), [(SICK, 1), (WELL, 0)])
def test_the_step_fails_from_the_level_that_was_asked_for(
    tmp_path: Path, place: Path, code: int
) -> None:
    """After the summary was written; no pages where none are wanted."""
    ended = ran(tmp_path, str(place), FAIL_ON="warning", REPORT="")
    assert ended.returncode == code, ended.stderr
    assert place.name in (tmp_path / "summary").read_text(encoding="utf-8")
    pages = tmp_path / "temp" / "runlens-pages"
    assert [path.name for path in pages.iterdir()] == ["diagnosis.json"]


@pytest.mark.skipif(not BASH, reason="no bash on PATH")
def test_a_run_that_cannot_be_read_fails_and_is_told(tmp_path: Path) -> None:
    """Health unknown, and the reason in the log and the summary."""
    ended = ran(tmp_path, "no/such/run")
    assert ended.returncode == 3
    assert "no/such/run: does not exist" in ended.stderr
    assert outputs(tmp_path)["health"] == "unknown"
    assert "no/such/run" in (tmp_path / "summary").read_text(encoding="utf-8")


@pytest.mark.skipif(not BASH, reason="no bash on PATH")
def test_wrong_settings_are_wrong_usage(tmp_path: Path) -> None:
    """One line, exit code 2, no output that would be taken for a result."""
    (tmp_path / "runlens.toml").write_text("[limits.no-such-rule]\nx = 1\n", encoding="utf-8")
    ended = ran(tmp_path, str(WELL), CONFIG="runlens.toml")
    assert ended.returncode == 2
    assert "no-such-rule" in ended.stderr
    assert not (tmp_path / "output").exists()
