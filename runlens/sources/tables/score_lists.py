"""Tables of a result, set out below a line of names: a score in each row, a report, folds.

``metric,value`` above ``accuracy,0.93``, of one model or of several named beside it; the report
that scikit-learn makes and pandas saves; rows of a table that sum up the others, ``mean,0.92`` and
``std,0.01``, are left out.
"""

import csv
import io
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice

from runlens.metrics import plain
from runlens.naming import words as words_of
from runlens.patterns import lazy_re
from runlens.sources.reading import as_number
from runlens.sources.tables.names import (
    LABELS,
    TIMES,
    TRAININGS,
    VALUES,
    has_metric,
    is_step,
    judges,
)

MOST = 200  # lines of a table that is looked at
WIDEST = 20_000  # characters of it
FEWEST = 2  # rows
PAIR = 2  # cells
MOSTLY = 0.5  # share of the names by which a training is judged: others are beside them
_NAMES = {"", "metrics", "measures", "parameter", "statistic", "index", *LABELS}
_VALUES = {"score", "scores", "values", "result", "results", "0", *VALUES}
_REPORT = ["precision", "recall", "f1_score", "support"]
_OF_ALL = lazy_re(r"(?i)(?:macro|micro|weighted|samples) avg|avg / total")
_SUMMARY = lazy_re(
    r"(?i)(?:mean|avg\.?|average|std|std\.? ?dev\.?|stdev|sd|median|min|max|var|variance)"
    r"(?: ?[±+/-]+ ?std)?"
)
_COUNTED = lazy_re(r"(?i)[,;\t]\s*(?:epoch|step|iter(?:ation)?|round|generation)[\W_]?\d+\s*[,;\t]")
_PERCENT = lazy_re(r"\s*[-+]?\d+(?:\.\d+)?\s*%\s*")

_Rows = Sequence[Sequence[str]]


def set_out(text: str) -> str:
    """Return a table of a result with its names above its numbers; others as they are."""
    if len(text) > WIDEST or text.count("\n") > MOST:
        return text
    first = text.lstrip("\n").partition("\n")[0]
    mark = max(",;\t", key=first.count)
    if _COUNTED.search(first):
        return text  # a curve along its row
    rows: list[list[str]] = []
    with suppress(csv.Error):
        found = csv.reader(io.StringIO(text), delimiter=mark, skipinitialspace=True)
        rows.extend([cell.strip() for cell in row] for row in islice(found, MOST) if row)
    if len({len(row) for row in rows}) != 1 or mark not in first:
        return text
    forms = (_of_report, _of_scores, _of_items, _upright, _without_summary)
    return _written(next(filter(None, (form(rows) for form in forms)), ()), mark) or text


def _written(rows: _Rows, mark: str) -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=mark, lineterminator="\n").writerows(rows)
    return out.getvalue()


def _of_report(rows: _Rows) -> _Rows:
    """Return the names and numbers of all classes; nothing of other tables."""
    if list(map(plain, rows[0][1:])) != _REPORT:
        return ()
    named: dict[str, str] = {}
    for label, *cells in rows[1:]:
        if label == "accuracy":
            named[label] = next(filter(None, cells), "")
        elif _OF_ALL.fullmatch(label):
            named |= {f"{label} {n}": cell for n, cell in zip(_REPORT[:-1], cells, strict=False)}
    return (list(named), list(named.values())) if named else ()


def _of_scores(rows: _Rows) -> _Rows:
    """Return the names of a list of scores above its numbers; nothing of other tables."""
    titled = plain(rows[0][0]) in _NAMES and plain(rows[0][1]) in _VALUES
    below = rows[titled:]
    names, cells = [row[0] for row in below], [row[1] for row in below]
    known = sum(map(judges, names))
    measured = (cell for name, cell in below if judges(name)) if len(rows[0]) == PAIR else ()
    numbers = all(as_number(cell) is not None or _PERCENT.fullmatch(cell) for cell in measured)
    one_each = len(set(names)) == len(names) >= FEWEST and not any(map(is_step, names))
    if len(rows[0]) != PAIR or not (one_each and numbers and known >= max(1, MOSTLY * len(names))):
        return ()
    return (names, cells)


def _of_items(rows: _Rows) -> _Rows:
    """Return the score of each item under the words beside it; nothing of other tables.

    ``target,model,metric,value``, in which nothing counts and each item has a metric once; one of
    its words names what was trained.
    """
    head = list(map(plain, rows[0]))
    label = [n for n, name in enumerate(head) if name in LABELS]
    value = [n for n, name in enumerate(head) if name in VALUES]
    beside = [n for n, name in enumerate(head) if n not in label + value and name not in TIMES]
    if len(label) != 1 or len(value) != 1 or not beside or any(map(is_step, head)):
        return ()
    below = rows[1:]
    words = all(as_number(row[n]) is None for row in below for n in beside)
    numbers = all(as_number(row[value[0]]) is not None for row in below)
    names = [" ".join(row[n] for n in [*beside, *label]) for row in below]
    one_each = len(set(names)) == len(names) >= FEWEST
    trained = any(TRAININGS & set(words_of(rows[0][n])) for n in beside)
    known = trained and all(judges(row[label[0]]) for row in below)
    return (
        (names, [row[value[0]] for row in below])
        if words and numbers and one_each and known
        else ()
    )


def _upright(rows: _Rows) -> _Rows:
    """Return a row for each model of a table that has a column for each; nothing of others."""
    first, *below = rows
    models = first[1:]
    numbers = all(as_number(cell) is not None for row in below for cell in row[1:])
    known = below and all(judges(row[0]) for row in below) and plain(first[0]) in _NAMES
    words = not any(as_number(name) is not None or judges(name) or is_step(name) for name in models)
    if not (known and numbers and words and len(models) >= FEWEST):
        return ()
    names, *columns = zip(*rows, strict=True)
    return [["model", *names[1:]], *map(list, columns)]


def _without_summary(rows: _Rows) -> _Rows:
    """Return a table without the rows that sum up those before; nothing where none does."""
    ends = [n for n, row in enumerate(rows) if any(_SUMMARY.fullmatch(cell) for cell in row[:1])]
    above = rows[1 : ends[0]] if ends else []
    last = ends == list(range(len(rows) - len(ends), len(rows)))
    return rows[: ends[0]] if last and len(above) >= FEWEST and has_metric(rows[0]) else ()
