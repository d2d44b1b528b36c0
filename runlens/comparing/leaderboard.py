"""Many runs by one metric: the best first, what its lead is worth, and which setting did it."""

from collections.abc import Sequence

import numpy as np

from runlens.comparing import apart, neighbours
from runlens.comparing.belief import ALONE, Spread, believe
from runlens.comparing.canonical import Settings, typed
from runlens.comparing.direction import is_held_out, rank
from runlens.comparing.ends import end
from runlens.comparing.groups import group
from runlens.comparing.partial import effects
from runlens.comparing.seeds import reached
from runlens.comparing.sparks import heights
from runlens.comparing.spread import measured, prior
from runlens.comparing.terms import REPEATS, TRAIN_OF_TASK, Terms, terms_of
from runlens.comparison import BoardRow, Leaderboard
from runlens.diagnosis import Verdict
from runlens.engine import verdict_of
from runlens.errors import BadSettings
from runlens.history import FloatArray
from runlens.run import RL_TASKS, Problem, Run, Setting
from runlens.settings import Settings as UserSettings

FEWEST = 2
HALF = 0.5  # of the runs have to log a metric that ranks them


def leaderboard(
    runs: Sequence[Run],
    *,
    metric: str = "",
    settings: UserSettings | None = None,
    judged: Sequence[Verdict] = (),
) -> Leaderboard:
    """Return runs by what they reached, the best first.

    By the metric that the user names, else by the one that decides comparisons and that most runs
    log. Rules are asked where the runs are not `judged` yet. The deviation between
    repeats is that within configurations that ran twice or more, else between runs of near
    settings, else the prior of the curves.

    Raises:
        BadSettings: less than two runs, or no metric of which more or less is better.

    """
    if len(runs) < FEWEST:
        raise BadSettings(
            f"{len(runs)} run lies there: runlens compare A B takes two, compare DIR ranks several"
        )
    terms = terms_of(metric, None, None, runs)
    name = terms.metric or _ranks(runs, terms)
    if not name:
        raise BadSettings("no metric that most runs log says which is better; give --metric NAME")
    known = [reached(run, name).last for run in runs]
    differing = _differing(runs)
    numbers = _configurations(differing)
    told = [i for i, value in enumerate(known) if value is not None]
    reach, tried = (
        np.array([known[i] for i in told], dtype=np.float64),
        [differing[i] for i in told],
    )
    moved = effects(tried, reach)
    spread, of = _spread(runs, name, known, numbers)
    if spread.freedom < ALONE:
        spread = neighbours.between(tried, reach, moved, spread)
    sign = 1.0 if terms.better(name) == "lower" else -1.0
    order = sorted(range(len(runs)), key=lambda i: (known[i] is None, sign * (known[i] or 0.0)))
    top = known[order[0]]
    judged = judged or [verdict_of(run, settings) for run in runs]
    drawn = heights(runs, name, lower=terms.better(name) == "lower")
    best = [_p_best(top, known[i], sign, _of_two(of, numbers[order[0]], numbers[i], spread))
            for i in order]  # fmt: skip
    far = apart.told(runs, known, name, terms.better(name), differing)
    judged = apart.judged(runs, judged, far, name, terms.better(name))
    rows = [
        BoardRow(
            run=runs[i].name,
            value=known[i],
            steps=runs[i].last_step,
            state=runs[i].state.kind,
            health=str(judged[i].health),
            says=judged[i].sentence,
            settings=differing[i],
            p_best=chance,
            group=numbers[i],
            place=i,
            heights=drawn[i],
        )
        for i, chance in zip(order, _falling(best), strict=True)
    ]
    return Leaderboard(
        metric=name,
        better=terms.better(name),
        rows=tuple(rows),
        noise=spread.measured or spread.deviation or None,
        noise_from=spread.source,
        expected=_expected(known, spread, top),
        effects=moved,
        problems=_problems(known, name) + far,
    )


def beside(runs: Sequence[Run], verdicts: Sequence[Verdict]) -> tuple[Verdict, ...]:
    """Return the verdicts of the first of some runs, with what is told of them beside them all.

    By the metric that decides comparisons, as a leaderboard has it; without one, as they are.
    """
    terms = terms_of("", None, None, runs)
    if len(runs) < FEWEST or not (name := _ranks(runs, terms)):
        return tuple(verdicts)
    better = terms.better(name)
    known = [reached(run, name).last for run in runs]
    far = apart.told(runs, known, name, better, _differing(runs))
    return apart.judged(runs, verdicts, far, name, better)


