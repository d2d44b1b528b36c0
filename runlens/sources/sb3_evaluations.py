"""Evaluations of reinforcement learning: ``evaluations.npz`` of stable-baselines3's EvalCallback.

An archive of arrays, written anew at each evaluation: ``timesteps`` (n,), ``results`` and
``ep_lengths`` (n, episodes), in older releases ``results`` (n, episodes, 1), and ``successes``
where the environment tells them. Of each evaluation the mean of its episodes is taken, under the
names with which the callback logs it, and the spread of their rewards. Arrays of objects are
pickles and are not opened; what an array's header promises is asked before anything is unpacked.
"""

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import numpy as np

from runlens.history import FloatArray, IntArray
from runlens.run import WHOLE_FILE, Problem
from runlens.sources.files import Unreadable, read_bytes
from runlens.sources.npy_arrays import DAMAGE, LARGEST, LISTED, MOST_ARRAYS, UNPACKED, array_in
from runlens.sources.reading import MAX_STEP, SourceReading, series
from runlens.sources.tables.launches import launches

LOOKS_FOR = "evaluations.npz"
FRAMEWORK = "stable-baselines3, stable-baselines"
ENDING = ".npz"
STEPS, REWARDS, LENGTHS, SUCCESSES = "timesteps", "results", "ep_lengths", "successes"
NAMES = {LENGTHS: "eval/mean_ep_length", SUCCESSES: "eval/success_rate"}


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
    if data.count(LISTED) > MOST_ARRAYS:
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
    except DAMAGE:
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
    if entry.compress_type not in UNPACKED:
        raise ValueError(entry.compress_type)
    with archive.open(entry) as file:
        return array_in(file, entry.file_size, key)


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
