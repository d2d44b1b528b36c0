"""Stuck at chance: the loss is that of a model that guesses.

What is seen
    Training loss lies at ln of the number of classes, of the vocabulary, or at the start value of a
    preference loss, over the whole second half of the run. Or both losses of a classifier came down
    to a level at which no more answers are right than exp(-loss) admits.
Why it matters
    The outputs carry nothing of the input: a wiring, label or learning-rate fault that no
    longer training cures.
Looks alike
    The first tenth of a run that starts from nothing. A two-class loss near 0.69 with an accuracy
    clearly above chance is a matter of calibration. A loss that still falls is slow, not stuck.
    Without a recorded number of classes a level says nothing, unless accuracy lies at one over that
    number too, or a loss that no longer moves is ln of a setting to four digits, of 10, 100 or
    1,000, after long or from its first point on, or of a usual batch of pairs, or, of a classifier,
    of any number of classes (of an unknown task that never left it: a warning where four digits
    name it, else an info), or training and evaluation loss both name one number and never left it,
    or it began at ln of a well-known vocabulary and is still there. One and the same score at every
    evaluation is one answer for all. An area under the ROC curve is one half by chance, whatever
    the classes, and R² zero.
Limits
    fewest: points; below short of them a trend (trend: its p) means that it has just begun, unless
    all agree with chance to four digits (exact). share, least: distance from chance that counts as
    chance, as a share and in nats; never more than most. done: share of the planned steps below
    which nothing is said, unless it has done a long stretch of steps: with a working rate loss
    leaves chance within some hundred. learned: accuracy over chance from which it has learned.
    accuracy: distance from one over the number of classes. back_from: a run that lay this share
    below chance before has fallen back to it. By definition of cross-entropy; the 1 % is below
    any fall that practice calls learning, 0.1 % of healthy curves lie at ln 2 by coincidence, so
    the number of classes must be known; 10, 100 and 1,000 are taken by the level alone, after long.
Fixes
    Overfit one batch; check labels, frozen parameters and the head; learning rate to a tenth
    where the loss fell first and came back. Only an untrained model starts at ln of its
    vocabulary (10.4 for 32,000): a fine-tune that starts above 6 has another template or
    tokenizer, or a new head.
"""

import numpy as np
from msgspec import Struct

from runlens.arrays import median, quantile
from runlens.diagnosis import (
    Chart,
    Evidence,
    Finding,
    Moment,
    Outcome,
    RuledOut,
)
from runlens.history import Curve
from runlens.metrics import spoken
from runlens.rules.loss import (
    by_accuracy,
    causes_of_chance,
    chance,
    evaluated,
    guessed,
    near_guess,
    one_answer,
    surroundings,
)
from runlens.rules.loss.chance import Chance
from runlens.rules.relations import NAN, Relations
from runlens.rules.rule import (
    LANGUAGE_TASKS,
    PREFERENCE_TASKS,
    Rule,
    drawn,
    found,
    passed,
    unless,
    unmet,
)
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.noise import smooth
from runlens.signals.shape import kendall
from runlens.wording import loss, step, too_few

STARTS = 1.25  # times the level: what an unknown task has converged to began further above
SHORT_WARMUP = 0.5  # of the covered steps: one that warms up longer is not judged


