"""What two runs cost: speed, time and the step of the best evaluation; shown and never judged.

How fast a machine is says nothing of which training is better, and no repeat with another seed
tells how far two machines lie apart.
"""

from collections.abc import Iterator

import numpy as np

from runlens.arrays import median
from runlens.comparing.align import along
from runlens.comparing.direction import better
from runlens.comparison import Measure
from runlens.run import Run

SPEEDS = ("throughput_tokens", "throughput_samples", "throughput_steps")


def of(a: Run, b: Run) -> Iterator[Measure]:
    """Yield the median speed, logged or by the times of the points, the duration, the best step."""
    yield from _speed(a, b)
    spent = [along(run, _longest(run), "time")[0] for run in (a, b)]
    if all(len(at) > 1 for at in spent):
        ends = float(spent[0][-1]), float(spent[1][-1])
        yield _plain("duration", "Seconds from the first point to the last", ends)
    best = _best_step(a), _best_step(b)
    if None not in best:
        yield _plain("step", "Step of the best eval loss", best)


def _speed(a: Run, b: Run) -> Iterator[Measure]:
    for metric in SPEEDS:
        logged = [run.curve(metric).finite().value for run in (a, b)]
        if all(len(value) for value in logged):
            medians = float(median(logged[0])), float(median(logged[1]))
            what = f"Median {metric.removeprefix('throughput_')} per second"
            yield _plain(metric, what, medians)
            return
    speeds = _by_times(a), _by_times(b)
    if all(speeds):
        yield _plain("throughput_steps", "Median steps per second", speeds)


def _by_times(run: Run) -> float | None:
    curve = run.curve(_longest(run))
    curve = curve.at(np.isfinite(curve.time))
    spent, done = np.diff(curve.time), np.diff(curve.step)
    usable = (spent > 0) & (done > 0)
    return float(median(done[usable] / spent[usable])) if usable.any() else None


def _best_step(run: Run) -> float | None:
    curve = run.curve("eval_loss").finite()
    return float(curve.step[int(np.argmin(curve.value))]) if len(curve) else None


def _longest(run: Run) -> str:
    return "train_loss" if len(run.curve("train_loss")) else "reward"


def _plain(metric: str, what: str, values: tuple[float | None, float | None]) -> Measure:
    """Return a row that is shown and not judged."""
    a, b = values
    difference = None if a is None or b is None else b - a
    return Measure(metric, what, a, b, difference, better=better(metric))
