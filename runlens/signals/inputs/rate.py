"""The learning rate against its plan: from the configuration, or from its own first half."""

from functools import cached_property

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from runlens.arrays import median, stretches_of
from runlens.history import BoolArray, Curve, FloatArray
from runlens.records import NamedTuple
from runlens.run import Run
from runlens.signals.inputs.data import Departure, Form, Plan
from runlens.signals.phases import restarts
from runlens.signals.shape import Point, Shape

FORMS: dict[str, Form] = {
    "constant": "constant",
    "constant_with_warmup": "constant",
    "linear": "linear",
    "polynomial": "linear",  # of power 1, the default of transformers
    "cosine": "cosine",
    "inverse_sqrt": "inverse square root",
}
FITS = 0.02  # share of the peak within which a form explains the logged rate
OFF = 1.10  # logged over planned (or the other way) from which the rate is off its plan,
OFF_PEAK = 0.02  # if the difference is this share of the peak as well
BRIEF = 1.5  # a single record off its plan counts from this factor on
FEWEST = 4  # records of a rate that can be compared with a plan
SET_OUT = 0.25  # share of the records that must lie on the configured plan
HALF = 0.5
SOURCES = {HALF: "first half of the log", 0.25: "first quarter of the log"}
FITTED = tuple(SOURCES)  # shares of the records to which a plan is fitted, the first that fits
MOST_FITTED = 2_000  # records of it
DECAYS: tuple[Form, ...] = ("linear", "cosine")
NO_FLOOR = 0.03  # share of the peak: a floor below is the error of one step in the plan
MOST = 0.8  # share of the records that lie on a constant rate: teeth on it are departures
TOP = 0.999  # share of the highest rate from which a warm-up is at its peak
LEAP = 3.0  # factor between two records that no decay has
ENDED = 0.01  # share of the peak that a factor is taken of where less was planned
DOUBLED = 2.0  # last rate over the first, from which a rise by one factor is told from a line
ZERO = 1e-12
SHRUNK = 4.6  # ln of 100: a fall that a line or a cosine has near its end alone


class Shrinks(NamedTuple):
    """A rate that is multiplied by one factor at regular intervals."""

    factor: float
    every: float  # steps


class Rate(Struct, frozen=True, eq=False, dict=True):
    """The learning rate that was logged, what was planned, and where the two part."""

    curve: Curve  # finite points
    shape: Shape
    configured: float | None  # the peak that the settings name
    plan: Plan | None
    departures: tuple[Departure, ...]

    @property
    def left(self) -> Departure | None:
        """The first departure from the plan; None where it was kept, or is not known."""
        return self.departures[0] if self.departures else None

    @cached_property
    def rises(self) -> tuple[tuple[Point, Point], ...]:
        """Where the rate rose again by a fifth after it had fallen as much: warm restarts too."""
        steps = restarts(self.curve)
        places = np.searchsorted(self.curve.step, steps).tolist()
        return tuple((_point(self.curve, at - 1), _point(self.curve, at)) for at in places)

    @property
    def peak(self) -> float | None:
        """The highest rate logged, else the configured one; None where neither is known."""
        return float(self.curve.value.max()) if len(self.curve) else self.configured

    @cached_property
    def growth(self) -> float | None:
        """The factor by which the rate grew at each change, one factor all the way; None else.

        A warm-up adds the same amount each time: its factors shrink. In logarithms of the rate
        that is a bend of 5 % of its height where the rate doubles, and more beyond.
        """
        value = self.curve.value
        at = np.append(0, np.flatnonzero(np.diff(value)) + 1)
        if len(at) < FEWEST or value[0] <= ZERO or value[-1] < DOUBLED * value[0]:
            return None
        steps, logs = self.curve.step[at].astype(float), np.log(value[at])
        straight = np.interp(steps, steps[[0, -1]], logs[[0, -1]])
        if np.abs(logs - straight).max() > FITS * (logs[-1] - logs[0]):
            return None
        return float(np.exp((logs[-1] - logs[0]) / (len(at) - 1)))

    @cached_property
    def shrinks(self) -> "Shrinks | None":
        """The factor by which the rate fell at each change, one factor all the way; None else.

        In logarithms of the rate the changes lie on a line, but for one of them: levels are held.
        """
        rate = self.curve.at(self.curve.value > ZERO)
        falls = np.flatnonzero(np.diff(rate.value) < 0)
        if len(falls) < FEWEST or (np.diff(rate.value) > 0).any():
            return None
        at = np.append(falls, len(rate) - 1)
        steps, logs = rate.step[at].astype(float), np.log(rate.value[at])
        drop = float(median(-np.diff(logs[:-1])))
        straight = np.interp(steps, steps[[0, -2]], logs[[0, -2]])
        room = max(drop, FITS * (logs[0] - logs[-2]))
        if np.abs(logs - straight)[:-1].max() > room or logs[0] - logs[-2] < SHRUNK:
            return None
        each = (logs[0] - logs[-2]) / (steps[-2] - steps[0])
        return Shrinks(float(np.exp(-drop)), drop / float(each))

    @property
    def over_configured(self) -> float | None:
        """The highest rate logged over the configured one; None where one is not known."""
        if not len(self.curve) or not self.configured:
            return None
        return float(self.curve.value.max()) / self.configured

    def at(self, step: float) -> float | None:
        """Return the rate at a step, between records by a line; None where it is not known."""
        if len(self.curve):
            return float(np.interp(step, self.curve.step, self.curve.value))
        planned = self.planned_at(step)
        return planned if planned is not None else self.configured

    def planned_at(self, step: float) -> float | None:
        """Return the planned rate at a step; None without a plan."""
        return float(self.plan.at(np.array([float(step)]))[0]) if self.plan else None


