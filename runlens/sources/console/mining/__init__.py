"""The layout of a log that nobody has described, learned from the log itself.

Lines become templates (`slots`), the text of a template says what its numbers are (`phrases`,
`heads`), lines that say the same are a table (`layouts`), and of each table the columns that
count are found (`counting`). Tables without a counter get it from the lines around them.
"""

import re
from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from runlens.arrays import unique
from runlens.config_keys import KEYS, canonical_key
from runlens.history import NOT_KNOWN, FloatArray, IntArray
from runlens.naming import classify
from runlens.patterns import lazy_re
from runlens.sources.console.counters import Counted
from runlens.sources.console.mining.counting import (
    COUNTS_DATA,
    MOSTLY,
    Counters,
    carried,
    counted_by_name,
    counters,
    goes_on,
    strays,
    within_epoch,
)
from runlens.sources.console.mining.layouts import Layout, headings, layouts
from runlens.sources.console.mining.plain_lines import plain
from runlens.sources.console.mining.prefixes import without_prefix
from runlens.sources.console.records import MAX_STEP
from runlens.sources.console.rows import Row
from runlens.sources.console.sorting import EXCERPT
from runlens.sources.console.telling import tells

_CLOCKS = lazy_re(r"time|elapsed|eta\b|sec|hour|took|speed|/s\b|memory|\bmem\b", re.IGNORECASE)
SHARE = 0.05  # of the lines that rows are of which none counts: fewer are examples in prose
MOST_IN_HEAD = 4  # numbers in a line that is only a heading
_MODULE = lazy_re(  # of a printed model; a bar of Torch7, whose steps are those of its epoch
    r"\s*\(\w+\): [A-Z]\w*\(|\s*\[[=>.\s]*\d+/\d+[=>.\s]*\]\s+Tot: \S+ \| Step: "
)
_SETTINGS = {key.name for key in KEYS} - {"learning_rate"}
_CODE = lazy_re(r"\w[_/]\w")
SETTINGS = 3  # known settings in a line that comes once: no metrics, but what it was called with
FEWEST = 5  # rows of a table of which no name tells that it is of a training
_OTHERS = {
    "eta", "pid", "gpu", "rank", "seed", "port", "v_num", "line",
}  # fmt: skip


class _Table(Struct, eq=False):
    """A layout with what counts in it; arrays of shape (n,)."""

    layout: Layout
    line: IntArray
    value: FloatArray  # shape (n, k)
    counts: Counters
    step: FloatArray  # NaN: not known
    steps: FloatArray  # planned
    epoch: FloatArray
    epochs: FloatArray
    batch: FloatArray
    batches: FloatArray
    names: tuple[str, ...]  # of the columns that measure, empty for the others
    record: IntArray  # how many lines that count stand before each row
    lasts: bool = False  # the last row of each evaluation

    @property
    def measures(self) -> bool:
        return any(self.names)

    @property
    def bound(self) -> bool:
        """Whether all its names are set off from their numbers, as no word of a sentence is."""
        return all(c.bound for c, name in zip(self.layout.columns, self.names, strict=True) if name)

    @property
    def telling(self) -> int:
        """How many of its names are those of what trainings are judged by; of a list one."""
        return len({name.partition("[")[0] for name in self.names if name and tells(name)})


def mine(others: Sequence[tuple[int, str]], *, alone: bool = True) -> list[Row]:
    """Return the rows of a log whose layout is not known, in the order of their lines.

    Of a short excerpt a line that comes once is a row too, if it is `alone`: nothing else was read.
    """
    others = [(at, line) for at, line in others if not _MODULE.match(line)]
    few = alone and len(others) <= EXCERPT
    lines = without_prefix(others)
    tables = _without_strays([_table(one) for one in layouts(plain(lines), headings(lines))])
    kept = _kept(tables, excerpt=few)
    if not kept:
        return []
    tables, kept = _with_whole_evaluations(tables, kept)
    _carry(tables, kept)
    at_steps = [table for table in kept if not alone or _placed(table, len(others))]
    kept = at_steps or ([_counted_by_rows(table) for table in kept] if few else [])
    beside = _siblings(tables, kept)
    _count([*kept, *beside])
    rows = [row for table in (*map(_without_settings, kept), *beside) for row in _rows(table)]
    return sorted(rows, key=lambda row: row.at)


