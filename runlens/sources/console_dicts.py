"""Rows that are printed as a dict: the Trainer and its kin, fairseq's JSON, own training loops.

``{'loss': 0.5, 'grad_norm': 1.1, 'learning_rate': 2e-05, 'epoch': 0.17}``, with numbers or, in
newer versions, with strings. At which step it was printed is concluded in `console_steps`.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np

from runlens.history import NOT_KNOWN
from runlens.sources.console_records import MAX_STEP, Record
from runlens.sources.console_text import Bar

Kind = Literal["train", "eval", "summary"]

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

_PAIR = re.compile(
    r"""['"]([^'"{}]{1,120})['"]:\s*['"]?"""
    r"""([-+]?(?:\d[\d.eE+-]*|\.\d[\d.eE+-]*|nan|NaN|inf|Infinity)|\d+/\d+)['"]?\s*[,}]"""
)
_ROW = re.compile(r"""['"](?:train_|valid_)?(?:epoch|step|global_step|num_updates|iter)""")
_METRIC = re.compile(
    r"loss|reward|learning_rate|\blr\b|acc|grad|eval|ppl|perplexity|score|train_runtime|kl|entropy"
)
_HELD_OUT = re.compile(r"(?:eval|valid|val|test|dev)_")


class DictRow(NamedTuple):
    """One dict that was printed."""

    record: Record
    kind: Kind
    step: int  # -1: it names none


class _Layout(NamedTuple):
    """What the names in a dict say about it."""

    kind: Kind
    step: int  # place of the value that is the step; -1: none
    epoch: int


def row(at: int, line: str) -> DictRow | None:
    """Return the metric row in `line`, wherever in it the dict stands, or None."""
    start = line.find("{'")
    start = line.find('{"') if start < 0 else start
    pairs = _PAIR.findall(line, start) if start >= 0 and _ROW.search(line, start) else ()
    if not pairs:
        return None
    names, values = zip(*pairs, strict=True)
    layout = _layout(names)
    if layout is None:
        return None
    step = _step(values[layout.step]) if layout.step >= 0 else -1
    epoch = _number(values[layout.epoch]) if layout.epoch >= 0 else NOT_KNOWN
    if not abs(epoch) < MAX_STEP:  # infinite too
        epoch = NOT_KNOWN
    if step < 0 and epoch != epoch:  # noqa: PLR0124 - the fastest test for NaN, and each row makes it
        return None
    return DictRow(Record(at, names, values, epoch), layout.kind, step)


@lru_cache(maxsize=4096)
def _layout(names: tuple[str, ...]) -> _Layout | None:
    if not any(_METRIC.search(name) for name in names):
        return None
    step = next((names.index(name) for name in (*STEPS, STEP_OF) if name in names), -1)
    return _Layout(_kind(names), step, names.index("epoch") if "epoch" in names else -1)


def _kind(names: tuple[str, ...]) -> Kind:
    if SUMMARY in names and "loss" not in names:
        return "summary"
    if "loss" in names:
        return "train"
    return "eval" if any(_HELD_OUT.match(name) for name in names) else "train"


def _step(text: str) -> int:
    number = _number(text.partition("/")[0])  # ms-swift: "10/438"
    return int(number) if 0 <= number < MAX_STEP else -1


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return NOT_KNOWN


def without_echoes(rows: list[DictRow], bars: Sequence[Bar]) -> list[DictRow]:
    """Drop rows that several ranks printed: most rows come twice with no bar between."""
    stops = np.array([bar.at for bar in bars], dtype=np.int64)
    echo = [False] * len(rows)
    for number in range(1, len(rows)):
        here, before = rows[number].record, rows[number - 1].record
        if here.values == before.values and here.names == before.names:
            between = np.searchsorted(stops, [before.at, here.at], side="right")
            echo[number] = bool(between[0] == between[1])
    if 2 * sum(echo) < 0.8 * len(rows):
        return rows
    return [item for item, twice in zip(rows, echo, strict=True) if not twice]
