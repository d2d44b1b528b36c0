"""Oscillation: the loss swings wildly and goes nowhere.

What is seen
    After warm-up training loss scatters by more than a third of its level, without trend, below
    its start neither at the end nor on the way, and the scatter does not shrink. Or the metric
    of the evaluations goes up and down from one to the next by a fifth of its level.
Why it matters
    Steps are larger than the valley is wide, or the gradient is mostly noise: nothing adds up.
Looks alike
    Batches of one to four samples scatter by nature while their mean falls. Mixed data sets have
    losses of several levels. Regular teeth are a sawtooth. Adversarial, diffusion and
    policy-gradient losses are noisy by construction and not judged.
Limits
    fewest: points. scatter: scale of the losses over their level. climb: Kendall's tau above
    which the loss rises, which is divergence, or below whose negative it falls. fell: scales by
    which the loss fell, or an evaluation got better, from start to end, of evaluations besides
    sure standard errors of the medians of a tenth. kept: scatter of the last third over that of
    the first.
    Evaluations: fewest_evals, with turns (share of changes of direction: two thirds where each
    value is by chance) and range over the level. batch: from this size on small batches are no
    excuse. An evaluation loss of the same data that goes up and down by this factor (doubles),
    unless their score stays where it is or the last three are in the best tenth, and a training
    loss whose median is so far above its first value (upset), are a warning. So is a score next to
    0 at one in ten of the later evaluations.
    No false alarm on 10,000 simulated healthy runs; 0.35 is practice.
Fixes
    Learning rate to a third; more accumulation (noise falls with the root of the batch); warm-up;
    a decaying schedule; check the labels.
"""

import numpy as np
from msgspec import Struct

from runlens import fixes
from runlens.arrays import median, quantile
from runlens.diagnosis import (
    Chart,
    Evidence,
    Finding,
    Fix,
    Moment,
    Outcome,
    RuledOut,
    Severity,
)
from runlens.history import Curve, FloatArray
from runlens.knowledge import in_force
from runlens.metrics import quality, spoken
from runlens.records import NamedTuple
from runlens.rules.loss import stages, surroundings
from runlens.rules.rule import LOSS_TASKS, Rule, drawn, found, passed, unless, unmet
from runlens.run import Run
from runlens.signals import Signals, held_out
from runlens.signals.digits import one_digit
from runlens.signals.noise import MEDIAN_LOSS, mad
from runlens.signals.trend import mann_kendall
from runlens.wording import count, loss, number, percent, step, too_few

NAMED_BETTER = ("hockey-stick", "divergence", "loss-spike", "sawtooth", "warmup-shock", "nan-loss")
NOTHING, OFTEN = 0.01, 0.1  # of the best score; of the later evaluations: one in ten is no odd one
LAST = 3  # evaluations
SWINGS_END = f"The swings cost nothing: the last {LAST} evaluations are among its best."
STAYS = 0.02  # of a score: two answers of a hundred
EVAL_METRICS = ("eval_loss", "eval_accuracy", "eval_f1")


class Limits(Struct, frozen=True):
    """What may be tuned."""

    fewest: int = 30
    scatter: float = 0.35
    climb: float = 0.3
    fell: float = 1.0
    sure: float = 4.0
    kept: float = 0.8
    fewest_evals: int = 8
    turns: float = 0.5
    range: float = 0.20
    batch: int = 8
    doubles: float = 2.0
    upset: float = 1.5


