"""Bars that do not say what they are of, below lines that do: ``Epoch 1/4``, ``Validating``.

A logger prints so, whatever it puts before each line: its prefix is no label of a bar.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate, pairwise

from runlens.patterns import lazy_re
from runlens.sources.console.loggers import without_logger
from runlens.sources.console.mining.phrases import SPLIT
from runlens.sources.console.postfix import first_of_turns
from runlens.sources.console.text import Bar

LONGEST = 60  # characters of a heading, behind its logger
_OF_DATA = lazy_re(
    r"\W*(?:(?:start|begin|runn)\w* )?(?:(?P<held>validat|evaluat|test)|train)(?:ing|ion)"
    r"(?: (?:on|the|of|dev|val|validation|test|set|data|dataset|split|model|phase))*\W*",
    re.IGNORECASE,
)
_EPOCH = lazy_re(
    r"\W*(?:(?:start|begin)\w* )?epoch\W{0,5}(\d{1,9}(?:\s*(?:/|of)\s*\d{1,9})?)\W*", re.IGNORECASE
)
_VALUE = lazy_re(r"[A-Za-z]\w*: -?\d")
_Head = tuple[int, bool, str]  # line, whether held-out data follow, the epoch that it names


def under_headings(bars: Sequence[Bar], others: Sequence[tuple[int, str]]) -> Sequence[Bar]:
    """Return bars with what the lines above them say in their labels, `others` without loggers.

    Only where some stand below a heading of held-out data and others below one of the training, or
    each heading is of an epoch, with bars of one length below it.
    """
    heads = [head for at, line in others if len(line) <= LONGEST and (head := _head(at, line))]
    place = [bisect_left(heads, (bar.at,)) - 1 for bar in bars]
    labels = [without_logger(bar.label) for bar in bars]
    both = len({n >= 0 and heads[n][1] for n in place}) > 1 and not any(map(SPLIT.search, labels))
    if not (both or _of_epochs(heads, place, bars)):
        return bars
    if any("poch" in label for label in labels):
        return bars
    return [
        bar._replace(label=f"{_said(heads, n)} {label}")
        for bar, label, n in zip(bars, labels, place, strict=True)
    ]


def _of_epochs(heads: Sequence[_Head], place: Sequence[int], bars: Sequence[Bar]) -> bool:
    """Whether each heading is of an epoch, and the bar below it is full before the next one.

    They have one label and one length. A bar of the whole run goes on from epoch to epoch.
    """
    last = dict(zip(place, bars, strict=True))  # below each heading
    alike = len({(bar.label, bar.total) for bar in bars}) == 1 < len(heads)
    full = alike and all(last[n].done == last[n].total for n in {*place} - {place[-1]})
    return full and {*place} == {*range(len(heads))} and all(epoch for _, _, epoch in heads)


def by_turns(bars: Sequence[Bar]) -> Sequence[Bar]:
    """Return bars with numbers in their labels with the epoch, or the data, that no label names.

    AllenNLP draws one of the training and one of held-out data in each epoch, by turns:
    ``accuracy: 0.78, loss: 0.52 ||:  62%|## | 5/8``.
    """
    valued = [bar for bar in bars if _VALUE.search(bar.label)]
    first = first_of_turns(valued)
    if not first or any(SPLIT.search(bar.label) or "poch" in bar.label for bar in valued):
        return bars
    begun = accumulate(
        (b.total == first and a.total != first for a, b in pairwise(valued)), initial=1
    )
    said = (
        f"Epoch {n}" if bar.total == first else "validation"
        for bar, n in zip(valued, begun, strict=True)
    )
    return [
        bar._replace(label=f"{what} {bar.label}") for bar, what in zip(valued, said, strict=True)
    ]


def _head(at: int, line: str) -> _Head | None:
    if said := _OF_DATA.fullmatch(line):
        return at, bool(said["held"]), ""
    said = _EPOCH.fullmatch(line)
    return (at, False, f"epoch {said[1].replace(' of ', '/')}") if said else None


def _said(heads: Sequence[_Head], place: int) -> str:
    """Return what the heading at a place says: held-out data, or the epoch above it."""
    if place >= 0 and heads[place][1]:
        return "validation"
    return next((epoch for _, _, epoch in reversed(heads[: place + 1]) if epoch), "")
