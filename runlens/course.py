"""What a curve did between its ends, in the numbers as logged, and what a verdict must not omit."""

from collections.abc import Mapping

import numpy as np

from runlens.arrays import median, unique
from runlens.history import Curve, FloatArray
from runlens.metrics import quality, spoken
from runlens.naming import words
from runlens.rules.loss import chance
from runlens.rules.loss.falls import NO_TREND
from runlens.signals import Signals, noise
from runlens.signals.held_out import as_share, gained_beside
from runlens.signals.trend import ranked
from runlens.wording import loss, number, percent, step

FEWEST_EVALUATIONS = 3  # of which two may be no better than the first
FEWEST_POINTS = 4  # the fewest on which a rank test can say anything
UNDONE = 0.3  # share of what was gained that may be lost again without a word
LITTLE = 0.1  # of the first training loss: a fall that does not show that anything was learned
# nats of a KL term: what a latent code carries, fallen to this from one that was clearly there
EMPTY, CARRIED = 0.01, 0.1
RIGHT = frozenset({"acc", "acc1"})  # words of a share of right answers
HALF = 0.5  # of the gain of one, which is more than it swings by
ABOVE_BEST = "but eval loss ends at"  # how a doubt about the evaluation begins
WORSE_EVAL = 0.2  # rise of the last evaluations over the best that no verdict leaves unsaid
FAR = 10.0  # times its best: no scatter of evaluations explains two such in a row
ERRORS = 3.0  # noise scales: less is no rise
RISEN = 0.01  # of a reward at the start: a policy that earns so little more learned next to nothing
FEW_RETURNS = 200  # from which a tenth has 20 points, and its mean an error
TENTH = 10
OUTER = 0.05  # of the points at either side, which single ones reach in any run
BELOW_ONE = 0.99  # a perplexity, the exponential of a loss, is 1 at the least, but for rounding
ROUNDED = 0.01  # of a mean, what rounding leaves


def steps_of(curve: Curve) -> int:
    """Return at how many steps a curve was logged: several values of one are no course."""
    return len(unique(curve.step))


