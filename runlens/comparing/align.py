"""On which axis two runs are laid side by side, and their curves on that axis.

A step of one run is a step of the other only where both see as many samples in it. Curves are
compared where both have points: on the coarser of both grids, the finer one interpolated, nothing
extrapolated and no gap bridged.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from runlens.arrays import median
from runlens.comparison import Align
from runlens.errors import CannotAlign
from runlens.history import BoolArray, Curve, FloatArray, IntArray, distinct
from runlens.metrics import base
from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.run import RL_TASKS, Problem, Run
from runlens.wording import count, number, step

Unit = Literal["step", "epoch", "tokens", "samples", "time"]

MAIN = ("train_loss", "learning_rate", "grad_norm", "reward", "eval_loss")
SAME_TOKENS = 0.05  # tokens a step (steps an epoch) that differ by less are the same
SAME_PLACE = 1e-9  # of the axis: positions that differ by less are one
SHARED = 0.8  # of the coarser grid: from there on only the points of both are taken, none between
FEWEST_POINTS = 24  # eight blocks of three: below, the noise of a difference is not known
WIDEST_GAP = 5.0  # times the usual spacing: wider ones are not interpolated
_DATA = lazy_re(
    r"(?:train_|training_)?(?:dataset|data_path|data_files?|file)s?(?:_name|_path)?(?:\..+)?"
)


class Axis(NamedTuple):
    """The axis of a comparison; `unit` is what one of its steps counts."""

    kind: Align
    why: str
    problems: tuple[Problem, ...] = ()
    unit: Unit = "step"


class Common(NamedTuple):
    """One metric of two runs on common positions; all of shape (n,)."""

    at: FloatArray
    a: FloatArray
    b: FloatArray

    def since(self, index: int) -> "Common":
        """Return the part from an index on."""
        return Common(self.at[index:], self.a[index:], self.b[index:])


def choose(a: Run, b: Run, wanted: Align | None = None) -> Axis:
    """Return the axis on which two runs compare, why, and what is lost on it.

    By step where the effective batch (a device x accumulated x processes) and the tokens of a step
    are equal or not known; else by tokens (logged, or packed length x samples), by samples where
    only the batch is known; by epoch where only the steps of an epoch are known and the data are
    the same. Time only when asked for.

    Raises:
        CannotAlign: where one run does not know the axis that is wanted.

    """
    if wanted:
        unit = unit_of((a, b), wanted)
        if unit is None:
            lacking = next((r for r in (a, b) if unit_of((r,), wanted) is None), b)
            raise CannotAlign(wanted, lacking.name, _HOW_TO_KNOW[wanted])
        used = "asked for" if unit == wanted else f"asked for; {_BY_BATCH}"
        return Axis(wanted, used, _doubts(a, b, wanted), unit)
    kind, why = _sensible(a, b)
    return Axis(kind, why, _doubts(a, b, kind), unit_of((a, b), kind) or "step")


_BY_BATCH = "samples seen (step x effective batch), tokens are not logged by both"
_HOW_TO_KNOW: dict[Align, str] = {
    "step": "align by another axis",
    "tokens": "log num_tokens (include_num_input_tokens_seen), or record the batch size; "
    "or align by step",
    "epoch": "log the epoch; or align by step",
    "time": "read a source that has times (event files, W&B); or align by step",
}


def unit_of(runs: Sequence[Run], kind: Align) -> Unit | None:
    """Return the unit in which all of the runs know an axis; None where one does not."""
    if kind != "tokens":
        known = all(_anchors(run, kind) is not None for run in runs)
        return kind if known or kind == "step" else None
    if all(_anchors(run, "tokens") is not None for run in runs):
        return "tokens"
    return "samples" if batches(runs) else None


def batches(runs: Sequence[Run]) -> tuple[float, ...] | None:
    """Return the samples of an update of each run; None where one of them is not known.

    The total that the trainer itself names, where all runs name it; else a device x accumulated x
    processes. Processes that no run records are left out: equal, as far as is known. Beside runs of
    one process, a run that does not record it is taken to have one.
    """
    whole = [run.number("total_train_batch_size") for run in runs]
    if all(whole):
        return tuple(size or 0.0 for size in whole)
    sizes = [run.number("per_device_train_batch_size") for run in runs]
    processes = [run.number("num_processes") for run in runs]
    several = any((known or 1) > 1 for known in processes)
    if not all(sizes) or (several and not all(processes)):
        return None
    return tuple(
        (size or 0.0) * (run.number("gradient_accumulation_steps") or 1.0) * (ranks or 1.0)
        for run, size, ranks in zip(runs, sizes, processes, strict=True)
    )


def along(
    run: Run, metric: str, kind: Align, beside: Sequence[Run] = ()
) -> tuple[FloatArray, Curve]:
    """Return the positions of the finite points of a metric, shape (n,), ascending, and them.

    `beside` are the runs with which it shares the axis: tokens are logged tokens only where all of
    them log tokens, else samples.
    """
    return _placed(run, run.curve(metric).finite(), unit_of((run, *beside), kind))


def common(a: Run, b: Run, metric: str, kind: Align) -> Common | None:
    """Return a metric of both runs on common positions; None where no position is common.

    Where both logged mostly the same positions, exactly those; else the positions of the run with
    fewer in the overlap, the other one interpolated between neighbors. Finite points only.
    """
    at_a, of_a = along(a, metric, kind, (b,))
    at_b, of_b = along(b, metric, kind, (a,))
    if not len(at_a) or not len(at_b):
        return None
    in_a, in_b = same_places(at_a, at_b)
    low, high = max(at_a[0], at_b[0]), min(at_a[-1], at_b[-1])
    inside_a, inside_b = (at_a >= low) & (at_a <= high), (at_b >= low) & (at_b <= high)
    fewer = min(int(inside_a.sum()), int(inside_b.sum()))
    if len(in_a) and len(in_a) >= SHARED * fewer:
        return Common(at_a[in_a], of_a.value[in_a], of_b.value[in_b])
    if not fewer:
        return None
    if inside_a.sum() <= inside_b.sum():
        grid = at_a[inside_a]
        kept, value = _between(grid, at_b, of_b.value)
        made = Common(grid[kept], of_a.value[inside_a][kept], value)
    else:
        grid = at_b[inside_b]
        kept, value = _between(grid, at_a, of_a.value)
        made = Common(grid[kept], value, of_b.value[inside_b][kept])
    return made if len(made.at) else None


def shared(a: Run, b: Run, metric: str, kind: Align) -> Common:
    """Return the points that both logged at the same positions, NaN and infinities with them."""
    at_a, of_a = _placed(a, a.curve(metric), unit_of((a, b), kind))
    at_b, of_b = _placed(b, b.curve(metric), unit_of((a, b), kind))
    in_a, in_b = same_places(at_a, at_b)
    return Common(at_a[in_a], of_a.value[in_a], of_b.value[in_b])


def at_steps(run: Run, steps: IntArray, unit: Unit | None) -> FloatArray:
    """Return where steps lie on the axis, shape (n,); all NaN where the run does not know it."""
    if unit == "step":
        return steps.astype(np.float64)
    if unit == "samples":
        sizes = batches((run,))
        return steps.astype(np.float64) * (sizes[0] if sizes else np.nan)
    anchors = _anchors(run, unit) if unit else None
    if anchors is None:
        return np.full(len(steps), np.nan)
    known, places = anchors
    rate = (places[-1] - places[0]) / (known[-1] - known[0])
    past = np.maximum(steps - known[-1], 0) + np.minimum(steps - known[0], 0)
    return np.asarray(np.interp(steps, known, places) + rate * past, dtype=np.float64)


def _placed(run: Run, curve: Curve, unit: Unit | None) -> tuple[FloatArray, Curve]:
    at = at_steps(run, curve.step, unit)
    if len(at) and np.isnan(at[0]):
        return at[:0], curve.at(slice(0, 0))
    if len(at) > 1 and not (at[1:] > at[:-1]).all():
        last = np.append(at[1:] > np.maximum.accumulate(at)[:-1], True)  # of several at one place
        at, curve = np.maximum.accumulate(at)[last], curve.at(last)
    return at, curve


def _anchors(run: Run, unit: Unit | Align) -> tuple[FloatArray, FloatArray] | None:
    """Return (steps, positions) at which a run says where it is; None below two of them."""
    if unit == "step":
        return np.array([0.0, 1.0]), np.array([0.0, 1.0])
    if unit == "tokens":
        curve = run.curve("tokens").finite()
        steps, at = curve.step.astype(np.float64), curve.value
        if len(at) and steps[0] > 0 and at[0] > 0:
            steps, at = np.insert(steps, 0, 0.0), np.insert(at, 0, 0.0)
    elif unit in {"epoch", "time"}:
        steps, at = _longest(run, "epoch" if unit == "epoch" else "time")
        if unit == "time" and len(at):
            at = _without_pauses(run, steps, at - at[0])
    else:
        return None
    rises = np.ones(len(at), dtype=np.bool_)  # the first step of each place: epochs are rounded
    rises[1:] = at[1:] > np.maximum.accumulate(at)[:-1]
    steps, at = steps[rises], at[rises]
    return (steps, at) if len(at) > 1 else None


def _longest(run: Run, column: Literal["epoch", "time"]) -> tuple[FloatArray, FloatArray]:
    best = np.empty(0), np.empty(0)
    for name in MAIN:
        curve = run.curve(name)
        if len(curve) > len(best[0]):
            values = curve.epoch if column == "epoch" else curve.time
            known = np.isfinite(values)
            if known.sum() > len(best[0]):
                best = curve.step[known].astype(np.float64), values[known]
    return best


def _without_pauses(run: Run, steps: FloatArray, at: FloatArray) -> FloatArray:
    """Take the time between two launches out: nothing was trained in it."""
    spent = np.diff(at, prepend=at[0])
    usual = float(median(spent[1:])) if len(spent) > 1 else 0.0
    starts = np.searchsorted(steps, [one.first_step for one in run.segments[1:]])
    starts = starts[(starts > 0) & (starts < len(spent))]
    spent[starts] = np.minimum(spent[starts], usual)
    return np.cumsum(spent)


def same_places(at_a: FloatArray, at_b: FloatArray) -> tuple[IntArray, IntArray]:
    """Return the indices into both, ascending, of the positions that both have."""
    if np.array_equal(at_a, at_b):
        return np.arange(len(at_a)), np.arange(len(at_b))
    if not len(at_a) or not len(at_b):
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    slack = SAME_PLACE * max(abs(at_a[-1]), abs(at_b[-1]))
    found = np.minimum(np.searchsorted(at_b, at_a - slack), len(at_b) - 1)
    hit = np.abs(at_b[found] - at_a) <= slack
    return np.flatnonzero(hit), found[hit]


def _between(grid: FloatArray, at: FloatArray, value: FloatArray) -> tuple[BoolArray, FloatArray]:
    """Return which of the grid's points lie in no gap of a curve, and its values there."""
    right = np.clip(np.searchsorted(at, grid), 1, max(len(at) - 1, 1))
    if len(at) == 1:
        return grid == at[0], value[: int((grid == at[0]).sum())]
    width = at[right] - at[right - 1]
    spacing = max(float(median(np.diff(at))), float(median(np.diff(grid))) if len(grid) > 1 else 0)
    on_point = (at[right] == grid) | (at[right - 1] == grid)
    kept = (width <= WIDEST_GAP * spacing) | on_point
    return kept, np.interp(grid[kept], at, value)


