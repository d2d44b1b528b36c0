"""Whether lines are an excerpt: what people paste, cut out of a log somewhere in its middle.

A log begins with what a program says once, before it trains: what it loads, its settings. An
excerpt is short and begins with a row, a bar, a warning that comes again, or a traceback; or it
says itself where rows were left out.
"""

from collections import Counter
from pathlib import Path

import numpy as np

from runlens.history import IntArray
from runlens.patterns import lazy_re
from runlens.sources.console.events import HEADER
from runlens.sources.console.sorting import EXCERPT, Sorted
from runlens.sources.console.spans import Span, shape
from runlens.sources.files import Unreadable, read_bytes
from runlens.sources.reading import SourceReading
from runlens.sources.tables.marks import of_results

# what stands for rows that were left out: "...", "[...]"
_LEFT_OUT = lazy_re(r"[\s>\[(]*(?:\.{2,}|…|⋮)[\s\])]*$")
AROUND = 2  # lines of words before a traceback that belong to it: "ERROR main failed"
# what a program raises before it begins to train, wherever the rest of its log is
_AT_START = lazy_re(r"(?:ModuleNotFound|Import|Syntax|Indentation)Error\b|: error: ")

_OF_ALL = lazy_re(rb"(?i)\bepoch:?\s{0,2}\[?\s?(\d{1,6})\s?/\s?(\d{1,6})\b")
FEWEST = 5  # epochs of a whole training: an example in a text has one or two


def shown_whole(path: Path) -> bool:
    """Whether a text is of results, or shows a training from its first epoch to its last.

    Whoever explains a program shows a few rows of it, ``Epoch 1/100`` to ``Epoch 5/100``.
    """
    if of_results(path):
        return True
    try:
        told = {(int(n), int(of)) for n, of in _OF_ALL.findall(read_bytes(path))}
    except Unreadable:
        return False
    shown = Counter(of for n, of in told if 1 <= n <= of)
    return any(epochs >= of >= FEWEST for of, epochs in shown.items())


def is_excerpt(log: Sorted, rows: IntArray, span: Span) -> bool:
    """Tell whether some lines are an excerpt; `rows` are those of them that are rows."""
    lines = int((log.text.end > log.text.start)[span.begin : span.end].sum())
    others = [(at, line) for at, line in log.others if span.begin <= at < span.end]
    if lines > EXCERPT or not (others or len(rows)):
        return False
    shown = np.concatenate([rows, log.bars.between(span.begin - 1, span.end).at])
    if len(shown):
        if any(_LEFT_OUT.match(line) for at, line in others if at > shown.min()):
            return True
        before = {shape(line) for at, line in others if at < shown.min()}
        return before <= {shape(line) for at, line in others if at >= shown.min()}
    raised = next((n for n, (_, line) in enumerate(others) if HEADER in line), AROUND + 1)
    return raised <= AROUND and not any(_AT_START.search(line) for _, line in others)


def begins_at_start(reading: SourceReading) -> bool:
    """Whether the rows begin with the first epoch or step, as they print it themselves."""
    rows = reading.series.values()
    begins = [float(some.epoch[0]) for some in rows if some.epoch[0] >= 0]
    if not (begins or reading.steps_inferred):
        begins = [float(some.step[0]) for some in rows]
    return 0 <= min(begins, default=-1.0) <= 1
