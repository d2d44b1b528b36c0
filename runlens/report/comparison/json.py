"""A comparison as JSON: the contract, `runlens.comparison/2`, with its schema."""

from typing import Any

from runlens.comparison import Comparison
from runlens.report.json import shipped, written


def render(comparison: Comparison) -> str:
    """Return the comparison as one JSON object."""
    return written(comparison.to_dict())


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a comparison."""
    return shipped("comparison")
