"""What updates leave in the curves where no setting tells of it, and what only looks alike."""

from typing import Any

import numpy as np
import pytest

from runlens.cause import Cause
from runlens.engine import diagnose
from runlens.history import History, columns
from runlens.rules.rule import drawn
from runlens.run import Configured, Run, Task


def first(run: Run) -> Cause:
    """Return the first cause of the gravest incident."""
    return diagnose(run).incidents[0].findings[0].causes[0]


def made(task: Task = "other", config: dict[str, Any] | None = None, **curves: Any) -> Run:
    """Make a run whose metrics have these values, ten steps apart."""
    series = {
        name: columns(np.arange(len(value)) * 10, np.asarray(value, dtype=float))
        for name, value in curves.items()
    }
    set_ = {key: Configured(value, "here") for key, value in (config or {}).items()}
    return Run("x", "x", History(series), task=task, config=set_)


DRAWS = np.random.default_rng(7)
AT = np.arange(60)
SWINGS = np.exp(0.6 * DRAWS.standard_normal(60)) * np.where(AT < 8, 1.8 - 0.15 * AT, 0.6 + 0.1 * AT)
SUMMED = 0.95 + 1.1 * AT


def test_a_norm_that_rises_in_order_while_the_loss_swings_is_a_sum() -> None:
    """No gradient was set to zero."""
    cause = first(made(train_loss=SWINGS, grad_norm=SUMMED, learning_rate=np.full(60, 0.01)))
    assert (cause.what.split(":")[0], cause.rank) == (
        "Gradients that add up over the updates",
        "likely",
    )


@pytest.mark.parametrize(
    "curves",
    [
        {"grad_norm": SUMMED * SWINGS / SWINGS.mean()},  # that of one batch
        {"grad_norm": 0.95 * np.exp(0.08 * AT)},  # explodes
        {"grad_norm": 5 + 0.2 * AT},  # grows a little
        {"learning_rate": np.linspace(1e-4, 1e-2, 60)},  # with the rate
        {"train_loss": np.linspace(0.6, 6, 60)},  # as smooth as the loss is
    ],
)
def test_other_norms_that_grow_are_no_sum(curves: dict[str, Any]) -> None:
    """They scatter, grow ever faster, or follow the rate or the loss."""
    known = {
        "train_loss": SWINGS,
        "grad_norm": SUMMED,
        "learning_rate": np.full(60, 0.01),
    }
    causes = [
        cause.what
        for incident in diagnose(made(**known | curves)).incidents
        for cause in incident.findings[0].causes
    ]
    assert not any("add up" in what for what in causes)


CHANCE = 2.0794 + 2e-4 * DRAWS.standard_normal(40)


@pytest.mark.parametrize(
    ("norm", "config", "named"),
    [
        (1.2 * np.exp(-AT[:40]) + 0.02, {}, True),
        (1.2 * np.exp(-AT[:40]) + 0.02, {"weight_decay": 1e-4}, False),  # too little of it
        (1.2 - 0.01 * AT[:40], {}, False),  # what usual decay takes
    ],
)
def test_weights_that_go_to_zero_are_pulled_there(
    norm: Any, config: dict[str, Any], *, named: bool
) -> None:
    """While nothing is learned; a norm that shrinks a little is usual."""
    known = {"num_labels": 8}
    cause = first(made("classification", known, train_loss=CHANCE, wnorm=norm))
    if config:
        known |= config
        cause = first(made("classification", known, train_loss=CHANCE, wnorm=norm))
    assert (cause.what == "Weight decay that pulls all weights to zero") is named


@pytest.mark.parametrize(
    ("norm", "named"),
    [
        (48 * 1.03 ** AT[:40], True),
        (48 + 2.5 * AT[:40], False),  # the same amount at each step
        (48 + AT[:40] ** 2 / 10, False),  # ever faster, as what explodes
        (48 * 1.01 ** AT[:40], False),  # too little to tell which
        (48 * 1.03 ** AT[:40] * np.where(AT[:40] == 20, 0.9, 1), False),  # down between
    ],
)
def test_weights_that_grow_by_one_share_are_pushed(norm: Any, *, named: bool) -> None:
    """As decay with the wrong sign does; gradients add to a norm."""
    train = np.r_[3 * np.exp(-AT[:40] / 30) + 1, np.full(10, np.nan)]
    cause = first(made(train_loss=train, weight_l2=np.r_[norm, np.full(10, np.nan)]))
    assert (cause.what == "Weight decay, or an L2 term, with the wrong sign") is named


def test_weights_that_grow_while_nothing_is_thrown_are_no_cause() -> None:
    """They are not asked about."""
    run = made("classification", {"num_labels": 8}, train_loss=CHANCE, wnorm=1.03 ** AT[:40])
    assert "wrong sign" not in first(run).what


FLAT = 7.97 + 0.11 * np.exp(-AT[:40]) + 2e-3 * DRAWS.standard_normal(40)
GONE = 0.04 * np.exp(-0.5 * AT[:40])


