"""A diagnosis for the terminal: verdict, what to do, the curves, the rest by count."""

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from runlens.cause import UNKNOWN
from runlens.config_keys import written
from runlens.diagnosis import Diagnosis, Evidence, Finding, Fix, Incident
from runlens.report.facts import KINDS, checks, loud, shortened, span, story, when_and_why
from runlens.report.missing import UNTESTED, told
from runlens.report.spark import spark
from runlens.report.terminal import (
    WIDEST,
    Line,
    Options,
    characters,
    clean,
    cut,
    part,
    printed,
    wrapped,
)
from runlens.report.values import evidence_value, value_of
from runlens.wording import count, step

STYLES = {"critical": "bold red", "warning": "bold yellow", "info": "bold blue"}
MAIN = (
    "train_loss",
    "eval_loss",
    "reward",
    "g_loss",
    "d_loss",
    "grad_norm",
    "learning_rate",
    "entropy",
    "kl",
    "len_mean",
)
LINES = 16  # of the short report of one cause at 80 columns
WHY, DIFF = 140, 5  # characters of the reason in it, and lines of the diff
SHOWN_CURVES, MOST_CURVES = 2, 8
SHOWN_PROBLEMS = 3
NAME_WIDTH = 16
REASON = 120  # characters of why the run is in its state
SAME = 40  # characters at the front of a message by which it is known again


def render(diagnosis: Diagnosis, options: Options | None = None) -> str:
    """Return the diagnosis as lines of text."""
    options = options or Options()
    return printed(_lines(diagnosis, options), options)


def verdict(diagnosis: Diagnosis, options: Options | None = None) -> str:
    """Return the verdict as one line, however long."""
    line = f"{diagnosis.health.upper()} {diagnosis.run_name}: {diagnosis.verdict.sentence}"
    return characters(clean(line) + "\n", options or Options())


def _lines(diagnosis: Diagnosis, options: Options) -> Iterator[Line]:
    rest = _full if options.verbose else _short
    yield _head(diagnosis, options)
    yield from wrapped(diagnosis.verdict.sentence, options)
    yield from part(lambda: rest(diagnosis, options))


def _full(diagnosis: Diagnosis, options: Options) -> Iterator[Line]:
    if diagnosis.verdict.second:
        yield from wrapped(diagnosis.verdict.second, options)
    yield from _why(diagnosis, options)
    yield from _story(diagnosis, options)
    yield from _lost(diagnosis, options)
    yield ""
    if diagnosis.do_first.steps:
        yield from part(lambda: _do_first(diagnosis, options))
    if curves := list(part(lambda: _curves(diagnosis, options))):
        yield from [*curves, ""]
    if diagnosis.incidents:
        yield from part(lambda: _incidents(diagnosis, options))
    for finding in diagnosis.findings:
        yield from part(partial(_finding, finding, diagnosis, options))
    yield from part(lambda: _what_was_read(diagnosis, options))
    yield from part(lambda: _checks(diagnosis, options))


def _short(diagnosis: Diagnosis, options: Options) -> Iterator[Line]:
    """Give what fits `LINES`: when, why and the first step, then its story, curves, more steps."""
    faults, second = loud(diagnosis), diagnosis.verdict.second
    top = [*_why(diagnosis, options)] if faults else wrapped(second, options) if second else []
    top += _lost(diagnosis, options)
    first, *more = _steps(diagnosis, options) or [[]]
    ended = f"{', '.join(checks(diagnosis).counted)} (-v: all of it)"
    end = [*_others(diagnosis, options), *wrapped(ended, options)]
    curves = list(part(lambda: _curves(diagnosis, options)))
    head = 1 + len(wrapped(diagnosis.verdict.sentence, options))
    room = LINES - head - len(top) - len(first) - len(end) - len(curves[:1]) - 1
    steps, room = more[: max(0, room)], room - len(more)
    story_ = list(_story(diagnosis, options))
    story_, room = (story_, room - len(story_)) if len(story_) <= room else ([], room)
    yield from [*top, *story_, *([""] if first else []), *first]
    for step_ in steps:
        yield from step_
    yield from curves[: 1 + max(0, room)]
    yield from end


def _why(diagnosis: Diagnosis, options: Options) -> Iterator[str]:
    for name, told_ in when_and_why(diagnosis, brief=not options.verbose):
        words = told_ if options.verbose else shortened(told_, WHY)
        yield from wrapped(f"{name + ':':<6}{clean(words)}", options, " " * 6)


def _story(diagnosis: Diagnosis, options: Options) -> Iterator[str]:
    if told_ := story(diagnosis):
        yield from wrapped(f"How:  {clean(told_)}.", options, " " * 6)


def _others(diagnosis: Diagnosis, options: Options) -> Iterator[str]:
    """Name the other faults, a line each, and all that only informs in one."""
    for incident in loud(diagnosis)[1:]:
        lead = incident.findings[0]
        line = f"{incident.severity.upper():<9}{named(lead, diagnosis)}, {span(lead)}"
        yield from wrapped(line, options, " " * 9)
    notes = [one.findings[0] for one in diagnosis.incidents if one.severity == "info"]
    names = "; ".join(named(one, diagnosis) for one in notes if one.title not in _told(diagnosis))
    if names:
        yield textwrap.shorten(f"Notes: {clean(names)}", options.width, placeholder=" ...")


