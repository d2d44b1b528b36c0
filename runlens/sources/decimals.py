"""Numbers as they are written in most of Europe: ``0,25`` between tabs, semicolons or bars."""

import re

from runlens.patterns import lazy_re

SAMPLED = 20_000  # characters of a text in which they are looked for
_APART = lazy_re(r"[\t;|]")
_NUMBER = r"[-+]?\d+,\d+(?:[eE][-+]?\d+)?"
_CELL = lazy_re(_NUMBER)
_IN_ENGLISH = lazy_re(r"[-+]?(?:[1-9]\d{0,2}(?:,\d{3})+|\d+\.\d+.*)")  # 12,500 may be thousands
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
    return _IN_ROWS.sub(_pointed, text) if has_commas(text) else text


def _pointed(cell: re.Match[str]) -> str:
    return cell[0].replace(",", ".")
