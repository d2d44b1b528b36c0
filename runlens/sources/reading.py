"""What a reader of one format is, and what it hands over."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import inf, isfinite
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

import numpy as np

from runlens.history import NOT_KNOWN, FloatArray, IntArray
from runlens.metrics import Better
from runlens.records import NamedTuple
from runlens.run import Event, Problem, Setting, Sure

Environment = Mapping[str, tuple[str, ...]]  # of where it ran: see `sources.environment`
Precision = Literal["float64", "float32", "rounded"]
PRECISIONS: tuple[Precision, ...] = ("float64", "float32", "rounded")  # best first

MOST_NAMES = 30_000  # metrics of one source: to tell what a name means takes some 0.2 ms
CUT_OFF = "ends in the middle of a row: it was cut off or is still being written"
MAX_STEP = 1e15  # no step is that large
STOPPED = 0.95  # below this share of its plan a run ended before it


class Series(NamedTuple):
    """One metric of one source in the order of logging; arrays of shape (n,), n at least 1."""

    step: IntArray
    value: FloatArray
    epoch: FloatArray  # NaN where unknown
    time: FloatArray  # seconds since 1970, NaN where unknown
    launch: IntArray  # 0 for the first launch inside this source


@dataclass
class Hints:
    """What a source tells about how the run ended. A reader sets what it knows; None: no word."""

    planned_steps: int | None = None
    planned_epochs: float | None = None
    done_steps: int | None = None
    done_epochs: float | None = None
    summary: bool = False  # the closing row of the Trainer (train_runtime): it came to its end
    closing: str = ""  # the line with which a loop says that it came to its end
    snapshot: bool = False  # a checkpoint's state: says nothing about the end
    exit_code: int | None = None
    tracker_state: str = ""  # "finished", "crashed", "running"... as the tracker has it
    no_exit_record: bool = False  # a tracker file that a clean end would have closed
    nothing_written: bool = False  # such a file was opened, but no record of the run reached it
    traceback: str = ""  # last line of an exception after which no training record follows
    # how sure `traceback` is where it is but the error with which a log without a row ends
    last_words: Sure | Literal[""] = ""
    early_stopping: str = ""  # the evidence, where early stopping ended the run
    ended_step: int | None = None  # step shown by the last progress bar or record
    excerpt: bool = False  # lines cut out of a log: their end is not that of the run
    from_start: bool = False  # of an excerpt: a file that begins with the first step
    followed: bool = False  # the same log goes on with another training: this one is over

    def falls_short(self, steps: int) -> bool:
        """Whether so many steps, or the epochs done, are well below a plan that is known."""
        done, planned = self.done_epochs, self.planned_epochs
        if self.planned_steps:
            done, planned = steps, self.planned_steps
        return planned is not None and done is not None and done < STOPPED * planned


@dataclass
class SourceReading:
    """What one source said, under the names that it used. A reader fills it as far as it gets."""

    path: Path
    kind: str  # the reader's name: "trainer_state", "tensorboard", "wandb", "console", ...
    framework: str = ""  # empty: not known
    precision: Precision = "float64"
    steps_inferred: bool = False  # the source names no step: it was concluded
    series: dict[str, Series] = field(default_factory=dict)  # by the name as logged
    # which direction is better, where the tracker was told: by name or glob, as logged
    directions: dict[str, Better] = field(default_factory=dict)
    config: dict[str, Setting] = field(default_factory=dict)  # flat, keys as found
    # key of `config` -> path in the file, where it is another; "" where it was worked out
    paths: dict[str, str] = field(default_factory=dict)
    environment: Environment = field(default_factory=dict)
    hints: Hints = field(default_factory=Hints)
    events: list[Event] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    columns: tuple[str, ...] = ()  # of a table, as the file calls them
    of_agent: bool = False  # what counts its rows are episodes, or steps of an environment
    log_tail: tuple[str, ...] = ()
    run_id: str = ""  # of a tracker
    run_name: str = ""
    started: float | None = None  # seconds since 1970
    in_store: bool = False  # one run of a file that holds several: `path` does not tell them apart
    parts: list["SourceReading"] = field(default_factory=list)  # trainings side by side in a table

    @property
    def empty(self) -> bool:
        """Whether nothing at all came of it but problems."""
        said = self.series or self.config or self.events or self.log_tail
        return not (said or self.hints.summary)


def bound(reading: SourceReading) -> None:
    """Leave out what has the longest names, where they are more than is looked at."""
    names = len(reading.series)
    if names > MOST_NAMES:
        kept = set(sorted(reading.series, key=len)[:MOST_NAMES])
        reading.series = {name: some for name, some in reading.series.items() if name in kept}
        text = f"has {names:,} metrics; the {MOST_NAMES:,} of the shortest names were taken"
        reading.problems.append(Problem(str(reading.path), text, f"{names - MOST_NAMES:,} metrics"))


class Described(Protocol):
    """A module that says what it reads and who writes that."""

    LOOKS_FOR: str
    FRAMEWORK: str


class Reader(Protocol):
    """A module that reads one format. It knows no rules and never writes."""

    LOOKS_FOR: str  # shown to users: "trainer_state.json"
    FRAMEWORK: str  # who writes it, for users: "Hugging Face Trainer"

    def find(self, place: Path, names: Mapping[Path, list[str]]) -> list[Path]:
        """List the sources of this format below `place`; cheap.

        `names` maps each folder that was walked to the names of the files in it, so that no
        reader walks again. A `place` that is a file is alone in it.
        """

    def read(self, path: Path) -> SourceReading:
        """Read what can be read. What is lost is a problem of the reading, not an exception."""


@runtime_checkable
class StoreReader(Protocol):
    """A module like `Reader` for a format that keeps several runs in one file."""

    LOOKS_FOR: str
    FRAMEWORK: str

    def find(self, place: Path, names: Mapping[Path, list[str]]) -> list[Path]:
        """List the files of this format below `place`, as `Reader.find` does."""

    def read_all(self, path: Path) -> list[SourceReading]:
        """Read each run of a file into a reading of its own, with `run_id` and `in_store` set.

        What is wrong with the file as a whole is told in one more reading that holds only problems.
        """


class SeriesBuilder:
    """Collects rows of named numbers and turns them into series, one a name."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._rows: dict[str, tuple[list[float], ...]] = {}

    def add(
        self,
        name: str,
        step: int,
        value: float,
        epoch: float = NOT_KNOWN,
        time: float = NOT_KNOWN,
        launch: int = 0,
    ) -> None:
        """Add one number."""
        rows = self._rows.get(name)
        if rows is None:
            rows = self._rows[name] = ([], [], [], [], [])
        for column, item in zip(rows, (step, value, epoch, time, launch), strict=True):
            column.append(item)

    def series(self) -> dict[str, Series]:
        """Return all that was added, by name."""
        return {name: series(*rows) for name, rows in self._rows.items()}


