"""`runlens rules` and `runlens sources`: what is known, and what lies somewhere."""

import json
import re
from typing import Any

import pytest

from runlens.crossrun import CROSS_RULES
from runlens.crossrun.rule import CrossRule
from runlens.rules import RULES
from runlens.rules.rule import Rule, values
from runlens.sources import described, kind_of, libraries
from runlens.sources.libraries import library
from runlens.sources.stores import trackio_db
from tests.cli.places import FIXTURES, SICK, lens

ALL: list[Rule[Any] | CrossRule[Any]] = [*RULES, *CROSS_RULES]


def test_rules_lists_every_rule_once() -> None:
    """Slug, severity and title, a line a rule; those over several runs come last."""
    lines = lens("rules").stdout.splitlines()
    assert [line.split()[:2] for line in lines] == [[rule.slug, rule.severity] for rule in ALL]
    assert all(rule.title in line for rule, line in zip(ALL, lines, strict=True))


def test_a_rule_is_found_by_a_word_of_its_title() -> None:
    """One shows its page, several are listed; what no rule is called is an error."""
    assert lens("rules", "overfit").stdout.startswith("hockey-stick: Overfitting")
    listed = lens("rules", "entropy").stdout
    assert [line.split()[0] for line in listed.splitlines()] == ["entropy-collapse", "entropy-high"]
    assert "no rule 'xyz'" in lens("rules", "xyz").stderr


@pytest.mark.parametrize("rule", ALL, ids=lambda rule: rule.slug)
def test_a_rule_shows_its_page_with_its_limits(rule: Rule[Any] | CrossRule[Any]) -> None:
    """Page, tasks, needs, and every limit with the value in force."""
    shown = lens("rules", rule.slug).stdout
    assert shown.startswith(f"{rule.slug}: {rule.title}")
    assert rule.page.strip() in shown
    assert all(f"{name} = {value!r}" in shown for name, value in values(rule.limits).items())
    assert all(task in shown for task in rule.tasks)


def test_unknown_rule_suggests_the_nearest() -> None:
    """Wrong usage, in one sentence."""
    result = lens("rules", "hokey-stick")
    assert result.exit_code == 2
    assert "no rule 'hokey-stick'; did you mean 'hockey-stick'?" in result.stderr


def test_sources_lists_every_format_with_who_writes_it_and_what_it_needs() -> None:
    """A table: short name, what is looked for, who writes it, whether its library is there."""
    head, *lines = lens("sources", COLUMNS="120").stdout.splitlines()
    table, export = lines[: lines.index("")], lines[lines.index("") + 1]
    starts = [head.index(heading) for heading in ("source", "looks for", "written by", "library")]
    cells = [[line[a:b] for a, b in zip(starts, [*starts[1:], 120], strict=True)] for line in table]
    rows: dict[str, list[str]] = {}
    for name, *more in cells:  # a wrapped cell goes on in the next line
        key = name.strip() or list(rows)[-1]
        before = rows.get(key, ["", "", ""])
        rows[key] = [f"{old}{new.strip()}" for old, new in zip(before, more, strict=True)]
    for reader in described():
        looks, writer, _ = rows[kind_of(reader)]
        assert looks.replace(" ", "") == reader.LOOKS_FOR.replace(" ", "")
        assert writer.replace(" ", "") == reader.FRAMEWORK.replace(" ", "")
    assert rows["trainer_state"][2] == "built in"
    assert re.fullmatch(r"needs sqlite3: ?installed \d+\.[\d.]+", rows["mlflow_db"][2])
    assert export.startswith("export: CSV, JSON, JSON Lines: built in; Parquet: needs pyarrow: ")


def test_sources_fit_a_narrow_terminal() -> None:
    """Cells are wrapped, nothing is cut."""
    shown = lens("sources", COLUMNS="80").stdout
    assert max(map(len, shown.splitlines())) <= 80
    assert "stable-baselines3" in shown


@pytest.mark.parametrize("option", [["--json"], ["--format", "json"]])
def test_sources_are_json_for_machines(option: list[str]) -> None:
    """The same, with the version of each library."""
    known = json.loads(lens("sources", *option).stdout)
    assert [row["source"] for row in known["sources"]] == [kind_of(one) for one in described()]
    store = next(row for row in known["sources"] if row["source"] == "trackio_db")
    assert store["looks_for"] == trackio_db.LOOKS_FOR
    assert store["written_by"] == "Trackio"
    assert [(lib["name"], lib["there"]) for lib in store["libraries"]] == [("sqlite3", True)]
    assert [row["format"] for row in known["exports"]] == ["csv", "json", "jsonl", "parquet"]


def test_library_that_is_missing_says_how_to_come_by_it() -> None:
    """Nothing of it is imported to find out."""
    missing = library("no-such-package")
    assert missing.words == "needs no-such-package: not installed, pip install no-such-package"
    assert library("click").words.startswith("needs click: installed 8")


def test_python_without_sqlite_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The module is of Python, but not of each."""
    monkeypatch.setattr(libraries, "find_spec", lambda _name: None)
    assert library("sqlite3").words == (
        "needs sqlite3: not installed, use a Python that was built with it"
    )


def test_sources_of_a_place_are_its_files_with_their_kind() -> None:
    """All that a diagnosis would read."""
    shown = lens("sources", FIXTURES / "hockey-stick").stdout
    kinds = {line.split()[0] for line in shown.splitlines()}
    assert {"trainer_state", "tensorboard", "wandb_dir", "console"} <= kinds
    assert lens("sources", SICK).stdout.split()[0] == "trainer_state"


def test_sources_of_a_place_are_json_for_machines() -> None:
    """Also where nothing is readable: the reason is in it."""
    listed = json.loads(lens("sources", "--json", SICK).stdout)
    path = str(SICK / "outputs" / "trainer_state.json")
    assert listed["found"][0] == {"source": "trainer_state", "path": path}
    assert listed["problem"] == ""
    result = lens("sources", "--json", "no/such/place")
    assert result.exit_code == 3
    assert json.loads(result.stdout)["found"] == []
    assert json.loads(result.stdout)["problem"].startswith("no/such/place: does not exist")


def test_sources_of_nothing_is_one_line_and_code_3() -> None:
    """As for a diagnosis."""
    result = lens("sources", "no/such/place")
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr.startswith("runlens: no/such/place: does not exist")
