"""The loss or the reward of a run whose names say no more than that they are a total, or nothing.

What its numbers do tells it: they are the sum of the others, they fall, they rise.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from runlens.arrays import median
from runlens.history import NOT_KNOWN, Columns, FloatArray, IntArray
from runlens.naming import Meaning, classify, words
from runlens.naming.agents import won
from runlens.naming.vocabulary import EPOCH, SPLITS
from runlens.patterns import lazy_re

MEAN = frozenset(("mean", "avg", "average"))
TOTALS = frozenset(("total", "overall", "combined", "all"))
STEADY = 0.75  # share of the points from which a column that nobody named goes one way
_UNNAMED = lazy_re(r"column \d+")
ROUNDED, NEARLY = 0.01, 0.95  # of a total, what rounding its parts leaves; share of the rows
FEWEST = 5  # values from which a curve is told from a count
SHARE = 1.0  # what no accuracy is above
LOW = 100  # what scores of agents leave behind, and no per cent does
STARS = 10  # the most of a scale on which people rate
HIGHER = 0.9  # share of the first fifth above which the last one lies where something was learned
ALIKE = 2.0  # times: so near are losses of training and of held-out data at first
OURS = ("train_loss", "eval_loss")
INITIALS = {"tl": "train", "trl": "train", "vl": "val"}  # of a training and a validation loss
BESIDE_INITIALS = ("ta", "va")  # accuracies of the same
FITTED = "fit"  # the rows that a model is fitted to, where held-out data stands beside them
ACCURACIES = ("train_accuracy", "eval_accuracy")
NOT_DRIVEN = frozenset((  # words of what falls as a training goes on, and is not its aim
    "time", "sec", "ms", "min", "hours", "speed", "rate", "mem", "epsilon", "eps", "temperature",
    "temp", "tau", "beta", "alpha", "weight", "std", "norm", "grad", "len", "length", "steps",
))  # fmt: skip
DOWN = 0.8  # of the first value, down to which no level scatters row by row
HALF = 0.5  # of what it was at first, to which nothing but a loss falls beside accuracies


def of_unnamed(metrics: Mapping[str, Columns]) -> dict[str, str]:
    """Return the loss, or the reward, of a run that names neither, by the numbers alone."""
    taken = _sum_of_others(metrics) or _by_course(metrics) or _above_shares(metrics)
    return taken or _scores_of_groups(metrics) or _of_one_data(metrics) or _fallen_twins(metrics)


def _of_one_data(metrics: Mapping[str, Columns]) -> dict[str, str]:
    """Return the loss that is called by its data alone: CatBoost's ``learn``, ``test``.

    It falls and is never below 0; nothing but the best of it so far stands beside it.
    """
    told = {name: classify(name) for name in metrics}
    named = [n for n, meaning in told.items() if meaning.split and len(words(n)) == 1]
    beside = all(told[n].statistic == "best" for n in metrics if n not in named)
    if len(named) != 1 or not beside or not _is_minimised(metrics[named[0]], share=1):
        return {}
    return {OURS[told[named[0]].split != "train"]: named[0]}


def _fallen_twins(metrics: Mapping[str, Columns]) -> dict[str, str]:
    """Return the losses of two data that nothing calls so: both fall to less than half, above 0.

    ``Train - Bipartite: 47.6``, ``Val - Bipartite: 45.5``. Of several it is the one that is highest
    at first, which the sum of all follows.
    """
    apart: dict[tuple[str, ...], dict[bool, str]] = {}
    for name in metrics:
        meaning, said = classify(name), words(name)
        if not (meaning.quantity or meaning.statistic or NOT_DRIVEN & set(said)):
            rest = tuple(word for word in said if word not in SPLITS)
            apart.setdefault(rest, {}).setdefault(meaning.split in {"val", "test"}, name)
    twins = [
        (pair[False], pair[True])
        for pair in apart.values()
        if len(pair) == len(OURS) and all(_is_minimised(metrics[n], HALF) for n in pair.values())
    ]
    best = max(twins, key=lambda pair: ends(metrics[pair[0]])[0], default=())
    return dict(zip(OURS, best, strict=False))


def _is_minimised(rows: Columns, share: float) -> bool:
    """Whether a curve ends below a share of its beginning and is never below 0."""
    first, last = ends(rows)
    enough = len(rows.value) >= FEWEST and bool((rows.value >= 0).all())
    return enough and last < share * first


def total(metrics: Mapping[str, Columns]) -> dict[str, str]:
    """Return the losses that are called the total alone, with or without their data.

    That of the training falls, beside its parts or nothing: ``train_total, train_nce, val_total``.
    """
    named = [name for name in metrics if TOTALS & set(words(name)) and _says_total(name)]
    of_data = {classify(name).split: name for name in named}
    train = of_data.get("train") or of_data.get("")
    parts = [name for name in metrics if name not in named and not classify(name).quantity]
    if not train or len(of_data) != len(named) or len(parts) == 1 or not falls(metrics[train]):
        return {}
    if words(train) != ("total",) and not parts:
        return {}  # of what, in a table of counts for training and test?
    if "total" not in words(train) and not _above_all(metrics[train], [metrics[n] for n in parts]):
        return {}  # an accuracy over all classes lies among theirs
    held_out = of_data.get("val") or of_data.get("test")
    return {"train_loss": train, **({"eval_loss": held_out} if held_out else {})}


def _above_all(rows: Columns, parts: Sequence[Columns]) -> bool:
    """Whether numbers are those of a sum: none of its parts is above it."""
    return all(
        len(one.value) == len(rows.value) and bool((one.value <= rows.value).all()) for one in parts
    )


def _says_total(name: str) -> bool:
    """Whether the words of a name are those of a total and of its data, and no others."""
    said = set(words(name))
    return said <= TOTALS | MEAN | SPLITS.keys() | EPOCH and (said != {"all"})


def _sum_of_others(metrics: Mapping[str, Columns]) -> dict[str, str]:
    """Return the total that no name says: of letters, or columns that nobody named, ``T: 12.3``.

    Or of losses of components. It is the sum of the others in nearly every row, but for what
    rounding leaves.
    """
    unnamed = [n for n in metrics if (len(n) == 1 and n.isalpha()) or _UNNAMED.fullmatch(n)]
    losses = [n for n in metrics if "loss" in words(n) and classify(n).split in {"", "train"}]
    parts = unnamed or losses
    if len(parts) < len(("total", "one", "other")):
        return {}
    step = metrics[parts[0]].step
    if len(step) < FEWEST or any(not np.array_equal(metrics[n].step, step) for n in parts):
        return {}
    value = np.stack([metrics[name].value for name in parts])
    apart = np.abs(value.sum(axis=0) - 2 * value)
    sums = ((value > 0) & (apart <= ROUNDED * value)).mean(axis=1) >= NEARLY
    return {"train_loss": parts[int(sums.argmax())]} if sums.any() else {}


def _by_course(metrics: Mapping[str, Columns]) -> dict[str, str]:
    """Return the loss of two columns that nobody named: it falls, and the other rises to a share.

    No learning rate is written with so many digits at its start, and an error and an accuracy are
    1 together.
    """
    value = [rows.value for rows in metrics.values()]
    unnamed = all(map(_UNNAMED.fullmatch, metrics)) and len(value) == len(("loss", "accuracy"))
    if not unnamed or len(value[0]) != len(value[1]) or len(value[0]) < FEWEST:
        return {}
    sign = [_direction(some) for some in value]
    if sorted(sign) != [-1, 1] or np.ptp(value[0] + value[1]) < min(map(np.ptp, value)):
        return {}
    loss, share = (value[sign.index(way)] for way in (-1, 1))
    first = float(loss[0])
    if loss.min() <= 0 or share.min() < 0 or share.max() > 100 or first == float(f"{first:.1e}"):  # noqa: PLR2004 - percent
        return {}
    return {"train_loss": list(metrics)[sign.index(-1)]}


def _above_shares(metrics: Mapping[str, Columns]) -> dict[str, str]:
    """Return the losses of columns that nobody named: they fall from above 1, others are shares.

    One falls to less than half, or one of the shares rises meanwhile, as an accuracy does. Of two
    that begin alike programs write that of the training first.
    """
    if len(metrics) < len(("loss", "accuracy")) or not all(map(_UNNAMED.fullmatch, metrics)):
        return {}
    value = {name: rows.value for name, rows in metrics.items()}
    above = [name for name, some in value.items() if np.nanmax(some, initial=0) > SHARE]
    least = min(np.nanmin(some, initial=0) for some in value.values())
    whole = any((np.floor(some) == some).all() for some in value.values())
    if (
        not 0 < len(above) <= min(len(OURS), len(metrics) - 1)
        or least < 0
        or whole
        or min(map(len, value.values())) < FEWEST
    ):
        return {}
    risen = any(rises(metrics[name]) for name in metrics if name not in above)
    first, last = zip(*(ends(metrics[name]) for name in above), strict=True)
    fallen = all(b < (1 if risen else HALF) * a for a, b in zip(first, last, strict=True))
    return (
        dict(zip(OURS, above, strict=False)) if fallen and max(first) <= ALIKE * min(first) else {}
    )


def _scores_of_groups(metrics: Mapping[str, Columns]) -> dict[str, str]:
    """Return the reward of two columns that nobody named: ``generation,score`` of a population.

    The first counts groups of rows, one by one. The others are above all per cent, go up and down,
    and are higher in the end.
    """
    if len(metrics) != len(("group", "score")) or not all(map(_UNNAMED.fullmatch, metrics)):
        return {}
    group, score = (rows.value for rows in metrics.values())
    if len(group) != len(score) or len(score) < FEWEST or not np.isfinite(score).all():
        return {}
    counted = group[0] in {0, 1} and np.isin(np.diff(group), (0, 1)).all() and group[-1] > 1
    grouped = 2 * (group[-1] - group[0] + 1) <= len(group)
    high = score.min() >= 0 and score.max() > LOW
    apart = np.sign(np.diff(score))
    name = list(metrics)[1]
    goes = {-1, 1} <= set(apart.tolist()) and rises(metrics[name])
    return {"reward": name} if counted and grouped and high and goes else {}


def scores_of_games(metrics: Mapping[str, Columns]) -> bool:
    """Whether a run logs nothing but ``scores``, as of games: they go up and down, above ratings.

    What was got is whole, or goes up in the end, above any per cent or from below 0. Other numbers
    may be of samples.
    """
    (name, rows), *others = metrics.items() if metrics else [("", None)]
    named = "scores" in words(name) and won(name) > 0 and not classify(name).split
    if rows is None or others or not named or len(rows.value) < FEWEST:
        return False
    value = rows.value
    if not (np.isfinite(value).all() and {-1, 1} <= set(np.sign(np.diff(value)).tolist())):
        return False
    first, last = (np.sort(some) for some in (value[: len(value) // 5], value[-len(value) // 5 :]))
    got = (np.floor(value) == value).all() and value.max() > STARS
    beyond = value.max() > LOW or value.min() < 0
    return bool(got or (beyond and median(last) > first[int(HIGHER * (len(first) - 1))]))


def shares_by_data(metrics: Mapping[str, Columns], loss: str) -> dict[str, str]:
    """Return the accuracies that are called by their data alone: ``Loss 0.5, Train 0.9, Val 0.8``.

    They are shares, and those of the training rise as its loss falls, which no error does. `loss`
    is what was taken for that.
    """
    rows = metrics.get(loss or OURS[0])
    named = {
        classify(name).split: name for name in metrics if len(words(name)) == 1 and name != loss
    }
    taken = [named.get("train", ""), named.get("val", "") or named.get("test", "")]
    if rows is None or not falls(rows) or not all(taken):
        return {}
    shares = [metrics[name].value for name in taken]
    if any(len(some) < FEWEST or some.min() < 0 or some.max() > SHARE for some in shares):
        return {}
    return dict(zip(ACCURACIES, taken, strict=True)) if rises(metrics[taken[0]]) else {}


def _direction(value: FloatArray) -> int:
    """Return 1 for values that rise from point to point, -1 where they fall, 0 for all others."""
    gaps = np.diff(value)
    return next((way for way in (-1, 1) if (np.sign(gaps) == way).mean() >= STEADY), 0)


def rises(rows: Columns) -> bool:
    """Whether a curve ends above its beginning: a bound that is driven up is no loss."""
    first, last = ends(rows)
    return last > first


def falls(rows: Columns) -> bool:
    """Whether a curve ends below its beginning."""
    first, last = ends(rows)
    return last < first


def came_down(rows: Columns) -> bool:
    """Whether a curve went from its first value down, row by row, by a fifth of it at least.

    Rows that scatter about a level do not go so far in order.
    """
    value = rows.value
    low = int(np.argmin(value))
    return bool((np.diff(value[: low + 1]) < 0).all() and value[low] <= DOWN * value[0])


def ends(rows: Columns) -> tuple[float, float]:
    """Return the medians of the first and of the last fifth of a curve, NaN of a short one."""
    value = rows.value[np.isfinite(rows.value)]
    fifth = max(1, len(value) // 5)
    if len(value) < 2:  # noqa: PLR2004 - one value goes nowhere
        return NOT_KNOWN, NOT_KNOWN
    return float(median(value[:fifth])), float(median(value[-fifth:]))


def counts(step: IntArray, value: FloatArray) -> bool:
    """Whether values are their own steps, or number the rows: no measure of anything."""
    if len(value) < FEWEST or not np.isfinite(value).all():
        return False
    return bool((value == step).all() or (np.diff(value) == 1).all())


def by_data(metrics: Mapping[str, Columns], known: Mapping[str, Meaning]) -> dict[str, str]:
    """Return the losses of a run that names them by their data alone: ``train=5.2 heldout=5.3``.

    Both fall, as no score does, and nothing else measures success. That of held-out data may rise,
    as it does where a run overfits: it begins where that of the training does, above any share.
    """
    named: dict[str, str] = {
        known[name].split: name
        for name in metrics
        if len(words(name)) == 1 and not known[name].quantity
    }
    named.setdefault("train", FITTED if FITTED in metrics else "")
    named |= {INITIALS[name.lower()]: name for name in metrics if name.lower() in INITIALS}
    train, held_out = named["train"], named.get("val") or named.get("test") or ""
    if not (train and held_out and falls(metrics[train])):
        return {}
    if train == FITTED and not begin_alike(metrics[train], metrics[held_out]):
        return {}  # it is how long that took, it may be
    value, begins = metrics[held_out].value, metrics[train].value[0]
    beside = value.min() > 1 and begins / ALIKE <= value[0] <= begins * ALIKE
    if not (falls(metrics[held_out]) or beside):
        return {}
    shares = {ours: n for ours, n in zip(ACCURACIES, BESIDE_INITIALS, strict=True) if n in metrics}
    told = train.lower() in INITIALS and len(shares) == len(ACCURACIES)
    told = told and all(_is_share(metrics[name]) for name in shares.values())
    return {"train_loss": train, "eval_loss": held_out} | (shares if told else {})


def begin_alike(one: Columns, other: Columns) -> bool:
    """Whether two losses begin within a factor of each other."""
    first, second = ends(one)[0], ends(other)[0]
    return 0 < first / ALIKE <= second <= first * ALIKE


def _is_share(rows: Columns) -> bool:
    return bool(((rows.value >= 0) & (rows.value <= SHARE)).all())
