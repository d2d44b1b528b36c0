"""What a line on a saved model tells again: ``Saved best (acc=0.81)`` below ``Val Acc: 0.81``.

The number is of the evaluation above, though its name says nothing of the data there. Read as a
score of the training it would stand beside that of the held-out data, and be its twin.
"""

import re
from collections.abc import Sequence
from functools import partial

from runlens.naming import classify
from runlens.patterns import lazy_re

ABOVE = 3  # lines in which the number was told: a row of training, one of evaluation, and a blank
MOST = 2  # numbers of such a line: one of more is a row itself
LONGEST = 300  # characters of a line
_SAVED = lazy_re(r"(?i)\b(?:sav(?:ed|ing)|best|checkpoint)\b")
_PAIR = lazy_re(
    r"(?P<name>\b[A-Za-z][\w-]{0,30})(?P<value>\s?[:= ]\s?(?P<number>\d+\.\d{2,}))(?![\d.])"
)
_HELD_OUT = r"(?i)(?<![a-z])(?:val|valid|validation|eval|evaluation|test|dev)(?![a-z]).*?(?<![\d.])"
_Line = tuple[int, str]


def without_told_again(others: Sequence[_Line]) -> Sequence[_Line]:
    """Return lines without the scores of saved models that stand above, by their data.

    >>> without_told_again([(0, "Val Acc: 0.8125"), (1, "Saved best model (acc=0.8125)")])
    [(0, 'Val Acc: 0.8125'), (1, 'Saved best model (acc)')]
    """
    found: list[_Line] = []
    for at, line in others:
        text = line
        said = len(line) <= LONGEST and _SAVED.search(line)
        if said and len(_PAIR.findall(line)) <= MOST:
            above = [one for _, one in found[-ABOVE:] if len(one) <= LONGEST]
            text = _PAIR.sub(partial(_kept, above), line)
        found.append((at, text))
    return found


def _kept(above: Sequence[str], pair: re.Match[str]) -> str:
    """Return a name without its number where that is one of held-out data above; else both."""
    if classify(pair["name"]).split:
        return pair[0]
    told = re.compile(_HELD_OUT + re.escape(pair["number"]) + r"(?![\d.])")
    return pair["name"] if any(map(told.search, above)) else pair[0]
