"""What contributors are told is true: the drawing of the layers, paths, chores, decisions."""

import os
import re
import runpy
import subprocess
import sys
import tomllib
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import cast

import pytest
import yaml

import runlens
from runlens.rules import RULES
from runlens.rules.evaluation import hockey_stick
from runlens.rules.rule import Family
from tests.rules import registered

ROOT = Path(__file__).parents[1]
PACKAGE = Path(runlens.__file__).parent
ARCHITECTURE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
TOLD = [ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs/adr").glob("*.md"))]
TOLD += [ROOT / "docs/architecture.md"]
ONE_PAGE = 144  # lines, the glossary among them
MEASURED = ROOT / "docs/benchmarks.md"  # tells how many rules there were when it was measured
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
    "importlinter"
]["contracts"]


def short(modules: list[str]) -> set[str]:
    """Return modules as the drawing names them."""
    return {name.strip().removeprefix("runlens.") for name in modules}


def test_the_drawing_is_the_contract() -> None:
    """Same layers, same order: draw a new one in docs/architecture.md as well."""
    (drawing,) = re.findall(r"```text\n(.*?)```", ARCHITECTURE, re.DOTALL)
    drawn = [
        set(line.partition("#")[0].replace(" ", "").split(":")) for line in drawing.split("\n")
    ]
    (layers,) = [one["layers"] for one in CONTRACTS if one["type"] == "layers"]
    assert drawn[:-1] == [short(layer.split(":")) for layer in layers]


def test_every_layer_has_a_word() -> None:
    """A name alone tells a newcomer nothing."""
    (drawing,) = re.findall(r"```text\n(.*?)```", ARCHITECTURE, re.DOTALL)
    assert [line for line in drawing.splitlines() if not line.partition("#")[2].strip()] == []


def test_what_is_forbidden_besides_is_told() -> None:
    """Each contract is an item of the list, with the modules on both of its sides."""
    items = {
        " ".join(item.split()).partition(": ")[::2]
        for item in re.findall(r"^- (.*?\.)$", ARCHITECTURE, re.DOTALL | re.MULTILINE)
    }
    told = {
        name: tuple(set(re.findall(r"`(\w+)`", p)) for p in what.split(" in ", 1))
        for name, what in items
    }
    assert told == {
        one["name"]: (short(one["forbidden_modules"]), short(one["source_modules"]))
        for one in CONTRACTS
        if one["type"] == "forbidden"
    }


def test_every_module_has_its_place() -> None:
    """In the drawing, or among those that stand beside a layer."""
    there = {path.stem for path in PACKAGE.glob("*.py") if not path.stem.startswith("__")}
    there |= {path.name for path in PACKAGE.iterdir() if any(path.glob("*.py"))}
    named = set(re.findall(r"\w+", ARCHITECTURE))
    assert there - {"__pycache__"} - named == set()


@pytest.mark.parametrize("path", TOLD, ids=lambda path: path.stem)
def test_paths_that_are_named_exist(path: Path) -> None:
    """Files and folders in backticks, and targets of links."""
    text = path.read_text(encoding="utf-8")
    named = re.findall(r"`([\w./-]+/[\w.-]*|[\w/-]+\.(?:py|tsv))`", text)
    roots = (ROOT, PACKAGE, PACKAGE / "sources", PACKAGE / "sources/merging", PACKAGE / "rules")
    gone = [one for one in named if not any((root / one).exists() for root in roots)]
    links = re.findall(r"\]\(([^)#:]+)\)", text)
    gone += [link for link in links if not (path.parent / link).exists()]
    assert gone == []


