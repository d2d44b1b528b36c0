"""Readers of installed packages (entry points `runlens.sources`), guarded.

A file that such a reader claims is read by it alone. Whatever it does wrong is a problem of the
run, as damage in a file is.
"""

import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from runlens.errors import one_line
from runlens.plugins import ASKED, READING, attempted, points, said, time_limit
from runlens.records import NamedTuple
from runlens.run import Problem
from runlens.sources.reading import Reader, SourceReading, StoreReader, series

PARTS = ("LOOKS_FOR", "FRAMEWORK", "find")  # and read, or read_all


class AddedReader:
    """A reader of another package; it reads as a `StoreReader`, and reading never raises."""

    def __init__(self, kind: str, origin: str, reader: Reader | StoreReader) -> None:
        """Guard `reader`, which is known by the name of its entry point."""
        self.kind = kind
        self.origin = origin
        self.LOOKS_FOR = one_line(str(reader.LOOKS_FOR))
        self.FRAMEWORK = one_line(str(reader.FRAMEWORK))
        self.NEEDS: tuple[str, ...] = tuple(getattr(reader, "NEEDS", ()))
        self._reader = reader

    def find(self, place: Path, names: Mapping[Path, list[str]]) -> list[Path]:
        """List what it claims; raises what the reader raises, which `claims` tells."""
        copied = {folder: list(files) for folder, files in names.items()}
        with time_limit(ASKED):
            return [Path(path) for path in self._reader.find(place, copied)]

    def read_all(self, path: Path) -> list[SourceReading]:
        """Read what it claimed; a failure is a reading with nothing but the problem."""
        try:
            own = self._reader
            with time_limit(READING):
                read = own.read_all(path) if isinstance(own, StoreReader) else [own.read(path)]
                return [_sound(one) for one in read]
        except (Exception, SystemExit) as error:  # noqa: BLE001 - theirs, not ours
            text = f"cannot be read by {self.origin}: {said(error)}"
            return [SourceReading(path, self.kind, problems=[Problem(str(path), text, "all")])]


class Claims(NamedTuple):
    """What added readers claim at a place, and what is wrong with them."""

    found: list[tuple[AddedReader, Path]]
    problems: list[Problem]


def claims(place: Path, names: Mapping[Path, list[str]]) -> Claims:
    """Ask all added readers what they know at a place; `names` as for `Reader.find`."""
    known, problems = _readers(tuple(sys.path))
    found: dict[Path, AddedReader] = {}
    told = list(problems)
    for reader in known:
        try:
            found = dict.fromkeys(reader.find(place, names), reader) | found
        except (Exception, SystemExit) as error:  # noqa: BLE001 - theirs, not ours
            text = f"could not look for {reader.LOOKS_FOR}: {said(error)}"
            told.append(Problem(reader.origin, text, "what it would have read"))
    return Claims([(reader, path) for path, reader in found.items()], told)


def readers() -> tuple[AddedReader, ...]:
    """Return the readers of installed packages that can be used."""
    return _readers(tuple(sys.path))[0]


def problems() -> tuple[Problem, ...]:
    """Return what is wrong with the others."""
    return _readers(tuple(sys.path))[1]


@lru_cache(maxsize=16)
def _readers(places: tuple[str, ...]) -> tuple[tuple[AddedReader, ...], tuple[Problem, ...]]:
    del places  # what the cache knows it by
    made = list(_loaded())
    return (
        tuple(one for one in made if isinstance(one, AddedReader)),
        tuple(one for one in made if isinstance(one, Problem)),
    )


def _loaded() -> Iterator[AddedReader | Problem]:
    for point in points("runlens.sources"):
        reader, problem = attempted(point.load, point.origin, "its sources")
        lacks = [part for part in PARTS if not hasattr(reader, part)]
        if not hasattr(reader, "read") and not hasattr(reader, "read_all"):
            lacks.append("read")
        if problem:
            yield problem
        elif lacks:
            text = f"offers a source that cannot be used: it has no {', '.join(lacks)}"
            yield Problem(point.origin, text, "its sources")
        else:
            yield AddedReader(point.name, point.origin, reader)  # type: ignore[arg-type]


def _sound(reading: object) -> SourceReading:
    """Return a reading whose series are arrays of one length; raise for what is none."""
    if not isinstance(reading, SourceReading):
        raise TypeError(f"read returned a value of type {type(reading).__name__}")
    for name, one in reading.series.items():
        made = series(*one)
        if len({len(column) for column in made}) != 1 or not len(made.step):
            raise ValueError(f"series {name!r} has columns of different length, or none")
        reading.series[name] = made
    return reading
