"""What is whole in a JSON file that is not: cut in mid-write, or damaged in places.

For an object one of whose values is a log, a list of objects. JSON has no checksums: only what
stands between its own delimiters is taken, and nothing is guessed.
"""

import json
from typing import Any

from msgspec import Struct, field

from runlens.patterns import lazy_re

MOST_HOLES = 1_000  # damaged places after which the rest is given up
_SPACE = lazy_re(r"[ \t\r\n]*")
_NO_TEXT = lazy_re(r"[\udc80-\udcff]")  # what stands for bytes that are not UTF-8
_NEXT_ROW = lazy_re(r"\}[ \t\r\n]{0,99},[ \t\r\n]{0,99}(?=\{)|\}[ \t\r\n]{0,99}(?=\])")
_DECODER = json.JSONDecoder()


class _BrokenOffError(Exception):
    """What comes next is not whole."""


class Salvaged(Struct):
    """What was whole."""

    values: dict[str, Any] = field(default_factory=dict)
    rows: list[Any] = field(default_factory=list)  # of the log
    size: int = 0  # bytes of the file
    lost: int = 0  # bytes of it that were not taken


def salvaged(data: bytes, log: str) -> Salvaged:
    """Return the whole values at the top of an object, and the whole rows of its list `log`."""
    text = data.decode("utf-8", "surrogateescape").removeprefix("\ufeff")
    found, reader = Salvaged(size=len(data)), _Reader(text)
    try:
        _take_object(reader, log, found)
    except _BrokenOffError:
        reader.hole(len(text))
    if reader.place < len(text):  # something stands behind the object
        reader.hole(len(text))
    found.lost = reader.lost
    return found


class _Reader:
    """Reads JSON token by token; counts what is skipped."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0
        self.lost = 0  # bytes

    def past(self, mark: str) -> bool:
        """Step over a mark and the space around it, if it is what comes next."""
        at = _end(self.text, self.place)
        if not self.text.startswith(mark, at):
            return False
        self.place = _end(self.text, at + 1)
        return True

    def need(self, mark: str) -> None:
        """Step over a mark that has to be there."""
        if not self.past(mark):
            raise _BrokenOffError

    def value(self, ends: str) -> Any:  # noqa: ANN401 - JSON is of any type
        """Step over a whole value and return it; behind a number stands a mark of `ends`."""
        try:
            value, end = _DECODER.raw_decode(self.text, self.place)
        except (ValueError, RecursionError):
            raise _BrokenOffError from None
        after = _end(self.text, end)
        closed = isinstance(value, dict | list | str)
        whole = closed or (after < len(self.text) and self.text[after] in ends)
        if not whole or _NO_TEXT.search(self.text, self.place, end):
            raise _BrokenOffError
        self.place = after
        return value

    def hole(self, end: int) -> None:
        """Go on at `end`; what was skipped is lost."""
        self.lost += len(self.text[self.place : end].encode("utf-8", "surrogateescape"))
        self.place = end


def _end(text: str, place: int) -> int:
    """Return where the space at `place` ends."""
    space = _SPACE.match(text, place)
    return space.end() if space else place


def _take_object(reader: _Reader, log: str, found: Salvaged) -> None:
    reader.need("{")
    while not reader.past("}"):
        begun = reader.place
        key = reader.value(":")
        reader.need(":")
        if key == log and reader.past("["):
            _take_rows(reader, found)
        else:
            found.values[str(key)] = _of_key(reader, begun)
        if not reader.past(","):
            reader.need("}")
            return


def _of_key(reader: _Reader, begun: int) -> Any:  # noqa: ANN401 - JSON is of any type
    """Return the value of the key at `begun`; where it is not whole, the key is lost with it."""
    try:
        return reader.value(",}")
    except _BrokenOffError:
        reader.place = begun
        raise


def _take_rows(reader: _Reader, found: Salvaged) -> None:
    """Take the rows of a list up to its end; go on behind a damaged one, where the next begins."""
    for _ in range(MOST_HOLES):
        try:
            while not reader.past("]"):
                found.rows.append(reader.value(",]"))
                reader.past(",")
        except _BrokenOffError:
            following = _NEXT_ROW.search(reader.text, reader.place)
            if following is None:
                raise
            reader.hole(following.end())
        else:
            return
    raise _BrokenOffError
