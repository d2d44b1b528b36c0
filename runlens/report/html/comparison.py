"""The page of a comparison: two runs side by side, or many against one."""

from collections.abc import Iterator
from typing import Any

from runlens.comparison import LABELS, Comparison
from runlens.report.compared import of_many, sides
from runlens.report.comparison.board import columns
from runlens.report.html.charts import data, many
from runlens.report.html.charts.model import Figure
from runlens.report.html.charts.pair import pair_figure
from runlens.report.html.components import (
    board_table,
    compare_bench,
    compare_curves,
    compare_diagnosis,
    compare_fairness,
    compare_many,
    compare_measures,
    compare_origin,
    compare_partings,
    compare_settings,
    compare_verdict,
)
from runlens.report.html.components.tables import section, sub
from runlens.report.html.element import Child, Markup, cut
from runlens.report.html.shell import Embedded, Section, document, part

NAME, TWO = 60, 2  # characters of a name in the head of the page


def render(comparison: Comparison, *, static: bool = False) -> str:
    """Return the comparison as one HTML file that needs nothing else.

    With `static` the workbench is left out; the page is then below 500 kB. The same comparison
    gives the same bytes.
    """
    figure, sections = _parts(comparison, static=static)
    two = len(comparison.runs) <= TWO
    shown = [cut(name, NAME) for name in sides(comparison)]
    where = " · ".join(f"{run} {name}" for run, name in zip(LABELS, shown[:TWO], strict=False))
    if not two:
        where = f"{len(comparison.pairs)} runs against A {shown[0]}"
    numbers: dict[str, Any] = {}
    if figure:
        numbers = data.data(many.in_letter_order(figure) if not two else figure)
    if figure and not static:
        numbers["bench"] = compare_bench.data(comparison)
    if comparison.board and columns(comparison.board) and not static:
        numbers["board"] = board_table.data(comparison.board)
    return document(
        _title(comparison),
        where,
        sections,
        numbers or None,
        bench={"bench", "board"} & {*numbers} != set(),
    )


def embedded(comparison: Comparison) -> Embedded:
    """Return the static parts of the comparison, to stand in a notebook."""
    _, sections = _parts(comparison, static=True)
    return Embedded(_title(comparison), tuple(sections))


def _title(comparison: Comparison) -> str:
    verdict = of_many(comparison) if len(comparison.runs) > TWO else comparison.verdict
    return f"{verdict.sentence} · RunLens"


def _parts(comparison: Comparison, *, static: bool) -> tuple[Figure | None, Iterator[Section]]:
    """Return the main chart, None where nothing was recorded, and the parts of the page."""
    figure = main_figure(comparison)
    work = figure is not None and not static
    if len(comparison.runs) <= TWO:
        return figure, _two(comparison, figure, work=work)
    return figure, _many(comparison, figure, many.main_metric(comparison), work=work)


def main_figure(comparison: Comparison) -> Figure | None:
    """Return the chart of two runs, or of the main metric of many; None without curves."""
    if len(comparison.runs) <= TWO:
        return pair_figure(comparison)
    metric = many.main_metric(comparison)
    return many.overview(comparison, metric) if metric else None


def _two(comparison: Comparison, figure: Figure | None, *, work: bool) -> Iterator[Section]:
    """Return the parts in the order in which a reader needs them."""
    pair = comparison.pairs[0]
    fair = part(
        "fair",
        lambda: _part(
            "fair",
            "Is the comparison fair?",
            compare_fairness.note(pair),
            compare_fairness.fairness(pair),
        ),
        "Fairness",
    )
    doubted = pair.verdict.result == "not_comparable"
    yield part("verdict", lambda: compare_verdict.verdict(comparison))
    if doubted:
        yield fair
    yield part("curves", lambda: compare_curves.curves(comparison, figure, work=work), "Curves")
    yield part(
        "numbers",
        lambda: _part("numbers", "In numbers", "", compare_measures.numbers(pair)),
        "Numbers",
    )
    yield part(
        "settings",
        lambda: _part(
            "settings",
            "What differs in the settings",
            compare_settings.note(pair),
            compare_settings.settings(pair),
        ),
        "Settings",
    )
    yield part(
        "part",
        lambda: _part("part", "Where they differ", "", compare_partings.partings(pair)),
        "Where they differ",
    )
    yield part(
        "diagnosis",
        lambda: _part(
            "diagnosis",
            "Diagnosis",
            compare_diagnosis.health(pair),
            compare_diagnosis.diagnosis(pair),
        ),
        "Diagnosis",
    )
    if not doubted:
        yield fair
    yield from _end(comparison)


def _many(
    comparison: Comparison, figure: Figure | None, metric: str, *, work: bool
) -> Iterator[Section]:
    yield part("verdict", lambda: compare_verdict.overview(comparison))
    yield part(
        "curves", lambda: compare_many.curves(comparison, figure, metric, work=work), "Curves"
    )
    yield part("runs", lambda: compare_many.ranking(comparison), "All runs")
    if board := comparison.board:
        title = "Settings and what they reached"
        yield part(
            "board", lambda: board_table.settings(board, "board", title, labels=True), "Settings"
        )
    if metric:
        yield part("cells", lambda: compare_many.cells(comparison, metric))
    yield part("details", lambda: compare_many.details(comparison), "One by one")
    yield from _end(comparison)


def _end(comparison: Comparison) -> Iterator[Section]:
    yield part("problems", lambda: compare_origin.problems(comparison), "Data problems")
    yield part("provenance", lambda: compare_origin.provenance(comparison), "Provenance")


def _part(anchor: str, title: str, note: str, body: Child) -> Markup:
    return section(anchor, title, sub(note) if note else None, body)
