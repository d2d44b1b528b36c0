"""NaN evaluation: an evaluation loss is not a number.

What is seen
    The evaluation loss, or the metric that chooses the best model, is NaN or infinite while the
    training loss is a number.
Why it matters
    The run is blind: early stopping, the best checkpoint and every comparison rest on a number
    that is none. One sample whose labels are all masked does it: its loss is 0 / 0.
Looks alike
    A NaN at step 0 alone is a placeholder, as is an infinite first value of a loss that is only
    written where it falls: the best so far. Scores that have no value by design (precision
    without a prediction, the ROC of one class) are no loss. If training is NaN as well, the
    weights are: nan-loss or hidden-nan leads. A PSNR that is infinite once is of one plain image;
    at each evaluation images are compared with themselves: a warning. An area under the ROC curve
    that never has a value is worth a word: all rows are of one class. Where a score of held-out
    data gets better all along, the loss alone is miscounted: a warning.
Limits
    lasting: from this share of evaluations on, or at the last one, the loss counts as lost and
    not as a single bad evaluation. young: share of the evaluations in which infinite ones pass.
Fixes
    Filter samples whose labels are all -100 after truncation; a longer limit for evaluation;
    bf16_full_eval for fp16_full_eval; look at the size of the evaluation set.
"""

import re

import numpy as np
from msgspec import Struct

from runlens import fixes
from runlens.diagnosis import (
    Cause,
    Chart,
    Confidence,
    Evidence,
    Finding,
    Fix,
    Moment,
    Outcome,
    Rank,
)
from runlens.history import BoolArray, Curve
from runlens.metrics import naming, spoken
from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.rules.numerics import itself, no_area, no_mean
from runlens.rules.numerics.not_finite import (
    Losing,
    finite_until,
    last_finite,
    losing_series,
    not_finite_name,
)
from runlens.rules.relations import Relations
from runlens.rules.rule import (
    Rule,
    drawn,
    found,
    passed,
    unmet,
)
from runlens.run import Run
from runlens.signals import Signals, held_out
from runlens.wording import capitalised, loss, percent, step

HELD_OUT = lazy_re(
    r"(eval|val|valid|validation|test)[_/:.].*(loss|ppl|perplexity|bpb|nll)", re.IGNORECASE
)


class Limits(Struct, frozen=True):
    """What may be tuned."""

    lasting: float = 0.5
    young: float = 0.1


