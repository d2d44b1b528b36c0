"""What is proposed to a policy whose updates go too far, and a KL that comes back to 0."""

from dataclasses import replace

import numpy as np
import pytest

from runlens import diagnose
from runlens.diagnosis import Fix
from runlens.history import History, columns
from runlens.rules.rl import early_end, random_start
from runlens.rules.rl.kl_blow_up import RULE
from runlens.rules.rule import drawn
from runlens.run import Run, Task
from runlens.signals import Signals


def agent(task: Task = "rl", /, **curves: list[float]) -> Run:
    """Return a run with these curves, a value each step."""
    run = drawn("as logged", noise=0.0, task=task, reward="0:0 10:0").run()
    logged = {
        name: columns(np.arange(1, len(value) + 1), np.array(value, float))
        for name, value in curves.items()
    }
    return replace(run, history=History(logged))


@pytest.mark.parametrize(
    ("passes", "task", "proposed"),
    [
        ([2.0] + [1.0] * 39, "rl", []),  # it ends early already
        ([10.0] * 40, "rl", [0.02]),
        ([0.1 * n for n in range(40)], "rl", [0.02]),  # epochs so far
        ([10.0] * 40, "ppo", []),
    ],
)
def test_a_kl_limit_is_proposed_to_an_agent_that_has_none(
    passes: list[float], task: Task, proposed: list[float]
) -> None:
    """Updates that make fewer passes than at first are ended by something."""
    run = agent(task, n_epochs=passes)
    assert [fix.new for fix in early_end.target_kl(run)] == proposed


def fixes_of(run: Run) -> tuple[Fix, ...]:
    """Ask the rule."""
    return RULE.check(run, Signals(run), RULE.limits).findings[0].fixes


def test_a_kl_that_comes_back_to_zero_is_no_policy_that_moved() -> None:
    """It says so, rules nothing out, and has the log-probabilities computed anew."""
    steady, back = [0.0, 0.0] + [170.0, 256.0] * 10, [0.0, 0.0, 170.0, 170.0, 213.0, 0.0, 213.0]
    back += [256.0, 213.0, 256.0] * 4
    for kl, told in ((back, True), (steady, False)):
        run = agent("grpo", kl=kl, reward=[20.0 + n % 3 for n in range(len(kl))])
        found = RULE.check(run, Signals(run), RULE.limits).findings[0]
        assert ("exactly 0 again at step 6" in found.seen) == told
        assert bool(found.ruled_out) != told
        assert any("in fp32" in fix.what for fix in found.fixes) == told
        assert any("are rounded" in cause.what for cause in found.causes) == told


@pytest.mark.parametrize(("usual", "large"), [(0.14, True), (0.012, False)])
def test_spikes_above_large_updates_are_not_all_there_is(usual: float, *, large: bool) -> None:
    """The median of the others is compared with what is usual, not with the spikes alone."""
    kl = [0.01] * 20 + [usual] * 20 + [0.6] + [usual] * 20
    run = agent("rl", kl_step=kl, reward=[20.0 + n for n in range(len(kl))])
    found = RULE.check(run, Signals(run), RULE.limits).findings[0]
    assert ("all updates are large" in found.seen) == large
    assert any("by its median" in fix.what for fix in found.fixes) != large


def test_rewards_that_are_lost_are_of_episodes_and_not_of_batches() -> None:
    """Of an agent's list no token and no target is spoken; of the losses of a model they are."""
    noise = np.random.default_rng(1).standard_normal(60)
    lost = [*(-30 + noise).tolist(), *[float("nan")] * 30, 0.0]
    found = next(one for one in diagnose(agent(reward=lost)).findings if one.rule == "nan-loss")
    advice = " ".join(fix.what + fix.why for fix in found.fixes)
    assert found.heading == "NaN reward"
    assert "nobody filled" in found.seen
    assert "the episode at step 61" in advice
    assert "token" not in advice
    assert "batch at" not in advice
    ratio = agent(reward=lost, clip_ratio=[0.1] * len(lost))
    found = next(one for one in diagnose(ratio).findings if one.rule == "nan-loss")
    assert any("an action is far less likely" in fix.why for fix in found.fixes)
    back = [*lost[:-1], *(-30 + noise[:5]).tolist()]
    found = next(one for one in diagnose(agent(reward=back)).findings if one.rule == "nan-loss")
    assert "nobody filled" not in found.seen


def flat(**curves: list[float]) -> str:
    """Return what is said of an agent whose reward is flat, and of its cause."""
    found = next(one for one in diagnose(agent(**curves)).findings if one.rule == "reward-flat")
    asked = " ".join(fix.what for fix in found.fixes)
    return f"{found.seen} {asked} {found.causes[0].evidence_for if found.causes else ''}"


@pytest.mark.parametrize(
    ("shift", "says"), [(0.0, "no better than"), (300.0, "above"), (-3000.0, "below")]
)
def test_the_first_episodes_of_an_agent_that_explores_are_of_random_actions(
    shift: float, says: str
) -> None:
    """They are the baseline that is asked for elsewhere."""
    share = np.maximum(0.95 ** np.maximum(np.arange(300) - 30, 0), 0.05).tolist()
    reward = 3400 + 100 * np.random.default_rng(3).standard_normal(300)
    reward[:33] -= shift
    begun = random_start.of(Signals(agent(reward=reward.tolist(), epsilon=share)))
    assert begun is not None
    assert f"the end is {says} that" in begun.words
    still = (reward + shift * (np.arange(300) < 33)).tolist()
    assert "Score an expert policy" in flat(reward=still, epsilon=share)
    clip = flat(reward=still, epsilon=[0.2] * 300)
    assert "random actions" not in clip
    assert "Score a random and an expert" in clip


@pytest.mark.parametrize(
    ("rest", "sign", "name", "told"),
    [
        (0.1, -1.0, "anomaly", True),
        (0.1, 1.0, "anomaly", False),  # what is paid for may be all there is
        (0.5, -1.0, "anomaly", False),
        (0.0, -1.0, "cost", False),  # the reward itself, under another sign
        (0.1, -1.0, "critic_loss", False),
    ],
)
def test_a_part_that_drowns_the_others_is_told(
    rest: float, sign: float, name: str, *, told: bool
) -> None:
    """As a hint: the part may be what counts."""
    noise = np.random.default_rng(3).standard_normal((2, 120))
    part = np.abs(20 * noise[0])
    reward = sign * part + rest * 12 * noise[1]
    text = flat(reward=reward.tolist(), **{name: part.tolist()})
    assert ("reward moves with anomaly alone" in text) == told
