"""Tables and charts that programs export as JSON."""

import json
from pathlib import Path
from typing import Any

import pytest

from runlens import read
from runlens.errors import NothingReadable
from runlens.sources.tables.json_exports import set_out

STEPS = [10, 20, 30, 40, 50]
LOSS = [0.91, 0.72, 0.64, 0.583, 0.51]
HELD = [0.95, 0.81, 0.74, 0.69, 0.71]
BOTH = list(zip(STEPS, LOSS, HELD, strict=True))
NAMES = ["step", "loss", "val_loss"]


def curves(folder: Path, value: Any, name: str = "export.json") -> dict[str, list[float]]:
    """Return the values of each curve of a file."""
    (folder / name).write_text(json.dumps(value))
    run = read(folder / name)
    return {metric: run.curve(metric).value.tolist() for metric in run.history.metrics}


@pytest.mark.parametrize(
    "value",
    [
        {"columns": NAMES, "data": BOTH},
        {"columns": NAMES, "index": [0, 1, 2, 3, 4], "data": BOTH},
        [NAMES, *BOTH],
        {"labels": STEPS, "datasets": [
            {"label": "loss", "data": LOSS}, {"label": "val loss", "data": HELD}]},
        {"data": [{"x": STEPS, "y": LOSS, "name": "loss"},
                  {"x": STEPS, "y": HELD, "name": "val_loss"}]},
        {"chart": {"series": [{"name": "loss", "data": LOSS}, {"name": "val_loss", "data": HELD}],
                   "xAxis": STEPS}},
        [{"metricName": "loss", "values": LOSS, "steps": STEPS},
         {"metricName": "val_loss", "values": HELD}],
    ],
)  # fmt: skip
def test_an_export_has_its_curves_at_their_steps(tmp_path: Path, value: Any) -> None:
    """Of pandas, with a row of names, of charts with one axis or with one each."""
    assert curves(tmp_path, value) == {"train_loss": LOSS, "eval_loss": HELD}
    assert read(tmp_path / "export.json").curve("train_loss").step.tolist() == STEPS


def test_rows_on_both_data_side_by_side(tmp_path: Path) -> None:
    """None counts itself."""
    value = {"train": [{"loss": v} for v in LOSS], "val": [{"loss": v} for v in HELD]}
    assert curves(tmp_path, value) == {"train_loss": LOSS, "eval_loss": HELD}


def test_lists_under_a_name(tmp_path: Path) -> None:
    """Numbers in a list each, and two curves of which only the name is known."""
    value = {"train_loss": [[v] for v in LOSS], "val_loss": [[v] for v in HELD]}
    assert curves(tmp_path, value) == {"train_loss": LOSS, "eval_loss": HELD}
    assert curves(tmp_path, {"losses": [LOSS, HELD]}) == {"train_loss": LOSS, "losses (2)": HELD}


@pytest.mark.parametrize(
    "value",
    [
        {"columns": ["a", "b"], "data": [[1, 2]]},
        {"columns": NAMES, "data": [[1, 2]]},
        {"columns": NAMES, "data": 3},
        {"labels": STEPS, "datasets": [{"label": "loss", "data": LOSS[:1]}]},
        {"labels": ["a", "b"], "datasets": [{"label": "weight", "data": [1, 2]}]},
        {"labels": STEPS, "datasets": [{"label": "loss", "data": LOSS}, 3]},
        {"labels": STEPS, "datasets": [{"label": "loss", "data": LOSS}] * 2},
        {"train": [{"loss": 0.5}], "val": [{"loss": 0.4}]},
        {"train": [{"loss": 0.5}, {"acc": 0.5}], "val": [{"loss": 0.4}] * 2},
        {"train": [{"step": 1, "loss": 0.5}, {"step": 2, "loss": 0.4}], "val": [1, 2]},
        {"scores": [[1, 2], [3, 4]], "other": [["a"]], "none": []},
        {"a": {"b": {"c": {"d": {"labels": STEPS}}}}},
        [],
        7,
    ],
)
def test_other_forms_stay_as_they_are(value: Any) -> None:
    """Tables of other things, rows that do not fit, points alone, names that come twice."""
    assert set_out(value) == value


