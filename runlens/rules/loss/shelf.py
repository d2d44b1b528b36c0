"""The flat part of a training loss, and the level that a sound run comes below."""

import numpy as np
from msgspec import Struct

from runlens.arrays import median
from runlens.history import FloatArray
from runlens.metrics import spoken
from runlens.naming import words
from runlens.records import NamedTuple
from runlens.rules.loss import chance
from runlens.rules.loss.falls import ONE_SIDED
from runlens.rules.rule import LANGUAGE_TASKS, PREFERENCE_TASKS
from runlens.run import Run
from runlens.signals import Signals, held_out
from runlens.signals.noise import MEDIAN_LOSS, inflation, sigma, smooth
from runlens.signals.trend import ranked
from runlens.usual_rates import ceiling
from runlens.wording import loss, percent

MISWIRED = 2.0  # nats above chance: a start that is higher comes of wrong weights or labels
LARGEST = 12.5  # nats, chance for 262,144 tokens: the largest vocabulary in use
MOST = 2 / 3  # of the fall: a bend that has less of it behind is not its end
NEAR = 0.1  # of the fall: as near the later level the loss has arrived, or within its noise
FEW_WRONG = 0.05  # wrong answers: so many are left of a task that is solved
OF_NUMBERS = frozenset(("rmse", "mse", "mae"))  # errors in the unit of the targets
ALONG = 0.5  # of the share that training fell by: evaluation began later, and has a gap
AT_EACH = 5  # evaluations, each lower than the one before: by chance once in 120 runs
FEWEST_EVALS = 4  # in whose second quarter one lies
LAST_OF_CYCLE = 10  # of a cycle of the rate: the level of its end is that of a tenth
FEWEST_CYCLES = 3  # ends of cycles, each lower than the one before
WHOLE = 2.0  # times the rate at earlier ends: a last cycle that stopped above it was cut
SURE = 0.01  # p of a fall since the first quarter
BEYOND = 3.0  # noise scales: less apart is equal
ACCURACIES = ("eval_accuracy", "train_accuracy")
MASK_KEYS = ("chat_template", "completion_only_loss", "assistant_only_loss", "dataset_text_field")
SCRATCH_START = 5.5  # a start from here on is that of an untrained model
ALMOST = 10.0  # times frozen: what means of whole epochs move by while weights still do
EVALS, SAME = 8, 0.02  # evaluations, and share of the first: less is no gain (rule eval-flat)
SUMMED = 1.7  # train over eval loss: no dropout does that, a sum over batches does


class Limits(Struct, frozen=True):
    """Thresholds, set in [limits.plateau]."""

    gained: float = 0.036
    onward: float = 0.25
    risen: float = 0.15
    left: float = 0.55
    little: float = 0.35
    fall: float = 2.0
    least_fall: float = 0.03
    sft: float = 2.5
    raw_text: float = 3.8
    ctc_low: float = 2.7
    unmoved: float = 0.01
    frozen: float = 1e-4
    early: float = 0.25
    coin: float = 0.5
    fewest_loud: int = 12


class Shelf(NamedTuple):
    """The flat part of a curve."""

    start: float
    level: float


class Bound(NamedTuple):
    """The level that a sound run comes below, and where that is known from."""

    level: float
    source: str


SPENT = Bound(0.0, "any level: it hardly moves, and evaluation was best at first")


def spent(signals: Signals) -> bool:
    """Whether no evaluation was better than the first, as near as evaluations are read."""
    value = signals.curve("eval_loss").value
    return len(value) >= EVALS and bool(value.min() >= (1 - SAME) * value[0] > 0)


def bound_of(run: Run, still: "Still", own: Bound, limits: Limits) -> Bound:
    """Return the level that sound runs of this task come below."""
    if run.task == "asr":
        return Bound(limits.ctc_low, "blanks alone give a CTC loss of 2.7 to 3.5")
    if run.task in PREFERENCE_TASKS:
        start = chance.of_preferences(run)
        return Bound(start.level - limits.unmoved, f"just below the start value, {start.name}")
    at = chance.of_run(run)
    from_scratch = still.start >= (chance.SCRATCH * at.lowest if at else SCRATCH_START)
    if run.task == "pretrain" and not from_scratch and at is not None:
        return Bound(still.start, "a model that was trained before goes on where it was")
    if run.task == "pretrain" and at is None and above_all(run):
        return own  # letters end lower; what no model bears excuses no level
    if run.task == "pretrain" and at is None:  # of an unknown vocabulary: sound levels of text
        return max(own, Bound(limits.raw_text, "models of text end below 3.8"))
    if run.task != "sft" or (from_scratch and still.start >= SCRATCH_START):
        return own if run.task != "sft" else min(own, _of_text(run, limits))
    return _of_text(run, limits)


