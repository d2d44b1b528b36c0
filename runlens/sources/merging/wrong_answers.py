"""What a classifier is judged by that logs no loss: how many of its answers were wrong."""

from collections.abc import Mapping

from runlens.history import Columns
from runlens.naming import Meaning
from runlens.naming.classify import wrong_answers
from runlens.sources.merging.objective import OF_LABELS


def counted(metrics: Mapping[str, Columns], known: Mapping[str, Meaning]) -> dict[str, str]:
    """Return the counts or rates of wrong answers of a run that logs no loss and no accuracy."""
    if any(meaning.quantity in OF_LABELS for meaning in known.values()):
        return {}
    wrong = {name: rank for name in metrics if (rank := wrong_answers(name))}
    taken = {}
    for ours, splits in (("train_loss", {"", "train"}), ("eval_loss", {"val", "test"})):
        mine = [name for name in wrong if known[name].split in splits]
        if mine:
            taken[ours] = min(mine, key=lambda name: (known[name].split == "test", wrong[name]))
    return taken
