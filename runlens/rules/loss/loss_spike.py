"""Loss spike: training loss jumps far out of its noise and comes back.

What is seen
    Training loss jumps to a multiple of its level within a few points, once or again and again,
    and returns, wholly or mostly.
Why it matters
    Each spike is an update that did harm. A batch that does it once does it again in the next
    epoch; spikes that grow or repeat come before divergence.
Looks alike
    The first points of a run are steep. Small batches are noisy: a spike must stand out of the tail
    of the noise. One high point at each end of an epoch is the partial last batch: info. A jump at
    a resume or a restart of the learning rate belongs to that. A rise that stays is divergence.
    While a loss falls over decades its noise falls with it: a spike must stand out of the scatter
    of its own phase. A policy-gradient loss has no level to be a multiple of; one that goes below 0
    is measured by its fall (half of it is a spike, all of it loud). Single points of the young run
    that leave nothing behind: info. So is a leap at the last points, which may come back, and one
    of the evaluation loss alone; not so three in a row. A loss in nats near zero has none to lose.
Limits
    fewest: points; below unaided of them, held-out data must be thrown back at the same place, as
    they are for a rise that a curve alone leaves open (half of the gain, a tenth of the level, four
    times all other rises): then it was the model, not the data. So must it be for a slow hump,
    sharp_ratio and z high; there two evaluations are a tenth above the one before. From far times
    the level on no evaluation is needed. Tall form: ratio to the level under it (above 2), z local
    noise scales, tail times the 95th percentile of the upward noise. Where doubling is out of reach
    (losses near ln of a vocabulary): sharp_ratio with sharp_z and sharp_tail. Long form: a block of
    1 % of the points (and of fewer, down to 0.01 %, where those are ten and more) above long_ratio
    of the four before it, the next above long_next, by log_z times their scatter (in the whole run,
    and in orders of magnitude around it), and back below half of the rise later. early: first share
    of the run that is not judged, besides warm-up. quiet_ratio: below the ratio but above this:
    info. alone: a single, recovered spike is loud from this ratio on. many: spikes that are loud
    whatever their height; wide: share of the run from which one is loud. young: share of the run in
    which up to `many` points that leave nothing behind are info. other_ratio: where the task is not
    known, unless three points fall back in order, and over the median of fewer than 20, whose noise
    the spikes are part of: info. log_z: a tall spike of a positive loss lies that many scales of
    the scatter around it, in logarithms, above its level; 4 there are 8 on a plain scale where
    noise is a quarter of the level. thrown: three points or more that lose this share of the fall
    so far, counted in orders of magnitude, and tenfold at least. Of `many` jumps that fall back in
    order, at twice the pace of the first descent, the tail is not asked. A stretch that begins and
    ends with a jump of the shape and is back counts from z and sharp_ratio on, of `other` from
    alone. nothing: nats that zero-loss calls zero. Measured: 1.8 % of simulated healthy runs (all
    with heavy-tailed noise of at least 10 %), 0.15 % for the long form; power 96 % for 2.5 to 8
    times.
Fixes
    Look at the batch; clip at 1.0 or tighter; learning rate to a half; warm-up 5 %; more
    accumulation where the batch is small (a larger batch lowers the noise); where spikes come
    again: no packing for a while, beta2 0.95, and once fp32 to tell the precision apart.
"""

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
from runlens.history import Curve, IntArray
from runlens.rules.loss import (
    below_zero,
    causes_of_spike,
    humps,
    leaps,
    spike_forms,
    spike_words,
    surroundings,
)
from runlens.rules.loss.spike_forms import Limits, Seen
from runlens.rules.loss.spike_words import POINTS
from runlens.rules.relations import NAN, Relations
from runlens.rules.rule import LANGUAGE_TASKS, LOSS_TASKS, Rule, drawn, found, passed, unmet
from runlens.run import Run, Task
from runlens.signals import Signals, held_out
from runlens.wording import count, loss, step, times, too_few

