"""Which runs a filter of the API, written as for MongoDB, lets through."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.wandb_server.stored import StoredRun

_TIME = re.compile(r"\d{4}-\d\d-\d\dT")
_CALLED = {"username": "user", "createdAt": "created_at", "displayName": "display_name"}


def matches(run: "StoredRun", wanted: Mapping[str, Any]) -> bool:
    """Whether a run fits all conditions."""
    return all(_fits(run, key, condition) for key, condition in wanted.items())


def _fits(run: "StoredRun", key: str, condition: Any) -> bool:
    if key == "$and":
        return all(matches(run, one) for one in condition)
    if key in {"$or", "$nor"}:
        return any(matches(run, one) for one in condition) == (key == "$or")
    value = field_of(run, key)
    if isinstance(condition, Mapping):
        return all(_compares(value, operator, to) for operator, to in condition.items())
    return _compares(value, "$eq", condition)


def field_of(run: "StoredRun", key: str) -> Any:
    """Return what a run has under a key such as `config.lr`, `summary_metrics.loss`, `state`."""
    head, *path = key.split(".")
    if head == "config":
        name, *rest = path
        return _inside(run.settings.get(name), [*(["value"] if "value" not in rest else []), *rest])
    if head == "summary_metrics":
        return _inside(run.last_values, path)
    value = getattr(run, _CALLED.get(head, head), None)
    return value.get("username") if isinstance(value, dict) else value


def _inside(value: Any, path: list[str]) -> Any:
    for level in path:
        value = value.get(level) if isinstance(value, Mapping) else None
    return value


def _compares(value: Any, operator: str, to: Any) -> bool:
    if operator in {"$gt", "$gte", "$lt", "$lte"}:
        return _ordered(value, operator, to)
    if operator in {"$ne", "$nin"}:
        return not _compares(value, {"$ne": "$eq", "$nin": "$in"}[operator], to)
    if operator == "$in":
        return bool(set(value if isinstance(value, list) else [value]) & set(to))
    if operator == "$exists":
        return bool(to) == (value is not None)
    if operator == "$regex":
        return isinstance(value, str) and re.search(to, value) is not None
    if operator != "$eq":
        raise ValueError(operator)
    within = isinstance(value, list) and not isinstance(to, list)
    return to in value if within else bool(value == to)


def _ordered(value: Any, operator: str, to: Any) -> bool:
    if isinstance(value, str) and isinstance(to, str) and _TIME.match(to):
        value, to = value[:19], to[:19]
    elif not (isinstance(value, int | float) and isinstance(to, int | float)):
        return False
    return bool(
        {"$gt": value > to, "$gte": value >= to, "$lt": value < to, "$lte": value <= to}[operator]
    )
