"""Corners of files with results: where a table ends, what lies on its side, what is no score."""

import json
from pathlib import Path

import pytest

from runlens import read, read_all


def test_a_table_of_models_ends_where_rows_are_of_another_form(tmp_path: Path) -> None:
    """What stands below it is no row of it."""
    text = (
        "Model            Accuracy   F1\n"
        "Random Forest    0.91       0.90\n"
        "SVM              0.88       0.87\n"
        "\n"
        "Naive Bayes      rows      left\n"
    )
    (tmp_path / "results.txt").write_text(text)
    values = [one for run in read_all(tmp_path / "results.txt") for one in _scores(run)]
    assert sorted(values) == [0.88, 0.91]


def _scores(run: object) -> list[float]:
    metrics = run.history.metrics  # type: ignore[attr-defined]
    name = next(name for name in metrics if "acc" in name.lower())
    found: list[float] = run.curve(name).value.tolist()  # type: ignore[attr-defined]
    return found


@pytest.mark.parametrize("second", ["lr=2.53", "mem_gb: 2.53"])
def test_names_of_settings_in_a_row_are_no_model(tmp_path: Path, second: str) -> None:
    """`lr` is a logistic regression alone."""
    rows = [
        f"{10 * n} | Train Loss={2.5 / n:.3f} | {second} | acc={n / 40:.3f}" for n in range(1, 30)
    ]
    (tmp_path / "train.log").write_text("Namespace(lr=0.001)\n" + "\n".join(rows) + "\n")
    assert len(read(tmp_path / "train.log").curve("train_loss")) == 29


def test_a_table_on_its_side_whose_epochs_are_words(tmp_path: Path) -> None:
    """The numbers of its names are the steps."""
    epochs = range(1, 31)
    names = ",".join(f"epoch {n}" for n in epochs)
    losses = ",".join(f"{1 / n:.4f}" for n in epochs)
    (tmp_path / "history.csv").write_text(f"metric,{names}\nloss,{losses}\nacc,{losses}\n")
    assert read(tmp_path / "history.csv").curve("train_loss").step.tolist() == [*epochs]


def test_what_a_row_of_trials_plans_is_no_score_of_it(tmp_path: Path) -> None:
    """Nor a setting that tells trials apart."""
    cells = "".join(f"{size},{n},20,{3 / n}\n" for n in (1, 2, 3) for size in (64, 128))
    (tmp_path / "results.csv").write_text("hidden_size,n_layers,epochs,final_loss\n" + cells)
    assert {*read_all(tmp_path / "results.csv")[0].history.metrics} == {"final_loss"}


def test_rows_that_hold_objects_are_looked_into(tmp_path: Path) -> None:
    """They are no data that texts describe: what goes on in them is read."""
    rows = [{"name": "a", "box": {"x": 1, "y": n}} for n in range(9)]
    (tmp_path / "results.json").write_text(json.dumps(rows))
    assert [*read(tmp_path / "results.json").history.metrics] == ["box/x"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("fold,accuracy,f1\n0,0.81,0.8\n1,0.82,0.81\nmean,0.815,0.805\n", ["fold 0", "fold 1"]),
        (",model,acc,params\n0,cnn,0.85,12\n1,vit,0.91,99\n", ["model cnn", "model vit"]),
    ],
)
def test_each_row_that_names_its_training_is_one(
    tmp_path: Path, text: str, names: list[str]
) -> None:
    """Folds and models, a line each."""
    (tmp_path / "results.csv").write_text(text)
    runs = read_all(tmp_path / "results.csv")
    assert [run.name.rpartition("/")[2] for run in runs] == names
    assert [len(run.curve("train_accuracy")) for run in runs] == [1, 1]


def test_models_saved_of_one_training_are_its_course(tmp_path: Path) -> None:
    """Their names say how far it was."""
    rows = "".join(f"ckpt_{100 * n},0.{60 + n}\n" for n in range(1, 6))
    (tmp_path / "results.csv").write_text(f"model,acc\n{rows}")
    (run,) = read_all(tmp_path / "results.csv")
    assert len(run.curve("train_accuracy")) == 5


