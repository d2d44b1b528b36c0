"""Throughput drop: the run becomes slower and stays so for a stretch.

What is seen
    Tokens, samples or steps a second fall clearly below what the run did at first, over at least
    a tenth of it.
Why it matters
    The same training takes longer and costs more; a schedule with a time limit is cut short.
Looks alike
    Tokens a second are often counted wrongly by a factor: only their change is judged.
    Evaluation and saving between two records: single intervals, which the median leaves out.
    Longer sequences or completions: fewer steps a second at the same tokens per second. The first
    steps with compilation and cold caches. Another launch on other hardware: only the longest
    launch is judged. Environments of rl runs whose episodes grow longer: info. RL that first acts
    at random to fill its buffer slows down as its updates begin.
Limits
    fewest: rates needed. With fewer, three that fall from each to the next are told as
    info, where the last is below alert of the first. first, until: the base is the median between
    these shares of the run.
    stretch: least share of the run that is slow. slow: rate below this share of the base.
    alert: below this it is a warning. errors: standard errors of the difference.
    steady: share of the rates in the stretch that must lie below the alert, or it is info: a
    machine shared with others is slow by fits. seconds: the least time that it must have cost.
    near: share of the run within which a drop of an RL run is the begin of its updates.
    Measured: 0.03 % false alarms, power 99.9 % for drops of 40 to 80 %.
Fixes
    Watch GPU clocks, temperature and other jobs; more loader workers; pre-tokenize; log less.
"""

import numpy as np
from msgspec import Struct

from runlens import fixes
from runlens.arrays import median, quantile
from runlens.diagnosis import (
    Cause,
    Chart,
    Confidence,
    Evidence,
    Finding,
    Fix,
    Moment,
    Outcome,
    RuledOut,
    Severity,
)
from runlens.records import NamedTuple
from runlens.rules.relations import Relations
from runlens.rules.rule import RL_TASKS, Rule, drawn, found, passed, unmet
from runlens.rules.throughput.speed import STAMPED, Speed, speed
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.noise import MEDIAN_LOSS, odd, running_median, sigma
from runlens.wording import count, duration, number, percent, step

ROWS = 3  # the fewest that can fall twice: two rows show no direction
UPDATES = ("train_loss", "value_loss", "policy_loss", "critic_loss", "actor_loss", "q_loss")


class Limits(Struct, frozen=True):
    """What may be tuned."""

    fewest: int = 8
    first: float = 0.05
    until: float = 0.25
    stretch: float = 0.10
    slow: float = 0.70
    alert: float = 0.50
    errors: float = 3.0
    steady: float = 0.80
    seconds: float = 10.0
    near: float = 0.02


