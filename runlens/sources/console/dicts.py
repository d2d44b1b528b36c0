"""Rows that are printed as a dict: the Trainer and its kin, fairseq's JSON, own training loops.

``{'loss': 0.5, 'grad_norm': 1.1, 'learning_rate': 2e-05, 'epoch': 0.17}``, with numbers or, in
newer versions, with strings. At which step it was printed is concluded in `steps`.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Literal, Self

import numpy as np
from msgspec import Struct

from runlens.history import NOT_KNOWN, BoolArray, IntArray
from runlens.naming import classify
from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.sources.console.bars import Bars
from runlens.sources.console.calls import unwrapped
from runlens.sources.console.records import MAX_STEP, Record, Records
from runlens.sources.console.telling import tells

Kind = Literal["train", "eval", "summary"]
KINDS: tuple[Kind, ...] = ("train", "eval", "summary")

STEPS = (
    "step",
    "global_step",
    "num_updates",
    "train_num_updates",
    "valid_num_updates",
    "iteration",
    "iter",
    "current_steps",
    "global_steps",
)
STEP_OF = "global_step/max_steps"  # ms-swift
NOT_METRICS = {*STEPS, STEP_OF, "epoch", "total_flos", "train_epoch", "valid_epoch"}
SUMMARY = "train_runtime"
STATS = lazy_re(r'"_type": "(?:train|val|test)_(?:iter|epoch)"')  # of pycls: see `json_stats`
LONGEST_STEP = 12  # characters of a step in front of a row

_PAIR = lazy_re(
    r"""['"]([^'"{}]{1,120})['"]:\s*['"]?"""
    r"""([-+]?(?:\d[\d.eE+-]*|\.\d[\d.eE+-]*|nan|NaN|inf|Infinity)|\d+/\d+)['"]?\s*[,}]"""
)
_BRACE = lazy_re(r"""(?:['"](?P<name>[^'"{}]{1,120})['"]:\s*)?\{|\}""")
_BATCH = lazy_re(r"(?:train_)?batch_?size")
_ROW = lazy_re(r"""['"](?:train_|valid_)?(?:epoch|step|global_step|num_updates|iter)""")
_METRIC = lazy_re(
    r"loss|reward|learning_rate|\blr\b|acc|grad|eval|ppl|perplexity|score|train_runtime|kl|entropy"
)
_HELD_OUT = lazy_re(r"(?:eval|valid|val|test|dev)_")
# data that are named right before a row: "val: {'epoch': 3, ...", "Test results: {..."
_DATA = lazy_re(
    r"(?i)(?<![a-z])(?:(?P<val>val(?:id(?:ation)?)?|eval(?:uation)?|dev)|test)"
    r"(?:[ _](?:results?|metrics|stats|scores?))?\s?(?:[:=]|[-=]>)\s?$"
)


class DictRow(NamedTuple):
    """One dict that was printed."""

    record: Record
    kind: Kind
    step: int  # -1: it names none


class Meaning(NamedTuple):
    """What the names in a dict say about it."""

    kind: Kind
    step: int  # place of the value that is the step; -1: none
    epoch: int


def row(at: int, line: str, *, numbered: bool = False) -> DictRow | None:
    """Return the metric row in `line`, wherever in it the dict stands, or None.

    In a log whose rows are `numbered` the step stands in front: ``15 {'loss': 0.69...``.
    """
    if '"_type"' in line and STATS.search(line):
        return None  # its counters are texts
    start = line.find("{'")
    start = line.find('{"') if start < 0 else start
    if start >= 0 and "(" in line:
        line = unwrapped(line)
    pairs = _PAIR.findall(line, start) if start >= 0 and _ROW.search(line, start) else ()
    if pairs and line.find("{", start + 1) > 0:
        pairs = _nested(line[start:])
    if not pairs:
        return None
    names, values = zip(*pairs, strict=True)
    if data := _DATA.search(line[:start]):
        names = _of_data(names, "val_" if data["val"] else "test_")
    said = meaning(names)
    if said is None:
        return None
    step = _numbered(line[:start]) if numbered else -1
    step = _step(values[said.step]) if said.step >= 0 else step
    epoch = _number(values[said.epoch]) if said.epoch >= 0 else NOT_KNOWN
    if not abs(epoch) < MAX_STEP:  # infinite too
        epoch = NOT_KNOWN
    if step < 0 and epoch != epoch:  # noqa: PLR0124 - the fastest test for NaN, and each row makes it
        return None
    return DictRow(Record(at, names, values, epoch), said.kind, step)


@lru_cache(maxsize=256)
def _of_data(names: tuple[str, ...], prefix: str) -> tuple[str, ...]:
    """Return the names in a row with the data that stand before it; what counts has none."""
    return tuple(n if n in NOT_METRICS or classify(n).split else prefix + n for n in names)


