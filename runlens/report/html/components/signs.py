"""Severity as shape, word and color together."""

from typing import Literal

from runlens.diagnosis import SEVERITIES, Health
from runlens.report.html.charts.across import marker
from runlens.report.html.element import Markup, el

Kind = Health | Literal["unmet"]
WORDS: dict[Kind, str] = {
    "critical": "Critical",
    "warning": "Warning",
    "info": "Info",
    "healthy": "Healthy",
    "unknown": "Cannot judge",
    "unmet": "Could not run",
}
CLASSES: dict[Kind, str] = {
    "critical": "crit",
    "warning": "warn",
    "info": "info",
    "healthy": "ok",
    "unknown": "unmet",
    "unmet": "unmet",
}
TICK, LINE = "M2.5 8.5l3.5 3.5l7.5-8", "M3 8h10"


def icon(kind: Kind) -> Markup:
    """Return the shape alone: octagon, triangle, dot, tick or dash."""
    if kind in SEVERITIES:
        shape = marker(kind, 8, 6.8 if kind == "warning" else 8, 7)
    else:
        data = TICK if kind == "healthy" else LINE
        shape = el("path", d=data, fill="none", stroke="currentColor", stroke_width=2)
    return el("svg", shape, width=14, height=14, viewBox="0 0 16 16", aria_hidden="true")


def tag(kind: Kind, word: str = "") -> Markup:
    """Return shape and word in the color of the severity."""
    return el("span", icon(kind), word or WORDS[kind], class_=f"tag {CLASSES[kind]}")
