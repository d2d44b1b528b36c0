"""What needs no trend is named from one row on, as in the few rows that people paste."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from runlens.engine import diagnose, examine
from runlens.history import History, columns
from runlens.rules import RULES
from runlens.rules.cases import Case
from runlens.rules.rule import drawn, message
from runlens.run import Task
from runlens.signals import Signals

NAN = float("nan")
SKIPPED = message("OVERFLOW! Rank 0 Skipping step", "num", 44, 10, last=True)


def rows(**curves: tuple[float, ...]) -> dict[str, Any]:
    """Write rows at steps 10, 20, ..., as logged."""
    return {
        name: "/10 " + " ".join(f"{10 * n}:{value}" for n, value in enumerate(values, 1))
        for name, values in curves.items()
    }


def case(task: Task = "sft", **curves: tuple[float, ...]) -> Case:
    """Draw rows of a run of which an excerpt was pasted."""
    return drawn("pasted", task=task, noise=0, **rows(**curves))


@pytest.mark.parametrize(
    ("slug", "pasted", "severity"),
    [
        ("hidden-nan", case(train_loss=(1.04, 0.0), grad_norm=(NAN, NAN)), "critical"),
        ("hidden-nan", case(train_loss=(1.06, 1.16, 1.19, 0.0)), "info"),
        ("nan-grad", case(train_loss=(1.7, 1.15), grad_norm=(NAN, NAN)), "info"),
        ("grad-zero", case(train_loss=(12.1, 12.0, 12.1), grad_norm=(0.0,) * 3), "critical"),
        ("grad-explosion", case(train_loss=(810.0, 1323.0), grad_norm=(8e3, 1.2e4)), "warning"),
        ("stuck-at-chance", case("dpo", train_loss=(0.6932,) * 3), "warning"),
        ("stuck-at-chance", case("classification", train_loss=(2.3026,) * 3), "critical"),
        (
            "stuck-at-chance",
            case("other", train_loss=(48.0, 45.0), train_accuracy=(0,) * 3),
            "info",
        ),
        ("zero-loss", case(train_loss=(0.0,), learning_rate=(0.0,)), "critical"),
        ("lr-zero", case(train_loss=(0.57, 0.58) * 2, learning_rate=(0.0,) * 4), "info"),
        ("zero-reward-std", case("grpo", reward=(0.0,), frac_zero_std=(1.0,)), "info"),
    ],
)
def test_a_row_or_two_are_enough(slug: str, pasted: Case, severity: str) -> None:
    """Where the values alone say it."""
    assert said(slug, pasted) == severity


@pytest.mark.parametrize(
    ("slug", "pasted"),
    [
        ("hidden-nan", case("grpo", reward=(0.9, 0.7), train_loss=(0.1, 0.0))),
        ("nan-grad", case(train_loss=(3.0, 2.5, 2.1, 1.8, 1.6, 1.5), grad_norm=(NAN,) * 6)),
        ("grad-zero", case(train_loss=(2.1, 2.0), grad_norm=(0.0, 0.0))),
        ("grad-explosion", case(train_loss=(8.0, 7.0), grad_norm=(8e3, 6e3))),
        ("grad-explosion", case("other", train_loss=(8.0, 7.0), grad_norm=(8e3, 1.2e4))),
        ("stuck-at-chance", case("dpo", train_loss=(0.6932, 0.6932))),
        ("stuck-at-chance", case("classification", train_loss=(2.31, 2.27, 2.29))),
        ("stuck-at-chance", case("other", train_loss=(48.0, 45.0), train_accuracy=(0, 0.1))),
        ("zero-loss", case(train_loss=(0.0,), learning_rate=(2e-5,))),
        ("eval-gap", case(train_bleu=(0.2, 0.6), eval_bleu=(0.2, 0.3))),
        ("zero-reward-std", case("grpo", reward=(0.5,), frac_zero_std=(0.5,))),
    ],
)
def test_a_row_or_two_that_say_nothing(slug: str, pasted: Case) -> None:
    """A loss that falls, a policy, a norm of another task, a level that is no number's."""
    assert not said(slug, pasted)


SAME = (0.61, 0.61, 0.62, 0.61, 0.61)


