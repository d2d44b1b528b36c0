"""What the main curves do, phase by phase: a strip and a sentence each, on the timeline's axis."""

from collections.abc import Mapping
from typing import Any

from runlens.diagnosis import Diagnosis
from runlens.metrics import spoken
from runlens.report.html.charts.model import Figure
from runlens.report.html.components.tables import folded
from runlens.report.html.element import NOTHING, Markup, el
from runlens.wording import capitalised, count

FEWEST = 8  # points of a curve: fewer that fall are told from noise by nothing
WIDTH, HEIGHT = 1000, 8  # of the drawing, which is stretched to the width of its place
FILLS = {
    "fall": "#0a5fa3",
    "rise": "#b0450a",
    "flat": "#c3c8ce",
    "swing": "#6a3fa0",
    "frozen": "#16181b",
    "gone": "#b3261e",
}
LEGEND = (
    "Blue falls, orange rises, gray is flat, violet swings, black (white on dark) repeats one "
    "value, red is NaN or infinite."
)


def strips(diagnosis: Diagnosis, figure: Figure) -> Markup:
    """Return a strip of phases for each main curve; nothing where none has a shape."""
    curves = diagnosis.curves
    shapes = {
        name: shape
        for name, shape in diagnosis.shapes.items()
        if shape["phases"] and (name not in curves or len(curves[name].value) >= FEWEST)
    }
    if not shapes or figure.end <= figure.start:
        return NOTHING
    rows = [
        el(
            "li",
            el("b", spoken(name).capitalize()),
            _strip(shape, figure),
            el("span", capitalised(shape["text"]), class_="mut sm"),
        )
        for name, shape in shapes.items()
    ]
    told = count(len(rows), "curve")
    shown = [el("ul", rows, class_="strips"), el("p", LEGEND, class_="mut sm")]
    return folded("What the curves do", told, shown, class_="after")


def _strip(shape: Mapping[str, Any], figure: Figure) -> Markup:
    """Draw a bar for each phase, up to where the next begins."""
    scale = WIDTH / (figure.end - figure.start)
    phases = shape["phases"]
    ends = [phase["first"]["step"] for phase in phases[1:]] + [phases[-1]["last"]["step"]]
    bars = []
    for phase, end in zip(phases, ends, strict=True):
        first, last = phase["first"]["step"], phase["last"]["step"]
        bars.append(
            el(
                "rect",
                el("title", f"{phase['kind']}, step {first:,} to {last:,}"),
                x=f"{max((first - figure.start) * scale, 0.0):.0f}",
                width=f"{max((end - first) * scale, 2.0):.0f}",
                height=HEIGHT,
                fill=FILLS[phase["kind"]],
                class_=f"ph-{phase['kind']}",
            )
        )
    return el(
        "svg",
        bars,
        class_="strip",
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        preserveAspectRatio="none",
        role="img",
        aria_label=shape["text"],
    )