def rate_of(run: Run, shape: Shape) -> Rate:
    """Return the learning rate of a run against its plan."""
    curve = run.curve("learning_rate").finite()
    configured = run.number("learning_rate")
    plan = _plan(run, curve, configured)
    departures = _departures(curve, plan) if plan else ()
    return Rate(curve, shape, configured, plan, departures)


def _plan(run: Run, curve: Curve, configured: float | None) -> Plan | None:
    """Return the configured plan, if the run set out on it, else one fitted to its beginning.

    Settings rarely name a floor or a factor by devices: of the variants on which the run set out,
    the plainest that explains most records.
    """
    stated = _configured(run, configured)
    if len(curve) < FEWEST:
        return stated[0] if stated else None
    begun = curve.at(slice(0, max(FEWEST, round(SET_OUT * len(curve)))))
    variants = [
        variant
        for plan in stated
        for scaled in (plan, replace(plan, peak=plan.peak * _scale(begun, plan)))
        for variant in (scaled, replace(scaled, floor=_floor(curve, scaled)))
    ]
    set_out = [plan for plan in variants if not _off(begun, plan, 1 + FITS, FITS).any()]
    if set_out:
        return _named(min(set_out, key=lambda plan: int(_off(curve, plan).sum())))
    return next((plan for share in FITTED if (plan := _fitted(run, curve, share))), None)


def _named(plan: Plan) -> Plan:
    """Return the plan under the name of what it is: a decay to its own peak is none."""
    return replace(plan, form="constant", floor=0.0) if plan.floor > 1 - FITS else plan


def _configured(run: Run, peak: float | None) -> list[Plan]:
    """Return what the settings may mean: some schedulers pass over the warm-up."""
    name = str(run.setting("lr_scheduler_type") or "").lower().rpartition(".")[2]
    form, total = FORMS.get(name), run.state.planned_steps
    if form is None or not peak or not (total or form == "constant"):
        return []
    steps, ratio = run.number("warmup_steps") or 0.0, run.number("warmup_ratio") or 0.0
    share = steps if 0 < steps < 1 else ratio
    warmup = int(steps) if steps >= 1 else round(share * (total or 0))
    plan = Plan(form, peak, 0, warmup, float(total or 0), 0.0, "configuration")
    return [plan, replace(plan, warmup=0)] if name == "constant" and warmup else [plan]


def _scale(begun: Curve, plan: Plan) -> float:
    """Return the usual factor between logged and planned: by devices or batch, most often."""
    planned = plan.at(begun.step.astype(np.float64))
    known = planned > OFF_PEAK * plan.peak
    return float(median(begun.value[known] / planned[known])) if known.any() else 1.0


def _floor(curve: Curve, plan: Plan) -> float:
    """Return the share of the peak at which the decay would end, by the first half of it."""
    half = curve.at(slice(0, max(FEWEST, round(HALF * len(curve)))))
    planned = plan.at(half.step.astype(np.float64)) / plan.peak
    gone = (half.step > plan.warmup) & (planned < 1 - 5 * OFF_PEAK)
    if not gone.any() or plan.form not in {"linear", "cosine"}:
        return 0.0
    floors = (half.value[gone] / plan.peak - planned[gone]) / (1.0 - planned[gone])
    floor = float(np.clip(median(floors), 0.0, 1.0))
    return floor if floor > NO_FLOOR else 0.0