def targets() -> set[str]:
    """Return the targets of the Makefile that are chores."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    return set(re.findall(r"^\.PHONY: (.*)$", text, re.MULTILINE)[0].split())


def test_help_tells_every_chore() -> None:
    """One line each."""
    ran = subprocess.run(
        ["make", "-s", "--no-print-directory", "-C", str(ROOT), "help"],  # noqa: S607 - of the machine
        env={name: value for name, value in os.environ.items() if not name.startswith("MAKE")},
        capture_output=True,
        text=True,
        check=True,
    )
    told = {line.split()[1] for line in ran.stdout.splitlines()}
    assert told == targets()


def test_chores_that_are_named_exist() -> None:
    """In what contributors read, and in the hooks before a commit."""
    told = " ".join(path.read_text(encoding="utf-8") for path in TOLD)
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    entries = [hook["entry"] for repo in hooks["repos"] for hook in repo["hooks"]]
    assert all(entry.startswith("make ") for entry in entries)
    named = set(re.findall(r"(?:`|    )make ([a-z-]+)", told)) | {one[5:] for one in entries}
    assert named
    assert named <= targets()


def test_the_index_of_decisions_is_whole() -> None:
    """Each with its title, and the parts that a decision has."""
    folder = ROOT / "docs/adr"
    index = (folder / "README.md").read_text(encoding="utf-8")
    for path in sorted(folder.glob("0*.md")):
        text = path.read_text(encoding="utf-8")
        title = text.splitlines()[0].removeprefix("# ")
        assert f"[{title}]({path.name})" in index
        assert title.startswith(f"{int(path.stem[:4])}. ")
        parts = re.findall(r"^\*\*(.+?)\*\*", text, re.MULTILINE)
        assert parts == ["Decision.", "Why.", "What it costs.", "Undo it only if"], path.name


def test_contributing_is_one_page() -> None:
    """Who has to scroll does not read."""
    assert len(TOLD[0].read_text(encoding="utf-8").splitlines()) <= ONE_PAGE


def test_make_rules_asks_for_a_rule_that_exists() -> None:
    """One that is mistyped, or not registered, is told and not passed over."""
    assert registered.unknown("hockey-stick") == ""
    assert registered.unknown("hocky-stick") == (
        "no such rule: hocky-stick; did you mean 'hockey-stick'?"
    )
    ran = subprocess.run(
        [sys.executable, registered.__file__, "hocky-stick"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 1
    assert "did you mean 'hockey-stick'?" in ran.stderr


def test_a_rule_that_is_registered_wrongly_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its file, and what does not fit: list, name or family."""
    monkeypatch.setattr(registered, "RULES", (replace(hockey_stick.RULE, slug="ice-stick"),))
    told = registered.faults()
    missing = (
        'loss/sawtooth.py is not in LISTED of runlens/rules/__init__.py: add Listed("sawtooth", '
        '"Sawtooth", "LOS", ("train_loss",), tasks=frozenset('
    )
    assert any(line.startswith(missing) for line in told)
    assert registered.unknown("sawtooth").startswith(missing)
    assert "slug='ice-stick' stands in evaluation/hockey_stick.py" in told[-1]
    assert registered.misplaced(hockey_stick.RULE) == ""
    wrong = replace(hockey_stick.RULE, family="LOS")
    assert registered.misplaced(wrong) == (
        "family='LOS' of hockey-stick is loss/, but it is evaluation/hockey_stick.py"
    )
    unknown = replace(wrong, family=cast("Family", "EVA"))
    assert "no code of FOLDERS" in registered.misplaced(unknown)


def test_drift_asks_rules_on_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether a new rule alarms on a healthy run is what its trial is for."""
    trial = (replace(hockey_stick.RULE, preview=True),)
    asked = partial(runlens.diagnose, rules=trial)
    monkeypatch.setattr(runlens, "diagnose", asked)
    drift = runpy.run_path(str(ROOT / "benchmarks/drift.py"))
    assert list(drift["judged"](str(ROOT / "fixtures/hockey-stick"))) == ["hockey-stick"]


def test_numbers_of_rules_in_prose_are_true() -> None:
    """Without those on trial. Better is to say it without a number."""
    count = sum(not rule.preview for rule in RULES)
    unreleased = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split("\n## ")[1]
    pages = {"CHANGELOG.md": unreleased}
    for path in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        if path != MEASURED:
            pages[str(path.relative_to(ROOT))] = path.read_text(encoding="utf-8")
    stale = [
        f"{page} says {told} rules; there are {count}"
        for page, text in pages.items()
        for told in re.findall(r"\b(\d+)\s+rules\b", text)
        if int(told) != count
    ]
    assert stale == []


def test_the_changelog_tells_what_rules_say_now() -> None:
    """False positives and false negatives have sections of their own."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^### False (\w+)$", text, re.MULTILINE)[:2] == ["positives", "negatives"]
