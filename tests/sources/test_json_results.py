"""Results of one model or several in JSON and in small tables."""

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from runlens import read_all
from runlens.errors import NothingReadable
from runlens.run import Run
from tests.sources.test_final_results import read, values_of

REPORT = (
    ",precision,recall,f1-score,support\n0,0.9,0.9,0.9,9\naccuracy,0.93,0.93,0.93,0.93\n"
    "macro avg,0.9,0.8,0.7,9\n"
)


def of_json(folder: Path, whole: object, name: str = "results.json") -> list[Run]:
    """Return the runs in a JSON text; none where it is refused."""
    return read(folder, json.dumps(whole, indent=1), name)


@pytest.mark.parametrize(
    ("whole", "wanted"),
    [
        ({"accuracy": "93.1%", "loss": "0.2"}, {"train_accuracy": 0.931, "train_loss": 0.2}),
        ({"model": "a", "results": {"accuracy": 0.93, "auc": 0.9}},
         {"train_accuracy": 0.93, "auc": 0.9}),
        ({"config": {"lr": 0.1}, "metrics": {"accuracy": 0.93}}, {"train_accuracy": 0.93}),
        ({"test": {"accuracy": 0.9, "loss": 0.3}}, {"eval_accuracy": 0.9, "eval_loss": 0.3}),
        ({"accuracy": {"mean": 0.93, "std": 0.01}}, {"train_accuracy": 0.93}),
        ({"PER": {"precision": 0.9, "f1": 0.8}, "LOC": {"precision": 0.7, "f1": 0.6}},
         {"PER/f1": 0.8, "LOC/f1": 0.6}),
        ({"metrics": [{"name": "f1", "value": 0.9}, {"name": "auc", "value": 0.8}]},
         {"f1": 0.9, "auc": 0.8}),
        ([{"name": "f1", "value": 0.9}], {"f1": 0.9}),
        ({"accuracy": 0.93, "predictions": [0, 1, 1, 0, 1, 0]}, {"train_accuracy": 0.93}),
        ({"params": {"n_estimators": 9}, "accuracy": 0.93}, {"train_accuracy": 0.93}),
        ({"bleu": 28.4, "precisions": [0.6, 0.3, 0.2]}, {"bleu": 28.4}),
    ],
)  # fmt: skip
def test_one_result(whole: object, wanted: dict[str, float], tmp_path: Path) -> None:
    """One row, whatever stands around it."""
    runs = of_json(tmp_path, whole)
    assert len(runs) == 1
    found = values_of(runs)
    assert all(found.get(name, []) == pytest.approx([value]) for name, value in wanted.items())


@pytest.mark.parametrize(
    ("whole", "metric"),
    [
        ({"rf": {"accuracy": 0.91}, "svm": {"accuracy": 0.93}}, "train_accuracy"),
        ({"cora": {"gat": {"loss": 0.91}, "gcn": {"loss": 0.93}}}, "train_loss"),
        ({"fold_1": {"auc": 0.91}, "fold_2": {"auc": 0.93}, "mean": {"auc": 0.92}}, "auc"),
        ({"a": {"train": {"acc": 0.91}, "test": {"acc": 0.5}},
          "b": {"train": {"acc": 0.93}, "test": {"acc": 0.5}}}, "train_accuracy"),
        ({"Random Forest": 0.91, "SVM": 0.93}, "result"),
        ({"GAT net": {"Cora": 0.91}, "GCN net": {"Cora": 0.93}}, "result Cora"),
    ],
)  # fmt: skip
def test_each_model_is_a_training(whole: object, metric: str, tmp_path: Path) -> None:
    """By its name, and what sums up others is none."""
    runs = of_json(tmp_path, whole)
    assert len(runs) == 2
    assert values_of(runs)[metric] == [0.91, 0.93]


def test_values_of_each_class_beside_a_result_are_no_curves(tmp_path: Path) -> None:
    """Alone, or under names of what is measured once an epoch, they may be."""
    each = [0.5, 0.7, 0.6, 0.4, 0.3]
    result = {"loss": 1.29, "macro-F1": 0.38}
    whole = {**result, "label-F1": each, "label-P": each}
    (run,) = of_json(tmp_path, whole)
    assert values_of([run])["train_loss"] == [1.29]
    assert not any(len(run.curve(name)) > 1 for name in run.history.metrics)
    for curves in ({"class_loss": each}, {"val_f1": each, "label-F1": each}):
        (run,) = of_json(tmp_path, {**result, **curves})
        assert max(len(run.curve(name)) for name in run.history.metrics) == len(each)


@pytest.mark.parametrize(
    "whole",
    [
        {"lr": 0.001, "batch_size": 32, "model": "resnet"},
        {"model": {"dropout": 0.1}, "train": {"lr": 0.001}},
        {"loss": {"type": "ce", "weight": 1.0}, "optimizer": {"lr": 0.01}},
        {"rows": [{"name": "width", "value": 3.2}, {"name": "height", "value": 1.2}]},
        {"alice": {"age": 30.5}, "bob": {"age": 20.5}},
        {"a": 1.5, "b": 2.5},
        {"a": {"b": {"c": {"d": {"e": {"f": {"g": {"loss": 0.5}}}}}}}},
        [{"title": "A", "rating": 8.1}, {"title": "B", "rating": 7.2}],
        {"annotations": [{"id": 1, "bbox": [1.0, 2.0, 3.0, 4.0]}]},
    ],
)
def test_settings_and_data_are_refused(whole: object, tmp_path: Path) -> None:
    """Whatever one of their names is."""
    assert not of_json(tmp_path, whole)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("metric,value\naccuracy,0.93\nauc,0.9\n", {"train_accuracy": [0.93], "auc": [0.9]}),
        ("accuracy,93%\nloss,0.21\n", {"train_loss": [0.21]}),
        (REPORT, {"train_accuracy": [0.93], "macro avg f1_score": [0.7]}),
        ("fold,accuracy\n1,0.91\n2,0.93\nmean,0.92\nstd,0.01\n", {"train_accuracy": [0.91, 0.93]}),
        (",SVM,RF\nAccuracy,0.91,0.93\nF1,0.9,0.92\n",
         {"train_accuracy": [0.93, 0.91], "F1": [0.92, 0.9]}),
    ],
)  # fmt: skip
def test_small_tables(text: str, wanted: dict[str, list[float]], tmp_path: Path) -> None:
    """A score a row, a report, folds, a column for each model."""
    found = values_of(read(tmp_path, text, "results.csv"))
    assert {name: found.get(name) for name in wanted} == wanted


