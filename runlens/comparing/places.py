"""Where the runs of a comparison lie: one run a place, named with ``#`` among several."""

from collections.abc import Sequence
from glob import glob
from pathlib import Path

from runlens.errors import NoSuchRun, NothingReadable, SeveralRuns
from runlens.run import Run
from runlens.settings import Settings
from runlens.sources import read, read_all


def chosen(place: str, settings: Settings) -> Run:
    """Read the run at a place; ``runs/sweep#run-3`` is the run of that name among several.

    Raises:
        RunLensError: nothing readable, several runs and none named, or no run of that name.

    """
    folder, _, name = place.rpartition("#")
    if not folder or Path(place).exists():
        try:
            return read(place, columns=settings.columns)
        except SeveralRuns as error:
            named = tuple(f"{place}#{known}" for known in error.names)
            raise SeveralRuns(place, named) from None
    runs = {run.name: run for run in read_all(folder, columns=settings.columns)}
    if name not in runs:
        raise NoSuchRun(name, list(runs))
    return runs[name]


def repeats(patterns: Sequence[str], settings: Settings) -> list[Run]:
    """Read the runs at places or glob patterns: repeats of one run with other seeds.

    Raises:
        NothingReadable: where a pattern meets nothing, or nothing readable.

    """
    runs: list[Run] = []
    for pattern in patterns:
        met = sorted(glob(pattern)) or [pattern]  # noqa: PTH207 - the user's own pattern
        for place in met:
            runs += read_all(place, columns=settings.columns)
    if patterns and not runs:
        raise NothingReadable(patterns[0], "no repeats there; give the folders of other seeds")
    return runs
