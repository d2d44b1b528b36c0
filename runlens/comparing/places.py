"""Where the runs of a comparison lie: one run a place, named with ``#`` among several."""

from collections.abc import Sequence
from glob import glob
from pathlib import Path

from runlens.errors import BadSettings, NoSuchRun, NothingReadable, SeveralRuns
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


def sides(places: Sequence[str], between: str, settings: Settings) -> list[Run | list[Run]]:
    """Read what is compared: single runs, or groups of repeats with `between` among the places.

    Raises:
        RunLensError: nothing readable, a group without a run, less than two sides.

    """
    if between not in places:
        return [chosen(place, settings) for place in places]
    groups: list[list[str]] = [[]]
    for place in places:
        if place == between:
            groups.append([])
        else:
            groups[-1].append(place)
    if len(groups) < 2 or not all(groups):  # noqa: PLR2004 - one against another
        raise BadSettings("give runs on both sides of --: runlens compare 'a/s*' -- 'b/s*'")
    return [repeats(group, settings) for group in groups]


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
