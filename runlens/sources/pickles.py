"""Pickles of numbers: lists, dicts, arrays and tables, which research code saves under any name.

Nothing is unpickled: the opcodes are read one by one (`pickletools`), and those that could call
anything, or name what could be called, end the reading.
"""

import pickletools
from collections.abc import Callable
from io import BytesIO
from typing import Any

from runlens.patterns import lazy_re
from runlens.sources.numpy_pickles import BEFORE, Array, Named, skipped
from runlens.sources.pickled_objects import opened
from runlens.sources.printed_values import printed

BEGINS = tuple(b"\x80" + bytes([protocol]) for protocol in range(2, 6))
_BY_TEXT = lazy_re(rb"\((?:[ldt]p?\d{0,9}\n|[IFVS][^\n]{1,80}\n)")  # protocol 0
# the number with which a file of PyTorch before its archives begins, a pickle of its own
TORCH = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
LARGEST = 16 * 2**20  # bytes: an opcode takes a microsecond
REFUSED = (
    "is a pickle of objects, which is not opened as it could run code; "
    "save its numbers as JSON or CSV"
)
TABLE = (
    "is a pickle of Python under the name of a table; it is not opened, as that could run code: "
    "save its numbers as CSV or JSON"
)
_VALUES = {
    "INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "FLOAT", "BINFLOAT", "UNICODE",
    "SHORT_BINUNICODE", "BINUNICODE", "STRING", "BINSTRING", "SHORT_BINSTRING", "BINBYTES",
    "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8",
}  # fmt: skip
_MADE: dict[str, Callable[[], Any]] = {
    "NONE": lambda: None, "NEWTRUE": lambda: True, "NEWFALSE": lambda: False,
    "EMPTY_LIST": list, "EMPTY_DICT": dict, "EMPTY_TUPLE": list,
}  # fmt: skip
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_NUMPY = {"GLOBAL", "STACK_GLOBAL", "REDUCE", "NEWOBJ", "BUILD"}


def is_pickle(data: bytes) -> bool:
    """Whether a file begins as a pickle does: one of bytes, or the oldest one, of text."""
    of_text = _BY_TEXT.match(data) is not None and data.rstrip().endswith(b".")
    return data.startswith(BEGINS) or of_text


def as_text(data: bytes) -> bytes | None:
    """Return the numbers in a pickle as they would be printed; None where it holds anything else.

    A list has a number a line, a dict a list a line; what a dict holds beside lists is left out.
    """
    if len(data) > LARGEST:
        return None
    try:
        whole = opened(_plain(data))
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError):
        return None
    if isinstance(whole, Array) and len(whole) == 1:
        (whole,) = whole  # what NumPy wraps around an object that is no array
    return printed(whole)


def _plain(data: bytes) -> Any:  # noqa: ANN401 - what a pickle holds is of any type
    """Return the value of a pickle; raise ValueError at what is no number, text, list or dict."""
    stack: list[Any] = []
    marks: list[int] = []  # places in it
    memo: dict[Any, Any] = {}
    for code, value, _ in pickletools.genops(_saved(data)):
        name = code.name
        if name in _VALUES:
            stack.append(value)
        elif name in _MADE:
            stack.append(_MADE[name]())
        elif name in _TUPLES:
            stack[-_TUPLES[name] :] = [stack[-_TUPLES[name] :]]
        elif name == "MARK":
            marks.append(len(stack))
        elif name == "MEMOIZE" or name.endswith("PUT"):
            memo[len(memo) if value is None else value] = stack[-1]
        elif name.endswith("GET"):
            stack.append(memo[value])
        elif name in _NUMPY:
            _of_numpy(name, value, stack)
        elif name not in {"PROTO", "FRAME", "STOP"}:
            _gather(name, stack, marks)
    (whole,) = stack
    return whole


def _saved(data: bytes) -> BytesIO:
    """Return a file at the pickle of what was saved: behind those of PyTorch, else its first."""
    file = BytesIO(data)
    for _ in range(BEFORE if data.startswith(TORCH) else 0):
        skipped(file)
    return file


def _of_numpy(name: str, value: Any, stack: list[Any]) -> None:  # noqa: ANN401 - of any type
    """Take what NumPy writes; raise at what is not of it."""
    if name == "GLOBAL":
        stack.append(Named(value))
        return
    last, above = stack.pop(), stack.pop()
    if name == "STACK_GLOBAL":
        stack.append(Named(f"{above} {last}"))
    elif name in {"REDUCE", "NEWOBJ"}:
        stack.append(above.of(last))
    else:
        above.built(last)
        stack.append(above)


def _gather(name: str, stack: list[Any], marks: list[int]) -> None:
    """Take what was put on a stack since its mark, or its last, into the list or dict below it."""
    count = {"APPEND": 1, "SETITEM": 2}.get(name)
    begin = len(stack) - count if count else marks.pop()
    items = stack[begin:]
    del stack[begin:]
    if name == "TUPLE":
        stack.append(items)
    elif name in {"APPEND", "APPENDS"}:
        stack[-1].extend(items)
    elif name in {"SETITEM", "SETITEMS"}:
        stack[-1].update(zip(items[::2], items[1::2], strict=True))
    else:
        raise ValueError(name)
