"""Where a log goes over to another training that counts to another number: its phases.

``epoch 1/50`` to ``epoch 50/50`` of a model of the world, then ``step 1,000/50,000`` of an agent.
Nothing falls back there, as names and counters may be others, yet one counter says nothing of the
other. Only where each comes to its end is it a phase: what counts within an epoch, or is printed
between the epochs, does not.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import attrgetter

import numpy as np

from runlens.arrays import median
from runlens.history import IntArray
from runlens.naming import classify
from runlens.patterns import lazy_re
from runlens.sources.console.counters import Counted
from runlens.sources.console.rows import Row
from runlens.sources.console.telling import tells

FEWEST = 3  # rows of a phase: fewer are no course, and may be a remark within one
NEAR = 3  # lines above the first row of a phase, of which one may say that nothing is trained
_NO_TRAINING = lazy_re(r"eval|test|valid|infer|predict|sampl|generat", re.IGNORECASE)


def phases(rows: Sequence[Row], others: Sequence[tuple[int, str]]) -> list[int]:
    """Return the rows with which phases begin, without the first; none where one of them is none.

    Rows that do not say to how many they count, or are of held-out data, belong to that before.
    """
    forms = [(n, form) for n, row in enumerate(rows) if (form := _form(row))]
    blocks = [[n for n, _ in some] for _, some in groupby(forms, key=lambda item: item[1])]
    if len(blocks) < 2 or any(len(block) < FEWEST for block in blocks):  # noqa: PLR2004 - one is all
        return []
    lines = dict(others)
    *over, last = ([rows[n] for n in block] for block in blocks)
    whole = all(_begins(block) and _ends(block) for block in over) and _begins(last)
    begins = [block[0] for block in blocks[1:]]
    return begins if whole and not any(_is_tested(rows[n].at, lines) for n in begins) else []


def freed(rows: list[Row], others: Sequence[tuple[int, str]]) -> list[Row]:
    """Return rows of a phase without the epoch above them: the last of the phase before, done.

    Only they count on within an epoch, which a row above them closed.
    """
    inner = [n for n, row in enumerate(rows) if row.counted.batch >= 0]
    outer = rows[: inner[0]] if inner else []
    if not outer or outer[-1].counted.epoch != outer[-1].counted.epochs:
        return rows
    apart = rows.copy()
    for n in inner:
        counted = rows[n].counted
        if counted.epoch != counted.epochs or counted.epochs != outer[-1].counted.epochs:
            return rows
        step = Counted(step=counted.batch, steps=counted.batches)
        apart[n] = rows[n]._replace(counted=step)
    return apart if phases(apart, others) else rows


def unnamed(
    sure: Sequence[Row], bare: Sequence[Row], others: Sequence[tuple[int, str]]
) -> list[Row]:
    """Return the rows of phases whose numbers have names that say nothing: ``q=1.5  v=0.2``.

    They are rows where all of them, beside the rows that are `sure`, come to an end as such.
    """
    mine = [row for row in bare if _form(row)] if sure else []
    return mine if phases(sorted([*sure, *mine], key=attrgetter("at")), others) else []


_Form = tuple[bool, int]


def _form(row: Row) -> _Form | None:
    """Return what a row counts, and to how many; None where it does not say, or trains nothing."""
    told = [name for name in row.names if tells(name)]
    if row.counted.part or (told and all(classify(n).split in {"val", "test"} for n in told)):
        return None
    counted = row.counted
    if counted.epoch >= 0 and counted.epochs > 0:
        return True, counted.epochs
    return (False, counted.steps) if counted.step >= 0 and counted.steps > 0 else None


def _numbers(block: Sequence[Row]) -> tuple[IntArray, int, int]:
    """Return the counter of each row, shape (n,), how far apart its numbers are, and its total."""
    by_epoch, total = _form(block[0]) or (False, 0)
    number = np.array([r.counted.epoch if by_epoch else r.counted.step for r in block])
    gaps = np.diff(np.unique(number))
    return number, int(median(gaps)) if len(gaps) else 0, total


def _begins(block: Sequence[Row]) -> bool:
    """Whether a phase begins at its start, and goes on."""
    number, gap, _ = _numbers(block)
    return gap > 0 and int(number[0]) <= max(1, gap)


def _ends(block: Sequence[Row]) -> bool:
    """Whether a phase came to what it counts to, of which 0 may be the first."""
    number, gap, total = _numbers(block)
    return int(number[-1]) + gap >= total


def _is_tested(at: int, lines: Mapping[int, str]) -> bool:
    """Whether lines right above a row say that what follows is no training."""
    return any(_NO_TRAINING.search(lines.get(at - n, "")) for n in range(1, NEAR + 1))
