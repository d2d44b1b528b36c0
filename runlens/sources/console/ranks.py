"""Rows that each process of a training prints: ``[rank1]: step 3: loss=0.5``, ``thread: 2 ...``."""

import re
from collections import Counter
from collections.abc import Sequence

from runlens.patterns import lazy_re
from runlens.sources.console.counters import counted
from runlens.sources.console.spans import shape

_RANK = lazy_re(
    r"\W{0,3}(?:rank|default|gpu)[ _:]?(\d{1,5})\b\]?[ :|]*(?![KMGT]i?B\b)(?=\S)", re.IGNORECASE
)
# within a row: "epoch 3 | rank 1 | loss 0.5"
_WITHIN = lazy_re(r"(?<=\W)(?:local_)?rank\s?[:=#]?\s?(\d{1,3})\b(?!\.\d)", re.IGNORECASE)
_THREAD = lazy_re(r"\b(?:thread|worker|process|actor)s?\W{0,3}\d{1,4}\b", re.IGNORECASE)
_JUDGED = lazy_re(r"\b(?:rewards?|returns?|loss)\b\W{1,3}[-+]?\d", re.IGNORECASE)
Line = tuple[int, str]


def of_first_rank(others: Sequence[Line]) -> Sequence[Line]:
    """Return lines without those of other ranks that the first prints too.

    >>> of_first_rank([(0, "[rank1]: loss 2.5"), (1, "[rank0]: loss 2.1"), (2, "[rank1]: bye")])
    [(1, '[rank0]: loss 2.1'), (2, '[rank1]: bye')]
    """
    ranked = {at: (int(found[1]), shape(line[found.end() :])) for at, line, found in _found(others)}
    ranked = ranked or _within_rows(others)
    first = min((rank for rank, _ in ranked.values()), default=0)
    said = {text for rank, text in ranked.values() if rank == first}
    again = {at for at, (rank, text) in ranked.items() if rank != first and text in said}
    return [item for item in others if item[0] not in again] if again else others


def _within_rows(others: Sequence[Line]) -> dict[int, tuple[int, str]]:
    """Return rank and text of the rows that name one amid their words; nothing where it is a size.

    Ranks are numbered from 0 on, and each prints as many rows.
    """
    lines = [(at, line) for at, line in others if "rank" in line.lower()]
    ranks = {at: int(m[1]) for at, line in lines if (m := _WITHIN.search(line))}
    often = Counter(ranks.values())
    from_0 = sorted(often) == list(range(len(often))) and len(often) > 1
    if not from_0 or max(often.values()) - min(often.values()) > 1:
        return {}
    judged = ((at, line) for at, line in lines if at in ranks and _JUDGED.search(line))
    return {at: (ranks[at], shape(line)) for at, line in judged}


def _found(others: Sequence[Line]) -> list[tuple[int, str, re.Match[str]]]:
    return [(at, line, found) for at, line in others if (found := _RANK.match(line))]


def without_threads(others: Sequence[Line]) -> Sequence[Line]:
    """Return lines without those of single threads, beside rows of all that count nothing.

    ``Training thread: 2 Num iters: 1K Avg value loss: 0.6`` says nothing of where the many rows
    ``Time 00h 02m 10s, Avg Reward -0.004`` stand.
    """
    threads = {at: line for at, line in others if "oss" in line and _THREAD.search(line)}
    if not threads:
        return others
    judged = [line for at, line in others if at not in threads and _JUDGED.search(line)]
    (first, many), *_ = Counter(map(shape, judged)).most_common(1) or [("", 0)]
    row = next((line for line in judged if shape(line) == first), "")
    if many <= len(threads) or counted(row):
        return others
    return [item for item in others if item[0] not in threads]
