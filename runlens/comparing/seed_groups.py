"""Groups of repeats against groups: what each run reached, paired by equal seeds where there are.

The difference of two groups is that of their means. Where both have three seeds in common or more,
the runs of one seed are pairs, and the deviation is that of their differences: what the seed does
to both runs alike cancels. Else it is the pooled deviation within the groups.
"""

import math
from collections.abc import Sequence

import numpy as np

from runlens.comparing.belief import ALONE, COVER, POWER, Belief, Spread, believe
from runlens.comparing.canonical import Settings, typed
from runlens.comparing.groups import group
from runlens.comparing.seeds import Kind, reached
from runlens.comparing.spread import measured
from runlens.history import FloatArray
from runlens.records import NamedTuple
from runlens.run import Run
from runlens.signals.student import student_limit
from runlens.wording import count, number

SINGLE = 2  # runs on both sides together
FEWEST_PAIRS = 3
QUARTER = 0.25  # of the runs, left out on either side by an interquartile mean
FEWEST_FOR_IQM = 4
NORMAL = 1.96  # quantile of 95 %, two-sided


class SeedGroups(NamedTuple):
    """The runs of both sides, equal within a side but for their seed."""

    a: Sequence[Run]
    b: Sequence[Run]


class Levels(NamedTuple):
    """What the runs of both sides reached in one metric; arrays of shape (n,) and (m,)."""

    a: FloatArray
    b: FloatArray
    paired: bool  # a[i] and b[i] have one seed; then n is m
    lost: int  # runs that ended in no number, or did not log it

    @property
    def difference(self) -> float:
        """The difference of the means, B - A."""
        return float(self.b.mean() - self.a.mean())


def representatives(sides: Sequence[Sequence[Run]]) -> list[Run]:
    """Return one run of each side: of the seed that the baseline's first one has, else the first.

    Their settings and curves stand for the others', which differ from them in the seed alone.
    """
    first = sides[0][0]
    seed = seed_of(first)
    others = [
        next((run for run in side if seed is not None and seed_of(run) == seed), side[0])
        for side in sides[1:]
    ]
    return [first, *others]


def of_sides(sides: Sequence[Sequence[Run]]) -> list[SeedGroups | None]:
    """Return each side beside the first; None where both are single runs."""
    return [
        SeedGroups(sides[0], side) if len(sides[0]) + len(side) > SINGLE else None
        for side in sides[1:]
    ]


def levels(groups: SeedGroups, metric: str, kind: Kind) -> Levels | None:
    """Return what both groups reached; None where one of them has no number."""
    known = [
        {i: v for i, run in enumerate(side) if (v := _level(run, metric, kind)) is not None}
        for side in groups
    ]
    if not known[0] or not known[1]:
        return None
    lost = sum(len(side) for side in groups) - sum(len(one) for one in known)
    seeds = [{seed_of(groups[side][i]): i for i in known[side]} for side in (0, 1)]
    shared = [seed for seed in seeds[0] if seed is not None and seed in seeds[1]]
    if len(shared) >= max(FEWEST_PAIRS, min(len(one) for one in known)):
        a, b = (np.array([known[side][seeds[side][seed]] for seed in shared]) for side in (0, 1))
        return Levels(a, b, True, lost)
    a, b = (np.array(list(one.values())) for one in known)
    return Levels(a, b, False, lost)


def _level(run: Run, metric: str, kind: Kind) -> float | None:
    return getattr(reached(run, metric), kind)  # type: ignore[no-any-return]


def seed_of(run: Run) -> str | None:
    """Return the seeds that a run records, as one text; None where it records none."""
    known = Settings(run).known
    said = [f"{key}={typed(known[key].value)}" for key in sorted(known) if group(key) == "seed"]
    return ", ".join(said) or None


def believed(
    found: Levels, before: Spread, *, equal: float, delta: float | None
) -> tuple[Belief | None, Spread]:
    """Return what to believe of two groups, and the spread of one run.

    Paired, the interval and the answer are those of the differences; the probability of a fresh
    repeat and `delta` stay those of single runs. Three or four pairs need the prior, while as many
    runs in two groups speak alone: then whichever says more, with half the error for two looks.
    """
    spread = measured([found.a, found.b], before)
    share = math.sqrt(1 / len(found.a) + 1 / len(found.b))
    single = believe(found.difference, spread, share=share, equal=equal, delta=delta)
    if not found.paired or single is None:
        return single, spread
    of_pairs = measured([found.b - found.a], before.times(2**0.5))
    share = 1 / math.sqrt(len(found.a))
    paired = believe(found.difference, of_pairs, share=share, equal=equal, delta=single.delta)
    if paired is None:
        return single, spread
    if of_pairs.freedom < ALONE <= spread.freedom:
        wider_by = student_limit(spread.freedom, (1 + COVER) / 2) / student_limit(spread.freedom)
        single = single._replace(limit=single.limit * wider_by)
        if single.noise * single.limit < paired.noise * paired.limit:
            return single, spread
    return paired._replace(p_higher=single.p_higher), spread


def said(found: Levels) -> str:
    """Say what was compared: ``means of 5 and 5 runs, paired by seed``."""
    how = ", paired by seed" if found.paired else ""
    text = f"means of {len(found.a)} and {count(len(found.b), 'run')}{how}"
    if min(len(found.a), len(found.b)) >= FEWEST_FOR_IQM:
        middle = " and ".join(number(interquartile(one)) for one in (found.a, found.b))
        text += f"; interquartile means {middle}"
    return text + (f"; {count(found.lost, 'run')} without a last value" if found.lost else "")


def interquartile(value: FloatArray) -> float:
    """Return the mean of the middle half of values, shape (n,); of three and fewer the mean."""
    cut = int(QUARTER * len(value))
    return float(np.sort(value)[cut : len(value) - cut].mean())


def more_seeds(difference: float, deviation: float) -> int:
    """Return how many runs a side would show a difference in four cases of five.

    2 ((1.96 + 0.84) s / d)^2, the usual approximation for two means; 0 for no difference.
    """
    if not difference:
        return 0
    return math.ceil(2 * ((NORMAL + POWER) * deviation / abs(difference)) ** 2)
