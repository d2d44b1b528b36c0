"""Leaps of the learning rate: stages that were planned, and what no plan does."""

from dataclasses import replace

import numpy as np
import pytest

from runlens.engine import examine
from runlens.history import FloatArray, History, columns
from runlens.rules.lifecycle.resume_jump import RULE as RESUME
from runlens.rules.rule import drawn
from runlens.rules.schedule.schedule_mismatch import RULE
from runlens.run import State, StateKind
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


@pytest.mark.parametrize(
    ("losses", "rate", "scheduler", "severity"),
    [
        ("0:1.6 6:0.25 7:0.2 16:0.004", "0:3e-3 6:3e-3 7:1e-2 16:1e-3", "", "info"),
        ("0:1.6 6:0.25 7:0.6 16:0.2", "0:3e-3 6:3e-3 7:1e-2 16:1e-3", "", "warning"),
        # in mid-decay, and against what is configured
        ("0:1.6 6:0.25 7:0.2 16:0.004", "0:1e-2 6:2e-3 7:8.5e-3 8:7e-3 16:1e-3", "", "warning"),
        ("0:1.6 6:0.25 7:0.2 16:0.004", "0:3e-3 6:3e-3 7:1e-2 16:1e-3", "cosine", "warning"),
    ],
)
def test_a_second_stage_that_betters_every_loss_is_no_fault(
    losses: str, rate: str, scheduler: str, severity: str
) -> None:
    """Layers are released at a higher rate; a leap that undoes what was gained is told."""
    config = {"lr_scheduler_type": scheduler} if scheduler else {}
    case = drawn(
        "released", noise=0, config=config, learning_rate=f"/1 {rate}", train_loss=f"/1 {losses}",
        eval_loss=f"/1 {losses}",
    )  # fmt: skip
    run = case.run()
    (finding,) = examine(RULE, run, Signals(run)).findings
    assert (finding.severity, finding.harmless) == (severity, severity == "info")


@pytest.mark.parametrize(
    ("epoch", "rate", "scheduler", "told"),
    [
        (2.95, 1e-5, "cosine", True),
        (2.95, 1e-5, "linear", True),
        (1.9, 1e-5, "cosine", False),  # more than half of it is planned there
        (2.95, 2e-6, "cosine", False),  # it came down
        (2.95, 1e-5, "constant", False),
        (2.95, 1e-5, "inverse_sqrt", False),  # nobody knows its end
    ],
)
def test_a_rate_at_its_peak_late_in_the_plan_is_told_from_a_row_on(
    epoch: float, rate: float, scheduler: str, told: bool
) -> None:
    """Three rows that were pasted, and the settings beside them."""
    config: dict[str, str | int | float | bool | None] = {
        "lr_scheduler_type": scheduler,
        "learning_rate": 1e-5,
        "num_train_epochs": 4,
    }
    at = np.array([1, 2, 3])
    series = {"learning_rate": columns(at, np.full(3, rate), np.full(3, epoch))}
    run = replace(
        drawn("late", config=config, train_loss="0:1 20:1").run(), history=History(series)
    )
    outcome = examine(RULE, run, Signals(run))
    assert outcome.status == ("found" if told else "unmet")
    assert not told or "of the planned epochs" in outcome.findings[0].title


@pytest.mark.parametrize(("apart", "status"), [((0, 0, 0, 0), "passed"), ((0, 3, 0, 7), "found")])
def test_a_rate_that_cycles_is_planned(apart: tuple[int, ...], status: str) -> None:
    """A triangle whose height shrinks, as many rows wide each time, under no name."""
    rows: list[float] = []
    for height, wait in zip((1e-3, 5e-4, 3.4e-4, 2.5e-4), apart, strict=True):
        rows += [1e-6] * (1 + wait) + [height * share for share in (0.5, 1.0, 0.5)]
    steps = 10 * np.arange(len(rows))
    history = History(
        {
            "train_loss": columns(steps, np.linspace(3, 1, len(rows))),
            "learning_rate": columns(steps, rows),
        }
    )
    run = replace(drawn("cycles", train_loss="0:3 600:1").run(), history=history)
    assert examine(RULE, run, Signals(run)).status == status


@pytest.mark.parametrize(
    ("rate", "status"), [("0:0 600:1e-3", "passed"), ("0:0 400:1e-3 600:1e-3", "found")]
)
def test_a_run_that_ends_in_its_warmup_has_not_reached_its_peak(rate: str, status: str) -> None:
    """A rate that rises to the last record says nothing of its peak; one that stands does."""
    config = {"learning_rate": 2e-3, "warmup_steps": 50}
    run = drawn("w", learning_rate=rate, config=config).run()
    outcome = examine(RULE, run, Signals(run))
    assert outcome.status == status
    assert status == "passed" or "the peak learning rate was" in outcome.findings[0].title


@pytest.mark.parametrize(
    ("rates", "kind", "told"),
    [
        (np.linspace(1e-7, 4e-5, 61), "finished", True),
        (np.linspace(1e-7, 4e-5, 61), "unknown", False),  # it may go on
        (np.minimum(np.linspace(1e-7, 8e-5, 61), 4e-5), "finished", False),
        (np.geomspace(1e-7, 4e-5, 61), "finished", False),  # by a factor: a range test
        (np.linspace(2e-5, 4e-5, 61), "finished", False),
    ],
)
def test_a_run_that_ends_in_its_warm_up_is_told(
    rates: FloatArray, kind: StateKind, told: bool
) -> None:
    """A default of 500 steps, and a run of fewer."""
    state = State(kind, sure="certain", done_steps=600, planned_steps=600)
    run = drawn("warms", state=state, train_loss="0:3 600:1").run()
    series = {"learning_rate": columns(np.arange(0, 610, 10), rates)}
    run = replace(run, history=History(series))
    findings = examine(RULE, run, Signals(run)).findings
    assert any("in its warm-up" in one.title for one in findings) is told
    assert all("warmup_steps" in one.fixes[0].what for one in findings if told)
