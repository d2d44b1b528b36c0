"""Every rule over runs has its page, uses its limits, and is registered."""

import inspect
from pathlib import Path
from typing import Any

import pytest

from runlens import crossrun
from runlens.crossrun import CROSS_RULES, findings
from runlens.crossrun.rule import CrossRule
from runlens.rules import RULES
from runlens.rules.rule import values
from runlens.settings import Settings
from tests.auditing.made import START, row

SECTIONS = ["What is seen", "Why it matters", "Looks alike", "Limits", "Fixes"]
EACH = pytest.mark.parametrize("rule", CROSS_RULES, ids=lambda rule: rule.slug)


@EACH
def test_page_is_complete(rule: CrossRule[Any]) -> None:
    """All sections, in order; every number that may be tuned is explained."""
    lines = rule.page.splitlines()
    assert [line for line in lines if line in SECTIONS] == SECTIONS
    limits = rule.page.split("\nLimits\n")[1].split("\nFixes\n")[0]
    assert [name for name in values(rule.limits) if f"{name}:" not in limits] == []


@EACH
def test_every_limit_is_used(rule: CrossRule[Any]) -> None:
    """A limit that can be set and changes nothing is a lie to the user."""
    source = inspect.getsource(inspect.getmodule(rule.check))  # type: ignore[arg-type]
    assert [name for name in values(rule.limits) if f"limits.{name}" not in source] == []


@EACH
def test_nothing_is_found_in_nothing(rule: CrossRule[Any]) -> None:
    """No run, one run, runs of which nothing is known."""
    bare = [row(str(at), measures={}, noises={}, config={}) for at in range(8)]
    untimed = [row(str(at), started=None, ended=None, group="") for at in range(8)]
    for rows in ([], [row("a")], bare, untimed):
        found = rule.check(rows, rule.limits, START)
        assert [one for one in found if one.severity != "info"] == []


def test_every_rule_file_is_registered() -> None:
    """A file with a RULE is named as its slug and is in CROSS_RULES; no slug is taken twice."""
    folder = Path(crossrun.__file__).parent
    files = {
        path.stem
        for path in folder.glob("*.py")
        if "\nRULE = CrossRule(" in path.read_text(encoding="utf-8")
    }
    assert files == {rule.slug.replace("-", "_") for rule in CROSS_RULES}
    slugs = [rule.slug for rule in RULES] + [rule.slug for rule in CROSS_RULES]
    assert len(set(slugs)) == len(slugs)


def test_limits_that_are_set_hold() -> None:
    """By rule and name, in runlens.toml."""
    rows = [row("a", state="running", health="unknown")]
    now = START + 9 * 3600
    assert findings(rows, now) == ()
    settings = Settings(limits={"stale": {"hours": 1.0}})
    (found,) = findings(rows, now, settings.cross_rules())
    assert found.rule == "stale"
    assert found.severity == "warning"
    assert Settings(severity={"stale": "info"}).lowered_crossed(found).severity == "info"
    ignored = Settings(ignore=("stale",), limits=settings.limits)
    assert findings(rows, now, ignored.cross_rules()) == ()


def test_equal_rows_in_another_order_give_equal_findings() -> None:
    """The store may hand them out as it likes."""
    rows = [row(str(at), at, loss=1 + at % 3 / 500) for at in range(9)]
    rows += [row("far", 9, loss=1.5), row("again", 9.1, loss=1.5)]
    assert findings(rows, START) == findings(rows[::-1], START) != ()
