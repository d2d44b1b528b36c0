"""The text of a table as rows of cells, whatever program saved it and however it stands.

Columns without names are numbered. A table that lies on its side, with a curve in each row, is set
upright.
"""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain, islice, zip_longest

import numpy as np

from runlens.history import FloatArray
from runlens.metrics import plain
from runlens.naming import words
from runlens.patterns import lazy_re
from runlens.sources.decimals import with_points
from runlens.sources.reading import as_number
from runlens.sources.tables import paired, score_lists
from runlens.sources.tables.axis import counts
from runlens.sources.tables.by_numbers import called_by_numbers, is_series, numbered_by_pandas
from runlens.sources.tables.listed import upright
from runlens.sources.tables.marks import with_tabs
from runlens.sources.tables.named_cells import set_out
from runlens.sources.tables.names import EPOCHS, SPLITS, SURE_STEPS, has_metric, is_step
from runlens.sources.tables.remarks import with_evaluations
from runlens.sources.tables.short_heads import beyond, stamped
from runlens.sources.tables.two_headers import joined
from runlens.sources.tables.unnamed import STEP, UNNAMED, of_log, roles, roles_alone

MOST_COLUMNS = 1_000  # of a table whose columns are looked at one by one
SAMPLE = 20  # rows by which a table is known
LOOKED_AT = 5_000  # rows by which columns without names are
LONGER = 10  # times as many cells in a row as there are rows: each row is a curve
FEWEST_ALIKE = 3  # rows of words and numbers, from which the first is one as well
WIDEST = 200_000  # characters of a first line
LONGEST_PREFACE = 8  # lines above the names of a table
FEWEST_NAMES = 2  # columns below them
FEWEST_ALONG = 5  # numbers behind the name of a curve: fewer are statistics of it
EPISODES = {"gen", "generation", "episode", "game", "round", "ep"}
TRIALS = {"trial", "trials", "games", "hands", "matches", "tries"}
WON = {"won", "wins", "winrate", "win"}
ROW = "row"  # the column that numbers the rows
SPLIT = "split"  # the column that says the data of each row
LONG = ["metric", "step", "value"]  # of rows that name what they measure: "val_loss,3,0.5"
LONGEST = 300  # characters of a cell: a longer one is text to learn from, not a number
# git's marks in a file that it could not merge
_CONFLICT = lazy_re(r"(?:<{7}|>{7}|\|{7}) |={7}\s*$")
_EXCEL = lazy_re(r"\W?sep=.")  # what parts the cells of all lines
_COMMENTS = lazy_re(r"(?:#.*\n)*# *(?P<last>.*)\n")
_NUMBER = r"[-+]?(?:(?:\d+[.,]?\d*|\.\d+)(?:[eE][-+]?\d+)?|nan|inf)"
# "0.93 ± 0.02", "0.93 (0.02)"; the sign as it is torn where a text is of another encoding
_SPREAD = lazy_re(
    rf"\$?\s*(?P<mean>{_NUMBER})\s*%?\s*(?:Â?±|\+ ?/? ?-|\\pm|\ufffd{{1,2}}|\()"
    rf"\s*{_NUMBER}\s*%?\)?\s*\$?",
    re.IGNORECASE,
)
_COUNTED = lazy_re(r"([^\W\d]+)[ _-]?(\d{1,6})")  # a name of one row of a table on its side
_STEP = lazy_re(r"\W*(?:[^\W\d]+[ _:-]{0,2})?(\d{1,9})(?:\s?(?:/|of)\s?\d{1,9})?\W*")
# a tensor as it prints itself, whose commas part no cells; of several numbers it is none
_PRINTED = lazy_re(
    r"(?P<before>\b(?:[tT]ensor|Array|DeviceArray|Variable|Parameter)\(\s*)"
    r"(?P<number>\[?\s*(?:[-+]?[\d.]+(?:[eE][-+]?\d+)?|[-+]?nan|[-+]?inf)\s*\]?)"
    r"\s*,[^()\n]{0,200}(?P<end>\))"
    r"|<tf\.(?:Tensor|Variable)[^<>\n]{0,60}? shape=\(\),[^<>\n]{0,60}\bnumpy=(?P<eager>[^,<>\s]+)>"
)
_INSIDE = lazy_re(
    r"(?:[tT]ensor|array|float\d*)\(\s*\[?(?P<tensor>[^,()\[\]\s]+)|(?P<percent>[-+.\d]+)\s*%$"
    r"|^\s*\[\s*(?P<list>[^\[\],\s]+)\s*\]\s*$"
    r"|^\s*<tf\.Tensor: shape=\(\), .{0,60}\bnumpy=(?P<eager>[^,<>\s]+)>\s*$"
)


