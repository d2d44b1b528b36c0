"""What a run streamed to the server: lines of JSON, and what the server knows of them."""

import base64
import importlib
import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

NOT_FINITE = {math.inf: "Infinity", -math.inf: "-Infinity"}


class Recorded:
    """The history or the system metrics of a run, one JSON object a line."""

    def __init__(self, rows: Iterable[Mapping[str, Any]] = ()) -> None:
        """Begin with some rows."""
        self.lines = [strict(row) for row in rows]

    def put(self, offset: int, lines: Sequence[str]) -> None:
        """Set the lines from `offset` on, as the client streams them: with bare NaN in them."""
        self.lines += ["{}"] * (offset - len(self.lines))
        self.lines[offset : offset + len(lines)] = [strict(json.loads(line)) for line in lines]
        for known in ("rows", "steps", "keys"):
            self.__dict__.pop(known, None)

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """The rows, what is not finite as text."""
        return [json.loads(line) for line in self.lines]

    @cached_property
    def steps(self) -> list[int]:
        """The `_step` of each row."""
        return [row.get("_step", 0) for row in self.rows]

    @cached_property
    def keys(self) -> dict[str, Any] | None:
        """What the server knows of the keys: how often each held what type, and the last step."""
        if not self.rows:
            return None
        counts: dict[str, dict[str, int]] = {}
        for row in self.rows:
            for key, value in flat(row).items():
                kinds = counts.setdefault(key, {})
                kinds[_kind(value)] = kinds.get(_kind(value), 0) + 1
        keys = {
            key: {"typeCounts": [{"type": kind, "count": n} for kind, n in kinds.items()]}
            for key, kinds in counts.items()
        }
        return {"keys": keys, "lastStep": max(self.steps)}


def strict(value: object) -> str:
    """Write JSON as the API sends it: NaN and infinities, which JSON lacks, as text."""
    return json.dumps(_spelled(value))


def _spelled(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return NOT_FINITE.get(value, "NaN")
    if isinstance(value, Mapping):
        return {key: _spelled(inner) for key, inner in value.items()}
    return [_spelled(inner) for inner in value] if isinstance(value, list) else value


def flat(row: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Join the levels of nested mappings by dots; media stay as they are."""
    found: dict[str, Any] = {}
    for key, value in row.items():
        if isinstance(value, Mapping) and "_type" not in value:
            found |= flat(value, f"{prefix}{key}.")
        else:
            found[prefix + key] = value
    return found


def _kind(value: object) -> str:
    kinds = ((bool, "boolean"), (int | float, "number"), (str, "string"), (type(None), "nil"))
    return next((name for kind, name in kinds if isinstance(value, kind)), "map")


def spread(lines: Sequence[str], samples: int | None) -> list[str]:
    """Return some of the lines, evenly spaced."""
    if not samples or len(lines) <= samples:
        return list(lines)
    return [lines[number * len(lines) // samples] for number in range(samples)]


def parquet(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Write rows as the server's exports: a key that a row lacks is null there."""
    pa = importlib.import_module("pyarrow")
    writer = importlib.import_module("pyarrow.parquet")
    columns = {}
    levels = [flat(row) for row in rows]
    for key in sorted({key for row in levels for key in row}):
        values = [row.get(key) for row in levels]
        if key == "_step":
            columns[key] = pa.array(values, pa.int64())
        elif all(_is_number(value) for value in values):
            floats = [None if value is None else float(value) for value in values]
            columns[key] = pa.array(floats, pa.float64())
        else:
            texts = [v if v is None or isinstance(v, str) else json.dumps(v) for v in values]
            columns[key] = pa.array(texts, pa.string())
    buffer = io.BytesIO()
    writer.write_table(pa.table(columns), buffer)
    return buffer.getvalue()


def _is_number(value: object) -> bool:
    if value is None or value in {"NaN", *NOT_FINITE.values()}:
        return True
    return isinstance(value, int | float) and not isinstance(value, bool)


def global_id(*parts: str) -> str:
    """Return an id as GraphQL servers make them of a thing's kind and names."""
    return base64.b64encode(":".join(parts).encode()).decode()
