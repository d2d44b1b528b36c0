"""What missing or wrong settings of an update leave in the curves, where no setting is recorded."""

import numpy as np

from runlens.arrays import median
from runlens.causes.hypothesis import HINT, SETTLES, SPEAKS, STRONG, Sign
from runlens.causes.patterns import LOST, STUCK, THROWN
from runlens.causes.scene import Scene
from runlens.history import Curve, FloatArray
from runlens.knowledge.optimizer_settings import HIGH_DECAY
from runlens.metrics import spoken
from runlens.naming import words
from runlens.patterns import lazy_re
from runlens.rules.loss import critics
from runlens.run import RL_TASKS
from runlens.signals.trend import mann_kendall
from runlens.wording import loss, number, percent, step, times
from runlens.wording import rate as as_rate

OVERSHOT, TENFOLD = 3, 10.0  # points in a row, each so many times the one before
LARGE_PENALTY = 0.5  # 1e-4 to 0.1 are usual
OF_PENALTY = frozenset(("reg", "regularization", "regularisation", "l2", "penalty", "l2reg"))
FEWEST = 10  # points: one order in 3.6 million rises throughout
IN_ORDER = 0.9  # Kendall's tau: nearly every pair of points rises
GREW = 5.0  # times its first value: a gradient that turns about grows by the root of the updates
WITHIN = 0.1  # of the first gradient: one of a batch varies by more than the sum of many
FEW_IN_PROPORTION = 4  # points after the first that lie on one line through 0
LONGER = 2.0  # what the second half adds over the first: of a sum, one gradient an update in both
SWINGS = 5.0  # times the scatter of the norm: that of one batch scatters as its loss does
SHRANK = 0.1  # of the first norm; decay that is usual takes a part of it, and the loss falls
# times the first norm: one that grows by the same amount at each step has by then a rate of growth
# in its second half of 0.7 times that in its first
GREW_APART = 2.0
LEVEL = 3  # points of a level
LITTLE = 0.1  # nats: such a code tells one bit in seven samples
KEPT = 0.9  # of its first level: a reconstruction that learned nothing from the code
OWN_WEIGHT, HIGH_WEIGHT = 1.0, 4.0  # of the bound itself; the highest that beta-VAEs are known for
RESTORED = frozenset({"rec", "recon", "recons", "reconstruction", "nll", "mse", "bce"})
_WEIGHTS = lazy_re(
    r"(?i)(?:w|weights?|params?|parameters?)[\W_]*(?:norm|l2)|norm[\W_]*(?:w|weights?)"
)
_RATE_OF = lazy_re(r"(?i)(?:lr|learning_rate)_?(d|g)(?:is|isc|en|iscriminator|enerator)?$")
APART = 10.0  # times the rate of the generator: 1 to 4 times are usual
VALUES = frozenset({"v", "value", "values", "vpred", "vpreds"})
# of the variance of returns: with less values follow no state, and are wrong when nearer as well
BLIND, BLIND_BEYOND = 0.05, 2.0
OF_ROLLOUTS = ("clip_ratio", "explained_variance", "kl_step")  # of policies, of no Q-learning
ADDED_UP = "Gradients that add up over the updates: they are never set to zero"
ADDED_UP_TEST = (
    "Call optimizer.zero_grad() before each backward pass and repeat 50 steps. The norm must "
    "stay near its first value"
)
ADDED_UP_DENIED = "gradients are 0 before each backward pass"
# nothing is discounted, the target is copied at each update, or it never is: settings by value
ENDLESS = (
    (("gamma", "discount"), 1.0),
    (("tau", "polyak_tau"), 1.0),
    (("target_update", "target_update_interval"), 0.0),
)


