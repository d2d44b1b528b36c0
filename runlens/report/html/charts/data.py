"""The numbers of the timeline, for the script: crosshair and zoom."""

import math
from typing import Any

import numpy as np

from runlens.report.html.charts.model import INK_NAMES, Figure, Line, Panel
from runlens.report.html.charts.ready import logarithmic, titled
from runlens.report.html.element import cut
from runlens.wording import number

NAME = 200  # characters of a metric
DIGITS = 5  # of the values; the page shows 4
EXACT = 2.0**53  # beyond it a float no longer holds every whole number


def data(figure: Figure) -> dict[str, Any]:
    """Return what the script reads: series that share their steps, panels and onsets.

    Values that are not finite are null; the script writes null as NaN, and `odd` names the
    infinities by index.
    """
    lines = [line for panel in figure.panels for line in panel.lines]
    steps: dict[tuple[float, ...], int] = {}
    series = [_series(line, steps.setdefault(line.curve.step, len(steps))) for line in lines]
    longest = max(steps, key=len)
    index = iter(range(len(lines)))
    panels = [
        {
            "title": titled(panel, log=log),
            "h": panel.height,
            "series": [next(index) for _ in panel.lines],
            "refs": [*(reference.value for reference in panel.references), *_borders(panel)],
            "log": log,
        }
        for panel in figure.panels
        for log in [logarithmic(panel)]
    ]
    colours = {"critical": "crit", "warning": "warn", "info": "info"}
    return {
        "xs": [_short_steps(some) for some in steps],
        "series": series,
        "steps": steps[longest],
        "panels": panels,
        "onsets": [{"x": step, "c": colours[severity]} for step, severity in figure.onsets],
        "axis": figure.axis,
    }


def _borders(panel: Panel) -> list[float]:
    """Return the borders of level bands; the zoomed chart draws them as lines."""
    ends = [end for band in panel.bands if band.ink is None for end in ({*band.low}, {*band.high})]
    return [value for end in ends if len(end) == 1 for value in end]


def _series(line: Line, steps: int) -> dict[str, Any]:
    value = line.curve.value
    made: dict[str, Any] = {
        "name": cut(line.series or line.metric, NAME),
        "c": INK_NAMES[line.ink],
        "x": steps,
        "y": [_short(one) if math.isfinite(one) else None for one in value],
    }
    odd = {str(at): number(one) for at, one in enumerate(value) if math.isinf(one)}
    return made | {"odd": odd} if odd else made


def _short(value: float) -> float:
    rounded = float(f"{value:.{DIGITS}g}")
    return _exact(rounded if math.isfinite(rounded) else value)


def _short_steps(steps: tuple[float, ...]) -> list[float] | dict[str, list[int]]:
    """Return steps; whole ones as differences, the first from 0: half of the digits or less."""
    some = np.array(steps)
    whole = (np.abs(some) < EXACT).all() and (some == np.floor(some)).all()
    if not whole:
        return [_exact(step) for step in steps]
    return {"by": np.diff(some.astype(np.int64), prepend=0).tolist()}


def _exact(value: float) -> float:
    """Return a whole number as such: ``100`` is shorter than ``100.0``."""
    return int(value) if abs(value) < EXACT and value == int(value) else value
