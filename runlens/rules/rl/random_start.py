"""What random actions earn, where a run begins with them: an epsilon-greedy agent does.

And whether it has any: its settings may say that no action is random, from start to end.
"""

from collections.abc import Iterator

import numpy as np

from runlens.arrays import median
from runlens.naming import words
from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.noise import MEDIAN_LOSS
from runlens.wording import number

RANDOM = frozenset(("epsilon", "eps", "exploration"))  # words of the share of random actions
# of all actions at the start: PPO's clip range is called epsilon too, and is 0.1 to 0.3
RANDOM_FROM, MOSTLY = 0.5, 0.8
FEWEST = 8  # returns of which a median says something
ERRORS = 3.0  # standard errors: less is no difference, as elsewhere of rewards
LETTER = "e"  # the share, as a much-copied agent of Keras prints it; an error may be called so too
# settings of the share, and where it begins, ends or stays; those of an optimizer, of a norm or of
# PPO's clip range are called otherwise, or are above 0
_SHARES = lazy_re(
    r"(?:(?:start|initial|init|final|end|min|max)_)?(?:eps|epsilon|exploration(?:_eps)?)"
    r"(?:_(?:start|initial|init|final|end|min|max|greedy|rate))?"
)
# other ways to try an action that is not thought best: noise in the weights, values that begin
# too high (Sutton and Barto, 2.6), draws by value, pay for what is new
_OTHERWISE = frozenset(
    ("noisy", "optimistic", "boltzmann", "softmax", "ucb", "thompson", "curiosity", "rnd", "icm",
     "intrinsic", "bonus")
)  # fmt: skip
_FIRST_VALUES = lazy_re(r"(?:.*_)?(?:q_?init|init(?:ial)?_q|optimis\w*)(?:_values?)?")


class Start(NamedTuple):
    """The first returns of an agent, of random actions."""

    points: int
    level: float  # their median
    end: float  # the median of the last tenth
    error: float  # of their difference

    @property
    def words(self) -> str:
        """Say how the end compares with random actions."""
        gained = self.end - self.level
        beside = "no better than" if gained < ERRORS * self.error else "above"
        if gained < -ERRORS * self.error:
            beside = "below"
        return (
            f"The first {self.points} points are mostly of random actions, with a median of "
            f"{number(self.level, 3)}: the end is {beside} that."
        )


def none_at_all(run: Run) -> list[str]:
    """Return the settings that say that no action is random: all such shares, where all are 0.

    Not where the agent tries others in another way, or a share of more than 0 is logged.
    """
    names = [key for key in run.config if _SHARES.fullmatch(key.lower())]
    drawn = any(run.curve(name).value.any() for name in _named(run))
    if run.task != "rl" or drawn or any(run.number(key) != 0 for key in names):
        return []
    return [] if any(_otherwise(run, key) for key in run.config) else names


def _otherwise(run: Run, key: str) -> bool:
    """Whether a setting switches on another way to explore, or names it."""
    value = run.config[key].value
    if _FIRST_VALUES.fullmatch(key.lower()):
        return value not in (0, None, False)  # a word may name any way to begin
    said = value.lower() if isinstance(value, str) else ""
    return bool(
        (_OTHERWISE & set(words(key)) and value and said not in {"false", "none", "no", "off"})
        or _OTHERWISE & set(words(said))
    )


def _named(run: Run) -> Iterator[str]:
    """Yield the columns whose names say that they are the share of random actions."""
    for name in run.history.metrics:
        if RANDOM & set(words(name)):
            yield name


def columns(run: Run) -> Iterator[str]:
    """Yield the columns that are a share of random actions, by name or by letter and course.

    The letter alone is one if it lies within 0 and 1 and never rises; an error goes up and down.
    """
    yield from _named(run)
    value = run.curve(LETTER).value
    falls = len(value) >= FEWEST and not (np.diff(value) > 0).any() and np.ptp(value) > 0
    if falls and value.min() >= 0 and value.max() <= 1:
        yield LETTER


def shares(signals: Signals) -> dict[str, tuple[float, float]]:
    """Return the first and last value of columns that are a share of random actions that falls."""
    found = {}
    for name in columns(signals.run):
        curve = signals.curve(name)
        if len(curve) < FEWEST:
            continue
        first, last = float(curve.value[0]), float(curve.value[-1])
        if RANDOM_FROM <= first <= 1 and 0 <= last <= first / 2:
            found[name] = first, last
    return found


def of(signals: Signals) -> Start | None:
    """Return what random actions earned; None where the run does not tell."""
    reward = signals.curve("reward")
    for name, (first, _) in shares(signals).items() if signals.run.task == "rl" else ():
        share = signals.curve(name)
        random = reward.value[np.interp(reward.step, share.step, share.value) >= MOSTLY * first]
        last = reward.value[-max(FEWEST, len(reward) // 10) :]
        if FEWEST <= len(random) <= len(reward) - len(last):
            error = MEDIAN_LOSS * (random.var() / len(random) + last.var() / len(last)) ** 0.5
            return Start(len(random), float(median(random)), float(median(last)), float(error))
    return None
