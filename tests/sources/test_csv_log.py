"""Reading tables of metrics: which are logs, what a cell means, which column is the step."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runlens import read
from runlens.errors import NothingReadable
from runlens.sources.files import walk
from runlens.sources.reading import SourceReading
from runlens.sources.tables import csv_log
from runlens.sources.tables import table as log_table


def written(folder: Path, text: str, name: str = "metrics.csv") -> Path:
    """Write a table."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def read_text(folder: Path, text: str, name: str = "metrics.csv") -> SourceReading:
    """Read a table with this text."""
    return csv_log.read(written(folder, text, name))


def found(folder: Path) -> list[str]:
    """Return the names of the tables that count as logs."""
    return [path.name for path in csv_log.find(folder, walk(folder))]


def test_empty_cell_is_not_logged_but_nan_is_a_value(tmp_path: Path) -> None:
    """Lightning leaves cells empty; a loss that is NaN stands there as nan."""
    text = "epoch,step,train_loss,val_loss\n0,9,2.5,\n0,19,nan,\n0,19,,2.25\n1,29,inf,\n"
    series = read_text(tmp_path, text).series
    assert series["train_loss"].step.tolist() == [9, 19, 29]
    np.testing.assert_array_equal(series["train_loss"].value, [2.5, math.nan, math.inf])
    assert series["val_loss"].step.tolist() == [19]
    assert series["val_loss"].epoch.tolist() == [0]
    assert set(series) == {"train_loss", "val_loss"}


def test_nan_that_only_fills_gaps_is_not_logged(tmp_path: Path) -> None:
    """A column that is NaN but for every fourth row was measured every fourth row."""
    rows = [f"{n},1.0,{0.5 if n % 4 == 3 else 'nan'}" for n in range(40)]
    series = read_text(tmp_path, "\n".join(["step,loss,val_loss", *rows, ""])).series
    assert series["val_loss"].step.tolist() == list(range(3, 40, 4))
    assert len(series["loss"].step) == 40


def test_loss_that_becomes_nan_stays_in_the_curve(tmp_path: Path) -> None:
    """It is no gap filler: no number comes after it."""
    rows = [f"{n},{1.0 if n < 5 else 'nan'}" for n in range(40)]
    series = read_text(tmp_path, "\n".join(["step,loss", *rows, ""])).series
    assert np.isnan(series["loss"].value).sum() == 35


def test_keras_counts_epochs_from_zero(tmp_path: Path) -> None:
    """The epoch is the step, and one more is done."""
    text = "epoch,accuracy,loss,val_accuracy,val_loss\n0,0.5,1.2,0.4,1.3\n1,0.6,1.0,0.5,1.1\n"
    run = read(written(tmp_path, text, "history.csv"))
    assert run.curve("train_loss").step.tolist() == [0, 1]
    assert run.curve("eval_loss").value.tolist() == [1.3, 1.1]
    assert run.curve("eval_accuracy").epoch.tolist() == [1, 2]
    assert run.state.done_epochs == 2


def test_whole_epochs_beside_steps_tell_how_much_was_done(tmp_path: Path) -> None:
    """Lightning counts from 0: the last of two epochs is done where it has as many steps."""
    rows = [f"{n // 100},{n},1.0" for n in range(9, 150, 10)]
    half = read_text(tmp_path, "\n".join(["epoch,step,train_loss", *rows, ""]))
    assert half.hints.done_epochs == pytest.approx(1.5)


def test_padded_headers_of_yolo_are_stripped(tmp_path: Path) -> None:
    """And its numbers of five digits count as rounded."""
    rows = "".join(f"   {n},   0.1{n}431,  8e-05\n" for n in range(9))
    reading = read_text(tmp_path, f"   epoch,  train/box_loss,   x/lr0\n{rows}", "results.csv")
    assert set(reading.series) == {"train/box_loss", "x/lr0"}
    assert reading.precision == "rounded"


