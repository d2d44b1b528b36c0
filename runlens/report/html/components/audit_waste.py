"""The ledger of waste: GPU-hours that gave nothing, by their cause and whose they were."""

from collections import defaultdict
from collections.abc import Sequence

from runlens.nights import Audit, Waste
from runlens.report import audited
from runlens.report.html.components.tables import Column, folded, section, sub, table
from runlens.report.html.element import Child, Markup, cut
from runlens.wording import count

SHOWN, MOST = 8, 100  # rows that are not folded, and rows in all
NAME = 80  # characters
EXPLAINED = (
    "What was trained after the first fault that spoils the result, or after the best evaluation of"
    " a run that ends clearly worse; each run counts once."
)


def waste(audit: Audit) -> Markup:
    """Return who lost how much to what, last night and in all."""
    found: dict[tuple[str, str], list[Waste]] = defaultdict(list)
    for one in audit.ledger:
        found[one.title, one.user].append(one)
    some = sorted(found.items(), key=lambda pair: _rank(pair[1]))
    rows = [_row(title, user, all_) for (title, user), all_ in some[:MOST]]
    price = audit.gpu_hour_price is not None
    rest = rows[SHOWN:]
    return section(
        "waste",
        "Waste",
        sub(EXPLAINED),
        _table(rows[:SHOWN], price=price),
        folded(count(len(rest), "more row"), "", _table(rest, price=price)) if rest else None,
    )


def _rank(some: Sequence[Waste]) -> tuple[float, float, str, str]:
    return -_tonight(some), -sum(one.gpu_hours for one in some), some[0].title, some[0].user


def _tonight(some: Sequence[Waste]) -> float:
    return sum(one.gpu_hours for one in some if one.tonight)


def _row(title: str, user: str, some: Sequence[Waste]) -> tuple[Child, ...]:
    return (
        cut(title, NAME),
        cut(user, NAME) or audited.DASH,
        f"{sum(one.runs for one in some):,}",
        audited.hours(_tonight(some)),
        audited.hours(sum(one.gpu_hours for one in some)),
        f"{sum(one.money or 0.0 for one in some):,.0f}",
    )


def _table(rows: Sequence[tuple[Child, ...]], *, price: bool) -> Markup:
    columns = (
        Column("Cause"),
        Column("Whose"),
        Column("Runs", numbers=True),
        Column("GPU-h last night", numbers=True),
        Column("GPU-h in all", numbers=True),
        Column("Cost in all", numbers=True),
    )
    kept = len(columns) if price else len(columns) - 1
    return table(columns[:kept], [row[:kept] for row in rows])
