"""Rows of other layouts beside those of a known one: each at the step that it shows, or between."""

from collections.abc import Container, Sequence

import numpy as np

from runlens.history import NOT_KNOWN, IntArray
from runlens.metrics import naming
from runlens.naming import classify
from runlens.patterns import lazy_re
from runlens.sources.console.records import Record, before
from runlens.sources.console.rows import Found, Row
from runlens.sources.console.telling import tells

_LOST_NORM = lazy_re(r"(?i)\bgrad(?:ient)?[ _]norm is [-+]?(?:nan|inf)\b")
_NORM = lazy_re(
    r"\s*(?:\[?(?:DEBUG|INFO)\]?:?\s+)?(?:total[ _])?grad(?:ient)?[ _]?norm\s*[=:]\s*"
    r"(\d+(?:\.\d*)?(?:e[-+]?\d{1,3})?|nan|inf)\s*",
    2,  # re.IGNORECASE
)
Added = tuple[int, tuple[str, ...], tuple[float, ...], int]  # line, names, values, place
MOSTLY = 0.8  # share of the records that say again what stands above them
NOWHERE, AHEAD = -1, -2  # places of rows that are left out, and of those above the first record


def with_others(known: Found, learned: list[Row]) -> Found:
    """Add the rows of other layouts to those of a known one, each at the step that it shows."""
    names = {naming(name).metric for record in known.records for name in record.names}
    done = int(known.placed.step.max(initial=0))
    rows = [_of_steps(row._replace(names=_held_out(row.names, names)), done) for row in learned]
    ends = len(rows) <= 1 + int(known.placed.launch.max(initial=0))  # at most one of each training
    if ends and is_held_out(known):
        rows = [row._replace(names=tuple(map(_of_it, row.names))) for row in rows]
    few = 2 * len(rows) <= len(known.records)
    rows = [_of_epoch(row, names) for row in rows] if few else rows
    rows = [row for row in rows if not any(naming(name).metric in names for name in row.names)]
    at = np.array([record.at for record in known.records], dtype=np.int64)
    place = np.array([_beside(known, at, row) for row in rows], dtype=np.int64)
    for names_of in {row.names for row in rows}:
        mine = [n for n, row in enumerate(rows) if row.names == names_of]
        above = _above(known, at, [rows[n] for n in mine])
        place[[mine[n] for n in above]] = np.arange(len(above))
    again = {rows[n].names for n in np.flatnonzero(place >= 0).tolist()}
    kept = [
        n
        for n, row in enumerate(rows)
        if any(map(tells, row.names)) and place[n] != NOWHERE and row.names in again
    ]
    where = [*zip(known.placed.launch.tolist(), known.placed.step.tolist(), strict=True)]
    if len({where[place[n]] if place[n] >= 0 else (0, AHEAD) for n in kept}) < 2:  # noqa: PLR2004 - one step is no course
        return known
    added = [(rows[n].at, rows[n].names, rows[n].values, int(place[n])) for n in kept]
    return inserted(known, added)


def is_held_out(known: Found) -> bool:
    """Whether all that records measure is of held-out data: so is what closes them."""
    named = {name for record in known.records for name in record.names if tells(name)}
    return bool(named) and all(classify(name).split in {"val", "test"} for name in named)


def _of_it(name: str) -> str:
    return f"val/{name}" if tells(name) and not classify(name).split else name


def _of_steps(row: Row, done: int) -> Row:
    """Return a row without the step that it names, if it counts to fewer than were done.

    ``Task 2/5 test loss 0.5`` behind the epochs of each task.
    """
    other = 0 < row.counted.steps < done
    return row._replace(counted=row.counted._replace(step=-1, steps=-1)) if other else row


def _of_epoch(row: Row, known: Container[str]) -> Row:
    """Return a row whose names that are known are those of an epoch, beside held-out data.

    ``train loss 0.5 valid loss 0.6`` behind a bar with the loss of each batch.
    """
    if not any(classify(name).split in {"val", "test"} for name in row.names):
        return row
    means = (f"epoch {n}" if naming(n).metric in known else n for n in row.names)
    return row._replace(names=tuple(means))


def _held_out(names: tuple[str, ...], known: Container[str]) -> tuple[str, ...]:
    """Return names with the data of the first, where other rows have the same of the training.

    ``Validation loss=0.5, accuracy=0.8`` beside rows with an accuracy of their own.
    """
    split = classify(names[0]).split
    if split not in {"val", "test"}:
        return names
    alike = (not classify(n).split and naming(n).metric in known for n in names)
    return tuple(f"{split}/{n}" if one else n for n, one in zip(names, alike, strict=True))


