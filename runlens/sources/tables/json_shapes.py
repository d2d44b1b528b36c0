"""Shapes of JSON in which rows are not lists of named numbers: pairs, cells, keys that count."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from runlens.config_keys import KNOWN_KEYS, canonical_key
from runlens.metrics import plain
from runlens.naming import classify
from runlens.patterns import lazy_re
from runlens.sources.reading import as_number
from runlens.sources.tables.cells import LONGER
from runlens.sources.tables.names import (
    SETTINGS,
    SPLITS,
    STEPS,
    TRAININGS,
    has_metric,
    has_twins,
    is_step,
)
from runlens.sources.tables.unnamed import UNNAMED

Row = dict[str, Any]

DEEPEST = 3
LEAVES = 4  # objects within each other in a row: RLlib's info/learner/default_policy/learner_stats
PAIR, TRIPLE = 2, 3  # numbers of a point, and with its time before it
WIDEST = 12  # numbers of a row without names: more are data
WALL = 1e9  # seconds since 1970 from which a number is a time, of 2001
# keys that only say where their inner ones belong
CONTAINERS = {"metrics", "scalars", "data", "log", "logs", "stats", "values"}
HELD_OUT = {"val", "test"}
# keys of a trial in the log of bayesian-optimization, and what its score is called here
TARGET, PARAMS, VALUE = "target", "params", "value"
SEARCHED = {TARGET, PARAMS, "datetime"}
_COUNTED = lazy_re(r"(?:([^\W\d]+)[ _-]*)?(\d{1,15}(?:\.\d{1,9})?)")
_NETWORKS = {"generator", "discriminator", "actor", "critic", "policy", "value", "g", "d"}  # of one
_BETWEEN = lazy_re(r"[^\w-]+")
_VALUE = lazy_re(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?")
_SHORT = {"ep": "epoch", "e": "epoch", "it": "iter"}


def leaves(row: Row, prefix: str = "", most: int = LEAVES) -> Iterator[tuple[str, Any]]:
    """Yield the plain values of a row; those of inner objects are named by their path."""
    for key, value in row.items():
        if isinstance(value, dict):
            if most > 0:
                inner = prefix if key in CONTAINERS else f"{prefix}{key}/"
                yield from leaves(value, inner, most - 1)
        elif not isinstance(value, list):
            yield f"{prefix}{key}", value


def as_trial(row: Row) -> Row:
    """Return the score and the settings of a trial of a search, its score by a name that says so.

    The package bayesian-optimization writes each as a line: what was sought is its ``target``.
    """
    if row.keys() != SEARCHED or not isinstance(row[PARAMS], dict):
        return row
    return {VALUE: row[TARGET], PARAMS: row[PARAMS]}


def is_trial(row: Row) -> bool:
    """Whether a row is that of a trial of a search, with its score and its settings."""
    return row.keys() == {VALUE, PARAMS} and isinstance(row[PARAMS], dict)


def of_lists(row: Row) -> Iterator[tuple[str, Any]]:
    """Yield the scores of a row that stand in a short list, by their places: ``test_bbox/1``.

    Whole numbers are counts of classes; losses are those of batches.
    """
    for key, some in row.items():
        if isinstance(some, list) and 1 < len(some) <= WIDEST and {*map(type, some)} == {float}:
            meaning = classify(key)
            if meaning.quantity != "loss" and (meaning.quantity or meaning.split in HELD_OUT):
                yield from ((f"{key}/{n}", one) for n, one in enumerate(some, 1))


def is_count(value: object) -> bool:
    """Whether a value is a whole number from 0 on."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def measures(row: Row) -> bool:
    """Whether a row has a number under the name of a metric."""
    return has_metric([name for name, value in leaves(row) if as_number(value) is not None])


def measure_nothing(rows: Iterable[Row]) -> bool:
    """Whether no row has a number under the name of a metric."""
    return not any(map(measures, rows))


