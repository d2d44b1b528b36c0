"""Quantities that several rules share: computed when first asked for, then kept."""

from collections.abc import Callable, Hashable
from functools import cached_property
from math import inf
from typing import Any, TypeVar

import numpy as np

from runlens.arrays import median
from runlens.history import Curve, FloatArray
from runlens.run import Run
from runlens.signals import noise, phases
from runlens.signals.inputs import Inputs
from runlens.signals.noise import Levels
from runlens.signals.shape import Shape
from runlens.signals.trend import Trend, ranked, trend

Kept = TypeVar("Kept")

PARTIAL_FROM = 0.05  # first step over last step: a history that begins later lacks its start
FEWEST_EPOCH_POINTS = 3
NO_CHANCE = 0.01  # that a loss falls as it does without learning


class Signals:
    """The derived quantities of one run. All are of the joined run (see History.curve)."""

    def __init__(self, run: Run) -> None:
        """Compute nothing yet."""
        self.run = run
        self._kept: dict[Hashable, Any] = {}

    def keep(self, key: Hashable, make: Callable[[], Kept]) -> Kept:
        """Return what `make` gives, made only once for a `key`."""
        if key not in self._kept:
            self._kept[key] = make()
        kept: Kept = self._kept[key]
        return kept

    def curve(self, metric: str) -> Curve:
        """Return the finite points of a metric."""
        return self.keep(("curve", metric), lambda: self.run.curve(metric).finite())

    def smooth(self, metric: str) -> FloatArray:
        """Return the smooth curve (running median, then mean), shape (n,) of `curve`."""
        return self.keep(("smooth", metric), lambda: noise.smooth(self.curve(metric).value))

    def sigma(self, metric: str) -> float:
        """Return the noise scale of a metric in its own unit."""
        return self.keep(("sigma", metric), lambda: noise.sigma(self.curve(metric).value))

    def sigma_long(self, metric: str) -> float:
        """Return the noise scale against which levels are judged; at least `sigma`."""
        return self.keep(("long", metric), lambda: noise.sigma_long(self.curve(metric).value))

    def levels(self, metric: str) -> Levels:
        """Return start, end and best level of a metric."""
        return self.keep(("levels", metric), lambda: noise.levels(self.curve(metric).value))

    def trend(self, metric: str) -> Trend:
        """Return the trend of a metric over the whole run."""
        curve = self.curve(metric)
        return self.keep(("trend", metric), lambda: trend(curve.step, curve.value))

    def shape(self, metric: str) -> Shape:
        """Return what a metric does: its phases and events; false where it has too few points."""
        return self.run.shape(metric)

    @property
    def learns(self) -> bool:
        """Whether the training loss fell beyond chance over the run."""
        fell = self.shape("train_loss").fell_overall()
        tau, by_order = ranked(self.curve("train_loss").value)
        by_rank = by_order / 2 if tau < 0 else 1.0  # the ends of a noisy curve hide its order
        return fell.effect.change < 0 and min(fell.chance, by_rank) < NO_CHANCE

    def interval(self, metric: str) -> int:
        """Return the usual number of steps between two points of a metric; at least 1."""
        return self.keep(("interval", metric), lambda: _interval(self.curve(metric)))

    @cached_property
    def inputs(self) -> Inputs:
        """What was put in, dated: rate against plan, batch, passes, launches, machine."""
        return Inputs(self.run)

    @cached_property
    def warmup(self) -> phases.Warmup:
        """Where warm-up ends, and how that is known."""
        return phases.warmup(self.run)

    @cached_property
    def settled_from(self) -> int:
        """The first step whose gradient norm may be judged.

        The end of warm-up; where no warm-up is known 5 % of the run: the norm of the first 50 to
        100 steps is usually high and no signal.
        """
        if self.warmup.how != "assumed" and self.warmup.present:
            return self.warmup.end
        first, last = self.run.first_step, self.run.last_step
        return first + round(0.05 * (last - first))

    @cached_property
    def peak_learning_rate(self) -> float | None:
        """The highest learning rate logged, else the configured one; None where unknown."""
        logged = self.curve("learning_rate").value
        return float(logged.max()) if len(logged) else self.run.number("learning_rate")

    def learning_rate_at(self, step: float) -> float | None:
        """Return the learning rate at a step; None where it is not logged."""
        rate = self.curve("learning_rate")
        return float(np.interp(step, rate.step, rate.value)) if len(rate) else None

    @cached_property
    def restarts(self) -> list[int]:
        """Steps at which the learning rate rises again after a clear fall."""
        return phases.restarts(self.curve("learning_rate"))

    @cached_property
    def begun_anew(self) -> list[int]:
        """Steps at which the loss says that the weights were initialized anew."""
        from runlens.signals import anew  # asked where a loss rises

        return anew.begun(self.run, self.curve("train_loss"), self.curve("eval_loss"))

    @cached_property
    def steps_per_epoch(self) -> float | None:
        """Optimizer steps an epoch, by the epoch column or by the plan; None where unknown."""
        for metric in ("train_loss", "learning_rate", "reward", "grad_norm", "eval_loss"):
            curve = self.run.curve(metric)
            known = curve.at(np.isfinite(curve.epoch))
            if len(known) >= FEWEST_EPOCH_POINTS and known.epoch[-1] > known.epoch[0]:
                known = _borders(known)
                covered = float(known.step[-1]) - float(known.step[0])
                per = covered / (float(known.epoch[-1]) - float(known.epoch[0]))
                return per if 0 < per < inf else None
        state = self.run.state
        if state.planned_steps and state.planned_epochs:
            return state.planned_steps / state.planned_epochs
        return None

    @cached_property
    def epoch_means(self) -> Curve | None:
        """The training loss at the ends of epochs, where each row is a mean of its epoch so far."""
        from runlens.signals import epoch_steps  # asked where a loss rises, or falls in steps

        train, per = self.curve("train_loss"), self.steps_per_epoch
        if not per:
            return None
        logged = np.isfinite(train.epoch).all()
        ends = epoch_steps.means_so_far(train.value, train.epoch if logged else train.step / per)
        return None if ends is None else train.at(ends)

    @property
    def begins(self) -> int:
        """The first step of the training loss, if there is one: evaluations may begin before."""
        loss = self.run.curve("train_loss")
        return int(loss.step[0]) if len(loss) else self.run.first_step

    @cached_property
    def partial(self) -> bool:
        """Whether the history begins mid-run: rules that need the start cannot judge."""
        lost = any("earlier" in problem.lost for problem in self.run.problems)
        loss, last = self.run.curve("train_loss"), self.run.last_step
        sparse = len(loss) > 1 and self.begins <= 1.5 * self.interval("train_loss")
        return lost or (last > 0 and self.begins > PARTIAL_FROM * last and not sparse)


def _interval(curve: Curve) -> int:
    steps = np.diff(curve.step)
    return max(1, int(median(steps))) if len(steps) else 1


def _borders(curve: Curve) -> Curve:
    """Return the first rows of whole-numbered epochs behind the first, which may begin within one.

    A number that stands for many rows says at its borders alone how far an epoch goes. All rows
    where epochs are no whole numbers, fall back, or are too few.
    """
    change = np.diff(curve.epoch)
    begins = np.flatnonzero(change) + 1
    whole = not (curve.epoch % 1).any() and bool((change >= 0).all())
    return curve.at(begins) if whole and len(begins) > 1 else curve
