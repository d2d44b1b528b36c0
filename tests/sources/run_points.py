"""What a test asks of a run that it wrote as a log."""

from runlens.run import Run


def points(run: Run, metric: str = "train_loss") -> list[tuple[int, float]]:
    """Return steps and values of a metric."""
    curve = run.curve(metric)
    return list(zip(curve.step.tolist(), curve.value.tolist(), strict=True))


def loss(n: float) -> float:
    """Return a loss that falls."""
    return round(3 / (n + 1), 4)
