"""Why a run went NaN: the tree of the seeds, read off what stood before the onset.

The first branch with evidence ranks first; the others are named as ruled out or unchecked.
Sources: S0-S4 of the seeds, joined in rules.md 5.3 (F3 there: no fixed order, evidence decides).
"""

from typing import NamedTuple

import numpy as np

from runlens import fixes
from runlens.diagnosis import Cause, Fix, Rank, RuledOut
from runlens.history import FloatArray
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.trend import mann_kendall
from runlens.wording import number, percent, step, times

BEFORE = 20  # logged points of grad_norm that are looked at before the onset
FEWEST = 5
CLIMBED = 3.0  # last norm over its base: climbing
EXPLODED = 10.0  # last norm over its base, without a trend
TREND_P = 0.01
RESUME_SHARE = 0.02  # of the run: a NaN that soon after a resume is the resume's
RL_ALARM = {"logp_diff": 1.0, "kl": 2.0}  # S4's alarm values


class NanCauses(NamedTuple):
    """Ranked causes of a NaN, what was ruled out, and fixes in order."""

    causes: tuple[Cause, ...]
    ruled_out: tuple[RuledOut, ...]
    fixes: tuple[Fix, ...]
    branch: str  # "data", "optimisation", "forward", "backward", "scaler", "resume", "open"


def of_nan(run: Run, signals: Signals, onset: float, first_logged: float) -> NanCauses:
    """Rank the causes of a NaN that was first seen at step `onset`.

    `first_logged` is the first step at which the metric was logged at all.
    """
    made: list[Cause] = []
    out: list[RuledOut] = []
    norms = signals.curve("grad_norm").before(int(onset) + 1)
    norms = norms.at(slice(-BEFORE, None))
    immediate = onset <= first_logged
    branch = "open"
    if immediate:
        branch = "data"
        made.append(
            Cause(
                "Data, labels or wiring",
                "most likely",
                f"not finite on the first logged point, step {step(onset)}",
            )
        )
        out.append(RuledOut("Slow divergence", "no finite point came before"))
    resumed = [e.step for e in run.events_of("resume") if e.step is not None and e.step <= onset]
    if resumed and onset - resumed[-1] <= RESUME_SHARE * max(run.last_step, 1):
        branch = "resume"
        why = f"resumed at step {step(resumed[-1])}, not finite at step {step(onset)}"
        made.append(Cause("Optimizer state or a corrupt checkpoint", _rank(made), why))
    branch = _by_norm(norms.value, immediate=immediate, branch=branch, made=made, out=out)
    branch = _by_precision(run, signals, onset, branch, made, out)
    for metric, alarm in RL_ALARM.items():
        before = signals.curve(metric).before(int(onset)).value[-FEWEST:]
        if len(before) and before.max() > alarm:
            why = f"{metric} reached {number(float(before.max()))} just before (alarm {alarm:g})"
            made.append(Cause("Overflow in the probability ratio", _rank(made), why))
    if branch == "open":
        made.append(
            Cause(
                "Learning rate too high",
                _rank(made, "likely"),
                "the most common cause (S1, S2)",
                "grad_norm is not logged: it would decide" if not len(norms) else "",
            )
        )
        made.append(Cause("A bad sample or layer numerics", "possible", "", "no sign of it logged"))
    return NanCauses(tuple(made[:4]), tuple(out), _fixes(run, signals, branch), branch)


def _rank(made: list[Cause], second: Rank = "possible") -> Rank:
    return "most likely" if not made else second


def _by_norm(
    norms: FloatArray,
    *,
    immediate: bool,
    branch: str,
    made: list[Cause],
    out: list[RuledOut],
) -> str:
    """Tell optimisation from the forward pass by the gradient norm before the onset."""
    if len(norms) < FEWEST:
        out.append(RuledOut("Exploding gradient", f"not checked: {len(norms)} norms before it"))
        return branch
    base = float(np.median(norms[: max(FEWEST, len(norms) // 2)]))
    last = float(norms[-1])
    _, p = mann_kendall(norms)
    ratio = last / base if base > 0 else float("inf")
    if (ratio >= CLIMBED and p < TREND_P) or ratio >= EXPLODED:
        why = f"gradient norm rose to {number(last)}, {times(ratio)} its base of {number(base)}"
        made.insert(0, Cause("Learning rate too high or clipping too loose", "most likely", why))
        return "optimisation"
    flat = f"gradient norm was flat before it: {number(last)} against {number(base)}"
    out.append(RuledOut("Exploding gradient", flat))
    if not immediate and branch == "open":
        made.append(Cause("A bad sample or layer numerics (forward pass)", _rank(made), flat))
        return "forward"
    return branch


def _by_precision(
    run: Run,
    signals: Signals,
    onset: float,
    branch: str,
    made: list[Cause],
    out: list[RuledOut],
) -> str:
    scale = signals.curve("loss_scale").before(int(onset) + 1).value
    if run.flag("fp16") or len(scale):
        falling = len(scale) > 1 and scale[-1] <= scale.max() / 8
        why = "fp16 is set" if run.flag("fp16") else "a loss scale is logged"
        if falling:
            why += f", and the loss scale fell from {number(scale.max())} to {number(scale[-1])}"
        made.insert(0 if falling else len(made), Cause("fp16 overflow", _rank(made), why))
        return "scaler" if falling or branch == "open" else branch
    if run.flag("fp8"):
        made.append(Cause("fp8 scale of zero", _rank(made), "fp8 is set"))
    elif run.flag("bf16"):
        out.append(RuledOut("fp16 overflow", "the run trains in bf16"))
    elif run.flag("fp16") is False:
        out.append(RuledOut("fp16 overflow", "fp16 is off"))
    return branch


def _fixes(run: Run, signals: Signals, branch: str) -> tuple[Fix, ...]:
    rate = fixes.learning_rate(run, signals, 1 / 5, "5 to 10 times lower after a NaN (S1)")
    clip = fixes.clipping(run, "bounds a single step")
    warm = fixes.longer_warmup(run, "smaller first steps")
    half = fixes.bf16(run, "no overflow at 65,504")
    look = fixes.action(
        "Print the batch at this step: empty labels, empty sequences, odd values",
        "one bad sample is enough",
    )
    shown: tuple[Fix, ...] = ()
    if run.flag("logging_nan_inf_filter") is not False and run.framework in (
        fixes.TRAINER_FRAMEWORKS
    ):
        why = "the log then shows the first NaN"
        shown = (fixes.setting(run, "logging_nan_inf_filter", False, "Log NaN as it is", why),)
    if branch == "data":
        return (look, *half, *shown, *rate)
    if branch == "forward":
        return (look, *half, *rate, *clip, *shown)
    if branch == "scaler":
        return (*half, *rate, *clip, *shown)
    return (*rate, *clip, *warm, *half, *shown, look)


def wasted(run: Run, onset: float) -> str:
    """Say how much of the run came after `onset`: ``1,200 of 1,500 steps (80 %)``."""
    after = max(0.0, run.last_step - onset)
    total = max(run.last_step, 1)
    return f"{step(after)} of {step(total)} steps ({percent(after / total)})"
