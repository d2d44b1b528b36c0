"""A stretch far above its level that begins and ends with a jump, where the task is not known."""

import pytest

from runlens.engine import diagnose
from runlens.rules.rule import drawn


def spikes(train: str, noise: float = 0.05) -> bool:
    """Whether a loss spike is told of such a training loss, as more than a note."""
    run = drawn("stretch", task="other", noise=noise, train_loss=train).run()
    found = [one for incident in diagnose(run).incidents for one in incident.findings]
    return any(one.rule == "loss-spike" and one.severity == "warning" for one in found)


def test_a_stretch_of_a_sixth_of_the_run_is_a_spike() -> None:
    """Four times as high for many points, and back at once: no batch, and no stage of a task."""
    assert spikes("0:33 70:4 710:4 720:14 880:14 890:4.5 990:4.3")


@pytest.mark.parametrize(
    "train",
    [
        "0:33 70:4 710:4 720:9 880:9 890:4.2 990:4.2",  # half as high: other data may be as hard
        "0:33 70:4 710:4 720:14 990:14",  # it stays: a rise
        "0:33 70:4 710:4 720:14 880:14 890:8 990:8",  # half of it is left
    ],
)
def test_look_alikes_of_a_stretch(train: str) -> None:
    """What is lower, stays, or is half left may be other data."""
    assert not spikes(train)
