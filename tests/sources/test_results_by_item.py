"""Results of several models, data, folds or items: in lists, in deep objects, in rows by name."""

import json
from pathlib import Path

import pytest

from runlens import read_all
from runlens.errors import NothingReadable
from runlens.run import RESULTS_ALONE
from runlens.sources.tables import whole_json
from tests.sources.test_final_results import values_of

BOARD = [
    {"method": "a", "mean_distance": 0.012, "hit": 0.6, "rank": 1},
    {"method": "b", "mean_distance": 0.02, "hit": 0.5, "rank": 2},
]
GRID = {
    "titanic": {"xgboost": 0.748, "ours": 0.779, "judge": {"coherence": 4.75}},
    "loan": {"xgboost": 0.973, "ours": 0.822},
}
ITEMS = "item,train_samples,train_rmse,val_rmse\nAAN,21,0.9,8.9\nBEZ,24,2.1,1.6\nCLA,24,3.4,10.9\n"


def read(folder: Path, name: str, text: object) -> dict[str, list[float]]:
    """Return the values of the only file of a folder; nothing where it is refused."""
    (folder / name).write_text(text if isinstance(text, str) else json.dumps(text, indent=1))
    try:
        return values_of(read_all(folder))
    except NothingReadable:
        return {}


@pytest.mark.parametrize(
    ("name", "whole"),
    [
        ("log.json", [{"seed": 42, "best": "a", "leaderboard": BOARD}]),
        ("results.json", {"seed": 42, "rows": BOARD}),
        ("results.json", BOARD),
    ],
)
def test_rows_by_method_are_a_training_each(name: str, whole: object, tmp_path: Path) -> None:
    """Where the list, or the file, says that its numbers judge; a rank is no score."""
    found = read(tmp_path, name, whole)
    assert found == {"mean_distance": [0.012, 0.02], "hit": [0.6, 0.5]}
    assert [run.name for run in read_all(tmp_path)] == ["a", "b"]


@pytest.mark.parametrize("key", ["models", "leaderboard"])
def test_a_name_in_a_list_of_models_is_that_of_a_training(key: str, tmp_path: Path) -> None:
    """Of other lists it is that of a thing."""
    rows = [{"name": "a", "hit": 0.5}, {"name": "b", "hit": 0.4}]
    assert read(tmp_path, "results.json", {"seed": 1, key: rows}) == {"hit": [0.5, 0.4]}
    assert read(tmp_path, "results.json", {"seed": 1, "rooms": rows}) == {}


@pytest.mark.parametrize(
    ("name", "whole"),
    [
        ("log.json", {"rows": BOARD}),
        ("results.json", {"rows": [BOARD[0], BOARD[0]]}),
        ("results.json", {"rows": [{"method": "GET", "count": 3}, {"method": "POST", "count": 2}]}),
        ("results.json", {"rows": [{"width": 0.4}, {"width": 0.3}]}),
        ("results.json", {"rows": ["a", "b"]}),
        ("annotations.json", {"images": [{"id": 1}], "annotations": [{"id": 1, "score": 0.5}]}),
        ("package.json", {"name": "a", "version": "1.0", "dependencies": {"xgboost": "^1"}}),
        ("results.json", [{"image_id": n, "category_id": 1, "score": 0.9} for n in (1, 2)]),
    ],
)
def test_other_rows_are_none(name: str, whole: object, tmp_path: Path) -> None:
    """What nobody calls a result, the same name twice, counts, and things without a name."""
    assert read(tmp_path, name, whole) == {}


def test_one_row_that_measures_nothing_is_no_history() -> None:
    """Though it has a step; one of a loss is."""
    assert whole_json.history(b'[{"step": 3, "foo": 2.5}]') is None
    assert whole_json.history(b'[{"step": 3, "loss": 2.5}]') is not None


def test_scores_by_data_and_model(tmp_path: Path) -> None:
    """Each by its path, in one row, where the file says that it holds metrics."""
    found = read(tmp_path, "metrics.json", GRID)
    assert found["result titanic/xgboost"] == [0.748]
    assert found["result titanic/judge/coherence"] == [4.75]
    assert len(found) == 5
    assert any(one.text == RESULTS_ALONE for one in read_all(tmp_path)[0].problems)


@pytest.mark.parametrize(
    ("name", "whole"),
    [
        ("config.json", GRID),
        ("results.json", {"a.png": {"tree": 0.9, "dog": 0.1}, "b.png": {"tree": 0.2, "dog": 0.8}}),
        ("results.json", {"a": {"cat": 0.9, "dog": 0.1}, "b": {"cat": 0.2, "dog": 0.8}}),
        ("metrics.json", {"oak": {"net age": 30.5, "h": 9.5}, "b": {"net age": 20.5, "h": 9.1}}),
        ("metrics.json", {**GRID, "version": 3}),
        ("metrics.json", {"titanic": GRID["titanic"]}),
    ],
)
def test_other_grids_are_none(name: str, whole: object, tmp_path: Path) -> None:
    """Settings, chances of classes, sizes, and what is of one thing alone."""
    assert read(tmp_path, name, whole) == {}


