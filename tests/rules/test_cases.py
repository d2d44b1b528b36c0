"""What every rule must keep when its drawn cases are moved or written in other units."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from runlens.diagnosis import Outcome
from runlens.engine import examine
from runlens.history import Columns, FloatArray, History, columns
from runlens.rules import RULES
from runlens.rules.cases import draw
from runlens.rules.rule import Case, Rule
from runlens.run import Run
from runlens.signals import Signals

BY_SLUG = {rule.slug: rule for rule in RULES}
SCALE_FREE = ("hockey-stick", "divergence", "loss-spike", "sawtooth")
MOVED = (
    "grad-explosion",
    "loss-spike",
    "divergence",
    "hockey-stick",
    "nan-loss",
    "reward-collapse",
)
SHIFT = 1_000


def ask(rule: Rule[Any], run: Run) -> Outcome:
    """Examine one run."""
    return examine(rule, run, Signals(run))


def redrawn(run: Run, change: Callable[[str, Columns], Columns]) -> Run:
    """Return the run with the columns of each metric changed."""
    metrics = {}
    for name in run.history.metrics:
        curve = run.curve(name)
        metrics[name] = change(name, columns(curve.step, curve.value, curve.epoch, curve.time))
    return replace(run, history=History(metrics, ("drawn",)))


def cases(slugs: tuple[str, ...], kind: str) -> list[Any]:
    """Name each drawn case by its rule."""
    return [
        pytest.param(BY_SLUG[slug], case, id=f"{slug}: {case.name}")
        for slug in slugs
        for case in getattr(BY_SLUG[slug], kind)
    ]


@pytest.mark.parametrize(("rule", "case"), [*cases(SCALE_FREE, "bad"), *cases(SCALE_FREE, "good")])
def test_a_loss_in_another_unit_is_judged_the_same(rule: Rule[Any], case: Case) -> None:
    """Three times the losses: found stays found, from the same step, and passed stays passed."""

    def tripled(name: str, rows: Columns) -> Columns:
        return rows._replace(value=3 * rows.value) if "loss" in name else rows

    run = case.run()
    before, after = ask(rule, run), ask(rule, redrawn(run, tripled))
    assert after.status == before.status, after
    assert [f.onset.step for f in after.findings] == [f.onset.step for f in before.findings]


@pytest.mark.parametrize(("rule", "case"), cases(MOVED, "bad"))
def test_a_later_start_moves_the_onset_along(rule: Rule[Any], case: Case) -> None:
    """A log whose steps begin at 1,000 tells the same, 1,000 steps later."""
    run = redrawn(case.run(), lambda _, rows: rows)
    moved = redrawn(run, lambda _, rows: rows._replace(step=rows.step + SHIFT))
    moved = replace(
        moved,
        events=tuple(
            event if event.step is None else event._replace(step=event.step + SHIFT)
            for event in run.events
        ),
    )
    before, after = ask(rule, run), ask(rule, moved)
    assert after.status == before.status, after.reason
    for one, other in zip(before.findings, after.findings, strict=True):
        assert one.onset.step is not None
        assert other.onset.step == pytest.approx(one.onset.step + SHIFT, abs=10)


@pytest.mark.parametrize(
    ("corners", "step", "value"),
    [
        ("0:0 20:2", [0, 10, 20], [0, 1, 2]),
        ("0:1 10:nan 20:nan", [0, 10, 20], [1, np.nan, np.nan]),
        ("0:1 10:inf 20:3", [0, 10, 20], [1, np.inf, 3]),
        ("0:0 4:4 /2", [0, 2, 4], [0, 2, 4]),
        ("5:1 25:1 ~2/40", [5, 15, 25], 1 + 2 * np.sin(2 * np.pi * np.array([5, 15, 25]) / 40)),
    ],
)
def test_corners_are_drawn_as_they_are_written(
    corners: str, step: list[float], value: FloatArray
) -> None:
    """Straight lines, gaps, spacing and waves."""
    at, height = draw(corners)
    np.testing.assert_array_equal(at, step)
    np.testing.assert_allclose(height, value)


def test_the_same_case_is_the_same_run() -> None:
    """Its noise comes from its name."""
    rule = BY_SLUG["divergence"]
    first, second = (rule.bad[0].run().curve("train_loss").value for _ in range(2))
    np.testing.assert_array_equal(first, second)