def decoded(data: bytes, stem: str = "") -> str:
    """Return the text of a table, whatever program saved it, under the names of its columns."""
    return headed(upright(plain_text(data), stem), stem)


def plain_text(data: bytes) -> str:
    """Return the text of a table as it stands, with points in its numbers."""
    if data[:2] in {b"\xff\xfe", b"\xfe\xff"}:  # PowerShell's ">"
        text = data.decode("utf-16", "replace")
    else:
        text = data.decode("utf-8-sig", "replace").replace("\0", "")
    text = with_evaluations(with_points(with_tabs(_without_commas(text))))
    return set_out(score_lists.set_out(_below_preface(_of_one_head(_uncovered(text)))))


def _of_one_head(text: str) -> str:
    """Return a text with its names in one line, where they stand in two.

    pandas writes the name of its index in a third.
    """
    rows = _first_rows(text)[: len(("names", "names", "index", "numbers"))]
    if len(rows) < len(("names", "names", "numbers")):
        return text
    indexed = rows[2][0].strip() != "" and not any(cell.strip() for cell in rows[2][1:])
    first, second, *below = rows
    second = [below.pop(0)[0], *second[1:]] if indexed else second
    if not below or not (names := joined(first, second, below[0])):
        return text
    lines = iter(io.StringIO(text, newline=""))
    named = (line for line in lines if line.strip() and line[0] != "#")
    head = list(islice(named, len((first, second)) + indexed))
    return f"{_delimiter(head[1]).join(names)}\n{''.join(lines)}"


def _without_commas(text: str) -> str:
    """Return a text with the number alone in what was printed of a tensor: ``tensor(0.5)``."""
    return _PRINTED.sub(_number_of, text) if "ensor" in text or "Array(" in text else text


def _number_of(printed: re.Match[str]) -> str:
    if eager := printed["eager"]:
        return eager
    return f"{printed['before']}{printed['number']}{printed['end']}"


def headed(text: str, stem: str = "") -> str:
    """Return the text of a table with the names of its columns above it; without any, numbered.

    One column alone is what the file is called after, ``loss.csv``; and the only one that neither
    counts nor tells the time.
    """
    rows = _numbered(_first_rows(text))
    first = rows[0] if rows else []
    if _lies_on_its_side(rows):
        if counts(np.array([number_in(cell) for cell in first[1:]])):
            rows[0][0] = first[0] if is_step(first[0]) else "step"
        upright = [";".join(cells) for cells in zip_longest(*rows, fillvalue="")]
        text = "\n".join([*upright, ""] if text.endswith("\n") else upright)
        first = [row[0] for row in rows]
    elif _numbers_its_rows(rows):
        return f"{ROW}{_delimiter(text.partition(chr(10))[0])}{text}"
    head, _, below = text.partition("\n")
    delimiter = _delimiter(head)
    if (more := beyond(rows)) and head.count(delimiter) == len(first) - 1:
        return f"{delimiter.join([head.rstrip(), *more])}\n{below}"
    if numbered_by_pandas(first) or called_by_numbers(first) or is_series(rows):
        text = text[text.index("\n") :].lstrip("\n")
        first = ["", *first[1:]] if numbered_by_pandas(first) else first
    elif _are_data(rows, stem):
        return text
    elif _begins_with_a_row(rows, stem):
        numbered = (number_in(cell) is not None for cell in first)
        names = [f"{UNNAMED}{n}" if number else "" for n, number in enumerate(numbered, 1)]
        names = LONG if _is_long(rows) else stamped(rows, _of_data(rows, names))
        names = names if names == LONG else _paired(text) or names
        return f"{delimiter.join(names)}\n{text}"
    elif not first or any(number_in(cell) is None for cell in first):
        return text
    named = [cell for cell in first if cell]
    if len(named) == 1 and (has_metric([stem]) or "." not in named[0]):  # whole ones are labels
        names = [stem] if has_metric([stem]) else named
    else:
        numbers = named if called_by_numbers(first) else range(1, len(named) + 1)
        known = _roles(text, stem, len(named)) or _paired(text)
        names = known or [f"{UNNAMED}{n}" for n in numbers]
    return delimiter.join([*[""] * (len(first) - len(named)), *names]) + f"\n{text}"


