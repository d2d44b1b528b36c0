"""A learning rate against what is usual, against a default, against what no model survives."""

from math import isclose

import numpy as np

from runlens.causes.hypothesis import HINT, SETTLES, SPEAKS, STRONG, Sign
from runlens.causes.patterns import LOST, THROWN
from runlens.causes.scene import Scene
from runlens.knowledge.defaults import default_rate
from runlens.signals.trend import mann_kendall
from runlens.usual_rates import FEWEST_ORDERED, IN_ORDER, earned, of_known_size, of_no_model
from runlens.wording import rate as as_rate
from runlens.wording import step, times

FAR, BEYOND, OUTSIDE = 100.0, 10.0, 3.0  # times the usual most: 1 of 3 is seen in health
FEWEST_DEVICES = 4  # a rate twice too high breaks little
ALIKE = 5e-3  # of its level: a loss of ln 10 for batches of 64 scatters by 1 % where units live
TOO_HIGH = ("lr-out-of-range",)  # checks that a rate too high for its kind answers
MOVED = 0.1  # of the level: batches of a model that learns nothing scatter by less
FEW = 8  # samples of an update, of all devices; 16 to 256 are usual


def against_usual(scene: Scene, rate: float | None) -> Sign | None:
    """Say that a rate is above what is usual for this kind of training."""
    usual = scene.usual
    if not usual or not rate or rate <= usual.high or _stood(scene, rate):
        return None
    over = rate / usual.high
    steps = ((FAR, SETTLES), (BEYOND, STRONG), (OUTSIDE, SPEAKS))
    weight = next((weight for least, weight in steps if over >= least), HINT)
    if weight == SPEAKS and not of_known_size(scene.run):
        weight = HINT  # small models take far higher rates than the usual ones
    if weight >= STRONG and of_no_model(scene.run):
        # the range is that of language models: none earns ever more at ten times its top, unless
        # it leaves its reference for it
        learned = earned(scene.run) and not scene.has("kl-blow-up")
        weight = HINT if learned else min(weight, SPEAKS)
    if weight == STRONG and _learned_by_sgd(scene):
        weight = HINT  # the range is that of large nets for images
    range_ = f"{as_rate(usual.low)} to {as_rate(usual.high)} for {usual.what}"
    told = f"{times(over)} the top of the usual range ({range_})"
    return Sign(f"{_reached(scene, rate)}, which is {told}", weight, answers=TOO_HIGH)


def _stood(scene: Scene, rate: float) -> bool:
    """Whether other runs of the same place are well at the rate, so that no table tells more."""
    family = scene.run.family
    return family is not None and max(family.rates, default=0.0) >= rate


def _reached(scene: Scene, rate: float) -> str:
    """Name the rate at the first symptom: its peak, or what it had climbed to by then."""
    if rate >= (scene.signals.peak_learning_rate or 0.0):
        return f"the peak rate was {as_rate(rate)}"
    at, first = step(scene.rate_until), float(scene.curve("learning_rate").value[0])
    if first >= rate:
        return f"the rate was {as_rate(rate)} up to step {at}"
    return f"the rate had climbed to {as_rate(rate)} by step {at}"


def _learned_by_sgd(scene: Scene) -> bool:
    """Whether SGD brought a loss of a model of unknown size down, and nothing was thrown.

    How far SGD can step depends on the curvature of the model alone, which no table knows: where
    the curve shows no swing, that the rate is unusual is no proof.
    """
    if "sgd" not in scene.text("optim") or of_known_size(scene.run) or scene.has(*THROWN, *LOST):
        return False
    levels = scene.signals.levels("train_loss")
    return levels.end <= (1 - MOVED) * levels.start and not scene.has("stuck-at-chance")


def against_ceiling(scene: Scene, rate: float | None, *, named: bool) -> Sign | None:
    """Say that a rate is too high for any model with this optimizer."""
    most = scene.ceiling
    if not most or not rate or rate < most.rate or _stood(scene, rate):
        return None
    weight = SETTLES if rate >= BEYOND * most.rate else SPEAKS
    if weight == SPEAKS and not scene.has(*THROWN, *LOST) and _falls(scene):
        weight = HINT  # a rate that is too high throws a loss, or stops it at once
    most_ = f"few models train at or above {as_rate(most.rate)}"
    said = f"{most.why}, and {most_}"
    said = said if named else f"{_reached(scene, rate)}, and {most_}"
    return Sign(said, weight, answers=TOO_HIGH)


