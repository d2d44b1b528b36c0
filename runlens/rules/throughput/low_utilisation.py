"""Low utilization: the GPU idles, or does little of what it can, through the whole run.

What is seen
    GPU utilization below 60 % or model flops utilization (mfu) below 0.10, as the median after
    start-up.
Why it matters
    The run costs more hours than it needs. It is no fault of the training itself.
Looks alike
    Generation phases of rl runs keep mfu low by design. Tiny models never fill a GPU. Start-up
    and evaluation are short: the median leaves them out. Utilization is time busy, not work: a
    high one with a low mfu is small batches or slow kernels, a low one is waiting for data,
    unless batch or model are known to be tiny, or completions are generated in between: then
    that comes first.
    Where mfu is not logged, tokens per second, parameters and card tell it.
Limits
    fewest: points needed. skip: share of the run left out as start-up. util: percent.
    mfu: fraction.
Fixes
    Low utilization: loader workers, pinned memory, tokenized data, packing. High utilization and
    low mfu: larger batch, bf16 or tf32, flash attention, compilation, no .item() in the loop; on
    several GPUs less communication. A profile (nsys) names what the GPU waits for.
"""

import re

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
)
from runlens.history import Curve
from runlens.metrics import base
from runlens.patterns import lazy_re
from runlens.rules.rule import LANGUAGE_TASKS, RL_TASKS, Rule, drawn, found, passed, unmet
from runlens.rules.throughput import flops
from runlens.run import Run
from runlens.signals import Signals
from runlens.wording import listed, number, percent

TINY_BATCH = 2  # samples: a step of so few seldom keeps a GPU busy
TINY = 5e7  # parameters
NO_CUDA = lazy_re(r"apple|\bM[1-9]\b|\bmps\b|\bcpu\b", re.IGNORECASE)  # pinned memory is CUDA's


