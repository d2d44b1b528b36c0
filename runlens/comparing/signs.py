"""What the curves of two runs tell about the setting behind a difference.

Each sign is one fact that favors or excuses a kind of settings: whether the learning rates
differ, from where, and how; whether the losses part at once; whether a step takes more data.
"""

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Literal

import numpy as np

from runlens.arrays import median
from runlens.comparing.align import Common, batches, shared
from runlens.comparing.canonical import Settings, last_part
from runlens.comparing.parting import differing, is_clock
from runlens.comparison import Parting
from runlens.metrics import base
from runlens.records import NamedTuple
from runlens.run import RL_TASKS, Run
from runlens.signals import Signals
from runlens.sources.files import step_in_name

SAME_RATE = 2e-3  # of the peak: logs round a learning rate to three digits
SAME_PEAK = 0.01  # relative, of rates that keep one ratio or one course
OTHER_PEAK = 0.10  # relative, of others: the highest logged rate is seldom the peak itself
SAME_DATA = 0.02  # relative, of epochs or tokens a step: epochs are logged with two decimals
EQUAL = 1e-6  # relative, of values that are the same but for their storage as float32
FAR = 1e100  # of a ratio: beyond it there is nothing to tell
FEWEST = 3  # common points of the learning rates
PROPORTIONAL = 0.01  # relative spread of the ratio of two rates
WHOLE = 0.03  # relative distance of a ratio of losses from a whole number
COUNTERS = ("learning_rate", "epoch", "tokens")  # what moves by the plan, whatever is learned
LOSSES = ("train_loss", "reward", "train_loss_epoch", "train_accuracy")

RateKind = Literal["unknown", "equal", "proportional", "warm-up", "after warm-up", "shape"]


class RateSign(NamedTuple):
    """How the learning rates of two runs differ."""

    kind: RateKind
    step: int | None = None  # the first common step with different rates
    peaks: float = 1.0  # that of B over that of A

    @property
    def other_peak(self) -> bool:
        """Whether the peaks themselves differ, not only the logged points near them."""
        limit = SAME_PEAK if self.kind == "proportional" else OTHER_PEAK
        return not 1 / (1 + limit) <= self.peaks <= 1 + limit


class Norms(NamedTuple):
    """How the gradient norms of two runs stand to their clipping limits."""

    highest: float
    tighter: float  # the smaller limit; inf where neither clips
    clipped: float  # share of points of either run above the tighter limit


def common(a: Run, b: Run, metric: str) -> Common:
    """Return the finite points that both logged at the same steps."""
    both = shared(a, b, metric, "step")
    kept = np.isfinite(both.a) & np.isfinite(both.b)
    return Common(both.at[kept], both.a[kept], both.b[kept])


def parts_at(parting: Parting) -> float | None:
    """Return the step at which a metric parts: exactly where that is known, else beyond noise."""
    return parting.clear if parting.step is None else parting.step


