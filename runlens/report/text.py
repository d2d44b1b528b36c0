"""A diagnosis for the terminal: verdict, what to do, the curves, the rest by count."""

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from runlens.config_keys import written
from runlens.diagnosis import Diagnosis, Evidence, Finding, Fix, Incident
from runlens.report.facts import checks, loud, shortened, story, when_and_why
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
from runlens.report.values import counted, evidence_value, value_of, worst_first
from runlens.run import WHOLE_FILE
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
SHOWN_CURVES = 4
SHOWN_PROBLEMS = 3
SHOWN_SOURCES = 4
NAME_WIDTH = 16
REASON = 120  # characters of why the run is in its state
SAME = 40  # characters at the front of a message by which it is known again
WIDE = 100  # characters from which an overview has long sparklines,
NARROWEST_DRAWN = 60  # and any
OTHERS, SENTENCE = 23, 30  # characters of what else is in a row, and of its sentence


def render(diagnosis: Diagnosis, options: Options | None = None) -> str:
    """Return the diagnosis as lines of text."""
    options = options or Options()
    return printed(_lines(diagnosis, options), options)


def overview(diagnoses: Sequence[Diagnosis], options: Options | None = None) -> str:
    """Return one line a run, worst first, then the counts."""
    options = options or Options()
    rows = worst_first(diagnoses)
    cells = 20 if options.width >= WIDE else 8 if options.width >= NARROWEST_DRAWN else 0
    longest = max(len(clean(one.run_name)) for one in rows)
    room = options.width - cells - OTHERS  # for names and sentences
    name_width = min(longest, max(8, room - SENTENCE))
    lines = []
    for one in rows:
        head = f"{one.health.upper():<8} {cut(clean(one.run_name), name_width):<{name_width}} "
        head += f"{step(one.last_step):>9}  {_main_spark(one, cells, options):<{cells}}  "
        room = max(8, options.width - len(head))
        lines.append(head + textwrap.shorten(clean(_in_short(one)), room, placeholder=" ..."))
    lines.append(f"\n{counted(rows)}")
    for one in rows:
        unread = [problem for problem in one.problems if problem.lost == WHOLE_FILE]
        for problem in unread[:SHOWN_PROBLEMS]:
            lines += wrapped(f"! {problem.where}: {problem.text}", options, "  ")
        if len(unread) > SHOWN_PROBLEMS:
            lines.append(f"! {count(len(unread) - SHOWN_PROBLEMS, 'more file')} could not be read")
    return characters("\n".join(lines) + "\n", options)


def _in_short(diagnosis: Diagnosis) -> str:
    """Return the first fault by its title, where it began, and how the run ended."""
    faults = loud(diagnosis)
    if not faults:
        return diagnosis.verdict.sentence
    lead = faults[0].findings[0]
    at = f" @{step(lead.onset.step)}" if lead.onset.step is not None else ""
    name = next((name for name in MAIN if name in diagnosis.curves), None)
    value = diagnosis.curves[name].value[-1:] if name else ()
    ended = f", {name.replace('_', ' ')} {value_of(name, value[0])}" if name and value else ""
    return f"{diagnosis.titles.get(lead.rule) or lead.rule}{at}{ended}"


def verdict(diagnosis: Diagnosis, options: Options | None = None) -> str:
    """Return the verdict as one line, however long."""
    line = f"{diagnosis.health.upper()} {diagnosis.run_name}: {diagnosis.verdict.sentence}"
    return characters(clean(line) + "\n", options or Options())


def _lines(diagnosis: Diagnosis, options: Options) -> Iterator[Line]:
    yield _head(diagnosis, options)
    yield from wrapped(diagnosis.verdict.sentence, options)
    if diagnosis.verdict.second:
        yield from wrapped(diagnosis.verdict.second, options)
    for name, words in when_and_why(diagnosis):
        yield from wrapped(f"{name + ':':<6}{clean(words)}", options, " " * 6)
    if told := story(diagnosis):
        yield from wrapped(f"How:  {clean(told)}.", options, " " * 6)
    yield ""
    yield from part(lambda: _what_was_read(diagnosis, options))
    if diagnosis.do_first.steps:
        yield from part(lambda: _do_first(diagnosis, options))
    yield from part(lambda: _curves(diagnosis, options))
    if diagnosis.incidents:
        yield from part(lambda: _incidents(diagnosis, options))
    for finding in diagnosis.findings if options.verbose else ():
        yield from part(partial(_finding, finding, options))
    yield from part(lambda: _checks(diagnosis, options))


def _head(diagnosis: Diagnosis, options: Options) -> Line:
    state = diagnosis.state
    done = f"step {step(diagnosis.last_step)}"
    if state.planned_steps and state.planned_steps != diagnosis.last_step:
        done += f" of {step(state.planned_steps)}"
    word, name = diagnosis.health.upper(), clean(diagnosis.run_name)
    name = cut(name, max(8, options.width - len(word) - len(done) - 3))
    gap = max(1, options.width - len(word) - 2 - len(name) - len(done))
    return ((word, STYLES.get(diagnosis.health, "bold green")), f"  {name}{' ' * gap}{done}")


