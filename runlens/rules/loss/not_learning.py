"""Not learning: training loss never falls below its start.

What is seen
    From the first to the last logged point training loss stays where it began, within its noise.
    Or it creeps down while every logged accuracy stays at a poor start over many epochs.
    Or it stands at the cap of its framework, −ln of the smallest probability: named from two
    points on.
Why it matters
    No update has had an effect: a frozen or unwired model, a learning rate of almost nothing, or
    labels that do not belong to the inputs. Training longer changes nothing.
Looks alike
    A history that begins mid-run may show the flat end of a good run. A run that ends inside its
    warm-up has hardly begun. A model that starts inside the healthy range of its task may know
    the data already: info, unless gradient norm or learning rate say why nothing moved. A
    preference loss with other parts may rise while margin and accuracy of the pairs rise, and any
    composite loss while held-out loss or scores get better. With
    strong noise a small fall cannot be excluded: then only a second sign makes it a finding.
Limits
    fewest: points; below short of them it is an info without a second sign. fall: share of the
    start that counts as learning, 3 %. undecided: above this share the standard error leaves 3 %
    open; then the fall must lie within two errors without a trend (trend_p) and a second sign is
    needed. active: share of the logged learning rates that must be above zero. healthy: loss below
    which a fine-tuned language model may know its data (0.5-2.0 for chat data). low_factor: below
    the usual range of learning rates by this factor is a second sign. small: learning rate that is
    tiny by design. poor: an accuracy below this, that gained less than this share of its start
    (gain), or its noise, over this many epochs, while this share of the loss is left, has learned
    no more than the frequencies of the answers; from 20 % on a model may know its data, and its
    accuracy be at its ceiling. Measured: 0.24 % false alarms of 10,000 simulated runs; power 58 %
    with noise up to 25 %.
Fixes
    Overfit one batch first (if its loss does not come near 0 it is the wiring, not the tuning);
    then requires_grad and the optimizer's groups; then the learning rate, by a range test; then
    labels, their shift and label smoothing.
"""

import numpy as np
from msgspec import Struct

from runlens import fixes
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
from runlens.history import Curve
from runlens.rules.loss import beside_loss, capped, chance, surroundings
from runlens.rules.loss.falls import Fall, fall_of, learned
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
from runlens.signals.trend import mann_kendall
from runlens.usual_rates import usual_rates
from runlens.wording import loss, number, percent, step, too_few

# rules that name what a rise is; where one does, a loss that did not fall is no more to tell
LOST = ("divergence", "nan-loss", "hidden-nan", "grad-explosion", "loss-spike", "warmup-shock")
ONE_SIDED = 1.645  # standard errors of a one-sided test at 5 %
MEAN_ALONE = 0.02  # of the variance explained: R² is 0 by definition where the mean is the answer
SAME_EVAL = 1e-6  # relative range of evaluations of weights that did not move


