"""Why a reward stays flat or falls from its start, and what to change."""

import numpy as np

from runlens import fixes
from runlens.arrays import median
from runlens.diagnosis import Cause, Fix
from runlens.history import Curve
from runlens.knowledge.in_force import answers_prompts
from runlens.rules.rl import policy, random_start
from runlens.run import Run
from runlens.signals import Signals
from runlens.wording import moved, number, percent
from runlens.wording import rate as as_rate

STILL = 1e-3  # nats per token: KL of a policy that did not move
STRONG_BETA = 0.1
WHOLE = 0.9  # of the plan


def _still(signals: Signals) -> str:
    """Say what shows that the policy did not move; empty where nothing does."""
    kl = signals.curve("kl").value
    if len(kl) >= policy.FEWEST and np.abs(median(kl[-len(kl) // 4 :])) < STILL:
        level = number(float(median(kl[-len(kl) // 4 :])), 2)
        return f"the median KL of the last quarter is {level}"
    entropy = signals.levels("entropy")
    if len(signals.curve("entropy")) >= policy.FEWEST and entropy.start > 0:
        change = entropy.end / entropy.start - 1
        if abs(change) < 0.03:  # noqa: PLR2004 - within what a few updates change
            return f"entropy {moved(change, percent)}"
    return ""


def causes(run: Run, signals: Signals) -> tuple[Cause, ...]:
    """Return what keeps a reward flat, the most likely first."""
    still, beta = _still(signals), run.number("beta")
    equal = signals.curve("frac_zero_std").value
    dead = float(equal.mean()) if len(equal) else 0.0
    rate = signals.peak_learning_rate
    low = f"{still} at a peak rate of {as_rate(rate)}" if still and rate else still
    return policy.ranked(
        Cause(
            "Learning rate so low that the policy hardly moved",
            "most likely",
            low,
            kind="rate-too-low",
        )
        if still
        else None,
        Cause(
            "Identical rewards within groups",
            "likely",
            f"{percent(dead)} of the groups on average",
            kind="reward-function",
        )
        if dead > 0.5  # noqa: PLR2004 - more than half of the groups
        else None,
        Cause("KL term too strong", "likely", f"beta is {number(beta)}", kind="kl-weight")
        if beta and beta > STRONG_BETA and run.task != "rl"
        else None,
        policy.critic_cause(signals),
        Cause(
            "Task too hard, or a reward that is mostly noise",
            "possible" if still else "likely",
            kind="reward-function",
        ),
    )


def causes_of_fall(signals: Signals) -> tuple[Cause, ...]:
    """Return what makes a policy worse than at its start, the most likely first."""
    return policy.ranked(
        policy.critic_cause(signals),
    )


def fixes_of_fall(run: Run, signals: Signals, reward: Curve) -> tuple[Fix, ...]:
    """Return what to change where a policy got worse."""
    made = list(policy.normalised(signals))
    if not policy.small_steps(signals, float(reward.step[-1])):
        made.extend(fixes.learning_rate(run, signals, 1 / 3, "the policy gets worse by its steps"))
    better = "actions" if run.task == "rl" else "completions"
    what = f"Check by hand on one batch that better {better} have the higher advantage"
    return (*made, fixes.look(what, "a flipped sign trains the policy to get worse"))


def unfinished(run: Run) -> bool:
    """Whether more steps were planned than done, so that a flat reward is one so far."""
    share = run.state.done_share
    return share is not None and share < WHOLE


def fixes_of_flat(run: Run, signals: Signals, *, early: bool = False) -> tuple[Fix, ...]:
    """Return what to change where nothing was learned; `early`: so far, which proves little."""
    made: list[Fix] = []
    if still := policy.unmoved(signals):
        what = "Check that the optimizer holds the policy's parameters, and that they get gradients"
        return (fixes.look(what, still),)
    if early and unfinished(run):
        what = "Judge the reward again after more steps"
        return (fixes.look(what, "few points do not show a slow rise"),)
    if still := _still(signals):
        made.extend(fixes.learning_rate(run, signals, 3, f"nothing moved: {still}"))
    made.extend(policy.normalised(signals))
    made.extend(policy.more_generations(run, "a rare success shows up in more groups"))
    beta = run.number("beta")
    if beta and beta > STRONG_BETA and run.task != "rl":
        new = fixes.two_digits(beta / 2)
        made.append(
            fixes.setting(run, "beta", new, "Weaken the KL term", "this lets the policy move")
        )
    spread = signals.curve("frac_zero_std").value
    if run.task == "grpo" and len(spread) and not spread.any():
        return tuple(made)  # no prompt is always or never solved
    if answers_prompts(run):
        what = "Leave out prompts that are always or never solved"
        return (*made, fixes.action(what, "they give no learning signal"))
    random = "an" if random_start.of(signals) else "a random and an"  # the log has the first
    what = f"Score {random} expert policy with the same reward"
    return (*made, fixes.action(what, "this shows whether the reward can be earned at all"))
