"""Rates and momenta by names that other settings have as well, and those other settings."""

from typing import Any

import pytest

from runlens.run import Configured
from runlens.sources.merging.settings import stood_in


def taken(**settings: Any) -> dict[str, Any]:
    """Return the settings after the stand-ins were looked for."""
    known = {key: Configured(value, "here", key) for key, value in settings.items()}
    return {key: some.value for key, some in stood_in(known).items()}


@pytest.mark.parametrize(
    ("settings", "rate"),
    [
        ({"step size": 0.3}, 0.3),
        ({"eta": "0.105", "mom": 0.9}, "0.105"),
        ({"pi_lr": 0.5, "vf_lr": 0.003}, 0.5),
        ({"lr_scheduler_type": 3e-4}, 3e-4),  # policy_lr
        ({"eta": 0.02, "learning_rate": 0.1}, 0.1),  # a name of its own comes first
    ],
)
def test_a_rate_of_another_name(settings: dict[str, Any], rate: float) -> None:
    """What nothing else says is taken, with the key under which it is changed."""
    assert taken(**settings)["learning_rate"] == rate


@pytest.mark.parametrize(
    "settings",
    [
        {"step_size": 30},  # epochs of StepLR
        {"eta": 0.3, "max_depth": 6},  # shrinks trees
        {"eta": 0.0},  # of DDIM
        {"vf_lr": 0.12},  # of the critic alone
        {"lr_scheduler_type": "step"},
        {"eta": None},
        {"step_size": "auto"},
    ],
)
def test_what_is_no_rate(settings: dict[str, Any]) -> None:
    """Its value, or what stands beside it, is that of another setting."""
    assert taken(**settings) == settings


def test_momentum_in_short() -> None:
    """A momentum that has its name is kept."""
    assert taken(mom=0.9) == {"momentum": 0.9}
    assert taken(mom=0.9, momentum=0.5)["momentum"] == 0.5
