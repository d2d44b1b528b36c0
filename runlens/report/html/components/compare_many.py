"""Many runs against A: one table, one chart, a small chart a metric and a run, details folded."""

from runlens.comparison import LABELS, Comparison, Leaderboard, Measure, Pair
from runlens.report.compared import (
    beside_noise,
    best,
    deciding,
    difference,
    label,
    likeliest,
    ranked,
    sides,
    worst,
)
from runlens.report.facts import sentence
from runlens.report.html.charts import many, svg
from runlens.report.html.charts.model import Figure
from runlens.report.html.charts.pair import difference_panel
from runlens.report.html.charts.units import span, unit_for
from runlens.report.html.components.compare_bench import bench
from runlens.report.html.components.compare_curves import alignment, place_word
from runlens.report.html.components.compare_diagnosis import diagnosis, health
from runlens.report.html.components.compare_fairness import fairness
from runlens.report.html.components.compare_fairness import note as fair_note
from runlens.report.html.components.compare_measures import numbers
from runlens.report.html.components.compare_partings import partings
from runlens.report.html.components.compare_settings import settings
from runlens.report.html.components.compare_verdict import (
    NAME,
    named,
    result_tag,
    result_words,
)
from runlens.report.html.components.signs import tag
from runlens.report.html.components.tables import Column, code, folded, section, small, sub, table
from runlens.report.html.components.timeline import readable
from runlens.report.html.element import NOTHING, Child, Markup, cut, el, join
from runlens.report.html.words import DASH, setting
from runlens.report.values import value_of

DRAWN = 60  # points of a difference, one of up to 19
WIDTH = 320  # pixels of a small chart
VALUE = 40  # characters of a setting
HELP = "Point at the chart, or focus it and use the arrow keys, to read every run at one {}."
LABEL = "Curves of all runs. Arrow keys read the values place by place."


def ranking(comparison: Comparison) -> Markup:
    """Return the table of all runs, A first, then best to worst."""
    measures = {one.what for pair in comparison.pairs if (one := deciding(pair))}
    one_measure = next(iter(measures)) if len(measures) == 1 else ""
    columns = (
        Column("Run"),
        Column("Against A"),
        Column(cut(one_measure, VALUE) or "Deciding measure", numbers=True),
        Column("Difference to A", numbers=True),
        Column("Likeliest setting"),
        Column("Health"),
    )
    name, inks = sides(comparison), many.emphasis(comparison)
    rows = [_baseline(comparison, name[0], alone=not one_measure)]
    rows += [
        _row(
            comparison.pairs[index],
            label(index),
            named(label(index), name[index + 1], inks.get(index + 1, "so")),
            comparison.board,
            alone=not one_measure,
        )
        for index in ranked(comparison)
    ]
    marks = [0, *(index + 1 for index in ranked(comparison))]
    return section(
        "runs",
        "All runs",
        sub("A is the baseline; the others from best to worst."),
        el("div", table(columns, rows, marks=marks), class_="ranks"),
    )


def _baseline(comparison: Comparison, name: str, *, alone: bool) -> tuple[Child, ...]:
    measure = next((one for pair in comparison.pairs if (one := deciding(pair))), None)
    value: Child = DASH
    if measure is not None and measure.a is not None:
        what = el("span", cut(measure.what, VALUE), class_="src under") if alone else None
        value = join(value_of(measure.metric, measure.a), what)
    return (
        named("A", name),
        "baseline",
        value,
        DASH,
        DASH,
        tag(comparison.runs[0].health),
    )


def _row(
    pair: Pair, run: str, name: Markup, board: Leaderboard | None, *, alone: bool
) -> tuple[Child, ...]:
    """Return the row of a run; `alone`: no other row tells what its measure is."""
    measure = deciding(pair)
    result = pair.verdict.result
    value: Child = DASH
    if measure is not None and measure.b is not None:
        what = (
            join(" ", el("span", cut(measure.what, VALUE), class_="src under")) if alone else None
        )
        value = join(value_of(measure.metric, measure.b), what)
    return (
        el("a", name, href=f"#run-{run}"),
        result_tag(result, result_words(result)),
        value,
        _difference_to_a(measure) if measure and result != "not_comparable" else DASH,
        _likeliest(pair, board),
        tag(pair.b.health),
    )


def _difference_to_a(measure: Measure) -> Child:
    if measure.times is None:
        return difference(measure)
    note = beside_noise(measure).replace("limit ", "limit\u00a0")
    return join(difference(measure), el("span", note, class_="src under"))


def _likeliest(pair: Pair, board: Leaderboard | None) -> Child:
    row = likeliest(pair, board)
    if row is None:
        return "none known"
    change = f"{cut(setting(row.a), VALUE)} to {cut(setting(row.b), VALUE)}"
    more = sum(row.rank > 1 for row in pair.settings)
    rest = join(" ", small(f"and {more} more")) if more else None
    return join(code(cut(row.key, VALUE)), " ", small(change), rest)


