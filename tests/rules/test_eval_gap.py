"""Evaluation gap: one that swings."""

import numpy as np
import pytest

from runlens.engine import examine
from runlens.history import History, columns
from runlens.rules.evaluation.eval_gap import RULE
from runlens.rules.rule import drawn
from runlens.run import Run
from runlens.signals import Signals


@pytest.mark.parametrize(("last", "found"), [(1.3, True), (0.4, False)])
def test_a_gap_that_swings_is_told_where_it_grew_several_fold(last: float, *, found: bool) -> None:
    """Its order has no steady trend, and is no chance."""
    rng = np.random.default_rng(2)
    step = np.arange(200)
    train = 0.3 + 2.5 * np.exp(-step / 30)
    gap = 0.25 + (last - 0.25) * np.minimum(1, step / 40)
    evals = train + gap * np.exp(0.35 * rng.standard_normal(200))
    run = Run(
        "swings",
        "swings",
        History({"train_loss": columns(step, train), "eval_loss": columns(step, evals)}),
        task="other",
    )
    assert bool(examine(RULE, run, Signals(run)).findings) == found


@pytest.mark.parametrize(("top", "found"), [(0.99, True), (99.0, True), (9_900.0, False)])
def test_counts_of_right_answers_are_no_accuracy(top: float, found: bool) -> None:
    """Above 100 % they are of another unit."""
    step = np.arange(1, 9)
    series = {
        "train_accuracy": columns(step, np.linspace(0.5, 1.0, 8) * top),
        "eval_accuracy": columns(step, np.full(8, 0.3) * max(1.0, top)),
    }
    run = Run("s", "s", History(series), task="classification")
    titles = [one.title for one in examine(RULE, run, Signals(run)).findings]
    assert any("accuracy ends" in title for title in titles) is found


@pytest.mark.parametrize(
    ("train", "second", "noise", "status"),
    [
        ("0:1.2 300:0.5 400:0.48", 2.35, 0.05, "found"),
        ("0:1.2 300:0.5 400:0.48", 1.65, 0.01, "unmet"),  # a tenth worse
        ("0:1.2 300:0.5 400:0.48", 2.1, 0.3, "unmet"),  # single batches scatter as much
        ("0:1.2 400:0.8", 2.35, 0.01, "unmet"),  # a third of the training loss is gone
        ("0:1.2 400:1.2", 2.35, 0.01, "unmet"),  # nothing was learned
        ("0:9 300:4.1 400:4", 2.35, 0.01, "unmet"),  # below the training loss
        ("500:1.2 600:0.5", 2.35, 0.01, "unmet"),  # not beside it
    ],
)
def test_two_evaluations_that_part(train: str, second: float, noise: float, status: str) -> None:
    """The second must be far above the first, and above a training loss that halved."""
    run = drawn(
        "two",
        noise={"train_loss": noise},
        task="other",
        train_loss=train,
        eval_loss=f"350:1.5 400:{second}",
    ).run()
    outcome = examine(RULE, run, Signals(run))
    assert outcome.status == status
    assert [one.severity for one in outcome.findings] == ["info"] * (status == "found")


@pytest.mark.parametrize(
    ("began", "evals", "status"),
    [
        (0.04, "0:0.005 50:0.003 500:0.003", "found"),  # three times the training loss
        (0.04, "0:0.005 50:0.003 500:0.0017", "passed"),
        (0.9, "0:0.9 50:0.003 500:0.003", "passed"),  # it may be in nats: thousandths of one
    ],
)
def test_a_loss_in_its_own_unit_is_measured_by_itself(
    began: float, evals: str, status: str
) -> None:
    """Squared errors of scaled targets never come 0.3 apart."""
    train = f"0:{began} 20:0.0038 500:0.001"
    case = drawn("squared", noise=0.01, task="other", train_loss=train, eval_loss=f"/5 {evals}")
    run = case.run()
    assert examine(RULE, run, Signals(run)).status == status


@pytest.mark.parametrize(
    ("evals", "status"),
    [("0:26 20:6.9 60:5 400:4.9", "found"), ("0:26 20:12 60:6.5 400:4.9", "passed")],
)
def test_evaluation_that_comes_to_be_twice_as_high(evals: str, status: str) -> None:
    """Not far above at first, after the first look; what was so from the start is an offset."""
    train = "0:10 20:5 60:4 400:1.86"
    case = drawn("twice", noise=0.02, task="other", train_loss=train, eval_loss=f"/20 {evals}")
    run = case.run()
    assert examine(RULE, run, Signals(run)).status == status


@pytest.mark.parametrize(
    ("cls", "told"), [("0:4 400:2.8", "cls loss ended at 2."), ("0:4 400:0.8", "")]
)
def test_the_part_that_is_farthest_apart_is_named(cls: str, told: str) -> None:
    """Of losses with parts, where one of them is twice as high."""
    case = drawn(
        "parts", noise=0.002, task="other",
        train_loss="0:6 400:1.4", eval_loss="/10 0:6 100:4 400:3.6",
        cls_loss="0:4 400:0.5", eval_cls_loss=f"/10 {cls}",
        box_loss="0:2 400:0.9", eval_box_loss="/10 0:2 400:1",
    )  # fmt: skip
    run = case.run()
    seen = examine(RULE, run, Signals(run)).findings[0].seen
    assert ("Its part" in seen) is bool(told)
    assert told in seen


@pytest.mark.parametrize(
    ("evals", "found"),
    [
        ("0:11 400:2.74 /400", 1),
        ("0:11 400:0.6 /400", 0),  # twice: as a trend would be told of
        ("0:3 400:2.74 /400", 0),  # another loss from the first look on
    ],
)
def test_two_looks_tell_of_an_evaluation_that_was_left_far_behind(evals: str, found: int) -> None:
    """Where both losses began alike, no mask and no scale keeps them apart."""
    run = drawn("x", task="pretrain", train_loss="0:11 300:0.5 400:0.29", eval_loss=evals).run()
    assert len(examine(RULE, run, Signals(run)).findings) == found


@pytest.mark.parametrize(
    ("evals", "first"),
    [
        ("/1 1:0.108 4:0.11 12:0.142 18:0.11 30:0.095", "Print 20 training and 20 evaluation"),
        ("/1 1:0.108 4:0.2 12:0.35 18:0.42 30:0.45", "Check that evaluation uses"),
    ],
)
def test_labels_are_looked_at_first_where_nothing_learned_holds(evals: str, first: str) -> None:
    """Where evaluation rises with training, its labels belong to their rows."""
    run = drawn(
        "accuracies", noise=0, task="classification", eval_accuracy=evals,
        train_accuracy="/1 1:0.123 10:0.355 20:0.73 30:0.995",
    ).run()  # fmt: skip
    found = examine(RULE, run, Signals(run)).findings
    assert found[0].fixes[0].what.startswith(first)
