"""The keys of history rows as numbers: the bytes that spell a key are decoded once."""

import numpy as np
import numpy.typing as npt

from runlens.history import IntArray
from runlens.records import NamedTuple
from runlens.sources.wandb_dir.proto import key_path
from runlens.sources.wandb_dir.walk import Buffer, Words

LONGEST = 64  # bytes of a spelling that is compared in numpy
_WORDS = LONGEST // 8
# any odd numbers: what has the same sum is compared byte by byte
_FACTORS = np.array([0x9E3779B97F4A7C15 * (2 * n + 1) % 2**64 for n in range(_WORDS)], np.uint64)


def masks(longest: int) -> npt.NDArray[np.uint64]:
    """Return what keeps of each word of 8 bytes what is among the first n; shape (words, n + 1)."""
    return np.array(
        [
            [256 ** min(max(size - begin, 0), 8) - 1 for size in range(longest + 1)]
            for begin in range(0, longest, 8)
        ],
        dtype=np.uint64,
    )


_MASKS = masks(LONGEST)


class Keys:
    """Numbers keys, which are paths of levels, in the order in which they are first met."""

    def __init__(self) -> None:
        """Begin without keys."""
        self.paths: list[tuple[str, ...]] = []  # by number
        self._numbers: dict[tuple[str, ...], int] = {}
        self._spelled: dict[bytes, int] = {}
        self._table = _table([b""], [0])  # no key is spelled with no bytes

    def of(self, path: tuple[str, ...]) -> int:
        """Return the number of a path."""
        if path not in self._numbers:
            self._numbers[path] = len(self.paths)
            self.paths.append(path)
        return self._numbers[path]

    def codes(self, buffer: Buffer, start: IntArray, end: IntArray) -> IntArray:
        """Return the numbers of keys spelled `data[start:end]`, shape (n,)."""
        wanted = _spellings(buffer, start, end)
        codes, unknown = self._looked_up(wanted)
        if not len(unknown):
            return codes
        _, first = np.unique(wanted.sums[unknown], return_index=True)
        self._learn([buffer.data[start[n] : end[n]] for n in unknown[np.sort(first)].tolist()])
        codes, unknown = self._looked_up(wanted)
        for place in unknown.tolist():  # long ones, or such as share their sum
            codes[place] = self._code(buffer.data[start[place] : end[place]])
        return codes

    def _looked_up(self, wanted: "_Spellings") -> tuple[IntArray, IntArray]:
        """Return the numbers by the table, and the places where it does not have the spelling."""
        known = self._table
        place = np.minimum(np.searchsorted(known.sums, wanted.sums), len(known.sums) - 1)
        same = (known.size[place] == wanted.size) & (wanted.size <= LONGEST)
        for mine, theirs in zip(known.words, wanted.words, strict=False):
            same &= mine[place] == theirs
        return known.codes[place], np.flatnonzero(~same)

    def _learn(self, spellings: list[bytes]) -> None:
        new = [part for part in spellings if part not in self._spelled and len(part) <= LONGEST]
        if not new:
            return
        added = _table(new, [self._code(part) for part in new])
        order = np.argsort(np.concatenate([self._table.sums, added.sums]))
        self._table = _Spellings(
            *(
                np.concatenate(pair, axis=-1)[..., order]
                for pair in zip(self._table, added, strict=True)
            )
        )

    def _code(self, part: bytes) -> int:
        if part not in self._spelled:
            self._spelled[part] = self.of(key_path(part))
        return self._spelled[part]


class _Spellings(NamedTuple):
    """Spellings of keys in a form that numpy compares; shape (n,), words (_WORDS or less, n)."""

    sums: Words
    size: IntArray
    words: npt.NDArray[np.uint64]
    codes: IntArray


def _spellings(buffer: Buffer, start: IntArray, end: IntArray) -> _Spellings:
    size = end - start
    short = np.minimum(size, LONGEST)
    count = (int(short.max(initial=1)) + 7) // 8
    words = np.empty((count, len(size)), dtype=np.uint64)
    sums = np.zeros(len(size), dtype=np.uint64)
    for number in range(count):
        word = buffer.eight(start + 8 * number)
        np.bitwise_and(word, _MASKS[number][short], out=words[number])
        sums += words[number] * _FACTORS[number]
    return _Spellings(sums, size, words, size)


def _table(spellings: list[bytes], codes: list[int]) -> _Spellings:
    """Make a table of spellings of at most LONGEST bytes, in any order."""
    text = b"".join(part.ljust(LONGEST, b"\0") for part in spellings)
    words = np.frombuffer(text, dtype="<u8").reshape(-1, _WORDS).T
    sums = (words * _FACTORS[:, None]).sum(axis=0, dtype=np.uint64)
    return _Spellings(sums, np.array([len(s) for s in spellings]), words, np.array(codes))