FEW, SPIKES, LONGEST = 2, "Spikes", "Longest spike in logged points"  # a pair is no series
PARTIAL = RuledOut("Instability", "all lie at the end of an epoch: partial batch")


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Look for points, and for blocks of points, far above what surrounds them."""
    train = surroundings.judged(signals)
    if len(train) < limits.fewest:
        few = too_few(len(train), "training loss", limits.fewest)
        return leaps.outcome(run, signals, limits) or unmet(few)
    if reason := surroundings.no_level(run, signals):
        return below_zero.outcome(run, signals, train, limits) or unmet(reason)
    if lost := _thrown_back(run, signals, train, limits):
        return found(lost)
    if len(train) < limits.unaided:
        few = f"only {count(len(train), 'training loss')}, and no jump in an evaluation"
        return leaps.outcome(run, signals, limits) or unmet(few)
    loud = run.task != "other"
    value, other = train.value, limits.other_ratio
    tall = spike_forms.tall(value, limits.ratio if loud else other, limits, sharp=loud)
    long = spike_forms.long(value, limits.long_ratio if loud else other, limits)
    long = (*long, humps.lone(signals.shape("train_loss"), limits))
    thrown = spike_forms.thrown_back(value, limits)
    apart = spike_forms.off_and_on(signals.shape("train_loss"), limits, loud=loud)
    thrown = spike_forms.joined(thrown, apart)
    if not loud:  # one high point may be an odd batch, some that fall back in turn are none
        tall = spike_forms.joined(tall, spike_forms.fading(value, limits))
    if len(value) < spike_forms.SHORT:
        tall = tall.kept(spike_forms.over_at_once(value, tall))
    again = spike_forms.repeated(value, limits)
    seen = _joined(run, signals, train, (thrown, again, tall, *long), limits)
    if len(seen.first):
        return found(_finding(run, signals, train, seen, limits))
    low = _quiet(run, signals, train, limits) if loud else None
    if quiet := low or _open(run, signals, train, limits):
        return found(_finding(run, signals, train, quiet, limits, quiet=True))
    top = train.value[_judged_from(run, signals, train, limits) :].max(initial=0.0)
    none = f"no point stands out from the noise; the highest after warm-up is {loss(top)}"
    return leaps.outcome(run, signals, limits) or passed(none)


def _thrown_back(run: Run, signals: Signals, train: Curve, limits: Limits) -> Finding | None:
    """Return the setback that held-out data show at the same place: it was the model's."""
    shape = signals.shape("train_loss")
    once, slow = spike_forms.setback(shape), humps.hump(shape, limits)
    told = [(seen, _beside(run, signals, train, seen)) for seen in (once, slow) if len(seen.first)]
    if len(once.first) and not told[0][1] and (ratio := float(once.ratio[0])) >= limits.far:
        told[0] = (once, f"no batch has a loss {times(ratio)} that of the others")
    for seen, why in told:
        onset = float(train.step[int(seen.first[0])])
        top = float(train.step[int(spike_forms.summits(train.value, seen)[0])])
        if why and not surroundings.begins_anew(run, signals, onset, top):
            return _finding(run, signals, train, seen, limits, told=why)
    return None


def _beside(run: Run, signals: Signals, train: Curve, seen: Seen) -> str:
    """Say what held-out data did at the place of a setback; empty if nothing."""
    first = int(seen.first[0])
    onset, before = float(train.step[first]), float(train.step[first - 1])
    return held_out.hurt(run, signals, onset) or held_out.rose_with(
        signals, before, spike_forms.end(train, seen)
    )


def _judged_from(run: Run, signals: Signals, train: Curve, limits: Limits) -> int:
    """Return the index of the first point that is judged."""
    early = max(2, int(limits.early * len(train)))
    warm = signals.warmup.end if signals.warmup.present else run.first_step
    return max(early, int(np.searchsorted(train.step, warm)))


def _joined(
    run: Run, signals: Signals, train: Curve, parts: tuple[Seen, ...], limits: Limits
) -> Seen:
    """Join the forms, without the first points and the resumes; of one spike the first leads."""
    both = spike_forms.NONE
    for part in parts:
        reach = np.maximum(part.width[:, None], both.width[None, :])
        inside = np.abs(part.first[:, None] - both.first[None, :]) <= reach
        both = spike_forms.joined(both, part.kept(inside.sum(axis=1) == 0))
    both = both.kept(both.first >= _judged_from(run, signals, train, limits))
    steps = train.step[both.first.astype(np.int64)]
    known = [surroundings.begins_anew(run, signals, float(at)) for at in steps]
    both = both.kept(~np.array(known, dtype=bool) & spike_forms.alone(train.value, both))
    if run.task in IN_NATS:
        both = both.kept(both.peak > limits.nothing)
    return Seen._make(column[np.argsort(both.first)] for column in both)


def _quiet(run: Run, signals: Signals, train: Curve, limits: Limits) -> Seen | None:
    """Return low spikes, which are only worth a note."""
    low = spike_forms.tall(train.value, limits.quiet_ratio, limits, sharp=False)
    far = spike_forms.far_out(train.value, limits)
    far = far.kept(spike_forms.over_at_once(train.value, far))
    low = _joined(run, signals, train, (low, far), limits)
    return low if len(low.first) else None


def _open(run: Run, signals: Signals, train: Curve, limits: Limits) -> Seen | None:
    """Return a setback that lasts, of which nothing tells whether it was other data's."""
    once = spike_forms.lasting(spike_forms.setback(signals.shape("train_loss")), train.value)
    once = _joined(run, signals, train, (once,), limits)
    return once if len(once.first) else None