def _nested(text: str) -> list[tuple[str, str]]:
    """Return the pairs of dicts in a dict, each with the names above it: ``val/loss``."""
    found: list[tuple[str, str]] = []
    above: list[str] = []
    begin = 0
    for brace in _BRACE.finditer(text):
        pairs = _PAIR.findall(text[begin : brace.end()])
        found += [("/".join([*filter(None, above), name]), value) for name, value in pairs]
        begin = brace.end()
        if brace[0] != "}":
            above.append(brace["name"] or "")
        elif above:
            above.pop()
    return found


def _numbered(text: str) -> int:
    """Return the number that is all that stands in front of a row; else -1."""
    return int(text) if len(text) <= LONGEST_STEP and text.strip().isdecimal() else -1


@lru_cache(maxsize=4096)
def meaning(names: tuple[str, ...]) -> Meaning | None:
    """Return what the names in a dict say; None where none of them is that of a metric."""
    if not any(_METRIC.search(name) or tells(name) for name in names) or _are_settings(names):
        return None
    step = next((names.index(name) for name in (*STEPS, STEP_OF) if name in names), -1)
    return Meaning(_kind(names), step, names.index("epoch") if "epoch" in names else -1)


def _are_settings(names: tuple[str, ...]) -> bool:
    """Whether a dict holds what a program was started with, its ``epoch`` how many there are."""
    return any(map(_BATCH.fullmatch, names)) and not any(map(tells, names))


def dated(names: Iterable[str]) -> bool:
    """Whether a name in a dict says when it was printed: epoch, step..."""
    return any(_ROW.search(f"'{name}") for name in names)


def _kind(names: tuple[str, ...]) -> Kind:
    if SUMMARY in names and "loss" not in names:
        return "summary"
    if "loss" in names or "train_loss" in names:
        return "train"  # DETR's rows have both
    return "eval" if any(_HELD_OUT.match(name) for name in names) else "train"


def _step(text: str) -> int:
    number = _number(text.partition("/")[0])  # ms-swift: "10/438"
    return int(number) if 0 <= number < MAX_STEP else -1


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return NOT_KNOWN


class Rows(Struct, frozen=True, eq=False):
    """The dicts that were printed, in the order of their lines; arrays of shape (n,)."""

    records: Records
    kind: IntArray  # index into KINDS
    step: IntArray  # -1: it names none

    def __len__(self) -> int:
        return len(self.kind)

    @classmethod
    def of(cls, rows: Sequence[DictRow]) -> Self:
        """Turn rows into columns."""
        kind = np.array([KINDS.index(item.kind) for item in rows], dtype=np.int64)
        step = np.array([item.step for item in rows], dtype=np.int64)
        return cls(Records.of([item.record for item in rows]), kind, step)

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Join rows of one log by line."""
        parts = [part for part in parts if len(part)] or [cls.of([])]
        records, order = Records.joined([part.records for part in parts])
        kind = np.concatenate([part.kind for part in parts])[order]
        return cls(records, kind, np.concatenate([part.step for part in parts])[order])

    def taken(self, kept: BoolArray) -> "Rows":
        """Return some of them; `kept` has shape (n,)."""
        return Rows(self.records.taken(kept), self.kind[kept], self.step[kept])

    def are(self, kind: Kind) -> BoolArray:
        """Tell which rows are of a kind."""
        mine: BoolArray = self.kind == KINDS.index(kind)
        return mine


def without_echoes(rows: Rows, bars: Bars) -> Rows:
    """Drop rows that several ranks printed: most rows come twice with no bar between."""
    echo = np.zeros(len(rows), dtype=np.bool_)
    for _, number, values in rows.records.layouts:
        equal = (values[1:] == values[:-1]) | (np.isnan(values[1:]) & np.isnan(values[:-1]))
        echo[number[1:]] = equal.all(axis=1) & (np.diff(number) == 1)
    between = np.searchsorted(bars.at, rows.records.at, side="right")
    echo[1:] &= between[1:] == between[:-1]
    if 2 * echo.sum() < 0.8 * len(rows):
        return rows
    return rows.taken(~echo)


def cut(at: int, line: str, rows: Rows) -> list[DictRow]:
    """Return the row with which an excerpt breaks off, if it begins as the last one before it."""
    last = len(rows) - 1
    before = next(layout.names for layout in rows.records.layouts if layout.number[-1] == last)
    start = line.find("{")
    pairs = _PAIR.findall(line, start) if start >= 0 and "}" not in line else []
    names, values = (tuple(part) for part in zip(*pairs, strict=True)) if pairs else ((), ())
    if not names or names != before[: len(names)]:
        return []
    step = _numbered(line[:start]) if rows.step[last] >= 0 else -1
    record = Record(at, names, values, float(rows.records.epoch[last]))
    return [DictRow(record, KINDS[int(rows.kind[last])], step)]
