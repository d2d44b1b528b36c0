"""The story that a log tells around its numbers: events, messages, and how it ended."""

import math
import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from runlens.arrays import unique
from runlens.history import IntArray
from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.run import Event
from runlens.sources.console.bars import Bars
from runlens.sources.console.batch_mail import tells_the_end
from runlens.sources.console.closing import closing
from runlens.sources.console.events import (
    SAVED_OR_RESUMED,
    Failure,
    all_unranked,
    checkpoint,
    exit_code,
    failures,
    relaunched,
    resumed,
    unranked,
)
from runlens.sources.console.failed import first_own, kind_of, other_end, passed_over
from runlens.sources.console.messages import (
    MESSAGES,
    SHOWN,
    TRACEBACK,
    details,
    lines_with,
    of_broken_off,
    search,
)
from runlens.sources.console.records import Placed, Records
from runlens.sources.console.spans import shape
from runlens.sources.console.steps import closes
from runlens.sources.console.text import Text, stamp
from runlens.sources.console.unraised import (
    before_any_row,
    behind_the_rows,
    but_answered,
    but_served,
    of_tests,
)
from runlens.sources.console.wrapped import unwrapped
from runlens.sources.reading import SourceReading

AGREED = 0.1  # share of records whose step a bar must show to be the bar of the run
MOSTLY = 0.9  # share of the records that a bar has itself: evaluations have lines of their own
AFTERMATH = 300  # lines behind an exception that launchers, trackers and other ranks print
HANDLED = 5  # training records after an exception that show that it was handled
# the label of a bar that has the values itself and counts the steps of the run
_OF_STEPS = lazy_re(
    r"(?:(?:train(?:ing)?|total|global|optimi[sz](?:er|ation))[ _])?(?:steps?|iter(?:ation)?s?)"
    r"|training progress",
    re.IGNORECASE,
)
_NAMED_STEP = lazy_re(
    r"\b(?:nan|inf)\b.{0,20}\bat (?:step|iter(?:ation)?) (\d{1,15})\b", re.IGNORECASE
)
_FALLBACK = next(message for message in MESSAGES if message.row == TRACEBACK)
_Item = TypeVar("_Item")


class _Marks(NamedTuple):
    """Lines at which the step is known; arrays in the order of lines."""

    at: IntArray  # of training records, shape (n,)
    step: IntArray
    bars: Bars
    plain: IntArray  # lines that are neither rows nor of a traceback
    begun: int = -1  # the last line before the last launch, where no launch left a row

    def is_end(self, line: int) -> bool:
        """Whether the log ends at a line, but for what is printed on the way out.

        A row or two of the step that was reached were held back in the buffer of stdout.
        """
        after = len(self.plain) - int(np.searchsorted(self.plain, line, side="right"))
        return self.goes_no_further(line) and after <= AFTERMATH and line > self.begun

    def goes_no_further(self, line: int) -> bool:
        """Whether no row but one or two of a step that was reached stand behind a line."""
        later = self.step[len(self.at) - self.records_after(line) :]
        return len(later) < HANDLED and not bool((later > (self.step_at(line) or 0)).any())

    def step_at(self, line: int) -> int | None:
        """Return the last step that was known at a line."""
        record, state = (
            int(np.searchsorted(at, line, side="right")) for at in (self.at, self.bars.at)
        )
        if state and not (record and self.at[record - 1] > self.bars.at[state - 1]):
            return int(self.bars.done[state - 1])
        return int(self.step[record - 1]) if record else None

    def step_after(self, line: int) -> int | None:
        """Return the step of the first row behind a line that stands between rows."""
        record = int(np.searchsorted(self.at, line, side="right"))
        return int(self.step[record]) if 0 < record < len(self.step) else None

    def goes_on_at(self, line: int) -> bool:
        """Whether rows stand before and behind a line, and count on behind it."""
        before, after = self.step_at(line), self.step_after(line)
        return before is not None and after is not None and after > before

    @property
    def last_step(self) -> int:
        """The line at which the last step was reached: evaluations of it may follow."""
        return int(self.at[self.step == self.step[-1]][0]) if len(self.at) else 0

    def records_after(self, line: int) -> int:
        """Count the records that follow a line."""
        return len(self.at) - int(np.searchsorted(self.at, line, side="right"))


