"""A folder of one file: that file is what a user means who points at the folder.

Among others a table or a JSON file without steps may be data, and is left alone. Here it is read as
if a user had pointed at it, where it names what trainings are judged by.
"""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from runlens.naming.agents import tells_of_agent, unsaid, won
from runlens.sources.console.telling import tells
from runlens.sources.reading import SourceReading
from runlens.sources.tables.names import measures_training

ENDING = ".json"
TEXT = ".md"  # which shows a few rows as an example


def lone(
    place: Path, names: Mapping[Path, Sequence[str]], settings: Collection[Path] = ()
) -> Path | None:
    """Return the only file of a folder and of those below it; None where there are several.

    But for the `settings`, which a training writes beside what it logs.
    """
    files = [folder / name for folder, some in names.items() for name in some]
    files = [file for file in files if file not in settings]
    alone = place.is_dir() and len(files) == 1
    return files[0] if alone and files[0].suffix.lower() != TEXT else None


def of_training(readings: Sequence[SourceReading], *, set_up: bool = False) -> bool:
    """Whether what was read of it has a number by which trainings are judged.

    Beside settings, which a program of any kind has (`set_up`), one that only trainings measure:
    no return of a share.
    """
    if set_up:
        return any(measures_training([*one.series]) for one in readings)
    return any(
        any(map(tells, one.series)) or _of_agent(one) or _of_results(one) for one in readings
    )


def _of_results(reading: SourceReading) -> bool:
    """Whether a JSON file gave single points: scores that it calls so, whatever their names are."""
    points = [len(some.step) for some in reading.series.values()]
    return reading.path.suffix.lower() == ENDING and {*points} == {1}


def _of_agent(reading: SourceReading) -> bool:
    """Whether episodes are counted beside what was won, or a mean that says no more than that."""
    measured = any(map(won, reading.series)) or unsaid(reading.series) != ""
    return measured and tells_of_agent(reading.columns)
