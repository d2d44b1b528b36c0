"""Curves that swing: autocorrelation, turning points, folding by epoch.

All functions take finite values in step order, shape (n,), evenly spaced unless said otherwise,
and never raise for short input.
"""

from typing import NamedTuple

import numpy as np

from runlens.history import BoolArray, Curve, FloatArray, IntArray
from runlens.signals.noise import (
    MEDIAN_LOSS,
    block_medians,
    mad,
    odd,
    running_mean,
    running_median,
    sigma,
    sigma_diff,
)

UNEVEN = 5.0  # largest over usual spacing from which a curve is put on an even grid
MOST_POINTS = 4_000  # of the autocorrelation; longer curves are read as medians of blocks
MOST_TURNS = 1_000  # points of the zigzag scan
FEWEST_CYCLES = 4
FEWEST_POINTS = 6  # of a cycle, and of an epoch
TALLEST = 5.0  # noise scales at which a residual is cut
TURNS_SPREAD = 0.5  # coefficient of variation of the periods from which turns are no cycle
TURNS_SPAN = 0.4  # share of the curve that the turns must cover


class Cycle(NamedTuple):
    """A swing that comes back; lengths in points of the curve given."""

    period: float
    strength: float  # autocorrelation at the period, 0 to 1
    amplitude: float  # range of the folded profile, in the unit of the curve
    rest: float  # scale of what the folded profile leaves over
    first: int  # index of the first turning point
    cycles: float  # how many in the curve


class EpochSteps(NamedTuple):
    """Falls at the whole epochs of a curve; arrays of shape (k,), one entry a boundary."""

    first: IntArray  # index of the first point of the new epoch
    fall: FloatArray  # median before minus median after the boundary
    middle: FloatArray  # the same contrast half an epoch earlier, NaN where it has no room
    error: float  # standard error of one fall
    per_epoch: float  # points an epoch