class Limits(Struct, frozen=True):
    """What may be tuned."""

    fewest: int = 4
    short: int = 20
    fall: float = 0.03
    undecided: float = 0.02
    trend_p: float = 0.1
    active: float = 0.8
    healthy: float = 2.0
    low_factor: float = 30.0
    small: float = 1e-6
    poor: float = 0.2
    gain: float = 0.1
    epochs: float = 5.0
    left: float = 0.5


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Compare the last third of the training loss with its start."""
    train = surroundings.judged(signals)
    if cap := capped.of(train, signals):
        return found(capped.finding(run, signals, train, cap))
    if len(train) < limits.fewest:
        return unmet(too_few(len(train), "training loss", limits.fewest))
    if missing := _without_start(run, signals, train):
        return unmet(missing)
    fall = fall_of(train.value, limits.fall)
    if fall.start <= 0:
        return passed(f"loss starts at {loss(fall.start)}: a share of it means nothing")
    flat_limits = beside_loss.Bounds(
        limits.short, limits.poor, limits.gain, limits.epochs, limits.left
    )
    if flat := beside_loss.stayed(run, signals, train, flat_limits):
        return found(beside_loss.finding(run, train, flat, flat_limits))
    if reason := learned(train.value, fall) or beside_loss.learned(run, signals):
        return passed(reason)
    dead = _dead(run, signals, limits)
    if fall.height + ONE_SIDED * fall.error >= fall.needed:
        undecided = ONE_SIDED * fall.error > limits.undecided * fall.start
        still = abs(fall.height) < 2 * fall.error and mann_kendall(train.value)[1] > limits.trend_p
        if not (undecided and still and dead):
            return passed(f"loss fell by {loss(fall.height)} ± {loss(fall.error)}")
    if run.task == "other" and not dead:
        return passed("what is trained is not known, and no second sign says that nothing moved")
    return _named(fall, _finding(run, signals, train, fall, limits, dead=dead))


def _without_start(run: Run, signals: Signals, train: Curve) -> str:
    """Say why the history tells nothing of the start, or of more than it; empty: it does."""
    if signals.partial:
        return f"the history begins at step {step(run.first_step)}: the start is missing"
    if surroundings.launches(run) and surroundings.launches(run)[0] <= train.step[0]:
        return "the first loss is that of a resumed launch: the start is missing"
    if signals.warmup.present and signals.warmup.end > 0.9 * run.last_step:
        return f"the run ends inside its warm-up, which lasts to step {step(signals.warmup.end)}"
    return ""


def _named(fall: Fall, finding: Finding) -> Outcome:
    """Leave a rise to the rules that name what it is, where one of them does."""
    if -fall.height > fall.needed:
        return unless(LOST, f"loss rose by {loss(-fall.height)}", finding)
    return found(finding)


def _dead(run: Run, signals: Signals, limits: Limits) -> bool:
    """Whether a second sign says that nothing moved: gradient, rate or evaluation."""
    norms, rate = signals.curve("grad_norm").value, signals.curve("learning_rate").value
    evals, explained = signals.curve("eval_loss").value, signals.curve("eval_r2").value
    same = len(evals) > 2 and float(np.ptp(evals)) <= SAME_EVAL * abs(float(evals[0]))  # noqa: PLR2004 - two may agree
    return bool(
        same
        or (len(explained) >= limits.fewest and float(np.abs(explained).max()) <= MEAN_ALONE)
        or (len(norms) and float(np.mean(norms == 0)) > limits.active)
        or (len(rate) and float(np.mean(rate > 0)) < 1 - limits.active)
        or surroundings.too_low(run, signals, limits.low_factor)
    )


def _finding(
    run: Run,
    signals: Signals,
    train: Curve,
    fall: Fall,
    limits: Limits,
    *,
    dead: bool,
) -> Finding:
    onset = max(float(train.step[0]), _first_update(run, signals))
    severity, out = _severity(run, signals, fall, limits, dead=dead)
    # a fall beyond the limit that the noise explains
    noisy = fall.height > limits.fall * fall.start
    within = f" beyond its noise of {loss(2 * fall.error)}" if noisy else ""
    return Finding(
        severity=severity,
        title=f"Train loss did not fall{within} from step {step(onset)}: medians of "
        f"{loss(fall.end)} in the last third and {loss(fall.start)} at the start.",
        metric="train_loss",
        onset=Moment(onset),
        evidence=_evidence(signals, train, fall, limits),
        seen=f"Over {step(run.last_step)} steps train loss changed by "
        f"{percent(-fall.height / fall.start)}; no smoothed point lies clearly below the start.",
        fixes=_fixes(run, signals, limits, dead=dead),
        ruled_out=out,
        confidence=surroundings.confidence(
            2 - max(fall.height, 0.0) / fall.needed, len(train), len(out), 2, "the missing fall"
        ),
        chart=Chart("limit", ("train_loss",), limit=fall.start - fall.needed),
    )


def _evidence(signals: Signals, train: Curve, fall: Fall, limits: Limits) -> tuple[Evidence, ...]:
    evidence = [
        Evidence(
            "Fall of train loss over the run",
            fall.height / fall.start,
            limits.fall,
            "less than 3 % of its start",
            "train_loss",
            float(train.step[-1]),
            above=False,
            unit="%",
        ),
        Evidence("Standard error of the fall", fall.error, where="train_loss"),
        Evidence("Train loss in the first tenth", fall.start, where="train_loss"),
        *surroundings.norm_evidence(signals),
    ]
    if signals.peak_learning_rate is not None:
        peak = Evidence("Peak learning rate", signals.peak_learning_rate, where="learning_rate")
        evidence.append(peak)
    return tuple(evidence)


def _first_update(run: Run, signals: Signals) -> float:
    warm = signals.warmup
    return float(warm.end) if warm.present and warm.end < 0.5 * run.last_step else 0.0


def _severity(
    run: Run, signals: Signals, fall: Fall, limits: Limits, *, dead: bool
) -> tuple[Severity, tuple[RuledOut, ...]]:
    whole = RuledOut("The tail of a good run", "the history begins with the run")
    peak = signals.peak_learning_rate
    knows = run.task == "sft" and fall.start < limits.healthy
    points = len(signals.curve("train_loss"))
    if points < limits.short and not dead:
        return "info", (RuledOut("A fault of the training", f"not shown by {points} points"),)
    if knows and not dead:
        known = f"it starts at {loss(fall.start)}, where a trained model lies"
        return "info", (RuledOut("A fault of the training", f"not shown: {known}"),)
    if not dead and peak is not None and peak < limits.small:
        return "info", (RuledOut("A fault", f"learning rate {number(peak, 3)} by design"),)
    if run.task in {"regression", "contrastive"} and not dead:
        return "warning", (whole,)
    if chance.from_scratch(run, fall.start) or (run.task == "sft" and fall.start > 2.5):  # noqa: PLR2004 - sound chat data start below
        level = f"the first points have a median of {loss(fall.start)}: nothing was learned yet"
        return "critical", (whole, RuledOut("A model that already knows its data", level))
    return "warning", (whole,)


def _fixes(run: Run, signals: Signals, limits: Limits, *, dead: bool) -> tuple[Fix, ...]:
    groups = fixes.look(
        "Check requires_grad and the optimizer's parameter groups", "some parts may be frozen"
    )
    made = [*surroundings.first_checks(run), groups]
    usual = usual_rates(run)
    old = signals.peak_learning_rate
    if usual and old and surroundings.too_low(run, signals, limits.low_factor):
        why = f"the usual range is {number(usual[0])} to {number(usual[1])}"
        made.insert(0, Fix("Raise the learning rate", "learning_rate", old, usual[0], why))
    elif not dead and old:
        made += _no_smoothing(run)
        made.append(
            fixes.action(
                "Run a learning-rate range test over 100 steps",
                "shows the rate from which loss falls",
            )
        )
    return tuple(made)


def _no_smoothing(run: Run) -> tuple[Fix, ...]:
    old = run.number("label_smoothing_factor")
    if not old:
        return ()
    why = "its entropy is a floor under the loss"
    what = "Switch label smoothing off"
    return (fixes.setting(run, "label_smoothing_factor", 0.0, what, why),)


FLAT = "0:3.2 900:3.2"
BAD = (
    drawn("flat and high", (0, 50), severity="critical", train_loss=FLAT),
    drawn(
        "frozen",
        (0, 50),
        train_loss="0:1.4 900:1.4",
        grad_norm="0:0 900:0",
        severity="warning",
    ),
    drawn(
        "learning rate of almost nothing",
        (0, 50),
        0.08,
        train_loss="0:1.5 900:1.5",
        learning_rate="0:1e-9 900:1e-9",
        severity="warning",
    ),
    drawn(
        "the cap of float32, mid-run, two points",
        (1200, 1200),
        noise=0,
        task="other",
        severity="critical",
        train_loss="1200:87.3365 1210:87.3365",
    ),
    drawn(
        "all wrong answers at the cap of Keras",
        (0, 0),
        noise=0,
        task="classification",
        severity="critical",
        train_loss="0:14.5063 300:14.5063",
        train_accuracy="0:0.1 300:0.1",
    ),
    drawn("knows its data", (0, 50), severity="info", train_loss="0:0.9 900:0.9"),
    drawn(
        "every evaluation is the same",
        (0, 50),
        noise=0,
        task="other",
        train_loss="0:0.5 900:0.5",
        eval_loss="50:0.498673 900:0.498673",
        severity="warning",
    ),
    drawn(
        "noise of small batches, and evaluation explains nothing",
        (0, 50),
        noise={"train_loss": 0.25, "eval_loss": 0.002},
        task="regression",
        train_loss="0:1 900:1",
        eval_loss="50:1.1 900:1.1",
        eval_r2="50:0.003 900:0.002",
        severity="warning",
    ),
    drawn("rises a little", (0, 50), train_loss="0:4 900:4.1", task="pretrain", severity="warning"),
    drawn(
        "loss creeps, accuracy stays",
        (0, 50),
        noise=0.002,
        severity="warning",
        train_loss="0:11 200:9.9 900:8.6",
        token_accuracy="10:0.066 900:0.068",  # noqa: S106 - no password
        steps_per_epoch=90,
    ),
)
GOOD = (
    drawn(
        "accuracy rises late",
        noise=0.002,
        train_loss="0:9 900:6.5",
        token_accuracy="50:0.07 500:0.07 900:0.2",  # noqa: S106 - no password
        steps_per_epoch=90,
    ),
    drawn(
        "knows its data, and loss creeps",
        noise=0.002,
        train_loss="0:2.9 900:2.6",
        token_accuracy="50:0.42 900:0.43",  # noqa: S106 - no password
        steps_per_epoch=90,
    ),
    drawn(
        "pairs are told apart, and another part of the loss rises",
        task="dpo",
        train_loss="0:2.4 300:2.9 900:2.8",
        dpo_margin="0:0.05 300:0.6 900:1.3",
        dpo_acc="0:0.5 300:0.55 900:0.6",
    ),
    drawn(
        "a penalty grows and evaluation improves",
        task="classification",
        noise=0.004,
        train_loss="0:0.5 20:8 300:30 600:110 900:95",
        eval_loss="50:0.67 900:0.62",
    ),
    drawn("an unknown task without a second sign", task="other", train_loss=FLAT),
    drawn("a level near a cap", noise=0.01, task="other", train_loss="0:16.1 300:16.1"),
    drawn("falls", train_loss="0:3 300:1.5 900:1.2"),
    drawn("falls slowly", noise=0.005, train_loss="0:3 900:2.8"),
    drawn("falls at once", train_loss="0:3.4 20:2 900:2"),
    drawn("noise hides it", noise=0.2, train_loss="0:3 900:2.9"),
    drawn(
        "noise hides it, and a tenth is explained",
        noise={"train_loss": 0.25, "eval_loss": 0.002},
        task="regression",
        train_loss="0:1 900:1",
        eval_loss="50:1.1 900:1.1",
        eval_r2="50:0.02 900:0.1",
    ),
    drawn("fell and came back", train_loss="0:3 300:2 900:3"),
)

RULE = Rule(
    slug="not-learning",
    title="Not learning",
    family="LOS",
    severity="critical",
    page=__doc__,
    limits=Limits(),
    check=check,
    needs=("train_loss",),
    tasks=LANGUAGE_TASKS
    | PREFERENCE_TASKS
    | {"classification", "asr", "regression", "contrastive", "other"},
    bad=BAD,
    good=GOOD,
)
