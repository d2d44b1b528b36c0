"""A healthy run stays healthy however its metrics were logged: thinned, averaged, smoothed."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from runlens import diagnose
from runlens.history import Columns, Curve, FloatArray, History, columns
from runlens.run import Run
from runlens.sources import read
from tests.report.seen import FIXTURES, NAMES

HEALTHY = [name for name in NAMES if name.startswith("healthy")]
EXACT = {"learning_rate", "tokens", "loss_scale", "epoch"}  # no logger averages these
FEWEST = 80  # points of a curve that is logged otherwise
THINNED, AVERAGED, SMOOTHED = 5, 10, 0.1


def every_fifth(curve: Curve) -> Columns:
    """Log at a wider interval."""
    kept = curve.at(slice(THINNED - 1, None, THINNED))
    return columns(kept.step, kept.value, kept.epoch, kept.time)


def means_of_ten(curve: Curve) -> Columns:
    """Average over the interval, as the Trainer does."""
    whole = len(curve) // AVERAGED * AVERAGED
    last = curve.at(slice(AVERAGED - 1, whole, AVERAGED))
    return columns(
        last.step, curve.value[:whole].reshape(-1, AVERAGED).mean(axis=1), last.epoch, last.time
    )


def moving_average(curve: Curve) -> Columns:
    """Show an exponential moving average, as progress bars do."""
    value: FloatArray = curve.value.copy()
    for at in range(1, len(value)):
        value[at] = (1 - SMOOTHED) * value[at - 1] + SMOOTHED * value[at]
    return columns(curve.step, value, curve.epoch, curve.time)


def relogged(run: Run, style: Callable[[Curve], Columns]) -> Run:
    """Return the run as a logger of that style would have written it."""
    metrics = {}
    for name in run.history.metrics:
        curve = run.curve(name)
        noisy = not name.startswith("eval") and name not in EXACT and len(curve) >= FEWEST
        finite = bool(np.isfinite(curve.value).all())
        kept = columns(curve.step, curve.value, curve.epoch, curve.time)
        metrics[name] = style(curve) if noisy and finite else kept
    return replace(run, history=History(metrics, run.sources))


@cache
def fixture(name: str) -> Run:
    """Read a healthy fixture once."""
    return read(FIXTURES / name)


@pytest.mark.parametrize("style", [every_fifth, means_of_ten, moving_average])
@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_run_raises_no_alarm(name: str, style: Callable[[Curve], Columns]) -> None:
    """Whatever the style, no finding is louder than an info."""
    made = diagnose(relogged(fixture(name), style))
    assert [f.title for f in made.findings if f.severity != "info"] == []


@pytest.mark.parametrize("style", [every_fifth, moving_average])  # of ten, eight means are left
def test_a_divergence_is_found_all_the_same(style: Callable[[Curve], Columns]) -> None:
    """Silence on healthy runs is worth nothing if the fault falls silent as well."""
    made = diagnose(relogged(read(FIXTURES / "divergence"), style))
    assert "divergence" in {f.rule for f in made.findings if f.severity != "info"}
