"""The difference of two runs along their axis, and what of it is noise.

One curve minus the other first, medians of blocks second: the blocks carry the autocorrelation,
and noise that both share by equal batches cancels. Comparing two smoothed curves instead calls
10 % of equal pairs different (benchmarks/compare_power.py has the figures of this form).
"""

from itertools import pairwise

import numpy as np

from runlens.arrays import median
from runlens.comparing.align import Common, common
from runlens.comparing.belief import Spread, believe
from runlens.comparing.direction import better
from runlens.comparing.seeds import SeedNoise
from runlens.comparison import Align, Difference
from runlens.history import FloatArray, IntArray
from runlens.metrics import NAMES, base
from runlens.records import NamedTuple
from runlens.run import Run
from runlens.signals.noise import mad, running_median

BLOCKS = 40
MOST_EVALS = 1_000  # each of them is a block
SMALLEST_BLOCK = 3  # points of a training curve; an evaluation is a block of its own
FEWEST_BLOCKS = 8  # from there on the scatter of the blocks tells the noise
FEWEST_EVALS = 5  # from there on a sign that never changes tells something
END = 0.10  # share of the blocks that are the end
FEWEST_AT_END = 2
FEWEST_FOR_LINE = 6
WITHIN = 5.0  # times the noise within the runs is clear: below 1 % of equal pairs are beyond it
LEAST = 0.01  # a difference below 1 % is none, however small the noise
WANDER = 1.15  # makes the scatter about a running median of 9 as large as that of white noise


class Blocks(NamedTuple):
    """Medians of the difference B - A over equal blocks; arrays of shape (k,).

    In logarithms where `relative`: 0.05 is 5 % of the level. `noise` is the standard deviation of
    one block, None where there are too few to know it. The end is the last `at_end` blocks.
    """

    value: FloatArray
    first: IntArray  # index of the first point of each
    points: FloatArray  # the difference at each point, shape (n,)
    noise: float | None
    at_end: int
    relative: bool
    level: float  # in the unit of the metric, at the end

    @property
    def end(self) -> float:
        """The difference at the end: the median of its blocks."""
        return float(median(self.value[-self.at_end :]))

    @property
    def least(self) -> float:
        """What 1 % is, in the unit of `value`."""
        return LEAST if self.relative else LEAST * self.level

    @property
    def noise_at_end(self) -> float | None:
        """The standard deviation of the end."""
        return None if self.noise is None else float(self.noise / self.at_end**0.5)

    @property
    def clear(self) -> bool:
        """Whether the end differs by more than five times its noise, and by more than 1 %."""
        if self.noise_at_end is None:
            return False
        return abs(self.end) > max(WITHIN * self.noise_at_end, self.least)

    @property
    def stretch(self) -> float:
        """How much longer the difference at the end is in the unit than its logarithm says."""
        if not self.relative or not self.end:
            return 1.0
        return float(abs(np.expm1(self.end) / self.end))

    def in_unit(self, value: float) -> float:
        """Return a difference, or its noise, in the unit of the metric."""
        return value * self.level if self.relative else value


def is_evaluation(metric: str) -> bool:
    """Whether a metric is measured now and then on held-out data."""
    return metric.startswith("eval_")


def blocks(both: Common, metric: str) -> Blocks:
    """Return the difference B - A of a metric in at most 40 equal blocks, and its noise.

    An evaluation is a block of its own, and the last one is the end. The noise is that of the part
    in which the runs differ: equal values say nothing about it.
    """
    relative = is_relative(metric, both)
    difference = np.log(both.b / both.a) if relative else both.b - both.a
    value, first = _medians(difference, _many(len(difference), metric))
    at_end = min(len(first), max(FEWEST_AT_END, round(END * len(first))))
    at_end = 1 if is_evaluation(metric) else at_end
    tail = int(first[-at_end])
    ends = np.abs([median(both.a[tail:]), median(both.b[tail:])])
    level = float(ends[0] if relative else ends.max())
    noise = _noise(difference, len(first), metric)
    return Blocks(value, first, difference, noise, at_end, relative, level)


