"""What reports of a comparison say alike: places on its axis, differences, verdicts, ranks."""

import math
from collections.abc import Sequence

from runlens.comparison import (
    LABELS,
    CompareVerdict,
    Comparison,
    Leaderboard,
    Measure,
    Pair,
    Result,
    SettingDifference,
    Unit,
)
from runlens.diagnosis import Diagnosis
from runlens.metrics import base, is_loss
from runlens.report.values import value_of
from runlens.run import RL_TASKS
from runlens.wording import MINUS, duration, number
from runlens.wording import step as step_words

RESULT_WORDS: dict[Result, str] = {
    "better": "better",
    "worse": "worse",
    "equivalent": "equivalent",
    "cannot_tell": "cannot tell",
    "mixed": "mixed",
    "identical": "identical",
    "not_comparable": "not comparable",
}
BEST_FIRST: tuple[Result, ...] = (
    "better", "identical", "equivalent", "cannot_tell", "mixed", "worse", "not_comparable"
)  # fmt: skip
AXES = frozenset({"step", "tokens", "time"})  # of rows that say how soon B reaches what A reached
OPEN = frozenset({"identical", "equivalent", "cannot_tell", "mixed"})  # neither better nor worse
TOGETHER = " + "  # between settings that changed together
DECIMALS, SMALL = 3, 1e-2  # of a loss; a smaller difference has digits of its own
NOISE_WORDS = {
    "seeds": "between repeats",
    "neighbours": "between runs of near settings",
    "prior": "of runs like these",
    "": "",
}


def names(runs: Sequence[Diagnosis]) -> list[str]:
    """Return the runs' names, with their folders or ids where two have one name."""
    plain = [run.run_name for run in runs]
    ids = [run.run_id.replace("\\", "/").rstrip("/").split("/") for run in runs]
    alike = [
        [j for j, name in enumerate(plain) if j != i and name == run.run_name]
        for i, run in enumerate(runs)
    ]
    return [_told_apart(run, ids[i], [ids[j] for j in alike[i]]) for i, run in enumerate(runs)]


def _told_apart(run: Diagnosis, mine: list[str], others: list[list[str]]) -> str:
    """Return the name of a run, with as many folders above it as no other of this name has."""
    if not others:
        return run.run_name
    if mine[-1] == run.run_name:
        for parts in range(2, len(mine)):
            if all(other[-parts:] != mine[-parts:] for other in others):
                return "/".join(mine[-parts:])
    return f"{run.run_name} ({run.run_id})"


def sides(comparison: Comparison) -> list[str]:
    """Return what stands for each side: the name of its run, of groups with how many more."""
    groups = comparison.groups
    more = [len(one) - 1 for one in groups] if len(groups) == len(comparison.runs) else []
    return [
        f"{name} and {more[i]} more" if more else name
        for i, name in enumerate(names(comparison.runs))
    ]


def at(unit: Unit, value: float | None) -> str:
    """Return a place on the axis in words: ``step 1,620``, ``epoch 1.5``, ``3 h``."""
    if value is None:
        return "–"
    if unit == "step":
        return f"step {step_words(value)}"
    if unit == "epoch":
        return f"epoch {number(value)}"
    return duration(value) if unit == "time" else f"{number(value)} {unit}"


def difference(measure: Measure) -> str:
    """Return B - A with its sign.

    That of losses is taken from the rounded numbers beside it, so that the table adds up.
    """
    value = measure.difference
    if value is None:
        return "–"
    a, b = measure.a, measure.b
    if a is not None and b is not None and is_loss(measure.metric) and abs(value) >= SMALL:
        value = round(round(b, DECIMALS) - round(a, DECIMALS), DECIMALS)
    return signed(value_of(measure.metric, value))


def signed(words: str) -> str:
    """Return a number with its sign, plus as well."""
    return words if words.startswith(MINUS) or words in {"0", "NaN"} else f"+{words}"


def interval(measure: Measure) -> str:
    """Return the interval of the difference: ``−0.61 to −0.25``; empty where it is not known."""
    if measure.interval is None:
        return ""
    return " to ".join(signed(value_of(measure.metric, end)) for end in measure.interval)


def times_noise(measure: Measure) -> str:
    """Return ``2.8 × the noise``; empty where the noise is not known."""
    return "" if measure.times is None else f"{number(measure.times, 2)} × the noise"


def beside_noise(measure: Measure) -> str:
    """Return ``2.8 × the noise, limit 2``."""
    return f"{times_noise(measure)}, limit {number(measure.limit, 2)}"


def told(measure: Measure, label: str, pair: Pair) -> str:
    """Return what one measure says: ``B better, clear: 2.8 × the noise, limit 2``.

    `label` names the run that is compared with A. Where the runs are not comparable their raw
    losses carry no verdict; where they differ in the seed alone, no clear difference does.
    """
    lacking = [name for name, value in (("A", measure.a), (label, measure.b)) if value is None]
    if lacking:
        return f"not known of {' and '.join(lacking)}"
    if raw(measure, pair):
        return "no verdict: not comparable"
    if measure.difference == 0:
        return "equal"
    if measure.difference is None:
        return "–"
    if to_target(measure):
        low, high = measure.interval or (-math.inf, math.inf)
        return "cannot tell" if low <= 0 <= high else f"{label} {'later' if low > 0 else 'sooner'}"
    if measure.noise is None:
        return "no noise known" if measure.better else f"{_side(measure, label)}; no noise known"
    if measure.favours and not measure.clear:
        return f"probably {_side(measure, label)}: {beside_noise(measure)}"
    if measure.favours or (measure.clear and not measure.better):
        return f"{_side(measure, label)}, clear: {beside_noise(measure)}"
    if measure.clear:
        return f"{_direction(measure, label)}, {beside_noise(measure)}; only seeds differ"
    words = "equivalent" if measure.outcome == "equivalent" else "cannot tell"
    return f"{words}: {beside_noise(measure)}"