IN_NATS: frozenset[Task] = LANGUAGE_TASKS | {"classification", "dpo", "reward-model"}


def _finding(
    run: Run,
    signals: Signals,
    train: Curve,
    seen: Seen,
    limits: Limits,
    *,
    quiet: bool = False,
    told: str = "",
) -> Finding:
    at = train.step[seen.first.astype(np.int64)]
    tops = train.step[spike_forms.summits(train.value, seen)]
    onset, top = float(at[0]), int(np.argmax(seen.ratio))
    # one batch is the peak itself; what lasts was begun by the first high point
    batch = tops if seen.width[top] <= POINTS else at
    climb = surroundings.norm_climb(signals, float(at[top]))
    severity, out = _severity(signals, train, seen, limits, quiet=quiet)
    evidence = _evidence(run, signals, seen, tops, climb, limits)
    if told:
        evidence = (evidence[0]._replace(limit=None, source=""), *evidence[1:])
        severity, out = (
            "warning",
            (*out, RuledOut("Harder batches in an otherwise healthy run", told)),
        )
    highest, many = "The peak is", len(at)
    if many > 1:
        highest = f"The {spike_words.most(seen, top)} reached {loss(float(seen.peak[top]))} "
        highest += f"at step {step(tops[top])},"
        highest = highest if top else f"The first was the {spike_words.most(seen, top)},"
    again = f" This was the first of {many} spikes. The last was at step {step(tops[-1])}."
    if many <= FEW:
        again = f" A second spike followed at step {step(tops[-1])}." if many > 1 else ""
    return Finding(
        severity=severity,
        harmless=severity == "info" and (PARTIAL in out or spike_forms.ripples(train.value, seen)),
        title=f"{spike_words.rise(run, seen, at, tops, told)}.{again}",
        metric="train_loss",
        onset=Moment(onset),
        end=Moment(spike_forms.end(train, seen)),
        evidence=evidence,
        seen=f"{highest} {times(float(seen.ratio[top]))} "
        f"{spike_words.level(run, at[top], tops[top])}. "
        f"The loss came down again{spike_words.after(float(seen.width[top]))}.",
        fixes=causes_of_spike.cures(
            run,
            signals,
            float(batch[top]),
            again=severity != "info" and many > FEW,
            begun=bool(batch[top] < tops[top]),
            lasted=bool(seen.width[top] > spike_words.A_SPELL * len(train)),
        ),
        ruled_out=out,
        confidence=surroundings.confidence(
            float(seen.ratio[top]) / (limits.quiet_ratio if quiet else limits.sharp_ratio),
            len(train),
            min(len(out), 3),
            3,
            "the spike",
        ),
        chart=Chart(
            "zoom",
            ("train_loss", "grad_norm") if len(signals.curve("grad_norm")) else ("train_loss",),
            marks=(Mark(float(tops[top]), float(seen.peak[top]), times(float(seen.ratio[top]))),),
        ),
    )


def _evidence(
    run: Run, signals: Signals, seen: Seen, at: IntArray, climb: float | None, limits: Limits
) -> tuple[Evidence, ...]:
    top = int(np.argmax(seen.ratio))
    where, ratio = float(at[top]), float(seen.ratio[top])
    plain = limits.other_ratio if run.task == "other" else limits.ratio
    met = plain if ratio >= plain else limits.sharp_ratio
    why = "more than twice the level, or 1.4 times and 20 noise scales"
    evidence = [
        Evidence(
            "Highest spike relative to its surroundings", ratio, met, why, "train_loss", where
        ),
        Evidence(SPIKES, float(len(at)), float(limits.many), "repeated", "train_loss"),
        Evidence(LONGEST, float(seen.width.max()), where="train_loss"),
    ]
    if climb is not None:
        what = "Gradient norm, relative to before the spike"
        evidence.append(Evidence(what, climb, None, "", "grad_norm", where))
    rate = signals.learning_rate_at(where)
    if rate is not None:
        evidence.append(
            Evidence("Learning rate at the peak", rate, where="learning_rate", step=where)
        )
    return (*evidence, *surroundings.batch_evidence(run))