def added_up(scene: Scene) -> Sign | None:
    """Say that the norm is no batch's own: it rises in order, however the loss swings.

    A sum over all updates so far grows by one gradient at a time, ever less of itself; what
    explodes grows ever faster, and swings as its loss does.
    """
    norm, rate = scene.curve("grad_norm").value, scene.curve("learning_rate").value
    train = scene.curve("train_loss").value
    if not scene.has(*THROWN, "not-learning") or min(len(norm), len(train)) < 2 * FEWEST:
        return None
    if train[-LEVEL:].min() <= train.min():
        return None  # what ends at its lowest was not thrown
    if norm[0] <= 0 or norm[-1] < GREW * norm[0] or (len(rate) and rate.max() > rate[0]):
        return None
    if counted := _in_proportion(scene.curve("grad_norm")):
        return Sign(counted, STRONG, ADDED_UP, ADDED_UP_TEST, falsifier=ADDED_UP_DENIED)
    half = len(norm) // 2
    faster = norm[-1] / norm[half] > norm[half] / norm[0]
    faster = faster or norm[-1] - norm[half] > LONGER * (norm[half] - norm[0])
    if train.min() <= 0:
        return None  # its scatter has no logarithm
    swings = _scatter(train) < SWINGS * _scatter(norm)
    if faster or swings or mann_kendall(norm)[0] < IN_ORDER:
        return None
    ends = f"from {number(float(norm[0]))} to {number(float(norm[-1]))}"
    said = f"the gradient norm rose {ends} in order while the loss swung; that of one batch would "
    return Sign(f"{said}swing too", SPEAKS, ADDED_UP, ADDED_UP_TEST, falsifier=ADDED_UP_DENIED)


def _in_proportion(norm: Curve) -> str:
    """Say that the norm began as so many times the first gradient as there were updates.

    Steps are counted from 0 or from 1. Norms that grow for another reason do not start at nothing.
    """
    for counted in (norm.step, norm.step + 1):
        if counted[0] <= 0:
            continue
        each = norm.value / counted
        off = np.abs(each / each[0] - 1) > WITHIN
        last = (int(off.argmax()) if off.any() else len(off)) - 1
        if last >= FEW_IN_PROPORTION and norm.value[last] >= GREW * norm.value[0]:
            first, end = number(float(norm.value[0])), number(float(norm.value[last]))
            ends = f"{first} at step {step(norm.step[0])} to {end} at step {step(norm.step[last])}"
            return f"the gradient norm rose in proportion to the number of updates, from {ends}"
    return ""


