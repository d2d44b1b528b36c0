"""The story of an incident in time: what left its course first, and what followed.

``the learning rate went off schedule at step 60 and the gradient norm rose 10-fold at step 92``
"""

from collections.abc import Iterator
from math import inf, isfinite

import numpy as np

from runlens.arrays import median
from runlens.cause import Cause, Domino
from runlens.causes.patterns import LOST, THROWN
from runlens.causes.scene import INPUTS, Scene
from runlens.history import Curve
from runlens.metrics import spoken
from runlens.rules.numerics.not_finite import finite_until, not_finite_name
from runlens.run import RL_TASKS

MOST = 5
NORM_TIMES, LOSS_TIMES = 10.0, 2.0  # over the level before that make a domino
FEWEST = 5  # points of a level
MEASURED = frozenset({"train_loss", "grad_norm"})  # told by their own dominoes where they move
SWINGS = frozenset({"oscillation", "sawtooth"})  # of which a doubling is a part
SPIKES = frozenset({"loss-spike", "grad-spike"})  # which begin and end: no level is left for good
WORDS = {  # short words of what a finding begins
    "entropy-collapse": "entropy collapsed",
    "reward-collapse": "the reward began to fall",
    "kl-blow-up": "KL blew up",
    "length-growth": "completions began to grow",
    "length-collapse": "completions began to shrink",
    "completions-clipped": "most completions hit the limit",
    "zero-reward-std": "the rewards of each group became equal",
    "clip-ratio-high": "the clip ratio became high",
    "hockey-stick": "eval loss began to rise",
    "eval-flat": "eval loss was not improving",
    "nan-eval": "eval loss became NaN",
    "plateau": "the loss flattened out",
    "not-learning": "the loss was not falling",
    "stuck-at-chance": "the loss settled at chance",
    "sawtooth": "the loss began to swing",
    "oscillation": "the loss began to swing",
    "clip-saturation": "nearly all gradients were clipped",
    "memory-growth": "memory began to grow",
    "throughput-drop": "the run slowed down",
    "loss-scale-collapse": "the loss scale fell",
    "grad-zero": "the gradient was 0",
    "oom-cliff": "memory ran out",
    "hang": "the run hung",
    "killed": "the run was killed",
    "crashed": "an exception was raised",
    "stopped-early": "the run stopped",
}


def story(scene: Scene, causes: tuple[Cause, ...]) -> tuple[Domino, ...]:
    """Return the dominoes of an incident, in order of time; one is no story."""
    latest = scene.symptom + scene.slack  # what is put in later did not cause the symptom
    first = [one for one in _put_in(scene, causes) if one.step <= latest]
    rows = [*first, *_measured(scene), *_found(scene)]
    inside = [row for row in rows if row.step <= scene.run.last_step + scene.slack]
    begin = first[0].step if first else -inf  # what is seen a log earlier came of it: left out
    near = begin - scene.slack
    ordered = sorted(
        (row for row in inside if not near <= row.step < begin), key=lambda row: row.step
    )
    seen: dict[str, Domino] = {}
    for row in ordered:
        seen.setdefault(row.what, row)
    told = tuple(seen.values())[:MOST]
    apart = len({row.step for row in told}) > 1
    news = bool(first) or len({row.metric for row in told}) > 1  # one curve shows that by itself
    return told if apart and news else ()


def _put_in(scene: Scene, causes: tuple[Cause, ...]) -> Iterator[Domino]:
    """Return the input that the first cause blames, if it is dated."""
    kind = causes[0].kind if causes else ""
    if kind == "rate-leaves-plan" and scene.departure:
        yield Domino(
            float(scene.departure.first.step),
            "the learning rate went off schedule",
            "learning_rate",
        )
    if kind == "resume-state" and scene.launch:
        yield Domino(float(scene.launch.after), "the run was resumed")
    if kind == "rate-zero" and (at := _rate_gone(scene)):
        yield Domino(at, "the learning rate was below 5 % of its peak", "learning_rate")


