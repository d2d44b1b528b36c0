"""What a verdict says of columns where no curve can be judged: their ranges, or their one value."""

import re
from collections.abc import Sequence
from shlex import quote

import numpy as np

from runlens.history import Curve
from runlens.metrics import spoken
from runlens.naming import words
from runlens.naming.direction import better
from runlens.patterns import lazy_re
from runlens.rules.rule import RL_TASKS
from runlens.run import Run
from runlens.wording import count, listed, loss, step

SHOWN_COLUMNS = 6  # that a verdict without a loss lists
SYSTEM = (
    "system/",
    "gpu_",
    "host_mem",
    "eval_runtime",
    "eval_samples",
    "eval_steps",
)  # of the machine, no learning
NAMELESS = "column "  # how readers call a column without a name
NO_LOSS = lazy_re(
    r"(?:^|[\W_])(?:time|speed|cost|seconds|secs?|eta|lr|rate|epochs?|steps?|iters?|fps|tokens)"
    r"(?:[\W_]|$)|precision|recall",
    re.IGNORECASE,
)
_PLAIN = lazy_re(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")


def written(name: str) -> str:
    """Write a column for a sentence: ``eval accuracy``; as logged where it is no plain word."""
    return spoken(name) if _PLAIN.fullmatch(name) else f'"{name}"'


def columns(run: Run) -> str:
    """Name the columns that were read, with their ranges, and what settles which is the loss."""
    curves = {name: run.curve(name).finite() for name in run.history.metrics}
    told = {
        name: curve.value
        for name, curve in curves.items()
        if len(curve) > 1
        and not name.startswith(SYSTEM)
        and not NO_LOSS.search(name)
        and better(name) <= 0
        and curve.value.min() < curve.value.max()
        and not (np.diff(curve.value) == 1).all()  # the number of its row
    }
    likely = sorted(told, key=lambda name: "loss" not in words(name))  # those first
    shown = [
        f"{name} ({loss(float(told[name].min()))} to {loss(float(told[name].max()))}"
        f"{_not_finite(run.curve(name))})"
        for name in likely[:SHOWN_COLUMNS]
    ]
    ours = "reward" if run.task in RL_TASKS else "train_loss"
    what = f"the {spoken(ours)}"
    if not shown:
        return ""
    if len(told) == 1:
        named = quote(f"{ours}={likely[0]}")
        return f"The run logged one column, {shown[0]}. If it is {what}, pass --column {named}."
    unshown = len(told) - len(shown)
    named_all = f"{', '.join(shown)} and {unshown} more" if unshown else listed(shown)
    nameless = likely[0].startswith(NAMELESS)
    shows = nameless or "loss" in words(likely[0])
    named = quote(f"{ours}={likely[0] if shows else 'NAME'}")
    such = "pass for example" if nameless else "pass"
    which = f"If one of them is {what}, {such} --column {named}."
    return f"The run logged {named_all}. {which}"


def _not_finite(curve: Curve) -> str:
    """Say where a column became NaN or infinite, which is a fault whatever the column is."""
    lost = curve.step[~np.isfinite(curve.value)]
    points = f"{len(lost):,} of {count(len(curve), 'point')}"
    return f", not finite at {points} from step {step(lost[0])} on" if len(lost) else ""


def single_values(run: Run, first: Sequence[str]) -> str:
    """Say what was logged once, as results are; empty where a column holds more than one value.

    Metrics that are judged come `first`, then others of which it is known which way is better.
    """
    told = [name for name in run.history.metrics if not name.startswith(SYSTEM)]
    told.sort(key=lambda name: (name not in first, not better(name)))
    curves = {name: run.curve(name) for name in told}
    if len(curves) < 2 or any(len(curve) > 1 for curve in curves.values()):  # noqa: PLR2004 - each
        return ""
    shown = [f"{written(name)} {loss(float(one.value[0]))}" for name, one in curves.items()]
    more = [f"{len(shown) - SHOWN_COLUMNS} more"] if len(shown) > SHOWN_COLUMNS else []
    return f"It logged one value each: {listed(shown[:SHOWN_COLUMNS] + more)}"
