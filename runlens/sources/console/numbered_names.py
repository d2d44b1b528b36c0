"""Lines whose name has the number of the row in it: ``loss_step_12: 0.3``, ``epoch3_acc = 0.9``.

Or beside it, without words for what is what: ``train_loss,12,0.3``.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise

from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.sources.console.mining.counter_names import counter
from runlens.sources.console.mining.phrases import SPLIT, split_of
from runlens.sources.console.pairs import NUMBER
from runlens.sources.console.telling import tells

FEWEST = 5  # rows of each name
FEWEST_UNSAID = 10  # where no word says what the number counts: "loss1" is one of several losses
MOSTLY = 0.9  # of the lines
SAMPLE = 100  # lines in which the first one stands
LONGEST = 200  # characters of a line
_VALUE = rf"([-+]?(?:{NUMBER}|nan|inf))\s*"
_NUMBERED = lazy_re(
    r"\s*([A-Za-z][A-Za-z_/.-]{0,60}?)(\d{1,9})((?:[_/.-][A-Za-z][A-Za-z_/.-]{0,40}?)?)"
    rf"\s?[:=]\s?{_VALUE}",
    re.IGNORECASE,
)
_LONG = lazy_re(
    rf"\s*([A-Za-z][\w/@.-]{{0,60}})\s?[,;\t ]\s?(\d{{1,9}})\s?[,;\t ]\s?({NUMBER}"
    rf"(?:\s?[,;\t ]\s?{NUMBER}){{0,4}})\s*"
)
_PARTS = lazy_re(r"[_/.-]+")
_Line = tuple[int, str]


class _Row(NamedTuple):
    """A line, what it counts, the number of its row, and what is measured."""

    at: int
    kind: str
    number: int
    name: str
    value: str

    def __str__(self) -> str:
        return f"{self.kind or 'step'} {self.number} {self.name}: {self.value}"


def with_numbers_apart(others: Sequence[_Line]) -> Sequence[_Line]:
    """Return lines with the number of each row before its name.

    >>> with_numbers_apart([(n, f"loss_step_{n}0: 0.25") for n in range(1, 9)])[0]
    (1, 'step 10 loss: 0.25')
    >>> with_numbers_apart([(n, f"val_loss,{n},0.25") for n in range(9)])[-1]
    (8, 'step 8 val_loss: 0.25')
    """
    for form, apart in ((_NUMBERED, _numbered), (_LONG, _long)):
        if not any(form.fullmatch(line) for _, line in islice(others, SAMPLE) if _short(line)):
            continue
        rows = [apart(at, found) for at, found in _found(form, others)]
        # below a line of names it is the row of a table
        alone = len(rows) >= MOSTLY * len(others) and rows[0].at == others[0][0]
        if _count(rows) and (form is _NUMBERED or alone):
            said = {row.at: str(row) for row in rows}
            return [(at, said.get(at, line)) for at, line in others]
    return others


def _short(line: str) -> bool:
    return len(line) <= LONGEST


def _found(form: re.Pattern[str], others: Sequence[_Line]) -> Iterator[tuple[int, re.Match[str]]]:
    lines = ((at, form.fullmatch(line)) for at, line in others if _short(line))
    return ((at, found) for at, found in lines if found)


def _numbered(at: int, found: re.Match[str]) -> _Row:
    """Return the row of ``epoch3_loss = 0.5``: its name has no word that counts."""
    words = [word for word in _PARTS.split(f"{found[1]}_{found[3]}") if word]
    kind = next(filter(None, map(counter, words)), "")
    name = "_".join(word for word in words if not counter(word))
    return _Row(at, kind, int(found[2]), name, found[4])


def _long(at: int, found: re.Match[str]) -> _Row:
    return _Row(at, "step", int(found[2]), found[1], found[3])


def _count(rows: Sequence[_Row]) -> bool:
    """Whether the numbers of each name rise, which all tell; each name has rows enough."""
    names = {row.name for row in rows}
    fewest = FEWEST if all(row.kind for row in rows) else FEWEST_UNSAID
    each = [[row.number for row in rows if row.name == name] for name in names]
    rising = all(len(some) >= fewest and all(a < b for a, b in pairwise(some)) for some in each)
    of_data = {split_of(name) for name in names if SPLIT.fullmatch(name)}
    told = "train/" in of_data and 1 < len(of_data) == len(names)
    return bool(rows) and rising and (told or all(map(tells, names)))
