"""Normalized runs on disk, so that changed rules judge them again without reading their sources.

An entry is one `.npz` file, a zip as numpy writes it: one `.npy` file a column, over all metrics
and runs of the entry, and `runs.json` with all but the numbers. Nothing is pickled; the zip has a
checksum of each part. What several metrics share (steps, times) is kept once, and each column as
narrow as it can be without loss.
"""

import io
import json
import os
import secrets
import time
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from runlens.history import Columns, History
from runlens.run import Configured, Event, Problem, Run, Segment, State

MOST_BYTES = 4 * 1024**3
MOST_AGE = 60 * 86_400.0  # seconds since it was last used
FORMAT = 1
DOCUMENT = "runs.json"
TYPES = {"step": "i8", "value": "f8", "epoch": "f8", "time": "f8", "segment": "i2", "source": "i2"}
NARROW = ("i1", "i2", "i4")
BLOCK = 1 << 18  # numbers that are compared at once
QUICK = 1  # level of deflate
UNFINISHED = ".new"  # end of the name of an entry that is being written
FORGOTTEN = 3600.0  # seconds after which whoever wrote it is dead
LOOK_AGAIN = 1 / 16  # of the bytes: written since the last look, before the bounds are kept again

AnyArray = npt.NDArray[Any]


class Cache:
    """Runs by key, in a folder that several processes may use; the longest unused go first."""

    def __init__(
        self, folder: Path, most_bytes: int = MOST_BYTES, most_age: float = MOST_AGE
    ) -> None:
        """Use a folder, which need not exist yet.

        Args:
            folder: on a disk of this machine, and nothing else lies in it.
            most_bytes: of all entries together; about a sixteenth more for each process that
                writes at the same time.
            most_age: seconds since an entry was last used.

        """
        self.folder = folder
        self.most_bytes = most_bytes
        self.most_age = most_age
        self._unseen = most_bytes  # bytes written since the last look at the bounds

    def save(self, key: str, runs: Sequence[Run]) -> bool:
        """Keep the runs under a key; False where the disk refuses, which is no error.

        The key must change with all that the runs depend on: place, stamp of the content, and
        `versions.reading`.
        """
        at = self._at(key)
        new = at.with_suffix(f".{secrets.token_hex(8)}{UNFINISHED}")
        try:
            at.parent.mkdir(parents=True, exist_ok=True)
            _write(new, runs)
            self._unseen += new.stat().st_size
            new.replace(at)
        except OSError:
            _remove(new)
            return False
        if self._unseen > self.most_bytes * LOOK_AGAIN:
            self.trim()
        return True

    def __contains__(self, key: str) -> bool:
        return self._at(key).exists()

    def load(self, key: str) -> list[Run] | None:
        """Return the runs of a key as they were saved; None where they are not, or damaged."""
        at = self._at(key)
        try:
            runs = _read(at)
            os.utime(at)
        except FileNotFoundError:
            return None
        except Exception:  # noqa: BLE001 - damage shows in many ways, and none may stop an audit
            _remove(at)
            return None
        return runs

    def trim(self) -> None:
        """Keep the bounds: remove what is too old, then the longest unused until all fits."""
        self._unseen = 0
        now, total = time.time(), 0
        for used, size, path in sorted(self._entries(), reverse=True):
            total += size
            if path.suffix == UNFINISHED:
                goes = now - used > FORGOTTEN
            else:
                goes = total > self.most_bytes or now - used > self.most_age
            if goes:
                total -= size
                _remove(path)

    def beside(self, key: str) -> Path:
        """Return a file for what else is known under a key, which goes as entries do."""
        return self._at(key).with_suffix(".part")

    def _at(self, key: str) -> Path:
        name = sha256(f"{FORMAT}\0{key}".encode(errors="surrogatepass")).hexdigest()[:32]
        return self.folder / name[:2] / f"{name}.npz"

    def _entries(self) -> list[tuple[float, int, Path]]:
        """Return (last used, bytes, path) of all entries; what goes meanwhile is left out."""
        found = []
        for path in self.folder.glob("??/*.*"):
            with suppress(OSError):
                about = path.stat()
                found.append((about.st_mtime, about.st_size, path))
        return found


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


def _write(path: Path, runs: Sequence[Run]) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        parts = {}
        for name in TYPES:
            column, parts[name] = _shared(name, runs)
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, _narrow(column), allow_pickle=False)
        text = json.dumps({"parts": parts, "runs": [_plain(run) for run in runs]})
        archive.writestr(DOCUMENT, text, zipfile.ZIP_DEFLATED, QUICK)


