"""A diagnosis as Markdown, for pull requests and chats: at most 60 lines, no images.

Foreign text cannot leave its place: control characters become escapes, and what Markdown or
GitHub would read as a table cell, code, HTML, a mention or a link becomes an entity.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from runlens.diagnosis import Advice, Diagnosis, Incident
from runlens.patterns import lazy_re
from runlens.report.facts import checks, sentences
from runlens.report.missing import told
from runlens.report.once import Top
from runlens.report.terminal import clean
from runlens.report.values import counted, evidence_value, worst_first
from runlens.wording import count, step

SHOWN_INCIDENTS = 12
SHOWN_RUNS = 3  # of several, in full; the others have a row in the table
SHOWN_ROWS = 100
SHOWN_PROBLEMS = 3
# an underscore between letters or digits is none of Markdown's signs: train_loss
_ACTIVE = lazy_re(r"[|`<>&@#*\[\]\\~]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")


def render(diagnosis: Diagnosis) -> str:
    """Return one diagnosis: verdict, what to do first, incidents, what could not run."""
    return "\n".join(_lines(diagnosis)) + "\n"


def render_all(diagnoses: Sequence[Diagnosis]) -> str:
    """Return several diagnoses: a table of all, worst first, and the worst of them in full."""
    if len(diagnoses) == 1:
        return render(diagnoses[0])
    rows = worst_first(diagnoses)
    lines = [f"### {counted(rows)}", "", "| health | run | step | verdict |", "|---|---|---|---|"]
    lines += [
        f"| {one.health} | {escaped(one.run_name)} | {step(one.last_step)} "
        f"| {escaped(one.verdict.sentence)} |"
        for one in rows[:SHOWN_ROWS]
    ]
    if len(rows) > SHOWN_ROWS:
        lines.append(f"| | {count(len(rows) - SHOWN_ROWS, 'more run')} | | |")
    loud = [one for one in rows if one.health in {"critical", "warning"}]
    blocks = [render(one) for one in loud[:SHOWN_RUNS]]
    return "\n".join(["\n".join(lines) + "\n", *blocks])


def escaped(text: str) -> str:
    """Return foreign text so that Markdown shows it as it is."""
    return _ACTIVE.sub(lambda found: f"&#{ord(found[0])};", clean(text))


def _lines(diagnosis: Diagnosis) -> Iterator[str]:
    verdict = diagnosis.verdict
    yield f"### {diagnosis.health.capitalize()}: {escaped(verdict.sentence)}"
    yield ""
    top = Top.of(diagnosis)
    if top.second:
        yield escaped(top.second)
        yield ""
    if top.facts:
        yield from (f"- {name}: {escaped(words)}" for name, words in top.facts)
        yield ""
    state = diagnosis.state
    yield (
        f"Run {escaped(diagnosis.run_name)}, {state.settled.replace('_', ' ')} at step "
        f"{step(diagnosis.last_step)}, task {diagnosis.task}."
    )
    yield ""
    for problem in diagnosis.problems[:SHOWN_PROBLEMS]:
        yield f"- Not read in full: {escaped(f'{problem.where} {problem.text}')}"
    if len(diagnosis.problems) > SHOWN_PROBLEMS:
        yield f"- {count(len(diagnosis.problems) - SHOWN_PROBLEMS, 'more problem')} of reading"
    if diagnosis.problems:
        yield ""
    yield from _do_first(top, diagnosis.do_first)
    yield from _table(diagnosis)
    yield from _checks(diagnosis)


def _do_first(top: Top, advice: Advice) -> Iterator[str]:
    if not top.steps:
        return
    yield "**Do this first**"
    yield ""
    for place, (what, why) in enumerate(top.steps, 1):
        yield f"{place}. {escaped(sentences(what, why))}"
    yield from _fenced(advice.diff)
    if other := advice.otherwise:
        yield ""
        yield "If this does not help:"
        yield from _fenced(other)
    yield ""


def _fenced(diff: Iterable[tuple[str, str]]) -> Iterator[str]:
    lines = [f"{sign} {clean(line)}" for sign, line in diff]
    if not lines:
        return
    longest = max((len(run) for run in re.findall("`+", "\n".join(lines))), default=0)
    fence = "`" * max(3, longest + 1)
    yield ""
    yield f"{fence}diff"
    yield from lines
    yield fence


def _table(diagnosis: Diagnosis) -> Iterator[str]:
    if not diagnosis.incidents:
        return
    yield "| severity | incident | onset | measured | limit |"
    yield "|---|---|---|---|---|"
    for incident in diagnosis.incidents[:SHOWN_INCIDENTS]:
        yield _row(incident)
    if len(diagnosis.incidents) > SHOWN_INCIDENTS:
        yield f"| | {len(diagnosis.incidents) - SHOWN_INCIDENTS} more | | | |"
    yield ""


def _row(incident: Incident) -> str:
    lead, *rest = incident.findings
    at = step(lead.onset.step) if lead.onset.step is not None else ""
    measured = limit = ""
    if lead.evidence:
        first = lead.evidence[0]
        measured = f"{first.what}: {evidence_value(first, first.value)}"
        if incident.severity == "info" and isinstance(first.value, str):
            measured = lead.title  # a word of advice needs no more than its sentence
        limit = "" if first.limit is None else evidence_value(first, first.limit)
    also = f" (then {', '.join(one.rule for one in rest)})" if rest else ""
    cells = (incident.severity, lead.rule + also, at, measured, limit)
    return "| " + " | ".join(escaped(cell) for cell in cells) + " |"


def _checks(diagnosis: Diagnosis) -> Iterator[str]:
    ended = checks(diagnosis)
    said = ", ".join(ended.counted)
    listed = {slug: told(why) for slug, why in ended.lacking.items()} | ended.broken
    if not listed:
        yield said
        return
    yield f"<details><summary>{said}</summary>"
    yield ""
    for why in dict.fromkeys(listed.values()):
        slugs = [slug for slug, reason in listed.items() if reason == why]
        yield f"- {escaped(', '.join(slugs))}: {escaped(why)}"
    yield ""
    yield "</details>"