class Limits(Struct, frozen=True):
    """What may be tuned."""

    fewest: int = 10
    skip: float = 0.10
    util: float = 60.0
    mfu: float = 0.10


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Take the median of utilization after start-up; the busiest GPU counts."""
    util, mfu = (_busiest(run, signals, kind, limits) for kind in ("gpu_util", "mfu"))
    mfu = mfu or _estimated(run, signals, limits)
    if util is None and mfu is None:
        return unmet(
            f"fewer than {limits.fewest} values of gpu_util or mfu are above 0; tokens per second "
            "say nothing without the size of the model and the card"
        )
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
        m: float(median(curve.value))
        for m, curve in curves.items()
        if len(curve) >= limits.fewest and curve.value.max() > 0
    }
    return max(levels.items(), key=lambda item: item[1]) if levels else None


def _estimated(run: Run, signals: Signals, limits: Limits) -> tuple[str, float] | None:
    """Return mfu by tokens per second, parameters and card, where it is not logged."""
    speed = _busiest(run, signals, "throughput_tokens", limits)
    share = speed and flops.estimated_mfu(run, speed[1])
    return (speed[0], share) if speed and share else None


def _settled(curve: Curve, limits: Limits) -> Curve:
    return curve.at(slice(round(limits.skip * len(curve)), None))


def _idle(run: Run, signals: Signals, util: tuple[str, float], limits: Limits) -> Finding:
    metric, value = util
    return _finding(
        signals,
        metric,
        f"GPU utilization was {f'only {number(value, 3)}' if value else 0} %",
        Evidence(
            "Median GPU utilization, %",
            value,
            limits.util,
            "60 % is the usual target",
            metric,
            above=False,
        ),
        _idle_causes(run),
        (*_larger(run), *_loading(run)) if _tiny(run) else _loading(run),
    )


def _tiny(run: Run) -> str:
    """Say that batch or model are too small to fill a GPU; empty where that is not known."""
    batch = run.number("per_device_train_batch_size")
    if batch and batch <= TINY_BATCH:
        return f"per_device_train_batch_size is {batch:g}"
    size = run.number("num_parameters") or TINY
    return f"the model has {number(size / 1e6, 2)} million parameters" if 0 < size < TINY else ""


def _idle_causes(run: Run) -> tuple[Cause, ...]:
    tiny = _tiny(run)
    loading = Cause(
        "Data loading does not keep up", "likely" if tiny else "most likely", kind="machine"
    )
    waiting = Cause(
        "Waiting for evaluation, saving or other ranks",
        "possible" if tiny else "likely",
        kind="machine",
    )
    small = Cause(
        "Model or batch too small for the GPU",
        "most likely" if tiny else "possible",
        tiny,
        kind="machine",
    )
    if run.task in RL_TASKS:
        what = "Generation, environment or reward functions that the GPU waits for"
        return (
            Cause(what, "most likely", kind="machine"),
            *((small, waiting) if tiny else (waiting, small)),
        )
    return (small, loading, waiting) if tiny else (loading, waiting, small)


def _busy(
    run: Run,
    signals: Signals,
    mfu: tuple[str, float],
    util: tuple[str, float] | None,
    limits: Limits,
) -> Finding:
    metric, value = mfu
    beside = f" at {number(util[1], 3)} % GPU utilization" if util else ""
    if base(metric) != "mfu":
        level = number(float(median(_settled(signals.curve(metric), limits).value)), 3)
        beside += f", by {level} tokens per second, the parameters and the card,"
    return _finding(
        signals,
        metric,
        f"Model FLOPs utilization was only {percent(value)}{beside}",
        Evidence("Median mfu", value, limits.mfu, "0.15 to 0.45 is usual", metric, above=False),
        (
            Cause("Batch too small, or no fused kernels", "most likely", kind="machine"),
            *_between(run),
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
    high = quantile(curve.value, 0.9)
    return Finding(
        severity="info",
        title=f"{said} (median).",
        metric=metric,
        onset=Moment(float(curve.step[0])),
        evidence=(first, Evidence("90th percentile", high, where=metric)),
        seen="",
        harmless=True,  # it costs hours, and the training is the same
        causes=causes,
        fixes=made,
        ruled_out=(RuledOut("Start-up", "the first tenth is left out"),),
        confidence=Confidence(0.8, f"the median of {len(curve)} points"),
        chart=Chart("limit", (metric,), limit=first.limit),
    )


def _between(run: Run) -> tuple[Cause, ...]:
    """Name the communication between GPUs, unless one GPU alone is known to train."""
    processes = run.number("num_processes")
    if processes == 1:
        return ()
    why = f"{processes:g} processes" if processes else ""
    return (Cause("Communication between GPUs", "possible", why, kind="machine"),)


def _loading(run: Run) -> tuple[Fix, ...]:
    made = list(fixes.more_workers(run))
    if not (run.flag("dataloader_pin_memory") or NO_CUDA.search(str(run.setting("gpu") or ""))):
        why = "copies then overlap with computation"
        made.append(fixes.setting(run, "dataloader_pin_memory", True, "Pin memory", why))
    sooner = "Tokenize before training, and pack short samples"
    if run.task not in LANGUAGE_TASKS:
        sooner = "Prepare the samples before training, and cache them"
    made.append(fixes.action(sooner, "the GPU then waits less"))
    return tuple(made)


def _larger(run: Run) -> tuple[Fix, ...]:
    size = run.number("per_device_train_batch_size")
    if not size:
        return ()
    why = "this fills the GPU, where memory allows it"
    new = int(size) * 2
    return (fixes.setting(run, "per_device_train_batch_size", new, "Double the batch", why),)


def _computing(run: Run) -> tuple[Fix, ...]:
    made = list(_larger(run))
    if not (run.flag("bf16") or run.flag("fp16")):
        made.append(fixes.setting(run, "bf16", True, "Train in bf16", "this uses the tensor cores"))
    missing = ["flash attention", "torch.compile", "a fused optimizer"]
    if run.flag("torch_compile") or run.flag("compile"):  # nanoGPT says the latter
        missing.remove("torch.compile")
    faster = f"Use {listed(missing)}, with sizes that are multiples of 8"
    made.append(fixes.action(faster, "fewer and larger kernels", "one run"))
    made.append(
        fixes.action(
            "Move .item() and print calls out of the training loop",
            "each waits for the GPU to finish",
        )
    )
    if (run.number("num_processes") or 1) > 1:
        what = "Try ZeRO stage 2 in place of 3 where it fits, and NVLink in place of PCIe"
        made.append(fixes.action(what, "less to send between GPUs", "one run"))
    made.append(
        fixes.look(
            "Profile a few steps with nsys and look for gaps between the kernels",
            "this names what the GPU waits for",
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
    drawn(
        "500 tokens per second of a 7B adapter on an A100",
        severity="info",
        noise=0.1,
        throughput_tokens="0:500 600:500",
        config={
            "adapter": "lora",
            "num_parameters": 7e9,
            "gpu": "NVIDIA A100-SXM4-80GB",
            "num_processes": 1,
        },
    ),
)
GOOD = (
    drawn("busy", noise=0.03, gpu_util="0:20 50:95 600:96"),
    drawn(
        "3,000 tokens per second of a 7B adapter on an A100",
        noise=0.05,
        throughput_tokens="0:3000 600:3000",
        config={
            "adapter": "lora",
            "num_parameters": 7e9,
            "gpu": "NVIDIA A100-SXM4-80GB",
            "num_processes": 1,
        },
    ),
    drawn("good mfu", noise=0.05, mfu="0:0.02 40:0.4 600:0.4"),
    drawn("generation", noise=0.05, task="grpo", gpu_util="0:80 600:80", mfu="0:0.05 600:0.05"),
)

RULE = Rule(
    slug="low-utilisation",
    title="Low utilization",
    family="PRF",
    severity="info",
    page=__doc__,
    limits=Limits(),
    check=check,
    needs=("gpu_util|mfu|throughput_tokens",),
    bad=BAD,
    good=GOOD,
)
