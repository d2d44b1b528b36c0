"""Rows of named numbers, as CSV and JSON Lines hold them, turned into series by step.

Which column is the step, which rows belong to which launch, which rows are a split's: a table
says none of it in one agreed way, so it is concluded here, once for all formats of this kind.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from runlens.arrays import unique
from runlens.history import NOT_KNOWN, BoolArray, FloatArray, IntArray
from runlens.metrics import naming, plain
from runlens.naming import classify
from runlens.naming.agents import of_population, tells_of_agent
from runlens.naming.beside import told_beside
from runlens.records import NamedTuple
from runlens.run import Problem
from runlens.sources.files import IN_CONFLICT, first_side, read_bytes
from runlens.sources.merging.align import INFERRED
from runlens.sources.reading import MAX_STEP, Hints, Precision, Series, SourceReading, instant
from runlens.sources.tables.axis import FEW, Axis, axis_of, lengths
from runlens.sources.tables.emptied import emptied
from runlens.sources.tables.evaluated import with_evaluations
from runlens.sources.tables.groups import named_apart, of_trials, trainings
from runlens.sources.tables.held import Column, Table, spread
from runlens.sources.tables.launches import LAG, launches, slack_of
from runlens.sources.tables.long import widened
from runlens.sources.tables.names import (
    EPOCHS,
    PLANNED_EPOCHS,
    PLANNED_STEPS,
    SETTINGS,
    SPLIT_NAMES,
    SPLITS,
    TIMES,
    TRAININGS,
    VALUES,
    WITHIN_STEP,
    has_metric,
    is_kept,
    is_step,
    is_varied,
)
from runlens.sources.tables.no_course import of_no_course
from runlens.sources.tables.panels import of_panel
from runlens.sources.tables.plan import names_settings, planned_in, with_plan
from runlens.sources.tables.sets import with_sets_apart
from runlens.sources.tables.sums import summed
from runlens.sources.tags import FRAMEWORKS, SAYS_SPLIT
from runlens.wording import count

MAX_LOG = 256 * 2**20  # bytes of one log that are read
SECONDS, MILLISECONDS = (1e9, 4e9), (1e12, 4e12)  # since 1970, of the years 2001 to 2096
FIVE_DIGITS = 4  # places behind the first digit
MOST_TRIALS = 100  # rows: a longer search is told, not listed
ENOUGH = 10  # values from which rounding can be told


def log_bytes(reading: SourceReading) -> bytes:
    """Return the bytes of a log; of one that is too long its first whole lines, and say so.

    Raises Unreadable where the file cannot be read.
    """
    whole = read_bytes(reading.path, MAX_LOG)
    if (data := first_side(whole)) is not whole:
        reading.problems.append(Problem(str(reading.path), IN_CONFLICT, "the other side"))
    more = reading.path.stat().st_size - MAX_LOG
    if more <= 0:
        return data
    text = f"is too long; only its first {MAX_LOG / 2**20:.0f} MiB were read"
    reading.problems.append(Problem(str(reading.path), text, f"{more / 2**20:.0f} MiB"))
    return data[: data.rfind(b"\n") + 1] or data


def fill(reading: SourceReading, table: Table) -> None:
    """Turn the rows into the series of a reading, with its plan, framework and precision.

    Where trainings stand side by side, each is a part of the reading.
    """
    table = with_plan(with_sets_apart(with_evaluations(widened(table))))
    reading.of_agent = reading.of_agent or tells_of_agent(table.columns)
    _side_by_side(reading, table)
    if reading.parts:
        return
    metrics = _metrics(table)
    if not metrics:
        return
    for name, lost in emptied(table, metrics).items():
        metrics[name] = lost
        begin = int(lost.row[np.isnan(lost.value)][0])
        where = f"from row {begin + 1:,} on, where it had a number in each row before"
        where = where if np.isfinite(lost.value).any() else "in every row"
        text = f"{name} is empty {where}: taken as NaN"
        reading.problems.append(Problem(str(reading.path), text))
    main = _main(metrics)
    axis = axis_of(table, main)
    metrics.pop(axis.name, None)
    metrics |= lengths(table, axis.name)
    fittest = of_population(metrics, axis.name)
    metrics = {fittest.get(name, name): column for name, column in metrics.items()}
    if not is_step(axis.name) and (varied := _varied(table, searched=bool(axis.name))):
        _tell_trials(reading, table, metrics, varied)
        return
    if why := of_no_course(table, axis.name, reading.path):
        reading.problems.append(Problem(str(reading.path), why, count(table.rows, "row")))
        return
    if axis.inferred and table.rows > 1:
        reading.steps_inferred = True
        reading.problems.append(Problem(str(reading.path), f"{INFERRED}; {axis.inferred}"))
    slack = slack_of(axis.step[main.row])
    launch = launches(table.rows, axis.step, main.row, slack, _data_of(table))
    epoch, time = _epochs(table, axis), _times(table)
    metrics = _without_sums(reading, metrics, epoch)
    _fill_series(reading, _by_split(table, metrics), _Rows(axis.step, epoch, time, launch), slack)
    _tell_plan(reading, table, axis, epoch)
    reading.precision = _precision(metrics.values(), reading.precision)
    known = (who for who, needed in FRAMEWORKS if needed <= table.columns.keys())
    reading.framework = reading.framework or next(known, "")


def _tell_trials(
    reading: SourceReading, table: Table, metrics: Mapping[str, Column], varied: Sequence[str]
) -> None:
    """Read each row as a training with settings of its own, where they are few and have scores."""
    text = f"is a table of trials, no curve: {' and '.join(varied)} differ from row to row"
    settings = {name for name in metrics if plain(name) in TRAININGS or _is_set(name)}
    scores = {name: one for name, one in metrics.items() if name not in settings}
    if table.rows > MOST_TRIALS or not (has_metric(scores) or VALUES & set(map(plain, scores))):
        reading.problems.append(Problem(str(reading.path), text, count(table.rows, "row")))
        return
    reading.problems.append(Problem(str(reading.path), f"{text}; each was read as a single point"))
    unknown = np.full(1, NOT_KNOWN)
    named = named_apart(table) or [f"trial ({row + 1})" for row in range(table.rows)]
    for row, label in enumerate(named):
        part = in_part(reading, label)
        for name, column in table.columns.items():
            value = column.value[column.row == row]
            if len(value) and name in scores:
                first, none = np.ones(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
                part.series[name] = Series(first, value[:1], unknown, unknown, none)
            elif len(value) and _is_set(name):
                part.config = {**part.config, name: float(value[0])}


class _Rows(NamedTuple):
    """Where each row of a table stands; arrays of shape (rows,)."""

    step: IntArray
    epoch: FloatArray
    time: FloatArray
    launch: IntArray


def _fill_series(
    reading: SourceReading, metrics: Mapping[str, Column], rows: _Rows, slack: int
) -> None:
    """Turn columns into series, with one value a step; each environment of an agent has its own."""
    left = once = 0
    for name, column in metrics.items():
        kept, differing = _first(rows.step[column.row], column.value, rows.launch[column.row])
        if differing and classify(name).quantity == "reward" and reading.of_agent:
            kept, differing = np.arange(len(column.row)), 0  # each of an environment of its own
        if (column.value[1:] < column.value[:-1]).any():  # a clock goes on within a step
            left += differing
        once += len(kept) < len(column.row)
        row, value = column.row[kept], column.value[kept]
        reading.series[name] = Series(
            rows.step[row], value, rows.epoch[row], rows.time[row], rows.launch[row]
        )
    if slack and once:
        text = (
            "has most steps more than once, as several processes write to it; each was counted once"
        )
        reading.problems.append(Problem(str(reading.path), text))
    if left and not slack:
        text = "has some steps twice with different values; the first value was used"
        reading.problems.append(Problem(str(reading.path), text, count(left, "number")))


def _without_sums(
    reading: SourceReading, metrics: dict[str, Column], epoch: FloatArray
) -> dict[str, Column]:
    ends = summed(metrics, epoch)
    for name in ends:
        text = f"{name} is added up within each epoch: its last row of each was taken"
        reading.problems.append(Problem(str(reading.path), text))
    return {**metrics, **ends}


def _side_by_side(reading: SourceReading, table: Table) -> None:
    for label, rows in of_panel(table) or trainings(table):
        fill(in_part(reading, label), rows)


def in_part(reading: SourceReading, label: str) -> SourceReading:
    """Return a new part of a reading, for one of the trainings that stand side by side."""
    part = replace(
        reading, series={}, hints=Hints(), problems=[], parts=[], run_name=label, run_id=label,
        in_store=True,
    )  # fmt: skip
    reading.parts.append(part)
    return part


def _main(metrics: Mapping[str, Column]) -> Column:
    """Return the metric whose rows say how a table goes on: the loss, if most rows have it."""
    longest = max(metrics.values(), key=lambda column: len(column.row))
    losses = [column for name, column in metrics.items() if naming(name).metric == "train_loss"]
    return next((one for one in losses if len(one.row) >= FEW * len(longest.row)), longest)


def _metrics(table: Table) -> dict[str, Column]:
    metrics: dict[str, Column] = {}
    beside = told_beside(table.columns)
    for name, column in table.columns.items():
        word = plain(name)
        kept = is_kept(name, table.rows) and _constant(column)
        if kept or (is_step(name) and not _is_total(name, column)):
            continue
        if word in TIMES and len(_seconds(column.value)):
            continue
        if word in WITHIN_STEP and (np.floor(column.value) == column.value).all():
            continue  # "acc_step": of 0.5 it is an accuracy at a step
        measured = ~_placeholders(column.value)
        metrics[beside.get(name, name)] = Column(column.row[measured], column.value[measured])
    return metrics


def _is_total(name: str, column: Column) -> bool:
    """Whether what is called ``T`` has decimals: no time step then."""
    return name == "T" and bool((np.floor(column.value) != column.value).any())


def _varied(table: Table, *, searched: bool) -> list[str]:
    """Return the columns of settings that have more than one value.

    Where rows are numbered, only those that a search names so: ``params_lr``.
    """
    named = sorted(n for n in table.columns if is_varied(n) or (_is_set(n) and not searched))
    varied = [name for name in named if not _constant(table.columns[name])]
    varied += [n for n, said in table.words.items() if is_varied(n) and len({*said.values()}) > 1]
    return varied or ["what names its trainings"] * (not searched and of_trials(table))


def _is_set(name: str) -> bool:
    return plain(name) in SETTINGS or is_varied(name)


def _constant(column: Column) -> bool:
    return len(unique(column.value)) <= 1


def _placeholders(value: FloatArray) -> BoolArray:
    """Tell which NaN only mean "not measured here": most rows, with numbers between them.

    A loss that became NaN stays so, or is NaN now and then; it does not come back by the clock.
    """
    nan: BoolArray = np.isnan(value)
    back = np.count_nonzero(nan[:-1] & ~nan[1:])
    regular = back >= LAG and nan.mean() >= FEW and back >= FEW * np.count_nonzero(~nan)
    return nan if regular else np.zeros(len(value), dtype=np.bool_)


def _data_of(table: Table) -> list[str]:
    """Return the data of each row, where a column says that of all; else nothing."""
    for name, words in table.words.items():
        if plain(name) in SPLIT_NAMES and len(words) == table.rows:
            return [SPLITS.get(words[row].strip().lower(), "") or "" for row in range(table.rows)]
    return []


def _first(step: IntArray, value: FloatArray, launch: IntArray) -> tuple[IntArray, int]:
    """Return the first row of each step of each launch; and how many others say another value."""
    last = int(step.max(initial=0)) + 1
    _, first, same = np.unique(launch * last + step, return_index=True, return_inverse=True)
    said = value[first][same]
    differs = (value != said) & ~(np.isnan(value) & np.isnan(said))
    places: IntArray = first.astype(np.int64)
    return places, int(differs.sum())


def _column(table: Table, names: Collection[str]) -> Column | None:
    return next((col for name, col in table.columns.items() if plain(name) in names), None)


def _epochs(table: Table, axis: Axis) -> FloatArray:
    """Return the epoch of each row; where it is the step and counts from 0, one more is done."""
    column = _column(table, EPOCHS)
    if column is None:
        return np.full(table.rows, NOT_KNOWN)
    epoch = spread(table.rows, column)
    return epoch + 1 if plain(axis.name) in EPOCHS and np.nanmin(epoch) == 0 else epoch


def _times(table: Table) -> FloatArray:
    """Return the time of each row in seconds since 1970; NaN where unknown."""
    for name, column in table.columns.items():
        seconds = _seconds(column.value) if plain(name) in TIMES else ()
        if len(seconds):
            return spread(table.rows, Column(column.row, np.asarray(seconds)))
    for name, words in table.words.items():
        if plain(name) in TIMES:
            stamps = np.array([instant(word.strip()) for word in words.values()])
            if np.isfinite(stamps).any():
                return spread(table.rows, Column(np.array(list(words)), stamps))
    return np.full(table.rows, NOT_KNOWN)


def _seconds(value: FloatArray) -> FloatArray:
    """Return time stamps in seconds; nothing where these are other numbers."""
    known = value[np.isfinite(value)]
    for (low, high), unit in ((SECONDS, 1.0), (MILLISECONDS, 1e-3)):
        if len(known) and low <= known.min() and known.max() < high:
            return value * unit
    return value[:0]


def _by_split(table: Table, metrics: dict[str, Column]) -> dict[str, Column]:
    """Name the rows of validation so, where a column tells them apart from those of training."""
    for name, words in table.words.items():
        known = {row: SPLITS.get(word.strip().lower()) for row, word in words.items()}
        if plain(name) in SPLIT_NAMES and known and None not in known.values():
            return _divided(table.rows, metrics, known)
    return metrics


def _divided(
    rows: int, metrics: dict[str, Column], known: Mapping[int, str | None]
) -> dict[str, Column]:
    prefixes = sorted({prefix for prefix in known.values() if prefix is not None})
    code = np.zeros(rows, dtype=np.int64)
    for row, prefix in known.items():
        code[row] = prefixes.index(prefix or "")
    divided: dict[str, Column] = {}
    for name, column in metrics.items():
        for number, prefix in enumerate(prefixes):
            mine = code[column.row] == number
            if mine.any():
                called = name if SAYS_SPLIT.match(name) else f"{prefix}{name}"
                divided[called] = Column(column.row[mine], column.value[mine])
    return divided


def _tell_plan(reading: SourceReading, table: Table, axis: Axis, epoch: FloatArray) -> None:
    hints = reading.hints
    hints.done_epochs = _done_epochs(axis, epoch)
    steps, epochs = _column(table, PLANNED_STEPS), _column(table, PLANNED_EPOCHS)
    if steps is not None and _constant(steps) and MAX_STEP > steps.value[0] >= axis.step.max() > 0:
        hints.planned_steps = int(steps.value[0])
    elif plan := planned_in(reading.config, axis.name, int(axis.step.max(initial=0))):
        hints.planned_steps = plan
    if epochs is not None and _constant(epochs) and epochs.value[0] > 0:
        hints.planned_epochs = float(epochs.value[0])
    elif table.rows == 1 and plain(axis.name) == "epochs" and names_settings(table):
        hints.planned_epochs = hints.done_epochs  # a result: so many it was given


def _done_epochs(axis: Axis, epoch: FloatArray) -> float | None:
    """Return how many epochs were done; None where the epochs' count does not tell.

    Lightning counts epochs from 0 and writes whole ones: how much of the last was done is told
    by the steps of those before it.
    """
    known = np.isfinite(epoch)
    step, epoch = axis.step[known], epoch[known]
    if not len(epoch):
        return None
    last = float(epoch.max())
    if plain(axis.name) in EPOCHS or (np.floor(epoch) != epoch).any():
        return last
    if epoch.min() != 0 or last == 0:
        return None
    before = int(step[epoch < last].max())
    return min(last * (int(step.max()) + 1) / (before + 1), last + 1)


def _precision(columns: Iterable[Column], known: Precision) -> Precision:
    """Return "rounded" where all numbers were written with five digits or fewer."""
    value = np.concatenate([np.empty(0), *(column.value for column in columns)])
    value = value[np.isfinite(value) & (np.floor(value) != value)]
    if len(value) < ENOUGH:
        return known
    with np.errstate(over="ignore", invalid="ignore"):  # of numbers near the smallest one
        scale = 10.0 ** (FIVE_DIGITS - np.floor(np.log10(np.abs(value))))
        exact = np.isclose(np.round(value * scale) / scale, value, rtol=1e-12, atol=0)
    return "rounded" if exact.all() else known
