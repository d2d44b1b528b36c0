"""Files that no program's authors described: searches, folds, clients, arrays, plans in cells."""

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from runlens import read, read_all
from runlens.errors import RunLensError
from runlens.run import Run
from runlens.sources import saved_numbers
from runlens.sources.tables import json_exports, json_shapes

FALLS = (2 - 1.7 * (1 - np.exp(-np.arange(40) / 9))).round(4)


def lone(folder: Path, name: str, text: str) -> Run:
    """Return the only run in a file of this text."""
    (folder / name).write_text(text)
    return read(folder / name)


def runs_of(folder: Path, name: str, text: str) -> list[Run]:
    """Return the runs in a file of this text."""
    (folder / name).write_text(text)
    return read_all(folder / name)


def scored(folder: Path, name: str, text: str, metric: str) -> list[list[float]]:
    """Return the values of a metric in each run of a file."""
    return [run.curve(metric).value.tolist() for run in runs_of(folder, name, text)]


def test_five_folds_are_no_course(tmp_path: Path) -> None:
    """Nor are their mean and deviation folds; what numbers games goes on."""
    rows = "".join(f"{n},{0.8 + n / 100:.2f}\n" for n in range(1, 6))
    found = scored(
        tmp_path, "a.csv", f"Fold,Accuracy\n{rows}Mean,0.83\nStd,0.01\n", "train_accuracy"
    )
    assert found == [[0.81], [0.82], [0.83], [0.84], [0.85]]
    assert scored(tmp_path, "b.csv", f"game,reward\n{rows}", "reward") == [
        [0.81, 0.82, 0.83, 0.84, 0.85]
    ]


def test_rows_of_clients_are_trainings(tmp_path: Path) -> None:
    """Each has the rounds of all; a column that says how many took part names none."""
    rows = [(r, c, 1 / (r + c)) for r in range(1, 5) for c in (1, 2)]
    text = "".join(f"{r},{c},{loss}\n" for r, c, loss in rows)
    runs = runs_of(tmp_path, "fl.csv", f"round,client_id,loss\n{text}")
    assert [run.curve("train_loss").step.tolist() for run in runs] == [[1, 2, 3, 4]] * 2
    text = "".join(f"{r},2,{loss}\n" for r, c, loss in rows if c == 1)
    assert len(lone(tmp_path, "g.csv", f"round,client_id,loss\n{text}").curve("train_loss")) == 4


def test_trials_of_a_search(tmp_path: Path) -> None:
    """Settings that a search names as such make a trial of each row, numbered or not."""
    scores = [0.8, 0.85, 0.83, 0.81, 0.84, 0.79]
    trials = [
        {"number": n, "value": one, "params": {"depth": n % 3}} for n, one in enumerate(scores)
    ]
    each = [[one] for one in scores]
    assert scored(tmp_path, "trials.json", json.dumps(trials), "value") == each
    grid = {"param_C": [1, 10, 100], "mean_test_accuracy": scores[:3]}
    runs = runs_of(tmp_path, "grid.json", json.dumps(grid))
    assert [run.curve("mean_test_accuracy").value.tolist() for run in runs] == each[:3]
    words = "".join(
        f"{n},{w},{one}\n" for n, (w, one) in enumerate(zip("abcdef", scores, strict=True))
    )
    table = f",param_kernel,mean_test_accuracy\n{words}"
    assert len(runs_of(tmp_path, "cv.csv", table)) == 6


def test_rows_with_a_step_are_a_course_whatever_their_settings(tmp_path: Path) -> None:
    """So are numbered ones in which only the size of the batch varies."""
    rows = [{"epoch": n, "loss": 1 / n, "params": {"lr": 0.1**n}} for n in range(1, 7)]
    assert len(lone(tmp_path, "a.json", json.dumps(rows)).curve("train_loss")) == 6
    text = "".join(f"{n},{1 / n},{32 * n}\n" for n in range(1, 7))
    run = lone(tmp_path, "log.csv", f"n,loss,batch_size\n{text}")
    assert len(run.curve("train_loss")) == 6
    held = "".join(f"{n},{1 / n},adam\n" for n in range(1, 7))
    run = lone(tmp_path, "b.csv", f"n,loss,param_optimizer\n{held}")
    assert len(run.curve("train_loss")) == 6


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_commas_between_thousands_of_steps(tmp_path: Path, mark: str) -> None:
    """Beside them a loss has a point; one with three places behind a comma stays a decimal."""
    rows = "".join(f'"{1000 * n:,}"{mark}{1 / n:.4f}\n' for n in range(1, 9))
    run = lone(tmp_path, "log.csv", f"Step{mark}Loss\n{rows}")
    assert run.curve("train_loss").step.tolist() == [1000 * n for n in range(1, 9)]