def test_steps_of_stable_baselines_are_those_of_the_environment(tmp_path: Path) -> None:
    """Not its iterations; and the name of its columns tells who wrote them."""
    text = (
        "rollout/ep_rew_mean,time/iterations,time/total_timesteps,train/loss\n"
        "-75.5,1,1024,\n-72.5,2,2048,344.5\n"
    )
    reading = read_text(tmp_path, text, "progress.csv")
    assert reading.series["rollout/ep_rew_mean"].step.tolist() == [1024, 2048]
    assert reading.series["train/loss"].step.tolist() == [2048]
    assert reading.framework == "stable-baselines3"


def test_split_column_tells_validation_from_training(tmp_path: Path) -> None:
    """One column of losses holds both."""
    text = "step,type,loss\n0,val,10.8\n1,train,10.7\n2,train,10.5\n2,val,10.6\n"
    run = read(written(tmp_path, text))
    assert run.curve("train_loss").step.tolist() == [1, 2]
    assert run.curve("eval_loss").step.tolist() == [0, 2]


def test_metric_of_one_split_stays_in_it(tmp_path: Path) -> None:
    """The rate is not measured at an evaluation; the plan stands in each row."""
    text = "step,split,loss,lr,max_epochs\n1,train,2,0.5,3\n1,val,3,,3\n2,train,1,0.25,3\n"
    run = read(written(tmp_path, text))
    assert run.curve("learning_rate").value.tolist() == [0.5, 0.25]
    assert run.curve("eval_loss").value.tolist() == [3]
    assert run.state.planned_epochs == 3


def test_file_name_tells_validation_from_training(tmp_path: Path) -> None:
    """Two tables with the same columns are one run with two curves."""
    written(tmp_path, "epoch,loss\n0,1.0\n1,0.9\n2,0.8\n", "train_log.csv")
    written(tmp_path, "epoch,loss\n0,1.1\n1,1.2\n2,1.3\n", "val_log.csv")
    run = read(tmp_path)
    assert run.curve("train_loss").value.tolist() == [1.0, 0.9, 0.8]
    assert run.curve("eval_loss").value.tolist() == [1.1, 1.2, 1.3]


def test_columns_that_tell_both_data_apart_are_believed_before_the_file(tmp_path: Path) -> None:
    """What is written every epoch is no evaluation alone."""
    text = "ep\txent_tr\txent_dev\tlr\n0\t1.0\t1.1\t0.1\n1\t0.9\t1.2\t0.1\n2\t0.8\t1.3\t0.1\n"
    run = read(written(tmp_path, text, "run_eval_every_epoch.tsv"))
    assert run.curve("train_loss").value.tolist() == [1.0, 0.9, 0.8]
    assert run.curve("eval_loss").value.tolist() == [1.1, 1.2, 1.3]
    assert run.curve("learning_rate").value.tolist() == [0.1, 0.1, 0.1]


def test_steps_within_each_epoch_are_added_up(tmp_path: Path) -> None:
    """And it is said that they were."""
    rows = [f"{epoch},{n},1.0" for epoch in (1, 2, 3) for n in (50, 100, 150)]
    reading = read_text(tmp_path, "\n".join(["epoch,iter,loss", *rows, ""]))
    assert reading.series["loss"].step.tolist() == list(range(50, 451, 50))
    assert reading.steps_inferred
    assert "iter begins anew each epoch" in reading.problems[0].text


def test_two_rows_an_epoch_are_added_up_too(tmp_path: Path) -> None:
    """The epoch goes on as a step would, but the column of the steps is the better one."""
    rows = [f"{epoch},{n},1.0" for epoch in (1, 2, 3) for n in (50, 100)]
    reading = read_text(tmp_path, "\n".join(["epoch,iter,loss", *rows, ""]))
    assert reading.series["loss"].step.tolist() == [50, 100, 150, 200, 250, 300]


