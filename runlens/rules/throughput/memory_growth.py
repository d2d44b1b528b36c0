"""Memory growth: memory climbs step over step.

What is seen
    Memory of the GPU or of the process rises through most of the run and has not leveled off.
Why it matters
    A leak ends in an out-of-memory error, hours after it began.
Looks alike
    One longer batch is a step, not a climb. A running maximum only rises by construction: it must
    rise many times in the last half. What is recorded before the first training record is a card
    on which the model is not yet, or other people's work. An allocator that caches levels off.
    Replay buffers of rl runs fill up; completions and sequences that grow take memory with them.
Limits
    fewest: points needed. skip: share of the run left out at its start, where caches fill.
    tau: Kendall's, the climb is steady. growth: share of the level, and at_least, GiB, or half of
    the level of a process that is small, or written without a unit. late: share
    of the growth that falls into the last third: still climbing. rises: distinct rises in the last
    half. jumps: the largest ones, which are left out: the rest must still be growth.
    Measured: no false alarm, 2 % on running maxima, power 99.9 % for 20 to 80 %.
Fixes
    Log loss.item(), not loss; empty lists of tensors; expandable_segments:True;
    torch_empty_cache_steps; fewer or non-persistent loader workers for memory of the process.
"""

import numpy as np
from msgspec import Struct

from runlens import experiments, fixes
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
from runlens.metrics import base
from runlens.rules.relations import Relations
from runlens.rules.rule import RL_TASKS, Rule, drawn, found, passed, unmet
from runlens.rules.throughput.speed import STAMPED
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.changes import hinge
from runlens.signals.noise import block_medians, running_median
from runlens.signals.trend import mann_kendall
from runlens.wording import number, step, too_few

UNEVEN = 1.2  # times the least: levels of ranks this far apart are named
JUMP_WIDTH = 5  # points of the running median that leaves jumps as they are, and outliers out
MEMORY = ("gpu_mem", "gpu_mem_reserved", "host_mem", "rss")  # allocated is the surest
NO_UNIT = "rss"  # of a process, written without its unit: kilobytes, megabytes or more
# Of the level: a small process gains less than at_least in a short log. Libraries that load late
# and pools that fill take less than that after the first tenth, and do not climb to the end.
HALF = 0.5
SPOKEN = {
    "gpu_mem": "GPU memory",
    "gpu_mem_reserved": "Reserved GPU memory",
    "host_mem": "Process memory",
    "rss": "Process memory (rss)",
}


