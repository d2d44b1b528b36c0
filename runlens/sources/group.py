"""Which readings are of one run: by what they say, not by what they are called.

Two readings belong together when a tracker gives both one id, when they logged the same values
at the same steps, when one goes on where the other stopped, or when they lie together and do
not contradict each other. Everything else stays a run of its own.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np

from runlens.history import BoolArray, FloatArray
from runlens.metrics import base, naming
from runlens.sources.reading import Series, SourceReading

# schedules and counters are equal in sibling runs: they identify nothing
SHARED = {"learning_rate", "epoch", "tokens", "loss_scale", "step", "eval_runtime"}
ENOUGH = 3  # equal points that are no chance
REPEATED = 0.5  # a resume repeats less than this share of the launch before it
CERTAIN = 0.9  # share of equal rows that readings in unrelated folders need
SURELY = 0.98  # share of equal points from which nothing else is asked
STOPPED = 0.95  # last step over last step: below it one of two stopped before the other
USUAL = {"train_loss", "eval_loss", "reward", "grad_norm"}
MOST_METRICS = 4  # that are compared
PREFIX = 5  # equal points at the start: a resume that went other ways afterwards
AGREE = 0.5  # share of equal points among the common steps
CLOSE = 1e-3  # relative: four digits
PRINTED = 5e-3  # relative: three digits, as some logs print
COMPARED = 2_000  # points of a metric that are compared
MOST_COMPARED = 400  # readings that are compared with each other


class Content(NamedTuple):
    """What identifies a reading: its canonical series, and where it lies."""

    reading: SourceReading
    series: dict[str, Series]
    folder: Path

    @property
    def measured(self) -> bool:
        """Whether it has a metric that could identify a run."""
        return any(base(name) not in SHARED for name in self.series)

    @property
    def span(self) -> tuple[int, int]:
        """The first and last step of it."""
        steps = [series.step for series in self.series.values() if len(series.step)]
        return min(int(s.min()) for s in steps), max(int(s.max()) for s in steps)


def content(reading: SourceReading) -> Content:
    """Name the series of a reading canonically, in canonical units."""
    named: dict[str, Series] = {}
    for logged, series in reading.series.items():
        name, factor = naming(logged, reading.framework)
        scaled = series if factor == 1.0 else series._replace(value=series.value * factor)
        if name not in named or len(scaled.step) > len(named[name].step):
            named[name] = scaled
    return Content(reading, named, _home(reading.path))


def _home(path: Path) -> Path:
    """Return the folder that stands for a source: above checkpoints, trackers' inner folders."""
    folder = path if path.is_dir() else path.parent
    while folder.name.startswith("checkpoint-") or folder.name in {"files", "logs"}:
        folder = folder.parent
    return folder


def grouped(readings: Iterable[SourceReading]) -> list[list[Content]]:
    """Return the readings of each run, in the order in which they were found."""
    contents = [content(reading) for reading in readings]
    measured = [one for one in contents if one.measured]
    groups = _joined(measured)
    for bare in (one for one in contents if not one.measured):
        home = _nearest(bare, groups)
        if home is not None:
            home.append(bare)
        elif groups and not bare.reading.series and not bare.reading.events:
            for group in groups:  # one configuration for all runs below it
                if any(one.folder.is_relative_to(bare.folder) for one in group):
                    group.append(bare)
        elif not bare.reading.empty:
            groups.append([bare])
    return groups


def _joined(measured: Sequence[Content]) -> list[list[Content]]:
    sets = _Sets(len(measured))
    pairs = list(combinations(range(min(len(measured), MOST_COMPARED)), 2))
    said = {pair: same_run(measured[pair[0]], measured[pair[1]]) for pair in pairs}
    for pair in pairs:
        if said[pair] is False and _other_id(measured[pair[0]], measured[pair[1]]):
            sets.part(*pair)
    for pair in sorted(
        pairs, key=lambda pair: -_shared_depth(measured[pair[0]], measured[pair[1]])
    ):
        if said[pair] and not sets.apart(*pair):
            sets.join(*pair)
    for pair in pairs:
        if said[pair] is False:
            sets.part(*pair)
    for first, second in (pair for pair in pairs if said[pair] is None):
        near = _together(measured[first], measured[second], len(measured))
        if near and not sets.apart(first, second):
            sets.join(first, second)
    groups: dict[int, list[Content]] = {}
    for index, member in enumerate(measured):
        groups.setdefault(sets.root(index), []).append(member)
    return list(groups.values())


