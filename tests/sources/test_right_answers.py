"""Answers that were right, of how many: ``hits 296/1500``."""

from pathlib import Path

import numpy as np
import pytest

from runlens import read

RIGHT = [300 + 50 * n for n in range(1, 15)]
SHARES = [right / 1500 for right in RIGHT]


def log(folder: Path, form: str, name: str = "train.log") -> Path:
    """Write a log of as many rows."""
    head = "step,loss,{}\n".format(form.split("#")[1]) if "#" in form else ""
    form = form.split("#", maxsplit=1)[0]
    rows = (form.format(n=n, l=round(2 / n + 0.1, 4), c=c) for n, c in enumerate(RIGHT, 1))
    (folder / name).write_text(head + "\n".join(rows) + "\n")
    return folder / name


@pytest.mark.parametrize(
    ("form", "name", "metric"),
    [
        ("step {n}0 loss {l} correct={c}/1500", "train.log", "train_accuracy"),
        ("epoch {n} loss {l} hits {c}/1500", "train.log", "train_accuracy"),
        ("epoch {n} loss tensor({l}) correct tensor({c}) / 1500", "train.log", "train_accuracy"),
        ("epoch {n} - {l} loss - {c}/1500 correct", "train.log", "train_accuracy"),
        ("epoch {n}: loss {l}, val_correct: {c}/1500", "train.log", "eval_accuracy"),
        ("epoch {n}: loss {l}, Accuracy: {c}/1500", "train.log", "train_accuracy"),
        ("{n},{l},{c}/1500#hits", "metrics.csv", "train_accuracy"),
        ("{n},{l},{c} / 1500#accuracy", "metrics.csv", "train_accuracy"),
    ],
)
def test_right_answers_of_all_are_an_accuracy(
    tmp_path: Path, form: str, name: str, metric: str
) -> None:
    """As a share."""
    run = read(log(tmp_path, form, name))
    assert np.allclose(run.curve(metric).value, SHARES)


@pytest.mark.parametrize(
    ("form", "name", "metric"),
    [
        ("epoch {n} loss {l} correct {c}", "train.log", "correct"),
        ("epoch {n} loss {l} hits {c}/0", "train.log", "train_loss"),
        ("epoch {n} loss {l} hits tensor({c}) / 0", "train.log", "train_loss"),
        ("{n},{l},{c}/0#hits", "metrics.csv", "train_loss"),
        ("Epoche {n}: Verlust {l} Treffer {c}", "train.log", "train_right_answers"),
        ("epoch {n} loss {l} hits@10 0.{c}", "train.log", "eval_hits_at_10"),
    ],
)
def test_counts_and_rankings_are_none(tmp_path: Path, form: str, name: str, metric: str) -> None:
    """Of how many they are is not said."""
    run = read(log(tmp_path, form, name))
    assert metric in run.history.metrics
    assert not {"train_accuracy", "eval_accuracy"} & set(run.history.metrics)


def test_a_share_beside_an_accuracy_keeps_its_name(tmp_path: Path) -> None:
    """They are the same, or of other data."""
    run = read(log(tmp_path, "epoch {n} loss {l} acc 0.{c} correct {c}/1500"))
    assert {"correct", "train_accuracy"} <= set(run.history.metrics)
