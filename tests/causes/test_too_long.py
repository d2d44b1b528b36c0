"""Settings that count longer than the run, and settings that look alike."""

from typing import Any

import numpy as np
import pytest

from runlens.engine import diagnose
from tests.causes.test_traces import made

FLAT = 14.6 - 0.0005 * np.arange(40)
WARMUP = "The warm-up is longer than the run"
RISING = np.linspace(1e-7, 1e-6, 40)
RISEN = np.minimum(np.arange(1, 41) / 20, 1) * 1e-3
NEVER = "The target network is never updated"
LOST = np.concatenate([np.linspace(2, 9, 30), np.linspace(9, -3, 30)])
LENGTH = {"max_steps": 600}
EIGHT = {"gradient_accumulation_steps": 8}


def told(**of_run: Any) -> tuple[str, str]:
    """Return the first cause of a run and what speaks for it."""
    causes = diagnose(made(**of_run)).incidents[0].findings[0].causes
    return causes[0].what, causes[0].evidence_for


@pytest.mark.parametrize(
    ("config", "rate", "named"),
    [
        ({"scheduler_conf.warmup_steps": 250_000}, RISING, True),
        ({"num_warmup_steps": 250_000}, RISING, True),
        ({"warmup_steps": 250_000}, RISEN, False),  # counted in something else: it reached its peak
        ({"warmup_steps": 600}, RISING, False),  # the rate came far enough to learn at
        ({"warmup_steps": 250_000}, None, False),  # no rate shows what steps are counted in
        ({"warmup_ratio": 0.1}, RISING, False),
    ],
)
def test_a_warm_up_that_outlasts_the_run(config: dict[str, Any], rate: Any, *, named: bool) -> None:
    """By the setting, and by a rate that rises to the end."""
    curves = {} if rate is None else {"learning_rate": rate}
    what, why = told(config=config, train_loss=FLAT, **curves)
    assert (what == WARMUP) is named
    assert ("is 250,000 and the run has 390 steps" in why) is named


@pytest.mark.parametrize(
    ("config", "more", "named"),
    [
        ({"target_update_interval": 100_000, **LENGTH}, {}, True),
        ({"target_update_interval": 10_000}, {"target_updates": np.zeros(60)}, True),
        ({"dqn.target_network_update_freq": 9000, "dqn.n_timesteps": 600}, {}, True),
        ({"target_update_interval": 500, **LENGTH}, {}, False),
        ({"target_update_interval": 10_000}, {}, False),  # rows may count episodes
        ({"target_update_interval": 900, "gradient_steps": 4, **LENGTH}, {}, False),
        ({"target_update_interval": 100_000, **LENGTH}, {"clip_ratio": np.full(60, 0.1)}, False),
        ({"target_kl_every": 100_000, **LENGTH}, {}, False),
    ],
)
def test_a_target_network_that_is_never_copied(
    config: dict[str, Any], more: dict[str, Any], *, named: bool
) -> None:
    """Of a policy that learns from a buffer, where a setting or a count tells the length."""
    what, why = told(task="rl", config=config, reward=LOST, **more)
    assert (what == NEVER) is named
    assert ("is 0 at all 60 points" in why) is (named and "target_updates" in more)


def test_a_language_model_with_such_a_setting_has_no_target_network() -> None:
    """Of agents alone."""
    what, _ = told(task="grpo", config={"target_update_interval": 100_000, **LENGTH}, reward=LOST)
    assert what != NEVER


@pytest.mark.parametrize(
    ("config", "points", "named"),
    [
        ({"steps_per_epoch": 1, "num_train_epochs": 20}, 20, True),
        ({"steps_per_epoch": 8, "num_train_epochs": 20, **EIGHT}, 20, True),
        ({"steps_per_epoch": 100, "num_train_epochs": 20}, 20, False),
        ({"steps_per_epoch": 1, "num_train_epochs": 40}, 20, False),  # it is not over
        ({"num_train_epochs": 20}, 20, False),  # of which each may have many
    ],
)
def test_a_loop_of_ones_own_with_a_handful_of_updates(
    config: dict[str, Any], points: int, *, named: bool
) -> None:
    """By the batches of an epoch, and by the epochs."""
    still = 0.7 + 0.01 * np.sin(np.arange(points) * 2.0)
    what, why = told(config=config, train_loss=still)
    assert (what == "Too few updates to learn anything") is named
    assert ("The plan was 20 updates".lower() in why.lower()) is named


@pytest.mark.parametrize(
    ("some", "whole", "named"),
    [
        (10, 4978, True),
        (18_882_560, 8_607_498_496, False),  # LoRA
        (1024, 1_000_000, False),  # of rank 1, on one layer
    ],
)
def test_fewer_trained_parameters_than_any_adapter_has(
    some: int, whole: int, *, named: bool
) -> None:
    """Of a loss that stands still."""
    still = 2.36 + 0.01 * np.sin(np.arange(40) * 2.0)
    config = {"trainable_parameters": some, "all_parameters": whole}
    what, _ = told(task="classification", config=config, train_loss=still)
    assert (what == "Nearly all parameters are frozen") is named
