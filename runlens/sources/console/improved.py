"""Sentences on what was better than before: ``Epoch 3: val_loss improved from 0.9 to 0.8``.

Or ``Validation loss decreased (0.9 --> 0.8).``, as early stopping prints. Of their two numbers the
second is of now. It stands in a row too, if the log has others.
"""

import re
from collections.abc import Sequence

from runlens.patterns import lazy_re
from runlens.sources.console.pairs import NUMBER
from runlens.sources.console.telling import tells

LONGEST = 300  # characters of a line
_MOVED = lazy_re(r" from |[-=]>|\u2192")  # without one no line is looked at closer
_NUMBER = rf"(?:{NUMBER}|[-+]?(?:inf|nan))"
_IMPROVED = lazy_re(
    r"\b([A-Za-z_][\w/@.-]*(?: [A-Za-z_][\w/@.-]*){0,3}?) (?:has )?"
    r"(?:improved|decreased|increased|dropped|reduced|went (?:up|down)|been updated)"
    rf"(?P<numbers>:? (?:from )?\(?{_NUMBER} ?(?:to|[-=]+>|\u2192) ?(?P<now>{_NUMBER})\)?)"
)
_BEST = lazy_re(r"(?i)^best ")
_DIGIT = lazy_re(r"\d")
_Line = tuple[int, str]


def with_improvements(others: Sequence[_Line]) -> Sequence[_Line]:
    """Return lines that say the better number alone; nothing of it where there are other rows.

    >>> with_improvements([(0, "Epoch 3: val_loss improved from 0.9 to 0.8, saving")])
    [(0, 'Epoch 3: val_loss: 0.8, saving')]
    """
    lines = ((at, line) for at, line in others if len(line) <= LONGEST and _MOVED.search(line))
    moved = {at: m for at, line in lines if (m := _IMPROVED.search(line))}
    found = {at: m for at, m in moved.items() if tells(_BEST.sub("", m[1]))}
    if not found:
        return others
    numbers = sum(_DIGIT.search(line) is not None for at, line in others if at not in found)
    if numbers >= len(found):
        return [(at, _without_numbers(line, found.get(at))) for at, line in others]
    return [
        (at, _with_better(line, found[at])) if at in found else (at, line) for at, line in others
    ]


def _with_better(line: str, said: re.Match[str]) -> str:
    return f"{line[: said.start()]}{said[1]}: {said['now']}{line[said.end() :]}"


def _without_numbers(line: str, said: re.Match[str] | None) -> str:
    """Return a line up to the numbers of its sentence, whose words tell the epoch: Keras' do."""
    return line[: said.start("numbers")] if said else line
