"""Joints between launches."""

import numpy as np

from runlens.history import FloatArray, History, columns
from runlens.rules.lifecycle.resume_jump import RULE
from runlens.run import Run
from runlens.signals import Signals

STEPS = np.arange(5, 405, 5)


def _run(rate: FloatArray, later: FloatArray) -> Run:
    """Two launches: the first up to step 220, the second from step 205 with its own rates."""
    first, second = STEPS[STEPS <= 220], STEPS[STEPS >= 205]
    step = np.concatenate([first, second])
    segment = np.concatenate([np.zeros(len(first)), np.ones(len(second))])
    value = 3 * np.exp(-step / 150) + 1
    rates = np.concatenate([rate[: len(first)], later[: len(second)]])
    return Run(
        "two",
        "two",
        History(
            {
                "train_loss": columns(step, value, segment=segment),
                "learning_rate": columns(step, rates, segment=segment),
            }
        ),
        task="sft",
    )


def test_a_clean_resume_passes_although_steps_are_logged_twice() -> None:
    """The second launch repeats steps 205 to 220 with the same values."""
    rate = 1e-3 * (1 - STEPS / 400)
    run = _run(rate, rate[STEPS >= 205])
    assert RULE.check(run, Signals(run), RULE.limits).status == "passed"


def test_a_second_warm_up_is_found_at_the_joint() -> None:
    """The rate of the second launch starts its schedule again."""
    rate = 1e-3 * np.minimum(STEPS / 60, 1)
    run = _run(rate, rate)
    finding = RULE.check(run, Signals(run), RULE.limits).findings[0]
    assert finding.onset.step == 205
    assert (finding.severity, finding.metric) == ("warning", "learning_rate")
    assert "warmed up again" in finding.title


def test_another_rate_without_a_jump_of_loss_is_info() -> None:
    """A rate that goes on at half is a decision, not a lost state."""
    rate = 1e-3 * (1 - STEPS / 400)
    run = _run(rate, rate[STEPS >= 205] / 2)
    assert RULE.check(run, Signals(run), RULE.limits).findings[0].severity == "info"


def test_one_launch_cannot_be_judged() -> None:
    """Without a joint there is nothing to compare."""
    run = Run("one", "one", History({"train_loss": columns(STEPS, STEPS * 0.0 + 1)}))
    assert RULE.check(run, Signals(run), RULE.limits).status == "unmet"
