"""A history in one JSON text."""

import json
from pathlib import Path
from typing import Any

import pytest

import runlens
from runlens.sources.reading import SourceReading
from runlens.sources.tables import jsonl_log


def written(folder: Path, whole: Any, name: str = "history.json") -> SourceReading:
    """Write a file, look whether it is found in its folder, and read it."""
    (folder / name).write_text(whole if isinstance(whole, str) else json.dumps(whole))
    found = jsonl_log.find(folder, {folder: [name]})
    assert found or not isinstance(whole, list)
    return jsonl_log.read(folder / name)


def test_a_list_of_epochs(tmp_path: Path) -> None:
    """Each is a row; what stands in it is named by its path."""
    epochs = [{"epoch": n, "train_loss": 1 / n, "val": {"auc": 0.5, "all": [1]}} for n in (1, 2, 3)]
    read = written(tmp_path, epochs)
    assert read.series["train_loss"].step.tolist() == [1, 2, 3]
    assert set(read.series) == {"train_loss", "val/auc"}


def test_lists_of_numbers(tmp_path: Path) -> None:
    """Keras' History.history; a list of another length is of other steps, a number of none."""
    lists = {"loss": [3, 2, 1], "val_loss": [3, 2, 2], "best": 1, "times": [0.1, 0.2]}
    read = written(tmp_path, lists, "cnn_history_1.json")
    assert read.series["loss"].value.tolist() == [3, 2, 1]
    assert set(read.series) == {"loss", "val_loss"}
    assert [problem.lost for problem in read.problems if "fit no row" in problem.text] == [
        "times (2 values)"
    ]
    assert read.steps_inferred


@pytest.mark.parametrize(
    ("whole", "metrics"),
    [
        ([3.5, 2.5, 1.5], {"train_loss"}),
        ({"train": [3.5, 2.5, 1.5], "test": [3.5, 3.5, 2.5]}, {"train_loss", "eval_loss"}),
    ],
)
def test_numbers_that_the_name_of_their_file_names(
    tmp_path: Path, whole: Any, metrics: set[str]
) -> None:
    """A list alone, or one for each split; under another name they are nothing known."""
    written(tmp_path, whole, "losses.json")
    assert set(runlens.read(tmp_path).history.metrics) == metrics
    (tmp_path / "losses.json").rename(tmp_path / "data.json")
    with pytest.raises(runlens.errors.NothingReadable):
        runlens.read(tmp_path)


def test_names_in_a_file_that_is_called_after_a_metric_stay(tmp_path: Path) -> None:
    """They say more than it does."""
    written(tmp_path, {"loss": [3.5, 2.5, 1.5], "val_loss": [3.5, 3, 3.2]}, "losses.json")
    assert set(runlens.read(tmp_path).history.metrics) == {"train_loss", "eval_loss"}


def test_what_is_measured_says_how_long_a_history_is(tmp_path: Path) -> None:
    """Labels and predictions of a last evaluation are more, and longer."""
    lists = {"loss": [3, 2, 1], "labels": [0, 1] * 5, "predicted": [1, 0] * 5, "weights": [1] * 10}
    read = written(tmp_path, lists)
    assert {name: len(curve.value) for name, curve in read.series.items()} == {"loss": 3}


def test_lists_under_names_that_say_nothing(tmp_path: Path) -> None:
    """Read where the file is called a history and all of it was measured; not counts or ids."""
    lists = {name: [of / n for n in range(1, 30)] for of, name in enumerate(("A", "B"), 1)}
    written(tmp_path, lists, "training_history.json")
    (run,) = runlens.read_all(tmp_path)
    assert len(run.curve("A")) == len(run.curve("B")) == 29
    (tmp_path / "training_history.json").write_text(json.dumps({"ids": list(range(30))}))
    with pytest.raises(runlens.errors.NothingReadable):
        runlens.read_all(tmp_path)


@pytest.mark.parametrize(
    "whole",
    [
        {"visited": ["a", "b", "c"], "count": [1, 2, 3]},  # of a browser
        {"loss": 0.5, "epochs": 3},  # a summary
        {"note": [0.5]},
        "[1, 2, 3]",
        "[]",
        "no JSON",
    ],
)
def test_other_files_of_the_name_are_no_logs(tmp_path: Path, whole: Any) -> None:
    """They are not found in a folder."""
    path = tmp_path / "history.json"
    path.write_text(whole if isinstance(whole, str) else json.dumps(whole))
    assert jsonl_log.find(tmp_path, {tmp_path: ["history.json"]}) == []


