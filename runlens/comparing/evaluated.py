"""Whether two runs were evaluated on the same data."""

from collections.abc import Sequence

import numpy as np

from runlens.comparing.align import shared
from runlens.comparing.canonical import Pair, Settings, paired, pairs, typed
from runlens.comparing.direction import is_held_out
from runlens.comparing.groups import group
from runlens.comparing.parting import differing
from runlens.comparing.rows import WEIGHTS, precision
from runlens.comparing.signs import common
from runlens.comparison import Check
from runlens.patterns import lazy_re
from runlens.run import Run
from runlens.signals.held_out import samples
from runlens.wording import loss, percent

WHAT = "Evaluation set"
NAMES = lazy_re(
    r"(^|[._])(eval|valid|validation|val|dev|test)_(data|dataset|datasets|file|files|set|path|split"
    r"|data_path|dataset_name|set_size|size)s?(\.\d+)?(\.(path|name|split))?$|^val_set_size$"
    r"|^test_datasets"
)
# a name of the training data themselves; not how they are read
TRAINED_ON = lazy_re(
    r"(^|[._])(train(ing)?_)?(datasets?|data|corpus|corpora|catalog)(_config)?"
    r"(_(name|id|version|path|files?|set|mix|mixer))?(\.\d+)?(\.(path|name))?$"
    r"|(^|[._])train(ing)?_(files?|path|set|texts?)$"
)
SIZE = lazy_re(r"size$|_split$")  # of a part of the training data: of others another part
SPLIT_SEEDS = ("split_seed", "val_split_seed", "data_split_seed")
FIRST_GAP = 0.02  # relative: one model on one set gives one loss before it is trained
FEWEST_EQUAL = 3  # train losses, from which a training is the same
FIRST_GAP_ROUGH = 0.10  # the same in another precision or quantisation


def evaluation_set(a: Run, b: Run, one: Settings, two: Settings) -> Check:
    """Check that both evaluate on one set: by its name, its split, and its size."""
    evaluated = [any(is_held_out(name) for name in run.history.metrics) for run in (a, b)]
    if not all(evaluated):
        lacking = [name for name, has in zip("AB", evaluated, strict=True) if not has]
        verb = "was" if len(lacking) == 1 else "were"
        return Check(WHAT, None, f"{' and '.join(lacking)} {verb} never evaluated", hard=True)
    sizes = samples(a), samples(b)
    if sizes[0] and sizes[1]:
        first, slack = sizes[0]
        second, more = sizes[1]
        if abs(first - second) > max(first * slack + second * more, 1.0):
            why = f"an evaluation takes {first:,.0f} samples in A and {second:,.0f} in B"
            return Check(WHAT, False, why, hard=True)
    named = paired(_keys(one, two), one, two)
    for pair in named:
        if pair.differs and pair.a and pair.b:
            why = f"{pair.key} is {pair.a.value} in A and {pair.b.value} in B"
            return Check(WHAT, False, why, hard=True)
    if gap := _by_losses(a, b, one, two):
        return Check(WHAT, False, gap, hard=True)
    return _by_names(named, sizes, other_data(one, two))


def _by_names(
    named: Sequence[Pair], sizes: tuple[tuple[float, float] | None, ...], other: str
) -> Check:
    """Check by what the settings name: one set for both, or other training data and no word."""
    if any(pair.a and pair.b and not SIZE.search(pair.key.lower()) for pair in named):
        return Check(WHAT, True, "the same by its name", hard=True)
    if other:
        why = f"{other}, and nothing says that both are evaluated on one set"
        return Check(WHAT, False, why, hard=True)
    if sizes[0] and sizes[1]:
        return Check(WHAT, True, f"{sizes[0][0]:,.0f} samples in each evaluation", hard=True)
    if any(pair.a and pair.b for pair in named):
        return Check(WHAT, True, "the same by its size", hard=True)
    return Check(WHAT, None, "not known to be equal", hard=True)


def training_data(a: Run, b: Run, one: Settings, two: Settings) -> list[Check]:
    """Check the data of the training, where it decides: neither was evaluated."""
    evaluated = [any(is_held_out(name) for name in run.history.metrics) for run in (a, b)]
    other = other_data(one, two)
    return [] if all(evaluated) or not other else [Check("Training data", False, other, hard=True)]


def other_data(one: Settings, two: Settings) -> str:
    """Say which setting that names the training data differs; empty where none is known to."""
    for pair in pairs(one, two):
        key = pair.key
        if TRAINED_ON.search(key.lower()) and not NAMES.search(key.lower()) and pair.differs:
            known = [str(typed(value)) for value in pair.values if typed(value) is not None]
            if len(known) == 2:  # noqa: PLR2004 - both are named
                return f"{key} is {known[0]} in A and {known[1]} in B"
    return ""


def _keys(one: Settings, two: Settings) -> list[str]:
    keys = sorted(one.known.keys() | two.known.keys())
    return [key for key in keys if NAMES.search(key.lower()) or key in SPLIT_SEEDS]


def _by_losses(a: Run, b: Run, one: Settings, two: Settings) -> str:
    """Say that eval losses differ though the same model was trained; empty where they do not."""
    trained = shared(a, b, "train_loss", "step")
    step, first, second = common(a, b, "eval_loss")
    if len(trained.at) < FEWEST_EQUAL or differing(trained).any() or not len(step):
        return ""
    inside = (step <= trained.at[-1]) & (first > 0)
    gaps = np.abs(second[inside] / first[inside] - 1)
    if not len(gaps) or gaps.max() <= _allowed(one, two):
        return ""
    at = int(np.argmax(gaps))
    losses = f"{loss(float(first[inside][at]))} in A and {loss(float(second[inside][at]))} in B"
    return f"train losses are equal, yet eval loss is {losses} at step {step[inside][at]:,.0f}"


def before_training(a: Run, b: Run, one: Settings, two: Settings) -> list[Check]:
    """Check that one model on one set starts with one loss, where both evaluated at step 0."""
    what = "Eval loss before training"
    step, first, second = common(a, b, "eval_loss")
    names = Pair("model_name", one.known.get("model_name"), two.known.get("model_name"))
    if not len(step) or step[0] != 0 or first[0] <= 0 or not (names.a and names.b) or names.differs:
        return []
    gap = abs(float(second[0] / first[0]) - 1)
    said = f"{loss(float(first[0]))} in A and {loss(float(second[0]))} in B"
    if gap <= _allowed(one, two):
        return [Check(what, True, said, hard=True)]
    why = f"before any training eval loss is {said}, {percent(gap)} apart: another set or template"
    return [Check(what, False, why, hard=True)]


def _allowed(one: Settings, two: Settings) -> float:
    """Return the gap of two eval losses of one model: more where its precision may differ."""
    both = Pair("precision", precision(one), precision(two))
    keys = [key for key in one.known.keys() | two.known.keys() if group(key) == "precision"]
    quantised = [key for key in keys if key not in WEIGHTS and "bit" in key]
    others = paired(quantised, one, two)
    rough = both.differs or None in both[1:] or any(pair.differs for pair in others)
    return FIRST_GAP_ROUGH if rough else FIRST_GAP
