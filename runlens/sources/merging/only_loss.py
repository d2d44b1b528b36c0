"""The one curve of a run that is called a loss, or a likelihood, of whatever stands before it."""

from collections.abc import Mapping

import numpy as np

from runlens.history import Columns
from runlens.naming import Meaning, classify, words
from runlens.naming.classify import AVERAGES
from runlens.naming.quantities import PARTS
from runlens.sources.merging.by_values import came_down, falls
from runlens.sources.merging.objective import DISCRIMINATOR, LIKELIHOODS, MEAN

# words of losses by which no policy and no generator is judged, alone or not
OF_PLAYERS = DISCRIMINATOR | frozenset((
    "policy", "value", "vf", "pg", "actor", "critic", "kl", "adv", "adversarial", "g", "gen",
    "generator",
))  # fmt: skip
WITHOUT_OBJECT = frozenset(("loss", "log", "train"))  # words of a name that say no more than loss
# a loss, written again, and what it is multiplied by
OF_ANOTHER = frozenset(("scale", "scaled", "weighted", "normalized", "normalised"))


def only_loss(metrics: Mapping[str, Columns], known: Mapping[str, Meaning]) -> dict[str, str]:
    """Return the one name with the word loss in it, whatever stands before: ``NER loss``.

    Beside it the same loss may be logged again, scaled, or as the mean so far, and one that was off
    all the way. It falls, or becomes NaN. Where the run logs nothing else it is no part, and may
    have fallen before it rose.
    """
    named = [name for name in metrics if any(word.endswith("loss") for word in words(name))]
    if len(named) > 1:
        said = {words(name) for name in named}
        named = [n for n in named if not OF_ANOTHER & set(words(n)) and metrics[n].value.any()]
        named = [n for n in named if not MEAN & set(words(n)) or _without_mean(n) not in said]
    alone = len(named) == 1 and not known[named[0]].quantity
    plain = alone and WITHOUT_OBJECT.issuperset(words(named[0]))  # falling or not
    goes = alone and (falls(metrics[named[0]]) or np.isnan(metrics[named[0]].value).any())
    lone = alone and len(metrics) == 1
    went = lone and came_down(metrics[named[0]])
    no_part = OF_PLAYERS if lone else PARTS
    if not (plain or goes or went) or no_part & set(words(named[0])):
        return {}
    return {"eval_loss" if known[named[0]].split in {"val", "test"} else "train_loss": named[0]}


def of_one_model(metrics: Mapping[str, Columns]) -> dict[str, str]:
    """Return the likelihood or cross entropy in the folder of a model: ``charlm/nll``.

    Or that of a task, ``copy_xent``, which falls: a baseline or a teacher that is measured beside
    the run does not. That of a part of it, or of one of two models, is no loss of the run.
    """
    parted = {name: _parted(name, rows) for name, rows in metrics.items()}
    found = [n for n, (of, last) in parted.items() if of and classify(last).kind in LIKELIHOODS]
    apart = {classify(name).split for name in found}
    if len(found) != 1 or apart != {""} or PARTS & set(words(parted[found[0]][0])):
        return {}
    return {"train_loss": found[0]}


def _parted(name: str, rows: Columns) -> tuple[str, str]:
    """Return the folder of a name, or the words before its last one if it falls, and the rest."""
    folder, _, last = name.rpartition("/")
    if folder or classify(name).statistic not in AVERAGES or not falls(rows):
        return folder, last
    *of, last = words(name) or ("",)
    return " ".join(of), last


def _without_mean(name: str) -> tuple[str, ...]:
    return tuple(word for word in words(name) if word not in MEAN)
