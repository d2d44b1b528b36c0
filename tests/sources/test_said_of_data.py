"""Rows, classes and parameters that the head of a log tells."""

import pytest

from runlens.sources.console.printed_settings import settings
from runlens.sources.console.said_of_data import said_of_data


@pytest.mark.parametrize(
    ("line", "rows", "held"),
    [
        ("train 1103 val 300", 1103, 300),
        ("n_train=66 n_val=24", 66, 24),
        ("train: 3,000 rows, 68 positive | valid: 1,000 rows, 22 positive", 3000, 1000),
        ("120 rows to train on, 30 held out, 2 classes", 120, 30),
        ("Datensatz: 3500 Training / 500 Test, 10 Klassen", 3500, 500),
        ("muestras: 600 entrenamiento / 200 prueba", 600, 200),
        ("Softmax (120 Trainings-, 20 Testbeispiele)", 120, 20),
        ("#users=200 #train=5000 #test=1000", 5000, 1000),
        ("kws INFO: train utts=1600 dev utts=300 keywords=8", 1600, 300),
        ("fold 0: train 1200 rows, valid 300 rows, in both: 0", 1200, 300),
        ("- INFO - train folder: 2000 images, seen={'ant': 0}", 2000, None),
        ("Trainingsbeispiele: 2000  Klassen: 6", 2000, None),
    ],
)
def test_rows_of_both_sets(line: str, rows: int, held: int | None) -> None:
    """Beside each other, before their words or behind them, or with the word for rows."""
    found = said_of_data([line])
    assert (found["train_rows"], found.get("eval_rows")) == (rows, held)


@pytest.mark.parametrize(
    "lines",
    [
        ["seed0 ep01 train 45 val 43"],  # a row: it counts
        ["train 45 val 43", "train 52 val 44"],  # rows
        ["train 80 val 20"],  # shares
        ["train: 100% val: 98%"],
        ["train 45/60 val 3/5"],
        ["train loss 3 val loss 4"],
        ["train 0.45 val 0.43"],
        ["train: 300 images/s"],
        ["train chars 18518 | valid chars 1212"],  # no rows
        ["constrain 12 val 3"],
        ["Training until validation scores don't improve for 20 rounds"],
    ],
)
def test_other_numbers_are_no_rows(lines: list[str]) -> None:
    """Rows of a log, shares, speeds, letters."""
    assert said_of_data(lines) == {}


@pytest.mark.parametrize(
    ("line", "classes"),
    [
        ("8 classes, sigmoid mlp 64x3, sgd", 8),
        ("x: 16 -> 64, 5 clases", 5),
        ("found 10\u7c7b, loss", None),  # it measures
        ("\u6570\u636e (10\u7c7b)", 10),
        ("Parameters  Klassen: 6", 6),
        ("1 classes", None),
        ("5 classes of 10 classes", None),  # which?
        ("train/classes/12", None),
        ("classes: cat, dog", None),
        ("5/10 classes seen", None),
    ],
)
def test_number_of_classes(line: str, classes: int | None) -> None:
    """One number, of two and more."""
    assert said_of_data([line]).get("classes") == classes


@pytest.mark.parametrize(
    "lines",
    [
        ["trainable params: 6 / 6,534"],
        ["6534 in all; Trainable parameters = 6 of 6534"],
        ["Parameter gesamt: 6534, davon trainierbar: 6"],
        ["INFO | num. shared model params: 6,534 (num. trained: 6)"],
        ["Total params: 6,534 (25.5 KB)", "Trainable params: 6 (24.00 B)"],
        ["6         Trainable params", "6528      Non-trainable params", "6534  Total params"],
    ],
)
def test_the_share_that_is_trained(lines: list[str]) -> None:
    """As Keras, Lightning, fairseq and loops of one's own say it."""
    found = said_of_data(lines)
    assert (found["trainable_parameters"], found["all_parameters"]) == (6, 6534)


def test_parameters_in_thousands() -> None:
    """Lightning rounds them."""
    found = said_of_data(["2.1 K     Trainable params", "1.2 M     Total params"])
    assert (found["trainable_parameters"], found["all_parameters"]) == (2100, 1_200_000)


@pytest.mark.parametrize(
    "lines",
    [
        ["Trainable params: 6"],  # of how many?
        ["Total params: 6,534"],
        ["Total params: 6,534", "Trainable params: 6", "Trainable params: 6,528"],  # two models
        ["Total params: 6", "Trainable params: 6,534"],
        ["0 Trainable params", "6534 Total params"],  # nothing could be trained at all
    ],
)
def test_a_share_needs_both_numbers(lines: list[str]) -> None:
    """Of one model."""
    assert said_of_data(lines) == {}


def test_a_setting_says_it_better() -> None:
    """What a program prints as its settings goes before a sentence."""
    assert settings(["train rows 80 val rows 20", "train rows: 90"])["train_rows"] == 90


def test_only_the_head_is_looked_at() -> None:
    """Long lines are no sentences."""
    assert said_of_data(["."] * 400 + ["8 classes"]) == {}
    assert said_of_data(["8 classes" + " and more" * 40]) == {}
