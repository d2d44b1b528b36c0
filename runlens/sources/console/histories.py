"""A history that was printed or saved in one piece: ``{'loss': [1.5, 0.2], 'val_loss': [...]}``.

So ``print(history.history)`` and ``file.write(str(history.history))`` leave it (Keras), and own
loops their ``defaultdict`` of lists.
"""

import re
from collections.abc import Mapping
from typing import Any

from runlens.patterns import lazy_re
from runlens.sources.loose_json import LARGEST, loosely
from runlens.sources.tables.names import has_metric

_DICT = lazy_re(
    rb"\s*(?:[\w. ]{1,40}=\s*|\w{1,40}[:(]\s*)?(?:defaultdict\(<class 'list'>,\s*)?(\{.*\})\)*\s*",
    re.DOTALL,
)


def lines_of(data: bytes) -> bytes | None:
    """Return a history as lines, a dict of numbers each; None where a text is none."""
    if len(data) > LARGEST or b"[" not in data or not (found := _DICT.fullmatch(data)):
        return None
    read = loosely(found[1])
    if read is None or read.lost or read.cut:
        return None
    whole = read.value
    columns = _columns(whole) if isinstance(whole, dict) else {}
    if not has_metric(columns):
        return None
    lines = (zip(columns, row, strict=True) for row in zip(*columns.values(), strict=True))
    shown = (", ".join(f"{name!r}: {value}" for name, value in line) for line in lines)
    return "".join(f"{{{line}}}\n" for line in shown).encode()


def _columns(whole: Mapping[Any, Any]) -> dict[str, list[float]]:
    """Return the lists of numbers, if all are as long as the first: two values at least.

    They may stand under the data that they are of: ``{'train': {'loss': [1.5, 0.2]}, 'val': ...}``.
    """
    every = [
        (f"{name}/{inner}" if inner else str(name), some)
        for name, part in whole.items()
        for inner, some in (part.items() if isinstance(part, dict) else [("", part)])
    ]
    lists = {name: some for name, some in every if isinstance(some, list)}
    lengths = {len(some) for some in lists.values()}
    if len(lengths) != 1 or min(lengths) < 2:  # noqa: PLR2004 - one row is no history
        return {}
    if not all(one is None or type(one) in {int, float} for some in lists.values() for one in some):
        return {}
    return {
        name: [float("nan") if one is None else float(one) for one in some]
        for name, some in lists.items()
    }
