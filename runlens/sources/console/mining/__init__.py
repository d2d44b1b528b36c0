"""The layout of a log that nobody has described, learned from the log itself.

Lines become templates (`slots`), the text of a template says what its numbers are (`phrases`,
`heads`), lines that say the same are a table (`layouts`), and of each table the columns that
count are found (`counting`). Tables of a training (`choosing`) that have no counter get it from the
lines around them.
"""

from collections.abc import Sequence
from itertools import permutations

import numpy as np
from msgspec.structs import replace

from runlens.arrays import unique
from runlens.history import NOT_KNOWN, IntArray
from runlens.patterns import lazy_re
from runlens.sources.console.counters import Counted
from runlens.sources.console.mining.choosing import (
    CLOCKS,
    FEWEST,
    counts_by_name,
    is_heading,
    kept_of,
    over_lines,
)
from runlens.sources.console.mining.counting import (
    MOSTLY,
    Counters,
    carried,
    goes_on,
    one_before,
    stands_ahead,
    strays,
    within_epoch,
)
from runlens.sources.console.mining.evaluations import (
    with_data_named,
    with_means,
    with_whole_evaluations,
)
from runlens.sources.console.mining.layouts import headings, layouts
from runlens.sources.console.mining.plain_lines import plain
from runlens.sources.console.mining.prefixes import without_prefix
from runlens.sources.console.mining.table import Table, tabled
from runlens.sources.console.records import MAX_STEP
from runlens.sources.console.restarts import is_stamp
from runlens.sources.console.rows import Row
from runlens.sources.console.sorting import EXCERPT
from runlens.sources.console.telling import tells

SHARE = 0.05  # of the lines that rows are of which none counts: fewer are examples in prose
_MODULE = lazy_re(  # of a printed model; a bar of Torch7, whose steps are those of its epoch
    r"\s*\(\w+\): [A-Z]\w*\(|\s*\[[=>.\s]*\d+/\d+[=>.\s]*\]\s+Tot: \S+ \| Step: "
)


def mine(others: Sequence[tuple[int, str]], *, alone: bool = True) -> list[Row]:
    """Return the rows of a log whose layout is not known, in the order of their lines.

    Of a short excerpt a line that comes once is a row too, if it is `alone`: nothing else was read.
    """
    others = [(at, line) for at, line in others if not _MODULE.match(line) and not is_stamp(line)]
    few = alone and len(others) <= EXCERPT
    lines = without_prefix(others)
    tables = _without_strays([tabled(one) for one in layouts(plain(lines), headings(lines))])
    kept = kept_of(tables, excerpt=few) or (over_lines(tables) if alone else [])
    if not kept:
        return []
    tables, kept = with_whole_evaluations(tables, kept, alone=alone)
    _carry(tables, kept)
    at_steps = [table for table in kept if not alone or _placed(table, tables, len(others))]
    kept = at_steps or ([_counted_by_rows(table) for table in kept] if few else [])
    beside = _siblings(tables, kept)
    _count([*kept, *beside])
    named = with_data_named([*map(_without_settings, kept), *beside])
    shown = [with_means(table) for table in named]
    rows = [row for table in shown for row in _rows(table) if row.names]
    return sorted(rows, key=lambda row: row.at)


def _without_strays(tables: list[Table]) -> list[Table]:
    """Forget counters that go up and down where others go on: ``n_steps=9`` of an answer.

    What a name counts is told by all rows that have it.
    """
    if not any(len(t.line) >= FEWEST and _heads_or_rows(t) for t in tables):
        return tables
    for kind in ("step", "epoch"):
        named = [(t, getattr(t.counts, kind)) for t in tables]
        by_name: dict[str, list[tuple[Table, int]]] = {}
        for table, place in named:
            if place >= 0 and table.layout.columns[place].kind:
                by_name.setdefault(table.layout.columns[place].name, []).append((table, place))
        for some in by_name.values():
            line = np.concatenate([table.line for table, _ in some])
            count = np.concatenate([table.value[:, place] for table, place in some])
            if strays(count[np.argsort(line, kind="stable")]):
                for table, _ in some:
                    table.counts = table.counts._replace(**{kind: -1})
                    setattr(table, kind, np.full(len(table.line), NOT_KNOWN))
                    setattr(table, f"{kind}s", np.full(len(table.line), NOT_KNOWN))
    return tables


def _heads_or_rows(table: Table) -> bool:
    """Whether a counter with a name goes on in a table."""
    place = max(table.counts.step, table.counts.epoch)
    named = place >= 0 and table.layout.columns[place].kind != ""
    return named and goes_on(table.value[:, place])


def _placed(table: Table, tables: Sequence[Table], lines: int) -> bool:
    """Whether the rows of a table stand at steps, or are so many that they count themselves.

    Where all are of one epoch, and more is not known of them, no layout may have more rows.
    """
    if table.counts.any or len(table.line) == 1:
        return True
    at = [some[~np.isnan(some)] for some in (table.step, table.epoch, table.batch)]
    if any(map(len, at)):
        most = len(table.line) >= max(FEWEST, *(len(other.line) for other in tables))
        return (most and _unplaced(table)) or any(len(unique(some)) > 1 for some in at)
    block = sum(len(o.line) for o in tables if o.telling and len(o.line) == len(table.line))
    return block >= SHARE * lines  # each line of a block is a table


