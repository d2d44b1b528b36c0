"""Scores of the evaluation that training does not move: nothing is right, or nothing changes.

``mAP 0.000`` at each evaluation while the training loss falls: whatever was learned does not arrive
where it is measured. ``0.1102`` to the last digit at each: the model that is evaluated is always
the same one, or answers all alike. ``0.09`` from the first to the last, below what it began with,
beside a training loss that goes to nothing: what was learned holds for the training rows alone, as
it does where a low accuracy stands for most of the run. Or accuracy lies about a half and no
evaluation loss below ln 2, while training leaves both.
"""

from dataclasses import replace

import numpy as np

from runlens import fixes
from runlens.arrays import median, unique
from runlens.diagnosis import (
    Cause,
    Chart,
    Confidence,
    Evidence,
    Finding,
    Fix,
    Moment,
    Outcome,
)
from runlens.history import Curve
from runlens.metrics import Quality, plain, quality, spoken
from runlens.naming import words
from runlens.records import NamedTuple
from runlens.rules.evaluation import rare_class, still_error, unlike, worst_score
from runlens.rules.evaluation.sets import evaluations
from runlens.rules.evaluation.worst_score import ACCURACIES, STRICT
from runlens.rules.loss.chance import ABOUT, COIN, HALF, LEARNS
from runlens.rules.rule import unless
from runlens.run import Run
from runlens.signals import Signals, held_out
from runlens.signals.noise import sigma_diff
from runlens.signals.trend import mann_kendall
from runlens.wording import count, loss, number, percent, step

NOTHING = 0.01  # of 1, and of 100: not one answer of a hundred is right
RISES = 0.05  # chance of a trend from which a low score is on its way
FROZEN = 6  # evaluations of one value; two of 100 samples agree by chance in 1 of 18
SAME = held_out.SAME_LOSS  # relative range of what does not move
COARSE = 100  # samples below which a set has few scores: 0.93 of 15 stays where it is
SOLVED = 0.9  # a score above it may stay where it is: little is left to gain
BY_HEART = 0.9  # of the training loss: with so much of it gone its rows are known
BEGINS = 1.3  # times the loss of a coin: outputs of two classes begin near it
IMPROVED = 0.1  # of the first evaluation loss
LOW = 0.5  # a score below it has most of its answers wrong


class Fall(NamedTuple):
    """How far the training loss came, as medians, from the first evaluation's time on."""

    first: float
    last: float

    @property
    def share(self) -> float:
        """The fall as a share of the first level."""
        return (self.first - self.last) / self.first if self.first > 0 else 0.0