def _roles(text: str, stem: str, width: int) -> list[str]:
    """Return what the last columns are by their values and by what the file is called."""
    rows = list(islice(rows_of(text), LOOKED_AT))
    rows = [row for row in rows if len(row) == len(rows[0])]
    cells = [[number_in(cell) for cell in row[-width:]] for row in rows]
    table = np.array(cells, dtype=np.float64)
    return roles(table, stem) if has_metric([stem]) else roles_alone(table, stem)


def _paired(text: str) -> list[str]:
    """Return what columns are of which some go against each other, as scores and losses do."""
    rows = list(islice(rows_of(text), LOOKED_AT))
    rows = [row for row in rows if len(row) == len(rows[0])]
    numbers = ([(cell, number_in(cell)) for cell in row] for row in rows)
    return paired.named([[cell if n is None else n for cell, n in row] for row in numbers])


def _uncovered(text: str) -> str:
    """Return a text with its header, where that stands behind ``#``, as numpy's savetxt writes."""
    head = _COMMENTS.match(text)
    if head is None:
        return text
    names, below = (next(rows_of(some), []) for some in (head["last"], text))
    named = not any(number_in(cell) is not None for cell in names)
    numbers = any(number_in(cell) is not None for cell in below)
    fits = len(names) == len(below) > 1 and named and numbers
    return text[head.start("last") :] if fits else text


def _below_preface(text: str) -> str:
    """Return a text from its line of names on, where few lines with fewer cells stand above it.

    ``lr,0.1``, a title, Excel's ``sep=;``. Rows of numbers stand below, as many cells in each.
    """
    if "\n" not in text[:WIDEST]:
        return text
    lines = [line for line in islice(io.StringIO(text, newline=""), SAMPLE) if line.strip()]
    for place, line in enumerate(lines[1 : LONGEST_PREFACE + 1], 1):
        mark = _delimiter(line)
        cells = [0 if _EXCEL.match(one) else 1 + one.count(mark) for one in lines[:place]]
        if line.count(mark) + 1 < FEWEST_NAMES or max(cells) > line.count(mark):
            continue
        head, *below = _first_rows("".join(lines[place:])) or [[]]
        names = all(map(str.strip, head)) and all(number_in(cell) is None for cell in head)
        numbers = (
            len(row) == len(head) and any(number_in(cell) is not None for cell in row)
            for row in below
        )
        above = _first_rows("".join(lines[:place]))
        alone = all(number_in(cell) is not None for row in above[1:] for cell in row)
        if len(above) > 1 and has_metric(above[0]) and alone:
            return text  # a table itself, to which another was appended
        if names and has_metric(head) and len(below) >= FEWEST_ALIKE and all(numbers):
            return text[text.index(line, sum(map(len, lines[:place]))) :]
    return text


def _first_rows(text: str) -> list[list[str]]:
    rows: list[list[str]] = []
    with suppress(csv.Error):
        rows.extend(islice(rows_of(text), SAMPLE))
    return rows


