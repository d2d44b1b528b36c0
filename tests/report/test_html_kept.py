"""What is always drawn, however long the run: cited steps, evaluations, both sides of NaN gaps."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runlens.diagnosis import Chart, Evidence, Mark, Moment, ThinCurve
from runlens.history import Curve, columns, thinned
from runlens.report.html import render
from runlens.run import State
from tests.report.diagnoses import NAN, diagnosis, finding
from tests.report.markup import lines, svg
from tests.report.test_html_charts import nearest, place

CLOSE = 0.06  # pixels: coordinates are written in tenths


class Long(NamedTuple):
    """A long run: how many points, where they are NaN, what is cited, how often it is judged."""

    points: int
    gaps: list[tuple[int, int]]  # first step, how many
    cited: list[int]
    every: int

    @property
    def broken(self) -> set[int]:
        """Return the steps at which the loss is NaN."""
        return {step for first, size in self.gaps for step in range(first, first + size)}


@st.composite
def long_runs(draw: st.DrawFn) -> Long:
    """Draw a run whose loss is a number at its first and last step."""
    points = draw(st.integers(2_000, 12_000))
    inside = st.integers(1, points - 60)
    gaps = draw(st.lists(st.tuples(inside, st.integers(1, 50)), max_size=3))
    steps = st.integers(0, points - 1)
    every = draw(st.integers(-(-points // 900), points // 3))
    return Long(points, gaps, draw(st.lists(steps, min_size=4, max_size=4, unique=True)), every)


def thin(values: np.ndarray, steps: np.ndarray, cited: list[int]) -> ThinCurve:
    """Return a curve as the engine hands it to the page."""
    rows = columns(steps, values)
    kept = thinned(Curve(rows.step, rows.value, rows.epoch, rows.time), cited)
    return ThinCurve(tuple(map(float, kept.step.tolist())), tuple(kept.value.tolist()), len(values))


@settings(max_examples=12, deadline=None)
@given(long_runs())
def test_cited_steps_evaluations_and_sides_of_gaps_are_always_drawn(run: Long) -> None:
    """Each is a vertex of its line, on wide screens and on phones, from 2,000 points to 12,000."""
    steps = np.arange(run.points)
    loss = 1.5 + 0.4 * np.sin(steps * 0.7)
    loss[sorted(run.broken)] = NAN
    held_out = steps[:: run.every]
    onset, end, mark, seen = run.cited
    fault = finding(
        metric="train_loss",
        onset=Moment(float(onset)),
        end=Moment(float(end)),
        evidence=(Evidence("x", 1.0, step=seen),),
        chart=Chart("curves", ("train_loss",), marks=(Mark(float(mark), 1.5),)),
    )
    curves = {
        "train_loss": thin(loss, steps, run.cited),
        # by number: a step of three that lies on one line is no vertex, and need not be
        "eval_loss": thin(1.6 + 0.1 * np.cos(np.arange(len(held_out))), held_out, run.cited),
    }
    page = render(
        diagnosis(curves=curves, findings=(fault,), state=State(), last_step=run.points - 1),
        static=True,
    )
    broken = run.broken
    sides = {side for step in broken for side in (step - 1, step + 1)} - broken
    for drawing in ("tlwt", "tlnt"):
        chart = svg(page, drawing)
        train, judged = lines(chart, "t raw"), lines(chart, "e")
        for step in sides | set(run.cited) - broken:
            assert nearest(train, place(chart, step)) < CLOSE
        for step in held_out:
            assert nearest(judged, place(chart, float(step))) < CLOSE


@pytest.mark.parametrize("evaluations", [1_000, 1_001])
def test_beyond_a_thousand_evaluations_the_picture_is_thinned(evaluations: int) -> None:
    """A page stays small; what is cited, the lowest and the highest stay."""
    values = 1.5 + 0.4 * np.sin(np.arange(evaluations) * 0.7)
    values[700] = 3.0
    curve = thin(values, np.arange(evaluations), [])
    page = render(diagnosis(curves={"eval_loss": curve}, state=State(), last_step=0), static=True)
    (drawn,) = lines(svg(page, "tlnt"), "e")
    assert (len(drawn) == evaluations) == (evaluations <= 1_000)
    assert min((y, x) for x, y in drawn)[1] == pytest.approx(
        place(svg(page, "tlnt"), 700), abs=CLOSE
    )
