"""What a line on a saved model tells again of the evaluation above it."""

from pathlib import Path

import pytest

from runlens import read

SCORES = (0.8125, 0.9375, 0.6875, 0.9475, 0.7525)


def log(saved: str, row: str = "Epoch {n}/5 - Loss: {loss}, Val Acc: {score}") -> str:
    """Write a log that saves its best models."""
    lines = []
    for n, score in enumerate(SCORES, 1):
        lines.append(row.format(n=n, loss=round(1 / n, 4), score=score))
        if score >= max(SCORES[:n]):
            lines.append(saved.format(n=n, score=score))
    return "\n".join([*lines, ""])


@pytest.mark.parametrize(
    "saved",
    [
        "  Saved best model (acc={score})",
        "[INFO] Saved new best model at epoch {n}, acc={score}",
        "Checkpoint saved -> best.pt (epoch {n}, acc {score})",
    ],
)
def test_a_score_of_a_saved_model_is_that_of_its_evaluation(saved: str, tmp_path: Path) -> None:
    """Though the line says nothing of the data."""
    (tmp_path / "train.log").write_text(log(saved))
    metrics = read(tmp_path / "train.log").history.metrics
    assert {*metrics} == {"train_loss", "eval_accuracy"}
    assert read(tmp_path / "train.log").curve("eval_accuracy").value.tolist() == [*SCORES]


@pytest.mark.parametrize(
    ("saved", "row"),
    [
        ("Saved model (acc=0.5{n}12)", "Epoch {n}/5 - Loss: {loss}, Val Acc: {score}"),
        ("Epoch {n}/5 done, acc: {score}", "Epoch {n}/5 - Loss: {loss}, Val Acc: {score}"),
        ("Saved model (acc={score})", "Epoch {n}/5 - Loss: {loss}, Acc: {score}"),
    ],
)
def test_a_score_of_the_training_stays(saved: str, row: str, tmp_path: Path) -> None:
    """One of its own, one of no saved model, and one that no data is named for."""
    (tmp_path / "train.log").write_text(log(saved, row))
    assert "train_accuracy" in read(tmp_path / "train.log").history.metrics


def test_a_row_that_names_its_best_keeps_its_numbers(tmp_path: Path) -> None:
    """It has more of them than a line on a saved model."""
    rows = [
        f"Epoch {n} loss {1 / n:.4f} acc 0.8{n}11 val acc 0.8{n}11 best 0.8{n}11"
        for n in range(1, 6)
    ]
    (tmp_path / "train.log").write_text("\n".join([*rows, ""]))
    assert len(read(tmp_path / "train.log").curve("train_accuracy")) == 5
