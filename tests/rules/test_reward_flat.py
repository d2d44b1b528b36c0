"""Flat reward: when it is loud, and what is proposed."""

from dataclasses import replace

import numpy as np
import pytest

from runlens.diagnosis import Outcome
from runlens.engine import examine
from runlens.history import History, columns
from runlens.rules.rl.reward_flat import RULE
from runlens.rules.rule import Case, drawn
from runlens.run import State, Task
from runlens.signals import Signals


def outcome_of(case: Case) -> Outcome:
    """Draw a run and ask the rule."""
    run = case.run()
    return examine(RULE, run, Signals(run))


FLAT = "0:0.4 1500:0.4"


def test_early_in_the_plan_it_is_no_alarm() -> None:
    """After a tenth of the plan a flat reward is info."""
    state = State(done_steps=1500, planned_steps=15_000)
    outcome = outcome_of(drawn("early", noise=0.3, task="rl", state=state, reward=FLAT))
    assert [finding.severity for finding in outcome.findings] == ["info"]


def test_the_rate_is_raised_only_where_nothing_moved() -> None:
    """A KL near 0 shows a policy that stood still; a clip ratio of 0 shows nothing."""
    config = {"learning_rate": 1e-6}
    for kl, proposed in (("0:0 1500:0.0002", [3e-6]), ("0:0 1500:0.3", [])):
        case = drawn("still", noise=0.3, task="grpo", config=config, reward=FLAT, kl=kl)
        fixes = outcome_of(case).findings[0].fixes
        assert [fix.new for fix in fixes if fix.setting == "learning_rate"] == proposed


def test_a_slow_rise_in_strong_noise_is_no_flat_reward() -> None:
    """Over many points a rise of half the noise shows in the thirds of the run."""
    slow = "0:0.4 20000:0.5"
    assert outcome_of(drawn("slow", noise=0.4, task="grpo", reward=slow)).status == "passed"


def test_a_policy_that_gets_worse_is_told_as_that() -> None:
    """No rate is raised, no task is called too hard."""
    case = drawn("worse", noise=0.02, task="rl", reward="0:-1100 200:-1150 600:-1600")
    found = outcome_of(case).findings[0]
    assert "got worse" in found.seen
    assert not any("too hard" in cause.what for cause in found.causes)


def test_what_was_gained_early_and_lost_again_is_no_rise() -> None:
    """Half of the best gain is the border: what keeps more rose in its first points."""
    for end, status in ((-18.5, "found"), (-17, "passed")):
        course = f"0:-25 100:-14 800:-8 1200:-11 2000:{end}"
        assert outcome_of(drawn("lost", noise=0.1, task="rl", reward=course)).status == status


def test_means_that_wander_did_not_rise_early() -> None:
    """A mean of 100 episodes moves slowly: a low start is a part of its wandering."""
    rng = np.random.default_rng(8)
    value = np.zeros(150)
    for at in range(1, 150):
        value[at] = 0.8 * value[at - 1] + rng.normal(0, 9)
    flat = History({"reward": columns(np.arange(150) * 2048, value - 180)})
    run = replace(drawn("wanders", task="rl", reward="0:0 900:0").run(), history=flat)
    assert examine(RULE, run, Signals(run)).status == "found"


def test_a_trend_of_doubt_that_no_third_shows_is_a_note() -> None:
    """A hundred returns in an order that chance shows one time in fifty; the same with less noise.

    The trend of less noise is no chance, and the thirds show it.
    """
    step = np.arange(100)
    told = []
    for noise in (3000.0, 1000.0):
        value = -12_500 + 15.0 * step + noise * np.random.default_rng(9).normal(size=100)
        history = History({"reward": columns(step, value)})
        run = replace(drawn("returns", task="rl", reward=FLAT).run(), history=history)
        told.append([one.severity for one in examine(RULE, run, Signals(run)).findings])
    assert told == [["info"], []]


@pytest.mark.parametrize(
    ("points", "task", "severity"),
    [
        (70, "rl", "warning"),
        (30, "rl", "info"),  # a rise of a whole standard deviation would be lost in it
        (70, "grpo", "info"),  # a point is the mean of a step: its noise is small, as are gains
    ],
)
def test_few_points_are_loud_where_a_large_rise_would_have_been_seen(
    points: int, task: Task, severity: str
) -> None:
    """By effect and not by count: evaluations are few, and each is of several episodes."""
    flat = f"0:-5 {10 * points - 10}:-5"
    outcome = outcome_of(drawn("few", noise=0.3, task=task, reward=flat))
    assert [finding.severity for finding in outcome.findings] == [severity]


