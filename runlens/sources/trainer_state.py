"""Hugging Face Trainer: ``trainer_state.json``, in the output directory and in each checkpoint.

Its ``log_history`` is a list of dicts, each with ``step`` and ``epoch``. The file does not say
how the run ended: only a run that came to its end has the summary row (``train_runtime``), and
in that row ``train_loss`` is the mean over the whole run, not a point of the curve. A state in
a ``checkpoint-N`` folder is a snapshot. No times are in it. It is written in one go, over the
one before: a kill or a full disk leaves it cut, and the rows before the cut are still whole.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runlens.history import NOT_KNOWN
from runlens.run import Event, Problem
from runlens.sources.files import Unreadable, flat, parse_json, read_bytes, step_in_name
from runlens.sources.json_salvage import salvaged
from runlens.sources.reading import SeriesBuilder, SourceReading, as_number

LOOKS_FOR = "trainer_state.json"
FRAMEWORK = "Hugging Face Trainer, TRL, axolotl, LLaMA-Factory, ms-swift"
SETTINGS = (
    "num_train_epochs",
    "train_batch_size",
    "logging_steps",
    "eval_steps",
    "save_steps",
)
LOG = "log_history"
SUMMARY = "train_runtime"
NOT_METRICS = {"step", "epoch", "total_flos"}
SHOWN_ROWS = 3


def find(_place: Path, names: Mapping[Path, list[str]]) -> list[Path]:
    """List all trainer states."""
    return [folder / LOOKS_FOR for folder, files in names.items() if LOOKS_FOR in files]


def read(path: Path) -> SourceReading:
    """Read one trainer state."""
    reading = SourceReading(path, "trainer_state", framework="transformers")
    try:
        state = _state(read_bytes(path), reading)
    except Unreadable as error:
        reading.problems.append(Problem(str(path), str(error), "the whole file"))
        return reading
    if not isinstance(state, dict) or not isinstance(state.get(LOG), list):
        reading.problems.append(Problem(str(path), "holds no log_history", "the whole file"))
        return reading
    reading.config = {key: state[key] for key in SETTINGS if as_number(state.get(key)) is not None}
    _read_hints(state, reading)
    _read_log(state[LOG], reading)
    folder = path.parent
    if (step := step_in_name(folder.name)) >= 0:
        reading.hints.snapshot = True
        reading.events.append(
            Event("checkpoint", step, text=folder.name, where=str(path), data={"path": str(folder)})
        )
    return reading


def _state(data: bytes, reading: SourceReading) -> Any:  # noqa: ANN401 - JSON is of any type
    """Return the state; of one that was cut or damaged, the rows that are whole; or Unreadable."""
    try:
        return parse_json(data)
    except Unreadable as error:
        found = salvaged(data, LOG)
        if not found.rows:
            raise
        text = f"{error}; {len(found.rows):,} whole rows of its log_history were kept"
        lost = f"{found.lost:,} of {found.size:,} bytes"
        reading.problems.append(Problem(str(reading.path), text, lost))
        return {**found.values, LOG: found.rows}


def _read_hints(state: dict[str, Any], reading: SourceReading) -> None:
    hints = reading.hints
    planned, done = as_number(state.get("max_steps")), as_number(state.get("global_step"))
    hints.planned_steps = int(planned) if planned and 0 < planned < 1e15 else None  # noqa: PLR2004 - no step is that large
    hints.done_steps = int(done) if done is not None and 0 <= done < 1e15 else None  # noqa: PLR2004 - no step is that large
    hints.planned_epochs = as_number(state.get("num_train_epochs"))
    hints.done_epochs = as_number(state.get("epoch"))
    if best := state.get("best_model_checkpoint"):
        reading.config["best_model_checkpoint"] = str(best)
    callbacks = state.get("stateful_callbacks")
    stopping = flat(callbacks).items() if isinstance(callbacks, dict) else ()
    values = {key.rpartition(".")[2]: value for key, value in stopping if "EarlyStopping" in key}
    patience = as_number(values.get("early_stopping_patience"))
    waited = as_number(values.get("early_stopping_patience_counter"))
    if patience is not None:
        reading.config["early_stopping_patience"] = int(patience)
    if patience is not None and waited is not None and waited >= patience:
        hints.early_stopping = (
            f"EarlyStoppingCallback waited {waited:g} of {patience:g} evaluations"
        )


def _read_log(log: list[Any], reading: SourceReading) -> None:
    rows = SeriesBuilder()
    bad: list[int] = []
    for number, row in enumerate(log):
        step = as_number(row.get("step")) if isinstance(row, dict) else None
        if step is None or not abs(step) < 1e15:  # noqa: PLR2004 - no step is that large
            bad.append(number)
            continue
        if SUMMARY in row and "loss" not in row:
            reading.hints.summary = True
            continue
        epoch = as_number(row.get("epoch"))
        for name, value in row.items():
            if name in NOT_METRICS or not isinstance(name, str):
                continue
            number_logged = as_number(value)
            if number_logged is not None:
                rows.add(name, int(step), number_logged, NOT_KNOWN if epoch is None else epoch)
            elif value is None and name == "grad_norm":
                rows.add(name, int(step), NOT_KNOWN, NOT_KNOWN if epoch is None else epoch)
    if bad:
        where = ", ".join(str(number) for number in bad[:SHOWN_ROWS])
        text = (
            f"log_history rows without a step (row {where}{'...' if len(bad) > SHOWN_ROWS else ''})"
        )
        lost = f"{len(bad)} of {len(log)} rows"
        reading.problems.append(Problem(str(reading.path), text, lost))
    reading.series = rows.series()
