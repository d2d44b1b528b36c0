"""An audit as JSON: the contract, `runlens.audit/1`, with its schema."""

from typing import Any

from runlens.nights import Audit
from runlens.report.json import shipped, written


def render(audit: Audit) -> str:
    """Return the audit as one JSON object: all issues, all runs, and what could not be read."""
    return written(audit.to_dict())


def schema() -> dict[str, Any]:
    """Return the JSON Schema of an audit."""
    return shipped("audit")
