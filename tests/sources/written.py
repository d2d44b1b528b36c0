"""Logs that a test writes, and what is read of them."""

from pathlib import Path

import runlens
from runlens.run import Run


def runs_of(folder: Path, name: str, text: str) -> list[Run]:
    """Write a log and read it."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return runlens.read_all(path)


def run_of(folder: Path, name: str, text: str) -> Run:
    """Write a log and read its only training."""
    (run,) = runs_of(folder, name, text)
    return run


def curve_of(folder: Path, name: str, text: str, metric: str) -> list[float]:
    """Return the values of a metric of the only training in a log."""
    return [float(value) for value in run_of(folder, name, text).curve(metric).value]
