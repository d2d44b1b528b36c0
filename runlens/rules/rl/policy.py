"""What several rules of reinforcement learning ask: gain of the reward, limits, usual fixes."""

import re
from math import log

import numpy as np

from runlens import fixes
from runlens.arrays import median, unique
from runlens.diagnosis import RANKS, Cause, Confidence, Fix
from runlens.history import BoolArray, Curve, FloatArray
from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.run import Run
from runlens.signals import Signals, onsets, shape
from runlens.signals.noise import counts, mad, smooth, window
from runlens.wording import number, percent, step

FEW = 12  # points below which each one counts for itself
FEWEST_GAIN = FEWEST_FINITE = 4  # points that have a first and a last one, and a scatter
FEWEST = 8  # points from which a gain of the reward is told
RISING_P, RISING_TAU = 0.01, 0.1  # of a trend that is a rise of the reward
LATE_START = 0.05  # of the last step: a history that begins later lacks its start
AT_LIMIT = 0.2  # share of points whose longest completion is the longest of all: a limit
OFTEN_GENERATED = 16  # completions per prompt (axolotl)
USUAL_TEMPERATURE = 1.0  # 0.8 to 1.0 is usual
SMALL_STEP = {"kl_step": 0.02, "clip_ratio": 0.1}  # usual PPO has 0.01 and 0.1 to 0.2
BLIND = 0.05  # explained variance: 0 is as good as no value function, 1 is perfect
NO_VALUES = "A value function that explains nothing of the returns"
LAST_TARGET = (
    "Print the value targets of the last steps of an episode: without a limit on its length, they "
    "must be the last rewards alone. Then repeat the run with rewards of size 1"
)
LARGE_REWARD = 100.0  # of an episode: value networks start near 0 and move by the learning rate
MOSTLY = 0.75  # of the highest reward for the form of answers; of completions that are cut
AGREE, FIRST, TINY = 1.25, 2, 1e-9  # mean ratio and first points up to which both agree
MOSTLY_CUT = 0.5  # of the completions: without them less than half of the signal is left
ONE_REWARD = "Stretch of one reward"  # the heading of a finding
NEW_BETA = 0.04  # 0.001 to 0.1 is usual

_OF_FORM = lazy_re(r"(?:^|[\W_])(?:format|json|xml|tags?|syntax|structure)", re.IGNORECASE)


