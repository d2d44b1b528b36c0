"""Evaluations of reinforcement learning: ``evaluations.npz`` of stable-baselines3's EvalCallback.

An archive of arrays, written anew at each evaluation: ``timesteps`` (n,), ``results`` and
``ep_lengths`` (n, episodes), in older releases ``results`` (n, episodes, 1), and ``successes``
where the environment tells them. Of each evaluation the mean of its episodes is taken, under the
names with which the callback logs it, and the spread of their rewards. Arrays of objects are
pickles and are not opened; what an array's header promises is asked before anything is unpacked.
"""

import re
import struct
import zlib
from collections.abc import Mapping
from io import BytesIO
from math import prod
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile

import numpy as np

from runlens.history import FloatArray, IntArray
from runlens.patterns import lazy_re
from runlens.run import WHOLE_FILE, Problem
from runlens.sources.files import Unreadable, read_bytes
from runlens.sources.reading import SourceReading, series
from runlens.sources.tables.launches import launches

LOOKS_FOR = "evaluations.npz"
FRAMEWORK = "stable-baselines3, stable-baselines"
ENDING = ".npz"
STEPS, REWARDS, LENGTHS, SUCCESSES = "timesteps", "results", "ep_lengths", "successes"
NAMES = {LENGTHS: "eval/mean_ep_length", SUCCESSES: "eval/success_rate"}
LARGEST = 64 * 2**20  # bytes of the archive, and of an array: 800,000 evaluations of 10 episodes
MOST_ARRAYS = 64  # in the archive: the callback writes four
_LISTED = b"PK\x01\x02"  # how an entry in the archive's list of contents begins
MAX_STEP = 1e15
_UNPACKED = (ZIP_STORED, ZIP_DEFLATED)  # others unpack without a bound
# how NumPy begins an array: its later versions are for headers that no array of numbers has
_HEADER = lazy_re(
    rb"\x93NUMPY\x01\x00..\{'descr': '(?P<dtype>.(?P<kind>[A-Za-z])\d*)', "
    rb"'fortran_order': (?:False|(?P<by_column>True)), 'shape': \((?P<shape>[\dL, ]*)\), \} *\n",
    re.DOTALL,
)
_HEAD = 10  # bytes of it before its text, of which the last two say its length
_NUMBERS = (b"b", b"i", b"u", b"f")
# what damage makes of an archive, an entry, a header
_DAMAGE = (
    BadZipFile, EOFError, KeyError, MemoryError, NotImplementedError, OSError, OverflowError,
    RuntimeError, TypeError, ValueError, struct.error, zlib.error,
)  # fmt: skip


def find(place: Path, names: Mapping[Path, list[str]]) -> list[Path]:
    """List the files; one that a user points at may have any name."""
    ending = ENDING if place.is_file() else LOOKS_FOR
    return [
        folder / name
        for folder, some in names.items()
        for name in some
        if name.lower().endswith(ending)
    ]


def read(path: Path) -> SourceReading:
    """Read the evaluations of one training."""
    reading = SourceReading(path, "sb3_evaluations", framework="stable-baselines3")
    try:
        arrays = _arrays(path)
        step = _steps(arrays)
        rewards = _of_episodes(arrays[REWARDS], REWARDS, len(step))
    except Unreadable as error:
        reading.problems.append(Problem(str(path), str(error), WHOLE_FILE))
        return reading
    launch = launches(len(step), step, np.arange(len(step)), 0)
    columns = {"eval/mean_reward": rewards.mean(axis=1)}
    if rewards.shape[1] > 1:
        columns["eval/std_reward"] = rewards.std(axis=1)
    for key, name in NAMES.items():
        try:
            if key in arrays:
                columns[name] = _of_episodes(arrays[key], key, len(step)).mean(axis=1)
        except Unreadable as error:
            reading.problems.append(Problem(str(path), str(error), name))
    reading.series = {name: series(step, value, launch=launch) for name, value in columns.items()}
    reading.config["n_eval_episodes"], reading.paths["n_eval_episodes"] = rewards.shape[1], ""
    return reading


def _arrays(path: Path) -> dict[str, FloatArray]:
    """Return the arrays of the callback by name; raise Unreadable."""
    data = read_bytes(path, LARGEST + 1)
    if len(data) > LARGEST:
        raise Unreadable(f"is larger than {LARGEST // 2**20} MiB, too large for evaluations")
    if data.count(_LISTED) > MOST_ARRAYS:
        raise Unreadable(f"holds more than {MOST_ARRAYS} arrays: no evaluations")
    try:
        with ZipFile(BytesIO(data)) as archive:
            names = [name.removesuffix(".npy") for name in archive.namelist()]
            if missing := [key for key in (STEPS, REWARDS) if key not in names]:
                raise Unreadable(_other(names, missing))
            return {
                key: _array(archive, key)
                for key in (STEPS, REWARDS, LENGTHS, SUCCESSES)
                if key in names
            }
    except _DAMAGE:
        raise Unreadable("is no whole npz archive: damaged, or cut off while written") from None


def _other(names: list[str], missing: list[str]) -> str:
    shown = ", ".join(name[:40] for name in names[:6]) or "nothing"
    return (
        f"is an npz archive of {shown}, without {' and '.join(missing)}: no evaluations of "
        "stable-baselines3"
    )


def _array(archive: ZipFile, key: str) -> FloatArray:
    """Return an array; one of objects, or that is not as large as its header says, is refused."""
    entry = archive.getinfo(f"{key}.npy")
    if entry.file_size > LARGEST:
        raise Unreadable(f"unpacks to {entry.file_size:,} bytes of {key}, which are not read")
    if entry.compress_type not in _UNPACKED:
        raise ValueError(entry.compress_type)
    with archive.open(entry) as file:
        head = file.read(_HEAD)
        known = _HEADER.fullmatch(head + file.read(int.from_bytes(head[-2:], "little")))
        if not known:
            raise ValueError(key)
        if known["kind"] not in _NUMBERS:
            raise Unreadable(f"has {key} that are no numbers, which are not opened")
        dtype = np.dtype(known["dtype"].decode())
        shape = [int(size) for size in re.findall(rb"\d+", known["shape"])]
        size = prod(shape) * dtype.itemsize
        if size != entry.file_size - file.tell():
            raise Unreadable(f"has {key} of another size than its header says")
        values = np.frombuffer(file.read(size), dtype)  # without a size, all of it is unpacked
    return values.reshape(shape, order="F" if known["by_column"] else "C").astype(np.float64)


def _steps(arrays: Mapping[str, FloatArray]) -> IntArray:
    """Return the steps of the environment at which it was evaluated; raise Unreadable."""
    step = arrays[STEPS]
    known = step.ndim == 1 and len(step) and np.isfinite(step).all()
    if not known or step.min() < 0 or step.max() >= MAX_STEP:
        raise Unreadable(f"has {STEPS} that are no steps")
    return step.astype(np.int64)


def _of_episodes(values: FloatArray, key: str, rows: int) -> FloatArray:
    """Return the values of the episodes of each evaluation, shape (rows, episodes)."""
    if values.ndim == 0 or len(values) != rows or not values.size:
        shape = " x ".join(map(str, values.shape)) or "one number"
        raise Unreadable(f"has {key} of {shape} for {rows:,} evaluations")
    return values.reshape(rows, -1)
