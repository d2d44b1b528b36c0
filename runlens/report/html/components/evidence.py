"""Evidence beside its limits, and lines of a log as proof."""

from collections.abc import Sequence

from runlens.diagnosis import Evidence
from runlens.report.html.components.tables import folded, small
from runlens.report.html.element import Markup, cut, el, join
from runlens.report.html.words import limit, place
from runlens.report.values import evidence_value
from runlens.wording import step as step_words

FOLDED = 3  # rows that decide nothing, from which they are folded
LINES = 6  # of a log
LINE = 600  # characters of one of them
VALUE = 120  # characters of a value that is text
NUMBER = 16  # characters up to which a value is set as a number


def evidence(rows: Sequence[Evidence]) -> Markup:
    """Return what decides the finding as a table, and what else was measured folded below it."""
    decides = [row for row in rows if row.limit is not None] or list(rows[:1])
    rest = [row for row in rows if row not in decides]
    if len(rest) < FOLDED:
        return evidence_table(rows)
    more = folded("Also measured", str(len(rest)), evidence_table(rest, "Also measured."))
    return join(evidence_table(decides), more)


def evidence_table(rows: Sequence[Evidence], caption: str = "Evidence.") -> Markup:
    """Return the evidence: value, limit and where the limit comes from, where it was read."""
    limits = any(item.limit is not None for item in rows)
    places = any(_where(item) for item in rows)
    kinds = {_kind(evidence_value(item, item.value)) for item in rows}
    heads = [("Measure", None), ("Value", "num" if "num" in kinds else None)]
    heads += [("Threshold", "num")] if limits else []
    heads += [("Read from", None)] if places else []
    head = el("tr", [el("th", words, scope="col", class_=class_) for words, class_ in heads])
    return el(
        "table",
        el("caption", f"{caption} Bold: beyond its threshold." if limits else caption),
        el("thead", head),
        el("tbody", [_row(item, limits=limits, places=places) for item in rows]),
        class_="stack ev",
    )


def _row(item: Evidence, *, limits: bool, places: bool) -> Markup:
    """Return one row; a column that would be empty in all rows is left out."""
    source = join(" ", small(item.source)) if item.source and item.limit is not None else None
    value, beyond = evidence_value(item, item.value), limit(item)
    return el(
        "tr",
        el("th", item.what, scope="row"),
        el("td", cut(value, VALUE), class_=_kind(value), data_l="value"),
        el("td", cut(beyond, VALUE), source, class_=f"{_kind(beyond)} limit", data_l="threshold")
        if limits
        else None,
        el("td", small(_where(item)), data_l="", title=_path(item.where)) if places else None,
        class_="bad" if item.beyond else None,
    )


def _kind(value: str) -> str:
    """Return the class of a cell: numbers stand to the right on one line, words wrap."""
    return "num" if len(value) <= NUMBER else "said"


def _where(item: Evidence) -> str:
    at = "" if item.step is None else f"step {step_words(item.step)}"
    return ", ".join(part for part in (place(item.where), at) if part)


def _path(where: str) -> str | None:
    """Return the whole path where only its end is shown."""
    return where if place(where) != where else None


def log_excerpt(lines: Sequence[tuple[str, str, bool]], name: str) -> Markup:
    """Return the lines of a log that prove the finding of a `name`, the blamed ones marked."""
    kept = _around_blamed(lines)
    made: list[Markup] = []
    for where, words, blamed in kept:
        line = f"{place(where)}  {cut(words, LINE)}" if where else cut(words, LINE)
        made.append(join(el("mark", line) if blamed else line, "\n"))
    left = len(lines) - len(kept)
    more = f" {left} more lines are left out." if left else ""
    label = f"Lines of the log: {name}"
    return el(
        "figure",
        el("pre", made, class_="wrapped", tabindex=0, role="region", aria_label=label),
        el("figcaption", f"The decisive log lines.{more}"),
    )


def _around_blamed(
    lines: Sequence[tuple[str, str, bool]],
) -> Sequence[tuple[str, str, bool]]:
    """Return six lines that hold the first blamed one."""
    first = next((index for index, line in enumerate(lines) if line[2]), 0)
    start = max(0, min(first - LINES + 2, len(lines) - LINES))
    return lines[start : start + LINES]
