"""Tables that hold more than one training: appended, merged by git, or a row for each."""

import json
from pathlib import Path

import numpy as np
import pytest

from runlens import read, read_all
from runlens.errors import NothingReadable
from runlens.sources.reading import SourceReading
from runlens.sources.tables import csv_log
from runlens.sources.tables.table import fill
from tests.sources.written import run_of


def read_text(folder: Path, text: str, name: str = "training_log.csv") -> SourceReading:
    """Read a table with this text."""
    path = folder / name
    path.write_text(text)
    return csv_log.read(path)


def rows(*spans: range, value: float = 1.0) -> str:
    """Return rows of epochs, one span behind the other."""
    steps = (step for span in spans for step in span)
    return "".join(f"{step},{value / (step + 1):.6f}\n" for step in steps)


def test_an_epoch_that_begins_anew_is_a_launch(tmp_path: Path) -> None:
    """Keras' CSVLogger with ``append=True``: the epoch is the step of each training."""
    read = read_text(tmp_path, "epoch,loss\n" + rows(range(12), range(12), range(8), range(20)))
    loss = read.series["loss"]
    assert sorted(set(loss.launch.tolist())) == [0, 1, 2, 3]
    assert loss.step[loss.launch == 2].tolist() == list(range(8))
    assert not read.steps_inferred


@pytest.mark.parametrize(
    "epochs",
    [
        [0, 0, 0, 1, 1, 1, 2, 2, 2] * 2,  # several rows an epoch
        [0, 1, 0, 1, 0, 1, 0, 1],  # so short that it is a column of something else
    ],
)
def test_other_columns_that_fall_back_are_no_launches(tmp_path: Path, epochs: list[int]) -> None:
    """They do not go on one by one, or not for long."""
    text = "epoch,loss\n" + "".join(f"{epoch},{1 / (n + 1)}\n" for n, epoch in enumerate(epochs))
    assert read_text(tmp_path, text).steps_inferred


def test_trainings_that_have_no_step_in_common_are_runs(tmp_path: Path) -> None:
    """Ten episodes behind a thousand of another run do not hide them."""
    text = "episode,reward\n" + rows(range(6_001, 7_001), range(1, 11))
    (tmp_path / "training_log.csv").write_text(text)
    first, last = read_all(tmp_path)
    assert first.name == "training_log.csv (1 of 2)"
    assert first.curve("reward").step.tolist() == list(range(6_001, 7_001))
    assert last.curve("reward").step.tolist() == list(range(1, 11))


def test_a_column_of_the_other_training_alone_is_left_out(tmp_path: Path) -> None:
    """It has no row in the first."""
    short = "".join(f"{step},1.0,0.5\n" for step in range(1, 6))
    text = "episode,reward,loss\n" + rows(range(100, 150)).replace("\n", ",\n") + short
    (tmp_path / "training_log.csv").write_text(text)
    first, last = read_all(tmp_path)
    assert set(first.history.metrics) == {"reward"}
    assert set(last.history.metrics) == {"reward", "train_loss"}


def test_a_resume_is_of_the_same_training(tmp_path: Path) -> None:
    """It falls back to a step that was there before."""
    text = "episode,reward\n" + rows(range(100), range(60, 90))
    read = read_text(tmp_path, text)
    assert len(read.series["reward"].step) == 130
    assert not read.problems


@pytest.mark.parametrize("name", ["training_log.csv", "results.csv"])
def test_a_table_of_trials_is_no_curve(tmp_path: Path, name: str) -> None:
    """Sizes that differ from row to row, and nothing that counts: each is a training of its own."""
    cells = "".join(f"{size},{n},0.01,{3 / n}\n" for n in (1, 2, 3) for size in (64, 128))
    (tmp_path / name).write_text("hidden_size,n_layers,learning_rate,final_loss\n" + cells)
    runs = read_all(tmp_path / name)
    losses = [run.curve("final_loss").value.tolist() for run in runs]
    assert losses == [[3 / n] for n in (1, 2, 3) for _ in (64, 128)]
    assert [run.number("hidden_size") for run in runs] == [64, 128] * 3


