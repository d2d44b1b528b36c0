"""Rows that each process of a distributed training prints: ``[rank1]: step 3: loss=0.5``."""

import re
from collections.abc import Sequence

from runlens.patterns import lazy_re
from runlens.sources.console.spans import shape

_RANK = lazy_re(r"\W{0,3}(?:rank|default|gpu)[ _:]?(\d{1,5})\b\]?[ :|]*(?=\S)", re.IGNORECASE)
Line = tuple[int, str]


def of_first_rank(others: Sequence[Line]) -> Sequence[Line]:
    """Return lines without those of other ranks that the first prints too.

    >>> of_first_rank([(0, "[rank1]: loss 2.5"), (1, "[rank0]: loss 2.1"), (2, "[rank1]: bye")])
    [(1, '[rank0]: loss 2.1'), (2, '[rank1]: bye')]
    """
    ranked = {at: (int(found[1]), shape(line[found.end() :])) for at, line, found in _found(others)}
    first = min((rank for rank, _ in ranked.values()), default=0)
    said = {text for rank, text in ranked.values() if rank == first}
    again = {at for at, (rank, text) in ranked.items() if rank != first and text in said}
    return [item for item in others if item[0] not in again] if again else others


def _found(others: Sequence[Line]) -> list[tuple[int, str, re.Match[str]]]:
    return [(at, line, found) for at, line in others if (found := _RANK.match(line))]
