"""Episodes of reinforcement learning: stable-baselines3's ``monitor.csv``, ``0.monitor.csv``...

The first line is a comment, ``#{"t_start": 1700000000.0, "env_id": "CartPole-v1"}``, which may be
left out; a row is an episode: its reward ``r``, its length ``l``, and the seconds ``t`` since the
start. The step is that of the environment, the sum of the lengths up to it, as stable-baselines3
plots it; the files of several environments that were stepped together are one run, their episodes
in order of time.
"""

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from runlens.history import NOT_KNOWN, FloatArray
from runlens.records import NamedTuple
from runlens.run import Problem
from runlens.sources.files import Unreadable, parse_json
from runlens.sources.reading import CUT_OFF, MAX_STEP, SourceReading, as_number, series
from runlens.sources.tables import csv_log
from runlens.sources.tables.cells import decoded
from runlens.sources.tables.held import spread
from runlens.sources.tables.table import log_bytes

LOOKS_FOR = "monitor.csv, 0.monitor.csv, 1.monitor.csv, ..."
FRAMEWORK = "stable-baselines3, stable-baselines"
ENDING = ".csv"  # a user names the file; monitor.csv is what it is called by itself
HEAD = 4_096  # characters of the first line
REWARD, LENGTH, TIME = "r", "l", "t"
NAMES = {REWARD: "episode_reward", LENGTH: "episode_length"}
BESIDE = "monitor/"  # in front of the names where another log of the run has their means
MEANS = ("progress.csv", "events.out.tfevents.")
MOST_FILES = 1_000  # environments of one run


class Episodes(NamedTuple):
    """The episodes of one file; arrays of shape (n,)."""

    time: FloatArray  # seconds since 1970; where that is not known, what puts them in order
    dated: bool  # whether it is known
    columns: dict[str, FloatArray]  # NaN where a row has no number


def find(place: Path, names: Mapping[Path, list[str]]) -> list[Path]:
    """List the files; a folder stands for all those in it, the environments of one run."""
    found = {
        folder: [
            name
            for name in some
            if name.lower().endswith(ENDING) and csv_log.is_monitor(folder / name)
        ]
        for folder, some in names.items()
    }
    return [
        folder if len(some) > 1 and place.is_dir() else folder / some[0]
        for folder, some in found.items()
        if some
    ]


def read(path: Path) -> SourceReading:
    """Read one file, or all that lie in a folder."""
    reading = SourceReading(path, "sb3_monitor", framework="stable-baselines3")
    paths = _episode_files(path)[:MOST_FILES] if path.is_dir() else [path]
    some = [episodes for one in paths if (episodes := _episodes(one, reading)) is not None]
    if not some:
        return reading
    time = np.concatenate([one.time for one in some])
    order = np.argsort(time, kind="stable")
    time = time[order]
    columns = {
        name: np.concatenate([_column(one, name) for one in some])[order]
        for name in dict.fromkeys(name for one in some for name in one.columns)
    }
    step = np.cumsum(np.nan_to_num(columns.pop(LENGTH), nan=0.0, posinf=0.0, neginf=0.0))
    if not 0 <= step.min(initial=0) <= step.max(initial=0) < MAX_STEP:
        text = "holds lengths of episodes that cannot be summed up"
        reading.problems.append(Problem(str(path), text, "the whole file"))
        return reading
    columns[LENGTH] = np.diff(step, prepend=0.0)
    _fill(
        reading,
        step,
        time if all(one.dated for one in some) else np.full(len(step), NOT_KNOWN),
        columns,
    )
    return reading


def _episode_files(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.glob(f"*{ENDING}")) if csv_log.is_monitor(path)]


def _fill(
    reading: SourceReading, step: FloatArray, time: FloatArray, columns: Mapping[str, FloatArray]
) -> None:
    folder = reading.path if reading.path.is_dir() else reading.path.parent
    names = {name: f"{BESIDE}{name}" for name in columns} if _has_means(folder) else NAMES
    steps = step.astype(np.int64)
    for name, value in columns.items():
        known = ~np.isnan(value)
        if known.any():
            reading.series[names.get(name, name)] = series(
                steps[known], value[known], time=time[known]
            )


def _has_means(folder: Path) -> bool:
    """Whether the logger's own files, with the means of the episodes, lie here or right below."""
    below = (*folder.glob("*"), *folder.glob("*/*"))
    return any(path.name.startswith(MEANS) and path.stat().st_size for path in below)


def _episodes(path: Path, reading: SourceReading) -> Episodes | None:
    """Read one file; what is lost of it is a problem of the reading."""
    inner = SourceReading(path, reading.kind)
    try:
        text = _whole(decoded(log_bytes(inner)), inner)
        table = csv_log.table(inner, text)
    except (Unreadable, csv.Error) as error:
        reading.problems.append(Problem(str(path), str(error), "the whole file"))
        return None
    reading.problems += inner.problems
    if not {REWARD, LENGTH} <= table.columns.keys():
        text = "has no episodes: columns r and l"
        reading.problems.append(Problem(str(path), text, "the whole file"))
        return None
    head = _head(text)
    began = as_number(head.get("t_start"))
    began = began if began is not None and np.isfinite(began) else None
    if began is not None:
        reading.started = min(began, reading.started or began)
    if isinstance(head.get("env_id"), str):
        reading.config["env_id"] = head["env_id"]
    columns = {name: spread(table.rows, column) for name, column in table.columns.items()}
    seconds = columns.pop(TIME, np.full(table.rows, NOT_KNOWN))
    dated = began is not None and bool(np.isfinite(seconds).any())
    return Episodes(_clock(seconds) + (began or 0.0), dated, columns)


def _whole(text: str, reading: SourceReading) -> str:
    """Return a file without a row at which it breaks off: the episode would be at no step."""
    if text.endswith(("\n", "\r")):
        return text
    reading.problems.append(Problem(str(reading.path), CUT_OFF, "the last row"))
    return text[: max(text.rfind("\n"), text.rfind("\r")) + 1]


def _head(text: str) -> dict[str, Any]:
    first = text[:HEAD].partition("\n")[0]
    try:
        head = parse_json(first.removeprefix("#"))
    except Unreadable:
        return {}
    return head if isinstance(head, dict) else {}


def _clock(seconds: FloatArray) -> FloatArray:
    """Return times that never go back: a later launch that appends counts from zero again.

    A row without a time lies between its neighbors; where no row has one, each counts as one.
    """
    place = np.arange(len(seconds), dtype=np.float64)
    known = np.isfinite(seconds)
    if not known.any():
        return place
    seconds = np.interp(place, place[known], seconds[known])
    back = np.maximum(-np.diff(seconds, prepend=seconds[:1]), 0.0)
    forward: FloatArray = seconds + np.cumsum(back)
    return forward


def _column(episodes: Episodes, name: str) -> FloatArray:
    missing = np.full(len(episodes.time), NOT_KNOWN)
    return episodes.columns.get(name, missing)
