"""Numbers as they are written in most of Europe: ``0,25`` between tabs, semicolons or bars.

And in lines of a log, behind their names: ``Verlust: 0,5231``.
"""

import re
from collections.abc import Sequence

from runlens.patterns import lazy_re

SAMPLED = 20_000  # characters of a text in which they are looked for
_APART = lazy_re(r"[\t;|]")
_NUMBER = r"[-+]?\d+,\d+(?:[eE][-+]?\d+)?"
_CELL = lazy_re(_NUMBER)
_IN_ENGLISH = lazy_re(r"[-+]?(?:[1-9]\d{0,2}(?:,\d{3})+|\d+\.\d+.*)")  # 12,500 may be thousands
FEWEST = (
    5  # numbers with a comma, none of which are thousands, beside which next to none has a point
)
SELDOM = 0.1
_GROUPED = lazy_re(r"[-+]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")
_AMID = lazy_re(
    r"(?<=[ \t=:|/])([-+]?\d{1,9}),(\d{1,17})(?=(?: ?%)?(?:[\s;|)/]|,\s|[.,]?$))", re.MULTILINE
)
_THOUSANDS = lazy_re(r"[-+]?[1-9]\d{0,2},\d{3}")
_BELOW_ONE = lazy_re(r"[-+]?0,\d{2,}")  # no pair of whole numbers
_WITH_POINT = lazy_re(r"(?<![\w.])\d+\.\d+(?![\w.])")
_IN_ROWS = lazy_re(rf"(?<![^\t;|\n])( *{_NUMBER} *)(?![^\t;|\r\n])")


def has_commas(text: str) -> bool:
    """Whether the start of a text is that of a table whose numbers have commas for points."""
    lines = [_APART.split(line) for line in text[:SAMPLED].splitlines() if "," in line]
    cells = [cell.strip() for line in lines if len(line) > 1 for cell in line]
    commas = [cell for cell in cells if "," in cell]
    if all(map(_IN_ENGLISH.fullmatch, commas)) or not all(map(_CELL.fullmatch, commas)):
        return False
    return not any(map(_IN_ENGLISH.fullmatch, set(cells) - set(commas)))


def with_points(text: str) -> str:
    r"""Return a text with points for the commas of its numbers, where it is a table of such.

    >>> with_points("0,25\t1,5\n0,125\t2\n"), with_points("1,2\t0.5\n"), with_points("0,25\n")
    ('0.25\t1.5\n0.125\t2\n', '1,2\t0.5\n', '0,25\n')
    """
    return _IN_ROWS.sub(lambda cell: cell[0].replace(",", "."), text) if has_commas(text) else text


def ungrouped(cells: Sequence[str], *, counts: bool) -> Sequence[str]:
    """Return the cells of a column without the commas between thousands.

    ``1,234`` may be a decimal: such commas part thousands where the column counts, or where another
    cell has a point behind them, or two of them.

    >>> ungrouped(["900", "1,234"], counts=True), ungrouped(["0,9", "1,234"], counts=True)
    (['900', '1234'], ['0,9', '1,234'])
    """
    commas = [cell.strip() for cell in cells if "," in cell]
    if not commas or not all(map(_GROUPED.fullmatch, commas)):
        return cells
    sure = counts or any("." in cell or cell.count(",") > 1 for cell in commas)
    return [cell.replace(",", "") for cell in cells] if sure else cells


def log_with_points(data: bytes) -> bytes:
    r"""Return a log with points for the commas of its numbers, in a table or among words.

    >>> log_with_points(b"loss 0,25, acc 0,5\n" * 3).partition(b"\n")[0]
    b'loss 0.25, acc 0.5'
    """
    sample = data[:SAMPLED].decode("latin-1")  # which is byte by byte
    if has_commas(sample):
        return with_points(data.decode("latin-1")).encode("latin-1")
    if _in_prose(sample):
        return _AMID.sub(r"\1.\2", data.decode("latin-1")).encode("latin-1")
    return data


def _in_prose(text: str) -> bool:
    """Whether the numbers between the words of a log have commas, and next to none a point."""
    commas = [found[0] for found in _AMID.finditer(text) if not _THOUSANDS.fullmatch(found[0])]
    points = sum(_WITH_POINT.search(line) is not None for line in text.splitlines() if "," in line)
    few = all(map(_BELOW_ONE.fullmatch, commas)) and not _WITH_POINT.search(text)
    return (few and len(commas) > 1) or (len(commas) >= FEWEST and points <= SELDOM * len(commas))
