"""One history of many series: each observation once, from the source that has it best.

Precision decides between sources that logged the same step (float64 before float32 before
printed digits); a step that only one source has is taken from there. A source whose steps had
to be inferred adds only what lies beyond the others.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from msgspec import structs

from runlens.arrays import among, median, unique
from runlens.history import BoolArray, Columns, FloatArray, IntArray, distinct
from runlens.metrics import base, naming
from runlens.records import NamedTuple
from runlens.run import Problem
from runlens.sources.merging.likeness import Content, as_test, of_test
from runlens.sources.merging.log_places import of_one_launch
from runlens.sources.reading import PRECISIONS, Series
from runlens.sources.trainings import first_steps
from runlens.wording import count, number

TOLERANCE = {"float64": 1e-9, "float32": 1e-5, "rounded": 2e-3}  # relative
DISAGREE = 0.01  # share of common points that differ, from which it is said
COARSE = 1_000  # steps below it lose nothing to three printed digits
MUCH_FURTHER = 10  # times the last step of the best source: so many batches has an epoch at least
FAR = np.int64(2) ** 40  # keeps (segment, step) in one integer


class Disagreement(NamedTuple):
    """Two sources that say different things of one metric at the same steps."""

    used: Path
    other: Path
    text: str  # about the first such step
    points: int  # that differ
    common: int  # steps that both have


class Part(NamedTuple):
    """One metric of one source, with the run's segment numbers."""

    content: Content
    source: int  # index into the run's sources
    series: Series
    segment: IntArray

    @property
    def key(self) -> IntArray:
        """Segment and step as one number that sorts like the pair."""
        keys: IntArray = self.segment * FAR + self.series.step
        return keys

    @property
    def rank(self) -> tuple[int, int, int]:
        """The order in which parts are taken: best first."""
        reading = self.content.reading
        precision = PRECISIONS.index(reading.precision)
        return int(reading.steps_inferred), precision, -len(self.series.step)


def tests_apart(contents: Sequence[Content]) -> list[Content]:
    """Return the readings with the test set apart from validation where a run has both."""
    tested = [_tested(one) for one in contents]
    validated = {
        name for one, own in zip(contents, tested, strict=True) for name in one.series.keys() - own
    }
    return [
        structs.replace(
            one,
            series={as_test(n) if n in own & validated else n: s for n, s in one.series.items()},
        )
        for one, own in zip(contents, tested, strict=True)
    ]


def _tested(one: Content) -> set[str]:
    """Return the canonical names of what a reading logged for the test set alone."""
    names: tuple[set[str], set[str]] = set(), set()
    for logged in one.reading.series:
        names[of_test(logged)].add(naming(logged, one.reading.framework).metric)
    return names[True] - names[False]


def boundaries(contents: Sequence[Content]) -> list[int]:
    """Return the first step of each launch after the first, ascending.

    A later launch is a source that begins where another of its kind, logging the same metrics,
    had been already; or a launch that a source itself tells apart.
    """
    starts: set[int] = set()
    kinds: dict[str, list[Content]] = {}
    for one in contents:
        if one.series:
            kinds.setdefault(one.reading.kind, []).append(one)
    for kind, some in kinds.items():
        for one in some:
            if one.reading.steps_inferred and len(kinds) > 1:
                continue  # what it concluded is no word against sources that know
            starts |= set(_inner_starts(one))
            starts |= set() if one.abandoned is None else {one.abandoned}
            if kind != "trainer_state":
                starts |= {one.span[0]} if _resumes(one, some) else set()
    return _distinct(sorted(starts), _interval(contents))


def _resumes(one: Content, some: Sequence[Content]) -> bool:
    return any(
        other.span[0] < one.span[0]
        and (other.reading.started or 0) <= (one.reading.started or 0)
        and any(
            base(n) != "epoch" and not n.startswith("eval_")
            for n in other.series.keys() & one.series.keys()
        )
        for other in some
        if other is not one
    )


def _inner_starts(one: Content) -> list[int]:
    return [step for launch, step in first_steps(one.series.values()).items() if launch > 0]


def _interval(contents: Sequence[Content]) -> int:
    logged = [
        distinct(series.step)
        for one in contents
        for name, series in one.series.items()
        if name in {"train_loss", "reward"}
    ]
    gaps = [int(median(np.diff(steps))) for steps in logged if len(steps) > 1]
    return min(gaps, default=1)


def _distinct(starts: list[int], interval: int) -> list[int]:
    kept: list[int] = []
    for start in starts:
        if not kept or start - kept[-1] > 2 * interval:
            kept.append(start)
    return kept