def _off(curve: Curve, plan: Plan, factor: float = OFF, share: float = OFF_PEAK) -> BoolArray:
    """Return where a record lies off the plan at its step, and at one record before and after.

    Trainers log the rate of the step before or of the one to come.
    """
    step, value, room = curve.step.astype(np.float64), curve.value, share * plan.peak

    def beyond(value: FloatArray, low: FloatArray, high: FloatArray) -> BoolArray:
        above = (value > factor * high) & (value > high + room)
        below: BoolArray = (value * factor < low) & (value < low - room)
        return above | below

    planned = plan.at(step)
    off = beyond(value, planned, planned)
    if not off.any():
        return off
    step = step[off]
    reach = 1.0 + float(median(np.diff(curve.step))) if len(curve) > 1 else 1.0
    near = np.stack([plan.at(step - reach), planned[off], plan.at(step + reach)])
    off[off] = beyond(value[off], near.min(axis=0), near.max(axis=0))
    return off


def _departures(curve: Curve, plan: Plan) -> tuple[Departure, ...]:
    """Return the stretches off the plan after the first record on it.

    Of a plan that was fitted only those that rise or leap: a decay may end as it likes.
    """
    off = _off(curve, plan)
    if not off.any():
        return ()
    off[: int(np.argmin(off))] = False
    planned = plan.at(curve.step.astype(np.float64))
    factor = curve.value / np.maximum(planned, ENDED * plan.peak)
    found = []
    for first, end in stretches_of(off).tolist():
        inside = np.abs(np.log(np.maximum(factor[first:end], ZERO)))
        farthest = first + int(np.argmax(inside))
        if end - first == 1 and np.exp(inside.max()) < BRIEF:
            continue
        before, now = float(curve.value[first - 1]), float(curve.value[first])
        rises = float(curve.value[farthest]) > OFF * before
        if plan.source == "configuration" or rises or now * LEAP < before:
            found.append(
                Departure(
                    _point(curve, first - 1),
                    _point(curve, first),
                    _point(curve, farthest),
                    _point(curve, end - 1),
                    float(factor[farthest]),
                    returned=end < len(curve),
                )
            )
    return tuple(found)


def _point(curve: Curve, at: int) -> Point:
    return Point(at, int(curve.step[at]), float(curve.value[at]))


def _fitted(run: Run, curve: Curve, share: float) -> Plan | None:
    """Return the simplest form that explains the first records; None where none does.

    The end of a decay is fitted too: planned steps are often not those of the scheduler.
    """
    count = max(FEWEST, round(share * len(curve)))
    stride = max(1, count // MOST_FITTED)
    step, value = curve.step[:count:stride].astype(np.float64), curve.value[:count:stride]
    usual = float(median(value))
    if usual > 0 and np.mean(np.abs(value / usual - 1) <= FITS) >= MOST:
        return Plan("constant", usual, int(step[0]), int(step[0]), 0.0, 0.0, SOURCES[share])
    if share < HALF:
        return None  # too little of a decay to tell its form
    top = int(np.argmax(value >= TOP * value.max()))
    peak, begin = float(value[top]), int(step[0])
    if peak <= 0 or top >= len(value) - 1 or not (np.diff(value[: top + 1]) > 0).all():
        return None  # still warming up, or nothing that begins with a warm-up
    start = round(_zero_before(step[: top + 1], value[: top + 1])) if top else begin
    base = Plan("constant", peak, start, int(step[top]), 0.0, 0.0, SOURCES[share])
    plans = _candidates(run, base, step[top:], value[top:] / peak)
    misses = [np.abs(plan.at(step[top:]) / peak - value[top:] / peak).max() for plan in plans]
    fits = [plan for plan, miss in zip(plans, misses, strict=True) if miss <= FITS]
    return fits[0] if fits else None


def _zero_before(step: FloatArray, value: FloatArray) -> float:
    """Return the step at which a line through the warm-up is zero, not after its first record."""
    slope = (value[-1] - value[0]) / max(step[-1] - step[0], 1.0)
    return float(min(step[0], step[-1] - value[-1] / slope)) if slope > 0 else float(step[0])


def _candidates(run: Run, base: Plan, step: FloatArray, level: FloatArray) -> list[Plan]:
    """Return forms that pass through the last record fitted; `level` is the rate over its peak."""
    last, gone = float(level[-1]), float(step[-1] - step[0])
    total = float(run.state.planned_steps or 0)
    found = [replace(base, total=total)]
    if not (0 < last < 1 and gone > 0):
        return found
    ends = {"linear": gone / (1 - last), "cosine": gone * np.pi / np.arccos(2 * last - 1)}
    for form in DECAYS:
        found.append(replace(base, form=form, total=float(step[0] + ends[form])))
        if total > step[-1]:
            whole = replace(base, form=form, total=total)
            share = float(whole.at(step[-1:])[0]) / base.peak
            found.append(replace(whole, floor=max((last - share) / (1 - share), 0.0)))
    return [*found, replace(base, form="exponential", total=total, rate=float(np.log(last) / gone))]