def test_a_long_search_is_told_and_not_listed(tmp_path: Path) -> None:
    """A hundred trainings of one point say nothing of any of them."""
    cells = "".join(f"{size},{n},0.01,{3 / n}\n" for n in range(1, 61) for size in (64, 128))
    text = "hidden_size,n_layers,learning_rate,final_loss\n" + cells
    with pytest.raises(NothingReadable, match="hidden_size and n_layers differ from row to row"):
        read_text_as_run(tmp_path, text, "results.csv")


@pytest.mark.parametrize("sizes", [(9000, 5000, 2500, 1200), (100, 200, 300, 400, 500, 600)])
def test_a_learning_curve_over_sizes_is_no_course(tmp_path: Path, sizes: tuple[int, ...]) -> None:
    """Each row is a training on so many samples, even where these go on by as many."""
    cells = "".join(f"{size},0.{size},0.01\n" for size in sizes)
    (tmp_path / "learning_curve.csv").write_text("train_size,val_accuracy,std\n" + cells)
    runs = read_all(tmp_path / "learning_curve.csv")
    assert [run.number("train_size") for run in runs] == list(sizes)
    assert {len(run.curve("eval_accuracy").value) for run in runs} == {1}


def _grid(*sizes: int) -> str:
    """Return the rows of all pairings of so many values, with a number of each."""
    return "".join(
        f"{','.join(map(str, places))},{n % 3}.5\n" for n, places in enumerate(np.ndindex(*sizes))
    )


NO_COURSE = {
    "sample by its ID": "ID,Score\n" + "".join(f"{n},0.{n % 7}1\n" for n in range(20)),
    "sample by its id": "id,my_score\n" + "".join(f"{n * 7 % 20},0.{n % 7}1\n" for n in range(20)),
    "charge, load, action may be": "charge,load,action,reward\n" + _grid(4, 3, 2),
    "has a support": "precision,recall,f1-score,support\n"
    + "0.5,0.4,0.45,31\n0.9,0.8,0.85,7\n" * 3,
    "in the order of its rank": "player,rank,score\n"
    + "".join(f"P{n * 7 % 40},{n},{90 - n}.5\n" for n in range(1, 41)),
    "named by its case_id": "case_id,score\n"
    + "".join(f"T-{n},0.{n % 4}5\n" for n in range(1, 11)),
    "no column of what": "month,true_rent,rent_pred,mae\n"
    + "".join(f"M{n},{n % 5}.1,{n % 5}.3,0.2{n}\n" for n in range(1, 41)),
    "table of trials": "agent,trial,episode,reward\n"
    + "".join(f"PPO,{n},0,{n % 9}.5\n" for n in range(120)),
    "what names its trainings": "R2,RMSE,Experiment\n"
    + "".join(f"0.{n % 9},0.1{n % 7},{n}\n" for n in range(1, 121)),
}


@pytest.mark.parametrize("why", NO_COURSE)
def test_rows_of_samples_classes_and_trials_are_no_course(tmp_path: Path, why: str) -> None:
    """However they are numbered: a row says nothing of the one before it."""
    with pytest.raises(NothingReadable, match=why):
        run_of(tmp_path, "results.csv", NO_COURSE[why])


@pytest.mark.parametrize(
    ("text", "metric"),
    [
        ("id,loss\n" + "".join(f"{n},{9 / n:.3f}\n" for n in range(1, 21)), "train_loss"),
        ("a,b,c,reward\n" + _grid(4, 3, 2)[10:], "reward"),  # a row is missing
        ("ep,turn,reward\n" + _grid(6, 4), "reward"),  # of two counters
        ("still,ep,turn,reward\n" + _grid(1, 6, 4), "reward"),
        ("fold,n,auc\n" + "".join(f"{n // 6},{n},0.{n % 9}\n" for n in range(24)), "auc"),
        ("msg_id,loss\n" + "".join(f"r{n},{9 / n:.3f}\n" for n in range(1, 21)), "train_loss"),
        (
            "step,true_rent,pred_rent,mae\n" + "".join(f"{n},2,3,{9 / n}\n" for n in range(9)[1:]),
            "train_loss",
        ),
        (
            "true_sum,pred_sum,loss\n" + "".join(f"2,3,{9 / n:.3f}\n" for n in range(1, 21)),
            "train_loss",
        ),
        ("epoch,l2\n" + "".join(f"{n},{9 / n:.3f}\n" for n in range(1, 21)), "train_loss"),
        ("a,b,c,step,reward\n" + "".join(f"{n},1,1,{n},{n % 5}.5\n" for n in range(24)), "reward"),
    ],
)
def test_look_alikes_of_rows_that_are_no_course(tmp_path: Path, text: str, metric: str) -> None:
    """A database numbers the rows of a training too, and counters may be called anything."""
    run = run_of(tmp_path, "log.csv", text)
    assert len(run.curve(metric).value) == text.count("\n") - 1