def parts_of(
    contents: Sequence[Content], sources: Sequence[int], starts: list[int]
) -> dict[str, list[Part]]:
    """Return the parts of each metric, best first, with segments counted over the run."""
    slack = 2 * _interval(contents)
    limits = np.array(starts, dtype=np.int64)
    parts: dict[str, list[Part]] = {}
    for one, source in zip(contents, sources, strict=True):
        own = one.reading.kind != "trainer_state" and len(starts) > 0
        for name, series in one.series.items():
            if own:
                segment = _by_launch(series, limits, slack)
            elif len(starts):
                segment = np.searchsorted(limits, series.step, side="right")
            else:
                segment = np.broadcast_to(np.int64(0), series.step.shape)
            if one.abandoned is not None:
                before = np.searchsorted(limits, one.abandoned + slack, side="right") - 1
                segment = np.where(series.step >= one.abandoned, before, segment)
            parts.setdefault(name, []).append(Part(one, source, series, segment))
    for some in parts.values():
        some.sort(key=lambda part: part.rank)
    return parts


def _by_launch(series: Series, limits: IntArray, slack: int) -> IntArray:
    """Count a source's own launches by where each began."""
    segment = np.zeros(len(series.step), dtype=np.int64)
    for launch in distinct(series.launch).tolist():
        mine = series.launch == launch
        first = int(series.step[mine].min())
        number_of = int(np.searchsorted(limits, first + (slack if launch else 0), side="right"))
        segment[mine] = max(number_of, int(segment.max(initial=0)) + (1 if launch else 0))
    return segment


def combined(metric: str, some: Sequence[Part]) -> tuple[Columns, list[Disagreement]]:
    """Return the rows of one metric and what the sources disagree about."""
    taken: list[tuple[Part, BoolArray]] = []
    disagreements: list[Disagreement] = []
    known = np.array([], dtype=np.int64)
    for part in some:
        key = part.key
        new = ~among(key, known)
        other_unit = taken and _other_unit(taken[0][0], part)
        if other_unit:
            new &= False
            disagreements += other_unit
        elif taken and (part.content.reading.steps_inferred or _coarse(part, taken[0][0])):
            new &= _beyond(part, taken)
        elif taken:
            disagreements += _disagreement(metric, taken[0][0], part)
        taken.append((part, new))
        known = unique(np.concatenate([known, key[new]]))
    columns = [
        (
            part.series.step[new],
            part.series.value[new],
            part.series.epoch[new],
            part.series.time[new],
            part.segment[new].astype(np.int16),
            np.full(int(new.sum()), part.source, dtype=np.int16),
        )
        for part, new in taken
    ]
    joined = Columns._make(np.concatenate(column) for column in zip(*columns, strict=True))
    return joined, disagreements


def _coarse(part: Part, best: Part) -> bool:
    """Whether a printed log rounded its steps too: ``4.51e+04`` for 45,056."""
    steps = part.series.step
    large = steps[steps >= COARSE]
    if part.content.reading.precision != "rounded" or not len(large):
        return False
    unit = 10 ** (np.floor(np.log10(large)).astype(np.int64) - 2)  # three digits were printed
    return bool((large % unit == 0).all() and not among(large, best.series.step).all())


def _other_unit(best: Part, other: Part) -> list[Disagreement]:
    """Tell of a log that counts batches where the best source counts epochs.

    It goes on much further, though its epochs are no more than the other's steps; or its values
    are not the other's where their steps are the same.
    """
    step, last = other.series.step, int(best.series.step.max(initial=0))
    if not other.content.reading.steps_inferred or int(step.max(initial=0)) < MUCH_FURTHER * last:
        return []
    order = np.argsort(best.series.step, kind="stable")
    within = (step >= best.series.step.min()) & (step <= last)
    said, known = other.series.value[within], best.series.value[order]
    expected = np.interp(step[within], best.series.step[order], known)
    apart = np.abs(said - expected)
    tenth = 0.1 * np.maximum(np.abs(said), np.abs(expected))
    epochs = other.series.epoch[np.isfinite(other.series.epoch)]
    epochs_are_its_steps = last / 2 <= epochs.max(initial=-1) <= last + 2  # either may break off
    if not epochs_are_its_steps and not (within.any() and median(apart - tenth) > 0):
        return []
    used = best.content.reading.path
    text = f"counts its steps in another unit than {used.name}, which was used"
    return [Disagreement(used, other.content.reading.path, text, len(step), len(step))]


