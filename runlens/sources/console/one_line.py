"""Logs of a program that forgets what parts its rows, or its numbers: they stand in one."""

import re
from collections.abc import Sequence
from itertools import islice

from runlens.patterns import lazy_re
from runlens.sources.reading import as_number

WIDE = 300  # characters of a line: below that its rows are too few
ROWS = 10  # in each line that there is
# how the first row does: a name and a counter, and the next name; or the one name of its number
_BEGINS = lazy_re(rb"\s*([-=>*#|\s]{0,20}[A-Za-z][^\d\n]{0,40})\d+(?:\.\d|([^\d\n]{4,40}))")
# a number that is set off from its name, and right behind it the next name, no "1epoch:"
_GLUED = lazy_re(
    r"(?<=[:=：])(\s?[-+]?\d[\d.]*(?:e[-+]?\d+)?)"
    r"(?=(?!epoch|step|iter|batch|num_|(?:[mu]?s|mins?|secs?|[KMG]i?B|it|dB)\b)"
    r"[A-Za-z]{2}\w*(?: \w{1,20}){0,3}\s?[:=])"
)
_WHOLE = lazy_re(rb"-?(?:0|[1-9]\d{0,8})")  # the digits before a point
_OF_NUMBERS = b"0123456789.e+-"
_OF_LISTS = _OF_NUMBERS + b"EnaifNAIF,;|\\ \t\r\n"
_ROW_ENDS = lazy_re(rb"[;|\\]+")
# how many samples were right: as in the book of Nielsen, and what was made of it
_RIGHT = lazy_re(
    r"(\s*Epoch (\d{1,6}) ?:) (\d{1,9}) / ([1-9]\d{2,8})((?:,\D{1,20}[\d.]+ ?\w*)?)\s*"
)
_ABOVE = lazy_re(r"\s*(?:>> ?)?[A-Za-z]\w{0,40} =\s*")
_ALONE = lazy_re(
    r"\W{0,4}([^\W\d](?:[^\W\d]| |-){0,40}?)\s*:?\W{0,4}"
)  # a name in a line by itself
FEWEST = 3  # epochs, or numbers below their names
SAMPLE = 100  # lines in which it is looked for: a program forgets it in each row


def with_ends(data: bytes) -> bytes:
    r"""Return a log with an end of line before each row that begins as the first one does.

    So it is of numbers without names: ``1.6042991.6089003``.

    >>> with_ends(b"it: 1 loss: 0.5 " * 2000).count(b"\n")
    1999
    >>> with_ends(b"Loss: 0.5;" * 100).count(b"\n")
    99
    """
    if not data[:WIDE].strip(_OF_NUMBERS) and (numbers := _run_on(data.strip())):
        return b"\n".join([*numbers, b""])  # none of them was torn
    if not data[:WIDE].translate(None, _OF_LISTS) and (listed := _listed(data.strip())):
        return b"\n".join([*listed, b""])
    lines = data.count(b"\n") + 1
    first = _BEGINS.match(data) if len(data) > lines * WIDE else None
    if first is None:
        return data
    apart = rb"(?<![A-Za-z_])" if first[1][:1].isalpha() else b""
    begins = apart + re.escape(first[1]) + rb"\d+" + re.escape(first[2] or b".")
    starts = [found.start() for found in re.finditer(begins, data)]
    if len(starts) < ROWS * lines:
        return data
    rows = zip(starts, [*starts[1:], len(data)], strict=True)
    return b"\n".join(data[begin:end] for begin, end in rows)


def _listed(line: bytes) -> list[bytes]:
    r"""Return the rows of a line of nothing but numbers: one each, or each behind its counter.

    >>> _listed(b"0.5,0.25," * 10)[:2]
    [b'0.5', b'0.25']
    >>> _listed(b"10 0.5; 20 0.4; " * 10)[:2]
    [b'10 0.5', b'20 0.4']
    >>> _listed(b" ".join(b"%d 0.5" % n for n in range(10, 99, 2)))[:2]
    [b'10 0.5', b'12 0.5']
    """
    if b"\n" in line or line.translate(None, _OF_LISTS):
        return []
    rows = [row.replace(b",", b" ").split() for row in _ROW_ENDS.split(line)]
    rows = [row for row in rows if row]
    cells = [cell for row in rows for cell in row]
    if len(cells) < ROWS or any(as_number(cell.decode()) is None for cell in cells):
        return []
    if len(rows) > 1:
        return [b" ".join(row) for row in rows] if len(set(map(len, rows))) == 1 else []
    counts = set(map(_less, cells[2::2], cells[::2]))
    if len(counts) == 1 and counts.pop() > 0 and b"." in b"".join(cells[1::2]):
        return list(map(b" ".join, zip(cells[::2], cells[1::2], strict=False)))
    return cells


