"""Searches of scikit-learn, which print a line for each fold of each choice of settings."""

from pathlib import Path

import pytest

from runlens.sources.console.searches import SCORE, TOLD, choices, without_searches
from tests.sources.written import run_of, runs_of

SCORES = {("C=0.1, kernel=rbf", 1): 0.81, ("C=0.1, kernel=rbf", 2): 0.83}
SCORES |= {("C=1, kernel=rbf", 1): 0.91, ("C=1, kernel=rbf", 2): 0.95}
HEAD = "Fitting 2 folds for each of 2 candidates, totalling 4 fits"


def search(form: str) -> str:
    """Write the lines of a search."""
    lines = (form.format(fold=fold, of=of, score=one) for (of, fold), one in SCORES.items())
    return "\n".join([HEAD, *lines, "Best params: {'C': 1}", ""])


@pytest.mark.parametrize(
    "form",
    [
        "[CV {fold}/2] END ....{of};, score={score} total time=   0.1s",
        "[CV {fold}/2; 1/2] START {of}..\n[CV {fold}/2; 1/2] END {of}, score={score} total time=2s",
        "[CV {fold}/2] END {of};, score=(train=1.000, test={score}) total time=   0.1s",
        "[CV] {of} ........\n[CV] ........ {of}, score={score}, total=   0.1s",
    ],
)
def test_each_choice_is_a_point(tmp_path: Path, form: str) -> None:
    """Its score is the mean over its folds."""
    runs = runs_of(tmp_path, "search.log", search(form))
    found = [run.curve(SCORE).value.tolist() for run in runs]
    assert found == [[pytest.approx(0.82)], [pytest.approx(0.93)]]
    assert runs[0].problems[0].text == TOLD


def test_a_course_behind_a_search_is_read(tmp_path: Path) -> None:
    """No fold is a row of it."""
    course = "".join(f"Epoch {n}/6 - loss: {2 / n:.4f}\n" for n in range(1, 7))
    text = search("[CV {fold}/2] END {of};, score={score} total time= 0.1s") + course
    run = run_of(tmp_path, "train.log", text)
    assert set(run.history.metrics) == {"train_loss"}
    assert len(run.curve("train_loss")) == 6


def test_what_is_no_search() -> None:
    """One choice, folds that failed, and lines that only begin alike."""
    line = "[CV 1/2] END C=1;, score=0.5 total time= 0.1s"
    assert choices([(0, line), (1, line)]) == []
    assert choices([(0, line), (1, line.replace("C=1", "C=2").replace("0.5", "n.a."))]) == []
    assert without_searches([(0, "epoch 1 loss 0.5")]) == [(0, "epoch 1 loss 0.5")]
    assert without_searches([(0, "a [CV 1/2] b"), (1, line)]) == [(0, "a [CV 1/2] b")]
