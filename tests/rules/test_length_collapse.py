"""Length collapse: a stretch that ended."""

from runlens.diagnosis import Outcome
from runlens.engine import examine
from runlens.rules.rl.length_collapse import RULE
from runlens.rules.rule import Case, drawn
from runlens.signals import Signals


def outcome_of(case: Case) -> Outcome:
    """Draw a run and ask the rule."""
    run = case.run()
    return examine(RULE, run, Signals(run))


def test_a_stretch_that_ended_has_an_end() -> None:
    """Completions that came back: the finding says until when."""
    case = drawn(
        "stretch", task="grpo", noise=0.0, len_mean="0:110 300:100 310:3 500:3 510:250 900:250"
    )
    finding = outcome_of(case).findings[0]
    assert finding.onset.step == 310
    assert finding.end is not None
    assert finding.end.step == 500


def test_episodes_are_not_completions() -> None:
    """Short episodes may be good or bad: classic environments are never judged."""
    assert outcome_of(drawn("episodes", task="rl", len_mean="0:110 600:3")).status == "unmet"
