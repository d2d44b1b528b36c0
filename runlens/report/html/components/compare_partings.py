"""Where two runs part, metric by metric, in the order in which they do."""

from runlens.comparison import Pair, Parting
from runlens.report.compared import at
from runlens.report.facts import sentence
from runlens.report.html.components.settings import KEY
from runlens.report.html.components.tables import Column, code, folded, table
from runlens.report.html.element import Child, Markup, cut, el, join
from runlens.report.html.words import DASH
from runlens.wording import count

SHOWN = 8  # metrics; the rest is folded
COLUMNS = (
    Column("Metric"),
    Column("Parts at"),
    Column("Clear from"),
    Column("B goes"),
    Column("How it is told"),
)


def partings(pair: Pair) -> Markup:
    """Return what parted first and what that means, then every metric that parts."""
    mover = el("p", sentence(pair.mover)) if pair.mover else None
    if not pair.partings:
        return join(mover, el("p", "No metric of A and B parts beyond noise."))
    rows = [_row(one, pair) for one in pair.partings]
    rest = rows[SHOWN:]
    more = folded(count(len(rest), "more metric"), "later", table(COLUMNS, rest)) if rest else None
    return join(mover, table(COLUMNS, rows[:SHOWN]), more)


def _row(parting: Parting, pair: Pair) -> tuple[Child, ...]:
    first = at("step", parting.step)
    clear = at(pair.unit or pair.align, parting.clear) if parting.clear is not None else "never"
    return (
        code(cut(parting.metric, KEY)),
        first,
        clear,
        parting.side or DASH,
        sentence(parting.how) if parting.how else DASH,
    )
