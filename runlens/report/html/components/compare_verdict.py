"""The top of a comparison: the result as shape and word, the sentence, the runs, what fails."""

from runlens.comparison import Comparison, Pair, Result
from runlens.diagnosis import Diagnosis
from runlens.report.compared import RESULT_WORDS, of_many, sides
from runlens.report.facts import end_words
from runlens.report.html.components.signs import TICK, icon, tag
from runlens.report.html.components.tables import bullets
from runlens.report.html.components.verdict import SENTENCE, steps
from runlens.report.html.element import Markup, cut, el, join
from runlens.report.html.words import headline
from runlens.wording import count

SHAPES: dict[Result, str] = {
    "better": TICK,
    "worse": "M3.5 3.5l9 9m0-9l-9 9",
    "equivalent": "M1.5 9.5c2-5 4.5-5 6.5-1.5s4.5 3.5 6.5-1.5",
    "cannot_tell": "M5.5 6a2.5 2.5 0 1 1 3.5 2.3q-1 .5-1 1.7M8 12.6v.8",
    "mixed": "M3 6h10l-3-3M13 10.5H3l3 3",
    "identical": "M3 6h10M3 10.5h10",
    "not_comparable": "M3 6h10M3 10.5h10M11.5 2.5l-7 11.5",
}
COLOURS: dict[Result, str] = {
    "better": "ok",
    "worse": "crit",
    "equivalent": "info",
    "cannot_tell": "unmet",
    "mixed": "warn",
    "identical": "info",
    "not_comparable": "warn",
}
NAME = 80  # characters of the name of a run


def result_tag(result: Result, words: str) -> Markup:
    """Return shape and word of a result in its color."""
    shape = el("path", d=SHAPES[result], fill="none", stroke="currentColor", stroke_width=2)
    drawn = el("svg", shape, width=14, height=14, viewBox="0 0 16 16", aria_hidden="true")
    return el("span", drawn, words, class_=f"tag {COLOURS[result]}")


def result_words(result: Result, run: str = "") -> str:
    """Return ``B better``, ``Better`` where no run is named, ``Cannot tell``."""
    if run and result in {"better", "worse"}:
        return f"{run} {result}"
    return RESULT_WORDS[result].capitalize()


def named(run: str, name: str, ink: str = "") -> Markup:
    """Return letter and name of a run, the letter in the color of its curve."""
    ink = ink or {"A": "sa", "B": "sb"}.get(run, "")
    letter = el("b", run, class_=f"run i-{ink}" if ink else "run")
    return join(letter, " ", el("bdi", cut(name, NAME)))


def verdict(comparison: Comparison) -> Markup:
    """Return the verdict of B against A with the two runs, and what forbids a verdict."""
    pair = comparison.pairs[0]
    said = pair.verdict
    return _top(
        result_tag(said.result, result_words(said.result, "B")),
        "against A",
        said.sentence,
        said.second,
        _forbidding(pair),
        _runs(comparison),
    )


def _top(mark: Markup, beside: str, head: str, second: str, *more: Markup | None) -> Markup:
    return el(
        "section",
        mark,
        " ",
        el("span", beside, class_="mut"),
        el("h1", headline(cut(head, SENTENCE)), id="h-verdict"),
        el("p", second, class_="lede") if second else None,
        more,
        class_="verdict",
        aria_labelledby="h-verdict",
    )


def _forbidding(pair: Pair) -> Markup | None:
    """Return the points on which a comparison of losses fails."""
    failed = [check for check in pair.checks if check.hard and check.ok is False]
    if not failed or pair.verdict.result != "not_comparable":
        return None
    return join(
        el("p", "Raw losses carry no verdict here, because these points differ:"),
        bullets(f"{check.what}: {check.why}" for check in failed),
    )


def _runs(comparison: Comparison) -> Markup:
    lines = [
        el(
            "li",
            named(run, name),
            el("span", f" · {_about(diagnosis)} · ", class_="mut"),
            tag(diagnosis.health),
        )
        for run, name, diagnosis in zip("AB", sides(comparison), comparison.runs, strict=False)
    ]
    return el("ul", lines, class_="who sm")


def _about(run: Diagnosis) -> str:
    kind = "" if run.task == "other" else f"{run.task} "
    by = "" if run.framework in {"", "unknown"} else f" by {run.framework}"
    return f"{kind}run{by}, {end_words(run.state)}, step {steps(run)}"


def overview(comparison: Comparison) -> Markup:
    """Return the verdict on many runs against A."""
    said = of_many(comparison)
    words = "Better than A" if said.result == "better" else result_words(said.result)
    baseline = el("li", named("A", sides(comparison)[0]), el("span", " · the baseline"))
    return _top(
        result_tag(said.result, words),
        f"{count(len(comparison.pairs), 'run')} against one",
        said.sentence,
        said.second,
        el("ul", baseline, class_="who sm"),
    )


def sign(*, ok: bool | None, hard: bool) -> Markup:
    """Return the mark of a point of comparison: agrees, differs, not known."""
    if ok is None:
        return el("span", icon("unmet"), "not known", class_="tag unmet")
    if ok:
        return el("span", icon("healthy"), "agrees", class_="tag ok")
    shape = el("path", d=SHAPES["not_comparable"], fill="none", stroke="currentColor")
    drawn = el("svg", shape, width=14, height=14, viewBox="0 0 16 16", aria_hidden="true")
    return el("span", drawn, "differs", class_=f"tag {'crit' if hard else 'warn'}")
