"""An audit as JSON: the contract, `runlens.audit/1`, with its schema."""

from functools import cache
from importlib import resources
from typing import Any

import msgspec

from runlens.nights import Audit
from runlens.report.json import written


def render(audit: Audit) -> str:
    """Return the audit as one JSON object: all issues, all runs, and what could not be read."""
    return written(audit.to_dict())


@cache
def schema() -> dict[str, Any]:
    """Return the JSON Schema of an audit."""
    text = resources.files("runlens.report").joinpath("audit.schema.json").read_bytes()
    known: dict[str, Any] = msgspec.json.decode(text)
    return known
