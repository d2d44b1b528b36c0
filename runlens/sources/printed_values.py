"""Lists, dicts and arrays of plain numbers, as text: as a program would have printed them."""

import json
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import Any

from runlens.config_keys import KNOWN_KEYS, canonical_key
from runlens.naming import classify
from runlens.sources.tables.names import is_step

MOST = 1_000_000  # numbers: one list may stand under many names
MOST_NAMES = 1_000
WIDEST = 8  # numbers of a row, where there are more rows: more may be an epoch's
PAIR = 2
DEEPEST = 1  # dicts in a dict
_BITS = 64  # of a whole number at most


def printed(whole: object) -> bytes | None:
    """Return numbers as lines of text; None where there are none, or too many.

    A list has a number a line, one of lists a list a line, one of dicts a dict a line, and a dict
    a list a line, under its name; those beside a list that counts have a row a line. Of many short
    lists it is their columns that have a line each.
    What a dict holds beside lists is left out, but for one of settings; without any list, its
    numbers are scores.
    """
    if isinstance(whole, dict):
        lists = dict(_lists(whole, "", 0))
        if not lists:
            return _scores(whole)
        written = [*_counted(lists)] or [*_of_epochs(lists)]
        lines = written or [f"{name}: {some!r}" for name, some in lists.items()]
        return _joined([*_settings(whole), *lines], sum(map(len, lists.values())))
    if not isinstance(whole, list):
        return None
    if _is_numbers(whole):
        return _joined(map(repr, whole), len(whole))
    lists_alike = all(map(_is_numbers, whole)) and len({len(some) for some in whole}) == 1
    if lists_alike:
        narrow = 1 < len(whole[0]) <= WIDEST < len(whole)
        curves = [list(some) for some in zip(*whole, strict=True)] if narrow else whole
        return _joined(map(repr, curves), len(whole) * len(whole[0]))
    if not all(isinstance(row, dict) for row in whole):
        return None
    rows = [{str(key): value for key, value in row.items() if _is_number(value)} for row in whole]
    return _joined(map(json.dumps, rows), sum(map(len, rows)))


def _settings(whole: dict[Any, Any]) -> Iterator[str]:
    """Yield the line of each dict of settings beside the lists: ``{'args': {'lr': 0.1, ...}}``."""
    from runlens.sources.console.telling import tells  # consoles read what is printed here

    for held in whole.values():
        some = held.items() if isinstance(held, dict) and len(held) <= MOST_NAMES else ()
        plain = {str(key): one for key, one in some if isinstance(one, str | bool | int | float)}
        known = {canonical_key(key) for key, one in plain.items() if _is_number(one)} & KNOWN_KEYS
        measures = any(type(one) is float and tells(key) for key, one in plain.items())
        if len(known) > 1 and not measures:
            yield json.dumps(plain)


def _counted(lists: dict[str, Sequence[float]]) -> Iterator[str]:
    """Yield the rows of lists as long as one that counts them: ``epoch`` beside ``loss``."""
    counter = next((name for name, some in lists.items() if is_step(name) and _rises(some)), "")
    if counter and len(lists) > 1 and len({len(some) for some in lists.values()}) == 1:
        for n, count in enumerate(lists[counter]):
            yield json.dumps({k: int(count) if k == counter else v[n] for k, v in lists.items()})


def _of_epochs(lists: dict[str, Sequence[float]]) -> Iterator[str]:
    """Yield the rows of batches, each epoch's numbers in its last: ``batch_loss, epoch_loss``.

    Both say so by a name, and the one length is so many times the other.
    """
    few, *more = sorted({len(some) for some in lists.values()})
    if len(more) != 1 or more[0] % few:
        return
    (rows,) = more
    said = {(len(some), classify(name).scope) for name, some in lists.items()}
    if not {(few, "epoch"), (rows, "step")} <= said:
        return
    each = rows // few
    for n in range(rows):
        ends = (n + 1) % each == 0
        here = {k: v[n] for k, v in lists.items() if len(v) == rows}
        last = {k: v[n // each] for k, v in lists.items() if len(v) == few and ends}
        yield json.dumps({"step": n + 1, **here, **last})


def _rises(some: Sequence[float]) -> bool:
    whole = all(float(one).is_integer() for one in some)
    return whole and len(some) > 1 and some[0] >= 0 and all(a < b for a, b in pairwise(some))


def _scores(whole: dict[Any, Any]) -> bytes | None:
    """Return the numbers of a dict without a list, each by its name: those of one model a line.

    Whole ones alone are labels or counts: nothing.
    """
    lines: list[str] = []
    measured = False
    for key, value in islice(whole.items(), MOST_NAMES):
        inner = value.items() if isinstance(value, dict) else ()
        named = [f"{' '.join(str(name).split())}: {n!r}" for name, n in inner if _is_number(n)]
        if named or _is_number(value):
            said = ", ".join(named) if named else repr(value)
            lines.append(f"{' '.join(str(key).split())}: {said}")
            measured |= type(value) is float or any(type(n) is float for _, n in inner)
    return _joined(lines, len(lines)) if measured else None


def _joined(lines: Any, numbers: int) -> bytes | None:  # noqa: ANN401 - lines of any kind
    if not 0 < numbers <= MOST:
        return None
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")


def _lists(whole: dict[Any, Any], path: str, depth: int) -> Iterator[tuple[str, Sequence[float]]]:
    """Yield the lists of numbers in a dict, and in those within it, by their path."""
    if len(whole) > MOST_NAMES:
        return
    for key, value in whole.items():
        name = f"{path}{' '.join(str(key).split())}"
        if isinstance(value, dict) and depth < DEEPEST:
            yield from _lists(value, f"{name} ", depth + 1)
        elif _is_numbers(value) and value:
            yield name, value
        elif of_rounds := _of_rounds(value):
            yield name, of_rounds


def _of_rounds(value: object) -> list[float]:
    """Return the numbers of pairs that count themselves, ``(1, 0.53)``, as Flower keeps them."""
    pairs = value if isinstance(value, list) else []
    if not all(_is_numbers(pair) and len(pair) == PAIR for pair in pairs):
        return []
    counted = [first for first, _ in pairs]
    begin = counted[0] if counted else 0
    apart = counted == list(range(begin, begin + len(counted))) if type(begin) is int else False
    return [second for _, second in pairs] if apart else []


def _is_number(one: object) -> bool:
    return type(one) is float or (type(one) is int and one.bit_length() <= _BITS)


def _is_numbers(some: object) -> bool:
    return isinstance(some, list) and all(map(_is_number, some))
