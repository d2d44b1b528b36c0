"""The loss of a network that is held to an equation, where only its parts are logged.

``L_pde`` of the equation itself, ``L_bc`` and ``L_ic`` of what holds at its border and at first.
"""

from collections.abc import Mapping

import numpy as np

from runlens.history import Columns
from runlens.naming import classify, words
from runlens.naming.equations import ALONE, BESIDE, LOSS
from runlens.sources.merging.by_values import rises
from runlens.sources.merging.objective import MEASURES, OTHER_MEASURES, Chosen
from runlens.wording import listed

# of the equation, and of the conditions beside it; words that say so alone, and beside "loss"
EQUATION = (ALONE, BESIDE)
CONDITIONS = (
    frozenset(("bc", "bcs", "ic", "ics")),
    frozenset(("boundary", "initial", "init", "data")),
)
KINDS = {
    word: (kind, said_alone)
    for kind, (alone, beside) in (("equation", EQUATION), ("condition", CONDITIONS))
    for some, said_alone in ((alone, True), (beside, False))
    for word in some
}


def with_sum(found: Chosen) -> Chosen:
    """Take the sum of the parts for the training loss of a run that logs no other.

    Their weights are not logged. Where the sum rises it may be that a part of little weight does,
    as a residual that begins near 0 does while the conditions are learned: then nothing is taken.
    """
    metrics = found.metrics
    if (MEASURES | OTHER_MEASURES) & metrics.keys():
        return found
    parts = _parts(metrics)
    if not parts:
        return found
    rows = [metrics[name] for name in parts]
    total = rows[0]._replace(value=np.sum([one.value for one in rows], axis=0))
    if rises(total) and np.isfinite(total.value).all():
        return found
    derived = {**found.derived, "train_loss": f"the sum of {listed(parts)}, none weighted,"}
    return found._replace(metrics={**metrics, "train_loss": total}, derived=derived)


def _parts(metrics: Mapping[str, Columns]) -> list[str]:
    """Return the parts of a loss, of the same rows; nothing where one is none of an equation's."""
    kinds = {name: _kind(name) for name in metrics}
    parts = [name for name, kind in kinds.items() if kind]
    others = any(LOSS in words(name) and not kind for name, kind in kinds.items())
    if others or {kinds[name] for name in parts} != {"equation", "condition"}:
        return []
    step = metrics[parts[0]].step
    alike = all(np.array_equal(metrics[name].step, step) for name in parts)
    return parts if alike and not any((metrics[name].value < 0).any() for name in parts) else []


def _kind(name: str) -> str:
    """Return of what a part of a loss is; "" for other names, and for those of held-out data."""
    said = {word for word in words(name) if word != "train"}
    kind, said_alone = KINDS.get(next(iter(said - {LOSS}), ""), ("", True))
    known = len(said - {LOSS}) == 1 and (said_alone or LOSS in said)
    return kind if known and classify(name).split in {"", "train"} else ""
