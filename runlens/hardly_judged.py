"""What a verdict says where no curve can be judged: few points, single values, columns."""

import re
from shlex import quote

import numpy as np

from runlens import course
from runlens.arrays import median
from runlens.history import Curve, FloatArray
from runlens.metrics import plain, quality, spoken
from runlens.naming import classify, words
from runlens.naming.direction import better
from runlens.naming.vocabulary import THRESHOLDS
from runlens.patterns import lazy_re
from runlens.rules.numerics.lost_columns import NAMELESS
from runlens.rules.rule import RL_TASKS
from runlens.run import Run
from runlens.signals import Signals
from runlens.verdict import AT_BEST, JUDGED, QUIET, telling
from runlens.wording import DOUBT, capitalised, count, listed, loss, step

SHOWN_COLUMNS = 6  # that a verdict without a loss lists
SYSTEM = (
    "system/",
    "gpu_",
    "host_mem",
    "eval_runtime",
    "eval_samples",
    "eval_steps",
)  # of the machine, no learning
# of a policy: what it is trained by, how it explores, how long it lives; none is what it earns
NO_REWARD = frozenset({
    "entropy", "kl", "len", "length", "lengths", "std", "var", "variance", "norm", "clip", "ratio",
    "epsilon", "eps", "q", "value", "values", "advantage", "advantages", "buffer", "memory",
})  # fmt: skip
NO_LOSS = lazy_re(
    r"(?:^|_)(?:time|speed|cost|seconds|secs?|eta|lr|rate|epochs?|steps?|iters?|fps|tokens"
    r"|support|id|idx|index|seed|fold|timestamps?|datetime)(?:_|$)|(?:^|_)lambda|precision|recall"
)  # as `plain` writes it
_PLAIN = lazy_re(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
BEST = frozenset({"best"})
OF_SEARCHES = BEST | {"so", "far", "fitness", "objective", "score", "value", "energy", "y"}
EXACT = 1e-8  # of the highest squared error: an error 10,000 times smaller
CLEAR = 0.01  # chance that a column falls as it does without a trend
ADVERSARIES = lazy_re(
    r"(?:^|[\W_])(?:adv|gan|[dg]|disc|gen|critic)(?:[\W_]|$)|discr|generat", re.IGNORECASE
)


def told(run: Run, signals: Signals) -> tuple[str, str]:
    """Say what can be said of too few points of a loss, or of none, and which columns there are."""
    if not len(run.history):
        return "The run cannot be judged, because no metric was logged.", ""
    main = max(telling(run), key=lambda name: len(run.curve(name)))
    until = f"up to step {step(run.last_step)}"
    if len(run.curve(main)):
        return _few(run, signals, main, until), ""
    if singles := _single_values(run, fewest=1):
        return f"The run cannot be judged. {singles}.", ""
    if tried := _grid(run):
        return f"The run cannot be judged. Its rows are values of {tried}, no course.", ""
    if said := _thrown_back(run, signals):
        return f"{DOUBT} {until}. {said}", _columns(run)
    if said := _beside(run, signals):
        return f"{QUIET} {until}. {said}", _columns(run)
    losses = sum("loss" in words(name) for name in run.history.metrics)
    if losses > 1 and run.task not in RL_TASKS:  # of which nothing says how much each counts
        said = f"It logged {count(losses, 'loss')} {until} and not their total"
        scored = f" {score}" if (score := _score(run, signals)) else ""
        return f"The run cannot be judged. {said}.{scored}", _columns(run)
    if said := _alike(run, signals):
        return f"{DOUBT} {until}. {said}", _columns(run)
    what = "reward" if run.task in RL_TASKS else "loss or reward"
    if said := _score(run, signals):
        return f"No {what} was recognized {until}. {said}", _columns(run)
    return f"The run cannot be judged. No {what} was recognized {until}.", _columns(run)


def _few(run: Run, signals: Signals, main: str, until: str) -> str:
    """Say what few points of the curve that tells most do."""
    curve = run.curve(main)
    points = len(curve)
    logged = f"It logged {count(points, 'point')} of {main}"
    shown = [loss(value) for value in curve.value.tolist()]
    if singles := _single_values(run):
        return f"The run is too short to judge. {singles}."
    if points >= course.FEWEST_POINTS:  # several of one step, as of several models
        value = curve.finite().value
        ends = f"{loss(float(value.min()))} to {loss(float(value.max()))}" if len(value) else "NaN"
        return f"The run is too short to judge. {logged} at {_steps(curve)} ({ends})."
    values = ", ".join(shown)
    rises = main in {"reward", "dpo_acc"}
    value = signals.curve(main).value
    change = np.diff(value if rises else -value)
    apart = len(set(shown)) == points  # a change that cannot be written is none
    sound = apart and _carries_over(run, signals) and main != "d_loss"
    if sound and points > 1:
        from runlens.rules.loss import one_answer  # of no use to most runs

        sound = one_answer.frozen(run, signals) is None
    if len(change) and (change > 0).all() and sound:
        moved = "rose" if rises else "fell"
        said = f"{capitalised(spoken(main))} {moved} from point to point ({values})"
        return f"{QUIET} {until}. {said}, but {points} points are too few to call it a trend."
    return f"The run is too short to judge. {logged} {until} ({values})."


def _steps(curve: Curve) -> str:
    """Say at how many steps a curve has its points."""
    many = course.steps_of(curve)
    return f"step {step(int(curve.step[0]))}" if many == 1 else count(many, "step")


def _carries_over(run: Run, signals: Signals) -> bool:
    """Whether evaluations do not speak against few points that only get better.

    They end at their best loss, as near as evaluations are read; or below their first, with a
    score of theirs at its best: the model is more certain of its last errors, and makes fewer.
    """
    evals = signals.curve("eval_loss").value
    if not len(evals) or evals[-1] <= (1 + AT_BEST) * evals.min():
        return True
    held = [name for name in run.history.metrics if name.startswith("eval_")]
    signs = {name: score.sign for name in held if (score := quality(name))}
    scores = [sign * signals.curve(name).value for name, sign in signs.items()]
    scores = [value for value in scores if len(value) > 1]
    best = all(value[-1] == value.max() > value[0] for value in scores)
    return bool(scores) and best and bool(evals[-1] < evals[0])


def _grid(run: Run) -> str:
    """Name the threshold that rows try one after the other; "" where they try none."""
    for name in run.history.metrics:
        value = run.curve(name).finite().value
        steps = np.diff(value)
        one_way = bool((steps > 0).all() or (steps < 0).all())
        if THRESHOLDS & set(words(name)) and len(value) >= course.FEWEST_POINTS and one_way:
            return _written(run, name)
    return ""


def _thrown_back(run: Run, signals: Signals) -> str:
    """Say which column whose name says what is better lost most of its gain; "" for none."""
    for name, sign in _ways(run, signals).items():
        value = signals.curve(name).value
        adversary = ADVERSARIES.search(name) or (sign < 0 and run.task in RL_TASKS)
        if not sign or len(value) < course.FEWEST_POINTS or adversary:
            continue
        first, last = course.ends(value, rewards=True)
        if (best := course.thrown_back(value, sign, first, last)) is not None:
            ends = f"was at {loss(best)} (smoothed) and ends at {loss(last)}"
            tenth = "" if last == value[-1] else " (median of the last tenth)"
            return f"{capitalised(_written(run, name))} {ends}{tenth}."
    return ""


def _alike(run: Run, signals: Signals) -> str:
    """Say that a value function is exact to the last digits; "" where it is not.

    Returns differ from state to state, and what predicts them keeps an error; constants have none.
    """
    value = signals.curve("value_loss").value if run.task in RL_TASKS else np.empty(0)
    if len(value) < course.FEWEST_POINTS or value.max() <= 0:
        return ""
    end = float(median(value[len(value) // 2 :]))
    if end > EXACT * float(value.max()):
        return ""
    told = f"Value loss fell to {loss(float(value[-1]))}, as where all its targets are the same"
    return f"{told}. Print the value targets of one batch: they must differ from state to state."


def _score(run: Run, signals: Signals) -> str:
    """Say what the main score of held-out data did, where no loss was logged: ``eval_map``.

    The first, the last and the best of what was logged. Of what names no data it may be of samples.
    """
    curves = {
        name: curve
        for name in run.history.metrics
        if len(curve := signals.curve(name)) >= course.FEWEST_POINTS
        and not BEST & set(words(name))
        and np.ptp(curve.value) > 0  # what was asked for stands
        and (score := quality(name))
        and score.sign > 0
    }
    main = min(curves, key=lambda name: (len(words(name)), name), default="")
    if not main:
        return ""
    curve, value = curves[main], curves[main].value
    at, last = int(np.argmax(value)), len(value) - 1
    moved = "rose" if value[-1] > value[0] else "fell" if value[-1] < value[0] else "came back"
    ends = f"{_written(run, main)} {moved} from {loss(float(value[0]))} to {loss(float(value[-1]))}"
    top = f"{loss(float(value[at]))} at step {step(int(curve.step[at]))}"
    return f"{capitalised(ends)}{'' if at == last else f', and was best, {top}'}."


def _ways(run: Run, signals: Signals) -> dict[str, float]:
    """Return which way is better, by name: 1, -1; 0 where nobody knows.

    Beside scores on held-out data the loss of a component says little: spaCy adds up as many
    batches as there were between two rows.
    """
    values = {name: signals.curve(name).value for name in run.history.metrics}
    if up := course.scores(values):  # what is sought: parts of a loss may be sums of any size
        return {name: 1.0 for name in values if name in up}
    held = any(name.startswith("eval_") and quality(name) for name in values)
    return {
        name: best_so_far(name, value) or better(name)
        for name, value in values.items()
        if not (held and _of_component(name))
    }


def _of_component(name: str) -> bool:
    """Whether a name is that of a loss, and neither of the whole nor of held-out data."""
    return "loss" in words(name) and not classify(name).sure and not classify(name).split


def best_so_far(name: str, value: FloatArray) -> float:
    """Return the way that a best so far went: 1, -1; 0 where it went both, or is none.

    ``BestFitness`` of a search is lowered by one and raised by another, and never gets worse. Whole
    numbers that only rise may count.
    """
    if not BEST < set(words(name)) <= OF_SEARCHES or len(value) < course.FEWEST_POINTS:
        return 0.0
    steps = np.sign(np.diff(value))
    moves = set(steps[steps != 0].tolist())
    if len(moves) != 1 or (moves == {1.0} and not (value % 1).any()):
        return 0.0
    return float(moves.pop())


def _beside(run: Run, signals: Signals) -> str:
    """Say how the columns got better whose names say which way that is; empty if one did not.

    Both networks of an adversarial pair cannot, and the losses of a policy are none to minimize.
    Of a best so far its own course says it. Where nothing does, a column that falls for good is
    told: so does a loss.
    """
    told: list[str] = []
    ends: list[tuple[float, float, float, float]] = []  # as told, and as logged
    for name, sign in _ways(run, signals).items():
        value = signals.curve(name).value
        if len(value) < course.FEWEST_POINTS or ADVERSARIES.search(name):
            continue
        if not sign or (sign < 0 and run.task in RL_TASKS):
            continue
        first, last = course.ends(value, rewards=True)
        if best_so_far(name, value):
            first, last = float(value[0]), float(value[-1])  # of which none is an odd one
        if sign * (last - first) <= 0:
            return ""
        moved = "rose" if sign > 0 else "fell"
        told.append(f"{_written(run, name)} {moved} from {loss(first)} to {loss(last)}")
        ends.append((first, last, float(value[0]), float(value[-1])))
    told = told or _falling(run, signals)
    what = listed(told[:SHOWN_COLUMNS])
    return f"{capitalised(what)}{_medians(ends)}." if what else ""


def _medians(ends: list[tuple[float, float, float, float]]) -> str:
    """Say which ends are no single logged values; "" where all are."""
    if not ends or any(loss(first) != loss(logged) for first, _, logged, _ in ends):
        return " (medians of the first and the last tenth)"
    moved = any(loss(last) != loss(logged) for _, last, _, logged in ends)
    return " (medians of the last tenth)" if moved else ""


def _falling(run: Run, signals: Signals) -> list[str]:
    """Say how columns without a name fell, of any task with a loss; nothing where one did not."""
    told = []
    for name in run.history.metrics if run.task not in RL_TASKS else ():
        value = signals.curve(name).value
        steady = bool((np.diff(value) >= 0).all()) and not (value % 1).any()  # it counts
        if not name.startswith(NAMELESS) or steady:
            continue
        overall = signals.shape(name).fell_overall() if len(value) >= course.FEWEST_POINTS else None
        if not overall or overall.effect.change >= 0 or overall.chance >= CLEAR:
            return []
        first, last = course.ends(value, rewards=True)
        if course.doubt(signals, name, first, last) or len(value) < len(run.curve(name)):
            return []
        told.append(f"{name} fell from {loss(first)} to {loss(last)}")
    return told


def _written(run: Run, name: str) -> str:
    """Write a column for a sentence: ``eval accuracy``; as logged where it is no plain word.

    An accuracy is said to be of the training rows only beside what is not, or beside their loss.
    """
    others = {one: set(words(one)) for one in run.history.metrics if one != name}
    held_out = any(
        one.startswith(("eval_", "test_")) and "acc" in said for one, said in others.items()
    )
    if (
        name == "train_accuracy"
        and not held_out
        and not any("loss" in one for one in others.values())
    ):
        return "accuracy"
    return spoken(name) if _PLAIN.fullmatch(name) else f'"{name}"'


def _columns(run: Run) -> str:
    """Name the columns that were read, with their ranges, and what settles which is the loss.

    Of a policy its losses, its entropy and how long it lives are told, and are no reward.
    """
    policy = run.task in RL_TASKS
    curves = {name: run.curve(name).finite() for name in run.history.metrics}
    scores = course.scores({name: curve.value for name, curve in curves.items()})
    told = {
        name: curve.value
        for name, curve in curves.items()
        if len(curve) > 1
        and not name.startswith(SYSTEM)
        and not NO_LOSS.search(plain(name))
        and (policy or better(name) <= 0)
        and name not in scores
        and curve.value.min() < curve.value.max()
        and not (np.diff(curve.value) == 1).all()  # the number of its row
    }
    usable = [name for name in told if not policy or may_be_reward(name)]
    # a loss first, or of a policy what may be its reward
    likely = sorted(told, key=lambda n: n not in usable if policy else "loss" not in words(n))
    shown = [
        f"{name} ({loss(float(told[name].min()))} to {loss(float(told[name].max()))}"
        f"{_not_finite(run.curve(name))})"
        for name in likely[:SHOWN_COLUMNS]
    ]
    ours = "reward" if policy else "train_loss"
    what = f"the {spoken(ours)}"
    if not shown:
        return ""
    if len(told) == 1:
        named = quote(f"{ours}={likely[0]}")
        which = f" If it is {what}, pass --column {named}." if usable else ""
        return f"The run logged one column, {shown[0]}.{which}"
    unshown = len(told) - len(shown)
    named_all = f"{', '.join(shown)} and {unshown} more" if unshown else listed(shown)
    nameless = likely[0].startswith(NAMELESS)
    if not usable:
        return f"The run logged {named_all}."
    shows = nameless or len(usable) == 1 or (not policy and "loss" in words(likely[0]))
    named = quote(f"{ours}={likely[0] if shows else 'NAME'}")
    such = "pass for example" if nameless else "pass"
    which = f"If one of them is {what}, {such} --column {named}."
    return f"The run logged {named_all}. {which}"


def may_be_reward(name: str) -> bool:
    """Whether a column may be what a policy earns, as far as its name says.

    >>> may_be_reward("avg_score"), may_be_reward("policy_loss")
    (True, False)
    """
    return better(name) >= 0 and not NO_REWARD & set(words(name))


def _not_finite(curve: Curve) -> str:
    """Say where a column became NaN or infinite, which is a fault whatever the column is."""
    lost = curve.step[~np.isfinite(curve.value)]
    points = f"{len(lost):,} of {count(len(curve), 'point')}"
    return f", not finite at {points} from step {step(lost[0])} on" if len(lost) else ""


def _single_values(run: Run, fewest: int = 2) -> str:
    """Say what was logged once, as results are; empty where a column holds more than one value.

    Or where there are fewer columns: of one that is judged the caller says how few points it has.
    Metrics that are judged come first, then others of which it is known which way is better.
    """
    told = [name for name in run.history.metrics if not name.startswith(SYSTEM)]
    told.sort(key=lambda name: (name not in JUDGED, not better(name)))
    curves = {name: run.curve(name) for name in told}
    if len(curves) < fewest or any(len(curve) > 1 for curve in curves.values()):
        return ""
    shown = [f"{_written(run, name)} {loss(float(one.value[0]))}" for name, one in curves.items()]
    more = [f"{len(shown) - SHOWN_COLUMNS} more"] if len(shown) > SHOWN_COLUMNS else []
    each = " each" if len(shown) > 1 else ""
    return f"It logged one value{each}: {listed(shown[:SHOWN_COLUMNS] + more)}"
