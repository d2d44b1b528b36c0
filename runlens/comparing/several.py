"""Several runs against one: claims that hold for the whole family, not for each alone.

Of twenty equal runs one differs by chance at 95 %. Benjamini and Hochberg (1995): of the claims
that are left no more than one in twenty is expected to be false.
"""

from collections.abc import Sequence
from dataclasses import replace

from runlens.comparison import Pair

RATE = 0.05  # share of claims that may be false
CLAIMS = frozenset({"better", "worse"})


def corrected(pairs: Sequence[Pair]) -> tuple[Pair, ...]:
    """Return the pairs with those claims taken back that chance makes among as many."""
    chances = [_chance(pair) for pair in pairs]
    known = sorted(chance for chance in chances if chance is not None)
    held = [chance for i, chance in enumerate(known, 1) if chance <= RATE * i / len(known)]
    most = max(held, default=0.0)
    return tuple(
        _taken_back(pair, len(known)) if chance is not None and chance > most else pair
        for pair, chance in zip(pairs, chances, strict=True)
    )


def _chance(pair: Pair) -> float | None:
    return next((row.chance for row in pair.measures if row.decides), None)


def _taken_back(pair: Pair, many: int) -> Pair:
    """Return a pair without its claim; one that claims nothing as it is."""
    said = pair.verdict
    if many == 1 or said.result not in CLAIMS:
        return pair
    sentence = f"{said.sentence.rstrip('.')}: not clear among {many} comparisons."
    verdict = said._replace(result="cannot_tell", sentence=sentence)
    rows = tuple(
        row._replace(outcome="cannot_tell", clear=False) if row.decides else row
        for row in pair.measures
    )
    return replace(pair, verdict=verdict, measures=rows)
