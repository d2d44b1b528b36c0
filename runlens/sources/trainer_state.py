"""Hugging Face Trainer: ``trainer_state.json``, in the output directory and in each checkpoint.

Its ``log_history`` is a list of dicts, each with ``step`` and ``epoch``. The file does not say
how the run ended: only a run that came to its end has the summary row (``train_runtime``), and
in that row ``train_loss`` is the mean over the whole run, not a point of the curve. A state in
a ``checkpoint-N`` folder is a snapshot. No times are in it. It is written in one go, over the
one before: a kill or a full disk leaves it cut, and the rows before the cut are still whole.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from runlens.history import NOT_KNOWN, BoolArray, FloatArray, IntArray
from runlens.records import NamedTuple
from runlens.run import Event, Problem
from runlens.sources.files import (
    IN_CONFLICT,
    MAX_TEXT,
    Unreadable,
    first_side,
    flat,
    opened,
    parse_json,
    read_bytes,
    step_in_name,
)
from runlens.sources.json_columns import Part, in_parts
from runlens.sources.json_salvage import salvaged
from runlens.sources.reading import MAX_STEP, Series, SourceReading, as_number, series

LOOKS_FOR = "trainer_state.json"
FRAMEWORK = "Hugging Face Trainer, TRL, axolotl, LLaMA-Factory, ms-swift"
SETTINGS = (
    "num_train_epochs",
    "train_batch_size",
    "logging_steps",
    "eval_steps",
    "save_steps",
)
FLOS = "flos_per_sample"
LOG = "log_history"
_LOG = f'"{LOG}"'.encode()
SUMMARY, MEAN = "train_runtime", "train_loss"
NOT_METRICS = {"step", "epoch", "total_flos"}
SHOWN_ROWS = 3
SHOWN_VALUES = 6
SAME_LENGTH = 0.01  # of an epoch: what rounding of the logged epoch leaves open
ROUND = 2  # digits before the zeros of a number of steps that a person wrote


def find(_place: Path, names: Mapping[Path, list[str]]) -> list[Path]:
    """List all trainer states."""
    return [folder / LOOKS_FOR for folder, files in names.items() if LOOKS_FOR in files]


def read(path: Path) -> SourceReading:
    """Read one trainer state."""
    reading = SourceReading(path, "trainer_state", framework="transformers")
    try:
        state = _state(path, reading)
    except Unreadable as error:
        reading.problems.append(Problem(str(path), str(error), "the whole file"))
        return reading
    log = state.get(LOG) if isinstance(state, dict) else None
    if not isinstance(log, list | tuple):
        reading.problems.append(Problem(str(path), _without_log(state), "the whole file"))
        return reading
    reading.config = {key: state[key] for key in SETTINGS if as_number(state.get(key)) is not None}
    reading.paths = dict.fromkeys(SETTINGS, "")  # the Trainer works its totals out
    if (flos := _per_sample(state)) is not None:
        reading.config[FLOS], reading.paths[FLOS] = flos, ""
    if length := _length(state):
        reading.config[length], reading.paths[length] = state[length], length
    _read_hints(state, reading)
    _read_log(log if isinstance(log, tuple) else [log], reading)
    folder = path.parent
    if (step := step_in_name(folder.name)) >= 0:
        reading.hints.snapshot = True
        reading.events.append(
            Event("checkpoint", step, text=folder.name, where=str(path), data={"path": str(folder)})
        )
    return reading


def _without_log(state: Any) -> str:  # noqa: ANN401 - JSON is of any type
    """Say what stands in a state instead of its log: ``training_loss 0.22, global_step 21900``."""
    values = flat(state) if isinstance(state, dict) else {}
    numbers = ((key, as_number(value)) for key, value in values.items())
    said = [f"{key} {n:g}" for key, n in numbers if n is not None][:SHOWN_VALUES]
    return "holds no log_history" + (f", only {', '.join(said)}" if said else "")


def _state(path: Path, reading: SourceReading) -> Any:  # noqa: ANN401 - JSON is of any type
    """Return the state; of one that was cut or damaged, the rows that are whole; or Unreadable."""
    with opened(path) as file:
        short = os.fstat(file.fileno()).st_size <= MAX_TEXT
        if short and (state := in_parts(file, LOG, frozenset({SUMMARY}))) is not None:
            return state
    whole = read_bytes(path)
    if (data := first_side(whole)) is not whole:
        reading.problems.append(Problem(str(path), IN_CONFLICT, "the other side"))
    try:
        state = _parsed(data)
        return _with_longest_log(data, state, reading) if data.count(_LOG) > 1 else state
    except Unreadable as error:
        found = salvaged(data, LOG)
        if not found.rows:
            raise
        text = f"{error}; {len(found.rows):,} whole rows of its log_history were kept"
        lost = f"{found.lost:,} of {found.size:,} bytes"
        reading.problems.append(Problem(str(reading.path), text, lost))
        return {**found.values, LOG: found.rows}


def _with_longest_log(data: bytes, state: Any, reading: SourceReading) -> Any:  # noqa: ANN401 - as above
    """Return a state in which the key of the log stands twice with the longest of its logs.

    Of a key that JSON has twice a parser keeps the last. A log within a log, or the key as a text,
    is no second one.
    """
    logs: list[list[Any]] = []

    def joined(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        own = [value for key, value in pairs if key == LOG and isinstance(value, list)]
        if len(own) > 1:
            logs[:] = [*own]
        return dict(pairs)

    with suppress(ValueError, RecursionError):
        json.loads(data, object_pairs_hook=joined)
    if not logs or not isinstance(state, dict) or state.get(LOG) != logs[-1]:
        return state
    longest = max(logs, key=len)
    text = f"has log_history {len(logs)} times; the longest, {len(longest):,} rows, was read"
    lost = f"{sum(map(len, logs)) - len(longest):,} rows"
    reading.problems.append(Problem(str(reading.path), text, lost))
    return {**state, LOG: longest}


def _parsed(data: bytes) -> Any:  # noqa: ANN401 - JSON is of any type
    """Return the JSON value. Python's NaN and Infinity go as texts past the fast parser."""
    quoted = data
    for token in (b"NaN", b"Infinity", b"-Infinity"):
        quoted = quoted.replace(b": " + token, b': "' + token + b'"')
    if quoted != data:
        with suppress(Unreadable):  # a name may hold ": NaN"
            return parse_json(quoted)
    return parse_json(data)


