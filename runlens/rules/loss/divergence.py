"""Divergence: training loss rises for good.

What is seen
    Training loss reaches its best and then rises, by a jump or over many steps, to a level it
    does not leave again. Or it leaves the level at which it started and never comes back.
Why it matters
    All that was learnt before the onset is being lost, and every step after it is wasted.
Looks alike
    A rise at a resume belongs to the resume. A jump at an epoch boundary after which the loss
    falls again, with a calm gradient norm, is other data: info. So is a rise at a restart of the
    learning rate that is coming down again, and a total loss that rises with its own penalty
    weight (KL annealing). A slow drift of less than half the fall is the noise floor. A spike
    comes back. The last points of an epoch are no trend. A slow rise is the noise floor, or
    late data are harder. Adversarial and policy-gradient losses are not judged.
Limits
    fewest: points. noise_multiple: scales of slow noise that the end must lie above the best;
    3 gives 0.5-0.8 % false alarms, 4 gives 0.2 %. fall_share: the rise must undo this share of
    the fall, level_share: and be this share of the best level. end_share: of the last 10 % of
    points that must lie above half the rise. held: the smooth curve stays above this share of
    the rise for the last 5 %. never_back: rise over the very first points that counts where the
    loss never returned to them, with never_back_noise scales, fewest_never_back points and
    never_back_share of all points above the start. jump_share: of the rise within five points
    from which it is a jump. all_lost: end within this share of the fall below the start is
    critical. other_factor: all limits are that much wider where the task is not known.
    Slow form, from fewest_slow points on: by slow_noise scales and level_share of the best, for
    slow_share of the run, and by all that was gained after the first tenth of the run. It is
    loud only where evaluation loss, a growing learning rate or one part of a composite loss
    rules out that the data grew harder.
    Measured on 3,000 simulated healthy runs: 0.20 % false alarms; power 92 % for ramps, 94 % for
    jumps, 79 % for never-back; onset within 4.5 % of the run for ramps.
Fixes
    Go back to the last checkpoint before the onset; learning rate to a third, a fifth where the
    gradient norm had climbed tenfold; longer warm-up; clip at 1.0; bf16.
"""

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from runlens.diagnosis import (
    Chart,
    Evidence,
    Finding,
    Mark,
    Moment,
    Outcome,
    RuledOut,
    Severity,
)
from runlens.history import Curve, FloatArray
from runlens.rules.loss import causes_of_rise, surroundings
from runlens.rules.rule import LOSS_TASKS, Rule, drawn, found, passed, unmet
from runlens.run import Run
from runlens.signals import Signals, noise
from runlens.signals.changes import biggest_jump, hinge, last_false
from runlens.wording import loss, step, times

ADVERSARIES = re.compile(
    r"(^|[/_.])(d|g|disc|discriminator|gen|generator|critic)_?loss|D\(x\)|loss_?[dg]$",
    re.IGNORECASE,
)
CALM = 1.5  # gradient norm over its level before: unchanged
UNTYPED = {"other", "gan-diffusion"}
GROWING_RATE = 1.2  # learning rate at the end over that at the onset
NEEDED = {
    "from best": "half of its fall, 10 % of its level, or four noise scales",
    "from start": "half of its level, or six noise scales",
    "slow": "all that was gained after the first tenth, and 10 % of its level",
}
ROUNDING = 1e-9  # of the best: no rise, but the last digit of a mean
FALLING_AGAIN = 0.15  # of the rise, from just after a jump to the end


@dataclass(frozen=True)
class Limits:
    """What may be tuned."""

    fewest: int = 12
    noise_multiple: float = 4.0
    fall_share: float = 0.5
    level_share: float = 0.10
    end_share: float = 0.8
    held: float = 0.3
    never_back: float = 0.5
    never_back_noise: float = 6.0
    fewest_never_back: int = 20
    never_back_share: float = 0.95
    jump_share: float = 0.6
    all_lost: float = 0.25
    fewest_slow: int = 100
    slow_noise: float = 2.0
    slow_share: float = 0.2
    other_factor: float = 2.0