def above_all(run: Run) -> bool:
    """Whether the peak rate is above what any model bears with that optimizer."""
    rates = run.curve("learning_rate").finite().value
    peak = max(run.number("learning_rate") or 0.0, float(rates.max(initial=0.0)))
    most = ceiling(run)
    return most is not None and peak > most.rate


def _of_text(run: Run, limits: Limits) -> Bound:
    masked = run.flag("train_on_inputs") is False or any(run.setting(key) for key in MASK_KEYS)
    if masked:
        return Bound(limits.sft, "fine-tuning on chat data ends at 0.5-2.0")
    return Bound(limits.raw_text, "fine-tuning on raw text ends below 3.2, small models below 3.8")


def no_mean(run: Run, signals: Signals, shelf: Shelf) -> bool:
    """Whether a loss is no mean over tokens or pairs, which alone has a level."""
    at = chance.of_run(run)
    if run.task in PREFERENCE_TASKS and at:
        return shelf.start > SUMMED * at.level
    evals = signals.curve("eval_loss").value
    tested = float(median(evals[-3:])) if run.task in LANGUAGE_TASKS and len(evals) else 0.0
    return tested > 0 and shelf.level >= SUMMED * tested


def too_high(run: Run, signals: Signals, shelf: Shelf) -> str:
    """Say why a loss may be a sum: no mean over tokens starts so high; else empty.

    Weights drawn too large, or labels of another tokenizer, start as high: it is a doubt alone.
    """
    if run.task not in LANGUAGE_TASKS | {"other"}:
        return ""
    at = chance.of_run(run)
    highest = (at.level if at else LARGEST) + MISWIRED
    if shelf.start > highest and not len(signals.curve("eval_loss")):  # which says that it is one
        beyond = f"2 above chance, {at.name}" if at else "above chance for any vocabulary"
        return (
            f"loss starts at {loss(shelf.start)}, above {loss(highest)} ({beyond}), as one does "
            f"that is summed or rescaled"
        )
    return ""


def at_floor(signals: Signals, value: FloatArray, gained: float) -> str:
    """Say why a flat loss, shape (n,), has nothing to gain, or still gains; empty where not."""
    return _solved(signals) or _fits_on(signals, value) or _cycles_fall(signals, gained)


