"""A run beside others of its place that are well: the settings that it alone has."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from runlens.arrays import median
from runlens.config_keys import KNOWN_KEYS
from runlens.naming import words
from runlens.naming.bearing import bears
from runlens.run import Family, Own, Run, Setting

MOST_OWN = 3  # settings: runs that differ in more were not made to be compared
MAIN = ("train_loss", "reward", "eval_loss")
# words of settings that a run alone has for other reasons: of its machine, its code, its evaluation
OF_NO_TRAINING = frozenset(
    {"eval", "run", "exp", "file", "ids", "out", "output", "version", "commit", "gpu", "resume"}
)
RATE = "learning_rate"
APART = 2.0  # times: runs at rates that are closer may go the same way
CHANCE = 0.01  # that the rows at which runs fail are the same by chance, as in crossrun/outlier.py
SOUND, WINDOW = 4, 20  # rows before a loss is lost, of which the last is not
RISEN = 2.0  # times their middle


def family_of(run: Run, well: Sequence[Run], every: Sequence[Run] = ()) -> Family | None:
    """Return what a run has of its own beside runs that are well; None where none is like it.

    Of `every` run of its place it tells the rates at which they lose their loss where it does.
    """
    lost_at = _lost_at(run, every)
    family = _beside_well(run, well)
    if not lost_at:
        return family
    return (family or Family(()))._replace(lost_at=lost_at)


def _lost_at(run: Run, others: Sequence[Run]) -> tuple[float, ...]:
    """Return the rates at which runs lose a loss that was sound at the step at which this one does.

    A rate that is too high does so later where it is lower. Where runs fail at any of their rows,
    all of them do at one with a chance of one over the rows, for each run but the first.
    """
    mine = _lost(run)
    if mine is None:
        return ()
    step, rows = mine
    alike = [one for one in others if one is not run and _alike(run, one)]
    lost = [run, *(one for one in alike if (found := _lost(one)) and found[0] == step)]
    known = {
        float(rate) for one in lost if isinstance(rate := settings(one).get(RATE), int | float)
    }
    rates = sorted(known, reverse=True)
    far = all(high >= APART * low > 0 for high, low in pairwise(rates))
    many = len(rates) if far and isinstance(settings(run).get(RATE), int | float) else 1
    return tuple(rates) if many > 1 and rows ** (1 - many) <= CHANCE else ()


def _lost(run: Run) -> tuple[int, int] | None:
    """Return the step at which a loss is no number and stays none, and its rows up to there.

    None where it is not lost, or had been rising.
    """
    curve = run.curve("train_loss")
    sound = np.isfinite(curve.value)
    at = int(sound.argmin()) if len(sound) else 0
    before = curve.value[max(0, at - WINDOW) : at]
    if at < SOUND or sound[at:].any() or before[-1] > RISEN * median(before):
        return None
    return int(curve.step[at]), at + 1


def _beside_well(run: Run, well: Sequence[Run]) -> Family | None:
    like = [one for one in well if one is not run and _alike(run, one)]
    if not like:
        return None
    mine, theirs = settings(run), [settings(one) for one in like]
    shared = [key for key in mine if all(key in other for other in theirs)]
    own = tuple(
        Own(key, mine[key], tuple(dict.fromkeys(other[key] for other in theirs)))
        for key in shared
        if all(other[key] != mine[key] for other in theirs)
    )
    if len(own) > MOST_OWN:
        return None
    names = tuple(one.name for one in like)
    rates = tuple(
        float(rate) for other in theirs if isinstance(rate := other.get(RATE), int | float)
    )
    return Family(names, own, len(shared), rates)


def _alike(run: Run, other: Run) -> bool:
    """Whether two runs train the same kind of thing, and measure it by the same main curves."""
    of_both = ({name for name in MAIN if one.logged(name)} for one in (run, other))
    return (
        run.task == other.task
        and run.framework == other.framework
        and bool(set.intersection(*of_both))
    )


def settings(run: Run) -> Mapping[str, Setting]:
    """Return the settings that a training may differ by; the peak of the rate where it is logged.

    A rate that is configured counts as it is: what the log reached of it depends on its length.
    """
    made = {
        key: one.value
        for key, one in run.config.items()
        if one.value is not None and _of_training(key, one.value)
    }
    logged = run.curve(RATE).finite().value
    if RATE not in made and len(logged):
        made[RATE] = float(logged.max())
    return made


def _of_training(key: str, value: Setting) -> bool:
    if not bears(key) or not OF_NO_TRAINING.isdisjoint(words(key)):
        return False
    return key in KNOWN_KEYS or not {"/", "\\"} & set(str(value))
