"""The parts of a report in full: what to do, each finding with its evidence, files, checks."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from runlens.cause import UNKNOWN
from runlens.config_keys import written
from runlens.diagnosis import UNTESTED, Advice, Diagnosis, Evidence, Finding, Fix
from runlens.report.facts import (
    checks,
    covering,
    deciding,
    end_words,
    named,
    ranked,
    sentence,
    sentences,
    shortened,
    span,
    sure_word,
)
from runlens.report.missing import told
from runlens.report.once import Once, Top
from runlens.report.terminal import Line, Options, clean, part, wrapped
from runlens.report.values import evidence_value
from runlens.run import Setting
from runlens.wording import step

STYLES = {"critical": "bold red", "warning": "bold yellow", "info": "bold blue"}
REASON = 120  # characters of why the run is in its state
LABEL = 44  # characters of the first column of evidence
VALUE = 160  # characters of a value that is text
LACKED = 80  # characters of why a check could not run


def steps(top: Top) -> list[str]:
    """Return what to do first as numbered sentences, each with its reason behind it."""
    numbered = enumerate(top.steps, 1)
    return [f"{place}. {sentences(what, why)}" for place, (what, why) in numbered]


def do_first(top: Top, advice: Advice, options: Options) -> Iterator[Line]:
    """Yield what to do first, and the settings to paste."""
    yield "Do this first"
    for place, text in enumerate(steps(top)):
        yield from wrapped(text, options, "     ", "  ")
        if place == advice.carried_out:  # the diff stands below the step that it carries out
            yield from changes(advice.diff)
    if advice.otherwise:
        yield "     If this does not help:"
        yield from changes(advice.otherwise)
    yield ""


def changes(lines: Iterable[tuple[str, str]]) -> Iterator[Line]:
    """Yield the lines of a diff, in its colors."""
    for sign, text in lines:
        # where a change is made, which is no line of its file
        heads = sign == " " and text[:1] not in {" ", ")"} and text[-1:] not in {"(", ":", "{"}
        line = f"{'On' if text == 'the command line' else 'In'} {text}:" if heads else text
        style = {"-": "red", "+": "green"}.get(sign, "")
        yield ("       ", (f"{sign} {clean(line)}", style))


def findings(diagnosis: Diagnosis, once: Once, options: Options) -> Iterator[Line]:
    """Yield each finding, the gravest first, less what stands above it already."""
    for incident in diagnosis.incidents:
        for one in incident.findings:
            yield from part(partial(_finding, one, diagnosis, once, options))


def _finding(
    finding: Finding, diagnosis: Diagnosis, once: Once, options: Options
) -> Iterator[Line]:
    head = (finding.severity.upper(), STYLES[finding.severity])
    slug = f" ({finding.rule})" if finding.rule in diagnosis.titles else ""
    yield (head, f"  {named(finding, diagnosis)}{slug}")
    said = once.said(finding.title)
    title, seen = once.new(finding.title), once.new(finding.seen)
    if not (title or said) and finding.severity == "info":
        title = finding.title  # else what stands below the heading would speak of nothing
    for text in filter(None, (title, seen)):
        yield from wrapped(sentence(text), options, "  ", "  ")
    if finding.severity != "info":  # a note needs no more than its sentences and what to do
        known = diagnosis.curves or finding.onset.step  # else the title says all that is known
        yield from _proof(finding, once, options, when=bool(known))
    more = "What else to do" if diagnosis.do_first.steps else "What to do"
    yield from _listed(more, list(_fixes(finding.fixes, once)), options)
    yield ""


def _proof(finding: Finding, once: Once, options: Options, *, when: bool) -> Iterator[str]:
    """Yield how sure a finding is, what was measured, its causes, and what it is not."""
    rows = [_row(one) for one in deciding(finding.evidence) if _news(one.value, once)]
    sure = f"{'Confidence':<{LABEL}} {sure_word(finding.confidence)}"
    dated = [f"{'When':<{LABEL}} {span(finding)}"] if when else []
    for row in [*dated, sure, *rows]:
        yield from wrapped(row, options, " " * (LABEL + 3), "  ")
    causes = list(_causes(finding, once))
    others = len(causes) < len(finding.causes) and finding.causes[0].kind != UNKNOWN
    more = "Other possible causes" if others else "Possible causes"
    yield from _listed(more, causes, options)
    for name, untested in (("Ruled out", False), ("Not checked", True)):
        out = [one.what for one in finding.ruled_out if one.why.startswith(UNTESTED) is untested]
        yield from _listed(name, [one for one in out if once.first(f"{name} {one}")], options)


def _news(value: float | str, once: Once) -> bool:
    """Whether a row says something that no sentence above has said; a number always does."""
    return not isinstance(value, str) or once.first(value)


def _listed(name: str, lines: Sequence[str], options: Options) -> Iterator[str]:
    if lines:
        yield f"  {name}"
    for line in lines:
        yield from wrapped(f"- {line}", options, "      ", "    ")


def _row(item: Evidence) -> str:
    """Return one measured value, with the value from which it counts."""
    shown = shortened(evidence_value(item, item.value), VALUE)
    alarm = ""
    if item.limit is not None and item.beyond:  # a value that raised no alarm is context
        side = "≥" if item.above else "≤"
        alarm = f" (threshold {side} {evidence_value(item, item.limit)})"
    at = f", step {step(item.step)}" if item.step is not None else ""
    return f"{item.what:<{LABEL}} {shown}{alarm}{at}"


def _causes(finding: Finding, once: Once) -> Iterator[str]:
    hinted = finding.causes[:1] and once.said(finding.causes[0].evidence_for.partition("; ")[0])
    for cause in finding.causes:
        known = once.said(cause.what)
        known |= not once.first(f"cause {cause.kind or cause.what}")
        reason, against = once.new(cause.evidence_for), once.new(cause.against)
        if cause.kind == UNKNOWN or (known and not reason and not against):
            continue  # told at the top, or in the finding's own sentence
        if hinted and finding.causes[0].kind == UNKNOWN and not reason and not against:
            continue  # "Not known" names it
        # under "possible causes" only one that is more than that says so
        yield sentences(cause.what if cause.rank == "possible" else ranked(cause), reason, against)


def _fixes(fixes: Sequence[Fix], once: Once) -> Iterator[str]:
    """Yield what no step above says; the reasons of the first steps stand with them."""
    for fix in fixes:
        if not once.sets(fix) and once.first(fix.what):
            yield _fix(fix)


def _fix(fix: Fix) -> str:
    """Return what to do with the setting that does it; its new value once."""
    if not fix.setting:
        return sentences(fix.what)
    name, new = fix.name or fix.setting, written(fix.new)
    where = f" {'on' if fix.where == 'the command line' else 'in'} {fix.where}" if fix.where else ""
    if f" {new}" in fix.what:
        return sentence(f"{fix.what} ({name}{where})")
    if fix.old is not None:
        return sentences(
            fix.what, f"change {name} from {_quoted(fix.old)} to {_quoted(fix.new)}{where}"
        )
    return sentences(fix.what, f"set {name} to {_quoted(fix.new)}{where}")


def _quoted(value: Setting) -> str:
    """Write a setting within a sentence; a word in quotation marks, as ``"no"`` reads as one."""
    return f'"{value}"' if isinstance(value, str) else written(value)


def _end_in_words(diagnosis: Diagnosis) -> str:
    """Return why a run is in its state; a line of the log as one."""
    why, (head, at, where) = diagnosis.state.why, diagnosis.state.why.rpartition(", at ")
    told = diagnosis.state.kind in {"killed", "finished"} and [
        one for one in diagnosis.events if one.kind in {"message", "early_stop"}
    ]
    if head and any(one.text.rstrip(".") == head.rstrip(".") for one in told or ()):
        at = at if diagnosis.curves or diagnosis.last_step else ""
        return f'the log says "{head}"{at}{where if at else ""}'
    return why


def what_was_read(diagnosis: Diagnosis, options: Options) -> Iterator[str]:
    """Yield the files, the task and how the run ended, a row each."""
    state = diagnosis.state
    ended = end_words(state).removeprefix("end ")
    sure = "" if state.sure == "guess" or state.kind == "unknown" else f" ({state.sure})"
    told = " ".join(f"{one.title} {one.seen}" for one in diagnosis.findings).casefold()
    said = state.why.partition(", at ")[0].casefold() in told
    why = "" if said else clean(shortened(_end_in_words(diagnosis), REASON)).replace("…,", "…")
    for name, words in (
        ("Files", ", ".join(map(clean, diagnosis.sources))),
        ("Task", diagnosis.task),
        ("End", f"{ended}{sure}"),
        ("", why),
    ):
        if words:
            yield from wrapped(words, options, " " * 7, f"{name:<7}")
    yield ""


def all_checks(diagnosis: Diagnosis, options: Options) -> Iterator[str]:
    """Yield by title which checks ended in which way; the page and the JSON say more of why."""
    ended, titles = checks(diagnosis), diagnosis.titles
    lacking = _reasoned(ended.lacking, diagnosis)
    for name, words in (
        ("Passed", _titles(ended.passed, titles)),
        ("Covered above", covering(ended, diagnosis)),
        ("Could not run", lacking),
        ("Not for this task", _titles(ended.other, titles)),
        ("Broken", _titles(ended.broken, titles)),
    ):
        if words:
            yield name
            apart = "; " if words == lacking else ", "
            yield from wrapped(f"  {apart.join(words)}", options, "  ")
    yield ""
    yield from wrapped(", ".join(ended.all_counted), options)


def _titles(slugs: Iterable[str], titles: Mapping[str, str]) -> list[str]:
    return sorted(titles.get(slug) or slug for slug in slugs)


def _reasoned(unmet: Mapping[str, str], diagnosis: Diagnosis) -> list[str]:
    """Return checks with what they lacked behind them, once of those that lacked the same."""
    lacked: dict[str, list[str]] = {}
    for slug, why in unmet.items():
        reason = told(why, diagnosis.framework).partition("; ")[0]
        lacked.setdefault(shortened(reason, LACKED), []).append(slug)
    groups = (
        (_titles(slugs, diagnosis.titles), f" ({reason})" if reason else "")
        for reason, slugs in lacked.items()
    )
    return [f"{', '.join(names)}{reason}" for names, reason in sorted(groups)]