def tell(
    reading: SourceReading,
    text: Text,
    others: Sequence[tuple[int, str]],
    records: Records,
    placed: Placed,
    bars: Bars,
    summaries: Sequence[int],
) -> None:
    """Add the events and the hints on the end to `reading`."""
    marks = _Marks(records.at, placed.step, bars, np.zeros(0, dtype=np.int64))
    if len(bars) and not reading.hints.planned_steps:
        reading.hints.planned_steps = int(bars.total[-1])
    last = [*placed.step[-1:].tolist(), *bars.done[-1:].tolist()]
    reading.hints.ended_step = max(last, default=None)
    where = _Where(str(reading.path), text)
    reading.events += _launches(records, placed, where)
    reading.events += _saved(others, marks, where)
    a_record = np.zeros(len(text), dtype=np.bool_)
    a_record[records.at] = True
    strange = [item for item in others if not a_record[item[0]]]
    _errors(reading, strange, marks, where, summaries)
    course = not placed.inferred or bool((placed.step > 1).any())
    behind = marks.last_step if course else 0  # its own line may be the sentence; results follow it
    first = next((n for n, (at, _) in enumerate(others) if at >= behind), len(others))
    before = int(placed.launch[-1]) if len(records) else 0
    reading.hints.closing = closing([line for _, line in others], first, before)[:SHOWN]
    reading.events.sort(key=lambda event: event.data.get("at", 0))
    reading.events = [
        event._replace(data={key: item for key, item in event.data.items() if key != "at"})
        for event in reading.events
    ]


class _Where(NamedTuple):
    """Names places in the file."""

    path: str
    text: Text

    def __call__(self, line: int) -> str:
        number = self.text.number(line)
        return f"{self.path}:{number}" if number else self.path


def run_bars(bars: Bars, placed: Placed, records: Records) -> Bars:
    """Return the states of the bar that counts the steps of the run, if there is one."""
    if not len(records):
        of_epochs = bars.total[bars.an_epoch]  # one bar of Lightning is called both by turns
        whole = bars.taken(~bars.an_epoch & ~np.isin(bars.total, of_epochs))
        whole = whole.slow()
        return whole.taken(whole.total == whole.total.max(initial=0))
    totals = unique(bars.total).tolist()
    shown = {total: _agreement(bars, total, records, placed) for total in totals}
    best = max(totals, key=lambda total: shown[total], default=0)
    enough = shown.get(best, 0) > AGREED * len(records)
    if not enough and closes(bars, placed, records):
        return bars
    return bars.taken(bars.total == (best if enough else -1))


def _agreement(bars: Bars, total: int, records: Records, placed: Placed) -> int:
    """Count the records whose step the next state of this bar shows, or that which has them."""
    some = bars.taken(bars.total == total)
    own = bool(np.isin(records.at, some.at).mean() >= MOSTLY)
    if own and not _OF_STEPS.fullmatch(next((bar.label.strip() for bar in some), "")):
        return 0  # it may count the batches of one epoch of several
    next_bar = np.searchsorted(some.at, records.at, side="left" if own else "right")
    known = next_bar < len(some)
    shown, steps = some.done[next_bar[known]], placed.step[known]
    return int(((shown == steps) & (steps > 0)).sum())  # each bar, of an epoch too, begins at 0


def _launches(records: Records, placed: Placed, where: _Where) -> list[Event]:
    """Make an event of each launch but the first."""
    starts = np.flatnonzero(np.diff(placed.launch) > 0) + 1
    lines = zip(placed.step[starts].tolist(), records.at[starts].tolist(), strict=True)
    text = "a new launch in the same log"
    return [
        Event("launch", step, text=text, where=where(at), data={"at": at}) for step, at in lines
    ]