def test_commas_in_what_is_measured(tmp_path: Path) -> None:
    """Two of them, or a point behind, say that they part thousands."""
    table = 'epoch,rmse,psnr\n1,"1,234.5","21,125"\n2,"1,100","22,250"\n3,980,"23,500"\n'
    run = lone(tmp_path, "log.csv", table)
    assert run.curve("train_loss").value.tolist() == [1234.5, 1100, 980]
    assert run.curve("psnr").value.tolist() == [21.125, 22.25, 23.5]


@pytest.mark.parametrize(("said", "plan"), [("Epoch {}/20", 20), ("{} of 20", 20), ("{}", None)])
def test_the_plan_behind_a_count(tmp_path: Path, said: str, plan: int | None) -> None:
    """In the cells of a table and in the objects of a log."""
    cells = [said.format(n) for n in range(1, 9)]
    rows = "".join(f"{cell},{1 / n}\n" for n, cell in enumerate(cells, 1))
    run = lone(tmp_path, "log.csv", f"epoch,loss\n{rows}")
    assert (run.state.planned_epochs, len(run.curve("train_loss"))) == (plan, 8)
    lines = [json.dumps({"epoch": cell, "loss": 1 / n}) for n, cell in enumerate(cells, 1)]
    run = lone(tmp_path, "log.jsonl", "\n".join(lines))
    assert (run.state.planned_epochs, len(run.curve("train_loss"))) == (plan, 8)


def test_plans_that_differ_are_none(tmp_path: Path) -> None:
    """Of steps too."""
    rows = [f"{n}/{total},{1 / n}\n" for n, total in enumerate((9, 9, 9, 9), 1)]
    run = lone(tmp_path, "a.csv", f"step,loss\n{''.join(rows)}")
    assert run.state.planned_steps == 9
    run = lone(tmp_path, "b.csv", f"step,loss\n{''.join([*rows, '5/10,0.1'])}\n")
    assert run.state.planned_steps is None


def test_epochs_named_along_a_row(tmp_path: Path) -> None:
    """``epoch_1`` counts from 1; names of models do not."""
    names = ",".join(f"epoch_{n}" for n in range(1, 9))
    rows = "".join(f"{n},{','.join(map(str, FALLS[:8]))}\n" for n in ("loss", "val_loss"))
    run = lone(tmp_path, "history.csv", f"metric,{names}\n{rows}")
    assert run.curve("train_loss").step.tolist() == [*range(1, 9)]
    rows = "accuracy,0.8,0.9\nf1,0.7,0.8\n"
    assert len(runs_of(tmp_path, "models.csv", f"metric,model_a,model_b\n{rows}")) == 2


def saved(folder: Path, name: str, values: Any) -> list[Run]:
    """Return the runs in values that were saved."""
    if name.endswith(".npy"):
        np.save(folder / name, values)
    else:
        (folder / name).write_bytes(pickle.dumps(values.tolist()))
    return read_all(folder / name)


@pytest.mark.parametrize("ending", ["npy", "pkl"])
def test_arrays_of_two_axes(tmp_path: Path, ending: str) -> None:
    """Rows are runs; two narrow columns are those of both data."""
    runs = saved(tmp_path, f"rewards.{ending}", np.stack([FALLS, FALLS + 0.01, FALLS * 1.01]))
    assert [len(run.curve("reward")) for run in runs] == [40] * 3
    (run,) = saved(tmp_path, f"losses.{ending}", np.stack([FALLS, FALLS + 0.01], axis=1))
    assert run.curve("train_loss").value.tolist() == FALLS.tolist()
    assert len(run.curve("eval_loss")) == 40


@pytest.mark.parametrize(
    ("name", "shape"), [("loss", (40, 40)), ("loss", (3, 3, 9)), ("x", (3, 9))]
)
def test_arrays_that_are_no_curves(tmp_path: Path, name: str, shape: tuple[int, ...]) -> None:
    """An image has as many rows as columns; nothing says what features are."""
    np.save(tmp_path / f"{name}.npy", np.linspace(2, 1, int(np.prod(shape))).reshape(shape))
    with pytest.raises(RunLensError):
        read_all(tmp_path / f"{name}.npy")


