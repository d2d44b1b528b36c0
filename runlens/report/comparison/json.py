"""A comparison as JSON: the contract, `runlens.comparison/1`, with its schema."""

from functools import cache
from importlib import resources
from typing import Any

import msgspec

from runlens.comparison import Comparison
from runlens.report.json import written


def render(comparison: Comparison) -> str:
    """Return the comparison as one JSON object."""
    return written(comparison.to_dict())


@cache
def schema() -> dict[str, Any]:
    """Return the JSON Schema of a comparison."""
    text = resources.files("runlens.report").joinpath("comparison.schema.json").read_bytes()
    known: dict[str, Any] = msgspec.json.decode(text)
    return known
