"""A comparison as Markdown, for pull requests: whether a run is worse than the baseline."""

from collections.abc import Iterator

from runlens.comparison import Comparison, Pair
from runlens.report import compared
from runlens.report.comparison import words
from runlens.report.markdown import escaped
from runlens.wording import count

SHOWN_PAIRS = 3


def render(comparison: Comparison) -> str:
    """Return the verdict, the numbers, the likeliest settings and the changed findings."""
    return "\n".join(_lines(comparison)) + "\n"


def _lines(comparison: Comparison) -> Iterator[str]:
    order = compared.ranked(comparison)
    if len(order) > 1:
        yield f"### {compared.tally(comparison)} than {escaped(comparison.runs[0].run_name)}"
        yield ""
        yield "| run | result | verdict |"
        yield "|---|---|---|"
        for index in order:
            pair, label = comparison.pairs[index], compared.label(index)
            cells = (f"{label} {pair.b.run_name}", words.result(pair, label), pair.verdict.sentence)
            yield _row(cells)
        yield ""
    for index in order[:SHOWN_PAIRS] if len(order) > 1 else order:
        yield from _pair(comparison, comparison.pairs[index])


def _row(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(escaped(cell) for cell in cells) + " |"


def _pair(comparison: Comparison, pair: Pair) -> Iterator[str]:
    label = "B"  # as its sentences say
    title = words.result(pair, label)
    yield f"### {title[:1].upper()}{title[1:]}: {escaped(pair.verdict.sentence)}"
    yield ""
    if pair.verdict.second:
        yield escaped(pair.verdict.second)
        yield ""
    yield f"A is {escaped(pair.a.run_name)}, {label} is {escaped(pair.b.run_name)}."
    yield ""
    if pair.measures:
        yield f"| by {pair.align} | A | {label} | {label} - A | |"
        yield "|---|---|---|---|---|"
        for one in pair.measures:
            what = f"{one.what} (decides)" if one.decides else one.what
            yield _row((what, *words.row(one), words.judged(one, pair, label)))
        yield ""
        yield words.noise_from(comparison)
        yield ""
    yield from _points(pair, label)
    yield ""


def _points(pair: Pair, label: str) -> Iterator[str]:
    for check in pair.checks:
        if check.hard and check.ok is False:
            yield f"- Not comparable: {escaped(check.what)}: {escaped(check.why)}"
    weighty = [one for one in pair.settings if one.rank]
    for one in weighty[: words.SHOWN_SETTINGS]:
        why = f" ({one.why})" if one.why else ""
        yield f"- Setting {escaped(words.change(one, label) + why)}"
    if len(weighty) > words.SHOWN_SETTINGS:
        rest = len(weighty) - words.SHOWN_SETTINGS
        yield f"- {count(rest, 'more setting')} differ"
    for word, findings in (("Fixed in", pair.diff.fixed), ("New in", pair.diff.new)):
        for finding in findings:
            if finding.severity != "info":
                yield f"- {word} {label}: {escaped(finding.title)}"
    if pair.mover:
        yield f"- {escaped(pair.mover)}"