def _unplaced(table: Table) -> bool:
    """Whether nothing says at which step the rows of a table stand, though their epoch be known."""
    return bool(np.isnan(table.step).all() and np.isnan(table.batch).all())


def _counted_by_rows(table: Table) -> Table:
    """Forget where lines around a table stand: they are the heading of all its rows."""
    blank = np.full(len(table.line), NOT_KNOWN)
    return replace(table, step=blank, epoch=blank, batch=blank)


def _without_settings(table: Table) -> Table:
    """Leave out of a table without a counter the numbers that never change: settings, prose."""
    named = sum(map(bool, table.names))
    if table.counts.any or len(table.line) == 1 or 2 * table.telling >= named:
        return table
    varies = (table.value != table.value[:1]).any(axis=0).tolist()
    names = (n if tells(n) or v else "" for n, v in zip(table.names, varies, strict=True))
    return replace(table, names=tuple(names))


def _is_size(table: Table) -> bool:
    """Whether a line that comes once says how large a batch is, and counts nothing."""
    counts = table.counts
    return len(table.line) == 1 and counts.batch >= 0 and max(counts.step, counts.epoch) < 0


def _begins(table: Table, kept: Sequence[Table]) -> bool:
    """Whether a line above all rows names an epoch and nothing else: the one they are of."""
    alone = len(table.line) == len(table.layout.columns) == 1 and table.counts.epoch == 0
    return alone and all(table.line[0] < some.line[0] for some in kept)


def _siblings(tables: Sequence[Table], kept: Sequence[Table]) -> list[Table]:
    """Return what is printed once wherever a table is whose steps are those of other lines.

    Of a record that is spread over lines each line is a table of its own, whatever its name. Where
    no line says at which step it stands, its lines are printed by turns. Where the first says it,
    the others stand right behind.
    """
    own = [table for table in kept if not (table.counts.any or table.lasts)]
    records = [unique(table.record) for table in own]
    unplaced = [table for table in own if _unplaced(table)]
    found = []
    for table in tables:
        if table.counts.any or table in kept or not table.measures or _times_others(table, own):
            continue
        behind = any(_right_behind(table, some) for some in kept)
        if behind or any(_by_turns(table, some) for some in unplaced):
            found.append(table)
            continue
        mine = unique(table.record[table.record > 0])
        alike = any(len(np.intersect1d(some, mine)) >= MOSTLY * len(some) for some in records)
        if len(mine) and alike and len(mine) >= MOSTLY * len(table.line):
            found.append(table)
    return found


def _times_others(table: Table, own: Sequence[Table]) -> bool:
    """Whether a table is a clock that is printed more often than rows: of other work as well."""
    clock = all(CLOCKS.search(name) for name in table.names if name)
    return clock and len(table.line) > max((len(one.line) for one in own), default=0)


def _right_behind(table: Table, head: Table) -> bool:
    """Whether named numbers stand in the line behind almost each row that counts itself.

    ``Episode length: 132.00 +/- 0.00`` below ``Eval num_timesteps=2400, episode_reward=24.00``.
    """
    few = not head.counts.any or len(table.line) < MOSTLY * len(head.line)
    if few or not table.bound or any(map(CLOCKS.search, filter(None, table.names))):
        return False
    return bool(np.isin(table.line - 1, head.line).sum() >= MOSTLY * len(table.line))


def _by_turns(table: Table, other: Table) -> bool:
    """Whether a line of a table stands between two of another, all the way, and is no clock."""
    if len(table.line) < max(FEWEST, MOSTLY * len(other.line)):
        return False
    between = unique(np.searchsorted(other.line, table.line))
    named = any(name and not CLOCKS.search(name) for name in table.names)
    return named and len(between) >= MOSTLY * max(len(table.line), len(other.line))