FALLING = [3.0, 2.0, 1.5, 1.2]
HELD_OUT = [3.1, 2.2, 1.7, 1.5]
FORMS: dict[str, Any] = {
    "lists by split": {"train": {"loss": FALLING}, "val": {"loss": HELD_OUT}},
    "a list of epochs": [
        {"epoch": n, "train": {"loss": a}, "val": {"loss": b}}
        for n, (a, b) in enumerate(zip(FALLING, HELD_OUT, strict=True))
    ],
    "epochs by number": {
        str(n): {"train_loss": a, "val_loss": b}
        for n, (a, b) in enumerate(zip(FALLING, HELD_OUT, strict=True))
    },
    "Sacred": {
        name: {"steps": [0, 1, 2, 3], "values": some, "timestamps": ["2025-01-01T10:00:00"] * 4}
        for name, some in (("training.loss", FALLING), ("val.loss", HELD_OUT))
    },
    "beside arguments": {
        "args": {"betas": [0.9, 0.999]},
        "log": {"train_loss": FALLING, "val_loss": HELD_OUT},
    },
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("indent", [None, 2])
def test_forms_in_which_own_loops_save_a_history(
    tmp_path: Path, form: str, indent: int | None
) -> None:
    """Under a name that says nothing, on one line or on many."""
    (tmp_path / "results.json").write_text(json.dumps(FORMS[form], indent=indent))
    history = runlens.read(tmp_path).history
    for metric, values in (("train_loss", FALLING), ("eval_loss", HELD_OUT)):
        assert history.curve(metric).value.tolist() == values
        assert history.curve(metric).step.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "whole",
    [
        {"train_loss": 0.5, "epoch": 3.0, "eval_loss": 0.7},  # all_results.json
        {"test_score": [0.7, 0.8, 0.7, 0.9, 0.8], "fit_time": [1, 2, 1, 2, 1]},  # folds
        [{"id": n, "loss": 0.1 * n} for n in range(9)],  # of samples
        {"schema": "runlens.diagnosis/1", "history": {"train_loss": FALLING, "val_loss": HELD_OUT}},
    ],
)
def test_other_json_with_words_of_trainings_is_no_history(tmp_path: Path, whole: Any) -> None:
    """A summary, scores of folds, losses of samples, what RunLens wrote."""
    (tmp_path / "results.json").write_text(json.dumps(whole))
    assert jsonl_log.find(tmp_path, {tmp_path: ["results.json"]}) == []


def test_rows_of_lines_under_the_same_name(tmp_path: Path) -> None:
    """A history.json that is JSON Lines all the same."""
    lines = "".join(json.dumps({"step": n, "loss": 1 / n}) + "\n" for n in (1, 2, 3))
    (tmp_path / "history.json").write_text(lines)
    assert len(jsonl_log.read(tmp_path / "history.json").series["loss"].step) == 3


@pytest.mark.parametrize("key", ["config", "args", "hparams", "training_config"])
def test_settings_beside_a_history(tmp_path: Path, key: str) -> None:
    """What the training was called with stands above its lists."""
    whole = {key: {"epochs": 3, "optimizer": {"lr": 0.1}}, "train_loss": [3.0, 2.0, 1.0]}
    read = written(tmp_path, whole)
    assert read.config == {"epochs": 3, "optimizer.lr": 0.1}
    assert runlens.read(tmp_path).state.planned_epochs == 3


@pytest.mark.parametrize(
    ("first", "step", "words"), [(0, 1, 40), (1, 1, 40), (2, 1, 40), (0, 2, 40), (0, 1, 12)]
)
def test_the_words_of_a_vocabulary_measure_nothing(
    tmp_path: Path, first: int, step: int, words: int
) -> None:
    """Though some of them are called loss or step; numbers that do not number them may."""
    named = ["loss", "step", *(f"word{n}" for n in range(words - 2))]
    whole = {name: first + step * n for n, name in enumerate(named)}
    read = written(tmp_path, json.dumps(whole, indent=1), "train.json")
    assert bool(read.series) == (first > 1 or step > 1 or words < 20)


@pytest.mark.parametrize("key", ["epochs", "history", "rows", "log"])
def test_trainings_of_which_later_ones_say_more(tmp_path: Path, key: str) -> None:
    """An object each, with its rows under any name; what all of them measure is enough."""
    first = [{"epoch": n, "loss": 2 / (n + 1)} for n in range(4)]
    second = [{**row, "best_loss": row["loss"], "improved": True} for row in first[:3]]
    whole = [{"stage": "one", key: first}, {"stage": "two", "status": "ended", key: second}]
    (tmp_path / "training_log.json").write_text(json.dumps(whole))
    runs = runlens.read_all(tmp_path / "training_log.json")
    assert [len(run.curve("train_loss").value) for run in runs] == [4, 3]


def test_lists_that_measure_different_things_are_no_trainings(tmp_path: Path) -> None:
    """Neither says all that the other does."""
    rows = [{"epoch": n, "loss": 2 / (n + 1)} for n in range(4)]
    others = [{"epoch": n, "score": 0.5} for n in range(4)]
    (tmp_path / "log.json").write_text(json.dumps([{"a": rows}, {"b": others}]))
    with pytest.raises(runlens.errors.NothingReadable):
        runlens.read_all(tmp_path / "log.json")