def _table(layout: Layout) -> _Table:
    value, total, whole = layout.array()
    found = counters(layout, value, total, whole)
    if not found.any and counted_by_name(layout, value, whole):
        first, second, *others = layout.columns
        layout = replace(layout, columns=(first, second._replace(name=first.name), *others))
        found = Counters(step=0)
    blank = np.full(len(value), NOT_KNOWN)

    def column(place: int) -> tuple[FloatArray, FloatArray]:
        if place < 0:
            return blank, blank
        planned = np.where(total[:, place] >= 0, total[:, place], NOT_KNOWN)
        return value[:, place], planned

    (step, steps), (epoch, epochs), (batch, batches) = map(column, found)
    names = tuple(_name(layout, place, value, found) for place in range(len(layout.columns)))
    counts = (total >= 0) & [classify(name).quantity == "accuracy" for name in names]
    if counts.any():  # 9813/10000 (98%); of an empty set 0/0
        share = np.where(total > 0, value / np.where(total > 0, total, 1), NOT_KNOWN)
        value = np.where(counts, share, value)
        empty = np.all(counts & np.isnan(value), axis=0).tolist()
        names = tuple("" if none else n for n, none in zip(names, empty, strict=True))
    return _Table(
        layout, layout.line, value, found, step, steps, epoch, epochs, batch, batches, names,
        np.zeros(len(value), dtype=np.int64),
    )  # fmt: skip


def _name(layout: Layout, place: int, value: FloatArray, found: Counters) -> str:
    """Return what a column measures; empty for what counts, and for constants without a name."""
    name, kind, _ = layout.columns[place]
    if place in found or kind == "share" or name.lower() in _OTHERS:
        return ""
    mine = value[:, place]
    if kind and (mine == np.floor(mine)).all():
        return ""
    if name or kind:
        return name or kind
    return "" if (mine == mine[0]).all() else f"column {place + 1}"


def _without_strays(tables: list[_Table]) -> list[_Table]:
    """Forget counters that go up and down where others go on: ``n_steps=9`` of an answer.

    What a name counts is told by all rows that have it.
    """
    if not any(len(t.line) >= FEWEST and _heads_or_rows(t) for t in tables):
        return tables
    for kind in ("step", "epoch"):
        named = [(t, getattr(t.counts, kind)) for t in tables]
        by_name: dict[str, list[tuple[_Table, int]]] = {}
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


def _heads_or_rows(table: _Table) -> bool:
    """Whether a counter with a name goes on in a table."""
    place = max(table.counts.step, table.counts.epoch)
    named = place >= 0 and table.layout.columns[place].kind != ""
    return named and goes_on(table.value[:, place])


def _kept(tables: Sequence[_Table], *, excerpt: bool) -> list[_Table]:
    """Choose the tables that are of a training: numbers in prose are no metrics."""
    often = [t for t in tables if t.telling and len(t.line) > 1 and _measured(t)]
    if often:
        least = min(len(t.line) for t in often)
        beside = (t for t in tables if t.measures and not t.telling and t.counts.any)
        return [
            *often,
            *(t for t in beside if 2 * len(t.line) >= least and (_by_name(t) or _alone(t, tables))),
        ]
    long = [t for t in tables if t.measures and len(t.line) >= FEWEST]
    plain = [t for t in long if _by_name(t)] or [t for t in long if _alone(t, tables)]
    if plain or not excerpt:
        return plain
    some = [t for t in tables if t.bound and _measured(t)]
    some = [t for t in some if len(_SETTINGS.intersection(map(canonical_key, t.names))) < SETTINGS]
    return [t for t in some if t.telling > 1 or (t.telling and t.counts.any)]


def _with_whole_evaluations(
    tables: list[_Table], kept: list[_Table]
) -> tuple[list[_Table], list[_Table]]:
    """Return tables with the last row alone of each evaluation that counts its batches.

    It says what was measured on all of them, and stands where the rows of the training do.
    """
    begun = {id(table): _evaluates(table) for table in kept if table.counts.any}
    if all(begun.values()):
        return tables, kept
    whole = {id(table): _last_of_each(table) for table in kept if begun.get(id(table))}
    return [whole.get(id(t), t) for t in tables], [whole.get(id(t), t) for t in kept]


def _evaluates(table: _Table) -> bool:
    """Whether a table counts the batches of held-out data: ``Evaluated 10/287``."""
    place = max(table.counts.step, table.counts.batch)
    named = COUNTS_DATA.fullmatch(table.layout.columns[place].name) if place >= 0 else None
    return named is not None and not named["train"]


def _last_of_each(table: _Table) -> _Table:
    count = table.value[:, max(table.counts.step, table.counts.batch)]
    last = np.append(np.diff(count) <= 0, True)
    blank = np.full(int(last.sum()), NOT_KNOWN)
    names = tuple(n if not n or classify(n).split else f"val/{n}" for n in table.names)
    return replace(
        table, line=table.line[last], value=table.value[last], names=names, step=blank, steps=blank,
        epoch=table.epoch[last], epochs=table.epochs[last], batch=blank, batches=blank,
        counts=Counters(epoch=table.counts.epoch), record=table.record[last],
        lasts=True,
    )  # fmt: skip


def _alone(table: _Table, tables: Sequence[_Table]) -> bool:
    """Whether most lines with a number are rows of bare numbers, or letters, of which one counts.

    Letters are set off from their numbers, and some were computed: ``i=10; l=2.3``.
    """
    lines = sum(len(other.line) for other in tables)
    unnamed = not any(column.name for column in table.layout.columns)
    lettered = table.bound and bool((table.value != np.floor(table.value)).any())
    return (unnamed or lettered) and table.counts.any and 2 * len(table.line) > lines


