"""Speed by time stamps."""

import numpy as np
import pytest

from runlens.engine import examine
from runlens.history import FloatArray, History, columns
from runlens.rules.rule import Case
from runlens.rules.throughput.throughput_drop import RULE
from runlens.run import Run
from runlens.signals import Signals

STEPS = np.arange(0, 1000, 10)


def _run(seconds: FloatArray) -> Run:
    """Return a run whose intervals took `seconds` each."""
    time = 1.7e9 + np.concatenate([[0.0], np.cumsum(seconds)])
    loss = columns(STEPS, 2 - STEPS / 1000, time=time)
    return Run("timed", "timed", History({"train_loss": loss}), task="sft")


def test_time_stamps_show_a_drop() -> None:
    """Intervals of 10 s become intervals of 50 s at step 600."""
    run = _run(np.where(STEPS[:-1] < 600, 10.0, 50.0))
    finding = RULE.check(run, Signals(run), RULE.limits).findings[0]
    assert finding.severity == "warning"
    assert finding.onset.step == 600


def test_a_drop_that_cost_seconds_is_not_worth_a_finding() -> None:
    """The same shape at a thousand times the speed cost two seconds."""
    run = _run(np.where(STEPS[:-1] < 600, 0.01, 0.05))
    outcome = RULE.check(run, Signals(run), RULE.limits)
    assert (outcome.status, "cost" in outcome.reason) == ("passed", True)


def test_evaluation_between_records_is_no_drop() -> None:
    """Every fifth interval holds an evaluation of a minute."""
    run = _run(np.where(STEPS[:-1] % 50 == 0, 70.0, 10.0))
    assert RULE.check(run, Signals(run), RULE.limits).status == "passed"


def test_updates_that_begin_are_no_drop() -> None:
    """Off-policy RL is fast while it only fills its buffer."""
    curves = {"throughput_samples": "0:2400 400:2400 410:90 1000:90"}
    noise = {"throughput_samples": 0.05}
    known = Case("known", curves, noise=noise, task="rl", config={"learning_starts": 400})
    run = known.run()
    assert examine(RULE, run, Signals(run)).status == "passed"
    run = Case("unknown", curves, noise=noise, task="rl").run()
    found = examine(RULE, run, Signals(run)).findings[0]
    assert found.severity == "info"
    assert "Updates began" in found.causes[0].what


@pytest.mark.parametrize(
    ("seconds", "status"),
    [
        ([85, 142, 202], "found"),
        ([85, 202], "unmet"),  # two rows show no direction
        ([85, 202, 142], "unmet"),
        ([85, 100, 120], "unmet"),  # a third slower is not told from so few
    ],
)
def test_a_few_rows_that_slow_down_one_by_one(seconds: list[float], status: str) -> None:
    """Told as info, and how few they are."""
    times = columns(np.arange(len(seconds)), np.array(seconds, dtype=float))
    run = Run("few", "few", History({"step_time": times}), task="sft")
    outcome = RULE.check(run, Signals(run), RULE.limits)
    assert outcome.status == status
    assert all(one.severity == "info" and "3 rows" in one.title for one in outcome.findings)
