"""A light install: what a command lacks is one line that names the extra, and all others work."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from runlens.errors import MissingPackage
from runlens.extras import EXTRAS, install, needed_by

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NAMED = {extra: [name for name, brings in EXTRAS.items() if brings == extra] for extra in
         sorted(set(EXTRAS.values()))}  # fmt: skip
ASKED = {  # the extra, and the commands that need it, by their beginning
    "audit": ("audit ",),
    "cluster": ("audit --cluster",),
    "mcp": ("mcp",),
    "parquet": ("export parquet",),
    "postgres": ("audit postgresql",),
    "wandb": ("diagnose wandb:",),
}


def spelled(command: list[str]) -> str:
    """Return a command as `ASKED` has it."""
    words = " ".join(command)
    for mark in ("--cluster", "postgresql", "wandb:", "parquet"):
        if mark in words:
            return f"{command[0]} {mark}"
    return f"{command[0]} "


def tried(folder: Path, hidden: list[str]) -> list[dict[str, Any]]:
    """Run every command in a new process in which some packages cannot be imported."""
    ended = subprocess.run(
        [sys.executable, str(ROOT / "tests/try_commands.py"), str(folder), "--without", *hidden],
        env={**os.environ, "WANDB_BASE_URL": "http://127.0.0.1:9", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return [json.loads(line) for line in ended.stdout.splitlines()]


@pytest.mark.parametrize("extra", ["", *NAMED, "every"])
def test_every_command_without_an_extra(extra: str, tmp_path: Path) -> None:
    """It works, or says in one line which extra to install; with all of them nothing asks."""
    hidden = list(EXTRAS) if extra == "every" else NAMED.get(extra, [])
    lacking = set(NAMED) if extra == "every" else {extra}
    for one in tried(tmp_path, hidden):
        assert not one["fault"], one
        named = set(re.findall(r"pip install 'runlens-training\[(\w+)\]'", one["stderr"]))
        assert named <= lacking, one
        asking = {name for name in lacking for start in ASKED.get(name, ())
                  if spelled(one["command"]).startswith(start)}  # fmt: skip
        assert bool(named) == bool(asking), one
        assert "Traceback" not in one["stderr"]
        if named:
            assert one["code"] in {2, 3}
            assert one["stderr"].strip().splitlines()[-1].count("runlens-training[") == 1


def test_each_package_is_one_of_its_extra() -> None:
    """As pyproject.toml has it, and no dependency of the base; `all` has all of them."""
    of = PROJECT["optional-dependencies"]
    base = " ".join(PROJECT["dependencies"])
    for package, extra in EXTRAS.items():
        names = [re.split(r"[\[>]", one)[0].lower() for one in of[extra]]
        assert package.lower() in names
        assert package.lower() not in base
    assert set(NAMED) == set(re.findall(r"\w+", of["all"][0].partition("[")[2]))


def test_a_package_of_nobody_is_left_as_it_is() -> None:
    """A fault of ours is no missing extra."""
    assert install("scipy") == "pip install 'runlens-training[stats]'"
    with pytest.raises(ModuleNotFoundError, match="nowhere") as fault, needed_by("x"):
        __import__("nowhere")
    assert not isinstance(fault.value, MissingPackage)


@pytest.mark.parametrize(
    ("package", "call"),
    [
        ("pandas", "runlens.read(place).frame"),
        ("pandas", "runlens.compare(place, place).to_frame()"),
        ("plotly", "runlens.diagnose(place).figure()"),
        ("plotly", "runlens.read(place).plot('train_loss')"),
        ("sqlalchemy", "runlens.audit(place, store='a.db')"),
    ],
)
def test_the_python_api_names_the_extra(package: str, call: str) -> None:
    """As an error of RunLens, in one line."""
    code = f"""
import sys
sys.modules[{package!r}] = None
import runlens
from runlens.errors import MissingPackage
place = {str(ROOT / "fixtures/hockey-stick")!r}
try:
    {call}
except MissingPackage as error:
    print(error)
"""
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert ended.stdout.endswith(f"needs {package}, which is not installed; {install(package)}\n")
