"""Which tables of a log are of a training, by what their names say and how many rows they have."""

import re
from collections.abc import Sequence

import numpy as np

from runlens.arrays import unique
from runlens.config_keys import KNOWN_KEYS, canonical_key
from runlens.naming import words
from runlens.patterns import lazy_re
from runlens.sources.console.mining.counting import goes_on
from runlens.sources.console.mining.phrases import SPLIT, split_of
from runlens.sources.console.mining.table import Table, lacks_a_cell
from runlens.sources.console.telling import tells

CLOCKS = lazy_re(r"time|elapsed|eta\b|sec|hour|took|speed|/s\b|_m?s$|memory|\bmem\b", re.IGNORECASE)
_SETTINGS = KNOWN_KEYS - {"learning_rate"}
_CODE = lazy_re(r"\w[_/]\w")
_COUNTERS = {("epoch",), ("step",), ("iteration",), ("iter",), ("episode",), ("round",)}
SETTINGS = 3  # known settings in a line that comes once: no metrics, but what it was called with
FEWEST = 5  # rows of a table of which no name tells that it is of a training
FEW = 3  # of an excerpt that is of little else
MOST_IN_HEAD = 4  # numbers in a line that is only a heading


def kept_of(tables: Sequence[Table], *, excerpt: bool) -> list[Table]:
    """Choose the tables that are of a training: numbers in prose are no metrics."""
    often = [
        t for t in tables if t.telling and len(t.line) > 1 and (_measured(t) or _most(t, tables))
    ]
    if often:
        least = min(len(t.line) for t in often)
        beside = (t for t in tables if t.measures and not t.telling and t.counts.any)
        return [
            *often,
            *(t for t in tables if any(lacks_a_cell(t, other) for other in often)),
            *(
                t
                for t in beside
                if 2 * len(t.line) >= least
                and (_by_name(t) or _alone(t, tables) or _before_each(t, often))
            ),
        ]
    long = [t for t in tables if t.measures and len(t.line) >= FEWEST]
    plain = [t for t in long if _by_name(t)] or [t for t in long if _alone(t, tables)]
    plain = plain or [t for t in tables if _begun(t)] or _only_row(tables)
    both = (t for t in tables if len(t.line) > 1 and _by_name(t) and _of_both(t))
    plain = plain or [t for t in both if _computed(t)]
    plain = plain or [t for t in tables if excerpt and _little_else(t, tables)]
    if plain or not excerpt:
        return [*plain, *(t for t in tables if any(lacks_a_cell(t, other) for other in plain))]
    one_row = len(tables) == 1 and counts_by_name(tables[0]) and _listed(tables[0])
    some = [t for t in tables if (t.bound or one_row) and _measured(t)]
    some = [t for t in some if len(_SETTINGS.intersection(map(canonical_key, t.names))) < SETTINGS]
    return [t for t in some if t.telling > 1 or (t.telling and t.counts.any)]


def over_lines(tables: Sequence[Table]) -> list[Table]:
    """Return what a log measures in records over lines, if it is of little else.

    ``Batch = 100``, ``alpha = 0.001``, ``Correct = 14.15%``, whatever the names.
    """
    for head in (
        t for t in tables if len(t.line) >= FEWEST and counts_by_name(t) and is_heading(t)
    ):
        mine = [t for t in tables if t.bound and t.measures and _follows(t, head)]
        if any((t.value != t.value[0]).any() for t in mine) and 2 * len(head.line) * (
            len(mine) + 1
        ) > sum(len(t.line) for t in tables):
            return mine
    return []


def _follows(table: Table, head: Table) -> bool:
    """Whether a line of a table stands between each head and the next."""
    if len(table.line) != len(head.line):
        return False
    return bool((table.line > head.line).all() and (table.line[:-1] < head.line[1:]).all())


def _before_each(table: Table, often: Sequence[Table]) -> bool:
    """Whether a line that counts on stands above each of others, with a computed number.

    ``[3]: 0.45`` above each ``val loss: 0.5``: a list of things does not go on from one evaluation
    to the next.
    """
    counts = table.value[:, max(table.counts)]
    above = any(len(one.line) >= FEW and _follows(one, table) for one in often)
    return above and bool((np.diff(counts) > 0).all()) and _computed(table)


def _begun(table: Table) -> bool:
    """Whether a table is the first row of a training, at a step of so many, and cut behind it."""
    planned = any((some > 0).all() for some in (table.steps, table.epochs, table.batches))
    return (
        len(table.line) == 1
        and planned
        and (table.bound or bool((table.batches > 0).all()))
        and _measured(table)
        and table.telling > 0
    )


