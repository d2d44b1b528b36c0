"""Searches of scikit-learn: a line for each fold of each choice of settings that it tries.

``[CV 2/3] END C=1;, score=0.93 total time= 0.2s``. No course goes through them: each choice is a
training of a single point, the mean over its folds.
"""

from collections.abc import Sequence

from runlens.patterns import lazy_re
from runlens.sources.console.counters import Counted
from runlens.sources.console.rows import Row
from runlens.sources.reading import as_number

FEWEST = 2  # choices
SCORE = "mean cv score"
TOLD = (
    "holds the scores of a search and no course of a training, so each choice of settings was read "
    "as a single point, the mean over its folds"
)
_NUMBER = r"[-+]?(?:\d[\d.]*(?:e[-+]?\d{1,3})?|nan|inf)"
_FOLD = lazy_re(
    r"\s*\[CV(?: \d+/\d+)?(?:; \d+/\d+)?\] (?:END )?[. ]*(?P<of>.{0,2000}?)[;,. ]*"
    rf" ?score=(?:\(train={_NUMBER}, test=)?(?P<score>{_NUMBER})\)?,? total(?: time)?=.{{0,20}}"
)
# what it prints before each fold, and about all of them
_SAID = lazy_re(r"\s*\[CV\b.{0,2000}|Fitting \d+ folds for each of \d+ candidates, .{0,40}")
_Line = tuple[int, str]


def choices(others: Sequence[_Line]) -> list[Row]:
    """Return a row for each choice of settings in a search: its score, the mean over the folds."""
    found: dict[str, tuple[int, list[float]]] = {}
    for at, line in others:
        fold = _FOLD.fullmatch(line) if "[CV" in line else None
        score = as_number(fold["score"]) if fold else None
        if fold and score is not None:
            found.setdefault(fold["of"], (at, []))[1].append(score)
    if len(found) < FEWEST:
        return []
    return [
        Row(at, Counted(step=1), (SCORE,), (sum(some) / len(some),)) for at, some in found.values()
    ]


def without_searches(others: Sequence[_Line]) -> Sequence[_Line]:
    """Return lines without those of a search, which count folds and choices."""
    if not any("[CV" in line for _, line in others):
        return others
    return [(at, line) for at, line in others if not _SAID.fullmatch(line)]
