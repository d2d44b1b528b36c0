"""Where the metrics of two runs part: the first different value, and from where it is clear.

The order over metrics names the class of the cause: a learning rate that parts before the
gradient norm before the loss is a schedule, a loss that parts alone is data or the model.
"""

from typing import Literal

import numpy as np

from runlens.comparing.align import Common, along, at_steps, common, same_places, shared, unit_of
from runlens.comparing.difference import Blocks, blocks, is_evaluation
from runlens.comparison import Align, Parting
from runlens.history import BoolArray, FloatArray, distinct
from runlens.metrics import NAMES, base
from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.run import Run
from runlens.signals.noise import counts
from runlens.wording import count, number, percent

IN_A_ROW = 3  # blocks beyond the noise
BEYOND = 3.0  # times the noise of one block
STAY = 0.80  # share of the blocks from there on that lie beyond it too
NEAR = 2.0  # times the noise: the last point so near before is where they part
FLOAT32 = 6e-8  # half a unit in the last place
FLOAT64 = 1e-12
MOST_DIGITS = 6  # a value that needs no more was rounded by whoever wrote it
FEWEST_DIGITS = 3
SAMPLED = 1_000  # points by which the rounding of a curve is told
FEWEST_AGREEING = 20  # different values in one order: no two trainings write the same
FEWEST_VALUES = 5  # different ones, from which their rounding can be told
EPOCH = 0.0101  # logs round epochs to two digits
OF_EPOCH = 0.01
# metrics by what causes what: each parts after those before it, where one is the cause of another
ORDER = (
    "learning_rate", "tokens", "epoch", "loss_scale", "grad_norm", "clip_share", "train_loss",
    "reward",
)  # fmt: skip
ORDER_OTHER, ORDER_EVAL, ORDER_CLOCK = 20, 30, 40
_CLOCK = lazy_re(
    r"throughput|step_time|mfu|gpu_|host_mem|heartbeat|^system[/.]|^_?runtime|_runtime|^_?timestamp"
    r"|per_sec|_per_s$|tok(?:ens)?_?/?s(?:ec)?$|(?:^|[/_.])(?:time|timing|times|timers?|duration|eta"
    r"|elapsed|wall|clock|latency|speed|fps|memory|mem|vram|utili[sz]ation|flops|tflops)(?:[/_.]|$)"
    r"|_time$|^time_|^timing|^perf/|_ms$|seconds"
)


class Sameness(NamedTuple):
    """Whether two runs logged the same; clocks, speeds and memory are left out."""

    equal: bool
    values: int  # compared
    metrics: int


def is_clock(metric: str) -> bool:
    """Whether a metric is a time, a speed or a use of the machine: never twice the same."""
    return bool(_CLOCK.search(metric.lower()))


def same_values(a: Run, b: Run) -> Sameness:
    """Return whether all metrics that both logged have the same values at the same steps.

    As far as the coarser writing of the two tells (see `differing`). NaN is equal to NaN. Not
    equal where nothing but clocks is common, or where one of them logged further steps.
    """
    equal, values, metrics = True, 0, 0
    for metric in sorted(set(a.history.metrics) & set(b.history.metrics)):
        if is_clock(metric):
            continue
        both = shared(a, b, metric, "step")
        most = max(len(distinct(run.curve(metric).step)) for run in (a, b))
        equal &= len(both.at) == most and not differing(both).any()
        values, metrics = values + len(both.at), metrics + bool(len(both.at))
    if not equal and (written := _one_sequence(a, b)):
        return written
    one_alone = set(a.history.metrics) ^ set(b.history.metrics)
    trained = {"train_loss", "eval_loss", "reward"}
    return Sameness(equal and bool(values) and not one_alone & trained, values, metrics)


def _one_sequence(a: Run, b: Run) -> Sameness | None:
    """Return the sameness of runs whose values agree one by one, though not their steps.

    One of them may have logged an epoch in place of a step. None where a metric differs, or where
    too few different values agree to be no chance.
    """
    values, metrics, different = 0, 0, 0
    for metric in sorted(set(a.history.metrics) & set(b.history.metrics)):
        if is_clock(metric):
            continue
        one, two = a.curve(metric).value, b.curve(metric).value
        if len(one) != len(two) or not np.array_equal(one, two, equal_nan=True):
            return None
        values, metrics, different = values + len(one), metrics + 1, different + len(np.unique(one))
    return Sameness(True, values, metrics) if different >= FEWEST_AGREEING else None


