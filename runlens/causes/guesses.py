"""One answer to every input: how losses and scores show it, whatever made the model give it."""

from collections.abc import Iterator
from math import exp, log

import numpy as np

from runlens.arrays import median, quantile
from runlens.causes.patterns import STUCK
from runlens.causes.scene import Scene
from runlens.history import FloatArray
from runlens.metrics import spoken
from runlens.naming import words
from runlens.records import NamedTuple
from runlens.rules.loss import capped, chance
from runlens.rules.loss.evaluated import MOST
from runlens.rules.loss.guessed import AREAS, EXACT
from runlens.signals import held_out
from runlens.wording import loss, number, percent

# of its level, between the tenth and the ninth tenth of the points: a model that tells its inputs
# apart scatters more from batch to batch
STILL = 0.02
NEARLY_ALL = 0.98  # of the samples that are there to be found
ALIKE = 0.02  # precision and accuracy, which are one number where all are called positive
EVEN = 0.25, 0.75  # of two classes: no more than three to one
HALF = 0.5  # of the losses; a few batches may have other sizes, or labels that are not even
FEWEST = 4  # evaluations that are all the same
FOUND = frozenset(("recall", "sensitivity", "tpr"))
RIGHT = frozenset(("accuracy", "acc"))
NOT_OF_ALL = frozenset(("pr", "prc", "auprc", "train"))
KILLED = "a learning rate that is too high"
UNEQUAL = f"classes of very unequal size and {KILLED}"
UNREACHED = f"inputs that do not reach the outputs and {KILLED}"
UNRELATED = f"labels that do not match the inputs and {KILLED}"


class OneAnswer(NamedTuple):
    """What shows that all inputs get one answer, and what it usually comes of."""

    seen: str
    usual: str


def one_answer(scene: Scene) -> OneAnswer | None:
    """Say what shows that a model answers all inputs alike; None where nothing does."""
    if not scene.has(*STUCK):
        return None
    return _certain(scene) or _constant(scene) or _equal_odds(scene) or next(_scored(scene), None)


def _certain(scene: Scene) -> OneAnswer | None:
    """Say that wrong answers cost all that they can: outputs overflowed, or are all certain."""
    cap = capped.of(scene.curve("train_loss"), scene.signals)
    if cap is None:
        return None
    right = set(scene.curve("train_accuracy").value[cap.first :].tolist())
    if len(right) == 1 and 0 < cap.wrong < 1:
        seen = "all answers are certain and their accuracy never changes: one class is all it says"
        return OneAnswer(seen, f"a softmax over a single output and {KILLED}")
    told = "no wrong answer can cost more than these do: outputs overflowed, or all are certain"
    return OneAnswer(told, f"inputs that are not scaled and {KILLED}")


def _constant(scene: Scene) -> OneAnswer | None:
    """Say that most losses are that of equal odds to four digits, though each is of other rows.

    Labels that do not match leave outputs that vary, and with them the loss of a batch.
    """
    found = scene.rules.get("stuck-at-chance")
    value = scene.curve("train_loss").value
    late = value[len(value) // 2 :]
    if found is None or found.metric != "train_loss" or len(late) < FEWEST:
        return None
    level = float(median(late))
    classes = round(exp(level)) if 0 < level < log(MOST + 1) else 0
    near = float(np.mean(np.abs(late - log(classes)) <= chance.EXACT * level)) if classes > 1 else 0
    if near < HALF:
        return None
    seen = f"{percent(near)} of the losses of the second half are ln {classes} to four digits: "
    return OneAnswer(f"{seen}the model gives equal odds whatever the input is", UNREACHED)


def _equal_odds(scene: Scene) -> OneAnswer | None:
    """Say that a loss stands at the logarithm of a small number, from its first point on.

    Only where no vocabulary and no other number is known that a finding names already.
    """
    value = scene.curve("train_loss").value
    late = value[len(value) // 2 :]
    if len(late) < FEWEST or scene.has("stuck-at-chance"):
        return None
    level = float(median(late))
    classes = round(exp(level)) if 0 < level < log(MOST + 1) else 0
    if classes < 2 or abs(level - log(classes)) > EXACT * level:  # noqa: PLR2004 - one is no choice
        return None
    spread = float(quantile(late, 0.9) - quantile(late, 0.1))
    if spread > STILL * level or abs(float(value[0]) - level) > STILL * level:
        return None
    seen = f"the loss stands at ln {classes} = {loss(log(classes))}"
    return OneAnswer(f"{seen}: the model gives {classes} answers equal odds", UNRELATED)


def _scored(scene: Scene) -> Iterator[OneAnswer]:
    """Yield what the last scores of held-out data show."""
    scores = dict(_scores(scene))
    halves = [name for name in scores if AREAS & set(words(name)) and _of_half(scores[name])]
    uneven = UNRELATED if halves else UNEQUAL  # an area does not depend on the shares of classes
    last = {name: float(value[-1]) for name, value in scores.items()}
    none = [name for name in last if FOUND & set(words(name)) and last[name] == 0]
    f1 = [last[name] for name in last if "f1" in words(name)]
    if none and not any(f1):
        yield OneAnswer(f"{spoken(none[0])} is 0: no sample is called positive", uneven)
    precise = [last[name] for name in last if "precision" in words(name)]
    right = [last[name] for name in last if RIGHT & set(words(name))]
    for name, score in last.items():
        every = FOUND & set(words(name)) and score >= NEARLY_ALL
        alike = precise and right and abs(precise[0] - right[0]) <= ALIKE
        if every and alike and precise[0] < 1 - ALIKE:  # else nearly all answers are right
            told = f"{spoken(name)} is {number(score, 3)}, and precision is no better than "
            even = EVEN[0] <= precise[0] <= EVEN[1]  # it is the share of the positive samples
            usual = UNRELATED if even else uneven
            yield OneAnswer(f"{told}accuracy: nearly all samples are called positive", usual)
    for name, value in scores.items():
        if name in halves:
            seen = f"{spoken(name)} is exactly one half, that of one answer for all inputs"
            yield OneAnswer(seen, uneven)
        elif "r2" in words(name) and abs(value).max() <= EXACT:
            seen = f"{spoken(name)} is 0, that of a model that says the mean for every input"
            usual = "inputs that tell nothing of the target and a regularization that is too strong"
            yield OneAnswer(seen, usual)


def _of_half(value: FloatArray) -> bool:
    return bool(abs(value - 0.5).max() <= EXACT)


def _scores(scene: Scene) -> Iterator[tuple[str, FloatArray]]:
    """Yield the scores of held-out data, as shares of 1 where they are percentages."""
    for name in scene.run.history.metrics:
        said = set(words(name))
        value = scene.run.curve(name).finite().value
        if len(value) and not said & NOT_OF_ALL:
            yield name, value if "r2" in said else held_out.as_share(value)
