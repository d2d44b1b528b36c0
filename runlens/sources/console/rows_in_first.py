"""Rows in the first line of a log, whose program had no end of line before it was mended.

``[ep 1,imgs 6] loss: 6.6 time: 10 s[ep 1,imgs 21] loss: ...`` and below it a row in each line.
"""

import re

from runlens.patterns import lazy_re

FEWEST = 3  # lines below it with one row each: the program was mended, and this is how it writes
# a name and its number, and what stands behind it up to the next number
_BEGINS = lazy_re(rb"(?P<head>[^\w\n]{0,8}[A-Za-z][^\d\n]{0,40})\d+(?P<behind>[^\d\n]{4,60})")
_BLANK = lazy_re(rb"(?:\\ )+")


def with_first_apart(data: bytes) -> bytes:
    r"""Return a log with an end of line before each row that its first line has behind another.

    Nothing parts these: a row that says two things of an epoch has a space or a sign between.

    >>> with_first_apart(b"ep 1, loss: 3ep 2, loss: 2\n" + b"ep 1, loss: 4\n" * 3)[:26]
    b'ep 1, loss: 3\nep 2, loss: '
    """
    cut = data.find(b"\n")
    begins = _BEGINS.match(data, 0, cut) if cut > 0 else None
    if begins is None:
        return data
    first = data[:cut]
    form = rb"\d+".join(_BLANK.sub(rb"\\s+", re.escape(part)) for part in begins.groups())
    apart = re.sub(rb"(?<=[^\s|,;])(?=" + form + rb")", b"\n", first)
    if apart == first or len(re.compile(rb"(?m)^" + form).findall(data, cut)) < FEWEST:
        return data
    return apart + data[cut:]