def _lies_on_its_side(rows: Sequence[Sequence[str]]) -> bool:
    """Whether each row is a whole curve, with or without its name before its numbers."""
    least = min(map(len, rows), default=0)
    named = has_metric([row[0] for row in rows]) and least > FEWEST_ALONG
    if len(rows) == SAMPLE or not (named or least >= max(SAMPLE, LONGER * len(rows))):
        return False
    return all(number_in(cell) is not None for row in rows for cell in row[1:] if cell)


def _numbered(rows: list[list[str]]) -> list[list[str]]:
    """Return rows with the numbers alone in the first, where all have a word: ``epoch 3``."""
    begins = rows and len(rows[0]) > 1 and _COUNTED.fullmatch(rows[0][1])
    said = [_COUNTED.fullmatch(cell) for cell in rows[0][1:]] if begins else []
    words = {found[1] if found else "" for found in said}
    if len(said) <= FEWEST_ALONG or words == {""} or len(words) > 1:
        return rows
    return [[rows[0][0], *(found[2] for found in said if found)], *rows[1:]]


def _numbers_its_rows(rows: Sequence[Sequence[str]]) -> bool:
    """Whether rows have a number of their own before the columns that are named, as R writes."""
    head, *below = rows or [[]]
    wider = below and all(len(row) == len(head) + 1 and row[-1] for row in below)
    if not wider or any(number_in(cell) is not None for cell in head):
        return False
    first, second = ([number_in(row[at]) for row in below] for at in (0, 1))
    if is_step(head[0]) and not counts(np.array(second, dtype=np.float64)):
        return False  # the first number is that of the first name, and a later one has none
    return counts(np.array(first, dtype=np.float64))


def _begins_with_a_row(rows: Sequence[Sequence[str]], stem: str) -> bool:
    """Whether the first row is one of words and numbers as all are: ``resnet18,0,0.7``.

    Its numbers are more than its words, one of them measured. In a log others may go on behind.
    """
    known = [[number_in(cell) is not None for cell in row] for row in rows]
    most = len(known[0]) if known and of_log(stem) else None
    if len(known) < FEWEST_ALIKE or any(some[:most] != known[0] for some in known):
        return False
    measured = any("." in cell for cell, n in zip(rows[0], known[0], strict=True) if n)
    return measured and len(known[0]) < 2 * sum(known[0]) and not all(known[0])


def _are_data(rows: Sequence[Sequence[str]], stem: str) -> bool:
    """Whether rows without names are of a set of data: counts alone, or numbers with a class.

    Where nothing counts on, and the file is not called as a log or after what was measured.
    """
    if len(rows) < 2 or of_log(stem) or has_metric([stem]):  # noqa: PLR2004 - one row tells nothing
        return False
    if len(rows[0]) > MOST_COLUMNS or len({len(row) for row in rows}) > 1:
        return False
    known = [[number_in(cell) for cell in column] for column in zip(*rows, strict=True)]
    if any(None not in column and counts(np.array(column)) for column in known):
        return False
    words = [n for n, column in enumerate(known) if set(column) == {None}]
    if not words:
        whole = all(cell.strip().isdigit() for row in rows for cell in row)
        return whole and len(rows[0]) == len(rows)  # of a confusion matrix
    numbers = all(None not in column for n, column in enumerate(known) if n not in words)
    last = [row[-1] for row in rows]
    classes = words == [len(known) - 1] and len(set(last)) < len(last)
    return numbers and len(known) > FEWEST_NAMES and classes and not set(last) <= SPLITS.keys()


def _is_long(rows: Sequence[Sequence[str]]) -> bool:
    """Whether each row is a metric, a step that goes on, and a value."""
    if any(len(row) != len(LONG) or not row[1].isdigit() for row in rows):
        return False
    steps = [int(row[1]) for row in rows if row[0] == rows[0][0]]
    return all(has_metric([row[0]]) for row in rows) and steps == sorted(set(steps))


