"""Dict rows of a log, as the Trainer prints them, at the steps that the log tells around them."""

from collections.abc import Sequence

import numpy as np

from runlens.history import NOT_KNOWN
from runlens.sources.console.bars import Bars
from runlens.sources.console.dicts import KINDS, SUMMARY, Rows, without_echoes
from runlens.sources.console.records import MAX_STEP, Placed, Record, Records
from runlens.sources.console.resumed_weights import after_resumes
from runlens.sources.console.rows import Found
from runlens.sources.console.steps import Known, place
from runlens.sources.reading import SourceReading, as_number
from runlens.sources.trainings import of_launches

HEAD = 400  # lines in which a program names itself
RATE, MEAN = "train_steps_per_second", "train_loss"
HALF = 0.5  # of a step: what rounding of the rate may leave
CLOSED = "holds closing rows of trainings and no course of one, so each was read as a single point"
RATE_DIGIT = 1e-3  # the last that the Trainer prints of it
_BY_WORD = {"axolotl": "axolotl", "loss_train, loss_test": "deepxde"}  # of the first lines
_KNOWN = (
    "planned_steps",
    "num_train_epochs",
    "logging_steps",
    "max_steps",
    "num_examples",
    "total_train_batch_size",
)


def dict_rows(
    reading: SourceReading, rows: Rows, bars: Bars, others: Sequence[tuple[int, str]] = ()
) -> tuple[Records, Placed]:
    """Give the dict rows their steps; the closing row is a hint, not a point.

    `others` are the lines around them.
    """
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
    placed = after_resumes(placed, rows, others)
    kept = ~rows.are("summary")
    training = of_launches(placed.step[kept], placed.launch[kept])
    return rows.records.taken(kept), placed.taken(kept)._replace(training=training)


def closings(rows: Rows) -> Found:
    """Return the closing rows of trainings of which a log shows nothing else: a point each.

    Their loss is the mean of all steps; of one that had none left, resumed at its end, it is 0.
    """
    found: list[tuple[int, Record]] = []
    for names, number, values in rows.records.layouts:
        for at, row in zip(number.tolist(), values.tolist(), strict=True):
            said = dict(zip(names, row, strict=True))
            if rows.kind[at] == KINDS.index("summary") and said.get(MEAN):
                line, epoch = int(rows.records.at[at]), float(rows.records.epoch[at])
                exact = said[SUMMARY] * RATE_DIGIT / 2 < HALF
                steps = said[SUMMARY] * said.get(RATE, NOT_KNOWN) if exact else NOT_KNOWN
                step = round(steps) if HALF < steps < MAX_STEP else 1
                found.append((step, Record(line, (MEAN,), (said[MEAN],), epoch)))
    found.sort(key=lambda one: one[1].at)
    number = np.arange(len(found), dtype=np.int64)
    step = np.array([step for step, _ in found], dtype=np.int64)
    places = Placed(step, number, True, CLOSED if found else "", number)
    return Found([record for _, record in found], places)


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
    head = "\n".join(line for _, line in others[:HEAD])
    known = (framework for word, framework in _BY_WORD.items() if word in head)
    if told := next(known, ""):
        return told
    names = rows.records.names(50)
    if names & {"num_updates", "train_num_updates"}:
        return "fairseq"
    return "transformers" if names & {"grad_norm", "learning_rate", "train_runtime"} else ""
