"""Warm-up, peak and restarts by the learning-rate curve."""

from typing import Any

import pytest

from runlens.rules.rule import Case, drawn
from runlens.signals import phases


def warmup(rate: str = "", config: dict[str, Any] | None = None) -> phases.Warmup:
    """Ask for the warm-up of a run of 1,000 steps."""
    curves = {"train_loss": "0:3 1000:1"} | ({"learning_rate": rate} if rate else {})
    return phases.warmup(Case("w", curves, config=config or {}).run())


@pytest.mark.parametrize(
    ("rate", "config", "end", "how", "present"),
    [
        ("0:0 100:1e-3 1000:0", {}, 100, "learning rate", True),
        ("0:0 100:1e-3 1000:1e-3", {}, 100, "learning rate", True),
        ("0:0 100:1e-3 1000:0", {"warmup_steps": 50}, 100, "learning rate", True),
        ("0:1e-3 1000:0", {}, 0, "learning rate", False),
        ("0:1e-3 1000:1e-3", {"warmup_steps": 0}, 0, "learning rate", False),
        ("", {"warmup_steps": 50}, 50, "config", True),
        ("", {"warmup_ratio": 0.1}, 100, "config", True),
        ("", {"warmup_steps": 0.1}, 100, "config", True),
        ("", {}, 30, "assumed", False),
        ("0:0 1000:1e-3", {}, 30, "assumed", False),  # rises to the end: no warm-up
        ("0:0 1000:0", {}, 30, "assumed", False),
    ],
)
def test_end_of_warmup(
    rate: str, config: dict[str, Any], end: int, how: str, *, present: bool
) -> None:
    """What was logged counts before what was set, that before a guess."""
    assert warmup(rate, config) == phases.Warmup(end, how, present)


@pytest.mark.parametrize(
    ("rate", "steps"),
    [
        ("0:0 100:1e-3 1000:0", []),
        ("0:1e-3 400:0 410:1e-3 800:0 810:1e-3 1000:0", [410, 810]),
        ("0:1e-3 1000:1e-3", []),
        ("0:1e-3 490:9e-4 500:9.6e-4 1000:0", [500]),  # 30 of its steps at once
        ("0:1e-3 490:9e-4 500:9.15e-4 1000:0", []),  # 8 of them
        ("0:1e-3 450:9e-4 490:9e-4 500:9.6e-4 1000:0", []),  # it stood before
        ("0:1e-3", []),
    ],
)
def test_restarts_are_rises_after_a_fall(rate: str, steps: list[int]) -> None:
    """A warm-up is none."""
    curve = drawn("r", learning_rate=rate).run().curve("learning_rate")
    assert phases.restarts(curve) == steps