def _only_row(tables: Sequence[Table]) -> list[Table]:
    """Return what is left of rows that were written over: one line that begins with its count.

    ``Epoch:   54 - loss: 0.0567 - acc: 0.9862``. Two measures stand in it, and no other line of
    the log is such a one: of several each may be the best of something.
    """
    found = [
        t
        for t in tables
        if t.bound and t.telling > 1 and t.layout.columns[0].kind in {"step", "epoch"}
        if words(t.layout.columns[0].name) in _COUNTERS and _measured(t)
        if not t.layout.columns[0].name.lower().endswith("s")  # "epochs=10": so many it was given
        if len(_SETTINGS.intersection(map(canonical_key, t.names))) < SETTINGS
    ]
    return found if len(found) == 1 and len(found[0].line) == 1 else []


def _alone(table: Table, tables: Sequence[Table]) -> bool:
    """Whether most lines with a number are rows of bare numbers, or letters, of which one counts.

    Letters are set off from their numbers, and some were computed: ``i=10; l=2.3``. Names of data
    alone say it too, where both are there: ``3 | trn 2.3 | dev 2.5``. A sentence whose numbers
    never change is no such line: ``training the last 15 blocks``.
    """
    lines = sum(len(t.line) for t in tables if len(t.line) == 1 or (t.value != t.value[0]).any())
    unnamed = not any(column.name for column in table.layout.columns)
    lettered = table.bound and bool((table.value != np.floor(table.value)).any())
    told = unnamed or lettered or _of_both(table)
    return told and table.counts.any and 2 * len(table.line) > lines


def _of_both(table: Table) -> bool:
    """Whether numbers are named after nothing but their data, of which some train."""
    data = {split_of(name) for name in table.names if SPLIT.fullmatch(name)}
    return "train/" in data and len(data) > 1


def _little_else(table: Table, tables: Sequence[Table]) -> bool:
    """Whether lines of an excerpt of few others count, or name both data, and were computed.

    ``it 100  recon 0.2211  adv 0.6931``, whatever the names.
    """
    most = 2 * len(table.line) > sum(len(other.line) for other in tables)
    named = _by_name(table) or _of_both(table) or bool((table.steps > 0).all())
    return most and len(table.line) >= FEW and named and _computed(table)


def _listed(table: Table) -> bool:
    """Whether a single row tells of two measures, or of one beside others that were computed."""
    others = sum(bool(name) and not CLOCKS.search(name) for name in table.names) > 1
    return table.telling > 1 or (table.telling > 0 and others and _computed(table))


def _computed(table: Table) -> bool:
    """Whether no number but those that count is a whole one in all rows."""
    mine = [n for n, name in enumerate(table.names) if name and not CLOCKS.search(name)]
    values, _, whole = table.layout.array()
    return bool(mine) and not whole[:, mine].all(axis=0).any() and bool(np.isfinite(values).any())


def _measured(table: Table) -> bool:
    """Whether what trainings are judged by was computed, not counted, as in sentences it is.

    It has decimals, or a name that a program gave it, or a counter in its line. A layer has a name
    of that kind as well, in no such form: ``loss1/conv(63) - 1 in, 1 out``.
    """
    mine = [place for place, name in enumerate(table.names) if tells(name)]
    coded = table.bound and any(_CODE.search(table.names[place]) for place in mine)
    if coded or counts_by_name(table):
        return True
    some, whole = table.value[:, mine], table.layout.array()[2][:, mine]
    return bool((some != np.floor(some)).any() or not whole.all())  # NaN too; "-200.0"


def _most(table: Table, tables: Sequence[Table]) -> bool:
    """Whether a log has little but one number behind its name: ``3. episodic returns: 29``."""
    lines = sum(len(other.line) for other in tables)
    single = table.value.shape[1] - sum(place >= 0 for place in table.counts) == 1
    return table.bound and single and 2 * len(table.line) > max(lines, 2 * FEWEST)


def counts_by_name(table: Table) -> bool:
    """Whether a column of a table is called what it counts."""
    return any(column.kind not in {"", "share"} for column in table.layout.columns)


def _by_name(table: Table) -> bool:
    """Whether a name says that a column counts, and another number goes its own way."""
    measured = [n for n, name in enumerate(table.names) if name and not CLOCKS.search(name)]
    return counts_by_name(table) and any(
        len(unique(table.value[:, place])) > 1 for place in measured
    )


def is_heading(table: Table) -> bool:
    """Whether lines say no more than where the training stands: ``=== epoch 0 ===``."""
    if not table.counts.any or len(table.layout.columns) > MOST_IN_HEAD:
        return False
    few = len(table.line) < FEWEST and not (table.steps > 0).all()
    if not counts_by_name(table) and (table.measures or few):
        return False
    count = table.value[:, max(table.counts)]
    if counts_by_name(table):  # an evaluation has a line of its own: "EPOCH 3 EVALUATION"
        count = count[np.append(True, np.diff(count) != 0)]
    return goes_on(count)
