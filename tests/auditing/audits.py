"""What workers hand to a store, drawn by hand."""

from typing import NamedTuple

from runlens.auditing.plan import Unit
from runlens.nights import FoundRow, RunRow, Unread

SOURCE = "runs"
NAN = FoundRow("nan-loss", "critical", "NaN from step 50.", "train_loss", 50.0, 1.7e9, leads=True)


class Judged(NamedTuple):
    """What came of a unit."""

    unit: Unit
    rows: tuple[RunRow, ...] = ()
    unread: Unread | None = None


def unit(name: str, stamp: str = "1", source: str = SOURCE) -> Unit:
    """Return a unit of a source."""
    return Unit(source, f"runs/{name}", stamp)


def row(name: str, *found: FoundRow) -> RunRow:
    """Return the row of a run."""
    return RunRow(f"runs/{name}", f"runs/{name}", name, SOURCE, findings=found)


def good(name: str, *found: FoundRow, stamp: str = "1", source: str = SOURCE) -> Judged:
    """Return a unit of one run that was read."""
    return Judged(unit(name, stamp, source), (row(name, *found),))


def bad(name: str, stamp: str = "1") -> Judged:
    """Return a unit that could not be read."""
    return Judged(unit(name, stamp), unread=Unread(f"runs/{name}", "is damaged", "write it again"))
