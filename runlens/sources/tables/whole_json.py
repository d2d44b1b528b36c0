"""A history that lies in one JSON text: a list of epochs, or a list of numbers for each name.

``history.json``, as own loops write it, and as Keras' ``History.history`` is saved.
"""

from collections import Counter
from typing import Any

from runlens.patterns import lazy_re
from runlens.sources.files import Unreadable, parse_json

Row = dict[str, Any]

_NAMED = lazy_re(r"(?:.*[_-])?(?:history|losses)(?:[_-].*)?\.json")


def is_named(name: str) -> bool:
    """Whether a file, by its name in lower case, may be such a history."""
    return _NAMED.fullmatch(name) is not None


def history(data: bytes) -> list[Row] | None:
    """Return the rows of such a history; None where the text is none."""
    try:
        whole = parse_json(data)
    except Unreadable:
        return None
    if isinstance(whole, dict):
        return _of_lists(whole)
    if isinstance(whole, list) and len(whole) > 1 and all(isinstance(row, dict) for row in whole):
        return whole
    return None


def _of_lists(whole: Row) -> list[Row] | None:
    """Turn lists of numbers into rows; a list of another length has no place in them."""
    lists = {name: some for name, some in whole.items() if isinstance(some, list)}
    lengths = Counter(len(some) for some in lists.values() if len(some) > 1)
    if not lengths:
        return None
    length = max(lengths, key=lambda one: (lengths[one], one))
    kept = {name: some for name, some in lists.items() if len(some) == length}
    return [dict(zip(kept, row, strict=True)) for row in zip(*kept.values(), strict=True)]