@pytest.mark.parametrize(
    "text",
    [
        "metric,value\nwidth,3.2\nheight,1.2\n",
        ",precision,recall,f1-score,support\n0,0.9,0.9,0.9,9\n",
        "day,temp\nmon,20.1\ntue,21.5\nmean,20.8\n",
        "5.1,3.5,setosa\n4.9,3.0,setosa\n4.7,3.2,virginica\n",
        "97,3\n5,85\n",
    ],
)
def test_other_small_tables_are_as_before(text: str, tmp_path: Path) -> None:
    """Sizes, classes alone, days, plants and counts are no results."""
    found = values_of(read(tmp_path, text, "table.csv"))
    assert not {"train_accuracy", "width", "column 1", "temp"} & found.keys()


def saved(folder: Path, name: str, data: bytes) -> dict[str, list[float]]:
    """Return the values in a file of these bytes; nothing where it is refused."""
    (folder / name).write_bytes(data)
    try:
        return values_of(read_all(folder / name))
    except NothingReadable:
        return {}


def array(folder: Path, name: str, values: Any) -> dict[str, list[float]]:
    """Return what is read of an array that NumPy saved."""
    np.save(folder / name, values)
    return saved(folder, name, (folder / name).read_bytes())


def test_arrays_of_one_number_and_of_a_history(tmp_path: Path) -> None:
    """``np.save`` wraps an array around a dict; others of objects stay closed."""
    assert array(tmp_path, "accuracy.npy", np.array(0.93)) == {"train_accuracy": [0.93]}
    whole = np.array({"loss": [2.5, 1.5, 0.5], "acc": [0.1, 0.2, 0.3]}, dtype=object)
    found = array(tmp_path, "history.npy", whole)
    assert found == {"train_loss": [2.5, 1.5, 0.5], "train_accuracy": [0.1, 0.2, 0.3]}
    assert array(tmp_path, "history.npy", np.array([{1}, {2}], dtype=object)) == {}
    assert array(tmp_path, "mean.npy", np.array(0.485)) == {}


def test_pickles_of_scores(tmp_path: Path) -> None:
    """Of one model, or of each by its name."""
    one = pickle.dumps({"accuracy": 0.93, "f1": np.float64(0.9), "name": "a"})
    assert saved(tmp_path, "results.pkl", one) == {"train_accuracy": [0.93], "f1": [0.9]}
    two = pickle.dumps({"rf": {"rmse": 2.1, "r2": 0.9}, "svm": {"rmse": 2.2, "r2": 0.8}})
    assert saved(tmp_path, "results.pkl", two) == {"train_loss": [2.1, 2.2], "r2": [0.9, 0.8]}
    assert saved(tmp_path, "scaler.pkl", pickle.dumps({"mean": 0.5, "scale": 1.2})) == {}
    # bytes of objects without objects
    code = pickle.dumps(np.float64(0.5)).replace(b"f8", b"O8")
    assert saved(tmp_path, "loss.pkl", code) == {}


def test_the_scores_at_each_threshold_are_no_curve(tmp_path: Path) -> None:
    """What stands beside them is the result."""
    sweep = [{"threshold": n / 10, "f1": 0.5 + n / 20} for n in range(1, 10)]
    whole = {"accuracy": 0.91, "f1": 0.88, "thresholds": sweep}
    (run,) = of_json(tmp_path, whole)
    assert run.curve("f1").value.tolist() == [0.88]


@pytest.mark.parametrize(
    ("row", "points"),
    [
        ({"fruit": "{name}", "f1": 0.5}, 0),
        ({"f1": 0.5, "fruit": "{name}"}, 4),
        ({"fruit": "{name}", "epoch": 1, "f1": 0.5}, 4),
        ({"fruit": 7, "f1": 0.5}, 4),
    ],
)
def test_the_scores_of_things_are_no_curve(
    tmp_path: Path, row: dict[str, object], points: int
) -> None:
    """A text that names each comes first, and nothing counts."""
    rows = [
        {k: name if v == "{name}" else n if k == "epoch" else v for k, v in row.items()}
        for n, name in enumerate(["apple", "pear", "plum", "fig"])
    ]
    (run,) = of_json(tmp_path, {"each": rows, "f1": 0.7})
    assert len(run.curve("f1")) == (points or 1)


def test_classes_by_number_are_no_steps(tmp_path: Path) -> None:
    """The report of each class says how many rows it has; beside it stands the result."""
    each = {
        str(n): {"precision": 0.5 + n / 20, "recall": 0.6, "f1-score": 0.55, "support": 30.0 - n}
        for n in range(1, 6)
    }
    text = json.dumps({"overall": {"accuracy": 0.61, "f1_score": 0.58}, "by_class": each})
    (tmp_path / "metrics.json").write_text(text)
    (run,) = read_all(tmp_path / "metrics.json")
    assert run.curve("train_accuracy").value.tolist() == [0.61]
    assert "support" not in run.history.metrics