class Drop(NamedTuple):
    """A slow stretch. Indices into the rates."""

    first: int
    last: int
    base: float
    rate: float
    error: float


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Compare the slowest stretch of a run with its first quarter."""
    made = speed(run, signals, limits.fewest)
    if made is None and (slower := _from_row_to_row(run, signals, limits)):
        return found(slower)
    if made is None:
        return unmet(
            f"throughput, step time and timestamps: each logged fewer than {limits.fewest} times"
        )
    drop = _slowest(made, limits)
    share = drop.rate / drop.base
    if share >= limits.slow:
        return passed(f"the slowest tenth ran at {percent(share)} of the first quarter's speed")
    if drop.base - drop.rate < limits.errors * drop.error:
        return passed(
            f"the slowest tenth lies within the noise of {number(drop.error)} {made.unit}"
        )
    lost = _lost(run, made, drop)
    if lost is not None and lost < limits.seconds:
        return passed(f"the slow phase cost {duration(lost)} (threshold {limits.seconds:g} s)")
    begun = _updates_begin(run, signals, made, drop, limits)
    if begun is not None:
        return passed(
            f"the run is slower from step {step(begun)} on, where its updates begin: "
            f"{percent(share)} of the speed before"
        )
    return found(_finding(run, signals, made, drop, lost, limits))


def _from_row_to_row(run: Run, signals: Signals, limits: Limits) -> Finding | None:
    """Tell of a few logged speeds of which each is lower, down to half of the first."""
    made = speed(run, signals, ROWS)
    if made is None or made.metric.endswith(")"):  # between time stamps evaluations may lie
        return None
    first, last = float(made.rate[0]), float(made.rate[-1])
    if not (np.diff(made.rate) < 0).all() or last > limits.alert * first:
        return None
    onset = float(made.step[1])
    rows = count(len(made.rate), "row")
    return Finding(
        severity="info",
        title=f"Each logged row was slower than the one before, from step {step(onset)}: from "
        f"{number(first, 3)} to {number(last, 3)} {made.unit} in {rows}.",
        metric=made.metric,
        onset=Moment(onset),
        evidence=(
            Evidence(
                "Last speed over the first", last / first, limits.alert, above=False, unit="%"
            ),
        ),
        seen=f"{rows} are too few to exclude chance.",
        causes=_causes(signals, onset),
        fixes=_fixes(run),
        confidence=Confidence(0.6, f"{rows}, all in one direction"),
        chart=Chart("curves", (made.metric,)),
    )


def _updates_begin(
    run: Run, signals: Signals, made: Speed, drop: Drop, limits: Limits
) -> float | None:
    """Return the step at which an RL run begins to learn, where it is that of the drop."""
    if run.task != "rl":
        return None
    known = [run.number("learning_starts"), run.number("warmup_steps")]
    first = [signals.curve(m).step[:1] for m in UPDATES]
    known += [float(one[0]) for one in first if len(one)]
    near = limits.near * float(made.step[-1] - made.step[0])
    begin, at = float(made.step[0]) + near, float(made.step[drop.first])
    told = [one for one in known if one is not None and begin < one and abs(one - at) <= near]
    return min(told, default=None)


def _slowest(made: Speed, limits: Limits) -> Drop:
    rate, count = made.rate, len(made.rate)
    begin, end = max(2, round(limits.first * count)), max(6, round(limits.until * count))
    base = float(median(rate[begin:end]))
    width = odd(max(5, round(limits.stretch * count)))
    level = running_median(rate, width)
    later = level[end : count - width // 2]
    at = end + int(np.argmin(later)) if len(later) else count - 1
    error = MEDIAN_LOSS * sigma(rate) * (1 / width + 1 / (end - begin)) ** 0.5
    fast = running_median(rate, 5) >= limits.slow * base
    fast_before, fast_after = np.flatnonzero(fast[: at + 1]), np.flatnonzero(fast[at:])
    first = int(fast_before[-1]) + 1 if len(fast_before) else 0
    last = at + int(fast_after[0]) - 1 if len(fast_after) else count - 1
    first, last = min(first, at), max(last, at)
    return Drop(first, last, base, float(level[at]), error)


def _lost(run: Run, made: Speed, drop: Drop) -> float | None:
    """Return the seconds that the slow phase cost; None where no time can be told."""
    for metric in STAMPED:
        curve = run.curve(metric)
        known = np.isfinite(curve.time)
        if known.sum() > 1:
            ends = [made.step[drop.first], made.step[drop.last]]
            begun, ended = np.interp(ends, curve.step[known], curve.time[known])
            return float(ended - begun) * (1 - drop.rate / drop.base)
    if made.unit != "steps/s":
        return None
    covered = float(made.step[drop.last] - made.step[drop.first])
    return covered * (1 / drop.rate - 1 / drop.base)


def _finding(
    run: Run, signals: Signals, made: Speed, drop: Drop, lost: float | None, limits: Limits
) -> Finding:
    onset, last = float(made.step[drop.first]), float(made.step[drop.last])
    share = drop.rate / drop.base
    lasting = drop.last >= len(made.rate) - 1
    unknown = run.task in RL_TASKS and not made.corrected
    rates = made.rate[drop.first : drop.last + 1]
    steady = quantile(rates, limits.steady) < limits.alert * drop.base
    severity: Severity = "warning" if share < limits.alert and steady and not unknown else "info"
    slow = float(median(rates)) if not lasting else drop.rate
    speeds = f"{number(drop.base, 3)} to {number(slow, 3)} {made.unit}"
    until = " and did not recover" if lasting else f", and recovered after step {step(last)}"
    metric = made.metric.partition(" ")[0]
    length = "tokens per step are taken into account"
    if not made.corrected:
        length = "not checked: tokens per step are not logged"
    return Finding(
        severity=severity,
        title=f"The run slowed down at step {step(onset)}. Its median speed fell from {speeds}"
        f"{until}.",
        metric=metric,
        onset=Moment(onset),
        harmless=severity == "info",  # it costs hours, and the training is the same
        end=None if lasting else Moment(last),
        evidence=(
            Evidence(
                "Slowest tenth relative to the first quarter",
                share,
                limits.alert if severity == "warning" else limits.slow,
                "half the speed is the usual alert",
                made.metric,
                onset,
                above=False,
                unit="%",
            ),
            Evidence(f"Speed before, {made.unit}", drop.base, where=made.metric),
            Evidence(f"Speed in the slow phase, {made.unit}", drop.rate, where=made.metric),
        ),
        seen=f"The slow phase cost {duration(lost)}." if lost is not None else "",
        causes=_of_environment(lasting=lasting) if run.task == "rl" else _causes(signals, onset),
        fixes=_fixes(run),
        ruled_out=(
            RuledOut("Longer sequences", length),
            RuledOut("Evaluation or saving", "the median of a tenth of the run fell"),
        ),
        confidence=Confidence(
            round(min(1.0, 0.6 + 0.4 * (limits.slow / max(share, 0.05) - 1)), 2),
            f"{number(drop.rate, 3)} against {number(drop.base, 3)} {made.unit}",
        ),
        chart=Chart("curves", (metric,)),
    )


def _causes(signals: Signals, onset: float) -> tuple[Cause, ...]:
    util, memory = signals.curve("gpu_util"), signals.curve("gpu_mem")
    made: list[Cause] = []
    before, after = util.before(int(onset)).value, util.after(int(onset)).value
    if len(before) and len(after):
        was, now = float(median(before)), float(median(after))
        if now < 0.8 * was:
            why = f"GPU utilization went from {was:.0f} to {now:.0f} %"
            made.append(
                Cause(
                    "The data loader or disk became the bottleneck",
                    "most likely",
                    why,
                    kind="machine",
                )
            )
        else:
            why = f"GPU utilization stayed at {now:.0f} %"
            made.append(Cause("GPU throttled by heat or power", "most likely", why, kind="machine"))
    if len(memory) > 1 and memory.value[-1] > 1.1 * memory.value[0]:
        why = f"memory grew from {number(memory.value[0])} to {number(memory.value[-1])} GiB"
        made.append(Cause("Memory pressure", "likely", why, kind="memory"))
    if not len(util):
        against = "GPU utilization is not logged: it would decide"
        made.append(
            Cause(
                "The data loader or disk became the bottleneck",
                "likely",
                "",
                against,
                kind="machine",
            )
        )
        made.append(
            Cause("GPU throttled by heat or power", "possible", "", against, kind="machine")
        )
    return tuple(made[:4])


def _of_environment(*, lasting: bool) -> tuple[Cause, ...]:
    """Return what slows classic RL, which has no loader."""
    other = Cause("Another job on the machine", "possible" if lasting else "likely", kind="machine")
    slower = Cause(
        "Episodes or states that cost the environment more time", "possible", kind="machine"
    )
    if not lasting:
        return (other, slower)
    begun = "Updates began after steps at random that fill the buffer (learning_starts)"
    return (Cause(begun, "likely", kind="machine"), slower, other)


def _fixes(run: Run) -> tuple[Fix, ...]:
    if run.task == "rl":
        what = "Time environment steps and updates separately"
        return (fixes.action(what, "this separates a slow environment from costly updates"),)
    look = fixes.look(
        "If the next run slows down, watch GPU clocks, temperature and other processes "
        "(nvidia-smi dmon, top)",
        "this separates throttling and other jobs on the machine from a slow data loader",
    )
    return (look, *fixes.more_workers(run))


BAD = (
    drawn(
        "three rows, each slower",
        (10, 10),
        0,
        severity="info",
        throughput_tokens="0:3000 10:1800 20:1250",
    ),
    drawn(
        "twelve points",
        (50, 70),
        train_loss="0:2.2 110:1.6",
        throughput_tokens="0:3000 50:3000 60:600 110:600",
    ),
    drawn(
        "drops to a third",
        (380, 420),
        0.05,
        severity="warning",
        throughput_tokens="0:3000 400:3000 401:1000 1000:1000",
    ),
    drawn(
        "slow for a while",
        (480, 520),
        0.05,
        severity="warning",
        step_time="0:1 500:1 501:4 700:4 701:1 1000:1",
    ),
    drawn(
        "a third slower",
        (280, 620),
        0.05,
        severity="info",
        throughput_samples="0:30 300:30 600:19 1000:19",
    ),
)
GOOD = (
    drawn("steady", noise=0.1, throughput_tokens="0:3000 1000:2900"),
    drawn("slow start", noise=0.05, throughput_tokens="0:300 20:2500 40:3000 1000:3000"),
    drawn(
        "longer completions",
        noise=0.05,
        task="grpo",
        step_time="0:2 1000:8",
        len_mean="0:200 1000:800",
    ),
    drawn(
        "updates begin",
        noise=0.05,
        task="rl",
        throughput_samples="0:2400 400:2400 410:90 1000:90",
        value_loss="410:3 1000:1",
    ),
    drawn("constant pace", train_loss="0:2 600:1", seconds_per_step=2.0),
)

RULE = Rule(
    slug="throughput-drop",
    title="Throughput drop",
    family="PRF",
    severity="warning",
    page=__doc__,
    limits=Limits(),
    check=check,
    relations=Relations(ever=("hang", "stopped-early", "killed")),
    bad=BAD,
    good=GOOD,
)
