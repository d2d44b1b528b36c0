"""Evaluation gap: evaluation loss far above training loss, and the gap widens.

What is seen
    Both losses fall or lie flat, evaluation loss ends well above training loss, and the distance
    grows from evaluation to evaluation. Or it does not grow, but accuracy is as far behind, or
    accuracies are all that is logged. Or of two evaluations the second rose by more than batches
    scatter, and training loss halved. A warning where evaluation stood for most of the run while
    training loss came down to a tenth behind it.
Why it matters
    Training gains that do not carry over are the first sign of memorization; overfitting
    follows where nothing changes.
Looks alike
    A gap of the same size from the first look on is an offset: another reduction, another mask,
    another domain. An evaluation loss that rises is overfitting, and said there. A training loss
    that is summed over accumulation steps lies above evaluation loss, not below.
Limits
    fewest: evaluations needed. gap: the gap at the end exceeds this share of training loss and
    at_least (nat; of a loss that begins below 0.3, so in its own unit, evaluation must be twice as
    high). tau: the gap must widen (Kendall), or come to be as wide as training loss is high.
    widened: by this share of its final size, or it is an offset. rise: evaluation loss that ends
    this share above its best is overfitting, where hockey-stick finds it. opened: the onset is the
    first evaluation from which on the gap stays above this share of its final size. apart:
    accuracies so far apart need no trend, and one evaluation: both count the same answers. 0.2 is
    four standard errors of a set of 100.
Fixes
    Fewer epochs; dropout, weight decay; more data; a split drawn from the same source.
"""

import numpy as np
from msgspec import Struct

from runlens import fixes
from runlens.arrays import median
from runlens.diagnosis import (
    Chart,
    Confidence,
    Evidence,
    Finding,
    Fix,
    Mark,
    Moment,
    Outcome,
    RuledOut,
)
from runlens.history import Curve, FloatArray
from runlens.rules.evaluation import implied_gap, score_gap, two_looks, widening
from runlens.rules.evaluation import score as scores
from runlens.rules.evaluation.climbs import stands
from runlens.rules.evaluation.score_gap import Scores
from runlens.rules.evaluation.sets import (
    bottom_of,
    counted_as,
    evaluation_sets,
    evaluations,
    spoken,
    train_level,
    worst_set,
)
from runlens.rules.relations import Relations
from runlens.rules.rule import LOSS_TASKS, Rule, drawn, found, passed, unless, unmet
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.changes import last_false
from runlens.signals.trend import kendall, ranked
from runlens.wording import capitalised, count, loss, number, percent, step, too_few

LATER = 2.0  # noise scales: of a level curve the lowest points of both halves lie nearer
FEW = 6  # evaluations below which a sentence says how few they are
ORDER = 0.05  # one-sided: four evaluations that only fall are 1 in 24


