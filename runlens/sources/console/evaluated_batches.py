"""Batches of held-out data below a line that says so: GluonNLP's ``[Batch 10/150] loss=0.1328``.

Each tells the mean loss of as many batches, and what the metric was so far, which the end of the
evaluation tells of all of them: the mean of the losses is the loss of the evaluation.
"""

from collections.abc import Sequence

import numpy as np

from runlens.patterns import lazy_re
from runlens.sources.console.pairs import NUMBER
from runlens.sources.reading import as_number

_BEGINS = lazy_re(r"(?i)\bdoing (?:evaluation|validation|testing) on \w+ with\b")
_BATCH = lazy_re(rf"\[Batch (\d{{1,9}})/(\d{{1,9}})\] loss=({NUMBER}|nan|inf)\b")
_Line = tuple[int, str]


def with_dev_losses(others: Sequence[_Line]) -> Sequence[_Line]:
    """Return lines with one for the batches of each evaluation, which says their mean loss."""
    begins = [n for n, (_, line) in enumerate(others) if _BEGINS.search(line)]
    if not begins:
        return others
    kept = list(others[: begins[0]])
    below = others[begins[0] :]
    losses: dict[int, float] = {}  # behind so many batches
    for (at, line), (_, after) in zip(below, [*below[1:], (0, "")], strict=True):
        found = _BATCH.search(line)
        value = as_number(found[3]) if found else None
        if found is None or value is None:
            kept.append((at, line))
            continue
        done, total = int(found[1]), int(found[2])
        losses[done] = value
        if _BATCH.search(after):
            continue
        if done + min(losses) > total:  # it was not cut off
            kept.append((at, f"validation metrics:loss:{np.mean(list(losses.values())):.6g}"))
        losses = {}
    return kept
