"""What the readers of trackers share: system metrics by time, settings, steps that only count."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from runlens.history import FloatArray
from runlens.patterns import lazy_re
from runlens.run import BY_HAND, Event, Problem, Setting
from runlens.sources import console
from runlens.sources.configs.plain_yaml import read_yaml
from runlens.sources.files import Unreadable, flat, read_json
from runlens.sources.reading import Hints, Series, SourceReading, series, written_number

SYSTEM = "system/"
HEARTBEAT = "heartbeat"  # 1 at each system record: it goes on while a run hangs
# one card's records as trackers call them (each has a card's number in it) ->
# the name that W&B has for them, and what they are multiplied by
CARDS = (
    (lazy_re(r"gpu_(\d+)_utilization_percentage"), "gpu", 1.0),  # MLflow
    (lazy_re(r"gpu_(\d+)_memory_usage_megabytes"), "memory_allocated_bytes", 1e6),
    (lazy_re(r"gpu/(\d+)/utilization"), "gpu", 1.0),  # Trackio
    (lazy_re(r"gpu/(\d+)/allocated_memory"), "memory_allocated_bytes", 2.0**30),
    (lazy_re(r"gpu\.(\d+)\.pct"), "gpu", 1.0),  # SwanLab
    (lazy_re(r"gpu\.(\d+)\.mem\.value"), "memory_allocated_bytes", 2.0**20),
)


def system_name(name: str) -> tuple[str, float]:
    """Return the name of a system metric (without its prefix) as W&B has it, and its factor."""
    for pattern, called, factor in CARDS:
        if card := pattern.fullmatch(name):
            return f"system.gpu.{card[1]}.{called}", factor
    return f"{SYSTEM}{name}", 1.0


def add_system(reading: SourceReading, found: Mapping[str, Series]) -> None:
    """Add system metrics, which count samples of their own: they are placed by their time.

    `found` has their names without a prefix. Each point is put at the last step logged before it.
    """
    clock = max(reading.series.values(), key=lambda rows: len(rows.step), default=series([], []))
    order = np.argsort(clock.time, kind="stable")
    step, launch = (np.concatenate([[0], rows[order]]) for rows in (clock.step, clock.launch))
    if len(clock.step):
        step[0] = clock.step[order[0]]
    for name, points in found.items():
        called, factor = system_name(name)
        before = np.searchsorted(clock.time[order], points.time, side="right")
        reading.series[called] = points._replace(
            step=step[before], launch=launch[before], value=points.value * factor
        )


def mapping_in(path: Path, reading: SourceReading) -> dict[str, Any]:
    """Return what a file of YAML or JSON beside a log holds; nothing where it is no mapping."""
    if path.is_symlink() or not path.exists():
        return {}
    try:
        value = read_yaml(path) if path.suffix == ".yaml" else read_json(path)
    except Unreadable as error:
        reading.problems.append(Problem(str(path), str(error), "the whole file"))
        return {}
    return value if isinstance(value, dict) else {}


def settings_of(found: Mapping[str, Any]) -> dict[str, Setting]:
    """Return the settings in a ``config.yaml`` of W&B's form: a mapping with a value for each."""
    return flat(
        {
            key: inner["value"] if isinstance(inner, dict) and "value" in inner else inner
            for key, inner in found.items()
        }
    )


def take_console(reading: SourceReading, text: str) -> None:
    """Read the console that a tracker kept: its settings, its errors, and its last lines."""
    inner = SourceReading(reading.path, "console", precision="rounded")
    console.take(inner, text.encode("utf-8", "replace"), whole=False)
    reading.log_tail = inner.log_tail
    reading.config = inner.config | reading.config
    said = [event for event in inner.events if event.kind == "message"]
    if reading.hints.tracker_state == "finished":  # no error ended it, but a person may have
        said = [event for event in said if event.data.get("last") and _by_hand(event)]
    else:
        raised = "" if inner.hints.last_words else inner.hints.traceback
        reading.hints.traceback = reading.hints.traceback or raised
    _take_progress(reading.hints, inner.hints)
    ended = reading.hints.ended_step
    reading.events += [
        event._replace(step=ended if event.data.get("last") else None) for event in said
    ]


def _take_progress(hints: Hints, shown: Hints) -> None:
    """Take how far the bar of the console had come where no row was logged."""
    if hints.ended_step is None and shown.ended_step is not None:
        hints.ended_step = hints.done_steps = shown.ended_step
        hints.planned_steps = hints.planned_steps or shown.planned_steps


def _by_hand(event: Event) -> bool:
    return event.data.get("row") == BY_HAND


def tell_steps(reading: SourceReading, *, named: bool) -> None:
    """Set how far the run came. Steps that only count (0, 1, 2...) may be calls of ``log()``.

    `named`: the run logged its optimizer step, so that they are no such calls.
    """
    main = max(reading.series.values(), key=lambda rows: len(rows.step), default=None)
    if main is None or not len(main.step):
        return
    hints = reading.hints
    hints.ended_step = int(main.step[-1])
    counted = not named and len(main.step) > 1 and bool((np.diff(main.step) == 1).all())
    reading.steps_inferred = counted
    hints.done_steps = None if counted else hints.ended_step


def plain_setting(text: str) -> Setting:
    """Return a setting that was kept as text as what it was."""
    if text in {"True", "true", "False", "false"}:
        return text in {"True", "true"}
    if text in {"None", ""}:
        return None
    number = written_number(text)
    return text if number is None else number


def samples(time: list[float], value: list[float]) -> Series:
    """Make a series of system samples; their steps are set by `add_system`."""
    known: FloatArray = np.array(time, dtype=np.float64)
    return series(np.zeros(len(known), dtype=np.int64), value, time=known)
