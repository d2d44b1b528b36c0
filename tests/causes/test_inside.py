"""What a log shows of parts: layers, parts of a loss, the critic, exploration; look-alikes too."""

from typing import Any

import numpy as np
import pytest

from runlens.engine import diagnose
from runlens.report.facts import next_step
from runlens.rules.numerics.loss_scale_collapse import FLOOR
from runlens.rules.rule import drawn, message
from runlens.run import Run
from tests.causes.test_traces import made

FLAT = "0:2.303 200:2.303 900:2.302"


def first(run: Run) -> str:
    """Return the first cause of the gravest incident."""
    incidents = diagnose(run).incidents
    return next((cause.what for one in incidents for cause in one.findings[0].causes[:1]), "")


@pytest.mark.parametrize(
    ("low", "high", "named"),
    [
        ("0:6e-8 900:6e-8", "0:0.45 900:0.4", True),
        ("0:6e-3 900:6e-3", "0:0.45 900:0.4", False),  # layers of a network that can learn
        ("0:0 900:0", "0:0.45 900:0.4", False),  # in no graph: nothing vanishes on its way
    ],
)
def test_a_first_layer_without_gradient(low: str, high: str, *, named: bool) -> None:
    """Of a loss at chance alone, and where the last layer has its share."""
    norms: dict[str, Any] = {"grad_norm_first": low, "grad_norm_last": high}
    config = {"num_labels": 10}
    case = drawn("x", task="classification", train_loss=FLAT, config=config, **norms)
    assert first(case.run()).startswith("Gradients that vanish") is named


@pytest.mark.parametrize(
    ("still", "ends", "named"),
    [
        ("cls_loss", (1.04, 1.04), True),
        ("cls_loss", (1.04, 1.03), False),  # it moves, by however little
        ("kl_loss", (0.5, 0.5), False),  # a bound that was put in
        ("cls_loss", (0.0, 0.0), False),  # of no targets
    ],
)
def test_a_part_of_the_loss_that_never_moves(
    still: str, ends: tuple[float, float], *, named: bool
) -> None:
    """While another part falls."""
    fell = np.geomspace(0.1, 1e-3, 40)
    total = 1.04 + 0.5 * np.exp(-np.arange(40))
    part: dict[str, Any] = {still: np.linspace(*ends, 40)}
    run = made(train_loss=total, box_loss=fell, **part)
    assert first(run).startswith("The part of the model behind") is named


@pytest.mark.parametrize(
    ("share", "named"),
    [
        ((1e-9, 1e-12), True),
        ((0.2, 0.2), False),  # the clip range of PPO
        ((0.05, 0.05), False),  # one action in twenty
        ((1.0, 1e-4), False),  # at random at first
    ],
)
def test_exploration_that_ended_before_the_first_row(
    share: tuple[float, float], *, named: bool
) -> None:
    """Of a reward that stays flat."""
    flat = np.random.default_rng(4).normal(1.0, 0.05, 40)
    found = diagnose(made("rl", reward=flat, epsilon=np.linspace(*share, 40)))
    whats = [one.what for finding in found.findings for one in finding.causes[:1]]
    assert ("Exploration that ended too soon" in whats) is named
    assert next_step(found).startswith("Repeat the run with epsilon") is named


@pytest.mark.parametrize("own", [True, False])
def test_a_critic_of_rollouts_has_no_target_network(*, own: bool) -> None:
    """Its values fit returns; those of Q-learning fit values."""
    curves: dict[str, Any] = {"value_loss": np.geomspace(50, 1e16, 40)}
    curves |= {"explained_variance": np.linspace(0, 0.2, 40)} if own else {}
    reward = np.concatenate([np.linspace(28, 120, 10), np.linspace(120, 75, 5), np.full(25, 75.0)])
    run = made("rl", reward=reward, **curves)
    causes = {
        cause.what
        for finding in diagnose(run).findings
        for cause in finding.causes
        if "critic that learns from" in cause.what or "value function that are" in cause.what
    }
    assert len(causes) == 1
    assert causes.pop().startswith("Steps of the value function" if own else "A critic")


