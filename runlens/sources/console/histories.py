"""A history that was printed or saved in one piece: ``{'loss': [1.5, 0.2], 'val_loss': [...]}``.

So ``print(history.history)`` and ``file.write(str(history.history))`` leave it (Keras), and own
loops their ``defaultdict`` of lists.
"""

import re
from collections.abc import Mapping
from typing import Any

from runlens.patterns import lazy_re
from runlens.sources.files import Unreadable, parse_json
from runlens.sources.loose_json import LARGEST, loosely
from runlens.sources.tables.json_shapes import leaves
from runlens.sources.tables.names import SPLITS, has_metric

_LISTED = lazy_re(rb"\s*\[\s*[\"'][^\"']*[A-Za-z]")
_WORDS = lazy_re(r"[A-Za-z]{2}[^\n]{0,80}\d")  # in a line: no list of names, or of numbers
PAIR = 2  # of a counter and a number
FEWEST = 2  # rows: one is no history
_Row = dict[str, float]
_DICT = lazy_re(
    rb"\s*(?:[\w. ]{1,40}=\s*|\w{1,40}[:(]\s*)?(?:defaultdict\(<class 'list'>,\s*)?"
    rb"(\{.*\}|\[\s*\{.*\}\s*,?\s*\])\)*\s*",
    re.DOTALL,
)


def lines_of(data: bytes) -> bytes | None:
    """Return a history as lines, a dict of numbers each, or the lines that stand in a list.

    None where a text is neither.
    """
    if len(data) > LARGEST or b"[" not in data:
        return None
    if _LISTED.match(data):
        return _lines(data)
    if not (found := _DICT.fullmatch(data)):
        return None
    read = loosely(found[1])
    if read is None or read.lost or read.cut:
        return None
    whole = read.value
    if isinstance(whole, dict):
        rows = rows_of(columns_of(whole))
    else:
        rows = _of_histories(whole) or (_of_rows(whole) if found[1][:1] == b"[" else [])
    names = {name for row in rows for name in row}
    if names <= SPLITS.keys() or not has_metric(names):
        return None  # what is named by its data alone, the name of the file says
    shown = (", ".join(f"{name!r}: {value}" for name, value in row.items()) for row in rows)
    return "".join(f"{{{line}}}\n" for line in shown).encode()


def _lines(data: bytes) -> bytes | None:
    """Return the lines of a log that was saved as a list of texts: ``["epoch 1 loss 0.5", ...]``.

    What was read of one that was cut is kept.
    """
    try:
        lines = parse_json(data)
    except Unreadable:  # Python's, or cut
        read = loosely(data)
        said = read.value if read and isinstance(read.value, list) else []
        lines = [str(one).replace("\\t", "\t").removesuffix("\\n") for one in said]
    if len(lines) < FEWEST or not all(isinstance(line, str) for line in lines):
        return None
    text = "\n".join(line.rstrip("\n") for line in lines)
    return text.encode() + b"\n" if _WORDS.search(text) else None


def rows_of(columns: Mapping[str, list[float]]) -> list[_Row]:
    """Return a row for each place in lists that are equally long."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _of_rows(whole: list[Any]) -> list[_Row]:
    """Return the numbers of a list of rows: ``[{'epoch': 1, 'val': {'loss': 0.5}}, ...]``."""
    if len(whole) < FEWEST or not all(isinstance(row, dict) for row in whole):
        return []
    return [{str(n): v for n, v in leaves(row) if type(v) in {int, float}} for row in whole]


def _of_histories(whole: list[Any]) -> list[_Row]:
    """Return the rows of histories one behind the other; each begins at its first epoch again."""
    each = [rows_of(columns_of(one)) if isinstance(one, dict) else [] for one in whole]
    if len(each) < FEWEST or not all(each):
        return []
    return [{"epoch": n, **row} for rows in each for n, row in enumerate(rows, 1)]


def of_pairs(some: list[Any]) -> list[Any]:
    """Return the numbers of a list of pairs that count: ``[(1, 0.5), (2, 0.4)]``; others as is."""
    pairs = all(isinstance(one, list | tuple) and len(one) == PAIR for one in some)
    counts = [one[0] for one in some] if pairs else []
    rise = all(type(n) is int for n in counts) and counts == sorted(set(counts))
    return [one[1] for one in some] if counts and rise else some


def counts_of(whole: Mapping[Any, Any], rows: int) -> list[int]:
    """Return where rows stand: what their pairs count, else one after the other."""
    lists = (some for some in whole.values() if isinstance(some, list))
    pairs = next((some for some in lists if of_pairs(some) is not some), [])
    return [one[0] for one in pairs] or list(range(1, rows + 1))


def columns_of(whole: Mapping[Any, Any]) -> dict[str, list[float]]:
    """Return the lists of numbers, if all are as long as the first: two values at least.

    They may stand under the data that they are of: ``{'train': {'loss': [1.5, 0.2]}, 'val': ...}``.
    """
    every = [
        (f"{name}/{inner}" if inner else str(name), some)
        for name, part in whole.items()
        for inner, some in (part.items() if isinstance(part, dict) else [("", part)])
    ]
    lists = {name: of_pairs(some) for name, some in every if isinstance(some, list)}
    lengths = {len(some) for some in lists.values()}
    if len(lengths) != 1 or min(lengths) < FEWEST:
        return {}
    if not all(one is None or type(one) in {int, float} for some in lists.values() for one in some):
        return {}
    return {
        name: [float("nan") if one is None else float(one) for one in some]
        for name, some in lists.items()
    }
