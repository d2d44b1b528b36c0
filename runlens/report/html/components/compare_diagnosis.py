"""The difference of two diagnoses: fixed in B, new in B, in both."""

from collections.abc import Sequence

from runlens.comparison import Both, Pair, Unjudged
from runlens.diagnosis import Finding
from runlens.report.facts import span
from runlens.report.html.components.incident import TITLE
from runlens.report.html.components.signs import WORDS, tag
from runlens.report.html.element import Child, Markup, cut, el, join
from runlens.wording import step as step_words

SHOWN = 6  # findings of a column


def health(pair: Pair) -> str:
    """Return the two diagnoses in one line."""
    a, b = (WORDS[run.health].lower() for run in (pair.a, pair.b))
    return f"Diagnosis of A: {a}. Of B: {b}."


def diagnosis(pair: Pair) -> Markup:
    """Return the findings by the run that has them."""
    diff = pair.diff
    columns = [
        _column("Fixed in B", [_one(one, "A", pair) for one in diff.fixed]),
        _column("New in B", [_one(one, "B", pair) for one in diff.new]),
        _column("In both", [_both(one, pair) for one in diff.both]),
    ]
    return join(el("div", columns, class_="delta"), _unjudged(diff.unjudged, pair))


def _column(title: str, findings: Sequence[Markup]) -> Markup:
    left = len(findings) - SHOWN
    more = el("p", f"and {left} more", class_="sm mut") if left > 0 else None
    none = None if findings else el("p", "None.", class_="sm mut")
    return el("div", el("h3", title), findings[:SHOWN], more, none)


def _one(finding: Finding, run: str, pair: Pair) -> Markup:
    return _finding(finding, pair, el("p", f"{run}: {cut(finding.title, TITLE)}", class_="sm"))


def _finding(finding: Finding, pair: Pair, *said: Child) -> Markup:
    titles = {**pair.b.titles, **pair.a.titles}
    name = finding.heading or titles.get(finding.rule) or finding.rule
    head = el("p", tag(finding.severity, cut(name, 60)), class_="sm fnd")
    return join(head, said)


def _both(both: Both, pair: Pair) -> Markup:
    """Return a finding of both runs with what changed: its severity, its onset."""
    a, b = both
    said = [f"A: {span(a)}. B: {span(b)}."]
    if a.severity != b.severity:
        said.append(f"{WORDS[a.severity]} in A, {WORDS[b.severity].lower()} in B.")
    if a.onset.step is not None and b.onset.step is not None and a.onset.step != b.onset.step:
        moved = b.onset.step - a.onset.step
        side = "later" if moved > 0 else "earlier"
        said.append(f"{step_words(abs(moved))} steps {side} in B.")
    return _finding(b, pair, el("p", " ".join(said), class_="sm"))


def _unjudged(found: Sequence[Unjudged], pair: Pair) -> Markup | None:
    """Return the findings of one run that the other could not be checked for."""
    if not found:
        return None
    titles = {**pair.b.titles, **pair.a.titles}
    items = [
        el(
            "li",
            f"{titles.get(one.finding.rule) or cut(one.finding.rule, 60)}, found in {one.run}: ",
            f"{'B' if one.run == 'A' else 'A'} could not be judged, ",
            cut(one.why, TITLE),
        )
        for one in found
    ]
    return join(el("h3", "Neither fixed nor new"), el("ul", items, class_="sm"))
