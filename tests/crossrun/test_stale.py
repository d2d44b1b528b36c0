"""Runs that are said to be running."""

import pytest

from runlens.crossrun.rule import CrossFinding
from runlens.crossrun.stale import RULE
from runlens.nights import RunRow
from tests.auditing.made import HOUR, START, row

LAST = START + 4 * HOUR  # the last record of a drawn run


def ask(rows: list[RunRow], hours: float) -> tuple[CrossFinding, ...]:
    """Ask the rule so many hours after the last record."""
    return RULE.check(rows, RULE.limits, LAST + hours * HOUR)


def running(name: str, **more: object) -> RunRow:
    """Draw a run that is said to be running."""
    return row(name, state="running", **more)  # type: ignore[arg-type]


def test_a_run_that_went_quiet_is_found_after_six_hours() -> None:
    """With how long it has been quiet; not before."""
    (finding,) = ask([running("a")], 6.5)
    assert (finding.severity, finding.runs) == ("warning", ("runs/a",))
    assert finding.worst == "a: last record 6 h 30 min ago."
    assert ask([running("a")], 5.5) == ()


def test_runs_of_one_group_are_one_finding() -> None:
    """The longest quiet first; another group is another finding."""
    rows = [running("a"), running("b", ended=LAST - HOUR), running("c", group="x")]
    first, second = ask(rows, 12)
    assert first.runs == ("runs/b", "runs/a")
    assert second.runs == ("runs/c",)


@pytest.mark.parametrize(
    "quiet",
    [
        row("a"),
        running("a", ended=None),
        running("a", ended=LAST + 20 * HOUR),
        running("a", steps=1),
    ],
    ids=["finished", "no times", "a clock ahead", "a record every four hours"],
)
def test_look_alikes_pass(quiet: RunRow) -> None:
    """Over, not dated, ahead of time, or slow."""
    assert ask([quiet], 10) == ()