def test_the_weight_of_a_penalty_is_no_loss(tmp_path: Path) -> None:
    """It stays the same, in each row of a course and of a table of results."""
    rows = "".join(f"{n},0.0001,{9 / n:.3f}\n" for n in range(1, 9))
    run = run_of(tmp_path, "log.csv", f"epoch,l2,val_logloss\n{rows}")
    assert run.curve("eval_loss").value[0] == 9
    assert "train_loss" not in run.history.metrics


def test_of_folds_by_number_no_size_is_the_step(tmp_path: Path) -> None:
    """Windows that grow by as many samples from fold to fold are trainings of their own."""
    cells = "".join(f"{n},{900 + 120 * n},0.{5 + n % 3}1\n" for n in range(8))
    (tmp_path / "walk.csv").write_text("fold,train_samples,accuracy\n" + cells)
    runs = read_all(tmp_path / "walk.csv")
    assert len(runs) == 8
    assert {len(run.curve("train_accuracy").value) for run in runs} == {1}


@pytest.mark.parametrize(
    ("name", "head", "apart", "read"),
    [
        ("test_episode_logs_small.csv", "episode,reward", 1, False),
        ("test_episode_logs_small.csv", "episode,reward", 10, True),  # a test of every tenth
        ("test_rewards.csv", "episode,reward", 1, True),
        ("test_episodes.csv", "episode,loss", 1, True),
        ("episode_logs.csv", "episode,reward", 1, True),
    ],
)
def test_episodes_of_a_test_are_no_training(
    tmp_path: Path, name: str, head: str, apart: int, *, read: bool
) -> None:
    """A finished agent plays them, one after the other."""
    cells = "".join(f"{apart * n},{n % 7}.5\n" for n in range(1, 31))
    (tmp_path / name).write_text(f"{head}\n{cells}")
    if not read:
        with pytest.raises(NothingReadable, match="holds the episodes of a test"):
            read_all(tmp_path / name)
    else:
        (run,) = read_all(tmp_path / name)
        assert len(run.history.metrics) == 1


def test_a_counter_that_leaves_one_out_counts(tmp_path: Path) -> None:
    """Whatever it is called; a column that falls back is none under a name of its own."""
    numbers = [n for n in range(1, 60) if n != 30]
    cells = "".join(f"{n},{n % 25},0.{n + 10}\n" for n in numbers)
    (tmp_path / "log.csv").write_text("queried,position,accuracy\n" + cells)
    assert read(tmp_path / "log.csv").curve("train_accuracy").step.tolist() == numbers


def test_trials_without_a_score_are_settings(tmp_path: Path) -> None:
    """Nothing in them is of a training."""
    cells = "".join(f"{64 + n},{n},0.01,{n}\n" for n in range(1, 9))
    with pytest.raises(NothingReadable):
        read_text_as_run(tmp_path, "hidden_size,n_layers,dropout,seed\n" + cells, "results.csv")


def read_text_as_run(folder: Path, text: str, name: str) -> None:
    """Read a table as a user does."""
    path = folder / name
    path.write_text(text)
    read(path)


def test_settings_in_a_curve_do_no_harm(tmp_path: Path) -> None:
    """Where they are the same in all rows, or a column counts."""
    same = "batch_size,loss\n" + "".join(f"8,{1 / n}\n" for n in range(1, 9))
    assert len(read_text(tmp_path, same).series["loss"].step) == 8
    grown = "step,batch_size,loss\n" + "".join(f"{n},{8 * n},{1 / n}\n" for n in range(1, 9))
    assert len(read_text(tmp_path, grown).series["loss"].step) == 8


