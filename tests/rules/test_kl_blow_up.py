"""KL blow-up: the mismatched reference, and outliers of the estimator."""

import pytest

from runlens.diagnosis import Outcome
from runlens.engine import diagnose, examine
from runlens.rules.rl.kl_blow_up import RULE
from runlens.rules.rule import Case, drawn
from runlens.signals import Signals


def outcome_of(case: Case) -> Outcome:
    """Draw a run and ask the rule."""
    run = case.run()
    return examine(RULE, run, Signals(run))


def test_a_high_first_value_blames_the_reference() -> None:
    """KL above 1 before any learning is no matter of the learning rate."""
    finding = outcome_of(drawn("other model", task="grpo", kl="0:3 600:4")).findings[0]
    assert finding.causes[0].what.startswith("A reference with another template")


def spikes(every: int) -> Case:
    """Draw a low KL with one point above the alarm at each multiple of `every` steps."""
    text = " ".join(f"{at - 10}:0.1 {at}:5 {at + 10}:0.1" for at in range(every, 900, every))
    return drawn("spikes", noise=0.0, task="grpo", kl=f"0:0.1 {text} 900:0.1")


def test_outliers_are_info_and_advise_no_lower_rate() -> None:
    """Scattered points above the alarm lift no running median, however many times."""
    finding = outcome_of(spikes(100)).findings[0]
    assert finding.severity == "info"
    assert "its median is 0.1" in finding.title
    assert not [fix for fix in finding.fixes if fix.setting]


def test_outliers_at_a_fifth_of_the_points_are_a_warning() -> None:
    """Too many for an accident, though the median lies low."""
    assert [finding.severity for finding in outcome_of(spikes(40)).findings] == ["warning"]


def test_before_is_what_lies_before_the_onset() -> None:
    """An early blow-up is not compared with itself."""
    case = drawn("early", noise=0.0, task="grpo", kl="0:0.01 40:0.01 50:3 900:4")
    assert "Before step 50 its median was 0.01" in outcome_of(case).findings[0].title


def test_the_weak_term_is_strengthened() -> None:
    """A third of the learning rate, and beta times three."""
    case = drawn(
        "weak",
        task="grpo",
        config={"beta": 0.01, "learning_rate": 3e-5},
        kl="0:0.01 300:0.1 450:3 900:5",
    )
    new = {fix.setting: fix.new for fix in outcome_of(case).findings[0].fixes}
    assert new == {"beta": 0.03, "learning_rate": 1e-5}


@pytest.mark.parametrize(
    ("kl", "onset"),
    [
        ("0:0.5 200:0.5 210:1.5 400:1.5 410:3 900:4", 410),  # high before, and not above it
        ("0:0.5 150:0.5 160:9 170:0.5 400:0.5 410:3 900:4", 410),  # an outlier long before
        ("0:0.5 400:0.5 410:3 420:1.5 430:3 900:4", 410),  # one point below it
    ],
)
def test_it_is_dated_where_the_limit_is_crossed(kl: str, onset: float) -> None:
    """On the points as logged, though a median of five is judged."""
    finding = outcome_of(drawn("crossing", noise=0.0, task="grpo", kl=kl)).findings[0]
    assert finding.onset.step == onset


@pytest.mark.parametrize(
    ("kl", "lead"), [("0:0.01 20:4 600:5", "kl-blow-up"), ("0:0.01 600:0.02", "clip-ratio-high")]
)
def test_the_divergence_of_an_update_leads_ratios_that_are_cut(kl: str, lead: str) -> None:
    """Both measure updates that go too far; only one says how far."""
    case = drawn("far", task="rl", clip_ratio="0:0.6 600:0.95", kl_step=kl, reward="0:1 600:1")
    assert diagnose(case.run()).incidents[0].findings[0].rule == lead
