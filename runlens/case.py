"""A case: a run as its numbers alone, in a file that may be shown to others.

The form that `runlens.report.case` writes and `runlens.sources.case` reads. Its JSON Schema is
`report/case.schema.json`.
"""

from typing import Annotated, Literal

import msgspec

from runlens.run import EventKind, Setting, StateKind, Sure, Task

SCHEMA: Literal["runlens.case/1"] = "runlens.case/1"
MOST_STEPS = 10**15  # no step is that large
Number = float | Literal["NaN", "Infinity", "-Infinity"]  # JSON has no such numbers
Step = Annotated[int, msgspec.Meta(ge=-MOST_STEPS, le=MOST_STEPS)]
Segment = Annotated[int, msgspec.Meta(ge=0, le=2**15 - 1)]
Index = Annotated[int, msgspec.Meta(ge=0)]


class Axis(msgspec.Struct, omit_defaults=True):
    """Where and when some metrics were logged: lists of one length, or empty where not known."""

    step: list[Step]
    epoch: list[Number] = []
    time: list[Number] = []  # seconds since the first time of the run
    segment: list[Segment] = []  # empty: one launch


class Values(msgspec.Struct):
    """One metric: its values, and the number of its axis in the list of axes."""

    axis: Index
    value: list[Number]


class Launch(msgspec.Struct):
    """One launch: its number, its first and last step, when it began."""

    number: Segment
    first_step: Step
    last_step: Step
    started: float | None = None  # seconds since the first time of the run


class Ending(msgspec.Struct, omit_defaults=True):
    """How the run ended: `runlens.run.State` without its reason in words."""

    kind: StateKind
    sure: Sure
    exit_code: int | None = None
    done_steps: int = 0
    planned_steps: int | None = None
    done_epochs: float | None = None
    planned_epochs: float | None = None
    last_time: float | None = None  # seconds since the first time of the run
    by_hand: bool = False
    excerpt: bool = False


class Happening(msgspec.Struct, omit_defaults=True):
    """An event without its text. `numbers`: of its data, some that are numbers or flags."""

    kind: EventKind
    step: Step | None = None
    time: float | None = None  # seconds since the first time of the run
    message: str = ""  # its class in the table of messages
    numbers: dict[str, float | bool] = {}


class Fired(msgspec.Struct):
    """A rule that fired in the run itself, where all of it was known."""

    rule: str
    severity: Literal["critical", "warning", "info"]
    metric: str
    onset: float | None
    end: float | None


class Case(msgspec.Struct):
    """A whole case."""

    schema: Literal["runlens.case/1"]
    runlens_version: str
    framework: str
    task: Task
    state: Ending
    beginning_lost: bool
    findings: list[Fired]
    left_out: list[str]  # what kinds of things, in words
    events: list[Happening]
    launches: list[Launch]
    axes: list[Axis]
    metrics: dict[str, Values]
    settings: dict[str, Setting] = {}  # of the training, by their names here; see report/case.py