def _per_sample(state: dict[str, Any]) -> float | None:
    """Return at most how many operations a sample took; None where that cannot be told.

    The Trainer counts those of all processes and of all batches of a step, and no state says how
    many these were.
    """
    flos, steps, size = (
        as_number(state.get(key)) or 0.0
        for key in ("total_flos", "global_step", "train_batch_size")
    )
    if state.get("total_flos") == 0 and steps > 0:
        return 0.0  # it counts none of a module that is no model of transformers
    return flos / steps / max(1.0, size) if flos > 0 and steps > 0 and isfinite(flos) else None


def _length(state: dict[str, Any]) -> str:
    """Return which argument set the length of the run; empty where that cannot be told.

    The Trainer works the other out: epochs times whole steps an epoch are its steps, unless
    `max_steps` was given, which people write as a round number (transformers 5.23.0, trainer.py,
    set_initial_training_values).
    """
    names = ("max_steps", "num_train_epochs", "global_step", "epoch")
    steps, epochs, done, passed = (as_number(state.get(name)) or 0.0 for name in names)
    if not (0 < steps < MAX_STEP and 0 < epochs < MAX_STEP and done > 0 and passed > 0):
        return ""
    per_epoch = done / passed
    if steps % epochs == 0 and abs(steps / epochs - per_epoch) <= SAME_LENGTH * per_epoch:
        return "num_train_epochs"
    return "max_steps" if len(f"{steps:.0f}".rstrip("0")) <= ROUND else ""


