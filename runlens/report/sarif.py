"""Diagnoses as SARIF 2.1.0, for code scanning: one SARIF run for all training runs.

GitHub takes at most 20 SARIF runs a file and 25,000 results a run; results beyond are left out,
worst kept, and said. A result points at the log line that a finding cites, else at the file that
was read.
"""

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from runlens.diagnosis import SEVERITIES, Diagnosis, Finding
from runlens.report import locations
from runlens.report.json import written
from runlens.version import __version__

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS = {"critical": "error", "warning": "warning", "info": "note"}
MOST_RESULTS = 25_000


def render_all(diagnoses: Sequence[Diagnosis]) -> str:
    """Return all findings of all runs as one SARIF log."""
    found = [(finding, one) for one in diagnoses for finding in one.findings]
    found.sort(key=lambda pair: SEVERITIES.index(pair[0].severity))
    slugs = sorted({finding.rule for finding, _ in found})
    titles = {slug: title for one in diagnoses for slug, title in one.titles.items()}
    index = {slug: place for place, slug in enumerate(slugs)}
    invocation: dict[str, Any] = {"executionSuccessful": True}
    notes = [
        _note(f"{problem.where} {problem.text}") for one in diagnoses for problem in one.problems
    ]
    if len(found) > MOST_RESULTS:
        notes.append(_note(f"{len(found) - MOST_RESULTS} findings more are not in this file"))
    if notes:
        invocation["toolExecutionNotifications"] = notes
    driver = {
        "name": "RunLens",
        "version": __version__,
        "rules": [
            {"id": slug, "shortDescription": {"text": titles.get(slug, slug)}} for slug in slugs
        ],
    }
    run = {
        "tool": {"driver": driver},
        "invocations": [invocation],
        "results": [
            _result(finding, one, index[finding.rule]) for finding, one in found[:MOST_RESULTS]
        ],
    }
    return written({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _note(text: str) -> dict[str, Any]:
    return {"level": "warning", "message": {"text": text}}


def _result(finding: Finding, diagnosis: Diagnosis, rule: int) -> dict[str, Any]:
    said = f"{diagnosis.run_name}: {finding.title}"
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": rule,
        "level": LEVELS[finding.severity],
        "message": {"text": f"{said} {finding.seen}".strip()},
        # no step and no value: the same fault of the same run is the same alert
        "partialFingerprints": {
            "runlens/v1": f"{diagnosis.run_id}/{finding.rule}/{finding.metric}"
        },
        "properties": {
            "run": diagnosis.run_name,
            "metric": finding.metric,
            "step": finding.onset.step,
            "confidence": finding.confidence.value,
        },
    }
    if at := locations.of(finding, diagnosis):
        place: dict[str, Any] = {"artifactLocation": {"uri": _uri(at.file)}}
        if at.line:
            place["region"] = {"startLine": at.line}
        result["locations"] = [{"physicalLocation": place}]
    return result


def _uri(file: str) -> str:
    """Return a path as a URI: relative as it is, absolute with its scheme."""
    path = PurePath(file).as_posix()
    safe = quote(path, errors="surrogatepass")
    return f"file://{safe}" if path.startswith("/") else safe