def _of_data(rows: Sequence[Sequence[str]], names: list[str]) -> list[str]:
    """Return names of columns with that of the one that says the data: ``3,val,0.5``.

    Beside it one that counts the rows of each is the step.
    """
    for place, word in enumerate(rows[0]):
        said = {row[place].strip().lower() for row in rows}
        if names[place] or len(said) == 1 or not said <= SPLITS.keys():
            continue
        mine = [row for row in rows if row[place] == word]
        steps = [np.array([number_in(row[n]) for row in mine], dtype=np.float64) for n in (0, 1)]
        counted = [n for n in (0, 1) if n != place and counts(steps[n])]
        named = {place: SPLIT, **dict.fromkeys(counted[:1], STEP)}
        return [named.get(n, name) for n, name in enumerate(names)]
    return names


def rows_of(text: str) -> Iterator[list[str]]:
    """Split the lines into cells by the delimiter of the first; comments and blanks left out."""
    lines = (
        line
        for line in io.StringIO(text, newline="")
        if line.strip() and line[0] != "#" and not _CONFLICT.match(line)
    )
    first = next(lines, "")
    yield from csv.reader(
        chain(filter(None, [first]), lines), delimiter=_delimiter(first), skipinitialspace=True
    )


def _delimiter(line: str) -> str:
    return max(",;\t", key=line.count)


def number_in(cell: str) -> float | None:
    """Return the number in a cell: ``0.5``, ``0,5``, ``nan``, ``tensor(0.5)``, ``[0.5]``.

    Of a mean with its deviation it is the mean: ``0.93 ± 0.02``.
    """
    number = as_number(cell)
    if number is not None or len(cell) > LONGEST:
        return number
    if mean := spread_around(cell):
        return as_number(mean)
    if inside := _INSIDE.search(cell):
        return as_number(inside[inside.lastgroup or 0])
    return as_number(cell.replace(",", ".")) if cell.count(",") == 1 else None


def step_in(cell: str) -> float | None:
    """Return the number in a cell of a column that counts: ``Epoch 3`` and ``3/50`` too."""
    number = number_in(cell)
    found = _STEP.fullmatch(cell) if number is None and len(cell) <= LONGEST else None
    return float(found[1]) if found else number


def spread_around(cell: str) -> str:
    """Return the mean in a cell that has its deviation beside it; "" for others."""
    found = _SPREAD.fullmatch(cell.strip())
    return found["mean"].replace(",", ".") if found else ""


def alike(header: Sequence[str]) -> bool:
    """Whether all columns are called the same: one for each of several networks."""
    first, *others = [name for name in header if name and number_in(name) is None] or [""]
    return bool(others) and all(name.startswith(f"{first} (") for name in others)


def goes_on(header: Sequence[str], text: str) -> bool:
    """Whether a column that is called so counts on, beside numbers that were measured.

    So it is of a table that a user points at: what its other columns mean nobody knows.
    """
    rows = list(islice(rows_of(text), 1, SAMPLE))
    played = any(WON & set(words(name)) for name in header)
    counted = any(
        None not in cells and _counts_on(name, np.array(cells), played=played)
        for n, name in enumerate(header)
        for cells in [[number_in(row[n]) if n < len(row) else None for row in rows]]
    )
    measured = any("." in cell and number_in(cell) is not None for row in rows for cell in row)
    return len(rows) > FEWEST_ALIKE and counted and measured


def _counts_on(name: str, value: FloatArray, *, played: bool) -> bool:
    """Whether a column counts: under a name that says so, or by as many as it begins with.

    So a row is written every thousand games; years and numbers of rows begin elsewhere. Where what
    was `played` was won, a trial is a game. What is called as steps are, and no less, may count
    unevenly: ``iterations``.
    """
    if not counts(value):
        rises = (value >= 0).all() and not (value % 1).any() and (np.diff(value) > 0).all()
        return bool(rises) and plain(name) in (*SURE_STEPS, *EPOCHS)
    named = is_step(name) or plain(name) in (EPISODES | TRIALS if played else EPISODES)
    return named or bool(value[1] - value[0] == value[0] > 1)