# what loops print when a patience has run out; a counter that still runs says none of it
_PATIENCE = lazy_re(
    r"^\W*early[- _]?stop(?:ping|ped)?\W*$|\[early[- _]?stop(?:ping|ped)?\]"
    r"|early[- _]?stop(?:ping|ped)?\s*"
    r"(?:!|(?:is |was )?trigger(?:ed)?\b|(?:at|after):? (?:\d{1,9}\b|epoch|step|iter))"
    r"|after not improving|stopp(?:ed|ing)[ _]early|\bran out of patience\b"
    r"|\bepoch \d+: early stopping|early stopping, best (?:iteration|epoch) is"
    r"|stopped by overfitting detector"
    r"|^\W*stopp(?:ing|ed)(?: training)?\b\W{1,4}"
    r"best (?:val|eval|dev|score|loss|acc|epoch|iter|step)"
    r"|^.{0,120}\bstopp(?:ing|ed) (?:the )?training(?: loop)?\b\W{1,4}no improvement\b"
    r"|(?:did|has|have) not improved? .{1,80}\bstopping\.?$|^stopping since .{1,80} not improved"
    r"|^l-bfgs terminated with the stopping criteria",
    re.IGNORECASE,
)


def _saved(others: Sequence[tuple[int, str]], marks: _Marks, where: _Where) -> list[Event]:
    events = []
    seen: set[str] = set()
    begun: set[int | None] = set()  # steps of the first rows behind a resume
    again_at: list[int] = []
    for place in lines_with((*SAVED_OR_RESUMED, "stop", "patience"), [line for _, line in others]):
        at, line = others[place]
        if len(line) > 2 * SHOWN:
            continue
        if (saved := checkpoint(line)) and saved[1] not in seen:
            step = saved[0] if saved[0] is not None else marks.step_at(at)
            if saved[0] is not None:
                seen.add(saved[1])
            data = {"path": saved[1], "at": at}
            events.append(_event("checkpoint", step, line, where(at), data))
        elif again := resumed(line):
            done = again[0] in {None, marks.step_at(at)}  # that step was logged before the line
            step = marks.step_after(at) if done else again[0]
            events.append(_event("resume", step, line, where(at), {"at": at}))
            begun.add(marks.step_after(at))
        elif relaunched(line) and marks.goes_on_at(at):
            again_at.append(place)
        elif _PATIENCE.search(line) and (at >= marks.last_step or marks.goes_no_further(at)):
            events.append(_event("early_stop", marks.step_at(at), line, where(at), {"at": at}))
    for at, line in (others[place] for place in again_at):
        if (step := marks.step_after(at)) not in begun:
            events.append(_event("resume", step, line, where(at), {"at": at}))
            begun.add(step)
    return sorted(events, key=lambda event: event.data["at"])


def _event(kind: Any, step: int | None, line: str, where: str, data: dict[str, Any]) -> Event:  # noqa: ANN401 - one of EventKind
    moment = stamp(line)
    time = None if math.isnan(moment) else moment
    return Event(kind, step, time, line.strip()[:SHOWN], where, data)


def _errors(
    reading: SourceReading,
    others: Sequence[tuple[int, str]],
    marks: _Marks,
    where: _Where,
    summaries: Sequence[int],
) -> None:
    lines = unwrapped([line for _, line in others])
    index = [at for at, _ in others]
    if not (len(marks.at) or len(marks.bars)) and of_tests(lines):
        return
    found, quoted = failures(lines, index)
    found = but_answered(found)
    caught: set[tuple[str, str]] = set()
    hits = [hit for hit in search(all_unranked(lines)) if hit.line not in quoted]
    if not (len(marks.at) or len(marks.bars)):
        found = but_served(before_any_row(found, lines, index, hits), lines, index)
        marks = marks._replace(begun=other_end(found))
        caught = passed_over(found, lines, index)
    elif not found:
        last = max(int(at[-1]) for at in (marks.at, marks.bars.at) if len(at))
        unfinished = reading.hints.falls_short(marks.step_at(last) or 0)
        goes_on = reading.hints.followed
        hits = of_broken_off(hits) if unfinished and not goes_on else hits
        found = behind_the_rows(lines, index, hits, last, unfinished=unfinished, goes_on=goes_on)
    told = [(np.array(index) >= item.at) & (np.array(index) <= item.end) for item in found]
    plain = np.array(index, dtype=np.int64)
    marks = marks._replace(plain=plain[~np.any(told, axis=0)] if told else plain)
    kinds = [((hit.message.row, hit.kind), hit) for hit in hits if hit.message is not _FALLBACK]
    for hit, count in _ends(kinds):
        line, at = lines[hit.line], index[hit.line]
        data = details(hit, line) | {
            "last": marks.is_end(at) or tells_the_end(lines, hit.line),
            "count": count,
            "at": at,
        }
        reading.events.append(_event("message", _said_step(line, marks, at), line, where(at), data))
    restarts = _restarts(others, found)
    handled = {kind_of(item) for item in found if _handled(item, marks, restarts, summaries)}
    handled |= caught
    for item, count in _ends([(kind_of(item), item) for item in found]):
        event = _failure(item, marks, where, handled=kind_of(item) in handled)
        reading.events.append(event._replace(data={**event.data, "count": count}))
    _end(reading, [item for item in found if kind_of(item) not in handled], others, marks)


