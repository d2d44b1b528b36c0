"""Causes of a learning rate of zero."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from runlens.diagnosis import Diagnosis
from runlens.engine import diagnose
from runlens.history import History, Observation
from runlens.rules.rule import Case, drawn
from runlens.rules.schedule import warmup_shock
from runlens.rules.schedule.lr_zero import RULE
from runlens.run import State, Task
from runlens.signals import Signals


def test_a_plan_twice_the_schedule_names_the_double_count() -> None:
    """The schedule ended at half of the planned steps: devices or accumulation counted twice."""
    case = drawn(
        "half",
        train_loss="0:3 200:1.5 400:1.5",
        learning_rate="0:1e-3 200:0 400:0",
        noise=0.01,
        state=State(done_steps=400, planned_steps=400),
    )
    finding = RULE.check(case.run(), Signals(case.run()), RULE.limits).findings[0]
    assert any("counted twice" in cause.what for cause in finding.causes)
    assert any("for all 400 steps" in fix.what for fix in finding.fixes)


def test_a_second_group_that_learns_speaks_against_it() -> None:
    """Frozen first group, trained head."""
    rates = {"learning_rate": "0:0 400:0", "learning_rate:1": "0:1e-3 400:1e-4"}
    run = Case("groups", {"train_loss": "0:3 400:1.5", **rates}).run()
    assert RULE.check(run, Signals(run), RULE.limits).status == "passed"


STEPS = np.arange(0, 850, 5)


def falling(values: np.ndarray[Any, np.dtype[np.float64]], **config: Any) -> Diagnosis:
    """Diagnose a run with these rates, a loss that lies flat, and these settings."""
    run = drawn("x", train_loss="0:2.3 850:1.82", config=config).run()
    loss = np.interp(STEPS, [0, 60, 850], [2.3, 1.82, 1.82])
    curves = {"learning_rate": values, "train_loss": loss}
    rows = [
        Observation(name, int(at), float(value))
        for name, curve in curves.items()
        for at, value in zip(STEPS, curve, strict=True)
    ]
    state = State("finished", "", "certain", done_steps=850, planned_steps=850)
    return diagnose(replace(run, history=History.of(rows), state=state))


@pytest.mark.parametrize(
    ("values", "config", "todo"),
    [
        (0.03 * 0.6 ** (STEPS // 12), {"step_size": 12}, "set step_size to 95"),
        (0.03 * 0.6 ** (STEPS // 12), {}, "to 1 % of its peak over all 850 steps"),
        (0.03 * 0.95**STEPS, {"gamma": 0.95}, "set gamma to 0.9946"),
        (0.03 * 0.95**STEPS, {}, "to 1 % of its peak over all 850 steps"),
        (0.03 * np.maximum(1 - STEPS / 400, 0), {}, "Build the schedule for all 850 steps"),
    ],
)
def test_a_rate_that_falls_by_a_factor_is_no_schedule_of_too_few_steps(
    values: np.ndarray[Any, np.dtype[np.float64]], config: dict[str, Any], todo: str
) -> None:
    """It has no length: it falls less often, or by less."""
    diagnosis = falling(values, **config)
    lead = next(one for one in diagnosis.findings if one.rule == "lr-zero")
    assert lead.causes[0].kind == "rate-zero"
    assert ("decays too fast" in lead.causes[0].what) is ("Build" not in todo)
    assert any(todo in fix.what for fix in lead.fixes)


@pytest.mark.parametrize(
    ("peak", "task", "found"), [(1e-8, "other", True), (1e-7, "other", False), (1e-8, "sft", False)]
)
def test_a_rate_of_almost_nothing_from_start_to_end(
    peak: float, task: Task, *, found: bool
) -> None:
    """Where no range is usual; where one is, lr-out-of-range says it."""
    case = drawn(
        "hardly", task=task, train_loss="0:300 40:420 80:290 900:299",
        learning_rate=f"0:{peak} 900:{peak}",
    )  # fmt: skip
    outcome = RULE.check(case.run(), Signals(case.run()), RULE.limits)
    assert (outcome.status == "found") is found
    told = [(one.title, one.fixes[0].what) for one in outcome.findings]
    assert all("was 1e-8 at most from step 0 to the end." in said for said, _ in told)
    assert all(step.startswith("Print the learning rate") for _, step in told)
    shock = warmup_shock.RULE.check(case.run(), Signals(case.run()), warmup_shock.RULE.limits)
    assert (shock.status == "passed") is found


@pytest.mark.parametrize(
    ("mode", "monitor", "named"),
    [
        ("max", "xent_dev", True),
        ("min", "val_acc", True),
        ("min", "val_loss", False),
        ("max", "val_acc", False),
        ("max", "score", False),  # which way it goes is not known
    ],
)
@pytest.mark.parametrize("name", ["ReduceLROnPlateau", "StepLR"])
def test_a_mode_that_is_the_wrong_way_round_takes_gains_for_none(
    mode: str, monitor: str, name: str, *, named: bool
) -> None:
    """Of a scheduler that watches a metric; others have no mode."""
    config = {"lr_scheduler_type": name, "sched.mode": mode, "sched.monitor": monitor}
    values: Any = 0.03 * 0.1 ** (STEPS // 12)
    diagnosis = falling(values, **config)
    lead = next(one for one in diagnosis.causes)
    assert ("wrong way round" in lead.what) is (named and name != "StepLR")
