"""Rows under names that each stand for several columns, as DeepXDE writes them to ``loss.dat``.

``# step, loss_train, loss_test, metrics_test`` stands above the terms of the loss on the rows of
the training, the same terms on those of the test, and the metrics. The terms are weighted already:
the loss is their sum (read in DeepXDE 1.14, ``LossHistory`` and ``Model._test``).
"""

from collections.abc import Sequence

from runlens.patterns import lazy_re

ALIKE = 2.0  # times: so near both are at first, of one model that has learned nothing
OF_TERMS = ("train/loss", "test/loss")
SUMMED = "names the terms of its loss once for all: the sum of each was read as the loss"
_HEAD = lazy_re(r"#? ?step, ?loss_train, ?loss_test(?:, ?metrics_test)?")

Named = tuple[tuple[str, ...], list[tuple[float, ...]]]


def spread(heading: str, rows: Sequence[tuple[float, ...]]) -> Named | None:
    """Return names and values of rows of numbers without their step; None under other names.

    How many terms there are nobody writes: where one number is left over it is a metric.
    """
    if not _HEAD.fullmatch(heading.strip()) or not rows:
        return None
    terms = len(rows[0]) // 2
    if terms < 1 or not all(_alike(rows[0][n], rows[0][terms + n]) for n in range(terms)):
        return None
    names = [*OF_TERMS]
    if terms > 1:
        names += [f"{data}/loss_{n}" for data in ("train", "test") for n in range(1, terms + 1)]
    names += ["test/metric"] * (len(rows[0]) % 2)
    values = [
        (sum(row[:terms]), sum(row[terms : 2 * terms]), *row[0 if terms > 1 else 2 * terms :])
        for row in rows
    ]
    return tuple(names), values


def _alike(one: float, other: float) -> bool:
    return max(one, other) <= ALIKE * min(one, other)
