"""A figure as SVG, drawn twice: for wide screens and for phones. CSS shows one of them."""

from runlens.report.html.charts import across, panels
from runlens.report.html.charts.frame import NARROW, WIDE, Frame, frame_for
from runlens.report.html.charts.model import Figure
from runlens.report.html.charts.ready import ReadyPanel, ready
from runlens.report.html.element import Markup, el, join

TITLE_ROW, GAP, AXIS, EPOCH_AXIS = 22, 12, 24, 40  # pixels
PHONE_GRAIN, SMALL_GRAIN = 2, 3  # pixels of a column when lines are thinned


def both(figure: Figure, wide: int = WIDE) -> Markup:
    """Return the figure for wide screens (`wide` pixels) and for phones."""
    prepared = ready(figure)
    return join(
        _svg(figure, prepared, wide, narrow=False), _svg(figure, prepared, NARROW, narrow=True)
    )


def one(figure: Figure, width: int) -> Markup:
    """Return the figure once, for charts that are narrow enough everywhere."""
    return _svg(figure, ready(figure), width, narrow=None)


def _svg(figure: Figure, prepared: list[ReadyPanel], width: int, *, narrow: bool | None) -> Markup:
    room = panels.label_room(prepared)
    grain = {None: SMALL_GRAIN, True: PHONE_GRAIN, False: 1}[narrow]
    frame = frame_for(figure, width, room, grain, narrow=bool(narrow))
    made, height, tops = _content(figure, prepared, frame)
    suffix = "" if narrow is None else "n" if narrow else "w"
    class_ = "ch" if narrow is None else f"ch {suffix}-only"
    title, description = f"{figure.uid}{suffix}t", f"{figure.uid}{suffix}d"
    return el(
        "svg",
        el("title", figure.title, id=title),
        el("desc", figure.description, id=description),
        made,
        class_=class_,
        display="none" if narrow else None,
        viewBox=f"0 0 {width} {height:.0f}",
        width=width,
        height=f"{height:.0f}",
        role="img",
        aria_labelledby=f"{title} {description}",
        font_size=12,
        stroke_linecap="round",
        data_l=frame.left if figure.crosshair else None,
        data_r=frame.right if figure.crosshair else None,
        data_a=f"{frame.start:.12g}" if figure.crosshair else None,
        data_z=f"{frame.end:.12g}" if figure.crosshair else None,
        data_t=" ".join(f"{top:.0f}" for top in tops) if figure.crosshair else None,
    )


def _content(
    figure: Figure, prepared: list[ReadyPanel], frame: Frame
) -> tuple[list[Markup], float, list[float]]:
    """Return the parts of a chart, its height, and where its panels begin."""
    lanes, y = across.lanes(figure, frame, 4)
    signs, top = across.signs(figure, frame, y)
    tops, y = [], top
    for panel in prepared:
        tops.append(y + TITLE_ROW)
        y += TITLE_ROW + panel.panel.height + GAP
    bottom = y - GAP
    made = across.stretches(figure, frame, top - 2, bottom)
    made += across.epochs(figure, frame, top + 4, bottom)
    made += across.onsets(figure, frame, top - 2, bottom)
    made += lanes + signs
    for panel, at in zip(prepared, tops, strict=True):
        made += panels.draw(panel, frame, at, figure.cited)
    made += across.step_axis(frame, bottom, figure.axis)
    if figure.crosshair:
        made.append(
            el(
                "line",
                class_="xh",
                stroke="none",
                x1=frame.left,
                x2=frame.left,
                y1=f"{top:.0f}",
                y2=f"{bottom:.0f}",
            )
        )
    return made, bottom + (EPOCH_AXIS if figure.epochs else AXIS), tops
