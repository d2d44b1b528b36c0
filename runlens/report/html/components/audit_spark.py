"""A run's curve in one cell of a table: about 150 bytes, gray up to the onset, then colored."""

from collections.abc import Sequence

from runlens.nights import SparkRow
from runlens.report.html.element import NOTHING, Markup

WIDTH, HEIGHT = 132, 28  # pixels, as the style sheet has them
TOP = 20  # the highest value of a spark
FEWEST = 2  # points of a line
_HEAD = (
    f'<svg class="sp" width="{WIDTH}" height="{HEIGHT}" viewBox="0 -1 {{}} {TOP + 2}" '
    'preserveAspectRatio="none" fill="none" stroke="#777" aria-hidden="true">'
)


def spark(row: SparkRow) -> Markup:
    """Return a curve as SVG, one unit a point; empty below two points with a number.

    A run that did half of its planned steps ends at half the width. Where there is no number
    (NaN) after the onset, a dashed line runs along the top.
    """
    points = row.points
    if sum(point >= 0 for point in points) < FEWEST:
        return NOTHING
    onset = len(points) if row.onset is None else max(0, min(row.onset, len(points) - 1))
    # a line begins at the last point before it, so that nothing is cut out
    begin = onset - 1 if 0 < onset < len(points) and points[onset - 1] >= 0 else onset
    parts = [_path("", _moves(points, 0, onset)), _path("f", _moves(points, begin, len(points)))]
    gone = [at for at in range(onset, len(points)) if points[at] < 0]
    parts.append(_path("n", f"M{gone[0]} 0H{len(points) - 1}" if gone else ""))
    done = row.done if 0 < row.done <= 1 else 1.0
    width = round((len(points) - 1) / max(done, 0.05))
    return Markup(_HEAD.format(width) + "".join(parts) + "</svg>")


def _path(kind: str, moves: str) -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<path{named} d="{moves}"/>' if moves else ""


def _moves(points: Sequence[int], begin: int, end: int) -> str:
    """Return the moves from point to point; a gap lifts the pen."""
    made: list[str] = []
    last = None  # the height that was drawn last; None: the pen is up
    for at in range(begin, end):
        if points[at] < 0:
            last = None
            continue
        height = TOP - points[at]
        if last is None:
            made.append(f"M{at} {height}")
        else:
            rise = height - last
            pair = f"1{rise}" if rise < 0 else f"1 {rise}"
            made.append(f" {pair}" if made[-1][0] != "M" else f"l{pair}")
        last = height
    return "".join(made) if len(made) > 1 else ""
