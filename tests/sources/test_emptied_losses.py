"""A loss that a table leaves empty to its end, and lists of another length in a JSON history."""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

import runlens

ROWS, LAST = 40, 20


def rows() -> list[dict[str, float | None]]:
    """Draw a loss that is a number in its first rows only, beside an accuracy in all."""
    return [
        {"epoch": n, "loss": 1 / (n + 1) if n < LAST else None, "acc": n / ROWS}
        for n in range(ROWS)
    ]


def written(folder: Path, form: str) -> Path:
    """Write the rows in one of the forms."""
    if form == "csv":
        cells = [",".join("" if v is None else str(v) for v in row.values()) for row in rows()]
        path, text = folder / "history.csv", "\n".join(["epoch,loss,acc", *cells, ""])
    elif form == "jsonl":
        path, text = folder / "log.jsonl", "".join(json.dumps(row) + "\n" for row in rows())
    elif form == "list":
        path, text = folder / "history.json", json.dumps(rows())
    else:
        names = ("loss", "acc")
        path = folder / "history.json"
        text = json.dumps({name: [row[name] for row in rows()] for name in names})
    path.write_text(text)
    return path


@pytest.mark.parametrize("form", ["csv", "jsonl", "list", "lists"])
def test_a_loss_left_empty_to_the_end_became_nan(tmp_path: Path, form: str) -> None:
    """JSON has no NaN, and pandas leaves its cell empty."""
    run = runlens.read(written(tmp_path, form))
    loss = run.curve("train_loss")
    assert len(loss) == ROWS
    assert np.isnan(loss.value).tolist() == [n >= LAST for n in range(ROWS)]
    assert any("taken as NaN" in problem.text for problem in run.problems)
    assert "nan-loss" in {finding.rule for finding in runlens.diagnose(run).findings}


@pytest.mark.parametrize(
    "change",
    [
        {"loss": 0.1},  # a number comes back
        {"test_acc": 0.9},  # rows of a test at the end
    ],
)
def test_rows_of_another_kind_are_no_nan(tmp_path: Path, change: Mapping[str, float]) -> None:
    """Nothing is made up where numbers go on, or other metrics begin."""
    made = rows()
    made[LAST:] = [{**row, **(change if n > 0 else {})} for n, row in enumerate(made[LAST:])]
    path = tmp_path / "history.json"
    path.write_text(json.dumps(made))
    assert not np.isnan(runlens.read(path).curve("train_loss").value).any()


def test_a_list_of_a_part_of_the_epochs_lies_at_the_end_of_each_part(tmp_path: Path) -> None:
    """An evaluation every five epochs; a list of 7 of 40 has no place that is known."""
    path = tmp_path / "history.json"
    loss = [1 / (n + 1) for n in range(ROWS)]
    path.write_text(json.dumps({"loss": loss, "val_loss": loss[::5], "odd_loss": loss[:7]}))
    run = runlens.read(path)
    assert run.curve("eval_loss").step.tolist() == list(range(4, ROWS, 5))
    assert "odd_loss" not in run.history.metrics
