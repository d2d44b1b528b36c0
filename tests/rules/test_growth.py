"""Time and memory grow no faster than the points, on curves on which a rule fires."""

import time
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from runlens.engine import examine
from runlens.history import Columns, Curve, History, IntArray, columns
from runlens.rules import RULES
from runlens.rules.rule import Case, Rule
from runlens.run import Run
from runlens.signals import Signals, noise

POINTS, MORE = 25_000, 4  # of the longest curve, and how many times as many the other run has
MOST = 2.5**2  # CPU time at four times the points: less than 2.5 at each doubling
QUICK = 0.002  # CPU seconds, below which it is the clock that is measured
FEWEST, AGAIN = 3, 20  # counts of which the least holds: others work on the machine too
COPIES = 30  # of one column of the longest curve, that a rule may hold at once: 240 MB at 1M
SHORT = {"too-short": "it fires where points are few"}


def stretched(count: int, times: int) -> IntArray:
    """Return each of `count` points, `times` in a row."""
    return np.repeat(np.arange(count), times)


def amid(count: int, times: int) -> IntArray:
    """Return each of `count` points, with the first over and over before and the last after."""
    before = count * (times - 1) // 2
    return np.clip(np.arange(count * times) - before, 0, count - 1)


def longer(run: Run, times: int, taken: Callable[[int, int], IntArray]) -> Run:
    """Return the run with `times` as many points as far apart, each a little off the other."""
    rng = np.random.default_rng(1)
    scale = times if taken is stretched else 1

    def of(curve: Curve) -> Columns:
        index = taken(len(curve), times)
        apart = int(np.median(np.diff(curve.step))) if len(curve) > 1 else 1
        step = scale * curve.step[0] + apart * np.arange(len(index))
        value = curve.value[index] * rng.normal(1, 0.002, len(index))
        since = (step - scale * curve.step[0]) / (scale * apart) if len(curve) > 1 else step
        epoch, seconds = (
            np.interp(since, np.arange(len(curve)), column) for column in (curve.epoch, curve.time)
        )
        return columns(step, value, epoch, seconds)

    state = run.state
    plan = state.planned_steps and state.planned_steps * times
    return replace(
        run,
        history=History({name: of(run.curve(name)) for name in run.history.metrics}, ("drawn",)),
        state=replace(state, planned_steps=plan, done_steps=state.done_steps * times),
        events=tuple(
            event if event.step is None else event._replace(step=event.step * scale)
            for event in run.events
        ),
    )


def fired(rule: Rule[Any]) -> tuple[Run, Run] | None:
    """Return two runs in which a rule fires, one of more points; None where none does."""
    for case in sorted(rule.bad, key=lambda case: -len(case.curves)):
        for taken in (stretched, amid):
            pair = drawn_twice(case, taken)
            if all(examine(rule, run, Signals(run)).status == "found" for run in pair):
                return pair
    return None


def drawn_twice(case: Case, taken: Callable[[int, int], IntArray]) -> tuple[Run, Run]:
    """Draw a case with many points and with more."""
    run = case.run()
    times = max(1, POINTS // max((len(run.curve(one)) for one in run.history.metrics), default=1))
    return longer(run, times, taken), longer(run, MORE * times, taken)


def seconds(rule: Rule[Any], run: Run) -> float:
    """Return the CPU seconds of an examination that finds nothing kept."""
    noise._medians.clear()  # noqa: SLF001 - what an earlier examination left
    noise._smoothed.clear()  # noqa: SLF001 - see above
    noise._sigma.clear()  # noqa: SLF001 - see above
    signals = Signals(run)
    before = time.process_time()
    examine(rule, run, signals)
    return time.process_time() - before


def grows(rule: Rule[Any], small: Run, large: Run) -> str:
    """Say how much longer a rule takes on the larger run; empty where that is in proportion."""
    least = [float("inf")] * 2
    for number in range(AGAIN):
        least = [min(least[0], seconds(rule, small)), min(least[1], seconds(rule, large))]
        if number >= FEWEST - 1 and least[1] < max(MOST * least[0], QUICK):
            return ""
    return f"{least[1] / least[0]:.1f} times the time at {MORE} times the points"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.slug)
def test_a_rule_grows_with_the_points(rule: Rule[Any]) -> None:
    """Neither its time nor its memory grows faster than the curves it looks at."""
    pair = fired(rule)
    if rule.slug in SHORT:
        assert pair is None
        return
    assert pair, f"{rule.slug}: draw a bad case that is found when it is {POINTS:,} points long"
    small, large = pair
    assert not grows(rule, small, large)
    tracemalloc.start()
    examine(rule, large, Signals(large))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < COPIES * 8 * MORE * POINTS, f"{peak / (8 * MORE * POINTS):.0f} copies of a column"