def partings(a: Run, b: Run, kind: Align) -> tuple[Parting, ...]:
    """Return where each metric of both runs parts, in the order in which they part.

    Different values are looked for at equal steps, whatever the axis; what is clear, on the axis.
    In the order of A's steps, then of what causes what. Clocks and speeds come last, and only
    where the difference is clear: they are never twice the same.
    """
    names = sorted(set(a.history.metrics) & set(b.history.metrics))
    known = [
        name
        for name in names
        if base(name) in NAMES or (is_evaluation(name) and not is_clock(name))
    ]
    found = [part for name in known if (part := _parting(a, b, name, kind)) is not None]
    found += [part for part in [_of_epochs(a, b, kind)] if part is not None]
    return tuple(part for _, part in sorted(found, key=_when))


def differing(both: Common) -> BoolArray:
    """Return at which points the values differ by more than rounding, shape (n,).

    A value that needs at most six digits was rounded when it was written: half a unit of its last
    digit is its error. Others are float32 or float64. Counts are exact.
    """
    with np.errstate(invalid="ignore"):
        far = np.abs(both.a - both.b)
        different = far > np.maximum(np.abs(both.a), np.abs(both.b)) * FLOAT64
        units = _unit(both.a), _unit(both.b)
        if units[0] != units[1] and not (_whole(both.a) and _whole(both.b)):
            for value, unit in zip((both.a, both.b), units, strict=True):
                asked = np.flatnonzero(different)
                different[asked] = far[asked] > _error(value[asked], unit) * (1 + 1e-6)
    finite = np.isfinite(both.a) & np.isfinite(both.b)
    same = (both.a == both.b) | (np.isnan(both.a) & np.isnan(both.b))
    return np.where(finite, different, ~same)


def first_clear(both: Common, made: Blocks) -> float | None:
    """Return the position from which B is beyond noise to the end; None where it never is.

    Only where the end is clear. The first of three blocks in a row beyond three times the noise
    (and 1 %) on the side of the end, with 80 % of the blocks after it; refined to the point after
    the last one within two times the noise in the block before.
    """
    if made.noise is None or not made.end:
        return None
    sign = np.sign(made.end)
    limit = max(BEYOND * made.noise, made.least)
    beyond = sign * made.value > limit
    many = len(beyond)
    if many < IN_A_ROW or not made.clear or abs(made.end) <= limit:
        return None
    row = counts(beyond, IN_A_ROW) == IN_A_ROW
    rest = np.cumsum(beyond[::-1])[::-1] / np.arange(many, 0, -1)
    starts = np.flatnonzero(row & (rest[: len(row)] >= STAY))
    if not len(starts):
        return None
    block = int(starts[0])
    start = int(made.first[block])
    if not block:
        return float(both.at[0])
    before = int(made.first[block - 1])
    near = np.flatnonzero(sign * made.points[before:start] <= NEAR * made.noise)
    return float(both.at[before + int(near[-1]) + 1 if len(near) else before])


def _parting(a: Run, b: Run, metric: str, kind: Align) -> tuple[float, Parting] | None:
    """Return (step of A, parting) of a metric; None where it does not part."""
    exact = shared(a, b, metric, "step")
    different = differing(exact)
    first = int(np.argmax(different)) if different.any() else None
    clear, side, beyond = None, 0.0, ""
    both = common(a, b, metric, kind)
    if both is not None and (first is not None or not len(exact.at)):
        made = blocks(both, metric)
        clear = first_clear(both, made)
        side = made.end if clear is not None else 0.0
        beyond = _beyond(made)
    if is_clock(metric):
        first = None
    place = _step_at(a, b, metric, kind, clear) if first is None else float(exact.at[first])
    if place is None:
        return None
    if not side:
        side = _side(exact, different)
    how = [] if first is None else [_how(exact, first)]
    how += [] if clear is None else [beyond]
    return place, Parting(
        metric=metric,
        step=None if first is None else place,
        epoch=_epoch_at(a, place),
        clear=clear,
        side="higher" if side > 0 else "lower" if side < 0 else "",
        how="; ".join(how),
    )


def _side(exact: Common, different: BoolArray) -> float:
    """Return on which side B lies in at least 80 % of the different points; 0.0 for neither."""
    signs = np.sign(exact.b - exact.a)[different]
    signs = signs[np.isfinite(signs)]
    share = float(signs.mean()) if len(signs) else 0.0
    return share if abs(share) >= 2 * STAY - 1 else 0.0


def _how(exact: Common, first: int) -> str:
    if not (np.isfinite(exact.a[first]) and np.isfinite(exact.b[first])):
        which = "B" if np.isfinite(exact.a[first]) else "A"
        return f"{which} is no number there"
    if not first:
        return "different from the first point"
    return f"equal in {count(first, 'point')} before"