def test_step_that_goes_back_begins_the_next_launch(tmp_path: Path) -> None:
    """A resume from a checkpoint appends to the same file; its header may stand there again."""
    head = "step,loss\n"
    first = "".join(f"{n},2.0\n" for n in range(0, 60, 10))
    second = "".join(f"{n},1.5\n" for n in range(30, 90, 10))
    loss = read_text(tmp_path, head + first + head + second).series["loss"]
    assert loss.launch.tolist() == [0] * 6 + [1] * 6
    run = read(tmp_path)
    assert run.curve("train_loss").value.tolist() == [2.0] * 3 + [1.5] * 6


def test_resume_with_epochs_is_a_launch_and_no_new_epoch(tmp_path: Path) -> None:
    """The epoch goes back with the step."""
    steps = [*range(0, 60, 10), *range(30, 90, 10)]
    rows = [f"{n // 20},{n},{1.5 + n / 7}" for n in steps]
    reading = read_text(tmp_path, "\n".join(["epoch,iter,loss", *rows, ""]))
    assert reading.series["loss"].step.tolist() == [*range(0, 60, 10), *range(30, 90, 10)]
    assert not reading.steps_inferred


def test_run_that_was_begun_again_is_no_second_process(tmp_path: Path) -> None:
    """Each step stands there twice, but a whole launch apart."""
    rows = [f"{n},{1.5 + n / 7}" for _ in range(2) for n in range(0, 100, 10)]
    reading = read_text(tmp_path, "\n".join(["step,loss", *rows, ""]))
    assert reading.series["loss"].launch.tolist() == [0] * 10 + [1] * 10
    assert not reading.problems


def test_epoch_of_many_rows_is_not_their_step(tmp_path: Path) -> None:
    """A row a batch without the batch's number: the rows are numbered."""
    rows = [f"{n // 10},{1.5 + n / 7}" for n in range(40)]
    reading = read_text(tmp_path, "\n".join(["epoch,loss", *rows, ""]))
    assert reading.series["loss"].step.tolist() == list(range(40))
    assert reading.series["loss"].epoch[-1] == 3
    assert reading.steps_inferred


def test_table_without_steps_is_numbered_and_says_so(tmp_path: Path) -> None:
    """Only under a name that metrics have, or with the columns of Keras' history."""
    written(tmp_path, "loss,accuracy\n1.0,0.1\n0.9,0.2\n", "history.csv")
    written(tmp_path, "loss,accuracy\n1.0,0.1\n0.9,0.2\n", "train_history_2.csv")
    written(tmp_path, "loss,val_loss\n1.0,1.1\n0.9,1.2\n", "table6.csv")
    written(tmp_path, "loss,accuracy\n1.0,0.1\n0.9,0.2\n", "table7.csv")
    assert sorted(found(tmp_path)) == ["history.csv", "table6.csv", "train_history_2.csv"]
    reading = csv_log.read(tmp_path / "history.csv")
    assert reading.series["loss"].step.tolist() == [0, 1]
    assert reading.steps_inferred
    assert "without a step number" in reading.problems[0].text


@pytest.mark.parametrize(
    "text",
    [
        "id,text,label\n1,hello,0\n2,there,1\n",
        "date,open,close,return\n2020-01-01,1,2,0.1\n",
        "frame,x,y,score\n0,1.0,2.0,0.9\n1,1.0,2.0,0.8\n",
        "task,metric,value\narc,acc,0.3\n",
        "model,loss,accuracy\nbert,0.3,0.9\n",
        "step,prompt,reward\n1," + "long " * 100 + ",0.5\n",
        "1,2,3\n4,5,6\n",
        "",
        "step,loss\n",
    ],
)
def test_data_is_no_log(tmp_path: Path, text: str) -> None:
    """A folder of data sets and results is not taken for runs."""
    written(tmp_path, text, "table.csv")
    assert found(tmp_path) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [("data.csv", "1.5\n2.5\n3.5\n"), ("log.csv", "user,visits\n1,2\n7,3\n2,5\n")],
)
def test_other_numbers_are_no_log(tmp_path: Path, name: str, text: str) -> None:
    """A column of a file whose name says nothing; a table in which nothing counts."""
    written(tmp_path, text, name)
    assert found(tmp_path) == []