class Limits(Struct, frozen=True):
    """What may be tuned."""

    fewest: int = 3
    short: int = 20
    exact: float = 5e-4
    share: float = 0.01
    least: float = 0.01
    most: float = 0.02
    done: float = 0.1
    long: int = 500
    learned: float = 1.2
    accuracy: float = 0.03
    back_from: float = 0.1
    trend: float = 0.1


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Ask the training loss, then whether any answer was right, or all evaluations were one."""
    if (same := one_answer.frozen(run, signals)) and same.trained:
        return found(one_answer.finding(same))
    outcome = _by_loss(run, signals, limits)
    none = None if outcome.findings or outcome.yields_to else guessed.none_right(run)
    return unless(NAN, "the loss tells it: it became NaN", none) if none else outcome


def _by_loss(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Compare the second half of the training loss with the loss at chance."""
    train = surroundings.judged(signals)
    at = _chance(run, signals, train, limits)
    if at is None and (told := guessed.finding(run) or evaluated.of_answers(run, signals)):
        others = (*NAN, "not-learning") if run.task == "regression" else NAN
        return unless(others, "the loss tells it: it became NaN, or does not fall", told)
    if at is None:
        return unmet("neither the number of classes nor the vocabulary size is recorded")
    half = train.value[len(train) // 2 :]
    if len(train) < limits.fewest:
        few = unmet(too_few(len(train), "training loss", limits.fewest))
        told = evaluated.of_answers(run, signals)
        return found(told) if told else few
    exact = quantile(np.abs(half - at.level), causes_of_chance.MOST) <= limits.exact * at.level
    done = run.state.done_share
    if done is not None and done < limits.done and chance.updates(run) < limits.long:
        return unmet(f"{run.last_step} steps are less than a tenth of the plan")
    if signals.warmup.present and signals.warmup.end > SHORT_WARMUP * run.last_step:
        return unmet(f"warm-up lasts up to step {step(signals.warmup.end)}")
    level, slack = float(median(half)), _slack(at, limits)
    if not at.lowest - slack <= level <= at.level + slack:
        high = chance.high_start(run, float(train.value[0]))
        settled = passed(f"loss settled at {loss(level)}; chance is {at.name}{high}")
        return guessed.of_coin(run) or settled  # single batches scatter about it
    width = max(1, len(half) // 3)
    fell = float(median(half[:width]) - median(half[-width:]))
    fell = min(fell, float(train.value[0] - median(half[-width:])))  # a hump is no fall
    if fell > slack or float(median(half[-width:])) < at.lowest - slack:
        falls = passed(f"loss still fell by {loss(fell)} in the second half")
        return found(told) if (told := near_guess.finding(run, signals)) else falls
    moving = kendall(half if at.wide else train.value)[1] < limits.trend
    moving = moving and not (at.wide and by_accuracy.nothing_held_out(signals, at, limits.trend))
    if len(train) < limits.short and not exact and moving:
        moves = passed(f"{len(train)} losses, and they move in one direction")
        return found(told) if (told := evaluated.of_answers(run, signals)) else moves
    metric, accuracy = by_accuracy.of_run(run, signals)
    base = _base_accuracy(run, at)
    if not exact and accuracy is not None and base and accuracy > limits.learned * base:
        return passed(f"{metric} is {accuracy:.3f}, above {base:.3f} at chance")
    return found(_finding(run, signals, train, at, level, slack, limits))


def _slack(at: Chance, limits: Limits) -> float:
    """Return the distance from chance that still counts as chance."""
    if at.wide:
        return limits.most * at.level
    return min(max(limits.share * at.level, limits.least), limits.most * at.level)


def _chance(run: Run, signals: Signals, train: Curve, limits: Limits) -> Chance | None:
    """Return chance by the settings; by loss and accuracy together where those disagree."""
    known = chance.of_run(run)
    if run.task == "regression":
        return None  # its loss is no entropy
    if summed := chance.of_sum(run, train, limits.share, limits.most):
        return summed
    if known is None:
        return _by_level(run, signals, train, limits)
    if run.task == "classification":  # a key of that name may count something else
        by_number = chance.of_own_number(train, limits.share)
        return _by_accuracy(run, signals, train, limits) or by_number or known
    return known


def _by_level(run: Run, signals: Signals, train: Curve, limits: Limits) -> Chance | None:
    """Return chance where the settings do not say it and the curve leaves no other reading."""
    if run.task == "classification":
        by_number = chance.of_own_number(train, limits.share)
        by_number = by_number or chance.of_own_number(signals.curve("eval_loss"), limits.share)
        return _by_accuracy(run, signals, train, limits) or by_number
    if not len(train):
        return None
    if run.task == "other" and (told := _by_accuracy(run, signals, train, limits)):
        return told  # by an error rate: of a classifier, whatever else the run tells
    half = train.value[len(train) // 2 :]
    level, moved = float(median(half)), float(np.ptp(half))
    began = chance.of_start(float(train.value[0])) if chance.updates(run) >= limits.long else None
    if began and abs(level - began.level) <= limits.share * began.level:
        return began
    if run.task in LANGUAGE_TASKS:
        share = limits.share if run.task == "pretrain" else limits.exact
        return chance.of_known_vocabulary(level) if moved <= share * level else None
    if run.task == "contrastive" and moved <= limits.share * level:
        return chance.of_pairs(level)
    if moved > limits.exact * level:
        stays = run.task == "other" and float(train.value[0]) < STARTS * level
        return chance.of_own_number(train, limits.share) if stays else None
    evals = signals.curve("eval_loss")
    if len(train) >= limits.fewest <= len(evals) and (
        both := chance.of_two_losses(train, evals, limits.share)
    ):
        return both
    never_left = np.abs(train.value - level).max() <= limits.exact * level
    long = never_left or chance.updates(run) >= limits.long
    known = chance.of_known_classes(level) if long else None
    named = never_left and len(train) >= limits.short and chance.names_number(level)
    own = chance.of_own_number(train, limits.share) if named else None
    return chance.of_settings(run, level) or known or own


def _by_accuracy(run: Run, signals: Signals, train: Curve, limits: Limits) -> Chance | None:
    """Return chance by an accuracy that explains the loss too."""
    shares = limits.accuracy, limits.share, limits.most
    return by_accuracy.chance_of(run, signals, train, *shares)


def _base_accuracy(run: Run, at: Chance) -> float | None:
    if run.task == "classification":
        return float(np.exp(-at.level))
    return 0.5 if run.task in PREFERENCE_TASKS else None


def _finding(
    run: Run,
    signals: Signals,
    train: Curve,
    at: Chance,
    level: float,
    slack: float,
    limits: Limits,
) -> Finding:
    shown = smooth(train.value)
    onset_at = chance.onset(train, at, slack)
    onset = float(train.step[onset_at])
    low = float(shown.min())
    back = onset_at > 0 and low < (1 - limits.back_from) * at.lowest
    metric, accuracy = by_accuracy.of_run(run, signals)
    severity = at.severity or causes_of_chance.severity(run, train, level, limits.exact)
    distance = max(level - at.level, at.lowest - level, 0.0)
    first, first_step = float(train.value[0]), float(train.step[0])
    evidence = [
        Evidence(
            "Distance from the loss at chance",
            distance,
            slack,
            f"chance is {at.name}; 1 % counts as chance",
            "train_loss",
            above=False,
        ),
        Evidence("Median train loss of the second half", level, where="train_loss"),
        Evidence("First train loss", first, where="train_loss", step=first_step),
    ]
    if accuracy is not None:
        evidence.append(Evidence("Accuracy in the second half", accuracy, where=metric))
    evidence += surroundings.norm_evidence(signals)
    base = _base_accuracy(run, at)
    better = level < at.lowest and (accuracy is None or base is None or accuracy > base)
    hardly = "hardly" if better else "no"
    known = f", and the median {spoken(metric)} is {accuracy:.3f}" if accuracy is not None else ""
    return Finding(
        severity=severity,
        title=f"Train loss stayed at chance from step {step(onset)} on. Its median is "
        f"{loss(level)}, and guessing gives {at.name}.",
        metric="train_loss",
        onset=Moment(onset),
        evidence=tuple(evidence),
        seen=f"The model was {hardly} better than guessing in the second half of the run{known}."
        + f" {at.told}".rstrip(),
        causes=causes_of_chance.causes(run, signals, back=back, low=low),
        fixes=(*at.looks, *causes_of_chance.cures(run, signals, back=back)),
        ruled_out=_ruled_out(metric, accuracy),
        confidence=surroundings.confidence(
            2.0 - distance / slack, len(train), 1 if accuracy is None else 2, 2, "the distance"
        ),
        chart=Chart("limit", ("train_loss",), limit=at.level),
    )


def _ruled_out(metric: str, accuracy: float | None) -> tuple[RuledOut, ...]:
    out = [RuledOut("Slow learning", "loss did not fall in the second half")]
    if accuracy is not None:
        out.append(
            RuledOut(
                "Accuracy above chance", f"the median {metric} of {accuracy:.3f} is at chance too"
            )
        )
    return tuple(out)


CLASSES = {"num_labels": 4}
AT_LN4 = "0:1.4 300:1.386 900:1.386"


BAD = (
    *one_answer.BAD,
    *evaluated.BAD,
    *causes_of_chance.BAD,
    *by_accuracy.BAD,
    drawn("four classes", (0, 100), task="classification", config=CLASSES, train_loss=AT_LN4),
    drawn(
        "vocabulary, window unknown",
        (0, 100),
        0.002,
        severity="critical",
        task="pretrain",
        config={"vocab_size": 509},
        train_loss="0:6.15 900:6.11",
    ),
    drawn(
        "fell first and came back",
        (380, 480),
        task="classification",
        config=CLASSES,
        train_loss="0:1.4 300:0.8 400:0.8 430:1.386 1200:1.386",
    ),
    drawn(
        "a number of the settings explains a loss that no longer moves",
        task="other",
        config={"nmb_prototypes": 50},
        train_loss="0:4.3 100:3.912 900:3.912",
        noise=0,
    ),
    drawn(
        "creeps away from a known vocabulary, ln 16,000 = 9.680",
        task="other",
        severity="critical",
        noise=1e-5,
        train_loss="0:9.6801 900:9.62",
    ),
    drawn(
        "few losses of an unknown task, all of them at ln 10 to four digits",
        task="other",
        noise=2e-5,
        train_loss="0:2.3026 150:2.3025",
    ),
    drawn(
        "two losses at ln 2 to three digits, from the first epoch on",
        (0, 0),
        task="other",
        severity="critical",
        noise=0,
        train_loss="0:0.694 10:0.693 400:0.693",
        eval_loss="50:0.693 400:0.693",
    ),
    drawn(
        "classes by accuracy",
        task="classification",
        noise=0.005,
        train_loss="0:2.4 100:2.303 900:2.303",
        eval_accuracy="50:0.1 900:0.1",
    ),
    drawn(
        "pairs of a batch that nobody wrote down",
        (0, 100),
        noise=0.0005,
        task="contrastive",
        severity="critical",
        train_loss="0:5.545 900:5.545",
    ),
)
GOOD = (
    *one_answer.GOOD,
    *evaluated.GOOD,
    *causes_of_chance.GOOD,
    *by_accuracy.GOOD,
    drawn(
        "pairs whose loss falls by more, about ln 256",
        task="contrastive",
        noise=0.0005,
        config={"per_device_train_batch_size": 64},
        train_loss="0:5.7 900:5.5",
    ),
    drawn("learns", task="classification", config=CLASSES, train_loss="0:1.39 300:0.6 900:0.3"),
    drawn(
        "accuracy above chance",
        task="classification",
        noise=0.005,
        config={"num_labels": 2},
        train_loss="0:0.7 300:0.69 900:0.69",
        eval_accuracy="50:0.55 900:0.72",
    ),
    drawn("slow start", task="pretrain", config={"vocab_size": 50257}, train_loss="0:10.8 900:7.5"),
    drawn("above chance", task="classification", config=CLASSES, train_loss="0:1.6 900:1.6"),
)

RULE = Rule(
    slug="stuck-at-chance",
    title="Stuck at chance",
    family="LOS",
    severity="critical",
    page=__doc__,
    limits=Limits(),
    check=check,
    relations=Relations(at_once=("not-learning",), absorbs=("plateau",), layer="course"),
    tasks=LANGUAGE_TASKS
    | PREFERENCE_TASKS
    | {"classification", "contrastive", "other", "regression"},
    bad=BAD,
    good=GOOD,
)