def _other_id(one: Content, other: Content) -> bool:
    """Whether a tracker says that these are two runs."""
    ids = one.reading.run_id, other.reading.run_id
    return bool(ids[0] and ids[1] and ids[0] != ids[1])


def _shared_depth(one: Content, other: Content) -> int:
    """Return how many folders two readings have in common: neighbours are joined first."""
    pairs = zip(one.folder.parts, other.folder.parts, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), len(one.folder.parts))


class _Sets:
    """Disjoint sets that also remember which of them must not be joined."""

    def __init__(self, count: int) -> None:
        self._parent = list(range(count))
        self._apart: dict[int, set[int]] = {}

    def root(self, index: int) -> int:
        while self._parent[index] != index:
            self._parent[index] = self._parent[self._parent[index]]
            index = self._parent[index]
        return index

    def join(self, first: int, second: int) -> None:
        kept, gone = self.root(first), self.root(second)
        if kept == gone:
            return
        self._parent[gone] = kept
        for other in self._apart.pop(gone, set()):
            self.part(kept, other)

    def part(self, first: int, second: int) -> None:
        self._apart.setdefault(self.root(first), set()).add(second)
        self._apart.setdefault(self.root(second), set()).add(first)

    def apart(self, first: int, second: int) -> bool:
        mine, other = self.root(first), self.root(second)
        return mine != other and any(self.root(one) == other for one in self._apart.get(mine, ()))


def same_run(one: Content, other: Content) -> bool | None:
    """Whether two readings are of one run; None where their content cannot tell."""
    if one.reading.run_id and other.reading.run_id:
        return not _other_id(one, other)
    kinds = {one.reading.kind, other.reading.kind}
    if kinds == {"wandb", "console"} and one.folder == other.folder:
        return True  # the console of this very run, as W&B keeps it
    loose = one.reading.steps_inferred or other.reading.steps_inferred
    rounded = "rounded" in {one.reading.precision, other.reading.precision}
    states = one.reading.kind == other.reading.kind == "trainer_state"
    how = _How(
        least=1 if states else ENOUGH,  # the states of one run are equal to the last digit
        near=PRINTED if rounded else CLOSE,
        loose=loose,
        related=_related(one, other),
    )
    said: list[bool] = []
    for name in _telling(one.series.keys() & other.series.keys()):
        verdict = _same_values(one.series[name], other.series[name], how)
        said += [] if verdict is None else [verdict]
    goes_on = None if states else _goes_on(one, other)
    if goes_on or not said:
        return goes_on
    alike = sum(said) * 2 >= len(said)
    # two logs of one kind in unrelated folders are two runs, however alike: one seed, a copy
    return alike and (how.related or one.reading.kind != other.reading.kind)


class _How(NamedTuple):
    """How two series are compared."""

    least: int  # common points that are needed
    near: float  # relative
    loose: bool  # without steps
    related: bool  # one lies in the folder of the other


def _telling(names: Iterable[str]) -> list[str]:
    """Return the metrics that tell runs apart, the usual ones first; a few are enough."""
    own = [name for name in names if base(name) not in SHARED]
    return sorted(own, key=lambda name: (name not in USUAL, name))[:MOST_METRICS]


def _related(one: Content, other: Content) -> bool:
    return (
        one.folder == other.folder
        or one.folder in other.folder.parents
        or other.folder in one.folder.parents
    )