def _told(diagnosis: Diagnosis) -> str:
    return "" if loud(diagnosis) else diagnosis.verdict.second


def named(finding: Finding, diagnosis: Diagnosis) -> str:
    """Return what a finding is called: the title of its rule, or its slug."""
    return diagnosis.titles.get(finding.rule) or finding.rule


def _head(diagnosis: Diagnosis, options: Options) -> Line:
    state = diagnosis.state
    done = f"step {step(diagnosis.last_step)}"
    if state.planned_steps and state.planned_steps != diagnosis.last_step:
        done += f" of {step(state.planned_steps)}"
    done = f"{KINDS[state.kind]}, {done}"
    word, name = diagnosis.health.upper(), clean(diagnosis.run_name)
    name = cut(name, max(8, options.width - len(word) - len(done) - 3))
    gap = max(1, options.width - len(word) - 2 - len(name) - len(done))
    return ((word, STYLES.get(diagnosis.health, "bold green")), f"  {name}{' ' * gap}{done}")


def _what_was_read(diagnosis: Diagnosis, options: Options) -> Iterator[str]:
    shown = ", ".join(map(clean, diagnosis.sources))
    yield from wrapped(f"Read {shown}. Task {diagnosis.task}.", options)
    state = diagnosis.state
    ended = state.kind.replace("_", " ")
    why = state.why if state.kind == "unknown" else f"{state.sure}: {state.why}"
    why = clean(shortened(why, REASON))
    yield from wrapped(f"State: {ended} ({why})." if why else f"State: {ended}.", options)
    yield ""


def _lost(diagnosis: Diagnosis, options: Options) -> Iterator[str]:
    """Say what could not be read; three of them in the short report, the rest by count."""
    problems = diagnosis.problems
    most = len(problems) if options.verbose else SHOWN_PROBLEMS
    for where, text, lost in problems[:most]:
        loss_ = f" (lost: {lost})" if lost else ""
        yield from wrapped(f"! {clean(where)}: {clean(text)}{loss_}", options, "  ")
    if len(problems) > most:
        yield f"! {count(len(problems) - most, 'more problem')} (-v lists them)"


def _steps(diagnosis: Diagnosis, options: Options) -> list[list[Line]]:
    """Return the lines of each step: the first with its reason and the diff, the rest by name."""
    if not diagnosis.do_first.steps:
        return []
    (what, why), *more = diagnosis.do_first.steps
    first = f"1. {clean(what)}" + (f": {clean(why)}" if why else "") + "."
    diff = diagnosis.do_first.diff
    kept = [line for at, line in enumerate(diff) if not at or line[0] != " "]
    changes = list(_diff(kept[:DIFF]))
    if len(kept) > DIFF:
        changes.append(f"         {count(len(kept) - DIFF, 'more line')} (-v)")
    names = (
        textwrap.shorten(f"{place}. {clean(words)}.", options.width - 2, placeholder=" ...")
        for place, (words, _) in enumerate(more, 2)
    )
    top: list[Line] = ["Do this first", *wrapped(first, options, "     ", "  "), *changes]
    rest: list[list[Line]] = [[f"  {line}"] for line in names]
    return [top, *rest]


def _do_first(diagnosis: Diagnosis, options: Options) -> Iterator[Line]:
    yield "Do this first"
    for place, (what, why) in enumerate(diagnosis.do_first.steps, 1):
        text = f"{place}. {clean(what)}" + (f": {clean(why)}" if why else "") + "."
        yield from wrapped(text, options, "     ", "  ")
    yield from _diff(diagnosis.do_first.diff)
    if diagnosis.do_first.otherwise:
        yield "     If that does not help"
        yield from _diff(diagnosis.do_first.otherwise)
    yield ""


def _diff(lines: Iterable[tuple[str, str]]) -> Iterator[Line]:
    for sign, line in lines:
        style = {"-": "red", "+": "green"}.get(sign, "")
        yield ("       ", (f"{sign} {clean(line)}", style))


def _curves(diagnosis: Diagnosis, options: Options) -> Iterator[Line]:
    wanted = [finding.metric for finding in diagnosis.findings if finding.severity != "info"]
    ordered = [*MAIN, *wanted] if options.verbose else [*wanted[:1], *MAIN]
    names = [name for name in dict.fromkeys(ordered) if name in diagnosis.curves][:MOST_CURVES]
    cells = 60 if options.width >= WIDEST else min(30, options.width - NAME_WIDTH - 22)
    indent = " " * (NAME_WIDTH + 1)
    for name in names if options.verbose else names[:SHOWN_CURVES]:
        curve = diagnosis.curves[name]
        first, last = value_of(name, curve.value[0]), value_of(name, curve.value[-1])
        drawn = spark(name, curve.value, cells, ascii_only=options.ascii_only)
        yield f"{name:<{NAME_WIDTH}} {first:>9} {drawn} {last}"
        if options.verbose and name in diagnosis.shapes:
            yield from wrapped(diagnosis.shapes[name]["text"], options, indent, indent)


