"""One run that ends far from others of the same settings: a seed that went wrong."""

import math
import statistics
from collections.abc import Mapping, Sequence

from runlens.comparing.seeds import last
from runlens.config_keys import written
from runlens.diagnosis import Verdict
from runlens.metrics import Better, spoken
from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.run import Problem, Run, Setting
from runlens.signals.student import student_limit
from runlens.verdict import beside_siblings
from runlens.wording import count, number
from runlens.wording import rate as as_rate

CHANCE = 0.01  # that any of the runs lies so far off, as of crossrun's outlier
WITHIN = 0.20  # of the middle run's steps: levels compare then, as there
HELD_OUT, TRAINED = "eval_loss", "train_loss"
OTHER_RATE = 2.0
MISSED = 0.5  # of what siblings gained: nearer to where they began than to where they ended
SHOWN = 2  # settings that are named
_NUMBER, _REPEAT = lazy_re(r"\d+"), lazy_re(r"(?i)fold|seed|split|(?<![a-z])cv")
EFFECT = 0.10  # it must be worse by this share of the usual level too, as there


def far_off(values: Sequence[float], better: Better, odd: int | None = None) -> list[int]:
    """Return which values lie farther on the worse side than repeats of the others would.

    Each is held against the others by Student's t for one more of them (Grubbs 1969), its chance
    divided by their number (Bonferroni); on the logarithm where all are positive. An `odd` one,
    known by its settings before any level is seen, is the only one that is held, by all the chance.

    >>> far_off([0.050, 0.044, 65.4, 0.046], "lower")
    [2]
    """
    level = [math.log(one) for one in values] if min(values) > 0 else list(values)
    sign, found = 1.0 if better == "lower" else -1.0, []
    for at, value in enumerate(level):
        others = [*level[:at], *level[at + 1 :]]
        if len(others) < 2:  # noqa: PLR2004 - one value has no spread
            return []
        if odd not in {None, at}:
            continue
        looks = len(level) if odd is None else 1
        limit = student_limit(len(others) - 1, 1 - 2 * CHANCE / looks)
        limit *= statistics.stdev(others) * math.sqrt(1 + 1 / len(others))
        usual = statistics.median([*values[:at], *values[at + 1 :]])
        worse = sign * (values[at] - usual) > EFFECT * abs(usual)
        if worse and sign * (value - statistics.fmean(others)) > limit > 0:  # 0: copies of one run
            found.append(at)
    return found


class Odd(NamedTuple):
    """The one run of several whose settings no other has, while the others share theirs."""

    at: int
    words: str
    many: int = 1  # settings that it alone has

    @property
    def likely(self) -> str:
        """Say that this made the difference, and what would show that it did not."""
        what = "That is likely the cause" if self.many == 1 else "One of these is likely the cause"
        return f"{what}: repeat it with theirs. If it ends as far off, look elsewhere"


def odd_one(runs: Sequence[Run], differing: Sequence[Mapping[str, Setting]]) -> Odd | None:
    """Return the run that alone has other settings, or another rate as logged; None of none.

    A rate is another one from a factor of `OTHER_RATE` on: peaks as logged differ by where rows
    fall in a schedule, and nobody tries a rate nearer than half or double on purpose.
    """
    if len(runs) < 3:  # noqa: PLR2004 - of two nobody knows which is the odd one
        return None
    for at, mine in enumerate(differing):
        others = [*differing[:at], *differing[at + 1 :]]
        if all(one == others[0] for one in others) and mine != others[0]:
            keys = [
                key for key in sorted({*mine, *others[0]}) if mine.get(key) != others[0].get(key)
            ]
            shown = [f"{key} {_set(mine, key)} (theirs {_set(others[0], key)})" for key in keys]
            more = len(keys) - SHOWN
            extra = f" and {count(more, 'more setting')}" if more > 0 else ""
            return Odd(at, f"{' and '.join(shown[:SHOWN])}{extra}", len(keys))
    if any(differing):
        return None  # a sweep
    rates = [run.curve("learning_rate").finite().value for run in runs]
    peaks = [float(rate.max()) if len(rate) else 0.0 for rate in rates]
    for at, peak in enumerate(peaks):
        low, high = (pick([*peaks[:at], *peaks[at + 1 :]]) for pick in (min, max))
        one_rate = low > 0 and high < OTHER_RATE * low
        if one_rate and (peak >= OTHER_RATE * high or 0 < peak <= low / OTHER_RATE):
            return Odd(at, f"learning rate {as_rate(peak)} (theirs {as_rate(low)})")
    return None


def _set(settings: Mapping[str, Setting], key: str) -> str:
    return written(settings[key]) if key in settings else "not set"