def curves(comparison: Comparison, figure: Figure | None, metric: str, *, work: bool) -> Markup:
    """Return all runs in one chart, then the other metrics, small."""
    if figure is None:
        return section("curves", "Curves", el("p", "No run recorded a curve."))
    others = [
        el("figure", svg.one(many.small(comparison, name, number), WIDTH))
        for number, name in enumerate(many.other_metrics(comparison, metric))
    ]
    return el(
        "section",
        el("h2", "Curves", id="h-curves"),
        bench(comparison) if work else None,
        sub(_note(comparison, figure)),
        readable(figure, LABEL, HELP.format(place_word(figure))),
        join(el("h3", "Other metrics"), el("div", others, class_="sms")) if others else None,
        id="curves",
        aria_labelledby="h-curves",
    )


def _note(comparison: Comparison, figure: Figure) -> str:
    said = [alignment(comparison), "Blue: A."]
    drawn = {line.series for line in figure.panels[0].lines}
    for words, index in (("Orange: {}, the best.", best), ("Purple: {}, the worst.", worst)):
        found = index(comparison)
        if found is not None and label(found) in drawn:
            said.append(words.format(label(found)))
    said.append("Gray: the others.")
    missing = [run for run in LABELS[: len(comparison.runs)] if run not in drawn]
    if missing:
        said.append(f"Not logged by {', '.join(missing)}.")
    said.append("Long curves are drawn as medians of blocks.")
    if any(panel.bands for panel in figure.panels):
        said.append("Gray band around A: what differs there is no more than noise between seeds.")
    return " ".join(said)


def cells(comparison: Comparison, metric: str) -> Markup:
    """Return a small chart a run, best first: the run in orange, A in blue."""
    name = sides(comparison)
    made = [
        _cell(comparison, metric, index, name[index + 1])
        for index in ranked(comparison)
        if comparison.curves[metric][index + 1]
    ]
    if not made:
        return NOTHING
    note = sub(f"{cut(metric, 60)}, best first. Orange: the run; blue: A. Same scales in each.")
    return section("cells", "Each run beside A", note, el("div", made, class_="sms"))


def _cell(comparison: Comparison, metric: str, index: int, name: str) -> Markup:
    pair = comparison.pairs[index]
    measure = deciding(pair)
    result = pair.verdict.result
    judged = measure is not None and measure.difference is not None and result != "not_comparable"
    value = f", {difference(measure)}" if judged and measure else ""
    head = el("h3", named(label(index), cut(name, VALUE), "sb"), class_="cell")
    said = f"{result_words(result)}{value}"
    chart = svg.one(many.cell(comparison, metric, index), WIDTH)
    return el("figure", head, chart, el("figcaption", said))


def details(comparison: Comparison) -> Markup:
    """Return all that is known of each pair, folded, best run first."""
    name = sides(comparison)
    made = [
        el("div", _detail(comparison, index, name[index + 1]), id=f"run-{label(index)}")
        for index in ranked(comparison)
    ]
    note = sub("Each run against A. Inside a part the run is called B, as if alone. Not printed.")
    return section("details", "One by one", note, made)


def _detail(comparison: Comparison, index: int, name: str) -> Markup:
    pair = comparison.pairs[index]
    result = pair.verdict.result
    run = label(index)
    summary = join(result_tag(result, result_words(result)), " ", named(run, name, "so"))
    parts: list[tuple[str, str, Child]] = [
        ("In numbers", "", numbers(pair)),
        ("What differs in the settings", "", settings(pair)),
        ("Difference", "", _difference(comparison, index)),
        ("Where they differ", "", partings(pair)),
        ("Diagnosis", health(pair), diagnosis(pair)),
        ("Is the comparison fair?", fair_note(pair), fairness(pair, agreed=False)),
    ]
    said = f"{pair.verdict.sentence} {pair.verdict.second}".strip()
    content = join(
        el("p", f"B is run {run}, {cut(name, NAME)}. {sentence(said)}"),
        [
            join(el("h3", title), el("p", note, class_="mut sm") if note else None, body)
            for title, note, body in parts
            if body
        ],
    )
    return folded(summary, "", content, class_="noprint")


def _difference(comparison: Comparison, index: int) -> Markup:
    pair = comparison.pairs[index]
    measure = deciding(pair)
    found = pair.differences.get(measure.metric) if measure else None
    if measure is None or found is None or not found.at:
        return NOTHING
    unit = unit_for(pair.unit or pair.align, found.at[-1])
    panel = difference_panel(measure.metric, pair, unit, DRAWN)
    start, end = span(unit.place(found.at[0]), unit.place(found.at[-1]))
    figure = Figure(
        uid=f"d{index}",
        title=panel.title,
        description=f"Difference of {cut(measure.metric, 60)} beside the noise.",
        panels=(panel,),
        start=start,
        end=end,
        axis=unit.axis,
    )
    caption = "Gray band: no more than noise." if panel.bands else ""
    return el("figure", svg.both(figure), el("figcaption", caption) if caption else None)
