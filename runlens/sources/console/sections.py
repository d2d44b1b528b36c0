"""Files of sections as configparser writes them: ``[epoch.3]`` above ``train/loss = 0.5``.

A section that counts is a row, whose numbers stand below it. One that is called by its data is what
came out in the end: ``[test]`` above ``loss = 2.1``.
"""

from collections.abc import Sequence
from itertools import pairwise

from runlens.patterns import lazy_re
from runlens.sources.console.mining.counter_names import counter
from runlens.sources.console.telling import tells
from runlens.sources.reading import as_number

FEWEST = 2  # sections that count
_SECTION = lazy_re(
    r"\s*\[\s*(?P<name>[A-Za-z][A-Za-z_ ]{0,20}?)(?:[ ._:#-]{0,2}(?P<n>\d{1,9}))?\s*\]\s*"
)
_DATA = lazy_re(
    r"(?i)(?:final[ _])?(?P<data>test|val(?:id(?:ation)?)?|eval(?:uation)?)"
    r"(?:[ _](?:set|results?))?"
)
_ENTRY = lazy_re(r"\s*(?P<name>[A-Za-z][\w./@ -]{0,60}?)\s*[=:]\s*(?P<value>\S{1,40})\s*")
_Line = tuple[int, str]


def with_sections_joined(others: Sequence[_Line]) -> Sequence[_Line]:
    """Return lines with each section in one; others as they are.

    >>> ini = ["[epoch.1]", "loss = 0.5", "[epoch.2]", "loss = 0.4", "[test]", "loss = 0.9"]
    >>> [line for _, line in with_sections_joined(list(enumerate(ini)))]
    ['epoch 1: loss: 0.5', 'epoch 2: loss: 0.4', 'test loss: 0.9']
    """
    heads = [n for n, (_, line) in enumerate(others) if line.lstrip()[:1] == "["]
    said = {n: found for n in heads if (found := _SECTION.fullmatch(others[n][1]))}
    counting = [n for n, found in said.items() if found["n"] and counter(found["name"])]
    begins = min(said, default=0)
    below = [line for n, (_, line) in enumerate(others) if n > begins and n not in said]
    if len(counting) < FEWEST or not all(map(_ENTRY.fullmatch, filter(str.strip, below))):
        return others
    joined = list(others[:begins])
    for begin, end in pairwise([*said, len(others)]):
        section, entries = said[begin], [_ENTRY.fullmatch(line) for _, line in others[begin:end]]
        numbers = [
            (one["name"], one["value"]) for one in entries if one and _is_number(one["value"])
        ]
        line = _joined(section["name"], section["n"], numbers)
        joined += [(others[begin][0], line)] if line else others[begin:end]
    return joined


def _is_number(text: str) -> bool:
    return as_number(text) is not None


def _joined(name: str, number: str | None, entries: Sequence[tuple[str, str]]) -> str:
    """Return a section in one line; "" for one that measures nothing."""
    if number and (kind := counter(name)):
        return f"{kind} {number}: " + ", ".join(f"{key}: {value}" for key, value in entries)
    data = _DATA.fullmatch(name)
    told = [(key, value) for key, value in entries if data and tells(key)]
    return ", ".join(f"{data['data']} {key}: {value}" for key, value in told) if data else ""
