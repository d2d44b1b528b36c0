"""Lines that differ in their numbers alone are taken apart once: the others follow the first.

A log prints the same few layouts a million times. The text between the numbers of a line is its
template; where the numbers of a template belong is found by parsing a line of it that holds
numbers of our own, and seeing where these come out. It is checked on the true line; where they
do not agree every line of that template is parsed for itself.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Generic, TypeVar

from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.sources.console.counters import whole
from runlens.sources.console.forms import LONGEST, REMEMBERED, form, text_of
from runlens.sources.reading import as_number

MOST_TEMPLATES = 4096  # that are remembered
MOST_NUMBERS = 2000  # in one line
_FIRST = 1001  # the least of our own numbers: none is a hundred times another
_OWN = r"(?<![\w@.#].)(?<!\w-.)"  # behind its first character: it is no part of a word
_PLAIN = r"(?:\.\d+)?(?:[eE][-+]?\d+)?"
_NUMBER = lazy_re(
    rf"(\d{_OWN}(?:\d{{3}}-\d\d-\d\d[ T,][\d:.,]*\d|\d(?:\d\d)?/\d\d/\d\d(?:\d\d)? [\d:]+"
    rf"|\d*(?::\d\d)+(?:\.\d+)?|\d{{0,2}}(?:,\d{{3}})+(?:\.\d+)?|\d*{_PLAIN})"
    rf"|[-+]{_OWN}(?:\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+{_PLAIN}|\.\d+(?:[eE][-+]?\d+)?"
    r"|(?:nan|[iI]nf(?:inity)?|NaN|NAN|INF)\b(?! iterations))"
    rf"|\.{_OWN}\d+(?:[eE][-+]?\d+)?"
    rf"|[nNiI]{_OWN}(?:an|aN|AN|nf(?:inity)?|NF)\b(?! iterations))"
)
_DIGIT = lazy_re(r"\d")
_TIME = lazy_re(r"\d[-/:]\d")
_OTHER_DIGITS = str.maketrans("0123456789", "1234567890")

Static = TypeVar("Static")


class Parsed(NamedTuple, Generic[Static]):
    """What a parser makes of a line."""

    static: Static  # the same for all lines of a template
    counters: tuple[int, ...]  # -1: not there
    values: tuple[float, ...]


class _Plan(NamedTuple, Generic[Static]):
    first: Parsed[Static]  # with our own numbers where the line has its
    counters: tuple[tuple[int, int], ...]  # index of a counter and the place of it in the line
    values: tuple[tuple[int, float], ...]  # place of a value and what it is divided by


Parser = Callable[[str], Parsed[Static] | None]
Pieces = list[str]


def pieces(line: str) -> Pieces:
    """Take a line apart: at odd places stand its numbers, at even ones the text between."""
    return _pieces(line, form(line))


def _pieces(line: str, alike: bytes) -> Pieces:
    """Take a line of a form apart: where its numbers stand, no value of a digit decides."""
    if len(line) > LONGEST:
        return _NUMBER.split(line)
    return [line[begin:end] for begin, end in _places(alike)]


@lru_cache(REMEMBERED)
def _places(alike: bytes) -> tuple[tuple[int, int], ...]:
    """Return where the pieces of all lines of a form begin and end."""
    line = text_of(alike)
    edges = [edge for found in _NUMBER.finditer(line) for edge in found.span()]
    return tuple(zip([0, *edges], [*edges, len(line)], strict=True))


class Templates(Generic[Static]):
    """A parser that remembers the templates it has seen."""

    def __init__(self, parse: Parser[Static]) -> None:
        """Wrap a parser that depends on nothing but the line."""
        self._parse = parse
        self._plans: dict[tuple[str, ...], _Plan[Static] | bool] = {}  # False: no row, True: parse
        self._mute: set[bytes] = set()  # forms of lines that are no row

    def __call__(self, line: str) -> Parsed[Static] | None:
        """Parse a line; one without a number is no row."""
        alike = form(line)
        if alike in self._mute:
            return None
        parts = _pieces(line, alike)
        key = tuple(parts[::2])
        plan = self._plans.get(key)
        if len(parts) == 1 or plan is False:
            self._learn_mute(alike, key)
            return None
        if plan is None:
            found = self._parse(line)
            if len(self._plans) < MOST_TEMPLATES:
                self._plans[key] = self._learn(parts, found)
            return found
        return (None if plan is True else _follow(plan, parts)) or self._parse(line)

    def _learn_mute(self, alike: bytes, key: tuple[str, ...]) -> None:
        """Remember that lines of a form are no rows; digits within words may decide that."""
        known = len(self._mute) == MOST_TEMPLATES or len(alike) > LONGEST
        if not known and not any(map(_DIGIT.search, key)):
            self._mute.add(alike)

    def _learn(self, parts: Pieces, found: Parsed[Static] | None) -> _Plan[Static] | bool:
        if len(parts) > 2 * MOST_NUMBERS:
            return True
        own = [_own(number, part) if number % 2 else part for number, part in enumerate(parts)]
        shape = self._parse("".join(own))
        if found is None or shape is None:
            return found is not shape
        places = {float(_FIRST + n): n for n in range(1, len(parts), 2)}
        values = [_place(value, places) for value in shape.values]
        counters = [(n, places.get(float(c), -1)) for n, c in enumerate(shape.counters) if c >= 0]
        if None in values or any(place < 0 for _, place in counters):
            return True
        plan = _Plan(shape, tuple(counters), tuple(value for value in values if value))
        return plan if repr(_follow(plan, parts)) == repr(found) else True


def _own(number: int, part: str) -> str:
    """Return our own number instead of a part; a time keeps its form."""
    return part.translate(_OTHER_DIGITS) if _TIME.search(part) else str(_FIRST + number)


def _place(value: float, places: dict[float, int]) -> tuple[int, float] | None:
    """Return the place of a value of ours and what it was divided by."""
    if value in places:
        return places[value], 1.0
    percent = places.get(float(round(value * 100))) if abs(value) < _FIRST else None
    return (percent, 100.0) if percent is not None else None


def _follow(plan: _Plan[Static], parts: Pieces) -> Parsed[Static] | None:
    counters = list(plan.first.counters)
    for index, place in plan.counters:
        if not parts[place].isdigit():
            return None
        counters[index] = whole(parts[place])
    try:
        values = [float(parts[place]) / factor for place, factor in plan.values]
    except ValueError:  # 12,345; or a time, of which only the parser knows what it means here
        numbers = [as_number(parts[place].replace(",", "")) for place, _ in plan.values]
        pairs = zip(numbers, plan.values, strict=True)
        values = [number / factor for number, (_, factor) in pairs if number is not None]
        if len(values) < len(numbers):
            return None
    return Parsed(plan.first.static, tuple(counters), tuple(values))
