"""Curves in JSON that nothing names but their file: ``loss.json`` of ``{"1": 0.9, "2": 0.7}``.

A curve is a list of numbers, or numbers by the epoch that they are of. Two or three of them, one
behind the other, are told apart by their place: no word says of which data each is.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from runlens.naming import classify, words
from runlens.patterns import lazy_re
from runlens.sources.reading import as_number
from runlens.sources.tables.json_shapes import (
    WIDEST,
    counted,
    is_count,
    of_one_number,
    of_settings,
    trainings,
)
from runlens.sources.tables.names import SPLITS, called_after, has_metric, is_step
from runlens.sources.tables.unnamed import UNNAMED, minimised

FEWEST = 5  # numbers from which a list is a curve, where that is in doubt
FEWEST_ROWS = 10  # from which a number that rises by the same each time is no chance
FEW = 2  # values, up to which whole numbers are right or wrong of samples
MOST = 3  # curves one behind the other: more are the rows of a table
FALLEN = 0.9  # of what a curve was at first, below which it fell, where only its data are named
_BEGINS = lazy_re(rb"\s*(?:\[|\{\s*[\"']?((?:[A-Za-z]{1,12}[ _-]?)?\d{1,15})[\"']?\s*:)")
_ONLY = f"{UNNAMED}1"


def may_be_called_after(stem: str, head: bytes) -> bool:
    """Whether a text begins as a curve, and its file says what is measured, or on which data."""
    stem = called_after(stem)
    begun = _BEGINS.match(head) if classify(stem).quantity or _names_data(stem) else None
    return begun is not None and (begun[1] is None or counted(begun[1].decode()) is not None)


def are_of(names: set[str], stem: str) -> bool:
    """Whether columns have the name of their file, and no other."""
    stem = called_after(stem)
    return bool(names) and {name.partition(" (")[0] for name in names} <= {stem, _loss_of(stem)}


def stem_of(whole: Any, stem: str) -> str:  # noqa: ANN401 - JSON is of any type
    """Return what a file is called after; of one that names its data alone their loss, if it fell.

    ``train.json`` of ``[0.9, 0.7, 0.6, 0.5, 0.4]``.
    """
    if has_metric([stem]) or not _names_data(stem):
        return stem
    pairs = isinstance(whole, list) and all(isinstance(p, list) and len(p) == 2 for p in whole)  # noqa: PLR2004
    numbers = _numbers([pair[1] for pair in whole] if pairs else whole)
    measured = len(numbers) >= FEWEST and any(type(one) is float for one in numbers)
    return _loss_of(stem) if measured and minimised(numbers, FALLEN) else stem


def named_by_file(whole: Any, stem: str) -> Any:  # noqa: ANN401 - JSON is of any type
    """Return a text with names for its curves, where only the file says what they are."""
    if not has_metric([stem]):
        return _nameless(whole, stem)
    whole = _of_texts(whole)
    if isinstance(whole, dict) and whole.keys() <= SPLITS.keys():
        return {f"{split}/{stem}": values for split, values in whole.items()}
    if isinstance(whole, dict) and _numbers(whole):
        return {stem: whole}
    if isinstance(whole, dict) and _are_parts(whole, stem):
        return {f"{stem}/{name}": values for name, values in whole.items()}
    if isinstance(whole, list) and (numbers := of_one_number(whole)):
        if rows := _rows_in(numbers):
            return rows
        return {stem: numbers} if _measured(numbers, stem) else whole
    curves = [one for one in whole if _is_long(one)] if isinstance(whole, list) else []
    if not 0 < len(curves) == len(whole) <= MOST or len(set(map(len, curves))) > 1:
        return whole
    return {f"{stem} ({n})" if n > 1 else stem: one for n, one in enumerate(curves, 1)}


def are_nameless(rows: Sequence[Mapping[str, object]]) -> bool:
    """Whether rows are of a list that neither a name nor its file says what it is of."""
    return bool(rows) and rows[0].keys() == {_ONLY}


def _nameless(whole: Any, stem: str) -> Any:  # noqa: ANN401 - JSON is of any type
    """Return the rows of a list of numbers that is called the history of a training; others as is.

    A history of prices, or of what was said, is none.
    """
    numbers = of_one_number(whole) if isinstance(whole, list) else []
    called = {"train", "history"} <= set(words(stem))
    measured = len(numbers) >= FEWEST and all(type(one) is float for one in numbers)
    return [{_ONLY: one} for one in numbers] if called and measured else whole


def _are_parts(whole: dict[str, Any], stem: str) -> bool:
    """Whether curves of one length have names that say nothing: a reward for each ``video_1``.

    Under names of settings, or of trainings, each is one of a training.
    """
    lengths = {len(one) for one in whole.values() if isinstance(one, list)}
    if classify(stem).quantity not in {"reward", "loss"} or len(lengths) != 1:
        return False
    apart = any(of_settings(whole, stem)) or any(trainings(whole))
    said = has_metric(whole) or any(is_step(key) or counted(key) for key in whole)
    return len(whole) > 1 and all(map(_is_long, whole.values())) and not (apart or said)


def _of_texts(whole: Any) -> Any:  # noqa: ANN401 - JSON is of any type
    """Return a list of numbers in place of one of texts, and of the same one again and again."""
    if isinstance(whole, list) and whole and isinstance(whole[0], list):
        same = len(whole) > 1 and all(one == whole[0] for one in whole[1:])
        return (
            _of_texts(whole[0]) if same and all(isinstance(one, str) for one in whole[0]) else whole
        )
    if not isinstance(whole, list) or not all(isinstance(one, str) for one in whole):
        return whole
    found = [int(one) if one.strip().isdecimal() else as_number(one) for one in whole]
    return whole if None in found else found


def _rows_in(numbers: list[float]) -> list[list[float]]:
    """Return the rows of a list in which they follow one another, what counts them first.

    ``[20, 0.9, 1.1, 40, 0.7, 1.0, ...]``; nothing where no number rises by the same each time. The
    last row is whole: what was left over stands before the first.
    """
    for width, first in ((w, n) for w in range(2, WIDEST + 1) for n in range(w)):
        counter = numbers[first::width]
        gaps = {b - a for a, b in pairwise(counter)}
        if (
            len(counter) >= FEWEST_ROWS
            and len(gaps) == 1
            and min(gaps) > 0
            and is_count(gaps.pop())
        ):
            begin = len(numbers) % width
            place = (first - begin) % width
            rows = [numbers[at : at + width] for at in range(begin, len(numbers), width)]
            return [[row[place], *row[:place], *row[place + 1 :]] for row in rows]
    return []


def _measured(numbers: list[float], stem: str) -> bool:
    """Whether numbers were measured; whole ones are scores where they are no right or wrong."""
    scores = classify(stem).quantity != "loss" and len(set(numbers)) > FEW
    return any(type(one) is float for one in numbers) or (scores and len(numbers) >= FEWEST)


def _is_long(one: object) -> bool:
    """Whether a part of a list is a curve, and no row of a table."""
    numbers = _numbers(one)
    return len(numbers) >= FEWEST and any(type(n) is float for n in numbers)


def _numbers(curve: object) -> list[float]:
    """Return the numbers of a curve; nothing for others."""
    if isinstance(curve, list):
        return of_one_number(curve)
    if not isinstance(curve, dict) or not all(map(counted, curve)):
        return []
    numbers = (one if type(one) is int else as_number(one) for one in curve.values())
    found = [number for number in numbers if number is not None]
    return found if len(found) == len(curve) > 1 else []


def _names_data(stem: str) -> bool:
    """Whether a name says which data something is of, and nothing else: ``train``."""
    said = words(stem)
    return bool(said) and SPLITS.keys() >= set(said)


def _loss_of(stem: str) -> str:
    return f"{classify(stem).split or stem}_loss"
