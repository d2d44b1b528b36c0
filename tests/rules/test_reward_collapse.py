"""Reward collapse: the way back."""

import numpy as np
import pytest

from runlens.diagnosis import Outcome
from runlens.engine import examine
from runlens.history import History, columns
from runlens.rules.rl.reward_collapse import RULE
from runlens.rules.rule import Case, drawn
from runlens.run import Event, Run
from runlens.signals import Signals
from tests.rules.said import explained


def outcome_of(case: Case) -> Outcome:
    """Draw a run and ask the rule."""
    run = case.run()
    return examine(RULE, run, Signals(run))


def test_the_checkpoint_at_the_peak_is_proposed_first() -> None:
    """The last one saved before the fall, not the latest."""
    saved = tuple(
        Event("checkpoint", at, data={"path": f"out/checkpoint-{at}"}) for at in (200, 800)
    )
    case = drawn(
        "saved", noise=0.05, task="grpo", events=saved, reward="0:0.2 300:0.8 500:0.1 900:0.05"
    )
    assert outcome_of(case).findings[0].fixes[0].what == "Use checkpoint-200"


def test_a_model_that_was_good_from_the_start_can_collapse() -> None:
    """No rise is needed where the end lies far below the start."""
    case = drawn("good model", noise=0.1, task="grpo", reward="0:0.9 150:0.85 200:0.01 400:0.01")
    outcome = outcome_of(case)
    assert outcome.status == "found"
    onset = outcome.findings[0].onset.step
    assert onset is not None
    assert 130 <= onset <= 210


def test_small_steps_are_not_made_smaller() -> None:
    """Where KL and clip ratio are next to nothing the learning rate is not the cause."""
    curves = {"reward": "0:10 400:100 600:20 900:10", "learning_rate": "0:0.0003 900:0.0003"}
    still = {"kl_step": "0:0.002 900:0.002", "clip_ratio": "0:0.001 900:0.001"}
    noise = {"reward": 0.03}
    found = outcome_of(Case("unknown", curves, noise=noise, task="rl")).findings[0]
    assert any("learning rate" in fix.what for fix in found.fixes)
    found = outcome_of(Case("small steps", curves | still, noise=noise, task="rl")).findings[0]
    assert not any("learning rate" in fix.what for fix in found.fixes)


def test_a_value_function_that_explains_nothing_is_named() -> None:
    """Rewards of thousands are out of the reach of a value network that starts near 0."""
    curves = {
        "reward": "0:-9000 400:-1000 600:-8000 900:-9000",
        "explained_variance": "0:0 900:0",
        "value_loss": "0:1e6 900:1e6",
    }
    blind = Case("blind", curves, noise={"reward": 0.03}, task="rl")
    found = explained("reward-collapse", blind.run())
    assert found.causes[0].what == "A value function that explains nothing of the returns"
    assert found.fixes[0].what.startswith("Normalize rewards")


@pytest.mark.parametrize(
    ("name", "level", "severity"),
    [
        ("Lesson Number/goal", "0:1 490:1 500:2 1200:2", "info"),
        ("Curriculum/level", "0:1 490:1 500:2 1200:2", "info"),
        ("Lesson Number/goal", "0:1 200:1 210:2 1200:2", "critical"),  # long before the fall
        ("Lesson Number/goal", "0:2 490:2 500:1 1200:1", "critical"),  # an easier one
        ("Curriculum/terrain", "0:1 490:1.4 500:1.6 1200:0.2", "critical"),  # a mean
        ("throughput_steps", "0:1 490:1 500:2 1200:2", "critical"),
    ],
)
def test_a_fall_at_which_the_task_got_harder_is_an_info(
    name: str, level: str, severity: str
) -> None:
    """The reward of a harder lesson says nothing of the policy."""
    curves = {"reward": "0:-1 480:8 600:-3 1200:-3", name: level}
    case = Case("lesson", curves, noise={"reward": 0.02, name: 0.0}, task="rl")
    found = outcome_of(case).findings[0]
    assert found.severity == severity
    assert ("a harder task" in found.confidence.reason) is (severity == "info")


@pytest.mark.parametrize(
    ("end", "lift", "said"),
    [
        (-550, 0, ["info"]),  # a cost of 95 that grows to 550: a third of what was gained
        (-550, 600, []),  # the same fall of a reward, in a random walk
        (-150, 0, []),  # less than twice
    ],
)
def test_a_cost_that_doubles_is_told(end: float, lift: float, said: list[str]) -> None:
    """Slow wandering hides the order of the points; of a cost the level itself tells."""
    rng = np.random.default_rng(6)
    rise, fall = np.linspace(-1600, -95, 55), np.linspace(-95, end, 25)
    value = np.concatenate([rise, fall]) + 6 * np.cumsum(rng.normal(size=80)) + lift
    corners = " ".join(f"{10 * at}:{one:g}" for at, one in enumerate(value))
    found = outcome_of(drawn("cost", noise=0.0, task="rl", reward=corners)).findings
    assert [one.severity for one in found] == said


def test_hops_between_two_returns_are_no_collapse() -> None:
    """Five in a row of the better one come by themselves where a quarter of all are."""
    rows = np.arange(84)
    for seed in range(40):
        value = -21 + (np.random.default_rng(seed).random(84) < 0.25).astype(float)
        run = Run("pong", "pong", History({"reward": columns(rows, value)}), task="rl")
        assert not examine(RULE, run, Signals(run)).findings


@pytest.mark.parametrize(
    ("late", "told"), [(260.0, "fell from step 28 on"), (690.0, ""), (560.0, "")]
)
def test_a_level_below_all_that_came_before_it_is_told(late: float, told: str) -> None:
    """Two returns in turn, whose order among themselves says nothing: 15 lie below 15 others."""
    value = np.repeat([-200.0, 260, 350, 560, 560, 350, 560, 680, 680, 680, 680, 700, 680, 710], 2)
    value = np.concatenate([value, np.where(np.arange(15) % 5 == 2, 250, 260)])
    value[36] = late
    history = History({"reward": columns(np.arange(len(value)), value)}, ("drawn",))
    outcome = examine(RULE, run := Run("r", "r", history, task="rl"), Signals(run))
    assert [(one.severity, told in one.title) for one in outcome.findings] == [
        ("info", True)
    ] * bool(told)