def _measured(table: _Table) -> bool:
    """Whether what trainings are judged by was computed, not counted, as in sentences it is.

    It has decimals, or a name that a program gave it, or a counter in its line.
    """
    mine = [place for place, name in enumerate(table.names) if tells(name)]
    if any(_CODE.search(table.names[place]) for place in mine) or _counts_by_name(table):
        return True
    some = table.value[:, mine]
    return bool((some != np.floor(some)).any())  # NaN too


def _counts_by_name(table: _Table) -> bool:
    return any(column.kind not in {"", "share"} for column in table.layout.columns)


def _by_name(table: _Table) -> bool:
    """Whether a name says that a column counts, and another number goes its own way."""
    measured = [n for n, name in enumerate(table.names) if name and not _CLOCKS.search(name)]
    return _counts_by_name(table) and any(
        len(unique(table.value[:, place])) > 1 for place in measured
    )


def _placed(table: _Table, lines: int) -> bool:
    """Whether the rows of a table stand at steps, or are so many that they count themselves."""
    if table.counts.any or len(table.line) == 1:
        return True
    at = [some[~np.isnan(some)] for some in (table.step, table.epoch, table.batch)]
    if any(map(len, at)):
        return any(len(unique(some)) > 1 for some in at)
    return len(table.line) >= SHARE * lines


def _counted_by_rows(table: _Table) -> _Table:
    """Forget where lines around a table stand: they are the heading of all its rows."""
    blank = np.full(len(table.line), NOT_KNOWN)
    return replace(table, step=blank, epoch=blank, batch=blank)


def _without_settings(table: _Table) -> _Table:
    """Leave out of a table without a counter the numbers that never change: settings, prose."""
    named = sum(map(bool, table.names))
    if table.counts.any or len(table.line) == 1 or 2 * table.telling >= named:
        return table
    varies = (table.value != table.value[:1]).any(axis=0).tolist()
    names = (n if tells(n) or v else "" for n, v in zip(table.names, varies, strict=True))
    return replace(table, names=tuple(names))


def _heads(table: _Table) -> bool:
    """Whether lines say no more than where the training stands: ``=== epoch 0 ===``."""
    if not table.counts.any or len(table.layout.columns) > MOST_IN_HEAD:
        return False
    few = len(table.line) < FEWEST and not (table.steps > 0).all()
    if not _counts_by_name(table) and (table.measures or few):
        return False
    return goes_on(table.value[:, max(table.counts)])


def _begins(table: _Table, kept: Sequence[_Table]) -> bool:
    """Whether a line above all rows names an epoch and nothing else: the one they are of."""
    alone = len(table.line) == len(table.layout.columns) == 1 and table.counts.epoch == 0
    return alone and all(table.line[0] < some.line[0] for some in kept)


def _siblings(tables: Sequence[_Table], kept: Sequence[_Table]) -> list[_Table]:
    """Return what is printed once wherever a table is whose steps are those of other lines.

    Of a record that is spread over lines each line is a table of its own, whatever its name.
    """
    own = (table for table in kept if not (table.counts.any or table.lasts))
    records = [unique(table.record) for table in own]
    found = []
    for table in tables:
        if table.counts.any or table in kept or not table.measures:
            continue
        mine = unique(table.record[table.record > 0])
        alike = any(len(np.intersect1d(some, mine)) >= MOSTLY * len(some) for some in records)
        if len(mine) and alike and len(mine) >= MOSTLY * len(table.line):
            found.append(table)
    return found


def _carry(tables: Sequence[_Table], kept: Sequence[_Table]) -> None:
    """Give rows without a counter, or without an epoch, that of the lines around them."""
    owners = [t for t in tables if t.counts.any and (t in kept or _heads(t) or _begins(t, kept))]
    owners = owners or [t for t in tables if _counts_by_name(t) and not t.measures]
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
        for table in tables:
            if table.counts.any and name != "epoch":
                continue
            ahead = bool(table.line[0] < line[0] and table.line[-1] < line[-1])
            now, planned = (carried(table.line, line, some, ahead=ahead) for some in both)
            if table.counts.epoch >= 0:  # what it says of its epoch is its plan too
                planned = np.where(now == table.epoch, planned, NOT_KNOWN)
                table.epochs = np.where(np.isnan(table.epochs), planned, table.epochs)
                continue
            setattr(table, name, now)
            setattr(table, total_of, planned)


def _of_name(owners: Sequence[_Table]) -> Sequence[_Table]:
    """Leave out what only rises like a counter where as many lines say that they count.

    Beside ``| step | 20 |`` the line ``| samples | 1280 |`` is no counter of its record.
    """
    named = [table for table in owners if _counts_by_name(table)]
    most = max((len(table.line) for table in owners), default=0)
    return named if sum(len(table.line) for table in named) >= most else owners


def _count(kept: Sequence[_Table]) -> None:
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


def _rows(table: _Table) -> list[Row]:
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