@pytest.mark.parametrize("name", ["metrics.csv", "run7.CSV", "log.tsv"])
def test_logs_are_found_under_any_name(tmp_path: Path, name: str) -> None:
    """It is the columns that tell; older copies of a notebook server are left out."""
    mark = "\t" if name.endswith("tsv") else ","
    written(tmp_path, f"iteration{mark}loss\n1{mark}0.5\n", name)
    written(tmp_path, "iteration,loss\n1,0.5\n", ".ipynb_checkpoints/metrics-checkpoint.csv")
    assert found(tmp_path) == [name]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("step;loss\n1;0,5\n", 0.5),
        ("step\tloss\n1\t0.5\n", 0.5),
        ('"step","loss"\n1,"tensor(0.5, device=\'cuda:0\')"\n', 0.5),
        ("# run 7\n\nstep,loss\n1,0.5\n", 0.5),
        ("\ufeffstep,loss\r\n1,0.5\r\n", 0.5),
        ("step,loss\n1,N/A\n2,0.5\n", 0.5),
        ("step,loss,val_loss\n1,0.5,N/A\n", 0.5),
    ],
)
def test_ways_of_writing_a_table(tmp_path: Path, text: str, value: float) -> None:
    """Delimiters, decimal commas, tensors, comments, byte-order marks."""
    reading = read_text(tmp_path, text)
    assert reading.series["loss"].value.tolist() == [value]
    assert not reading.problems


@pytest.mark.parametrize("order", ["utf-16-le", "utf-16-be"])
def test_table_of_powershell(order: str, tmp_path: Path) -> None:
    """Its ">" writes UTF-16 with a byte-order mark."""
    path = tmp_path / "metrics.csv"
    path.write_bytes("\ufeffstep,loss\r\n1,0.5\r\n".encode(order))
    assert csv_log.read(path).series["loss"].value.tolist() == [0.5]


def test_only_so_much_of_a_table_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rest is told with its size."""
    text = "step,loss\n" + "".join(f"{n},0.5\n" for n in range(2**19))
    path = written(tmp_path, text)
    monkeypatch.setattr(log_table, "MAX_LOG", 2**20)
    reading = csv_log.read(path)
    assert [problem.lost for problem in reading.problems] == ["4 MiB"]
    assert "only its first 1 MiB were read" in reading.problems[0].text
    assert 90_000 < len(reading.series["loss"].step) < 2**19


def test_empty_table_is_one_line(tmp_path: Path) -> None:
    """Where it is named itself."""
    with pytest.raises(NothingReadable, match="is empty"):
        read(written(tmp_path, ""))


def test_time_stamps_become_seconds(tmp_path: Path) -> None:
    """Numbers since 1970 in seconds or milliseconds, or dates; a time of a clock stays a metric."""
    seconds = read_text(tmp_path, "step,time,loss\n1,1700000000.5,1.0\n").series
    assert seconds["loss"].time.tolist() == [1_700_000_000.5]
    text = "step,date,loss\n1,2023-11-14T22:13:20,1.0\n2,soon,0.5\n"
    dates = read_text(tmp_path, text).series
    np.testing.assert_array_equal(dates["loss"].time, [1_700_000_000, math.nan])
    none = read_text(tmp_path, "step,date,loss\n1,soon,1.0\n2,9999-99-99,0.5\n").series
    assert np.isnan(none["loss"].time).all()
    clock = read_text(tmp_path, "step,time,loss\n1,12.5,1.0\n").series
    assert clock["time"].value.tolist() == [12.5]


def test_exported_curve_is_named_by_its_file(tmp_path: Path) -> None:
    """TensorBoard's page writes one metric a file, as "Value"."""
    text = "Wall time,Step,Value\n1700000000.0,1,2.0\n1700000001.0,2,1.5\n"
    path = written(tmp_path, text, "run-a-tag-train_loss.csv")
    assert found(tmp_path) == [path.name]
    assert csv_log.read(path).series["train_loss"].step.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("last", "whole"),
    [("6,3.9799", True), ("6,3.97", False), ("6,3", False), ("6", False), ("6,3.97991", False)],
)
def test_a_last_row_without_a_line_end(tmp_path: Path, last: str, whole: bool) -> None:
    """It is whole where its number has as many decimals as all above it: programs join lines."""
    rows = [f"{n},4.{n}049" for n in range(1, 6)]
    reading = read_text(tmp_path, "\n".join(["step,loss", *rows, last]))
    assert len(reading.series["loss"].value) == 5 + whole
    assert whole == (not reading.problems)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("step,loss,lr\n1,0.5,0.1\n2,0.4", "ends in the middle of a row"),
        ("step,loss\n1,0.5\n2,0.4,7\n3,0.3\n", "more or fewer cells"),
        ("step,loss\n1,[a]\n2,[b]\n", "holds no number but '[a]'"),
        ("1,2,a\n2,3,b\n", "no header row"),
        ("step,height\n1,0.5\n", "no column of what trainings log"),
        ("# a comment\n\n", "holds no row"),
        ("", "is empty"),
        ("step,loss\n1,0.5\n2," + "9" * 100_000 + "%\n", ""),
        ('step,loss\n1,0.5\n2,"0.4' + "x" * 200_000, "cannot be read to its end"),
    ],
)
def test_what_is_lost_is_said(tmp_path: Path, text: str, word: str) -> None:
    """In one line, and what lies before it is kept."""
    reading = read_text(tmp_path, text)
    assert [problem.text for problem in reading.problems if word in problem.text] or not word
    assert len(reading.problems) == bool(word)
    if "loss\n1,0.5" in text:
        assert reading.series["loss"].value[0] == 0.5