def is_relative(metric: str, both: Common) -> bool:
    """Whether differences are ratios: of positive losses, norms and speeds, not of rewards."""
    unit = known.unit if (known := NAMES.get(base(metric))) else ""
    score = better(metric) == "higher" and not unit.endswith("/s")
    return not score and bool(both.a.min() > 0 and both.b.min() > 0)


def drawn(
    a: Run, b: Run, metric: str, kind: Align, seed_noise: SeedNoise | None = None
) -> Difference | None:
    """Return the difference along the axis as a page draws it; None where nothing is common.

    `low` and `high` are two times the noise between seeds, else the limit of one block within the
    runs (at least 1 %); both 0 where no noise is known.
    """
    both = common(a, b, metric, kind)
    if both is None:
        return None
    made = blocks(both, metric)
    spans = list(pairwise([*made.first.tolist(), len(both.at)]))
    value = [float(median(both.b[i:j] - both.a[i:j])) for i, j in spans]
    middle = [float(median(both.at[i:j])) for i, j in spans]
    width = 0.0
    if seed_noise is not None and (band := _between_seeds(seed_noise, metric)):
        width = band
    elif made.noise is not None:
        width = made.in_unit(max(WITHIN * made.noise, made.least))
    return Difference(tuple(middle), tuple(value), -width, width)


def _between_seeds(seed_noise: SeedNoise, metric: str) -> float:
    """Return half the width within which repeats lie, one against one; 0.0 where not known."""
    believed = believe(0.0, seed_noise.spread(metric, "last", Spread(0.0, 1.0)))
    return believed.limit * believed.noise if believed else 0.0


def _many(count: int, metric: str) -> int:
    if is_evaluation(metric):
        return min(count, MOST_EVALS)
    return max(1, min(BLOCKS, count // SMALLEST_BLOCK))


def _medians(value: FloatArray, many: int) -> tuple[FloatArray, IntArray]:
    """Return (medians of equal blocks, index of the first point of each)."""
    edges = np.linspace(0, len(value), many + 1).astype(np.int64)
    return np.array([median(value[i:j]) for i, j in pairwise(edges)]), edges[:-1]


def _noise(difference: FloatArray, many: int, metric: str) -> float | None:
    """Return the standard deviation of one of `many` blocks; None where it cannot be known.

    Of five to seven evaluations it is known where the last five lie on one side: from their second
    differences and their scatter about a line, whichever is larger.
    """
    part = difference[int(np.argmax(difference != 0)) if difference.any() else 0 :]
    most = _many(len(part), metric)
    wanted = min(most, max(1, round(len(part) / len(difference) * many)))
    if wanted < FEWEST_BLOCKS:
        wanted = most  # smaller blocks: their noise is no smaller
    value, _ = _medians(part, wanted)
    if len(value) >= FEWEST_BLOCKS:
        return max(_scatter(value), _about_line(value[-max(FEWEST_FOR_LINE, len(value) // 4) :]))
    value = _one_sign(value)
    if is_evaluation(metric) and len(value) >= FEWEST_EVALS:
        return max(_about_line(value), float(np.sqrt(np.mean(np.diff(value, 2) ** 2) / 6)))
    return None


def _scatter(value: FloatArray) -> float:
    about = value - running_median(value, 9)
    return max(mad(np.diff(value)) / 2**0.5, WANDER * mad(about))


def _about_line(value: FloatArray) -> float:
    """Return the scatter about a straight line.

    At the end of the curves it is larger where runs that were one drifted apart, and where slow
    wandering might look like a difference.
    """
    at = np.arange(len(value)) - (len(value) - 1) / 2
    about = value - value.mean() - at * (value @ at) / (at @ at)
    return float(np.sqrt(about @ about / (len(value) - 2)))


def _one_sign(value: FloatArray) -> FloatArray:
    """Return the last blocks, as far back as their sign is that of the last one."""
    other = np.flatnonzero(np.sign(value) != np.sign(value[-1]))
    return value[int(other[-1]) + 1 :] if len(other) else value