def _scatter(value: FloatArray) -> float:
    """Return by how much neighbours differ in the second half, as a share of themselves."""
    return float(median(np.abs(np.diff(np.log(value[len(value) // 2 :])))))


def shrunk(scene: Scene) -> Sign | None:
    """Say that the weights went to zero while nothing was learned: something pulls them there."""
    decay = scene.run.number("weight_decay")
    if not scene.has(*STUCK) or (decay is not None and decay <= HIGH_DECAY):
        return None
    for name in scene.run.history.metrics:
        norm = scene.curve(name).value
        if not _WEIGHTS.search(name) or "grad" in name or len(norm) < FEWEST:
            continue
        first, end = float(norm[0]), float(median(norm[-LEVEL:]))
        if 0 <= end <= SHRANK * first:
            said = (
                f"{spoken(name)} fell from {number(first)} to {number(end)}, {percent(end / first)}"
            )
            return Sign(
                f"{said} of it",
                SPEAKS,
                "Weight decay that pulls all weights to zero",
                "Repeat 100 steps with a weight decay of 0. The weights must not shrink then",
                falsifier="the weights shrink as far without weight decay",
            )
    return None


def grown(scene: Scene) -> Sign | None:
    """Say that the weights grew by the same share of themselves at each step up to the fault.

    Updates by gradients add to a norm, ever less of it; what explodes grows ever faster. A term
    that pushes the weights in proportion to themselves multiplies it: decay with the wrong sign.
    """
    if not scene.has(*THROWN, *LOST):
        return None
    for name in scene.run.history.metrics:
        curve = scene.curve(name)
        curve = curve.at((curve.step < scene.symptom) & (curve.value > 0))
        if not _WEIGHTS.search(name) or "grad" in name or len(curve) < FEWEST:
            continue
        height, half = np.log(curve.value), len(curve) // 2
        early, late = (
            (height[end] - height[begin]) / (curve.step[end] - curve.step[begin])
            for begin, end in ((0, half), (half, -1))
        )
        grew = curve.value[-1] >= GREW_APART * curve.value[0] and bool((np.diff(height) > 0).all())
        if not grew or abs(late / early - 1) > WITHIN:
            continue
        ends = f"from {number(float(curve.value[0]))} to {number(float(curve.value[-1]))}"
        return Sign(
            f"{spoken(name)} grew by about the same share at each step, {ends}",
            SETTLES,
            "Weight decay, or an L2 term, with the wrong sign",
            "Repeat the run without weight decay and without an L2 term. The weights must not grow "
            "by the same share then",
            falsifier="the weights grow as much without either",
        )
    return None


def prior(scene: Scene) -> Sign | None:
    """Say that a latent code came to carry nothing while what it should restore stayed."""
    kl = scene.curve("kl").value
    if scene.run.task in RL_TASKS or not scene.has(*STUCK) or len(kl) < FEWEST:
        return None
    end, beta = float(median(kl[-LEVEL:])), scene.number("beta", "kl_weight")
    restored = next((name for name in scene.run.history.metrics if RESTORED & set(words(name))), "")
    levels = scene.curve(restored).value if restored else kl
    kept = float(median(levels[-LEVEL:])) >= KEPT * float(levels[0])
    if end >= min(LITTLE, float(kl[0])) or not kept or (beta and beta[1] <= OWN_WEIGHT):
        return None
    at, first = f", and {beta[0]} is {beta[1]:g}" if beta else "", number(float(kl[0]))
    said = f"KL fell from {first} to {number(end)} nats while {spoken(restored)} stayed at "
    weight = HINT if not beta else STRONG if beta[1] > HIGH_WEIGHT else SPEAKS
    return Sign(
        f"{said}{loss(float(median(levels[-LEVEL:])))}{at}",
        weight,
        "KL weight too high: the latent code carries nothing (posterior collapse)",
        "Repeat the first epochs with a KL weight that rises from 0 to 1. The KL must stay above 0",
        falsifier="the KL goes to 0 with a weight of 0 as well",
    )


def unequal(scene: Scene) -> Sign | None:
    """Say that the discriminator learns far faster than the generator, by the rates of both.

    Two time scales are usual: 4e-4 beside 1e-4 (Heusel et al. 2017; Zhang et al. 2019).
    """
    if scene.run.task != "gan-diffusion" or not scene.has("divergence"):
        return None
    known: dict[str, tuple[str, float]] = {}
    for key in scene.run.config:
        part, value = _RATE_OF.match(key), scene.run.number(key)
        if part and value:
            known[part.group(1).lower()] = (key, value)
    (ours, fast), (theirs, slow) = known.get("d", ("", 0.0)), known.get("g", ("", 0.0))
    if not slow or fast < APART * slow:
        return None
    said = f"{ours} is {as_rate(fast)}, {times(fast / slow)} {theirs}, which is {as_rate(slow)}"
    return Sign(
        said,
        STRONG,
        "The discriminator learns far faster than the generator",
        f"Repeat 500 steps with {ours} and {theirs} both at 2e-4",
        falsifier="the discriminator wins as soon with equal rates",
    )


def from_itself(scene: Scene) -> Sign | None:
    """Say that values exceed every return: they were learned from values, not from rewards."""
    blown = [one.metric for one in scene.findings if one.heading == critics.HEADING]
    name = blown[0] if blown else _beyond_returns(scene)
    if not name:
        return None
    end = float(scene.curve(name).value[-1])
    told = f"{spoken(name)} rose to {number(end)}, and {critics.no_return(scene.signals)}"
    lead = scene.lead.heading == critics.HEADING  # whose title says so
    if _on_policy(scene) and VALUES & set(words(name)) and scene.run.number("gamma") != 1:
        return Sign(
            "" if lead else told,
            SPEAKS,
            "Steps of the value function that are too large for returns that are not scaled",
            "Repeat the first updates with returns that are divided by their spread, then at a "
            "tenth of the value function's rate",
            falsifier="its loss grows as well with scaled returns and a tenth of the rate",
        )
    off = [
        f"{known[0]} is {known[1]:g}"
        for keys, endless in ENDLESS
        if (known := scene.number(*keys)) and known[1] == endless
    ]
    said = "; ".join([*off, *([] if lead and off else [told])])
    return Sign(
        said,
        STRONG if off else SPEAKS,
        "A critic that learns from its own estimates without an end",
        "Print the target of one last step of an episode: it must be the reward alone. Then take "
        "the other targets from a network that is copied every 500 updates",
        falsifier="last steps have the reward alone as target, and a slow target network is used",
    )


def _on_policy(scene: Scene) -> bool:
    """Whether a policy learns from its own rollouts, as PPO and A2C do: values fit their returns.

    No target network is copied there, and no maximum over actions is taken.
    """
    return any(len(scene.curve(name)) for name in OF_ROLLOUTS)


def _beyond_returns(scene: Scene) -> str:
    """Return the mean of a value function that rose in order, far beyond any return."""
    reward = np.abs(scene.curve("reward").value)
    if not scene.has("reward-collapse", "reward-flat") or not reward.any():
        return ""
    for name in scene.run.history.metrics:
        said, value = set(words(name)), scene.curve(name).value
        if VALUES & said and critics.MEANS & said and len(value) >= FEWEST:
            explained = scene.curve("explained_variance").value
            blind = len(explained) >= FEWEST and abs(float(median(explained))) <= BLIND
            far = value[-1] > (BLIND_BEYOND if blind else critics.BEYOND) * reward.max()
            if far and mann_kendall(value)[0] > IN_ORDER:
                return name
    return ""


def multiplied(scene: Scene) -> Sign | None:
    """Say that a loss was multiplied again and again up to the point where it was lost.

    An update that overshoots leaves an error so many times as large. An odd batch does so once.
    """
    train = scene.curve("train_loss")
    at = min((one.begins for rule, one in scene.rules.items() if rule in LOST), default=0.0)
    before = train.value[train.step < at]
    if len(before) <= OVERSHOT or before[-1 - OVERSHOT] <= 0:
        return None
    if (before[-OVERSHOT:] < TENFOLD * before[-1 - OVERSHOT : -1]).any():
        return None
    said = f"the loss grew at least tenfold at each of the last {OVERSHOT} points before that, from"
    ends = f"{loss(float(before[-1 - OVERSHOT]))} to {loss(float(before[-1]))}"
    return Sign(f"{said} {ends}, so each update overshot", STRONG)


def penalised(scene: Scene) -> Sign | None:
    """Say that the weight of a penalty is larger than the error that it stands beside.

    A factor moves by the error times the other factor less the penalty times itself: where the
    penalty is above the error, factors of one size shrink whatever the data say.
    """
    end = scene.signals.levels("train_loss").end if len(scene.curve("train_loss")) else 0.0
    if not scene.has(*STUCK) or scene.run.task in RL_TASKS or end <= 0:
        return None
    for key in scene.run.config:
        value = scene.run.number(key) if set(words(key)) <= OF_PENALTY else None
        if value is not None and value > max(end, LARGE_PENALTY):
            return Sign(
                f"{key} is {number(value)}, more than the loss of {loss(end)} that is left",
                SPEAKS,
                "A regularization that is too strong",
                f"Repeat the run with {key} at {number(value / 50, 1)}",
                falsifier="the loss is as flat with a fiftieth of it",
            )
    return None