def _read_hints(state: dict[str, Any], reading: SourceReading) -> None:
    hints = reading.hints
    planned, done = as_number(state.get("max_steps")), as_number(state.get("global_step"))
    hints.planned_steps = int(planned) if planned and 0 < planned < MAX_STEP else None
    hints.done_steps = int(done) if done is not None and 0 <= done < MAX_STEP else None
    epochs = as_number(state.get("num_train_epochs"))
    # data without a length is planned for sys.maxsize epochs
    hints.planned_epochs = epochs if epochs and 0 < epochs < MAX_STEP else None
    hints.done_epochs = as_number(state.get("epoch"))
    if best := state.get("best_model_checkpoint"):
        reading.config["best_model_checkpoint"] = str(best)
        # the Trainer deletes no best checkpoint, whatever save_total_limit says
        step, saved = step_in_name(Path(str(best)).name), {"path": str(best)}
        if step >= 0:
            reading.events.append(Event("checkpoint", step, where=str(reading.path), data=saved))
    callbacks = state.get("stateful_callbacks")
    stopping = flat(callbacks).items() if isinstance(callbacks, dict) else ()
    values = {key.rpartition(".")[2]: value for key, value in stopping if "EarlyStopping" in key}
    patience = as_number(values.get("early_stopping_patience"))
    waited = as_number(values.get("early_stopping_patience_counter"))
    if patience is not None and isfinite(patience):
        reading.config["early_stopping_patience"] = int(patience)
    if patience is not None and waited is not None and waited >= patience:
        hints.early_stopping = (
            f"EarlyStoppingCallback ran out of patience ({patience:g} evaluations)"
        )


class _Rows(NamedTuple):
    """Numbers of one name; all arrays have shape (n,)."""

    row: IntArray  # of the log
    step: FloatArray
    value: FloatArray
    epoch: FloatArray

    def at(self, rows: BoolArray | IntArray) -> "_Rows":
        """Return some of the rows."""
        return _Rows._make(column[rows] for column in self)


def _read_log(log: Iterable[Part], reading: SourceReading) -> None:
    """Read the rows by columns: those of the same keys together."""
    found: dict[str, list[_Rows]] = {}
    bad: list[int] = []
    first = 0
    for part in log:
        if isinstance(part, dict):
            first = _take_columns(part, first, found, bad)
        else:
            first = _take_rows(part, first, found, bad, reading)
    _tell_bad(sorted(bad), first, reading)
    kept: dict[tuple[int, ...], FloatArray] = {}
    closing = found.pop(SUMMARY, [])
    reading.series = {name: _series(some, kept) for name, some in found.items() if some}
    reading.events += _resumes(reading)
    if reading.hints.summary and not reading.series:
        text = "has only its final summary row and no logged step; log more often (logging_steps)"
        if any(len(some.row) for some in closing):
            reading.series[MEAN] = _series(closing, kept)
            text += f". Its {MEAN} is the mean of the whole run"
        reading.problems.append(Problem(str(reading.path), text))


def _resumes(reading: SourceReading) -> Iterator[Event]:
    """Yield where the epoch falls back while the steps go on.

    The Trainer counts it anew from the data that it is resumed with: other rows, or another batch.
    """
    if "loss" not in reading.series:
        return
    step, _, epoch, *_ = reading.series["loss"]
    for at in np.flatnonzero((epoch[1:] < epoch[:-1]) & (step[1:] > step[:-1])) + 1:
        said = f"the epoch fell back from {epoch[at - 1]:g} to {epoch[at]:g}"
        yield Event("resume", int(step[at]), text=said, where=str(reading.path))


def _take_columns(
    columns: dict[str, FloatArray], first: int, found: dict[str, list[_Rows]], bad: list[int]
) -> int:
    """Take rows of numbers, the first of them row `first` of the log; return the row behind."""
    unknown = np.full_like(next(iter(columns.values())), NOT_KNOWN)
    step, epoch = columns.get("step", unknown), columns.get("epoch", unknown)
    number = np.arange(first, first + len(step))
    good = np.abs(step) < MAX_STEP
    bad += number[~good].tolist()
    shared: dict[bytes, _Rows] = {}  # of metrics that were logged in the same rows
    for name, value in columns.items():
        logged = good & ~np.isnan(value)
        if name not in NOT_METRICS and logged.any():
            rows = _Rows(number, step, value, epoch)
            if not logged.all():
                which = logged.tobytes()
                shared[which] = shared.get(which) or rows.at(logged)
                rows = shared[which]._replace(value=value[logged])
            found.setdefault(name, []).append(rows)
    return first + len(step)


