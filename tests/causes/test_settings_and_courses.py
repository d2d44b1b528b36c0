"""Causes that a course or a setting names, and courses that only look like it."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from runlens.cause import Cause
from runlens.causes import judge
from runlens.causes.scene import Scene
from runlens.diagnosis import Finding, Moment
from runlens.engine import diagnose
from runlens.history import History, columns
from runlens.run import Configured, Event, Run
from runlens.signals import Signals
from runlens.usual_rates import ceiling

NAN = [np.nan] * 8
FALLS = np.linspace(1.2, 0.6, 12)
TURNS = [4.2, 4.0, 3.94, 3.92, 4.0, 4.1, 4.15, 4.36]
RISES = [0.3, 0.6, 0.6, 0.6, 0.6, 0.7, 0.6, 1.6]
CLIMBS = 3 * np.linspace(0.1, 1, 30) ** 4


def first(run: Run) -> Cause:
    """Return the first cause of the gravest incident."""
    return diagnose(run).incidents[0].findings[0].causes[0]


def made(
    config: dict[str, Any] | None = None, events: tuple[Event, ...] = (), **curves: Any
) -> Run:
    """Make a run whose metrics have these values, five steps apart."""
    series = {
        name: columns(5 * (1 + np.arange(len(value))), np.asarray(value, dtype=float))
        for name, value in curves.items()
    }
    set_ = {key: Configured(value, "here") for key, value in (config or {}).items()}
    return Run("x", "x", History(series), config=set_, events=events)


@pytest.mark.parametrize(
    ("before", "rate", "named"),
    [
        ([0.62, 0.65, 0.7, 0.8, 1.1, 3.8], CLIMBS, True),
        ([0.6, 0.6, 0.61, 0.6, 0.6, 3.8], CLIMBS, False),  # one batch
        ([0.61, 0.62, 0.63, 0.64, 0.65, 0.66], CLIMBS, False),  # a rise of nothing
        ([0.62, 0.65, 0.7, 0.8, 1.1, 3.8], CLIMBS[::-1], False),  # the rate had come down
    ],
)
def test_a_loss_that_rises_in_order_as_the_rate_climbs_is_lost_by_it(
    before: list[float], rate: Any, *, named: bool
) -> None:
    """Five points in a row up to the NaN, and double the lowest of them."""
    cause = first(made(train_loss=[*FALLS, *before, *NAN], learning_rate=rate[:26]))
    assert ("as the rate climbed" in cause.evidence_for) is named
    if named:
        assert (cause.kind, cause.rank) == ("rate-too-high", "most likely")


@pytest.mark.parametrize(
    ("loss", "norm", "named"),
    [
        (TURNS, RISES, True),
        ([4.2, 4.0, 3.9, 3.8, 3.7, 3.6, 3.55, 3.5], RISES, False),
        (TURNS, [0.6] * 8, False),  # no norm rose
        ([4.2, 4.1, 4.0, 3.9, 3.8, 3.7, 3.6, 4.36], RISES, False),  # one point
    ],
)
def test_what_is_lost_from_its_highest_loss_and_norm_was_not_lost_to_one_batch(
    loss: list[float], norm: list[float], *, named: bool
) -> None:
    """The last logged point alone may be of an odd batch."""
    rate = [3.0] * 16
    run = made(train_loss=[*loss, *NAN], grad_norm=[*norm, *NAN], learning_rate=rate)
    causes = diagnose(run).incidents[0].findings[0].causes
    assert any("the highest of both" in one.evidence_for for one in causes) is named
    assert (causes[0].kind == "rate-too-high") is named


@pytest.mark.parametrize(
    ("norm", "loss", "named"),
    [
        ([1.5, *[0.0] * 30], [3.26, *[3.2581] * 30], True),
        ([0.0] * 31, [3.26, *[3.2581] * 30], False),  # no gradient at all: nothing is trained
    ],
)
def test_a_gradient_that_flowed_and_died_was_in_the_graph(
    norm: list[float], loss: list[float], *, named: bool
) -> None:
    """Units were killed by their updates; what is frozen had no gradient before either."""
    cause = first(made(train_loss=loss, grad_norm=norm))
    assert (cause.kind == "rate-too-high") is named
    assert (cause.kind == "frozen-weights") is not named


@pytest.mark.parametrize(
    ("exception", "named"),
    [
        ("FloatingPointError: Minimum loss scale reached (0.01)", False),
        ("ValueError: loss is nan, stopping training", False),
        ("KeyError: 'labels'", True),
    ],
)
def test_a_check_that_raises_for_a_lost_loss_is_no_cause_of_it(
    exception: str, *, named: bool
) -> None:
    """It tells what was found already; another exception is news."""
    found = [
        Finding("critical", "Lost.", "train_loss", Moment(65), (), rule="nan-loss"),
        Finding("critical", "Raised.", "", Moment(100), (), rule="crashed"),
    ]
    raised = Event("message", 100, data={"exception": exception, "last": True})
    run = made(events=(raised,), train_loss=[*FALLS, *NAN])
    kinds = {one.kind for one in judge(Scene(run, Signals(run), found))[0]}
    assert ("code-error" in kinds) is named


@pytest.mark.parametrize(
    ("config", "rate"),
    [
        ({"momentum": 0.9}, 0.1),
        ({"momentum": 0.99}, None),  # of a norm over batches
        ({"momentum": 0.1}, None),
        ({"momentum": 0.9, "optim": "rmsprop"}, None),
        ({}, None),
    ],
)
def test_a_momentum_without_an_optimizer_is_that_of_sgd(
    config: dict[str, Any], rate: float | None
) -> None:
    """Caffe and Darknet name no optimizer where it is SGD."""
    most = ceiling(made(config))
    assert (most and round(most.rate, 6)) == rate


def classified(train: str, evals: str) -> Run:
    """Draw a classifier of twelve epochs with four logged losses each."""
    at = {"train_loss": np.arange(10, 481, 10), "eval_loss": np.arange(40, 481, 40)}
    series = {}
    for (name, step), text in zip(at.items(), (train, evals), strict=True):
        corners = np.array([one.split(":") for one in text.split()], dtype=float)
        series[name] = columns(step, np.interp(step, *corners.T), step / 40)
    return Run("x", "x", History(series), task="classification")


@pytest.mark.parametrize(
    ("evals", "kind"),
    [
        ("40:1.776 80:2.1 480:3.6", "evaluation"),
        ("40:1.40 80:1.6 480:3.6", "memorised"),  # better than untrained: then worse
    ],
)
def test_what_is_learned_on_new_rows_and_never_carries_over_was_not_memorized(
    evals: str, kind: str
) -> None:
    """Rows of a first pass are new to the model, as those of the evaluation are."""
    train = "10:1.613 20:1.511 30:1.429 40:1.371 50:1.077 480:0.558"
    assert first(classified(train, evals)).kind == kind


def test_an_evaluation_far_above_every_training_loss_is_of_other_inputs() -> None:
    """A hundred times the loss of an untrained model; ten times is enough."""
    train = "10:1.9 40:0.4 480:0.001"
    assert first(classified(train, "40:190 80:700 480:1480")).kind == "evaluation"
    assert first(classified(train, "40:1.5 80:2.1 480:6")).kind == "memorised"


def test_a_classifier_that_still_guesses_on_its_own_rows_memorized_none() -> None:
    """Few labels that match nothing: a loss that began at ln 6 and stands a little below it."""
    evals = "40:1.70 120:1.72 480:2.4"
    told = {one.kind for one in diagnose(classified("10:1.796 480:1.72", evals)).causes}
    assert "memorised" not in told
    told = {one.kind for one in diagnose(classified("10:1.796 480:0.4", evals)).causes}
    assert "memorised" in told


@pytest.mark.parametrize(
    ("rates", "named"),
    [
        ({"lrD": 5e-3, "lrG": 2e-6}, True),
        ({"lr_d": 4e-4, "lr_g": 1e-4}, False),  # two time scales, as they are usual
        ({"lrG": 5e-3, "lrD": 2e-6}, False),
        ({"lrD": 5e-3}, False),
    ],
)
def test_a_discriminator_that_learns_far_faster_is_named_by_its_rate(
    rates: dict[str, float], *, named: bool
) -> None:
    """Where it has won; rates that lie as they usually do say nothing."""
    won, lost = np.geomspace(1.3, 1e-4, 40), np.linspace(0.7, 14, 40)
    run = replace(made(rates, d_loss=won, g_loss=lost), task="gan-diffusion")
    found = Finding("warning", "Won.", "g_loss", Moment(40), (), rule="divergence")
    cause = judge(Scene(run, Signals(run), [found]))[0][0]
    assert ("learns far faster" in cause.what) is named
