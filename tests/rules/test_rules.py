"""Every rule finds its bad cases, passes their look-alikes, and has its page."""

import inspect
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from runlens.engine import examine
from runlens.history import History, Observation, columns
from runlens.rules import RULES
from runlens.rules.rule import Case, Rule
from runlens.run import Run, Task
from runlens.signals import Signals

SECTIONS = ["What is seen", "Why it matters", "Looks alike", "Limits", "Fixes"]


def cases(kind: str) -> list[Any]:
    """Name each drawn case by its rule."""
    return [
        pytest.param(rule, case, id=f"{rule.slug}: {case.name}")
        for rule in RULES
        for case in getattr(rule, kind)
    ]


EACH = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.slug)


@pytest.mark.parametrize(("rule", "case"), cases("bad"))
def test_bad_case_is_found(rule: Rule[Any], case: Case) -> None:
    """The finding begins where the case was drawn to begin, and is as severe."""
    run = case.run()
    outcome = examine(rule, run, Signals(run))
    assert outcome.status == "found", outcome.reason
    finding = outcome.findings[0]
    if case.onset:
        assert finding.onset.step is not None
        assert case.onset[0] <= finding.onset.step <= case.onset[1]
    assert finding.severity == (case.severity or finding.severity)


@pytest.mark.parametrize(("rule", "case"), cases("good"))
def test_look_alike_passes(rule: Rule[Any], case: Case) -> None:
    """Passed with a reason, not merely unmet."""
    run = case.run()
    outcome = examine(rule, run, Signals(run))
    assert outcome.status == "passed", outcome
    assert outcome.reason


@EACH
def test_rule_has_cases_on_both_sides(rule: Rule[Any]) -> None:
    """At least one run that must be found and one that must not."""
    assert rule.bad
    assert rule.good


@EACH
@pytest.mark.parametrize(
    "values",
    [[math.nan] * 60, [math.inf] * 60, [1.0], [], [0.0] * 60, [-1.0] * 60, [1e300, -1e300] * 30],
    ids=["nan", "inf", "one point", "none", "zeros", "negative", "huge"],
)
def test_poor_data_breaks_no_rule(rule: Rule[Any], values: list[float]) -> None:
    """One metric is poor, the others have their bottom in the middle."""
    needs = [metric for need in rule.needs for metric in need.split("|")]
    task: Task = min(rule.tasks, default="sft")
    for poor in needs or ["train_loss"]:
        history = History.of(
            Observation(name, step, value if name == poor else abs(step - 15.0))
            for name in needs
            for step, value in enumerate(values)
        )
        run = Run("poor", "poor", history, task=task)
        outcome = examine(rule, run, Signals(run))
        assert outcome.status != "error", outcome.reason


@pytest.mark.parametrize(("rule", "case"), [*cases("bad"), *cases("good")])
def test_an_unrelated_metric_changes_nothing(rule: Rule[Any], case: Case) -> None:
    """What a run logs besides is no evidence."""
    run = case.run()
    before = examine(rule, run, Signals(run))
    metrics = {
        name: columns(c.step, c.value, c.epoch, c.time)
        for name in run.history.metrics
        for c in [run.curve(name)]
    }
    noise = np.random.default_rng(7).normal(size=40)
    metrics["something/else"] = columns(np.arange(run.last_step - 39, run.last_step + 1), noise)
    more = replace(run, history=History(metrics, ("drawn",)))
    after = examine(rule, more, Signals(more))
    assert (after.status, [f.severity for f in after.findings]) == (
        before.status,
        [f.severity for f in before.findings],
    )


@EACH
def test_page_is_complete(rule: Rule[Any]) -> None:
    """All sections, in order; every number that may be tuned is explained."""
    lines = rule.page.splitlines()
    assert [line for line in lines if line in SECTIONS] == SECTIONS
    assert [name for name in vars(rule.limits) if name not in rule.page] == []


@EACH
def test_every_limit_is_used(rule: Rule[Any]) -> None:
    """A limit that can be set and changes nothing is a lie to the user."""
    source = inspect.getsource(inspect.getmodule(rule.check))  # type: ignore[arg-type]
    assert [name for name in vars(rule.limits) if f"limits.{name}" not in source] == []