def _take_rows(
    log: list[Any],
    first: int,
    found: dict[str, list[_Rows]],
    bad: list[int],
    reading: SourceReading,
) -> int:
    """Take rows of any kind, as `_take_columns`; those of the same keys together."""
    alike: dict[tuple[str, ...], list[int]] = {}
    log = [dict(_flat(row)) if _is_nested(row) else row for row in log]
    for number, row in enumerate(log):
        if isinstance(row, dict):
            alike.setdefault(tuple(row), []).append(number)
        else:
            bad.append(first + number)
    for keys, numbers in alike.items():
        rows = [log[number] for number in numbers]
        step = _numbers([row.get("step") for row in rows])
        good = np.abs(step) < MAX_STEP
        at = np.array(numbers) + first
        bad += at[~good].tolist()
        epoch = _numbers([row.get("epoch") for row in rows])
        if SUMMARY in keys and "loss" not in keys:
            reading.hints.summary |= bool(good.any())
            mean = _numbers([row.get(MEAN) for row in rows])
            known = good & ~np.isnan(mean)
            found.setdefault(SUMMARY, []).append(_Rows(at, step, mean, epoch).at(known))
            continue
        for name in keys:
            if name not in NOT_METRICS:
                values = [row[name] for row in rows]
                logged = good & _logged(name, values)
                if logged.any():
                    some = _Rows(at, step, _numbers(values), epoch)
                    found.setdefault(name, []).append(some if logged.all() else some.at(logged))
    return first + len(log)


def _is_nested(row: object) -> bool:
    return isinstance(row, dict) and any(isinstance(value, dict) for value in row.values())


def _flat(row: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the values of a row; those of what `evaluate` returns of a metric as if each were one.

    ``"eval_accuracy": {"accuracy": 0.9}`` is that accuracy, ``"eval_LOC": {"f1": 0.8}`` is
    ``eval_LOC_f1``, as the examples of transformers write it.
    """
    for key, value in row.items():
        for name, inner in value.items() if isinstance(value, dict) else (("", value),):
            said = not name or key.removeprefix("eval_") == name
            yield key if said else f"{key}_{name}", inner


def _numbers(values: list[Any]) -> FloatArray:
    """Return values as numbers; NaN for what is none."""
    if set(map(type, values)) <= {int, float}:
        with suppress(OverflowError):
            return np.array(values, dtype=np.float64)
    numbers = (as_number(value) for value in values)
    return np.array([NOT_KNOWN if n is None else n for n in numbers], dtype=np.float64)


def _logged(name: str, values: list[Any]) -> BoolArray:
    """Tell which values are numbers. A grad_norm of null is a NaN that was logged."""
    if set(map(type, values)) <= {int, float}:
        return np.ones(len(values), dtype=np.bool_)
    null = name == "grad_norm"
    return np.array([as_number(v) is not None or (null and v is None) for v in values])


def _series(parts: list[_Rows], kept: dict[tuple[int, ...], FloatArray]) -> Series:
    """Join the parts of a metric; `kept` has the columns that were joined, by what they are of."""

    def joined(column: tuple[FloatArray, ...], dtype: type) -> Any:  # noqa: ANN401 - of that type
        key = tuple(map(id, column))
        if key not in kept:
            kept[key] = np.concatenate(column, dtype=dtype, casting="unsafe")
        return kept[key]

    types = (np.int64, np.int64, np.float64, np.float64)
    rows = _Rows._make(map(joined, zip(*parts, strict=True), types))
    if (rows.row[1:] < rows.row[:-1]).any():
        rows = rows.at(np.argsort(rows.row))
    return series(rows.step, rows.value, rows.epoch)


def _tell_bad(bad: list[int], rows: int, reading: SourceReading) -> None:
    if bad:
        where = ", ".join(str(number) for number in bad[:SHOWN_ROWS])
        more = "..." if len(bad) > SHOWN_ROWS else ""
        text = f"has log_history rows without a step (row {where}{more})"
        lost = f"{len(bad)} of {rows} rows"
        reading.problems.append(Problem(str(reading.path), text, lost))