def head(points: int) -> int:
    """Return how many first points make the level of the start: one of four, 5 % of many."""
    return max(1, min(3, points // 4), points // 20)


def tail(points: int) -> int:
    """Return how many last points make the level of the end: two of four, a tenth of many."""
    return max(2, min(5, points // 4), points // 10)


def lasting(points: int, share: float = 0.0) -> int:
    """Return how many points in a row are no chance: a share of many, of few two to five."""
    return max(2, min(5, points // 4), round(share * points))


def course(value: FloatArray) -> FloatArray:
    """Return the smooth curve, shape (n,); few points are as logged, no step is smeared."""
    return value if len(value) < FEW else smooth(value)


def last_level(value: FloatArray, points: int = 0) -> float:
    """Return the median of the last points, of a tenth of them where not said of how many."""
    return float(median(value[-(points or tail(len(value))) :]))


def top_level(curve: Curve, at: int) -> float:
    """Return how high a curve is about a point, as `top_words` says it."""
    near = _about(curve, at)[1]
    return float(near.max()) if len(curve) < 2 * FEW else float(median(near))


def _about(curve: Curve, at: int) -> tuple[int, FloatArray]:
    """Return the points within half a window of one, and the place of the first of them."""
    reach = window(len(curve)) // 2
    first = max(at - reach, 0)
    return first, curve.value[first : at + reach + 1]


def top_words(curve: Curve, at: int) -> str:
    """Say how high a curve is about a point: the highest as logged, of many points a median."""
    first, near = _about(curve, at)
    if len(curve) < 2 * FEW:
        top = first + int(np.argmax(near))
        return f"{number(float(curve.value[top]), 3)} at step {step(float(curve.step[top]))}"
    where = step(float(curve.step[at]))
    return f"{number(float(median(near)), 3)} around step {where} (median of {len(near)} points)"


def last_words(curve: Curve, points: int = 0) -> str:
    """Say where a curve ends: ``0.02 at step 100, the last logged point``, or a median of many."""
    if len(curve) < 2 * FEW:
        last = number(float(curve.value[-1]), 3)
        return f"{last} at step {step(curve.step[-1])}, the last logged point"
    of = f"{points} points" if points else "tenth"
    return f"{number(last_level(curve.value, points), 3)} at the end (median of the last {of})"


class Gain(NamedTuple):
    """How the reward moved over the run, in its own unit."""

    start: float  # of the first tenth
    end: float  # of the last tenth
    scatter: float  # standard deviation about the smooth curve
    tau: float
    p: float
    kind: str = "median"  # of the points of a tenth; else their mean

    @property
    def units(self) -> float:
        """The gain in standard deviations of the reward about its smooth curve."""
        return (self.end - self.start) / self.scatter

    @property
    def rising(self) -> bool:
        """Whether the reward rose over the run, by trend and not by chance."""
        return self.p < RISING_P and self.tau > RISING_TAU and self.end > self.start


def tenth(points: int) -> int:
    """Return how many points the first tenth has: of few points it is up to three of them."""
    return max(min(3, points // 4), points // 10)


def compared(points: int) -> tuple[str, str]:
    """Name the first and the last part of a reward: a tenth, or of few points how many."""
    part = tenth(points)
    few = part > points // 10
    return (f"first {part} points", f"last {part}") if few else ("first tenth of the run", "last")


def gain_of(signals: Signals, metric: str = "reward") -> Gain | None:
    """Return the gain of the reward; None below 4 points."""
    value = signals.curve(metric).value
    if len(value) < FEWEST_GAIN:
        return None
    part = tenth(len(value))
    from runlens.rules.rl.rise import borne_out  # of agents alone

    moved = signals.trend(metric)
    start, end = level(value, slice(part)), level(value, slice(-part, None))
    if _repeats(value) or end <= start or borne_out(value, part, part):
        kind = "mean" if _repeats(value) else "median"
        return Gain(start, end, scatter(value), moved.tau, moved.p, kind)
    spread = float((value - smooth(value)).std())  # what a mean scatters by, its tails included
    start, end = float(value[:part].mean()), float(value[-part:].mean())
    return Gain(start, end, spread, moved.tau, moved.p, "mean")


def level(value: FloatArray, part: slice) -> float:
    """Return the level of a part of a reward: its mean where values repeat, else its median.

    Shares of few completions repeat themselves: their median jumps, or sticks to 0.
    """
    return float((np.mean if _repeats(value) else median)(value[part]))


def _repeats(value: FloatArray) -> bool:
    return 2 * len(unique(value)) < len(value)


def scatter(value: FloatArray) -> float:
    """Return the spread about the smooth curve; robust, and not 0 where most values are equal."""
    residual = value - smooth(value)
    return max(mad(residual), 0.5 * float(residual.std()), 1e-12)


def gain_words(gain: Gain | None) -> str:
    """Say how it moved: ``reward was 0.2 on average in the first tenth and 0.5 in the last``."""
    if gain is None:
        return "reward is not logged often enough to compare"
    start, end = number(gain.start, 3), number(gain.end, 3)
    if start == end:
        return f"the {gain.kind} reward was {start} in the first tenth of the run and in the last"
    moved = "rose" if gain.rising else "went"
    return f"reward {moved} from {start} to {end} ({gain.kind}s of the first and the last tenth)"


def stays_from(mask: BoolArray, share: float = 0.8) -> int | None:
    """Return the index from which `mask` holds at `share` of the points, and at the end.

    None where the last points do not hold.
    """
    last = max(1, min(3, len(mask) // 4), len(mask) // 20)
    if not len(mask) or mask[-last:].mean() < share:
        return None
    return onsets.stays_from(mask, share)


def first_stretch(mask: BoolArray, length: int) -> int:
    """Return the first of `length` points in a row at which `mask` holds; else the first at all."""
    rows = counts(mask, length) == length
    return int(np.argmax(rows)) if rows.any() else int(np.argmax(mask))


def starts_late(curve: Curve) -> bool:
    """Whether the start of a metric is missing: what is relative to it cannot be judged."""
    if len(curve) < FEWEST:
        return False
    spacing = float(median(np.diff(curve.step)))
    return bool(curve.step[0] > max(LATE_START * curve.step[-1], 3 * spacing))


def top_of(value: FloatArray) -> float | None:
    """Return the highest possible reward where it is known: 1 for shares and accuracies."""
    within = len(value) and value.min() >= 0 and 0 < value.max() <= 1
    return 1.0 if within else None


class Limit(NamedTuple):
    """The longest completion that is generated, in tokens."""

    tokens: float
    source: str


def length_limit(run: Run, signals: Signals) -> Limit | None:
    """Return the length limit: as configured, else the length that keeps being the longest."""
    known = run.number("max_completion_length")
    if known:
        return Limit(known, "max_completion_length")
    longest = signals.curve("len_max").value
    if len(longest) and np.mean(longest >= longest.max() - 0.5) >= AT_LIMIT:
        return Limit(float(longest.max()), "longest completion, again and again")
    return None


def runs_on(signals: Signals) -> str:
    """Say that completions run on after a complete answer; empty where nothing shows that.

    A reward for the form of an answer (valid JSON, its tags) is earned by whole answers alone: a
    policy that earns it while its completions are cut had answered before the limit.
    """
    cut = signals.curve("len_clipped")
    late = cut.value[len(cut) // 2 :]
    if not len(late) or float(median(late)) < MOSTLY:
        return ""
    for name in signals.run.history.metrics:
        of = name.removeprefix("reward:")
        earned = signals.curve(name).value
        if of == name or not len(earned) or not _OF_FORM.search(of) or earned.max() <= 0:
            continue
        usual = float(median(earned[len(earned) // 2 :]))
        if usual >= MOSTLY * float(earned.max()):
            return f"{of} is {number(usual)}, which only a complete answer earns"
    return ""


def small_steps(signals: Signals, onset: float) -> bool:
    """Whether KL or clip ratio are logged and show that the policy moved little until `onset`."""
    seen = [
        value.max() < limit
        for metric, limit in SMALL_STEP.items()
        if len(value := signals.curve(metric).before(int(onset) + 1).value)
    ]
    return bool(seen) and all(seen)


def unmoved(signals: Signals) -> str:
    """Say that no update moved the policy: KL of each is 0, and entropy one value to its digits.

    One of them alone proves nothing: KL before a single epoch is 0, a fixed spread has one entropy.
    """
    kl = signals.curve("kl_step").value
    names = [name for name in signals.run.history.metrics if "entropy" in name.lower()]
    values = [value for name in names if len(value := signals.curve(name).value) >= FEWEST]
    if len(kl) < FEWEST or kl.any() or not values or any(np.ptp(value) for value in values):
        return ""
    level = number(float(values[0][0]), 4)
    return f"the KL was 0 at all {len(kl)} updates, and the entropy stayed at {level}"


def blind_critic(signals: Signals) -> str:
    """Say what shows a value function that explains nothing of large rewards; else empty."""
    explained, reward = signals.curve("explained_variance").value, signals.curve("reward").value
    if len(explained) < FEWEST or not len(reward):
        return ""
    share, size = float(median(explained[len(explained) // 2 :])), float(median(reward))
    if share > BLIND or abs(size) < LARGE_REWARD:
        return ""
    loss = signals.curve("value_loss").value
    told = f" and a value loss of {number(float(median(loss)), 3)}" if len(loss) else ""
    part = number(round(share, 2) + 0.0)  # no minus before a 0
    return f"explained variance is {part} at rewards of {number(size, 3)}{told}"


def critic_cause(signals: Signals) -> Cause | None:
    """Blame a value function that explains nothing, where rewards are large."""
    why = blind_critic(signals)
    if not why:
        return None
    return Cause(NO_VALUES, "most likely", why, experiment=LAST_TARGET, kind="reward-function")


def normalised(signals: Signals) -> tuple[Fix, ...]:
    """Normalize rewards and observations, where the value function explains nothing."""
    why = blind_critic(signals)
    what = "Normalize rewards and observations (with VecNormalize, for example) to a scale of 1"
    return (fixes.action(what, why, "one run"),) if why else ()


def more_generations(run: Run, why: str) -> tuple[Fix, ...]:
    """Generate 16 completions per prompt; nothing where as many are made."""
    old = run.number("num_generations")
    if run.task != "grpo" or (old is not None and old >= OFTEN_GENERATED):
        return ()
    what = "Generate more completions per prompt"
    return (fixes.setting(run, "num_generations", OFTEN_GENERATED, what, why),)


def warmer(run: Run, why: str) -> tuple[Fix, ...]:
    """Sample at temperature 1.0; nothing where it is as high or not known."""
    old = run.number("temperature")
    if old is None or old >= USUAL_TEMPERATURE:
        return ()
    what = "Raise the sampling temperature"
    return (fixes.setting(run, "temperature", USUAL_TEMPERATURE, what, why),)


def stronger_beta(run: Run, why: str, factor: float = 3.0) -> tuple[Fix, ...]:
    """Hold the policy closer to its reference: beta times `factor`, or 0.04 where it is 0.

    A run may log KL at a beta of 0: where beta is not recorded, both are told.
    """
    if run.task == "rl":
        return ()
    old = run.number("beta")
    if old is None and len(run.curve("kl")):
        what = f"Multiply beta by {factor:g}, or set it to {NEW_BETA:g} if it is 0"
        return (fixes.action(what, why, "settings only"),)
    new = fixes.two_digits(factor * old) if old else NEW_BETA
    what = "Strengthen the KL term" if old else "Add a KL term"
    return (fixes.setting(run, "beta", new, what, why),)


def parted(signals: Signals) -> float | None:
    """Return the step at which sampler and trainer parted, where they agreed at first.

    Other kernels or weights of the sampler are there from the first sample on; what comes later
    is the policy that moves.
    """
    ratio = signals.curve("is_ratio_mean")
    off = np.abs(np.log(np.maximum(ratio.value, TINY))) > log(AGREE)
    if not off.any() or off[:FIRST].any():
        return None
    return float(ratio.step[int(np.argmax(off))])


def leave_out_cut(run: Run) -> tuple[Fix, ...]:
    """Leave cut completions out of the loss; nothing where they are left out, or most are cut."""
    if run.task != "grpo" or run.flag("mask_truncated_completions"):
        return ()
    cut = run.curve("len_clipped").finite().value
    if len(cut) and float(cut[len(cut) // 2 :].mean()) > MOSTLY_CUT:
        return ()  # too few would be left to learn from
    what, why = (
        "Leave cut completions out of the loss",
        "a cut completion has no answer to learn from",
    )
    return (fixes.setting(run, "mask_truncated_completions", True, what, why),)


def ranked(*made: Cause | None) -> tuple[Cause, ...]:
    """Return the causes that have something to say, the most likely first, four at most."""
    said = [one for one in made if one is not None]
    return tuple(sorted(said, key=lambda one: RANKS.index(one.rank))[:4])


def confidence(margin: float, points: int, reason: str = "") -> Confidence:
    """Return how sure a finding is.

    Args:
        margin: how many times beyond its limit the value is; 0.6 at the limit, full at twice.
        points: logged points; 0.7 at 40, full from 100.
        reason: a clause put behind the numbers.

    """
    by_margin = min(1.0, 0.6 + 0.4 * max(0.0, margin - 1.0))
    by_points = min(1.0, 0.5 + 0.005 * points)
    tail = f", {reason}" if reason else ""
    return Confidence(round(by_margin * by_points, 2), f"{points:,} logged points{tail}")


def sure(effect: float, chance: float, points: int, reason: str = "") -> Confidence:
    """Return how sure a finding is, by its effect over its threshold and the chance of noise."""
    tail = f", {reason}" if reason else ""
    text = f"{points:,} logged points{tail}"
    return Confidence(round(shape.confidence(effect, chance), 2), text)


def share_words(mask: BoolArray) -> str:
    """Say on how many points something holds: ``45 of 50 points (90 %)``, ``all 50 points``."""
    hits = int(mask.sum())
    if hits == len(mask) > 1:
        return f"all {hits:,} points"
    return f"{hits:,} of {len(mask):,} points ({percent(hits / max(len(mask), 1))})"
