"""`runlens rules` and `runlens sources`: what is known, and what lies somewhere."""

import pytest

from runlens.rules import RULES
from runlens.rules.rule import Rule
from runlens.sources import READERS
from tests.cli.places import FIXTURES, SICK, lens


def test_rules_lists_every_rule_once() -> None:
    """Slug, severity and title, a line a rule."""
    lines = lens("rules").stdout.splitlines()
    assert [line.split()[:2] for line in lines] == [[rule.slug, rule.severity] for rule in RULES]
    assert all(rule.title in line for rule, line in zip(RULES, lines, strict=True))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.slug)
def test_a_rule_shows_its_page_with_its_limits(rule: Rule[object]) -> None:
    """Page, tasks, needs, and every limit with the value in force."""
    shown = lens("rules", rule.slug).stdout
    assert shown.startswith(f"{rule.slug}: {rule.title}")
    assert rule.page.strip() in shown
    assert all(f"{name} = {value!r}" in shown for name, value in vars(rule.limits).items())
    assert all(task in shown for task in rule.tasks)


def test_unknown_rule_suggests_the_nearest() -> None:
    """Wrong usage, in one sentence."""
    result = lens("rules", "hokey-stick")
    assert result.exit_code == 2
    assert "no rule 'hokey-stick'; did you mean 'hockey-stick'?" in result.stderr


def test_sources_lists_every_format_with_who_writes_it() -> None:
    """What is looked for, by file name."""
    shown = lens("sources").stdout
    for reader in READERS:
        assert f"{reader.LOOKS_FOR}\n    written by: {reader.FRAMEWORK}" in shown


def test_sources_of_a_place_are_its_files_with_their_kind() -> None:
    """All that a diagnosis would read."""
    shown = lens("sources", FIXTURES / "hockey-stick").stdout
    kinds = {line.split()[0] for line in shown.splitlines()}
    assert {"trainer_state", "tensorboard", "wandb_dir", "console"} <= kinds
    assert lens("sources", SICK).stdout.split()[0] == "trainer_state"


def test_sources_of_nothing_is_one_line_and_code_3() -> None:
    """As for a diagnosis."""
    result = lens("sources", "no/such/place")
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr.startswith("runlens: no/such/place: does not exist")