def _beyond(part: Part, taken: Sequence[tuple[Part, BoolArray]]) -> BoolArray:
    """Which rows of a source with inferred steps lie past all that is known of their segment."""
    known = np.concatenate([other.key[new] for other, new in taken])
    last = np.array(
        [
            known[known // FAR == segment].max(initial=segment * FAR - 1)
            for segment in range(int(part.segment.max(initial=0)) + 1)
        ]
    )
    apart = np.diff(distinct(known))
    slack = int(median(apart)) // 2 if len(apart) else 0
    beyond: BoolArray = part.key > last[part.segment] + slack
    return beyond


def _disagreement(metric: str, best: Part, other: Part) -> list[Disagreement]:
    common, first, second = np.intersect1d(best.key, other.key, return_indices=True)
    if len(common) < 2:  # noqa: PLR2004 - one point is no disagreement of sources
        return []
    one, two = best.series.value[first], other.series.value[second]
    worst = max(TOLERANCE[part.content.reading.precision] for part in (best, other))
    digits = [
        _half_digit(value) * (part.content.reading.precision == "rounded")
        for part, value in ((best, one), (other, two))
    ]
    with np.errstate(invalid="ignore"):  # of two infinities; they are the same below
        near = np.abs(one - two) <= 1.001 * np.maximum(*digits)  # half a digit rounds either way
    same = np.isclose(one, two, rtol=worst, atol=worst * 1e-3) | near
    same |= np.isnan(one) & np.isnan(two)
    if (~same).mean() <= DISAGREE:
        return []
    at = int(np.argmin(same))
    step = int(best.series.step[first][at])
    used = best.content.reading.path
    text = (
        f"disagrees with {used.name} on {metric} at step {step:,}: "
        f"{number(float(two[at]))} against {number(float(one[at]))}; the latter was used"
    )
    differing = int((~same).sum())
    return [Disagreement(used, other.content.reading.path, text, differing, len(common))]


def _half_digit(value: FloatArray) -> FloatArray:
    """Return half a unit of the last digit that a log printed, shape (n,): of the finest value.

    Logs print a number of significant digits (three: 0.155, 0.0274) or of decimals; a value with
    fewer ended in zeros. The digits are those of the value with the most.

    >>> _half_digit(np.array([0.155, 0.0274])).round(6).tolist()
    [0.0005, 5e-05]
    """
    finite = value[np.isfinite(value) & (value != 0)]
    written = [f"{abs(x):.12g}".partition("e")[0] for x in finite.tolist()]
    most = max((len(one.replace(".", "").strip("0")) for one in written), default=0)
    known = np.isfinite(value) & (value != 0)
    size = np.floor(np.log10(np.abs(value), where=known, out=np.zeros_like(value)))
    made: FloatArray = np.where(known, 0.5 * 10.0 ** (size - max(most, 1) + 1), 0.0)
    return made


def problems_of(disagreements: Iterable[Disagreement]) -> list[Problem]:
    """Tell of each file once, of the ranks of a launch together: each has a loss of its own."""
    alike: dict[tuple[bool, Path], list[Disagreement]] = {}
    for one in disagreements:
        ranks = of_one_launch(one.used, one.other)
        alike.setdefault((ranks, one.used if ranks else one.other), []).append(one)
    return [_told_once(some) for some in alike.values()]


def _told_once(some: Sequence[Disagreement]) -> Problem:
    first = some[0]
    metrics = sum(one.other == first.other for one in some) - 1
    logs = len({one.other for one in some}) - 1
    more = [count(metrics, "more metric")] if metrics else []
    more += [f"{count(logs, 'more log')} of its launch"] if logs else []
    text = f"{first.text}; the same holds for {' and '.join(more)}" if more else first.text
    differing, common = sum(one.points for one in some), sum(one.common for one in some)
    return Problem(
        str(first.other),
        text,
        f"its values at {differing:,} of {common:,} points",
    )


class Clock(NamedTuple):
    """What is known of epoch and time by (segment, step)."""

    key: IntArray
    value: FloatArray

    @classmethod
    def of_parts(cls, parts: Iterable[tuple[Part, FloatArray]]) -> "Clock":
        """Join what columns of several parts know."""
        return cls.of((part.key, known) for part, known in parts if np.isfinite(known).any())

    @classmethod
    def of(cls, parts: Iterable[tuple[IntArray, FloatArray]]) -> "Clock":
        """Join what several parts know; the first to know a step counts."""
        known = cls(np.array([], dtype=np.int64), np.array([], dtype=np.float64))
        for key, value in parts:
            solid = np.isfinite(value)
            some = cls(key, value) if solid.all() else cls(key[solid], value[solid])
            if len(some.key) and not np.array_equal(some.key, known.key):
                known = known.joined(some)
        return known

    def joined(self, other: "Clock") -> "Clock":
        """Add what another knows of other steps."""
        key, value = other
        if not (key[1:] > key[:-1]).all():
            key, first = np.unique(key, return_index=True)
            value = value[first]
        if not len(self.key):
            return Clock(key, value)
        at = np.searchsorted(self.key, key)
        new = self.key[np.minimum(at, len(self.key) - 1)] != key
        if not new.any():
            return self
        return Clock(
            np.insert(self.key, at[new], key[new]), np.insert(self.value, at[new], value[new])
        )

    def fill(self, key: IntArray, column: FloatArray) -> FloatArray:
        """Return `column` with its gaps filled from what is known of the same step."""
        gaps = ~np.isfinite(column)
        if not len(self.key) or not gaps.any():
            return column
        if np.array_equal(self.key, key):
            return np.where(gaps, self.value, column)
        at = np.minimum(np.searchsorted(self.key, key), len(self.key) - 1)
        known = gaps & (self.key[at] == key)
        return np.where(known, self.value[at], column)