@pytest.mark.parametrize(
    ("score", "evals", "alarmed"),
    [
        (SAME, (0.67, 0.66, 0.68, 0.67, 0.67), True),
        ((61.0, 61.0, 61.0, 62.0), (0.67, 0.66, 0.68, 0.67), True),  # in percent
        (SAME, (0.35, 0.33, 0.31, 0.30, 0.29), False),  # it knows more than the commonest class
        ((0.7857,) * 5, (0.71, 0.6, 0.53, 0.53, 0.53), True),  # 0.52 is the entropy of that share
        ((0.7857,) * 5, (0.71, 0.6, 0.53, 0.52, 0.505), False),
        ((0.5, *(0.7857,) * 6), (0.5, 0.71, 0.6, 0.53, 0.53, 0.53, 0.53), True),  # since then
        ((0.1,) * 5, (2.31, 2.3, 2.31, 2.3, 2.3), True),
        ((0.1,) * 5, (2.31, 2.0, 1.6, 1.4, 1.3), False),  # of ten classes
        ((0.95,) * 5, (0.67, 0.66, 0.68, 0.67, 0.67), False),
        ((0.61, 0.61, 0.66, 0.7), (0.67, 0.66, 0.68, 0.67), False),
        (SAME[:3], (0.67, 0.66, 0.68), False),
    ],
)
def test_one_answer_for_everything(
    score: tuple[float, ...], evals: tuple[float, ...], alarmed: bool
) -> None:
    """A score that is the same to the last digit, beside the loss of whoever guesses."""
    pasted = case("classification", train_loss=(0.7, 0.69, 0.66), eval_f1=score, eval_loss=evals)
    assert bool(said("stuck-at-chance", pasted)) == alarmed


@pytest.mark.parametrize(
    ("train", "alarmed"), [((0.70, 0.69, 0.68, 0.67), True), ((0.70, 0.62, 0.52, 0.44), False)]
)
def test_one_answer_beside_a_training_loss_alone(
    train: tuple[float, ...], *, alarmed: bool
) -> None:
    """Where no evaluation loss is logged, training must know no more than whoever guesses."""
    pasted = case("classification", train_loss=train, eval_f1=(0.65,) * 5)
    assert bool(said("stuck-at-chance", pasted)) == alarmed


def test_evaluations_of_one_step_are_of_several_models() -> None:
    """A folder of weights that is evaluated one after the other has no course."""
    losses = columns(range(1, 5), [0.70, 0.69, 0.68, 0.67])
    run = case("classification", train_loss=(0.7,), eval_f1=SAME).run()
    for steps, alarmed in ((range(len(SAME)), True), ([4] * len(SAME), False)):
        one = replace(run, history=History({"train_loss": losses, "eval_f1": columns(steps, SAME)}))
        rule = next(rule for rule in RULES if rule.slug == "stuck-at-chance")
        assert bool(examine(rule, one, Signals(one)).findings) is alarmed


@pytest.mark.parametrize(
    ("metric", "alarmed"),
    [
        ("eval_accuracy", True),
        ("eval_macro_f1", True),
        ("eval_best_val_f1", False),
        ("eval_num_batches", False),
        ("eval_throughput_steps", False),
        ("eval_cardinality_error_0_unscaled", False),
        ("eval_wer", False),
        ("eval_bleu", False),
    ],
)
def test_only_shares_of_right_answers_tell_that_all_are_the_same(
    metric: str, *, alarmed: bool
) -> None:
    """50 batches, half a step a second, and 50 errors at each evaluation are no class."""
    losses: dict[str, tuple[float, ...]] = {"train_loss": (9.0, 2.0, 1.0), "eval_loss": (1.5,) * 5}
    counted = case("classification", **{metric: (50.0,) * 5}, **losses)
    assert bool(said("stuck-at-chance", counted)) == alarmed


@pytest.mark.parametrize(("times", "severity"), [(2, "info"), (1, "")])
def test_a_scaler_that_looks_for_its_level(times: int, severity: str) -> None:
    """Each step so far was skipped: no collapse yet."""
    event = SKIPPED._replace(data={**SKIPPED.data, "count": times})
    pasted = drawn("pasted", noise=0, events=(event,), train_loss="1:11 /1 2:10.99")
    assert said("loss-scale-collapse", pasted) == severity


@pytest.mark.parametrize(("times", "severity"), [(12, "warning"), (3, "")])
def test_a_warning_that_each_sample_gets(times: int, severity: str) -> None:
    """It is of the data, and training went on."""
    text = "WARNING: tokenization mismatch: 55 vs. 54. (ignored)"
    event = message(text, "data", 103, 10, last=False, cause="The template differs.", count=times)
    assert said("known-error", drawn("x", events=(event,), train_loss="0:2 100:1")) == severity