def _what_was_read(diagnosis: Diagnosis, options: Options) -> Iterator[str]:
    names = [clean(source) for source in diagnosis.sources]
    if not options.verbose:
        names = [name.rpartition("/")[2] for name in names]
    most = len(names) if options.verbose else SHOWN_SOURCES
    shown = ", ".join(names[:most]) + (
        f" and {len(names) - most} more" if len(names) > most else ""
    )
    state = diagnosis.state
    yield from wrapped(f"Read {shown}. Task {diagnosis.task}.", options)
    ended = state.kind.replace("_", " ")
    why = state.why if state.kind == "unknown" else f"{state.sure}: {state.why}"
    why = clean(shortened(why, REASON))
    yield from wrapped(f"State: {ended} ({why})." if why else f"State: {ended}.", options)
    problems = diagnosis.problems
    most = len(problems) if options.verbose else SHOWN_PROBLEMS
    for where, text, lost in problems[:most]:
        loss_ = f" (lost: {lost})" if lost else ""
        yield from wrapped(f"! {clean(where)}: {clean(text)}{loss_}", options, "  ")
    if len(problems) > most:
        yield f"! {count(len(problems) - most, 'more problem')} (-v lists them)"
    yield ""


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
    names = [name for name in dict.fromkeys([*MAIN, *wanted]) if name in diagnosis.curves]
    cells = 60 if options.width >= WIDEST else min(30, options.width - NAME_WIDTH - 22)
    indent = " " * (NAME_WIDTH + 1)
    for name in names[: SHOWN_CURVES + (4 if options.verbose else 0)]:
        curve = diagnosis.curves[name]
        first, last = value_of(name, curve.value[0]), value_of(name, curve.value[-1])
        drawn = spark(name, curve.value, cells, ascii_only=options.ascii_only)
        yield f"{name:<{NAME_WIDTH}} {first:>9} {drawn} {last}"
        if options.verbose and name in diagnosis.shapes:
            yield from wrapped(diagnosis.shapes[name]["text"], options, indent, indent)
    if names:
        yield ""


def _incidents(diagnosis: Diagnosis, options: Options) -> Iterator[Line]:
    yield "Incidents"
    for place, incident in enumerate(diagnosis.incidents, 1):
        lead = incident.findings[0]
        at = f"step {step(lead.onset.step)}" if lead.onset.step is not None else ""
        proof = _proof(incident, diagnosis.state.why)
        head = f"{incident.severity.upper():<9}"
        text = f"  {place} {head}{lead.rule:<20} {at:<12} {proof}"
        first, *more = wrapped(text, options, " " * 13)
        begin, end = (len(part) for part in first.partition(head.rstrip())[:2])
        yield (
            first[:begin],
            (first[begin : begin + end], STYLES[incident.severity]),
            first[begin + end :],
        )
        yield from more
        if len(incident.findings) > 1:
            then = ", ".join(f"{one.rule} ({one.severity})" for one in incident.findings[1:])
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


def _finding(finding: Finding, options: Options) -> Iterator[Line]:
    head = (finding.severity.upper(), STYLES[finding.severity])
    told = f"confidence in the finding {finding.confidence.value:.2f}"
    yield (head, f" {finding.rule}, {told}")
    yield from wrapped(finding.title, options, "  ", "  ")
    if finding.seen:
        yield from wrapped(finding.seen, options, "  ", "  ")
    if finding.confidence.reason:
        yield from wrapped(f"It rests on: {finding.confidence.reason}", options, "  ", "  ")
    for item in finding.evidence:
        source = f" [{item.source}]" if item.source else ""
        where = f", {item.where}" if item.where else ""
        at = f" at step {step(item.step)}" if item.step is not None else ""
        yield from wrapped(f"- {_evidence(item)}{source}{where}{at}", options, "    ", "  ")
    for cause in finding.causes:
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
    if options.verbose:
        for word, reasons in (
            ("found", ended.merged),
            ("passed", ended.passed),
            ("could not run", {slug: told(why) for slug, why in ended.lacking.items()}),
            ("broken", ended.broken),
        ):
            for why, slugs in _by_reason(reasons).items():
                yield from wrapped(f"{word} {', '.join(slugs)}: {clean(why)}", options, "    ")
        if ended.other:
            yield from wrapped(
                f"not for {diagnosis.task} runs: {', '.join(sorted(ended.other))}", options, "  "
            )
        yield ""
    line = ", ".join(ended.counted)
    yield from wrapped(line + ("" if options.verbose else " (-v lists them)"), options)


def _by_reason(reasons: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the checks under each reason: one that many share is told once."""
    made: dict[str, list[str]] = {}
    for slug, why in reasons.items():
        made.setdefault(why, []).append(slug)
    return made


def _main_spark(diagnosis: Diagnosis, cells: int, options: Options) -> str:
    name = next((name for name in MAIN if name in diagnosis.curves), None)
    values = diagnosis.curves[name].value if name else ()
    return spark(name or "", values, cells, ascii_only=options.ascii_only)