def evenly(curve: Curve) -> tuple[FloatArray, FloatArray]:
    """Return (step, value) with even spacing.

    A curve with gaps above five times its usual spacing comes back as the medians of bins of
    the usual spacing; empty bins are left out, so a gap closes.
    """
    step, value = curve.step.astype(float), curve.value
    spacing = np.diff(step)
    usual = float(np.median(spacing)) if len(spacing) else 0.0
    if usual <= 0 or spacing.max() <= UNEVEN * usual:
        return step, value
    bins = np.floor((step - step[0]) / usual).astype(np.int64)
    order = np.lexsort((value, bins))
    starts = np.flatnonzero(np.diff(bins, prepend=-1))
    size = np.diff(np.append(starts, len(bins)))
    ranked = value[order]
    middle = (ranked[starts + (size - 1) // 2] + ranked[starts + size // 2]) / 2
    return step[starts], middle


def autocorrelation(residual: FloatArray, most: int) -> FloatArray:
    """Return the autocorrelation at lags 0 to `most`; zeros for a constant curve."""
    centred = residual - residual.mean() if len(residual) else residual
    most = min(most, len(residual) - 1)
    if most < 1:
        return np.zeros(max(most + 1, 0))
    spectrum = np.fft.rfft(centred, 2 * len(centred))
    lags = np.fft.irfft(spectrum * np.conj(spectrum))[: most + 1]
    return lags / lags[0] if lags[0] > 0 else np.zeros(most + 1)


def detrended(value: FloatArray) -> FloatArray:
    """Return what a very wide running median and mean leave over.

    The ends are mirrored: repeating one end value would bend the trend towards a tooth there.
    """
    room = len(value) // 2
    if room < 1:
        return value - value
    mirrored = np.pad(value, room, mode="reflect")
    wide = running_median(mirrored, odd(max(9, room)))
    return value - running_mean(wide, odd(max(5, room // 2)))[room : room + len(value)]


def cycle(value: FloatArray, fall: float) -> Cycle | None:
    """Return the swing of a curve after warm-up, or None; `fall` is how far the curve fell.

    By autocorrelation, else by turning points that autocorrelation confirms: turning points
    alone are found in 5.8 % of healthy autocorrelated noise, confirmed ones in 0.12 %
    (10,000 simulated runs).
    """
    size = max(1, -(-len(value) // MOST_POINTS))
    _, short = block_medians(np.arange(len(value), dtype=float), value, MOST_POINTS)
    whole = detrended(short)
    bound = TALLEST * mad(whole)
    residual = np.clip(whole, -bound, bound)  # one giant tooth must not hide the others
    period, strength = _by_correlation(residual)
    turns = _turning(short, fall)
    if not period:
        period, strength = _by_turns(residual, turns)
    if period < FEWEST_POINTS:
        return None
    profile = _profile(whole, period)
    first = int(turns.at[0]) if len(turns.at) else 0
    return Cycle(
        period=period * size,
        strength=strength,
        amplitude=float(np.ptp(profile)),
        rest=mad(whole - profile[np.arange(len(whole)) % period]),
        first=first * size,
        cycles=len(short) / period,
    )


def _by_correlation(residual: FloatArray) -> tuple[int, float]:
    """Return (period, autocorrelation there), or (0, 0.0)."""
    count = len(residual)
    most = count // FEWEST_CYCLES
    lags = autocorrelation(residual, min(2 * most + 2, count - 1))
    negative = np.flatnonzero(lags[:most] < 0)
    if most <= FEWEST_POINTS or not len(negative):
        return 0, 0.0
    inner = np.arange(max(int(negative[0]), 3) + 1, most)
    peaks = inner[(lags[inner] >= lags[inner - 1]) & (lags[inner] >= lags[inner + 1])]
    if not len(peaks):
        return 0, 0.0
    best = int(peaks[np.argmax(lags[peaks])])
    strength = float(lags[best])
    if strength < max(0.30, 4 / count**0.5) or lags[:best].min() > -0.15:  # noqa: PLR2004 - measured, see cycle()
        return 0, 0.0
    again = lags[2 * best - 2 : 2 * best + 3]
    if 2 * best < 0.8 * count and len(again) and again.max() < 0.5 * strength:
        return 0, 0.0
    return best, strength


class Turns(NamedTuple):
    """Turning points; arrays of shape (k,)."""

    at: IntArray
    peak: BoolArray  # whether it is a high one


def turning_points(value: FloatArray, reversal: float) -> Turns:
    """Return the points from which the curve came back by at least `reversal`.

    The scan is a loop: give it at most `MOST_TURNS` points.
    """
    found: list[tuple[int, bool]] = []
    high = low = 0
    rising: bool | None = None
    values = value.tolist()
    for at, now in enumerate(values):
        high = at if now > values[high] else high
        low = at if now < values[low] else low
        if rising is not False and values[high] - now >= reversal:
            if rising or high > 0:
                found.append((high, True))
            rising, high, low = False, at, at
        elif rising is not True and now - values[low] >= reversal:
            if rising is False or low > 0:
                found.append((low, False))
            rising, high, low = True, at, at
    index = np.array([at for at, _ in found], dtype=np.int64)
    return Turns(index, np.array([peak for _, peak in found], dtype=bool))


def _turning(value: FloatArray, fall: float) -> Turns:
    """Return the turning points of a curve, on a smooth of at most 1,000 points."""
    count = len(value)
    size = max(1, -(-count // MOST_TURNS))
    _, blocks = block_medians(np.arange(count, dtype=float), value, MOST_TURNS)
    width = odd(max(3, len(blocks) // 60))
    shown = running_mean(running_median(blocks, width), max(1, width // 2))
    noise = sigma_diff(blocks)
    level = abs(float(np.median(blocks))) if count else 0.0
    reversal = max(4 * noise * MEDIAN_LOSS / width**0.5, 2 * noise, 0.35 * fall, 0.05 * level)
    turns = turning_points(shown, max(reversal, 1e-12))
    return turns._replace(at=turns.at * size)


def _by_turns(residual: FloatArray, turns: Turns) -> tuple[int, float]:
    """Return (period, autocorrelation near it) of turning points, or (0, 0.0)."""
    count = len(residual)
    highs, lows = turns.at[turns.peak], turns.at[~turns.peak]
    if min(len(highs), len(lows)) < FEWEST_CYCLES:
        return 0, 0.0
    if highs[-1] - highs[0] < TURNS_SPAN * count:
        return 0, 0.0
    gaps = np.diff(highs), np.diff(lows)
    if min(float(gap.std() / gap.mean()) for gap in gaps) > TURNS_SPREAD:
        return 0, 0.0
    period = int(np.median(np.concatenate(gaps)))
    lags = autocorrelation(residual, min(count - 2, int(1.4 * period + 2)))
    near = lags[max(2, int(0.7 * period)) :]
    if not len(near) or near.max() < 0.20 or lags[: max(3, period)].min() > -0.30:  # noqa: PLR2004 - measured, see cycle()
        return 0, 0.0
    return period, float(near.max())


def _profile(residual: FloatArray, period: int) -> FloatArray:
    """Return the median of each phase, shape (period,); the unfilled last cycle is left out."""
    used = len(residual) // period * period
    profile: FloatArray = np.median(residual[:used].reshape(-1, period), axis=0)
    return profile


def epoch_steps(value: FloatArray, epoch: FloatArray) -> EpochSteps | None:
    """Return the falls at whole epochs; None below one boundary or 6 points an epoch.

    `epoch` has shape (n,). A quarter of an epoch on each side is compared, at least 3 points.
    A point logged exactly at the end of an epoch belongs to that epoch.
    """
    known = np.isfinite(epoch)
    value, epoch = value[known], epoch[known]
    if len(value) < 2 * FEWEST_POINTS or epoch[-1] <= epoch[0]:
        return None
    per_epoch = (len(value) - 1) / float(epoch[-1] - epoch[0])
    if not FEWEST_POINTS <= per_epoch <= len(value):
        return None
    width = max(3, int(0.25 * per_epoch))
    whole = np.arange(np.floor(epoch[0]) + 1, np.ceil(epoch[-1] - 1e-9))
    first = np.searchsorted(epoch, whole + 1e-6)
    middle = np.searchsorted(epoch, whole - 0.5)
    room = (first >= width) & (first + width <= len(value))
    if not room.any():
        return None
    return EpochSteps(
        first=first[room],
        fall=_contrast(value, first[room], width),
        middle=_contrast(value, middle[room], width),
        error=MEDIAN_LOSS * sigma(value) * (2 / width) ** 0.5,
        per_epoch=per_epoch,
    )


def _contrast(value: FloatArray, at: IntArray, width: int) -> FloatArray:
    """Return the median of `width` points before `at` minus that of the points from `at` on."""
    room = (at >= width) & (at + width <= len(value))
    safe = np.where(room, at, width)[:, None] + np.arange(width)[None, :]
    made = np.median(value[safe - width], axis=1) - np.median(value[safe], axis=1)
    return np.where(room, made, np.nan)
