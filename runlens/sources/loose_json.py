"""What programs write in place of JSON: Python's ``repr``, commas too many, values in a row, a cut.

Values that stand one behind the other are a list. What is open where a text breaks off is closed
there, and a number that nothing follows is left out: it may be half of one. Nothing is guessed
behind what cannot be read: it is counted as lost.
"""

from typing import Any

from msgspec import Struct

from runlens.patterns import lazy_re
from runlens.sources.files import Unreadable, parse_json
from runlens.sources.json_salvage import salvaged
from runlens.sources.reading import CUT_OFF

LARGEST = 8 * 2**20  # bytes: a token takes some five microseconds
DEEPEST = 40
_TOKEN = lazy_re(
    r"(?:\s|//[^\n]*|\#[^\n]*|<[^<>\n]*>)*+"
    r"(?:(?P<text>\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+')"
    r"|(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.]))"
    r"|(?P<word>[-+]?[^\W\d][\w.]*)|(?P<mark>[\[\](){},:;=])|(?P<end>$)|)"
)
_ENDS = {"{": "}", "[": "]", "(": ")"}
_KEYS = ("text", "word", "number")
_CONSTANTS = {"true": True, "false": False}
_NOT_FINITE = ("nan", "inf", "infinity")


class Loose(Struct):
    """What was read of a text."""

    value: Any
    lost: int = 0  # characters behind what could be read
    cut: bool = False  # it ends before all is closed


def loosely(data: bytes) -> Loose | None:
    """Return what can be read of a text that is no JSON; None where that is nothing."""
    if len(data) > LARGEST:
        return None
    reader = _Reader(data.decode("utf-8-sig", "replace").rstrip("\0"))
    found = [one for one in reader.values() if isinstance(one, dict | list)]
    if not found:
        return None
    lost = len(reader.text) - reader.place
    return Loose(found[0] if len(found) == 1 else found, lost, reader.cut)


class Read(Struct):
    """What a text holds, what is wrong with it, and what of it could not be read."""

    value: Any
    told: str = ""
    lost: str = ""


def read_through(data: bytes) -> Read | None:
    """Return what a text of JSON holds, as far as it can be read; None where that is nothing."""
    try:
        whole = parse_json(data)
        return Read(parse_json(whole) if isinstance(whole, str) else whole)  # written twice
    except Unreadable as error:
        read = loosely(data)
        if read is None:
            return None
        if read.cut:
            return Read(read.value, CUT_OFF, "what came after")
        told = f"{error}; it was read as far as it goes"
        if read.lost and (kept := _past_holes(data, read.value)):
            told = f"{error}; what is whole behind it was read"
            return Read(kept.value, told, f"{kept.lost:,} of {len(data):,} bytes")
        return Read(read.value, told, f"its last {read.lost:,} characters" if read.lost else "")


def _past_holes(data: bytes, read: object) -> Loose | None:
    """Return an object with the rows of its last list behind a spoiled one; None: there are none.

    `read` is that object as far as it could be read from its beginning.
    """
    key, rows = next(reversed(read.items()), ("", None)) if isinstance(read, dict) else ("", None)
    if not isinstance(rows, list) or not any(isinstance(row, dict) for row in rows):
        return None
    found = salvaged(data, key)
    if len(found.rows) <= len(rows):
        return None
    return Loose({**found.values, key: found.rows}, found.lost)


class _Reader:
    """Reads values token by token; stops for good at the first that fits nowhere."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0  # behind the last token that fitted
        self.cut = self.stopped = False
        self._next()

    def values(self) -> list[Any]:
        """Return the values that stand in a row."""
        found = []
        while not self.stopped and self.kind != "end":
            if not self._past(",", ";"):
                found.append(self._value())
        return found

    def _next(self) -> None:
        found = _TOKEN.match(self.text, self.place)
        self.kind = (found and found.lastgroup) or ""
        self.token = found[self.kind] if found and self.kind else ""
        self._after = found.end() if found else self.place

    def _take(self) -> None:
        """Step on behind the token."""
        self.place = self._after
        self._next()

    def _past(self, *marks: str) -> bool:
        fits = self.kind == "mark" and self.token in marks
        if fits:
            self._take()
        return fits

    def _stop(self, *, torn: bool = False) -> None:
        """Give up the rest; at the end of the text there is none."""
        self.stopped = True
        if torn or self.kind == "end":
            self.place, self.cut = len(self.text), True

    def _value(self, depth: int = 0) -> Any:  # noqa: ANN401 - of any type
        kind, token = self.kind, self.token
        torn = kind == "number" and self._after == len(self.text)  # 0.1 may be half of 0.125
        if torn or depth > DEEPEST or not (token in _ENDS if kind == "mark" else token):
            self._stop(torn=torn)
            return None
        self._take()
        if kind == "mark":
            end = _ENDS[token]
            return self._object(depth) if end == "}" else self._list(end, depth)
        if kind == "word" and self._past("("):  # np.float64(0.5), tensor(0.5, device='cuda:0')
            self._past(",")  # behind <class 'list'>
            return next((one for one in self._list(")", depth) if one is not None), None)
        return _plain(kind, token)

    def _list(self, end: str, depth: int) -> list[Any]:
        found: list[Any] = []
        while not self.stopped and not self._past(end):
            value = self._value(depth + 1)
            if self._past("="):  # device='cuda:0'
                self._value(depth + 1)
            elif not self.stopped or isinstance(value, dict | list):
                found.append(value)
            self._past(",")
        return found

    def _object(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while not self.stopped and not self._past("}"):
            key = self.token[1:-1] if self.kind == "text" else self.token
            if named := self.kind in _KEYS:
                self._take()
            if not (named and self._past(":")):
                self._stop()
                break
            value = self._value(depth + 1)
            if not self.stopped or isinstance(value, dict | list):
                found[key] = value
            self._past(",")
        return found


def _plain(kind: str, token: str) -> Any:  # noqa: ANN401 - of any type
    """Return what a token stands for; a word that is no constant stands for nothing."""
    if kind == "text":
        return token[1:-1]
    if kind == "number":
        return float(token) if set(token) & set(".eE") else int(token)
    word = token.lower().lstrip("+-").rpartition(".")[2]
    if word in _NOT_FINITE:
        return -float(word) if token[0] == "-" else float(word)
    return _CONSTANTS.get(word)
