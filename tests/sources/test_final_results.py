"""Texts that hold the result of a training and no course: sentences, reports, tables, scores."""

from pathlib import Path
from time import perf_counter

import pytest

from runlens import read_all
from runlens.errors import NothingReadable
from runlens.run import Run
from runlens.sources.console.said_results import data_in, said_results

REPORT = """              precision    recall  f1-score   support

           0       0.95      0.97      0.90       100
           1       0.96      0.94      0.91        90

    accuracy                           0.93       190
   macro avg       0.96      0.95      0.94       190
weighted avg       0.96      0.96      0.92       190
"""


def read(folder: Path, text: str, name: str = "results.txt") -> list[Run]:
    """Return the runs in a text; none where it is refused."""
    (folder / name).write_text(text, encoding="utf-8")
    try:
        return read_all(folder / name)
    except NothingReadable:
        return []


def values_of(runs: list[Run]) -> dict[str, list[float]]:
    """Return all values by their names, over the runs in their order."""
    found: dict[str, list[float]] = {}
    for run in runs:
        for name in run.history.metrics:
            found.setdefault(name, []).extend(run.curve(name).value.tolist())
    return found


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("The model reached an accuracy of 93.2 % on the test set.\n", {"eval_accuracy": 0.932}),
        ("Our best model got an accuracy of 0.874 after 20 epochs.\n", {"train_accuracy": 0.874}),
        ("Accuracy of the network on the 10000 test images: 91 %\n", {"eval_accuracy": 0.91}),
        ("We got 92.5% accuracy and 0.23 loss on the test set\n",
         {"train_accuracy": 0.925, "eval_loss": 0.23}),
        ("Correctly classified 912 out of 1000 (91.2%)\n", {"train_accuracy": 0.912}),
        ("Won 63 of 100 games, 30 lost.\n", {"reward": 0.63}),
        ("The agent won 73.0% of games\n", {"reward": 0.73}),
        ("测试集准确率为 93.1%\n", {"eval_accuracy": 0.931}),
        ("La exactitud del modelo es 0.9312\n", {"train_accuracy": 0.9312}),
        ("Die Genauigkeit beträgt 93,12 %\n", {"train_accuracy": 0.9312}),
        ("Success rate: 87/100 = 87.0%\n", {"reward": 0.87}),
        ("Training accuracy:\n0.99\nTest accuracy:\n93%\n",
         {"train_accuracy": 0.99, "eval_accuracy": 0.93}),
        ("Sensitivity: 0.91\nSpecificity: 0.88\n", {"Sensitivity": 0.91}),
        ("NMI: 0.71\nAccuracy: 0.91\n", {"NMI": 0.71, "train_accuracy": 0.91}),
        ("ACC 0.8731\nAUC 0.9123\n", {"train_accuracy": 0.8731, "AUC": 0.9123}),
        ("accuracy 0.9312", {"train_accuracy": 0.9312}),
        ("%WER 12.5 [ 125 / 1000, 10 ins, 20 del, 95 sub ]\n", {"WER": 12.5}),
        (REPORT, {"train_accuracy": 0.93, "macro avg f1-score": 0.94}),
        ("Genauigkeit: 0,93\nVerlust: 0,21\n", {"train_accuracy": 0.93, "train_loss": 0.21}),
        ("MSE: 12.34\nR^2: 0.78\n", {"train_loss": 12.34, "R^2": 0.78}),
        ("mAP@0.5: 0.61\nPrecision: 0.70\nRecall: 61.5%\n", {"mAP@0.5": 0.61, "Recall": 0.615}),
        ("Val accuracy: 0.91\nTest accuracy: 0.87\n",
         {"eval_accuracy": 0.91, "test_accuracy": 0.87}),
        ("Class    IoU    mAP50\nall      0.62   0.71\ncar      0.9    0.8\n", {"mAP50": 0.71}),
    ],
)  # fmt: skip
def test_what_a_short_text_says_is_one_result(
    text: str, wanted: dict[str, float], tmp_path: Path
) -> None:
    """Each number once, under its name and data, as a share where it is one of a hundred."""
    runs = read(tmp_path, text)
    assert len(runs) == 1
    found = values_of(runs)
    assert all(found.get(name, []) == pytest.approx([value]) for name, value in wanted.items())


