"""Cases drawn by hand just on either side of a limit, beside those that `edges.py` found."""

from typing import Any

import numpy as np

from runlens.history import FloatArray
from runlens.rules.cases import Case
from runlens.rules.rule import drawn

STEP = np.arange(0, 2001, 10)


def corners(value: FloatArray) -> str:
    """Write a curve, a point every 10 steps, as the corners of a drawing."""
    return " ".join(f"{step}:{one:.6g}" for step, one in zip(STEP, value, strict=True))


def teeth(
    height: float, fall: float = 0.0, *, last: int = 2000, level: float = 1.5, **more: Any
) -> Case:
    """Draw teeth of 150 steps up to a step, on a loss that falls along a line to its level."""
    wave = height * ((STEP % 150) / 150.0 - 0.5) * (last >= STEP)
    line = level + fall * (1 - STEP / 2000.0)
    return drawn("teeth", noise=0.003, train_loss=corners(line + wave), **more)


def rate(share: float) -> str:
    """Draw a rate that moves with the teeth of 150 steps by a share, and else on its own."""
    own = np.sin(2 * np.pi * STEP / 330.0) * (1 - share)
    return corners(1e-3 * (1 + 0.3 * (share * ((STEP % 150) / 150.0 - 0.5) + own)))


def parts(
    end: float, train: float = 1.0, *, first: float = 0.05, bump: float = 0.0, zigzag: float = 0.0
) -> Case:
    """Draw an evaluation that parts from the training loss, from one gap to another."""
    at = np.arange(50, 801, 50)
    gap = first + (end - first) * (at - 50) / 750.0 + zigzag * np.tile([1.0, -1.0], 8)
    value = train + 1 - at / 800.0 + gap
    value[-3:] += bump * np.array([1 / 3, 2 / 3, 1])
    text = " ".join(f"{step}:{one:.5g}" for step, one in zip(at, value, strict=True))
    return drawn("parts", noise=0.0005, train_loss=f"0:{train + 1} 800:{train}", eval_loss=text)


EDGES: dict[str, tuple[Case, ...]] = {
    "sawtooth": (
        teeth(0.11),
        teeth(0.075),
        teeth(0.30, 1.2),
        teeth(0.20, 1.2),
        teeth(0.46, 1.2),
        teeth(0.33, 1.2),
        teeth(0.8, last=800),
        teeth(0.8, last=690),
        *(teeth(0.8, config={"eval_steps": every}) for every in (136, 141, 142, 160)),
        *(teeth(0.8, steps_per_epoch=every) for every in (136.0, 141.5)),
        *(teeth(0.8, learning_rate=rate(share)) for share in (0.5, 0.62, 0.7, 0.8, 0.9)),
    ),
    "eval-gap": (
        *(parts(end) for end in (0.26, 0.38)),
        *(parts(end, 3.0) for end in (0.55, 0.75)),
        *(parts(0.5, first=first) for first in (0.28, 0.36)),
        *(parts(0.8, zigzag=some) for some in (0.1, 0.15, 0.2, 0.27, 0.28)),
        *(parts(0.5, bump=some) for some in (0.16, 0.2, 0.24, 0.28, 0.32)),
    ),
}
