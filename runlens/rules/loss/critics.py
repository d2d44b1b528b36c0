"""The values that a critic gives to states: whether they left what any return can be."""

import re

import numpy as np

from runlens import fixes
from runlens.arrays import median
from runlens.diagnosis import Chart, Confidence, Evidence, Finding, Fix, Mark, Moment, Outcome
from runlens.history import Curve, FloatArray
from runlens.naming import words
from runlens.naming.agents import explores
from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.rules.rl import policy
from runlens.rules.rule import found, passed
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.shape import EXACT
from runlens.signals.trend import ranked
from runlens.wording import capitalised, number, step, times

Q = lazy_re(r"(?:max)?q(?:f|net)?\d?(?:val|value|vals|values|max)?", re.IGNORECASE)
SPREADS = frozenset({"std", "min"})
HIGHEST = lazy_re(r"maxq.*|q.*max|max", re.IGNORECASE)
MEANS = frozenset({"mean", "avg"})  # of the highest value of each state
ERRORS = frozenset({"loss", "error"})
OF_TD = frozenset({"td", "tderror", "tderr", "bellman"}) | ERRORS | MEANS  # `td` alone is its error
OF_CRITICS = frozenset({"critic", "critic1", "critic2", "td", "bellman", "value", "v", "vf"})
FEWEST = 5  # points of which one order in 60 rises or falls throughout
SURE = 0.05  # chance of that order, where there are few; a tenth of many is none
GREW = 10.0  # times its first level: a critic begins near 0, and most of its growth is learning
# Discounted by 0.99, rewards that never end sum up to 100 of them; an episode of 10 has a tenth
BEYOND = 10.0
ABSURD = 10.0  # times that: no reward that rises a little makes it plausible
VALUES = frozenset({"value", "values", "vpred", "vpreds", "vf", "v"})  # of states, beside MEANS
# of the variance of returns: a critic that explains less tells no state from another
UNEXPLAINED = 0.05
# times the largest return: the mean over states of what is still to come is below the mean return
TWICE = 2.0
TOLD = 0.5  # of the highest level: what came down further than that is no blow-up
TENTH = 10
HEADING = "Diverging critic"
SOURCE = "no state is worth more than the largest return"


class Blown(NamedTuple):
    """A curve of a critic that left what returns can be."""

    name: str
    curve: Curve
    at: int  # index from which it lies beyond
    first: float
    last: float
    size: float  # in units of rewards: a value, or the root of a squared error
    allowed: float


def judge(run: Run, signals: Signals) -> Outcome:
    """Ask whether values, or their errors, exceed every return while the reward does not rise.

    What is squared is compared by its root. A reward that rises speaks for its critic, unless that
    is off by orders of magnitude.
    """
    reward = signals.curve("reward").value
    largest = float(np.abs(reward).max(initial=0.0))
    if len(reward) < FEWEST or not largest:
        return passed("no reward other than 0 to compare a critic's values with")
    names = [name for name in run.history.metrics if _kind(name)]
    made = [one for name in names if (one := _blown(signals, name, largest))]
    gain = policy.gain_of(signals)
    rising = gain is not None and gain.rising
    of_values = any(_kind(name) == "value" or explores(name) for name in run.history.metrics)
    if _explains_nothing(signals):
        means = [name for name in run.history.metrics if _of_states(name)]
        allowed = TWICE * largest
        made += [one for name in means if (one := _blown(signals, name, largest, allowed))]
    plain = _blown(signals, "train_loss", largest)  # of Q-learning, which has no other
    if plain and (of_values or (not rising and plain.size >= ABSURD * plain.allowed)):
        made.append(plain)  # or a loss that nothing names, and is too large for any
    if not made:
        return passed(f"no value of a critic left what returns of {number(largest)} can be")
    worst = max(made, key=lambda one: one.size / one.allowed)
    if rising and worst.size < ABSURD * worst.allowed:
        return passed(f"{worst.name} grew, and so did the reward")
    return found(_finding(worst, signals))


def _kind(name: str) -> str:
    """Return "value" or "error" for a curve of a critic, "" for others."""
    said = set(words(name))
    if name == "value_loss" or (ERRORS & said and (OF_CRITICS & said or _of_q(said))):
        return "error"
    if said <= OF_TD and said - ERRORS - MEANS:
        return "error"
    spread = SPREADS & said and not MEANS & said
    return "value" if _of_q(said) and not spread and not ERRORS & said else ""


