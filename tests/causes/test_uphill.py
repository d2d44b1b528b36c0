"""A loss that climbs from its first point on: what fits, and where the same proves nothing."""

from typing import Any

import pytest

from runlens.engine import diagnose
from runlens.rules.rule import Case, drawn

CLIMBS = "/1 0:1.52 2:1.68 4:1.93 6:2.36 9:3.77"
KEEPS = "/1 0:0.21 4:0.17 9:0.185"


def climbing(train: str = CLIMBS, task: Any = "classification", **more: Any) -> Case:
    """Draw a run whose loss climbs."""
    return drawn("x", noise=0, task=task, train_loss=train, **more)


@pytest.mark.parametrize("case", [climbing(eval_accuracy=KEEPS), climbing()])
def test_a_loss_that_climbs_from_its_start_may_have_the_wrong_sign(case: Case) -> None:
    """It is not named as likely, as a rate may do so; one small update tells."""
    first = diagnose(case.run()).findings[0].causes[0]
    assert (first.kind, first.rank) == ("unknown", "possible")
    assert "a loss with the wrong sign would fit" in first.evidence_for
    assert "one update at a tenth of the rate" in first.experiment
    assert ("accuracy did not rise" in first.evidence_for) is bool(case.curves.get("eval_accuracy"))


@pytest.mark.parametrize(
    "case",
    [
        climbing("/1 0:1.52 3:1.2 4:1.93 6:2.36 9:3.77"),  # it had learned first
        climbing("/1 0:1.52 2:1.68 3:9 9:12"),  # thrown
        climbing("/1 0:1.52 2:2.6 3:2.1 4:3.5 5:2.4 7:3.9 8:2.9 9:3.77"),  # swings
        climbing("/1 0:1.52 2:1.98 4:3.77"),  # few points
        climbing(eval_accuracy="/1 0:0.21 9:0.5"),  # something is learned
        climbing(eval_loss="/1 0:1.5 9:1.2"),
        climbing(task="ppo", reward="/1 0:1 9:3"),
        climbing("/1 0:-1.52 2:-1.2 4:0.5 9:3.77"),  # no error
    ],
)
def test_other_climbs_are_not_taken_for_it(case: Case) -> None:
    """What was thrown, swings, learned first or still learns goes downhill with its updates."""
    assert "wrong sign" not in str(diagnose(case.run()).findings)


EVER_FASTER = "/1 0:1.52 1:1.59 2:1.68 3:1.79 4:1.93 5:2.11 6:2.36 7:2.69 8:3.15 9:3.77"


@pytest.mark.parametrize(
    ("train", "scores", "rank"),
    [
        (EVER_FASTER, KEEPS, "likely"),
        (EVER_FASTER, "/1 0:0.26 4:0.24 9:0.25", "possible"),  # thrown, it guesses
        (EVER_FASTER, "/1 0:0.17 9:0.17", "possible"),  # one answer to all, of a rare class
        ("/1 0:1.52 1:2.1 2:2.5 3:2.8 4:3.0 5:3.2 6:3.4 7:3.5 8:3.6 9:3.7", KEEPS, "possible"),
        (EVER_FASTER, "", "possible"),  # no score
    ],
)
def test_worse_than_a_guess_and_ever_faster_is_uphill(train: str, scores: str, rank: str) -> None:
    """What steps that are too large have thrown guesses, or gives one answer to all."""
    more = {"eval_accuracy": scores} if scores else {}
    found = diagnose(climbing(train, **more).run()).findings
    told = [one for one in found[0].causes if one.what == "A loss with the wrong sign"]
    assert [one.rank for one in told] == [rank]
    assert ("less than a guess scores" in told[0].evidence_for) is (rank == "likely")
