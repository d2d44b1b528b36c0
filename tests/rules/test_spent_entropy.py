"""From which step on weights are spent, where entropy collapsed."""

import pytest

from runlens.engine import diagnose
from runlens.rules.rule import drawn
from runlens.weights import sound_until


@pytest.mark.parametrize(
    ("entropy", "until"),
    [
        ("0:2 190:1.9 200:0.8 210:1.9 400:1.2 410:0.8 600:0.02 900:0.01", 410),
        ("0:2 190:1.9 200:0.9 400:0.8 600:0.02 900:0.01", 200),
    ],
)
def test_half_of_the_entropy_is_gone_for_good(entropy: str, until: int) -> None:
    """A single dip below the half is none: the policy tried other answers after it."""
    run = drawn(
        "spent", noise=0, task="grpo", entropy=entropy, reward="0:0.2 400:0.6 900:0.6"
    ).run()
    found = next(one for one in diagnose(run).findings if one.rule == "entropy-collapse")
    assert sound_until(run, found) == until