def inserted(known: Found, added: Sequence[Added]) -> Found:
    """Add records, each at the place of the known one that it names, or one interval before all."""
    epochs = [*(record.epoch for record in known.records), NOT_KNOWN, NOT_KNOWN]
    new = [Record(at, names, some, epochs[n]) for at, names, some, n in added]
    records = [*known.records, *new]
    order = sorted(range(len(records)), key=lambda n: records[n].at)
    where = np.array([*range(len(known.records)), *(n for *_, n in added)], dtype=np.int64)[order]
    taken = known.placed.taken(np.maximum(where, 0))
    step = np.where(where == AHEAD, before(known.placed.step.tolist()), taken.step)
    return known._replace(records=[records[n] for n in order], placed=taken._replace(step=step))


def with_lost_norms(known: Found, others: Sequence[tuple[int, str]]) -> Found:
    """Add the gradient norms of steps that were left out: ``The grad norm is nan. Skipping...``.

    Such a line stands before the row of its interval, whose other steps it says nothing of.
    """
    said = [at for at, line in others if "norm is " in line and _LOST_NORM.search(line)]
    named = (naming(name).metric for record in known.records for name in record.names)
    if not said or not known.records or "grad_norm" in named:
        return known
    at = np.array([record.at for record in known.records], dtype=np.int64)
    last = len(at) - 1
    of_record = {min(int(np.searchsorted(at, line)), last): line for line in said}
    added = [(line, ("grad_norm",), (NOT_KNOWN,), place) for place, line in of_record.items()]
    return inserted(known, added)


def with_norms(known: Found, others: Sequence[tuple[int, str]]) -> Found:
    """Add the gradient norm that stands alone in a line between each two rows: ``grad_norm = 3.2``.

    It is that of the step whose last row is below where the first of them stands above the first of
    these, else of the step above. Where a step has none or two, nothing says which it belongs to.
    """
    named = (naming(name).metric for record in known.records for name in record.names)
    said = [(at, float(norm[1])) for at, line in others if (norm := _NORM.fullmatch(line))]
    if not said or "grad_norm" in named:
        return known
    step = known.placed.step
    last = np.flatnonzero(np.append(np.diff(step) != 0, True))  # row of each step
    at = np.array([known.records[row].at for row in last.tolist()], dtype=np.int64)
    lines = np.array([line for line, _ in said])
    below = int(lines[0] > at[0])
    if not np.array_equal(np.searchsorted(at, lines) - below, np.arange(len(at))):
        return known
    added = [
        (line, ("grad_norm",), (norm,), row)
        for row, (line, norm) in zip(last.tolist(), said, strict=True)
    ]
    return inserted(known, added)


def _beside(known: Found, at: IntArray, row: Row) -> int:
    """Return which of the records, at lines `at` of shape (n,), a row between them belongs to.

    It is the nearest of the step that the row names, else the one before, or the next where the
    row names its epoch. A row above all of them that names none is ahead.
    """
    alike = np.flatnonzero(known.placed.step == row.counted.step)
    if len(alike):
        return int(alike[np.abs(at[alike] - row.at).argmin()])
    following = int(np.searchsorted(at, row.at))
    named = row.counted.epoch + _from_zero(known)
    same = following < len(at) and known.records[following].epoch == named
    if following == 0 and not same and row.counted.epoch >= 0:  # they tell of it later on
        epochs = (n for n, one in enumerate(known.records) if one.epoch == named)
        return next(epochs, NOWHERE)
    if same or following:
        return following if same else following - 1
    return AHEAD if row.counted.step < 0 else NOWHERE


def _above(known: Found, at: IntArray, rows: Sequence[Row]) -> list[int]:
    """Return which rows, of the same names, each stand above a record that closes what they tell.

    So it is where one does above every record, and none is left behind the last; or where most
    records say a number of it again. Of several the nearest is meant. A counter that stands still
    at most of them is none of theirs.
    """
    if len({row.counted[:6] for row in rows}) > max(1, (1 - MOSTLY) * len(rows)):
        return []
    following = np.searchsorted(at, [row.at for row in rows])
    nearest = dict(zip(following.tolist(), range(len(rows)), strict=True))
    if not all(n in nearest for n in range(len(at))):
        return []
    above = [nearest[n] for n in range(len(at))]
    said = [
        not set(rows[n].values).isdisjoint(one.values)
        for n, one in zip(above, known.records, strict=True)
    ]
    return above if len(at) not in nearest or sum(said) >= MOSTLY * len(at) else []


def _from_zero(known: Found) -> int:
    """Return 1 where all records are of epochs that are over, counted from 0; else 0."""
    epoch = np.array([record.epoch for record in known.records])
    return int(known.placed.inferred and bool((epoch == known.placed.step + 1).all()))
