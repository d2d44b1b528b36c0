"""Reports of classes, as scikit-learn and imbalanced-learn print them."""

from pathlib import Path

import pytest

from runlens.sources.console.said_results import of_reports
from tests.sources.written import run_of, runs_of

ROWS = range(1, 5)
RIGHT = (0.52, 0.61, 0.68, 0.71)
OF_DATA = ("train loss: {loss:.4f}", "val loss: {more:.4f}")
HEAD = "              precision    recall  f1-score   support"


def report(right: float, *, last: str = "macro avg") -> list[str]:
    """Write a report of two classes."""
    lines = [HEAD, ""]
    lines += [
        f"{name:>12}       0.77      {right:.2f}      0.66        40" for name in ("cat", "1")
    ]
    if last == "macro avg":
        lines.append(f"{'accuracy':>12}                           {right:.2f}        80")
    return [*lines, f"{last:>12}       0.77      {right:.2f}      0.66        80", ""]


def log(*above: str, title: str = "", last: str = "macro avg") -> str:
    """Write a log: some lines and a report in each epoch."""
    lines = []
    for epoch, right in enumerate(RIGHT, 1):
        lines += [line.format(epoch=epoch, loss=1 / epoch, more=1.1 / epoch) for line in above]
        lines += [*([title] if title else []), *report(right, last=last)]
    return "\n".join(lines)


@pytest.mark.parametrize(
    "above",
    [
        (
            "Epoch: {epoch} || Train Loss: {loss:.4f}",
            "Epoch: {epoch} || Validation Loss: {more:.4f}",
        ),
        (
            "Epoch {epoch}/4",
            "train loss: {loss:.4f}",
            "val loss: {more:.4f}",
            "saved to runs/train",
        ),
        ("[{epoch}] train loss {loss:.4f} | dev loss {more:.4f}",),
    ],
)
def test_a_report_is_of_the_epoch_and_of_the_data_above_it(
    tmp_path: Path, above: tuple[str, ...]
) -> None:
    """Its classes and their support are no metric of the training."""
    run = run_of(tmp_path, "train.log", log(*above))
    assert run.curve("eval_accuracy").value.tolist() == list(RIGHT)
    assert run.curve("eval_accuracy").step.tolist() == [1, 2, 3, 4]
    assert run.curve("eval_macro_avg_recall").value.tolist() == list(RIGHT)
    assert len(run.curve("train_loss")) == len(run.curve("eval_loss")) == len(RIGHT)
    assert not any("support" in name for name in run.history.metrics)


def test_a_title_says_of_which_data_a_report_is(tmp_path: Path) -> None:
    """Whatever was measured before it."""
    text = log("Epoch {epoch}/4", "train loss: {loss:.4f}", title="--- validation ---")
    run = run_of(tmp_path, "train.log", text)
    assert run.curve("eval_accuracy").value.tolist() == list(RIGHT)


def test_data_that_nothing_says_stay_unsaid(tmp_path: Path) -> None:
    """Behind the loss of the training a report may be of that."""
    text = log("Epoch {epoch}/4 | Train Loss: {loss:.4f}", last="avg / total")
    run = run_of(tmp_path, "train.log", text)
    assert run.curve("recall").value.tolist() == list(RIGHT)
    text = log("Epoch {epoch}/4 | Loss: {loss:.4f}", last="avg / total")
    assert run_of(tmp_path, "train.log", text).curve("recall").value.tolist() == list(RIGHT)


@pytest.mark.parametrize("name", ["results.txt", "svm.log"])
def test_reports_alone_are_of_several_trainings(tmp_path: Path, name: str) -> None:
    """Nothing counts: no course goes through them."""
    runs = runs_of(tmp_path, name, log())
    assert [float(run.curve("train_accuracy").value[0]) for run in runs] == list(RIGHT)
    assert "several trainings" in runs[0].problems[0].text


def test_a_report_of_imbalanced_learn_is_read(tmp_path: Path) -> None:
    """It has more columns, and other names."""
    text = (
        "                   pre       rec       spe        f1       geo       iba       sup\n\n"
        "          0       0.91      0.80      0.70      0.85      0.75      0.56        90\n\n"
        "avg / total       0.92      0.81      0.72      0.86      0.76      0.57        90\n"
    )
    run = run_of(tmp_path, "report.txt", text)
    found = {name: run.curve(name).value.tolist() for name in run.history.metrics}
    assert found == {
        "precision": [0.92],
        "recall": [0.81],
        "specificity": [0.72],
        "f1-score": [0.86],
    }


def test_one_report_is_the_result_of_a_course(tmp_path: Path) -> None:
    """It stands at none of its epochs."""
    course = [
        f"Epoch {n}/4 | Train Loss: {1 / n:.4f} | val_loss: {1.1 / n:.4f}" for n in range(1, 5)
    ]
    run = run_of(tmp_path, "train.log", "\n".join([*course, *report(0.7), *report(0.6)]))
    assert not any("avg recall" in name for name in run.history.metrics)


def test_a_head_alone_says_nothing() -> None:
    """The log breaks off below it, or within its classes."""
    assert of_reports([(0, HEAD)]) == ([], False)
    assert of_reports(list(enumerate(report(0.7)[:3]))) == ([], False)
