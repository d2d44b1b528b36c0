"""Whether a layout that was learned from a log is believed beside one that is known by its words.

A known layout is the fast way, and its steps are sure. A learned one is taken where it has what the
other lacks and loses nothing of it.
"""

import math
from collections.abc import Iterable, Mapping, Sequence

from runlens.metrics import naming
from runlens.naming import classify
from runlens.sources.console.beside import is_held_out
from runlens.sources.console.counters import Counted, counted, is_sure
from runlens.sources.console.mining.phrases import phrase
from runlens.sources.console.mining.slots import parts
from runlens.sources.console.records import COUNTED
from runlens.sources.console.rows import Found, Row
from runlens.sources.console.telling import telling, tells

MORE = 1.5  # times the numbers of the known layouts from which a learned layout is believed
AGAIN = 0.1  # of the known rows, from which others with the same metrics are no chance
FEWEST_AGAIN = 3  # such rows
LOSS = frozenset(("train_loss",))
FAR_MORE = 10  # times from which it is believed although it lacks something


def better(learned: Sequence[Row], known: Found) -> bool:
    """Whether a learned layout has far more of what trainings are judged by, and lacks little.

    Rows that count batches themselves would lose their steps beside those of a known layout.
    """
    mine, theirs = [row.names for row in learned], [record.names for record in known.records]
    more, less = telling(mine), telling(theirs)
    uncounted = all(max(row.counted[:6]) < 0 for row in learned)
    if not less and uncounted and len(learned) <= len(theirs):
        return False  # they stand at the steps of the known
    alone = all(row.counted.batch >= 0 for row in learned) or more > FAR_MORE * less
    if more > MORE * less:
        return alone or _measured(theirs) <= _measured(mine)
    return len(learned) > FAR_MORE * len(theirs) and all(counted_twice(r.counted) for r in learned)


def between_sure(learned: Sequence[Row], known: Found, lines: Mapping[int, str]) -> bool:
    """Whether learned rows count nothing, and stand between rows of a form that nothing else has.

    They are of a part of its batch: Darknet prints each of its layers.
    """
    uncounted = all(max(row.counted[:6]) < 0 for row in learned)
    found = uncounted and bool(known.records)
    return found and all(is_sure(lines.get(one.at, "")) for one in known.records)


def without_second_loss(
    learned: Sequence[Row], known: Found, lines: Mapping[int, str]
) -> list[Row]:
    """Return learned rows without those of a loss alone beside rows that tell where they stand.

    ``total_loss: 0.002`` between ``Epoch [1/10], Step [11/189], Loss: 0.67`` is of something else
    that the program works out: the loss of the training stands with its epoch and its step.
    """
    if not all(_says_where(lines.get(record.at, "")) for record in known.records):
        return list(learned)
    named = {name for record in known.records for name in record.names}
    if not LOSS & _measured([tuple(named)]):
        return list(learned)
    return [
        row
        for row in learned
        if LOSS.isdisjoint(_measured([row.names]))
        or not named.isdisjoint(row.names)
        or len(row.names) > 1
        or counted(lines.get(row.at, ""))
    ]


def _says_where(line: str) -> bool:
    """Whether a line names its epoch and its step in it."""
    count = counted(line)
    return count is not None and counted_twice(count)


def under_rows(learned: Sequence[Row], known: Found) -> bool:
    """Whether known rows are evaluations below lines that count and hold numbers without a name.

    ``val_loss: 0.5`` below ``Epoch 3: 0.45``: the number there is one of the training.
    """
    nameless = all(not any(map(tells, row.names)) for row in learned)
    counted = all(max(row.counted[:6]) >= 0 for row in learned)
    return nameless and counted and len(learned) >= len(known.records) > 0 and is_held_out(known)


def lacks(known: Found, lines: Mapping[int, str]) -> bool:
    """Whether a line of a layout names more than was taken of it."""
    firsts = {record.names: record.at for record in reversed(known.records)}
    for names, at in firsts.items():
        taken = parts(lines.get(at, ""))
        columns = phrase(taken.text, taken.marks).columns
        if _measured([tuple(column.name for column in columns)]) - _measured([names]):
            return True
    return False


def names_again(known: Found, learned: Sequence[Row]) -> bool:
    """Whether a good part of other rows has the metrics of the known ones, and more beside.

    Or one of them, at steps that they name, far oftener: the known ones are of evaluations.
    """
    theirs = [record.names for record in known.records]
    measured, widest = _measured(theirs), max(map(len, theirs), default=0)
    wider = [row.names for row in learned if len(row.names) > widest]
    again = sum(measured <= _measured([names]) for names in wider) if measured else 0
    own = [row.names for row in learned if row.counted.step >= 0]
    oftener = len(own) > MORE * len(theirs) and all(measured & _measured([one]) for one in set(own))
    return oftener or again >= max(FEWEST_AGAIN, AGAIN * len(theirs))


def loses_nothing(learned: Sequence[Row], known: Found) -> bool:
    """Whether a learned layout has each number of a known one, and others or better steps."""
    values = {row.at: dict(zip(row.values, row.names, strict=True)) for row in learned}
    for record in known.records:
        if record.at not in values:
            return False
        mine = values[record.at]
        for name, value in zip(record.names, map(float, record.values), strict=True):
            if tells(name) and not _same(name, mine.get(value, ""), value):
                return False
    placed = sum(max(row.counted.step, row.counted.batch) >= 0 for row in learned)
    finer = known.placed.doubt == COUNTED and 2 * placed > len(learned)
    return finer or telling(row.names for row in learned) > telling(
        record.names for record in known.records
    )


def alike_placed(found: Found, known: Found) -> bool:
    """Whether rows stand in the trainings, and at the steps, at which those of a layout do."""
    training, theirs = found.placed.training, known.placed.training
    if training is None or theirs is None or training.max() != theirs.max():
        return False
    step = dict(zip((r.at for r in found.records), found.placed.step.tolist(), strict=True))
    places = zip(known.records, known.placed.step.tolist(), strict=True)
    return known.placed.doubt == COUNTED or all(step.get(one.at) == at for one, at in places)


def _same(name: str, mine: str, value: float) -> bool:
    """Whether a number has the same name, or one that says of which data it is."""
    if math.isnan(value):
        return True
    metric = naming(name).metric
    return bool(mine) and (naming(mine).metric == metric or not classify(name).quantity)


def _measured(names: Iterable[Sequence[str]]) -> set[str]:
    return {naming(name).metric for some in set(names) for name in some if tells(name)}


def counted_twice(counted: Counted) -> bool:
    """Whether a counter has an epoch and what goes on within it."""
    return counted.epoch >= 0 and max(counted.step, counted.batch) >= 0


def counted_alike(sure: Sequence[Row], unsaid: Sequence[Row]) -> list[Row]:
    """Return rows behind a number that counts as other rows of the same names do in a word.

    ``275 loss: 0.5`` behind ``iter 274 loss: 0.6``.
    """
    known = {row.names for row in sure}
    mine = [row for row in unsaid if row.names in known]
    alike = sorted([*(row for row in sure if row.names in {one.names for one in mine}), *mine])
    by = {max(row.counted.epoch, row.counted.batch) >= 0 for row in alike}
    step = [row.counted.step for row in alike]
    return mine if by == {False} and step == sorted(step) else []