def _said_step(line: str, marks: "_Marks", at: int) -> int | None:
    """Return the step of a message: the one that it names, else that of the rows before it."""
    named = _NAMED_STEP.search(line)
    return int(named[1]) if named else marks.step_at(at)


def _ends(items: Sequence[tuple[object, _Item]]) -> list[tuple[_Item, int]]:
    """Keep the first and the last item of each kind, with the number of that kind."""
    kinds: dict[object, list[_Item]] = {}
    for kind, item in items:
        kinds.setdefault(kind, []).append(item)
    return [
        (item, len(some))
        for some in kinds.values()
        for item in (some[:1] if len(some) == 1 else [some[0], some[-1]])
    ]


def _restarts(others: Sequence[tuple[int, str]], found: Sequence[Failure]) -> list[int]:
    """Return the lines at which, right behind an exception, the log begins as it did at first.

    There the program was started again: what follows is of another launch.
    """
    if not found:
        return []
    lines = [at for at, _ in others]
    behind = (_next_said(others, bisect_right(lines, item.end)) for item in found)
    begins = _next_said(others, 0)
    return [said[0] for said in behind if said and begins and said[1] == begins[1]]


def _next_said(others: Sequence[tuple[int, str]], place: int) -> tuple[int, str] | None:
    """Return the first line from a place on that says something, and its shape."""
    lines = (others[at] for at in range(place, len(others)))
    return next(((at, said) for at, line in lines if (said := shape(line))), None)


def _handled(
    item: Failure, marks: _Marks, restarts: Sequence[int], summaries: Sequence[int]
) -> bool:
    """Whether the training went on after an exception; then so it will when it comes again."""
    begun = next((at for at in restarts if at > item.end), None)
    later = marks.records_after(item.end) - (marks.records_after(begun) if begun else 0)
    return later >= HANDLED or item.ignored or any(at > item.end for at in summaries)


def _failure(item: Failure, marks: _Marks, where: _Where, *, handled: bool) -> Event:
    data = {
        "row": TRACEBACK,
        "class": _FALLBACK.kind,
        "cause": _FALLBACK.cause,
        "fix": _FALLBACK.fix,
        "exception": item.exception,
        "frame": item.frame,
        "stage": item.stage,
        "raised": item.raised,
        "words": item.words,
        "cause_kind": _FALLBACK.cause_kind,
        "handled": handled,
        "last": not handled and marks.is_end(item.end),
        "at": item.at,
    }
    place = where(item.at if item.words else item.end)
    return _event("message", marks.step_at(item.end), item.exception, place, data)


def _end(
    reading: SourceReading,
    found: Sequence[Failure],
    others: Sequence[tuple[int, str]],
    marks: _Marks,
) -> None:
    """Set the hints on the end: the exception that ended the run, and its exit code."""
    last = [item for item in found if marks.is_end(item.end)]
    if last:
        first = first_own(last)
        reading.hints.traceback = first.exception
        if not (len(marks.at) or len(marks.bars)):
            reading.hints.last_words = first.words
    goes_on = int(marks.at[-1]) if len(marks.at) else -1  # up to here, nothing has ended
    for at, line in others:
        if at < goes_on or len(line) > SHOWN:
            continue
        code = exit_code(unranked(line))
        if code is not None and not reading.hints.exit_code:
            reading.hints.exit_code = code
