"""Whether two readings are of one run: by what they say, not by what they are called."""

from collections.abc import Iterable, Mapping
from enum import Enum
from functools import cached_property, partial
from pathlib import Path

import numpy as np
from msgspec import Struct

from runlens.arrays import unique
from runlens.faults import survived
from runlens.history import BoolArray, FloatArray, IntArray
from runlens.metrics import Naming, base, naming, plain
from runlens.naming import classify
from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.run import Problem
from runlens.sources.merging.by_values import counts
from runlens.sources.merging.log_places import home_of, in_order, of_one_command, of_one_launch
from runlens.sources.merging.objective import MEASURES
from runlens.sources.reading import Series, SourceReading
from runlens.sources.totals import adds_up, with_totals

# schedules and counters are equal in sibling runs: they identify nothing
SHARED = {"learning_rate", "epoch", "tokens", "loss_scale", "step", "eval_runtime"}
ENOUGH = 3  # equal points that are no chance
REPEATED = 0.5  # a resume repeats less than this share of the launch before it
OWN_POINTS = 8  # of the loss of the Trainer itself, from which no other column stands for it
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
PER_CENT = 0.01
ACCURACIES = {"train_accuracy", "eval_accuracy"}
FEWEST = 5  # accuracies that none above 1 shows to be shares
_OF_FIRST = lazy_re(r"(?:^|_)(?:acc|prec)_\d")  # "Acc@1", "test_prec@5"
MOST_DECIMALS = 8  # of a number that is rounded at all
DECIMALS = (2, 6)  # that a log prints of each number: fewer identify nothing


class Said(Enum):
    """What the content of two readings says about their being of one run."""

    SAME = "they logged the same, or one goes on where the other stopped"
    OTHER = "they contradict each other"
    NEVER = "two ids, two copies of a log, two beginnings: two runs, whatever a third says"
    OPEN = "they have too little in common to tell"