def _less(one: bytes, other: bytes) -> int:
    """Return how much more a counter is than the one before it; 0 for others."""
    return int(one) - int(other) if one.isdigit() and other.isdigit() else 0


def _run_on(data: bytes) -> list[bytes]:
    """Return the numbers of a text in which nothing parts them; nothing for other texts.

    All have as many decimals as the last one; or, as the first one, one digit before the point.

    >>> _run_on(b"12.50009.2500" + b"8.1250" * 9)[:3]
    [b'12.5000', b'9.2500', b'8.1250']
    >>> _run_on(b"1.6042991.60890031.565661" + b"1.25" * 9)[:3]
    [b'1.604299', b'1.6089003', b'1.565661']
    """
    first, *between = data.split(b".")
    if len(between) < ROWS or data.translate(None, _OF_NUMBERS):
        return []
    last = between.pop()
    of_one_digit = [len(some) - 1 - (some[-2:-1] == b"-") for some in between]
    for ends in ([len(last)] * len(between), of_one_digit if len(first) == 1 else [0]):
        parts = list(zip(between, ends, strict=False))
        whole = [first, *(some[end:] for some, end in parts)]
        widest = max(map(len, whole))
        if min(ends) > 0 and widest <= len(first) + 1 and all(map(_WHOLE.fullmatch, whole)):
            decimals = [*(some[:end] for some, end in parts), last]
            return list(map(b".".join, zip(whole, decimals, strict=True)))
    return []


def _with_shares(others: Sequence[tuple[int, str]]) -> Sequence[tuple[int, str]]:
    """Return lines with the share of what was right named: ``Epoch 3: 9412 / 10000``.

    Each epoch has one, of the same number of samples: it is no counter of batches.

    >>> _with_shares([(n, f"Epoch {n}: 9{n} / 100") for n in range(3)])[-1]
    (2, 'Epoch 2: accuracy 0.92')
    """
    if not any(_RIGHT.fullmatch(line) for _, line in others[:SAMPLE]):
        return others
    found = {at: share for at, line in others if (share := _RIGHT.fullmatch(line))}
    epochs = [int(share[2]) for share in found.values()]
    once = epochs == sorted(set(epochs)) and len(epochs) >= FEWEST
    if not once or len({share[4] for share in found.values()}) > 1:
        return others
    named = {at: f"{m[1]} accuracy {int(m[3]) / int(m[4])}{m[5]}" for at, m in found.items()}
    return [(at, named.get(at, line)) for at, line in others]


def _with_values_below(others: Sequence[tuple[int, str]]) -> Sequence[tuple[int, str]]:
    """Return lines with each number behind its name, where it stands below: as MATLAB prints it.

    >>> _with_values_below([(0, "mse ="), (2, "    0.25")] * 3)[-1]
    (0, 'mse = 0.25')
    """
    alone = {n for n, (_, line) in enumerate(others) if as_number(line.strip()) is not None}
    above = [n for n in range(len(others) - 1) if n + 1 in alone and n not in alone]
    heads = [n for n in above if _ABOVE.fullmatch(others[n][1])]
    if len(heads) < FEWEST:  # names of themselves; a column has many numbers below one
        heads = [n for n in above if n + 2 not in alone and _ALONE.fullmatch(others[n][1])]
    below = {n: others[n + 1][1].strip() for n in heads}
    if len(below) < FEWEST:
        return others
    return [
        (at, f"{_name_of(line)} {below[n]}" if n in below else line)
        for n, (at, line) in enumerate(others)
        if n - 1 not in below
    ]


def _name_of(line: str) -> str:
    return f"{found[1]}:" if (found := _ALONE.fullmatch(line)) else line.strip()


def parted(others: Sequence[tuple[int, str]]) -> Sequence[tuple[int, str]]:
    """Return lines with a space before each name that stands right behind a number.

    Decimals have points, whatever the program printed.

    >>> parted([(0, "idx: 3loss: 0.25acc: 0.5")])
    [(0, 'idx: 3 loss: 0.25 acc: 0.5')]
    """
    others = _with_shares(_with_values_below(others))
    if not any(_GLUED.search(line) for _, line in islice(others, SAMPLE)):
        return others
    return [(at, _GLUED.sub(r"\1 ", line)) for at, line in others]
