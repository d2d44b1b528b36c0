"""Files of bare numbers, whose only name is that of the file, or stands above: ``loss.txt``.

One row a line, or a list of them: ``train_loss = [0.9, 0.7, 0.6]``, ``[0.9, 0.7, 0.6]``.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from runlens.arrays import median
from runlens.naming import classify, words
from runlens.patterns import lazy_re
from runlens.sources.console.between import by_turns
from runlens.sources.console.calls import unwrapped
from runlens.sources.console.counters import Counted, begin
from runlens.sources.console.mining.phrases import SPLIT, split_of
from runlens.sources.console.numbered_blocks import numbered_blocks
from runlens.sources.console.records import Record
from runlens.sources.console.rows import Row
from runlens.sources.console.spread_names import OF_TERMS, SUMMED, spread
from runlens.sources.console.telling import named_in, tells
from runlens.sources.console.unnamed_lists import (
    FELL,
    IN_LISTS,
    List,
    as_printed,
    of_lists,
    unnamed_lists,
)
from runlens.sources.console.unnamed_lists import TOLD as LISTED
from runlens.sources.reading import as_number
from runlens.sources.tables.unnamed import is_time, minimised, named_by_course, of_log

FEWEST = 5  # lines, or numbers of a list
MOSTLY = 0.9  # share of the lines that are numbers alone
COMMENTS = ("#", "%", "@", ";")  # how lines begin that tell of a file: Octave, ARFF
HEADING = 3  # lines above the first row that may be words
WIDEST = 12  # numbers of a line: more are data
WRAPPED = 60  # numbers of a line of one list: as numpy prints it, a character and a space each
SMOOTH = 0.5  # of what numbers differ from those above them: they go on along the lines
LONGEST = 400  # characters of a line
LONGEST_LIST = 1_000_000
SCORES = {"accuracy", "reward", "score", "scores"}
SUDDEN = 0.2  # of the largest score, of the usual loss: zeros behind more were never written
UNWRITTEN = "ends in zeros: they were taken for rows that were never written"
MINIMISED = "holds only numbers, which fell to less than half, so they were read as a loss"
NUMBERS = "holds only numbers, so each line, or value of an array, was read as one row"
OF_TWO = ("train/", "val/")
OF_LINES = (
    "holds two curves of numbers and no names: the first was read as that of the training, the "
    "second as that of held-out data"
)
GRADIENT = "grad_fn="  # of what is minimised: it is printed with how it was computed
_STAMPED = lazy_re(r"\W?(?:\d{4}[-/]\d\d[-/]\d\d[ T]|(?:INFO|DEBUG|WARNING)\b)")
_OF_DATA = lazy_re(r"\s*([a-z]+)\s*[:=]?\s*([-+]?\d[-+.\de]*)\s*", re.IGNORECASE)
_GAPS = lazy_re(r"\s*(?:\t|,|;|\||\s{2,})\s*")
_TENSOR = lazy_re(r"tensor\(\[{0,3}([-+.\w]{1,30})\]{0,3}(?:, [^()]{0,200}(?:\(\))?>?)?\)\s*")
_ALONE = lazy_re(r"\s*(?:[-*•] +)?([-+]?\d[-+\d.eE]{0,30})\s?%?\s*")  # an item of a list, in %
_APART = lazy_re(r"[,;\s]+|(?<=\d)(?:[:_|]|: )(?=[-+\d])")
_UNNAMED = lazy_re(r"column \d+")
_ITEM = lazy_re(r"\s*- +([-+.\w]{1,40})\s*")
_LIST = lazy_re(
    r"\s*(?:([^\W\d][^:=\[\]]{0,80}?)['\"]?\s*[:=]\s*)?(?:(?:\w+\.)?(?:array|tensor|Tensor)\()?"
    r"\[([^\[\]]*)\]?(?:, \w+=[^\[\]]{1,40})?[\s,)]*$"
)
_TUPLE = lazy_re(r"(\s*[^\W\d][^:=()\[\]]{0,80}[:=]\s*)\(([-+.\w,\s]+)\)\s*")
_NAME = lazy_re(r"\s*([^\W\d][\w .'-]{0,60}?)\s*[:=]?\s*")  # alone in the line above a list
_BETWEEN = lazy_re(r"[,\s]+")
_OPENED = lazy_re(r"[^\[\]]{0,80}\[[-+.\w\s,]*")  # what goes on in the lines below
_PLAIN = lazy_re(
    r"(?:\s*([^\W\d][\w .-]{0,40}?)\s*[:=,;\t])?((?:\s*[-+]?[\d.]+(?:e[-+]\d+)?[\s,]){5,}.*)"
)
_KEYED = lazy_re(  # what numbers stand behind: settings, whose brackets may hold others
    r"\s*(\S.{0,400}?)\s*[:=]\s*((?:[-+]?(?:[\d.]+(?:e[-+]?\d+)?|nan|inf)(?:[\s,]+|$)){5,})"
)
_MORE = lazy_re(r"(?=\s*\]|\D*\d)([-+.\de\s,]*)\]?(?:, \w+=[^\[\]]{1,40})?[\s,)]*")


def bare(others: Sequence[tuple[int, str]], stem: str) -> list[Row]:
    """Return a row for each line of numbers; none where other lines are among them.

    A single column is what the `stem` of the file's name says, or the words above it; others are
    numbered. Whole numbers alone are labels or counts, and no measure.
    """
    if tells(stem) and (run_on := _run_on(others)):
        return [Row(at, Counted(step=n), (stem,), (v,)) for n, (at, v) in enumerate(run_on, 1)]
    if tells(stem) and (of_data := _of_data(others, stem) or _two_curves(others, stem)):
        return of_data
    if not tells(stem) and (curves := unnamed_lists(others, stem)):
        return curves
    if blocks := numbered_blocks(others, numbers_of):
        return blocks
    found = [(at, values) for at, line in others if (values := numbers_of(_unwrapped(line)))]
    found, others = _upright(found, others)
    width = len(found[0][1]) if found else 0
    same = [(at, values) for at, values in found if len(values) == width]
    first, starts = [values[0] for _, values in same], [[*range(n, n + len(same))] for n in (0, 1)]
    numbered = (len(same) > 1 or tells(stem)) and first in starts
    torn = len(found) - len(same) <= 1  # the last may have lost its number
    few = numbered and width > 1 and torn and len(found) == len(others)
    few |= len(found) == len(others) == len(same) > 1 < width and (of_log(stem) or _is_loss(stem))
    above = [line for at, line in others if same and at < same[0][0]]
    comments = all(line.lstrip()[:1] in COMMENTS for line in above)
    headed = len(same) > 1 and (same[0][0] - others[0][0] <= HEADING or comments)
    lines = sum(at >= same[0][0] for at, _ in others) if headed else len(others)
    listed = any(_OPENED.fullmatch(line) and tells(line) for _, line in others[:HEADING])
    headed_by_name = len(above) == 1 and _heading_of(above[0]) != ""
    every = width == 1 and len(same) + headed_by_name == len(others)
    alone = every and (headed_by_name or tells(stem))
    if not (few or alone) and (listed or len(same) < max(FEWEST, MOSTLY * lines)):
        lists = _lists(others)
        return of_lists(lists or _of_settings(others, stem), stem)
    decimals = any("." in line for _, line in others)
    whole = not decimals and all(value.is_integer() for _, values in same for value in values)
    if whole and not (width == 1 and _scores([values[0] for _, values in same], stem)):
        return []
    counts = width > 1 and (numbered or _count([values[0] for _, values in same]))
    names = tuple(f"column {n}" for n in range(1 + counts, width + 1))
    heading = [cell.strip() for cell in _GAPS.split(above[-1].strip())] if above else []
    if tells(stem) and all(map(SPLIT.fullmatch, heading)):
        heading = [f"{split_of(data)}{stem}" for data in heading]
    if 1 < len(heading) == width and any(map(tells, heading)):
        names = tuple(heading[counts:])
    elif len(names) == 1:
        computed = ["loss"] if GRADIENT in others[-1][1] else []
        said = (stem, _heading_of(" ".join(above)), *computed)
        named = [name for name in said if tells(name)] or [stem] * ("acc" in words(stem))
        names = (named[0],) if named else names
    measured = [values[counts:] for _, values in same]
    known = spread(above[-1], measured) if counts and above else None
    names, measured = known or (named_by_course(names, measured, stem), measured)
    return [
        Row(at, Counted(step=int(values[0]) if counts else -1), names, some)
        for (at, values), some in zip(same, measured, strict=True)
    ]


def _upright(
    found: list[tuple[int, tuple[float, ...]]], others: Sequence[tuple[int, str]]
) -> tuple[list[tuple[int, tuple[float, ...]]], Sequence[tuple[int, str]]]:
    """Return rows and their lines; of rows that stand below one another one each."""
    rows = by_turns(found) if len(found) == len(others) else found
    if len(rows) == len(found):
        return found, others
    return rows, [(at, " ".join(map(str, values))) for at, values in rows]


def _scores(numbers: Sequence[float], stem: str) -> bool:
    """Whether whole numbers are scores that the file is called after: per cent, what was got.

    Right and wrong, which are 1 and 0, are of samples, and what rises by one numbers the rows. A
    loss may be 0 all the way, and an agent may get the same in each episode.
    """
    if set(numbers) == {0} and classify(stem).quantity == "loss":
        return True
    if classify(stem).quantity == "reward":
        return not _count(numbers)
    return _of_scores(stem) and len(set(numbers)) > 2 and not _count(numbers)  # noqa: PLR2004 - 0 and 1


def _is_loss(stem: str) -> bool:
    return classify(stem).quantity == "loss"


def _of_scores(stem: str) -> bool:
    return classify(stem).quantity in SCORES or not SCORES.isdisjoint(words(stem))


def written(rows: Sequence[Row], stem: str, *, at_once: bool) -> list[Row]:
    """Leave out the zeros in which the numbers of a file end, whose array had room for more rows.

    Of losses, those that were saved `at_once`: a loop that writes a line for each row wrote its
    zeros too.
    """
    values = [row.values[0] for row in rows if len(row.values) == 1]
    last = next((n for n in range(len(values), 0, -1) if values[n - 1]), 0)
    full = FEWEST <= last <= len(values) - FEWEST and 0 not in values[:last]
    if not full or len(values) != len(rows):
        return list(rows)
    sizes = np.abs(values[:last])
    usual = sizes.max() if _of_scores(stem) else median(sizes)
    unwritten = (_of_scores(stem) or (at_once and _is_loss(stem))) and sizes[-1] > SUDDEN * usual
    return list(rows[:last] if unwritten else rows)


def of_role(rows: Sequence[Row], stem: str) -> list[Row]:
    """Name numbers of which their file says the data alone, as a loss where they fall as one.

    ``train_results.txt`` beside ``eval_results.txt``.
    """
    split = classify(stem).split
    if not split or tells(stem) or any(row.names != ("column 1",) for row in rows):
        return list(rows)
    if not minimised([row.values[0] for row in rows]):
        return list(rows)
    return [row._replace(names=(f"{split}_loss",)) for row in rows]


def _of_data(others: Sequence[tuple[int, str]], stem: str) -> list[Row]:
    """Return rows whose only name is that of the data: ``train 0.5``, ``val 0.6``."""
    lines = [(at, _OF_DATA.fullmatch(line)) for at, line in others if len(line) <= LONGEST]
    said = [(at, split_of(m[1]), m[2]) for at, m in lines if m and SPLIT.fullmatch(m[1])]
    if len(said) < max(FEWEST, len(others)):
        return []
    rows: list[Row] = []
    counts: Counter[str] = Counter()
    for at, data, cell in said:
        counts[data] += 1
        value = as_number(cell)
        if value is not None:
            rows.append(Row(at, Counted(step=counts[data]), (f"{data}{stem}",), (value,)))
    return rows


def _two_curves(others: Sequence[tuple[int, str]], stem: str) -> list[Row]:
    """Return the rows of two lines of as many numbers, without a name: a curve each.

    Nothing says of which data they are; programs write that of the training first. A file without
    an end of line may have lost its last number.
    """
    data = {match[0].lower() for match in SPLIT.finditer(stem.replace("_", " "))}
    if len(others) != len(OF_TWO) or (classify(stem).split and len(data) == 1):
        return []
    lines = [numbers_of(line, LONGEST_LIST, LONGEST_LIST) for _, line in others]
    if len(lines[0]) - len(lines[1]) not in {0, 1}:
        return []
    if len(lines[0]) <= WIDEST or all(map(float.is_integer, (*lines[0], *lines[1]))):
        return []
    called = SPLIT.sub("", stem.replace("_", " ")).strip() if len(data) > 1 else stem
    names = tuple(f"{one}{called}" for one in OF_TWO)
    pairs = enumerate(zip(*lines, strict=False), 1)
    rows = [Row(others[0][0], Counted(step=n), names, values) for n, values in pairs]
    rest = lines[0][len(rows) :]
    return rows + [Row(others[0][0], Counted(step=len(rows) + 1), names[:1], rest)] * len(rest)


def told_of(rows: Sequence[Row], named: Sequence[Row]) -> str:
    """Return what is told of rows of bare numbers, which `named` are in the end."""
    two = any(row.names[0].startswith(OF_TWO[0]) and len(row.names) > 1 for row in rows[:1])
    if len(rows) > 1 and rows[0].at == rows[-1].at:
        said = IN_LISTS if tells(rows[0].names[0]) else LISTED
    else:
        said = NUMBERS if rows == named else MINIMISED
    if rows and rows[0].names[: len(OF_TERMS)] == OF_TERMS:
        return SUMMED
    return OF_LINES if two else said


def _unwrapped(line: str) -> str:
    """Return the number of a line behind a stamp or a bullet, in a tensor, before %; else as is."""
    line = line[begin(line) :] if _STAMPED.match(line) else line
    found = _TENSOR.fullmatch(line) if line.startswith("tensor(") else _ALONE.fullmatch(line)
    return found[1] if found else as_printed(line)


def _count(numbers: Sequence[float]) -> bool:
    """Whether whole numbers rise by one and the same from row to row."""
    gaps = {after - before for before, after in pairwise(numbers)}
    return all(number.is_integer() for number in numbers) and len(gaps) == 1 and min(gaps) > 0


def named_by_file(records: list[Record], stem: str) -> list[Record]:
    """Return records whose only number has no name with that of their file: ``train_loss.txt``.

    A time beside it, in seconds since 1970, is none of what was measured. Where the file says the
    data alone, it is their loss, if it fell.
    """
    names = {record.names for record in records}
    only = next(iter(names)) if len(names) == 1 else ()
    split = classify(stem).split if len(words(stem)) > 1 and not tells(stem) else ""
    if not (only and (tells(stem) or split) and all(map(_UNNAMED.fullmatch, only))):
        return records
    value = np.array([record.values for record in records])
    kept = [n for n in range(len(only)) if not is_time(value[:, n])]
    if len(kept) > 1 and not split:
        named = named_by_course(only, value.tolist(), stem)
        return [record._replace(names=named) for record in records]
    if len(kept) != 1 or (split and not minimised(value[:, kept[0]].tolist(), FELL)):
        return records
    stem = f"{split}_loss" if split else stem
    return [record._replace(names=(stem,), values=(record.values[kept[0]],)) for record in records]


def _heading_of(words: str) -> str:
    """Return the metric that words name, with their data: ``% mean class accuracy (test set)``."""
    name = named_in(words)
    return name if not name or split_of(name) else f"{split_of(words)}{name}"


def _run_on(others: Sequence[tuple[int, str]]) -> list[tuple[int, float]]:
    """Return the numbers of one list that goes on from line to line, each with its line.

    Numbers side by side that are columns are nearer to those above them than to each other.
    """
    lines = [numbers_of(line, WRAPPED) for _, line in others]
    width = len(lines[0]) if lines else 0
    full = lines[:-1]
    alone = 1 < width < FEWEST and not all(map(float.is_integer, lines[0]))
    several = len(lines) > 1 or alone  # a longer one is read as a list
    if several and all(lines) and _one_list([line for _, line in others]):
        return [(at, n) for (at, _), some in zip(others, lines, strict=True) for n in some]
    if width < 2 or len(full) < FEWEST or not 0 < len(lines[-1]) <= width:  # noqa: PLR2004 - a column
        return []
    if any(len(line) != width for line in full):
        return []
    table = np.array(full)
    along, down = (median(np.abs(np.diff(some)).ravel()) for some in (table.ravel(), table.T))
    if not along < SMOOTH * down or (table == np.floor(table)).all():
        return []
    return [(at, n) for (at, _), some in zip(others, lines, strict=True) for n in some]


def _one_list(lines: Sequence[str]) -> bool:
    """Whether brackets are around all lines, and nowhere else, as numpy prints an array."""
    text = "".join(lines).strip()
    return text[:1] == "[" and text[-1:] == "]" and not {"[", "]"} & set(text[1:-1])


def numbers_of(line: str, most: int = WIDEST, longest: int = LONGEST) -> tuple[float, ...]:
    """Return the numbers of a line that has nothing else; nothing for others."""
    if len(line) > longest:
        return ()
    cells = _APART.split(line.strip(" \t[](),;"))
    numbers = [number for cell in cells[: most + 1] if (number := as_number(cell)) is not None]
    return tuple(numbers) if len(numbers) == len(cells) <= most else ()


def _joined(others: Sequence[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield lines, those of one list as one: ``loss = [0.5,`` above ``0.4]``.

    A list of YAML has an item a line behind its name, ``loss:`` above ``- 0.5``; and a loss may
    stand in plain rows, ``loss: 0.5 0.4 0.3 0.2``, where scores would be those of classes.
    """
    items: list[str] = []
    begun, goes_on = (0, ""), False
    for at, whole in (*others, (0, "")):
        line = unwrapped(whole)
        item = (_MORE if goes_on else _ITEM).fullmatch(line)
        if item:
            items.append(item[1])
            continue
        sign = "" if goes_on else "["
        called = _NAME.fullmatch(begun[1]) if items and sign else None
        head = f"{called[1]}:" if called else begun[1].strip()
        yield begun[0], f"{head} {sign}{', '.join(items)}" if items else begun[1]
        above = _NAME.fullmatch(begun[1])
        plain = _PLAIN.fullmatch(line)
        name = plain[1] or (above[1] if above else "") if plain else ""
        if plain and classify(name).quantity == "loss" and _MORE.fullmatch(plain[2]):
            line = f"{name}: [{plain[2]}"
        elif above and line.lstrip()[:1] == "[":
            line = f"{above[1]}: {line}"
        goes_on = _OPENED.fullmatch(line) is not None
        items, begun = [], (at, line)


