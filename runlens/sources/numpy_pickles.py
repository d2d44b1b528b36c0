"""What NumPy and PyTorch put into a pickle: a number each, or an array, built from its bytes alone.

A pickle names what is called to build them. Here the names of a short list stand for what is known
of them, and nothing that a pickle names is looked up or called.
"""

import pickletools
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from io import BytesIO
from math import prod
from typing import Any

import numpy as np

from runlens.history import NOT_KNOWN
from runlens.patterns import lazy_re

_ORDERS = {"<": "<", ">": ">", "=": "=", "|": ""}
BEFORE = 3  # pickles before what PyTorch saved: a number, its version, what machine wrote it
_LENGTH = 8  # bytes of the length of a storage
_KINDS = {
    f"torch {name}Storage": code
    for name, code in (
        ("Float", "f4"), ("Double", "f8"), ("Half", "f2"), ("Long", "i8"), ("Int", "i4"),
        ("Short", "i2"), ("Char", "i1"), ("Byte", "u1"), ("Bool", "b1"),
    )
}  # fmt: skip
_NUMBERS = lazy_re(r"[biuf]\d{1,2}|b1|\?")


class Made(dict[Any, Any]):
    """An object that is not made: what a pickle holds of it, by the names of its attributes."""

    def __init__(self, name: str, args: Sequence[Any] = ()) -> None:
        """Take what would be called, ``module name``, and with what."""
        super().__init__()
        self.name, self.args = name, args

    def of(self, args: Sequence[Any]) -> "Made":
        """Return what it would make, where it is a function with some of its arguments."""
        return Made(self.name, args)

    def built(self, state: Any) -> None:  # noqa: ANN401 - of any type
        """Take its attributes; those of a class with slots come in a second dict."""
        for some in state if isinstance(state, list) else (state,):
            if isinstance(some, dict):
                self.update(some)


class Named:
    """A name in a pickle: what it would call."""

    def __init__(self, name: str) -> None:
        """Take what `CALLED` knows, or what stands for an object."""
        known = name.replace("numpy._core.", "numpy.core.").replace("__builtin__", "")
        self.of: _Made = CALLED.get(known, partial(Made, name))


class Kind:
    """What the numbers of an array are; the order of their bytes comes behind its name."""

    def __init__(self, code: str) -> None:
        """Take what NumPy calls it: ``f4``."""
        self.code, self.order = code, "|"

    def built(self, state: Sequence[Any]) -> None:
        """Take the state of it, ``(3, '<', ...)``."""
        self.order = state[1]

    def numbers(self, data: bytes, count: int) -> list[float]:
        """Return so many numbers; none of dates and texts."""
        if not _NUMBERS.fullmatch(self.code):
            return []
        kind = np.dtype(f"{_ORDERS[self.order]}{self.code}")
        if len(data) != count * kind.itemsize:
            raise ValueError(len(data))
        numbers: list[float] = np.frombuffer(data, kind).astype(np.float64).tolist()
        return numbers


class Array(list[Any]):
    """The numbers of an array: rows, where it has two axes."""

    def built(self, state: Sequence[Any]) -> None:
        """Take the state of it: ``(1, shape, kind, by column, bytes)``."""
        self.take(*state[1:5])

    def take(
        self, shape: Sequence[int], kind: Kind, by_column: object, data: bytes | list[Any]
    ) -> None:
        """Fill it; objects come as a list, whatever their shape."""
        sizes = [int(size) for size in shape]
        if isinstance(data, list):
            self[:] = data
            return
        if not sizes or (len(sizes) > 1 and 0 in sizes):  # rows of nothing, however many
            raise ValueError(shape)
        values = np.array(kind.numbers(data, prod(sizes)))
        if len(values) < prod(sizes):
            return
        self[:] = values.reshape(sizes, order="F" if by_column else "C").tolist()


def _number(args: Sequence[Any]) -> float:
    kind, data = args
    return next(iter(kind.numbers(data, 1)), NOT_KNOWN)


def _of_buffer(args: Sequence[Any]) -> Array:
    data, kind, shape, order = args
    array = Array()
    array.take(shape, kind, order == "F", data)
    return array


def _bytes(args: Sequence[Any]) -> bytes:
    text, coding = args
    if coding != "latin1":
        raise ValueError(coding)
    return str(text).encode("latin1")


def _pairs(args: Sequence[Any]) -> dict[Any, Any]:
    return dict(args[0]) if args and isinstance(args[0], list) else {}


def _storage(args: Sequence[Any]) -> Array:
    """Return the numbers that tensors are views of: a file of PyTorch within the pickle.

    Behind the number with which it begins stand its version, the machine that wrote it, what is
    saved, by its kind and length alone, and its key; then come its length, again, and its bytes.
    """
    (data,) = args
    file, kind, count = BytesIO(data), "", 0
    for _ in range(BEFORE):
        skipped(file)
    for code, value, _ in pickletools.genops(file):
        if code.name == "GLOBAL":
            kind = _KINDS[str(value)]
        elif code.name.startswith("BININT"):
            count = int(value or 0)
    skipped(file)
    raw = file.read()
    if int.from_bytes(raw[:_LENGTH], "little") != count:
        raise ValueError(count)
    return Array(Kind(kind).numbers(raw[_LENGTH:], count))


def _tensor(args: Sequence[Any]) -> float | Array:
    """Return a tensor whose numbers lie one behind the other: ``(storage, offset, size, stride)``.

    One alone is a number.
    """
    storage, offset, size, stride = args[:4]
    count = prod(size)
    rows = [prod(size[n + 1 :]) for n in range(len(size))]
    values = storage[offset : offset + count]
    if len(values) != count or (count > 1 and list(stride) != rows):
        raise ValueError(size)
    if count == 1:
        return float(values[0])
    return Array(np.array(values).reshape(size).tolist())


def skipped(file: BytesIO) -> None:
    """Step over a pickle, up to its end."""
    deque(pickletools.genops(file), maxlen=0)


_Made = Callable[[Sequence[Any]], Any]
CALLED: dict[str, _Made] = {
    "numpy dtype": lambda args: Kind(args[0]),
    "numpy ndarray": _pairs,  # named, never called
    "numpy.core.multiarray scalar": _number,
    "numpy.core.multiarray _reconstruct": lambda _: Array(),
    "numpy.core.numeric _frombuffer": _of_buffer,
    "_codecs encode": _bytes,
    "torch.storage _load_from_bytes": _storage,
    "torch._utils _rebuild_tensor_v2": _tensor,
    "torch._utils _rebuild_parameter": lambda args: args[0],
    "collections OrderedDict": _pairs,
    "collections defaultdict": _pairs,
    "builtins list": _pairs,  # what a defaultdict makes
    " list": _pairs,
}
