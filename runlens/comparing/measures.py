"""What two runs reached, in numbers: each with its difference and the noise of that."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from runlens.comparing.align import along, common, unit_of
from runlens.comparing.difference import FEWEST_BLOCKS, LEAST, WITHIN, Blocks, blocks
from runlens.comparing.parting import is_clock
from runlens.comparing.seeds import Kind, SeedNoise, better, reached
from runlens.comparison import Align, Measure, NoiseFrom
from runlens.history import Curve
from runlens.metrics import base, is_loss, is_rate, spoken
from runlens.run import RL_TASKS, Run
from runlens.wording import MINUS, count, duration, loss, number, percent, rate, step

FEWEST_EVALS = 2  # from which an evaluation decides
SAME_PHASE = 0.2  # of the peak: learning rates that differ by more are in other phases
LONGER = 0.01  # of the longer run: ends that differ by less are one
EVALS_OF_TASK = ("eval_accuracy", "eval_f1", "eval_wer", "eval_cer", "eval_reward", "eval_dpo_acc")
TRAIN_OF_TASK = ("reward", "dpo_acc", "dpo_margin", "ebft_alignment", "token_accuracy")
NOT_JUDGED = frozenset({"eval_loss", "eval_train_loss", "eval_ppl", "eval_perplexity"})
SPEEDS = ("throughput_tokens", "throughput_samples", "throughput_steps")


class Pairing(NamedTuple):
    """Two runs, and how they are compared."""

    a: Run
    b: Run
    kind: Align
    noise: SeedNoise | None


class Judged(NamedTuple):
    """Against what a difference is judged."""

    noise: float | None = None
    source: NoiseFrom = ""
    limit: float = 2.0
    clear: bool = True  # whether the blocks say so too
    sign: float = 0.0  # of the blocks; 0.0 where they have no say
    note: str = ""


def measures(a: Run, b: Run, kind: Align, noise: SeedNoise | None = None) -> tuple[Measure, ...]:
    """Return what both runs reached: last, best and, of unequal lengths, at an equal end.

    Evaluations first, then training, then the gradient norm, speed and duration. The noise is that
    between seeds where it is known, else that within the runs, five times of which is clear; it is
    taken to be 0.2 % of the level at least, so that less than 1 % is never clear. Differences are
    those of the rounded numbers.

    One row decides: the end of eval loss (or of the task's own evaluation), of the reward in
    reinforcement learning, else of train loss. That of train loss as well where fewer than eight
    evaluations are not clear by themselves and do not speak against it.
    """
    pair = Pairing(a, b, kind, noise)
    rows = [row for metric in _judged(a, b) for row in _of_metric(pair, metric)]
    rows += [*_of_gap(rows), *_of_gradients(pair), *_of_speed(pair), *_of_effort(pair)]
    return _deciding(rows, a, b)


def shown(metric: str, value: float) -> float:
    """Return a value as reports write it: losses with three decimals, others with four digits."""
    if not math.isfinite(value):
        return value
    write = loss if is_loss(metric) else rate if is_rate(metric) else number
    return float(write(value).replace(",", "").replace(MINUS, "-"))


def _judged(a: Run, b: Run) -> list[str]:
    names = sorted(set(a.history.metrics) | set(b.history.metrics))
    evals = [name for name in names if base(name) == "eval_loss"]
    evals += sorted(
        (
            name
            for name in names
            if name.startswith("eval_") and base(name) not in NOT_JUDGED and better(name)
            if not is_clock(name)
        ),
        key=_of_task,
    )
    task = [name for name in TRAIN_OF_TASK if name in names]
    policy = {a.task, b.task} & RL_TASKS
    return evals + task + (["train_loss"] if "train_loss" in names and not policy else [])


def _of_metric(pair: Pairing, metric: str) -> Iterator[Measure]:
    both = common(pair.a, pair.b, metric, pair.kind)
    made = blocks(both, metric) if both else None
    words = spoken(metric)
    unequal = _unequal_ends(pair, metric)
    levels = reached(pair.a, metric), reached(pair.b, metric)
    last, best = (levels[0].last, levels[1].last), (levels[0].best, levels[1].best)
    note = _absent(pair, metric, last) or (unequal and f"{unequal}: see the equal end")
    judged = Judged(note=note) if note else _judge(pair, metric, "last", made)
    yield _measure(metric, f"Last {words}", last, judged)
    if unequal and both is not None and made is not None:
        a, b = (float(np.median(value[made.end_from :])) for value in (both.a, both.b))
        what = f"{words[:1].upper()}{words[1:]} at {_place(pair, float(both.at[-1]))}"
        other = _other_phase(pair, last, a, b)
        judged = Judged(note=other) if other else _judge(pair, metric, "last", made)
        yield _measure(metric, what, (a, b), judged)
    note = _absent(pair, metric, best)
    judged = Judged(note=note) if note else _judge(pair, metric, "best", made, blocks_say=False)
    yield _measure(metric, f"Best {words}", best, judged)


def _measure(
    metric: str, what: str, values: tuple[float | None, float | None], judged: Judged
) -> Measure:
    """Return one row; `judged` says against which noise."""
    a, b = (None if value is None else shown(metric, value) for value in values)
    towards = better(metric)
    if a is None or b is None:
        return Measure(metric, what, a, b, better=towards, note=judged.note)
    difference = round(b - a, 12)
    noise = judged.noise
    far = noise is not None and abs(difference) > judged.limit * noise
    same_side = not judged.sign or judged.sign * difference > 0
    width = None if noise is None else judged.limit * noise
    return Measure(
        metric=metric,
        what=what,
        a=a,
        b=b,
        difference=difference,
        noise=noise,
        noise_from=judged.source,
        limit=judged.limit,
        interval=None if width is None else (difference - width, difference + width),
        better=towards,
        clear=far and judged.clear and same_side,
        note=judged.note,
    )


def _judge(
    pair: Pairing, metric: str, kind: Kind, made: Blocks | None, *, blocks_say: bool = True
) -> Judged:
    """Return the noise of a difference: between seeds, else within the runs."""
    deviation = pair.noise.of(metric, kind) if pair.noise else None
    if pair.noise and deviation is not None:
        return Judged(2**0.5 * deviation, "seeds", pair.noise.limit)
    if made is None:
        return Judged(note=f"no {pair.kind} at which both have it")
    if made.noise_at_end is None:
        return Judged(note=f"noise not known from {count(len(made.points), 'common point')}")
    noise = made.in_unit(max(made.noise_at_end, made.least / WITHIN))
    if not blocks_say:
        return Judged(noise, "within", WITHIN)
    noise *= made.stretch  # so that the difference is as many times the noise as its logarithm
    return Judged(noise, "within", WITHIN, made.clear, float(np.sign(made.end)))


def _absent(pair: Pairing, metric: str, levels: tuple[float | None, float | None]) -> str:
    """Return why one of the levels is not known; nothing where both are."""
    for name, run, level in zip("AB", (pair.a, pair.b), levels, strict=True):
        curve = run.curve(metric)
        if not len(curve):
            return f"{name} did not log it"
        if level is None:
            finite = curve.finite()
            since = curve.after(int(finite.step[-1]) + 1) if len(finite) else curve
            return f"no number in {name} from step {step(int(since.step[0]))} on"
    return ""


def _other_phase(pair: Pairing, last: tuple[float | None, float | None], a: float, b: float) -> str:
    """Return why the equal end proves nothing: another phase of the schedule, and other last ends.

    A run whose learning rate has decayed lies below one in the middle of a longer schedule. It is
    no better for that where the longer one ends lower.
    """
    rates = common(pair.a, pair.b, "learning_rate", pair.kind)
    peaks = [float(run.curve("learning_rate").finite().value.max(initial=0)) for run in pair[:2]]
    if rates is None or not all(peaks) or last[0] is None or last[1] is None:
        return ""
    shares = float(rates.a[-1]) / peaks[0], float(rates.b[-1]) / peaks[1]
    same_side = (last[1] - last[0]) * (b - a) > 0
    if abs(shares[1] - shares[0]) <= SAME_PHASE or same_side:
        return ""
    at = f"{percent(shares[0])} of its peak in A, {percent(shares[1])} in B"
    return f"the learning rate is at {at}: the other run is lower where both have ended"


def _unequal_ends(pair: Pairing, metric: str) -> str:
    """Return where both end, in words, if that is not at one place; else nothing."""
    places = [along(run, metric, pair.kind, (pair.a, pair.b))[0] for run in (pair.a, pair.b)]
    if not all(len(at) for at in places):
        return ""
    spacing = max(float(np.median(np.diff(at))) if len(at) > 1 else 0.0 for at in places)
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
    if all(len(run.curve("grad_norm")) for run in (pair.a, pair.b)):
        yield next(_of_metric(pair, "grad_norm"))


def _of_speed(pair: Pairing) -> Iterator[Measure]:
    """Yield the median speed: logged, else steps by the times of the points."""
    for metric in SPEEDS:
        logged = [run.curve(metric).finite().value for run in (pair.a, pair.b)]
        if all(len(value) for value in logged):
            medians = float(np.median(logged[0])), float(np.median(logged[1]))
            both = common(pair.a, pair.b, metric, pair.kind)
            made = blocks(both, metric) if both else None
            judged = _judge(pair, metric, "last", made, blocks_say=False)
            what = f"Median {metric.removeprefix('throughput_')} a second"
            yield _measure(metric, what, medians, judged)
            return
    speeds = [_speed(run) for run in (pair.a, pair.b)]
    if all(speeds):
        yield _measure(
            "throughput_steps", "Median steps a second", (speeds[0], speeds[1]), Judged()
        )


def _speed(run: Run) -> float | None:
    curve = _dated(run)
    spent, done = np.diff(curve.time), np.diff(curve.step)
    usable = (spent > 0) & (done > 0)
    return float(np.median(done[usable] / spent[usable])) if usable.any() else None


def _of_effort(pair: Pairing) -> Iterator[Measure]:
    """Yield how long the runs took, and the step of their best evaluation."""
    spent = [along(run, _longest(run), "time")[0] for run in (pair.a, pair.b)]
    if all(len(at) > 1 for at in spent):
        ends = float(spent[0][-1]), float(spent[1][-1])
        yield _measure("duration", "Seconds from the first point to the last", ends, Judged())
    best = [_best_step(run) for run in (pair.a, pair.b)]
    if all(at is not None for at in best):
        yield _measure("step", "Step of the best eval loss", (best[0], best[1]), Judged())


def _best_step(run: Run) -> float | None:
    curve = run.curve("eval_loss").finite()
    return float(curve.step[int(np.argmin(curve.value))]) if len(curve) else None


def _longest(run: Run) -> str:
    return "train_loss" if len(run.curve("train_loss")) else "reward"


def _dated(run: Run) -> Curve:
    curve = run.curve(_longest(run))
    return curve.at(np.isfinite(curve.time))


def _deciding(rows: list[Measure], a: Run, b: Run) -> tuple[Measure, ...]:
    """Mark the row on which the verdict rests."""
    ends = [index for index, row in enumerate(rows) if not row.what.startswith(("Best", "Gap"))]
    of = {rows[index].metric: index for index in ends}  # the equal end comes after the last
    evals = [
        index
        for metric, index in of.items()
        if metric.startswith("eval_")
        and min(len(run.curve(metric).finite()) for run in (a, b)) >= FEWEST_EVALS
    ]
    train = [of[metric] for metric in ("train_loss", *TRAIN_OF_TASK) if metric in of]
    if {a.task, b.task} & RL_TASKS:
        train = [of["reward"]] if "reward" in of else train
        evals = [] if "reward" in of else evals
    chosen = next(iter(evals + train), None)
    if evals and train:
        points = min(len(run.curve(rows[evals[0]].metric).finite()) for run in (a, b))
        few = points < FEWEST_BLOCKS
        chosen = train[0] if few and _leaves_open(rows[evals[0]], rows[train[0]]) else chosen
    return tuple(row._replace(decides=index == chosen) for index, row in enumerate(rows))


def _leaves_open(held_out: Measure, train: Measure) -> bool:
    """Whether few evaluations are not clear by themselves, and do not speak against training."""
    if held_out.clear or held_out.noise_from == "seeds" or train.noise is None:
        return False
    if held_out.difference is None or train.difference is None or held_out.better != train.better:
        return False
    small = abs(held_out.difference) <= LEAST * abs(held_out.a or 0.0)
    return held_out.difference * train.difference > 0 and not (small and train.clear)


def _of_task(metric: str) -> tuple[int, str]:
    known = EVALS_OF_TASK.index(metric) if metric in EVALS_OF_TASK else len(EVALS_OF_TASK)
    return known, metric
