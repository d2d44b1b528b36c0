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


def of_pandas(loss: float, rate: str = "learning_rate") -> str:
    """Write what pandas makes of a log of transformers whose norm and evaluations are NaN."""
    lines = [f"loss,grad_norm,{rate},epoch,step,eval_loss,eval_runtime"]
    for step in range(1, 13):
        lines.append(f"{loss},,{5e-4 - step * 1e-5:g},{step / 4},{step},,")
        if step % 4 == 0:
            lines.append(f",,,{step / 4},{step},,50.{step}")
    return "\n".join([*lines, ""])


def test_a_column_of_a_zero_loss_that_pandas_left_blank_is_nan(tmp_path: Path) -> None:
    """Transformers logs 0 for a loss that is NaN, and its norm and evaluations as they are."""
    (tmp_path / "training_log.csv").write_text(of_pandas(0.0))
    run = runlens.read(tmp_path)
    assert np.isnan(run.curve("grad_norm").value).tolist() == [True] * 12
    assert run.curve("eval_loss").step.tolist() == [4, 8, 12]
    assert any(problem.text.startswith("grad_norm is empty in every") for problem in run.problems)
    assert runlens.diagnose(run).findings[0].rule == "hidden-nan"


@pytest.mark.parametrize(("loss", "rate"), [(0.5, "learning_rate"), (0.0, "rate")])
def test_a_blank_column_is_not_logged_beside_other_numbers(
    tmp_path: Path, loss: float, rate: str
) -> None:
    """A writer of its own names what it never fills; a loss of 0.5 hides nothing."""
    (tmp_path / "training_log.csv").write_text(of_pandas(loss, rate))
    assert "grad_norm" not in runlens.read(tmp_path).history.metrics


def test_an_evaluation_that_ends_with_the_training_loss_is_nan_too(tmp_path: Path) -> None:
    """Both are written in one row; accuracies of 0 stand there on."""
    lines = [f"{1 / n},{2 / n},0.5" if n <= LAST else ",,0.0" for n in range(1, ROWS + 1)]
    path = tmp_path / "history.csv"
    path.write_text("\n".join(["train_loss,val_loss,val_acc", *lines, ""]))
    run = runlens.read(path)
    assert np.isnan(run.curve("eval_loss").value).sum() == ROWS - LAST
    assert "nan-eval" in {finding.rule for finding in runlens.diagnose(run).findings}


def test_an_evaluation_that_ends_before_the_training_loss_was_not_done(tmp_path: Path) -> None:
    """It ended at another row: no NaN of the model emptied both."""
    lines = [
        f"{1 / n if n <= LAST else ''},{2 / n if n < LAST - 4 else ''},0.5" for n in range(1, ROWS)
    ]
    path = tmp_path / "history.csv"
    path.write_text("\n".join(["train_loss,val_loss,val_acc", *lines, ""]))
    assert not np.isnan(runlens.read(path).curve("eval_loss").value).any()