def _cycles_fall(signals: Signals, gained: float) -> str:
    """Say that the loss got lower with each cycle of the learning rate; empty where not.

    A rate that restarts lifts the loss each time, so that the quarters of a run compare nothing:
    the ends of the cycles, where the rate is lowest, are alike. Three fall by chance in 1 of 6.
    Or all later ones lie below the last of the first quarter, by more than they lie apart and by
    what a plateau never gains: one end is a mean of few batches, and scatters.
    """
    train, rate = signals.curve("train_loss"), signals.curve("learning_rate")
    edges = [*signals.restarts, int(train.step[-1]) + 1]
    ends, rates = [], []
    for begin, until in zip([int(train.step[0]), *edges], edges, strict=False):
        cycle, plan = train.after(begin).before(until).value, rate.before(until).value
        if len(cycle) and len(plan):
            ends.append(float(median(cycle[-max(1, len(cycle) // LAST_OF_CYCLE) :])))
            rates.append(float(plan[-1]))
    if len(ends) > 1 and rates[-1] > WHOLE * max(rates[:-1]):  # the last one was not over
        ends.pop()
    if len(ends) < FEWEST_CYCLES:
        return ""
    if (np.diff(ends) >= 0).any():
        base, later = ends[max(0, len(ends) // 4 - 1)], ends[max(1, len(ends) // 4) :]
        gap = base - max(later)
        if gap <= max(float(np.ptp(later)), gained * abs(float(median(later)))):
            return ""
        told = f"{loss(min(later))} and {loss(max(later))}, after {loss(base)} early in the run"
        return f"at the ends of later cycles of the learning rate it was between {told}"
    told = f"from {loss(ends[0])} to {loss(ends[-1])}"
    return f"at the ends of {len(ends)} cycles of the learning rate it fell each time, {told}"


def _fits_on(signals: Signals, value: FloatArray) -> str:
    """Say that training goes on to fit what evaluation gains nothing by.

    Its loss falls beyond chance since the first quarter, and lies below that of evaluation, which
    had learned and gains no more: what is left is in the data, and more would be overfitting.
    """
    evals = signals.curve("eval_loss").value
    if len(evals) < FEWEST_EVALS:
        return ""
    tau, p = ranked(value[len(value) // 4 :])
    level, ends = float(median(value[-max(3, len(value) // 10) :])), float(median(evals[-3:]))
    before = float(median(evals[len(evals) // 4 : len(evals) // 2]))
    apart = BEYOND * sigma(value)
    learned, rests = before < evals[0] - apart, ends >= before - apart
    if tau < 0 and p < SURE and learned and rests and ends > level + apart:
        return f"eval loss stays above it at {loss(ends)} while train loss still falls"
    return ""


def _solved(signals: Signals) -> str:
    """Say which share of right answers leaves a flat loss nothing to gain; empty for none.

    Nearly all are right, and of the first errors half are gone: no frequent class has held it up.
    """
    for metric in ACCURACIES:
        right = signals.curve(metric).value
        if len(right) < 3:  # noqa: PLR2004 - a median
            continue
        wrong = 1 - held_out.as_share(right)
        if median(wrong[-3:]) <= min(FEW_WRONG, float(wrong[0]) / 2):
            return f"{spoken(metric)} is {percent(1 - float(median(wrong[-3:])))}"
    return ""


SLOW = 0.015  # of the level, since the second quarter: at that pace a loss still halves some day
IN_ORDER = -0.85  # Kendall's tau of a loss that falls nearly at each point


def shown(run: Run, signals: Signals, value: FloatArray, still: "Still", gained: float) -> str:
    """Say why nothing shows that a standstill of an unknown task is a fault; empty: it is shown.

    A share of its start is no level that anybody knows: a fine-tune of a good model falls little.
    Held-out data, which do not improve, and a start that no trained model has say more. And noise
    may hide a fall as large as what counts as one.
    """
    if told := _of_targets(run, signals, still):
        return told
    if run.task != "other":
        return ""
    evals = signals.curve("eval_loss").value
    if len(evals) >= AT_EACH and (np.diff(evals) < 0).all():
        return f"eval loss got lower at each of {len(evals)} evaluations"
    error = MEDIAN_LOSS * sigma(value) * inflation(value - smooth(value))
    error *= (4 / len(value) + 5 / len(value)) ** 0.5  # of a quarter, and of a fifth
    if still.gain + ONE_SIDED * error > gained * abs(still.level):
        return f"its noise would hide a fall of {loss(ONE_SIDED * error)}"
    first = float(value[0])
    high = SCRATCH_START <= first <= LARGEST
    untrained = high or chance.of_known_classes(first)
    if untrained or len(evals) >= FEWEST_EVALS:
        return ""
    return "what is trained is not known, and no second sign says that it should come lower"


def _of_targets(run: Run, signals: Signals, still: "Still") -> str:
    """Say that an error of numbers stands where the noise of its targets may; empty where not.

    How far they scatter by themselves nobody logs. The error of held-out rows came down as well,
    so that what was learned holds for them, and stays above: more than a constant was fitted.
    """
    of_numbers = bool(OF_NUMBERS & set(words(run.taken.get("train_loss", ""))))
    evals = signals.curve("eval_loss").value
    if run.task not in {"other", "regression"} or len(evals) < FEWEST_EVALS:
        return ""
    level = float(median(evals[-3:]))
    fell, held = 1 - still.level / still.start, 1 - level / float(evals[0])
    if not of_numbers or held < ALONG * fell or level <= still.level:
        return ""
    return "an error of numbers comes no lower than their noise, and eval loss came down with it"


class Still(NamedTuple):
    """A loss that stands still."""

    start: float  # the higher of the first two, as logged
    level: float  # median of the last fifth
    gain: float  # from the median of the second quarter to the level
    # index at which it had come down to the level of its last three quarters and bent; where it did
    # so within them, it only drifted there, and the bend alone counts
    knee: int


def falls_in_order(value: FloatArray, still: "Still") -> bool:
    """Whether a loss falls from point to point to its end: it is slow, and stands nowhere.

    Of 21 labeled plateaus none comes beyond 0.8 (Kendall's tau), of five healthy slow falls four
    lie beyond 0.9. What gains less than SLOW of its level, which is reasoned, stands all the same.
    """
    if still.gain < SLOW * abs(still.level):
        return False
    parts = value[len(value) // 4 :], value[len(value) // 2 :]
    return all(ranked(part)[0] <= IN_ORDER for part in parts)


def still_of(value: FloatArray) -> Still:
    """Return where a loss stands still from the second quarter to its end, shape (n,)."""
    count_of, scale = len(value), sigma(value)
    second, last = value[count_of // 4 : count_of // 2], value[-max(3, count_of // 5) :]
    level = float(median(last))
    start = float(value[:2].max())
    gain = float(median(second)) - level
    stands = float(median(value[count_of // 4 :]))
    course = smooth(value)
    near = np.flatnonzero(course <= stands + max(NEAR * (start - stands), scale))
    arrived, bend = int(near[0]) if len(near) else 0, _bend(course[: count_of // 2], start)
    first = count_of // 4  # what it still falls behind it is drift
    if arrived > first:
        fell = not bend or start - course[bend] >= MOST * (start - level)
        return Still(start, level, gain, bend if fell else arrived)
    return Still(start, level, gain, max(arrived, bend) if bend <= first else arrived)


def _bend(course: FloatArray, start: float) -> int:
    """Return where a course from `start` lies farthest below the line between its ends."""
    below = np.linspace(start, course[-1], len(course)) - course
    return 1 + int(np.argmax(below[1:])) if below[1:].max(initial=0.0) > 0 else 0