def told(
    runs: Sequence[Run],
    reached: Sequence[float | None],
    metric: str,
    better: Better,
    differing: Sequence[Mapping[str, Setting]] = (),
) -> tuple[Problem, ...]:
    """Return a line for each run that ends far from the others of its settings and length.

    Of runs with `differing` settings the one is held that alone has others, and they are named.
    """
    odd = odd_one(runs, differing or [{}] * len(runs))
    if odd is None and any(differing):
        return ()
    runs_of = {run.name: run for run in runs}
    middle = statistics.median(run.last_step for run in runs)
    ended = [
        (run.name, value)
        for run, value in zip(runs, reached, strict=True)
        if value is not None and abs(run.last_step - middle) <= WITHIN * middle
    ]
    names, values = [name for name, _ in ended], [value for _, value in ended]
    place = names.index(runs[odd.at].name) if odd and runs[odd.at].name in names else None
    if odd and any(differing) and place is None:
        return ()
    far = far_off(values, better, place) if values else []
    near = [value for at, value in enumerate(values) if at not in far]
    theirs = f"{number(min(near), 3)} to {number(max(near), 3)}" if near else ""
    said = f"it ends far from {count(len(near), 'sibling')}: {spoken(metric)}"
    held = [runs_of[name] for name in names if names.index(name) not in far]
    lines = _too_good(held) if odd is None else ()
    alone = f". It alone has {odd.words}. {odd.likely}" if odd and place is not None else ""
    return (
        tuple(
            Problem(names[at], f"{said} {number(values[at], 3)}, theirs {theirs}{alone}")
            for at in far
        )
        + lines
    )


def judged(
    runs: Sequence[Run],
    verdicts: Sequence[Verdict],
    problems: Sequence[Problem],
    metric: str,
    better: Better,
) -> tuple[Verdict, ...]:
    """Return the verdicts of the first of `runs`, with what `problems` tell beside the others.

    `metric` is what they were held against each other by.
    """
    texts = {one.where: one.text for one in problems}
    others = [run for run in runs if run.name not in texts]
    return tuple(
        beside_siblings(
            verdict,
            texts[run.name],
            grave=_unlearned(run, others, metric, better) or _below_its_training(run),
        )
        if run.name in texts
        else verdict
        for run, verdict in zip(runs, verdicts, strict=False)
    )


def _unlearned(run: Run, others: Sequence[Run], metric: str, better: Better) -> bool:
    """Whether a run got less than half of what the others gained from where they began.

    What is far off but learned most of it is a worse setting; this one missed what is learnable.
    A first evaluation comes when much was learned already: the first training loss counts too.
    """
    mine = last(run, metric)
    ends = [value for one in others if (value := last(one, metric)) is not None]
    of = (metric, TRAINED) if metric == HELD_OUT else (metric,)
    starts = [
        [float(curve[0]) for one in others if len(curve := one.curve(name).finite().value)]
        for name in of
    ]
    known = [statistics.median(some) for some in starts if some]
    if mine is None or not ends or not known:
        return False
    start, end = max(known) if better == "lower" else known[0], statistics.median(ends)
    if min(start, end, mine) > 0:
        start, end, mine = math.log(start), math.log(end), math.log(mine)
    gained = end - start
    improved = gained < 0 if better == "lower" else gained > 0
    return improved and (mine - start) / gained < MISSED


def _below_its_training(run: Run) -> bool:
    """Whether a run that ends well beside others evaluates below its own training loss."""
    held_out, trained = last(run, HELD_OUT), last(run, TRAINED)
    return held_out is not None and trained is not None and held_out < trained


def _too_good(runs: Sequence[Run]) -> tuple[Problem, ...]:
    """Return a line for a repeat whose held-out rows are learned as its training rows are.

    It ends far below its siblings in the evaluation loss and not in the training loss, and at its
    training loss while each sibling ends above its own. A model that generalizes better does so
    too, so only of runs that are called repeats: folds, splits, seeds. By the losses, whatever
    they are ranked by: only these are of one kind.
    """
    named = {_NUMBER.sub("#", run.name) for run in runs}
    train, values = (
        [value for run in runs if (value := last(run, of)) is not None]
        for of in (TRAINED, HELD_OUT)
    )
    told = len(train) == len(values) == len(runs)
    if len(named) > 1 or not told or not _REPEAT.search("".join(named)):
        return ()
    made = list[Problem]()
    for at in far_off(values, "higher") if values else []:
        others = [*values[:at], *values[at + 1 :]]
        theirs = [*train[:at], *train[at + 1 :]]
        above = (value > (1 + EFFECT) * mine for value, mine in zip(others, theirs, strict=True))
        if values[at] <= (1 + EFFECT) * train[at] and min(theirs) <= train[at] and all(above):
            low, high = number(min(others), 3), number(max(others), 3)
            text = (
                f"its eval loss {number(values[at], 3)} is far below that of "
                f"{count(len(others), 'sibling')} ({low} to {high}), its train loss "
                f"{number(train[at], 3)} is not ({number(min(theirs), 3)} to "
                f"{number(max(theirs), 3)}). Its held-out rows may be among its training rows. "
                f"Count those in both: if there are none, its held-out rows are easier"
            )
            made.append(Problem(runs[at].name, text))
    return tuple(made)