def _severity(
    signals: Signals, train: Curve, seen: Seen, limits: Limits, *, quiet: bool
) -> tuple[Severity, tuple[RuledOut, ...]]:
    steps = train.step[seen.first.astype(np.int64)].tolist()
    edges = [surroundings.boundary_near(signals, float(at), 1) for at in steps]
    if len(steps) > 1 and all(edges) and float(seen.width.max()) <= POINTS:
        return "info", (PARTIAL,)
    out = [RuledOut("Divergence", "loss came back after each")]
    if signals.steps_per_epoch:
        share = f"{sum(edges)} of {len(edges)} lie at the end of an epoch"
        out.append(RuledOut("A small last batch in each epoch", share))
    out.append(RuledOut("Batch noise", "above four times the tail of the noise"))
    if spike_forms.ripples(train.value, seen):
        return "info", (*out, RuledOut("Harm", "less than 1 % of what was learned is thrown back"))
    if len(steps) == 1 and (unharmed := held_out.unmoved(signals, float(steps[0]))):
        return "info", (*out, RuledOut("Harm", unharmed))
    few = float(seen.width.max()) <= POINTS and len(steps) <= limits.many
    if few and seen.first[-1] < limits.young * len(train):
        return "info", (*out, RuledOut("Harm", "single points of the young run, all undone"))
    wide = float(seen.width.max()) > max(POINTS, limits.wide * len(train))
    high = float(seen.ratio.max()) >= limits.alone
    loud = not quiet and (len(steps) >= limits.many or wide or high)
    return ("warning" if loud else "info"), tuple(out)


SPIKE = "0:3 300:1.5 500:1.4 510:5 520:1.4 900:1.2"
BAD = (
    *below_zero.BAD,
    *humps.BAD,
    *leaps.BAD,
    drawn("ten points", (60, 60), 0.01, train_loss="0:2.2 50:1.5 60:5 70:1.4 90:1.3"),
    drawn("single and tall", (510, 510), severity="warning", train_loss=SPIKE),
    drawn(
        "single and low", (510, 510), severity="info", train_loss=SPIKE.replace("510:5", "510:3.3")
    ),
    drawn("near the vocabulary", (510, 510), train_loss="0:6 500:4.6 510:7.4 520:4.6 900:4.3"),
    drawn(
        "hump",
        (480, 560),
        severity="warning",
        train_loss="0:3 300:1.5 500:1.4 520:3.8 600:3.6 700:1.4 1500:1.2",
    ),
    drawn(
        "stands higher for a time, and is back at once",
        (950, 950),
        0.004,
        severity="warning",
        task="classification",
        train_loss="0:0.7 940:0.285 950:0.41 1180:0.405 1190:0.28 1800:0.18",
    ),
    drawn(
        "again and again",
        (400, 400),
        severity="warning",
        train_loss="0:3 390:1.5 400:3.6 410:1.5 590:1.4 600:3.4 610:1.4 790:1.4 800:3.5 810:1.4 "
        "900:1.3",
    ),
    drawn(
        "thrown back most of its decades",
        (280, 300),
        severity="warning",
        task="other",
        train_loss="0:8e7 20:2e7 50:3e5 60:20 280:9 290:9e5 320:6e4 330:2e6 340:4e5 350:9 500:7",
    ),
    drawn(
        "one of few, beside a last one that has not come back yet",
        (20, 20),
        noise=0,
        severity="info",
        train_loss="0:0.66 10:0.8 20:4.3 30:0.77 40:0.56 50:0.82 60:6.7",
    ),
    drawn(
        "one point of the young run",
        (50, 50),
        severity="info",
        train_loss="0:3 40:2.6 50:14 60:2.5 300:1.5 900:1.2",
    ),
)
GOOD = (
    *below_zero.GOOD,
    *humps.GOOD,
    *leaps.GOOD,
    drawn(
        "a stage of the task, few points",
        noise=0.01,
        train_loss="0:2.4 60:1.1 70:2.4 80:2 90:1.7 130:1.2",
    ),
    drawn(
        "scatter early in a fall over decades",
        task="other",
        noise=0,
        train_loss="0:46000 10:17000 20:7700 30:4800 40:10400 50:2700 60:16400 70:1200 80:1500 "
        "90:300 100:700 110:160 120:450 130:1500 140:560 150:200 160:90 170:380 180:120 190:260 "
        "200:60 210:150 220:30 230:80 240:14 250:60 260:20 270:9 280:30 290:6 300:14 310:4 320:9",
    ),
    drawn("steep start", train_loss="0:11 20:4 100:2 900:1.5"),
    drawn("noise of small batches", noise=0.25, train_loss="0:2 200:1.2 2000:1"),
    drawn("stays up", train_loss="0:3 400:1.5 410:4 900:4"),
    drawn("falls by epochs", train_loss="0:2 299:1.8 300:1.3 599:1.25 600:0.9 900:0.85"),
    drawn(
        "one point of a known size", task="other", train_loss="0:3 500:1.4 510:4.2 520:1.4 900:1"
    ),
)

RULE = Rule(
    slug="loss-spike",
    title="Loss spike",
    family="LOS",
    severity="warning",
    page=__doc__,
    limits=Limits(),
    check=check,
    relations=Relations(
        at_once=("grad-spike",), soon=(*NAN, "divergence"), layer="update", brief=True
    ),
    needs=("train_loss|eval_loss",),
    tasks=LOSS_TASKS,
    bad=BAD,
    good=GOOD,
)