@pytest.mark.parametrize(
    ("top", "explained", "gamma", "named"),
    [
        (212.0, 0.0, 1.0, "A critic that learns from its own estimates"),
        (212.0, 0.0, 0.99, "Steps of the value function that are too large"),
        (212.0, 0.6, 1.0, ""),  # it follows states: a sum of rewards may be logged in part
        (60.0, 0.0, 1.0, ""),  # what a good state may be worth
    ],
)
def test_values_beyond_any_return_that_explain_nothing(
    top: float, explained: float, gamma: float, named: str
) -> None:
    """They rise in order while the reward comes and goes."""
    reward = np.concatenate([np.linspace(20, 44, 25), np.full(15, 17.0)])
    run = made(
        "rl",
        {"gamma": gamma},
        reward=reward,
        vpred_mean=np.linspace(0, top, 40),
        explained_variance=np.full(40, explained),
    )
    what = first(run)
    assert what.startswith(named) if named else "critic" not in what and "value f" not in what


def test_a_loss_scale_at_its_minimum_is_of_no_single_batch() -> None:
    """Each skipped update leaves the weights whole, and the next batch overflows as well."""
    says = "Minimum loss scale reached (0.0001)."
    events = tuple(message(says, "num", min(FLOOR), 500 + at) for at in range(14))
    curves: dict[str, Any] = {
        "train_loss": "0:2.2 490:1.2 500:nan 900:nan",
        "grad_norm": "0:1 490:1",
    }
    scale: dict[str, Any] = {"loss_scale": "0:65536 400:65536 500:0.0001 900:0.0001"}
    found = diagnose(drawn("x", events=events, **curves, **scale).run())
    told = [one.what for finding in found.findings for one in finding.causes]
    assert {"loss-scale-collapse", "nan-loss"} & {one.rule for one in found.findings}
    assert "A few unusual batches" not in told
    assert "A few unusual batches" in {out.what for one in found.findings for out in one.ruled_out}


@pytest.mark.parametrize(
    ("names", "low", "named"),
    [
        (("gnorm_fc1", "gnorm_fc10"), 5e-8, True),
        (("grad/layer2/w", "grad/layer12/w"), 5e-8, True),
        (("gnorm_fc1", "gnorm_fc10"), 5e-3, False),  # layers of a network that can learn
        (("grad_norm:rank0", "grad_norm:rank1"), 5e-8, False),  # shares of one gradient
        (("norm_fc1", "norm_fc10"), 5e-8, False),  # of activations or weights
        (("gnorm_fc1", "gnorm_out2"), 5e-8, False),  # no list of layers
    ],
)
def test_layers_by_their_number(names: tuple[str, str], low: float, *, named: bool) -> None:
    """The lowest number is the first layer, the highest the last."""
    norms: dict[str, Any] = {names[0]: f"0:{low} 900:{low}", names[1]: "0:0.45 900:0.4"}
    config = {"num_labels": 10}
    case = drawn("x", task="classification", train_loss=FLAT, config=config, **norms)
    assert first(case.run()).startswith("Gradients that vanish") is named


@pytest.mark.parametrize(
    ("config", "more", "named"),
    [
        ({"epsilon": 0.0}, {}, True),
        ({"eps_start": 0.0, "eps_end": 0.0}, {}, True),
        ({"eps_start": 1.0, "eps_end": 0.0}, {}, False),  # at random at first
        ({"epsilon": 0.1}, {}, False),
        ({"norm_eps": 0.0, "adam_epsilon": 0.0, "eps_decay": 0}, {}, False),  # of other things
        ({"epsilon": "none"}, {}, False),
        ({"epsilon": 0.0}, {"entropy": np.linspace(1.1, 1.0, 40)}, False),  # actions are drawn
    ],
)
def test_no_action_is_random(config: dict[str, Any], more: dict[str, Any], *, named: bool) -> None:
    """By the settings of an agent that was never rewarded."""
    run = made("rl", config=config, reward=np.zeros(40), **more)
    whats = [one.what for finding in diagnose(run).findings for one in finding.causes[:1]]
    assert ("No exploration" in whats) is named


@pytest.mark.parametrize(("start", "named"), [(0.0, True), (1.0, False)])
def test_the_same_return_of_one_way_to_act(start: float, *, named: bool) -> None:
    """Below 0 as well: that all episodes are alike follows from it."""
    config = {"eps_start": start, "eps_end": 0.0}
    assert (first(made("rl", config=config, reward=np.full(40, -0.4))) == "No exploration") is named


