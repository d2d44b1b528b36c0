"""Values of critics against the returns that were logged."""

from typing import Any

import pytest

from runlens.diagnosis import Outcome
from runlens.engine import examine
from runlens.rules.loss.divergence import RULE
from runlens.rules.rule import drawn
from runlens.signals import Signals

FLAT = "0:-20 100:-5 200:-30 900:-15"


def ask(reward: str, **curves: Any) -> Outcome:
    """Examine an agent with some curves."""
    case = drawn("agent", task="rl", noise=0.05, reward=reward, **curves)
    return examine(RULE, case.run(), Signals(case.run()))


@pytest.mark.parametrize(
    ("name", "curve", "status"),
    [
        ("mean_q", "0:1 900:400", "found"),
        ("mean_q", "0:1 900:280", "passed"),  # a return of 30, ten times
        ("mean_q", "0:50 900:400", "passed"),  # grew by less than ten times
        ("mean_q", "0:1 500:900 900:400", "passed"),  # came down from its highest level
        ("mean_q", "0:-1 900:-400", "found"),
        ("max_q", "0:1 900:400", "passed"),  # one state
        ("max_q", "0:1 900:4000", "found"),  # which no episode pays, whatever its luck
        ("maxQ", "0:1 900:4000", "found"),
        ("q max", "0:1 900:4000", "found"),
        ("qmax", "0:1 900:400", "passed"),
        ("Q", "0:1 900:400", "found"),
        ("min_q", "0:1 900:4000", "passed"),
        ("td", "0:0.1 900:1600", "found"),  # errors of 40
        ("td", "0:0.1 900:800", "passed"),
        ("td_err", "0:0.1 900:1600", "found"),
        ("v_loss", "0:0.1 900:1600", "found"),
        ("v_steps", "0:0.1 900:1600", "passed"),
        ("td_steps", "0:0.1 900:1600", "passed"),
        ("avg_max_q", "0:1 900:400", "found"),  # the mean of the best action's value
        ("critic_loss", "0:0.1 900:1600", "found"),  # errors of 40
        ("critic_loss", "0:0.1 900:800", "passed"),  # of 28
        ("value_loss", "0:0.1 900:1600", "found"),
        ("policy_loss", "0:0.1 900:1600", "passed"),
        ("AverageQ1Vals", "0:1 900:400", "found"),
        ("LossQ", "0:0.1 900:1600", "found"),
    ],
)
def test_a_critic_beyond_any_return(name: str, curve: str, status: str) -> None:
    """Ten times the largest return, or an error as large as it, and ten times the start."""
    assert ask(FLAT, **{name: curve}).status == status


def test_a_reward_that_rises_speaks_for_its_critic() -> None:
    """Nor can values be compared with rewards that are all 0, or with too few of them."""
    assert ask("0:-30 900:-5", mean_q="0:1 900:400").status == "passed"
    assert ask("0:0 900:0", mean_q="0:1 900:400").status == "passed"
    assert ask("0:-30 30:-5", mean_q="0:1 30:4000").status == "passed"
    assert ask("0:-30 10:-5 40:-20", mean_q="0:1 40:4000").status == "found"


def test_a_reward_that_rises_a_little_does_not_excuse_a_hundredfold_return() -> None:
    """Nor has the loss of Q-learning a name of its own: beside epsilon it is a critic's."""
    assert ask("0:12 900:34", mean_q="0:1 900:9000").status == "found"
    exploring = {"epsilon": "0:1 900:0.05", "train_loss": "0:0.1 900:4e6"}
    assert ask("0:12 900:34", **exploring).status == "found"
    assert ask("0:12 900:34", train_loss="0:0.1 900:4e6").status == "passed"


def test_a_loss_that_nothing_names_is_too_large_for_any_critic() -> None:
    """Ten times the largest return, as an error, where the reward does not rise."""
    assert ask(FLAT, train_loss="0:0.1 900:2e5").status == "found"  # errors of 450
    assert ask(FLAT, train_loss="0:0.1 900:5e4").status == "passed"  # of 220


@pytest.mark.parametrize(
    ("value", "explained", "reward", "status"),
    [
        ("0:0.1 900:212", "0:0.05 100:0 900:0", FLAT, "found"),
        ("0:0.1 900:50", "0:0.05 100:0 900:0", FLAT, "passed"),  # a return of 30, twice
        ("0:0.1 900:212", "0:0.05 100:0.3 900:0.7", FLAT, "passed"),  # it tells states apart
        ("0:0.1 900:212", "0:0.05 100:0 900:0", "0:20 900:190", "passed"),
        ("0:60 900:212", "0:0.05 100:0 900:0", FLAT, "passed"),  # it began there
    ],
)
def test_values_that_climb_past_every_return_and_explain_none(
    value: str, explained: str, reward: str, status: str
) -> None:
    """What is still to come in a state is on average no more than the whole return."""
    curves: dict[str, Any] = {"vpred_mean": value, "explained_variance": explained}
    assert ask(reward, **curves).status == status


def test_a_critic_that_blows_up_late_is_found_in_many_rows() -> None:
    """Flat for two thirds of the run: its order as a whole is no chance of many points."""
    late = "0:0.6 600:0.6 700:20 800:240 900:245"
    assert ask("0:4 200:19 590:19 610:4 900:4", mean_q=late).status == "found"
