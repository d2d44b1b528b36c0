"""Joints between launches."""

from dataclasses import replace

import numpy as np
import pytest

from runlens.history import FloatArray, History, columns
from runlens.rules.lifecycle.resume_jump import RULE
from runlens.rules.rule import drawn
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


def _rise_in_decay(scheduler: str = "", per_epoch: float = 100) -> Run:
    """Let a rate that falls rise by less than a tenth at step 205, and the loss jump with it."""
    rate = np.where(STEPS < 205, 1e-3 - STEPS * 5e-7, 1e-3 - (STEPS - 200) * 6e-7)
    value = np.where(STEPS < 205, 3 * np.exp(-STEPS / 60) + 1, 1.2 + 2 * np.exp((205 - STEPS) / 90))
    after = np.maximum(STEPS - 200, 0)
    epoch = (STEPS - after) / 100 + after / per_epoch
    rows = {
        "train_loss": columns(STEPS, value, epoch),
        "learning_rate": columns(STEPS, rate, epoch),
    }
    run = drawn("r", train_loss="0:1", config={"lr_scheduler_type": scheduler}).run()
    return replace(run, history=History(rows, ("drawn",)))


@pytest.mark.parametrize(
    ("scheduler", "status"), [("", "found"), ("linear", "found"), ("cosine_with_restarts", "unmet")]
)
def test_a_rate_that_rises_in_mid_decay_shows_a_launch(scheduler: str, status: str) -> None:
    """No schedule does that but one of restarts."""
    run = _rise_in_decay(scheduler)
    outcome = RULE.check(run, Signals(run), RULE.limits)
    assert outcome.status == status
    assert [one.onset.step for one in outcome.findings] == [205] * (status == "found")


@pytest.mark.parametrize(
    ("per_epoch", "severity", "first"),
    [(100, "critical", "Learning rate or planned steps"), (86, "warning", "Other data or batches")],
)
def test_epochs_of_another_length_are_of_other_data(
    per_epoch: float, severity: str, first: str
) -> None:
    """Their loss has a level of its own, to which it need not come back."""
    run = _rise_in_decay(per_epoch=per_epoch)
    found = RULE.check(run, Signals(run), RULE.limits).findings[0]
    assert found.severity == severity
    assert found.causes[0].what.startswith(first)