def test_results_in_deep_objects(tmp_path: Path) -> None:
    """Of what was measured several times the mean, whatever it is called."""
    cell = {"sr": {"mean": 0.41, "std": 0.1}, "f1": {"mean": 0.51, "std": 0.06}}
    cells = {"tau 0.5": {"b1": cell, "b2": cell}}
    whole = {"kar": {"greedy": cells, "agent": cells}}
    found = read(tmp_path, "metrics.json", whole)
    assert found["kar/greedy/tau 0.5/b1/sr"] == [0.41]
    assert found["kar/agent/tau 0.5/b2/f1"] == [0.51]
    assert len(found) == 8
    ages = {"age": {"mean": 30.0, "std": 5.0}, "height": {"mean": 1.7, "std": 0.1}}
    assert read(tmp_path, "metrics.json", ages) == {}


def test_a_mean_with_its_deviation_in_a_text(tmp_path: Path) -> None:
    """The mean is taken, as of a cell."""
    whole = {m: {"accuracy": "0.91 ± 0.01", "auc": "95 ± 2"} for m in ("rf", "svm")}
    found = read(tmp_path, "results.json", whole)
    assert found["train_accuracy"] == [0.91, 0.91]


@pytest.mark.parametrize(
    ("whole", "metric"),
    [
        ({"fold_scores": [0.9, 0.8, 0.85], "mean": 0.85}, "fold_scores"),
        ({"cv_scores": [0.9, 0.8, 0.85]}, "cv_scores"),
        ({"test_auc": [0.9, 0.8, 0.85], "fit_time": [1.0, 1.1, 1.2]}, "eval_auc"),
    ],
)
def test_a_value_for_each_fold_is_no_course(whole: object, metric: str, tmp_path: Path) -> None:
    """Each fold is a training of its own."""
    assert read(tmp_path, "cv.json", whole)[metric] == [0.9, 0.8, 0.85]
    assert [run.name for run in read_all(tmp_path)] == ["fold 1", "fold 2", "fold 3"]


def test_a_loss_on_held_out_data_is_a_course(tmp_path: Path) -> None:
    """So speech toolkits call it, once an epoch."""
    assert read(tmp_path, "log.json", {"tr_loss": [3.0, 2.0, 1.5], "cv_loss": [3.1, 2.2, 1.9]})
    assert len(read_all(tmp_path)) == 1


def test_a_row_for_each_item_with_a_fit_of_its_own(tmp_path: Path) -> None:
    """Only what was fitted to it has a score on training data beside one on others."""
    found = read(tmp_path, "training_metrics.csv", ITEMS)
    assert found["train_loss"] == [0.9, 2.1, 3.4]
    assert found["eval_loss"] == [8.9, 1.6, 10.9]
    assert [run.name for run in read_all(tmp_path)] == ["item AAN", "item BEZ", "item CLA"]


@pytest.mark.parametrize(
    "text",
    [
        ITEMS.replace("item", "class"),
        ITEMS.replace("train_rmse", "bias"),
        "name,loss,psnr\na.png,1.2,1\nb.png,1.3,1.1\nc.png,1.1,0.9\n",
    ],
)
def test_a_row_for_each_thing_is_no_training(text: str, tmp_path: Path) -> None:
    """Classes are parts of one; files are samples."""
    assert read(tmp_path, "training_metrics.csv", text) == {}


def test_a_row_for_each_name(tmp_path: Path) -> None:
    """Of a model; rows of classes, whose scores are parts, are as before."""
    text = "name,rmse\nRF,1.2\nSVM,1.3\nLR,1.1\n"
    assert read(tmp_path, "results.csv", text)["train_loss"] == [1.1, 1.2, 1.3]
    assert [run.name for run in read_all(tmp_path)] == ["LR", "RF", "SVM"]
    for line in ("name,epoch,rmse\na,1,2\nb,2,1\nc,3,1\n", "name,iou\ncat,0.2\ndog,0.3\nemu,0.1\n"):
        read(tmp_path, "results.csv", line)
        assert len(read_all(tmp_path)) == 1


SCORED = "Timestamp,Target,Model,Metric,Value\n"


@pytest.mark.parametrize(
    ("rows", "names"),
    [
        (
            "1,WLD,RF,Accuracy,0.50\n2,BTTS,RF,Accuracy,0.54\n3,Goals,RF,MSE,2.5\n",
            {"WLD RF Accuracy", "BTTS RF Accuracy", "Goals RF MSE"},
        ),
        ("1,a,RF,Accuracy,0.5\n2,a,RF,Accuracy,0.6\n3,a,RF,Accuracy,0.7\n", set()),  # a history
        ("1,a,RF,Accuracy,0.5\n2,b,RF,owner,3\n", set()),
        ("1,a,RF,Accuracy,0.5\n2,b,RF,Accuracy,none\n", set()),
        ("1,a,7,Accuracy,0.5\n2,b,8,Accuracy,0.6\n", set()),
    ],
)
def test_the_score_of_each_item_is_called_after_it(
    rows: str, names: set[str], tmp_path: Path
) -> None:
    """Words beside a metric say what was scored; each of them once, as nothing counts."""
    found = read(tmp_path, "results.csv", SCORED + rows)

    assert {name for name in found if " " in name} == names
