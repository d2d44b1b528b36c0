"""Settings that make an update, or what a loss can tell, many times too large or too small."""

from math import log

import numpy as np

from runlens.arrays import median
from runlens.causes.hypothesis import HINT, SETTLES, Sign
from runlens.causes.patterns import STUCK
from runlens.causes.scene import Scene
from runlens.knowledge import in_force
from runlens.naming import words
from runlens.wording import loss, number

_BATCHES = frozenset({"accum", "accumulate", "accumulated", "accumulation"})
_DIVIDED = frozenset({
    "avg", "div", "divide", "divided", "mean", "norm", "normalise", "normalize", "normalized",
    "scale", "scaled",
})  # fmt: skip
USUAL_HEAT = 0.1  # of SimCLR's images (Chen et al. 2020, table 5); 0.05 to 1 are usual
HOT = 5.0  # five times the highest that is usual: logits then differ by 0.4 at most


def undivided(scene: Scene) -> Sign | None:
    """Say that the gradients of several batches are added up, and a setting divides by nothing.

    Adam divides by their size, and a limit below them bounds them: neither is thrown by a sum.
    """
    many = in_force.accumulation(scene.run) or 1
    limit, norm = in_force.clip_limit(scene.run), scene.curve("grad_norm").value
    bounded = bool(limit and len(norm) and float(norm[0]) > limit)
    if many <= 1 or bounded or not in_force.scale_matters(scene.run):
        return None
    for key in scene.run.config:
        name = key.rpartition(".")[2]
        said = set(words(name))
        if _BATCHES & said and _DIVIDED & said and scene.run.flag(key) is False:
            told = f"{name} is off and each update adds up {many} batches, so its gradient "
            return Sign(
                f"{told}is {many} times their mean",
                SETTLES,
                "Gradients of several batches that are summed, not averaged",
                f"Divide the loss by {many} before each backward pass, and repeat 50 steps",
                falsifier=f"the same happens with a loss that is divided by {many}",
            )
    return None


def too_hot(scene: Scene) -> Sign | None:
    """Say that a temperature leaves all pairs alike, and that the loss says so: ln of their number.

    Cosine similarities lie between -1 and 1, so that logits differ by 2 / temperature at most. What
    is multiplied by such a number has a loss far from that of a guess.
    """
    heat = scene.number("temperature", "tau", "nt_xent_temperature")
    batch = scene.run.number("per_device_train_batch_size")
    train = scene.curve("train_loss").value
    if scene.run.task != "contrastive" or not scene.has(*STUCK) or not heat or not batch:
        return None
    if heat[1] < HOT or batch <= 1:
        return None
    apart = 2 / heat[1]
    guesses = [log(many) for many in (batch, 2 * batch - 1)]  # the other rows, of one view or both
    level = float(median(train))
    near = min(guesses, key=lambda one: abs(one - level))
    if abs(near - level) > apart or float(np.ptp(train)) > apart:
        return None
    said = f"{heat[0]} is {heat[1]:g}, so that logits of cosines differ by at most {number(apart)},"
    return Sign(
        f"{said} and the loss stayed at the {loss(near)} of equal odds",
        SETTLES,
        "A temperature at which all pairs look alike",
        f"Repeat 100 steps with {heat[0]} {USUAL_HEAT:g}",
        falsifier=f"the loss stands as well with {heat[0]} {USUAL_HEAT:g}",
    )


def not_aligned(scene: Scene) -> Sign | None:
    """Say that a CTC loss had no value from its first point on: no update did that.

    The loss of a sequence with fewer frames than labels is infinite, and its gradient is none.
    """
    first = scene.run.curve("train_loss").value[:1]
    named = scene.run.taken.get("train_loss", "")
    if not len(first) or np.isfinite(first[0]) or "ctc" not in words(named):
        return None
    return Sign(
        "a CTC loss is not finite from its first logged point on",
        HINT,
        "An input with fewer frames than its target has labels",
        "Compare the frames that the loss sees with the labels, sample by sample",
        falsifier="each sample has more frames than labels",
    )
