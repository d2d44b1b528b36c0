"""The panel of SwanLab as CSV: of each run the values, and when each was logged."""

from pathlib import Path

import pytest

from runlens import read_all

LOSSES = [6.28, 4.71, 3.95, 3.51, 3.31, 3.21, 3.07, 3.0]
NOW = 1_780_145_069_000


def _panel(folder: Path, columns: list[str], rows: list[list[float]]) -> Path:
    lines = [",".join(["step", *columns])]
    lines += [",".join(map(str, [n, *row])) for n, row in enumerate(rows)]
    path = folder / "loss.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("many", [1, 2])
def test_each_run_of_a_panel(tmp_path: Path, many: int) -> None:
    """A hyphen stands between the name of a run and that of its metric."""
    runs = ["gpt-L12", "gpt-L8"][:many]
    columns = [f"{run}-loss_{end}" for run in runs for end in ("step", "timestamp")]
    rows = [[value, NOW + 1000 * n] * many for n, value in enumerate(LOSSES)]
    found = read_all(_panel(tmp_path, columns, rows))
    assert len(found) == many
    assert many == 1 or [run.name for run in found] == runs
    assert all(run.curve("train_loss").value.tolist() == LOSSES for run in found)


@pytest.mark.parametrize(
    ("columns", "row"),
    [
        (["a-loss_step", "a-loss_timestamp"], [7, NOW]),  # it counts
        (["a-loss_step", "a-loss_timestamp"], [0.5, 12]),  # seconds from the start
        (["a-loss", "a-loss_timestamp"], [0.5, NOW]),
        (["loss_step", "loss_timestamp"], [0.5, NOW]),  # no run is named
        (["a-loss_step", "a-loss_timestamp", "lr"], [0.5, NOW, 0.1]),
    ],
)
def test_other_tables_with_a_clock(tmp_path: Path, columns: list[str], row: list[float]) -> None:
    """They are of one run, if of any."""
    rows = [[value + n * (value < 1) / 10 for value in row] for n in range(8)]
    assert "a" not in {run.name for run in read_all(_panel(tmp_path, columns, rows))}


def test_a_time_is_neither_better_nor_a_loss(tmp_path: Path) -> None:
    """However its name goes on."""
    rows = [[value, NOW + 1000 * n] for n, value in enumerate(LOSSES)]
    (run,) = read_all(_panel(tmp_path, ["quality", "loss_timestamp"], rows))
    assert "train_loss" not in run.history.metrics
