"""Whether lines are an excerpt: what people paste, cut out of a log somewhere in its middle.

A log begins with what a program says once, before it trains: what it loads, its settings. An
excerpt is short and begins with a row, a bar, a warning that comes again, or a traceback; or it
says itself where rows were left out.
"""

import numpy as np

from runlens.history import IntArray
from runlens.patterns import lazy_re
from runlens.sources.console.events import HEADER
from runlens.sources.console.sorting import EXCERPT, Sorted
from runlens.sources.console.spans import Span, shape
from runlens.sources.reading import SourceReading

# what stands for rows that were left out: "...", "[...]"
_LEFT_OUT = lazy_re(r"[\s>\[(]*(?:\.{2,}|…|⋮)[\s\])]*$")
AROUND = 2  # lines of words before a traceback that belong to it: "ERROR main failed"
# what a program raises before it begins to train, wherever the rest of its log is
_AT_START = lazy_re(r"(?:ModuleNotFound|Import|Syntax|Indentation)Error\b|: error: ")


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