def series(
    step: object,
    value: object,
    epoch: object | None = None,
    time: object | None = None,
    launch: object | None = None,
) -> Series:
    """Make a `Series` of sequences of equal length; what is not given is unknown."""
    steps = np.asarray(step, dtype=np.int64)
    blank = np.broadcast_to(np.float64(NOT_KNOWN), steps.shape)  # takes no memory; read-only
    return Series(
        steps,
        np.asarray(value, dtype=np.float64),
        blank if epoch is None else np.asarray(epoch, dtype=np.float64),
        blank if time is None else np.asarray(time, dtype=np.float64),
        np.broadcast_to(np.int64(0), steps.shape)
        if launch is None
        else np.asarray(launch, dtype=np.int64),
    )


def written_number(text: str) -> float | int | None:
    """Return what a setting kept as text says as a number, a whole one exactly; else None."""
    number = as_number(text)
    exact = number is not None and isfinite(number) and text.lstrip("-").isdecimal()
    return int(text) if exact else number


def as_number(value: object) -> float | None:
    """Return a logged value as a number: numbers, ``"0.5"``, ``"nan"``, ``"Infinity"``; else None.

    Booleans are no numbers. Integers beyond the range of float64 become infinity.
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, str) and "_" in value:  # Python reads "1_1.8" as 11.8
        return None
    if isinstance(value, int | float | str):
        try:
            return float(value)
        except ValueError:
            return None
        except OverflowError:  # no text has that
            return -inf if not isinstance(value, str) and value < 0 else inf
    return None


def instant(stamp: object) -> float:
    """Return an ISO time in seconds since 1970, NaN where it is none. Without a zone it is UTC."""
    try:
        found = datetime.fromisoformat(str(stamp))
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return NOT_KNOWN
