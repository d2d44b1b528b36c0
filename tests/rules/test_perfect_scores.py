"""Scores that are 1 at each evaluation: beside a loss that errs on, and look-alikes."""

from typing import Any

import pytest

from runlens.engine import diagnose, examine
from runlens.rules.evaluation.eval_leak import RULE
from runlens.rules.rule import drawn
from runlens.signals import Signals


def severity(
    score: str = "50:1 400:1 /50", loss: str = "0:0.7 400:0.3", noise: float = 0.0, **more: Any
) -> str:
    """Return how loud the rule is on a classifier."""
    scatter = {"train_loss": 0.05, "eval_accuracy": noise, "train_accuracy": 0.0}
    run = drawn("perfect", noise=scatter, task="classification", train_loss=loss,
                eval_accuracy=score, **more).run()  # fmt: skip
    found = examine(RULE, run, Signals(run)).findings
    return found[0].severity if found else ""


def test_a_perfect_score_beside_a_loss_that_errs_on_is_told() -> None:
    """In shares and in percent."""
    assert severity() == "warning"
    assert severity("50:100 400:100 /50") == "warning"
    assert severity(train_accuracy="0:0.6 400:0.9 /50") == "warning"


@pytest.mark.parametrize(
    "more",
    [
        {"score": "50:1 100:1 /50"},  # twice may be luck
        {"score": "50:0.98 100:1 400:1 /50"},  # it was learned
        {"score": "50:0.9 400:0.9 /50"},
        {"loss": "0:0.7 100:0.2 400:0.05"},  # training solves it as well
        {"train_accuracy": "0:0.95 300:1 400:1 /50"},
        {"config": {"label_smoothing_factor": 0.1}},  # keeps the loss up
    ],
)
def test_look_alikes_of_a_perfect_score(more: dict[str, Any]) -> None:
    """None of them is a leak."""
    assert not severity(**more)


@pytest.mark.parametrize(
    ("name", "told"), [("eval_auc", "warning"), ("eval_acc5", ""), ("eval_top5_accuracy", "")]
)
def test_one_of_several_guesses_is_right_where_classes_are_few(name: str, told: str) -> None:
    """Among five classes the five likeliest hold the right one: 100 says nothing."""
    more: dict[str, Any] = {name: "50:100 400:100 /50"}
    assert severity(score="50:0.6 400:0.8 /50", **more) == told


@pytest.mark.parametrize(("end", "told"), [(0.12, "warning"), (0.08, "")])
def test_a_loss_of_a_tenth_of_a_nat_is_sure_of_its_answers(end: float, told: str) -> None:
    """The border of the loss."""
    assert severity(loss=f"0:0.7 300:{end} 400:{end}") == told


@pytest.mark.parametrize(("first", "told"), [(0.7, "warning"), (0.68, "info")])
def test_answers_that_are_all_right_and_none_is_sure(first: float, told: str) -> None:
    """Below a probability of a half, as an evaluation loss above ln 2 says, some are wrong."""
    solves = "0:0.7 100:0.2 400:0.05"
    assert severity(loss=solves, eval_loss=f"50:{first} 100:0.2 400:0.05 /50") == told


@pytest.mark.parametrize(("right", "told"), [(0.97, "warning"), (0.99, "")])
def test_a_training_accuracy_near_one_is_a_task_that_is_solved(right: float, told: str) -> None:
    """The border of the accuracy."""
    assert severity(train_accuracy=f"0:{right} 400:{right} /50") == told


@pytest.mark.parametrize(
    ("right", "score", "told"),
    [(0.87, "50:0.995 400:0.995 /50", "warning"), (0.93, "50:0.995 400:0.995 /50", "warning"),
     (0.96, "50:0.995 400:0.995 /50", ""), (0.87, "50:0.98 100:0.995 400:0.995 /50", "")],
)  # fmt: skip
def test_a_tenth_of_the_errors_of_training_is_no_dropout(
    right: float, score: str, told: str
) -> None:
    """At each evaluation, from the first on; half of them is what dropout and augmentation take."""
    assert severity(score, train_accuracy=f"0:0.6 400:{right} /50") == told


