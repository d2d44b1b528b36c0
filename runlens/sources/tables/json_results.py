"""Results in one JSON text that holds no curve: scores of one model, or of several by their names.

``{"config": {...}, "metrics": {"accuracy": 0.93}}`` is one row, ``{"svm": {"accuracy": 0.9}, "rf":
{...}}`` and ``{"seed_0": {...}, "seed_1": {...}}`` are trainings of a single point each. Settings
and data by name are no results, whatever one of them is called.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from runlens.metrics import plain
from runlens.naming import classify
from runlens.patterns import lazy_re
from runlens.sources.reading import as_number
from runlens.sources.tables.json_shapes import CONTAINERS, leaves
from runlens.sources.tables.names import (
    CONFIG,
    LABELS,
    SPLITS,
    VALUES,
    has_metric,
    is_setting,
    judges,
)

Row = dict[str, Any]

DEEPEST = 4
MOST = 500  # results
FEWEST = 2
MOSTLY = 0.5  # share of the names that are known as those of models
# keys of an object that only say that results lie in it
_AROUND = {*CONTAINERS, "results", "result", "scores", "performance", "final", "summary"}
# what is measured of a class or a kind of word as well, beside which no model is meant
_OF_PARTS = {
    "precision", "recall", "f1", "f1_score", "fscore", "f_score", "fmeasure", "f_measure", "iou",
    "ap", "support", "dice", "p", "r", "f", "number",
}  # fmt: skip
# words by which a list has a value for each class: ``"label-F1": [0.5, 0.7]`` beside ``macro-F1``
_EACH = {
    "label", "labels", "class", "classes", "classwise", "category", "categories", "per", "position",
    "positions",
}  # fmt: skip
_VALUES = {"score", "result", "number_value", "numbervalue", *VALUES}
_SPREAD = {"std", "stdev", "stddev", "var", "variance", "min", "max", "count", "n", "sem", "ci"}
_SUMMARY = lazy_re(r"(?i)mean|average|avg|std|overall_?mean|summary|aggregate")
_Parts = list[tuple[tuple[str, ...], Row]]
_PERCENT = lazy_re(r"\s*([-+]?\d+(?:[.,]\d+)?)\s*%\s*")


def results(whole: Row, stem: str) -> list[tuple[str, Row]]:
    """Return rows, each by the name of its training, "" where there is one; nothing of others."""
    if scores := _listed(whole):
        return [("", scores)]
    if _judged(whole):
        return [("", _numbers({k: v for k, v in whole.items() if not CONFIG.fullmatch(k)}))]
    parts = _without_summary(list(_parts(whole)))
    if 1 < len(parts) <= MOST and _are_trainings(parts):
        return [("/".join(path), _numbers(part)) for path, part in parts]
    if parts and len(parts) <= MOST:
        one = {k: v for k, v in whole.items() if not CONFIG.fullmatch(k)}
        return [("", _numbers(_opened(one)))]
    return list(_of_names(whole, stem))


def is_result(whole: object) -> bool:
    """Whether an object has a number itself by which a training is judged."""
    return isinstance(whole, dict) and _judged(whole)


def tells_ends(whole: object) -> bool:
    """Whether an object is a result, or holds those of several models, each under its name.

    Beside these may stand what they get under each of some conditions, by its number.
    """
    if not isinstance(whole, dict) or _judged(whole):
        return is_result(whole)
    parts = _without_summary(list(_parts(whole)))
    return 1 < len(parts) <= MOST and _are_trainings(parts)


def of_classes(whole: object, names: Collection[str]) -> bool:
    """Whether lists beside a result are no curves: each name says that it has a value a class."""
    return is_result(whole) and bool(names) and all(map(_of_each, names))


def _of_each(name: str) -> bool:
    """Whether a name is of what is measured of classes, of each of them."""
    parts = {*re.findall(r"[a-z\d]+", name.lower())}
    named = parts - _EACH - SPLITS.keys()
    return bool(parts & _EACH) and bool(named) and named <= _OF_PARTS | {"accuracy", "acc"}


def _listed(whole: Row) -> Row:
    """Return the scores of a list of names and values: ``[{"name": "f1", "value": 0.9}]``."""
    lists = [one for one in whole.values() if isinstance(one, list) and one]
    for rows in lists:
        found: Row = {}
        for row in rows if all(isinstance(row, dict) for row in rows) else ():
            names = [v for k, v in row.items() if plain(k) in LABELS and isinstance(v, str)]
            values = [n for k, v in row.items() if plain(k) in _VALUES and (n := _number(v))]
            if names and values and judges(names[0]):
                found[names[0]] = values[0]
        if len(found) == len(rows):
            return found
    return {}


def _judged(part: Row) -> bool:
    """Whether an object itself has a number that judges, as its settings are none."""
    return any(judges(key) and _number(value) is not None for key, value in part.items())


def _parts(
    whole: Row, path: tuple[str, ...] = (), depth: int = 0
) -> Iterator[tuple[tuple[str, ...], Row]]:
    """Yield the objects that hold numbers by which one judges, by their path."""
    for key, inner in whole.items():
        if not isinstance(inner, dict) or depth > DEEPEST or CONFIG.fullmatch(key):
            continue
        here = path if plain(key) in _AROUND else (*path, key)
        spread = _is_metric_in_parts((key, inner))
        of_data = bool(inner) and all(
            isinstance(one, dict) and (key in SPLITS) and _judged(one) for key, one in inner.items()
        )
        if _judged(inner) or spread or of_data or any(map(_is_metric_in_parts, inner.items())):
            yield here, inner
        else:
            yield from _parts(inner, here, depth + 1)


def _is_metric_in_parts(item: tuple[str, Any]) -> bool:
    """Whether a metric has its mean and deviation, ``"accuracy": {"mean": 0.9}``, or its parts."""
    key, inner = item
    named = {*map(plain, inner)} if isinstance(inner, dict) and judges(key) else set()
    return not named.isdisjoint(_SPREAD | _OF_PARTS)


def _without_summary(parts: _Parts) -> _Parts:
    """Leave out what sums up others: the mean of folds."""
    apart = [(path, part) for path, part in parts if not any(map(_SUMMARY.fullmatch, path))]
    return apart if len(apart) > 1 else parts


def _are_trainings(parts: Sequence[tuple[tuple[str, ...], Row]]) -> bool:
    """Whether objects that measure the same are a training each: no data, no class is named."""
    named = [{plain(key) for key in _numbers(part) if judges(key)} for _, part in parts]
    alike = all(named[0] & some for some in named)
    whole = any(some - _OF_PARTS for some in named)
    said = {word for path, _ in parts for word in path}
    of_data = any(word.lower() in SPLITS or (classify(word).split and not whole) for word in said)
    measures = any(has_metric([word]) for word in said)
    return alike and whole and not of_data and not measures and all(path for path, _ in parts)


def _of_names(whole: Row, stem: str) -> Iterator[tuple[str, Row]]:
    """Yield the score of each model: ``{"SVM": 0.91, "Random Forest": 0.93}``."""
    from runlens.sources.console.named_scores import MODEL

    called = stem if has_metric([stem]) else "result"
    rows: dict[str, Row] = {}
    for key, value in whole.items():
        inner = value if isinstance(value, dict) else {"": value}
        measured = inner and all(type(n) is float for n in inner.values())
        if measured and not any(map(is_setting, (key, *inner))):
            rows[key] = {f"{called} {n}".strip(): number for n, number in inner.items()}
    known = sum(MODEL.search(key) is not None for key in rows)
    if len(rows) == len(whole) >= FEWEST and known >= MOSTLY * len(rows):
        yield from rows.items()


def _opened(whole: Row, depth: int = 0) -> Row:
    """Return an object without those around its results: ``{"results": {"accuracy": 0.9}}``."""
    found: Row = {}
    for key, value in whole.items():
        inner = isinstance(value, dict) and plain(key) in _AROUND and depth < DEEPEST
        found |= _opened(value, depth + 1) if inner else {key: value}
    return found


def _numbers(part: Row) -> Row:
    """Return the numbers of an object by their path, of a metric and its deviation the mean."""
    found: Row = {}
    for name, value in leaves(part):
        before, _, last = name.rpartition("/")
        number = _number(value)
        if number is None or (before and judges(before) and plain(last) in _SPREAD):
            continue
        found[before if before and judges(before) and plain(last) == "mean" else name] = number
    return found


def _number(value: object) -> float | None:
    """Return the number in a value, a share of a text such as ``93.1%`` too."""
    if isinstance(value, str) and (share := _PERCENT.fullmatch(value)):
        return float(share[1].replace(",", ".")) / 100
    return as_number(value)
