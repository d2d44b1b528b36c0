"""Evaluation flat: training learns, evaluation loss does not move from its first value.

What is seen
    Training loss falls clearly between the first and the last evaluation. Evaluation loss stays
    where it was, is best early and stands while training loss halves (info), or it lies far above
    training loss from the first look on and never improves. Or it has no trend while training loss
    passes it and falls far below (info).
    Or a score in which more is better (mAP, Dice, F1) stays at nothing late or while training loss
    falls, is the same to the last digit each time, or never rises while the rows are memorized.
Why it matters
    What is trained and what is evaluated are not the same task: another chat template, another
    label mask, another distribution, or weights that are not the trained ones.
Looks alike
    Evaluation at its noise floor, with training loss at the same level, is healthy. A first one
    after most of the fall shows only the flat end: info. Where the data had been seen more than
    once before it, memorization explains it too: info; one that climbs is overfitting. Where a
    score of the set (F1, word error rate) improves beyond its noise since the first evaluation, the
    set is learned after all, unless training gains four times that. Single-batch evaluations prove
    nothing by one value.
Limits
    fewest: evaluations needed, over at least span of the steps (1.9 of the rules). fall:
    training loss must fall this share, less where evaluation rises by the rest, beyond
    noise_multiple standard errors. level: the last evaluations lie within this share of the
    first, range of all within twice that (spread). mismatch: an evaluation loss this share
    above training loss at the first evaluation is no noise, nor is one of nat of a language
    model, whose perplexity is then e times as high. small_gap: a gap below this share at the
    end is healthy. seen_before: share of the training fall that came before the first
    evaluation. climbs: a rise of this share over the first is overfitting. never_better:
    evaluations count as no better above this share of the first. by_heart: where epochs are not
    known, a training loss below this share of its start comes from repetition. Measured: 0.16 %
    false alarms, power 87 %.
Fixes
    Print one decoded evaluation sample with its label mask next to a training sample; use one
    chat template; evaluate the adapter that is trained; then look at the split, in this order.
"""

import numpy as np
from msgspec import Struct

