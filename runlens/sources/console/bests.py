"""What was best so far, in a log that says nothing else: ``New best reward 400.0 at episode 3``.

In any other it stood there before: ``In Epoch:9, got best dev performance:`` above a row again.
"""

from collections.abc import Sequence

import numpy as np

from runlens.patterns import lazy_re
from runlens.sources.console.counters import Counted
from runlens.sources.console.rows import Row
from runlens.sources.console.telling import tells
from runlens.sources.reading import as_number

FEWEST = 3  # lines
LONGEST = 300  # characters of a line
TOLD = "says only what was best so far and no course, so each best was read as one row"
_COUNTER = (
    r"\b(?P<kind>episode|epoch|step|iter(?:ation)?|round|game|generation)\s{0,2}[:=#]?\s{0,2}"
    r"(?P<count>\d{1,12})\b"
)
_BEST = (
    r"\bbest (?P<name>[a-z][\w /-]{0,40}?)(?: (?:is|of|so far))?\s{0,2}[:=]?\s{0,2}"
    r"(?P<value>[-+]?\d[\d.]*(?:e[-+]?\d{1,3})?)(?![\w.])"
)
_BEHIND = lazy_re(rf"(?i){_BEST}.{{0,60}}?{_COUNTER}")
_AHEAD = lazy_re(rf"(?i){_COUNTER}.{{0,60}}?{_BEST}")
_AGAIN = lazy_re(
    r"(?i)\bbest (?:\w{1,20} ){0,2}(?:performance|results?|scores?|metrics?|model|checkpoint"
    r"|epoch|step|iter(?:ation)?|round)\b[^:]{0,20}:$"
)
_CURRENT, _SO_FAR = "cur metric,", "best metric,"  # of an evaluation


def without_bests(others: Sequence[tuple[int, str]]) -> Sequence[tuple[int, str]]:
    """Return lines without a heading of what was best and the row below it, which comes again.

    Nor with PaddleOCR's ``best metric, acc: 0.5``: it comes again below ``cur metric, acc: 0.5``.

    >>> without_bests(list(enumerate(["a=0.5", "In Epoch:1/Step:9, got best score:", "a=0.5"])))
    [(0, 'a=0.5')]
    """
    if any(_CURRENT in line for _, line in others):
        others = [
            (at, line.replace(_CURRENT, "eval metric:", 1))
            for at, line in others
            if _SO_FAR not in line
        ]
    texts = [line.strip() for _, line in others]
    heads = {n for n, text in enumerate(texts) if text[-1:] == ":" and _AGAIN.search(text)}
    below = {texts[n + 1] for n in heads if n + 1 < len(texts)} if heads else set[str]()
    said = {text: n for n, text in reversed(list(enumerate(texts))) if text in below}
    again = {n for n in heads if n + 1 < len(texts) and said[texts[n + 1]] < n}
    return [item for n, item in enumerate(others) if n not in again and n - 1 not in again]


def bests(others: Sequence[tuple[int, str]]) -> list[Row]:
    """Return a row for each line that says what was best, and when; none of other logs."""
    rows = [row for at, line in others if len(line) <= LONGEST and (row := _row(at, line))]
    names = {row.names for row in rows}
    counts = np.array([max(row.counted.step, row.counted.epoch) for row in rows])
    if len(rows) < FEWEST or len(names) > 1 or (np.diff(counts) < 0).any():
        return []
    return rows


def _row(at: int, line: str) -> Row | None:
    found = _BEHIND.search(line) or _AHEAD.search(line)
    name = " ".join(found["name"].split()) if found else ""
    value = as_number(found["value"]) if found and tells(name) else None
    if found is None or value is None:
        return None
    count = int(found["count"])
    counted = Counted(epoch=count) if found["kind"].lower() == "epoch" else Counted(step=count)
    return Row(at, counted, (f"best {name}",), (value,))
