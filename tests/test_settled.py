"""Which of two rules that read one curve is heard."""

from dataclasses import replace

from runlens.diagnosis import Outcome, Severity
from runlens.engine import settled
from runlens.rules.loss.not_learning import RULE
from runlens.rules.rule import drawn
from runlens.signals import Signals


def found(severity: Severity, *yields_to: str) -> Outcome:
    """Return an outcome with one finding."""
    case = drawn("flat", train_loss="0:3.2 900:3.2")
    finding = RULE.check(case.run(), Signals(case.run()), RULE.limits).findings[0]
    return Outcome("found", "its case", (replace(finding, severity=severity),), yields_to)


def test_a_warning_yields_to_no_info() -> None:
    """Else neither would be said aloud."""
    kept = settled(
        {"hockey-stick": found("warning", "not-learning"), "not-learning": found("info")}
    )
    assert kept["hockey-stick"].status == "found"


def test_a_finding_yields_to_one_as_loud() -> None:
    """A warning to a warning, an info to whatever is found."""
    pairs: tuple[tuple[Severity, Severity], ...] = (
        ("warning", "critical"),
        ("info", "info"),
        ("info", "warning"),
    )
    for mine, other in pairs:
        told = settled({"a": found(mine, "b"), "b": found(other)})
        assert told["a"].status == "passed"


def test_two_that_yield_to_each_other_both_stand() -> None:
    """Neither is silent because of the other."""
    told = settled({"a": found("warning", "b"), "b": found("warning", "a")})
    assert {one.status for one in told.values()} == {"found"}
