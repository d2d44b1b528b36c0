"""Numbers behind others that are no part of them: a speed, how many games, a printed vector."""

from pathlib import Path

import numpy as np
import pytest

from tests.sources.written import run_of

STEPS = range(100, 900, 100)


@pytest.mark.parametrize(
    "speed", ["5.4 it/s", "5400 tok/s", "18 ms/step", "0.2 s", "7.1 samples/s"]
)
def test_a_speed_is_no_second_loss(speed: str, tmp_path: Path) -> None:
    """Its unit stands apart from it."""
    rows = [f"  step {n}/6000  lr 5.17e-04  loss {90 / n:.5f}  {speed}  eta 0.16h" for n in STEPS]
    run = run_of(tmp_path, "train.log", "\n".join([*rows, ""]))
    assert sorted(run.history.metrics) == ["learning_rate", "train_loss"]


def test_two_losses_are_two(tmp_path: Path) -> None:
    """Behind the second there is no unit."""
    rows = [f"  step {n}/6000  loss {90 / n:.5f}  {50 / n:.5f}" for n in STEPS]
    run = run_of(tmp_path, "train.log", "\n".join([*rows, ""]))
    assert sorted(run.history.metrics) == ["loss[1]", "train_loss"]


def test_over_how_many_games_a_mean_was_taken_is_no_epoch(tmp_path: Path) -> None:
    """Beside a counter; alone it counts."""
    rows = [f"Iter {n} | reward={n / 50:+.3f}* hid=0.01 (8ep) | kl=0.{n}" for n in STEPS]
    reward = run_of(tmp_path, "train.log", "\n".join([*rows, ""])).curve("reward")
    assert reward.step.tolist() == list(STEPS)
    assert np.isnan(reward.epoch).all()
    rows = [f"mean reward={n / 50:+.3f} ({n} episodes)" for n in STEPS]
    reward = run_of(tmp_path, "train.log", "\n".join([*rows, ""])).curve("reward")
    assert reward.step.tolist() == list(STEPS)


def test_a_printed_vector_is_no_number(tmp_path: Path) -> None:
    """Whether or not a blank stands before its first element."""
    rows = [
        f"Episode {n}, Last State: [{' ' * (n % 2)}{n}. 71.  1.], Reward: {n * 1.5}"
        for n in range(1, 20)
    ]
    run = run_of(tmp_path, "train.log", "\n".join([*rows, ""]))
    assert sorted(run.history.metrics) == ["reward"]