def test_marks_of_git_are_no_rows(tmp_path: Path) -> None:
    """A file that git could not merge is read, and it is said; both sides where no mark ends it."""
    text = "episode,reward\n" + rows(range(3)) + "<<<<<<< HEAD\n" + rows(range(3, 6))
    text += "=======\n" + rows(range(3, 9))
    read = read_text(tmp_path, text + ">>>>>>> 0123456789abcdef\n")
    assert csv_log.find(tmp_path, {tmp_path: ["training_log.csv"]})
    assert len(read.series["reward"].step) == 6
    assert "git conflict" in read.problems[0].text
    read = read_text(tmp_path, text)
    assert len(read.series["reward"].step) == 12
    assert "git's marks of a merge that failed" in read.problems[0].text


def test_a_table_without_metrics_is_left_alone(tmp_path: Path) -> None:
    """Nothing to fill in."""
    read = SourceReading(tmp_path / "x.csv", "csv")
    fill(read, csv_log.table(read, "batch_size\n"))
    assert not read.series


def cycles(*lengths: int, anew: bool = False, metric: str = "train_loss") -> str:
    """Return a table whose epoch begins anew after each cycle, and so does its loss if `anew`."""
    lines, done = [f"epoch,{metric},valid_loss"], 0
    for length in lengths:
        for epoch in range(length):
            value = 1 / (1 + (epoch if anew else done))
            lines.append(f"{epoch},{value:.6f},{value + 0.1:.6f}")
            done += 1
    return "\n".join([*lines, ""])


def test_cycles_of_one_training_are_counted_on(tmp_path: Path) -> None:
    """Those of ``fit_one_cycle`` again and again, the last one broken off; and it is told."""
    (tmp_path / "train_log.csv").write_text(cycles(10, 10, 10, 6))
    run = read(tmp_path)
    loss = run.curve("train_loss")
    assert loss.step.tolist() == list(range(36))
    assert loss.epoch.tolist() == list(range(1, 37))
    assert run.state.done_epochs == 36
    assert "its steps begin anew 3 times and the loss goes on" in run.problems[0].text


@pytest.mark.parametrize(
    ("text", "trainings"),
    [
        (cycles(10, 10, 10, anew=True), 3),  # folds
        (cycles(10, 10), 2),  # too few to tell
        (cycles(10, 7, 10), 3),
        (cycles(10, 10, 12), 3),
        (cycles(10, 10, 10, metric="valid_acc"), 3),
        (cycles(2, 2, 2, 2, 2, 2), 1),  # so short that it is a column of something else
    ],
)
def test_other_counters_that_begin_anew_are_of_trainings(
    tmp_path: Path, text: str, trainings: int
) -> None:
    """The loss begins anew too, or none tells; the passes are of other lengths, or few."""
    (tmp_path / "train_log.csv").write_text(text)
    assert len(read_all(tmp_path)) == trainings


def test_cycles_without_an_epoch(tmp_path: Path) -> None:
    """Steps alone are counted on, by the interval at which they were logged."""
    rows = [
        f'{{"step": {step}, "loss": {1 / (1 + n):.6f}}}'
        for n, step in enumerate([*range(0, 50, 10)] * 4)
    ]
    (tmp_path / "metrics.jsonl").write_text("\n".join([*rows, ""]))
    run = read(tmp_path)
    assert run.curve("train_loss").step.tolist() == list(range(0, 200, 10))
    assert run.state.done_epochs is None


SIDE_BY_SIDE = [
    ("".join(f"{who},{seed},{n},{v / (n + 1)}\n" for who in ("mlp", "cnn") for seed in (1, 2)
             for n, v in enumerate([2.0] * 8))),
    ("".join(f"{who},{seed},{n},{2.0 / (n + 1)}\n" for n in range(8) for who in ("mlp", "cnn")
             for seed in (1, 2))),
]  # fmt: skip


