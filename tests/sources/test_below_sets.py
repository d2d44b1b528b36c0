"""Results below the names of their data: no block is a step behind the one before."""

from pathlib import Path

import pytest

from runlens import read_all
from runlens.run import Run

BLOCK = """  MSE                  : 0.00{0}
  Directional Accuracy : 5{0}.35%
  Recall    (Up)       : 0.9{0}
  Confusion Matrix:
    TN=0  FP=1586
"""


def runs(folder: Path, text: str) -> list[Run]:
    """Read a text as a log."""
    (folder / "metrics.txt").write_text(text)
    return list(read_all(folder / "metrics.txt"))


def test_blocks_of_both_data_are_one_point_each(tmp_path: Path) -> None:
    """The second block is no second step of the training loss."""
    text = f"\nTRAIN SET (3474 samples)\n{BLOCK.format(1)}\nVALIDATION SET (726 samples)\n"
    (run,) = runs(tmp_path, text + BLOCK.format(2))
    assert run.last_step == 1
    assert run.curve("train_loss").value.tolist() == [0.001]
    assert run.curve("eval_loss").value.tolist() == [0.002]
    assert run.curve("eval_directional_accuracy").value.tolist() == [0.5235]
    assert run.problems[0].text.startswith("holds final results and no training curve")
    assert not any("numbered in order" in problem.text for problem in run.problems)


@pytest.mark.parametrize(
    ("heading", "data"),
    [
        ("Final Evaluation:", "eval"),
        ("=== Test Results ===", "test"),
        ("Hold-out set (20 %)", "eval"),
        ("Train metrics", "train"),
    ],
)
def test_a_final_evaluation_is_no_loss_of_the_training(
    tmp_path: Path, heading: str, data: str
) -> None:
    """Its numbers are of the data that its heading names; one that names some itself keeps it."""
    text = f"Study Time: 895.45 sec\n{heading}\n  - RMSE: 0.0405\n  - MAE: 0.0349\n"
    (run,) = runs(tmp_path, f"{text}  - val R2: 0.31\n")
    names = {name.replace(" ", "_") for name in run.history.metrics}
    assert "eval_r2" in names
    assert ("train_loss" in names) == (data == "train")
    assert f"{data.replace('test', 'eval')}_mae" in {name.lower() for name in names}


@pytest.mark.parametrize(
    ("text", "last"),
    [
        # a course that evaluates again and again, and counts nothing
        ("".join(f"Validation:\n  MSE: {1 / n:.4f}\n  MAE: {2 / n:.4f}\n" for n in range(1, 9)), 8),
        # one that counts
        ("Evaluation\n" + "".join(f"Epoch {n} loss: {1 / n:.4f}\n" for n in range(1, 9)), 8),
        # a number above the first heading is of no data that are named
        ("MSE: 0.5\nMAE: 0.25\nTest set\n", 1),
    ],
)
def test_what_is_no_result_of_named_data_is_read_as_before(
    tmp_path: Path, text: str, last: int
) -> None:
    """Rows of a course go on, and nothing is named after a heading."""
    (run,) = runs(tmp_path, text)
    assert run.last_step == last
    assert not any("final results" in problem.text for problem in run.problems)
