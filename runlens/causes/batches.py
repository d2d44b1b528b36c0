"""A few odd batches as a cause: a loss that comes back at once, or is lost from one to the next."""

import numpy as np

from runlens import nan_causes
from runlens.arrays import median
from runlens.causes import odd_inputs, opened, siblings, warned
from runlens.causes.data import A_FEW, passes_in_words, steps_a_pass
from runlens.causes.hypothesis import HINT, SETTLES, SPEAKS, STRONG, Hypothesis, Sign, Signs
from runlens.causes.patterns import LOST
from runlens.causes.scene import Scene
from runlens.causes.thrown import built_up, highest_before
from runlens.rules.loss.loss_spike import LONGEST, SPIKES
from runlens.rules.loss.spike_words import A_SPELL, POINTS
from runlens.wording import loss, number, step

FEWEST = 4  # points before it, of the loss or the norm
FEW_SPIKES = 3
FORGOTTEN = 1000  # updates after which Adam's mean of squares has lost a batch: 1 / (1 - beta2)
PAIR = 2  # spikes
BUILD_UP = 5  # steps between logged losses that an explosion needs: more of them hide it
FLAT_NORM = 3.0  # last norm over the level before: below it nothing built up


def _batch(scene: Scene) -> Signs:
    spiked = scene.has("loss-spike", "grad-spike") and not scene.has(*LOST)  # nothing came back
    if spiked or scene.has(*LOST):
        yield _odd_input(scene)
    if spiked and scene.departure is None and not scene.over_configured and not swings(scene):
        yield _back_at_once(scene)
    if scene.has(*LOST):
        at_once = _lost_at_once(scene)
        other = infinite_first(scene) or kept_in_half(scene)
        yield at_once._replace(weight=HINT) if at_once and other else at_once
        yield siblings.lost_together(scene)
        yield _first_point(scene)
        if at_once or scene.symptom <= scene.run.first_step:
            yield warned.before_training(scene)
        if scene.has("nan-loss") and (file := opened.before(scene.run)):
            yield Sign(file, HINT, "What the file that was just opened holds")
        if (alone := nan_causes.number_again(scene.run, scene.symptom)) and not scene.launch:
            yield Sign(alone, STRONG, "An empty or fully masked sequence in that batch")
        if again := nan_causes.comes_back(scene.run, scene.signals):
            yield Sign(again, SETTLES, "One bad sample that comes back each epoch")


def _odd_input(scene: Scene) -> Sign | None:
    """Say that what the program logs of its data was off where the fault begins."""
    said, lost = odd_inputs.told(scene)
    if not said:
        return None
    if not lost:
        return Sign(said, SETTLES)
    what = "Data that are no numbers"
    test = "Count the values that are not finite in inputs and targets, before and after they are "
    return Sign(
        said,
        SETTLES,
        what,
        f"{test}transformed",
        falsifier="all inputs and targets of that batch are finite",
    )


def _by_epochs(scene: Scene) -> bool:
    """Whether each logged loss is that of an epoch, within which an explosion has room.

    A loss that is evaluated at each of its rows is, where nothing counts epochs.
    """
    per, every = scene.signals.steps_per_epoch, scene.signals.interval("train_loss")
    if per is not None:
        return every >= per
    train, evals = scene.curve("train_loss").step, scene.curve("eval_loss").step
    return len(train) >= FEWEST and bool(np.isin(train, evals).all())


def _seen_before(scene: Scene) -> str:
    """Say that every row had been seen without harm before, or that no batch had a loss at all.

    A loss scaler skips the update of an odd batch. It falls to its minimum where batch after batch
    overflows.
    """
    scale = scene.rules.get("loss-scale-collapse")
    if scale is not None and scale.severity == "critical":
        return "the loss scale fell to its minimum, so batch after batch overflowed"
    if scene.has(*LOST) and (every := nan_causes.lost_from_the_start(scene.run)):
        return every
    per = steps_a_pass(scene)
    if per is None and _by_epochs(scene):
        per = scene.signals.interval("train_loss")
    passes = scene.symptom // per if per and scene.has(*LOST) else 0.0
    again = nan_causes.number_again(scene.run, scene.symptom)
    if passes < A_FEW or again or nan_causes.comes_back(scene.run, scene.signals):
        return ""
    return f"every row had been seen before without harm, in {passes_in_words(passes)}"


def swings(scene: Scene) -> bool:
    """Whether a spike is one swing of many, which no batch explains."""
    sawtooth = scene.everywhere.get("sawtooth")
    return sawtooth is not None and sawtooth.severity != "info" and scene.has("loss-spike")


