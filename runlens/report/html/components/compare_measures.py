"""The comparison in numbers: both runs, their difference, its noise, and what that says."""

from runlens.comparison import Measure, Pair
from runlens.report.compared import NOISE_WORDS, difference, interval, told
from runlens.report.html.components.tables import Column, small, table
from runlens.report.html.element import Child, Markup, cut, el, join
from runlens.report.html.words import DASH
from runlens.report.values import value_of

NOTE = 200  # characters
MINUS = "\u2212"


def numbers(pair: Pair) -> Markup:
    """Return the measures as a table; without any it says so."""
    if not pair.measures:
        return el("p", "A and B have no number in common.")
    columns = (
        Column("Measure"),
        Column("A", numbers=True),
        Column("B", numbers=True),
        Column(f"B {MINUS} A", numbers=True),
        Column("Noise", numbers=True),
        Column("Verdict"),
    )
    return table(columns, [_row(one, pair) for one in pair.measures], _caption(pair))


def _row(measure: Measure, pair: Pair) -> tuple[Child, ...]:
    words = told(measure, "B", pair)
    name = el("b", measure.what) if measure.decides else measure.what
    judged = pair.verdict.result in {"better", "worse"}
    noise = NOISE_WORDS[measure.noise_from]
    return (
        join(name, join(" ", small("decides the verdict")) if measure.decides else None),
        _value(measure, measure.a),
        _value(measure, measure.b),
        _below(difference(measure), interval(measure)),
        _below(_value(measure, measure.noise), "" if measure.noise is None else noise),
        join(
            el("b", words) if measure.favours and judged else words,
            join(" ", small(cut(measure.note, NOTE))) if measure.note else None,
        ),
    )


def _value(measure: Measure, value: float | None) -> str:
    return DASH if value is None else value_of(measure.metric, value)


def _below(value: str, note: str) -> Markup:
    return join(value, el("span", note, class_="src under") if note else None)


def _caption(pair: Pair) -> str:
    said = []
    known = [one for one in pair.measures if one.noise is not None]
    if known:
        said.append("Noise: how far two repeats lie apart. Clear: beyond its limit.")
    if any(one.interval for one in pair.measures):
        said.append(f"Below B {MINUS} A: its 95 % interval.")
    return " ".join(said)