def test_scores_in_a_short_list(tmp_path: Path) -> None:
    """DETR writes twelve of them; losses of batches and counts of classes are none."""
    rows = [
        {"epoch": n, "loss": 1 / n, "test_bbox": [n / 10, n / 20], "val_loss": [0.5, 0.6]}
        | {"test_counts": [n, 2], "betas": [0.9, 0.95]}
        for n in range(1, 9)
    ]
    run = lone(tmp_path, "log.jsonl", "\n".join(map(json.dumps, rows)))
    assert {*run.history.metrics} == {"train_loss", "eval_bbox_1", "eval_bbox_2"}
    assert run.curve("eval_bbox_2").value.tolist() == [n / 20 for n in range(1, 9)]


def test_one_object_that_measures_nothing(tmp_path: Path) -> None:
    """The settings of a tokenizer are told; one score is a result; a user may name another."""
    settings = json.dumps({"model_max_length": 512, "vocab_size": 30522})
    with pytest.raises(RunLensError, match="no number is known to be of a training"):
        read(lone_path(tmp_path, "tokenizer_config.json", settings))
    score = json.dumps({"test_accuracy": 0.9, "vocab_size": 30522})
    assert len(read(lone_path(tmp_path, "result.json", score)).curve("eval_accuracy")) == 1


def lone_path(folder: Path, name: str, text: str) -> Path:
    """Return the path of a file of this text."""
    (folder / name).write_text(text)
    return folder / name


def test_steps_of_each_episode(tmp_path: Path) -> None:
    """They fall again and again; a sum of all rises, and counts."""
    lengths = [10, 30, 20, 50, 40, 60, 20, 70, 30, 80]
    rows = "".join(f"{n},{n * 3},{one}\n" for n, one in enumerate(lengths, 1))
    run = lone(tmp_path, "rewards.csv", f"Episode,Reward,Steps\n{rows}")
    assert run.curve("Steps").value.tolist() == lengths
    assert run.curve("reward").step.tolist() == [*range(1, 11)]
    rows = "".join(f"{n},{n * 3},{n * 50}\n" for n in range(1, 11))
    run = lone(tmp_path, "b.csv", f"Episode,Reward,Steps\n{rows}")
    assert {*run.history.metrics} == {"reward"}


def test_losses_of_samples_are_no_course(tmp_path: Path) -> None:
    """What was predicted stands beside what was true; beside a step it is of a course."""
    rows = "".join(f"{n}.png,{n % 3},{n % 2},{n / 7}\n" for n in range(1, 20))
    with pytest.raises(RunLensError):
        read_all(lone_path(tmp_path, "test_outputs.csv", f"image,y_true,y_pred,loss\n{rows}"))
    rows = rows.replace(".png", "")
    assert (
        len(lone(tmp_path, "log.csv", f"step,y_true,y_pred,loss\n{rows}").curve("train_loss")) == 19
    )


def test_a_table_to_which_a_wider_one_was_appended(tmp_path: Path) -> None:
    """Both are trainings; settings above the names of a table are not."""
    first = "".join(f"{n},{2 / n}\n" for n in range(1, 6))
    rows = "".join(f"{n},{1 / n},{n / 9}\n" for n in range(1, 6))
    runs = runs_of(tmp_path, "a.csv", f"epoch,loss\n{first}epoch,loss,acc\n{rows}")
    assert [run.curve("train_loss").value[0] for run in runs] == [2, 1]
    run = lone(tmp_path, "b.csv", f"lr,0.1\nepochs,20\nepoch,loss,acc\n{rows}")
    assert len(run.curve("train_loss")) == 5


def test_results_in_a_long_table(tmp_path: Path) -> None:
    """Each model and fold is a training; values without either stay unread."""
    rows = "".join(
        f"{m},{k},{name},{k / 10 + off}\n"
        for m in ("rf", "svm")
        for k in (1, 2)
        for name, off in (("accuracy", 0.5), ("f1", 0.25))
    )
    runs = runs_of(tmp_path, "scores.csv", f"model,fold,metric,value\n{rows}")
    assert [run.curve("f1").value.tolist() for run in runs] == [[0.35], [0.45]] * 2
    rows = "".join(f"x{n},accuracy,{n / 9}\n" for n in range(1, 5))
    with pytest.raises(RunLensError):
        read_all(lone_path(tmp_path, "b.csv", f"color,metric,value\n{rows}"))


def test_rows_behind_their_count(tmp_path: Path) -> None:
    """Pairs of other things are no rows, nor are counts that fall."""
    rows = [[n, {"loss": 1 / n}] for n in range(1, 7)]
    run = lone(tmp_path, "log.json", json.dumps(rows))
    assert run.curve("train_loss").step.tolist() == [*range(1, 7)]
    for other in (rows[::-1], [["a", {"loss": 1.0}]] * 3, [*rows, {"loss": 1.0}]):
        assert json_exports.set_out(other) is other