def _beyond(made: Blocks) -> str:
    limit = max(BEYOND * (made.noise or 0.0), made.least)
    words = percent(limit) if made.relative else number(limit, 2)
    return f"beyond {words} to the end"


def _of_epochs(a: Run, b: Run, kind: Align) -> tuple[float, Parting] | None:
    """Return where two runs are at different epochs at one step: other data, or another batch."""
    metric = next((n for n in ("train_loss", "learning_rate", "reward") if len(a.curve(n))), "")
    at_a, of_a = along(a, metric, "step")
    at_b, of_b = along(b, metric, "step")
    if not len(at_a) or not len(at_b):
        return None
    in_a, in_b = same_places(at_a, at_b)
    epoch_a, epoch_b = of_a.epoch[in_a], of_b.epoch[in_b]
    far = np.abs(epoch_a - epoch_b) > np.maximum(EPOCH, OF_EPOCH * np.abs(epoch_a))
    if not far.any():
        return None
    first = int(np.argmax(far))
    ahead = bool(epoch_b[first] > epoch_a[first])
    words = f"B is at epoch {number(epoch_b[first])}, A at {number(epoch_a[first])}"
    place = float(at_a[in_a[first]])
    stays = place if kind == "step" and far[first:].mean() >= STAY else None
    side: Literal["higher", "lower"] = "higher" if ahead else "lower"
    return place, Parting("epoch", place, _epoch_at(a, place), stays, side, words)


def _step_at(a: Run, b: Run, metric: str, kind: Align, place: float | None) -> float | None:
    """Return the logged step of A at a place on the axis, or the first one after it."""
    if place is None:
        return None
    at, curve = along(a, metric, kind, (b,))
    return float(curve.step[min(int(np.searchsorted(at, place)), len(at) - 1)])


def _epoch_at(a: Run, place: float) -> float | None:
    """Return the epoch of A at a step; None where it is not known."""
    epoch = at_steps(a, np.array([place], dtype=np.int64), unit_of((a,), "epoch"))
    return round(float(epoch[0]), 4) if np.isfinite(epoch[0]) else None


def _when(placed: tuple[float, Parting]) -> tuple[bool, float, int, str]:
    place, parting = placed
    order = _order(parting.metric)
    return order == ORDER_CLOCK, place, order, parting.metric


def _order(metric: str) -> int:
    if is_clock(metric):
        return ORDER_CLOCK
    if is_evaluation(metric):
        return ORDER_EVAL
    return ORDER.index(base(metric)) if base(metric) in ORDER else ORDER_OTHER


def _whole(value: FloatArray) -> bool:
    finite = value[np.isfinite(value)]
    return bool((finite == np.round(finite)).all())


class _Unit(NamedTuple):
    """How values were rounded: significant digits and decimals; None for floating point."""

    digits: int | None
    decimals: int
    error: float  # relative, of values that were not rounded


def _unit(value: FloatArray) -> _Unit:
    """Return how a curve was rounded, by at most 1,000 of its points."""
    value = value[:: max(1, len(value) // SAMPLED)]
    finite = value[np.isfinite(value) & (value != 0)]
    digits, decimals, rounded = _digits(finite)
    exact = finite[~rounded]
    error = FLOAT32 if (exact == exact.astype(np.float32)).all() else FLOAT64
    if len(np.unique(finite[rounded])) < FEWEST_VALUES:
        return _Unit(None, 0, error)  # of constants and short curves nothing can be told
    most = max(FEWEST_DIGITS, int(digits[rounded].max()))
    return _Unit(most, int(decimals[rounded].max()), error)


def _digits(value: FloatArray) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Return (significant digits, decimals, whether at most six were needed) of each value."""
    size = np.floor(np.log10(np.abs(value)))
    digits = np.full(len(value), MOST_DIGITS + 1.0)
    for wanted in range(MOST_DIGITS, 0, -1):
        scale = 10.0 ** (wanted - 1 - size)
        digits[np.abs(np.round(value * scale) - value * scale) < 1e-9 * 10.0**wanted] = wanted
    return digits, digits - 1 - size, digits <= MOST_DIGITS


def _error(value: FloatArray, unit: _Unit) -> FloatArray:
    """Return the error of each value by its rounding, shape (n,)."""
    if unit.digits is None:
        return np.abs(value) * unit.error
    safe = np.where(np.isfinite(value) & (value != 0), value, 1.0)
    _, _, rounded = _digits(safe)
    by_digits = 0.5 * 10.0 ** (np.floor(np.log10(np.abs(safe))) + 1 - unit.digits)
    written = np.maximum(by_digits, 0.5 * 10.0 ** -float(unit.decimals))
    return np.where(rounded | (value == 0), written, np.abs(value) * unit.error)
