"""The ledger of waste: one definition, each run once, by day, cause and user."""

from dataclasses import replace

import pytest

from runlens import cost
from runlens.auditing.ledger import ledger
from runlens.nights import RunRow
from tests.auditing.made import HOUR, START, found, row


def past_best(name: str, night: int, last: float) -> RunRow:
    """Draw a healthy run whose evaluation was best after an hour, and ended at `last`."""
    one = row(name, night, eval_loss=last, user="ben")
    began = one.started or 0.0
    more = {"eval_loss.best": 1.0, "eval_loss.best_time": began + HOUR}
    return replace(one, measures={**one.measures, **more})


ROWS = (
    row("a", 0, findings=[found(time=START + HOUR)], user="anna"),
    row("b", 0, findings=[found(time=START + 3 * HOUR)], user="anna"),
    row("c", 1, findings=[found("divergence", time=START + 25 * HOUR)], user="anna"),
    past_best("d", 1, 1.5),
    past_best("e", 1, 1.005),
    row("f", 1, user="carl"),
)


def test_hours_are_told_by_day_cause_and_user() -> None:
    """The latest day first; what ended tonight is marked; a price makes it money."""
    known = ledger(ROWS, {"runs/c", "runs/d"}, 2.0)
    assert [(one.cause, one.title, one.user, one.runs, one.tonight) for one in known] == [
        ("divergence", "Divergence", "anna", 1, True),
        ("past-best", "Past the best evaluation", "ben", 1, True),
        ("nan-loss", "NaN loss", "anna", 2, False),
    ]
    assert [one.gpu_hours for one in known] == pytest.approx([6, 6, 8])
    assert [one.money for one in known] == pytest.approx([12, 12, 16])
    assert known[0].date == "2023-11-16"


def test_the_sum_is_that_of_every_other_place() -> None:
    """Page, message and trend have one definition."""
    assert sum(one.gpu_hours for one in ledger(ROWS, (), None)) == cost.lost(ROWS).gpu_hours


def test_a_run_whose_last_evaluation_is_about_its_best_wastes_nothing() -> None:
    """And so does one of which the time of the best is not known: the last one was it."""
    assert ledger([past_best("e", 0, 1.005)], (), None) == ()
    last = past_best("g", 0, 1.5)
    timeless = {key: one for key, one in last.measures.items() if not key.endswith("best_time")}
    assert ledger([replace(last, measures=timeless)], (), None) == ()


@pytest.mark.parametrize("ended", [None, 1e15, -5.0])
def test_a_day_that_is_none_is_left_open(ended: float | None) -> None:
    """No date is made of it."""
    one = row("a", findings=[found(time=START)], ended=ended)
    assert {each.date for each in ledger([one], (), None)} <= {""}
