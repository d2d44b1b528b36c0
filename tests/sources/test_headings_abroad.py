"""Headings that say in another language which data the lines below them are of."""

from pathlib import Path

import pytest

from runlens import read
from runlens.sources.console.abroad import in_ascii
from tests.sources.run_points import points

EPOCHS = range(1, 7)


def logged(folder: Path, train: str, held_out: str, *, extra: str = "") -> Path:
    """Write a log of epochs, with the numbers of each data below its heading."""
    lines = []
    for n in EPOCHS:
        lines.append(f"Epoch {n}/6")
        if train:
            lines += [train, f"Loss: {2 / n:.4f}", f"Accuracy: {n / 10:.4f}"]
        lines += [held_out, f"Loss: {2 / n + 0.3:.4f}", f"Accuracy: {n / 10 - 0.05:.4f}", extra, ""]
    (folder / "train.log").write_text("\n".join(lines), encoding="utf-8")
    return folder / "train.log"


@pytest.mark.parametrize(
    ("train", "held_out"),
    [
        ("Entraînement", "Résultat de la Validation"),
        ("Training", "Validierung"),
        ("Ergebnisse des Trainings:", "Ergebnisse der Validierung:"),
        ("Entrenamiento", "Validación"),
        ("=== Addestramento ===", "=== Validazione ==="),
        ("Treinamento", "Resultados da validação"),
        ("Training", "Validation results"),
        ("", "Resultado de validación"),
    ],
)
def test_rows_below_a_heading_are_of_its_data(tmp_path: Path, train: str, held_out: str) -> None:
    """Where the training has one as well, and where it has none."""
    run = read(logged(tmp_path, train, held_out))
    assert points(run, "eval_loss") == [(n, round(2 / n + 0.3, 4)) for n in EPOCHS]
    assert points(run, "train_loss") == [(n, round(2 / n, 4)) for n in EPOCHS if train]
    assert len(run.curve("eval_accuracy")) == len(EPOCHS)


@pytest.mark.parametrize("report", ["Rapport de classification :", "Classification Report:"])
def test_a_report_of_classes_is_of_the_data_above_it(tmp_path: Path, report: str) -> None:
    """So its accuracy is none of the training."""
    rows = f"{report}\n   pos   0.56   0.72   140\n\n    accuracy     0.56    248"
    run = read(logged(tmp_path, "", "Validierung", extra=rows))
    assert "train_accuracy" not in run.history.metrics


def test_other_lines_stay_as_they_are() -> None:
    """A heading in English, words of a sentence, and a line with a number."""
    said = ("== Training ==", "Validation", "test", "Validierung beginnt jetzt", "Test 3", "de la")
    assert [in_ascii(line) for line in said] == list(said)
    assert in_ascii("Métricas de evaluación") == "validation:"
    assert in_ascii("Auswertung auf den Testdaten") == "test:"