def _falls(scene: Scene) -> bool:
    """Whether train loss fell all along, by however little: no update threw it back.

    A fall that ends where guessing does is none: its updates lost what the model could tell.
    """
    chance = scene.everywhere.get("stuck-at-chance")
    if chance and chance.metric == "train_loss":
        return False
    return fell_in_order(scene, "train_loss")


def fell_in_order(scene: Scene, metric: str) -> bool:
    """Whether a metric fell all along, by however little, more than chance lets it."""
    value = scene.curve(metric).value
    tau, p = mann_kendall(value) if len(value) >= FEWEST_ORDERED else (0.0, 1.0)
    return tau < 0 and p < IN_ORDER


def against_default(scene: Scene, rate: float | None, *, named: bool) -> Sign | None:
    """Say that a rate is far above its library's default, where no range is known."""
    default = None if scene.usual else default_rate(scene.run)
    if not default or not rate or rate < OUTSIDE * default.rate or _stood(scene, rate):
        return None
    over = f"{times(rate / default.rate)} {default.name}"
    weight = SPEAKS if scene.has("stuck-at-chance") and _answers_alike(scene) else HINT
    return Sign(
        f"the rate was {over}" if named else f"{_reached(scene, rate)}, which is {over}", weight
    )


def _answers_alike(scene: Scene) -> bool:
    """Whether the loss does not even vary with the batch: units that large steps killed.

    Wrong labels leave a network that varies, and memorizes some of them.
    """
    late = scene.curve("train_loss").value
    late = late[len(late) // 2 :]
    return scene.run.task == "classification" and float(np.ptp(late)) <= ALIKE * float(late.max())


def fell_to_chance(scene: Scene) -> bool:
    """Whether a loss came down to that of a guess: updates that are too small move it nowhere."""
    train = scene.curve("train_loss").value
    if not scene.has("stuck-at-chance") or scene.has("plateau") or not len(train):
        return False
    end = scene.signals.levels("train_loss").end
    return float(train[0]) >= (1 + MOVED) * end > 0


def small_batch(scene: Scene, rate: float | None) -> Sign | None:
    """Say that the rate is one for larger batches: it scales with them, under SGD linearly.

    Goyal et al. 2017, section 2.1 (linear scaling); Malladi et al. 2022 (the root, under Adam).
    """
    batch, usual = scene.signals.inputs.batch, scene.usual
    if not scene.has(*THROWN, *LOST, "reward-collapse"):
        return None  # what stands still was not thrown by the noise of few samples
    if not batch or not usual or not rate or float(batch.value) >= FEW or rate <= usual.middle:
        return None
    each = "1 sample" if batch.value == 1 else f"{batch.value:g} samples"
    return Sign(f"a rate of {as_rate(rate)} is high for {each} per update", HINT)


def scaled(scene: Scene, rate: float | None) -> Sign | None:
    """Say that the rate is usual for one device, and was multiplied by their number.

    Linear scaling is SGD's (Goyal et al. 2017, section 2.1); under Adam the root of the batch is
    the most that holds (Malladi et al. 2022).
    """
    devices, usual = scene.run.number("num_processes"), scene.usual
    if not devices or devices < FEWEST_DEVICES or not usual or not rate or rate <= usual.high:
        return None
    for_one = rate / devices
    if not usual.low <= for_one <= usual.high or "sgd" in scene.text("optim"):
        return None
    said = f"{as_rate(rate)} over {devices:g} devices is {as_rate(for_one)}, within the usual"
    round_number = isclose(for_one, float(f"{for_one:.0e}"), rel_tol=1e-6)
    weight = SPEAKS if round_number else HINT  # what somebody set before it was multiplied
    return Sign(said, weight, "The rate was scaled linearly with the devices")
