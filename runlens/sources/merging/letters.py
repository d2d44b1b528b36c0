"""Losses that are written as in formulas, by what stands beside them: ``L=2.3  |g|=0.4``."""

from collections.abc import Mapping

import numpy as np

from runlens.history import Columns, FloatArray
from runlens.naming import classify, words
from runlens.naming.letters import LOSS, LOSS_BESIDE, held_out
from runlens.naming.vocabulary import SPLITS
from runlens.sources.merging.by_values import (
    ACCURACIES,
    ALIKE,
    DOWN,
    FEWEST,
    OURS,
    SHARE,
    ends,
    falls,
)

NORM = "g"
COUNTERS = frozenset("bkint")  # of batches, iterations and the like
ACCURACY, DRIVEN_UP = "A", "J"


def by_letter(metrics: Mapping[str, Columns]) -> dict[str, str]:
    """Return the losses that are written as in formulas: ``L=2.3``, ``J = 2.3, J_test = 2.4``.

    That of the training falls, or comes down and never ends at its height, as what is driven up
    does where it is learned. A letter of which nothing is known may stand for a part of it.
    """
    name, letter = _named(metrics)
    if not name:
        return {}
    scores = _with_twin(metrics, ACCURACY, ACCURACY, ACCURACIES) if _is_share(metrics) else {}
    known = {name, *scores.values()} | {n for n in metrics if n in COUNTERS and _counts(metrics[n])}
    known |= {NORM} if _has_norm(metrics) else set()
    if any(len(other) == 1 and other not in known for other in metrics):
        return {}
    taken = _with_twin(metrics, name, letter, OURS)
    scored = bool(scores) or any(ours in metrics for ours in ACCURACIES)
    normed = _has_norm(metrics) or "grad_norm" in metrics
    rows = metrics[name]
    value = rows.value[np.isfinite(rows.value)]
    if not len(value) or not ((value >= 0).all() or (scored and falls(rows))):
        return {}  # a likelihood: it rises where it is learned
    if not LOSS.fullmatch(name):
        sure = (scored or normed or len(taken) == len(OURS)) and falls(rows)
    else:
        sure = falls(rows) or _swings(value) or _trained(rows, letter, scored=scored, normed=normed)
    norm = {"grad_norm": NORM} if _has_norm(metrics) and "grad_norm" not in metrics else {}
    return taken | scores | norm if sure else {}


def _trained(rows: Columns, letter: str, *, scored: bool, normed: bool) -> bool:
    """Whether what stands beside a letter says that it is minimised, whatever it does.

    Beside the norm of its gradients a return is called J as well, beside an accuracy it is none. A
    likelihood is a share, and a loss above any share, or one that becomes NaN, is none of it.
    """
    beside = scored or (normed and letter != DRIVEN_UP)
    beyond = bool(np.isnan(rows.value).any()) or float(np.nanmax(rows.value)) > SHARE
    return beside and beyond


def _named(metrics: Mapping[str, Columns]) -> tuple[str, str]:
    """Return the only name that is the letter of a loss, and the letter; "" where none is."""
    for form in (LOSS, LOSS_BESIDE):
        found = [said for name in metrics if (said := form.fullmatch(name))]
        if found:
            return (found[0][0], found[0]["letter"]) if len(found) == 1 else ("", "")
    return "", ""


def _with_twin(
    metrics: Mapping[str, Columns], name: str, letter: str, ours: tuple[str, str]
) -> dict[str, str]:
    """Return what a letter and its twin on held-out data are, which begins where it does."""
    train, held = ours
    for other in metrics:
        of_data = classify(other).split in {"val", "test"} and _without_data(other) == (
            letter.lower(),
        )
        glued = other in held_out(letter) and _alike(metrics[name], metrics[other])
        if of_data or glued:
            return {train: name, held: other}
    return {train: name}


def _alike(one: Columns, other: Columns) -> bool:
    first, second = ends(one)[0], ends(other)[0]
    return bool(first / ALIKE <= second <= first * ALIKE)


def _without_data(name: str) -> tuple[str, ...]:
    return tuple(word for word in words(name) if word not in SPLITS)


def _has_norm(metrics: Mapping[str, Columns]) -> bool:
    """Whether ``g`` is what is left of ``|g|``: a norm is never below 0."""
    return NORM in metrics and bool(
        (metrics[NORM].value[np.isfinite(metrics[NORM].value)] >= 0).all()
    )


def _is_share(metrics: Mapping[str, Columns]) -> bool:
    """Whether ``A`` is an accuracy: it moves between 0 and 1, as no advantage does."""
    value = metrics[ACCURACY].value if ACCURACY in metrics else np.zeros(0)
    known = value[np.isfinite(value)]
    return len(known) > 1 and bool(known.min() >= 0 < np.ptp(known) and known.max() <= SHARE)


def _counts(rows: Columns) -> bool:
    """Whether a letter counts something: its numbers are whole."""
    return bool((rows.value == np.floor(rows.value)).all())


def _swings(value: FloatArray) -> bool:
    """Whether a curve went well below its first value, and ends below the height it had before."""
    end = len(value) - len(value) // 5
    down = len(value) >= FEWEST and value.min() <= DOWN * value[0]
    return bool(down and value[end:].max() < value[:end].max())
