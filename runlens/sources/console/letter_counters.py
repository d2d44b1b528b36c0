"""Rows whose counter is a letter with its number: ``s5 xent 1.06``, ``mb#0020 J=0.5``."""

import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from runlens.patterns import lazy_re
from runlens.sources.console.mining.counting import goes_on
from runlens.sources.console.pairs import pairs
from runlens.sources.console.telling import tells

FEWEST = 5  # rows: so many stand in order by chance once in 120
STEP, COUNTS = "step", {"i": "iter", "k": "iter"}
# a short form of what counts is one only before the sign of a number: "mb" is a unit as well
NUMBERED = "#"
_LETTER = lazy_re(r"\s*\[?([@sikbtnuU]|(?:mb|upd|bt)#)(\d{1,9})\]?[\s:|,>-]{1,4}(?=[A-Za-z])")
# an epoch by its letter, and what is counted within: "E0 it012", "e3/b40"; or data: "E0 DEV"
_EPOCH = lazy_re(r"\s*\[?[Ee]p?(\d{1,4})\]?(?=[\s/:,|.-])")
_WITHIN = lazy_re(
    r"[\s/:,|.-]+(?:iter|it|i|batch|b|step|s)[ =]?(\d{1,7})[\s:|,>-]{1,4}(?=[A-Za-z])"
)
_Line = tuple[int, str]


def with_letters_spelled(others: Sequence[_Line]) -> Sequence[_Line]:
    """Return lines with the word of what counts them, where its number rises from row to row.

    What tells of several layers, ``b1 loss 0.5``, ``b2 loss 0.4``, begins anew each time.

    >>> with_letters_spelled([(n, f"s{n}0 xent 0.{n}") for n in range(1, 9)])[0]
    (1, 'step 10: xent 0.1')
    """
    found = [(at, said) for at, line in others if (said := _LETTER.match(line))]
    letters = {said[1] for _, said in found}
    told = {
        at: said
        for at, said in found
        if said[1].endswith(NUMBERED) or _tells(said.string[said.end() :])
    }
    if len(letters) != 1 or len(told) < FEWEST:
        return others
    if not goes_on(np.array([float(said[2]) for said in told.values()])):
        return others
    rows = {
        at: f"{COUNTS.get(said[1], STEP)} {said[2]}: {said.string[said.end() :]}"
        for at, said in told.items()
    }
    return [(at, rows.get(at, line)) for at, line in others]


def with_epochs_spelled(others: Sequence[_Line]) -> Sequence[_Line]:
    """Return lines with the words of both their counters: ``E0 it012 xent 0.2``.

    Within an epoch the second rises from row to row; another training begins at the first place.
    Other rows below name the epoch alone.

    >>> with_epochs_spelled([(n, f"E{n // 4} it{n % 4}0 xent 0.{n}") for n in range(1, 9)])[0]
    (1, 'epoch 0 iter 10: xent 0.1')
    """
    found = [(at, said) for at, line in others if (said := _EPOCH.match(line))]
    inner = {at: (said, within) for at, said in found if (within := _within(said))}
    place = [(int(said[1]), int(within[1])) for said, within in inner.values()]
    rising = all(one < other or other == place[0] for one, other in pairwise(place))
    if len(place) < FEWEST or not rising or len({epoch for epoch, _ in place}) == 1:
        return others
    rows = {at: f"epoch {said[1]} {said.string[said.end() :].lstrip()}" for at, said in found}
    for at, (said, within) in inner.items():
        rest = said.string[within.end() :]
        rows[at] = f"epoch {said[1]} {COUNTS['i']} {int(within[1])}: {rest}"
    return [(at, rows.get(at, line)) for at, line in others]


def _within(said: re.Match[str]) -> re.Match[str] | None:
    """Return what an epoch by its letter counts within, before what tells of a training."""
    within = _WITHIN.match(said.string, said.end())
    return within if within and _tells(said.string[within.end() :]) else None


def _tells(text: str) -> bool:
    return any(map(tells, pairs(text, sure=True)[0]))
