"""A KL weight of 0 beside a policy that leaves its reference, and a rate of no model's range."""

from typing import Any

import numpy as np
import pytest

from runlens.engine import diagnose
from tests.causes.test_beside_the_curve import first, made

LEAVES = np.append(0.5 * np.ones(12), np.linspace(6, 54, 28))
NOISE = np.random.default_rng(3).normal(0, 0.01, 40)
EARNS = 0.1 + 0.9 * (1 - np.exp(-np.arange(40) / 8)) + NOISE
THROWN = np.append(0.5 + NOISE[:12], 0.1 + NOISE[12:])


@pytest.mark.parametrize(
    ("config", "reward", "kind"),
    [
        ({"beta": 0.0}, EARNS, "kl-weight"),
        ({"beta": 0.0}, THROWN, "rate-too-high"),  # it earns less: no reward leads there
        ({"beta": 0.05}, EARNS, "rate-too-high"),  # it is held
        ({"beta": 0.0, "model_name": "some/model-7b"}, EARNS, "rate-too-high"),  # of its range
    ],
)
def test_no_kl_term_lets_a_policy_go_where_it_earns(
    config: dict[str, Any], reward: Any, kind: str
) -> None:
    """A rate far above the range of a model that nothing names tells less."""
    run = made("ppo", config, reward=reward, kl=LEAVES, learning_rate=np.full(40, 4e-3))
    assert first(run).kind == kind


@pytest.mark.parametrize(
    ("reward", "config", "blamed"),
    [
        (np.linspace(0.05, 0.25, 40), {}, False),
        (np.linspace(0.05, 0.25, 40), {"model_name": "some/model-7b"}, True),
        (0.1 + NOISE, {}, True),  # it earns no more
    ],
)
def test_a_rate_at_which_a_toy_earns_ever_more_is_no_cause(
    reward: Any, config: dict[str, Any], *, blamed: bool
) -> None:
    """The usual range is that of language models."""
    told = made(
        "grpo", config, reward=reward, frac_zero_std=np.ones(40), learning_rate=np.full(40, 1.5)
    )
    found = diagnose(told).incidents[0].findings[0].causes
    likely = [one.kind for one in found if one.rank in {"likely", "most likely"}]
    assert ("rate-too-high" in likely) is blamed


@pytest.mark.parametrize(
    ("rate", "kind"),
    [
        (np.full(60, 3e-4), "exploration"),
        (np.full(60, 0.12), "rate-too-high"),  # steps that are too large settle a policy as soon
        (None, "unknown"),
    ],
)
def test_a_policy_that_settled_is_short_of_exploration_at_a_usual_rate(
    rate: Any, kind: str
) -> None:
    """What is not recorded may be either."""
    reward = np.interp(np.arange(60), [0, 17, 31, 36, 59], [19, 200, 190, 85, 80])
    entropy = np.interp(np.arange(60), [0, 5, 20, 59], [0.69, 0.3, 0.1, 0.07])
    curves = {} if rate is None else {"learning_rate": rate}
    assert first(made("rl", reward=reward, entropy=entropy, **curves)).kind == kind
