"""Lines of a step, what was measured, and its value: ``250 val 4.9013``.

The ``log.txt`` of build-nanogpt, and of what was made of it.
"""

from collections.abc import Sequence

from runlens.patterns import lazy_re
from runlens.sources.console.counters import Counted, whole
from runlens.sources.console.rows import Row

NANOGPT = "nanogpt"
LEAST = 3  # steps of one word that make a log of it

_LINE = lazy_re(
    r"\s*(\d{1,12})\s+(train|val|valid|test|hella|hellaswag)\s+"
    r"(\d*\.\d+(?:[eE][-+]?\d+)?|[-+]?nan|[-+]?inf)\s*"
)
_NAMES = {
    "train": "train_loss",
    "val": "val_loss",
    "valid": "val_loss",
    "test": "test_loss",
    "hella": "eval_hellaswag_acc",
    "hellaswag": "eval_hellaswag_acc",
}


def worded(others: Sequence[tuple[int, str]]) -> list[Row]:
    """Return a row for each such line; none unless one word has steps that go on."""
    rows = [
        Row(at, Counted(step=whole(found[1])), (_NAMES[found[2]],), (float(found[3]),))
        for at, line in others
        if (found := _LINE.fullmatch(line))
    ]
    steps: dict[tuple[str, ...], set[int]] = {}
    for row in rows:
        steps.setdefault(row.names, set()).add(row.counted.step)
    return rows if max(map(len, steps.values()), default=0) >= LEAST else []