def _of_states(name: str) -> bool:
    """Whether a curve is the mean value of states, as a policy's critic has it."""
    said = set(words(name))
    return bool(VALUES & said and MEANS & said) and not ERRORS & said


def _explains_nothing(signals: Signals) -> bool:
    """Whether a critic explains none of the returns in the second half of the run."""
    explained = signals.curve("explained_variance").value
    late = explained[len(explained) // 2 :]
    return len(late) >= FEWEST and bool(late.max() <= UNEXPLAINED)


def _of_one_state(name: str) -> bool:
    """Whether a value is the highest of a batch, that of one state."""
    said = set(words(name))
    return not MEANS & said and any(HIGHEST.fullmatch(word) for word in said)


def _of_q(said: set[str]) -> bool:
    return any(Q.fullmatch(word) for word in said)


def _blown(signals: Signals, name: str, largest: float, mean: float | None = None) -> Blown | None:
    """Return the curve if it ends beyond any return, in order, and far above its start.

    `mean`: what it may be as the mean value of states.
    """
    curve, error = signals.curve(name), _kind(name) != "value" and mean is None
    value = np.abs(curve.value)
    if len(value) < FEWEST or (error and curve.value.min() < 0):
        return None
    size = np.sqrt(value) if error else value
    width = max(1, len(value) // TENTH)
    first, end = float(median(value[:width])), float(median(value[-width:]))
    last = float(median(size[-width:]))
    allowed = largest if error else BEYOND * largest
    if not error and _of_one_state(name):
        allowed *= ABSURD  # the mean over episodes is logged, and one state may be worth far more
    allowed = allowed if mean is None else mean
    tau, p = ranked(value)
    in_order = tau > 0 and (p < SURE or len(value) > EXACT)
    grew = end > GREW * first and last >= TOLD * _highest(size, width)
    if last <= allowed or not grew or not in_order:
        return None
    at = int(np.flatnonzero(size > allowed)[0])
    told = float(median(curve.value[:width])), float(median(curve.value[-width:]))
    return Blown(name, curve, at, *told, last, allowed)


def _highest(size: FloatArray, width: int) -> float:
    """Return the highest level of a tenth of a curve."""
    starts = range(0, len(size) - width + 1, width)
    return max(float(median(size[at : at + width])) for at in starts)


def no_return(signals: Signals) -> str:
    """Say how far from 0 the return came at most: "no return was larger than 200"."""
    furthest = _furthest(signals)
    way = "larger" if furthest >= 0 else "further from 0"
    return f"no return was {way} than {number(furthest)}"


def _furthest(signals: Signals) -> float:
    reward = signals.curve("reward").value
    return float(reward[np.abs(reward).argmax()])


def _finding(blown: Blown, signals: Signals) -> Finding:
    onset = float(blown.curve.step[blown.at])
    beyond = blown.size / blown.allowed
    what = capitalised(blown.name.replace("_", " "))
    return Finding(
        severity="warning",
        title=f"{what} diverged: it went from {number(blown.first)} to {number(blown.last)}, "
        f"and {no_return(signals)}.",
        heading=HEADING,
        metric=blown.name,
        onset=Moment(onset),
        evidence=(
            Evidence(
                "Size of the critic's curve at the end, in units of the reward",
                blown.size,
                blown.allowed,
                SOURCE,
                blown.name,
                float(blown.curve.step[-1]),
            ),
            Evidence("Reward furthest from 0", _furthest(signals), where="reward"),
        ),
        seen=f"It lies beyond what returns can be from step {step(onset)} on.",
        fixes=_cures(),
        confidence=Confidence(
            round(min(0.95, 0.7 + 0.1 * beyond), 2), f"{times(beyond)} what returns can be"
        ),
        chart=Chart("curves", (blown.name,), marks=(Mark(onset, blown.last, "onset"),)),
    )


def _cures() -> tuple[Fix, ...]:
    return (
        fixes.action(
            "Update the target network more slowly, and divide the critic's learning rate by 3",
            "a critic that learns from its own estimates amplifies their errors",
        ),
        fixes.look(
            "Check that the last step of an episode adds no value of the next state",
            "without that end the values of all states grow without a bound",
        ),
        fixes.action(
            "Take the lower of two critics, or double Q-learning",
            "the maximum over noisy values is too high",
        ),
    )