class Limits(Struct, frozen=True):
    """What may be tuned."""

    fewest: int = 20
    skip: float = 0.10
    tau: float = 0.70
    growth: float = 0.10
    at_least: float = 0.50
    late: float = 0.15
    rises: int = 5
    jumps: int = 2


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Judge each memory curve of each rank; report the one that grew most."""
    names = [m for kind in MEMORY for m in run.history.metrics if base(m) == kind]
    begin = _begin(signals)
    curves = {m: _in_training(signals.curve(m), begin) for m in names}
    long = [m for m in names if len(curves[m]) >= limits.fewest]
    if not long:
        most = max(names, key=lambda name: len(curves[name]), default="memory")
        return unmet(too_few(len(curves.get(most, ())), f"{most} reading", limits.fewest))
    reasons = {metric: _steady(curves[metric], base(metric), limits) for metric in long}
    growing = [metric for metric, reason in reasons.items() if not reason]
    if not growing:
        return passed(next(iter(reasons.values())))
    kind = base(growing[0])  # allocated before reserved before the process
    worst = max((m for m in growing if base(m) == kind), key=lambda m: _growth(curves[m]))
    return found(_finding(run, signals, worst, curves[worst], limits))


def _begin(signals: Signals) -> int:
    """Return the first step with a training record; 0 where none is known."""
    first = [int(one.step[0]) for m in STAMPED if len(one := signals.curve(m))]
    return min(first, default=0)


def _in_training(curve: Curve, begin: int) -> Curve:
    """Leave out what was recorded before the first training record, but for its last point."""
    before = len(curve.before(begin))
    return curve.at(slice(max(0, before - 1), None))


def _growth(curve: Curve) -> float:
    width = max(3, len(curve) // 10)
    return float(median(curve.value[-width:]) - median(curve.value[:width]))


def _settled(curve: Curve, limits: Limits) -> Curve:
    return curve.at(slice(round(limits.skip * len(curve)), None))


def _needed(kind: str, level: float, limits: Limits) -> float:
    """Return what a curve has to gain; of a process at most half of its level."""
    if kind == NO_UNIT:
        return HALF * level
    least = min(limits.at_least, HALF * level) if kind == "host_mem" else limits.at_least
    return max(limits.growth * level, least)


def _steady(curve: Curve, kind: str, limits: Limits) -> str:
    """Say why a memory curve of a kind is no leak; empty where it climbs."""
    kept = _settled(curve, limits)
    growth, level = _growth(kept), float(median(kept.value[: max(3, len(kept) // 10)]))
    needed = _needed(kind, level, limits)
    tau = mann_kendall(kept.value)[0]
    if tau <= limits.tau:
        return "memory does not climb steadily"
    unit = _unit(kind)
    third = kept.value[-(len(kept) // 3) :]
    width = max(3, len(third) // 5)
    late = float(median(third[-width:]) - median(third[:width]))
    if late <= limits.late * growth:
        return f"memory leveled off: {number(late)} of {number(growth)}{unit} in the last third"
    half = kept.value[len(kept) // 2 :]
    rises = int((np.diff(np.maximum.accumulate(half)) > 0).sum())
    if rises < limits.rises:
        return f"memory rose {rises} times in the last half: steps, no climb"
    lifts = np.diff(running_median(kept.value, JUMP_WIDTH))
    rest = growth - float(np.sort(np.maximum(lifts, 0.0))[-limits.jumps :].sum())
    if rest <= needed:
        return (
            f"memory grew {number(max(rest, 0.0))}{unit} between its {limits.jumps} largest jumps "
            f"(threshold {number(needed)})"
        )
    return ""


def _unit(kind: str) -> str:
    return "" if kind == NO_UNIT else " GiB"


def _onset(curve: Curve) -> float:
    """Return the step from which memory climbs, by a hinge on at most 400 blocks."""
    step_of, value = block_medians(curve.step.astype(float), curve.value, 400)
    return float(step_of[hinge(value)])


def _finding(run: Run, signals: Signals, metric: str, curve: Curve, limits: Limits) -> Finding:
    kept = _settled(curve, limits)
    onset, growth = _onset(curve), _growth(kept)
    begun = curve.after(int(onset))
    first, last = float(begun.value[0]), float(begun.value[-1])
    kind = base(metric)
    unit, of_unit = _unit(kind), ", GiB" if _unit(kind) else ""
    per_step = (last - first) / max(float(begun.step[-1]) - onset, 1.0)
    each = f"{number(per_step * 1024, 2)} MiB" if unit else number(per_step, 2)
    level = float(kept.value[0])
    name = SPOKEN[kind] + (f" ({metric.partition(':')[2]})" if ":" in metric else "")
    out_of_memory = bool(run.messages("oom")) and run.state.settled != "finished"
    lasting = run.task in RL_TASKS
    return Finding(
        severity="critical" if out_of_memory else "info" if lasting else "warning",
        title=f"{name} grew from {number(first)} to {number(last)}{unit} from step {step(onset)} "
        f"on, by {each} per step.",
        metric=metric,
        onset=Moment(onset),
        evidence=(
            Evidence(
                f"Growth after the first tenth{of_unit} (medians)",
                growth,
                _needed(kind, level, limits),
                "10 % of the level, and 0.5 GiB" if unit else "half of the level",
                metric,
                float(curve.step[-1]),
            ),
            Evidence(f"Memory at the end{of_unit}", last, where=metric, step=float(curve.step[-1])),
        ),
        seen="Memory had not leveled off at the end." + _uneven(run, signals, kind),
        causes=_causes(kind, of_card=_of_card(run)),
        fixes=_fixes(run, kind),
        ruled_out=(
            RuledOut("One longer batch", "it climbs steadily, through the last third as well"),
            RuledOut("Caches that fill at the start", "the first tenth is left out"),
        ),
        confidence=Confidence(
            0.6 if kind == "gpu_mem_reserved" or lasting else 0.9,
            "reserved memory grows by caching as well"
            if kind == "gpu_mem_reserved"
            else "replay buffers and longer completions grow as well"
            if lasting
            else "a steady climb to the end",
        ),
        chart=Chart(
            "curves",
            (metric,),
            marks=(Mark(float(begun.step[0]), first, f"{number(first)}{unit}"),),
        ),
    )


def _uneven(run: Run, signals: Signals, kind: str) -> str:
    """Name ranks whose levels lie far apart: data or model are split unevenly."""
    ranks = [m for m in run.history.metrics if base(m) == kind and len(signals.curve(m))]
    levels = sorted((float(median(signals.curve(m).value)), m) for m in ranks)
    (low, least), (high, most) = levels[0], levels[-1]
    if high <= UNEVEN * low:
        return ""
    holds = f"{most} holds {number(high)}{_unit(kind)}"
    return f" Ranks are uneven: {holds}, {least} {number(low)}{_unit(kind)}."


def _of_card(run: Run) -> bool:
    """Whether memory is the tracker's record of the whole card, other users included."""
    return any(m.startswith("system/gpu") for m in run.history.metrics)


