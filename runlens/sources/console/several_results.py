"""Results of several trainings, one a line, in a log that shows no course of any of them.

Launches append one behind their settings, and a summary has a row for each: ``large_net 200
-0.032``. Each is a training of a single point.
"""

import re
from collections.abc import Sequence
from itertools import pairwise, takewhile

import numpy as np

from runlens.config_keys import KNOWN_KEYS, canonical_key
from runlens.naming import words
from runlens.patterns import lazy_re
from runlens.sources.console.counters import Counted
from runlens.sources.console.mining.heads import Head, head, of_named_row
from runlens.sources.console.mining.slots import parts
from runlens.sources.console.records import Placed, Record
from runlens.sources.console.rows import Epochs, Found, Row
from runlens.sources.console.telling import tells

SEVERAL = (
    "holds results of several trainings and no course of one, so each was read as a single point"
)
FEWEST = 2  # results
BATCH = "per_device_train_batch_size"
LONGEST = 2_000  # characters of a line of settings
_SETTINGS = lazy_re(r"Namespace\(|\{['\"]\w+['\"]: ")
_ASSIGNED = lazy_re(r"\b([A-Za-z]\w{0,40})\s?[=:]\s?[\w.+-]")
_RULE = lazy_re(r"[-=+*#_~|│┃─━┄┼╋┌┐└┘├┤┬┴╒╕╘╛╞╡╪═║\s:]{3,}")
# a title of the results that a training ended in
_FINAL = lazy_re(
    r"\W{0,20}(?:final|overall|итогов\w*|финальн\w*|最终)\b[^\d:=]{0,60}\W{0,20}", re.IGNORECASE
)
_FOLD = lazy_re(r"\b(?:fold|seed)[ _:=#-]{0,3}(\d{1,6})\b", re.IGNORECASE)
_COURSE = lazy_re(r"epoch|step|iter|episode|round|batch", re.IGNORECASE)
_OF_SETTING = lazy_re(r"(?i)\b(?:setting|configuration): ?[A-Za-z][\w.+-]*[ ,;|]")
_Line = tuple[int, str]


def below_names(others: Sequence[_Line]) -> list[Row]:
    """Return the rows of a table whose first cell is a word, another one in each."""
    names: Head | None = None
    rows: list[tuple[str, Row]] = []
    above = ""
    for at, line in others:
        taken = parts(line)
        if not taken.slots:
            rule = _RULE.fullmatch(line.strip()) is not None
            names = names if rule else head(line, above)
        elif names and (found := of_named_row(line, names)):
            word, said, slots = found
            values = [slot.value for slot in slots]
            count = next((n for n, column in enumerate(said.columns) if column.kind), -1)
            step = int(values[count]) if count >= 0 and values[count].is_integer() else -1
            named = [n for n, column in enumerate(said.columns) if not column.kind]
            row = Row(
                at,
                Counted(step=step),
                tuple(said.columns[n].name for n in named),
                tuple(values[n] for n in named),
            )
            rows.append((word, row))
        above = line
    words = [word for word, _ in rows]
    told = any(map(tells, {name for _, row in rows for name in row.names}))
    return [row for _, row in rows] if told and len(set(words)) == len(words) >= FEWEST else []


def of_launches(others: Sequence[_Line], results: Sequence[Row]) -> list[Row]:
    """Return results that stand behind settings of their own; none of others."""
    settings = [at for at, line in others if _are_settings(line)]
    begun = np.searchsorted(settings, [row.at for row in results], side="right").tolist()
    own = begun[:1] != [0] and all(a < b for a, b in pairwise(begun))
    return list(results) if len(results) >= FEWEST and own else []


def finals(others: Sequence[_Line], results: Sequence[Row]) -> list[Row]:
    """Return the results below titles that call them final, each of a training; none of others.

    ``--- Final results ---`` above ``Accuracy: 0.41`` and ``F1: 0.37``, and again for the next.
    """
    titles = [n for n, (_, line) in enumerate(others) if _FINAL.fullmatch(line)]
    known = {row.at: row for row in results}
    found = []
    for title in titles:
        below = takewhile(lambda item: item[0] in known, others[title + 1 :])
        some = [known[at] for at, _ in below]
        names = tuple(name for row in some for name in row.names)
        values = tuple(value for row in some for value in row.values)
        if some and len(set(names)) == len(names):
            found.append(Row(some[0].at, Counted(), names, values))
    alike = {row.names for row in found}
    return found if len(alike) == 1 and len(found) >= FEWEST else []