def counted(key: str) -> tuple[str, float] | None:
    """Return what a key counts, and how far: ``epoch_3``, ``3``; None for others.

    Of an epoch a part may be done.

    >>> counted("Epoch 3"), counted("ep0.5"), counted("3"), counted("layer3"), counted("0.5")
    (('epoch', 3), ('epoch', 0.5), ('step', 3), None, None)
    """
    found = _COUNTED.fullmatch(key)
    if found is None:
        return None
    word = plain(found[1] or "step")
    word = _SHORT.get(word, word)
    if "." in found[2]:
        return (word, float(found[2])) if word == "epoch" else None
    return (word, int(found[2])) if word in STEPS else None


def of_counted_keys(whole: Row, stem: str = "") -> list[Row]:
    """Turn rows that are found by their number into rows that name it: ``{"epoch_1": {...}}``.

    Where each is numbers by their own number, those are the iterations of an epoch. A list of a few
    numbers is a row of columns without names, if the file says what was measured, or each key that
    it counts epochs. A summary may stand beside rows that are measured: ``"best": 3``.
    """
    found = [(count, row) for key, row in whole.items() if (count := counted(key))]
    if has_metric([stem]) or all(count == "epoch" for (count, _), _ in found):
        found = [(count, _numbered(row)) for count, row in found]
    if not all(isinstance(row, dict) for _, row in found) or not (
        len(found) == len(whole) or _goes_on(found, len(whole) - len(found))
    ):
        return []
    rows = []
    for (word, number), row in sorted(found, key=lambda one: one[0][1]):
        if row and all(counted(key) and as_number(value) is not None for key, value in row.items()):
            called = stem if has_metric([stem]) else "value"
            rows += [{word: number, "iter": int(n), called: value} for n, value in row.items()]
        else:
            rows.append({word: number, **row})
    return rows


def _goes_on(found: Sequence[tuple[tuple[str, float], Any]], beside: int) -> bool:
    """Whether rows that measure are numbered one by one, and are more than what stands beside."""
    numbers = sorted(number for (_, number), _ in found)
    lone = len({word for (word, _), _ in found}) == 1 and len(found) > max(1, beside)
    return (
        lone
        and numbers in (list(range(len(found))), list(range(1, len(found) + 1)))
        and all(measures(row) for _, row in found)
    )


def _numbered(row: object) -> object:
    """Return the numbers of a list by their places, as those of columns; others as they are."""
    if not (isinstance(row, list) and _is_row(row) and PAIR <= len(row) <= WIDEST):
        return row
    return {f"{UNNAMED}{n}": value for n, value in enumerate(row, 1)}


def of_stages(whole: Row) -> list[Row]:
    """Return the rows of stages that count on from one to the next, each in a list of its own.

    ``{"stage_1": {"evaluations": [{"epoch": 10, ...}]}, "stage_2": ...}``. Trainings that were
    repeated each begin anew.
    """
    parts = [one for key, one in whole.items() if _is_stage(key, one)]
    lists = [{"": one} if isinstance(one, list) else one for one in parts]
    for key in lists[0] if len(lists) > 1 else ():
        some = [part if isinstance(part := one.get(key), list) else [] for one in lists]
        if not all(some):
            continue
        rows = [row for part in some for row in part]
        begins = {begun[0] if (begun := _begin(part)) else "" for part in some}
        by = begins.pop() if len(begins) == 1 else ""
        alike = by and len({frozenset(row) for row in rows}) == 1
        if alike and all(a[by] < b[by] for a, b in pairwise(rows)):
            return rows
    return []


def _is_stage(key: str, one: object) -> bool:
    return isinstance(one, dict | list) and key.lower() not in SPLITS and not has_metric([key])


def of_points(whole: Row) -> list[Row]:
    """Turn the steps and values of each metric into rows, a row for each step of each."""
    points = {name: some for name, one in whole.items() if (some := _points(one))}
    by = _count_of(whole[name] for name in points)
    rows: dict[Any, Row] = {}
    for name, some in points.items():
        for step, value in some if has_metric(points) or is_sacred(whole[name]) else ():
            if isinstance(step, int | float):
                rows.setdefault(step, {by: step})[name] = value
    return [rows[step] for step in sorted(rows)]


def _count_of(parts: Iterable[Any]) -> str:
    """Return what the keys of some numbers all count: ``epoch`` of ``{"epoch 1": 0.5}``."""
    said = {
        found[0] for one in parts if isinstance(one, dict) for key in one if (found := counted(key))
    }
    return said.pop() if len(said) == 1 else "step"


