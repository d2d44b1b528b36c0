"""Single configurations whose noise has a memory: curves that are drawn, not trained."""

import numpy as np
from scipy.signal import lfilter

from mechanisms.common import Curves, logged


def averaged(seed: int, factor: float) -> Curves:
    """Draw a loss of which an exponential average with a decay of .99 alone is logged."""
    rng = np.random.default_rng(seed)
    level = (2.4 + 2 * np.exp(-np.arange(900) / 150)) * factor
    return logged(
        train_loss=(level + lfilter([0.01], [1, -0.99], rng.normal(0, 0.4, 1_300))[400:])[::3]
    )


def drifting(seed: int, factor: float) -> Curves:
    """Draw a loss about which each seed wanders slowly by 2 %, four waves in a run."""
    rng = np.random.default_rng(seed)
    at = np.linspace(0, 1, 240)
    waves = sum(
        rng.normal() * np.cos(2 * np.pi * k * at + rng.uniform(0, 6.3)) for k in range(1, 5)
    )
    level = (1.2 + 4 * np.exp(-10 * at)) * factor
    return logged(train_loss=level * (1 + 0.02 * waves / 2**0.5 + 0.02 * rng.normal(size=240)))


def correlated(seed: int, factor: float) -> Curves:
    """Draw a loss with AR(.98) noise of 4 % of the level, 900 points, heavy tails."""
    rng = np.random.default_rng(seed)
    noise = lfilter([(1 - 0.98**2) ** 0.5], [1, -0.98], rng.standard_t(4, 1_200) / 1.41)[300:]
    level = (3.1 + 5 * np.exp(-np.arange(900) / 120)) * factor
    return logged(train_loss=(level * (1 + 0.04 * noise))[::2])


def ringing(seed: int, factor: float) -> Curves:
    """Draw a loss whose noise swings and stays: AR(2) with a memory of .985, 2 % of the level."""
    noise = lfilter([1], [1, -1.93, 0.97], np.random.default_rng(seed).normal(size=900))[300:]
    level = (2.2 + 2 * np.exp(-np.arange(600) / 90)) * factor
    return logged(train_loss=(level * (1 + 0.02 * noise / noise.std())).tolist())


def twice_averaged(seed: int, factor: float) -> Curves:
    """Draw a loss of which an average of averages alone is logged, decay .97 both times."""
    noise = np.random.default_rng(seed).normal(size=1_100)
    for _ in "12":
        noise = lfilter([0.03], [1, -0.97], noise)
    level = (1.4 + 2 * np.exp(-np.arange(800) / 110)) * factor
    return logged(train_loss=(level * (1 + 0.5 * noise[300:])).tolist())


def strolling(seed: int, factor: float) -> Curves:
    """Draw evaluations about which each seed strolls: AR(.9) of 1 %, and 0.3 % of jitter."""
    rng = np.random.default_rng(seed)
    stroll = lfilter([(1 - 0.81) ** 0.5], [1, -0.9], rng.normal(size=90))[50:]
    level = (1.7 + 1.5 * np.exp(-np.arange(40) / 6)) * factor
    return logged(eval_loss=(level * (1 + 0.01 * stroll + 0.003 * rng.normal(size=40))).tolist())


def telegraph(seed: int, factor: float) -> Curves:
    """Draw a loss that sits on one of two levels 2 % apart, and changes them now and then."""
    rng = np.random.default_rng(seed)
    side = np.where(np.cumsum(rng.random(600) < 0.02) % 2 == rng.integers(2), 0.01, -0.01)
    level = (1.9 + 3 * np.exp(-np.arange(600) / 70)) * factor
    return logged(train_loss=(level * (1 + side + 0.01 * rng.normal(size=600))).tolist())


def in_passes(seed: int, factor: float) -> Curves:
    """Draw a loss that saws with each pass over the data, each pass drawn anew by 1 %."""
    rng = np.random.default_rng(seed)
    saw = 0.04 * (np.arange(480) % 60) / 60 + np.repeat(0.01 * rng.normal(size=8), 60)
    level = (2.6 + 2 * np.exp(-np.arange(480) / 50)) * factor
    return logged(train_loss=(level * (1 - saw + 0.02 * rng.normal(size=480))).tolist())


def of_all_lengths(seed: int, factor: float) -> Curves:
    """Draw a loss with 1/f noise of 2 %: as much of it at each length of time."""
    rng = np.random.default_rng(seed)
    power = np.fft.rfft(rng.normal(size=1_024))
    noise = np.fft.irfft(power / np.maximum(np.arange(513), 1) ** 0.5)[:700]
    level = (2.0 + 3 * np.exp(-np.arange(700) / 80)) * factor
    return logged(train_loss=(level * (1 + 0.02 * noise / noise.std())).tolist())


def evaluated_in_memory(seed: int, factor: float) -> Curves:
    """Draw evaluations with AR(.98) noise of 2 % of the level, heavy tails."""
    rng = np.random.default_rng(seed)
    noise = lfilter([(1 - 0.98**2) ** 0.5], [1, -0.98], rng.standard_t(4, 360) / 1.41)[300:]
    level = (2.3 + 2 * np.exp(-np.arange(60) / 9)) * factor
    return logged(eval_loss=(level * (1 + 0.02 * noise)).tolist())


def smoothed_window(seed: int, factor: float) -> Curves:
    """Draw a loss of which the mean of the last 50 steps alone is logged, noise of 20 %."""
    noise = np.random.default_rng(seed).normal(size=1_050)
    means = np.convolve(noise, np.full(50, 0.02), "valid")[:1_000]
    level = (1.8 + 2 * np.exp(-np.arange(1_000) / 160)) * factor
    return logged(train_loss=(level * (1 + 0.2 * means))[::2].tolist())


def one_wave(seed: int, factor: float) -> Curves:
    """Draw a loss about which each seed wanders in one slow wave and a half, 2 %."""
    rng = np.random.default_rng(seed)
    at = np.linspace(0, 1, 360)
    wave = rng.normal() * np.cos(3 * np.pi * at + rng.uniform(0, 6.3))
    level = (1.5 + 3 * np.exp(-9 * at)) * factor
    return logged(train_loss=(level * (1 + 0.02 * wave + 0.02 * rng.normal(size=360))).tolist())


def changing(seed: int, factor: float) -> Curves:
    """Draw a loss with AR(.95) noise of 2 % of the level whose size wanders by itself."""
    rng = np.random.default_rng(seed)
    size = np.exp(0.5 * lfilter([(1 - 0.99**2) ** 0.5], [1, -0.99], rng.normal(size=900)))
    noise = lfilter([(1 - 0.95**2) ** 0.5], [1, -0.95], size * rng.normal(size=900))[300:]
    level = (2.1 + 3 * np.exp(-np.arange(600) / 85)) * factor
    return logged(train_loss=(level * (1 + 0.02 * noise)).tolist())


def relaxing(seed: int, factor: float) -> Curves:
    """Draw evaluations that jump at each of six restarts by a height of its own, and fall again."""
    rng = np.random.default_rng(seed)
    jump = np.repeat(0.03 * np.abs(rng.normal(size=6)), 10) * np.exp(-np.tile(np.arange(10), 6) / 4)
    level = (1.6 + 2 * np.exp(-np.arange(60) / 10)) * factor
    return logged(eval_loss=(level * (1 + jump + 0.004 * rng.normal(size=60))).tolist())
