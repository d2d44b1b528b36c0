"""Real runs with one planted fault each: found, at the right step, and nothing else is loud."""

import json
from pathlib import Path
from typing import Any

import pytest

from runlens import diagnose, read
from runlens.diagnosis import Diagnosis
from runlens.rules import RULES
from runlens.rules.rule import ADVICE as ADVISING

FIXTURES = Path(__file__).parents[1] / "fixtures"
EXPECTED: dict[str, dict[str, Any]] = json.loads((FIXTURES / "expected.json").read_text())
ONSET = 0.15  # of the run: how far from the planted step a finding may begin
FOUND = 0.95  # of all planted faults
SETTINGS = {"clip-saturation": "max_grad_norm"}  # rules that lean on a setting
# what no single source tells: the log has no event file's times, the event file no traceback
WHOLE_ONLY = {"crashed", "killed", "oom-cliff", "hang", "stopped-early", "known-error"}
ADVICE = {rule.slug for rule in RULES if rule.family in ADVISING}  # holds for the whole run
EACH = pytest.mark.parametrize("name", sorted(EXPECTED))


def findings(name: str) -> Diagnosis:
    """Diagnose a fixture as its user would."""
    return diagnose(FIXTURES / name)


def test_planted_faults_are_found_where_they_were_planted() -> None:
    """At least 95 % of all, each within 15 % of the run or 10 steps."""
    missed, planted, far = [], 0, []
    for name, expected in EXPECTED.items():
        found = {finding.rule: finding for finding in findings(name).findings}
        for rule, onset in expected["findings"].items():
            planted += 1
            if rule not in found:
                missed.append((name, rule))
            elif onset is not None and found[rule].severity != "info":
                step = found[rule].onset.step or 0
                far += [(name, rule, step)] if abs(step - onset) > near(expected) else []
    assert len(missed) <= (1 - FOUND) * planted, missed
    assert far == []


def near(expected: dict[str, Any]) -> float:
    """Return how many steps an onset may be off."""
    return max(ONSET * float(expected["steps"]), 10.0)


@pytest.mark.parametrize("name", sorted(n for n in EXPECTED if n in EXPECTED[n]["findings"]))
def test_a_fixture_shows_what_it_is_named_for(name: str) -> None:
    """Its own pattern is found."""
    assert name in {finding.rule for finding in findings(name).findings}


@EACH
def test_nothing_else_is_loud(name: str) -> None:
    """Consequences that the label allows may be; a healthy run has no warning."""
    expected = EXPECTED[name]
    allowed = {*expected["findings"], *expected["also"]}
    loud = {f.rule: f.title for f in findings(name).findings if f.severity != "info"}
    assert {rule: title for rule, title in loud.items() if rule not in allowed} == {}


@EACH
def test_every_finding_can_be_acted_on(name: str) -> None:
    """A sentence with numbers, evidence, an onset, and for a loud one a cause and a fix."""
    for finding in findings(name).findings:
        assert finding.title.endswith(".")
        assert finding.evidence
        assert finding.onset.step is not None or finding.rule in ADVICE
        assert any(char.isdigit() for char in finding.title) or not finding.onset.step
    for incident in findings(name).incidents:
        if incident.severity != "info":
            assert incident.findings[0].causes, incident.findings[0].rule
            assert any(finding.fixes for finding in incident.findings)


@EACH
def test_no_rule_breaks(name: str) -> None:
    """No outcome is an error, and the verdict is one sentence."""
    diagnosis = findings(name)
    assert diagnosis.reasons("error") == {}
    assert "\n" not in diagnosis.verdict.sentence


def single_sources() -> list[Any]:
    """Return each source of the fixtures that have several, with the whole run beside it."""
    known = {name: read(FIXTURES / name).sources for name in sorted(EXPECTED)}
    return [
        pytest.param(name, source, id=f"{name}: {source}")
        for name, sources in known.items()
        for source in sources
        if len(sources) > 2
    ]


@pytest.mark.parametrize(("name", "source"), single_sources())
def test_a_source_alone_tells_the_same_as_all_together(name: str, source: str) -> None:
    """Among the rules that could judge both; how a run ended is told only by some sources."""
    from runlens.errors import NothingReadable

    whole = findings(name)
    try:
        alone = diagnose(FIXTURES / name / source)
    except NothingReadable:
        return  # settings alone are no run
    if alone.last_step < 0.99 * whole.last_step:
        return  # an earlier checkpoint, or a launch that was cut: another run as far as it goes
    judged = {
        slug
        for slug in whole.outcomes
        if {whole.outcomes[slug].status, alone.outcomes[slug].status} <= {"found", "passed"}
    } - WHOLE_ONLY
    known = {row.key for row in alone.settings}
    judged -= {rule for rule, key in SETTINGS.items() if key not in known}

    def loud(diagnosis: Diagnosis) -> set[str]:
        found = {f.rule for f in diagnosis.findings if f.severity != "info"}
        return found & judged

    assert loud(alone) == loud(whole)
