"""Which numbers of a layout count, and what: told by their names, else by how they go."""

import re

import numpy as np

from runlens.arrays import unique
from runlens.history import NOT_KNOWN, BoolArray, FloatArray, IntArray
from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.sources.console.mining.counter_names import Kind
from runlens.sources.console.mining.layouts import Layout
from runlens.sources.console.pairs import names_metric
from runlens.sources.console.records import MAX_STEP

FEWEST_FALLS = 3  # rows: of two a fall is a restart as well
STRAY = 0.25  # share of falls among what changes: noise has half, a counter of batches one an epoch
LATEST = 2  # place in its line at which a counter without a name is looked for
MOSTLY = 0.8  # share of the rows from which a column that is not named counts
_TIMELY = lazy_re(
    r"time|elapsed|eta\b|sec|hour|\bmin|memory|mem\b|speed|/s\b|loss|size|num|param"
    r"|patience|improve|early",
    re.IGNORECASE,
)


_MANY = lazy_re(
    r"\b(?:epochs|steps|iterations|iters|rounds|episodes|passes|generations)$"
    r"|^(?:num|n|nb|max|total)_(?:epoch|episode|round)$",
    re.IGNORECASE,
)

# data alone, whose batches are counted: "Training 10/50", "Evaluated 3/20"
COUNTS_DATA = lazy_re(
    r"(?P<train>train(?:ing|ed)?)"
    r"|val(?:id(?:at(?:e|ed|ing|ion))?)?|eval(?:uat(?:e|ed|ing|ion))?|test(?:ing|ed)?|dev",
    re.IGNORECASE,
)


class Counters(NamedTuple):
    """The columns of a layout that count; -1: there is none."""

    step: int = -1
    epoch: int = -1
    batch: int = -1

    @property
    def any(self) -> bool:
        """Whether one counts."""
        return max(self) >= 0


def counters(layout: Layout, value: FloatArray, total: FloatArray, whole: BoolArray) -> Counters:
    """Return the columns of a layout that count. `value`, `total`, `whole`: shape (n, k)."""
    good: BoolArray = np.all(whole & (value >= 0) & (value < MAX_STEP), axis=0)
    good &= np.all(value == np.floor(value), axis=0)  # no percentage
    named: dict[Kind, int] = {}
    glob: dict[Kind, bool] = {}
    for place, column in enumerate(layout.columns):
        counts = good[place] or _in_floats(value[:, place])
        if (
            column.kind not in {"", "share"}
            and counts
            and not _planned(column.name, total[:, place])
        ):
            mine = column.kind, "global" in column.name.lower()
            first = named.get(column.kind, place)
            of_all = not any(glob.values()) and _of_all(value[:, place], value[:, first])
            if first == place or of_all or (mine[1] and not glob.get(column.kind)):
                named[column.kind] = place
                glob[column.kind] = mine[1]
    found = Counters(named.get("step", -1), named.get("epoch", -1), named.get("batch", -1))
    if (
        found.step >= 0
        and found.epoch >= 0
        and _of_each(value[:, found.step], value[:, found.epoch])
    ):
        return found._replace(step=-1)
    if found.step < 0 and found.batch < 0:
        place = _by_course(layout, value, total, good, epoch=found.epoch)
        outer = -1 if found.epoch >= 0 or place <= 0 else _outer(layout, value, good, place)
        found = found if outer < 0 else found._replace(epoch=outer)
        found = found._replace(**{"batch" if found.epoch >= 0 else "step": place})
    return found


def _of_all(mine: FloatArray, other: FloatArray) -> bool:
    """Whether numbers go on where others begin anew: ``epoch: 1, iteration: 0, step: 782``."""
    own, theirs = np.diff(mine), np.diff(other)
    ahead, rises = (own > 0) & (theirs <= 0), theirs > 0
    return bool(ahead.any() and rises.any() and (own[rises] > 0).all() and (mine >= other).all())


def _in_floats(mine: FloatArray) -> bool:
    """Whether whole numbers with a point go on: ``Frame 2560. reward``, ``step 300.0``."""
    whole = (mine >= 0) & (mine < MAX_STEP) & (mine == np.floor(mine))
    return bool(whole.all()) and goes_on(mine)


def _planned(name: str, total: FloatArray) -> bool:
    """Whether a line that comes once says how many there will be: ``Epochs: 40``, no 3/40."""
    return len(total) == 1 and total[0] < 0 and _MANY.search(name) is not None


def _outer(layout: Layout, value: FloatArray, good: BoolArray, place: int) -> int:
    """Return the column right before a counter that rises where it begins anew: ``[3 : 1500]``."""
    names = [layout.columns[n].name for n in (place - 1, place)]
    unnamed = not names[1] and (not names[0] or COUNTS_DATA.fullmatch(names[0]))
    falls, rises = np.diff(value[:, place]) < 0, np.diff(value[:, place - 1])
    within = falls[rises > 0]
    outer = unnamed and good[place - 1] and len(within) > 0 and within.all() and (rises >= 0).all()
    return place - 1 if outer else -1


def _of_each(step: FloatArray, epoch: FloatArray) -> bool:
    """Whether steps are those that each episode took: they fall while it counts each row.

    Or each tenth: what counts all steps does not fall, and within an epoch are several rows.
    """
    falls = (np.diff(step) < 0).any() and len(step) >= FEWEST_FALLS
    apart = np.diff(epoch)
    return bool(falls and apart[0] > 0 and (apart == apart[0]).all())