def is_sacred(one: object) -> bool:
    """Whether a metric is written as Sacred does: ``{"steps": [1, 2], "values": [0.5, 0.4]}``."""
    return isinstance(one, dict) and all(
        isinstance(one.get(name), list) for name in ("steps", "values")
    )


def _points(one: Any) -> Sequence[Any]:  # noqa: ANN401 - JSON is of any type
    """Return steps and values: ``{"0": 0.5, "1": 0.4}``, ``[[0, 0.5], [1, 0.4]]``."""
    if is_sacred(one):
        return list(zip(one["steps"], one["values"], strict=False))
    if isinstance(one, dict):
        mine = {key: value for key, value in one.items() if counted(key)}
        known = [some for some in mine.values() if some is not None]  # null: NaN, or not measured
        if not known or len(mine) <= 2 * (len(one) - len(mine)):  # a summary may stand behind them
            return []
        numbers = all(as_number(value) is not None for value in known)
        return [(_place(key), value) for key, value in mine.items()] if numbers else []
    pairs = isinstance(one, list) and all(_is_row(row) and len(row) == PAIR for row in one)
    return one if pairs and len(one) >= PAIR and _rises(one) else []


def _place(key: str) -> float:
    """Return how far a key that counts has counted."""
    found = counted(key)
    return found[1] if found else 0


def _is_row(row: object) -> bool:
    return isinstance(row, list) and all(as_number(cell) is not None for cell in row)


def _rises(rows: Sequence[Sequence[Any]]) -> bool:
    """Whether the first number of each row is whole, and above that of the row before."""
    return all(is_count(row[0]) for row in rows) and all(a[0] < b[0] for a, b in pairwise(rows))


def of_cells(value: list[Any], stem: str) -> list[Row]:
    """Turn lists of numbers into rows: ``[[0, 0.5, 0.4], ...]``; nameless columns are numbered.

    TensorBoard's page writes a time, the step and the number. A few long lists are a curve each.
    """
    if not value or not all(map(_is_row, value)) or len(set(map(len, value))) > 1:
        return []
    known = has_metric([stem])
    if known and len(value[0]) >= LONGER * len(value):
        value = [list(cells) for cells in zip(*value, strict=True)]
    if not PAIR <= len(value[0]) <= WIDEST:
        return []
    if len(value[0]) == TRIPLE and value[0][0] > WALL and _rises([row[1:] for row in value]):
        return [{"step": row[1], stem.rpartition("-tag-")[2]: row[2]} for row in value]
    counts = len(value) > 1 and _rises(value)
    if not (counts or known):
        return []
    names = ["step"] * counts + [f"{UNNAMED}{n}" for n in range(1 + counts, len(value[0]) + 1)]
    if counts and known and len(names) == PAIR:
        names[1] = stem
    return [dict(zip(names, row, strict=True)) for row in value]


def named_trainings(rows: Sequence[Row]) -> Iterator[tuple[str, Row]]:
    """Yield rows that are a whole training each, by its name: ``{"seed": 1, "loss": [...]}``.

    Those of one name are numbered; and so are those without, if they hold what was measured on both
    data, and no count: a program that adds its history to the same file each time.
    """
    if not rows or not any(map(is_curve, rows[0].values())):
        return  # rows of numbers: by far the most
    often: Counter[str] = Counter()
    for row in rows:
        said = [f"{key} {v}" for key, v in row.items() if plain(key) in TRAININGS and _is_word(v)]
        curves = {key: some for key, some in row.items() if is_curve(some)}
        if curves and (said or (has_twins(curves) and not any(map(is_step, row)))):
            name = ", ".join(said) or "training"
            often[name] += 1
            yield f"{name} ({often[name]})" if often[name] > 1 else name, curves


def is_curve(some: object) -> bool:
    """Whether a value is a list, or holds one: ``{"loss": [...]}``."""
    inner = some.values() if isinstance(some, dict) else [some]
    return any(isinstance(one, list) and len(one) > 1 for one in inner)


def _is_word(value: object) -> bool:
    return isinstance(value, str | int | float)


