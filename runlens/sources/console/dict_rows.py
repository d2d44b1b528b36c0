"""Dict rows of a log, as the Trainer prints them, at the steps that the log tells around them."""

from collections.abc import Sequence

from runlens.history import NOT_KNOWN
from runlens.sources.console.bars import Bars
from runlens.sources.console.dicts import SUMMARY, Rows, without_echoes
from runlens.sources.console.records import MAX_STEP, Placed, Records
from runlens.sources.console.steps import Known, place
from runlens.sources.reading import SourceReading, as_number
from runlens.sources.trainings import of_launches

HEAD = 400  # lines in which a program names itself
RATE = "train_steps_per_second"
RATE_DIGIT = 1e-3  # the last that the Trainer prints of it
_KNOWN = (
    "planned_steps",
    "num_train_epochs",
    "logging_steps",
    "max_steps",
    "num_examples",
    "total_train_batch_size",
)


def dict_rows(reading: SourceReading, rows: Rows, bars: Bars) -> tuple[Records, Placed]:
    """Give the dict rows their steps; the closing row is a hint, not a point."""
    rows = without_echoes(rows, bars)
    config = {key: _bounded(reading.config.get(key)) for key in _KNOWN}
    if config["planned_steps"]:
        reading.hints.planned_steps = int(config["planned_steps"])
    if config["num_train_epochs"] and config["num_train_epochs"] > 0:
        reading.hints.planned_epochs = config["num_train_epochs"]
    planned_epochs = None if (config["max_steps"] or 0) > 0 else reading.hints.planned_epochs
    known = Known(
        config["planned_steps"] or _steps_of_summary(rows),
        planned_epochs,
        config["logging_steps"],
        config["num_examples"],
        config["total_train_batch_size"],
    )
    placed = place(rows, bars, known)
    kept = ~rows.are("summary")
    training = of_launches(placed.step[kept], placed.launch[kept])
    return rows.records.taken(kept), placed.taken(kept)._replace(training=training)


def _steps_of_summary(rows: Rows) -> float | None:
    """Return the steps of a run as its closing row tells them: seconds times steps a second.

    None where three decimals of a rate are too few to tell how many steps lie between two rows.
    """
    summaries, trained = rows.are("summary"), int(rows.are("train").sum())
    if summaries.sum() != 1 or not trained:
        return None
    (layout,) = rows.records.taken(summaries).layouts
    said = dict(zip(layout.names, layout.values[0].tolist(), strict=True))
    seconds, rate = said.get(SUMMARY, NOT_KNOWN), said.get(RATE, NOT_KNOWN)
    steps = seconds * rate
    exact = seconds * RATE_DIGIT / 2 < steps / trained / 4
    return float(round(steps)) if exact and steps < MAX_STEP else None


def _bounded(value: object) -> float | None:
    """Return a number that may count; data without a length is planned for sys.maxsize epochs."""
    number = as_number(value)
    return number if number is not None and abs(number) < MAX_STEP else None


def framework_of(others: Sequence[tuple[int, str]], rows: Rows) -> str:
    """Return what wrote a log, by its first lines and the names in its dicts; empty: not known."""
    if "axolotl" in "\n".join(line for _, line in others[:HEAD]):
        return "axolotl"
    names = rows.records.names(50)
    if names & {"num_updates", "train_num_updates"}:
        return "fairseq"
    return "transformers" if names & {"grad_norm", "learning_rate", "train_runtime"} else ""