@pytest.mark.parametrize(
    ("beta", "kl", "rank"),
    [
        (50.0, GONE, "most likely"),
        (2.0, GONE, "likely"),
        (None, GONE, ""),
        (1.0, GONE, ""),
        (50.0, GONE + 3, ""),
    ],
)
def test_a_code_that_carries_nothing(beta: float | None, kl: Any, rank: str) -> None:
    """By a weight above that of the bound itself; one of 1, or none that is known, proves none."""
    config = {"beta": beta} if beta else {}
    cause = first(made("other", config, train_loss=FLAT + 0.01, rec=FLAT, kl=kl))
    assert (cause.rank if "posterior collapse" in cause.what else "") == rank


def test_what_the_code_restores_better_is_no_collapse() -> None:
    """A model that learns without its code is another matter."""
    better = np.concatenate([np.linspace(8, 6, 5), np.full(35, 6.0)])
    cause = first(made("other", {"beta": 50.0}, train_loss=FLAT + 0.01, rec=better, kl=GONE))
    assert "posterior collapse" not in cause.what


EARNED = np.concatenate([np.linspace(20, 40, 16), np.linspace(40, 14, 12), np.full(12, 14.0)])


@pytest.mark.parametrize(
    ("name", "values", "config", "rank"),
    [
        ("v_mean", np.linspace(0.1, 540, 40), {}, "likely"),
        ("v_mean", np.linspace(0.1, 540, 40), {"gamma": 1.0}, "most likely"),
        ("v_mean", np.linspace(0.1, 100, 40), {}, ""),  # what 0.99 discounts to
        ("v_std", np.linspace(0.1, 540, 40), {}, ""),
        ("q_mean", np.linspace(0.1, 5400, 40), {"target_update": 0}, "most likely"),
    ],
)
def test_values_beyond_any_return_come_from_values(
    name: str, values: Any, config: dict[str, Any], rank: str
) -> None:
    """A setting that nothing bounds makes it sure; values that returns allow prove nothing."""
    causes = [
        (cause.rank, cause.what)
        for incident in diagnose(made("rl", config, reward=EARNED, **{name: values})).incidents
        for cause in incident.findings[0].causes[:1]
    ]
    told = [rank for rank, what in causes if what.startswith("A critic that learns from its own")]
    assert told[:1] == ([rank] if rank else [])


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (1.8134 - 2.5e-5 * AT[:12], "rate-too-low"),
        (1.8134 - 2.5e-5 * AT[:12] + 2e-5 * DRAWS.standard_normal(12), "unknown"),
        (1.8131 + 3e-4 * np.exp(-AT[:12] / 3), "unknown"),
    ],
)
def test_a_fall_by_next_to_nothing_in_a_straight_line_is_of_tiny_steps(
    values: Any, kind: str
) -> None:
    """One that scatters, or that bends toward its level, has other causes as well."""
    same = np.full(12, 0.1633)
    assert first(made("classification", train_loss=values, eval_accuracy=same)).kind == kind


@pytest.mark.parametrize(
    ("rate", "curve", "named"),
    [
        ("0:1e-3 600:0.15 900:0.05", "0:4.6 350:2.5 450:2.8 520:80 900:25", True),
        ("0:1e-3 300:0.15 900:0.05", "0:4.6 350:2.5 450:2.8 520:80 900:25", False),  # came down
        ("0:0.1 600:0.15 900:0.05", "0:4.6 350:2.5 450:2.8 520:80 900:25", False),  # hardly more
        ("0:1e-3 600:0.15 900:0.05", "0:4.6 350:2.5 450:2.8 520:4.5 900:4.2", False),  # other data
    ],
)
def test_a_loss_that_is_thrown_as_the_rate_climbs(rate: str, curve: str, *, named: bool) -> None:
    """Above that of an untrained model, at a rate that the model had never had."""
    run = drawn("x", task="other", train_loss=curve, learning_rate=rate).run()
    causes = [
        cause.evidence_for
        for incident in diagnose(run).incidents
        for cause in incident.findings[0].causes
    ]
    assert any("as the rate climbed to" in said for said in causes) is named


AT_STEPS = np.arange(60)
FELL_THEN_ROSE = np.where(AT_STEPS < 25, 2.3 - 0.09 * AT_STEPS, 0.05 + 0.2 * (AT_STEPS - 25))
LOUDER = 30 + np.exp(0.09 * (AT_STEPS - 30))  # what a broken model adds later


@pytest.mark.parametrize(
    ("norm", "named"),
    [
        (np.where(AT_STEPS < 12, 1.3 * (AT_STEPS + 0.1), LOUDER), True),
        (np.where(AT_STEPS < 12, 1.3 * (AT_STEPS + 8), LOUDER), False),  # it began at a level
        (np.where(AT_STEPS < 3, 1.3 * (AT_STEPS + 0.1), 4.0), False),  # two points are chance
    ],
)
def test_a_norm_of_as_many_gradients_as_updates(norm: Any, *, named: bool) -> None:
    """It begins in proportion to their number, whatever it does once the loss is lost."""
    causes = diagnose(made(train_loss=FELL_THEN_ROSE, grad_norm=norm)).incidents[0].findings[0]
    assert any("add up" in cause.what for cause in causes.causes) is named
