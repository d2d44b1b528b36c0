"""Sections, tables, folded parts and code boxes: what all components are made of."""

from collections.abc import Iterable, Sequence
from itertools import chain, repeat

from runlens.records import NamedTuple
from runlens.report.html.element import Child, Markup, el, join


class Column(NamedTuple):
    """The head of a column."""

    title: str
    numbers: bool = False


def section(anchor: str, title: str, *content: Child) -> Markup:
    """Return a part of the page, labeled by its heading."""
    heading = el("h2", title, id=f"h-{anchor}")
    return el("section", heading, content, id=anchor, aria_labelledby=f"h-{anchor}")


def folded_section(anchor: str, title: str, extra: str, *content: Child) -> Markup:
    """Return a part of the page that the reader opens; print shows it open."""
    heading = el("h2", title, id=f"h-{anchor}")
    summary = el("summary", heading, " ", el("span", extra, class_="mut"))
    inner = el("details", summary, el("div", content, class_="in"), class_="part")
    return el("section", inner, id=anchor, aria_labelledby=f"h-{anchor}", class_="part")


def sub(words: str) -> Markup:
    """Return the gray line below a heading."""
    return el("p", words, class_="sub")


def table(
    columns: Sequence[Column],
    rows: Iterable[Sequence[Child]],
    caption: str = "",
    marks: Sequence[int] = (),
) -> Markup:
    """Return a table whose first column names the row; on a phone each row becomes a list.

    `marks`: by which number the script knows each row.
    """
    head = el("tr", [_head(column) for column in columns])
    known = chain(marks, repeat(None))
    body = [
        el("tr", _cells(columns, row), data_row=mark)
        for row, mark in zip(rows, known, strict=False)
    ]
    title = el("caption", caption) if caption else None
    return el("table", title, el("thead", head), el("tbody", body), class_="stack")


def _head(column: Column) -> Markup:
    return el("th", column.title, scope="col", class_="num" if column.numbers else None)


def _cells(columns: Sequence[Column], row: Sequence[Child]) -> list[Markup]:
    first, *rest = row
    named = "num" if columns[0].numbers else None
    made = [el("th", first, scope="row", class_=named)]
    for column, cell in zip(columns[1:], rest, strict=True):
        class_ = "num" if column.numbers else None
        made.append(el("td", cell, class_=class_, data_l=_beside(column.title)))
    return made


def _beside(title: str) -> str:
    """Return the head of a column as it stands beside each value on a phone: A, W&B, GPU-h stay."""
    return " ".join(word.lower() if word[1:].islower() else word for word in title.split(" "))


def grid(columns: Sequence[str], rows: Iterable[Sequence[str]], label: str) -> Markup:
    """Return a plain table of numbers that scrolls sideways where it is too wide."""
    head = el("tr", [el("th", name, scope="col", class_="num") for name in columns])
    body = [el("tr", [el("td", cell, class_="num") for cell in row]) for row in rows]
    inner = el("table", el("thead", head), el("tbody", body))
    return el("div", inner, class_="scroll", tabindex=0, role="region", aria_label=label)


def folded(
    summary: Child, extra: str, content: Child, *, opened: bool = False, class_: str | None = None
) -> Markup:
    """Return a part that the reader opens; print shows it open."""
    return el(
        "details",
        el("summary", summary, " ", el("span", extra, class_="mut")),
        el("div", content, class_="in"),
        open=opened,
        class_=class_,
    )


def small(words: Child) -> Markup:
    """Return where something was read."""
    return el("span", words, class_="src")


def code(words: Child) -> Markup:
    """Return a name as code."""
    return el("code", words)


def listing(
    lines: Sequence[str], label: str, *, wrapped: bool = False, unprinted: int = 0
) -> Markup:
    """Return lines of a file as they are; the first `unprinted` of them are left out in print."""
    shown = [(line, "\n") for line in lines]
    return el(
        "pre",
        el("span", shown[:unprinted], class_="noprint") if unprinted else None,
        shown[unprinted:],
        tabindex=0,
        role="region",
        aria_label=label,
        class_="wrapped" if wrapped else None,
    )


def bullets(items: Iterable[Child]) -> Markup:
    """Return a plain list."""
    return el("ul", [el("li", item) for item in items], class_="sm")


def words(parts: Iterable[str]) -> Markup:
    """Return the parts that are not empty, with a dot between them."""
    return join(" · ".join(part for part in parts if part))