class Signs:
    """The facts about two runs; each is computed when first asked for."""

    def __init__(self, a: Run, b: Run, partings: Sequence[Parting]) -> None:
        """Take runs and where they part in steps; clocks and speeds are left out."""
        self.a, self.b = a, b
        self.settings = Settings(a), Settings(b)
        told = [one for one in partings if parts_at(one) is not None]
        self.partings = [one for one in told if not is_clock(one.metric)]
        self.only_speed = bool(told) and not self.partings
        self.signals = Signals(a), Signals(b)

    @cached_property
    def loss(self) -> Parting | None:
        """Where the training loss, or the reward, parts; None where it does not."""
        return next((one for one in self.partings if one.metric in LOSSES), None)

    @cached_property
    def at(self) -> float | None:
        """The step at which the runs part: that of the training loss, else of the first metric."""
        first = self.loss or next((p for p in self.partings if p.metric not in COUNTERS), None)
        return parts_at(first) if first else None

    @cached_property
    def from_start(self) -> bool | None:
        """Whether the losses differ at the first step that both logged; None where unknown.

        A difference in the last digits of a float32 is rounding, and no other start.
        """
        both = common(self.a, self.b, self.told_by)
        if not len(both.at):
            return None
        near = bool(np.isclose(both.a[0], both.b[0], rtol=EQUAL, atol=0.0))
        return not near and bool(differing(both)[0])

    @cached_property
    def equal_until(self) -> int | None:
        """The last step up to which the losses are equal, to the digits of a float32 at least."""
        step, one, two = common(self.a, self.b, self.told_by)
        if self.loss and self.loss.step is not None:
            before = step[step < self.loss.step]
            if len(before):
                return int(before[-1])
        differ = np.flatnonzero(~np.isclose(one, two, rtol=EQUAL, atol=0.0))
        equal = int(differ[0]) if len(differ) else len(step)
        return int(step[equal - 1]) if equal else None

    @property
    def told_by(self) -> str:
        """The metric by which the runs are told apart: the training loss, or the reward."""
        return self.loss.metric if self.loss else "train_loss"

    @cached_property
    def rate(self) -> RateSign:
        """How the learning rates differ at the steps that both logged."""
        step, one, two = common(self.a, self.b, "learning_rate")
        if len(step) < FEWEST or not (one.max() > 0 and two.max() > 0):
            return RateSign("unknown")
        peaks = _ratio(two.max(), one.max())
        differ = np.flatnonzero(np.abs(two - one) > SAME_RATE * max(one.max(), two.max()))
        if not len(differ):
            return RateSign("equal")
        first = int(step[differ[0]])
        solid = (one > 0) & (two > 0)
        ratio = two[solid] / one[solid]
        if abs(peaks - 1) > SAME_PEAK and np.ptp(ratio) <= PROPORTIONAL * median(ratio):
            return RateSign("proportional", first, peaks)
        warm = max((s.warmup.end for s in self.signals if s.warmup.present), default=0)
        most = int(step[int(np.argmax(np.abs(two - one)))])
        if abs(peaks - 1) <= SAME_PEAK and most <= warm:
            return RateSign("warm-up", first, peaks)
        after = differ[0] > 0 and first > warm > 0
        return RateSign("after warm-up" if after else "shape", first, peaks)

    @cached_property
    def data_ratio(self) -> tuple[float, str] | None:
        """How much more of an epoch, or how many more tokens, a step of B takes than one of A."""
        tokens = [a_step(run, "tokens") for run in (self.a, self.b)]
        if all(tokens) and not {self.a.task, self.b.task} & RL_TASKS:  # a policy chooses its length
            return _ratio(tokens[1], tokens[0]), "tokens"
        epochs = [signals.steps_per_epoch for signals in self.signals]
        if all(epochs):
            return _ratio(epochs[0], epochs[1]), "of an epoch"
        return None

    @cached_property
    def batches(self) -> tuple[float | None, float | None]:
        """The effective batch of each run, both known in one way; None where they are not."""
        totals = [one.number("total_train_batch_size") for one in self.settings]
        if all(totals):
            return totals[0], totals[1]
        known = batches((self.a, self.b)) or (None, None)
        return known[0], known[1]

    @cached_property
    def resumed_at(self) -> float | None:
        """The step of a resume up to two points after which the runs part; None where none is."""
        if self.from_start:
            return None
        return self._near([float(step) for steps in self.resumes for step in steps])

    @cached_property
    def resumes(self) -> tuple[list[int], list[int]]:
        """The steps at which each run was resumed: by its launches, else by its settings."""
        first, second = (_resumes(run) for run in (self.a, self.b))
        return first, second

    @cached_property
    def equal_throughout(self) -> bool:
        """Whether the training losses are the same at all steps that both logged."""
        both = shared(self.a, self.b, self.told_by, "step")
        return not self.partings and len(both.at) > 0 and not differing(both).any()

    @cached_property
    def boundary(self) -> float | None:
        """The end of a whole epoch at which the runs part; None where they part elsewhere."""
        ends: list[float] = []
        for signals in self.signals:
            if self.at and 1 / FAR < (signals.steps_per_epoch or 0.0) < FAR:
                per_epoch = float(signals.steps_per_epoch or 1.0)
                ends.append(max(round(self.at / per_epoch), 1) * per_epoch)
        return self._near(ends)

    def _near(self, steps: Sequence[float]) -> float | None:
        if self.at is None:
            return None
        slack = 2 * max(signals.interval("train_loss") for signals in self.signals)
        near = [step for step in steps if 0 <= self.at - step <= slack]
        return min(near, key=lambda step: abs(step - float(self.at or 0)), default=None)

    @cached_property
    def norms(self) -> Norms | None:
        """How the gradient norms stand to the limits of clipping; None where not logged."""
        limits = [one.number("max_grad_norm") for one in self.settings]
        curves = [run.curve("grad_norm").finite().value for run in (self.a, self.b)]
        if not all(len(value) for value in curves) or all(limit is None for limit in limits):
            return None
        tighter = min(limit if limit and limit > 0 else math.inf for limit in limits)
        joined = np.concatenate(curves)
        return Norms(float(joined.max()), tighter, float((joined > tighter).mean()))

    @cached_property
    def loss_times(self) -> float | None:
        """The first training loss of B over that of A; None where not known."""
        step, one, two = common(self.a, self.b, "train_loss")
        if not len(step) or one[0] <= 0 or two[0] <= 0:
            return None
        return _ratio(two[0], one[0])

    @cached_property
    def evaluation_only(self) -> bool:
        """Whether nothing but evaluations differ, with a training loss that both logged."""
        trained = len(common(self.a, self.b, "train_loss").at) > 0
        evaluations = [base(one.metric).startswith("eval") for one in self.partings]
        return trained and bool(evaluations) and all(evaluations)


def whole_ratio(ratio: float) -> int | None:
    """Return the whole number from 2 on that a ratio, or its inverse, is; None for others."""
    if not 0 < ratio < math.inf:
        return None
    larger = max(ratio, 1 / ratio)
    whole = round(larger)
    return whole if whole > 1 and abs(larger / whole - 1) <= WHOLE else None


def a_step(run: Run, metric: str) -> float | None:
    """Return the slope of a counter a step, by the ends of its curve; None where unknown."""
    curve = run.curve(metric).finite()
    if len(curve) < FEWEST:
        return None
    steps, grown = float(curve.step[-1] - curve.step[0]), float(curve.value[-1] - curve.value[0])
    return grown / steps if steps > 0 and grown > 0 else None


def _ratio(value: float | None, to: float | None) -> float:
    """Return a ratio of positive numbers, bounded so that it has an inverse."""
    with np.errstate(all="ignore"):
        return float(np.clip(np.float64(value or 0.0) / (to or 1.0), 1 / FAR, FAR))


def _resumes(run: Run) -> list[int]:
    seen = [event.step for event in run.events_of("resume") if event.step]
    named = step_in_name(last_part(str(run.setting("resume_from_checkpoint") or "")))
    return seen or ([named] if named > 0 else [])
