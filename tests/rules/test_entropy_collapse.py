"""Entropy collapse: what is proposed, and whom it does not concern."""

from runlens.diagnosis import Outcome
from runlens.engine import examine
from runlens.rules.rl.entropy_collapse import RULE
from runlens.rules.rule import Case, drawn
from runlens.signals import Signals
from tests.rules.said import explained


def outcome_of(case: Case) -> Outcome:
    """Draw a run and ask the rule."""
    run = case.run()
    return examine(RULE, run, Signals(run))


COLLAPSE = "0:1.8 300:1.2 450:0.02 900:0.01"


def test_a_cold_temperature_is_raised() -> None:
    """A recorded temperature below 0.8 is named as a cause and set to 1.0."""
    case = drawn("cold", task="grpo", entropy=COLLAPSE, config={"temperature": 0.6})
    finding = outcome_of(case).findings[0]
    cold = explained("entropy-collapse", case.run()).causes[0]
    assert (cold.kind, "temperature is 0.6" in cold.evidence_for) == ("exploration", True)
    fix = next(fix for fix in finding.fixes if fix.setting == "temperature")
    assert (fix.old, fix.new) == (0.6, 1.0)


def test_one_estimate_below_zero_is_no_continuous_action() -> None:
    """The first update of a new policy may show anything; values below 0 again and again do not."""
    first = drawn("first", task="grpo", noise=0, entropy="0:-133 10:1.8 300:1.2 450:0.02 900:0.01")
    assert outcome_of(first).findings
    often = drawn("often", task="grpo", noise=0, entropy="0:1.8 300:0.4 450:-0.5 900:-0.9")
    assert outcome_of(often).status == "passed"


def test_entropy_of_predictions_is_not_judged() -> None:
    """Supervised runs log an entropy as well; it is no policy's."""
    assert outcome_of(drawn("sft", task="sft", entropy=COLLAPSE)).status == "unmet"


def test_a_late_slice_is_not_compared_with_a_start_it_lacks() -> None:
    """Of a history that begins mid-run only the absolute limit holds."""
    late = "5000:0.9 5300:0.5 5600:0.04 6000:0.03"
    assert outcome_of(drawn("late", task="rl", entropy=late)).status == "passed"


def test_entropy_that_flickers_about_the_limit_is_one_collapse() -> None:
    """Single values above the limit do not end it; the onset is the first lasting fall."""
    flicker = "0:0.69 150:0.02 900:0.02 ~0.018/70"
    outcome = outcome_of(drawn("flicker", task="rl", entropy=flicker))
    assert outcome.status == "found"
    onset = outcome.findings[0].onset.step
    assert onset is not None
    assert 90 <= onset <= 200
