"""Tables with several names in one cell of their heading."""

from pathlib import Path

import pytest

from runlens.sources.console.shared_cells import with_cells_parted
from tests.sources.written import run_of

HEAD = "gen | games | win  draw loss (vs random, 200 games) | elo"


def test_each_number_of_a_cell_has_its_name(tmp_path: Path) -> None:
    """Games that were lost are a share, and no loss of a training."""
    rows = [f"{n:3d} | {150 * n} | 0.{n + 30} 0.1 0.{60 - n} | +{7 * n + 1}" for n in range(12)]
    run = run_of(tmp_path, "arena.txt", "\n".join([HEAD, *rows, ""]))
    assert run.taken == {"reward": "win"}
    assert run.curve("lost").value[0] == pytest.approx(0.6)
    assert "train_loss" not in run.history.metrics


def test_a_loss_beside_an_accuracy_is_one(tmp_path: Path) -> None:
    """Of no game."""
    rows = [f"{n} | {3 - n / 9:.3f} 0.{n + 30} | 1e-3" for n in range(12)]
    run = run_of(tmp_path, "train.log", "\n".join(["epoch | loss acc | lr", *rows, ""]))
    assert run.curve("train_loss").value[0] == pytest.approx(3)
    assert len(run.curve("learning_rate")) == 12


@pytest.mark.parametrize(
    "lines",
    [
        ["epoch | loss | acc", "1 | 0.5 | 0.5", "2 | 0.5 | 0.5", "3 | 0.5 | 0.5"],  # one each
        ["epoch | train loss | acc", "1 | 0.5 | 0.5", "2 | 0.5 | 0.5", "3 | 0.5 | 0.5"],
        ["epoch | loss acc | lr", "1 | 0.5 0.5 | 0.1", "2 | 0.5 0.5 | 0.1"],  # few rows
        ["epoch | loss acc | lr", *["1 | low high | 0.1"] * 3],  # no numbers
        ["epoch | loss acc | 3 4", *["1 | 0.5 0.6 | 0.1 0.2"] * 3],  # no names
        ["name | loss acc", *["1 | 0.5 0.6"] * 3],  # nothing counts
    ],
)
def test_other_tables_are_left_as_they_are(lines: list[str]) -> None:
    """A name of two words, and cells of words."""
    others = list(enumerate(lines))
    assert with_cells_parted(others) == others
