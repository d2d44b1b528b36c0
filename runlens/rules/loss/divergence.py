"""Divergence: training loss rises for good.

What is seen
    Training loss reaches its best and then rises, by a jump or over many steps, to a level it
    does not leave again, or leaves its first level for good; or runs below 0, or began blown up.
Why it matters
    All that was learned before the onset is being lost, and every step after it is wasted.
Looks alike
    A rise at a resume belongs to the resume. A jump at an epoch boundary after which the loss falls
    again, with a calm gradient norm, is other data: info. So is a rise at a restart of the learning
    rate that is coming down again, and a total loss that rises with its own penalty weight (KL
    annealing; none at all where it fell under the last weight), or while its logged data term stays
    and no logged part climbs, or held-out loss or scores get better, or held-out loss stays at its
    best: then the batches are harder. A loss of an unknown task that goes below 0, and a policy-
    gradient loss, have no level to rise from. A slow drift of less than half the fall is the noise
    floor. A spike comes back, and where other scores or a part of the loss begin the sum is
    another. A best that is only visited is no level. A mean of the epoch so far begins low in each:
    its ends are judged. The last points of an epoch are no trend. A slow rise is the noise floor,
    or late data are harder. Of adversarial losses only whether the discriminator has won is judged,
    of an agent whether its critic left what returns can be.
Limits
    level: rise as a share of the best level that counts where it also undoes gain of what had been
    gained; gain_alone: share of the gain that counts alone. slow: rise as a share of the level that
    counts for a loss that was never below its start, and, for a fifth of the run or longer, as a
    slow rise. errors: standard errors of the difference that the rise must exceed. all_lost: an end
    within this share of the fall below the start is critical, if it lies level above the best.
    other_factor: all limits are that much wider where the task is not known; between the two it is
    an info.
    A slow rise is loud only where evaluation loss, a growing rate or one part of a composite loss
    rules out that the data grew harder. won and grew: a discriminator has won where its loss stays
    at most at this share of its highest level and the generator's ends grew times as high.
Fixes
    Go back to the last checkpoint before the onset; learning rate to a third, a fifth where the
    gradient norm had climbed tenfold; longer warm-up; clip at 1.0; bf16.
"""

from dataclasses import replace
from math import inf, isfinite

from runlens.arrays import median
from runlens.diagnosis import (
    Chart,
    Confidence,
    Evidence,
    Finding,
    Mark,
    Moment,
    Outcome,
    RuledOut,
    Severity,
)
from runlens.history import Curve
from runlens.rules.loss import adversaries, causes_of_rise, critics, exploded, parts, surroundings
from runlens.rules.loss.rise_forms import Limits, Rise, rise_of
from runlens.rules.numerics.not_finite import finite_until, not_finite_name
from runlens.rules.relations import NAN, Relations
from runlens.rules.rule import LOSS_TASKS, Rule, drawn, found, passed, unmet
from runlens.run import Run
from runlens.signals import Signals, held_out
from runlens.signals.digits import one_digit
from runlens.signals.noise import smooth
from runlens.signals.shape import above, confidence, shape_of
from runlens.signals.shape.make import FEWEST
from runlens.wording import count, loss, step, times, too_few

