"""A file of data that the log opened just before the loss became NaN: what it holds came then."""

import re

from runlens.patterns import lazy_re
from runlens.run import Run
from runlens.wording import count

CHANCE = 0.25  # that a NaN anywhere between two files comes so soon after one
SO_SOON = 3.0  # rows: of those that a file is read for, as many as a reader looks back over
NAN = lazy_re(r"(?<![a-z])nan(?![a-z])", re.IGNORECASE)
NUMBERS = lazy_re(r"[-+]?\d[\d.e+-]*|(?<![a-z])[-+]?(?:inf|nan)(?![a-z])", re.IGNORECASE)
OPENS = lazy_re(
    r"\b(?:open|load|read|switch|mov)(?:s|ed|ing)?\b[^\n]{0,40}?"
    r"(?P<file>[\w.-]*[\w-]\.(?:npz|npy|h5ad|h5|hdf5|parquet|arrow|tfrecords?|tar|zarr|csv|tsv|jsonl|"
    r"bin|lmdb|gz|zst|pkl))\b",
    re.IGNORECASE,
)


def before(run: Run) -> str:
    """Say which file the log opened shortly before its first row without a number; else empty.

    Rows are the lines that look like that one but for their numbers. A file that is opened so often
    that any row lies near one says nothing, nor does one of weights.
    """
    lines = run.log_tail
    at = next((k for k, line in enumerate(lines) if NAN.search(line)), 0)
    row = NUMBERS.sub("#", lines[at]) if at else ""
    rows, seen, since = 0, [], 0
    for line in lines[:at]:
        if opened := OPENS.search(line):
            seen.append((opened["file"], rows))
        rows += NUMBERS.sub("#", line) == row
    if not rows or not seen:
        return ""
    name, first = seen[-1]
    since = rows - first + 1
    usual = first / (len(seen) - 1) if len(seen) > 1 else rows
    if since > SO_SOON or since > CHANCE * usual:
        return ""
    return f"the log says that {name} was opened {count(since, 'row')} before"