class Content(Struct, frozen=True, eq=False, dict=True):
    """What identifies a reading: its canonical series, and where it lies."""

    reading: SourceReading
    series: dict[str, Series]
    folder: Path
    abandoned: int | None = None  # first step of it that a later launch did again, otherwise

    @cached_property
    def measured(self) -> bool:
        """Whether it has a metric that could identify a run."""
        return any(base(name) not in SHARED for name in self.series)

    @cached_property
    def span(self) -> tuple[int, int]:
        """The first and last step of it."""
        steps = [series.step for series in self.series.values()]
        return min(int(s.min()) for s in steps), max(int(s.max()) for s in steps)

    @cached_property
    def trained(self) -> tuple[int, int, int]:
        """The first and last step of what tells runs apart, and the steps between two points.

        A tracker's system metrics begin before the first step of a launch.
        """
        steps = [self.series[name].step for name in telling(self.series)]
        first, last = min(int(s.min()) for s in steps), max(int(s.max()) for s in steps)
        return first, last, max(1, (last - first) // max(1, len(steps[0]) - 1))

    @property
    def started(self) -> float | None:
        """When it began, in seconds since 1970; None where it does not say."""
        return self.reading.started


def content(reading: SourceReading) -> Content:
    """Name the series of a reading canonically, in canonical units.

    Of two that mean one metric the longer has its name, and not a running sum of the other; that
    stays as it was logged, unless it only says the same again.
    """
    named: dict[str, Series] = {}
    spelled: dict[str, str] = {}  # how the one that has a name was logged
    rivals: dict[str, str] = {}  # the name that another one has
    known = with_totals(reading.series)
    for logged in sorted(known, key=of_test):  # stable; validation keeps its name
        name, factor = survived(
            partial(naming, logged, reading.framework), partial(_unnamed, reading, logged)
        )
        name = as_test(name) if of_test(logged) and name in named else name
        series = known[logged]
        if name in MEASURES and counts(series.step, series.value):
            # an index that a flattened table calls so
            what = f"{logged} rises by one from row to row: an index, no measure"
            count = f"{len(series.step):,} numbers"
            reading.problems.append(Problem(str(reading.path), what, count))
            continue
        if factor == PER_CENT and name in ACCURACIES and _are_shares(known):
            factor = 1.0
        scaled = series if factor == 1.0 else series._replace(value=series.value * factor)
        won = name in named and _trainers(reading, spelled[name], named[name])
        longer = name not in named or len(scaled.step) > len(named[name].step)
        longer = longer or adds_up(named[name], scaled)
        if (longer and not won) or _trainers(reading, logged, series):
            rivals |= {spelled[name]: name} if name in named else {}
            named[name], spelled[name] = scaled, logged
        else:
            rivals[logged] = name
    others = {
        logged: known[logged]
        for logged, name in rivals.items()
        if logged not in named and not _repeats(known[logged], known[spelled[name]])
    }
    return Content(reading, named | others, _home(reading.path))


def _are_shares(known: Mapping[str, Series]) -> bool:
    """Whether what programs log in per cent, ``Acc@1``, is of shares: none of it is above 1.

    Of a few values that says nothing: 0.8 % are right in the first batches of a thousand classes.
    """
    values = [one.value for logged, one in known.items() if _OF_FIRST.search(plain(logged))]
    return max(map(len, values), default=0) >= FEWEST and all(
        np.nanmax(some, initial=0) <= 1 for some in values
    )


def _trainers(reading: SourceReading, logged: str, series: Series) -> bool:
    """Whether it is the loss that the Trainer itself logged: what a loop adds is a part of it."""
    return reading.kind == "trainer_state" and logged == "loss" and len(series.step) >= OWN_POINTS


def _unnamed(reading: SourceReading, logged: str, told: str) -> Naming:
    problem = Problem(str(reading.path), f"{logged} keeps its name: {told}", "what it means")
    reading.problems.append(problem)
    return Naming(logged)


def _repeats(one: Series, longer: Series) -> bool:
    """Whether a series says nothing that the other does not say at the same steps."""
    place = np.minimum(np.searchsorted(longer.step, one.step), len(longer.step) - 1)
    alike = _equal(one.value, longer.value[place], CLOSE) & (longer.step[place] == one.step)
    return bool((alike | np.isnan(one.value)).all())


def of_test(logged: str) -> bool:
    """Tell whether a metric was logged for the test set: Lightning does so once, at the end."""
    return classify(logged).split == "test"


def as_test(name: str) -> str:
    """Return what a canonical name of an evaluation is called where validation has that name."""
    return f"test_{name.removeprefix('eval_')}"


def _home(path: Path) -> Path:
    """Return the folder that stands for a source: above checkpoints, trackers' inner folders."""
    folder = home_of(path if path.is_dir() else path.parent)
    while folder.name.startswith("checkpoint-") or folder.name in {"files", "logs"}:
        folder = folder.parent
    return folder


def telling(names: Iterable[str]) -> list[str]:
    """Return the metrics that tell runs apart, the usual ones first; a few are enough."""
    own = [name for name in names if base(name) not in SHARED]
    return sorted(own, key=lambda name: (name not in USUAL, name))[:MOST_METRICS]


def other_id(one: Content, other: Content) -> bool:
    """Whether a tracker says that these are two runs."""
    return _one_tracker(one, other) and one.reading.run_id != other.reading.run_id


def _one_tracker(one: Content, other: Content) -> bool:
    """Whether one tracker gave both an id; two trackers call the same run differently."""
    ids = one.reading.run_id, other.reading.run_id
    return all(ids) and one.reading.kind == other.reading.kind


def related(one: Content, other: Content) -> bool:
    """Whether one lies in the folder of the other."""
    return (
        one.folder == other.folder
        or one.folder in other.folder.parents
        or other.folder in one.folder.parents
    )


def said(one: Content, other: Content) -> Said:
    """Compare two readings."""
    if _one_tracker(one, other):
        return Said.NEVER if other_id(one, other) else Said.SAME
    kinds = {one.reading.kind, other.reading.kind}
    if kinds == {"wandb", "console"} and one.folder == other.folder:
        return Said.SAME  # the console of this very run, as W&B keeps it
    if kinds == {"console"} and of_one_launch(one.reading.path, other.reading.path):
        return Said.SAME
    return _by_values(one, other)


def _by_values(one: Content, other: Content) -> Said:
    near = related(one, other)
    rounded = "rounded" in {one.reading.precision, other.reading.precision}
    states = one.reading.kind == other.reading.kind == "trainer_state"
    how = _How(
        least=1 if states else ENOUGH,  # the states of one run are equal to the last digit
        near=PRINTED if rounded else CLOSE,
        loose=one.reading.steps_inferred or other.reading.steps_inferred,
        related=near,
    )
    verdicts = (
        _same_values(one.series[name], other.series[name], how)
        for name in telling(one.series.keys() & other.series.keys())
    )
    known = [verdict for verdict in verdicts if verdict is not None]
    alike = bool(known) and sum(known) * 2 >= len(known)
    onward = None if states else goes_on(one, other)
    if onward or (alike and (near or one.reading.kind != other.reading.kind)):
        return Said.SAME
    if alike and _copies(one.reading.path, other.reading.path):
        return Said.NEVER
    if known and not any(known) and _both_anew(one, other):
        return Said.NEVER
    return Said.OTHER if known or onward is False else Said.OPEN


def _both_anew(one: Content, other: Content) -> bool:
    """Whether two launches that a trainer recorded began at the first step; ranks print so too."""
    kinds = {one.reading.kind, other.reading.kind}
    begun = all(some.trained[0] <= some.trained[2] for some in (one, other))
    return kinds == {"tensorboard"} and begun


def _copies(one: Path, other: Path) -> bool:
    """Whether two logs that say the same lie alike in two folders: one seed, or a copied run.

    A second copy of a run's log that a tracker keeps is no second run.
    """
    return len(one.parts) == len(other.parts) and ("wandb" in one.parts) == ("wandb" in other.parts)


class _How(NamedTuple):
    """How two series are compared."""

    least: int  # common points that are needed
    near: float  # relative
    loose: bool  # without steps
    related: bool  # one lies in the folder of the other


def _same_values(one: Series, other: Series, how: _How) -> bool | None:
    """Compare at common steps; None where these are too few to tell.

    A launch that was resumed parts from its run at its end, where it stops. Two runs of one seed
    part somewhere too, but both go on to the same end.
    """
    if how.loose:
        return _same_rows(one.value, other.value, AGREE if how.related else CERTAIN)
    steps, first, second = _common(one.step[:COMPARED], other.step[:COMPARED])
    told = np.isfinite(one.value[first]) | np.isfinite(other.value[second])
    steps, first, second = steps[told], first[told], second[told]  # two NaN tell nothing
    if len(steps) < how.least:
        return None
    # two that print the same decimals round alike: what one has to the last digit, so has the other
    same = how.near > CLOSE and _decimals(one.value) == _decimals(other.value)
    equal = _equal(one.value[first], other.value[second], CLOSE if same else how.near)
    values = one.value[first][equal]
    constant = len(unique(values[np.isfinite(values)])) < min(ENOUGH, len(steps))
    if equal.mean() >= SURELY or constant:
        return None if equal.all() and constant else not constant  # a constant identifies nothing
    ends = sorted((int(one.step.max()), int(other.step.max())))
    if not how.related and ends[0] > STOPPED * ends[1]:
        return False
    return bool(equal.mean() >= AGREE or (len(equal) >= PREFIX and equal[:PREFIX].all()))


def _common(one: IntArray, other: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the common steps, and where in each of both they are."""
    if np.array_equal(one, other) and (np.diff(one) > 0).all():  # as of runs of one program
        at = np.arange(len(one))
        return one, at, at
    return np.intersect1d(one, other, return_indices=True)


def _same_rows(one: FloatArray, other: FloatArray, share: float) -> bool | None:
    """Compare without steps: how many pairs of neighbors of the shorter curve both have.

    Four digits of one value are met by chance in a sibling run, those of two in a row are not.
    """
    first, second = _as_printed(one, other), _as_printed(other, one)
    few, many = sorted((digits(first)[:COMPARED], digits(second)[:COMPARED]), key=len)
    if len(unique(few)) < ENOUGH:
        return None
    pairs = set(zip(many[:-1].tolist(), many[1:].tolist(), strict=True))
    own = list(zip(few[:-1].tolist(), few[1:].tolist(), strict=True))
    return sum(pair in pairs for pair in own) >= share * len(own)


def _decimals(value: FloatArray) -> int:
    """Return how many decimals a log prints of each number."""
    known = value[np.isfinite(value)][:COMPARED]
    all_ = range(MOST_DECIMALS)
    whole = (n for n in all_ if np.allclose(known, np.round(known, n), rtol=0, atol=1e-9))
    return next(whole, MOST_DECIMALS)


def _as_printed(value: FloatArray, other: FloatArray) -> FloatArray:
    """Return values with the decimals that all of the other's have: ``0.0774`` of 0.07743."""
    known = other[np.isfinite(other)][:COMPARED]
    for decimals in range(*DECIMALS):
        if np.allclose(known, np.round(known, decimals), rtol=0, atol=1e-9):
            rounded: FloatArray = np.round(value, decimals)
            return rounded
    return value


def digits(value: FloatArray, kept: int = 4) -> FloatArray:
    """Return the finite values but zero, rounded to four digits: what every log prints."""
    finite: FloatArray = value[np.isfinite(value) & (value != 0)]
    scale: FloatArray = 10.0 ** (kept - 1 - np.floor(np.log10(np.abs(finite))))
    rounded: FloatArray = np.round(finite * scale) / scale
    return rounded


def _equal(one: FloatArray, other: FloatArray, near: float) -> BoolArray:
    """Return where both are equal within `near`, as np.isclose says in five times the time."""
    with np.errstate(invalid="ignore"):
        close = np.abs(one - other) <= near * (1e-4 + np.abs(other))
    equal: BoolArray = (one == other) | (close & np.isfinite(other))
    return equal


def goes_on(one: Content, other: Content) -> bool | None:
    """Whether one launch of a kind continues the other: it begins where that one had come to.

    After a kill it begins at the checkpoint, so it repeats the last steps of the one before, with
    other values where the training is not deterministic.
    """
    if one.reading.kind != other.reading.kind or one.reading.kind == "wandb":
        return None
    common = telling(one.series.keys() & other.series.keys())
    if not common or one.folder.parent != other.folder.parent:
        return None
    early, late = sorted((one, other), key=lambda content: content.trained[:2])
    if begins_after(early, late) or _evaluates(early, late):
        return True
    overlap = late.trained[0] <= early.trained[1]
    return False if overlap or _later(early, late) is False else None


def _evaluates(early: Content, late: Content) -> bool:
    """Whether `late` is only an evaluation behind the last step, in a file of its own."""
    first, last, _ = early.trained
    alone = first < last and late.trained[:2] == (last, last) and "train_loss" not in late.series
    return alone and "train_loss" in early.series and _later(early, late) is True


def begins_after(early: Content, late: Content) -> bool:
    """Whether `late` begins where `early` had come to, and later in time as far as is known."""
    first, last, every = early.trained
    gap = late.trained[0] - last
    if late.trained[0] <= late.trained[2]:
        return False  # its first row is the first that it could log: it restarted
    if gap > 0:
        return gap <= 2 * every and _later(early, late) is not False
    repeats = late.trained[0] - first > max(2 * every, REPEATED * (last - first))
    return repeats and late.trained[1] > last and _later(early, late) is True


def _later(early: Content, late: Content) -> bool | None:
    """Whether a launch was started later: by its time, else by the number in its log's name."""
    if early.started is not None and late.started is not None:
        return early.started < late.started
    logs = early.reading.kind == late.reading.kind == "console"
    paths = early.reading.path, late.reading.path
    if logs and (paths[0].parent == paths[1].parent or of_one_command(*paths)):
        return in_order(paths[0]) < in_order(paths[1])
    return None
