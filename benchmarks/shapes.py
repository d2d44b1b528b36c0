"""How often the shape of a drawn curve is right.

    python benchmarks/shapes.py [CURVES]       # 20,000: phases right, false phases, time
    python benchmarks/shapes.py --limits       # what noise gains by cuts (shape/limits.py)
    python benchmarks/shapes.py --swings       # how regularly noise turns (shape/swings.py)

Curves of 4 to 100,000 points (even in the logarithm), evaluation-like ones below 40 points without
memory of the noise. Noise of 0.5 to 30 % of the level; a third with heavy tails (t with 3 degrees
of freedom); AR(1) up to 0.95, its memory at most a twentieth of the curve: what wanders longer is
not told from a trend by anybody. A tenth have one to three wild points.

A curve is right when the kinds of its phases are those drawn, in order, and each border lies within
3 % of the run or one point. Counted are curves whose effect is above their noise: each change is at
least twice the noise of a point, and so large that the likeliest corner, were all else known, would
be good to 1 % of the run (or to half a point). Curves below that are stated beside, not hidden.
Falls bend (power 1 to 1.2 before the corner), so that a corner exists. The seed is fixed.
"""

import sys
import time
from collections import defaultdict
from typing import NamedTuple

import numpy as np
from scipy.signal import lfilter

from runlens.history import FloatArray, IntArray
from runlens.signals.shape import Shape, segments, shape_of, swings
from runlens.signals.shape.axis import clipped

TOLERANCE = 0.03
SEED = 23
MEMORY = 20.0
BINS = (4, 8, 13, 41, 161, 1_001, 10_001, 100_001)


class Drawn(NamedTuple):
    """A curve, and what is true of it."""

    family: str
    step: IntArray
    value: FloatArray
    kinds: tuple[str, ...]
    borders: tuple[float, ...]  # shares of the run
    clear: bool  # whether its effect is above its noise


def points(rng: np.random.Generator) -> int:
    """Return a number of points, even in the logarithm."""
    return int(np.exp(rng.uniform(np.log(4), np.log(100_000))))


def noise(rng: np.random.Generator, count: int) -> tuple[FloatArray, float]:
    """Return noise of standard deviation 1 (robust), shape (count,), and its memory."""
    most = min(0.95, float(np.exp(-MEMORY / count))) if count >= 40 else 0.0
    memory = float(rng.choice([0.0, rng.uniform(0.0, most)])) if most > 0 else 0.0
    white = rng.standard_t(3, count + 200) / 1.1 if rng.random() < 1 / 3 else None
    white = rng.standard_normal(count + 200) if white is None else white
    made = lfilter([1.0], [1.0, -memory], white)[200:] * np.sqrt(1 - memory * memory)
    if rng.random() < 0.1 and count >= 20:
        wild = rng.integers(2, count - 2, rng.integers(1, 4))
        made[wild] += rng.choice([-1, 1]) * rng.uniform(10, 40)
    return made, memory


def course(
    at: FloatArray, kinds: tuple[str, ...], borders: tuple[float, ...], height: float, bend: float
) -> tuple[FloatArray, list[float]]:
    """Return a curve over 0..1 that does these things, and the change of each phase."""
    edges = (0.0, *borders, 1.0)
    level, made, changes = 1.0 + height * kinds.count("fall"), np.empty_like(at), []
    for kind, first, last in zip(kinds, edges, edges[1:], strict=False):
        inside = (at >= first) & (at <= last)
        gone = (at[inside] - first) / max(last - first, 1e-9)
        change = {"fall": -height, "rise": height, "jump": height}.get(kind, 0.0)
        moved = gone if kind == "rise" else 1 - (1 - gone) ** bend
        made[inside] = level + change * (1.0 if kind == "jump" else moved)
        level += change
        changes.append(change)
    return made, changes


FAMILIES: dict[str, tuple[str, ...]] = {
    "noise": ("flat",),
    "fall": ("fall",),
    "power law": ("fall",),
    "plateau": ("fall", "flat"),
    "hockey stick": ("fall", "rise"),
    "fall-flat-rise": ("fall", "flat", "rise"),
    "late rise": ("flat", "rise"),
    "late fall": ("flat", "fall"),
    "hump": ("fall", "rise", "fall"),
    "jump": ("flat", "jump"),
    "swing": ("swing",),
    "fall-swing": ("fall", "swing"),
    "gone": ("fall", "gone"),
    "frozen": ("fall", "frozen"),
}
WEIGHTS = (0.2, *[0.8 / (len(FAMILIES) - 1)] * (len(FAMILIES) - 1))
FEWEST = {1: 4, 2: 6, 3: 10}  # points for so many phases: two of each at least
LEAST = {"swing": 60, "fall-swing": 120, "hump": 16, "frozen": 24, "gone": 16}