def ends(value: FloatArray, *, rewards: bool) -> tuple[float, float]:
    """Return the levels at both ends: the logged first value counts, a reward scatters.

    One that lies farther below all others than they span is that of the untrained policy; a loss
    that is below its first tenth by no more than noise is of an easy row.
    """
    width, rest, first = max(1, len(value) // TENTH), value[1:], float(value[0])
    begins = float(median(value[:width]))
    untrained = len(rest) > 0 and first < rest.min() - np.ptp(rest)
    easy = 0 < begins - first < ERRORS * noise.sigma(value)
    first = begins if (easy or rewards) and not untrained else first
    return first, float(median(value[-width:]))


def span(curve: Curve, first: float, last: float) -> str:
    """Write both ends as logged; as medians where single points would tell another story."""
    value = curve.value
    logged = float(value[0]), float(value[-1])
    tenths = len(value) >= 2 * TENTH  # else a tenth is a single point, which is as logged
    if (tenths and first != logged[0]) or (logged[1] > logged[0]) != (last > first):
        return f"from {loss(first)} to {loss(last)} (medians of the first and the last tenth)"
    steps = step(int(curve.step[0])), step(int(curve.step[-1]))
    return f"from {loss(logged[0])} (step {steps[0]}) to {loss(logged[1])} (step {steps[1]})"


def by_means(value: FloatArray) -> tuple[float, float] | None:
    """Return the means of both ends of a reward where they lie apart beyond their errors.

    Of rewards such as 0 and 1 the medians of both may be the same.
    """
    width = max(1, len(value) // TENTH)
    first, last = value[:width], value[-width:]
    apart = abs(float(last.mean() - first.mean()))
    error = ((first.var() + last.var()) / width) ** 0.5 * noise.inflation(first - first.mean())
    return (float(first.mean()), float(last.mean())) if apart > ERRORS * error else None


def thrown_back(value: FloatArray, sign: float, first: float, last: float) -> float | None:
    """Return the best level of a curve whose end lost most of what had been gained; else None.

    `sign` is 1 for what should rise, else -1; `first` and `last` are the levels at both ends.
    """
    best = sign * float((sign * noise.smooth(value)).max())
    lost, gained = sign * (best - last), sign * (best - first)
    late = value[-max(FEWEST_POINTS, len(value) // 3) :]  # a return scatters as far as it is high
    scatter = max(noise.sigma(value), noise.sigma(late))
    return best if lost > UNDONE * gained and lost > ERRORS * scatter else None


def in_any_order(value: FloatArray) -> bool:
    """Whether points fall no more than those of a curve without a trend do by chance."""
    tau, p = ranked(value)
    return tau >= 0 or p > NO_TREND


def swings(curve: Curve, first: float) -> str:
    """Say that a loss had no trend after its first tenth, or swung as far as it fell.

    Both ends alone would tell the first points and where it happened to be in the end. What still
    falls, however much it scatters, is told by its ends.
    """
    rest = curve.at(slice(max(1, len(curve) // TENTH), None))
    value = rest.value
    if len(value) < 2 * TENTH:
        return ""
    fall = first - float(median(value))
    low, high = (float(one) for one in np.quantile(value, (OUTER, 1 - OUTER)))
    if not in_any_order(value):
        return ""
    if high - low < fall:
        return f"with no trend from step {step(rest.step[0])} on"
    ends_ = f"{loss(float(value.min()))} and {loss(float(value.max()))}"
    return f"but swung between {ends_} without a trend from step {step(rest.step[0])} on"


def _hardly_rose(value: FloatArray, first: float, last: float) -> str:
    """Say that a reward rose by less than a hundredth of what it was; "" where it may be a share.

    A share of answers that are right is near its highest value where it can rise no further.
    """
    share = value.min() >= 0 and value.max() <= 1
    if share or not 0 < last - first < RISEN * abs(first):
        return ""
    return f"which is a rise of {percent((last - first) / abs(first))}"


def _undone(value: FloatArray) -> str:
    """Say that the mean return of the last tenth lies far below that of a tenth before."""
    from runlens.rules.rl.reward_peak import means_lost  # of agents alone

    lost = means_lost(value, UNDONE)
    if lost is None:
        return ""
    return f"but the mean of a tenth had been {loss(lost.best)}, and ends at {loss(lost.last)}"


def _empty_code(signals: Signals) -> str:
    """Say that the KL term of an autoencoder vanished: its decoder ignores the code."""
    names = signals.run.history.metrics if signals.run.task == "gan-diffusion" else ()
    for name in (one for one in names if "kl" in words(one) and not one.startswith("eval")):
        value = signals.curve(name).value
        if len(value) < FEWEST_POINTS or value.max() < CARRIED:
            continue
        end = float(median(value[-max(3, len(value) // TENTH) :]))
        if end < EMPTY:
            return f"but {name} fell to {loss(end)}: the latent code carries nothing"
    return ""


def _hardly_found(signals: Signals) -> str:
    """Say that a score of objects, such as mAP, stayed low to the end."""
    if not any(map(quality, signals.run.history.metrics)):
        return ""
    from runlens.rules.evaluation import worst_score  # of no use to most runs

    return worst_score.low(signals.run, signals)


def _score_lost(signals: Signals) -> str:
    """Say that a logged accuracy lost more than half of what it had gained, and a tenth at least.

    A set that the loss is not of, such as the target of an adapted model, is told by nothing else.
    Of one class it says little where another gained by what it lost.
    """
    for name in signals.run.history.metrics:
        curve = signals.curve(name)
        value = curve.value
        if not RIGHT & set(words(name)) or len(value) < 2 * TENTH:
            continue
        share = as_share(value)
        level = noise.smooth(share)
        best, last = float(level.max()), float(median(share[-max(3, len(value) // TENTH) :]))
        lost = best - last
        if gained_beside(signals, name, float(curve.step[np.argmax(level)])):
            continue
        if lost > max(HALF * (best - float(share[0])), LITTLE, 2 * ERRORS * noise.sigma(share)):
            return f"but {spoken(name)} was {percent(best)} before, and ends at {percent(last)}"
    return ""


def _no_perplexity(signals: Signals) -> str:
    """Say that a perplexity is below 1, which none is: its loss is not one of probabilities."""
    for name in signals.run.history.metrics:
        value = signals.curve(name).value
        named = {"ppl", "perplexity"} & set(words(name))
        if named and len(value) and value.max() < BELOW_ONE:
            what = f"{spoken(name)} is {number(float(value[-1]))}, and none is below 1"
            return f"but {what}: the loss is not one of probabilities"
    return ""


def _near_guessing(signals: Signals, metric: str, first: float, last: float) -> str:
    """Say that a loss ended about where a guess lies; of evaluations, which no one sums, above."""
    if metric == "eval_loss":
        return chance.above_guessing(signals.run, last)
    return chance.hardly_left(signals.run, first, last) if metric == "train_loss" else ""


def _beside_loss(signals: Signals) -> str:
    """Say what columns beside a training loss deny of its fall; "" where none does."""
    return _empty_code(signals) or _hardly_found(signals) or _score_lost(signals)


def doubt(signals: Signals, metric: str, first: float, last: float) -> str:
    """Say what no rule named: most of a gain lost again, or a last evaluation far from the best."""
    value, sign = signals.curve(metric).value, -1.0 if metric == "reward" else 1.0
    if near := _no_perplexity(signals) or _near_guessing(signals, metric, first, last):
        return near
    if metric == "reward" and (told := _hardly_rose(value, first, last)):
        return told
    if metric == "reward" and len(value) >= FEW_RETURNS:
        return _undone(value)
    if (best := thrown_back(value, -sign, first, last)) is not None:
        return f"but it had been at {loss(best)} before (smoothed)"
    if metric == "train_loss" and (told := _beside_loss(signals)):
        return told
    evaluated = signals.curve("eval_loss")
    evals = evaluated.value
    enough = steps_of(evaluated) >= FEWEST_POINTS
    some = steps_of(evaluated) >= FEWEST_EVALUATIONS
    little = some and metric == "train_loss" and first - last < LITTLE * first
    if told := _no_better(evals) if little else "":
        return told
    if enough:
        last_two, lowest = float(evals[-2:].min()), float(evals.min())
        least = (1 + WORSE_EVAL) * lowest + ERRORS * noise.sigma_bend(evals)
        if lowest > 0 and last_two > min(least, FAR * lowest) and not _lifted(signals):
            return f"{ABOVE_BEST} {loss(float(evals[-1]))}, above its best of {loss(lowest)}"
    return ""


def _lifted(signals: Signals) -> str:
    from runlens.rules.loss import parts  # asked where an evaluation loss rose

    return parts.lifted(signals.run, "eval_loss")


def _no_better(evals: FloatArray) -> str:
    """Say that the last three evaluations are no better than the first; "" where they are."""
    began, ended = float(evals[0]), loss(float(evals[-1]))
    if len(evals) == FEWEST_EVALUATIONS:  # of which the last decides
        evals = evals[-1:] if evals.min() > began - ROUNDED * abs(began) else evals
    if evals[-3:].min() > began:
        return f"and eval loss ends at {ended}, above its first value"
    if median(evals[-3:]) > began and evals[-3:].min() > began - ROUNDED * abs(began):
        return f"and eval loss ends at {ended}, no better than at first"
    return ""


def scores(curves: Mapping[str, FloatArray]) -> frozenset[str]:
    """Return names of a precision, a recall and their F: ``pMSR``, ``rMSR``, ``fMSR``.

    Or ``ENTS_P``, ``ENTS_R``, ``ENTS_F`` of spaCy. The last is the harmonic mean of the others in
    every row, as no other numbers are.
    """
    sets: dict[str, dict[str, str]] = {}
    for name in curves:
        sets.setdefault(name[1:], {})[name[:1].lower()] = name
        of, apart, letter = name.rpartition("_")
        sets.setdefault(f"{of}{apart}", {})[letter.lower()] = name
    return frozenset(
        name
        for found in sets.values()
        if found.keys() >= {"p", "r", "f"} and _is_harmonic(*(curves[found[n]] for n in "prf"))
        for name in (found[n] for n in "prf")
    )


def _is_harmonic(precision: FloatArray, recall: FloatArray, f: FloatArray) -> bool:
    if not len(precision) == len(recall) == len(f) >= FEWEST_POINTS:
        return False
    apart = np.abs(f * (precision + recall) - 2 * precision * recall)
    return bool((apart <= ROUNDED * np.abs(f * (precision + recall))).all() and f.any())
