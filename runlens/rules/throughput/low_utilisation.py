"""Low utilisation: the GPU idles, or does little of what it can, through the whole run.

What is seen
    GPU utilisation below 60 % or model flops utilisation (mfu) below 0.10, as the median after
    start-up.
Why it matters
    The run costs more hours than it needs. It is no fault of the training itself.
Looks alike
    Generation phases of rl runs keep mfu low by design. Tiny models never fill a GPU. Start-up
    and evaluation are short: the median leaves them out.
Limits
    fewest: points needed. skip: share of the run left out as start-up. util: percent.
    mfu: fraction.
Fixes
    Low utilisation: loader workers, pinned memory, tokenised data, packing. High utilisation and
    low mfu: larger batch, bf16 or tf32, flash attention, compilation.
"""

from dataclasses import dataclass

import numpy as np

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
    RuledOut,
)
from runlens.history import Curve
from runlens.metrics import base
from runlens.rules.rule import RL_TASKS, Rule, drawn, found, passed, unmet
from runlens.run import Run
from runlens.signals import Signals
from runlens.wording import number, step


@dataclass(frozen=True)
class Limits:
    """What may be tuned."""

    fewest: int = 10
    skip: float = 0.10
    util: float = 60.0
    mfu: float = 0.10


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Take the median of utilisation after start-up; the busiest GPU counts."""
    util, mfu = (_busiest(run, signals, kind, limits) for kind in ("gpu_util", "mfu"))
    if util is None and mfu is None:
        return unmet(f"fewer than {limits.fewest} points of gpu_util or mfu are above 0")
    if util is not None and util[1] < limits.util:
        return found(_idle(run, signals, util, limits))
    if mfu is not None and mfu[1] < limits.mfu:
        if run.task in RL_TASKS:
            return passed(f"mfu {number(mfu[1], 3)}: generation keeps it low in rl runs")
        return found(_busy(run, signals, mfu, util, limits))
    known = [f"{metric} {number(value, 3)}" for metric, value in filter(None, (util, mfu))]
    return passed("median after start-up: " + ", ".join(known))


def _busiest(run: Run, signals: Signals, kind: str, limits: Limits) -> tuple[str, float] | None:
    """Return (metric, median) of the rank with the highest median; None where nothing is known."""
    curves = {m: _settled(signals.curve(m), limits) for m in run.history.metrics if base(m) == kind}
    levels = {
        m: float(np.median(curve.value))
        for m, curve in curves.items()
        if len(curve) >= limits.fewest and curve.value.max() > 0
    }
    return max(levels.items(), key=lambda item: item[1]) if levels else None


def _settled(curve: Curve, limits: Limits) -> Curve:
    return curve.at(slice(round(limits.skip * len(curve)), None))


def _idle(run: Run, signals: Signals, util: tuple[str, float], limits: Limits) -> Finding:
    metric, value = util
    return _finding(
        signals,
        metric,
        f"GPU utilisation was {number(value, 3)} % where {limits.util:g} % is the least",
        Evidence(
            "Median GPU utilisation, %",
            value,
            limits.util,
            "60 % is the usual target",
            metric,
            above=False,
        ),
        (
            Cause("Data loading does not keep up", "most likely"),
            Cause("Waiting for evaluation, saving or other ranks", "likely"),
            Cause("Model or batch too small for the GPU", "possible"),
        ),
        _loading(run),
    )


def _busy(
    run: Run,
    signals: Signals,
    mfu: tuple[str, float],
    util: tuple[str, float] | None,
    limits: Limits,
) -> Finding:
    metric, value = mfu
    beside = f" at {number(util[1], 3)} % utilisation" if util else ""
    return _finding(
        signals,
        metric,
        f"Model flops utilisation was {number(value, 3)}{beside} where {limits.mfu:g} is the least",
        Evidence("Median mfu", value, limits.mfu, "0.15 to 0.45 is usual", metric, above=False),
        (
            Cause("Batch too small, or no fused kernels", "most likely"),
            Cause("Full precision on tensor cores", "possible"),
            Cause("Communication between GPUs", "possible"),
        ),
        _computing(run),
    )


def _finding(
    signals: Signals,
    metric: str,
    said: str,
    first: Evidence,
    causes: tuple[Cause, ...],
    made: tuple[Fix, ...],
) -> Finding:
    curve = signals.curve(metric)
    high = float(np.quantile(curve.value, 0.9))
    return Finding(
        severity="info",
        title=f"{said}, from step {step(float(curve.step[0]))} on.",
        metric=metric,
        onset=Moment(float(curve.step[0])),
        evidence=(first, Evidence("90th percentile", high, where=metric)),
        seen=f"Over {len(curve)} points {metric} stayed low; its 90th percentile is "
        f"{number(high, 3)}.",
        causes=causes,
        fixes=made,
        ruled_out=(RuledOut("Start-up", "the first tenth is left out"),),
        confidence=Confidence(0.8, f"the median of {len(curve)} points"),
        chart=Chart("limit", (metric,), limit=first.limit),
    )


def _loading(run: Run) -> tuple[Fix, ...]:
    made = list(fixes.more_workers(run))
    if not run.flag("dataloader_pin_memory"):
        why = "copies overlap with computation"
        made.append(fixes.setting(run, "dataloader_pin_memory", True, "Pin memory", why))
    made.append(
        fixes.action("Tokenise before training, and pack short samples", "less to wait for")
    )
    return tuple(made)


def _computing(run: Run) -> tuple[Fix, ...]:
    size = run.number("per_device_train_batch_size")
    made: list[Fix] = []
    if size:
        why = "fills the GPU, where memory allows it"
        new = int(size) * 2
        made.append(fixes.setting(run, "per_device_train_batch_size", new, "Double the batch", why))
    if not (run.flag("bf16") or run.flag("fp16")):
        made.append(fixes.setting(run, "bf16", True, "Train in bf16", "uses the tensor cores"))
    made.append(
        fixes.action(
            "Profile a few steps (nsys) for what lies between the kernels",
            "names what the GPU waits for",
        )
    )
    return tuple(made)


BAD = (
    drawn("idles", severity="info", noise=0.1, gpu_util="0:30 600:32"),
    drawn(
        "busy with little",
        severity="info",
        noise=0.1,
        gpu_util="0:98 600:97",
        mfu="0:0.05 600:0.05",
    ),
)
GOOD = (
    drawn("busy", noise=0.03, gpu_util="0:20 50:95 600:96"),
    drawn("good mfu", noise=0.05, mfu="0:0.02 40:0.4 600:0.4"),
    drawn("generation", noise=0.05, task="grpo", gpu_util="0:80 600:80", mfu="0:0.05 600:0.05"),
)

RULE = Rule(
    slug="low-utilisation",
    title="Low utilisation",
    family="PRF",
    severity="info",
    page=__doc__,
    limits=Limits(),
    check=check,
    needs=("gpu_util|mfu",),
    bad=BAD,
    good=GOOD,
)
