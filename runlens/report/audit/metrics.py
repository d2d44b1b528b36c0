"""An audit as metrics for Prometheus: the text format, for a file that node_exporter collects."""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime

from runlens.nights import Audit

KINDS = {
    "runlens_night_timestamp_seconds": "when the last night was",
    "runlens_source_listed_timestamp_seconds": "when a source was last listed in full",
    "runlens_source_unread_nights": "nights on end on which a source could not be listed",
    "runlens_source_shrunk": "1 where more than half of a source is missing",
    "runlens_issues": "issues by status and severity",
    "runlens_runs": "runs by health",
    "runlens_last_night_runs": "runs of last night by what became of them",
    "runlens_last_night_gpu_hours": "GPU-hours of the runs that ended last night",
    "runlens_last_night_wasted_gpu_hours": "of these hours, those that were wasted",
    "runlens_unread_places": "places of which nothing could be read",
}


def render(audit: Audit) -> str:
    """Return the metrics as text: all are gauges."""
    return "\n".join(_lines(audit)) + "\n"


def _lines(audit: Audit) -> Iterator[str]:
    found: dict[str, list[str]] = {name: [] for name in KINDS}
    for name, labels, value in _values(audit):
        found[name].append(f"{name}{_labels(labels)} {value:.15g}")
    for name, lines in found.items():
        if lines:
            yield f"# HELP {name} {KINDS[name]}"
            yield f"# TYPE {name} gauge"
            yield from lines


def _values(audit: Audit) -> Iterator[tuple[str, Mapping[str, str], float]]:
    yield "runlens_night_timestamp_seconds", {}, _seconds(audit.night.date)
    for source in audit.sources:
        own = {"source": source.source}
        if source.listed:
            yield "runlens_source_listed_timestamp_seconds", own, _seconds(source.listed)
        yield "runlens_source_unread_nights", own, source.tries
        yield "runlens_source_shrunk", own, source.shrunk
    for (status, severity), many in Counter((i.status, i.severity) for i in audit.issues).items():
        yield "runlens_issues", {"status": status, "severity": severity}, many
    for health, many in Counter(row.health for row in audit.runs).items():
        yield "runlens_runs", {"health": health}, many
    for what, keys in (
        ("broke", audit.broke),
        ("finished", audit.finished),
        ("went_quiet", audit.went_quiet),
    ):
        yield "runlens_last_night_runs", {"became": what}, len(keys)
    for one in audit.trend[-1:]:
        yield "runlens_last_night_gpu_hours", {}, one.gpu_hours
        yield "runlens_last_night_wasted_gpu_hours", {}, one.wasted
    yield "runlens_unread_places", {}, len(audit.unread)


def _labels(labels: Mapping[str, str]) -> str:
    escaped = (
        (name, value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n"))
        for name, value in labels.items()
    )
    inner = ",".join(f'{name}="{value}"' for name, value in escaped)
    return f"{{{inner}}}" if inner else ""


def _seconds(date: str) -> float:
    try:
        return datetime.fromisoformat(date).timestamp()
    except ValueError:
        return 0.0
