"""The model and what is measured as a cause: what trains, its size, how it is evaluated."""

import numpy as np

from runlens.arrays import median
from runlens.causes import averages, inside, scores, thrown
from runlens.causes.hypothesis import HINT, LEADS, SETTLES, SPEAKS, STRONG, Hypothesis, Sign, Signs
from runlens.causes.patterns import EVALUATED, FITTED_AFTER, STUCK
from runlens.causes.scene import Scene
from runlens.rules.evaluation import worsened
from runlens.rules.loss import capped, chance, repeats
from runlens.rules.rl import policy
from runlens.rules.rule import LANGUAGE_TASKS
from runlens.run import RL_TASKS
from runlens.signals import held_out
from runlens.wording import loss, number, percent, step

FEWEST_EVALS = 3
FEWEST_ALIKE = 3  # losses, of which each is the same
FLOAT32_DIGITS = 6  # that a float32 always keeps: two batches do not agree in as many
MOST_TRAINED = 0.5  # of all parameters; below it most of the model stays as it is
APART = 0.2  # of train loss by which the first evaluation lies above it
BESIDE = 2  # logged losses on each side that the first evaluation is held against
MOVED = 0.5  # of its first entropy that a policy has lost: it was trained
SEEN, ALL_SEEN = 0.005, 0.995  # of one pass: less rounds to 0 %, more to 100 %
LEARNED = 0.1  # of the first loss: more than means of whole passes differ by chance
# times the root of all parameters: an adapter of rank 1 on one of a hundred square layers has that
SMALLEST = 0.2
LITTLE = 1e-3  # gradient norm; 0.1 to 2.0 is usual


def _frozen(scene: Scene) -> Signs:
    norm, evals = scene.curve("grad_norm").value, scene.curve("eval_loss").value
    zero = "zero-loss" in scene.everywhere
    # of a policy a gradient that flows at all shows that something is trained
    zero = zero or (scene.run.task in RL_TASKS and bool((norm > LITTLE).any()))
    zero = zero or thrown.died(scene) is not None  # what had a gradient is in the graph
    if len(norm) and float(np.mean(norm == 0)) > MOST_TRAINED and not zero:
        said = f"the gradient norm is exactly 0 at {int(np.sum(norm == 0))} of {len(norm)} points"
        # of a policy it is zero as well where the rewards of each group are alike
        weight = LEADS if scene.has("grad-zero", *STUCK) else STRONG
        yield Sign(said, SPEAKS if scene.run.task in RL_TASKS else weight)
    elif len(norm) and float(median(norm)) < LITTLE and not zero:
        yield Sign(f"the median gradient norm is {float(median(norm)):.1g}", SPEAKS)
    if held_out.same(scene.signals) and thrown.fell_to_a_guess(scene) is None:
        said = f"eval loss is {loss(float(evals[0]))} at all {len(evals)} evaluations"
        if len(norm) and float(median(norm)) > LITTLE:
            said += ", although gradients flow"
        yield Sign(said, LEADS, "The optimizer does not hold the model's parameters")
    if scene.has("not-learning") and (
        again := repeats.words(scene.signals, scene.curve("train_loss"))
    ):
        yield Sign(again, LEADS, "No update is kept: weights are not updated, or reset each epoch")
    if same := _same(scene):
        yield Sign(same, LEADS, "No weight is updated, or one stored value is written each time")
    if scene.has("reward-flat") and (still := policy.unmoved(scene.signals)):
        yield Sign(still, LEADS, "No update moves the policy")
    yield _still(scene)
    yield _part(scene)
    yield inside.left_out(scene)


def _same(scene: Scene) -> str:
    """Say that a loss that is told by all its digits never changed: no two batches agree so."""
    train = scene.curve("train_loss")
    digits = f"{float(train.value[0]):.15g}".strip("-0.").replace(".", "") if len(train) else ""
    if len(train) < FEWEST_ALIKE or np.ptp(train.value) or len(digits) < FLOAT32_DIGITS:
        return ""
    value = f"{float(train.value[0]):.10g}"
    return f"train loss is {value} at all {len(train)} points, to the last digit"