def _incidents(diagnosis: Diagnosis, options: Options) -> Iterator[Line]:
    yield "Incidents"
    for place, incident in enumerate(diagnosis.incidents, 1):
        lead = incident.findings[0]
        at = f"step {step(lead.onset.step)}" if lead.onset.step is not None else ""
        proof = _proof(incident, diagnosis.state.why)
        head = f"{incident.severity.upper():<9}"
        text = f"  {place} {head}{named(lead, diagnosis):<24} {at:<12} {proof}"
        first, *more = wrapped(text, options, " " * 13)
        begin, end = (len(part) for part in first.partition(head.rstrip())[:2])
        yield (
            first[:begin],
            (first[begin : begin + end], STYLES[incident.severity]),
            first[begin + end :],
        )
        yield from more
        if len(incident.findings) > 1:
            others = incident.findings[1:]
            then = ", ".join(f"{named(one, diagnosis)} ({one.severity})" for one in others)
            yield from wrapped(f"then     {then}", options, "             ", "    ")
    yield ""


def _proof(incident: Incident, state: str) -> str:
    """Return the first value that the line about the state of the run did not tell already."""
    lead = incident.findings[0]
    if incident.severity == "info":  # a word of advice needs no more than its sentence
        return lead.title
    news = [item for item in lead.evidence if not _told_by(state, item.value)] or lead.evidence
    return _evidence(news[0]) if news else ""


def _told_by(state: str, value: float | str) -> bool:
    return isinstance(value, str) and len(value) >= SAME and value[:SAME] in state


def _evidence(item: Evidence) -> str:
    shown = evidence_value(item, item.value)
    if item.limit is None:
        return f"{item.what}: {shown}"
    sign = "≥" if item.above else "≤"
    return f"{item.what}: {shown} (limit {sign} {evidence_value(item, item.limit)})"


def _finding(finding: Finding, diagnosis: Diagnosis, options: Options) -> Iterator[Line]:
    head = (finding.severity.upper(), STYLES[finding.severity])
    slug = f" ({finding.rule})" if finding.rule in diagnosis.titles else ""
    yield (head, f" {named(finding, diagnosis)}{slug}")
    yield from wrapped(finding.title, options, "  ", "  ")
    if finding.seen:
        yield from wrapped(finding.seen, options, "  ", "  ")
    reason = f": {finding.confidence.reason}" if finding.confidence.reason else ""
    sure = f"Confidence in the finding {finding.confidence.value:.2f}{reason}"
    yield from wrapped(sure, options, "  ", "  ")
    for item in finding.evidence:
        source = f" [{item.source}]" if item.source else ""
        where = f", {item.where}" if item.where not in {"", item.what} else ""
        at = f" at step {step(item.step)}" if item.step is not None else ""
        yield from wrapped(f"- {_evidence(item)}{source}{where}{at}", options, "    ", "  ")
    for cause in (one for one in finding.causes if one.kind != UNKNOWN):  # told under Why
        against = f"; against: {cause.against}" if cause.against else ""
        reason = f": {cause.evidence_for}" if cause.evidence_for else ""
        yield from wrapped(
            f"cause ({cause.rank}) {cause.what}{reason}{against}", options, "    ", "  "
        )
    for out in finding.ruled_out:
        word = "open" if out.why.startswith(UNTESTED) else "ruled out"
        yield from wrapped(f"{word} {out.what}: {out.why}", options, "    ", "  ")
    for fix in finding.fixes:
        yield from wrapped(f"fix {_fix(fix)}", options, "    ", "  ")
    yield ""


def _fix(fix: Fix) -> str:
    why = f": {fix.why}" if fix.why else ""
    if not fix.setting:
        return fix.what + why
    change = written(fix.new) if fix.old is None else f"{written(fix.old)} -> {written(fix.new)}"
    where = f" ({fix.where})" if fix.where else ""
    return f"{fix.what}, {fix.name or fix.setting} {change}{where}{why}"


def _checks(diagnosis: Diagnosis, options: Options) -> Iterator[str]:
    ended = checks(diagnosis)
    for word, reasons in (
        ("found", ended.merged),
        ("passed", ended.passed),
        ("could not run", {slug: told(why) for slug, why in ended.lacking.items()}),
        ("broken", ended.broken),
    ):
        for why, slugs in _by_reason(reasons).items():
            yield from wrapped(f"{word} {', '.join(slugs)}: {clean(why)}", options, "    ")
    if ended.other:
        others = ", ".join(sorted(ended.other))
        yield from wrapped(f"not for {diagnosis.task} runs: {others}", options, "  ")
    yield ""
    yield from wrapped(", ".join(ended.counted), options)


def _by_reason(reasons: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the checks under each reason: one that many share is told once."""
    made: dict[str, list[str]] = {}
    for slug, why in reasons.items():
        made.setdefault(why, []).append(slug)
    return made