def to_target(measure: Measure) -> bool:
    """Whether a row is how far B had to go to what A reached, whose bounds are its interval."""
    return measure.metric in AXES and bool(measure.better)


def raw(measure: Measure, pair: Pair) -> bool:
    """Whether a measure is a loss, of policies the reward, of runs that are not comparable."""
    if pair.verdict.result != "not_comparable":
        return False
    policies = {pair.a.task, pair.b.task} <= RL_TASKS
    return base(measure.metric) == "reward" if policies else is_loss(measure.metric)


def _side(measure: Measure, label: str) -> str:
    if measure.favours:
        return f"{'A' if measure.favours == 'a' else label} better"
    return _direction(measure, label)


def _direction(measure: Measure, label: str) -> str:
    return f"{label} {'higher' if (measure.difference or 0) > 0 else 'lower'}"


def likeliest(pair: Pair, board: Leaderboard | None) -> SettingDifference | None:
    """Return the setting that differs and explains most: of all runs, else of the two alone."""
    effects = board.effects if board else ()
    shares = {name: one.share for one in effects for name in one.setting.split(TOGETHER)}
    weighty = [row for row in pair.settings if row.rank]
    return min(weighty, key=lambda row: (-shares.get(row.key, 0.0), row.rank), default=None)


def deciding(pair: Pair) -> Measure | None:
    """Return the measure on which the verdict rests; the first where none does."""
    first = next(iter(pair.measures), None)
    return next((one for one in pair.measures if one.decides), first)


def ranked(comparison: Comparison) -> list[int]:
    """Return the indexes of the pairs, best run first; those not comparable last.

    Runs with one result are ordered by their own value where one metric decides them all, else by
    their difference to A. A run that is worse because it broke is the worst.
    """
    pairs = comparison.pairs
    metrics: dict[int, set[str]] = {}
    for pair in pairs:
        if measure := deciding(pair):
            metrics.setdefault(_group(pair), set()).add(measure.metric)

    def key(index: int) -> tuple[int, bool, float]:
        group = _group(pairs[index])
        return (
            group,
            _broke(pairs[index]),
            _badness(pairs[index], own=len(metrics.get(group, ())) == 1),
        )

    return sorted(range(len(pairs)), key=key)


def _group(pair: Pair) -> int:
    result = pair.verdict.result
    return BEST_FIRST.index("equivalent" if result in OPEN else result)


def _broke(pair: Pair) -> bool:
    measure = deciding(pair)
    return pair.verdict.result == "worse" and not (measure and measure.clear)


def _badness(pair: Pair, *, own: bool) -> float:
    measure = deciding(pair)
    value = None if measure is None else measure.b if own else measure.difference
    if measure is None or value is None or not measure.better or math.isnan(value):
        return 0.0
    return value if measure.better == "lower" else -value


def best(comparison: Comparison) -> int | None:
    """Return the index of the pair with the best run; None where no run is better than A."""
    first = ranked(comparison)[0]
    return first if comparison.pairs[first].verdict.result == "better" else None


def worst(comparison: Comparison) -> int | None:
    """Return the index of the pair with the worst run; None where no run is worse than A."""
    worse = [one for one in ranked(comparison) if comparison.pairs[one].verdict.result == "worse"]
    return worse[-1] if worse else None


def tally(comparison: Comparison, but: Result | None = None) -> str:
    """Return how many runs ended how against A: ``2 better, 3 equivalent, 1 worse``."""
    results = [pair.verdict.result for pair in comparison.pairs]
    return ", ".join(
        f"{results.count(result)} {RESULT_WORDS[result]}"
        for result in BEST_FIRST
        if result in results and result != but
    )


def of_many(comparison: Comparison) -> CompareVerdict:
    """Return the verdict on many runs: how many are better than A, and which one is the best."""
    results = [pair.verdict.result for pair in comparison.pairs]
    better, first = results.count("better"), ranked(comparison)[0]
    rest = tally(comparison, but="better")
    said = f"{label(first)}{_against(comparison.pairs[first])}"
    if better:
        one = "1 of {} runs is" if better == 1 else f"{better} of {{}} runs are"
        only = "it is" if better == 1 else "the best is"
        head = f"{one.format(len(results))} better than A: {only} {said}."
        return CompareVerdict(head, f"The others: {rest}." if rest else "", "better")
    head = f"None of {len(results)} runs is better than A: {rest}."
    best = next(one for one in BEST_FIRST if one in results)
    result: Result = "cannot_tell" if "cannot_tell" in results else best
    nearest = f"First among them: {said}." if best != "not_comparable" else ""
    return CompareVerdict(head, nearest, result)


def _against(pair: Pair) -> str:
    """Return the deciding numbers of a pair: ``, 2.494 against 2.922 in last eval loss, ...``."""
    measure = deciding(pair)
    if measure is None or measure.a is None or measure.b is None:
        return ""
    a, b = (value_of(measure.metric, value) for value in (measure.a, measure.b))
    times = times_noise(measure)
    what = f"{measure.what[:1].lower()}{measure.what[1:]}"
    return f", {b} against {a} in {what}{f', {times}' if times else ''}"


def label(index: int) -> str:
    """Return the letter of the run of a pair: B of the first."""
    return LABELS[index + 1]
