"""Tables of HTML, as a notebook or a report has them: each row set out in one line."""

import re
from itertools import islice

from runlens.patterns import lazy_re
from runlens.sources.console.pairs import names_metric

LARGEST = 32 * 2**20  # bytes of a text that is looked at
_ROW = lazy_re(rb"<tr\b[^>]*>(.*?)</tr>", re.DOTALL | re.IGNORECASE)
_CELL = lazy_re(rb"<t[dh]\b[^>]*>(.*?)</t[dh]>", re.DOTALL | re.IGNORECASE)
_TAG = lazy_re(rb"<[^<>]{1,200}>")
_IN_ONE_LINE = lazy_re(rb"(?i)</tr>[ \t]{0,80}<tr\b")  # as a machine writes it, whatever it is of
HEADS = 3  # rows at its top that may name what trainings are judged by
_SPACE = lazy_re(rb"\s+")


def in_lines(data: bytes) -> bytes | None:
    r"""Return a text with a line for each row of its tables; None where it has none.

    >>> in_lines(b"<tr>\n<td>3</td>\n<td>0.5</td>\n</tr>\n")
    b'| 3 | 0.5 |\n'
    """
    if len(data) > LARGEST or b"</td>" not in data.lower():
        return None
    heads = (row[1].decode(errors="replace") for row in islice(_ROW.finditer(data), HEADS))
    if _IN_ONE_LINE.search(data) and not any(map(names_metric, heads)):
        return None
    return _ROW.sub(_line, data)


def _line(row: re.Match[bytes]) -> bytes:
    cells = [_SPACE.sub(b" ", _TAG.sub(b"", cell)).strip() for cell in _CELL.findall(row[1])]
    cells = [b"row", *cells[1:]] if cells[:1] == [b""] else cells  # as pandas numbers them
    text, end = row.string, row.end()
    before = b"\n" * (row.start() > 0 and text[row.start() - 1 : row.start()] != b"\n")
    behind = b"\n" * (text[end : end + 1] == b"<")  # nor is the next one in this line
    return before + b"".join(b"| " + cell + b" " for cell in cells) + b"|" + behind