def _causes(kind: str, *, of_card: bool) -> tuple[Cause, ...]:
    if kind in {"host_mem", NO_UNIT}:
        return (
            Cause("A list or cache in the loop that keeps growing", "most likely", kind="memory"),
            Cause("Loader workers copying the data set (copy-on-write)", "likely", kind="memory"),
        )
    return (
        Cause("Graph kept alive by a loss that is not detached", "most likely", kind="memory"),
        Cause("A list of tensors that grows", "likely", kind="memory"),
        *(
            (Cause("Another process on the same card", "possible", kind="memory"),)
            if of_card
            else ()
        ),
    )


def _fixes(run: Run, kind: str) -> tuple[Fix, ...]:
    if kind in {"host_mem", NO_UNIT}:
        workers = run.number("dataloader_num_workers")
        look = fixes.look(
            "Take two memory snapshots 100 steps apart (tracemalloc) and compare them",
            "this names the line that allocates",
        )
        if not workers:
            return (look,)
        half = max(1, int(workers) // 2)
        why = "each holds a copy of the data set in time"
        return (look, fixes.setting(run, "dataloader_num_workers", half, "Halve the workers", why))
    return (
        fixes.action(
            "Log loss.item(), and detach what is collected in lists",
            "a kept loss keeps its whole graph",
        ),
        fixes.action(
            "Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
            "less fragmentation with changing lengths",
        ),
        fixes.setting(
            run, "torch_empty_cache_steps", 100, "Empty the cache", "this frees what is cached"
        ),
        experiments.memory_snapshot(run),
    )


BAD = (
    drawn("leak", (0, 100), 0.001, severity="warning", gpu_mem="0:20 1000:34"),
    drawn("starts late", (350, 600), 0.002, gpu_mem="0:20 400:20 1000:40"),
    drawn("process", (0, 60), 0.0, severity="warning", host_mem="0:0.44 270:2.0 /5"),
    drawn("a small process", (0, 60), 0.0, severity="warning", host_mem="0:0.36 200:0.76 /10"),
    drawn("without its unit", (0, 60), 0.0, severity="warning", rss="0:375 200:782 /10"),
)
GOOD = (
    drawn("flat", noise=0.02, gpu_mem="0:20 1000:20.2"),
    drawn("one longer batch", noise=0.001, gpu_mem="0:20 500:20 510:28 1000:28"),
    drawn(
        "two jumps on a slow drift",
        noise=0.001,
        gpu_mem="0:20 400:20.3 410:28 740:28.3 750:40 1000:40.4",
    ),
    drawn(
        "idle before it trains",
        noise=0.001,
        gpu_mem="0:20 500:20 900:90 1300:90.2",
        train_loss="900:3 1300:2",
    ),
    drawn("levels off", noise=0.001, gpu_mem="0:10 300:30 600:36 1000:36.1"),
    drawn("small", noise=0.001, host_mem="0:1.0 1000:1.3"),
    drawn("a third more, without its unit", noise=0.001, rss="0:375 1000:500"),
    drawn("fills a cache, without its unit", noise=0.001, rss="0:375 400:780 1000:782"),
)

RULE = Rule(
    slug="memory-growth",
    title="Memory growth",
    family="PRF",
    severity="warning",
    page=__doc__,
    limits=Limits(),
    check=check,
    relations=Relations(ever=("oom-cliff", "throughput-drop", "killed")),
    needs=("gpu_mem|gpu_mem_reserved|host_mem|rss",),
    bad=BAD,
    good=GOOD,
)
