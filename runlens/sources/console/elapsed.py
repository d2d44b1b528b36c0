"""Where a training begins anew because the time that it took so far begins anew with it.

Rows that count nothing often have a clock of their own: ``Time 01h 02m 10s, Avg Reward 0.06``.
"""

import re
from collections.abc import Sequence

import numpy as np

from runlens.arrays import median
from runlens.patterns import lazy_re

FEWEST = 5  # rows with such a time
NEAR = 5  # intervals from 0 within which a launch begins; a time of day begins anywhere
LONGEST = 400  # characters of a line in which it is looked for
_ELAPSED = lazy_re(
    r"\b(?:time|elapsed|runtime|wall[- _]?time|took)\b[\s:=\[(]{0,4}"
    r"(?:(?:(?P<days>\d+) ?d(?:ays?)?,? *)?(?:(?P<h>\d+) ?h(?:rs?)? *)?(?P<m>\d+) ?m(?:in)? *"
    r"(?P<s>\d+(?:\.\d+)?) ?s\b"
    r"|(?:(?P<hours>\d+):)?(?P<minutes>\d\d?):(?P<seconds>\d\d(?:\.\d+)?)\b"
    r"|(?P<alone>\d+(?:\.\d+)?)(?: ?s(?:ec(?:onds)?)?)?\b(?![:/\d]))",
    re.IGNORECASE,
)
_UNITS = {
    "days": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0,
    "hours": 3_600.0, "minutes": 60.0, "seconds": 1.0, "alone": 1.0,
}  # fmt: skip


def starts(lines: Sequence[str]) -> list[int]:
    """Return the rows, given as their lines, before which the time that was taken begins anew.

    Nothing where it is no such time: of one row, or of one epoch, it goes up and down.

    >>> starts([f"Time 00h {m:02}m 10s, Reward 0.1" for m in (2, 4, 6, 8, 2, 4)])
    [4]
    """
    found = [seconds(line[:LONGEST]) for line in lines]
    if len(found) < FEWEST or None in found:
        return []
    time = np.array(found, dtype=np.float64)
    gaps = np.diff(time)
    every = float(median(gaps[gaps > 0])) if (gaps > 0).any() else 0.0
    begins = np.flatnonzero(gaps < 0) + 1
    first = time[[0, *begins.tolist()]]
    if FEWEST * len(begins) > len(time) or not (first <= NEAR * every).all():
        return []
    return begins.tolist()


def seconds(line: str) -> float | None:
    """Return the seconds that a line says were taken so far; None: it names none.

    >>> seconds("Time 01h 00m 05s, loss 2"), seconds("elapsed: 0:02:10 | loss 2")
    (3605.0, 130.0)
    """
    said = _ELAPSED.search(line)
    if not said:
        return None
    return sum(_UNITS[unit] * float(n) for unit, n in said.groupdict().items() if n)
