"""What is drawn across the panels of a chart: finding lanes, events, onsets, epochs, step axis."""

from runlens.diagnosis import Severity
from runlens.report.html.charts.frame import Frame, label, stroke, width_of
from runlens.report.html.charts.gone import cross
from runlens.report.html.charts.model import (
    SEVERITY_COLOUR,
    SEVERITY_LETTER,
    Figure,
    Lane,
    Sign,
)
from runlens.report.html.charts.panels import GREY, GRID, INK
from runlens.report.html.charts.scale import step_ticks
from runlens.report.html.element import Markup, cut, el
from runlens.wording import number

LANE = 24  # pixels from lane to lane
SIGN_ROOM = 10  # pixels between two checkpoints that are drawn apart
SHADES = {"began": ".22", "after": ".05"}  # as in page.css
EPOCHS = 8  # labels on the second axis


def marker(severity: Severity, x: float, y: float, radius: float = 6) -> Markup:
    """Return the shape of a severity: octagon, triangle or dot, centered on (x, y)."""
    class_, colour = f"f-{SEVERITY_LETTER[severity]}", SEVERITY_COLOUR[severity]
    if severity == "critical":
        side = radius * 0.42
        slope = radius - side
        data = (
            f"M{x - side:.1f} {y - radius:.1f}h{2 * side:.1f}l{slope:.1f} {slope:.1f}"
            f"v{2 * side:.1f}l{-slope:.1f} {slope:.1f}h{-2 * side:.1f}"
            f"l{-slope:.1f} {-slope:.1f}v{-2 * side:.1f}z"
        )
        return el("path", d=data, fill=colour, class_=class_)
    if severity == "warning":
        data = (
            f"M{x:.1f} {y - radius:.1f}l{radius * 1.1:.1f} {radius * 1.9:.1f}h{-radius * 2.2:.1f}z"
        )
        return el("path", d=data, fill=colour, class_=class_)
    return el(
        "circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=f"{radius - 1:g}", fill=colour, class_=class_
    )


def lanes(figure: Figure, frame: Frame, top: float) -> tuple[list[Markup], float]:
    """Return the lanes from pixel `top` on, and the pixel below them."""
    made: list[Markup] = []
    for lane in figure.lanes:
        made += _lane(lane, frame, top)
        top += LANE
    if figure.more:
        made.append(label(frame.left, top + 13, figure.more))
        top += 18
    return made, top + (6 if figure.lanes else 0)


def _lane(lane: Lane, frame: Frame, top: float) -> list[Markup]:
    class_ = f"f-{SEVERITY_LETTER[lane.severity]}"
    left, right = frame.x(lane.start), frame.x(lane.end)
    bar = el(
        "rect",
        x=f"{left:.1f}",
        y=f"{top:.1f}",
        width=f"{max(2.0, right - left):.1f}",
        height="20",
        rx="3",
        fill=SEVERITY_COLOUR[lane.severity],
        fill_opacity=".16",
        class_=f"{class_} bar",
    )
    inside = left + 20 <= frame.width
    words, at, anchor = _fitted(lane, frame, left)
    shape = marker(lane.severity, left + 10 if inside else left - 10, top + 10)
    return [bar, shape, label(at, top + 14.5, words, class_, anchor)]


def _fitted(lane: Lane, frame: Frame, left: float) -> tuple[str, float, str]:
    """Return the text that has room, and where: right of the lane's start, else left of it."""
    choices = (lane.short,) if frame.narrow else (lane.text, lane.short)
    after, before = frame.width - left - 24, left - 10
    for words in choices:
        if width_of(words) <= after:
            return words, left + 22, "start"
        if width_of(words) <= before:
            return words, left - 6, "end"
    if after >= before:
        return cut(choices[-1], max(4, int(after / width_of("m")))), left + 22, "start"
    return cut(choices[-1], max(4, int(before / width_of("m")))), left - 6, "end"