def _same_values(one: Series, other: Series, how: _How) -> bool | None:
    """Compare at common steps; None where these are too few to tell.

    A launch that was resumed parts from its run at its end, where it stops. Two runs of one seed
    part somewhere too, but both go on to the same end.
    """
    if how.loose:
        return _same_rows(one.value, other.value, AGREE if how.related else CERTAIN)
    steps, first, second = np.intersect1d(
        one.step[:COMPARED], other.step[:COMPARED], return_indices=True
    )
    told = np.isfinite(one.value[first]) | np.isfinite(other.value[second])
    steps, first, second = steps[told], first[told], second[told]  # two NaN tell nothing
    if len(steps) < how.least:
        return None
    equal = _equal(one.value[first], other.value[second], how.near)
    if equal.mean() >= SURELY:
        telling = np.unique(one.value[first][np.isfinite(one.value[first])])
        constant = len(telling) < min(ENOUGH, len(steps))
        return None if constant else True  # constant curves identify nothing
    ends = sorted((int(one.step.max()), int(other.step.max())))
    if not how.related and ends[0] > STOPPED * ends[1]:
        return False
    return bool(equal.mean() >= AGREE or (len(equal) >= PREFIX and equal[:PREFIX].all()))


def _same_rows(one: FloatArray, other: FloatArray, share: float) -> bool | None:
    """Compare without steps: how many pairs of neighbours of the shorter curve both have.

    Four digits of one value are met by chance in a sibling run, those of two in a row are not.
    """
    few, many = sorted((digits(one)[:COMPARED], digits(other)[:COMPARED]), key=len)
    if len(np.unique(few)) < ENOUGH:
        return None
    pairs = set(zip(many[:-1].tolist(), many[1:].tolist(), strict=True))
    own = list(zip(few[:-1].tolist(), few[1:].tolist(), strict=True))
    return sum(pair in pairs for pair in own) >= share * len(own)


def digits(value: FloatArray) -> FloatArray:
    """Return the finite values but zero, rounded to four digits: what every log prints."""
    finite: FloatArray = value[np.isfinite(value) & (value != 0)]
    scale: FloatArray = 10.0 ** (3 - np.floor(np.log10(np.abs(finite))))
    rounded: FloatArray = np.round(finite * scale) / scale
    return rounded


def _equal(one: FloatArray, other: FloatArray, near: float) -> BoolArray:
    return np.isclose(one, other, rtol=near, atol=1e-4 * near)


def _goes_on(one: Content, other: Content) -> bool | None:
    """Whether one launch of a kind continues the other: it begins where that one had come to.

    After a kill it begins at the checkpoint, so it repeats the last steps of the one before, with
    other values where the training is not deterministic.
    """
    if one.reading.kind != other.reading.kind or one.reading.kind == "wandb":
        return None
    common = _telling(one.series.keys() & other.series.keys())
    if not common or one.folder.parent != other.folder.parent:
        return None
    early, late = sorted((one, other), key=lambda content: content.span)
    covered = early.span[1] - early.span[0]
    every = max(1, covered // max(1, len(early.series[common[0]].step) - 1))
    gap = late.span[0] - early.span[1]
    if 0 < gap <= 2 * every:
        return True
    repeats = late.span[0] - early.span[0] > max(2 * every, REPEATED * covered)
    if gap <= 0 and repeats and late.span[1] > early.span[1] and _after(early, late):
        return True
    return False if gap <= 0 else None


def _after(early: Content, late: Content) -> bool:
    """Whether the later launch is known to have been started later."""
    began = early.reading.started, late.reading.started
    return began[0] is not None and began[1] is not None and began[0] < began[1]


def _together(one: Content, other: Content, count: int) -> bool:
    """Whether two readings that cannot contradict each other lie together."""
    if one.reading.kind == other.reading.kind == "wandb":
        return False
    near = _related(one, other)
    near = near or (one.folder.parent == other.folder.parent and one.folder.parent.name != "")
    return near or count == 2  # noqa: PLR2004 - the only two sources that there are


def _nearest(bare: Content, groups: list[list[Content]]) -> list[Content] | None:
    """Return the one group that a reading without identifying numbers belongs to."""
    if len(groups) == 1:
        return groups[0]
    ids = [g for g in groups if any(_same_id(bare, one) for one in g)]
    if len(ids) == 1:
        return ids[0]
    here = [g for g in groups if any(one.folder == bare.folder for one in g)]
    if len(here) == 1:
        return here[0]
    near = [
        g
        for g in groups
        if any(one.folder in bare.folder.parents or bare.folder in one.folder.parents for one in g)
    ]
    return near[0] if len(near) == 1 else None


def _same_id(bare: Content, one: Content) -> bool:
    return bool(bare.reading.run_id) and bare.reading.run_id == one.reading.run_id
