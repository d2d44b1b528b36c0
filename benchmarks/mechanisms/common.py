"""What the mechanisms share."""

import numpy as np

from runlens.history import FloatArray

Curves = dict[str, FloatArray]


def logged(digits: int = 5, **curves: FloatArray | list[float]) -> Curves:
    """Return the curves as they are printed."""
    return {name: np.round(np.array(v, dtype=float), digits) for name, v in curves.items()}


def sigmoid(value: FloatArray) -> FloatArray:
    """Return the logistic function."""
    return np.asarray(1 / (1 + np.exp(-np.clip(value, -30, 30))))


def softmax(scores: FloatArray) -> FloatArray:
    """Return probabilities along the last axis."""
    share = np.exp(scores - scores.max(-1, keepdims=True))
    return np.asarray(share / share.sum(-1, keepdims=True))