def _still(scene: Scene) -> Sign | None:
    """Say that a loss never fell: whatever is wrong with labels, some of it would be fitted."""
    levels, steps = scene.signals.levels("train_loss"), scene.run.last_step - scene.run.first_step
    if len(scene.curve("grad_norm")) or not scene.has("not-learning") or steps < FITTED_AFTER:
        return None
    if not len(scene.curve("train_loss")):
        return None
    if levels.end < levels.start:
        return None
    return Sign(f"the loss did not fall in {steps:,} steps, and no gradient norm is logged", HINT)


def _part(scene: Scene) -> Sign | None:
    """Say which share of the parameters is trained, where settings count both.

    An adapter is a small share of a model, and yet as large as a matrix of it.
    """
    few, all_ = scene.number("trainable_parameters"), scene.number("all_parameters")
    if few and all_ and 0 < few[1] < SMALLEST * all_[1] ** 0.5:
        said = f"{few[1]:,.0f} of {all_[1]:,.0f} parameters are trained, too few for any adapter"
        test = "Print the names of all parameters that require a gradient. Those of the last layer "
        test += "should be among them, weights as well as biases"
        return Sign(said, SETTLES, "Nearly all parameters are frozen", test)
    some = scene.number("trainable", "trainable_params", "num_trainable_parameters")
    whole = scene.number("parameters", "num_parameters", "total_params")
    if not some or not whole or scene.run.adapted or not 0 < some[1] < MOST_TRAINED * whole[1]:
        return None
    said = f"{some[1]:,.0f} of {whole[1]:,.0f} parameters are trained"
    return Sign(said, SETTLES)


def _moves(scene: Scene) -> str:
    """Say what moved, and so was trained; empty where settings say that a part is not."""
    if _part(scene) or inside.left_out(scene):
        return ""
    if cap := capped.of(scene.curve("train_loss"), scene.signals):
        return f"train loss stands at its cap of {loss(cap.level)}: weights went there"
    train = scene.signals.levels("train_loss")
    if scene.has("plateau") and train.fell and not held_out.same(scene.signals):
        ends = f"from {loss(train.start)} to {loss(train.end)} (medians)"
        return f"train loss fell {ends} before it stood"
    evals = scene.curve("eval_loss").value
    if len(evals) >= FEWEST_EVALS and evals.min() < 0.9 * evals[0]:
        return f"eval loss moved from {loss(float(evals[0]))} to {loss(float(evals.min()))}"
    entropy = scene.curve("entropy").value
    if len(entropy) and float(entropy.min()) < MOVED * float(entropy[0]):
        low = float(entropy.min())
        return f"the policy moved: entropy from {number(float(entropy[0]), 3)} to {number(low, 3)}"
    return ""


def _small(scene: Scene) -> Signs:
    yield inside.vanishing(scene)
    size = scene.run.number("num_parameters")
    if size and size < 1e5 and scene.has("plateau"):  # noqa: PLR2004 - a toy
        yield Sign(f"the model has {size:,.0f} parameters", HINT)
    fresh = scene.run.task in LANGUAGE_TASKS and len(scene.curve("train_loss"))  # no new head
    if fresh and chance.from_scratch(scene.run, float(scene.curve("train_loss").value[0])):
        what = "Bad initialization, normalization, attention mask or positions"
        yield Sign("the model starts from scratch", HINT, what)
    hidden = scene.number("hidden", "hidden_size")
    if hidden and hidden[1] <= 8 and scene.has(*STUCK):  # noqa: PLR2004 - a handful of units
        yield Sign(f"{hidden[0]} is {hidden[1]:g}", SPEAKS)


def _never_found(scene: Scene) -> Sign | None:
    """Say that a score of objects stayed low, which no passes over the data explain."""
    what = "Classes or labels of the evaluation that are not those of training"
    low = scene.never_found
    return Sign(f"train loss fell, {low}", STRONG, what) if low else None


