"""The page of a comparison: two runs side by side, or many against one."""

from collections.abc import Iterator

from runlens.comparison import LABELS, Comparison
from runlens.report.compared import names, of_many
from runlens.report.html.charts import data, many
from runlens.report.html.charts.model import Figure
from runlens.report.html.charts.pair import pair_figure
from runlens.report.html.components import (
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
from runlens.report.html.shell import Section, document

NAME, TWO = 60, 2  # characters of a name in the head of the page


def render(comparison: Comparison, *, static: bool = False) -> str:
    """Return the comparison as one HTML file that needs nothing else.

    With `static` the plotly bundle is left out, and with it the button "Zoom and pan"; the page
    is then below 500 kB. The same comparison gives the same bytes.
    """
    two = len(comparison.runs) <= TWO
    metric = "" if two else many.main_metric(comparison)
    if two:
        figure = pair_figure(comparison)
    else:
        figure = many.overview(comparison, metric) if metric else None
    zoom = figure is not None and not static
    sections = (
        _two(comparison, figure, zoom=zoom) if two else _many(comparison, figure, metric, zoom=zoom)
    )
    shown = [cut(name, NAME) for name in names(comparison.runs)]
    where = " · ".join(f"{run} {name}" for run, name in zip(LABELS, shown[:TWO], strict=False))
    if not two:
        where = f"{len(comparison.pairs)} runs against A {shown[0]}"
    return document(
        f"{(comparison.verdict if two else of_many(comparison)).sentence} · RunLens",
        where,
        sections,
        data.data(many.in_letter_order(figure) if not two else figure) if figure else None,
        plotly=zoom,
    )


def _two(comparison: Comparison, figure: Figure | None, *, zoom: bool) -> Iterator[Section]:
    """Return the parts in the order in which a reader needs them."""
    pair = comparison.pairs[0]
    fair = Section(
        "fair",
        _part(
            "fair",
            "Is the comparison fair?",
            compare_fairness.note(pair),
            compare_fairness.fairness(pair),
        ),
        "Fairness",
    )
    doubted = pair.verdict.result == "not_comparable"
    yield Section("verdict", compare_verdict.verdict(comparison))
    if doubted:
        yield fair
    yield Section(
        "numbers",
        _part("numbers", "In numbers", "", compare_measures.numbers(pair)),
        "Numbers",
    )
    yield Section(
        "settings",
        _part(
            "settings",
            "What differs in the settings",
            compare_settings.note(pair),
            compare_settings.settings(pair),
        ),
        "Settings",
    )
    yield Section("curves", compare_curves.curves(comparison, figure, zoom=zoom), "Curves")
    yield Section(
        "part",
        _part("part", "Where they part", "", compare_partings.partings(pair)),
        "Where they part",
    )
    yield Section(
        "diagnosis",
        _part(
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
    comparison: Comparison, figure: Figure | None, metric: str, *, zoom: bool
) -> Iterator[Section]:
    yield Section("verdict", compare_verdict.overview(comparison))
    yield Section("runs", compare_many.ranking(comparison), "All runs")
    curves = compare_many.curves(comparison, figure, metric, zoom=zoom)
    yield Section("curves", curves, "Curves")
    if metric:
        yield Section("cells", compare_many.cells(comparison, metric))
    yield Section("details", compare_many.details(comparison), "One by one")
    yield from _end(comparison)


def _end(comparison: Comparison) -> Iterator[Section]:
    yield Section("problems", compare_origin.problems(comparison), "Data problems")
    yield Section("provenance", compare_origin.provenance(comparison), "Provenance")


def _part(anchor: str, title: str, note: str, body: Child) -> Markup:
    return section(anchor, title, sub(note) if note else None, body)
