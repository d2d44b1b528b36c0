"""Whether two runs may be compared: what differs first, then what is not known, then the rest."""

from runlens.comparison import Check, Pair
from runlens.report.html.components.compare_verdict import sign
from runlens.report.html.components.signs import icon
from runlens.report.html.components.tables import Column, folded, table
from runlens.report.html.element import Child, Markup, cut, el, join
from runlens.wording import count

WHY = 300  # characters


def note(pair: Pair) -> str:
    """Return how many points agree, differ and are not known."""
    told = [check.ok for check in pair.checks]
    if not told:
        return ""
    return (
        f"{count(len(told), 'point')}: {told.count(False)} differ, {told.count(None)} not known, "
        f"{told.count(True)} agree."
    )


def fairness(pair: Pair, *, agreed: bool = True) -> Markup:
    """Return the points of the comparison; those that agree only where they are asked for."""
    doubtful = sorted((one for one in pair.checks if not one.ok), key=_weight)
    if not pair.checks:
        return el("p", "No point of the comparison was checked.")
    columns = (Column("Point"), Column("Result"), Column("Why"))
    return join(
        table(columns, [_row(check) for check in doubtful]) if doubtful else None,
        _agreed([check for check in pair.checks if check.ok]) if agreed else None,
    )


def _weight(check: Check) -> tuple[bool, bool]:
    return check.ok is None, not check.hard


def _row(check: Check) -> tuple[Child, ...]:
    effect = "" if check.ok is None or not check.hard else " Raw losses do not compare."
    why = cut(check.why, WHY)
    stop = "" if why.endswith(".") else "."
    said = f"{why}{stop}{effect}" if effect else why
    return check.what, sign(ok=check.ok, hard=check.hard), said


def _agreed(checks: list[Check]) -> Markup | None:
    if not checks:
        return None
    tick = el("span", icon("healthy"), class_="ok")
    items = [
        el("li", tick, check.what, " ", el("span", cut(check.why, WHY), class_="mut"))
        for check in checks
    ]
    listed = el("ul", items, class_="pass")
    return folded("Agree", count(len(checks), "point"), listed, opened=True)