def test_a_chart_whose_axis_is_no_step(tmp_path: Path) -> None:
    """Its points are numbered."""
    value = {"labels": ["a", "b", "c", "d", "e"], "datasets": [{"label": "loss", "data": LOSS}]}
    assert curves(tmp_path, value) == {"train_loss": LOSS}
    with pytest.raises(NothingReadable):
        curves(tmp_path, {"labels": STEPS, "datasets": [{"label": "weight", "data": LOSS}]})


def rounds(**head: Any) -> dict[str, Any]:
    """Return what CatBoost leaves: a head that names what is measured, and a list a round."""
    rows = [
        {"learn": [0.5, loss], "test": [0.6, held], "iteration": n, "passed_time": 0.1 * (n + 1)}
        for n, (loss, held) in enumerate(zip(LOSS, HELD, strict=True))
    ]
    return {"meta": {"iteration_count": 5, **head}, "iterations": rows}


def named(*names: str, best: str = "Min") -> list[dict[str, str]]:
    """Return the names of what is measured: the first is maximised."""
    return [{"name": n, "best_value": best if at else "Max"} for at, n in enumerate(names)]


@pytest.mark.parametrize("objective", ["Logloss", "MultiClass"])
def test_the_rounds_of_boosting(tmp_path: Path, objective: str) -> None:
    """Their head names what stands in a list for each data, and the number of rounds."""
    both = named("Accuracy", objective)
    whole = rounds(learn_metrics=both, test_metrics=both)
    found = curves(tmp_path, whole, "catboost_training.json")
    assert (found["train_loss"], found["eval_loss"]) == (LOSS, HELD)
    assert found["train_accuracy"] == [0.5] * len(LOSS)
    run = read(tmp_path)
    assert run.state.planned_steps == len(LOSS)
    assert run.curve("eval_loss").step.tolist() == [0, 1, 2, 3, 4]


def test_rounds_whose_lists_are_of_something_else(tmp_path: Path) -> None:
    """More numbers than names, a head without names, or none: no number is given a name."""
    found = curves(tmp_path, rounds(learn_metrics=named("Logloss"), iteration_count="all"))
    assert set(found) == {"passed_time"}
    for whole in (rounds(), rounds(learn_metrics="Logloss"), {**rounds(), "meta": None}):
        assert set_out(whole) == whole
    best = named("NDCG", "PairLogit", best="Max")
    assert set(curves(tmp_path, rounds(learn_metrics=best))) == {
        "learn/NDCG", "learn/PairLogit", "passed_time"
    }  # fmt: skip


def test_rounds_behind_a_spoiled_line(tmp_path: Path) -> None:
    """What is whole is read, and how much is not is told."""
    text = json.dumps(rounds(learn_metrics=named("Accuracy", "Logloss")))
    (tmp_path / "catboost_training.json").write_text(text.replace('"learn": [0.5, 0.72]', '"le,'))
    run = read(tmp_path / "catboost_training.json")
    assert run.curve("train_loss").value.tolist() == [LOSS[0], *LOSS[2:]]
    assert run.curve("train_loss").step.tolist() == [0, 2, 3, 4]
    (told,) = [one for one in run.problems if "what is whole behind it was read" in one.text]
    assert told.lost.endswith(" bytes")


def test_rows_before_what_is_no_json(tmp_path: Path) -> None:
    """All that is whole was read from the beginning on: what is behind it is told as lost."""
    rows = [{"epoch": n, "loss": loss} for n, loss in enumerate(LOSS, 1)]
    (tmp_path / "history.json").write_text(json.dumps({"seed": 1, "log": rows}) + "}} [end")
    run = read(tmp_path / "history.json")
    assert run.curve("train_loss").value.tolist() == LOSS
    assert any(one.lost == "its last 7 characters" for one in run.problems)
