"""Tables of HTML, as a notebook or a report has them: each row set out in one line."""

import re

from runlens.patterns import lazy_re

LARGEST = 32 * 2**20  # bytes of a text that is looked at
_ROW = lazy_re(rb"<tr\b[^>]*>(.*?)</tr>", re.DOTALL | re.IGNORECASE)
_CELL = lazy_re(rb"<t[dh]\b[^>]*>(.*?)</t[dh]>", re.DOTALL | re.IGNORECASE)
_TAG = lazy_re(rb"<[^<>]{1,200}>")
_SPACE = lazy_re(rb"\s+")


def in_lines(data: bytes) -> bytes | None:
    r"""Return a text with a line for each row of its tables; None where it has none.

    >>> in_lines(b"<tr>\n<td>3</td>\n<td>0.5</td>\n</tr>\n")
    b'| 3 | 0.5 |\n'
    """
    if len(data) > LARGEST or b"</td>" not in data.lower():
        return None
    return _ROW.sub(_line, data)


def _line(row: re.Match[bytes]) -> bytes:
    cells = [_SPACE.sub(b" ", _TAG.sub(b"", cell)).strip() for cell in _CELL.findall(row[1])]
    cells = [b"row", *cells[1:]] if cells[:1] == [b""] else cells  # as pandas numbers them
    return b"".join(b"| " + cell + b" " for cell in cells) + b"|"
