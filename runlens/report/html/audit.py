"""The page of an audit: what is new tonight, what goes on, and all runs."""

from collections.abc import Iterator

from runlens.nights import Audit
from runlens.report.html.components import (
    audit_issues,
    audit_last,
    audit_origin,
    audit_runs,
    audit_verdict,
    audit_waste,
)
from runlens.report.html.shell import Section, document, part


def render(audit: Audit) -> str:
    """Return the audit as one HTML file that needs nothing else.

    `Audit.pages` are links to the runs' own pages beside it; one that leads anywhere else is left
    out. The same audit gives the same bytes.
    """
    return document(
        f"{audit.verdict} · RunLens",
        audit_origin.where(audit),
        _sections(audit),
    )


def _sections(audit: Audit) -> Iterator[Section]:
    """Return the parts in the order in which a reader needs them."""
    yield part("verdict", lambda: audit_verdict.verdict(audit))
    if audit.ran or audit.trend:
        yield part("last-night", lambda: audit_last.last_night(audit), "Last night")
    if audit.ledger:
        yield part("waste", lambda: audit_waste.waste(audit), "Waste")
    yield part("issues", lambda: audit_issues.issues(audit), "Issues")
    yield part("all-runs", lambda: audit_runs.runs(audit), "Runs")
    yield part("unread", lambda: audit_origin.unread(audit), "Could not be read")
    yield part("provenance", lambda: audit_origin.provenance(audit), "Provenance")