@pytest.mark.parametrize("rows", SIDE_BY_SIDE, ids=["one after another", "by turns"])
def test_a_column_of_settings_tells_trainings_apart(tmp_path: Path, rows: str) -> None:
    """Each model and seed is a run under its name, with its own steps."""
    (tmp_path / "training_log.csv").write_text("model,seed,epoch,loss\n" + rows)
    runs = read_all(tmp_path)
    assert sorted(run.name for run in runs) == [
        f"model {who}, seed {seed}" for who in ("cnn", "mlp") for seed in (1, 2)
    ]
    assert all(run.curve("train_loss").step.tolist() == list(range(8)) for run in runs)


@pytest.mark.parametrize("name", ["seed", "model"])
def test_a_column_that_names_one_training_splits_nothing(tmp_path: Path, name: str) -> None:
    """It is a setting of it, or differs where the training goes on."""
    same = "".join(f"1,{n},{2 / (n + 1)}\n" for n in range(8))
    changed = "".join(f"{n // 4},{n},{2 / (n + 1)}\n" for n in range(8))
    for rows_of_one in (same, changed):
        (tmp_path / "training_log.csv").write_text(f"{name},epoch,loss\n{rows_of_one}")
        assert len(read(tmp_path).curve("train_loss")) == 8


def test_lines_of_another_table_are_no_rows(tmp_path: Path) -> None:
    """Two tables were written by turns into one file; the rows of the first are counted alone."""
    text = "loss,AverageReturn\nMeanDist,MaxDist\n"
    text += "".join(f"{2 / n},{9.5 * n**0.5}\n[0.2 0.7],[0.1 0.6]\n" for n in range(1, 9))
    (tmp_path / "progress.csv").write_text(text)
    assert read(tmp_path / "progress.csv").curve("reward").step.tolist() == list(range(8))


THINGS = {
    "classes": ("Disease,accuracy,auc", ["Eczema", "Fungal", "Scabies", "Other"]),
    "files of data": ("file,accuracy,auc", [f"00{n}.npy" for n in range(1, 9)]),
    "classes of two data": ("label,accuracy,auc", ["cat", "dog", "cow", "cat", "dog", "cow"]),
}


@pytest.mark.parametrize("kind", THINGS)
def test_scores_of_things_by_name_are_no_curve(tmp_path: Path, kind: str) -> None:
    """Their order is no time, and nothing counts them."""
    names, things = THINGS[kind]
    text = names + "\n" + "".join(f"{one},0.{60 + n},0.{70 + n}\n" for n, one in enumerate(things))
    with pytest.raises(NothingReadable, match="named by its"):
        read_text_as_run(tmp_path, text, "results.csv")


def test_the_rows_of_a_frame_of_pandas_are_named_before_them(tmp_path: Path) -> None:
    """Its index has no name; each score is one value of that row."""
    things = ("apple", "pear", "plum", "fig")
    text = ",accuracy\n" + "".join(f"{one},0.{60 + n}\n" for n, one in enumerate(things))
    (tmp_path / "results.csv").write_text(text)
    run = read(tmp_path / "results.csv")
    assert [len(run.curve(name)) for name in run.history.metrics] == [1] * 4


@pytest.mark.parametrize(
    ("names", "texts"),
    [
        ("checkpoint", [f"model_ep{n}.pt" for n in range(1, 7)]),
        ("when", [f"2024-03-01 10:0{n}" for n in range(1, 7)]),
        ("device", ["cuda"] * 3 + ["cpu"] * 2 + ["mps"]),
        ("data", ["train", "val", "test"] * 2),
        ("part,epoch", [f"{'abcdef'[n]},{n + 1}" for n in range(6)]),
        ("loss,part", [f"{1 / (n + 1)},{'abcdef'[n]}" for n in range(6)]),
    ],
)
def test_a_text_in_each_row_may_stand_beside_a_curve(
    tmp_path: Path, names: str, texts: list[str]
) -> None:
    """One that counts, stays, says the data, stands behind a number, or beside a step."""
    cells = "".join(f"{text},0.{70 + n}\n" for n, text in enumerate(texts))
    series = read_text(tmp_path, f"{names},accuracy\n{cells}").series
    assert sum(len(one.step) for name, one in series.items() if "accuracy" in name) == 6


