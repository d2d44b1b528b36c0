"""Losses under a learning rate that restarts, and what a table of usual rates proves of one."""

from typing import Any

import pytest

from runlens.engine import diagnose, examine
from runlens.rules.loss.plateau import RULE
from runlens.rules.rule import drawn
from runlens.run import Run
from runlens.signals import Signals

RATE = " ".join(f"{100 * at}:0.25 {100 * at + 90}:0.004" for at in range(4))
FALLS = (1.53, 1.507, 1.498, 1.492)
SGD: dict[str, Any] = {"optim": "sgd", "momentum": 0.8, "learning_rate": 0.25}


def cycles(ends: tuple[float, ...], rate: str = RATE, high: float = 1.7, **more: Any) -> Run:
    """Draw a classifier whose loss goes up with the rate and comes to an end in each cycle."""
    tops = (2.02, *(high for _ in ends[1:]))
    course = " ".join(
        f"{100 * at}:{top} {100 * at + 90}:{end}"
        for at, (top, end) in enumerate(zip(tops, ends, strict=True))
    )
    return drawn(
        "cycles", noise=0, task="classification", train_loss=course, learning_rate=rate, **more
    ).run()


def found(run: Run) -> bool:
    """Whether a plateau is found."""
    return bool(examine(RULE, run, Signals(run)).findings)


def test_a_loss_that_is_lower_at_the_end_of_each_cycle_stands_nowhere() -> None:
    """Compared like with like: where the rate is lowest."""
    assert not found(cycles(FALLS))


def test_ends_of_later_cycles_far_below_the_first_are_a_gain() -> None:
    """One end is a mean of few batches: the last may lie a little above the one before."""
    assert not found(cycles((1.6, 1.46, 1.42, 1.44)))


@pytest.mark.parametrize(
    ("ends", "rate"),
    [
        ((1.53, 1.507, 1.512, 1.509), RATE),  # the ends go up and down
        ((1.53, 1.53, 1.53, 1.53), RATE),
        ((1.55, 1.42, 1.53, 1.5), RATE),  # they lie as far apart as they came down
        (FALLS, "0:0.25 390:0.25"),  # no cycle lifts it
        (FALLS, "0:0.25 90:0.004 100:0.25 190:0.004 200:0.25 390:0.2"),  # two ends: one is cut
    ],
)
def test_a_loss_that_stands_is_told_whatever_the_rate_does(
    ends: tuple[float, ...], rate: str
) -> None:
    """A floor that no cycle comes below."""
    assert found(cycles(ends, rate))


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ({}, False),
        ({"num_parameters": 11_000_000}, True),  # the range is of nets of that size
        ({"learning_rate": 30.0}, True),  # far beyond what any net takes
    ],
)
def test_sgd_takes_what_rate_its_model_takes(more: dict[str, Any], named: bool) -> None:
    """A table alone names no rate of SGD the likeliest cause where the loss came down by it."""
    config = {**SGD, **more, "per_device_train_batch_size": 64}
    steady = f"0:{config['learning_rate']} 900:{config['learning_rate']}"
    run = drawn(
        "flat", noise=0.003, task="classification", config=config, learning_rate=steady,
        train_loss="0:2.02 100:1.56 900:1.54",
    ).run()  # fmt: skip
    causes = [one for one in diagnose(run).causes if one.kind == "rate-too-high"]
    assert any(one.rank in {"likely", "most likely"} for one in causes) is named
