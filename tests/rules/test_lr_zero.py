"""Causes of a learning rate of zero."""

from runlens.rules.rule import Case, drawn
from runlens.rules.schedule.lr_zero import RULE
from runlens.run import State
from runlens.signals import Signals


def test_a_plan_twice_the_schedule_names_the_double_count() -> None:
    """The schedule ended at half of the planned steps: devices or accumulation counted twice."""
    case = drawn(
        "half",
        train_loss="0:3 200:1.5 400:1.5",
        learning_rate="0:1e-3 200:0 400:0",
        noise=0.01,
        state=State(done_steps=400, planned_steps=400),
    )
    finding = RULE.check(case.run(), Signals(case.run()), RULE.limits).findings[0]
    assert any("counted twice" in cause.what for cause in finding.causes)
    assert any("for all 400 steps" in fix.what for fix in finding.fixes)


def test_a_second_group_that_learns_speaks_against_it() -> None:
    """Frozen first group, trained head."""
    rates = {"learning_rate": "0:0 400:0", "learning_rate:1": "0:1e-3 400:1e-4"}
    run = Case("groups", {"train_loss": "0:3 400:1.5", **rates}).run()
    assert RULE.check(run, Signals(run), RULE.limits).status == "passed"
