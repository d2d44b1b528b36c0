"""The ways in which files get damaged. Each changes a bytearray in place, as its dice fall."""

import random
from collections.abc import Callable

LONGEST_DOUBLE = 4_000  # bytes that are put in
BLOCKS = (1, 7, 64, 512, 4_096)
GARBAGE = (
    b"\0", b"\xff", b"\n", b"\r", b'"', b"'", b"{", b"}", b"[", b"]", b",", b":", b"-", b"e", b"%|",
    b"nan", b"NaN", b"Infinity", b"1e999", b"-1", b"9" * 30, b"0.0", b"null", b"\x1b[2J", b"it [",
    b"\xf0\x9f\x94\xa5", b"\xed\xa0\x80", b"step", b"&a ", b"*a", b"!!python/name:os.system ",
)  # fmt: skip

Dice = random.Random
Mutation = Callable[[bytearray, Dice, bytes], None]


def truncate(data: bytearray, dice: Dice, _other: bytes) -> None:
    """Cut the end off."""
    del data[dice.randrange(len(data) + 1) :]


def flip(data: bytearray, dice: Dice, _other: bytes) -> None:
    """Change bits in up to eight bytes."""
    for _ in range(dice.randint(1, 8)):
        if data:
            data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)


def zero(data: bytearray, dice: Dice, _other: bytes) -> None:
    """Overwrite a stretch with zeros, as a disk or a network does."""
    start = dice.randrange(len(data) + 1)
    size = min(dice.choice(BLOCKS), len(data) - start)
    data[start : start + size] = bytes(size)


def splice(data: bytearray, dice: Dice, other: bytes) -> None:
    """Put a piece of another file of the kind in the place of some bytes."""
    start, size = dice.randrange(len(data) + 1), dice.choice(BLOCKS)
    place = dice.randrange(len(other) + 1)
    data[start : start + dice.choice((0, size))] = other[place : place + size]


def double(data: bytearray, dice: Dice, _other: bytes) -> None:
    """Write a piece of the file a second time, there or elsewhere."""
    start = dice.randrange(len(data) + 1)
    piece = data[start : start + dice.randrange(1, LONGEST_DOUBLE)]
    place = dice.choice((start + len(piece), dice.randrange(len(data) + 1)))
    data[place:place] = piece


def cut_out(data: bytearray, dice: Dice, _other: bytes) -> None:
    """Leave a piece out."""
    start = dice.randrange(len(data) + 1)
    del data[start : start + dice.choice(BLOCKS)]


def garbage(data: bytearray, dice: Dice, _other: bytes) -> None:
    """Put in what has a meaning in one of the formats."""
    place = dice.randrange(len(data) + 1)
    data[place : place + dice.choice((0, 1, 3))] = dice.choice(GARBAGE) * dice.choice((1, 1, 200))


def insert(data: bytearray, dice: Dice, _other: bytes) -> None:
    """Put in bytes that mean nothing."""
    place = dice.randrange(len(data) + 1)
    data[place:place] = dice.randbytes(dice.choice(BLOCKS))


def swap(data: bytearray, dice: Dice, _other: bytes) -> None:
    """Exchange two pieces, as blocks that were written back in the wrong order."""
    size = dice.choice(BLOCKS)
    first, second = sorted(dice.randrange(len(data) + 1) for _ in range(2))
    size = min(size, second - first, len(data) - second)
    here, there = data[first : first + size], data[second : second + size]
    data[first : first + size], data[second : second + size] = there, here


def append(data: bytearray, dice: Dice, other: bytes) -> None:
    """Write the file, or another of its kind, again behind its end, and cut that copy."""
    again = dice.choice((bytes(data), other))
    data += again[: dice.randrange(len(again) + 1)]


MUTATIONS: tuple[Mutation, ...] = (
    truncate, flip, zero, splice, double, cut_out, garbage, insert, swap, append,
)  # fmt: skip
