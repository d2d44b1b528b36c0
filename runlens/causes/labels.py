"""Labels as a cause: wrong, misaligned, masked, of another template or tokenizer."""

import numpy as np

from runlens.arrays import median
from runlens.causes.hypothesis import HINT, LEADS, SETTLES, SPEAKS, STRONG, Hypothesis, Sign, Signs
from runlens.causes.patterns import FITTED_AFTER, STUCK
from runlens.causes.scene import Scene
from runlens.knowledge import chat_templates
from runlens.knowledge.in_force import reads_text, shows_text
from runlens.rules.loss import chance
from runlens.wording import loss, number, percent, step

ONE_PASS = 1.0
AT_CHANCE = 0.005  # share of its level by which a loss may miss chance
UNREADABLE = "Wrong chat template or tokenizer, padding that counts as labels, or damaged weights"
MOVED_LOGP = 2.0  # nats that a log-probability of an answer must have moved
MOSTLY_ALIVE = 0.9  # of the losses after a NaN that was of one batch alone


def _wrong(scene: Scene) -> Signs:
    train = scene.curve("train_loss")
    norm = scene.curve("grad_norm").value
    if scene.has("preference-collapse"):
        yield _coin(scene)
    if scene.has(*STUCK) and len(train):
        level = chance.of_run(scene.run)
        end = scene.signals.levels("train_loss").end
        low, high = (level.lowest, level.level) if level else (np.nan, np.nan)
        at_chance = (1 - AT_CHANCE) * low <= end <= (1 + AT_CHANCE) * high
        if at_chance and len(norm) and float(median(norm)) and level:
            said = (
                f"the median gradient norm is {number(float(median(norm)))}, so the model updates"
            )
            yield Sign(f"{said} but finds no pattern", SPEAKS)
    yield _unread(scene)
    if other := chat_templates.foreign(scene.run):
        key, used, model = other
        said = f"{key} is {used}, and {model} was trained with another"
        yield Sign(said, STRONG, "The chat template of another model")


def _unread(scene: Scene) -> Sign | None:
    """Say that a pretrained model reads the text no better than one that never saw any."""
    train = scene.curve("train_loss")
    if scene.run.task != "sft" or not reads_text(scene.run) or not len(train):
        return None
    start, end = float(train.value[0]), scene.signals.levels("train_loss").end
    least = SPEAKS if shows_text(scene.run) else HINT  # of a loss of other data it says nothing
    if chance.from_scratch(scene.run, start) and start >= chance.TRAINED_BELOW:
        return Sign(chance.start_words(start), STRONG, chance.NOT_TRAINED)
    if not scene.has(*STUCK):
        return None
    if start >= chance.TRAINED_BELOW:
        # either would be fitted: that nothing moves has another cause as well
        still = end >= start and scene.run.last_step >= FITTED_AFTER
        return Sign(chance.start_words(start), HINT if still else least, chance.NOT_TRAINED)
    if end < chance.READS_BELOW:
        return None
    said = f"the loss ended at {loss(end)} (median); a pretrained model should score below "
    return Sign(f"{said}{chance.READS_BELOW:g} on text that it can read", least, UNREADABLE)


def moved(scene: Scene) -> float:
    """Return by how many nats the log-probabilities of the answers moved."""
    values = [scene.curve(name).value for name in ("logp_chosen", "logp_rejected")]
    return max((float(np.ptp(value)) for value in values if len(value)), default=0.0)


def moved_far(scene: Scene) -> str:
    """Say that they moved as far as a model that learned; empty where they did not."""
    far = moved(scene)
    return f"log-probabilities moved by {far:.0f} nats" if far >= MOVED_LOGP else ""


def _coin(scene: Scene) -> Sign | None:
    right = scene.curve("dpo_acc").value
    far = moved(scene)
    if not len(right) or abs(float(median(right[len(right) // 2 :])) - 0.5) > 0.1:  # noqa: PLR2004 - a coin
        return None
    share = percent(float(median(right[len(right) // 2 :])))
    if far >= MOVED_LOGP:
        said = f"{share} of the pairs are ranked correctly, though log-probabilities moved by "
        said += f"{far:.0f} nats"
        return Sign(said, STRONG)
    return Sign(f"{share} of the pairs are ranked correctly, no better than by chance", SPEAKS)


def masked(scene: Scene) -> str:
    """Say what shows that no label counts: loss and gradient are exactly zero."""
    if "zero-loss" not in scene.everywhere:
        return ""
    zero = scene.curve("train_loss")
    norm = scene.run.curve("grad_norm").after(int(scene.symptom)).value
    exact = zero.value[zero.step >= scene.symptom]
    if not len(exact) or np.mean(exact == 0) < MOSTLY_ALIVE or norm.any():
        return ""
    both = "loss and gradient norm are" if len(norm) else "the loss is"
    evals = scene.curve("eval_loss")
    alive = len(norm) or (evals.step >= scene.symptom).any()  # what is NaN gives no finite loss
    also = "" if alive else "; a hidden NaN would look the same, as no gradient norm is logged"
    return f"{both} exactly 0 from step {step(scene.symptom)} on{also}"


def _no_labels(scene: Scene) -> Signs:
    if said := masked(scene):
        yield Sign(said, LEADS if len(scene.run.curve("grad_norm")) else SPEAKS)
    evals = scene.curve("eval_loss")
    after = evals.value[evals.step > scene.symptom]
    norm = scene.run.curve("grad_norm").after(int(scene.symptom)).value
    if scene.has("hidden-nan") and (len(after) or (len(norm) and np.isfinite(norm).all())):
        alive = f"eval loss is {loss(float(after[-1]))}" if len(after) else "the norm is a number"
        yield Sign(f"{alive} after that, so the weights are intact", STRONG)
    for key, known in scene.run.config.items():
        if "label" in key and "mask" in key and "-100" in str(known.value):
            said = f'{key} says "{str(known.value)[:60]}"'
            yield Sign(said, SETTLES, "A setting masks labels")


WRONG = Hypothesis(
    "labels-wrong",
    "Labels that do not match the inputs",
    STUCK | {"preference-collapse", "reward-stuck-zero", "completions-clipped", "clip-saturation"},
    _wrong,
    "20 rows printed as the model sees them carry the right labels",
    "Overfit one batch of 8 samples. If its loss does not approach 0, print 20 rows with their "
    "labels",
)


def _had_a_loss(scene: Scene) -> str:
    """Say that the same rows had a loss in an earlier pass: their labels are not masked."""
    if not masked(scene) or scene.passes is None or scene.passes < ONE_PASS + 1:
        return ""
    train = scene.curve("train_loss")
    before = train.value[train.step < scene.symptom]
    if not before.any():
        return ""
    return f"the same rows had a loss of {loss(float(before.max()))} in the passes before"


MASKED = Hypothesis(
    "labels-masked",
    "All labels are masked",
    STUCK | {"zero-loss", "grad-zero", "nan-loss", "hidden-nan"},
    _no_labels,
    "each of 20 rows has a label that is not -100",
    "Print the labels of one batch. Some must not be -100",
    _had_a_loss,
)