def _read(path: Path) -> list[Run]:
    """Read an entry; raise for damage whatever the damage leads to."""
    with zipfile.ZipFile(path) as archive:
        document = json.loads(archive.read(DOCUMENT))
        files = {name: archive.read(f"{name}.npy") for name in TYPES}
    plain = document["runs"]
    lengths = [length for one in plain for length in one["lengths"].values()]
    columns = [_column(name, files[name], lengths, document["parts"][name]) for name in TYPES]
    rows = [sum(one["lengths"].values()) for one in plain]
    ends = np.cumsum(rows).tolist()
    return [
        _run(one, Columns._make(column[end - count : end] for column in columns))
        for one, count, end in zip(plain, rows, ends, strict=True)
    ]


def _shared(name: str, runs: Sequence[Run]) -> tuple[AnyArray, list[int]]:
    """Return the different parts of a column, joined, and which of them each metric has.

    They are told apart by their hash: of a run of many metrics each copy takes much memory.
    """
    known: dict[bytes, int] = {}
    parts: list[AnyArray] = [np.zeros(0, TYPES[name])]
    chosen = []
    for part in (part for run in runs for part in run.history.column(name)):
        own = np.ascontiguousarray(part, TYPES[name])
        chosen.append(known.setdefault(sha256(own.data).digest(), len(known)))
        if len(known) == len(parts):
            parts.append(own)
    return np.concatenate(parts), chosen


def _column(name: str, data: bytes, lengths: Sequence[int], chosen: Sequence[int]) -> AnyArray:
    """Return the whole column of shape (sum of lengths,) that `_shared` took apart."""
    narrow: AnyArray = np.load(io.BytesIO(data), allow_pickle=False)
    column = narrow.astype(TYPES[name], copy=False)
    if len(column) == 1:
        return np.full(sum(lengths), column[0])
    sizes = dict(zip(chosen, lengths, strict=True))  # of the parts, in their order
    ends = np.cumsum(list(sizes.values()), dtype=np.int64)
    if len(sizes) == len(lengths):
        return column
    parts = np.split(column, ends[:-1])
    return np.concatenate([parts[part] for part in chosen])


def _narrow(column: AnyArray) -> AnyArray:
    """Return the same values, to the last bit, in the narrowest type; one, where all are one."""
    bits = column.view(f"i{column.itemsize}")
    if len(column) and (bits == bits[0]).all():
        column = column[:1]
    if column.dtype.kind == "f":
        with np.errstate(all="ignore"):
            half = column.astype("f4")
        blocks = (slice(at, at + BLOCK) for at in range(0, len(column), BLOCK))
        exact = (half[one].astype("f8").view("i8") == bits[one] for one in blocks)
        return half if all(one.all() for one in exact) else column
    low, high = (column.min(), column.max()) if len(column) else (0, 0)
    fits = (kind for kind in NARROW if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max)
    return column.astype(next(fits, column.dtype))


def _plain(run: Run) -> dict[str, Any]:
    """Return all of a run but its numbers, as JSON has it."""
    return {
        "id": run.id,
        "name": run.name,
        "lengths": run.history.lengths,
        "history_sources": run.history.sources,
        "config": {key: list(known) for key, known in run.config.items()},
        "state": vars(run.state),
        "events": [[*event[:-1], dict(event.data)] for event in run.events],
        "problems": run.problems,
        "sources": run.sources,
        "framework": run.framework,
        "task": run.task,
        "task_why": run.task_why,
        "segments": run.segments,
        "log_tail": run.log_tail,
        "environment": dict(run.environment),
    }


def _run(plain: Mapping[str, Any], rows: Columns) -> Run:
    """Return the run that `_plain` was given."""
    return Run(
        id=plain["id"],
        name=plain["name"],
        history=History.restored(plain["lengths"], rows, plain["history_sources"]),
        config={key: Configured(*known) for key, known in plain["config"].items()},
        state=State(**plain["state"]),
        events=tuple(Event(*one) for one in plain["events"]),
        problems=tuple(Problem(*one) for one in plain["problems"]),
        sources=tuple(plain["sources"]),
        framework=plain["framework"],
        task=plain["task"],
        task_why=plain["task_why"],
        segments=tuple(Segment(*one) for one in plain["segments"]),
        log_tail=tuple(plain["log_tail"]),
        environment={name: tuple(some) for name, some in plain["environment"].items()},
    )
