"""A run beside others of its place that are well: the settings that it alone has."""

from collections.abc import Mapping, Sequence

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


def family_of(run: Run, well: Sequence[Run]) -> Family | None:
    """Return what a run has of its own beside runs that are well; None where none is like it."""
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
