"""What two runs reached, in numbers: each with its difference and what is believed of that."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from runlens.arrays import median
from runlens.comparing import effort, seed_groups, target
from runlens.comparing.align import along, common, unit_of
from runlens.comparing.alike import ELSEWHERE, one_configuration
from runlens.comparing.belief import SURE, Belief, Spread, believe
from runlens.comparing.deciding import LONGER, deciding
from runlens.comparing.direction import is_held_out, rank, words
from runlens.comparing.ends import End, bend, end
from runlens.comparing.ends import difference as steadier
from runlens.comparing.parting import is_clock
from runlens.comparing.seed_groups import Levels
from runlens.comparing.seeds import Kind, best
from runlens.comparing.spread import coupled, prior, with_sampling
from runlens.comparing.terms import NOT_RECORDED, TRAIN_OF_TASK, Pairing, Terms
from runlens.comparison import Align, Measure, NoiseFrom, Outcome
from runlens.knowledge.seed_deviations import Expected, expected
from runlens.metrics import Better, base, spoken
from runlens.run import RL_TASKS, Run, Task
from runlens.signals.held_out import samples
from runlens.signals.sample_counts import samples_on_grid
from runlens.wording import duration, number, percent, step

SAME_PHASE = 0.2  # of the peak: learning rates that differ by more are in other phases
CLAIM = 0.667  # probability of the sign, from which a difference is claimed: twice as likely as not
BEYOND = 1.64  # times the likeliest noise: what a one-sided test of 95 % asks
SAME = 0.96  # probability of less than delta, from which equality is claimed
ONE = 0.9  # probability that nothing was changed, from which runs are taken for repeats
NOT_JUDGED = frozenset({"eval_train_loss", "learning_rate", "tokens", "loss_scale", "epoch"})
OF_TEXT = frozenset({"ppl", "perplexity", "bpc", "bpb"})  # words of what is told of text alone
ACCURACY = ("accuracy", "acc")  # endings of names
MOST_METRICS = 100  # of a pair: a run that logs a thousand layers is not a thousand questions


def measures(a: Run, b: Run, kind: Align, terms: Terms | None = None) -> tuple[Measure, ...]:
    """Return what both runs reached: last, best and, of unequal lengths, at an equal end.

    The metrics in the order in which they decide, then those without a direction, the gradient
    norm, speed and duration. Each is judged beside the deviation between repeats (belief.py), from
    repeats where there are some, else by the prior of spread.py.

    One row decides: the metric that the user names; in reinforcement learning the reward; else the
    first held-out metric by `direction.rank`; else train loss. At the own ends where both have
    ended, else at the equal end.
    """
    pair = Pairing(a, b, kind, terms or Terms())
    rows = [row for metric in _judged(pair) for row in _of_metric(pair, metric)]
    rows += [*_of_gap(rows), *_of_gradients(pair), *effort.of(a, b)]
    told = deciding(rows, pair)
    if pair.terms.groups:
        return told
    return (*told, *target.rows(a, b, next((row for row in told if row.decides), None)))


def _judged(pair: Pairing) -> list[str]:
    """Return the metrics that are compared, in the order in which they decide."""
    a, b, terms = pair.a, pair.b, pair.terms
    either = set(a.history.metrics) | set(b.history.metrics)
    both = set(a.history.metrics) & set(b.history.metrics)
    sided = {name for name in either if terms.better(name) and _of_training(name)}
    held_out = sorted((name for name in sided if is_held_out(name)), key=rank)
    task = [name for name in TRAIN_OF_TASK if name in sided]
    policy = bool({a.task, b.task} & RL_TASKS)
    losses = [name for name in ("train_loss",) if name in sided and not policy]
    first = [*task, *held_out] if policy else [*held_out, *losses, *task]
    rest = sorted(name for name in sided & both if name not in first)
    order = list(dict.fromkeys([*first, *rest]))
    return sorted(order, key=lambda name: name != terms.metric)[:MOST_METRICS]


def _of_training(name: str) -> bool:
    return base(name) not in NOT_JUDGED and not is_clock(name)


def _of_metric(pair: Pairing, metric: str) -> Iterator[Measure]:
    words = spoken(metric)
    curves = [run.curve(metric).finite().value for run in pair[:2]]
    ends = [end(value, held_out=is_held_out(metric)) for value in curves]
    unequal = _unequal_ends(pair, metric)
    lost = _absent(pair, metric, ended=True)
    last = [
        None if len(run.curve(metric)) and not math.isfinite(run.curve(metric).value[-1]) else one
        for run, one in zip(pair[:2], ends, strict=True)
    ]
    if pair.terms.groups:
        yield from _of_groups(pair, metric, ends)
        return
    yield _measure(pair, metric, f"Last {words}", last, lost, unequal)
    both = common(pair.a, pair.b, metric, pair.kind) if unequal else None
    if unequal and both is not None:
        there = [end(value, held_out=is_held_out(metric)) for value in (both.a, both.b)]
        what = f"{words[:1].upper()}{words[1:]} at {_place(pair, float(both.at[-1]))}"
        note = _other_phase(pair, ends, there)
        yield _measure(pair, metric, what, there, note)
    yield _measure(pair, metric, f"Best {words}", _bests(pair, metric, ends, curves), "")


def _of_groups(pair: Pairing, metric: str, ends: Sequence[End | None]) -> Iterator[Measure]:
    """Yield the rows of two groups of repeats: the means of what their runs reached."""
    groups = pair.terms.groups
    if groups is None or ends[0] is None or ends[1] is None:
        return
    words = spoken(metric)
    for kind, what in (("last", f"Last {words}"), ("best", f"Best {words}")):
        found = seed_groups.levels(groups, metric, "best" if kind == "best" else "last")
        if found is None:
            yield Measure(metric, what, None, None, better=pair.terms.better(metric))
            continue
        believed, spread = seed_groups.believed(
            found,
            prior((ends[0], ends[1]), _published(pair, metric)),
            equal=pair.terms.equal,
            delta=pair.terms.delta,
        )
        values = float(found.a.mean()), float(found.b.mean())
        note = seed_groups.said(found)
        if believed is not None:
            row = _row(pair, metric, what, values, believed, spread.source, note)
            yield row._replace(more_seeds=_more_seeds(row, found, spread))


def _more_seeds(row: Measure, found: Levels, spread: Spread) -> int | None:
    """Return how many runs a side would tell, where these do not."""
    if row.outcome != "cannot_tell" or not spread.measured:
        return None
    return seed_groups.more_seeds(found.difference, spread.measured)


def _bests(
    pair: Pairing, metric: str, ends: Sequence[End | None], curves: Sequence[np.ndarray]
) -> list[End | None]:
    """Return the best values in place of the last ones; of training curves those of block means."""
    towards = pair.terms.better(metric)
    return [
        None if one is None else one._replace(value=best(value, metric, towards), window=1)
        for one, value in zip(ends, curves, strict=True)
    ]


def _measure(
    pair: Pairing,
    metric: str,
    what: str,
    ends: Sequence[End | None],
    note: str,
    remark: str = "",
) -> Measure:
    """Return one row; `note` says why it is not judged, `remark` what else to know of it."""
    a, b = (None if one is None else one.value for one in ends)
    towards = pair.terms.better(metric)
    if ends[0] is None or ends[1] is None or a is None or b is None:
        return Measure(metric, what, a, b, better=towards, note=note or _absent(pair, metric))
    difference = b - a
    if note:
        return Measure(metric, what, a, b, difference, better=towards, note=note)
    kind: Kind = "best" if what.startswith("Best") else "last"
    believed, source = _believed(pair, metric, kind, (ends[0], ends[1]))
    if believed is not None and pair.terms.one_seed and what.startswith("Last"):
        believed = _by_one_seed(pair, metric, difference, believed)
    if believed is None:
        equal: Outcome = "equivalent" if difference == 0 else "cannot_tell"
        note = remark or "what repeats differ by is not known: give --seeds"
        return Measure(metric, what, a, b, difference, better=towards, note=note, outcome=equal)
    return _row(pair, metric, what, (a, b), believed, source, remark)


def _row(
    pair: Pairing,
    metric: str,
    what: str,
    values: tuple[float, float],
    believed: Belief,
    source: NoiseFrom,
    note: str,
) -> Measure:
    """Return a row with what is believed of its difference."""
    difference, towards = values[1] - values[0], pair.terms.better(metric)
    interval = believed.interval(difference, guessed=source == "prior")
    p_better = believed.p_higher if towards == "higher" else 1 - believed.p_higher
    return Measure(
        metric=metric,
        what=what,
        a=values[0],
        b=values[1],
        difference=difference,
        noise=believed.noise,
        noise_from=source,
        limit=believed.limit,
        interval=interval,
        better=towards,
        clear=not interval[0] <= 0 <= interval[1],
        note=note,
        outcome=_outcome(pair, difference, believed, towards, source),
        p_b_better=p_better if towards else None,
        p_equal=believed.p_equal,
        smallest=believed.smallest,
        delta=believed.delta,
        chance=believed.chance,
    )


def _samples(run: Run, metric: str) -> float | None:
    """Return over how many samples a share was counted: as its grid tells, of accuracy as recorded.

    The samples of an evaluation are those of accuracy; hits are of queries, errors of words.
    """
    recorded = samples(run) if metric.partition(":")[0].endswith(ACCURACY) else None
    return recorded[0] if recorded else samples_on_grid(run.curve(metric).finite().value)


def _believed(
    pair: Pairing, metric: str, kind: Kind, ends: tuple[End, End]
) -> tuple[Belief | None, NoiseFrom]:
    """Return what is believed of a difference, and from where the deviation is known."""
    terms = pair.terms
    spread = prior(ends, _published(pair, metric), _apart(pair, metric))
    if _is_share(metric, ends):
        known = [count for run in pair[:2] if (count := _samples(run, metric))]
        fewest = min(known, default=None)
        spread = with_sampling(spread, (ends[0].value + ends[1].value) / 2, fewest)
    if terms.noise:
        spread = terms.noise.spread(metric, kind, spread)
    difference = ends[1].value - ends[0].value
    equal = terms.equal if ends[0].error else _equal(pair, metric)
    evidence = steadier(*ends) if kind == "last" else None
    believed = believe(
        difference,
        spread,
        equal=equal,
        elsewhere=0.0 if terms.noise else ELSEWHERE,
        delta=terms.delta,
        evidence=evidence,
    )
    return believed, spread.source


def _apart(pair: Pairing, metric: str) -> float | None:
    """Return the jitter of B - A; None where chance may cancel in it, as with one seed."""
    if pair.terms.one_seed or not is_held_out(metric):
        return None
    both = common(pair.a, pair.b, metric, pair.kind)
    if both is None:
        return None
    return bend(both.b - both.a)


def _equal(pair: Pairing, metric: str) -> float:
    """Return the probability of one configuration: by the settings, without any by the curves."""
    if pair.terms.equal != NOT_RECORDED:
        return pair.terms.equal
    both = common(pair.a, pair.b, metric, pair.kind)
    if both is None:
        return NOT_RECORDED
    trained = common(pair.a, pair.b, "train_loss", pair.kind) if is_held_out(metric) else None
    curves = None if trained is None else (trained.a, trained.b)
    return one_configuration(both.a, both.b, NOT_RECORDED, curves)


def _published(pair: Pairing, metric: str) -> Expected | None:
    """Return what was published of repeats of such trainings, where both are of one kind."""
    kinds = {_kind(run) for run in (pair.a, pair.b)}
    return expected(kinds.pop(), metric) if len(kinds) == 1 else None


def _kind(run: Run) -> Task:
    """Return the task of a run; language modelling where its loss is told as perplexity or bits."""
    of_text = any(words(name) & OF_TEXT for name in run.history.metrics)
    return "pretrain" if run.task == "other" and of_text else run.task


def _by_one_seed(pair: Pairing, metric: str, difference: float, believed: Belief) -> Belief:
    """Return how equal two runs of one seed are: by how closely they stayed together.

    Two deviations between seeds are known no better than the deviation itself.
    """
    both = common(pair.a, pair.b, metric, pair.kind)
    if both is None:
        return believed
    spread = coupled(both.b - both.a, held_out=is_held_out(metric))
    deltas = [believed.delta] if pair.terms.delta is not None else believed.deltas
    closer = [believe(difference, spread, share=1.0, delta=delta) for delta in deltas]
    p_equal = sum(one.p_equal for one in closer if one) / len(deltas)
    return believed._replace(p_equal=max(p_equal, believed.p_equal))


def _is_share(metric: str, ends: tuple[End, End]) -> bool:
    """Whether a metric may be a share of the samples of an evaluation, as accuracy is."""
    return is_held_out(metric) and all(0 < one.value < 1 for one in ends)


def _outcome(
    pair: Pairing, difference: float, believed: Belief, towards: Better, source: NoiseFrom
) -> Outcome:
    """Return the answer that one metric gives.

    Runs of which nothing but the seed is known to differ are repeats, unless they lie further apart
    than 95 % of repeats: something else may have been changed. With repeats a difference is claimed
    beyond the interval. Without, the deviation between repeats is itself a guess: a difference is
    claimed beyond the likeliest noise if its sign stays likely whatever the noise is. Equality is
    claimed where less than `delta` is as good as sure.
    """
    if pair.terms.equal >= ONE:
        near = abs(difference) <= believed.limit * believed.noise
        near |= source == "seeds" and believed.p_equal > 1 - SURE
        return "equivalent" if near else "cannot_tell"
    times = BEYOND if source == "prior" else believed.limit
    least = max(times * believed.noise, pair.terms.delta or 0.0)
    if abs(difference) > least and believed.p_sign >= CLAIM:
        if not towards:
            return ""
        return "better" if (difference < 0) == (towards == "lower") else "worse"
    return "equivalent" if believed.p_equal >= SAME else "cannot_tell"


def _absent(pair: Pairing, metric: str, *, ended: bool = False) -> str:
    """Return why one of the levels is not known; nothing where both are.

    `ended`: a curve that ends in no number has no last level.
    """
    for name, run in zip("AB", pair[:2], strict=True):
        curve = run.curve(metric)
        if not len(curve):
            return f"{name} did not log it"
        finite = curve.finite()
        if not len(finite) or (ended and not math.isfinite(curve.value[-1])):
            since = curve.after(int(finite.step[-1]) + 1) if len(finite) else curve
            return f"no number in {name} from step {step(int(since.step[0]))} on"
    return ""


def _other_phase(pair: Pairing, ends: Sequence[End | None], there: Sequence[End | None]) -> str:
    """Return why the equal end proves nothing: another phase of the schedule, and other last ends.

    A run whose learning rate has decayed lies below one in the middle of a longer schedule. It is
    no better for that where the longer one ends lower.
    """
    rates = common(pair.a, pair.b, "learning_rate", pair.kind)
    peaks = [float(run.curve("learning_rate").finite().value.max(initial=0)) for run in pair[:2]]
    if rates is None or not all(peaks):
        return ""
    if ends[0] is None or ends[1] is None or there[0] is None or there[1] is None:
        return ""
    shares = float(rates.a[-1]) / peaks[0], float(rates.b[-1]) / peaks[1]
    same_side = (ends[1].value - ends[0].value) * (there[1].value - there[0].value) > 0
    if abs(shares[1] - shares[0]) <= SAME_PHASE or same_side:
        return ""
    at = f"{percent(shares[0])} of its peak in A, {percent(shares[1])} in B"
    return f"the learning rate is at {at}: the other run is lower where both have ended"


def _unequal_ends(pair: Pairing, metric: str) -> str:
    """Return where both end, in words, if that is not at one place; else nothing."""
    places = [along(run, metric, pair.kind, (pair.a, pair.b))[0] for run in (pair.a, pair.b)]
    if not all(len(at) for at in places):
        return ""
    spacing = max(float(median(np.diff(at))) if len(at) > 1 else 0.0 for at in places)
    ends = [float(at[-1]) for at in places]
    if abs(ends[1] - ends[0]) < max(spacing, LONGER * max(ends)):
        return ""
    return f"A ends at {_place(pair, ends[0])}, B at {_place(pair, ends[1])}"


def _place(pair: Pairing, at: float) -> str:
    unit = unit_of((pair.a, pair.b), pair.kind) or "step"
    if unit == "step":
        return f"step {step(at)}"
    if unit == "time":
        return duration(at)
    return f"epoch {number(at)}" if unit == "epoch" else f"{number(at)} {unit}"


def _of_gap(rows: list[Measure]) -> Iterator[Measure]:
    """Yield how far eval loss lies above train loss at the end."""
    last = {row.metric: row for row in rows if row.what.startswith("Last ")}
    held_out, train = last.get("eval_loss"), last.get("train_loss")
    if held_out is None or train is None:
        return
    gaps = [
        None if e is None or t is None else round(e - t, 12)
        for e, t in ((held_out.a, train.a), (held_out.b, train.b))
    ]
    if gaps[0] is None or gaps[1] is None:
        return
    yield Measure(
        "eval_loss", "Gap, eval − train loss", gaps[0], gaps[1], round(gaps[1] - gaps[0], 12)
    )


def _of_gradients(pair: Pairing) -> Iterator[Measure]:
    logged = all(len(run.curve("grad_norm")) for run in (pair.a, pair.b))
    if logged and not pair.terms.better("grad_norm"):
        yield next(_of_metric(pair, "grad_norm"))
