"""GPU-hours that gave nothing."""

import pytest

from runlens.crossrun.rule import CrossFinding
from runlens.crossrun.wasted import RULE
from runlens.nights import RunRow
from tests.auditing.made import HOUR, START, found, row


def ask(rows: list[RunRow]) -> tuple[CrossFinding, ...]:
    """Ask the rule."""
    return RULE.check(rows, RULE.limits, START)


def past_best(name: str, end: float) -> RunRow:
    """Draw a run whose best evaluation, 1.0, was after one of its four hours."""
    best = {"eval_loss.best": 1.0, "eval_loss.best_time": START + HOUR, "eval_loss.end": end}
    return row(name, measures=best)


def crash(name: str, after: float, minutes: float = 2.0) -> RunRow:
    """Draw a run that crashed within minutes."""
    started = START + after * HOUR
    ended = started + 60 * minutes
    return row(name, state="crashed", health="critical", started=started, ended=ended)


def test_hours_after_a_fault_add_up() -> None:
    """Two runs of 8 GPU-hours each, broken after one and two of four hours."""
    rows = [row(str(at), findings=[found(time=START + at * HOUR)]) for at in (1, 2)]
    (finding,) = ask([*rows, row("good")])
    assert (finding.severity, finding.gpu_hours) == ("info", 10.0)
    assert finding.runs == ("runs/1", "runs/2")
    assert finding.title.startswith("10 of 24 GPU-hours of sft")
    assert "(limit 10" in finding.why


def test_hours_after_the_best_evaluation_count() -> None:
    """Where the run ended clearly worse."""
    (finding,) = ask([past_best("a", 1.2), past_best("b", 1.3)])
    assert finding.gpu_hours == pytest.approx(12)
    assert "after its best evaluation" in finding.worst


def test_runs_without_times_are_said_to_be_unknown() -> None:
    """Not zero."""
    timed = [row(str(at), findings=[found(time=START)]) for at in range(2)]
    untimed = row("x", findings=[found()], started=None, ended=None)
    (finding,) = ask([*timed, untimed])
    assert (finding.gpu_hours, finding.untimed) == (16.0, 1)
    assert "The hours of 1 more are not known." in finding.why


def test_crashes_in_a_row_are_found() -> None:
    """Three within minutes, in one night; the last one is named."""
    (finding,) = ask([crash(str(at), at) for at in range(3)])
    assert (finding.about, finding.runs[0]) == ("crashes", "runs/2")
    assert "3 runs" in finding.title
    assert "crashed within 5 minutes" in finding.title


@pytest.mark.parametrize(
    "rows",
    [
        [row("a", findings=[found(time=START)]), row("b")],
        [past_best("a", 1.005), past_best("b", 1.0)],
        [
            row(str(at), findings=[found("clip-saturation", "warning", time=START)])
            for at in range(3)
        ],
        [crash(str(at), at) for at in range(2)],
        [crash(str(at), 20 * at) for at in range(4)],
        [crash(str(at), at, minutes=30) for at in range(4)],
        [row(str(at), findings=[found(time=START + 3.9 * HOUR)]) for at in range(2)],
    ],
    ids=[
        "one run",
        "wavers about its best",
        "the result stands",
        "two crashes",
        "over several nights",
        "later crashes",
        "a tenth of an hour",
    ],
)
def test_look_alikes_pass(rows: list[RunRow]) -> None:
    """What is told elsewhere, what costs nothing, and typing errors."""
    assert ask(rows) == ()