def drawn(rng: np.random.Generator) -> Drawn:
    """Return a curve of a family."""
    while True:
        family = str(rng.choice(list(FAMILIES), p=WEIGHTS))
        kinds, count = FAMILIES[family], points(rng)
        if count >= max(LEAST.get(family, 4), FEWEST[len(kinds)]):
            break
    step = np.arange(count) * int(rng.choice([1, 5, 10, 100]))
    at = np.arange(count) / (count - 1)
    wobble, memory = noise(rng, count)
    sigma = float(np.exp(rng.uniform(np.log(0.005), np.log(0.30))))
    height = float(np.exp(rng.uniform(np.log(0.15), np.log(3.0))))
    bend = float(rng.uniform(1.0, 1.2))
    room = max(0.12, 2.0 / count)
    borders = tuple(sorted(rng.uniform(room, 1 - room, len(kinds) - 1)))
    if "gone" in kinds or "frozen" in kinds:
        borders = (float(rng.uniform(max(room, 6 / count), 1 - max(room, 6 / count))),)
    while np.diff([0.0, *borders, 1.0]).min() < room and len(borders) > 1:
        borders = tuple(sorted(rng.uniform(room, 1 - room, len(kinds) - 1)))
    value, changes = course(at, kinds, borders, height, bend)
    if family == "power law":
        value = 1.0 + height * (np.arange(count) + 1.0) ** -float(rng.uniform(0.05, 0.25))
        changes = [float(value[-1] - value[count // 20])]  # the first points alone are no fall
    value = value + sigma * wobble * float(np.median(value))
    sigma *= float(np.median(value))
    value = swung(rng, at, value, kinds, borders, height)
    clear = clearly(kinds, borders, changes, sigma, memory, count)
    if "swing" in kinds:
        clear = 2 * height >= 4 * sigma / np.sqrt(max(1.0, count / 600))
    if "gone" in kinds:
        value[at > borders[-1]] = np.nan
    if "frozen" in kinds:
        value[at > borders[-1]] = value[np.argmax(at > borders[-1])]
    named = tuple("flat" if kind == "jump" else kind for kind in kinds)
    return Drawn(family, step, value, named, borders, clear)


def swung(
    rng: np.random.Generator,
    at: FloatArray,
    value: FloatArray,
    kinds: tuple[str, ...],
    borders: tuple[float, ...],
    height: float,
) -> FloatArray:
    """Return the curve with its swing: a sine or a sawtooth with a period that drifts a little."""
    if "swing" not in kinds:
        return value
    begin = borders[-1] if borders else 0.0
    inside = at >= begin
    count = int(inside.sum())
    periods = rng.uniform(8, max(9, min(40, count / 8)))
    drift = np.exp(0.15 * np.cumsum(rng.standard_normal(count)) / np.sqrt(count))
    phase = np.cumsum(drift) / drift.sum() * periods
    wave = np.sin(2 * np.pi * phase) if rng.random() < 0.5 else 1 - 2 * (phase % 1)
    value[inside] += height * wave
    return value


def clearly(
    kinds: tuple[str, ...],
    borders: tuple[float, ...],
    changes: list[float],
    sigma: float,
    memory: float,
    count: int,
) -> bool:
    """Whether each change is above its noise (see the top of this file)."""
    if kinds == ("flat",):
        return True
    edges = (0.0, *borders, 1.0)
    widen = np.sqrt((1 + memory) / (1 - memory))
    for kind, change, first, last in zip(kinds, changes, edges, edges[1:], strict=False):
        if kind in {"flat", "gone", "frozen", "swing"}:
            continue
        if abs(change) < 2 * sigma:
            return False
        inside = max(count * (last - first), 2.0)
        error = sigma * widen * np.sqrt(12.0 / inside)  # of a change over the phase
        if abs(change) < 4 * error:
            return False
        corner = sigma * widen * 2.0 / np.sqrt(inside) / abs(change) * (last - first)
        if kind != "jump" and borders and corner > max(0.01, 0.5 / count):
            return False
    return True


def right(shape: Shape, truth: Drawn) -> bool:
    """Whether kinds and borders are those drawn."""
    if tuple(phase.kind for phase in shape.phases) != truth.kinds:
        return False
    whole = float(truth.step[-1] - truth.step[0])
    spacing = whole / (len(truth.step) - 1)
    room = max(TOLERANCE * whole, spacing)
    found = [
        (a.last.step + b.first.step) / 2
        for a, b in zip(shape.phases, shape.phases[1:], strict=False)
    ]
    pairs = zip(found, truth.borders, strict=True)
    return all(abs(at - border * whole) <= room + spacing / 2 for at, border in pairs)


def main(curves: int) -> None:
    """Print what is right, by family and by number of points."""
    rng = np.random.default_rng(SEED)
    by_family: dict[str, list[bool]] = defaultdict(list)
    by_size: dict[int, list[bool]] = defaultdict(list)
    below: list[bool] = []
    false: list[bool] = []
    took: dict[int, list[float]] = defaultdict(list)
    for _ in range(curves):
        truth = drawn(rng)
        began = time.perf_counter()
        shape = shape_of(truth.step, truth.value)
        size = max(some for some in BINS if some <= len(truth.step))
        took[size].append(time.perf_counter() - began)
        ok = right(shape, truth)
        if truth.family == "noise":
            false.append(not ok)
        elif truth.clear:
            by_family[truth.family].append(ok)
            by_size[size].append(ok)
        else:
            below.append(ok)
    _print(by_family, by_size, took)
    whole = [ok for some in by_family.values() for ok in some]
    print(f"\nphases right, effect above noise: {np.mean(whole):.1%} of {len(whole):,}")
    print(f"phases right, effect below noise: {np.mean(below):.1%} of {len(below):,}")
    print(f"false phases on noise alone: {np.mean(false):.2%} of {len(false):,}")


def _print(
    by_family: dict[str, list[bool]], by_size: dict[int, list[bool]], took: dict[int, list[float]]
) -> None:
    print("| family | curves | right |\n|---|---|---|")
    for family, ok in by_family.items():
        print(f"| {family} | {len(ok):,} | {np.mean(ok):.1%} |")
    print("\n| points from | curves | right | ms, median |\n|---|---|---|---|")
    for size in sorted(by_size):
        ok = by_size[size]
        print(f"| {size:,} | {len(ok):,} | {np.mean(ok):.1%} | {1e3 * np.median(took[size]):.1f} |")


def limits(draws: int = 600) -> None:
    """Print what noise gains when it is cut into 1, 2, 3, ... pieces, or bent at a corner."""
    for count in (4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 24, 40, 80, 144):
        rng = np.random.default_rng(SEED)
        cut: dict[int, list[float]] = defaultdict(list)
        bent: dict[int, list[float]] = defaultdict(list)
        for _ in range(draws):
            y = clipped(noise(rng, count)[0])
            for pieces, gain in segments.gains(np.arange(count, dtype=float), y):
                cut[pieces].append(gain)
            for slopes, gain in segments.corner_gains(np.arange(count, dtype=float), y):
                bent[slopes].append(gain)
        for name, some, share in (("pieces", cut, 0.994), ("corner", bent, 0.996)):
            found = " ".join(f"{key}: {np.quantile(gain, share):.1f}" for key, gain in some.items())
            print(f"{count} points, {name} {found}", flush=True)


def turns(draws: int = 1_500) -> None:
    """Print how regular the turns of noise are, by number of cycles: the first thousandth."""
    rng = np.random.default_rng(SEED)
    irregular: dict[int, list[float]] = defaultdict(list)
    for _ in range(draws):
        for cycles, value in swings.irregularity(noise(rng, int(rng.integers(40, 2_000)))[0]):
            irregular[max(some for some in (4, 5, 7, 10, 15, 30) if some <= cycles)].append(value)
    for cycles, values in sorted(irregular.items()):
        print(f"{cycles} cycles: {np.quantile(values, 0.001):.2f} of {len(values):,}")


if __name__ == "__main__":
    if "--limits" in sys.argv:
        limits()
    elif "--swings" in sys.argv:
        turns()
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000)
