"""One answer to every input, by the means of a classification report."""

from dataclasses import replace

import pytest

from runlens.engine import diagnose
from runlens.rules.loss import near_guess
from runlens.rules.rule import drawn


@pytest.mark.parametrize(("precision", "found"), [("0.25", True), ("0.5", False)])
def test_a_report_shows_that_one_class_is_all_that_is_answered(precision: str, found: bool) -> None:
    """The class that is always answered has a recall of 1 and its share as precision."""
    run = drawn(
        "report",
        noise=0,
        task="classification",
        train_loss="/10 10:2.086 20:2.082",
        eval_loss="/10 10:0.6931 20:0.6941",
        eval_accuracy="/10 10:0.5 20:0.5",
        eval_macro_avg_recall="/10 10:0.5 20:0.5",
        eval_macro_avg_precision=f"/10 10:{precision} 20:{precision}",
    ).run()
    named = {one.rule for incident in diagnose(run).incidents for one in incident.findings}
    assert ("stuck-at-chance" in named) is found


def test_a_standstill_of_an_unknown_task_is_no_alarm_while_evaluation_gets_better() -> None:
    """Each of five evaluations lower than the one before comes by chance once in 120 runs."""
    for evals, severity in (
        ("/57 57:3.362 114:3.334 171:3.319 285:3.312", "info"),
        ("/57 57:3.362 114:3.334 171:3.319 228:3.32 285:3.312", "warning"),
    ):
        train = "/20 20:3.758 80:3.571 140:3.514 280:3.529"
        run = drawn("level", noise=0, task="other", train_loss=train, eval_loss=evals).run()
        found = [
            one for i in diagnose(run).incidents for one in i.findings if one.rule == "plateau"
        ]
        assert [one.severity for one in found] == [severity]


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({}, True),
        ({"eval_accuracy": "/1 0:0.04 40:0.4"}, False),  # far oftener right than a guess
        ({"train_loss": "/1 0:3.38 4:2.75 40:2.2"}, False),  # training learns on
        ({"train_accuracy": "/1 0:0.067 5:0.09"}, False),  # too few epochs show it
    ],
)
def test_a_fall_to_a_guess_is_no_learning(changed: dict[str, str], found: bool) -> None:
    """A first loss above ln 15 comes down to it in a few epochs, and stands."""
    case, *_ = near_guess.BAD
    run = replace(case, curves={**case.curves, **changed}).run()
    told = {one.rule for incident in diagnose(run).incidents for one in incident.findings}
    assert ("stuck-at-chance" in told) is found
