"""What every writer here logs: the scripts beside run under any Python, this is all they share."""

import math

SETTINGS = {"learning_rate": 0.001, "trl": {"beta": 0.1}, "bf16": True}
STEPS = (0, 10, 20, 30, 50, 60)  # with a gap
RESUMED = (20, 30, 40)  # the steps of a second launch
ODD = {20: math.nan, 30: math.inf, 50: -math.inf}


def loss(step: int, launch: int = 0) -> float:
    """Return the loss at a step, another one in each launch."""
    return 2.0 / (1 + step) + launch


def row(step: int, launch: int = 0) -> dict[str, float]:
    """Return the metrics of one step."""
    odd = ODD.get(step, 0.5)
    return {"train/loss": loss(step, launch), "train/grad_norm": odd, "eval_de/loss": 1.25}