def test_an_agent_that_earns_needs_no_chance() -> None:
    """Greedy with values that begin high tries all actions as well."""
    run = made("rl", config={"epsilon": 0.0}, reward=np.linspace(0.0, 1.0, 40))
    assert not diagnose(run).findings


@pytest.mark.parametrize(
    ("name", "share", "reward", "named"),
    [
        ("e", np.maximum(0.6 * 0.6 ** np.arange(20), 0.02), 0.0, True),
        ("epsilon", np.maximum(0.6 * 0.6 ** np.arange(20), 0.02), 0.0, True),
        ("e", np.linspace(0.9, 0.5, 20), 0.0, False),  # many are random throughout
        ("e", np.linspace(0.9, 0.05, 20), 0.0, False),  # and for most of the run
        ("e", np.maximum(0.6 * 0.6 ** np.arange(20), 0.02), -1.0, False),  # a floor may be earned
        ("e", np.abs(np.sin(np.arange(20.0))) / 20, 0.0, False),  # an error goes up and down
        ("e", np.maximum(6 * 0.6 ** np.arange(20), 0.02), 0.0, False),  # no share
    ],
)
def test_random_actions_ended_before_anything_was_earned(
    name: str, share: Any, reward: float, *, named: bool
) -> None:
    """By name, or by the letter whose values are a share that never rises."""
    run = made("rl", reward=np.full(20, reward), **{name: share})
    found = diagnose(run)
    whats = [one.what for finding in found.findings for one in finding.causes[:1]]
    assert ("Exploration that ended too soon" in whats) is named
    assert next_step(found).startswith(f"Repeat the run with {name} at 0.3") is named


@pytest.mark.parametrize(
    ("early", "named"),
    [
        ((0.09, 0.02, -0.04, 0.02), True),
        ((-0.4, -0.3, 0.09, 0.02), False),  # it learned, then lost it
    ],
)
def test_few_rewards_that_fall_with_the_random_actions(
    early: tuple[float, ...], *, named: bool
) -> None:
    """Of 16 points three are of more than half of the random actions: compared in pairs."""
    share = np.maximum(0.83 - 0.165 * np.arange(16), 0.05)
    late = (-0.24, -0.35, -0.4, -0.4, -0.4, -0.34, -0.34, -0.35, -0.3, -0.35, -0.4, -0.4)
    worse = "A learned policy that is worse than random actions"
    assert (first(made("rl", reward=(*early, *late), eps=share)) == worse) is named
    more = 250 * late, np.append(share, np.full(len(early) + 250 * len(late) - len(share), 0.05))
    assert (first(made("rl", reward=(*early, *more[0]), eps=more[1])) == worse) is named


@pytest.mark.parametrize(
    ("left", "kl", "named"),
    [
        (0.04, 0.1, True),
        (0.9, 0.1, False),  # several actions are drawn still
        (0.04, 10.0, False),  # it had run away before: what drove it may have done both
    ],
)
def test_a_gradient_of_zero_where_all_that_is_drawn_is_alike(
    left: float, kl: float, *, named: bool
) -> None:
    """Of a policy whose reward had risen."""
    norms = np.concatenate([np.full(30, 0.06), np.zeros(30)])
    entropy = np.concatenate([np.linspace(2.5, left, 30), np.full(30, left)])
    reward = np.concatenate([np.linspace(0.06, 0.5, 30), np.full(30, 0.5)])
    away = np.minimum(0.1 + np.arange(60) ** 2 / 20, kl)
    run = made("rl", grad_norm=norms, entropy=entropy, reward=reward, kl=away)
    found = diagnose(run)
    assert "grad-zero" in {one.rule for one in found.findings}
    whats = {one.what for finding in found.findings for one in finding.causes[:1]}
    assert ("A policy that no longer explores" in whats) is named


def test_the_length_of_all_episodes_is_tried_doubled() -> None:
    """Where none ended by what was done in it; lengths that differ tell of no limit."""
    zeros = np.zeros(40)
    for lengths, asked in ((np.full(40, 30.0), True), (np.linspace(20, 30, 40), False)):
        told = str(diagnose(made("rl", reward=zeros, ep_len=lengths)).to_dict())
        assert ("episodes of up to 60 steps" in told) is asked
        assert ("Every logged episode ran for 30 steps" in told) is asked