@pytest.mark.parametrize(
    ("name", "text", "metric"),
    [
        ("results.txt", "SVM: 0.91\nRandom Forest: 0.93\n", "result"),
        ("accuracy.txt", "SVM: 91.0%\nRandom Forest: 93.0%\n", "train_accuracy"),
        ("results.txt", "Accuracy of the models\n\nSVM 0.91\nRandom Forest 0.93\n",
         "train_accuracy"),
        ("results.txt", "('SVM', 0.91)\n('Random Forest', 0.93)\n", "result"),
        ("results.txt", "Fold 1: 0.91\nFold 2: 0.93\nMean 0.92 Std 0.01\n", "result"),
        ("results.txt", "{'SVM': 0.91, 'Random Forest': 0.93}\n", "result"),
        ("results.txt", "SVM: 0.910000 (0.012345)\nRF: 0.930000 (0.011111)\n", "result"),
        ("results.txt", "SVM: Accuracy = 0.91, F1 = 0.9\nRF: Accuracy = 0.93, F1 = 0.92\n",
         "train_accuracy"),
        ("results.txt", "Model    Accuracy  F1\nSVM      0.91      0.90\nBoosting  0.93     0.92\n",
         "train_accuracy"),
        ("results.txt", "| Model | Accuracy |\n|---|---|\n| SVM | 91% |\n| RF | 93% |\n\nEnd\n",
         "train_accuracy"),
        ("results.txt", "   model  accuracy  batch_size\n0    SVM    0.91  8\n1  Tree    0.93  8\n",
         "train_accuracy"),
        ("results.txt", "The accuracy\nModel  Train  A test\nSVM    0.91  0.8\nRF    0.93  0.8\n",
         "Train"),
        ("Results.md", "# Results\n| Model | Accuracy |\n|---|---|\n| SVM | 91% |\n| RF | 93% |\n",
         "train_accuracy"),
        ("results.txt", "Model & Acc \\\\ \\hline\nSVM & 0.91 \\\\\nRF & 0.93 \\\\\n",
         "train_accuracy"),
    ],
)  # fmt: skip
def test_each_model_is_a_training(name: str, text: str, metric: str, tmp_path: Path) -> None:
    """What the score is, the file or a title says; else it is a result."""
    runs = read(tmp_path, text, name)
    assert len(runs) == 2
    found = values_of(runs)[metric]
    assert [value / 100 if value > 1 else value for value in found] == pytest.approx([0.91, 0.93])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("notes.txt", "Try a learning rate of 0.001 and see if accuracy improves.\n"),
        ("readme_.txt", "The target accuracy of 95% should be reached.\n"),
        ("a.txt", "If accuracy is above 0.9 then stop.\n"),
        ("a.txt", "An accuracy of 3 models is shown.\n"),
        ("a.txt", "12 of 3 correct, correct 12 of 3\n"),
        ("news.txt", "The company had a loss of 3.5 million.\n"),
        ("a.txt", "Training accuracy:\nvery good\n"),
        ("a.txt", "SVM: 0.91\nand then\nsomething\nelse\nRF: 0.93\n"),
        ("a.txt", "accuracy of\nSVM\nRF\n"),
        ("menu.txt", "Pizza: 8.50\nPasta: 7.20\n"),
        ("menu.txt", "Pizza: 8.50\nPizza: 7.20\n"),
        ("menu.txt", "Pizza: 8\nPasta: 7\n"),
        ("rooms.txt", "Room  Width\nKitchen  3.2\nBath  2.1\n"),
        ("scores.txt", "Class  IoU\nroad  0.97\nsky  0.92\n"),
        ("scores.txt", "Model  Accuracy\nroad  good\n"),
        ("notes.md", "| Model | Accuracy |\n|---|---|\n| SVM | 91% |\n| RF | 93% |\n"),
        (
            "results.txt",
            "| Corpus | Train | Test |\n|---|---|---|\n| A | 9.5 | 1.2 |\n| B | 7.1 | 2 |\n",
        ),
        ("cpu.txt", "cpu: 12.5%\nmem: 45.1%\ndisk: 70.3%\n"),
        ("a.txt", "\n".join(f"word {n}" for n in range(400)) + "\naccuracy of 0.9\n"),
        ("kernels.txt", "3,3\n5,5\n7,7\n"),
        ("points.txt", "0.1 0.2 0.3\n0.2 0.1 0.5\n"),
    ],
)
def test_other_texts_are_refused(name: str, text: str, tmp_path: Path) -> None:
    """What is wanted, prices, and tables of other things are no results."""
    assert not [run for run in read(tmp_path, text, name) if len(run.history)]


@pytest.mark.parametrize(
    "text",
    ["2.3 1.9 1.5 1.2\n", "2.3,1.9,1.5,1.2", "2,3\n1,9\n1,5\n1,2\n", "2.3\n1.9\n1.5\n1.2\n"],
)
def test_numbers_that_their_file_names(text: str, tmp_path: Path) -> None:
    """In a line, or with commas for points."""
    assert values_of(read(tmp_path, text, "loss.txt")) == {"train_loss": [2.3, 1.9, 1.5, 1.2]}


def test_a_count_before_a_comma_is_no_number(tmp_path: Path) -> None:
    """It rises from row to row."""
    found = values_of(read(tmp_path, "1,9\n2,8\n3,7\n4,6\n5,5\n", "loss.txt"))
    assert all(1.9 not in values for values in found.values())


def test_a_log_with_rows_keeps_them(tmp_path: Path) -> None:
    """A result below a course is no row of it."""
    text = "".join(f"epoch {n} loss {2 / n:.4f}\n" for n in range(1, 6)) + "R^2: 0.78\n"
    assert "R^2" not in values_of(read(tmp_path, text, "train.log"))


def test_a_line_of_blanks_costs_no_time() -> None:
    """However many follow a name, and in each line that is looked at."""
    others = [(n, f"accuracy{' ' * 390}") for n in range(200)]
    begin = perf_counter()
    assert said_results(others, "results") == ([], True)
    assert perf_counter() - begin < 2  # seconds; they were minutes


def test_the_data_near_a_name() -> None:
    """The first that is named."""
    assert data_in("on the validation set") == "val"
    assert data_in("of the model") == ""