def _lists(others: Sequence[tuple[int, str]]) -> list[List]:
    """Return the lists of a log: short ones where several are as long and tell what they are of."""
    joined = list(_joined(others))
    if found := [some for at, line in joined if (some := _list(at, line))]:
        return found
    short = [some for at, line in joined if (some := _list(at, line, 2)) and tells(some[1])]
    alike = len({len(values) for _, _, values in short}) == 1 < len({name for _, name, _ in short})
    return short if alike else []


def _list(at: int, line: str, fewest: int = FEWEST) -> List | None:
    """Return name and numbers of a list that was printed; None for what is none."""
    line = as_printed(line) if len(line) <= LONGEST_LIST else ""
    if tupled := _TUPLE.fullmatch(line):
        line = f"{tupled[1]}[{tupled[2]}]"
    found = _LIST.match(line) if "[" in line else None
    if not found:
        return None
    cells = _BETWEEN.split(found[2].strip(" ,"))
    numbers = tuple(n for cell in cells if (n := as_number(cell.strip())) is not None)
    measured = any(
        "." in cell or not number.is_integer() for cell, number in zip(cells, numbers, strict=False)
    )
    whole = len(numbers) == len(cells) >= fewest
    return (at, (found[1] or "").strip(), numbers) if whole and measured else None


def _of_settings(others: Sequence[tuple[int, str]], stem: str) -> list[List]:
    """Return the losses behind the settings of each training: ``[64, 0.01]: 0.5, 0.4, ...``."""
    if classify(stem).quantity != "loss":
        return []
    keyed = [(at, found) for at, line in others if (found := _KEYED.fullmatch(line))]
    if len(keyed) < MOSTLY * len(others):
        return []
    lists = (_list(at, f"[{found[2]}]") for at, found in keyed)
    return [(at, found[1], one[2]) for (at, found), one in zip(keyed, lists, strict=True) if one]
