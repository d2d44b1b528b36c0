"""The last value of each metric, as W&B prints them when a run ends: ``wandb: Run summary:``.

They are all that a console shows of a run that reported to W&B alone.
"""

from collections.abc import Iterator, Sequence
from itertools import takewhile

import numpy as np

from runlens.history import NOT_KNOWN
from runlens.naming import classify
from runlens.patterns import lazy_re
from runlens.sources.console.events import HEADER
from runlens.sources.console.records import MAX_STEP, Placed, Record
from runlens.sources.console.rows import Found
from runlens.sources.console.telling import tells
from runlens.sources.reading import as_number

_BEGINS = lazy_re(r".{0,80}?wandb: +Run summary:\s*")
_VALUE = lazy_re(r".{0,80}?wandb: +(\S.{0,120}?) +(\S+)\s*")
STEPS = ("train/global_step", "global_step", "trainer/global_step", "_step")
EPOCHS = ("train/epoch", "epoch")
_Line = tuple[int, str]


def run_summaries(others: Sequence[_Line]) -> Found:
    """Return what each summary of a log says, a training of a single point each."""
    rows = list(_rows(others))
    number = np.arange(len(rows), dtype=np.int64)
    step = np.array([step for step, _ in rows], dtype=np.int64)
    places = Placed(step, number, inferred=True, training=number)
    return Found([record for _, record in rows], places)


def without_summaries(others: Sequence[_Line]) -> Sequence[_Line]:
    """Return the lines of a log without its summaries: what they say is the end of its rows."""
    begins = [n for n, (_, line) in enumerate(others) if _begins(line)]
    inside = {
        at for n in begins for at, _ in takewhile(lambda one: _VALUE.fullmatch(one[1]), others[n:])
    }
    return [one for one in others if one[0] not in inside] if inside else others


def _begins(line: str) -> bool:
    return "Run summary:" in line and _BEGINS.fullmatch(line) is not None


def _rows(others: Sequence[_Line]) -> Iterator[tuple[int, Record]]:
    """Yield step and record of each summary that names what trainings are judged by.

    What it says was measured before the exception that ended the run.
    """
    begin = 0
    for place, (_, line) in enumerate(others):
        if not _begins(line):
            continue
        own, begin = others[begin : place + 1], place + 1
        at = next((max(0, n - 1) for n, text in own if HEADER in text), own[-1][0])
        said = dict(_values(others[place + 1 :]))
        step = next((said[name] for name in STEPS if name in said), NOT_KNOWN)
        epoch = next((said[name] for name in EPOCHS if name in said), NOT_KNOWN)
        kept = {n: v for n, v in said.items() if tells(n) or classify(n).quantity}
        if any(map(tells, kept)):
            counted = int(step) if 0 < step < MAX_STEP else 1
            yield counted, Record(at, tuple(kept), tuple(kept.values()), epoch)


def _values(lines: Sequence[_Line]) -> Iterator[tuple[str, float]]:
    """Yield the numbers of a summary, up to the line that is blank behind the name of W&B."""
    for _, line in lines:
        if not (said := _VALUE.fullmatch(line)):
            return
        if (value := as_number(said[2])) is not None:
            yield said[1], value
