"""A case that `runlens diagnose --share` wrote: a run as its numbers alone, merged already.

It is read where it is named itself; in a directory it is no source beside others.
"""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from runlens.case import SCHEMA, Case, Happening, Values
from runlens.errors import NothingReadable
from runlens.history import Columns, History, columns
from runlens.redaction import purged, redacted
from runlens.run import Configured, Event, Problem, Run, Segment, State
from runlens.sources.files import Unreadable, read_bytes

if TYPE_CHECKING:
    from runlens.sources.console.messages import Message

LOOKS_FOR = "a file that runlens diagnose --share wrote"
FRAMEWORK = "RunLens"
SNIFFED = 200  # bytes
_ANY_VERSION = b'"runlens.case/'
LOST = "what came earlier"
LINE = "(the line stayed with the run)"
WHY = "the case says so; its reason stayed with the run"


def is_case(place: str | Path) -> bool:
    """Whether a place is a file that begins as a case does, of whatever version."""
    try:
        if not Path(place).is_file():
            return False
        head = read_bytes(Path(place), SNIFFED)
    except (Unreadable, OSError, ValueError):
        return False
    return head.lstrip().startswith(b"{") and _ANY_VERSION in head


def read(place: str | Path) -> Run:
    """Return the run of a case; raise NothingReadable where it is damaged or of a later version."""
    path = Path(place)
    try:
        return _run(path, str(place), _case(read_bytes(path)))
    except Unreadable as error:
        raise NothingReadable(str(place), str(error)) from None
    except (msgspec.MsgspecError, ValueError) as error:
        why = f"is a damaged case ({error}); share it again"
        raise NothingReadable(str(place), why) from None


def _case(data: bytes) -> Case:
    if f'"{SCHEMA}"'.encode() not in data[:SNIFFED]:
        raise Unreadable(f"is no {SCHEMA}; the RunLens that wrote it reads it")
    return msgspec.json.decode(data, type=Case)


def _run(path: Path, given: str, case: Case) -> Run:
    source, metrics = redacted(path.name), case.metrics.items()
    problem = Problem(source, "the beginning of the run is not in the case", LOST)
    return Run(
        id=redacted(given),
        name=redacted(path.name.removesuffix(".json").removesuffix(".case")),
        history=History(purged({name: _rows(case, of) for name, of in metrics}), [source]),
        state=State(why=WHY, **msgspec.structs.asdict(case.state)),
        events=tuple(_event(one) for one in case.events),
        problems=(problem,) if case.beginning_lost else (),
        sources=(source,),
        framework=redacted(case.framework),
        task=case.task,
        task_why=WHY,
        config={key: Configured(value, source) for key, value in purged(case.settings).items()},
        segments=tuple(Segment(**msgspec.structs.asdict(one)) for one in case.launches),
    )


def _rows(case: Case, of: Values) -> Columns:
    """Return the rows of a metric; raise ValueError where its lists are not of one length."""
    if of.axis >= len(case.axes):
        raise ValueError(f"there is no axis {of.axis}")
    axis = case.axes[of.axis]
    lengths = {len(part) for part in (axis.epoch, axis.time, axis.segment) if part}
    if lengths | {len(of.value)} != {len(axis.step)}:
        raise ValueError(f"lists of axis {of.axis} differ in length")
    return columns(axis.step, of.value, axis.epoch or None, axis.time or None, axis.segment or 0)


def _event(one: Happening) -> Event:
    if one.kind == "checkpoint":
        return Event(one.kind, one.step, one.time, data={"path": f"checkpoint-{one.step}"})
    if one.kind != "message":
        return Event(one.kind, one.step, one.time, data=one.numbers)
    known = _messages().get(one.numbers.get("row", -1))
    told = {"cause": known.cause, "cause_kind": known.cause_kind, "fix": known.fix} if known else {}
    data = {"class": one.message, **told, **one.numbers}
    return Event(one.kind, one.step, one.time, LINE, data=data)


@cache
def _messages() -> "dict[float, Message]":
    from runlens.sources.console.messages import MESSAGES

    return {message.row: message for message in MESSAGES}