@pytest.mark.parametrize("beside", ['"best": 2', '"config": {"lr": 0.1}'])
def test_a_summary_may_stand_beside_rows_that_are_keyed_by_their_epoch(
    tmp_path: Path, beside: str
) -> None:
    """It is no reason to take each epoch for a training."""
    rows = ", ".join(f'"epoch_{n}": {{"loss": {3 - n}, "acc": 0.{n}}}' for n in (1, 2))
    (tmp_path / "metrics.json").write_text(f"{{{rows}, {beside}}}")
    (run,) = read_all(tmp_path / "metrics.json")
    assert run.curve("train_loss").epoch.tolist() == [1, 2]


def test_samples_seen_behind_a_loss_count(tmp_path: Path) -> None:
    """The quickstart of PyTorch: evaluations stand at the end of their epochs."""
    text = "".join(
        f"Epoch {epoch}\n-------------------------------\n"
        + "".join(
            f"loss: {2.3 - epoch / 10 - n / 50:.6f}  [{6400 * n:>5d}/60000]\n" for n in range(10)
        )
        + f"Test Error: \n Accuracy: {40 + epoch}.5%, Avg loss: {2 - epoch / 10:.6f} \n\n"
        for epoch in (1, 2, 3)
    )
    (tmp_path / "log.txt").write_text(text)
    run = read(tmp_path / "log.txt")
    assert run.curve("train_loss").step.tolist()[9:12] == [57_600, 60_000, 66_400]
    assert run.curve("eval_loss").step.tolist() == [57_600, 117_600, 177_600]
    assert "loss[1]" not in run.history.metrics


def test_a_curve_whose_keys_are_shares_of_epochs(tmp_path: Path) -> None:
    """A final value may stand behind it, and settings and a score beside it."""
    curve = {"epoch_0.27": 62.0, "epoch_0.53": 33.0, "epoch_1.07": 26.0, "final_loss": 30.0}
    whole = {"training": {"num_epochs": 3}, "loss_curve": curve, "evaluation": {"accuracy": 0.2}}
    (tmp_path / "metrics.json").write_text(json.dumps(whole))
    run = read(tmp_path / "metrics.json")
    assert run.curve("train_loss").value.tolist() == [62, 33, 26]
    assert run.curve("train_loss").epoch.tolist() == [0.27, 0.53, 1.07]


@pytest.mark.parametrize("again", [10, 11])
def test_a_counter_without_a_name_begins_anew_with_each_training(
    tmp_path: Path, again: int
) -> None:
    """At its first value, by the same steps; of others nothing says that it counts."""
    steps = [*range(10, 60, 10), *range(again, again + 50, 10)]
    rows = "".join(f"{step},0.{70 + n}\n" for n, step in enumerate(steps))
    (tmp_path / "accuracy.csv").write_text(rows)
    runs = read_all(tmp_path / "accuracy.csv")
    assert len(runs) == (2 if again == 10 else 1)
    assert all("train_accuracy" in run.history.metrics for run in runs) is (again == 10)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("metrics.json", '{"loss": 0.5, "acc": 0.9}'),
        ("results.txt", "Test loss: 0.5\nTest acc: 0.9\n"),
    ],
)
def test_of_results_no_step_number_is_missed(tmp_path: Path, name: str, text: str) -> None:
    """A single row has none to lose."""
    (tmp_path / name).write_text(text)
    assert read(tmp_path / name).problems == ()


def test_how_many_epochs_there_will_be_is_no_epoch(tmp_path: Path) -> None:
    """``Epochs: 40`` among the settings above rows that name none."""
    rows = "".join(f"INFO: Validation MSE loss: 0.000{9 - n}\n" for n in range(6))
    (tmp_path / "train.log").write_text(f"Starting training:\n   Epochs:     40\n{rows}")
    run = read(tmp_path / "train.log")
    assert run.state.planned_epochs == 40
    assert not (run.curve("eval_loss").epoch == 40).any()