def _ranks(runs: Sequence[Run], terms: Terms) -> str:
    """Return the metric that decides comparisons, of those that at least half of the runs log."""
    logged = [name for run in runs for name in run.history.metrics]
    often = {name for name in logged if logged.count(name) >= HALF * len(runs)}
    sided = {name for name in often if terms.better(name)}
    held_out = sorted((name for name in sided if is_held_out(name)), key=rank)
    policy = any(run.task in RL_TASKS for run in runs)
    train = [name for name in ("train_loss", *TRAIN_OF_TASK) if name in sided]
    order = [*(["reward"] if policy and "reward" in sided else []), *held_out, *train]
    losses = sorted(name for name in sided if "loss" in name)
    return next(iter([*order, *losses, *sorted(sided)]), "")


def _differing(runs: Sequence[Run]) -> list[dict[str, Setting]]:
    """Return the settings of each run that are not the same in all, seeds and names left out."""
    known = [Settings(run).known for run in runs]
    keys = sorted({key for one in known for key in one if group(key) not in REPEATS})
    told = [
        key
        for key in keys
        if len({str(typed(one[key].value)) if key in one else "" for one in known}) > 1
    ]
    return [{key: one[key].value for key in told if key in one} for one in known]


def _configurations(differing: Sequence[dict[str, Setting]]) -> list[int]:
    """Return a number a run: equal numbers have equal settings."""
    seen: dict[str, int] = {}
    return [seen.setdefault(str(sorted(one.items(), key=str)), len(seen)) for one in differing]


def _spread(
    runs: Sequence[Run], metric: str, known: Sequence[float | None], numbers: Sequence[int]
) -> tuple[Spread, dict[int, FloatArray]]:
    """Return the deviation between repeats, and what each configuration reached.

    Within configurations, else the median prior.
    """
    ends = [end(run.curve(metric).finite().value, held_out=is_held_out(metric)) for run in runs]
    priors = [prior((one, one)) for one in ends if one]
    before = sorted(priors)[len(priors) // 2] if priors else Spread(0.0, 1.0)
    if len(set(numbers)) == 1 and not any(Settings(run).known for run in runs):
        return before, {}  # without settings all runs look alike
    of: dict[int, list[float]] = {}
    for value, number in zip(known, numbers, strict=True):
        if value is not None:
            of.setdefault(number, []).append(value)
    levels = {number: np.array(values) for number, values in of.items()}
    return measured(list(levels.values()), before), levels


def _of_two(of: dict[int, FloatArray], top: int, other: int, pooled: Spread) -> Spread:
    """Return the spread by the repeats of two configurations alone, where they have some.

    One that diverges now and then says nothing of how far the seeds of others lie apart.
    """
    own = [of[number] for number in {top, other} if len(of.get(number, ())) >= FEWEST]
    return (
        measured(own, pooled._replace(measured=0.0, freedom=0, source="prior")) if own else pooled
    )


def _p_best(top: float | None, value: float | None, sign: float, spread: Spread) -> float | None:
    if top is None or value is None:
        return None
    believed = believe(sign * (value - top), spread)
    return None if believed is None else max(0.0, 1 - believed.p_higher)


def _falling(chances: Sequence[float | None]) -> list[float | None]:
    """Return probabilities that do not rise from the best run on.

    A configuration of which one run is known may scatter more than those above it, as far as the
    prior goes; that is no evidence that it is the best.
    """
    least, found = 1.0, list[float | None]()
    for chance in chances:
        least = least if chance is None else min(least, chance)
        found.append(None if chance is None else least)
    return found


def _expected(known: Sequence[float | None], spread: Spread, top: float | None) -> float | None:
    """Return what a repeat of the best run is expected to reach: shrunk toward the mean.

    By the share of the variance between the runs that repeats leave (Efron and Morris 1975): the
    best of many is also the luckiest.
    """
    values = np.array([value for value in known if value is not None])
    if top is None or len(values) <= FEWEST:
        return None
    noise = spread.measured or spread.deviation
    variance = float(values.var(ddof=1))
    kept = max(0.0, 1 - noise**2 / variance) if variance else 0.0
    return float(values.mean() + kept * (top - values.mean()))


def _problems(known: Sequence[float | None], metric: str) -> tuple[Problem, ...]:
    lost = sum(value is None for value in known)
    return (Problem("runs", f"no final {metric} in {lost} of {len(known)}"),) if lost else ()