def test_a_stretch_of_bad_episodes_is_no_fall_of_the_run() -> None:
    """The last third holds it, the last tenth is what the policy comes to."""
    course = "0:-40 800:-40 810:-240 1600:-240 1610:-40 2000:-40"
    found = outcome_of(drawn("back", noise=8.0, task="rl", reward=course)).findings[0]
    assert not found.heading
    assert "got worse" not in found.seen


def test_a_fall_is_told_by_its_order_where_thirds_wander() -> None:
    """Some early rewards far below all others hide it from the means of thirds."""
    value = np.random.default_rng(3).normal(100 - np.arange(200) * 4.0, 60)
    value[[20, 25, 31, 40, 44, 52]] = -6000
    run = drawn("as logged", noise=0.0, task="rl", reward="0:1 1990:1").run()
    for curve, told in ((value, True), (np.random.default_rng(4).permutation(value), False)):
        rows = run.curve("reward")
        logged = replace(run, history=History({"reward": columns(rows.step, curve)}))
        outcome = examine(RULE, logged, Signals(logged))
        found = outcome.findings[0]
        assert (found.heading == "Falling reward") == told
        assert ("fall in an order" in found.seen) == told
        assert ("first tenth" in found.title) or not told


@pytest.mark.parametrize(("share", "harmless"), [(0.9, True), (0.02, False)])
def test_a_reward_at_its_top_had_no_room_to_rise(share: float, harmless: bool) -> None:
    """That it did not says nothing against the run; one far below it has room."""
    rng = np.random.default_rng(1)
    top = rng.random(300) < share
    values = np.where(top, 1.0, 0.5 * rng.random(300))
    run = replace(
        drawn("top", task="rl", noise=0, reward="0:0 900:1").run(),
        history=History({"reward": columns(np.arange(300) * 10, values)}),
    )
    (found,) = examine(RULE, run, Signals(run)).findings
    assert found.harmless is harmless


def of_returns(value: np.ndarray) -> Outcome:
    """Ask the rule about returns of episodes, one a step."""
    history = History({"reward": columns(np.arange(len(value)), value)})
    run = replace(drawn("returns", noise=0, task="rl", reward="0:1 20:2").run(), history=history)
    return examine(RULE, run, Signals(run))


def test_a_median_that_rises_without_the_mean_is_no_rise() -> None:
    """Single high returns grow rare while the usual ones come up: no more is earned."""
    rng = np.random.default_rng(4)
    narrow = np.linspace(1, 0.2, 2000)
    value = 57 + 20 * (rng.exponential(1.0, 2000) * narrow + 1 - narrow)
    (finding,) = of_returns(value).findings
    assert "Its mean was" in finding.title


def test_a_rise_beside_rare_disasters_is_one() -> None:
    """They leave the mean unsure, which then denies nothing."""
    rng = np.random.default_rng(5)
    value = np.linspace(57, 64, 1000) + rng.normal(0, 3, 1000)
    value[rng.random(1000) < 0.01] -= 400
    assert of_returns(value).status == "passed"


def test_skewed_returns_that_rise_by_their_mean_as_well_are_a_rise() -> None:
    """The tail of high returns moves with the rest."""
    rng = np.random.default_rng(6)
    value = np.linspace(50, 64, 1000) + 8 * rng.exponential(1.0, 1000)
    assert of_returns(value).status == "passed"


def test_a_share_that_was_none_at_first_and_then_some_rose() -> None:
    """No success at each of the first twelve evaluations, and three of ten from then on."""
    rng = np.random.default_rng(7)
    value = np.concatenate([np.zeros(12), rng.binomial(10, 0.3, 108) / 10])
    assert of_returns(value).status == "passed"
    assert of_returns(value[12:]).findings


def test_a_first_failure_or_two_are_no_start_without_success() -> None:
    """One episode in ten is solved from the first to the last: any order begins with some."""
    value = np.zeros(400)
    value[5::10] = 1.0
    (finding,) = of_returns(value).findings
    assert finding.severity == "warning"


def test_rewards_of_one_and_none_are_no_wins_and_losses() -> None:
    """A game against itself has both; an agent that seldom succeeds has learned little."""
    rng = np.random.default_rng(8)
    solved = rng.binomial(1, 0.12, 400).astype(np.float64)
    solved[0] = 1.0
    even = np.where(rng.random(400) < 0.5, 1.0, -1.0)
    assert of_returns(solved).findings[0].severity == "warning"
    assert of_returns(even).findings[0].severity == "info"


def test_a_rise_in_the_fourth_digit_after_the_first_value_is_none() -> None:
    """What is below the least gain is no rise, in whatever order its points lie."""
    rng = np.random.default_rng(8)
    value = 0.144117 + 2e-7 * rng.normal(size=60)
    value[0] = 0.144079
    (finding,) = of_returns(value).findings
    assert "did not" in finding.title
