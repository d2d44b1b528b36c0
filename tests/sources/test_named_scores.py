"""Scores of several models, one line each, and nothing else that is measured."""

from pathlib import Path

import pytest

from tests.sources.written import runs_of

STAMP = "2025-06-08 17:54:26,148 | INFO     | src.experiments | "


def rows_of(folder: Path, text: str, metric: str) -> list[float]:
    """Return what each training in a log scored."""
    runs = runs_of(folder, "train.log", text)
    return [float(run.curve(metric).value[0]) for run in runs if len(run.curve(metric))]


def test_each_base_model_is_a_training_of_one_point(tmp_path: Path) -> None:
    """What sums them up is none, and numbers in the last sentence are no rows."""
    text = (
        "[   0.0s] Loading raw data\n[   2.7s] === Training 3 base models (5-fold OOF) ===\n"
        "[ 296.5s]   lgb_l1      OOF MAE=37.4563  n_est=2542\n"
        "[ 419.0s]   lgb_huber   OOF MAE=37.0537  n_est=1081\n"
        "[ 509.2s]   hgb_abs     OOF MAE=38.0083\n\n"
        "[ 600.1s]   Jensen c=0.9988  ->  FINAL OOF MAE=36.5295\n"
        "[ 600.6s] DONE. Final reconstruction OOF MAE = 36.5295  (36.18 CSV is the first)\n"
    )
    assert rows_of(tmp_path, text, "eval_loss") == [37.4563, 37.0537, 38.0083]  # out of fold
    runs = runs_of(tmp_path, "train.log", text)
    assert {run.task for run in runs} == {"regression"}
    assert runs[-1].state.kind == "finished"
    assert "results of several trainings" in runs[0].problems[0].text


@pytest.mark.parametrize(
    ("lines", "metric", "values"),
    [
        (
            ["XGBOOST: Price R2=0.7390 | RMSE=$0.79", "CATBOOST: Price R2=0.7482 | RMSE=$0.77"],
            "R2",
            [0.739, 0.7482],
        ),
        (["[Seoul] R²: 0.9493 | MAE: 0.4 MWh | MAPE: nan%", "[Busan] R²: 0.92 | sMAPE: 9%"],
         "R²", [0.9493, 0.92]),
        (
            ["[no_weather] Metrics: MAE=1,863.2895, MSE=1e3", "[uv] Metrics: MAE=1,861.5, MSE=2"],
            "MAE",
            [1863.2895, 1861.5],
        ),
        (["SVM accuracy: 0.91", "KNN accuracy: 0.88"], "train_accuracy", [0.91, 0.88]),
    ],
)  # fmt: skip
def test_scores_behind_names(
    lines: list[str], metric: str, values: list[float], tmp_path: Path
) -> None:
    """In a long log, whatever is said between them."""
    said = [f"{STAMP}[x] {word} model" for word in ("Creating", "Fitting", "Saving")]
    text = "\n".join(f"{STAMP}{line}" for one in lines for line in (*said * 12, one)) + "\n"
    assert rows_of(tmp_path, text, metric) == values


@pytest.mark.parametrize(
    "lines",
    [
        ["cat accuracy: 0.91", "dog accuracy: 0.88"],  # of classes
        ["class 1 RMSE: 0.5", "class 2 RMSE: 0.4"],
        ["a RMSE: 5", "b RMSE: 4"],  # counts
        ["a RMSE: 5.5", "no score of b"],
        ["a RMSE: 5.5", "a RMSE: 5.4", "a RMSE: 5.3", "a RMSE: 5.3", "b RMSE: 5.2"],
        ["RMSE: 5.5", "RMSE: 5.4"],
    ],
)
def test_other_lines_are_no_trainings(lines: list[str], tmp_path: Path) -> None:
    """They are read as before."""
    assert len(runs_of(tmp_path, "train.log", "\n".join(lines) + "\n")) <= 1


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("Fold {n}: accuracy 0.8{n}", [[0.81], [0.82], [0.83]]),
        (STAMP + "gbm fold {n} - trained - accuracy 0.8{n}", [[0.81], [0.82], [0.83]]),
        ("Fold {n} accuracy: 0.8{n}\nFold {n} F1: 0.7{n}", [[0.81], [0.82], [0.83]]),
        ("Fold 2, part {n}: accuracy 0.8{n}", [[0.81, 0.82, 0.83]]),
        ("Fold 1, epoch {n}: accuracy 0.8{n}", [[0.81, 0.82, 0.83]]),
        ("Step {n}, accuracy 0.8{n}, seed 4{n}", [[0.81, 0.82, 0.83]]),
        ("accuracy 0.8{n} fold 4{n}0", [[0.81, 0.82, 0.83]]),  # no count of the rows
    ],
)
def test_folds_are_no_steps(tmp_path: Path, line: str, found: list[list[float]]) -> None:
    """Each is a training of one point, where nothing beside its number counts."""
    text = "".join(line.format(n=n) + "\n" for n in range(1, 4))
    runs = runs_of(tmp_path, "train.log", text)
    assert [[float(one) for one in run.curve("train_accuracy").value] for run in runs] == found


def test_the_score_of_a_fold_is_no_reward(tmp_path: Path) -> None:
    """Nor is another launch, which begins at the first fold again, another step of one."""
    folds = "".join(f"{STAMP}gbm fold {n} - end training - score 0.8{n}\n" for n in range(3))
    runs = runs_of(tmp_path, "train.log", folds)
    assert [{*run.history.metrics} for run in runs] == [{"fold score"}] * 3
    assert len(runs_of(tmp_path, "train.log", folds * 2)) == 6


@pytest.mark.parametrize(("measure", "task"), [("MAE", "regression"), ("MSE", "other")])
def test_an_absolute_error_is_one_of_numbers(tmp_path: Path, measure: str, task: str) -> None:
    """Though it is taken for the loss; squares are of images and of noise too."""
    text = f"epoch,val {measure}\n" + "".join(f"{n},{3 / n}\n" for n in range(1, 6))
    (run,) = runs_of(tmp_path, "log.csv", text)
    assert run.task == task