class Lost(NamedTuple):
    """An evaluation metric with values that are not finite."""

    metric: str
    curve: Curve
    bad: BoolArray
    onset: int


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Look at every evaluation loss; the one that fails first is told."""
    outcome = _of_losses(run, signals, limits)
    area = None if outcome.status == "found" else no_area.finding(run)
    return found(area) if area else outcome


def _of_losses(run: Run, signals: Signals, limits: Limits) -> Outcome:
    judged = _judged(run)
    same = [metric for metric in run.history.metrics if itself.of_itself(run, metric)]
    if same:
        return found(itself.finding(run, same[0]))
    if not judged:
        return unmet("no evaluation loss is logged; set eval_strategy and an evaluation set")
    lost = [one for one in (_lost(run, metric) for metric in judged) if one is not None]
    if not lost:
        points = sum(len(run.curve(metric)) for metric in judged)
        return passed(f"finite evaluation losses: all {points:,}")
    first = min(lost, key=lambda one: (one.onset, one.metric))
    never = not len(first.curve.finite())
    sound = held_out.improving(run, signals, run.first_step) if never else ""
    return found(_finding(run, first, sound, limits))


def _judged(run: Run) -> list[str]:
    """Return the evaluation losses, and the metric by which the best model is chosen."""
    chosen = run.setting("metric_for_best_model")
    names = {"eval_loss", naming(str(chosen)).metric, f"eval_{chosen}"} if chosen else {"eval_loss"}
    names.discard("train_loss")  # a bare "loss" is that of the evaluation
    return [metric for metric in run.history.metrics if metric in names or HELD_OUT.match(metric)]


def _lost(run: Run, metric: str) -> Lost | None:
    """Return the metric with its onset; the infinite perplexity of a finite loss is no fault."""
    curve = run.curve(metric)
    derived = "ppl" in metric or "perplexity" in metric
    bad = np.isnan(curve.value) if derived else ~np.isfinite(curve.value)
    if not bad.any() or _placeholder(curve, bad):
        return None
    return Lost(metric, curve, bad, int(curve.step[int(np.argmax(bad))]))


def _placeholder(curve: Curve, bad: BoolArray) -> bool:
    """Whether only the first value is none: at step 0, or infinite, where a best so far begins."""
    if len(bad) < 2 or not bad[0] or bad[1:].any():  # noqa: PLR2004 - the first and another
        return False
    best_so_far = np.isposinf(curve.value[0]) and bool((np.diff(curve.value[1:]) <= 0).all())
    return bool(curve.step[0] == 0 or best_so_far)


def _finding(run: Run, lost: Lost, sound: str, limits: Limits) -> Finding:
    """Tell it; `sound`: what got better on held-out data meanwhile, so that no weight is lost."""
    curve, bad = lost.curve, lost.bad
    train_lost = finite_until(run)
    trains = lost.onset < train_lost and len(run.curve("train_loss").finite()) > 0
    blind = bool(bad[-1]) or bad.mean() >= limits.lasting
    over = bool(np.isposinf(curve.value[bad]).all())
    young = over and not bad[int(limits.young * len(bad)) :].any()
    consequence = np.isfinite(train_lost) and not trains
    series = losing_series(run, "train_loss")
    words = lost.metric.replace("_", " ")
    before = curve.before(lost.onset).finite()
    was = ""
    if len(before):
        was = f" It was {loss(float(before.value[-1]))} at step {step(int(before.step[-1]))}."
    kind = "NaN" if np.isnan(curve.value[bad][0]) else "infinite"
    at = step(lost.onset)
    where = f"from step {at} on" if bad[-1] else f"at step {at}"
    where = (
        f"{where}, at {_often(bad)}" if len(bad) > 1 else f"at the only evaluation, at step {at}"
    )
    return Finding(
        severity="info"
        if young
        else "warning"
        if consequence or sound or not blind
        else "critical",
        title=f"{words.capitalize()} was {kind} {where}.{was}",
        metric=lost.metric,
        onset=Moment(float(lost.onset)),
        harmless=young,
        evidence=_evidence(run, lost, train_lost),
        seen=_seen(run, lost, train_lost, series, sound, consequence=consequence),
        end=None if bad[-1] else Moment(float(curve.step[bad][-1])),
        causes=_causes(run, lost, consequence=consequence or series is not None),
        fixes=() if consequence else _fixes(run, lost),
        confidence=Confidence(1.0, "the value itself is logged"),
        chart=Chart("curves", tuple({lost.metric: 0, "train_loss": 0})),
    )


def _often(bad: BoolArray) -> str:
    """Say at how many: ``both evaluations``, ``all 4 evaluations``, ``3 of 4 evaluations``."""
    hits = int(bad.sum())
    every = "both" if hits == 2 else f"all {hits:,}"  # noqa: PLR2004 - both
    return f"{every if hits == len(bad) > 1 else f'{hits:,} of {len(bad):,}'} evaluations"


def _seen(
    run: Run,
    lost: Lost,
    train_lost: float,
    series: tuple[str, Losing] | None,
    sound: str,
    *,
    consequence: bool,
) -> str:
    """Say whether training is a number meanwhile."""
    if consequence:
        kind = not_finite_name(run, train_lost)
        at = step(train_lost)
        if lost.onset <= train_lost:
            return f"Train loss was {kind} as well, from step {at} on."
        return f"Train loss became {kind} at step {at}, and the evaluation followed."
    if series:
        name, other = series
        at = step(int(other.curve.step[int(np.argmax(other.bad))]))
        return f"{capitalised(spoken(name))} was not finite in training either, first at step {at}."
    if sound:
        return f"Only this loss failed. {capitalised(sound)}: judge the weights by that."
    return "Only the evaluation failed."


def _evidence(run: Run, lost: Lost, train_lost: float) -> tuple[Evidence, ...]:
    rows = [
        Evidence(
            "Evaluations that are not finite",
            float(lost.bad.sum()),
            1.0,
            "a loss is a number",
            lost.metric,
            float(lost.onset),
        ),
    ]
    if told := last_finite(lost.curve, lost.onset):
        rows.append(Evidence("Last finite evaluations", told, where=lost.metric))
    train = run.curve("train_loss").finite()
    later = train.after(lost.onset)
    if len(later) and lost.onset < train_lost:
        rows.append(
            Evidence(
                "First train loss after that",
                float(later.value[0]),
                where="train_loss",
                step=float(later.step[0]),
            )
        )
    norm = run.curve("grad_norm")
    if len(norm):
        share = float(np.isfinite(norm.value).mean())
        rows.append(Evidence("Finite gradient norms", percent(share), where="grad_norm"))
    return tuple(rows)


def _causes(run: Run, lost: Lost, *, consequence: bool) -> tuple[Cause, ...]:
    if consequence:
        return ()
    made: list[Cause] = []
    if run.flag("fp16_full_eval"):
        made.append(
            Cause(
                "Overflow in fp16 evaluation",
                "most likely",
                "fp16_full_eval is set",
                kind="precision",
            )
        )
    rank: Rank = "likely" if made else "most likely"
    if lost.bad.all():
        made.append(Cause(no_mean.of(run, lost.curve.value).what, rank, kind="evaluation"))
        made.append(Cause("A bad value in the evaluation data", "likely", kind="evaluation"))
        return tuple(made)
    made.append(
        Cause(
            "Activations overflow in evaluation",
            rank,
            "earlier evaluations are finite",
            kind="precision",
        )
    )
    made.append(Cause("A sampled evaluation batch without labels", "likely", kind="evaluation"))
    return tuple(made)


def _fixes(run: Run, lost: Lost) -> tuple[Fix, ...]:
    look = fixes.action(*no_mean.of(run, lost.curve.value)[1:])
    size = fixes.look("Print the size of the evaluation set and one batch of it")
    if not run.flag("fp16_full_eval"):
        return look, size
    why = "bf16 does not overflow at 65,504"
    return (
        fixes.setting(run, "bf16_full_eval", new=True, what="Evaluate in bf16", why=why),
        fixes.setting(run, "fp16_full_eval", new=False, what="Switch fp16 evaluation off", why=why),
        look,
    )


TRAIN = "0:2.2 300:1.3 900:0.9"
BAD = (
    *no_area.BAD,
    drawn("always", (50, 50), severity="critical", train_loss=TRAIN, eval_loss="50:nan 900:nan"),
    drawn(
        "a loss that is infinite each time, beside a score that rises",
        (50, 50),
        severity="warning",
        noise=0,
        train_loss=TRAIN,
        eval_loss="50:inf 900:inf",
        eval_map="50:0.28 100:0.5 300:0.75 900:0.85",
    ),
    drawn(
        "a loss that is infinite each time, beside a score that stands",
        (50, 50),
        severity="critical",
        noise=0.01,
        train_loss=TRAIN,
        eval_loss="50:inf 900:inf",
        eval_map="50:0.28 900:0.28",
    ),
    drawn(
        "infinite in the young run",
        (60, 70),
        severity="info",
        train_loss=TRAIN,
        eval_loss="50:2.5 60:inf 80:2.4 900:1.1 /10",
    ),
    drawn(
        "at step 0 and later",
        (0, 0),
        severity="warning",
        train_loss=TRAIN,
        eval_loss="0:nan 50:nan 100:2 900:1.1",
    ),
    drawn(
        "from the middle",
        (400, 400),
        severity="critical",
        train_loss=TRAIN,
        eval_loss="50:2 350:1.4 400:nan 900:nan",
    ),
    drawn(
        "once",
        (400, 400),
        severity="warning",
        train_loss=TRAIN,
        eval_loss="50:2 350:1.4 400:nan 450:1.3 900:1.2",
    ),
    drawn(
        "after the loss",
        (450, 450),
        severity="warning",
        train_loss="0:2.2 400:1.2 410:nan 900:nan",
        eval_loss="50:2 400:1.4 450:nan 900:nan",
    ),
    drawn(
        "images compared with themselves",
        (50, 50),
        severity="warning",
        train_loss=TRAIN,
        eval_psnr="50:inf 900:inf",
    ),
)
GOOD = (
    *no_area.GOOD,
    drawn("healthy", train_loss=TRAIN, eval_loss="50:2 900:1.1"),
    drawn(
        "one plain image",
        train_loss=TRAIN,
        eval_loss="50:2 900:1.1",
        eval_psnr="50:21 400:inf 450:23 900:25",
    ),
    drawn(
        "written where it is the best so far",
        noise=0,
        train_loss=TRAIN,
        eval_loss="50:inf 100:2 900:1.1",
    ),
    drawn("placeholder at step 0", train_loss=TRAIN, eval_loss="0:nan 50:2 900:1.1"),
    drawn(
        "score without a value",
        train_loss=TRAIN,
        eval_loss="50:2 900:1.1",
        eval_precision="50:nan 900:nan",
    ),
)

RULE = Rule(
    slug="nan-eval",
    title="NaN evaluation",
    family="NUM",
    severity="critical",
    page=__doc__,
    limits=Limits(),
    check=check,
    relations=Relations(layer="evaluation"),
    bad=BAD,
    good=GOOD,
)