def _never_carried_over(scene: Scene) -> Sign | None:
    """Say that train loss fell within the first pass, and evaluation after it was no better.

    Each row of a first pass is new: what is learned there is not memorized, and rows of the same
    kind are told better as well.
    """
    train, evals = scene.curve("train_loss"), scene.curve("eval_loss")
    one = scene.signals.steps_per_epoch
    if not scene.has("hockey-stick") or not one or not len(evals):
        return None
    new = train.value[train.step <= one]
    passes = scene.signals.inputs.passes_at(float(evals.step[0]))
    if len(new) < FEWEST_ALIKE or passes is None or not SEEN < passes <= 1:
        return None
    fell = bool((np.diff(new) < 0).all()) and new[-1] <= (1 - LEARNED) * new[0]
    if not fell or evals.value[0] <= new[0] or evals.value.min() < evals.value[0]:
        return None
    said = f"train loss fell from {loss(float(new[0]))} to {loss(float(new[-1]))} on rows not seen "
    ends = loss(float(evals.value[0]))
    return Sign(f"{said}before, and eval loss was {ends} after them and never lower", STRONG)


def _evaluated(scene: Scene) -> Signs:
    yield _never_found(scene)
    train, evals = scene.curve("train_loss"), scene.curve("eval_loss")
    if scene.has("nan-eval") and len(train) and not scene.has("nan-loss", "hidden-nan"):
        yield Sign("train loss is finite on the same weights", LEADS)
    if scene.has("nan-eval") and "psnr" in (scene.rules["nan-eval"].metric or ""):
        said = "PSNR is infinite where the error is exactly 0"
        yield Sign(said, LEADS + 1, "Images compared with themselves")
    if scene.has("eval-leak"):
        yield Sign("the evaluation set may be the easier one", HINT)
    yield averages.still_the_start(scene)
    yield scores.apart_at_once(scene)
    yield scores.far_above(scene)
    if not scene.has("eval-flat", "hockey-stick", "eval-gap") or not len(evals) or not len(train):
        return
    yield _never_carried_over(scene)
    first, at = float(evals.value[0]), int(evals.step[0])
    last = max(0, int(np.searchsorted(train.step, at, side="right")) - 1)  # logged before it
    near = train.at(
        slice(max(0, last - BESIDE), last + BESIDE + 1)
    )  # of one batch it may be chance
    if len(evals) > 1:
        near = near.before(int(evals.step[1]))
    beside = float(near.value.max(initial=train.value[last]))
    if len(evals) > 1 and train.step[last] >= evals.step[1]:
        return  # the mean of steps that came long after
    before = scene.signals.inputs.passes_at(at)
    if beside > 0 and first > (1 + APART) * beside and before is not None and before <= 1:
        said = f"eval loss was {loss(first)} at the first evaluation, "
        when = f"at step {step(at)}" if at > 0 else "before any training"
        share = "" if before >= ALL_SEEN else f"{percent(before)} of "
        when = f"after {share}the first pass" if before >= SEEN else when
        near_ = f"while train loss was at most {loss(beside)} around it"
        well = scores.words(scores.at_first(scene))
        yield Sign(f"{said}{when}, {near_}{well}", HINT if well else SETTLES)
    if scene.has("hockey-stick") and (far := worsened.beyond_memorising(evals)):
        said = f"eval loss ended {number(far, 2)} times above its minimum while train loss fell"
        yield Sign(said, LEADS, "Evaluation mode, batch statistics or the evaluation code")
    if scene.has("eval-flat") and not scene.stands:
        # its title says so; where rows may have been seen again, memorizing does it as well
        yield Sign("", HINT if before is None else SPEAKS)


FROZEN = Hypothesis(
    "frozen-weights",
    "Frozen parameters, or parameters missing from the optimizer",
    STUCK | {"grad-zero", "eval-flat", "reward-flat"},
    _frozen,
    "a weight of each layer differs after ten steps",
    "Compare one weight of each layer before and after ten steps",
    _moves,
)
SMALL = Hypothesis(
    "capacity",
    "Model too small or badly initialized",
    STUCK,
    _small,
    "a model twice as wide stops at the same loss",
    "Overfit one batch of 8 samples. If it cannot, the model is at fault",
)
EVALUATION = Hypothesis(
    "evaluation",
    "Evaluation data or code that differ from training",
    EVALUATED | {"zero-loss", "not-learning"},  # each of no rows; a score that stays low
    _evaluated,
    "a training row scored by the evaluation has its training loss",
    "Evaluate on ten training rows. If the loss is as high there, the evaluation code is at "
    "fault. If not, the data differ, or rows are memorized",
)