SUMMARY = (
    "wandb: Run history:\n"
    "wandb:         train/epoch ▁▃▆█\n"
    "wandb:          train/loss █▅▂▁\n"
    "wandb: \n"
    "wandb: Run summary:\n"
    "wandb:           best_model out/best\n"
    "wandb:         train/epoch 0.75\n"
    "wandb:   train/global_step 120\n"
    "wandb: train/learning_rate 3e-05\n"
    "wandb:          train/loss {loss}\n"
    "wandb: \n"
    "wandb: View run at https://example.org/runs/1\n"
)


def test_the_summary_of_a_run_is_all_that_a_console_shows(tmp_path: Path) -> None:
    """The last value of each metric, at the step and the epoch that it names."""
    path = tmp_path / "train.err"
    path.write_text(SUMMARY.format(loss=1.25))
    run = read(path)
    points = run.curve("train_loss")
    assert (points.step.tolist(), points.value.tolist()) == ([120], [1.25])
    assert points.epoch.tolist() == [0.75]
    assert run.curve("learning_rate").value.tolist() == [3e-05]
    path.write_text(SUMMARY.format(loss=1.25) + SUMMARY.format(loss=0.75))
    assert [one.curve("train_loss").value.tolist() for one in read_all(path)] == [[1.25], [0.75]]


def test_a_summary_stands_before_the_exception_that_ended_the_run(tmp_path: Path) -> None:
    """W&B prints it when the program is gone."""
    raised = (
        'Traceback (most recent call last):\n  File "a.py", line 3\nOSError: disk quota exceeded\n'
    )
    (tmp_path / "train.err").write_text("Loading data\n" + raised + SUMMARY.format(loss=1.25))
    run = read(tmp_path / "train.err")
    assert run.curve("train_loss").value.tolist() == [1.25]
    assert run.state.kind == "crashed"


@pytest.mark.parametrize(
    "text",
    [
        "wandb: Run summary:\nwandb: train/global_step 120\nwandb: _runtime 7.5\n",
        "wandb: Run summary: train/loss 0.5\n",
        "wandb: train/loss 0.5\n",
    ],
)
def test_what_is_no_summary_with_a_metric(tmp_path: Path, text: str) -> None:
    """No number in it is one by which trainings are judged, or it is none."""
    (tmp_path / "train.err").write_text(text)
    assert not read(tmp_path / "train.err").history.metrics


def test_the_summary_of_rows_that_are_shown_adds_nothing(tmp_path: Path) -> None:
    """What they end in is known."""
    rows = "".join(f"step {10 * n}: loss {2 / n:.4f}\n" for n in range(1, 9))
    (tmp_path / "train.log").write_text(rows + SUMMARY.format(loss=0.25))
    assert read(tmp_path / "train.log").curve("train_loss").step.tolist() == [*range(10, 90, 10)]


def closing(loss: float, rate: str = "'train_steps_per_second': 0.5, ", seconds: float = 20) -> str:
    """Return the closing row of the Trainer."""
    return f"{{'train_runtime': {seconds}, {rate}'train_loss': {loss}, 'epoch': 1.0}}\n"


def test_closing_rows_alone_are_trainings_of_a_point(tmp_path: Path) -> None:
    """Rounds of a federation, each of which trains anew; the mean loss is all that is told."""
    path = tmp_path / "rounds.log"
    path.write_text("".join(f"round\n{closing(0.9 - n / 10)}" for n in range(3)))
    runs = read_all(path)
    assert [run.curve("train_loss").value.tolist() for run in runs] == [[0.9], [0.8], [0.7]]
    assert [run.curve("train_loss").step.tolist() for run in runs] == [[10], [10], [10]]
    assert any("single point" in problem.text for problem in runs[0].problems)


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        (closing(0.5), [10]),
        (closing(0.5, seconds=5000), [1]),  # three digits of the rate say too little
        (closing(0.5, rate=""), [1]),
        (closing(0.0), []),  # resumed at its end
        ("{'train_runtime': 20.0, 'epoch': 1.0}\n", []),
    ],
)
def test_one_closing_row(tmp_path: Path, text: str, steps: list[int]) -> None:
    """Its step is that of its rate, where that is exact."""
    (tmp_path / "out.log").write_text("started\n" + text)
    run = read(tmp_path / "out.log")
    found = run.curve("train_loss").step.tolist() if "train_loss" in run.history.metrics else []
    assert found == steps