from runlens import fixes
from runlens.arrays import median
from runlens.diagnosis import (
    Cause,
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
from runlens.history import Curve
from runlens.rules.evaluation import score as scores
from runlens.rules.evaluation import settled, stuck_score
from runlens.rules.evaluation.sets import Pair, counted_as, evaluations, pair_of, spoken, worst_set
from runlens.rules.relations import Relations
from runlens.rules.rule import (
    LANGUAGE_TASKS,
    LOSS_TASKS,
    PREFERENCE_TASKS,
    Rule,
    drawn,
    found,
    passed,
    unmet,
)
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.trend import mann_kendall
from runlens.wording import loss, percent, step, too_few

ABOVE = 0.5  # nat above training loss from the first look on: another mask or template
MASK, APART = "The template, tokenizer or label mask differs", "between training and evaluation"
DIFFERS: dict[str, str] = {
    **dict.fromkeys(LANGUAGE_TASKS | PREFERENCE_TASKS, MASK),
    "pretrain": "The tokenizer or the preparation of the text differs",
}
PARTED = 1.5  # evaluation over training loss at the end, which had passed it
PASSED_BY = "passed by"  # training went below an evaluation that has no trend
# rows that both explain: the model is as good from the first evaluation on as it will be
OPEN = (
    Cause("Rows that are memorized and tell no more of others", kind="memorised"),
    Cause("Evaluation data of another distribution", kind="evaluation"),
)
WHOLE = 0.95  # epochs before the first evaluation after which all data were seen


class Limits(Struct, frozen=True):
    """What may be tuned."""

    fewest: int = 4
    span: float = 0.30
    fall: float = 0.15
    noise_multiple: float = 3.0
    level: float = 0.02
    spread: float = 0.04
    mismatch: float = 0.30
    small_gap: float = 0.05
    seen_before: float = 0.30
    climbs: float = 0.05
    never_better: float = 0.98
    by_heart: float = 0.1
    nat: float = 1.0


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Compare how far training and each evaluation loss moved since the first evaluation."""
    outcome = worst_set(run, lambda metric: _judge(run, signals, metric, limits))
    stuck = stuck_score.of(run, signals, limits.fewest, limits.span, limits.fall)
    other = stuck_score.told(stuck) if stuck else settled.outcome(run, signals)
    return other if other and not outcome.findings else outcome


def _judge(run: Run, signals: Signals, metric: str, limits: Limits) -> Outcome:
    evals, train = evaluations(signals, metric), signals.curve("train_loss")
    amount, noun = min((len(train), "training loss"), (len(evals), counted_as(run, metric)))
    if amount < limits.fewest:
        return unmet(too_few(amount, noun, limits.fewest))
    covered = float(evals.step[-1] - evals.step[0]) / max(float(train.step[-1] - train.step[0]), 1)
    if covered < limits.span:
        share, least = percent(covered), percent(limits.span)
        return unmet(f"the evaluations cover {share} of the run; {least} are needed")
    if not evals.value.any():
        return unmet(f"{spoken(metric)} is 0 at each evaluation: it was not computed")
    pair = pair_of(signals, evals)
    needed = max(limits.fall * abs(pair.first), limits.noise_multiple * pair.error)
    risen = max(float(median(evals.value[-2:]) - evals.value[0]), 0.0)
    if pair.fall < limits.noise_multiple * pair.error or pair.fall + risen < needed:
        return passed(
            f"train loss {'fell' if pair.fall >= 0 else 'rose'} by {loss(abs(pair.fall))} since "
            f"the first evaluation; a fall of {loss(needed)} would be learning"
        )
    name = spoken(metric)
    end, gap = float(median(evals.value[-2:])), _gap(evals, pair)
    form = _form(evals, pair, _mismatch(run, pair, limits), limits)
    if not form:
        return passed(f"{name} went from {loss(float(evals.value[0]))} to {loss(end)} with it")
    if end < (1 - limits.fall) * evals.value[0]:
        return passed(f"{name} fell from {loss(float(evals.value[0]))} to {loss(end)} itself")
    if abs(gap) < limits.small_gap:
        return passed(f"{name} ends {percent(abs(gap))} from train loss: at its floor")
    if end > (1 + limits.climbs) * evals.value[0] and (again := _seen_again(pair, limits)):
        return passed(f"{name} climbs to {loss(end)} {again}: overfitting")
    score = scores.since(signals, metric, float(evals.step[0]), limits.fewest)
    if score and score.improved and not score.lags(signals):
        return passed(f"{score.improved} since the first evaluation: what is evaluated is learned")
    return found(_finding(run, metric, evals, pair, form, needed, limits))


def _seen_again(pair: Pair, limits: Limits) -> str:
    """Say that the data were repeated: by epochs, or by a loss that only repetition reaches."""
    if pair.epochs >= WHOLE:
        return f"after {pair.epochs:.1f} epochs"
    by_heart = not pair.epochs and pair.last < limits.by_heart * pair.start
    return f"while train loss went to {loss(pair.last)}" if by_heart else ""


def _gap(evals: Curve, pair: Pair) -> float:
    """Return the gap at the end as a share of training loss."""
    return (float(median(evals.value[-3:])) - pair.last) / max(abs(pair.last), 1e-12)


def _mismatch(run: Run, pair: Pair, limits: Limits) -> float:
    """Return how far above training loss the first evaluation is no noise."""
    share = limits.mismatch * abs(pair.first)
    return min(share, limits.nat) if run.task in LANGUAGE_TASKS else share


def _form(evals: Curve, pair: Pair, mismatch: float, limits: Limits) -> str:
    """Return how evaluation stayed behind: "level", "never better", "no trend", or was passed."""
    value = evals.value
    first = float(value[0])
    moved = abs(float(median(value[-2:])) - first)
    if moved <= limits.level * abs(first) and np.ptp(value) <= limits.spread * abs(first):
        return "level"
    late, early = float(median(value[-3:])), float(median(value[:3]))
    many = len(value) >= 6  # noqa: PLR2004 - fewer show no trend whatever they do
    untrended = many and mann_kendall(value)[1] > 0.05 and late >= 0.9 * early  # noqa: PLR2004 - no trend
    if first - pair.first < mismatch:
        parted = late >= PARTED * pair.last and value.min() >= 0.9 * early
        return PASSED_BY if untrended and parted else ""
    if value.min() >= limits.never_better * first:
        return "never better"
    return "no trend" if untrended else ""


def _finding(
    run: Run, metric: str, evals: Curve, pair: Pair, form: str, needed: float, limits: Limits
) -> Finding:
    onset, first = float(evals.step[0]), float(evals.value[0])
    end = float(median(evals.value[-2:]))
    whole = max(pair.start - pair.last, 1e-12)
    late = form == "level" and pair.start - pair.first > limits.seen_before * whole
    heart = pair.epochs > 1
    frozen = bool(np.ptp(evals.value) == 0)
    gap = _gap(evals, pair)
    why = f"it ends {percent(abs(gap))} {'above' if gap >= 0 else 'below'} train loss"
    ruled_out = [RuledOut("Eval loss already at its minimum", why)]
    ruled_out.append(RuledOut("Evaluation rows from the training set", "it would fall with them"))
    if not heart and pair.epochs:
        why = f"the first evaluation came after {pair.epochs:.2f} epochs"
        ruled_out.append(RuledOut("Memorized before the first evaluation", why))
    return Finding(
        severity="critical"
        if frozen
        else "info"
        if late or heart or form == PASSED_BY
        else "warning",
        title=f"{spoken(metric).capitalize()} did not improve from step {step(onset)} on. It "
        f"{settled.went(evals)} while train loss fell from {loss(pair.first)} to {loss(pair.last)} "
        "(medians).",
        metric=metric,
        onset=Moment(onset),
        evidence=(
            Evidence("Fall of train loss since the first evaluation", pair.fall, needed, "15 %"),
            Evidence("Eval loss at the first evaluation", first, where=metric, step=onset),
            Evidence(
                "Eval loss at the end, median of 2", end, where=metric, step=float(evals.step[-1])
            ),
            Evidence("Gap to train loss at the end", _gap(evals, pair), unit="%"),
        ),
        seen="",
        causes=OPEN if form == PASSED_BY else _causes(run, pair, first, frozen=frozen, heart=heart),
        fixes=_fixes(run, frozen=frozen),
        ruled_out=tuple(ruled_out),
        confidence=Confidence(
            round(min(1.0, 0.5 + 0.05 * len(evals)) * min(1.0, 0.6 + 0.2 * pair.fall / needed), 2),
            f"{len(evals)} evaluations",
        ),
        chart=Chart("curves", ("train_loss", metric), marks=(Mark(onset, first, loss(first)),)),
    )


def _differs(run: Run) -> str:
    """Say what may differ between training and evaluation, in the words of the task."""
    return f"{DIFFERS.get(run.task, 'Preprocessing or labels differ')} {APART}"


def _causes(run: Run, pair: Pair, first: float, *, frozen: bool, heart: bool) -> tuple[Cause, ...]:
    differs = (_differs(run), "", "evaluation")
    told: list[tuple[str, str, str]] = []  # what, what speaks for it, its kind; the likeliest first
    if frozen:
        why = "eval loss is the same to the last digit"
        told.append(("Evaluation runs on old or cached weights", why, "evaluation"))
    above = first - pair.first > ABOVE
    told += [differs] * above
    if heart:
        why = f"{pair.epochs:.1f} epochs before the first evaluation"
        told.append(("Training data memorized", why, "memorised"))
    told += [differs] * (not above)
    told.append(("Evaluation data of another distribution", "", "evaluation"))
    return tuple(
        Cause(what, "likely" if n else "most likely", why, kind=kind)
        for n, (what, why, kind) in enumerate(told[:4])
    )


def _fixes(run: Run, *, frozen: bool) -> tuple[Fix, ...]:
    text = run.task in LANGUAGE_TASKS | PREFERENCE_TASKS
    plain = run.task == "pretrain"  # of text without a template, and no label is masked
    label = "" if plain else " with its label mask" if text else " with its label"
    differ = "tokens or separators" if plain else "template or mask" if text else "scaling or label"
    look = fixes.look(
        f"Print one {'decoded ' if text else ''}evaluation sample{label} next to a training sample",
        f"{'' if plain else 'a '}{differ} that differ{'' if plain else 's'} can be seen at once",
    )
    active = "adapter active, " if run.adapted else "" if text else "evaluation mode on, "
    weights = fixes.look(
        f"Check that evaluation uses the trained weights ({active}no cached outputs, no second "
        "copy of the model)",
        "the same loss to the last digit means that the weights were the same" if frozen else "",
    )
    split = fixes.action(
        "Make the evaluation set a random split of the training data",
        "both then have one distribution",
    )
    made = [weights, look] if frozen else [look, weights]
    if run.flag("train_on_inputs"):
        why = "training and evaluation then mask the same tokens"
        made.append(fixes.setting(run, "train_on_inputs", False, "Mask the prompt", why))
    return (*made, split)


TEMPLATE = drawn(
    "another template", (50, 50), {"train_loss": 0.03, "eval_loss": 0.003}, severity="warning",
    train_loss="0:2.4 100:1.6 600:0.8", eval_loss="50:4.0 600:4.02",
)  # fmt: skip
BAD = (
    *settled.BAD,
    TEMPLATE,
    drawn(
        "drifts up from far above",
        (50, 50),
        severity="warning",
        train_loss="0:1.6 600:0.6",
        eval_loss="50:5.0 150:5.3 600:5.6",
        noise={"train_loss": 0.05, "eval_loss": 0.005},
        steps_per_epoch=300,
    ),
    drawn(
        "climbs, and training loss is not that low",
        (0, 0),
        0.004,
        severity="warning",
        train_loss="0:0.7 100:0.3 600:0.2",
        eval_loss="0:1 100:1.15 600:1.27",
    ),
    drawn(
        "leaves training loss, more than a nat above it",
        (50, 50),
        0.004,
        task="pretrain",
        severity="warning",
        train_loss="0:4.45 50:4.4 600:3.95",
        eval_loss="50:5.6 600:6.1",
        steps_per_epoch=6000,
    ),
    drawn(
        "wanders",
        (50, 50),
        0.05,
        severity="warning",
        train_loss="0:6 600:4",
        eval_loss="50:7.8 600:7.8",
    ),
    drawn(
        "old weights",
        (50, 50),
        0,
        severity="critical",
        train_loss="0:2 600:1",
        eval_loss="50:2 600:2",
    ),
    drawn(
        "first evaluation late",
        (400, 400),
        severity="info",
        train_loss="0:3 350:1.2 1000:0.9",
        eval_loss="400:1.5 1000:1.5",
        noise={"train_loss": 0.02, "eval_loss": 0.002},
    ),
)
GOOD = (
    *settled.GOOD,
    drawn("follows", train_loss="0:2.2 600:0.9", eval_loss="50:2.0 600:1.0"),
    drawn("at its floor", noise=0.003, train_loss="0:2 600:1.0", eval_loss="50:1.03 600:1.02"),
    drawn("nothing learned", train_loss="0:2.2 600:2.15", eval_loss="50:2.2 600:2.2"),
    drawn(
        "training loss falls little",
        noise=0.004,
        task="pretrain",
        train_loss="0:4.45 50:4.4 600:3.95",
        eval_loss="50:5.6 600:5.65",
    ),
    drawn(
        "less than a nat above training loss",
        noise=0.004,
        task="pretrain",
        train_loss="0:4.45 50:4.4 600:3.6",
        eval_loss="50:5.2 600:5.4",
    ),
    drawn(
        "word error rate improves",
        noise=0.004,
        task="asr",
        train_loss="0:0.4 50:0.2 600:0.02",
        eval_loss="50:0.27 600:0.27",
        eval_wer="50:14.3 600:9.6",
    ),
    drawn(
        "overfits from the second epoch",
        noise=0.004,
        train_loss="0:2 600:0.1",
        eval_loss="50:1.6 600:2.4",
        steps_per_epoch=40,
    ),
    drawn(
        "memorises its rows, epochs unknown",
        noise=0.004,
        train_loss="0:0.7 100:0.08 600:0.003",
        eval_loss="0:1 100:1.15 600:1.27",
    ),
)

RULE = Rule(
    slug="eval-flat",
    title="Evaluation flat",
    family="EVL",
    severity="warning",
    page=__doc__,
    limits=Limits(),
    check=check,
    relations=Relations(absorbs=("eval-gap",), layer="evaluation"),
    tasks=LOSS_TASKS,
    bad=BAD,
    good=GOOD,
)