class Swing(NamedTuple):
    """How a curve scatters."""

    level: float
    scale: float
    tau: float
    fall: float  # from start to end
    kept: float  # scale of the last third over that of the first

    @property
    def share(self) -> float:
        """The scatter as a share of the level."""
        return self.scale / max(abs(self.level), 1e-12)


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Judge the scatter of training loss, and that of the evaluations."""
    if digits := one_digit(signals.curve("train_loss").value):
        return unmet(digits)
    train = surroundings.judged(signals)
    metric = _wild_evaluation(signals, limits)
    if len(train) < limits.fewest and not metric:
        return unmet(too_few(len(train), "training loss", limits.fewest))
    swing = _swing(signals, train, limits) if len(train) >= limits.fewest else None
    wild = swing is not None and _is_wild(swing, limits)
    if wild and not metric and (begins := stages.levels(run, train)):
        return passed(f"{begins}: each level of the task has its own losses, and none rises")
    if not wild and not metric:
        return passed(_calm(swing, limits))
    finding = _finding(run, signals, train, swing if wild else None, metric, limits)
    if finding.severity == "info":
        return found(finding)
    return unless(NAMED_BETTER, "another rule says what the swings are", finding)


def _swing(signals: Signals, train: Curve, limits: Limits) -> Swing | None:
    first = int(np.searchsorted(train.step, signals.warmup.end))
    value = train.value[first:] if len(train) - first >= limits.fewest else train.value
    third = len(value) // 3
    level = float(median(value))
    if level <= 0:
        return None
    start = float(median(train.value[: max(3, len(train) // 20)]))
    end = float(median(value[-max(3, len(value) // 5) :]))
    early = mad(value[:third])
    kept = mad(value[-third:]) / early if early > 0 else 0.0
    return Swing(level, mad(value), mann_kendall(value)[0], start - end, kept)


def _is_wild(swing: Swing, limits: Limits) -> bool:
    return (
        swing.share > limits.scatter
        and abs(swing.tau) < limits.climb
        and swing.fall < limits.fell * swing.scale
        and swing.kept >= limits.kept
    )


def _calm(swing: Swing | None, limits: Limits) -> str:
    """Say by which numbers the loss is not wild."""
    if swing is None:
        return "loss is not above zero: a scatter relative to it means nothing"
    share, least, kept = (percent(one) for one in (swing.share, limits.scatter, swing.kept))
    return (
        f"loss scatters by {share} of its level (threshold {least}); its last third by {kept} of "
        f"its first, with a fall of {loss(swing.fall)} (Kendall's tau {swing.tau:.2f})"
    )


def _wild_evaluation(signals: Signals, limits: Limits) -> str:
    """Return the evaluation metric that swings without trend, or an empty text."""
    for name in EVAL_METRICS:
        evals = signals.curve(name)
        value = evals.value
        starts = 1 + int((np.diff(evals.epoch) < 0).sum())  # each training has a course of its own
        if len(value) < limits.fewest_evals * starts:
            continue
        change = np.diff(value)
        turns = float(np.mean(change[1:] * change[:-1] < 0))
        level = abs(float(median(value)))
        spread = quantile(value, 0.9) - quantile(value, 0.1)
        aimless = abs(mann_kendall(value)[0]) < limits.climb and not _gained(name, value, limits)
        if turns > limits.turns and spread > limits.range * level and aimless:
            return name
    return ""


def _gained(metric: str, value: FloatArray, limits: Limits) -> bool:
    """Whether the last tenth of evaluations is better than the first, beyond their swings."""
    tenth, scale = max(3, len(value) // 10), mad(value)
    fall = float(median(value[:tenth]) - median(value[-tenth:]))
    error = MEDIAN_LOSS * scale * float(np.sqrt(2 / tenth))
    sign = 1 if metric == "eval_loss" else -1
    gain = sign * fall
    first, rest = sign * float(value[0]), sign * value[1:]
    at_once = first - rest.max() > np.ptp(rest)  # in the first epoch, and never lost again
    return bool(at_once) or gain > max(limits.fell * scale, limits.sure * error)


def _finding(
    run: Run,
    signals: Signals,
    train: Curve,
    swing: Swing | None,
    metric: str,
    limits: Limits,
) -> Finding:
    shown = "train_loss" if swing else metric
    curve = train if swing else signals.curve(metric)
    first = float(signals.warmup.end) if signals.warmup.present else float(curve.step[0])
    onset = max(first, float(curve.step[0]))
    low, high = (quantile(curve.value, share) for share in (0.1, 0.9))
    level = float(median(curve.value))
    steady = swing is None and metric == "eval_loss" and _score_stays(signals)
    lost = "" if steady else _lost(signals, limits)
    over = not (swing or lost) and _ends_best(curve.value, rises=metric != "eval_loss")
    upset = "" if steady or over else _upset(curve, swing, shown, limits) or lost
    severity, out = _severity(run, swing, metric, limits, upset=upset)
    evidence = [
        Evidence(
            "Typical swing relative to the median" if swing else "Range relative to the median",
            swing.share if swing else (high - low) / max(abs(level), 1e-12),
            limits.scatter if swing else limits.range,
            "0.35 is far above the noise of usual batches" if swing else "a fifth",
            shown,
            unit="%",
        ),
        Evidence("Median", level, where=shown),
    ]
    if swing:
        what = "Swings of the last third relative to the first"
        evidence.append(Evidence(what, swing.kept, limits.kept))
    name = shown.replace("_", " ")
    return Finding(
        severity=severity,
        # of an evaluation alone, whose score or loss gets better across its swings, or stays
        harmless=steady
        or not (swing or lost or not (over or held_out.improving(run, signals, onset))),
        title=f"{name.capitalize()} swung widely from step {step(onset)} on, mostly "
        f"between {loss(low)} and {loss(high)} (10th and 90th percentile).",
        metric=shown,
        onset=Moment(onset),
        evidence=tuple(evidence),
        seen=SWINGS_END
        if over
        else f"The swings did not get smaller toward the end of the run"
        f"{', and ' * bool(lost)}{lost}.",
        fixes=_fixes(run, signals, float(onset)),
        ruled_out=out,
        confidence=surroundings.confidence(
            (swing.share / limits.scatter) if swing else 1.0, len(curve), len(out), 3, "the swing"
        ),
        chart=Chart("curves", (shown,)),
    )


def _ends_best(value: FloatArray, *, rises: bool) -> bool:
    """Whether the last evaluations are all in the best tenth: of any order, one in a thousand."""
    if rises:
        value = -value
    return bool((value[-LAST:] <= quantile(value, OFTEN)).all())


def _score_stays(signals: Signals) -> bool:
    """Whether the score of the same evaluations stays where it is: a few rows swing the loss."""
    for name in EVAL_METRICS[1:]:
        value = signals.curve(name).value
        if len(value) and quantile(value, 0.9) - quantile(value, 0.1) <= STAYS * value.max():
            return True
    return False


def _upset(curve: Curve, swing: Swing | None, shown: str, limits: Limits) -> str:
    """Say what no noise of batches does to a loss; "" for nothing."""
    first, level = float(curve.value[0]), float(median(curve.value))
    if swing and 0 < limits.upset * first <= level:
        return f"its first value was {loss(first)}, and its median is {loss(level)}"
    low, high = (quantile(curve.value, share) for share in (0.1, 0.9))
    if not swing and shown == "eval_loss" and 0 < limits.doubles * low <= high:
        return "the same data are evaluated each time"
    return ""


def _lost(signals: Signals, limits: Limits) -> str:
    """Say which held-out score comes to nothing now and then, late in the run; "" for none."""
    for name in signals.run.history.metrics:
        score = quality(name) if name.startswith("eval") else None
        value = signals.curve(name).value
        if score is None or score.sign < 0 or len(value) < 2 * limits.fewest_evals:
            continue
        late = value[len(value) // 2 :]
        gone = int((late <= NOTHING * value.max()).sum()) if value.max() > 0 else 0
        if gone >= OFTEN * len(late):
            often = f"{gone:,} of the last {count(len(late), 'evaluation')}"
            return f"{spoken(name)} is next to 0 at {often}, {number(value.max(), 3)} at best"
    return ""


def _severity(
    run: Run, swing: Swing | None, metric: str, limits: Limits, *, upset: str
) -> tuple[Severity, tuple[RuledOut, ...]]:
    device = run.number("per_device_train_batch_size")  # accumulation only makes it larger
    batch = in_force.effective_batch(run) or device
    out = [
        RuledOut("A downward trend hidden by noise", "no trend, and the end is not below the start")
    ]
    if batch and batch >= limits.batch:
        out.append(RuledOut("Tiny batches", f"{batch:g} samples per step"))
    if swing and metric:
        out.append(RuledOut("Noise of single batches", f"{metric} swings as well"))
    loud = swing is not None and len(out) > 1 and run.task != "other"
    if upset:
        out.append(RuledOut("Noise of single batches", upset))
    return ("warning" if loud or upset else "info"), tuple(out)


def _fixes(run: Run, signals: Signals, onset: float) -> tuple[Fix, ...]:
    made = list(fixes.learning_rate(run, signals, 1 / 3, "updates are then smaller"))
    made += fixes.more_accumulation(run, 4, "this halves the noise of a step")
    made += surroundings.warmup_fix(run, onset)
    if run.setting("lr_scheduler_type") == "constant":
        made.append(
            fixes.setting(run, "lr_scheduler_type", "cosine", "Let the rate decay", "calms")
        )
    return (*made, *surroundings.first_checks(run)[1:])


WILD = "0:5 900:5 ~0.1/333"
BAD = (
    drawn("noise of its own size", (0, 60), 0.6, severity="info", train_loss=WILD),
    drawn(
        "a level of the task that changes beside noise",
        (0, 60),
        {"train_loss": 0.6},
        severity="info",
        train_loss=WILD,
        level="0:1 300:1 310:2 900:2",
    ),
    drawn(
        "with whole batches",
        (0, 60),
        0.6,
        severity="warning",
        config={"per_device_train_batch_size": 32},
        train_loss=WILD,
    ),
    drawn(
        "far above its first value",
        (0, 60),
        {"train_loss": 0.6},
        severity="warning",
        train_loss="0:5 10:9 900:9",
    ),
    drawn(
        "evaluations of the same data double and halve",
        (50, 50),
        0.0,
        severity="warning",
        train_loss="0:5 900:2",
        eval_loss="50:4 100:2 150:5 200:2.2 250:2.1 300:4.5 350:2.3 400:5 450:2 500:4.4 550:2.2",
    ),
    drawn(
        "evaluations go up and down by less",
        (50, 50),
        0.0,
        severity="info",
        train_loss="0:5 900:2",
        eval_loss="50:3 100:2 150:3 200:2.2 250:2.1 300:3 350:2.3 400:3 450:2 500:3 550:2.2",
    ),
)
GOOD = (
    drawn("falls under noise", noise=0.4, train_loss="0:5 300:2 900:1"),
    drawn("usual noise", noise=0.1, train_loss="0:5 900:5"),
    drawn(
        "three levels of a task, on each of which the loss falls",
        noise={"train_loss": 0.01},
        task="other",
        train_loss="0:0.24 20:0.06 300:0.02 310:0.1 600:0.03 610:0.4 630:0.33 900:0.25",
        level="0:1 300:1 310:2 600:2 610:3 900:3",
    ),
    drawn(
        "evaluations of single batches that fall early",
        noise={"train_loss": 0.01, "eval_loss": 0.3},
        train_loss="0:5 900:2",
        eval_loss="0:3 200:1 900:1 /10",
    ),
    drawn("calms down", train_loss="0:5 900:4.9", noise=0.2),
)

RULE = Rule(
    slug="oscillation",
    title="Oscillation",
    family="LOS",
    severity="info",
    page=__doc__,
    limits=Limits(),
    check=check,
    needs=("train_loss|eval_loss|eval_accuracy",),
    tasks=LOSS_TASKS,
    bad=BAD,
    good=GOOD,
)