def test_models_whose_epochs_are_keys(tmp_path: Path) -> None:
    """Each counts on its own; settings of layers by number measure nothing."""
    each = {m: {f"epoch_{n}": {"loss": k / n} for n in (1, 2, 3)} for m, k in (("a", 1), ("b", 2))}
    runs = runs_of(tmp_path, "results_all.json", json.dumps(each))
    assert [run.curve("train_loss").value.tolist() for run in runs] == [
        [1, 1 / 2, 1 / 3],
        [2, 1, 2 / 3],
    ]
    layers = {m: {f"epoch_{n}": {"width": 9 * n} for n in (1, 2, 3)} for m in ("a", "b")}
    assert list(json_shapes.trainings(layers)) == []


def test_arrays_that_nobody_named(tmp_path: Path) -> None:
    """Two of them are two curves; beside a name they keep theirs."""
    np.savez(tmp_path / "losses.npz", FALLS, FALLS + 0.01)
    run = read(tmp_path / "losses.npz")
    assert run.curve("train_loss").value.tolist() == FALLS.tolist()
    assert len(run.curve("eval_loss")) == 40
    np.savez(tmp_path / "of.npz", FALLS, FALLS[:30])
    assert saved_numbers.as_text((tmp_path / "of.npz").read_bytes()) == (
        f"arr_0: {FALLS.tolist()}\narr_1: {FALLS[:30].tolist()}\n".encode()
    )


@pytest.mark.parametrize("key", ["image_id", "student_id", "ticketid"])
def test_scores_of_samples_are_told(tmp_path: Path, key: str) -> None:
    """Rows with the number of a sample; those with the number of a run are trainings."""
    rows = [{key: n, "score": n / 40, "box": [1.5, 2.5]} for n in range(30)]
    with pytest.raises(RunLensError):
        read_all(lone_path(tmp_path, "results.json", json.dumps(rows)))
    with pytest.raises(RunLensError, match="has a sample in each line"):
        read_all(lone_path(tmp_path, "results.jsonl", "\n".join(map(json.dumps, rows))))
    text = "".join(f"{n},{n / 40}\n" for n in range(30))
    with pytest.raises(RunLensError):
        read_all(lone_path(tmp_path, "results.csv", f"{key},score\n{text}"))
    assert len(runs_of(tmp_path, "runs.csv", f"run_id,score\n{text}")) > 0


def test_lines_that_a_text_describes_are_samples(tmp_path: Path) -> None:
    """A manifest has no number of a training; rows of a log have, whatever text is beside."""
    rows = [{"path": f"{n}.wav", "duration": n / 3} for n in range(9)]
    with pytest.raises(RunLensError, match="has a sample in each line"):
        read_all(lone_path(tmp_path, "manifest.jsonl", "\n".join(map(json.dumps, rows))))
    rows = [{"path": f"{n}.pt", "loss": n / 3} for n in range(9)]
    assert len(lone(tmp_path, "a.jsonl", "\n".join(map(json.dumps, rows))).curve("train_loss")) == 9


def test_rows_of_which_nothing_is_known_are_told(tmp_path: Path) -> None:
    """A table of timings is read as it stands, and that is said; of losses nothing is."""
    for name, told in (("latency_ms", True), ("loss", False)):
        rows = [{"batch": 2**n, name: 1.5 * n} for n in range(1, 9)]
        run = lone(tmp_path, f"{name}.json", json.dumps(rows))
        assert any("none of which is known" in problem.text for problem in run.problems) is told


def test_why_an_array_is_refused(tmp_path: Path) -> None:
    """One of objects is a pickle; one of features has no curve."""
    np.save(tmp_path / "stats.npy", np.array([{1}, {2}], dtype=object))
    with pytest.raises(RunLensError, match="is a pickle of objects"):
        read_all(tmp_path / "stats.npy")
    np.save(tmp_path / "features.npy", np.linspace(2, 1, 900).reshape(30, 30))
    with pytest.raises(RunLensError, match="without a curve in it"):
        read_all(tmp_path / "features.npy")


def test_objects_of_json_in_a_file_that_is_called_a_table(tmp_path: Path) -> None:
    """Each line is a row; those of samples are none."""
    (tmp_path / "log.csv").write_text(
        "".join(f'{{"generation": {n}, "loss": {2 / (n + 1)}, "w": [1, 2]}}\n' for n in range(6))
    )
    assert read(tmp_path / "log.csv").curve("train_loss").step.tolist() == list(range(6))
    (tmp_path / "log.csv").write_text('{"text": "a, b", "who": "c"}\n' * 6)
    with pytest.raises(RunLensError):
        read(tmp_path / "log.csv")
