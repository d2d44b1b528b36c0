"""What is usual where nothing speaks for any cause, by what went wrong."""

from collections.abc import Sequence

from runlens.causes import batches, data, ending, labels, model, optimiser, policy, precision, rate
from runlens.causes.hypothesis import Hypothesis
from runlens.causes.patterns import EVALUATED, LOST
from runlens.causes.rate_limits import fell_in_order, fell_to_chance
from runlens.causes.scene import Scene
from runlens.nan_causes import lost_from_the_start
from runlens.rules.rl.policy import ONE_REWARD

# what is usual where nothing speaks for any: the experiment of the first tells it from the second
COMMON = (
    *(labels.WRONG, policy.REWARD, model.EVALUATION, rate.LOW, rate.HIGH, batches.BATCH),
    ending.LIMIT,
)
# of these findings others are usual: what a reward pays for does not make a policy worse at it
COMMON_OF: dict[str, tuple[Hypothesis, ...]] = {
    "reward-collapse": (rate.HIGH,),
    "entropy-collapse": (policy.EXPLORE, rate.HIGH),
    "zero-loss": (data.LEAK, optimiser.LOSS),  # to the end: no few batches do that
}
RAISED = 1  # exit code of Python after an exception that nothing caught; 128 and more of a signal


def usual_of(scene: Scene, asked: Sequence[Hypothesis]) -> list[Hypothesis]:
    """Return what is usual with the leading finding where nothing speaks for any cause."""
    usual = COMMON_OF.get(scene.lead.rule, COMMON)
    if scene.lead.rule == "reward-flat" and fell_in_order(scene, "reward"):
        usual = COMMON_OF["reward-collapse"]
    if scene.lead.heading == ONE_REWARD:
        usual = (policy.REWARD, policy.EXPLORE)
    if scene.run.state.exit_code == RAISED and scene.lead.rule == "crashed":
        usual = (ending.CODE,)
    if scene.has(*LOST) and lost_from_the_start(scene.run):  # no update did it
        usual = (precision.PRECISION,)
    # what training does not learn, or loses, no evaluation spoils
    spoiled = scene.has(*EVALUATED) and not scene.has(*LOST)
    out = [] if spoiled else [model.EVALUATION]
    out += [rate.LOW] if fell_to_chance(scene) else []
    common = [one for one in usual if one in asked and one not in out]
    of_lead = [one for one in common if scene.lead.rule in one.explains]
    common = of_lead or common
    common.sort(key=lambda one: one is labels.WRONG and scene.has("plateau"))  # some were learned
    return common