CALM = 1.5  # gradient norm over its level before: unchanged
UNKNOWN_LEVEL = (RuledOut("A fault of the training", "not shown: what is trained is not known"),)
UNTYPED = {"other", "gan-diffusion"}
GROWING_RATE = 1.2  # learning rate at the end over that at the onset
NEEDED = {
    "from best": "a third of the gain, or a quarter of its level and a tenth of the gain",
    "from start": "a tenth of its level",
    "slow": "a tenth of its level, for a fifth of the run",
}
OF_CRITIC = ("reward-collapse",)  # of an agent whose critic is lost
HALF = 0.5  # of the rise: less of it left at the end is told as coming down
FALLING_AGAIN = 0.15  # of the rise, from just after a jump to the end


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Compare the end of the training loss with its best and with its start."""
    if (apart := _of_another_kind(run, signals, limits)) is not None:
        return apart
    train = signals.epoch_means or surroundings.judged(signals)
    whole = len(train) == len(run.curve("train_loss"))  # no NaN, no zeros at its end
    shape = signals.shape("train_loss") if whole else shape_of(train.step, train.value)
    if not shape:
        return unmet(too_few(len(train), "training loss", FEWEST))
    rise, small = rise_of(shape, limits, 1.0), False
    if run.task in UNTYPED and (reason := surroundings.no_level(run, signals)):
        falls = surroundings.falls_below_zero(run, signals)
        return passed(rise) if falls and isinstance(rise, str) else unmet(reason)
    if still := surroundings.no_update(signals) or one_digit(train.value):
        return passed(still)
    if isinstance(rise, Rise) and run.task in UNTYPED:
        part, _ = causes_of_rise.component(run, float(train.step[rise.at]))
        wide = rise if part else rise_of(shape, limits, limits.other_factor)
        small = isinstance(wide, str) and rise.kind != "slow" and not rise.falls
        rise = rise if small else wide
    if isinstance(rise, str):
        return passed(rise)
    onset = float(train.step[rise.at])
    launch = surroundings.launch_near(run, signals, onset)
    if launch is not None and onset > run.first_step:
        told = f"loss rose to {loss(rise.end)} where a launch starts, at step {step(launch)}"
        return passed(f"{told}: see resume-jump")
    if why := surroundings.new_stage(run, signals, onset) or rise.falls:
        return passed(f"a new stage at step {step(onset)}: {why}")
    part, _ = causes_of_rise.component(run, onset)
    steady = "" if part else held_out.steady_data_term(run, signals, onset)
    beside = held_out.improving(run, signals, onset) or held_out.unmoved(signals, onset) or steady
    beside = beside or held_out.still_right(run, signals, onset, kept=True) or parts.lifted(run)
    if beside:
        return passed(f"train loss rose by {loss(rise.height)}, but {beside}")
    finding = _finding(run, signals, train, rise, limits)
    return found(replace(finding, severity="info", ruled_out=UNKNOWN_LEVEL) if small else finding)


def _of_another_kind(run: Run, signals: Signals, limits: Limits) -> Outcome | None:
    """Judge critics, adversaries, means and what has no lowest value; None for others."""
    if run.task == "rl":
        return critics.judge(run, signals)
    if adversaries.DISCRIMINATOR in run.history.metrics:
        return adversaries.judge(signals, limits.won, limits.grew)
    if (means := signals.epoch_means) and means.value[-1] <= means.value.min():
        return passed("the mean over the last epoch is the lowest")
    return exploded.judge(run, signals)


def _finding(run: Run, signals: Signals, train: Curve, rise: Rise, limits: Limits) -> Finding:
    onset = float(train.step[rise.at])
    climb = surroundings.norm_climb(signals, onset)
    severity, out = _severity(run, signals, train, rise, climb, limits)
    peak, last = float(train.value[rise.at :].max()), float(train.value[-1])
    lowest = float(train.value[: rise.at].min(initial=train.value[0]))
    top = float(smooth(train.value)[rise.at :].max())
    odd = lowest < HALF * rise.best  # one row, so levels are told
    lowest, peak, smoothed = (rise.best, top, " (smoothed)") if odd else (lowest, peak, "")
    origin = "start" if rise.kind == "from start" else "best"
    began = "at the start" if origin == "start" else f"at its best{smoothed}"
    ended = "ended there" if loss(peak) == loss(last) else f"ended at {loss(last)}"
    undone = last - lowest <= HALF * (peak - lowest)  # and so is the level: a last row may be odd
    undone &= rise.height <= HALF * (top - rise.best) and not isfinite(finite_until(run))
    rest = count(round(run.last_step - onset), "step")
    if (gone := finite_until(run)) <= run.curve("train_loss").step[-1]:
        ended = f"became {not_finite_name(run, gone)} at step {step(gone)}"
    return Finding(
        severity=severity,
        title=f"Train loss diverged {surroundings.since(train, rise.at)}. It rose from "
        f"{loss(lowest)} {began} to {loss(peak)}{smoothed} and {ended}.",
        metric="train_loss",
        onset=Moment(onset),
        evidence=_evidence(signals, train, rise, origin, climb),
        seen="It came down again, but not to its earlier best."
        if undone
        else f"The loss did not recover in the remaining {rest}.",
        fixes=causes_of_rise.cures(run, signals, onset, climb),
        ruled_out=out,
        confidence=_confidence(train, rise),
        chart=Chart("curves", ("train_loss",), marks=(Mark(onset, rise.best, "onset"),)),
    )


def _confidence(train: Curve, rise: Rise) -> Confidence:
    """Return how sure it is: how far beyond its limit, and how rarely ranks fall so by chance."""
    chance = above(train.value[: rise.at], train.value[rise.at :])
    points = count(len(train), "point")
    if rise.needed <= 0:  # of a loss that was zero
        return Confidence(round(confidence(inf, chance), 2), f"it was zero before, {points}")
    beyond = rise.height / rise.needed
    reason = f"the rise is {times(beyond)} the threshold, {points}"
    return Confidence(round(confidence(beyond, chance), 2), reason)


def _evidence(
    signals: Signals, train: Curve, rise: Rise, origin: str, climb: float | None
) -> tuple[Evidence, ...]:
    evidence = [
        Evidence(
            f"Rise of train loss over its {origin} (smoothed)",
            rise.height,
            rise.needed,
            NEEDED[rise.kind],
            "train_loss",
            float(train.step[-1]),
        ),
        Evidence(
            "Best train loss, smoothed",
            rise.best,
            where="train_loss",
            step=float(train.step[rise.best_at]),
        ),
        Evidence("Train loss in the last tenth", rise.end, where="train_loss"),
    ]
    rate = signals.learning_rate_at(float(train.step[rise.at]))
    if rate is not None:
        evidence.append(Evidence("Learning rate at the onset", rate, where="learning_rate"))
    if climb is not None:
        relative = "Gradient norm relative to its earlier level"
        evidence.append(Evidence(relative, climb, where="grad_norm"))
    return tuple(evidence)


def _severity(
    run: Run, signals: Signals, train: Curve, rise: Rise, climb: float | None, limits: Limits
) -> tuple[Severity, tuple[RuledOut, ...]]:
    """Return how grave it is; readings under which the rise is no fault make it info."""
    onset = float(train.step[rise.at])
    after = train.value[rise.at + 1 :]
    falls = len(after) >= 2 * surroundings.NORMS and (
        float(median(after[: len(after) // 4 + 1])) - rise.end >= FALLING_AGAIN * rise.height
    )
    reach = surroundings.NEAR_POINTS * signals.interval("train_loss")
    restarted = [at for at in signals.restarts if abs(at - onset) <= reach]
    calm = climb is None or climb < CALM
    edge = rise.jump and surroundings.boundary_near(signals, onset)
    if falls and calm and (edge or restarted):
        what = "A new stage of the data" if edge else "A restart of the learning rate"
        return "info", (RuledOut("Instability", f"{what}: loss falls again after the jump"),)
    if weight := causes_of_rise.growing_penalty(run):
        return "info", (RuledOut("Instability", f"{weight} grows during the run"),)
    out = [RuledOut("Loss spike", "loss stayed up to the end of the run")]
    if signals.steps_per_epoch and not edge:
        change = "A data change at an epoch boundary"
        out.append(RuledOut(change, "the rise does not begin with an epoch"))
    if len(signals.curve("learning_rate")) and not restarted:
        out.append(RuledOut("A restart of the learning-rate schedule", "none near the onset"))
    if rise.kind == "slow":
        return _slow_severity(run, signals, rise, onset, tuple(out))
    lost = rise.end >= rise.start - limits.all_lost * rise.fall or rise.height >= rise.fall
    lost &= rise.height >= limits.level * abs(rise.best)  # all of a little fall is little
    broken = len(run.curve("train_loss")) > len(train)  # NaN, or the zeros that stand for it
    return ("critical" if lost or broken else "warning"), tuple(out)


def _slow_severity(
    run: Run, signals: Signals, rise: Rise, onset: float, out: tuple[RuledOut, ...]
) -> tuple[Severity, tuple[RuledOut, ...]]:
    """Return warning where a second signal rules out that late data are harder."""
    evals, rate = signals.curve("eval_loss"), signals.curve("learning_rate")
    before, after = evals.before(int(onset) + 1).value[-3:], evals.value[-3:]
    harder = "Harder data late in the run"
    if len(before) and float(median(after) - median(before)) >= 0.5 * rise.height:
        why = f"eval loss rose from {loss(median(before))} to {loss(median(after))} as well"
        return "warning", (*out, RuledOut(harder, why))
    part, growth = causes_of_rise.component(run, onset)
    if part:
        alone = RuledOut(harder, f"{part} alone rose to {times(growth)} its level")
        return "warning", (*out, alone)
    then = signals.learning_rate_at(onset)
    if then and len(rate) and float(rate.value[-1]) >= GROWING_RATE * then:
        why = f"the learning rate ended at {times(float(rate.value[-1]) / then)} that of the onset"
        return "warning", (*out, RuledOut(harder, why))
    return "info", out


SLOW = "0:9 100:4 300:3.5 900:3.4 3000:4"
BAD = (
    *surroundings.BAD,
    *adversaries.BAD,
    drawn("climbs to the start", (250, 420), severity="critical", train_loss="0:3 300:1.5 800:3"),
    drawn("jumps", (390, 420), severity="critical", train_loss="0:3 400:1.5 401:4 800:4"),
    drawn("little fell", (380, 620), severity="warning", train_loss="0:2 400:1.9 900:2.3 1000:2.3"),
    drawn("half lost", (380, 620), severity="warning", train_loss="0:4 400:1 900:2.8 1000:2.8"),
    drawn("never came back", (10, 60), severity="critical", train_loss="0:0.4 30:0.4 40:4 700:1.5"),
    drawn(
        "climbs at each of ten points",
        (10, 60),
        0.002,
        task="classification",
        train_loss="0:0.483 40:0.491 90:0.536",
    ),
    drawn(
        "then NaN",
        (250, 450),
        severity="critical",
        train_loss="0:4 300:1 500:3 600:3.2 610:nan 700:3",
    ),
    drawn(
        "blown up in its first steps",
        (10, 10),
        severity="critical",
        task="other",
        train_loss="0:96 10:1e13 50:4e11 200:4e9 500:2e7 1000:4e5",
    ),
    drawn(
        "two points, each far above all before",
        (10, 20),
        severity="critical",
        task="other",
        noise=0,
        train_loss="0:0.85 10:2.4 20:63000 30:1e13",
    ),
    drawn(
        "the values of a critic, in five rows",
        (10, 20),
        noise=0,
        task="rl",
        severity="warning",
        reward="0:-20 10:0 20:0 30:-30 40:-35",
        q_value="0:9 10:209 20:657 30:898 40:1224",
        q_loss="0:0.34 10:114 20:1128 30:2436 40:3696",
    ),
    drawn("after a plateau", (560, 760), train_loss="0:5 100:3 700:3 900:5.2"),
    drawn("slow alone", (500, 1500), severity="info", task="pretrain", train_loss=SLOW),
    drawn(
        "slow, and evaluation too",
        (500, 1500),
        severity="warning",
        task="pretrain",
        train_loss=SLOW,
        eval_loss=SLOW.replace("0:9", "50:6"),
    ),
    drawn(
        "the discriminator wins",
        (300, 520),
        task="gan-diffusion",
        severity="warning",
        noise=0.2,
        d_loss="0:1.3 400:0.04 1000:0.01",
        g_loss="0:1.2 400:3 1000:9",
    ),
    drawn(
        "one part of the loss",
        (200, 900),
        task="gan-diffusion",
        severity="warning",
        train_loss="0:0.9 100:0.4 400:0.24 1600:0.45",
        train_quantized_loss="0:1.2 400:1.3 1600:4.6",
    ),
)
GOOD = (
    *surroundings.GOOD,
    *adversaries.GOOD,
    drawn(
        "batches of several sizes, and nothing is trained",
        noise=0,
        train_loss="0:557 10:70 20:109 30:145",
        grad_norm="0:0 30:0",
    ),
    drawn("a critic of rewards that rise", task="rl", reward="0:9 900:90", q_value="0:0.1 900:2e3"),
    drawn("still falling", train_loss="0:3 300:1.5 900:1.2"),
    drawn("drift at constant rate", train_loss="0:3 300:1.5 900:1.62"),
    drawn("spike that came back", train_loss="0:3 400:1.5 401:6 430:6 431:1.5 900:1.3"),
    drawn(
        "a penalty grows and evaluation improves",
        task="classification",
        noise=0.004,
        train_loss="0:0.5 300:30 600:110 900:95",
        eval_loss="50:0.67 900:0.62",
    ),
    drawn(
        "a penalty grows over a steady data term",
        task="other",
        train_loss="0:0.5 300:30 600:110 900:95",
        train_nll="0:0.48 900:0.45",
    ),
    drawn(
        "two networks in balance",
        task="gan-diffusion",
        noise=0.2,
        d_loss="0:1.4 100:0.7 1000:0.6",
        g_loss="0:0.8 1000:1.9",
    ),
    drawn(
        "a discriminator far ahead at the start",
        task="gan-diffusion",
        noise=0.2,
        d_loss="0:0.9 60:0.02 200:0.02 400:0.9 1000:1.0",
        g_loss="0:1 60:12 200:9 400:1.5 1000:1.2",
    ),
    drawn("rises at the very end", train_loss="0:3 880:1.5 900:3"),
    drawn(
        "means of the epoch so far, which begin low in each",
        noise=0,
        steps_per_epoch=300,
        train_loss="0:1.4 10:1.2 20:1.05 30:1 300:0.95 310:0.2 320:0.5 330:0.45 340:0.47 600:0.48",
    ),
    drawn("flat and noisy", noise=0.15, train_loss="0:1.2 900:1.2"),
)

RULE = Rule(
    slug="divergence",
    title="Divergence",
    family="LOS",
    severity="critical",
    page=__doc__,
    limits=Limits(),
    check=check,
    relations=Relations(
        soon=("grad-explosion",),
        ever=(*NAN, "stuck-at-chance", "stopped-early", "hockey-stick", "grad-zero", *OF_CRITIC),
        absorbs=("hockey-stick", "loss-spike"),
        layer="course",
    ),
    needs=("train_loss|g_loss|reward",),
    tasks=LOSS_TASKS | {"gan-diffusion", "rl"},
    bad=(*BAD, *exploded.BAD),
    good=(*GOOD, *exploded.GOOD),
)