def trainings(whole: Row) -> Iterator[tuple[str, Any]]:
    """Yield what may be a training each, by its key: a seed, a fold, a model.

    ``train`` and ``val``, or two networks with a loss each, are parts of one. A list of rows that
    count themselves was written by a loop of its own: ``{"mlp": [{"epoch": 1, "loss": ...}]}``.
    """
    parts = {key: one for key, one in whole.items() if isinstance(one, dict | list) and one}
    said = all(
        (found := _COUNTED.fullmatch(key)) and plain(found[1] or "") in TRAININGS for key in parts
    )
    if said:
        yield from parts.items()
        return
    curves = {key: one for key, one in parts.items() if is_curve(one) or _begin(one)}
    begins = {_begin(one) for one in curves.values()}
    twins = all(isinstance(one, dict) and _of_both(one) for one in curves.values())
    loops = len(begins) == 1 and None not in begins
    if (twins or loops) and not any(
        classify(key).split
        or (has_metric([key]) and not _is_setting(key))  # "lr_0.1"
        or plain(key) in _NETWORKS
        for key in curves
    ):
        yield from curves.items()


def _of_both(part: Row) -> bool:
    """Whether a part has what was measured on the data of the training, and on held-out ones."""
    splits = {SPLITS.get(key.lower()) for key in part}
    return has_twins(part) or (len(splits) > 1 and "" in splits and None not in splits)


def of_settings(whole: Row, stem: str) -> Iterator[tuple[str, Row]]:
    """Yield the curve of each training whose settings are its key: ``{"0.05-128": [0.5, ...]}``.

    They may lie deeper, ``{"lr=0.1": {"64": [...]}}``; the `stem` of the file is what was measured.
    Keys that only count may be epochs, or layers.
    """
    if not has_metric([stem]) or all(counted(key) for key in whole):
        return
    curves = list(_curves(whole))
    if all(_is_setting(part) for path, _ in curves for part in path):
        yield from (("/".join(path), {stem: some}) for path, some in curves)


def _curves(whole: Row, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for key, one in whole.items():
        if isinstance(one, dict) and len(path) < DEEPEST:
            yield from _curves(one, (*path, key))
        else:
            yield (*path, key), one


def _is_setting(key: str) -> bool:
    """Whether a key is numbers, each alone or beside the name of a setting: ``lr=0.1, 64``."""
    others, numbers = _VALUE.subn(" ", key)
    named = (name.strip("_- ") for name in _BETWEEN.split(others))
    return numbers > 0 and all(
        plain(name) in SETTINGS or canonical_key(name) in KNOWN_KEYS for name in named if name
    )


def is_setting(key: str, value: object) -> bool:
    """Whether a key with a number or a word is a setting that is known, and no count or result."""
    plain_one = isinstance(value, int | float | str) and not isinstance(value, bool)
    return plain_one and canonical_key(key) in KNOWN_KEYS and not has_metric([key])


def of_one_number(rows: list[Any]) -> list[float]:
    """Return the numbers of a list, which may stand in a list each; nothing where others do."""
    cells = [row[0] if isinstance(row, list) and len(row) == 1 else row for row in rows]
    plain_ones = all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in cells)
    return cells if plain_ones else []


def _begin(some: object) -> tuple[str, float] | None:
    """Return the count with which rows of what is measured begin, each with its own; else None."""
    if isinstance(some, dict) and some and all(map(counted, some)):
        measured = all(isinstance(row, dict) and measures(row) for row in some.values())
        return counted(next(iter(some))) if measured else None
    rows = some if isinstance(some, list) and all(isinstance(row, dict) for row in some) else [{}]
    counters = (name for name in rows[0] if is_step(name) and measures(rows[0]))
    by = next((name for name in counters if all(is_count(row.get(name)) for row in rows)), "")
    return (by, rows[0][by]) if by else None


def of_thresholds(part: Row) -> bool:
    """Whether lists are the points of a ROC curve, one for each threshold, and of no time."""
    both = [part.get("fpr"), part.get("tpr")]
    return all(isinstance(one, list) and _never_falls(one) for one in both)


def _never_falls(some: list[Any]) -> bool:
    numbers = all(isinstance(one, int | float) for one in some)
    return numbers and not any(a > b for a, b in pairwise(some))