class Limits(Struct, frozen=True):
    """What may be tuned."""

    fewest: int = 3
    gap: float = 0.20
    at_least: float = 0.30
    tau: float = 0.50
    widened: float = 0.33
    rise: float = 0.05
    opened: float = 0.3
    apart: float = 0.2


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Measure the distance of each evaluation loss from training loss, else of the accuracies."""
    if not evaluation_sets(run) or not len(signals.curve("train_loss")):
        by_score = score_gap.judge(signals, limits.apart)
        implied = implied_gap.of(run, signals, limits.apart) if by_score.status == "unmet" else None
        return implied or by_score
    return worst_set(run, lambda metric: _judge(run, signals, metric, limits))


def _judge(run: Run, signals: Signals, metric: str, limits: Limits) -> Outcome:
    evals = evaluations(signals, metric)
    train = train_level(signals, evals.step.astype(float))
    evals, train = evals.at(np.isfinite(train)), train[np.isfinite(train)]
    apart = score_gap.both(signals, metric)
    needed = widening.least(signals, metric, train, limits.gap, limits.at_least)
    if len(evals) < (1 if apart.far(limits.apart) else limits.fewest):
        looks = counted_as(run, metric)
        few = unmet(too_few(len(evals), looks, limits.fewest, of="with a training loss nearby"))
        return two_looks.outcome(signals, metric, evals, train, needed) or few
    gap = evals.value - train
    if apart.far(limits.apart) and (train[-1] == 0 or median(gap[-3:]) < needed):
        return score_gap.judge(signals, limits.apart)
    if train[-1] == 0:
        return passed("train loss is exactly 0 at the end: no level to measure from")
    last = max(1, min(3, len(gap) // 3))
    end = float(median(gap[-last:]))
    if end < needed:
        return passed(
            f"eval loss ends {loss(abs(end))} {'above' if end >= 0 else 'below'} train loss "
            f"(threshold {loss(needed)})"
        )
    bottom, told = bottom_of(evals), ""
    if bottom.share >= limits.rise and len(evals) - bottom.at > 2:  # noqa: PLR2004 - two rises
        told = f"eval loss rises {percent(bottom.share)} from its best: overfitting"
    start = float(median(gap[:last]))
    steady = kendall(gap) >= limits.tau or widening.opened(gap, start, end)
    steady = steady or widening.grew(gap, start, end, train)
    if len(gap) >= limits.fewest and steady and end - start >= limits.widened * end:
        made = _finding(run, signals, metric, evals, gap, (start, end, needed), limits)
    elif apart.far(limits.apart) or apart.beside(evals.value, train):
        made = _behind(signals, metric, evals, (end, needed), apart)
    else:
        offset = f"the gap is an offset: {loss(start)} at first, {loss(end)} at the end"
        return passed(told or offset)
    return unless(("hockey-stick",), told, made) if told else found(made)


def _behind(
    signals: Signals,
    metric: str,
    evals: Curve,
    gap: tuple[float, float],
    apart: Scores,
) -> Finding:
    """Tell a gap that needs no trend."""
    (end, needed), (onset, final) = gap, (float(evals.step[0]), float(evals.value[-1]))
    train = float(signals.curve("train_loss").value[-1])
    few = f", {count(len(evals), 'evaluation')}" if len(evals) < FEW else ""
    few, name = score_gap.of_last(len(evals)) + few, capitalised(apart.pair.name)
    return Finding(
        severity="warning" if apart.lost() else "info",
        title=f"Evaluation is far worse than training at step {step(float(evals.step[-1]))}: "
        f"{spoken(metric)} {loss(final)} against {loss(train)}, {apart.pair.name} "
        f"{number(apart.evals, 3)} against {number(apart.train, 3)}{few}.",
        metric=metric,
        onset=Moment(onset),
        evidence=(
            Evidence("Gap at the end", end, needed, "20 % of train loss, and 0.3 nat", metric),
            Evidence(f"{name} in training", apart.train, where=apart.pair.train),
            Evidence(f"{name} in evaluation", apart.evals, where=apart.pair.evals),
        ),
        seen=f"{name} differs as well, so the gap does not come from how the loss is averaged.",
        fixes=(score_gap.SAME_PREPROCESSING,),
        ruled_out=(
            RuledOut("A different mask or loss reduction", f"{apart.pair.name} is apart as well"),
        ),
        confidence=Confidence(
            0.8, f"{apart.pair.name} {number(apart.train - apart.evals, 2)} apart"
        ),
        chart=Chart("curves", ("train_loss", metric)),
    )


def _finding(
    run: Run,
    signals: Signals,
    metric: str,
    evals: Curve,
    gap: FloatArray,
    levels: tuple[float, float, float],
    limits: Limits,
) -> Finding:
    start, end, needed = levels
    at = min(last_false(gap >= limits.opened * end) + 1, len(gap) - 1)
    onset, final = float(evals.step[at]), float(evals.value[-1])
    lost = score_gap.both(signals, metric).lost()
    held = not lost and _answers_hold(signals, metric, onset, limits)
    harmless = _falls_on(signals, metric, limits) or held
    loud = not harmless and (lost or stands(evals.value, evals.value - gap))
    of = "20 % of train loss, and 0.3 nat" if needed >= limits.at_least else "as much as train loss"
    part = widening.widest_part(run, signals) if metric == "eval_loss" else ""
    return Finding(
        severity="warning" if loud else "info",
        title=f"The gap between train and eval loss widened from step {step(onset)} on. "
        f"{_grown(start, end)} (medians), and {spoken(metric)} ended at {loss(final)}.",
        metric=metric,
        onset=Moment(onset),
        evidence=(
            Evidence("Gap at the end", end, needed, of, metric),
            Evidence("Gap at the first evaluations", start, where=metric),
            Evidence("Eval loss at the end", final, where=metric, step=float(evals.step[-1])),
        ),
        seen=f"Eval loss ended {_from_best(evals)}.{part}",
        harmless=harmless,
        fixes=_fixes(run, signals, evals),
        ruled_out=(
            RuledOut(
                "A constant offset (different mask or domain)",
                f"the gap was {loss(start)} at first",
            ),
            RuledOut("Overfitting", f"eval loss ended {_from_best(evals)}"),
        ),
        confidence=Confidence(
            round(min(1.0, 0.5 + 0.03 * len(evals)) * min(1.0, 0.6 + 0.4 * (end / needed - 1)), 2),
            f"{len(evals)} evaluations",
        ),
        chart=Chart("curves", ("train_loss", metric), marks=(Mark(onset, float(evals.value[at])),)),
    )


def _grown(start: float, end: float) -> str:
    """Write a gap at both ends; of one below 0 the words say which loss was lower."""
    if start < 0:
        return f"Eval loss was below train loss by {loss(-start)}, and is above it by {loss(end)}"
    return f"The gap grew from {loss(start)} to {loss(end)}"


def _falls_on(signals: Signals, metric: str, limits: Limits) -> bool:
    """Whether evaluation still falls at the end: then what training gains does carry over.

    Its last phase does, and holds its best; or it ends at its lowest, and its order is that of a
    fall. So does what got better in its second half and kept that, but for less than would be
    overfitting.
    """
    shape, value = signals.shape(metric), signals.curve(metric).value
    last = shape.phases[-1] if shape else None
    if last and last.kind == "fall" and last.lowest.value <= value.min():
        return True
    early, lowest = float(value[: len(value) // 2].min()), float(value.min())
    if early - lowest > LATER * signals.sigma(metric) and value[-1] <= (1 + limits.rise) * lowest:
        return True
    tau, by_chance = ranked(value)
    return bool(value[-1] == value.min()) and tau < 0 and by_chance / 2 < ORDER


def _answers_hold(signals: Signals, metric: str, onset: float, limits: Limits) -> bool:
    """Whether a score of the set is no worse than where the gap began: no answer was lost."""
    score = scores.since(signals, metric, onset, limits.fewest)
    return score is not None and score.held and not score.poor


def _from_best(evals: Curve) -> str:
    best, last = float(evals.value.min()), float(evals.value[-1])
    above = percent((last - best) / best) if best > 0 else loss(last - best)
    at = step(float(evals.step[int(np.argmin(evals.value))]))
    return f"{above} above its best, at step {at}" if last > best else "at its best"


def _fixes(run: Run, signals: Signals, evals: Curve) -> tuple[Fix, ...]:
    best = float(evals.step[int(np.argmin(evals.value))])
    made = list(fixes.shorter(run, signals, best)) if best < evals.step[-1] else []
    made += fixes.more_decay(run, "this regularizes the model")
    made += fixes.smaller_rank(run, "less room to memorize samples")
    made.append(
        fixes.action(
            "Add training data or regularize more, if eval loss must get lower",
            "training for longer would only widen the gap",
            "one run",
        )
    )
    made.append(score_gap.SAME_SOURCE)
    return tuple(made)


BAD = (
    *two_looks.BAD,
    *score_gap.BAD,
    *implied_gap.BAD,
    drawn(
        "opened early and stayed",
        (150, 500),
        noise={"train_loss": 0.01, "eval_loss": 0.05},
        severity="info",
        train_loss="0:3.5 200:3.3 500:0.1 3000:0.07",
        eval_loss="50:3.4 200:3.3 500:2.2 3000:2.2",
    ),
    drawn(
        "evaluation stands while training memorizes",
        (0, 400),
        noise={"train_loss": 0.01, "eval_loss": 0.004},
        severity="warning",
        train_loss="0:3 300:0.6 3000:0.04",
        eval_loss="0:2 300:1.01 3000:1.01",
    ),
    drawn(
        "parts slowly",
        (150, 350),
        severity="info",
        train_loss="0:2.4 200:1.6 800:0.7",
        eval_loss="50:2.2 300:1.7 800:1.6",
    ),
    drawn(
        "by a fourth of training loss, a cosine's end",
        (100, 350),
        0.004,
        task="pretrain",
        train_loss="0:6 100:4.2 250:3.2 800:2.85",
        eval_loss="50:4.7 250:3.6 800:3.55",
    ),
    drawn(
        "three looks", (100, 150), 0.002, train_loss="0:2.2 150:0.35", eval_loss="50:1.5 150:1.5"
    ),
    drawn(
        "accuracies alone",
        (50, 250),
        0.004,
        task="classification",
        severity="info",
        train_accuracy="0:0.5 200:0.92 800:0.97",
        eval_accuracy="50:0.5 200:0.53 800:0.55",
    ),
    drawn(
        "most answers are lost from the first look to the last",
        (50, 800),
        0.004,
        task="classification",
        severity="warning",
        train_loss="0:3.5 800:1.7",
        train_accuracy="0:0.89 800:0.99",
        eval_loss="50:5.8 800:5.8",
        eval_accuracy="50:0.18 800:0.2",
    ),
    drawn(
        "most answers are lost, and some came back",
        (50, 800),
        0.004,
        task="classification",
        severity="info",
        train_loss="0:3.5 800:1.7",
        train_accuracy="0:0.89 800:0.99",
        eval_loss="50:5.8 800:5.1",
        eval_accuracy="50:0.1 800:0.3",
    ),
    drawn(
        "two looks at a late run, accuracy is as far behind",
        (2800, 2850),
        0.01,
        task="classification",
        severity="info",
        train_loss="2700:0.52 2850:0.51",
        train_accuracy="2700:0.75 2850:0.76",
        eval_loss="2800:1.3 2850:1.29",
        eval_accuracy="2800:0.5 2850:0.51",
    ),
)
GOOD = (
    *score_gap.GOOD,
    *implied_gap.GOOD,
    drawn(
        "a stable gap, accuracy a sixth behind",
        noise=0.005,
        task="classification",
        train_loss="0:0.6 400:0.5",
        train_accuracy="0:0.8 400:0.83",
        eval_loss="50:1.2 400:1.1",
        eval_accuracy="50:0.65 400:0.67",
    ),
    drawn(
        "accuracies alone, a sixth apart",
        noise=0.005,
        task="classification",
        train_accuracy="0:0.5 200:0.9 800:0.97",
        eval_accuracy="50:0.5 200:0.78 800:0.82",
    ),
    drawn("together", train_loss="0:2.4 800:0.9", eval_loss="50:2.3 800:1.0"),
    drawn(
        "by a tenth of training loss",
        noise=0.004,
        task="pretrain",
        train_loss="0:6 100:4.2 250:3.2 800:2.85",
        eval_loss="50:4.7 250:3.45 800:3.2",
    ),
    drawn("offset", train_loss="0:2.4 800:1.4", eval_loss="50:4.3 800:3.4"),
    drawn("overfits", train_loss="0:2.4 800:0.2", eval_loss="50:2.2 300:1.4 800:2.2"),
    drawn("eval below", train_loss="0:4.4 800:3.0", eval_loss="50:2.2 800:1.4"),
)

RULE = Rule(
    slug="eval-gap",
    title="Widening train/eval gap",
    family="EVL",
    severity="info",
    page=__doc__,
    limits=Limits(),
    check=check,
    relations=Relations(layer="evaluation"),
    tasks=LOSS_TASKS,
    bad=BAD,
    good=GOOD,
)