class Rise(NamedTuple):
    """A rise to the end of the curve."""

    at: int  # index of the onset
    best: float  # the level it rose from
    best_at: int
    start: float
    end: float
    fall: float  # from the start to the best
    needed: float  # rise that counts
    jump: bool
    kind: Literal["from best", "from start", "slow"]

    @property
    def height(self) -> float:
        """The rise over the best."""
        return self.end - self.best


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Compare the end of the training loss with its best and with its start."""
    train = surroundings.judged(signals)
    if len(train) < limits.fewest:
        return unmet(f"only {len(train)} of the {limits.fewest} training losses that are needed")
    if run.task == "gan-diffusion" and any(ADVERSARIES.search(m) for m in run.history.metrics):
        return unmet("an adversarial loss has no direction")
    rise = _rise(train.value, limits, 1.0)
    if isinstance(rise, Rise) and run.task in UNTYPED:
        part, _ = causes_of_rise.component(run, float(train.step[rise.at]))
        rise = rise if part else _rise(train.value, limits, limits.other_factor)
    if isinstance(rise, str):
        return passed(rise)
    onset = float(train.step[rise.at])
    launch = surroundings.launch_near(run, signals, onset)
    if launch is not None and onset > run.first_step:
        return passed(
            f"loss rose to {loss(rise.end)} where a launch starts, at step {step(launch)}: "
            "see resume-jump"
        )
    return found(_finding(run, signals, train, rise, limits))


def _rise(value: FloatArray, limits: Limits, factor: float) -> Rise | str:
    """Look for a rise in all its forms; a text says why there is none."""
    return _never_back(value, limits, factor) or _from_best(value, limits, factor)


def _never_back(value: FloatArray, limits: Limits, factor: float) -> Rise | None:
    """Look for a rise from the first points that was never undone."""
    count = len(value)
    if count < limits.fewest_never_back:
        return None
    head = max(float(np.median(value[:3])), float(np.median(value[:5])))
    end = float(np.median(value[-max(5, round(0.1 * count)) :]))
    scale = noise.sigma(value)
    needed = max(factor * limits.never_back * abs(head), factor * limits.never_back_noise * scale)
    above = value[max(3, int(0.02 * count)) :] > head + 2 * min(scale, 0.1 * abs(head))
    if end - head < needed or above.mean() < limits.never_back_share or value[:3].max() >= end:
        return None
    at = int(np.argmax(value > head + 0.5 * (end - head)))
    return Rise(at, head, 0, head, end, 0.0, needed, jump=True, kind="from start")


def _from_best(value: FloatArray, limits: Limits, factor: float) -> Rise | str:
    """Look for a rise from the best level to the end; a text says why there is none."""
    count = len(value)
    levels, smooth = noise.levels(value), noise.smooth(value)
    best, best_at, fall = levels.best, levels.best_index, levels.fall
    least = max(5.0, 0.05 * count)
    tail = value[-max(5, round(0.1 * count)) :]
    end = float(np.median(tail))
    scatter, least_rise = noise.sigma_long(value), limits.level_share * abs(best)
    full = max(limits.noise_multiple * scatter, limits.fall_share * fall, least_rise)
    slow = max(limits.slow_noise * scatter, _late_fall(value, best), least_rise)
    patient = count >= limits.fewest_slow and slow < full
    needed = factor * (slow if patient else full)
    if end - best <= ROUNDING * abs(best):
        return "loss is best at the end"
    if end - best < needed:
        return f"loss ends {loss(end - best)} above its best {loss(best)}; {loss(needed)} counts"
    if count - best_at < least:
        return "loss is best at the end"
    scale = noise.sigma(value)
    if fall < 3 * scale and end < levels.start + 3 * scale:
        return f"loss ends at {loss(end)}, within the noise {loss(3 * scale)} of its start"
    if float(np.mean(tail > best + 0.5 * (end - best))) < limits.end_share:
        return "loss came down again before the end"
    slow_form = end - best < factor * full
    below = last_false(smooth > best + limits.held * (end - best))
    if count - below < (limits.slow_share * count if slow_form else least):
        return "loss rose only in the last points"
    if slow_form:
        at = _ramp(value, smooth, best_at, below, end - best)
        return Rise(at, best, best_at, levels.start, end, fall, needed, jump=False, kind="slow")
    at, jump = _onset(value, smooth, best_at, below, end - best, limits)
    return Rise(at, best, best_at, levels.start, end, fall, factor * full, jump, "from best")


def _late_fall(value: FloatArray, best: float) -> float:
    """Return how far the loss fell after the first tenth of the run."""
    tenth = len(value) // 10
    return float(np.median(value[tenth : tenth + max(3, tenth // 2)])) - best


def _onset(
    value: FloatArray, smooth: FloatArray, best_at: int, below: int, height: float, limits: Limits
) -> tuple[int, bool]:
    """Return (index, whether it is a jump) of where the rise begins."""
    reach = noise.window(len(value))
    first = max(0, below - reach)
    where, jumped = biggest_jump(value[first : below + reach + 5])
    if jumped >= limits.jump_share * height:
        near = max(first + where - surroundings.NORMS, 0)
        return near + 1 + int(np.argmax(np.diff(value[near : near + 10]))), True
    return _ramp(value, smooth, best_at, below, height), False


def _ramp(value: FloatArray, smooth: FloatArray, best_at: int, below: int, height: float) -> int:
    """Return the index at which a climb begins.

    A hinge comes late on a rise that speeds up, a crossing on one that slows down.
    """
    quiet = max(0.05 * height, 2 * noise.sigma(value) / noise.window(len(value)) ** 0.5)
    crossing = last_false(smooth[: below + 2] > smooth[best_at] + quiet)
    return min(best_at + hinge(smooth[best_at:]), max(crossing, best_at))


def _finding(run: Run, signals: Signals, train: Curve, rise: Rise, limits: Limits) -> Finding:
    onset = float(train.step[rise.at])
    climb = surroundings.norm_climb(signals, onset)
    severity, out = _severity(run, signals, train, rise, climb, limits)
    how = "jumped" if rise.jump else "climbed"
    peak, last = float(train.value[rise.at :].max()), float(np.median(train.value[-3:]))
    origin = "start" if rise.kind == "from start" else "best"
    kept = f"did not come back to its {origin}"
    return Finding(
        severity=severity,
        title=f"Divergence from step {step(onset)}: train loss rose from its {origin} "
        f"{loss(rise.best)} to {loss(peak)} and ended at {loss(last)}.",
        metric="train_loss",
        onset=Moment(onset),
        evidence=_evidence(signals, train, rise, origin, climb),
        seen=f"Train loss {how} by {loss(rise.height)} and {kept}; "
        f"{step(run.last_step - onset)} of {step(run.last_step)} steps came after the onset.",
        causes=causes_of_rise.causes(run, signals, onset, climb, jump=rise.jump),
        fixes=causes_of_rise.cures(run, signals, onset, climb),
        ruled_out=out,
        confidence=surroundings.confidence(
            rise.height / rise.needed, len(train), len(out), 3, "the rise"
        ),
        chart=Chart(
            "curves",
            ("train_loss",),
            marks=(Mark(onset, rise.best, "onset"),),
        ),
    )


def _evidence(
    signals: Signals, train: Curve, rise: Rise, origin: str, climb: float | None
) -> tuple[Evidence, ...]:
    evidence = [
        Evidence(
            f"Rise of train loss over its {origin}",
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
        Evidence("Fall that was undone", _undone(rise), unit="%"),
    ]
    rate = signals.learning_rate_at(float(train.step[rise.at]))
    if rate is not None:
        evidence.append(Evidence("Learning rate at the onset", rate, where="learning_rate"))
    if climb is not None:
        evidence.append(Evidence("Gradient norm over its level before", climb, where="grad_norm"))
    return tuple(evidence)


def _undone(rise: Rise) -> float | str:
    return rise.height / rise.fall if rise.fall > 0 else "it never fell"


def _severity(
    run: Run, signals: Signals, train: Curve, rise: Rise, climb: float | None, limits: Limits
) -> tuple[Severity, tuple[RuledOut, ...]]:
    """Return how grave it is; readings under which the rise is no fault make it info."""
    onset = float(train.step[rise.at])
    after = train.value[rise.at + 1 :]
    falls = len(after) >= 2 * surroundings.NORMS and (
        float(np.median(after[: len(after) // 4 + 1])) - rise.end >= FALLING_AGAIN * rise.height
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
    out = [RuledOut("A spike", "loss stayed up to the end of the run")]
    if signals.steps_per_epoch:
        out.append(RuledOut("Other data from an epoch on", _why_not(edge, falls, climb)))
    if len(signals.curve("learning_rate")):
        out.append(RuledOut("Restart of the learning rate", "none near the onset"))
    if rise.kind == "slow":
        return _slow_severity(run, signals, rise, onset, tuple(out))
    lost = rise.end >= rise.start - limits.all_lost * rise.fall or rise.height >= rise.fall
    broken = len(run.curve("train_loss")) > len(train)  # NaN, or the zeros that stand for it
    return ("critical" if lost or broken else "warning"), tuple(out)


def _slow_severity(
    run: Run, signals: Signals, rise: Rise, onset: float, out: tuple[RuledOut, ...]
) -> tuple[Severity, tuple[RuledOut, ...]]:
    """Return warning where a second signal rules out that late data are harder."""
    evals, rate = signals.curve("eval_loss"), signals.curve("learning_rate")
    before, after = evals.before(int(onset) + 1).value[-3:], evals.value[-3:]
    harder = "Harder data late in the run"
    if len(before) and float(np.median(after) - np.median(before)) >= 0.5 * rise.height:
        why = f"eval loss rose from {loss(np.median(before))} to {loss(np.median(after))} as well"
        return "warning", (*out, RuledOut(harder, why))
    part, growth = causes_of_rise.component(run, onset)
    if part:
        return "warning", (*out, RuledOut(harder, f"{part} alone rose {times(growth)}"))
    then = signals.learning_rate_at(onset)
    if then and len(rate) and float(rate.value[-1]) >= GROWING_RATE * then:
        why = f"the learning rate rose {times(float(rate.value[-1]) / then)} since the onset"
        return "warning", (*out, RuledOut(harder, why))
    return "info", out


def _why_not(edge: bool, falls: bool, climb: float | None) -> str:
    if not edge:
        return "the rise does not begin with an epoch"
    if not falls:
        return "loss does not fall again after the rise"
    return f"gradient norm rose {times(climb or 0.0)} at the same step"


SLOW = "0:9 100:4 300:3.5 900:3.4 3000:4"
BAD = (
    drawn("climbs to the start", (250, 420), severity="critical", train_loss="0:3 300:1.5 800:3"),
    drawn("jumps", (390, 420), severity="critical", train_loss="0:3 400:1.5 401:4 800:4"),
    drawn("half lost", (380, 620), severity="warning", train_loss="0:4 400:1 900:2.8 1000:2.8"),
    drawn("never came back", (10, 60), severity="critical", train_loss="0:0.4 30:0.4 40:4 700:1.5"),
    drawn(
        "then NaN",
        (250, 450),
        severity="critical",
        train_loss="0:4 300:1 500:3 600:3.2 610:nan 700:3",
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
        "one part of the loss",
        (200, 900),
        task="gan-diffusion",
        severity="warning",
        train_loss="0:0.9 100:0.4 400:0.24 1600:0.45",
        train_quantized_loss="0:1.2 400:1.3 1600:4.6",
    ),
)
GOOD = (
    drawn("still falling", train_loss="0:3 300:1.5 900:1.2"),
    drawn("drift at constant rate", train_loss="0:3 300:1.5 900:1.62"),
    drawn("spike that came back", train_loss="0:3 400:1.5 401:6 430:6 431:1.5 900:1.3"),
    drawn("rises at the very end", train_loss="0:3 880:1.5 900:3"),
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
    needs=("train_loss",),
    tasks=LOSS_TASKS | {"gan-diffusion"},
    bad=BAD,
    good=GOOD,
)
