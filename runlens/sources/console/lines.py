"""Rows that are no dicts: ``iter 10: loss 2.1, time 35.10ms``, ``step:12 - actor/entropy:0.3``...

One parser for all: a line with a counter (step, iteration, update, epoch; `counters`) and
named numbers (`pairs`), of which at least one has a name such as loss, reward, accuracy
or learning rate. A layout counts only if it occurs twice: numbers in ordinary prose are no
metrics. Rows that are spread over lines, bars and tables are read by modules of their own; of
all kinds in one log that with the most numbers is taken.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from operator import itemgetter

import numpy as np

from runlens.history import NOT_KNOWN, IntArray
from runlens.naming import classify
from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.sources.console.at_once import without_other_kinds
from runlens.sources.console.bar_values import with_bar_values, with_ends_of_held_out
from runlens.sources.console.beside import with_lost_norms, with_norms, with_others
from runlens.sources.console.blocks import blocks, uncounted
from runlens.sources.console.compared import ALLENNLP, by_rows, compared
from runlens.sources.console.counters import Counted, counted, is_sure, of_counters, whole
from runlens.sources.console.cuda_convnet import CUDA_CONVNET, cuda_convnet
from runlens.sources.console.echoes import without_echoes
from runlens.sources.console.headed_bars import by_turns, under_headings
from runlens.sources.console.json_stats import json_stats
from runlens.sources.console.keras import keras
from runlens.sources.console.known_layouts import known_layouts
from runlens.sources.console.learned import (
    alike_placed,
    better,
    between_sure,
    counted_alike,
    lacks,
    loses_nothing,
    names_again,
    under_rows,
    without_second_loss,
)
from runlens.sources.console.lengths import without_lengths
from runlens.sources.console.mining import mine
from runlens.sources.console.mining.layouts import headings
from runlens.sources.console.nested import nested
from runlens.sources.console.other_interval import in_other_interval
from runlens.sources.console.pairs import NUMBER, names_metric, pairs
from runlens.sources.console.phases import freed, phases, unnamed
from runlens.sources.console.postfix import (
    Reached,
    as_lines,
    epochs_of,
    from_bars,
    table_rows,
    without_second,
)
from runlens.sources.console.printed_histories import without_histories
from runlens.sources.console.records import Placed, Record, launches
from runlens.sources.console.restarts import begins_anew, numbered_anew
from runlens.sources.console.results import in_one_piece
from runlens.sources.console.rows import Epochs, Found, Row, placed
from runlens.sources.console.sorting import EXCERPT
from runlens.sources.console.spans import shape
from runlens.sources.console.spelled import spelled
from runlens.sources.console.tables import (
    columns,
    from_tables,
    from_tensors,
    ruled,
)
from runlens.sources.console.tdl2048 import TDL2048, tdl2048
from runlens.sources.console.telling import is_evaluation, telling
from runlens.sources.console.templates import Parsed, Templates
from runlens.sources.console.text import Bar
from runlens.sources.console.vits import VITS, vits
from runlens.sources.console.within import within
from runlens.sources.console.worded import NANOGPT, worded
from runlens.sources.console.yolo import yolo
from runlens.sources.trainings import of_launches

OFTEN = 3  # one of so many lines is a row with a counter: then no other kind is looked for
SAMPLE = 300  # rows that are looked at for the words that tell them apart
MOSTLY = 0.8  # share of the counters at which they do
MAX_WIDTH = 20_000  # characters of one row; verl prints some thousand

_BARE_EPOCH = lazy_re(
    r"^\W*(?:start(?:ing)? |train(?:ing)? )?ep(?:och)?\W{0,3}(\d+)(?:\s*(?:/|of)\s*(\d+))?\b",
    re.IGNORECASE,
)
_LABELLED = lazy_re(
    r"^\W*((train|training|val|valid|validation|test|eval|epoch)\w*\.?)(?: set:)?"
    r"[ _](?:(?:average|avg\.?|mean) )?(?:loss|acc|perplexity|ppl)"
    r"(?! \d+:?\s+[-+]?(?:\d+\.|nan|inf))",  # what stands between counts: it is mined
    re.IGNORECASE,
)
_TEST_SET = {"lm loss value": "eval_test_loss", "lm loss PPL": "eval_test_ppl"}  # Megatron
_EVALUATED = lazy_re(r"\s*:\s*\{'\w+': ")  # the examples of accelerate and transformers
_BEHIND = lazy_re(rf"({NUMBER}|[-+]?(?:nan|inf)) ([a-z]+(?: [a-z]+)?)(?=,|$)")  # 0.5 avg loss
_NUMBERED = lazy_re(r"\s*(\d{1,9})[\s:|,-]+(?=[A-Za-z])")
_LIGHTNING = lazy_re(
    r"Epoch (\d{1,9}), global step (\d{1,15}): '?([\w/]+)'? (?:reached ("
    + NUMBER
    + r")|was not in)"
)


def read(others: Sequence[tuple[int, str]], bars: Sequence[Bar]) -> Found:
    """Read the metrics of a log that has no dict rows: by a layout that is known, else learned."""
    if len(others) == 1 and (rows := in_one_piece(others, "")):
        return placed(rows)
    others = without_echoes(spelled(others))
    others, printed = without_histories(others)
    bars = by_turns(under_headings(bars, others))
    found = with_bar_values(_found(others, bars), bars)
    found = with_norms(with_lost_norms(found, others), others)
    if found.records and found.records[0].at not in dict(others):
        found = with_ends_of_held_out(found, bars)
    if found.records and {row.counted.step for row in printed} == set(found.placed.step.tolist()):
        return with_others(found, printed)
    return found if found.records or not printed else _parted(printed, others)


def _found(others: Sequence[tuple[int, str]], bars: Sequence[Bar]) -> Found:
    unheaded = _known(others, bars)
    plain = unheaded.framework or not headings(others) or _of_bars(unheaded, bars)
    known = unheaded if plain else placed([])
    taken = {record.at for record in known.records}
    rest = [item for item in sorted([*others, *table_rows(bars)]) if item[0] not in taken]
    learned = mine(rest, alone=not taken)
    every = cache(lambda: mine(others))  # by two questions
    if not known.records and not telling(row.names for row in learned):
        learned = max(learned, mine(as_lines(bars)), key=len)
        learned = learned or (uncounted(others) if len(others) <= EXCERPT else [])
    if between_sure(learned, known, dict(others)):
        return with_others(known, learned)
    own = without_second_loss(learned, known, dict(others)) if known.records else learned
    if len(own) < len(learned):
        return with_others(known, own)
    partly = lacks(known, dict(others)) or names_again(known, learned)
    if known.records and not known.framework and partly:
        rows = every()
        if loses_nothing(rows, known) and alike_placed(again := _parted(rows, others), known):
            return again
    mined = better(learned, known) or under_rows(learned, known)
    if not known.records or (not known.framework and mined):
        found = _parted(numbered_anew(every() if taken else learned, others), others)
        return found if found.records else unheaded
    return with_others(known, learned)


def _of_bars(found: Found, bars: Sequence[Bar]) -> bool:
    """Whether all that was found stands in bars."""
    return {record.at for record in found.records} <= {bar.at for bar in bars}


def _known(others: Sequence[tuple[int, str]], bars: Sequence[Bar]) -> Found:
    reached = [
        Reached(at, int(found[1]), int(found[2]), found[3], float(found[4] or NOT_KNOWN))
        for at, line in others
        if "global step" in line and (found := _LIGHTNING.search(line))
    ]
    if not reached and (of_rows := _of_rows(others, bars)).records:
        return of_rows
    for records, framework in (
        from_tables(others),
        (from_bars(without_second(bars), reached), "lightning" if reached else ""),
        (from_tensors(others), ""),
    ):
        if len(records) > 1 or (records and len(others) <= EXCERPT):
            steps = np.array([step for step, _ in records], dtype=np.int64)
            some = [record for _, record in records]
            launch = launches(steps, [record.names for record in some])
            training = of_launches(steps, launch)
            places = Placed(steps, launch, framework == "", "", training)
            told, one = epochs_of(bars), not training.any()
            epochs = (told,) if told.planned and one else _epochs(some, training)
            return Found(some, places, framework, epochs=epochs)
    return placed([])


def _epochs(records: Sequence[Record], training: IntArray) -> tuple[Epochs, ...]:
    """Return how many epochs each training has done, where none of its records is at none."""
    epoch = np.array([record.epoch for record in records])
    some = [epoch[training == one] for one in range(int(training[-1]) + 1)]
    return tuple(Epochs(float(mine.max()) if (mine > 0).all() else None) for mine in some)


def _of_rows(others: Sequence[tuple[int, str]], bars: Sequence[Bar]) -> Found:
    """Read the kind of rows that has the most numbers; lines that count themselves often enough."""
    rows = known_layouts(sorted(_rows(others), key=itemgetter(0)), few=len(others) <= EXCERPT)
    rows = [] if _told_by_words(rows, dict(others)) else within(rows, others)
    framework = ""
    if OFTEN * len(rows) < len(others):
        kinds = (
            (rows, ""),
            (keras(others), "keras"),
            (blocks(others), ""),
            (columns(others), ""),
            (ruled(others), ""),
            (compared(others), ALLENNLP),
            (by_rows(others), ""),
            (yolo(others, bars), "ultralytics"),
            (worded(others), NANOGPT),
            (json_stats(others), ""),
            (cuda_convnet(others), CUDA_CONVNET),
            (vits(others), VITS),
            (tdl2048(others), TDL2048),
        )
        rows, framework = max(kinds, key=lambda kind: sum(len(row.names) for row in kind[0]))
    return _parted(rows, others, framework)


def _parted(rows: list[Row], others: Sequence[tuple[int, str]], framework: str = "") -> Found:
    """Put rows in their places; where the log begins anew, a training does."""
    rows = freed(without_other_kinds(nested(without_lengths(rows))), others)
    begins = phases(rows, others) or in_other_interval(rows)
    return placed(rows, framework, begins_anew(rows, others), begins)


class _Kind(NamedTuple):
    """What the text of a line says about its numbers."""

    names: tuple[str, ...] = ()
    part: str = ""
    header: bool = False  # it names an epoch for the lines below
    labelled: bool = False  # it has no counter of its own
    bare: bool = False  # no name of a metric stands in it
    numbered: bool = False  # a number stands before it, which may count


def _rows(others: Sequence[tuple[int, str]]) -> Iterator[Row]:
    """Yield the rows that a known counter tells; behind them those that lack an end with a metric.

    ``epoch 3 | cross=0.09 | 12s`` is one where ``epoch 2 | cross=0.25 | 13s | FID=211`` is.
    """
    epoch = epochs = -1
    begun = False
    begins: set[tuple[str, ...]] = set()  # of the names in rows that count themselves
    bare: list[Row] = []
    sure: list[Row] = []
    unsaid: list[Row] = []
    early: list[Row] = []  # without a counter, above the first that counts
    labelled: list[Row] = []
    parse = Templates(_parsed)
    for at, line in others:
        if len(line) > MAX_WIDTH:
            continue
        found = parse(line)
        if not found:
            continue
        kind, counters, values = found
        if kind.header:
            if epoch < 0 and early:
                yield from labelled
                return  # the epoch is named below its lines: they are mined
            epoch, epochs = counters[-2:]
        if kind.labelled:
            row = Row(at, Counted(epoch=epoch, epochs=epochs), kind.names, values)
            (labelled if epoch >= 0 or begun else early).append(row)
        elif kind.names and not kind.labelled:
            row = Row(at, of_counters(counters[:6], kind.part), kind.names, values)
            if kind.bare or kind.numbered:
                (unsaid if kind.numbered else bare).append(row)
                continue
            begun = True
            sure.append(row)
            if kind.names not in begins:
                begins.update(kind.names[: n + 1] for n in range(len(kind.names)))
            yield row
    yield from labelled
    again = {row.names for row in labelled}
    above = [row for row in early if row.names in again or (begun and is_evaluation(row.names))]
    yield from above  # others may be settings
    yield from (row for row in bare if row.names in begins)
    yield from unnamed(sure, [row for row in bare if row.names not in begins], others)
    yield from counted_alike(sure, unsaid)


def _parsed(line: str) -> Parsed[_Kind] | None:
    """Return the counters of a line, those of a header behind them, and its numbers."""
    header = _BARE_EPOCH.match(line)
    heading = (whole(header[1]), whole(header[2])) if header else (-1, -1)
    bare = Parsed(_Kind(header=True), (*Counted()[:6], *heading), ()) if header else None
    sure = names_metric(line) or is_sure(line)
    is_header = header is not None
    if count := counted(line):
        names, values = _numbers(count if sure else count._replace(sure=True))
        kind = _Kind(names, count.part, is_header, bare=not sure)
        return Parsed(kind, (*count[:6], *heading), values) if names else bare
    if sure and (label := _LABELLED.match(line)):
        names, values = pairs(line)
        kind = _Kind(_of(label[1], names), "", is_header, labelled=True)
        return Parsed(kind, (*Counted()[:6], *heading), values) if names else bare
    if sure and (number := _NUMBERED.match(line)):
        names, values = pairs(line[number.end() :])
        count = Counted(step=whole(number[1]))
        return Parsed(_Kind(names, numbered=True), (*count[:6], *heading), values)
    return bare


def _numbers(count: Counted) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Return the numbers behind a counter, named after the data that they were measured on."""
    rest, part = count.rest, count.part
    if not count.sure and _EVALUATED.match(rest):
        rest = rest.replace("'", "")
        part = "" if "loss" in rest else "eval_"
    names, values = pairs(rest, sure=count.sure)
    known = dict(count.names)
    if known and not names:
        said = [(name, value) for value, name in _BEHIND.findall(rest) if name in known]
        names, values = tuple(n for n, _ in said), tuple(float(value) for _, value in said)
    names = tuple(known.get(name, name) for name in names)
    if rest.startswith(" on test set"):
        names = tuple(_TEST_SET.get(name, name) for name in names)
    elif part:
        names = tuple(n if _held_out_by(n) else part + n for n in names)
    return names, values


def _held_out_by(name: str) -> bool:
    """Whether a name says of its own that it is of held-out data: ``val_loss``, ``v_loss``."""
    return name.startswith(("val", "test", "eval")) or classify(name).split in {"val", "test"}


def _of(label: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Say in every name of a metric what its line began with: ``train Loss: 0.5 Acc: 0.8``."""
    first = label.lower().rstrip(".")
    return tuple(
        name if name.lower().startswith(first) or not names_metric(name) else f"{label} {name}"
        for name in names
    )


def _told_by_words(rows: Sequence[Row], lines: Mapping[int, str]) -> bool:
    """Whether several rows of the same names stand at each counter, told apart by words alone.

    ``Generator | step 10 | loss 0.5``, ``Discriminator | step 10 | loss 0.7``: they are mined.
    """
    shapes: dict[object, list[str]] = {}
    for row in rows[:SAMPLE]:
        shapes.setdefault((row.names, *row.counted[:6]), []).append(shape(lines.get(row.at, "")))
    several = [frozenset(some) for some in shapes.values() if len(set(some)) == len(some) > 1]
    often = max(Counter(several).values(), default=0)
    return often > 1 and often >= MOSTLY * len(shapes)
