"""Ends that no record tells: what the rows themselves say of them is a guess, and told as one."""

from math import cos, pi
from pathlib import Path

import pytest

from runlens import read
from runlens.run import State


def state(folder: Path, rows: list[str]) -> State:
    """Return how the run ended whose log holds rows."""
    path = folder / "train.log"
    path.write_text("\n".join(["Loading the data", *rows]) + "\n")
    return read(path).state


def scheduled(rates: list[float]) -> list[str]:
    """Return a row for each rate, at epochs that are not round."""
    return [f"Epoch {n} loss: {2 / (n + 1):.4f} lr: {rate:.8f}" for n, rate in enumerate(rates)]


def cosine(planned: int) -> list[float]:
    """Return the rates of so many epochs: a rise of two, then half a wave."""
    rest = planned - 2
    return [3e-5, 7e-5, *(1e-4 * (1 + cos(pi * n / rest)) / 2 for n in range(rest))]


LINE = [1e-4 * (1 - n / 33) for n in range(33)]
STEPS = [1e-4 * 0.1 ** (n // 11) for n in range(33)]
HALVES = [1e-4 * 0.85**n for n in range(33)]


@pytest.mark.parametrize("rates", [cosine(37), LINE])
def test_a_schedule_that_came_to_its_end(tmp_path: Path, rates: list[float]) -> None:
    """As schedulers are told the number of steps of the run."""
    found = state(tmp_path, scheduled(rates))
    assert (found.kind, found.sure, found.settled) == ("finished", "guess", "unknown")
    assert "end of its schedule" in found.why


@pytest.mark.parametrize(
    "rates",
    [cosine(41)[:37], LINE[:29], STEPS, HALVES, [1e-4] * 37, [*LINE, 1e-4], [*[1e-4] * 37, 0.0]],
)
def test_other_rates_tell_nothing(tmp_path: Path, rates: list[float]) -> None:
    """Cut, in steps, by halves, level, begun anew, and dropped at once."""
    assert state(tmp_path, scheduled(rates)).kind == "unknown"


def batches(epochs: int, last: int = 30) -> list[str]:
    """Return 30 rows for each epoch but the last, as PyTorch's examples print them."""
    return [
        f"Train Epoch: {epoch} [{64 * n}/1920 ({100 * n // 30}%)]\tLoss: {2 / (epoch + n / 30):.6f}"
        for epoch in range(1, epochs + 1)
        for n in range(last if epoch == epochs else 30)
    ]


def test_an_epoch_of_many_rows_that_is_whole(tmp_path: Path) -> None:
    """A run that is cut ends there once in 30 times."""
    found = state(tmp_path, batches(7))
    assert (found.kind, found.sure) == ("finished", "guess")
    assert "ends an epoch of 30 rows" in found.why
    assert state(tmp_path, batches(7, last=29)).kind == "unknown"
    assert state(tmp_path, batches(1)).kind == "unknown"


def test_a_row_beside_a_round_number_is_not_said_to_be_at_it(tmp_path: Path) -> None:
    """A last rollout ends beside the plan: the row lies next to the number."""
    rows = [f"step {n} loss: {2 / (n + 1):.4f}" for n in range(960, 30_000, 960)]
    assert "close to step 30,000, a typical planned end" in state(tmp_path, rows).why
    rows = [f"step {n} loss: {2 / (n + 1):.4f}" for n in range(1_000, 30_001, 1_000)]
    assert "at step 30,000, a typical planned end" in state(tmp_path, rows).why
