"""How a reward that fell is told."""

from runlens import fixes
from runlens.arrays import median
from runlens.diagnosis import Chart, Evidence, Finding, Fix, Moment
from runlens.history import Curve
from runlens.rules.rl import policy
from runlens.rules.rl.reward_peak import Means, Peak
from runlens.rules.rl.value_loss import Turn
from runlens.run import Run
from runlens.wording import capitalised, number, step


def of_means(reward: Curve, means: Means) -> Finding:
    """Tell of episodes that fail more often at the end: their mean fell, and not their median."""
    onset = float(reward.step[min(means.at, len(reward) - 1)])
    best, last = number(means.best, 3), number(means.last, 3)
    return Finding(
        severity="info",
        title=f"Reward fell after step {step(onset)}. Its mean over a tenth of the run was {best} "
        f"and is {last} over the last tenth.",
        metric="reward",
        onset=Moment(onset),
        evidence=(
            Evidence("Mean reward of the best tenth", means.best, where="reward"),
            Evidence("Mean reward of the last tenth", means.last, where="reward"),
        ),
        seen="Part of the episodes fail: the median of the reward fell by less than its mean.",
        fixes=(
            fixes.look("Replay some of the episodes that fail", "they have something in common"),
        ),
        confidence=policy.confidence(1.0, len(reward), "the median held"),
        chart=Chart("curves", ("reward",)),
    )


def keep_best(run: Run) -> Fix:
    """Return where the best weights of an agent are, or how the next run keeps them.

    Stable-Baselines3's EvalCallback, which writes evaluations.npz, saves them beside.
    """
    if any(one.endswith("evaluations.npz") for one in run.sources):
        what = "Look for best_model.zip, which EvalCallback saves at the best evaluation"
        return fixes.action(what, "it does so where best_model_save_path is set")
    what = "Save the weights at each evaluation that is the best so far"
    return fixes.action(what, "a policy can lose at any time what it had learned", "one run")


def seen(reward: Curve, peak: Peak, turn: Turn | None) -> str:
    """Say where the reward began, that it lay lower in between, and what rose as it fell."""
    said = [f"The reward began at {number(float(reward.value[0]), 3)}."] if peak.at else []
    usual = float(median(reward.value[peak.onset :]))
    if usual < peak.end - peak.noise:
        where = step(float(reward.step[peak.onset]))
        said.append(f"Its median from step {where} on is {number(usual, 3)}.")
    if turn:
        said.append(f"{capitalised(turn.words)}.")
    return " ".join(said)