def said(slug: str, pasted: Case) -> str:
    """Return how loudly a rule finds its pattern in a case; empty where it does not."""
    run = pasted.run()
    rule = next(rule for rule in RULES if rule.slug == slug)
    findings = examine(rule, run, Signals(run)).findings
    return findings[0].severity if findings else ""


@pytest.mark.parametrize(
    ("scores", "metric", "told"),
    [
        ((0.498, 0.503, 0.5, 0.507, 0.499), "eval_auc", True),
        ((49.5, 50.6, 50.7, 49.1, 49.5), "AUC-ROC", True),
        ((0.5, 0.51, 0.52, 0.55, 0.58), "eval_auc", False),  # it leaves it
        ((0.498, 0.503, 0.5, 0.507, 0.499), "eval_auprc", False),  # whose chance is the share
        ((0.5,), "model AuROC", True),
        ((0.502,), "model AuROC", False),  # one that is near may be better
        ((0.49, 0.5, 0.519, 0.51), "eval_auc", True),
        ((0.49, 0.5, 0.523, 0.51), "eval_auc", False),
        ((-0.0,), "R2", True),
        ((0.004, -0.01, 0.012, 0.0, 0.003), "eval_r2", True),
        ((-3.2,), "R2", False),  # worse than the mean
        ((0.002,), "R2", False),
        ((0.0, 0.019, -0.01, 0.01), "R2", True),
        ((0.0, 0.023, -0.01, 0.01), "R2", False),
    ],
)
def test_scores_of_whoever_guesses_are_chance(
    scores: tuple[float, ...], metric: str, *, told: bool
) -> None:
    """Whatever the classes and the loss, from one on."""
    pasted = case("regression", **{metric: scores})
    assert bool(said("stuck-at-chance", pasted)) == told


@pytest.mark.parametrize(("last", "severity"), [(0.548, "info"), (0.555, "")])
def test_about_half_of_the_answers_right_all_along(last: float, severity: str) -> None:
    """A coin, if there are two classes: nothing says how many there are."""
    accuracies = tuple(np.linspace(0.49, last, 12).tolist())
    pasted = case("classification", train_loss=(1.01, 0.95, 0.94), eval_accuracy=accuracies)
    assert said("stuck-at-chance", pasted) == severity


@pytest.mark.parametrize(
    ("train", "evals", "severity"),
    [
        ((0.9, 0.73, 0.72, 0.725), (0.72, 0.71, 0.694, 0.693), "critical"),
        ((0.9, 0.73, 0.72, 0.725), (0.72, 0.71, 0.66, 0.694), "info"),  # once below a coin's
        ((0.9, 0.73, 0.72, 0.725), (1.5, 1.3, 1.2, 1.2), "info"),  # of more classes
        ((0.9, 0.73, 0.72, 0.725), (0.72, 0.71, 0.70, 0.71), "critical"),
        ((1.9, 1.3, 1.2, 1.1), (0.72, 0.71, 0.70, 0.71), "info"),
        ((0.9, 0.73, 0.72, 0.725), (), "info"),
    ],
)
def test_half_of_the_answers_right_at_the_loss_of_a_coin(
    train: tuple[float, ...], evals: tuple[float, ...], severity: str
) -> None:
    """Losses of two answers say that there are two."""
    held = {"eval_loss": evals} if evals else {}
    accuracies = tuple(np.linspace(0.49, 0.51, 12).tolist())
    pasted = case("classification", train_loss=train, eval_accuracy=accuracies, **held)
    assert said("stuck-at-chance", pasted) == severity


@pytest.mark.parametrize(
    ("train", "alarmed"),
    [((0.2507,) * 5, True), ((0.2507, 0.31, 0.4, 0.45, 0.5), False), ((), False)],
)
def test_a_loss_below_zero_says_nothing_of_what_a_model_knows(
    train: tuple[float, ...], *, alarmed: bool
) -> None:
    """One and the same score is one answer there only where training scores the same too."""
    scores = {"train_accuracy": train} if train else {}
    pasted = case(
        "classification",
        train_loss=(-2.0, -5.0, -9.0, -14.0, -20.0),
        eval_accuracy=(0.2517,) * 5,
        eval_loss=(-2.0, -5.0, -9.0, -14.0, -20.0),
        **scores,
    )
    assert bool(said("stuck-at-chance", pasted)) == alarmed
    findings = diagnose(pasted.run()).findings
    seen = [one.seen for one in findings if one.rule == "stuck-at-chance"]
    assert ["none of probabilities" in one for one in seen] == [True] * alarmed