@given(st.binary(max_size=300))
def test_no_content_raises(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    """Whatever stands below a header, the reader ends with a reading."""
    path = tmp_path_factory.mktemp("any") / "metrics.csv"
    path.write_bytes(b"epoch,step,time,loss\n" + data)
    reading = csv_log.read(path)
    assert all(len(series.step) == len(series.value) for series in reading.series.values())


@pytest.mark.parametrize(
    ("hparams", "loss", "task"),
    [
        ("num_layers: 12\nd_model: 768\nvocab_size: 50258\n", 3.8, "pretrain"),
        ("pretrained_model_name_or_path: gpt2\n", 2.4, "sft"),
        ("pretrained_model_name_or_path: bert-base-cased\n", 2.4, "other"),
        ("num_layers: 2\nzsize: 60\n", 2805.0, "other"),
        ("", 8.5, "other"),
        ("", 10.5, "pretrain"),
    ],
)
def test_settings_beside_a_table_tell_the_task(
    tmp_path: Path, hparams: str, loss: float, task: str
) -> None:
    """A model's own shape is trained from nothing, a language model that is named is tuned."""
    text = "".join(f"0,{n},{loss - n / 1000}\n" for n in range(49, 400, 50))
    written(tmp_path, f"epoch,step,train_loss\n{text}")
    if hparams:
        (tmp_path / "hparams.yaml").write_text(hparams)
    assert read(tmp_path).task == task


def test_table_and_printed_log_of_one_run_stay_one_run(tmp_path: Path) -> None:
    """The baselines' logger writes both."""
    rows = [(n * 100, 1.0 + n / 7, 5.5 - n / 9) for n in range(1, 9)]
    table = "".join(f"{step},{reward},{loss}\n" for step, reward, loss in rows)
    written(tmp_path, f"frame,episode_reward,value_loss\n{table}", "progress.csv")
    line = "-" * 26
    printed = "".join(
        f"{line}\n| episode_reward | {reward:.3g} |\n| frame | {step} |\n"
        f"| value_loss | {loss:.3g} |\n{line}\n"
        for step, reward, loss in rows
    )
    (tmp_path / "log.txt").write_text(printed)
    run = read(tmp_path)
    assert run.curve("reward").value.tolist() == [reward for _, reward, _ in rows]
    assert len(run.curve("value_loss")) == 8


@pytest.mark.parametrize(
    "counter", ["n_iter", "opt_step", "batch_no", "it", "stats/update", "i", "t", "k"]
)
def test_a_counter_of_any_name_is_the_step(tmp_path: Path, counter: str) -> None:
    """By its words, or because it counts on from row to row."""
    rows = "".join(f"{n * 10},{3 - n / 8}\n" for n in range(8))
    (tmp_path / "curve.csv").write_text(f"{counter},avg_loss\n{rows}")
    curve = read(tmp_path).history.curve("train_loss")
    assert curve.step.tolist() == list(range(0, 80, 10))


@pytest.mark.parametrize("counter", ["id", "sample_id", "Unnamed: 0"])
def test_a_table_of_samples_is_no_log(tmp_path: Path, counter: str) -> None:
    """Insurers' claims have a loss each, too."""
    rows = "".join(f"{n},{3 - n / 8}\n" for n in range(8))
    (tmp_path / "claims.csv").write_text(f"{counter},loss\n{rows}")
    assert csv_log.find(tmp_path, {tmp_path: ["claims.csv"]}) == []


@pytest.mark.parametrize("steps", [[0, 1, 2, 3], [0, 1, 3, 4, 5, 6], [9, 8, 7, 6, 5, 4]])
def test_few_or_uneven_numbers_of_an_unknown_name_are_no_step(
    tmp_path: Path, steps: list[int]
) -> None:
    """Five that count on by the same amount are no chance."""
    rows = "".join(f"{n},{3 - n / 8}\n" for n in steps)
    (tmp_path / "curve.csv").write_text(f"q,avg_loss\n{rows}")
    assert csv_log.find(tmp_path, {tmp_path: ["curve.csv"]}) == []


@pytest.mark.parametrize(
    ("name", "text", "metric"),
    [
        ("loss.csv", "loss,part,time\n1.7,0.2,2024-05-13 12:26:23\n1.5,0.1,2024-05-13 12:27:23\n",
         "train_loss"),
        ("phased.csv", "phase,global_episode,episode_return,val\n1,1,-4,\n1,2,-2,\n1,3,7,5\n",
         "reward"),
        ("val_loss.csv", "\n2.5e-01\n2.4e-01\n1.9e-01\n1.4e-01\n", "eval_loss"),
        ("progress.csv", "regret,t\n0.6,0\n0.5,1\n0.3,10\n0.2,100\n", "regret"),
    ],
)  # fmt: skip
def test_tables_that_are_a_log_all_the_same(
    tmp_path: Path, name: str, text: str, metric: str
) -> None:
    """A time beside losses without a step; the returns of episodes; numbers named by their file.

    Under the name of a training log what is counted is a curve, though nobody knows the metric.
    """
    (tmp_path / name).write_text(text)
    assert len(read(tmp_path).curve(metric)) == text.count("\n") - 1


ROWS = "".join(f"{n},{0.1 * n}\n" for n in range(9))


@pytest.mark.parametrize(
    ("above", "set_"),
    [
        ("# args: Namespace(lr_pi=60.0, ent_coef=0.0)\n", {"lr_pi": 60.0, "ent_coef": 0.0}),
        ("# run 3\n# python pg.py --lr 0.1 --seed 3\n", {"lr": 0.1, "seed": 3}),
        ("# the seed: 3, and the rest is as it was\n", {}),
        ("", {}),
    ],
)
def test_settings_above_a_table_are_read(
    tmp_path: Path, above: str, set_: dict[str, float]
) -> None:
    """What a program was started with stands behind the sign of a remark; prose sets nothing."""
    reading = read_text(tmp_path, f"{above}iter,avg_ret\n{ROWS}")
    assert reading.config == set_
    assert len(reading.series["avg_ret"].value) == 9