def test_what_an_agent_got_says_how_long_a_history_is(tmp_path: Path) -> None:
    """Its losses are of updates; those that fit beside it stay, and no test decides."""
    lists = {"episode_rewards": [0.5 * n for n in range(12)], "actor_losses": [0.5] * 7}
    assert set(written(tmp_path, {"train": lists | {"critic_losses": [1.5] * 7}}).series) == {
        "train/episode_rewards"
    }
    read = written(tmp_path, {"losses": [0.5] * 36, "lr": [0.1] * 36, "rewards": [0.5] * 12})
    assert {name: len(one.step) for name, one in read.series.items()} == {
        "losses": 36, "lr": 36, "rewards": 12
    }  # fmt: skip
    read = written(tmp_path, {"loss": [0.5] * 36, "eval_reward": [0.5] * 7})
    assert set(read.series) == {"loss"}


def test_lists_of_parts_of_the_data_are_no_course(tmp_path: Path) -> None:
    """Of several under one name none is laid beside the rows if one of them does not fit."""
    parts = {"short": {"scores": [0.5] * 4}, "long": {"scores": [0.5] * 7}}
    read = written(tmp_path, {"loss": [0.5 + n for n in range(12)], "test": parts})
    assert set(read.series) == {"loss"}
    read = written(tmp_path, {"loss": [0.5 + n for n in range(12)], "test": parts["short"]})
    assert len(read.series["test/scores"].step) == 4


def test_rows_that_count_beside_lists_of_the_same(tmp_path: Path) -> None:
    """Their step is known."""
    rows = [{"iteration": 5 * n, "loss": 1 / n, "accuracy": 0.5} for n in range(1, 7)]
    lists = {name: [row[name] for row in rows] for name in ("loss", "accuracy")}
    read = written(tmp_path, {"history": lists, "rows": rows})
    assert read.series["loss"].step.tolist() == [5, 10, 15, 20, 25, 30]
    assert not read.steps_inferred
    lists["val_loss"] = lists["loss"]
    assert "val_loss" in {
        name.rpartition("/")[2]
        for name in written(tmp_path, {"history": lists, "rows": rows}).series
    }


def test_the_points_of_a_roc_curve_are_no_course(tmp_path: Path) -> None:
    """Nor is a file of them alone; rates of epochs go up and down."""
    curve = {"fpr": [0.0, 0.1, 0.5, 1.0], "tpr": [0.0, 0.6, 0.6, 1.0], "label": 1}
    epochs = {"epoch": [1], "train_loss": [1.5], "val_loss": [1.25]}
    read = written(tmp_path, {"training": {"history": epochs}, "gender": {"roc": curve}})
    assert {name: one.step.tolist() for name, one in read.series.items()} == {
        "train_loss": [1], "val_loss": [1]
    }  # fmt: skip
    assert not written(tmp_path, curve).series
    measured = {"loss": [3.5, 2.5, 1.5], "val": {"fpr": [0.5, 0.1, 0.2], "tpr": [0.5, 0.7, 0.6]}}
    assert set(written(tmp_path, measured).series) == {"loss", "val/fpr", "val/tpr"}


def test_cases_by_their_id_are_no_course(tmp_path: Path) -> None:
    """Scores of a test, whatever numbers tell its cases apart; losses by an id are as before."""
    cases = [{"id": f"case-{n}", "score": n % 3 / 2} for n in range(1, 11)]
    path = tmp_path / "scores.json"
    path.write_text(json.dumps({"overall_score": 0.55, "cases": cases}))
    assert "reward" not in runlens.read(path).history.metrics
    rows = [{"id": f"row-{n}", "loss": 1 / n} for n in range(1, 11)]
    path.write_text(json.dumps({"rows": rows}))
    assert len(runlens.read(path).curve("train_loss").value) == 10


def test_a_key_that_holds_all_and_says_nothing_is_left_out(tmp_path: Path) -> None:
    """Not one that says of what data all are, nor one of a list beside it."""
    lists = {"loss": [3.0, 2.0, 1.0], "entropy": [1.1, 1.0, 0.9]}
    assert set(written(tmp_path, {"history": lists}).series) == {"loss", "entropy"}
    assert set(written(tmp_path, {"val": lists}).series) == {"val/loss", "val/entropy"}
    both = {"history": {"loss": [3.0, 2.0, 1.0], "kl": [1.1, 1.0, 0.9]}, "lr": [0.1, 0.1, 0.1]}
    assert {"history/loss", "lr"} <= set(written(tmp_path, both).series)


def test_pieces_of_documents_by_their_score_are_no_trainings(tmp_path: Path) -> None:
    """Several questions, of which each has a list of what was found."""
    found = [{"doc_id": f"d{n}", "score": 60.5 - n * n / 7, "text": "a"} for n in range(12)]
    whole = {"records": [{"qid": f"q{n}", "found": found} for n in range(3)]}
    assert not written(tmp_path, whole, "logs.json").series
