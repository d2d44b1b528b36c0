"""The comparison in numbers: both runs, their difference, its noise, and what that says."""

from runlens.comparison import Measure, Pair
from runlens.records import NamedTuple
from runlens.report.compared import NOISE_WORDS, difference, interval, told
from runlens.report.html.components.tables import Column, small, table
from runlens.report.html.element import Child, Markup, cut, el, join
from runlens.report.html.words import DASH
from runlens.report.values import value_of

NOTE = 200  # characters
APART = {
    NOISE_WORDS["seeds"]: "how far the repeats lie apart",
    NOISE_WORDS["prior"]: "how far two repeats of runs like these lie apart",
}
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
    alike = _alike(pair)
    return table(columns, [_row(one, pair, alike) for one in pair.measures], _caption(pair, alike))


class Alike(NamedTuple):
    """What all rows say, and the caption says once."""

    noise: str  # from where the noise is known
    note: str  # the first clause of the notes


def _alike(pair: Pair) -> Alike:
    noises = {NOISE_WORDS[one.noise_from] for one in pair.measures if one.noise is not None}
    notes = {one.note.partition("; ")[0] for one in pair.measures if one.noise is not None}
    return Alike(*(some.pop() if len(some) == 1 else "" for some in (noises, notes)))


def _row(measure: Measure, pair: Pair, alike: Alike) -> tuple[Child, ...]:
    words = told(measure, "B", pair)
    name = el("b", measure.what) if measure.decides else measure.what
    judged = pair.verdict.result in {"better", "worse"}
    noise = NOISE_WORDS[measure.noise_from]
    said = measure.noise is None or noise == alike.noise
    first, _, rest = measure.note.partition("; ")
    note = rest if alike.note and first == alike.note else measure.note
    return (
        join(name, join(" ", small("decides the verdict")) if measure.decides else None),
        _value(measure, measure.a),
        _value(measure, measure.b),
        _below(difference(measure), interval(measure)),
        _below(_value(measure, measure.noise), "" if said else noise),
        join(
            el("b", words) if measure.favours and judged else words,
            join(" ", small(cut(note, NOTE))) if note else None,
        ),
    )


def _value(measure: Measure, value: float | None) -> str:
    return DASH if value is None else value_of(measure.metric, value)


def _below(value: str, note: str) -> Markup:
    return join(value, el("span", note, class_="src under") if note else None)


def _caption(pair: Pair, alike: Alike) -> str:
    said = [f"{alike.note[:1].upper()}{alike.note[1:]}."] if alike.note else []
    known = [one for one in pair.measures if one.noise is not None]
    if known:
        apart = APART.get(alike.noise, "how far two repeats lie apart")
        said.append(f"Noise: {apart}. Clear: beyond its limit.")
    if any(one.interval for one in pair.measures):
        said.append(f"Below B {MINUS} A: its 95 % interval.")
    return " ".join(said)
