"""A folder in which a run trains, judged again whenever it has grown.

At rest the folder is listed and nothing is read. All of it together takes a hundredth of a core:
the pause after a look is as long as that asks for, so a large run is looked at less often.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time, sleep

from runlens.diagnosis import Diagnosis
from runlens.errors import NothingReadable
from runlens.live import judged
from runlens.records import NamedTuple
from runlens.run import Run
from runlens.settings import Settings
from runlens.sources import read_all

SHARE = 0.01  # of a core, at most
Mark = tuple[str, int, int]  # path, size in bytes, time of the last change in ns


class Look(NamedTuple):
    """A run as it stood, and what was found."""

    run: Run
    diagnosis: Diagnosis

    @property
    def over(self) -> bool:
        """Whether the files say that it ended."""
        return self.run.state.settled not in {"running", "unknown"}


def looks(
    place: str | Path,
    settings: Settings,
    every: float,
    pause: Callable[[float], object] = sleep,
) -> Iterator[list[Look]]:
    """Yield all runs at a place now, and again each time that a file there has changed.

    The list is empty as long as nothing can be read. It goes on until the caller stops.

    Args:
        place: a folder or a file; it need not be there yet.
        settings: as for `runlens.diagnose`.
        every: seconds between two looks, at least.
        pause: waits for a number of seconds.

    """
    before: frozenset[Mark] | None = None
    while True:
        began = process_time()
        now = marks(Path(place))
        if now != before:
            before = now
            yield _judged(place, settings)
        pause(max(every, (process_time() - began) / SHARE))


def marks(place: Path) -> frozenset[Mark]:
    """Return what tells whether a file below a place has changed; files that go meanwhile count."""
    if place.is_file():
        return frozenset(_mark(place.parent / place.name))
    files = (
        os.path.join(folder, name)  # noqa: PTH118 - a folder may hold thousands
        for folder, _, names in os.walk(place)
        for name in names
    )
    return frozenset(mark for file in files for mark in _mark(file))


def _mark(file: str | Path) -> Iterator[Mark]:
    try:
        about = os.stat(file)  # noqa: PTH116 - see above
    except OSError:
        return
    yield str(file), about.st_size, about.st_mtime_ns


def _judged(place: str | Path, settings: Settings) -> list[Look]:
    try:
        runs = read_all(place, columns=settings.columns)
    except NothingReadable:
        return []
    return [Look(run, judged(run, settings)) for run in runs]