def _sensible(a: Run, b: Run) -> tuple[Align, str]:
    samples, tokens = batches((a, b)), _tokens_a_step(a, b)
    of_batch = f"{number(samples[0])} and {number(samples[1])} samples" if samples else ""
    if samples and samples[0] != samples[1]:
        axis = "tokens seen" if unit_of((a, b), "tokens") == "tokens" else "samples seen"
        return "tokens", f"an update has {of_batch}: compared at equal {axis}"
    if tokens and abs(tokens[1] / tokens[0] - 1) > SAME_TOKENS:
        words = f"{number(tokens[0])} and {number(tokens[1])} tokens"
        return "tokens", f"a step has {words}: compared at equal tokens seen"
    if samples:
        return "step", f"an update has {count(round(samples[0]), 'sample')} in both"
    if tokens:
        return "step", f"a step has {number(tokens[0])} tokens in both"
    return _by_epoch(a, b)


def _by_epoch(a: Run, b: Run) -> tuple[Align, str]:
    per = [_per_step(_anchors(run, "epoch")) for run in (a, b)]
    unknown = "the effective batch is not known of both"
    if not (per[0] and per[1]) or abs(per[1] / per[0] - 1) <= SAME_TOKENS:
        return "step", unknown
    words = f"an epoch has {step(round(1 / per[0]))} and {step(round(1 / per[1]))} steps"
    if _same_data(a, b):
        return "epoch", f"{words} of the same data: compared at equal epochs"
    return "step", f"{unknown}; {words}, of data that are not known to be the same"


