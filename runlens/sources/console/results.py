"""The result of a training that a short log ends in, where it shows no course of it."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from runlens.config_keys import KNOWN_KEYS, canonical_key
from runlens.naming import classify
from runlens.patterns import lazy_re
from runlens.run import RESULTS_ALONE, Problem
from runlens.sources.console.bare import (
    FEWEST,
    NUMBERS,
    UNWRITTEN,
    bare,
    numbers_of,
    of_role,
    told_of,
    written,
)
from runlens.sources.console.beside_names import apart_in
from runlens.sources.console.bests import TOLD as BESTS
from runlens.sources.console.bests import bests
from runlens.sources.console.between import between_lines
from runlens.sources.console.counters import Counted
from runlens.sources.console.data_alone import rows_of_data
from runlens.sources.console.events import HEADER
from runlens.sources.console.left_results import lone_results, with_left
from runlens.sources.console.lists_apart import with_lists_apart
from runlens.sources.console.mining.layouts import layouts
from runlens.sources.console.mining.phrases import SPLIT
from runlens.sources.console.mining.plain_lines import plain
from runlens.sources.console.mining.prefixes import without_prefix
from runlens.sources.console.mining.table import Table, tabled
from runlens.sources.console.named_scores import of_models, scores
from runlens.sources.console.one_line import parted
from runlens.sources.console.r_vectors import as_lists
from runlens.sources.console.rows import Found, Row, placed
from runlens.sources.console.run_summaries import run_summaries
from runlens.sources.console.said_results import may_say, of_reports, said_results
from runlens.sources.console.score_tables import score_table
from runlens.sources.console.searches import TOLD as SEARCHED
from runlens.sources.console.searches import choices
from runlens.sources.console.several_results import (
    SEVERAL,
    apart,
    below_names,
    finals,
    of_folds,
    of_launches,
)
from runlens.sources.console.sorting import EXCERPT
from runlens.sources.console.tables import of_checkpoints
from runlens.sources.console.telling import tells
from runlens.sources.console.unnamed_lists import BREAKS_OFF, breaks_off
from runlens.sources.reading import as_number
from runlens.sources.tables import whole_json
from runlens.sources.tables.names import called_after, has_metric
from runlens.sources.tables.unnamed import LOSSES, STEP, of_power, of_quotient
from runlens.wording import count

TOLD = RESULTS_ALONE
OF_CHECKPOINTS = "holds results of single checkpoints, so each was read as a training of one row"
LONGEST = 5_000  # lines of a log in which results are looked for
NEAR = 8  # lines between results of one evaluation
WITH_POWER = ("loss", "ppl")
_UNNAMED = lazy_re(r"column \d+")
_OF_ALL = lazy_re(r"\b(?:best|final|overall)\b\s*", re.IGNORECASE)
_OF_TRIAL = lazy_re(r"(?:^|[_ ])(?:result|value|target)$", re.IGNORECASE)  # of a search
# what PyTorch printed around the number of a tensor, before it had scalars
_OF_TENSOR = lazy_re(r"\s*(?:Variable containing:|\[torch\.[\w.]+ of size [^\]]{1,40}\])\s*")
_BRACKETS = (("[", "]"), ("{", "}"), ("(", ")"))
_VALUE = lazy_re(rb"\s*(?:[\w.]{1,40}\()?(?:[\[(]\s*[\[({\d.-]|\{)")


def without_course(
    found: Found, others: Sequence[tuple[int, str]], path: Path
) -> tuple[Found, tuple[Problem, ...]]:
    """Return what a log holds that has no rows with names: bare numbers, else results.

    A single row that was found is one of the results of several models.
    """
    if found.records:
        return _named(found, others, path)
    stem, others = called_after(path.stem), with_lists_apart(as_lists(others))
    others = [(at, line) for at, line in others if not _OF_TENSOR.fullmatch(line)]
    others = apart_in(others, stem)
    if rows := in_one_piece(others, stem) or rows_of_data(parted(others)):
        return placed(rows), ()
    if numbers := bare(kept := _before_error(others), stem):
        from runlens.sources.saved_numbers import ENDINGS  # which reads text by the console

        rows = written(numbers, stem, at_once=path.suffix.lower() in ENDINGS)
        named = of_role(rows, stem)
        told = [Problem(str(path), told_of(rows, named))]
        if left := len(numbers) - len(rows):
            told.append(Problem(str(path), UNWRITTEN, count(left, "row")))
        if breaks_off("\n".join(line for _, line in kept)):
            told.append(Problem(str(path), BREAKS_OFF, "the rest"))
        return _with_told(placed(named)), tuple(told)
    if tried := choices(others):
        return apart(tried), (Problem(str(path), SEARCHED),)
    if several := of_checkpoints(others):
        each = [row._replace(counted=Counted(step=row.counted.epoch)) for row in several]
        return apart(each), (Problem(str(path), OF_CHECKPOINTS),)
    if rows := between_lines(others, stem, numbers_of):
        return placed(rows), (Problem(str(path), NUMBERS),)
    every = _all_results(others)
    launches = of_launches(others, every) or finals(others, every)
    if each := below_names(others) or launches or scores(others):
        return apart(each), (Problem(str(path), SEVERAL),)
    return _of_words(others, path, stem)


def _before_error(others: Sequence[tuple[int, str]]) -> Sequence[tuple[int, str]]:
    """Return the lines above an error of Python that ended the log: it is none of its rows."""
    error = next((n for n, (_, line) in enumerate(others) if line.startswith(HEADER)), len(others))
    return others[:error]


def _named(
    found: Found, others: Sequence[tuple[int, str]], path: Path
) -> tuple[Found, tuple[Problem, ...]]:
    """Return the rows that were found; or better ones, where they have no name, or are one."""
    found = _with_told(found)
    names = {name for row in found.records for name in row.names}
    if all(map(_UNNAMED.fullmatch, names)) and (rows := rows_of_data(parted(others))):
        return placed(rows), ()
    each = scores(others)
    same = {record.at for record in found.records} == {row.at for row in each}
    each = each if len(found.records) == 1 or (same and of_models(others)) else []
    several = apart(each) if each else of_folds(found, others)
    return (several, (Problem(str(path), SEVERAL),)) if several else (with_left(found, others), ())


def _with_told(found: Found) -> Found:
    """Return rows without names with those of two columns that a third, or the other, tells.

    Losses of both data before their quotient; a loss before its perplexity.
    """
    names = {record.names for record in found.records}
    only = next(iter(names)) if len(names) == 1 else ()
    if len(only) < len(LOSSES) or not all(map(_UNNAMED.fullmatch, only)):
        return found
    table = np.array([record.values for record in found.records], dtype=np.float64)
    told = ((of_quotient(table), LOSSES), (of_power(table), WITH_POWER))
    place, both = next((one for one in told if one[0] >= 0), (-1, ()))
    named = (*only[:place], *both, *only[place + len(both) :])
    records = [record._replace(names=named) for record in found.records]
    return found if place < 0 else found._replace(records=records)


def _of_words(
    others: Sequence[tuple[int, str]], path: Path, stem: str
) -> tuple[Found, tuple[Problem, ...]]:
    """Return what a summary or sentences say: what was best, what came out."""
    if (summed := run_summaries(others)).records:
        return summed, (Problem(str(path), TOLD if len(summed.records) == 1 else SEVERAL),)
    if rows := bests(others):
        return placed(rows), (Problem(str(path), BESTS),)
    said = may_say(path)
    if rows := score_table(others) if said else []:
        told = TOLD if len(rows) == 1 else SEVERAL
        return apart(rows), (Problem(str(path), told),)
    if rows := results(others):
        return with_left(placed(rows), others), (Problem(str(path), TOLD),)
    rows, several = said_results(others, stem) if said else of_reports(others)
    if not rows:
        rows, several = lone_results(others), False
    found = apart(rows) if several else placed(rows)
    return found, (Problem(str(path), SEVERAL if several else TOLD),) if rows else ()


def in_one_piece(others: Sequence[tuple[int, str]], stem: str) -> list[Row]:
    """Return the rows of a log that is one value of JSON or Python: ``[(0.9, 1.1), (0.7, 1.0)]``.

    Its curves have no name but that of their file.
    """
    lines = [line for _, line in others]
    first, text = lines[0] if lines else "", "\n".join(lines).encode()
    several = len(lines) > 1 and all(first.count(a) == first.count(b) for a, b in _BRACKETS)
    found = whole_json.history(text, stem) if _VALUE.match(text) and not several else None
    if not found or found.lost or found.trainings or len(found.rows) < FEWEST:
        return []
    at = others[0][0]
    rows = [
        {name: n for name, value in row.items() if (n := as_number(value)) is not None}
        for row in found.rows
    ]
    steps = [int(row.pop(STEP, -1)) for row in rows]
    named = {name for row in rows for name in row}
    if not has_metric({stem, *named}):
        return []
    return [
        Row(at, Counted(step=step), tuple(row), tuple(row.values()))
        for step, row in zip(steps, rows, strict=True)
    ]


def results(others: Sequence[tuple[int, str]]) -> list[Row]:
    """Return a row for each line of a log that says a result: ``BEST ACCURACY: 0.78``.

    Its number was computed, and set off from its name: sentences have others. In a log that is not
    short it stands near results on the data of the training and on held-out ones.
    """
    if len(others) > LONGEST:
        return []
    rows = [row for table in _tables(others) if len(table.line) == 1 for row in _results(table)]
    return rows if len(others) <= EXCERPT else _near_twins(rows)


def _all_results(others: Sequence[tuple[int, str]]) -> list[Row]:
    """Return a row for each line of a log that says a result, in their order."""
    if len(others) > LONGEST:
        return []
    rows = [row for table in _tables(others) for row in _results(table)]
    trials = [row for table in _tables(others) for row in _results(table, _OF_TRIAL)]
    if len({row.names for row in trials}) == 1:  # settings have several values
        rows = rows or trials
    return sorted(rows, key=lambda row: row.at)


def _tables(others: Sequence[tuple[int, str]]) -> Iterator[Table]:
    return (tabled(one) for one in layouts(plain(without_prefix(others)), {}))


def _near_twins(rows: Sequence[Row]) -> list[Row]:
    """Return the rows around those that name what was measured on both kinds of data."""
    split = [(row.at, {classify(name).split for name in row.names} - {""}) for row in rows]
    trained = [at for at, some in split if "train" in some]
    held = [at for at, some in split if some & {"val", "test"}]
    twins = [at for at in trained if any(abs(at - other) <= NEAR for other in held)]
    return [row for row in rows if any(abs(row.at - at) <= NEAR for at in twins)]


def _results(table: Table, called: re.Pattern[str] | None = None) -> list[Row]:
    """Return the rows of lines that say results; nothing where they say something else.

    Results are what trainings are judged by, or what is `called` so.
    """
    of_data = sum(SPLIT.fullmatch(name) is not None for name in table.names) > 1
    named = list(enumerate(table.names))
    mine = [n for n, name in named if _judges(name, of_data=of_data)]
    mine = [n for n, name in named if called.search(name)][:1] if called else mine
    value = table.value[:, mine]
    counted = table.layout.array()[2][:, mine]  # written as whole numbers
    split = any(classify(table.names[n]).split for n in mine)  # of all the data 1.0000 may be right
    whole = counted.all() if split else (value == np.floor(value)).all()
    said = sum(map(bool, table.names))
    tried = any(_OF_ALL.search(table.names[n]) for n in mine) and any(
        canonical_key(name) in KNOWN_KEYS for name in table.names
    )
    listed = any("[" in name for name in table.names)  # scores of classes
    few = 2 * len(mine) < said and not (called or tried)  # a trial is told with what it tried
    if not mine or listed or few or whole or not (table.bound or called or of_data):
        return []
    names = tuple(table.names[n] for n in mine)
    lines = zip(table.line.tolist(), value.tolist(), strict=True)
    return [Row(at, Counted(), names, tuple(values)) for at, values in lines]


def _judges(name: str, *, of_data: bool) -> bool:
    """Whether a training is judged by a number of this name, its best or last one too."""
    if of_data and SPLIT.fullmatch(name):
        return True
    return canonical_key(name) not in KNOWN_KEYS and tells(_OF_ALL.sub("", name))