def of(run: Run, signals: Signals, fewest: int, span: float, least: float) -> Finding | None:
    """Return the finding of the first such score; None where there is none.

    ``fewest`` evaluations over ``span`` of the steps; for a score of nothing the training loss must
    have fallen by ``least``.
    """
    train = signals.curve("train_loss")
    for metric in run.history.metrics:
        named, score = quality(metric), _score(run, metric)
        if score is None:
            continue
        evals = evaluations(signals, metric).finite()
        if not named and len(train) and score.kind in ACCURACIES and not _of_others(evals, train):
            continue  # a training log's own
        if len(evals) < fewest or evals.step[-1] - evals.step[0] < span * _length(run):
            continue
        fall = Fall(0.0, 0.0)
        if len(train) >= fewest:
            first = median(train.value[: max(3, len(train) // len(evals))])
            fall = Fall(float(first), float(median(train.value[-3:])))
        learned = fall if fall.share >= least else None
        seen = _nothing_right(metric, score, evals, learned, alone=not len(train))
        seen = seen or (rare_class.of(run, metric, evals) if learned else None)
        if seen and not _nor_in_training(signals, metric):
            return rare_class.of(run, metric, evals) or seen
        if named and score.kind in ACCURACIES and (seen := _coin(run, signals, metric, evals)):
            return seen
        alone = bool(named or not len(train)) and score.sign > 0
        if alone and (seen := _still(signals, metric, evals, fall)):
            return seen
        if score.kind in ACCURACIES and (seen := _stopped(signals, metric, evals, train)):
            return seen
    seen = rare_class.after_first(run) or rare_class.by_recall(run)
    return seen or _worst(run, signals) or _still_error(run, signals)


def _still_error(run: Run, signals: Signals) -> Finding | None:
    if (one := still_error.of(run, signals, FROZEN)) is None:
        return None
    same = Evidence("Evaluations with the same value", len(one.evals), FROZEN, where=one.metric)
    title, why = _alike(one.metric, one.evals), still_error.WHY
    return _finding(*one, title, still_error.SEEN, (same,), why, (still_error.LOOK,))


def _worst(run: Run, signals: Signals) -> Finding | None:
    """Return the finding of a score at its worst late in a run, whatever the training loss did."""
    if (one := worst_score.of(run, signals)) is None:
        return None
    told = _nothing(one.metric, one.evals, None, wrong=one.wrong)
    if one.late:
        return replace(told, causes=()) if _nor_in_training(signals, one.metric) else told
    seen = "A slow start looks like this too: nothing shows that the run had the time to learn."
    return replace(told, severity="info", seen=seen, causes=())


def _loss_improved(signals: Signals) -> bool:
    """Whether an evaluation loss was once clearly lower than at first."""
    value = signals.curve("eval_loss").value
    return len(value) > 1 and bool(value.min() < (1 - IMPROVED) * value[0])


def told(stuck: Finding) -> Outcome:
    """Return the finding as an outcome, unless training does not learn either."""
    return unless(("not-learning", "stuck-at-chance"), "nor does training learn", stuck)


def _score(run: Run, metric: str) -> Quality | None:
    """Return what is known of a score, of evaluations or of nobody says which rows.

    Without a split in its name it may be of evaluations, unless one of the same name is.
    """
    told = f"eval_{plain(metric)}"
    score = quality(metric) or quality(told)
    of_training = not quality(metric) and told in run.history.metrics
    aimed = not {"target", "goal"}.isdisjoint(words(metric))  # what was asked for
    if score is None or of_training or aimed or score.kind in STRICT or "best" in score.of:
        return None
    return score


def _nothing_right(
    metric: str, score: Quality, evals: Curve, learned: Fall | None, *, alone: bool
) -> Finding | None:
    """Return the finding of a score that shows nothing right; `alone`: no loss is logged."""
    if score.sign < 0:  # a rate of errors, which may only be whole
        return _nothing(metric, evals, learned, wrong=True) if learned and _wrong(evals) else None
    if learned and _at_nothing(evals):
        return _nothing(metric, evals, learned)
    zero = alone and len(evals) >= FROZEN and not evals.value.any()
    return _nothing(metric, evals, None) if zero else None


def _nor_in_training(signals: Signals, metric: str) -> bool:
    """Whether the same score of the training rows is 0 at each point: no evaluation is at fault."""
    own = metric.removeprefix("eval_")
    curves = (signals.curve(name).value for name in (own, f"train_{own}") if name != metric)
    return any(len(value) >= FROZEN and not value.any() for value in curves)


def _still(signals: Signals, metric: str, evals: Curve, fall: Fall) -> Finding | None:
    """Return the finding of a score that stays where it is, of which some is right."""
    by_heart = fall.share >= BY_HEART and not _loss_improved(signals)
    if len(evals) >= FROZEN and by_heart and _never_rose(evals):
        return _by_heart(signals, metric, evals, fall)
    return _same(signals, metric, evals) if _frozen(evals) else None


def _coin(run: Run, signals: Signals, metric: str, accuracy: Curve) -> Finding | None:
    """Return the finding of evaluations that are a coin's while training is better; else None."""
    losses, train = signals.curve("eval_loss").value, signals.curve("train_loss").value
    if run.task != "classification" or len(losses) < FROZEN or len(train) < FROZEN:
        return None
    right = held_out.as_share(accuracy.value)
    ends = float(median(train[-max(3, len(train) // 10) :]))
    if train[0] > BEGINS * COIN:  # of more classes than two
        return None
    if losses.min() < COIN or abs(right - HALF).max() > ABOUT or ends > (1 - LEARNS) * COIN:
        return None
    name, end = spoken(metric), float(median(accuracy.value[-3:]))
    title = (
        f"Evaluation was never better than a coin: eval loss was {loss(float(losses.min()))} at "
        f"best (ln 2 is {loss(COIN)}), and {name} {number(end)} at the end, while train loss came "
        f"to {loss(ends)}."
    )
    evidence = (
        Evidence("Lowest eval loss", float(losses.min()), COIN, "ln 2", "eval_loss"),
        Evidence("Train loss at the end", ends, COIN, "ln 2", "train_loss", above=False),
    )
    seen = "What training learns of two classes does not carry over to a single evaluation."
    return _finding(metric, accuracy, title, seen, evidence, unlike.EITHER, unlike.cures())


def _of_others(accuracy: Curve, train: Curve) -> bool:
    """Whether an accuracy is too low to be that of the rows whose loss is logged.

    Who is wrong gives the right class at most a half, and so loses ln 2 at least: no more than
    loss / ln 2 of the rows are wrong (Markov's inequality). Twice that is room for noise.
    """
    if len(accuracy) < FROZEN or len(train) < FROZEN or train.value.min() < 0:
        return False
    wrong = 1 - float(median(held_out.as_share(accuracy.value)[-3:]))
    return wrong > 2 * float(median(train.value[-3:])) / COIN


def _stopped(signals: Signals, metric: str, evals: Curve, train: Curve) -> Finding | None:
    """Return the finding of a low accuracy that stands while the training rows are memorized.

    It stands for most of the run, at a level at which most answers are wrong.
    """
    if len(evals) < 2 * FROZEN or len(train) < FROZEN:
        return None
    value = held_out.as_share(evals.value)
    end = float(median(value[-3:]))
    reached = int(np.argmax(value >= end - sigma_diff(value)))
    stands = value[reached:]
    tau, chance = mann_kendall(stands)
    before = train.value[train.step <= evals.step[reached]][-3:]
    if not 0 < end < LOW or 2 * len(stands) < len(value) or not len(before):
        return None
    fall = Fall(float(median(before)), float(median(train.value[-3:])))
    if (tau > 0 and chance < RISES) or fall.share < BY_HEART:
        return None
    onset, own = float(evals.step[reached]), metric.startswith("train_")
    name = (plain(metric.removeprefix("train_")) if own else spoken(metric)).capitalize()
    stood = f"{name} stood at {number(end)} (median of the last 3)"
    title = f"{stood} from step {step(onset)} on{_while(fall)}."
    seen, why = unlike.KNOWN, unlike.EITHER
    if reached == 0:
        seen, why = unlike.words(signals, evals)
    if own:
        most = percent(fall.last / COIN)
        seen = (
            f"With a mean cross-entropy that low at most {most} of the rows are wrong: this is the "
            f"accuracy of held-out rows, or the loss is another. {seen}"
        )
    told = _of_memory(name, end, metric, fall)
    found = _finding(metric, evals, title, seen, told, why, unlike.cures())
    return replace(found, onset=Moment(onset))


def _of_memory(name: str, end: float, metric: str, fall: Fall) -> tuple[Evidence, ...]:
    low = Evidence(f"{name} at the end", end, LOW, "most answers are wrong", metric, above=False)
    return (low, Evidence("Fall of train loss", fall.share, BY_HEART, where="train_loss", unit="%"))


def _length(run: Run) -> float:
    return float(run.last_step - run.first_step)


def _at_nothing(evals: Curve) -> bool:
    value = evals.value
    if value.min() < 0 or value.max() > NOTHING:
        return False
    rise = float(median(value[-3:]) - median(value[:3]))
    return not value.any() or rise <= 0 or mann_kendall(value)[1] > RISES


def _wrong(evals: Curve) -> bool:
    """Whether a rate of errors is whole at each evaluation: 1, or 100 %."""
    value = evals.value / (100.0 if median(evals.value) > held_out.PERCENT else 1.0)
    return bool(value.min() >= 1 - NOTHING) and (value.max() <= 1 + NOTHING)


def _never_rose(evals: Curve) -> bool:
    """Whether most answers are wrong at the end, and no fewer than at the first evaluation.

    What is less than one answer of a hundred, or than neighbours differ by without a trend, is no
    gain.
    """
    value = held_out.as_share(evals.value)
    end, start, (tau, chance) = float(median(value[-3:])), value[:3], mann_kendall(value)
    untrended = end - float(median(start)) <= NOTHING or tau <= 0 or chance > RISES
    above = end - max(float(value[0]), float(median(start)))
    return 0 < end < LOW and untrended and above <= max(NOTHING, sigma_diff(value))


def _frozen(evals: Curve) -> bool:
    """Whether a score is the same to its fourth digit, of more samples than a toy set has."""
    value = float(evals.value[0])
    share = value if value <= 1 else value / 100
    fine = all(abs(value * of - round(value * of)) > 1e-6 * of for of in range(1, COARSE))
    still = float(np.ptp(evals.value)) <= SAME * value
    return still and len(evals) >= FROZEN and fine and 0 < share < SOLVED


def _nothing(metric: str, evals: Curve, fall: Fall | None, *, wrong: bool = False) -> Finding:
    """Tell of a score that shows nothing right; `wrong`: of a rate of errors."""
    best, name = float(evals.value.min() if wrong else evals.value.max()), spoken(metric)
    level = f"never {'fell below' if wrong else 'exceeded'} {number(best)}"
    if best == (evals.value.max() if wrong else 0):
        level = f"was {number(best)}"
    title = (
        f"{name.capitalize()} {level} in {count(len(evals), 'evaluation')}, from step "
        f"{step(float(evals.step[0]))} on{_while(fall)}."
    )
    seen = ""
    least = (1 - NOTHING) * (100.0 if best > held_out.PERCENT else 1.0) if wrong else NOTHING
    extreme, right = "Lowest" if wrong else "Highest", "not one of a hundred is right"
    evidence = [Evidence(f"{extreme} {name}", best, least, right, metric, above=wrong)]
    if fall:
        seen = f"Train loss fell by {percent(fall.share)}, but the evaluation shows none of it."
        evidence.append(Evidence("Fall of train loss", fall.share, where="train_loss", unit="%"))
    first = fixes.look(
        "Print outputs and labels of one evaluation batch",
        "look for empty or constant outputs, shifted class numbers or a wrong threshold",
    )
    second = fixes.look(
        "Evaluate on ten training rows",
        "if their score is 0 as well, the model has learned nothing or the evaluation is wrong",
    )
    why = "Outputs and labels of the evaluation do not match"
    return _finding(metric, evals, title, seen, tuple(evidence), why, (first, second))


def _while(fall: Fall | None) -> str:
    if fall is None:
        return ""
    return f", while train loss fell from {loss(fall.first)} to {loss(fall.last)} (medians)"


def _by_heart(signals: Signals, metric: str, evals: Curve, fall: Fall) -> Finding:
    name, first, end = spoken(metric), float(evals.value[0]), float(median(evals.value[-3:]))
    title = (
        f"{name.capitalize()} never rose: it was {number(first)} at the first of "
        f"{count(len(evals), 'evaluation')} and {number(end)} at the end{_while(fall)}."
    )
    seen, why = unlike.words(signals, evals)
    evidence = _of_memory(name.capitalize(), end, metric, fall)
    return _finding(metric, evals, title, seen, evidence, why, unlike.cures())


def _alike(metric: str, evals: Curve, last: str = "last") -> str:
    return (
        f"{spoken(metric).capitalize()} was {evals.value[0]:g} at each of "
        f"{count(len(evals), 'evaluation')}, from step {step(float(evals.step[0]))} on, the same "
        f"to the {last} digit."
    )


def _same(signals: Signals, metric: str, evals: Curve) -> Finding:
    title = _alike(metric, evals, "fourth" if np.ptp(evals.value) else "last")
    seen = (
        "If the weights had changed, some answers would normally differ. Either the weights do "
        "not change, or the model gives one answer for every input."
    )
    same = Evidence("Evaluations with the same value", len(evals), FROZEN, "no chance", metric)
    first = fixes.look(
        "Count how often each class is predicted in one evaluation",
        "if only one class is ever predicted, the model gives the same answer to every input",
    )
    second = fixes.look(
        "Print the norm of the weights that are evaluated, at two evaluations",
        "equal norms mean that training does not reach them",
    )
    moves = len(unique(signals.curve("eval_loss").value)) > 1  # so what is evaluated is not old
    one = "all answers are one class"
    why = one.capitalize() if moves else f"Evaluation runs on old or cached weights, or {one}"
    return _finding(metric, evals, title, seen, (same,), why, (first, second))


def _finding(
    metric: str,
    evals: Curve,
    title: str,
    seen: str,
    evidence: tuple[Evidence, ...],
    why: str,
    cures: tuple[Fix, ...],
) -> Finding:
    test = unlike.TEST if why == unlike.DIFFER else ""
    return Finding(
        severity="warning",
        title=title,
        metric=metric,
        onset=Moment(float(evals.step[0])),
        evidence=evidence,
        seen=seen,
        causes=(Cause(why, "likely", kind="evaluation", experiment=test),),
        fixes=cures,
        confidence=Confidence(
            round(min(1.0, 0.6 + 0.04 * len(evals)), 2), count(len(evals), "evaluation")
        ),
        chart=Chart("curves", (metric,)),
    )
