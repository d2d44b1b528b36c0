"""Runs that were done twice."""

from dataclasses import replace

import pytest

from runlens.crossrun.duplicate import RULE
from runlens.crossrun.rule import CrossFinding
from runlens.nights import RunRow
from tests.auditing.made import START, row


def ask(*rows: RunRow) -> tuple[CrossFinding, ...]:
    """Ask the rule."""
    return RULE.check(rows, RULE.limits, START)


def test_equal_settings_and_seed_within_a_day_are_a_repetition() -> None:
    """The later run is named, with what it cost; places and names may differ."""
    again = row("b", 0.25, config={"output_dir": "elsewhere"})
    (finding,) = ask(row("a"), again)
    assert (finding.severity, finding.runs, finding.gpu_hours) == ("info", ("runs/b",), 8.0)
    assert finding.worst == "b repeats a, started 6 h before."
    assert "(at least 8)" in finding.why


@pytest.mark.parametrize(
    "other",
    [
        row("b", 0.25, config={"seed": 2}),
        row("b", 0.25, config={"lora_r": 8}),
        row("b", 0.25, config={"git_commit": "abc"}),
        row("b", 1.0),
        row("b", 0.25, state="crashed"),
        row("b", 0.25, steps=500),
        row("b", 0.0),
        row("b", 0.25, started=None),
        row("b", 0.25, group="sft · other"),
    ],
    ids=[
        "another seed",
        "another setting",
        "other code",
        "the next night",
        "crashed",
        "shorter",
        "a copy",
        "no time",
        "another group",
    ],
)
def test_look_alikes_pass(other: RunRow) -> None:
    """What differs, what came to no end, what runs each night, what lies there twice."""
    assert ask(row("a"), other) == ()


def test_few_known_settings_say_nothing() -> None:
    """Equal as far as anybody knows is not equal; and a seed must be known."""
    short = [replace(row(n, at), config={"seed": 1, "lr": 1}) for n, at in (("a", 0), ("b", 0.2))]
    assert ask(*short) == ()
    unseeded = [row(n, at, config={"seed": None}) for n, at in (("a", 0), ("b", 0.2))]
    assert ask(*unseeded) == ()