@pytest.mark.parametrize("name", ["threshold", "score_thresh", "Decision Threshold"])
def test_scores_at_each_threshold_are_no_curve(tmp_path: Path, name: str) -> None:
    """They are of one model, whose answers are counted anew."""
    text = f"{name},accuracy,f1\n" + "".join(f"0.{n},0.8{n},0.7{n}\n" for n in range(1, 9))
    with pytest.raises(NothingReadable, match="each row is of a"):
        read_text_as_run(tmp_path, text, "results.csv")


@pytest.mark.parametrize(
    ("names", "cell"),
    [
        ("epoch,threshold,f1", "{n},0.{n},0.7{n}"),  # something counts
        ("threshold,train_loss,f1", "0.{n},1.{n},0.7{n}"),  # only a training has a loss
        ("threshold,accuracy,f1", "0.5,0.8{n},0.7{n}"),  # it stays
        ("threshold_loss,accuracy,f1", "0.{n},0.8{n},0.7{n}"),
        ("threshold_hits,accuracy,f1", "0.{n},0.8{n},0.7{n}"),
    ],
)
def test_a_threshold_may_stand_beside_a_curve(tmp_path: Path, names: str, cell: str) -> None:
    """Each of these goes on as a training does."""
    text = names + "\n" + "".join(cell.format(n=n) + "\n" for n in range(1, 9))
    assert len(read_text(tmp_path, text).series["f1" if "f1" in names else "accuracy"].step) == 8


@pytest.mark.parametrize(("flags", "read_as"), [(4, 1), (5, 0)])
def test_categories_in_columns_are_data(tmp_path: Path, flags: int, read_as: int) -> None:
    """A training logs whether it is the best so far, and little else of that kind."""
    names = ",".join(f"kind_{n}" for n in range(flags))
    cells = [",".join(str((row + n) % 3 // 2) for n in range(flags)) for row in range(12)]
    text = f"area_loss,{names}\n" + "".join(
        f"{row * 7 % 5 + 0.5},{c}\n" for row, c in enumerate(cells)
    )
    assert len(read_text(tmp_path, text).series) == read_as * (flags + 1)


@pytest.mark.parametrize(("each", "runs"), [(2, 12), (30, 1)])
def test_a_grid_of_settings_is_no_curve(tmp_path: Path, each: int, runs: int) -> None:
    """Each row is a training, whatever else tells them apart; long groups may be courses."""
    cells = "".join(
        f"{model},{optimizer},{n},0.{50 + n}\n"
        for model in ("RNN", "LSTM")
        for optimizer in ("Adam", "SGD", "RMSProp")
        for n in range(each)
    )
    (tmp_path / "metrics.csv").write_text("Model,Optimizer,Width,Accuracy\n" + cells)
    assert len(read_all(tmp_path / "metrics.csv")) == runs


def test_methods_in_a_column_of_words_are_trainings(tmp_path: Path) -> None:
    """A baseline of numbers is none: it is subtracted from a reward."""
    cells = [
        f"{epoch},{method},{30 + 3.5 * epoch}\n"
        for method in ("ours", "ddpo")
        for epoch in (2, 4, 6)
    ]
    (tmp_path / "eval.csv").write_text("epoch_num,Baseline,FID Score\n" + "".join(cells))
    runs = read_all(tmp_path / "eval.csv")
    assert [run.curve("eval_fid_score").step.tolist() for run in runs] == [[2, 4, 6]] * 2
    cells = [f"{n},{0.5 * (n % 3)},{n / 3:.2f}\n" for n in range(1, 9)]
    (tmp_path / "eval.csv").write_text("step,baseline,reward\n" + "".join(cells))
    (run,) = read_all(tmp_path / "eval.csv")
    assert len(run.curve("reward")) == len(run.curve("baseline")) == 8


def test_tables_of_trials_in_a_list_of_searches(tmp_path: Path) -> None:
    """Each trial has the name of its search before its own."""
    search = {"model": ["tree", "forest"], "best_score": [0.7, 0.8], "seconds": [0.25, 1.5]}
    (tmp_path / "training_log.json").write_text(json.dumps([search, search]))
    names = [run.name for run in read_all(tmp_path / "training_log.json")]
    assert names == [f"training ({n}), model {one}" for n in (1, 2) for one in ("forest", "tree")]
