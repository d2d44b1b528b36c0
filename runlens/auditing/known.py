"""What the store remembers of a unit, and what it takes of a judged one: plain data."""

from collections.abc import Sequence
from typing import Protocol

from runlens.diagnosis import Severity
from runlens.nights import IssueState, RunRow, Unread
from runlens.records import NamedTuple


class Known(NamedTuple):
    """What the store remembers of one unit, a place that was read on its own."""

    stamp: str  # of the content when it was last tried
    judged_with: str = ""  # version of rules and limits; empty where nothing was judged
    tries: int = 0  # nights on end on which nothing could be read; 0: it was read
    set_aside: bool = False  # not tried before its stamp changes: it killed its workers, ...
    missed: int = 0  # nights on which it was looked for by itself, and was not there
    gone: bool = False  # that was so on two nights; it may come back
    night: int = 0  # on which it was last tried


class IssueNight(NamedTuple):
    """An issue as one night saw it."""

    night: int
    fingerprint: str
    state: IssueState
    severity: Severity
    runs: int
    gpu_hours: float
    detail: str = ""


class Listing(NamedTuple):
    """How well a source was listed on a night."""

    source: str
    full: bool  # all that it holds was asked for
    runs: int = 0  # places
    missing: int = 0  # known places that it did not hold
    unread: Unread | None = None  # why it could not be listed


class Outgoing(NamedTuple):
    """A message to one address, as it waits for its delivery."""

    address: str  # digest of it
    title: str
    body: str
    document: str = "{}"  # JSON: fingerprints and run keys that it tells of
    night: int = 0
    made: str = ""  # ISO, UTC
    tries: int = 0  # so far


class Stamped(Protocol):
    """A unit of an audit: a place of a source, with the stamp of its content."""

    @property
    def source(self) -> str: ...  # noqa: D102
    @property
    def place(self) -> str: ...  # noqa: D102
    @property
    def stamp(self) -> str: ...  # noqa: D102
    @property
    def fresh(self) -> bool: ...  # noqa: D102 - new or changed; else only judged anew
    @property
    def part(self) -> bool: ...  # noqa: D102 - not all of it came


class Judgement(Protocol):
    """What came of one unit: the rows of its runs, or why nothing could be read."""

    @property
    def unit(self) -> Stamped: ...  # noqa: D102
    @property
    def rows(self) -> Sequence[RunRow]: ...  # noqa: D102
    @property
    def unread(self) -> Unread | None: ...  # noqa: D102
