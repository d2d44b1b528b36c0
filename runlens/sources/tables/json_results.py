"""Results in one JSON text that holds no curve: scores of one model, or of several by their names.

``{"config": {...}, "metrics": {"accuracy": 0.93}}`` is one row, ``{"svm": {"accuracy": 0.9}, "rf":
{...}}`` and ``{"seed_0": {...}, "seed_1": {...}}`` are trainings of a single point each. Settings
and data by name are no results, whatever one of them is called.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from runlens.metrics import plain
from runlens.naming import classify, words
from runlens.patterns import lazy_re
from runlens.sources.reading import as_number
from runlens.sources.tables.cells import spread_around
from runlens.sources.tables.json_shapes import CONTAINERS, leaves
from runlens.sources.tables.names import (
    CONFIG,
    LABELS,
    OF_PARTS,
    SPLITS,
    TRAININGS,
    VALUES,
    has_metric,
    is_setting,
    is_step,
    judges,
    says_scores,
)
from runlens.sources.tables.no_course import RANKS

Row = dict[str, Any]

DEEPEST = 4
MOST = 500  # results
FEWEST = 2
MOST_FOLDS = 100  # of repeated ones as well: ten times ten
MOSTLY = 0.5  # share of the names that are known as those of models
# keys of an object that only say that results lie in it
_AROUND = {*CONTAINERS, "results", "result", "scores", "performance", "final", "summary"}
# words by which a list has a value for each class: ``"label-F1": [0.5, 0.7]`` beside ``macro-F1``
_EACH = {
    "label", "labels", "class", "classes", "classwise", "category", "categories", "per", "position",
    "positions",
}  # fmt: skip
_VALUES = {"score", "result", "number_value", "numbervalue", *VALUES}
_SPREAD = {"std", "stdev", "stddev", "var", "variance", "min", "max", "count", "n", "sem", "ci"}
_SUMMARY = lazy_re(r"(?i)mean|average|avg|std|overall_?mean|summary|aggregate")
_Parts = list[tuple[tuple[str, ...], Row]]
_MODELS = {"models", "model", "methods", "classifiers", "algorithms", "runs", "leaderboard"}
_FILE = lazy_re(r"\.[a-zA-Z]{2,4}\d?$")
# no "cv_loss": so is that of a held-out set called, once an epoch
_FOLDS = lazy_re(r"(?:^|_)folds?(?:_|$)|^(?:cv|cross_val(?:idation)?)_scores?$")
_PERCENT = lazy_re(r"\s*([-+]?\d+(?:[.,]\d+)?)\s*%\s*")


def results(text: object, stem: str) -> list[tuple[str, Row]]:
    """Return rows, each by the name of its training, "" where there is one; nothing of others."""
    whole: Row = text if isinstance(text, dict) else {"": text}
    if scores := _listed(whole):
        return [("", scores)]
    if isinstance(text, list) and len(text) == 1 and isinstance(text[0], dict):
        return results(text[0], stem)  # a file to which each launch may add its results
    if _judged(whole):
        return [("", _numbers({k: v for k, v in whole.items() if not CONFIG.fullmatch(k)}))]
    if rows := _of_rows(whole, stem):
        return rows
    parts = _without_summary(list(_parts(whole)))
    if 1 < len(parts) <= MOST and _are_trainings(parts):
        return [("/".join(path), _numbers(part)) for path, part in parts]
    if parts and len(parts) <= MOST:
        one = {k: v for k, v in whole.items() if not CONFIG.fullmatch(k)}
        return [("", _numbers(_opened(one)))]
    return list(_of_names(whole, stem)) or _of_grid(whole, stem)


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


def folds(names: Collection[str], rows: int) -> tuple[str, ...]:
    """Return the name of each fold of a cross-validation, of which lists have a value each; or ().

    No fold is behind another: it is no course. scikit-learn writes how long each took beside its
    scores; others name what is of folds.
    """
    measured = [name for name in names if has_metric([name])]
    timed = any(plain(name) == "fit_time" for name in names)
    of_each = timed or all(_FOLDS.search(plain(name)) for name in measured)
    known = 1 < rows <= MOST_FOLDS and measured and of_each
    return tuple(f"fold {number}" for number in range(1, rows + 1)) if known else ()


def _of_each(name: str) -> bool:
    """Whether a name is of what is measured of classes, of each of them."""
    parts = {*re.findall(r"[a-z\d]+", name.lower())}
    named = parts - _EACH - SPLITS.keys()
    return bool(parts & _EACH) and bool(named) and named <= OF_PARTS | {"accuracy", "acc"}


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
    return not named.isdisjoint(_SPREAD | OF_PARTS)


def _without_summary(parts: _Parts) -> _Parts:
    """Leave out what sums up others: the mean of folds."""
    apart = [(path, part) for path, part in parts if not any(map(_SUMMARY.fullmatch, path))]
    return apart if len(apart) > 1 else parts


def _are_trainings(parts: Sequence[tuple[tuple[str, ...], Row]]) -> bool:
    """Whether objects that measure the same are a training each: no data, no class is named."""
    named = [{plain(key) for key in _numbers(part) if judges(key)} for _, part in parts]
    alike = all(named[0] & some for some in named)
    whole = any(some - OF_PARTS for some in named)
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


def _of_rows(whole: Row, stem: str) -> list[tuple[str, Row]]:
    """Return the numbers of each training of a list that names them, beside settings of all.

    ``{"seed": 1, "leaderboard": [{"method": "a", "mean_distance": 0.9}, ...]}``. What the numbers
    are the list, or the file, has to say where no name does: objects of data have names as well.
    """
    for key, rows in whole.items():
        if not (isinstance(rows, list) and FEWEST <= len(rows) <= MOST):
            continue
        if not all(isinstance(row, dict) for row in rows) or any(map(is_step, rows[0])):
            continue
        named = LABELS if {*words(key)} & _MODELS else set[str]()
        names = [_said(row, TRAININGS) or _said(row, named) for row in rows]
        each = [
            {n: v for n, v in _numbers(row).items() if not is_setting(n) and plain(n) not in RANKS}
            for row in rows
        ]
        told = says_scores(key) or says_scores(stem) or all(any(map(judges, one)) for one in each)
        measured = all(any(type(v) is float for v in row.values()) for row in rows)
        if told and measured and "" not in names and len({*names}) == len(rows):
            return list(zip(names, each, strict=True))
    return []


def _said(row: Row, known: Collection[str]) -> str:
    """Return the text under one of some names; "" where there is none."""
    said = (v for k, v in row.items() if plain(k) in known and isinstance(v, str))
    return next(said, "")


def _of_grid(whole: Row, stem: str) -> list[tuple[str, Row]]:
    """Return the scores of several models on several data in one row, by their path.

    ``{"titanic": {"xgboost": 0.75, "ours": 0.78}, "loan": {...}}``, where the file says that it
    holds scores, and a name that one is a model's. The chances of each class by the name of a
    picture are none, nor are sizes, which are no shares.
    """
    from runlens.sources.console.named_scores import MODEL

    parts: Row = {key: inner for key, inner in whole.items() if isinstance(inner, dict)}
    shares: list[Row] = [
        {name: one for name, one in inner.items() if type(one) is float and 0 <= one <= 1}
        for inner in parts.values()
    ]
    common = [name for name in next(iter(shares), {}) if all(name in one for one in shares)]
    named = any(MODEL.search(name) for one in (parts, *shares) for name in one)
    told = says_scores(stem) and named and len(common) >= FEWEST
    if len(parts) < max(FEWEST, len(whole)) or not told or any(map(_FILE.search, parts)):
        return []
    return [("", {f"result {name}": value for name, value in _numbers(parts).items()})]


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
    all_of_it = dict(leaves(part, most=DEEPEST + 2))  # of the deepest part, each metric's mean
    for name, value in all_of_it.items():
        before, _, last = name.rpartition("/")
        number = _number(value)
        spread = {f"{before}/mean", f"{before}/std"} <= all_of_it.keys()  # of several launches
        of_metric = before and (spread or judges(before))
        if number is None or (of_metric and plain(last) in _SPREAD):
            continue
        found[before if of_metric and plain(last) == "mean" else name] = number
    return found


def _number(value: object) -> float | None:
    """Return the number in a value, a share of a text such as ``93.1%`` too."""
    if isinstance(value, str) and (share := _PERCENT.fullmatch(value)):
        return float(share[1].replace(",", ".")) / 100
    if isinstance(value, str) and (mean := spread_around(value)):
        return as_number(mean)
    return as_number(value)
