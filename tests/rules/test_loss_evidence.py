"""Constants of the loss's evidence, each held by a case on either side."""

import numpy as np
import pytest

from runlens.engine import examine
from runlens.rules.evaluation.score import Score
from runlens.rules.loss.falls import only_noise
from runlens.rules.loss.not_learning import RULE
from runlens.rules.rule import drawn
from runlens.signals import Signals
from runlens.signals.noise import sigma


@pytest.mark.parametrize(
    ("order", "noise"), [((6, 5, 4, 1, 2, 3), False), ((6, 5, 3, 1, 2, 4), True)]
)
def test_one_order_in_five_shows_no_trend(order: tuple[int, ...], *, noise: bool) -> None:
    """Three of fifteen pairs against a fall: chance 0.14; four: 0.27."""
    assert only_noise(np.array(order, dtype=float), 0.0) is noise


@pytest.mark.parametrize(("scales", "noise"), [(2.1, True), (4.4, False)])
def test_a_fall_of_three_noise_scales_is_one(scales: float, *, noise: bool) -> None:
    """Whatever the order of the points says."""
    value = np.array([6.0, 5, 3, 1, 2, 4])
    assert only_noise(value, scales * sigma(value)) is noise


@pytest.mark.parametrize(("explained", "severity"), [(0.018, "warning"), (0.024, "info")])
def test_r2_of_a_mean_alone_is_a_second_sign(explained: float, severity: str) -> None:
    """Two hundredths of the variance are rounding and luck, more is something learned."""
    curve = f"50:{explained} 900:{explained}"
    noise = {"train_loss": 0.25}
    run = drawn("r2", noise=noise, task="regression", train_loss="0:1 900:1", eval_r2=curve).run()
    assert examine(RULE, run, Signals(run)).findings[0].severity == severity


@pytest.mark.parametrize(("now", "poor"), [(0.08, True), (0.12, False)])
def test_nine_wrong_answers_of_ten_are_poor(now: float, *, poor: bool) -> None:
    """However far an accuracy has come."""
    step, better = np.array([10, 900]), np.array([0.01, now])
    score = Score("eval_accuracy", 0.01, now, now - 0.01, 0.01, 0.01, 0, 900, step, better)
    assert score.poor is poor
