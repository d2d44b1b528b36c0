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
PREFIX = 5  # equal points at the start: a resume that went other ways afterwards
AGREE = 0.5  # share of equal points among the common steps
CLOSE = 1e-3  # relative: four printed digits
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
    parent = list(range(len(measured)))

    def root(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    verdicts: dict[tuple[int, int], bool | None] = {}
    for first, second in combinations(range(min(len(measured), MOST_COMPARED)), 2):
        verdict = same_run(measured[first], measured[second])
        verdicts[first, second] = verdict
        if verdict:
            parent[root(second)] = root(first)
    for (first, second), verdict in verdicts.items():
        if verdict is None and root(first) != root(second):
            one, other = root(first), root(second)
            against = any(
                said is False and {root(a), root(b)} == {one, other}
                for (a, b), said in verdicts.items()
            )
            if not against and _together(measured[first], measured[second], len(measured)):
                parent[other] = one
    groups: dict[int, list[Content]] = {}
    for index, member in enumerate(measured):
        groups.setdefault(root(index), []).append(member)
    return list(groups.values())


def same_run(one: Content, other: Content) -> bool | None:
    """Whether two readings are of one run; None where their content cannot tell."""
    ids = one.reading.run_id, other.reading.run_id
    if ids[0] and ids[1]:
        return ids[0] == ids[1]
    kinds = {one.reading.kind, other.reading.kind}
    if kinds == {"wandb", "console"} and one.folder == other.folder:
        return True  # the console of this very run, as W&B keeps it
    loose = one.reading.steps_inferred or other.reading.steps_inferred
    states = one.reading.kind == other.reading.kind == "trainer_state"
    said: list[bool] = []
    for name in one.series.keys() & other.series.keys():
        if base(name) not in SHARED:
            least = 1 if states else ENOUGH  # their numbers are equal to the last digit
            verdict = _same_values(one.series[name], other.series[name], least, loose=loose)
            said += [] if verdict is None else [verdict]
    if said:
        return sum(said) * 2 >= len(said)
    return None if states else _goes_on(one, other)


def _same_values(one: Series, other: Series, least: int, *, loose: bool) -> bool | None:
    if loose:
        return _same_rows(one.value, other.value)
    steps, first, second = np.intersect1d(
        one.step[:COMPARED], other.step[:COMPARED], return_indices=True
    )
    if len(steps) < least:
        return None
    equal = _equal(one.value[first], other.value[second])
    if equal.all() and len(np.unique(one.value[first])) < least:
        return None  # constant: no identity
    return bool(equal.mean() >= AGREE or (len(equal) >= PREFIX and equal[:PREFIX].all()))


def _same_rows(one: FloatArray, other: FloatArray) -> bool | None:
    """Compare without steps: how many pairs of neighbours of the shorter curve both have.

    Four digits of one value are met by chance in a sibling run, those of two in a row are not.
    """
    few, many = sorted((digits(one)[:COMPARED], digits(other)[:COMPARED]), key=len)
    if len(np.unique(few)) < ENOUGH:
        return None
    pairs = set(zip(many[:-1].tolist(), many[1:].tolist(), strict=True))
    own = list(zip(few[:-1].tolist(), few[1:].tolist(), strict=True))
    return sum(pair in pairs for pair in own) >= AGREE * len(own)


def digits(value: FloatArray) -> FloatArray:
    """Return the finite values but zero, rounded to four digits: what every log prints."""
    finite: FloatArray = value[np.isfinite(value) & (value != 0)]
    scale: FloatArray = 10.0 ** (3 - np.floor(np.log10(np.abs(finite))))
    rounded: FloatArray = np.round(finite * scale) / scale
    return rounded


def _equal(one: FloatArray, other: FloatArray) -> BoolArray:
    both_odd = ~np.isfinite(one) & ~np.isfinite(other)
    return both_odd | np.isclose(one, other, rtol=CLOSE, atol=1e-4 * CLOSE)


def _goes_on(one: Content, other: Content) -> bool | None:
    """Whether one launch of a kind continues the other: same folder, later start, no restart."""
    if one.reading.kind != other.reading.kind or not (one.series.keys() & other.series.keys()):
        return None
    common = [n for n in one.series.keys() & other.series.keys() if base(n) not in SHARED]
    if not common or one.folder.parent != other.folder.parent:
        return None
    early, late = sorted((one, other), key=lambda content: content.span)
    gap = late.span[0] - early.span[1]
    every = max(1, (early.span[1] - early.span[0]) // max(1, len(early.series[common[0]].step) - 1))
    if early.folder != late.folder and early.reading.kind == "wandb":
        return None
    return True if 0 < gap <= 2 * every else False if gap <= 0 else None


def _together(one: Content, other: Content, count: int) -> bool:
    """Whether two readings that cannot contradict each other lie together."""
    if one.reading.kind == other.reading.kind == "wandb":
        return False
    near = one.folder == other.folder or one.folder in other.folder.parents
    near = near or other.folder in one.folder.parents
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
