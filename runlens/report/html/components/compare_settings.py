"""The settings that differ: the three likeliest to matter, the rest folded."""

from collections.abc import Sequence

from runlens.comparison import Pair, SettingDifference
from runlens.report.html.components.settings import KEY
from runlens.report.html.components.tables import Column, code, folded, small, table
from runlens.report.html.element import Child, Markup, cut, el, join
from runlens.report.html.words import DASH, place, setting
from runlens.run import Setting
from runlens.wording import count

SHOWN = 3
WHY, ORIGIN = 300, 40  # characters
COLUMNS = (Column("Setting"), Column("A"), Column("B"), Column("Why it may matter"))


def note(pair: Pair) -> str:
    """Return how many settings differ, in one line."""
    weighty = [row for row in pair.settings if row.rank]
    if not weighty:
        return ""
    differ = "setting differs" if len(weighty) == 1 else "settings differ"
    first = "Likeliest to matter first." if len(weighty) > 1 else ""
    return f"{len(weighty)} {differ}. {first}".rstrip()


def settings(pair: Pair) -> Markup:
    """Return the settings that differ; where none is known to, that is said."""
    weighty = [row for row in pair.settings if row.rank]
    light = [row for row in pair.settings if not row.rank]
    rest = weighty[SHOWN:]
    shown = _table(weighty[:SHOWN]) if weighty else None
    return join(
        shown or el("p", _none(pair)),
        _folded(rest, "more setting", "less likely to matter") if rest else None,
        _folded(light, "path, name or log setting", "no bearing on a curve") if light else None,
    )


def _none(pair: Pair) -> str:
    known = {row.key for row in pair.a.settings} & {row.key for row in pair.b.settings}
    lacking = [name for name, run in (("A", pair.a), ("B", pair.b)) if not run.settings]
    if lacking:
        return f"No setting that differs is known: {' and '.join(lacking)} recorded no settings."
    agree = f"{count(len(known), 'setting')} of both runs agree"
    return f"No setting that differs is known: {agree}."


def _folded(rows: Sequence[SettingDifference], noun: str, extra: str) -> Markup:
    differ = "differs" if len(rows) == 1 else "differ"
    summary = f"{count(len(rows), noun)} {differ}"
    return folded(summary, extra, _table(rows))


def _table(rows: Sequence[SettingDifference]) -> Markup:
    return el("div", table(COLUMNS, [_row(row) for row in rows]), class_="keyed")


def _row(row: SettingDifference) -> tuple[Child, ...]:
    return (
        code(cut(row.key, KEY)),
        _value(row.a, row.origin_a),
        _value(row.b, row.origin_b),
        cut(row.why, WHY) or DASH,
    )


def _value(value: Setting, origin: str) -> Markup:
    read = small(cut(place(origin), ORIGIN)) if origin else None
    return join(code(setting(value)), " " if read else None, read)
