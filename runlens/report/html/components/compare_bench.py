"""The workbench of a comparison: any metric of any runs, by the script; hidden without one.

The curves below it are complete without script. Here the reader chooses: metric, smoothing with the
raw line behind, axis, logarithm, which runs, a stretch of the axis; takes the values along as CSV
or the picture as PNG; and the choice stands in the address.
"""

import math
from collections.abc import Mapping
from typing import Any

from runlens.comparison import LABELS, Comparison, Knots
from runlens.diagnosis import ThinCurve
from runlens.report.compared import deciding, sides
from runlens.report.html.charts.points import fewer
from runlens.report.html.element import Markup, cut, el
from runlens.report.html.words import spoken

VALUES = 21_000  # of all curves together, so that the page stays below 900 kB
FEWEST, MOST = 60, 800  # points of one curve
DIGITS = 4
SMOOTHED = 0.6  # weight of what came before, where curves have more points than are drawn
NAME = 60  # characters of a run


def data(comparison: Comparison) -> dict[str, Any]:
    """Return what the script draws: curves by metric and run, those with one axis sharing it."""
    order = _order(comparison)
    many = sum(curve is not None for name in order for curve in comparison.curves[name])
    most = max(FEWEST, min(MOST, VALUES // max(many, 1)))
    axes: dict[tuple[float, ...], int] = {}
    metrics = [
        {"name": name, "curves": [_curve(one, most, axes) for one in comparison.curves[name]]}
        | {"smooth": _smoothing(comparison, name)}
        | _bands(comparison, name)
        for name in order
    ]
    return {
        "labels": [label for label, _ in _runs(comparison)],
        "runs": [cut(name, NAME) for _, name in _runs(comparison)],
        "metrics": metrics,
        "xs": [_steps(axis) for axis in axes],
        "axes": {unit: [_knots(one) for one in knots] for unit, knots in comparison.axes.items()},
    }


def _bands(comparison: Comparison, name: str) -> dict[str, Any]:
    """Return the middle half of each group of runs; nothing where there are no groups."""
    known = comparison.bands.get(name)
    if not known:
        return {}
    return {"bands": [one and [[_short(x) for x in side] for side in one] for one in known]}


def _steps(axis: tuple[float, ...]) -> list[float]:
    """Return the first place, and then how far each lies from the one before: shorter."""
    whole = all(x == int(x) for x in axis)
    return [
        int(b - a) if whole else _short(b - a) for a, b in zip((0.0, *axis), axis, strict=False)
    ]


def _knots(knots: Knots) -> list[list[float]]:
    return [[_short(x) for x in ends] for ends in knots]


def _runs(comparison: Comparison) -> list[tuple[str, str]]:
    return list(zip(LABELS, sides(comparison), strict=False))


def _order(comparison: Comparison) -> list[str]:
    """Return the metrics, those that decide first."""
    there = [name for name, some in comparison.curves.items() if any(c and c.step for c in some)]
    first = [one.metric for pair in comparison.pairs if (one := deciding(pair))]
    return [name for name in dict.fromkeys([*first, *there]) if name in there]


def _curve(
    curve: ThinCurve | None, most: int, axes: dict[tuple[float, ...], int]
) -> Mapping[str, Any] | None:
    if curve is None or not curve.step:
        return None
    thin = fewer(curve, most)
    x = axes.setdefault(thin.step, len(axes))
    return {"x": x, "y": [_short(value) if math.isfinite(value) else None for value in thin.value]}


def _short(value: float) -> float:
    rounded = float(f"{value:.{DIGITS}g}") if abs(value) < 1 or value != int(value) else value
    return int(rounded) if rounded == int(rounded) and abs(rounded) < 2.0**53 else rounded


def bench(comparison: Comparison) -> Markup:
    """Return the controls and the canvas."""
    metrics = _order(comparison)
    choices = [el("option", spoken(name)) for name in metrics]
    pick = el("select", choices, id="bench-metric")
    smoothing = el(
        "input", type="range", min=0, max=0.99, step=0.01, value=0,
        id="bench-smooth", aria_label="Smoothing",
    )  # fmt: skip
    own = comparison.unit or comparison.align
    axes = [
        el("option", unit, value=unit) for unit in dict.fromkeys([own, *sorted(comparison.axes)])
    ]
    controls = [
        el("label", "Metric ", pick),
        el("label", "Axis ", el("select", axes, id="bench-axis")),
        el("label", "Smooth ", smoothing),
        el("label", el("input", type="checkbox", id="bench-log"), " Logarithm"),
        el("label", el("input", type="checkbox", id="bench-all"), " Whole range"),
        el("button", "Whole axis", type="button", id="bench-reset", hidden=True),
        el("button", "CSV", type="button", id="bench-csv"),
        el("button", "PNG", type="button", id="bench-png"),
    ]
    both = [
        el("button", "All", type="button", id="bench-all-runs"),
        el("button", "None", type="button", id="bench-none-runs"),
    ]
    runs = [
        el(
            "label",
            el("input", type="checkbox", checked=True, data_run=label),
            el("i", aria_hidden="true"),
            el("b", label),
            " ",
            el("bdi", cut(name, NAME)),
        )
        for label, name in _runs(comparison)
    ]
    canvas = el(
        "canvas",
        id="bench-canvas",
        role="img",
        aria_label="Curves of the chosen runs; the charts below have them without script.",
    )
    said = "Drag over the chart to zoom in; point at a line or a run to highlight it."
    return el(
        "div",
        el("div", controls, class_="bench-tools"),
        canvas,
        el("p", said, class_="sub sm", id="bench-read", role="status"),
        el("fieldset", el("legend", "Runs"), runs, both, class_="bench-runs"),
        id="bench",
    )


def _smoothing(comparison: Comparison, name: str) -> float:
    """Return the smoothing that a metric begins with: none of few points, whose mean would lag."""
    curves = [one for one in comparison.curves[name] if one]
    return SMOOTHED if any(len(one.step) > FEWEST for one in curves) else 0