def _by_course(
    layout: Layout, value: FloatArray, total: FloatArray, good: BoolArray, *, epoch: int
) -> int:
    """Return the column that counts without saying so; -1 where none does."""
    unnamed_first = sorted(range(len(layout.columns)), key=lambda n: bool(layout.columns[n].name))
    for place in unnamed_first:
        name, kind, _ = layout.columns[place]
        if (name and place and not COUNTS_DATA.fullmatch(name)) or place > LATEST:
            continue
        if kind or not good[place] or names_metric(name) or _TIMELY.search(name):
            continue
        mine = value[:, place]
        if epoch >= 0:
            data = not name or COUNTS_DATA.fullmatch(name)
            if data and ((total[:, place] > 0).all() or (place == 0 and _evenly(mine))):
                return place
            continue
        ends = len(mine) > 1 and (mine == mine[0]).all()  # of a bar only its full state is left
        told = not name or COUNTS_DATA.fullmatch(name)  # "Test: [10/30]"
        if (told and not ends and (total[:, place] >= mine).all()) or goes_on(mine):
            return place
        if len(mine) == 1 and not name and place == 0 and len(layout.columns) > 1:
            return place
    return -1


def _evenly(mine: FloatArray) -> bool:
    """Whether numbers mostly rise by one and the same, as a counter does and no clock."""
    gaps = np.diff(mine)
    apart = np.median(gaps) if len(gaps) else 0
    return bool(apart > 0 and (gaps == apart).mean() >= MOSTLY)


def counted_by_name(layout: Layout, value: FloatArray, whole: BoolArray) -> bool:
    """Whether a step stands between a name and its number: ``Validation loss 6312:  0.1499``."""
    if len(layout.columns) < 2 or not names_metric(layout.columns[0].name):  # noqa: PLR2004 - a pair
        return False
    unnamed = not layout.columns[1].name or layout.columns[1].name == f"{layout.columns[0].name}[1]"
    return bool(unnamed and whole[:, 0].all() and not whole[:, 1].all() and goes_on(value[:, 0]))


def goes_on(mine: FloatArray) -> bool:
    """Whether numbers mostly rise, and seldom fall: to where they began, or where a run resumed."""
    if len(mine) < 2:  # noqa: PLR2004 - one number does not go on
        return False
    gaps = np.diff(mine)
    fallen = mine[1:][gaps < 0]
    most = 4 if (fallen <= mine[0]).all() else 10  # of so many rows one may begin a launch
    return bool((gaps > 0).mean() >= MOSTLY and len(fallen) < max(len(mine) / most, 2))


def strays(step: FloatArray) -> bool:
    """Whether steps fall as they rise, and to one place as to another: they count no training."""
    gaps = np.diff(step)
    fallen = step[1:][gaps < 0]
    return bool(len(fallen) >= STRAY * (gaps != 0).sum() and len(unique(fallen)) > FEWEST_FALLS)


def within_epoch(step: FloatArray, epoch: FloatArray, total: FloatArray) -> bool:
    """Whether a counter counts within an epoch: it begins anew with each of them.

    `epoch` is that of each row, NaN where it is not known; `total` what the counter runs to.
    """
    known = ~np.isnan(epoch)
    step, epoch, total = step[known], epoch[known], total[known]
    if not len(step):
        return False
    later, fallen = np.diff(epoch) > 0, np.diff(step) < 0
    if not later.any():
        return bool((total > 0).all())
    if fallen.any():
        return bool((fallen & later).sum() >= MOSTLY * later.sum())
    return False if len(unique(step)) > 1 else bool((total > 0).all() or later.sum() > 1)


def stands_ahead(at: IntArray, marks: IntArray) -> bool:
    """Whether lines `at` are of the mark behind them: of an epoch that is named when it is over.

    The first mark has as many of them before it as there are from one to the next, and the last of
    them may be of an epoch that was cut. Lines `marks` ascend, and so do `at`.
    """
    place = np.searchsorted(marks, at)
    if place[0] or len(marks) < 2:  # noqa: PLR2004 - no way from one to the next
        return bool(at[-1] < marks[-1] and not place[0])
    many = np.bincount(place, minlength=len(marks) + 1)
    between = many[1:-1][many[1:-1] > 0]
    whole = len(between) > 0 and many[0] >= MOSTLY * np.median(between)
    return bool(at[-1] < marks[-1] or (whole and many[-1] <= many[0]))


def one_before(count: FloatArray) -> float:
    """Return what stood before the first number of what counts: 5 of epochs 6, 7, 8; else NaN."""
    apart = np.diff(count)
    rises = apart[apart > 0]
    before = count[0] - rises.min() if len(rises) else 0.0
    return float(before) if before > 0 else NOT_KNOWN


def carried(
    at: IntArray, marks: IntArray, value: FloatArray, *, ahead: bool, over: bool = False
) -> FloatArray:
    """Return the last (or, `ahead`, the next) value at lines `marks` for the lines `at`.

    Of what is named when it is `over` nothing names the next one: it is the number behind.
    """
    place = np.searchsorted(marks, at, side="left") - (0 if ahead else 1)
    inside = (place >= 0) & (place < len(marks))
    beyond = np.nanmax(value) + 1 if ahead and over else NOT_KNOWN
    outside = np.where(place < 0, NOT_KNOWN, beyond)
    return np.where(inside, value[np.clip(place, 0, len(marks) - 1)], outside)