def signs(figure: Figure, frame: Frame, top: float) -> tuple[list[Markup], float]:
    """Return the line of events, and the pixel below it."""
    if not figure.signs:
        return [], top
    y = top + 12
    made = [stroke(f"M{frame.left} {y:.1f}H{frame.right}", "g", GRID)]
    if not frame.narrow:
        made.append(label(frame.left - 8, y + 4, "events", anchor="end"))
    free = last = -1e9
    for sign in figure.signs:
        x = frame.x(sign.step)
        if sign.kind == "saved" and x - last < SIGN_ROOM and not sign.text:
            continue
        last = x
        made.append(_sign(sign, x, y))
        if sign.text and not frame.narrow and x + 10 > free:
            made.append(label(x + 10, y - 5, sign.text))
            free = x + 10 + width_of(sign.text)
    return made, y + 12


def _sign(sign: Sign, x: float, y: float) -> Markup:
    if sign.kind == "saved":
        return el(
            "rect", x=f"{x - 4:.1f}", y=f"{y - 4:.1f}", width="8", height="8", rx="1", class_="evf"
        )
    if sign.kind == "resume":
        return stroke(f"M{x - 7:.1f} {y - 7:.1f}v14m14 0v-14", "ev", INK)
    return cross(x, y)


def stretches(figure: Figure, frame: Frame, top: float, bottom: float) -> list[Markup]:
    """Shade the steps within which a fault began, and those after it."""
    return [
        el(
            "rect",
            x=f"{frame.x(one.start):.1f}",
            y=f"{top:.1f}",
            width=f"{max(1.0, frame.x(one.end) - frame.x(one.start)):.1f}",
            height=f"{bottom - top:.1f}",
            fill=SEVERITY_COLOUR[one.severity],
            fill_opacity=SHADES[one.kind],
            class_=f"f-{SEVERITY_LETTER[one.severity]} {one.kind}",
        )
        for one in figure.stretches
    ]


def onsets(figure: Figure, frame: Frame, top: float, bottom: float) -> list[Markup]:
    """Return a dotted line through all panels for each onset."""
    return [
        stroke(
            f"M{frame.x(step):.1f} {top:.1f}V{bottom:.1f}",
            f"onset on-{SEVERITY_LETTER[severity]}",
            SEVERITY_COLOUR[severity],
        )
        for step, severity in figure.onsets
        if frame.holds(step)
    ]


def epochs(figure: Figure, frame: Frame, top: float, bottom: float) -> list[Markup]:
    """Return the second axis: where whole epochs end."""
    shown = [one for one in figure.epochs if frame.start < one[0] <= frame.end]
    if not shown:
        return []
    every = -(-len(shown) // EPOCHS)
    made = [_axis_name("epoch", frame, bottom + 33)]
    for step, epoch in [one for number_, one in enumerate(shown, 1) if number_ % every == 0]:
        x = frame.x(step)
        made.append(stroke(f"M{x:.1f} {top:.1f}V{bottom:.1f}", "ep", GRID))
        made.append(label(x, bottom + 33, number(epoch), anchor="middle"))
    return made


def step_axis(frame: Frame, bottom: float, axis: str = "step") -> list[Markup]:
    """Return the axis of steps, or of what else `axis` names: fractions are shown only there."""
    made = [
        stroke(f"M{frame.left} {bottom:.1f}H{frame.right}", "ax", GREY),
        _axis_name(axis, frame, bottom + 17),
    ]
    for step in step_ticks(frame.start, frame.end, frame.columns, whole=axis == "step"):
        words, x = number(step, 7), frame.x(step)
        room = x - width_of(words) / 2 - (0 if frame.narrow else frame.left - 6)
        if room >= (width_of(f"{axis} ") if frame.narrow else 0):
            over = x + width_of(words) / 2 > frame.width
            at, anchor = (frame.width, "end") if over else (x, "middle")
            made.append(label(at, bottom + 17, words, anchor=anchor))
    return made


def _axis_name(name: str, frame: Frame, y: float) -> Markup:
    if frame.narrow:
        return label(0, y, name)
    return label(frame.left - 8, y, name, anchor="end")
