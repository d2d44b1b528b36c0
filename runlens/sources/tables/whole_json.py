"""A history that lies in one JSON text, in any of the forms in which own loops save it.

A list of epochs; a list of numbers for each name (Keras' ``History.history``); epochs by their
number; the steps and values of each metric (Sacred); each of them beside other things, such as the
arguments of the training.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from runlens.naming import classify, words
from runlens.naming.vocabulary import FILLERS
from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.sources.loose_json import read_through
from runlens.sources.tables import json_curves, json_exports, json_results, json_shapes
from runlens.sources.tables.json_shapes import is_count, measures
from runlens.sources.tables.names import SPLITS, called_after, has_metric, is_step, of_samples
from runlens.sources.tables.no_course import are_apart

Row = dict[str, Any]

ENDING = ".json"
LARGEST = 32 * 2**20  # bytes of a text whose name says nothing: JSON is read as a whole
DEEPEST = 3
FEW_ROWS = 5  # rows that nothing names are a curve from there on
FEWEST_WORDS = 20  # that are each other's next: twenty counts of a run are so by no chance
MOST_NESTED = 200  # trainings in a list
OURS = b'"runlens'
_NAMED = lazy_re(r"(?:.*[_-])?(?:history|losses)(?:[_-].*)?\.json")
_SETTINGS = lazy_re(
    r"(?i)(?:train(?:ing)?_?)?(?:config|cfg|arg(?:ument)?s|options|settings|h(?:yper)?_?param(?:eter)?s|params)"
)
_REASON = lazy_re(r"(?i)(?:stop\w*|end\w*|termination)_?reason|reason_?\w{0,9}_?stop")
_EARLY = lazy_re(r"(?i)early|patience|plateau|no[ _]improvement")
_FIRED = lazy_re(
    r"(?i)(?:was_)?(?:stopped_?early|early_?stop(?:ped|(?:ping)?_?(?:triggered|fired)))"
)
BY = ("step", "epoch")
_COUNTS = {
    "step": "step",
    "timesteps": "step",
    "timestep": "step",
    "iter": "step",
    "epoch": "epoch",
}
# a key of what trainings measure, before the numbers: what is looked for before all is read
_MEASURED = lazy_re(
    rb'(?i)"[^"\\]{0,60}(?:loss|acc|reward|return|error|nll|perplexity|ppl|_ce|lr|score|learn_metrics)'
    rb'[^"\\]{0,60}"\s*:'
)


def is_named(name: str) -> bool:
    """Whether a file, by its name in lower case, may be such a history."""
    return _NAMED.fullmatch(name) is not None


def mentions_metric(head: bytes) -> bool:
    """Whether the beginning of a text has a key that may be that of a metric.

    What RunLens itself writes is no run.
    """
    return OURS not in head and _MEASURED.search(head) is not None


class History(NamedTuple):
    """The rows of a history, its lists that stand at no row (names and lengths), its settings."""

    rows: list[Row]
    left_out: tuple[str, ...] = ()
    settings: Row = {}  # noqa: RUF012 - never changed
    stopped: str = ""  # what says that it was stopped early
    trainings: tuple[str, ...] = ()  # of each row, where there are several
    told: str = ""  # what is wrong with the text
    lost: str = ""  # and what of it could not be read


def history(data: bytes, stem: str = "", *, lone: bool = False) -> History | None:
    """Return the longest history that is in a text; None where none is.

    Numbers without a name, or with that of their split alone, are what the file is called after:
    ``losses.json``. A text that is one row and nothing else is a history where it may stand alone.
    """
    read = read_through(data)
    if read is None or _is_index(read.value):
        return None
    stem = called_after(stem)
    whole = json_exports.set_out(read.value)
    stem = json_curves.stem_of(whole, stem)
    whole = json_curves.named_by_file(whole, stem)
    found = _longest([*_histories(whole, stem)])
    told_of = dict.fromkeys(name for row in found.rows[:FEW_ROWS] for name in row)
    of_classes = json_results.of_classes(whole, told_of)
    apart = are_data(found.rows) or are_apart(found.rows)
    if of_classes or (of_samples(told_of) if found.trainings else apart):
        found = History([])
    folds = found.trainings or json_results.folds(told_of, len(found.rows))
    found = found._replace(trainings=folds)
    measured = has_metric({name for row in found.rows[:FEW_ROWS] for name in row})
    if lone and (not found.rows or (json_results.tells_ends(whole) and not measured)):
        each = json_results.results(whole, stem)
        names = tuple(name for name, _ in each) if len(each) > 1 else ()
        found = History([row for _, row in each], trainings=names)
    elif len(found.rows) == 1 and not measures(found.rows[0]):
        return None
    if not found.rows:
        return None
    beside = whole if isinstance(whole, dict) else {}
    settings = (v for k, v in beside.items() if _SETTINGS.fullmatch(k) and isinstance(v, dict))
    stopped = next((f"{k}: {v}" for k, v in beside.items() if _stopped_early(k, v)), "")
    given = next(settings, _settings(beside))
    return found._replace(settings=given, stopped=stopped, told=read.told, lost=read.lost)


def _is_index(whole: object) -> bool:
    """Whether an object numbers its keys: the words of a vocabulary, whatever some of them say."""
    numbers = list(whole.values()) if isinstance(whole, dict) else []
    counted = len(numbers) >= FEWEST_WORDS and all(map(is_count, numbers))
    return counted and {*numbers} in ({*range(len(numbers))}, {*range(1, len(numbers) + 1)})


def _told_and_long(one: History) -> tuple[bool, int]:
    """Put what a name says to be of a training before 500 timings, and of that the longest."""
    return len(one.rows) > 1 and has_metric(one.rows[0]), len(one.rows)


def _longest(some: list[History]) -> History:
    """Return the longest history; of two that measure the same the one whose rows say their step.

    ``"rows": [{"iteration": 1, "loss": 0.9}, ...]`` beside lists of the same numbers.
    """
    best = max(some, key=_told_and_long, default=History([]))
    said = _last_names(best)
    alike = (one for one in some if len(one.rows) == len(best.rows) and _last_names(one) >= said)
    return next((one for one in alike if one.rows and any(map(is_step, one.rows[0]))), best)


def _last_names(one: History) -> set[str]:
    return {*map(_last, one.rows[0])} if one.rows else set()


def _last(name: str) -> str:
    return name.rpartition("/")[2]


def _settings(beside: Row) -> Row:
    """Return the settings that stand right beside the lists of a history: ``"epochs": 50``."""
    if not any(map(json_shapes.is_curve, beside.values())):
        return {}
    return {k: v for k, v in beside.items() if json_shapes.is_setting(k, v)}


def are_data(rows: list[Row]) -> bool:
    """Whether rows are of no training: nothing counts or measures in them, and texts describe each.

    Or there are but a few, such as the corners of a box.
    """
    names = dict.fromkeys(name for row in rows[:FEW_ROWS] for name in row)
    if of_samples(names):
        return True
    if has_metric(names) or any(map(is_step, names)) or any(map(json_shapes.counted, names)):
        return False
    if any(isinstance(value, dict | list) for row in rows[:FEW_ROWS] for value in row.values()):
        return False
    if any(has_metric([name.rstrip("s")]) for name in names):
        return False  # "cv_scores"
    texts = all(any(isinstance(value, str) for value in row.values()) for row in rows[:FEW_ROWS])
    return texts or len(rows) < FEW_ROWS


def are_samples(rows: list[Row]) -> bool:
    """Whether rows, each a line, are of samples that a text describes: a manifest."""
    return len(rows) > 1 and are_data([dict(json_shapes.leaves(row)) for row in rows])


def _stopped_early(key: str, value: object) -> bool:
    """Whether a text beside a history says that a patience had run out: ``stopped_early: true``."""
    reason = isinstance(value, str) and _REASON.search(key) and _EARLY.search(value)
    return bool(reason) or (value is True and _FIRED.fullmatch(key) is not None)


def _histories(
    value: Any,  # noqa: ANN401 - JSON is of any type
    stem: str = "",
    depth: int = 0,
) -> Iterator[History]:
    """Yield all that can be a history: the whole, and what lies in it."""
    if isinstance(value, list):
        if all(isinstance(row, dict) for row in value):
            rows = [row for row in value if row]
            yield History(rows)
            yield from _of_trainings(list(json_shapes.named_trainings(rows)))
            yield from _within(rows, depth)
        elif depth == 0:
            yield History(json_shapes.of_cells(value, stem))
    elif isinstance(value, dict) and not json_shapes.of_thresholds(value):
        yield History(json_shapes.of_points(value))
        if any(map(json_shapes.is_sacred, value.values())):
            return
        yield History(json_shapes.of_counted_keys(value, stem))
        parts = [*json_shapes.trainings(value)] if depth < DEEPEST else []
        yield from _of_trainings(
            parts or ([] if depth else [*json_shapes.of_settings(value, stem)])
        )
        yield History(stages := json_shapes.of_stages(value))
        if not stages and (apart := _of_counted(value)):
            yield apart
        yield _of_lists(value)
        if depth < DEEPEST:
            for inner in value.values():
                yield from _histories(inner, "", depth + 1)


def _within(rows: list[Row], depth: int) -> Iterator[History]:
    """Yield what lies in objects of a list that hold a training each: ``{"lr": 1, "loss": []}``."""
    nested = [row for row in rows[:MOST_NESTED] if any(map(json_shapes.is_curve, row.values()))]
    first = rows[0].items() if rows else ()
    counted = any(is_step(key) and not isinstance(value, list) for key, value in first)
    if depth >= DEEPEST or counted or not nested or len(rows) > MOST_NESTED:
        return
    if len(rows) == 1:
        yield from _histories(rows[0], "", depth + 1)
    yield from _of_trainings([(f"training ({n})", row) for n, row in enumerate(nested, 1)])


def _of_trainings(parts: list[tuple[str, Any]]) -> Iterator[History]:
    """Yield the rows of trainings that hold the same, one behind the other."""
    each = [
        (name, max(_histories(part, "", 1), key=_told_and_long, default=History([])))
        for name, part in parts
    ]
    named = [frozenset(one.rows[0]) if one.rows else frozenset() for _, one in each]
    least = min(named, key=len, default=frozenset())
    if len(each) > 1 and has_metric(least) and all(least <= one for one in named):
        rows = [row for _, one in each for row in one.rows]
        yield History(rows, trainings=tuple(name for name, one in each for _ in one.rows))


class _Part(NamedTuple):
    """Rows that count themselves, beside others that count on their own."""

    by: str  # "step" or "epoch"
    rows: list[Row]  # their counter is under that name


def _of_counted(whole: Row) -> History | None:
    """Put parts side by side that have steps of their own; None where there are no two.

    ``train_loss`` and ``train_steps`` beside ``val_loss`` and ``val_steps``, each a list; or
    ``train`` and ``val``, lists of rows with a step.
    """
    found = [*_counted_lists(whole), *_counted_rows(whole)]
    rows = Counter(part.by for part in found for _ in part.rows)
    by = max(rows, key=rows.__getitem__, default="")
    parts = [part.rows for part in found if part.by == by]
    if len(parts) < 2:  # noqa: PLR2004 - one part is read as it stands
        return None
    told = {name for some in parts for name in some[0]}
    left_out = tuple(
        f"{name} ({len(some):,} values)"
        for name, some in _lists(whole)
        if len(some) > 1 and name not in told and not _counts(name, some)
    )
    rows_of_all = sorted((row for some in parts for row in some), key=lambda row: row[by])
    return History(rows_of_all, left_out)


def _counted_rows(whole: Row) -> Iterator[_Part]:
    """Yield the lists of rows that all name their step, or all their epoch."""
    lists = {key: some for key, some in whole.items() if isinstance(some, list) and len(some) > 1}
    named = {key: some for key, some in lists.items() if all(isinstance(r, dict) for r in some)}
    often = Counter(name for some in named.values() for name in some[0])
    for key, some in named.items():
        by = next((by for by in BY if all(is_count(row.get(by)) for row in some)), "")
        if by:
            alike = any(often[name] > 1 for name in some[0] if name not in BY)
            before = f"{key}/" if alike or key.lower() in SPLITS else ""
            rows = ({n if n in BY else before + n: v for n, v in row.items()} for row in some)
            yield _Part(by, list(rows))


def _counted_lists(whole: Row) -> Iterator[_Part]:
    """Yield lists of numbers beside one as long that counts on, and is called so."""
    lists = {name: some for name, some in _lists(whole) if len(some) > 1}
    axes = {name: by for name, some in lists.items() if (by := _counts(name, some))}
    for length, axis in {len(lists[name]): name for name in reversed(axes)}.items():
        mine = {n: some for n, some in lists.items() if len(some) == length and n not in axes}
        by, count = axes[axis], lists[axis]
        rows = [
            {by: step} | {n: some[at] for n, some in mine.items()} for at, step in enumerate(count)
        ]
        if mine:
            yield _Part(by, rows)


def _counts(name: str, some: list[Any]) -> str:
    """Return what a list counts by its last word, if its numbers rise; empty: nothing."""
    by = _COUNTS.get((words(name) or ("",))[-1], "")
    rises = all(map(is_count, some)) and all(a < b for a, b in pairwise(some))
    return by if rises else ""


def _of_lists(whole: Row) -> History:
    """Turn lists of numbers into rows, as many as what is measured has; others see `_spread`.

    ``episodes: 500`` beside lists of 500 numbers says what counts them.
    """
    lists = dict(_lists(whole))
    lengths = Counter(len(some) for some in lists.values() if len(some) > 1)
    lengths = lengths or Counter(len(some) for some in lists.values() if some)
    if not lengths:
        return History([])
    measured = Counter(len(some) for name, some in lists.items() if has_metric([name]))
    # what an agent got is what it is judged by: its losses are of updates, which may begin later
    got = [some for name, some in lists.items() if len(some) > 1 and _is_got(name)]
    placed = {one: sum(any(_spread(some, one)) for some in got) for one in lengths}
    length = max(lengths, key=lambda one: (placed[one], measured[one], lengths[one], one))
    rows: list[Row] = [{} for _ in range(length)]
    # of parts of the data, some of which fit by chance: "what": 27 values, "how": 20
    of_parts = {_last(name) for name, some in lists.items() if not any(_spread(some, length))}
    left_out = []
    beside = {name.rpartition("/")[0] for name, some in lists.items() if len(some) == length}
    for name, some in lists.items():
        if name.rpartition("/")[0] not in beside and not has_metric([name]):
            continue  # a setting: the layers of a model, the years of its data
        by_chance = len(some) < length and _last(name) in of_parts
        values = [] if by_chance else list(_spread(some, length))
        if len(some) > 1 and not values:
            left_out.append(f"{name} ({len(some):,} values)")
        for row, value in values:
            rows[row][name] = value
    if any("episode" in words(name) and value == length for name, value in whole.items()):
        rows = [{"episode": number} | row for number, row in enumerate(rows, 1)]
    return History(_without_wrapping(rows), tuple(left_out))


def _without_wrapping(rows: list[Row]) -> list[Row]:
    """Return rows without the key that all of them lie in and that says nothing: ``history/kl``."""
    first = {name.partition("/")[0] for row in rows for name in row}
    (key,) = first if len(first) == 1 else ("",)
    if not key or not FILLERS.issuperset(words(key)) or any(key in row for row in rows):
        return rows
    return [{name.partition("/")[2]: value for name, value in row.items()} for row in rows]


def _is_got(name: str) -> bool:
    """Whether a name is that of what an agent got while it learned."""
    meaning = classify(name)
    return meaning.quantity == "reward" and meaning.split not in json_shapes.HELD_OUT


def _spread(some: list[Any], rows: int) -> Iterator[tuple[int, Any]]:
    """Yield (row, value) of a list: of a shorter one that divides the rows, one after each part.

    So an evaluation every five epochs lies beside a training loss of each. Nothing is known of
    where the values of any other length belong.
    """
    every, left = divmod(rows, len(some)) if some else (0, 1)
    if every and not left:
        yield from zip(range(every - 1, rows, every), some, strict=True)


def _lists(value: Row, prefix: str = "", depth: int = 0) -> Iterator[tuple[str, list[Any]]]:
    """Yield lists of no rows, named by their path: ``train/loss``."""
    for key, inner in value.items():
        if isinstance(inner, list) and not any(isinstance(one, dict | list) for one in inner):
            yield f"{prefix}{key}", inner
        elif isinstance(inner, dict) and depth < DEEPEST and not json_shapes.of_thresholds(inner):
            yield from _lists(inner, f"{prefix}{key}/", depth + 1)
