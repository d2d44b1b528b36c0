"""What came from the server as a reading: the same that the run's own folder gives."""

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from runlens.metrics import Better
from runlens.run import Event, Problem
from runlens.sources import environment
from runlens.sources.files import flat
from runlens.sources.reading import SourceReading, as_number, instant
from runlens.sources.stores import tracked
from runlens.sources.wandb_api.fetching import Download
from runlens.sources.wandb_dir import framework, machine_of
from runlens.sources.wandb_dir.logged import CLOSING, Logged, Stats, take_history
from runlens.sources.wandb_dir.proto import direction

SILENT = 600.0  # seconds without a heartbeat after which a run is not running any more
SYSTEM = "system."
_STATES = {"preempted": "killed", "preempting": "killed"}


def reading_of(got: Download) -> SourceReading:
    """Turn a download into a reading."""
    reading = SourceReading(Path(str(got.place)), "wandb", problems=[*got.problems])
    reading.run_id, reading.run_name = got.run.id, got.run.name or ""
    own = got.own
    machines = [one for one in _mappings(own.get("e")) if "startedAt" in one]
    machines.sort(key=lambda one: str(one["startedAt"]))
    _take_settings(got, own, machines, reading)
    stamps = [one["startedAt"] for one in machines] or [got.run.created_at]
    began = instant(stamps[0])
    reading.started = began if np.isfinite(began) else None
    count, columns = got.rows.columns(got.keys.get("keys") or {})
    _tell_shortfall(got, reading)
    logged = Logged(
        count,
        columns,
        _declared(own),
        _stats(got),
        str(own.get("cli_version") or ""),
        _closing(got),
    )
    take_history(logged, reading)
    reading.directions = _directions(own)
    _take_state(got, reading)
    tracked.take_console(reading, "\n".join(got.console))
    return reading


def _mappings(value: Any) -> Iterator[Mapping[str, Any]]:  # noqa: ANN401 - JSON
    """Yield the mappings in a list, or among the values of a mapping."""
    inner = value.values() if isinstance(value, Mapping) else value
    yield from (one for one in (inner or ()) if isinstance(one, Mapping))


def _take_settings(
    got: Download,
    own: Mapping[str, Any],
    machines: list[Mapping[str, Any]],
    reading: SourceReading,
) -> None:
    known = {"python_version": own["python_version"]} if own.get("python_version") else {}
    for one in machines:
        known |= machine_of(one)
    last = environment.of_metadata(machines[-1] if machines else {})
    commit = environment.known({environment.COMMIT: (getattr(got.run, "commit", None),)})
    reading.environment = {**commit, **last}
    reading.config = {**known, **flat(got.run.config)}
    reading.config.setdefault("wandb_project", got.place.project)
    reading.framework = framework(reading.config)


def _declared(own: Mapping[str, Any]) -> dict[str, str]:
    """Return the step metric by name or glob, as ``define_metric`` said.

    They are kept by the numbers of the fields of a message: 1 name, 2 glob, 5 which of them is
    the step metric, counted from 1.
    """
    metrics = list(_mappings(own.get("m")))
    found = {}
    for one in metrics:
        number = as_number(one.get("5"))
        if number is not None and 1 <= number <= len(metrics):
            step = metrics[int(number) - 1].get("1")
            found[str(one.get("1") or one.get("2"))] = str(step)
    return found


def _directions(own: Mapping[str, Any]) -> dict[str, Better]:
    """Return which direction is better by name or glob, as ``define_metric`` said."""
    found: dict[str, Better] = {}
    for one in _mappings(own.get("m")):
        fields = [n for n in one.get("7") or () if n in {1, 2}]
        if better := direction(int(as_number(one.get("8")) or 0), fields):
            found[str(one.get("1") or one.get("2"))] = better
    return found


def _stats(got: Download) -> Stats:
    stats: Stats = []
    for row in got.system:
        when = as_number(row.get("_timestamp"))
        found = [
            (name.removeprefix(SYSTEM), number)
            for name, value in row.items()
            if name.startswith(SYSTEM) and (number := as_number(value)) is not None
        ]
        if when is not None:
            stats.append((when, found))
    return stats


def _closing(got: Download) -> int | None:
    """Return that the Trainer's closing row came into the summary, after we know not what row.

    Saying the first makes it count in a run of one launch only.
    """
    summary = got.run.summary_metrics or {}
    return 1 if {CLOSING, f"train/{CLOSING}"} & summary.keys() else None


def _ended(got: Download, started: float | None) -> float | None:
    """Return when the run ended: by how long it ran, else when it was last heard of."""
    own = (got.run.summary_metrics or {}).get("_wandb")
    runtime = as_number(own.get("runtime")) if isinstance(own, Mapping) else None
    if started is not None and runtime is not None:
        return started + runtime
    beat = instant(got.run.heartbeat_at)
    return beat if np.isfinite(beat) else None


def _tell_shortfall(got: Download, reading: SourceReading) -> None:
    lost = got.counted - got.rows.count
    if lost > 0:
        text = f"the server counts {got.counted:,} rows, {got.rows.count:,} came"
        amount = f"{lost:,} of {got.counted:,} rows"
        reading.problems.append(Problem(str(reading.path), text, amount))


def _take_state(got: Download, reading: SourceReading) -> None:
    """Tell how the run ended; the server says nothing of exit codes but by "finished"."""
    state, hints, where = got.run.state, reading.hints, str(reading.path)
    silent = time.time() - instant(got.run.heartbeat_at)
    if state == "running" and silent > SILENT:
        state = "crashed"
        text = (
            f"the server says running, but nothing was heard of it for {silent / 60:,.0f} minutes"
        )
        reading.problems.append(Problem(where, text))
    hints.tracker_state = _STATES.get(state, state)
    if state == "finished":
        hints.exit_code = 0
        ended = _ended(got, reading.started)
        event = Event("exit", hints.ended_step, ended, "exit code 0", where, {"code": 0})
        reading.events.append(event)
