"""A classifier that began at ln k, and whose evaluations never leave it; look-alikes learn."""

from typing import Any

import pytest

from runlens.engine import diagnose
from runlens.rules.loss.near_guess import OF_FIVE, SIX
from runlens.rules.rule import drawn

STANDS = "/1 0:1.783 1:1.764 3:1.755 10:1.753"
FALLS = "/1 0:0.22 1:0.24 10:0.2"


def leading(evals: str, right: str, **more: Any) -> str:
    """Return the rule that leads for these evaluations."""
    told = {**SIX, "eval_loss": evals, "eval_accuracy": right, **more}
    made = diagnose(drawn("six", **told, **OF_FIVE).run()).incidents
    return made[0].findings[0].rule if made else ""


def test_no_evaluation_leaves_the_start() -> None:
    """Training creeps along, and what it learns does not carry over: a guess leads."""
    assert leading(STANDS, FALLS) == "stuck-at-chance"


@pytest.mark.parametrize(
    ("evals", "right", "more"),
    [
        ("/1 0:1.783 1:1.764 3:1.755 10:1.745", "/1 0:0.18 1:0.19 10:0.245", {}),  # answers improve
        ("/1 0:1.783 1:1.75 3:1.72 10:1.68", FALLS, {}),  # the loss does, however slowly
        (STANDS, "/1 0:0.32 1:0.34 10:0.3", {}),  # twice as many are right as by a guess
        (STANDS, FALLS, {"train_loss": "/1 0:1.796 10:1.2"}),  # training rows are memorized
        (STANDS, FALLS, {"train_loss": "/1 0:1.66 10:1.6"}),  # ln 5.3: of no number of classes
    ],
)
def test_look_alikes_of_a_guess_from_the_start(
    evals: str, right: str, more: dict[str, str]
) -> None:
    """Something is learned, or nothing says of how many classes."""
    assert leading(evals, right, **more) != "stuck-at-chance"


def test_few_epochs_are_a_start() -> None:
    """Nine rows may be the slow beginning of what learns."""
    short = {name: value.replace("10:", "8:") for name, value in SIX.items()}
    said = leading(STANDS.replace("10:", "8:"), FALLS.replace("10:", "8:"), **short)
    assert said != "stuck-at-chance"
