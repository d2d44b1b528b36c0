"""Results below the names of their data: ``TRAIN SET (3474 samples)`` above ``MSE: 0.0001``.

Each number is of the data that stand above it, once: no block is a step behind the one before.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from runlens.naming.classify import split_of
from runlens.patterns import lazy_re
from runlens.sources.console.rows import Found

_HEADING = lazy_re(
    r"\W{0,20}(?:(?:final|overall)\s)?(?P<data>train(?:ing)?|valid(?:ation)?|val|test(?:ing)?|dev"
    r"|eval(?:uation)?|hold[- ]?out|held[- ]?out)"
    r"(?:\s(?:data)?(?:set|data|split|metrics|results|performance|scores?|report))?"
    r"\s?(?:\([^()]{0,40}\))?\W{0,20}",
    2,  # re.IGNORECASE
)
SPLITS = {"train": "train", "val": "val", "eval": "val", "dev": "val", "test": "test"}
_Line = tuple[int, str]


def of_sets(found: Found, others: Sequence[_Line]) -> Found | None:
    """Return results named after the data above them, as what came out of one training.

    None where rows count something, or a number stands twice below one name: that is a
    course, which evaluates again and again.
    """
    placed = found.placed
    one = placed.training is None or not placed.training.any()
    counted = not (placed.inferred and one) or any(found.planned)
    if not found.records or counted or any(record.epoch >= 0 for record in found.records):
        return None
    heads = [(at, said["data"]) for at, line in others if (said := _HEADING.fullmatch(line))]
    below = np.searchsorted([at for at, _ in heads], [row.at for row in found.records]) - 1
    if not heads or below.min() < 0:
        return None
    data = [_data(heads[n][1]) for n in below.tolist()]
    rows = list(zip(data, found.records, strict=True))
    told = Counter((of, name) for of, row in rows for name in row.names)
    if max(told.values()) > 1:
        return None
    records = [
        row._replace(names=tuple(_named(of, name) for name in row.names)) for of, row in rows
    ]
    step = np.ones(len(records), dtype=np.int64)
    return found._replace(
        records=records, placed=placed._replace(step=step, launch=step - 1, doubt="")
    )


def _data(word: str) -> str:
    known = (of for begins, of in SPLITS.items() if word.lower().startswith(begins))
    return next(known, "val")


def _named(data: str, name: str) -> str:
    """Return the name of a number with its data; as it is where it says some."""
    return name if split_of(tuple(name.lower().split())) else f"{data} {name}"