def _tokens_a_step(a: Run, b: Run) -> tuple[float, float] | None:
    if {a.task, b.task} & RL_TASKS:
        return None  # they count what the policy wrote: a result, not a setting
    first, second = (_per_step(_anchors(run, "tokens")) for run in (a, b))
    return (first, second) if first and second else None


def _per_step(anchors: tuple[FloatArray, FloatArray] | None) -> float | None:
    if anchors is None:
        return None
    steps, at = anchors
    return float((at[-1] - at[0]) / (steps[-1] - steps[0])) or None


def _same_data(a: Run, b: Run) -> bool:
    named = [key for key in a.config if _DATA.fullmatch(key) and key in b.config]
    return bool(named) and all(a.setting(key) == b.setting(key) for key in named)


def _doubts(a: Run, b: Run, kind: Align) -> tuple[Problem, ...]:
    """Say what of both runs cannot be compared: NaN, few points, no overlap, nothing common."""
    judged = {name for name in MAIN if name != "learning_rate"}
    made = [
        problem
        for run in (a, b)
        for metric in run.history.metrics
        if base(metric) in judged
        for problem in _lost(run, metric)
    ]
    in_both = [name for name in a.history.metrics if len(b.curve(name)) and base(name) in judged]
    pair = f"{a.name}, {b.name}"
    if not in_both:
        logged = " and ".join(
            ", ".join(n for n in r.history.metrics if base(n) in judged) or "none" for r in (a, b)
        )
        made.append(Problem(pair, f"no loss and no reward that both logged ({logged})"))
    for metric in in_both:
        points = common(a, b, metric, kind)
        if points is None:
            made.append(Problem(pair, f"{metric}: no {kind} at which both have values"))
        elif base(metric) != "eval_loss" and len(points.at) < FEWEST_POINTS:
            few = count(len(points.at), "common point")
            made.append(
                Problem(pair, f"{metric}: {few}, too few to know the noise ({FEWEST_POINTS})")
            )
    return tuple(made)


def _lost(run: Run, metric: str) -> list[Problem]:
    curve = run.curve(metric)
    bad = ~np.isfinite(curve.value)
    if not bad.any():
        return []
    broken = distinct(curve.step[bad])
    first, last = step(int(broken[0])), step(int(broken[-1]))
    whole = bad[int(np.argmax(bad)) :].all()
    span = f"from step {first} on" if whole else f"between steps {first} and {last}"
    lost = f"{int(bad.sum()):,} of {count(len(bad), 'point')}"
    return [Problem(run.name, f"{metric} is no number {span}: not compared there", lost)]
