"""Stretches of one reward, the main fall of several, and a loss that rises as the reward falls."""

from dataclasses import replace

import numpy as np
import pytest

from runlens import diagnose
from runlens.diagnosis import Finding
from runlens.engine import examine
from runlens.history import FloatArray, History, columns
from runlens.rules.rl.reward_collapse import RULE
from runlens.rules.rl.same_rewards import stretch
from runlens.rules.rule import drawn
from runlens.run import Run
from runlens.signals import Signals


def of(reward: FloatArray, **more: FloatArray) -> Run:
    """Return a run of an agent with these curves."""
    run = drawn("as logged", noise=0.0, task="rl", reward="0:0 10:0").run()
    steps = np.arange(1, len(reward) + 1)
    curves = {name: columns(steps, value) for name, value in {"reward": reward, **more}.items()}
    return replace(run, history=History(curves))


def told(run: Run) -> list[Finding]:
    """Ask the rule."""
    return list(examine(RULE, run, Signals(run)).findings)


def scattered(level: float, points: int, by: float = 5.0, seed: int = 1) -> FloatArray:
    """Return returns of episodes that differ."""
    value: FloatArray = level + by * np.random.default_rng(seed).standard_normal(points)
    return value


def level(value: float, points: int) -> FloatArray:
    """Return one reward, again and again."""
    return np.full(points, value)


def test_a_stretch_from_which_a_policy_comes_back_is_a_note() -> None:
    """It is told with its numbers and is no collapse."""
    reward = np.concatenate([scattered(-40, 230), level(-252.5, 170), scattered(-39, 125)])
    found = told(of(reward))
    assert [one.severity for one in found] == ["info"]
    assert "−252.5 at each of 170 points from step 231 to step 400" in found[0].title
    assert "after it" in found[0].title


def test_a_run_that_ends_in_one_reward_is_loud_and_its_cause_is_no_rate() -> None:
    """Levels that jump are no noise; neither cause is proved."""
    steps = [(-10, 8), (0.1, 8), (0.7, 8), (-5, 8), (-0.4, 8), (-5, 80)]
    run = of(np.concatenate([level(value, points) for value, points in steps]))
    assert [one.severity for one in told(run)] == ["warning"]
    lead = diagnose(run).incidents[0].findings[0]
    assert "learning rate" not in lead.causes[0].evidence_for
    assert "too little exploration" in lead.causes[0].evidence_for


@pytest.mark.parametrize(
    "reward",
    [
        np.concatenate([level(-200, 100), scattered(-150, 200)]),  # nothing had been learned yet
        np.concatenate([scattered(100, 200), level(500, 100)]),  # all there is
        np.concatenate([scattered(-40, 300), level(0, 100)]),  # above what was before
        np.concatenate([scattered(40, 300), level(0, 100)]),  # rows that were never filled
        np.concatenate([scattered(-40, 200), level(-252.5, 30), scattered(-39, 200)]),  # short
        (np.random.default_rng(2).random(400) < 0.02).astype(float),  # a success is rare
        scattered(-40, 300),
    ],
)
def test_no_other_equal_rewards_are_a_stretch(reward: FloatArray) -> None:
    """What is there from the start, what lies high, what is short or what chance brings."""
    assert stretch(reward) is None


def test_the_main_fall_is_the_first_where_the_run_lay_low_after_it() -> None:
    """A rebound of a few points late in the run does not date the fall."""
    lost = np.concatenate([scattered(510, 60, 20), scattered(130, 700, 20)])
    reward = np.concatenate([lost, scattered(520, 25, 20), scattered(270, 40, 20)])
    found = told(of(reward))[0]
    assert found.severity == "critical"
    assert found.begins == pytest.approx(60, abs=10)
    assert "Its median from step" in found.seen


def test_a_policy_that_held_its_best_for_long_lost_it_at_last() -> None:
    """Between two peaks lies a dip: the fall that lasts is the last one."""
    parts = [(510, 60), (130, 80), (520, 400), (270, 80)]
    reward = np.concatenate([scattered(value, points, 20) for value, points in parts])
    assert told(of(reward))[0].begins == pytest.approx(541, abs=10)


RISES = np.concatenate([np.linspace(-1.4, 0.7, 250), np.linspace(0.7, -0.05, 170)])
FALLS = np.concatenate([np.linspace(1.3, 0.05, 260), np.linspace(0.05, 0.2, 160)])


@pytest.mark.parametrize(
    ("metric", "loss", "severity"),
    [
        ("train_loss", FALLS, "warning"),
        ("value_loss", FALLS, "warning"),
        ("train_loss", np.linspace(1.3, 0.05, 420), "info"),
        ("train_loss", np.linspace(0.05, 1.3, 420), "info"),  # with the returns, from the start
        ("train_loss", np.roll(FALLS, -120), "info"),  # long before
        ("train_loss", np.concatenate([FALLS[:260], np.linspace(0.05, 0.07, 160)]), "info"),
    ],
)
def test_a_part_of_the_gain_that_is_lost_is_loud_where_the_loss_rises_with_it(
    metric: str, loss: FloatArray, severity: str
) -> None:
    """Two curves that turn at one place; the rate is a hint, and another seed the test."""
    noise = np.random.default_rng(5).standard_normal((2, 420))
    run = of(RISES + 0.08 * noise[0], **{metric: loss + 2e-3 * noise[1]})
    found = told(run)[0]
    assert found.severity == severity
    assert ("loss rose from" in found.seen) == (severity == "warning")
    if severity == "warning":
        cause = diagnose(run).incidents[0].findings[0].causes[0]
        assert cause.what == "Not known"
        assert "another seed" in cause.experiment


def test_the_weights_of_stable_baselines_are_where_its_callback_saves_them() -> None:
    """Of another program the next run keeps its best."""
    fallen = of(np.concatenate([scattered(500, 100), scattered(50, 100)]))
    for sources, said in ((("logs/evaluations.npz",), "best_model.zip"), ((), "best so far")):
        found = told(replace(fallen, sources=sources))[0]
        assert any(said in fix.what for fix in found.fixes)
