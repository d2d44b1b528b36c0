"""Diagnoses as JUnit XML: a suite a run, a test a check.

A loud finding is a failure; an info is a passed test with a note; a check that could not run is
skipped with its reason; a broken rule is an error.
"""

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from runlens.diagnosis import Diagnosis, Finding, Outcome
from runlens.report.missing import told
from runlens.report.terminal import clean
from runlens.report.values import evidence_value


def render_all(diagnoses: Sequence[Diagnosis]) -> str:
    """Return one document with a suite for each run."""
    root = ET.Element("testsuites", name="RunLens")
    for diagnosis in diagnoses:
        _suite(root, diagnosis)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, "unicode") + "\n"


def _suite(root: ET.Element, diagnosis: Diagnosis) -> None:
    suite = ET.SubElement(root, "testsuite", name=clean(diagnosis.run_name))
    by_rule = {finding.rule: finding for finding in diagnosis.findings}
    counts = {"tests": 0, "failures": 0, "skipped": 0, "errors": 0}
    for slug, outcome in diagnosis.outcomes.items():
        case = ET.SubElement(
            suite, "testcase", name=clean(slug), classname=f"runlens.{clean(diagnosis.run_name)}"
        )
        counts["tests"] += 1
        kind = _fill(case, outcome, by_rule.get(slug))
        if kind:
            counts[kind] += 1
    for name, amount in counts.items():
        suite.set(name, str(amount))


def _fill(case: ET.Element, outcome: Outcome, finding: Finding | None) -> str:
    """Write what became of a check; return what it counts as."""
    if outcome.status == "unmet":
        ET.SubElement(case, "skipped", message=clean(told(outcome.reason)))
        return "skipped"
    if outcome.status == "error":
        ET.SubElement(case, "error", message=clean(outcome.reason))
        return "errors"
    if finding is None:
        return ""
    if finding.severity == "info":
        ET.SubElement(case, "system-out").text = clean(finding.title)
        return ""
    failure = ET.SubElement(case, "failure", message=clean(finding.title), type=finding.severity)
    rows = [f"{item.what}: {evidence_value(item, item.value)}" for item in finding.evidence]
    fixes = [f"fix: {fix.what}" for fix in finding.fixes]
    failure.text = "\n".join(clean(line) for line in (finding.seen, *rows, *fixes) if line)
    return "failures"