def _are_settings(line: str) -> bool:
    """Whether a line holds a dict or an object of settings, or some of them by name."""
    named = _ASSIGNED.findall(line) if len(line) <= LONGEST else []
    return _SETTINGS.search(line) is not None or not KNOWN_KEYS.isdisjoint(
        map(canonical_key, named)
    )


def apart(rows: Sequence[Row]) -> Found:
    """Return each row as a training of its own."""
    number = np.arange(len(rows), dtype=np.int64)
    step = np.array([max(row.counted.step, 1) for row in rows], dtype=np.int64)
    records = [Record(row.at, row.names, row.values) for row in rows]
    return Found(records, Placed(step, number, inferred=True, training=number))


def of_folds(found: Found, others: Sequence[_Line]) -> Found | None:
    """Return results apart that only their fold, or seed, numbers: ``Fold 3: accuracy 0.81``.

    None for others: what names an epoch or a step beside it is of a course.
    """
    lines = dict(others)
    mine = [lines.get(record.at, "") for record in found.records]
    said = [fold for line in mine if (fold := _FOLD.search(line)) and not _COURSE.search(line)]
    number = np.array([int(fold[1]) for fold in said])
    if len(said) < len(mine) or len(set(number.tolist())) < FEWEST:
        return None
    again = np.diff(number) < 0  # of another launch
    if not np.array_equal(np.diff(number)[~again], np.diff(found.placed.step)[~again]):
        return None
    launch = np.cumsum(np.concatenate([[False], again]))
    of_each = launch * (int(number.max()) + 1) + number
    training = np.unique(of_each, return_inverse=True)[1].astype(np.int64)
    step = np.ones(len(number), dtype=np.int64)
    records = [one._replace(names=tuple(map(_of_fold, one.names))) for one in found.records]
    return Found(records, Placed(step, training, inferred=True, training=training))


def _of_fold(name: str) -> str:
    """Return what a score is that a fold ended with: no agent has any."""
    return "fold score" if words(name)[-1:] == ("score",) else name


def of_own_settings(found: Found) -> Found:
    """Tell results apart most of which were printed with their batch size, and that count nothing.

    A course has one batch size, or a step; epochs that do not go on are how many each was given.
    Results of two forms were numbered from one on in each, so that steps which fall are others;
    steps that begin higher, or leave some out, are those that rows name.
    """
    placed, records = found.placed, found.records
    apart = np.diff(placed.step, prepend=placed.step[:1])
    counted = bool((apart > 1).any() or (placed.step[:1] > 1).any())
    number = np.cumsum(apart != 0)
    each = range(int(number.max(initial=-1)) + 1)
    sized = {at for at, row in zip(number.tolist(), records, strict=True) if _sized(row.names)}
    epochs = {at: row.epoch for at, row in zip(number.tolist(), records, strict=True)}
    goes_on = bool((np.diff([epochs[at] for at in each]) > 0).all())
    one = placed.training is None or not placed.training.any()
    few = len(each) < FEWEST or 2 * len(sized) <= len(each)
    if counted or not (placed.inferred and one) or goes_on or few:
        return found
    step = np.ones(len(number), dtype=np.int64)
    given = tuple(Epochs(epochs[at], epochs[at], -1) for at in each if epochs[at] > 0)
    placed = Placed(step, number, inferred=True, training=number)
    told = given if len(given) == len(each) else ()
    return Found(records, placed, found.framework, epochs=told)


def with_setting(found: Found, others: Sequence[_Line]) -> Found | None:
    """Return results apart that all say the setting they are of: ``Setting: 5shot, Acc = 48 %``.

    Launches append them to one file. None for others: rows of a course count something, or say it
    once above.
    """
    placed, records = found.placed, found.records
    lines = dict(others)
    named = all(_OF_SETTING.search(lines.get(row.at, "")) for row in records)
    one = placed.training is None or not placed.training.any()
    one = one and not any(row.epoch >= 0 for row in records)
    number = np.unique([row.at for row in records], return_inverse=True)[1].astype(np.int64)
    if not (named and placed.inferred and one) or number.max(initial=0) + 1 < FEWEST:
        return None
    step = np.ones(len(number), dtype=np.int64)
    placed = Placed(step, number, inferred=True, training=number)
    return Found(records, placed, found.framework)


def _sized(names: Sequence[str]) -> bool:
    return any(canonical_key(name) == BATCH for name in names)