def _back_at_once(scene: Scene) -> Sign | None:
    """Say that the loss, or the norm, was where it had been at the next points."""
    shape = scene.signals.shape("train_loss")
    spikes, jumps = shape.events_of("spike"), shape.events_of("jump")
    seen = scene.rules.get("loss-spike") or scene.rules["grad-spike"]
    stays = any(abs(jump.after.step - scene.symptom) <= scene.slack for jump in jumps)
    after = scene.curve(seen.metric).after(int(seen.begins) + 1)
    if not spikes and (stays or not len(after)):
        return None  # what is not over yet is not known to be of one batch
    if seen.begins > scene.symptom + scene.slack and scene.has("divergence"):
        return None  # the loss was rising before it
    if seen.metric == "eval_loss" and (seen.end or seen.onset) != seen.onset:
        return None  # many updates lie between evaluations: no batch lasts for several
    counted = {one.what: one.value for one in seen.evidence}
    few, lasted = "the curve recovered", float(counted.get(LONGEST, 1))
    steps = lasted * scene.signals.interval(seen.metric)
    if lasted > A_SPELL * len(scene.curve(seen.metric)) or (lasted > POINTS and steps > FORGOTTEN):
        return None  # no batch does harm for so long
    if lasted <= POINTS:
        few += " quickly"
    if (many := float(counted.get(SPIKES, 1))) > 1:
        few += " after both spikes" if many == PAIR else f" after each of the {many:g} spikes"
    few_alone = 0 < len(spikes) <= FEW_SPIKES or scene.has("grad-spike")
    # what comes back at one period, builds up, or is the mean of an epoch, is no odd batch
    many_batches = scene.has("sawtooth") or _by_epochs(scene) or built_up(scene) is not None
    weight = HINT if many_batches else STRONG if few_alone else SPEAKS
    if len(scene.curve("learning_rate")):
        few += ", and the learning rate did not jump then"
    return Sign(few, weight)


def infinite_first(scene: Scene) -> str:
    """Say that a loss which had not been rising was infinite before it was NaN; empty where not.

    What is infinite came of one operation on numbers: a log of 0, a division by 0, an overflow. An
    odd row may bring it about, and so may a model that grew sure of its answers.
    """
    curve, sign = scene.run.curve("train_loss"), _lost_at_once(scene) if scene.has(*LOST) else None
    lost = curve.at(~np.isfinite(curve.value))
    if sign is None or not len(lost) or not np.isposinf(lost.value[0]):
        return ""
    return f"at step {step(float(lost.step[0]))} the loss is infinite, not NaN"


def kept_in_half(scene: Scene) -> bool:
    """Whether a loss in fp16 stays lost: of one odd batch a loss scaler skips the update.

    Then the weights were finite before the next batch, and so is its loss. What stays lost
    overflows in the forward pass of batch after batch.
    """
    if not scene.run.flag("fp16") or not scene.has("nan-loss", "hidden-nan"):
        return False
    at = min(scene.rules[rule].begins for rule in LOST if rule in scene.rules)
    later = scene.run.curve("train_loss").after(int(at) + 1).value
    return len(later) >= FEWEST and not (np.isfinite(later) & (later != 0)).any()


def _lost_at_once(scene: Scene) -> Sign | None:
    at = int(min(scene.rules[rule].begins for rule in LOST if rule in scene.rules))
    norms, losses = scene.curve("grad_norm").before(at), scene.curve("train_loss").before(at)
    norm, train = norms.value[-20:], losses.value[-20:]
    rising = scene.rules.get("divergence")
    if (rising is not None and rising.begins + scene.slack < at) or highest_before(scene):
        return None
    if len(train) < FEWEST or train[-1] > 2 * median(train):
        return None
    if len(norm) < FEWEST:
        every = scene.signals.interval("train_loss") <= BUILD_UP and not _by_epochs(scene)
        weight = SPEAKS if every else HINT
        said = f"train loss was {loss(float(train[-1]))} at step {step(float(losses.step[-1]))}"
        return Sign(f"{said}, so it had not been rising", weight)
    if norm[-1] > FLAT_NORM * median(norm):
        return None
    per = steps_a_pass(scene)
    again = bool(per and norms.step[-1] >= per)  # each row had been seen, with no harm
    said = f"at step {step(float(norms.step[-1]))} the gradient norm was "
    said += f"{number(float(norm[-1]))} and the loss "
    said += loss(float(train[-1]))
    if again:
        said += ", after each row had been seen once without harm"
    return Sign(f"{said}, so it had not been rising", HINT if again else STRONG)


def _first_point(scene: Scene) -> Sign | None:
    """Say that the loss was no number before any update."""
    curve = scene.run.curve("train_loss")
    if not len(curve) or scene.symptom > curve.step[0] or not scene.has("nan-loss"):
        return None
    if nan_causes.never_a_number(scene.run) or nan_causes.learned_before(scene.run):
        return None  # of every batch, those of the evaluation too; or of a later one
    at = step(float(curve.step[0]))
    # later, or within an epoch, updates came before it
    weight = SPEAKS if curve.step[0] <= 1 and not _by_epochs(scene) else HINT
    return Sign(
        f"the loss was not finite at the first logged step ({at})", weight, "Data or labels"
    )


BATCH = Hypothesis(
    "bad-batch",
    "A few unusual batches",
    frozenset({"loss-spike", "grad-spike", "divergence", "zero-loss"}) | LOST,
    _batch,
    "the same step fails with another batch",
    "Print that batch with its lengths, labels and odd values, and run it alone",
    _seen_before,
)
