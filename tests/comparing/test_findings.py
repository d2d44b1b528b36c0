"""What was fixed, what is new, what both have: only where both runs could be judged."""

from dataclasses import replace

from runlens.comparing.findings import difference
from runlens.diagnosis import MERGED, Diagnosis, Finding, Moment, Outcome
from tests.report.diagnoses import diagnosis, finding


def judged(*findings: Finding, **outcomes: Outcome) -> Diagnosis:
    """Return a diagnosis with these findings; rules that are not named passed."""
    known = {slug: Outcome("passed") for slug in ("divergence", "plateau", "clip-saturation")}
    named = {slug.replace("_", "-"): outcome for slug, outcome in outcomes.items()}
    return replace(diagnosis(findings=findings), outcomes=known | named)


SPIKE = finding(rule="divergence", metric="train_loss")
LATER = finding(rule="divergence", metric="train_loss", onset=Moment(900))


def test_a_finding_that_b_lacks_is_fixed_and_the_reverse_is_new() -> None:
    """Where the rule could judge the other run."""
    diff = difference(judged(SPIKE), judged())
    assert [one.rule for one in diff.fixed] == ["divergence"]
    assert not any(diff[1:])
    assert [one.rule for one in difference(judged(), judged(SPIKE)).new] == ["divergence"]


def test_a_finding_of_both_keeps_both_onsets() -> None:
    """So that a shift can be told."""
    diff = difference(judged(SPIKE), judged(LATER))
    assert [(one.a.onset.step, one.b.onset.step) for one in diff.both] == [(SPIKE.onset.step, 900)]
    assert not diff.fixed
    assert not diff.new


def test_what_could_not_be_judged_is_not_called_fixed() -> None:
    """The rule lacks a metric in the other run, broke, or told it as part of another finding."""
    for other in (
        Outcome("unmet", "not logged: train_loss"),
        Outcome("error", "ValueError: no"),
        Outcome("passed", f"{MERGED}loss-spike: it is one"),
    ):
        diff = difference(judged(SPIKE), judged(divergence=other))
        assert not diff.fixed
        assert [(one.finding.rule, one.run, one.why) for one in diff.unjudged] == [
            ("divergence", "A", other.reason)
        ]
        assert [
            one.run for one in difference(judged(divergence=other), judged(SPIKE)).unjudged
        ] == ["B"]


def test_one_rule_on_two_metrics_is_two_findings() -> None:
    """Of two evaluation sets one may be fixed."""
    first, second = finding(rule="plateau", metric="a"), finding(rule="plateau", metric="b")
    diff = difference(judged(first, second), judged(second))
    assert [one.metric for one in diff.fixed] == ["a"]
    assert [one.a.metric for one in diff.both] == ["b"]


def test_one_rule_told_by_another_metric_is_the_same_finding() -> None:
    """Runs of two frameworks log the same thing under two names."""
    first, second = finding(rule="plateau", metric="a"), finding(rule="plateau", metric="b")
    diff = difference(judged(first), judged(second))
    assert [(one.a.metric, one.b.metric) for one in diff.both] == [("a", "b")]
    assert not diff.fixed
    assert not diff.new