def _rate_gone(scene: Scene) -> float | None:
    rate = scene.curve("learning_rate")
    alive = np.flatnonzero(rate.value > 0.05 * rate.value.max(initial=0.0))
    return float(rate.step[alive[-1]]) if len(alive) and alive[-1] + 1 < len(rate) else None


def _measured(scene: Scene) -> Iterator[Domino]:
    """Return when norm and loss left their level, and when the loss was no number."""
    if not scene.has(*THROWN, *LOST) or scene.lead.rule in SPIKES:
        return
    gone = [scene.rules[rule] for rule in LOST - {"nan-grad"} if rule in scene.rules]
    lost = [one.begins for one in gone]
    levels = [
        ("grad_norm", NORM_TIMES, "the gradient norm"),
        ("train_loss", LOSS_TIMES, "the loss"),
    ]
    swings = scene.has(*SWINGS) and not scene.has(*THROWN - SWINGS, *LOST)
    for metric, factor, name in levels[: 1 if swings or scene.run.task in RL_TASKS else 2]:
        until = scene.run.curve(metric).before(int(min(lost, default=scene.run.last_step + 1)))
        at = _first_above(until, factor, scene.symptom)
        if at is not None:
            rises = "doubled" if factor == LOSS_TIMES else f"rose {factor:g}-fold"
            yield Domino(at, f"{name} {rises}", metric)
    if gone:
        first = min(gone, key=lambda one: one.begins)
        own = not first.metric or first.metric.endswith("loss")
        name, metric = ("the loss", "train_loss") if own else (spoken(first.metric), first.metric)
        kind = not_finite_name(scene.run, first.begins, first.metric or metric)
        lost_at = finite_until(scene.run) if metric == "train_loss" else inf  # not its gradient
        at = lost_at if isfinite(lost_at) else first.begins
        norm = scene.rules.get("nan-grad")
        if norm and norm.severity != "info" and norm.begins < at:
            kind_ = not_finite_name(scene.run, norm.begins, "grad_norm")
            yield Domino(norm.begins, f"the gradient norm was {kind_}", "grad_norm")
        yield Domino(at, f"{name} became {kind}", metric)


def _first_above(curve: Curve, factor: float, symptom: float) -> float | None:
    """Return the first step from shortly before the symptom at which a level is left by a factor.

    The level is the median of the points before; of a curve that falls, of the last of them.
    """
    finite = curve.at(~np.isnan(curve.value))  # an infinite norm is far above any level
    before = finite.value[finite.step < symptom]
    if len(before) < FEWEST or median(before[-4 * FEWEST :]) <= 0:
        return None
    level = float(median(before[-4 * FEWEST :]))
    from_step = finite.step[max(0, len(before) - 4 * FEWEST)]
    high = finite.value >= factor * level
    stays = high & (np.append(high[1:], True) | np.append(high[2:], [True, True]))
    stays |= high & (finite.step >= symptom)  # a rise that was undone came first all the same
    settled = np.cumsum(~high) > 0  # a fall from the start is no rise
    above = finite.step[stays & settled & (finite.step >= from_step)]
    return float(above[0]) if len(above) else None


def _found(scene: Scene) -> Iterator[Domino]:
    """Return the loud findings that no measured domino tells."""
    moved = scene.has(*THROWN, *LOST)
    for one in scene.findings:
        if one.severity == "info" or one.onset.step is None or one.rule in INPUTS:
            continue
        if moved and one.metric in MEASURED and one.rule not in {"clip-saturation", "sawtooth"}:
            continue
        if one.rule in WORDS:
            low = one.rule == "entropy-collapse" and one.begins <= scene.curve(one.metric).step[0]
            words = "entropy was near 0" if low else WORDS[one.rule]
            yield Domino(one.begins, words, one.metric)
