"""What a program logs of the data themselves: a statistic that is off where the fault begins."""

import numpy as np

from runlens.causes.scene import Scene
from runlens.metrics import spoken
from runlens.naming import words
from runlens.wording import number, step

OF_DATA = frozenset(
    {"input", "inputs", "x", "tgt", "target", "targets", "data", "image", "images", "pixel"}
    | {"pixels", "feature", "features", "label", "labels", "batch"}
)
STATISTICS = frozenset(
    {"min", "max", "absmax", "maxabs", "amax", "abs", "mean", "std", "norm", "range"}
)
OF_TRAINING = frozenset({"loss", "grad", "gradient", "reward", "acc", "accuracy", "time", "size"})
FEWEST = 4  # rows before it, of which the fault's is another kind
FAR = 10.0  # times all scatter before: no batch of the same data comes so far by chance


def told(scene: Scene) -> tuple[str, bool]:
    """Say which statistic of the data was off at the row of the fault, and if it was no number.

    "" where none is logged, or none was.
    """
    for name in scene.run.history.metrics:
        said = set(words(name))
        if not said & OF_DATA or not said & STATISTICS or said & OF_TRAINING:
            continue
        curve = scene.run.curve(name)
        at = int(np.searchsorted(curve.step, scene.symptom))
        before = curve.value[:at]
        if at == len(curve.step) or at < FEWEST or not np.isfinite(before).all():
            continue
        value, low, high = float(curve.value[at]), float(before.min()), float(before.max())
        middle = float(np.median(before))
        off = abs(value - middle) > FAR * max(high - middle, middle - low)
        if not np.isfinite(value) or off:
            where = step(int(curve.step[at]))
            usual = number(low) if low == high else f"{number(low)} to {number(high)}"
            return f"{spoken(name)} was {number(value)} at step {where}, and {usual} before it", (
                not np.isfinite(value)
            )
    return "", False