FROM_THE_START: dict[str, Any] = {
    "loss": "0:0.0032 400:0.0038",
    "train_accuracy": "0:1 400:0.9996 /50",
}


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({}, "info"),
        ({"score": "50:1 400:0.9994 /50"}, "info"),
        ({"score": "50:100 400:100 /50", "train_accuracy": "0:100 400:100 /50"}, "info"),
        ({"train_accuracy": "0:0.95 50:1 400:1 /50"}, ""),  # learned within the first rows
        ({"train_accuracy": "0:1 50:0.94 400:0.97 /50"}, ""),  # one batch that was all right
        ({"score": "50:0.99 400:1 /50"}, ""),
        ({"score": "50:1 400:0.9 /50"}, ""),  # worse, which other rules tell
        ({"train_accuracy": "0:1"}, ""),  # a single row
    ],
)
def test_scores_that_are_perfect_from_the_first_row_on(more: dict[str, str], told: str) -> None:
    """Nothing was left to learn: by a leak, by weights of before, or by an easy task."""
    assert severity(**{**FROM_THE_START, **more}) == told


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({}, "info"),
        ({"train_accuracy": "0:0.99 400:1 /50"}, "info"),  # a mean of its first epoch
        ({"loss": "400:0.1"}, "info"),  # training is logged once, or an epoch apart
        ({"eval_loss": "50:0.05 400:0.002 /50"}, "info"),  # right at once, and surer later
        ({"eval_loss": "50:0.05 400:0.002 /50", "score": "50:0.98 100:1 400:1 /50"}, ""),
        ({"eval_loss": "50:0.35 400:0.25 /50", "loss": "0:0.7 400:0.3"}, "warning"),  # errs on
        ({"eval_loss": "50:0.05 400:0.002 /50", "score": "50:1"}, ""),  # one look
        ({"score": "50:0.998 100:1 400:1 /50"}, ""),
        ({"score": "50:1"}, ""),  # one look
        ({"eval_loss": "50:0 400:0 /50"}, ""),  # a loss that is not computed
    ],
)
def test_evaluations_that_are_perfect_from_the_first_look_on(
    more: dict[str, Any], told: str
) -> None:
    """The evaluation is right, and sure of it, before it could learn."""
    drawn_so: dict[str, Any] = {"loss": "0:0.03 400:0.001", "eval_loss": "50:0.008 400:0.002 /50"}
    assert severity(**{**drawn_so, **more}) == told


@pytest.mark.parametrize(("score", "told"), [("50:1 400:1 /50", 1), ("50:0.97 400:1 /50", 0)])
def test_a_score_of_scikit_learn_that_is_one_from_the_first_look_on(score: str, told: int) -> None:
    """It is an accuracy or R², by the estimator; no loss of either has to be next to nothing."""
    run = drawn("sklearn", noise=0, task="other", train_loss="0:0.3 100:0.02 400:0.001",
                eval_loss="50:0.05 400:0.002 /50", eval_score=score).run()  # fmt: skip
    assert len(examine(RULE, run, Signals(run)).findings) == told


def test_an_area_of_one_from_the_first_tree_on_is_told() -> None:
    """Each pair is in order before much was learned, as where a column holds the answer."""
    for area, told in (("0:1 9:1 /1", 1), ("0:0.97 9:1 /1", 0)):
        run = drawn("trees", noise=0, task="classification", train_loss="0:0.3 9:0.06 /1",
                    eval_loss="0:0.31 9:0.07 /1", eval_auc=area).run()  # fmt: skip
        assert len(examine(RULE, run, Signals(run)).findings) == told


def test_perfect_from_the_start_names_no_cause_as_likely() -> None:
    """A resumed run looks the same, so the experiments stand first; nothing is loud."""
    run = drawn(
        "resumed", noise=0, task="classification", train_loss="0:0.0032 400:0.0039",
        eval_loss="50:0.0033 400:0.004", train_accuracy="0:1 400:0.9996 /50",
        eval_accuracy="50:1 400:0.9994 /50",
    ).run()  # fmt: skip
    made = diagnose(run)
    assert all(cause.rank not in {"most likely", "likely"} for cause in made.causes)
    assert any(part.rule == "eval-leak" for one in made.incidents for part in one.findings)
    assert all(one.severity == "info" for one in made.incidents)
    assert {"divergence", "hockey-stick", "not-learning"}.isdisjoint(
        part.rule for one in made.incidents for part in one.findings
    )


def test_a_perplexity_near_one_is_of_running_text_where_the_example_of_pytorch_prints_it() -> None:
    """In other layouts it may be that of a translation."""
    courses: dict[str, Any] = {
        "train_loss": "/20 20:3.46 100:1.28 200:0.12 600:0.08",
        "eval_loss": "/200 200:0.12 600:0.08",
        "eval_ppl": "/200 200:1.13 600:1.08",
    }
    for beside, told in (("ms/batch", 1), ("time", 0)):
        curves = courses | {beside: "/20 20:36 600:31"}
        run = drawn("a mask", noise=0, task="other", **curves).run()
        assert len(examine(RULE, run, Signals(run)).findings) == told


@pytest.mark.parametrize(
    ("area", "loss", "told"),
    [
        ("0:0.9999 1:1 5:1 /1", 0.2264, "info"),
        ("0:0.997 1:1 5:1 /1", 0.2264, ""),  # there was something to learn
        ("0:0.9999 1:1 4:1 5:0.9998 /1", 0.2264, ""),  # easy data, as of digits
        ("0:0.9999 1:1 5:1 /1", 0.7, ""),  # in order, and not sure of one of them
    ],
)
def test_an_area_that_is_one_from_the_first_epoch_on(area: str, loss: float, told: str) -> None:
    """A column that holds the answer orders all pairs at once."""
    run = drawn(
        "areas", noise=0, task="classification", train_loss="0:0.4535 1:0.1289 5:0.0054 /1",
        eval_loss=f"0:{loss} 1:0.0597 5:0.0043 /1", eval_auc=area,
    ).run()  # fmt: skip
    found = examine(RULE, run, Signals(run)).findings
    assert (found[0].severity if found else "") == told
