"""Names of one letter, which say nothing alone: what stands beside them says what they are.

``L`` beside ``|g|`` or ``Lv``, ``R`` beside ``H``, ``b`` beside ``ep``.
"""

from collections.abc import Collection, Iterable

from runlens.patterns import lazy_re

# a loss as formulas write it; "C" of a cost, "E" of an energy or an error: of other things as well
LOSS = lazy_re(r"(?:(?:avg|ave|mean)[ _.]?)?(?P<letter>[LJ])(?:_tr|_train)?")
LOSS_BESIDE = lazy_re(r"(?P<letter>[lCE]|obj)")
_HELD_OUT = ("v", "_v", "_val", "_valid", "_dev", "_test", "val", "test")
ACCURACIES = ("A", "acc", "accuracy", "Acc")
NORMS = ("g", "|g|", "||g||", "gn", "|grad|", "gnorm", "grad_norm")
RETURNS, ENTROPIES = ("R", "G"), ("H", "ent", "entropy")
# counters of epochs and of the batches within each
OF_EPOCHS, OF_BATCHES = ("ep", "e", "epoch"), ("b", "mb", "batch")


def held_out(letter: str) -> tuple[str, ...]:
    """Return the names of the same on held-out data: ``Lv``, ``L_test``."""
    return tuple(letter + data for data in _HELD_OUT)


def told(names: Collection[str]) -> bool:
    """Whether the company of a letter says that a training logged it.

    Of a loss its twin on held-out data, an accuracy, a norm of gradients, or epochs with batches in
    each; of a return the entropy.
    """
    if _any(RETURNS, names) and _any(ENTROPIES, names):
        return True
    losses = [found["letter"] for name in names if (found := LOSS.fullmatch(name))]
    if len(losses) != 1:
        return False
    beside = (held_out(losses[0]), ACCURACIES, NORMS)
    return any(_any(some, names) for some in beside) or bool(counters(names))


def counters(names: Collection[str]) -> dict[str, str]:
    """Return what counts beside another: ``b`` the batches of an epoch that ``ep`` counts.

    An episode has none.
    """
    epochs = [name for name in OF_EPOCHS if name in names]
    batches = [name for name in OF_BATCHES if name in names]
    if len(epochs) != 1 or len(batches) != 1:
        return {}
    return {epochs[0]: "epoch", batches[0]: "batch"}


def _any(some: Iterable[str], names: Collection[str]) -> bool:
    return any(name in names for name in some)