def finals(*titles: str) -> str:
    """Return a long log of settings with two results below each title."""
    settings = "".join(f"client {n} of the federation was chosen\n" for n in range(400))
    results = ((f"Accuracy: 0.{4 + n}157\n", f"F1-score: 0.{3 + n}684\n") for n in range(9))
    both = zip(titles, results, strict=False)
    return "".join(f"{settings}\n{title}\n{a}{b}\n" for title, (a, b) in both)


@pytest.mark.parametrize(
    "title", ["--- FINAL RESULTS (LAST ROUND) ---", "--- ИТОГОВЫЕ РЕЗУЛЬТАТЫ ---"]
)
def test_results_below_titles_that_call_them_final(tmp_path: Path, title: str) -> None:
    """Each is of a training, however far apart they stand."""
    path = tmp_path / "log.txt"
    path.write_text(finals(title, title, title))
    runs = read_all(path)
    assert [list(map(float, run.curve("F1-score").value)) for run in runs] == [
        [0.3684],
        [0.4684],
        [0.5684],
    ]


@pytest.mark.parametrize(
    "text",
    [
        finals("--- Results ---", "--- Results ---"),
        finals("Final results", "Final results").replace("F1-score: 0.4", "Recall: 0.4"),
        finals("Final results", "Final results").replace("F1-score: 0.", "Accuracy: 0."),
        finals("Final results\nof all", "Final results\nof all"),  # nothing right below them
    ],
)
def test_results_that_no_title_tells_apart(tmp_path: Path, text: str) -> None:
    """They are left alone."""
    (tmp_path / "log.txt").write_text(text)
    (run,) = read_all(tmp_path / "log.txt")
    assert not run.history.metrics


def test_rows_that_begin_with_cells_have_no_prefix(tmp_path: Path) -> None:
    """Settings that never change, and a fold: each row is what a training ended in."""
    rows = [(fold, sensor) for fold in (0, 1, 2) for sensor in ("hand", "foot", "both")]
    lines = (
        f"window: 30, skip: 1, fold: {fold}, sensor: {sensor}, batch_size:  32, "
        f"val accuracy: 0.{5 + fold}{len(sensor)}{n}5, f1: 0.4{n}7"
        for n, (fold, sensor) in enumerate(rows)
    )
    (tmp_path / "acc.txt").write_text("".join(f"{line}\n" for line in lines))
    runs = read_all(tmp_path / "acc.txt")
    assert len(runs) == len(rows)
    assert [run.curve("eval_accuracy").value.tolist()[0] // 0.1 for run in runs][::3] == [5, 6, 7]


@pytest.mark.parametrize("head", ["Model", "Modelo", "Modèle", "Модель", "模型", "Algoritmo"])
def test_models_are_named_in_any_language(tmp_path: Path, head: str) -> None:
    """Each row of such a table is a model by its name, with what it got."""
    rows = ["Regressao Logistica,0.94,0.91", "Gradient Boosting,0.95,0.92", "Floresta,0.93,0.9"]
    (tmp_path / "metrics.csv").write_text("\n".join([f"{head},Accuracy,ROC-AUC", *rows, ""]))
    runs = read_all(tmp_path / "metrics.csv")
    got = {run.curve(name).value.item() for run in runs for name in run.history.metrics}
    assert (len(runs), got) == (3, {0.94, 0.91, 0.95, 0.92, 0.93, 0.9})
