"""Tables that are no course of a training, though they measure: rows of things, and of thresholds.

The scores of each class by its name, those of each file; what a classifier gets at each threshold
from 0.1 to 0.9; data whose categories are columns of 0 and 1; samples by their number; a grid of
all that may be chosen. Nothing counts in them, and the order of their rows is that of no time.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from runlens.arrays import unique
from runlens.history import FloatArray
from runlens.metrics import plain
from runlens.naming import classify, words
from runlens.naming.vocabulary import THRESHOLDS
from runlens.patterns import lazy_re
from runlens.sources.reading import as_number
from runlens.sources.tables.held import Column, Table
from runlens.sources.tables.names import (
    EPISODES,
    SAMPLES,
    SPLITS,
    has_metric,
    is_step,
    keeps_words,
    measures_training,
)

FEWEST = 3  # things, or thresholds: of two rows nothing is sure
CHANGES = 0.5  # share of the rows that name another thing than the one before
FLAGS = 5  # columns of yes or no: a training logs whether it is the best so far, and little else
GRID = 3  # columns of a grid: of two, one may be the epoch and one the batch, whatever their names
RANKS = {"rank", "ranking", "ranks"}  # of what is best first
REPORT = {"precision", "recall", "support"}  # of each class, in a report of scikit-learn
OF_DATA = lazy_re(r"(?i)\.(?:npy|png|jpe?g|tiff?|bmp|gif|wav|mp3|flac|mp4|avi|txt|nii|gz|dcm|xml)$")
_DIGITS = lazy_re(r"\d+")
# words beside which it is still the threshold of the rows itself: no "threshold_loss"
_BESIDE = {"score", "conf", "confidence", "prob", "probability", "decision", "iou", "tag", "value"}


def of_no_course(table: Table, counter: str, path: Path) -> str:
    """Return what tells that rows which nothing counts are no curve; "" where nothing does.

    Rows that a `counter` counts are one, but for the episodes of a file called after its tests, and
    for what stands in the order of its score: a rank is no time.
    """
    if plain(counter) in RANKS:
        return f"is a list in the order of its {counter}, no curve"
    if counter:
        tested = plain(counter) in EPISODES and _of_tests(table.columns, counter, path)
        return "holds the episodes of a test, no course of a training" if tested else ""
    for name, said in table.words.items():
        texts = [*said.values()]
        known = keeps_words(name) or has_metric([name])
        known = known and not (plain(name) == "name" and any(map(OF_DATA.search, texts)))
        things = are_things(texts) or _names_each(name, texts, table.columns)
        if not known and len(said) == table.rows and things:
            return f"is a table, no curve: each row is named by its {name or 'first cell'}"
    if name := _threshold(table.columns):
        return f"is a table, no curve: each row is of a {name}"
    if is_report(table.columns):
        return "is a table, no curve: each row is of a class, which has a support"
    if name := numbers_samples(table.columns, table.rows):
        return f"is a table, no curve: each row is a sample by its {name}"
    if grid := _grid(table):
        return f"is a table, no curve: its rows are what {', '.join(grid)} may be, each with each"
    flags = sum(map(_is_flag, table.columns.values()))
    return f"is a table of data, no curve: {flags} columns are 0 or 1" if flags >= FLAGS else ""


def _of_tests(columns: Mapping[str, Column], counter: str, path: Path) -> bool:
    """Whether a file says that it holds episodes of a test, each of them, and no loss has one.

    ``test_rewards.csv`` may say of each episode of a training how the agent did in a test; so does
    one with a test of every tenth.
    """
    called = {*words(path.stem)}
    tests = "episode" in called and not called.isdisjoint({"val", "test"})
    each = (np.diff(columns[counter].value) == 1).all() if tests else False
    return bool(each) and not any(classify(name).quantity == "loss" for name in columns)


def are_things(texts: Sequence[str]) -> bool:
    """Whether texts name things: they differ from row to row in more than a number, and the data.

    ``Epoch 1, Epoch 2`` count, and so do times; a text that stays says how far a training came.
    Files of data are samples, whatever their numbers.
    """
    if len({*texts}) >= FEWEST and all(map(OF_DATA.search, texts)):
        return True
    stems = [_DIGITS.sub("", text).strip().lower() for text in texts]
    others = {*stems} - SPLITS.keys()
    apart = sum(one != other for one, other in pairwise(stems))
    return len(others) >= FEWEST and apart >= CHANGES * (len(stems) - 1)


def _names_each(name: str, texts: Sequence[str], beside: Collection[str]) -> bool:
    """Whether a column says by a name of each row which one it is, in whatever numbers they differ.

    ``id`` of ``TC-1, TC-2``. What trainings alone measure may be of one by its id.
    """
    called = plain(name) in SAMPLES or plain(name).endswith("_id")
    apart = len({*texts}) == len(texts) >= FEWEST
    return called and apart and not measures_training(beside)


def is_report(names: Iterable[str]) -> bool:
    """Whether names are those of a report of classes: how many rows each has is its support."""
    return {*map(plain, names)} >= REPORT


def numbers_samples(columns: Mapping[str, Column], rows: int) -> str:
    """Return the column that numbers samples, beside what trainings alone measure nothing; or "".

    A database numbers the rows of a log as well, which have a loss or a reward.
    """
    if measures_training(columns):
        return ""
    ids = (name for name in columns if plain(name) in SAMPLES)
    return next((n for n in ids if len(unique(columns[n].value)) == rows >= FEWEST), "")


def _grid(table: Table) -> list[str]:
    """Return the first columns if their rows are all pairings of their values, in order."""
    if any(map(is_step, table.columns)):
        return []
    names: list[str] = []
    place, runs = np.zeros(table.rows, dtype=np.int64), 1
    for name, column in table.columns.items():
        values, first, code = np.unique(column.value, return_index=True, return_inverse=True)
        if len(code) < table.rows or len(values) == 1 or runs * len(values) > table.rows:
            break
        place = place * len(values) + np.argsort(np.argsort(first))[code]
        names, runs = [*names, name], runs * len(values)
    whole = runs == table.rows and (place == np.arange(table.rows)).all()
    return names if whole and len(names) >= GRID else []


def are_apart(rows: Sequence[Mapping[str, object]]) -> bool:
    """Whether rows of a list are of things by name, of classes, or of a threshold each."""
    names = dict.fromkeys(name for row in rows for name in row)
    first = next(iter(names), "")
    said = [row.get(first) for row in rows]
    texts = [text for text in said if isinstance(text, str)]
    known = keeps_words(first) or has_metric([first]) or any(map(is_step, names))
    if is_report(names):
        return True
    things = are_things(texts) or _names_each(first, texts, names)
    if not known and len(texts) == len(rows) and things:
        return True
    numbers = {name: [as_number(row.get(name)) for row in rows] for name in _limits(names)}
    return bool(_rising({n: np.array(some) for n, some in numbers.items() if None not in some}))


def _threshold(columns: Mapping[str, Column]) -> str:
    rows = max((len(column.row) for column in columns.values()), default=0)
    known = (name for name in _limits(columns) if len(columns[name].row) == rows)
    return _rising({name: columns[name].value for name in known})


def _is_flag(column: Column) -> bool:
    """Whether a column says yes or no, again and again: what is drawn of categories."""
    value = column.value
    switches = np.count_nonzero(value[1:] != value[:-1])
    return bool(switches >= FEWEST and np.isin(value, (0, 1)).all())


def _limits(names: Collection[str]) -> Iterable[str]:
    """Yield the names of thresholds; none beside a step, or a loss."""
    if any(is_step(name) or classify(name).quantity == "loss" for name in names):
        return
    for name in names:
        said = {*words(plain(name))}
        if said & THRESHOLDS and said <= THRESHOLDS | _BESIDE:
            yield name


def _rising(columns: Mapping[str, FloatArray]) -> str:
    """Return the first column that goes up, or down, from row to row."""
    for name, value in columns.items():
        up, down = value[1:] > value[:-1], value[1:] < value[:-1]
        if len(value) >= FEWEST and (up.all() or down.all()):
            return name
    return ""
