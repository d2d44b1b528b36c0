"""A diagnosis for the terminal: verdict, what to do, the curves, the rest by count."""

import textwrap
from collections.abc import Iterator
from itertools import accumulate

from runlens.diagnosis import Diagnosis
from runlens.report.detail import (
    STYLES,
    all_checks,
    changes,
    do_first,
    findings,
    steps,
    what_was_read,
)
from runlens.report.facts import (
    checks,
    end_words,
    fitting,
    loud,
    named,
    sentence,
    sentences,
    span,
)
from runlens.report.once import PARTS, Top
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
from runlens.report.values import value_of
from runlens.wording import count, step

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
WHY, DIFF = 215, 5  # characters of the reason in it (three lines), and lines of the diff
SHOWN_CURVES, MOST_CURVES = 2, 8
SHOWN_PROBLEMS = 3
NAME_WIDTH = 16


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
    top = Top.of(diagnosis)
    second, also, other = top.second.partition(" Also: ")
    for words in filter(None, (second, also.lstrip() + other)):  # another fault, a line of its own
        yield from wrapped(words, options)
    yield from _why(top, options)
    yield from _story(top, options)
    yield from _lost(diagnosis, options)
    yield ""
    if diagnosis.do_first.steps:
        yield from part(lambda: do_first(top, diagnosis.do_first, options))
    if curves := list(part(lambda: _curves(diagnosis, options))):
        yield from [*curves, ""]
    yield from part(lambda: findings(diagnosis, top.told, options))
    yield from part(lambda: what_was_read(diagnosis, options))
    yield from part(lambda: all_checks(diagnosis, options))


def _short(diagnosis: Diagnosis, options: Options) -> Iterator[Line]:
    """Give what fits `LINES`: when, why and the first step, then its story, curves, more steps."""
    told = Top.of(diagnosis, brief=True)
    top = wrapped(told.second, options) if told.second else []
    top += [*_why(told, options), *_lost(diagnosis, options)]
    ended = f"{', '.join(checks(diagnosis).counted)} (-v: all of it)"
    end = [*_others(diagnosis, options), *wrapped(ended, options)]
    curves = list(part(lambda: _curves(diagnosis, options)))
    head = 1 + len(wrapped(diagnosis.verdict.sentence, options))
    room = LINES - head - len(top) - len(end) - len(curves[:1]) - 1
    first, *more = _steps(told, diagnosis, options, room) or [[]]
    room -= len(first)
    ends = list(accumulate(map(len, more)))
    steps = [one for one, end_ in zip(more, ends, strict=True) if end_ <= room]
    room -= ends[-1] if ends else 0
    story_ = list(_story(told, options))
    story_, room = (story_, room - len(story_)) if len(story_) <= room else ([], room)
    yield from [*top, *story_, *([""] if first else []), *first]
    for step_ in steps:
        yield from step_
    yield from curves[: 1 + max(0, room)]
    yield from end


def _why(top: Top, options: Options) -> Iterator[str]:
    for name, told_ in top.facts:
        words = told_ if options.verbose else fitting(told_, WHY)
        yield from wrapped(f"{name + ':':<5} {clean(words)}", options, " " * 6)


def _story(top: Top, options: Options) -> Iterator[str]:
    if top.story:
        yield from wrapped(f"Order: {clean(sentence(top.story))}", options, " " * 6)


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


def _head(diagnosis: Diagnosis, options: Options) -> Line:
    state = diagnosis.state
    ended = diagnosis.findings[0].onset.step if diagnosis.findings else None
    # an end may lie behind the log
    reached = max(diagnosis.last_step, ended or 0, state.done_steps)
    done = f"step {step(reached)}" if reached or diagnosis.curves else "no step logged"
    if state.planned_steps and state.planned_steps != reached:
        of = f"of {step(state.planned_steps)}"
        done = f"{done} {of}" if done.startswith("step") else f"0 {of} steps logged"
    done = f"{end_words(state)}, {done}"
    word, name = diagnosis.health.upper(), clean(diagnosis.run_name)
    name = cut(name, max(8, options.width - len(word) - len(done) - 3))
    gap = max(1, options.width - len(word) - 2 - len(name) - len(done))
    return ((word, STYLES.get(diagnosis.health, "bold green")), f"  {name}{' ' * gap}{done}")


def _lost(diagnosis: Diagnosis, options: Options) -> Iterator[str]:
    """Say what could not be read; three of them in the short report, the rest by count."""
    problems = diagnosis.problems
    most = len(problems) if options.verbose else SHOWN_PROBLEMS
    for where, text, lost in problems[:most]:
        loss_ = f" Lost: {lost}." if lost else ""
        yield from wrapped(f"! {sentences(f'{where} {text}')}{loss_}", options, "  ")
    if len(problems) > most:
        yield f"! {count(len(problems) - most, 'more problem')} (-v lists them)"


def _steps(top_: Top, diagnosis: Diagnosis, options: Options, room: int) -> list[list[Line]]:
    """Return the lines of each step: the first with its reason, the rest by name; and the diff.

    The diff stands below the step that it carries out, in one piece with what stands above it;
    where `room` lines do not hold them, it is left to the long report.
    """
    if not top_.steps:
        return []
    diff, at = diagnosis.do_first.diff, diagnosis.do_first.carried_out
    kept = [line for place, line in enumerate(diff) if not place or line[0] != " "]
    shown = list(changes(kept[:DIFF]))
    if len(kept) > DIFF:
        shown.append(f"         {count(len(kept) - DIFF, 'more line')} (-v)")
    first, *_ = steps(top_)
    names = (
        f"{place}. {fitting(sentence(what), max(options.width, len(_first(what))))}"
        for place, (what, _) in enumerate(top_.steps[1:], 2)
    )
    rest: list[list[Line]] = [[*wrapped(clean(one), options, "     ", "  ")] for one in names]
    top: list[Line] = ["Do this first", *wrapped(first, options, "     ", "  ")]
    above = [*top, *(line for one in rest[:at] for line in one), *shown]
    if shown and len(above) > room:
        (rest[at - 1] if at else top).append("     See the diff with -v.")
        return [top, *rest]
    return [above, *rest[at:]]


def _first(what: str) -> str:
    """Return the first sentence of what to do."""
    return PARTS.split(sentence(what))[0]


def _curves(diagnosis: Diagnosis, options: Options) -> Iterator[Line]:
    wanted = [finding.metric for finding in diagnosis.findings if finding.severity != "info"]
    ordered = [*MAIN, *wanted] if options.verbose else [*wanted[:1], *MAIN]
    names = [name for name in dict.fromkeys(ordered) if name in diagnosis.curves][:MOST_CURVES]
    cells = 60 if options.width >= WIDEST else min(30, options.width - NAME_WIDTH - 22)
    for name in names if options.verbose else names[:SHOWN_CURVES]:
        curve = diagnosis.curves[name]
        first, last = value_of(name, curve.value[0]), value_of(name, curve.value[-1])
        drawn = spark(name, curve.value, cells, ascii_only=options.ascii_only)
        yield f"{name:<{NAME_WIDTH}} {first:>9} {drawn} {last}"