def _carry(tables: Sequence[Table], kept: Sequence[Table]) -> None:
    """Give rows without a counter, or without an epoch, that of the lines around them.

    What counted without a name before the first row is done then: ``Read 40M words``.
    """
    owners = [
        t for t in tables if t.counts.any and (t in kept or is_heading(t) or _begins(t, kept))
    ]
    tables = [table for table in tables if table in kept or not _is_size(table)]
    owners = [table for table in owners if table in tables]
    first = min(table.line[0] for table in kept)
    owners = [t for t in owners if t in kept or counts_by_name(t) or t.line[-1] > first]
    owners = owners or [t for t in tables if counts_by_name(t) and not t.measures]
    if nested := _nest([table for table in owners if not table.measures]):
        owners = [*nested, *(t for t in owners if t not in nested and t.counts.step < 0)]
    counting = np.sort(np.concatenate([t.line for t in owners] or [np.zeros(0, dtype=np.int64)]))
    for table in tables:
        table.record = np.searchsorted(counting, table.line)
    for name, total_of in (("epoch", "epochs"), ("step", "steps"), ("batch", "batches")):
        marked = [
            (t.line, getattr(t, name), getattr(t, total_of))
            for t in _of_name([t for t in owners if getattr(t.counts, name) >= 0])
        ]
        if not marked:
            continue
        line = np.concatenate([m[0] for m in marked])
        order = np.argsort(line, kind="stable")
        line = line[order]
        both = [np.concatenate([m[n] for m in marked])[order] for n in (1, 2)]
        before = one_before(both[0]) if _cut_out(owners, kept, line) else NOT_KNOWN
        for table in tables:
            if table.counts.any and name != "epoch":
                continue
            ahead = bool(np.isnan(before)) and stands_ahead(table.line, line)
            now = carried(table.line, line, both[0], ahead=ahead, over=name == "epoch")
            now = np.where(table.line < line[0], before, now) if not ahead else now
            planned = carried(table.line, line, both[1], ahead=ahead)
            if table.counts.epoch >= 0:  # what it says of its epoch is its plan too
                planned = np.where(now == table.epoch, planned, NOT_KNOWN)
                table.epochs = np.where(np.isnan(table.epochs), planned, table.epochs)
                continue
            setattr(table, name, now)
            setattr(table, total_of, planned)
    for table in tables if nested else ():
        if np.array_equal(table.step, table.epoch):  # it names what the outer loop counts
            table.step = table.steps = np.full(len(table.line), NOT_KNOWN)


def _cut_out(owners: Sequence[Table], kept: Sequence[Table], marks: IntArray) -> bool:
    """Whether rows stand before and behind lines that measure what they count, `marks`.

    If these do not begin at the beginning, the rows before are of a line that was cut off: results
    stand behind the loss of the training, as a rule.
    """
    others = np.concatenate(
        [np.zeros(0, dtype=np.int64), *(t.line for t in kept if not t.counts.any)]
    )
    around = len(others) > 0 and others.min() < marks[0] and others.max() > marks[-1]
    return around and any(t.telling for t in owners)


def _nest(heads: Sequence[Table]) -> list[Table]:
    """Return the heads of two loops, the outer of which counts epochs; nothing where none are.

    ``Round [1/100]`` and ``Client 1/10``, which begins anew with each of them.
    """
    both = [t for t in heads if t.counts.step >= 0 and t.counts.epoch < 0 and len(t.line) > 1]
    for outer, inner in permutations(both, 2):
        around = carried(inner.line, outer.line, outer.step, ahead=False)
        again = np.diff(inner.step) <= 0
        if not (np.diff(outer.step) > 0).any() or not again.any():
            continue
        if within_epoch(inner.step, around, inner.steps) and (np.diff(around)[again] != 0).all():
            blank = np.full(len(outer.line), NOT_KNOWN)
            outer.epoch, outer.epochs, outer.step, outer.steps = (
                outer.step,
                outer.steps,
                blank,
                blank,
            )
            outer.counts = Counters(epoch=outer.counts.step)
            blank = np.full(len(inner.line), NOT_KNOWN)
            inner.batch, inner.batches, inner.step, inner.steps = (
                inner.step,
                inner.steps,
                blank,
                blank,
            )
            inner.counts = Counters(batch=inner.counts.step)
            return [outer, inner]
    return []


def _of_name(owners: Sequence[Table]) -> Sequence[Table]:
    """Leave out what only rises like a counter where as many lines say that they count.

    Beside ``| step | 20 |`` the line ``| samples | 1280 |`` is no counter of its record.
    """
    named = [table for table in owners if counts_by_name(table)]
    most = max((len(table.line) for table in owners), default=0)
    return named if sum(len(table.line) for table in named) >= most else owners


def _count(kept: Sequence[Table]) -> None:
    """Tell counters of the run from those of one epoch; a given one is what its owner's are."""
    some = [t for t in kept if not np.isnan(t.step).all() and np.isnan(t.batch).all()]
    own = [table for table in some if table.counts.step >= 0]
    inner = [table for table in own if within_epoch(table.step, table.epoch, table.steps)]
    given = [table for table in some if table.counts.step < 0]
    if not own or len(inner) < len(own):
        given = [table for table in given if within_epoch(table.step, table.epoch, table.steps)]
    for table in [*inner, *given]:
        table.batch, table.batches = table.step, table.steps
        table.step = table.steps = np.full(len(table.line), NOT_KNOWN)


def _rows(table: Table) -> list[Row]:
    places = [place for place, name in enumerate(table.names) if name]
    names = tuple(table.names[place] for place in places)
    numbers = [
        np.where(np.abs(some) < MAX_STEP, some, -1).astype(np.int64).tolist()
        for some in (
            table.step, table.steps, table.epoch, table.epochs, table.batch, table.batches,
        )
    ]  # fmt: skip
    counted = [Counted(*some) for some in zip(*numbers, strict=True)]
    return [
        Row(at, count, names, tuple(value))
        for at, count, value in zip(
            table.line.tolist(), counted, table.value[:, places].tolist(), strict=True
        )
    ]
