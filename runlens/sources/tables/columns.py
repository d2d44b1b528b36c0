"""What a user says that the columns of a table mean: ``[columns]`` of `runlens.toml`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from runlens.errors import nearest
from runlens.metrics import naming, plain
from runlens.naming.agents import counts_generations
from runlens.naming.languages import counter_in_english
from runlens.run import Problem
from runlens.sources.reading import SourceReading
from runlens.sources.tables.names import EPOCHS, STEPS, TIMES, is_step, letters_that_count

Columns = Mapping[str, str]  # our name -> the file's


class TableReader(Protocol):
    """A reader of tables whose columns the user may name."""

    def find(
        self, place: Path, names: Mapping[Path, list[str]], columns: Columns = ...
    ) -> list[Path]:
        """List the sources of this format below `place`, as of any reader."""

    def read(self, path: Path, columns: Columns = ...) -> SourceReading:
        """Read what can be read, under the names that the user gave."""


AS_FOUND: Columns = MappingProxyType({})
STEP, EPOCH, TIME = "step", "epoch", "time"


def meanings(names: Iterable[str], columns: Columns) -> dict[str, str]:
    """Map the names in a file to what they mean.

    A name that would mean the same as one that the user chose is left out: the choice counts.
    """
    found = list(names)
    counted = letters_that_count(found) | counts_generations(found)
    meant = [counted.get(name) or counter_in_english(name) for name in found]
    chosen = _chosen(found, columns)
    taken = {naming(ours).metric for ours in chosen.values()}
    steps = set(STEPS) - set(EPOCHS) if STEP in chosen.values() else set()
    epochs = set(EPOCHS) if EPOCH in chosen.values() else set()
    times = TIMES if TIME in chosen.values() else set()
    gives_way = steps | epochs | times
    return {
        name: chosen.get(name, said)
        for name, said in zip(found, meant, strict=True)
        if name in chosen or not (plain(said) in gives_way or naming(name).metric in taken)
    }


def _chosen(names: Iterable[str], columns: Columns) -> dict[str, str]:
    """Return what the user said of the names that are in a file."""
    present = set(names)
    return {theirs: role(ours) for ours, theirs in columns.items() if theirs in present}


def role(name: str) -> str:
    """Return "step", "epoch" or "time" for one of their usual names; others as they are."""
    word = plain(name)
    if word in EPOCHS:
        return EPOCH
    if word in STEPS:
        return STEP
    return TIME if word in TIMES else name


def chosen_metrics(names: Iterable[str], columns: Columns) -> set[str]:
    """Return the metrics that the user named and that are in a file, by the user's names."""
    return set(_chosen(names, columns).values()) - {STEP, EPOCH, TIME}


def says_log(names: Sequence[str], columns: Columns) -> bool:
    """Whether a table is a log because the user said so: it has such a metric, and a step."""
    return bool(chosen_metrics(names, columns)) and any(
        is_step(name) for name in meanings(names, columns).values()
    )


def renamed(reading: SourceReading, columns: Columns) -> SourceReading:
    """Return a reading that is no table with its metrics under the names that the user gave.

    A metric may be told by its name in the file or by the one that RunLens shows.
    """
    if reading.columns or not columns:
        return reading
    shown = {naming(name, reading.framework).metric: name for name in reading.series}
    given = {
        theirs if theirs in reading.series else shown[theirs]: ours
        for ours, theirs in columns.items()
        if (theirs in reading.series or theirs in shown) and role(ours) not in {STEP, EPOCH, TIME}
    }
    taken = {naming(ours).metric for ours in given.values()}
    series = {
        given.get(name, name): points
        for name, points in reading.series.items()
        if name in given or naming(name, reading.framework).metric not in taken
    }
    return replace(reading, series=series)


def unused(columns: Columns, readings: Iterable[SourceReading]) -> list[Problem]:
    """Return a problem for each name that nothing has; none where nothing names its columns."""
    some = [one for one in readings if one.columns or one.kind == "console"]
    names = {name for one in some for name in (*one.columns, *one.series)}
    names |= {naming(name, one.framework).metric for one in some for name in one.series}
    return [
        Problem(
            "[columns]",
            f"no table or log has the column {theirs!r} that {ours} was said to be"
            f"{nearest(theirs, sorted(names))}",
            ours,
        )
        for ours, theirs in columns.items()
        if names and theirs not in names
    ]
