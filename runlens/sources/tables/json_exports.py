"""Curves in JSON as programs export tables and charts, set out under their names.

A table of pandas (``columns`` and ``data``), rows below a row of names, the series of a chart with
its axis (Chart.js, Plotly, Highcharts), the rows of training and held-out data side by side, the
rounds of CatBoost, whose head names what their lists measure.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from runlens.metrics import plain
from runlens.naming import classify
from runlens.sources.tables.json_curves import named_by_file
from runlens.sources.tables.json_shapes import PAIR, is_count, of_one_number
from runlens.sources.tables.names import SPLITS, has_metric, is_step

Row = dict[str, Any]

DEEPEST = 3
FEWEST = 2  # series, rows
_CALLED = ("name", "label", "legend", "title", "metric", "metric_name", "key")
_HOLDS = ("data", "values", "y", "value")
_AT = ("x", "step", "epoch", "iteration")  # of a point
_AXES = ("x", "steps", "epochs", "labels", "categories", "x_axis")


def set_out(whole: Any, depth: int = 0) -> Any:  # noqa: ANN401 - JSON is of any type
    """Return a text with its curves under their names; of other forms as it is."""
    if isinstance(whole, list):
        return _of_header(whole) or _of_series(whole, None) or _of_counts(whole) or whole
    if not isinstance(whole, dict):
        return whole
    if found := _of_columns(whole) or _of_chart(whole) or _of_both_data(whole) or _of_rounds(whole):
        return found
    if depth >= DEEPEST:
        return whole
    named: Row = {}
    for key, value in whole.items():
        named |= _several(key, value) or {key: _plainly(value, depth)}
    return named


def _plainly(value: Any, depth: int) -> Any:  # noqa: ANN401 - of any type
    """Return what stands under a name: a list of numbers that may stand in a list each."""
    if isinstance(value, dict):
        return set_out(value, depth + 1)
    nested = isinstance(value, list) and bool(value) and isinstance(value[0], list)
    return (of_one_number(value) or value) if nested else value


def _several(key: str, value: Any) -> Row:  # noqa: ANN401 - of any type
    """Return the curves that stand under the name of a metric: ``{"losses": [[...], [...]]}``."""
    nested = isinstance(value, list) and bool(value) and isinstance(value[0], list)
    named = named_by_file(value, key) if nested and not of_one_number(value) else None
    return named if isinstance(named, dict) else {}


def _of_columns(whole: Row) -> list[Row]:
    """Return the rows of a table whose names stand apart: ``{"columns": [], "data": [[]]}``."""
    names, rows = whole.get("columns"), whole.get("data")
    return _of_header([names, *rows]) if isinstance(rows, list) else []


def _of_header(rows: Sequence[Any]) -> list[Row]:
    """Return rows below a row of names: ``[["epoch", "loss"], [1, 0.5]]``."""
    names, *others = rows or [None]
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        return []
    if not has_metric(names):
        return []
    fits = all(isinstance(row, list) and len(row) == len(names) for row in others)
    return [dict(zip(names, row, strict=True)) for row in others] if fits else []


def _of_counts(rows: Sequence[Any]) -> list[Row]:
    """Return rows that stand behind their count: ``[[1, {"loss": 0.5}], ...]``."""
    pairs = [row for row in rows if isinstance(row, list) and len(row) == PAIR]
    numbered = pairs and all(is_count(at) and isinstance(row, dict) for at, row in pairs)
    rises = len(pairs) == len(rows) >= FEWEST and numbered and _counts([at for at, _ in pairs])
    return [{"step": at, **row} for at, row in pairs] if rises else []


def _of_chart(whole: Row) -> Row:
    """Return the series of a chart: ``{"labels": [1, 2], "datasets": [{"label": ...}]}``."""
    lists = {key: some for key, some in whole.items() if isinstance(some, list)}
    axis = next((some for key, some in lists.items() if plain(key) in _AXES), None)
    found = (series for some in lists.values() if (series := _of_series(some, axis)))
    return next(found, {})


def _of_series(some: Sequence[Any], axis: Any) -> Row:  # noqa: ANN401 - of any type
    """Return series by their names, with the axis that all have: a list of numbers each."""
    found: Row = {}
    for one in some:
        series = _series(one) if isinstance(one, dict) else None
        if series is None:
            return {}
        name, numbers, own = series
        axis = axis or own
        found[name] = numbers
    lengths = {len(numbers) for numbers in found.values()}
    if not found or len(found) < len(some) or not has_metric(found):
        return {}
    counts = _counts(axis) if isinstance(axis, list) and {len(axis)} == lengths else False
    return {"step": axis, **found} if counts else found


def _series(one: Row) -> tuple[str, list[Any], Any] | None:
    """Return the name, the numbers and the axis of a series; None for other objects."""
    by = {plain(key): value for key, value in one.items()}
    name = next((by[key] for key in _CALLED if isinstance(by.get(key), str)), "")
    numbers: list[Any] = next((by[key] for key in _HOLDS if isinstance(by.get(key), list)), [])
    axis = next((by[key] for key in _AXES if key in by), None)
    if points := _points(numbers):
        axis, numbers = points
    long = len(numbers) >= FEWEST and bool(of_one_number(numbers))
    return (name, numbers, axis) if name and long else None


def _points(some: Sequence[Any]) -> tuple[list[Any], list[Any]] | None:
    """Return the axis and the numbers of points: ``[{"x": 1, "y": 0.5}, ...]``; None for others."""
    if not some or not all(isinstance(one, dict) for one in some):
        return None
    by = [{plain(key): value for key, value in one.items()} for one in some]
    mine = next((key for key in ("y", "value") if all(key in one for one in by)), "")
    axis = next((key for key in _AT if all(key in one for one in by)), "")
    return ([one[axis] for one in by], [one[mine] for one in by]) if mine and axis else None


def _counts(axis: Sequence[Any]) -> bool:
    return all(map(is_count, axis)) and all(a < b for a, b in pairwise(axis))


def _of_both_data(whole: Row) -> Row:
    """Return the columns of rows on the data of the training and on held-out ones.

    ``{"train": [{"loss": 0.9}, ...], "val": [...]}``: those that count themselves are read as such.
    """
    if len(whole) < FEWEST or not {key.lower() for key in whole} <= SPLITS.keys():
        return {}
    parts: Row = {}
    for key, rows in whole.items():
        if not isinstance(rows, list) or len(rows) < FEWEST or not _alike(rows):
            return {}
        parts[key] = {name: [row[name] for row in rows] for name in rows[0]}
    return parts


def _of_rounds(whole: Row) -> list[Row]:
    """Return the rounds of boosting as ``catboost_training.json`` holds them: a list for each data.

    ``{"meta": {"learn_metrics": [{"name": "RMSE"}]}, "iterations": [{"learn": [0.9]}]}``.
    """
    head, rounds = whole.get("meta"), whole.get("iterations")
    if not isinstance(head, dict) or not isinstance(rounds, list):
        return []
    names = {key: _measured(head, key) for key in ("learn", "test")}
    if not any(names.values()):
        return []
    planned = head.get("iteration_count")
    beside = {"max_iters": planned} if is_count(planned) else {}
    rows = (one for one in rounds if isinstance(one, dict))
    return [dict(_of_round(row, names)) | beside for row in rows]


def _measured(head: Row, key: str) -> list[str]:
    """Return what is measured on some data, in order.

    Where none of it is known for a loss, what is minimised first is the loss: ``MultiClass``.
    """
    listed = head.get(f"{key}_metrics")
    metrics = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    names = [str(one.get("name")) for one in metrics]
    least = [n for n, one in enumerate(metrics) if one.get("best_value") == "Min"]
    if least and not any(classify(name).quantity == "loss" for name in names):
        names[least[0]] = "loss"
    return names


def _of_round(row: Row, names: dict[str, list[str]]) -> Iterator[tuple[str, Any]]:
    """Yield the numbers of a round by their data, of which ``test1`` is the second held out."""
    for key, value in row.items():
        called = names.get(key.rstrip("0123456789"), [])
        if not isinstance(value, list):
            yield key, value
        elif len(value) == len(called):
            yield from ((f"{key}/{name}", one) for name, one in zip(called, value, strict=True))


def _alike(rows: Sequence[Any]) -> bool:
    """Whether rows have the same names, none of which counts."""
    named = {tuple(row) if isinstance(row, dict) else None for row in rows}
    return len(named) == 1 and None not in named and not any(map(is_step, rows[0]))
