"""Packages with entry points, made in a folder of the test: no network and no pip."""

import tomllib
from itertools import count
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[1] / "examples" / "runlens-example"
STEPS = "".join(f"step={at} loss={3 / (1 + at / 50):.6f}\n" for at in range(1, 301))
RULE = """
from dataclasses import dataclass
from runlens.diagnosis import Evidence, Finding, Moment, Outcome
from runlens.rules.rule import Rule, found, passed, unmet

@dataclass(frozen=True)
class Limits:
    most: float = 0.0

def check(run, signals, limits):
    last = signals.curve("train_loss").value[-1]  # a number of numpy, as authors leave it
    if last <= limits.most:
        return passed(f"ends at {last:.3g}")
    return found(Finding("warning", f"The loss ends at {last:.3g}.", "train_loss",
                         Moment(run.last_step), (Evidence("Last loss", last, limits.most),)))

RULE = Rule("{slug}", "Too high", "LOS", "warning", "Page.", Limits(), check, ("train_loss",))
"""
_numbers = count()


def rule_file(path: Path, slug: str, more: str = "") -> Path:
    """Write a file with a rule that finds every run that trained; `more` is code at its end."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(RULE.replace("{slug}", slug) + more)
    return path


def install(
    place: Path, monkeypatch: pytest.MonkeyPatch, group: str, code: str, name: str = "own"
) -> str:
    """Install a package whose only module has this code; return how RunLens calls it.

    The entry point names `OFFER` of the module, or the module itself where it has none.
    """
    module = f"plugged_{next(_numbers)}"
    target = f"{module}:OFFER" if "OFFER" in code else module
    place.mkdir(parents=True, exist_ok=True)
    (place / f"{module}.py").write_text(code)
    _told(place, module, f"[runlens.{group}]\n{name} = {target}\n")
    monkeypatch.syspath_prepend(str(place))
    return f"{module} 1.0 ({name})"


def install_example(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the example importable, with the entry points that its pyproject.toml names."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    groups = project["entry-points"].items()
    lines = [
        line
        for group, points in groups
        for line in (f"[{group}]", *(f"{name} = {value}" for name, value in points.items()))
    ]
    place.mkdir(parents=True, exist_ok=True)
    _told(place, project["name"], "\n".join(lines))
    monkeypatch.syspath_prepend(str(place))
    monkeypatch.syspath_prepend(str(EXAMPLE))


def _told(place: Path, package: str, points: str) -> None:
    about = place / f"{package}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(points)
