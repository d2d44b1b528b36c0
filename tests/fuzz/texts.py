"""The ways in which what a file says goes wrong, where its bytes are whole: numbers, names, order.

As those of mutations.py, each changes a bytearray in place, as its dice fall.
"""

import json
import re
from typing import Any

from tests.fuzz.hostile import WORDS
from tests.fuzz.mutations import Dice, Mutation

SPELLINGS = (
    b"0", b"-0", b"1", b"-1", b"00012", b"+7", b"1_000", b"1,000", b"1.000,5", b"1e5", b"1E+05",
    b"1e308", b"1e309", b"-1e309", b"1e-400", b"5e-324", b"0x1F", b"1.", b".5", b"1..2", b"--1",
    b"nan", b"NaN", b"-nan", b"inf", b"-Infinity", b"null", b"None", b"true", b"[]", b"{}", b'""',
    b"9007199254740993", b"9223372036854775807", b"9223372036854775808", b"-9223372036854775809",
    b"18446744073709551616", b"9" * 30, b"9" * 310, b"9" * 4_400, b"0." + b"3" * 400,
    b"1e999999999", b"12:34", b"2026-01-02", b"5%", "٣٤".encode(), "１２".encode(), "½".encode(),
)  # fmt: skip
ENCODINGS = (
    "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-7", "utf-8-sig", "latin-1", "shift_jis",
)  # fmt: skip
LINE_ENDS = (b"\r\n", b"\r", b"\n\n", b"\x0b", b"\x85", "\u2028".encode(), b"")
LEAVES: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, 10**30, 10**400, float("nan"), float("inf"), "", "nan", "x" * 3_000,
    [], {}, [[]], {"a": {"b": [1, None]}}, {"": 1}, [1] * 500, "\ud800",
)  # fmt: skip
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_WORD = re.compile(rb"[A-Za-z_][\w/.-]{2,}")


def number(data: bytearray, dice: Dice, _other: bytes) -> None:
    """Spell some of the numbers otherwise, among them what no number can be."""
    _replaced(data, dice, _NUMBER, SPELLINGS)


def word(data: bytearray, dice: Dice, _other: bytes) -> None:
    """Put text that means something elsewhere in the place of names and words."""
    _replaced(data, dice, _WORD, [one.encode("utf-8", "surrogatepass") for one in WORDS])


def encode(data: bytearray, dice: Dice, _other: bytes) -> None:
    """Write the text in another encoding."""
    text = bytes(data).decode("utf-8", errors="replace")
    data[:] = text.encode(dice.choice(ENCODINGS), errors="replace")


def line_ends(data: bytearray, dice: Dice, _other: bytes) -> None:
    """End the lines otherwise, or not at all."""
    data[:] = bytes(data).replace(b"\n", dice.choice(LINE_ENDS))


def order(data: bytearray, dice: Dice, _other: bytes) -> None:
    """Shuffle, reverse, repeat or leave out lines."""
    lines = bytes(data).split(b"\n")
    first, last = sorted(dice.randrange(len(lines) + 1) for _ in range(2))
    some = lines[first:last]
    dice.choice((dice.shuffle, list.reverse, list.clear, lambda own: own.extend(some)))(some)
    data[:] = b"\n".join([*lines[:first], *some, *lines[last:]])[: 4 * len(data) + 100]


def columns(data: bytearray, dice: Dice, _other: bytes) -> None:
    """Exchange, repeat or leave out the cells of lines, of all of them or of one."""
    mark = dice.choice((b",", b"\t", b" ", b"|", b":"))
    lines = bytes(data).split(b"\n")
    chosen = range(len(lines)) if dice.random() < 0.5 else [dice.randrange(len(lines))]
    first, second, how = dice.randrange(8), dice.randrange(8), dice.randrange(3)
    for at in chosen:
        cells = lines[at].split(mark)
        if max(first, second) >= len(cells):
            continue
        if how == 0:
            cells[first], cells[second] = cells[second], cells[first]
        elif how == 1:
            cells.insert(second, cells[first])
        else:
            del cells[first]
        lines[at] = mark.join(cells)
    data[:] = b"\n".join(lines)


def tree(data: bytearray, dice: Dice, _other: bytes) -> None:
    """Change one value in a JSON document, or in one of its lines, for one of another kind."""
    lines = [bytes(data)] if dice.random() < 0.5 else bytes(data).split(b"\n")
    at = dice.randrange(len(lines))
    try:
        document = json.loads(lines[at])
        _grafted(document, dice)
        lines[at] = json.dumps(document).encode()
    except (ValueError, RecursionError):
        return
    data[:] = b"\n".join(lines)


def _grafted(document: Any, dice: Dice) -> None:
    """Walk down to some value and put another in its place, or beside it under a hostile name."""
    while isinstance(document, dict | list) and document:
        keys = list(document) if isinstance(document, dict) else range(len(document))
        key = dice.choice(keys)
        below = document[key]
        if isinstance(below, dict | list) and below and dice.random() < 0.8:
            document = below
            continue
        if isinstance(document, dict) and dice.random() < 0.3:
            document[dice.choice(WORDS)] = document.pop(key)
        else:
            document[key] = dice.choice((*LEAVES, below, [below], {str(key): below}))
        return


def _replaced(
    data: bytearray,
    dice: Dice,
    pattern: re.Pattern[bytes],
    others: "list[bytes] | tuple[bytes, ...]",
) -> None:
    found = [match.span() for match in pattern.finditer(bytes(data))]
    chosen = dice.sample(found, min(len(found), dice.choice((1, 1, 3, 20))))
    same = dice.choice(others)
    for start, end in sorted(chosen, reverse=True):
        data[start:end] = same if dice.random() < 0.5 else dice.choice(others)


TEXTS: tuple[Mutation, ...] = (number, word, encode, line_ends, order, columns, tree)
