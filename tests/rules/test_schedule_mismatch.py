"""Leaps of the learning rate: stages that were planned, and what no plan does."""

import pytest

from runlens.engine import examine
from runlens.rules.lifecycle.resume_jump import RULE as RESUME
from runlens.rules.rule import drawn
from runlens.rules.schedule.schedule_mismatch import RULE
from runlens.signals import Signals


@pytest.mark.parametrize(
    ("rate", "scheduler", "severity", "resumes"),
    [
        ("0:1e-3 300:1e-6 310:4e-4 600:1e-6", "", "info", False),
        ("0:1e-3 300:2e-4 310:9e-4 600:1e-6", "", "warning", True),  # in mid-decay
        ("0:1e-3 200:1e-6 300:1e-6 310:4e-4 600:1e-6", "", "warning", True),  # it stood
        ("0:1e-3 300:1e-6 310:4e-4 600:1e-6", "cosine", "warning", True),
    ],
)
def test_a_stage_after_the_end_of_an_unknown_schedule_is_no_fault(
    rate: str, scheduler: str, severity: str, resumes: bool
) -> None:
    """A decay of its own follows, as where frozen layers are released; nor is it a resume."""
    config = {"lr_scheduler_type": scheduler} if scheduler else {}
    case = drawn("stages", noise=0.0, config=config, learning_rate=rate, train_loss="0:3 600:1")
    run = case.run()
    (finding,) = examine(RULE, run, Signals(run)).findings
    assert (finding.severity, finding.harmless) == (severity, severity == "info")
    assert bool(examine(RESUME, run, Signals(run)).findings) == resumes
