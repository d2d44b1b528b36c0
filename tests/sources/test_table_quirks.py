"""Oddities of tables and JSON Lines as real runs have them, one test each, on small files of ours.

What every writer does is in `test_csv_log` and `test_jsonl_log`.
"""

import json
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from runlens import read, read_all
from runlens.errors import NothingReadable
from runlens.metrics import naming
from runlens.sources.tables import csv_log


def put(folder: Path, name: str, text: str) -> Path:
    """Write a file."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, newline="")
    return folder


def factory(step: int, total: int = 360, **more: Any) -> str:
    """Return a row of LLaMA-Factory as old releases write it: null where nothing was measured."""
    empty = {"loss": None, "eval_loss": None, "predict_loss": None, "reward": None}
    row = {"current_steps": step, "total_steps": total, **empty, "learning_rate": None, **more}
    return json.dumps({**row, "epoch": step / 18, "elapsed_time": "9 days, 21:49:18"}) + "\n"


def test_lightning_writes_training_validation_and_epochs_to_rows_of_their_own(
    tmp_path: Path,
) -> None:
    """CRLF; the step stands there up to three times; `_step` and `_epoch` are one metric twice."""
    rows = ["epoch,lr-AdamW,step,train_loss_epoch,train_loss_step,val_loss_epoch,val_loss_step"]
    for epoch in range(3):
        first = 100 * epoch
        rows += [f"{epoch},0.01,{first + n},,{3 - (first + n) / 200},," for n in (49, 99)]
        rows += [f"{epoch},,{first + 99},,,{2.5 - epoch / 4},{2.5 - epoch / 4}"]
        rows += [f"{epoch},,{first + 99},{2.75 - epoch / 2},,,"]
    text = "".join(f"{row}\r\n" for row in rows)
    place = put(tmp_path, "lightning_logs/version_0/metrics.csv", text)
    put(tmp_path, "lightning_logs/version_0/hparams.yaml", "lr: 0.01\nbatch_size: 8\n")
    run = read(place)
    assert run.curve("train_loss").step.tolist() == [49, 99, 149, 199, 249, 299]
    assert run.curve("train_loss_epoch").value.tolist() == [2.75, 2.25, 1.75]
    assert run.curve("eval_loss").step.tolist() == [99, 199, 299]
    assert run.curve("eval_loss").epoch.tolist() == [0, 1, 2]
    assert run.curve("learning_rate").step.tolist() == run.curve("train_loss").step.tolist()
    assert run.framework == "lightning"
    assert run.config["learning_rate"].value == 0.01
    assert not run.problems


def test_version_that_goes_on_with_another_starts_far_from_zero(tmp_path: Path) -> None:
    """Its first step is the last of the version before, its epoch goes on: nothing is missing."""
    text = "epoch,step,train_loss\n" + "".join(
        f"{12 + n // 5},{140749 + 50 * n},{3.7 - n / 100}\n" for n in range(12)
    )
    run = read(put(tmp_path, "version_5/metrics.csv", text))
    assert (run.first_step, run.last_step) == (140749, 141299)
    assert len(run.segments) == 1
    assert not run.problems


@pytest.mark.parametrize("name", ["metrics.csv", "trainer_state.json", "log.jsonl", "train.log"])
def test_copies_of_jupyter_are_left_alone(name: str, tmp_path: Path) -> None:
    """They are older, and of the same run."""
    text = "step,loss\n" + "".join(f"{n},{3 - n / 10}\n" for n in range(20))
    put(tmp_path, "metrics.csv", text)
    put(tmp_path, f".ipynb_checkpoints/{Path(name).stem}-checkpoint{Path(name).suffix}", text[:60])
    put(tmp_path, f".ipynb_checkpoints/{name}", text[:60])
    run = read(tmp_path)
    assert run.sources == ("metrics.csv",)
    assert len(run.curve("train_loss")) == 20


def test_progress_of_stable_baselines_in_any_order(tmp_path: Path) -> None:
    """A set was written: columns stand in any order; nothing was trained in the first row.

    `entropy_loss` is minus the entropy.
    """
    text = (
        "train/entropy_loss,time/iterations,rollout/ep_rew_mean,train/value_loss,"
        "time/total_timesteps,train/approx_kl,train/explained_variance\n"
        ",1,-75.5,,2048,,\n-0.69,2,-60.0,344.5,4096,0.01,nan\n-0.07,3,583,9000,6144,0.02,0.5\n"
    )
    run = read(put(tmp_path, "PPO_MLP/progress.csv", text))
    assert run.curve("reward").step.tolist() == [2048, 4096, 6144]
    assert run.curve("entropy").value.tolist() == [0.69, 0.07]
    assert run.curve("value_loss").step.tolist() == [4096, 6144]
    assert (run.framework, run.task) == ("stable-baselines3", "rl")


def test_table_beside_a_longer_log_of_the_run_adds_nothing_twice(tmp_path: Path) -> None:
    """progress.csv holds the last start alone, the other log all of them."""
    rows = [{"step": n, "loss": 3 - n / 100, "grad_norm": 1 / n} for n in range(10, 301, 10)]
    put(tmp_path, "log.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
    last = "".join(f"{row['step']},{row['loss']}\n" for row in rows[-8:])
    run = read(put(tmp_path, "progress.csv", f"step,loss\n{last}"))
    assert run.curve("train_loss").step.tolist() == [row["step"] for row in rows]
    assert not run.problems


def test_guided_diffusion_writes_quartiles_and_a_printed_table(tmp_path: Path) -> None:
    """`samples` and `loss_q0` are no steps and no other losses; there is no time."""
    rows = [(n * 10, 0.5 - n / 100, 0.25 - n / 200) for n in range(1, 12)]
    names = "grad_norm,loss,loss_q0,loss_q3,mse,samples,step"
    table = "".join(
        f"0.125,{loss},{part},{loss * 2},{loss},{n * 64},{n}\n" for n, loss, part in rows
    )
    put(tmp_path, "progress.csv", f"{names}\n{table}")
    line = "-" * 24
    printed = "".join(
        f"{line}\n| grad_norm | 0.125    |\n| loss      | {loss:.3g} |\n| samples   | {n * 64} |\n"
        f"| step      | {n} |\n{line}\n"
        for n, loss, _ in rows
    )
    put(tmp_path, "log.txt", f"Logging to /tmp/x\ntraining...\n{printed}")
    run = read(tmp_path)
    assert run.curve("train_loss").step.tolist() == [n for n, _, _ in rows]
    assert run.curve("train_loss").value.tolist() == [loss for _, loss, _ in rows]
    assert run.curve("loss_q0").value.tolist() == [part for _, _, part in rows]
    assert run.curve("samples").value[-1] == 110 * 64


def test_yolo_pads_its_names_and_numbers(tmp_path: Path) -> None:
    """One row an epoch, counted from 0; the rates of three groups."""
    names = [
        "epoch",
        "train/box_loss",
        "metrics/mAP_0.5",
        "val/box_loss",
        "x/lr0",
        "x/lr1",
        "x/lr2",
    ]
    rows = [[n, 0.1 - n / 100, n / 10, 0.2 - n / 100, 0.001, 0.001, 0.09] for n in range(3)]
    text = ",".join(f"{name:>20}" for name in names) + "\n"
    text += "".join(",".join(f"{value:>20.5g}" for value in row) + "\n" for row in rows)
    run = read(put(tmp_path, "exp/results.csv", text))
    assert run.curve("eval_box_loss").value.tolist() == [0.2, 0.19, 0.18]
    assert run.curve("learning_rate").step.tolist() == [0, 1, 2]
    assert run.curve("eval_box_loss").epoch.tolist() == [1, 2, 3]


def test_table_without_names_says_so(tmp_path: Path) -> None:
    """Its first row are numbers, its own name has blanks and colons; the columns are numbered."""
    path = tmp_path / "log 2023-08-04 10:20:30 reward model.csv"
    path.write_text("0,0.693,0.5\n1,0.52,0.75\n2,0.5,0.8\n")
    (run,) = read_all(path)
    assert run.curve("column 2").value.tolist() == [0.693, 0.52, 0.5]
    assert any("no header row that names its columns" in problem.text for problem in run.problems)
    assert len(read(path, columns={"train_loss": "column 2"}).curve("train_loss")) == 3


def test_table_without_names_in_a_folder(tmp_path: Path) -> None:
    """A file that is called a log of a training is one; any other table of numbers is data."""
    rows = "".join(f"{n // 2},{n % 3},{1 - n / 1000:.3f}\n" for n in range(40))
    put(tmp_path, "one/training_log.csv", rows)
    put(tmp_path, "two/table.csv", rows)
    assert len(read(tmp_path / "one").curve("column 3")) == 40
    with pytest.raises(NothingReadable):
        read_all(tmp_path / "two")


def test_a_counter_and_a_loss_that_pandas_named_by_numbers(tmp_path: Path) -> None:
    """Of a frame of pairs, the step first, in a file that is called after the loss."""
    rows = "".join(f"{n},{n + 540},{2 - n / 20}\n" for n in range(12))
    loss = read(put(tmp_path, "train_loss.csv", f",0,1\n{rows}")).curve("train_loss")
    assert loss.step.tolist() == list(range(540, 552))
    assert loss.value[0] == 2


def test_scores_of_a_series_beside_the_name_of_their_model(tmp_path: Path) -> None:
    """What is no score of a training may be a word."""
    text = ",0\nModel Name,Forest of 100\nMAE,482.5\nR2,0.25\n"
    run = read(put(tmp_path, "results.csv", text))
    assert run.curve("train_loss").value.tolist() == [482.5]  # the error, as no loss is logged
    assert run.curve("R2").value.tolist() == [0.25]


def test_table_that_pandas_named_by_numbers(tmp_path: Path) -> None:
    """A frame of a list of lists: its columns are called 0, 1, 2; a list alone is the file's."""
    rows = "".join(f"{n},{2 - n / 20},{1 + n / 10}\n" for n in range(12))
    run = read(put(tmp_path, "logs/loss.csv", f",0,1\n{rows}"))
    assert run.curve("column 2").value[:2].tolist() == [1.0, 1.1]
    assert run.curve("column 1").step.tolist() == list(range(12))
    alone = "".join(f"{n},{2 - n / 20}\n" for n in range(12))
    assert (
        len(read(put(tmp_path / "a", "train_loss.csv", f",0\n{alone}")).curve("train_loss")) == 12
    )


def test_table_that_lies_on_its_side(tmp_path: Path) -> None:
    """Each row is a curve, as `writerow(losses)` leaves it; the first cell may be its name."""
    losses = [round(2.5 - n / 100, 2) for n in range(40)]
    rows = [",".join(map(str, some)) for some in (losses, losses[:39])]
    run = read(put(tmp_path, "losses.csv", "\n".join([*rows, ""])))
    assert run.curve("column 1").value.tolist() == losses
    assert run.curve("column 2").value.tolist() == losses[:39]
    named = read(put(tmp_path / "a", "history.csv", f"loss,{rows[0]}\nval_loss,{rows[1]}"))
    assert named.curve("train_loss").value.tolist() == losses
    assert len(named.curve("eval_loss")) == 39
    wide = "\n".join(rows * 3)  # forty columns of six rows: a table
    assert len(read(put(tmp_path / "b", "losses.csv", f"{wide}\n")).curve("column 1")) == 6


def test_rounds_of_federated_training_count(tmp_path: Path) -> None:
    """The epoch within a round stands still; where it counts, rounds stand for several rows."""
    still = "".join(f"{n},1,{3 - n / 10}\n" for n in range(1, 7))
    run = read(put(tmp_path, "metrics.csv", f"round,epoch,loss\n{still}"))
    assert run.curve("train_loss").step.tolist() == [1, 2, 3, 4, 5, 6]
    within = "".join(f"{n},{k},{3 - n / 10 - k / 99}\n" for n in range(3) for k in range(3))
    run = read(put(tmp_path / "a", "metrics.csv", f"round,epoch,loss\n{within}"))
    assert len(run.curve("train_loss")) == 9


def test_column_that_is_never_finite_is_no_number_of_the_run(tmp_path: Path) -> None:
    """NaN all the way down is told as such, an empty column is not there at all."""
    rows = "".join(f"{n},{3 - n / 10},nan,,\n" for n in range(12))
    run = read(put(tmp_path, "training_metrics.csv", f"step,loss,val_loss,kl,\n{rows}"))
    assert len(run.curve("train_loss")) == 12
    assert set(run.history.metrics) <= {"train_loss", "eval_loss"}
    assert not any(value == value for value in run.curve("eval_loss").value)  # noqa: PLR0124 - NaN


def test_table_of_one_row_is_a_run_of_one_step(tmp_path: Path) -> None:
    """Short, and read all the same."""
    place = put(tmp_path, "version_0/metrics.csv", "epoch,step,train_loss\n0,49,2.5\n")
    run = read(place)
    assert run.curve("train_loss").step.tolist() == [49]
    assert run.curve("train_loss").value.tolist() == [2.5]


@pytest.mark.parametrize(
    ("text", "plan"),
    [
        ("model,epochs,train_batch_size,auc_on_test\na,300,32,0.815\n", 300),
        ("epochs,optimizer,auc_on_test\n300,Adam,0.815\n", 300),
        ("epochs,lr,train_loss\n3,0.1,0.5\n", None),
        ("epoch,batch_size,train_loss\n3,32,0.5\n", None),
    ],
)
def test_a_result_beside_its_settings_was_given_its_epochs(
    text: str, plan: int | None, tmp_path: Path
) -> None:
    """A log that has come to its first row says how far, not how far it goes."""
    run = read(put(tmp_path, "train.csv", text) / "train.csv")
    assert run.state.planned_epochs == plan


def test_a_sum_of_steps_beside_those_of_each_round_counts_no_rows(tmp_path: Path) -> None:
    """``train_steps`` stands still where ``train_step`` goes on, and anew in each round."""
    rounds = (12, 12, 8, 10, 9)
    done = list(accumulate(rounds))
    rows = [
        f"{n + 1},{at},{done[n]},32,{5 / (n + 1) + at / 100}"
        for n, many in enumerate(rounds)
        for at in range(many)
    ]
    table = tmp_path / "train_metrics.csv"
    table.write_text(
        "\n".join(["batch_index,train_step,train_steps,mini_batch_size,loss", *rows, ""])
    )
    curve = read(table).curve("train_loss")
    assert curve.step.tolist() == list(range(sum(rounds)))


def test_keras_that_appends_begins_its_epochs_again(tmp_path: Path) -> None:
    """CSVLogger(append=True) after a restart: the later launch counts from there on."""
    text = "epoch,accuracy,loss\n" + "".join(f"{n},0.5,{2 - n / 10}\n" for n in range(6))
    text += "".join(f"{n},0.5,{1.2 - n / 10}\n" for n in range(3, 6))
    run = read(put(tmp_path, "training.csv", text))
    assert run.curve("train_loss").step.tolist() == [0, 1, 2, 3, 4, 5]
    assert run.curve("train_loss").value.tolist()[3:] == pytest.approx([0.9, 0.8, 0.7])
    assert len(run.segments) == 2


def test_best_model_that_is_evaluated_at_the_end_is_no_point_of_the_last_step(
    tmp_path: Path,
) -> None:
    """Its loss is that of step 100, to the last digit: the curve does not come back down."""
    rows = [factory(n, loss=2 - n / 250, learning_rate=1e-4) for n in range(20, 361, 20)]
    rows.insert(5, factory(100, eval_loss=1.466796875))
    rows.insert(11, factory(200, eval_loss=1.4736328125))
    rows.insert(17, factory(300, eval_loss=1.501953125))
    rows += [factory(360), factory(360), factory(360, eval_loss=1.466796875)]
    run = read(put(tmp_path, "trainer_log.jsonl", "".join(rows)))
    assert run.curve("eval_loss").step.tolist() == [100, 200, 300]
    assert run.curve("train_loss").step.tolist() == list(range(20, 361, 20))
    assert run.curve("learning_rate").step[-1] == 360
    assert run.state.planned_steps == 360


def test_evaluation_of_the_last_model_after_the_end_is_a_point(tmp_path: Path) -> None:
    """A value that was not there before is that of the last step."""
    rows = [factory(n, loss=2 - n / 250) for n in range(20, 361, 20)]
    rows += [factory(360), factory(360, eval_loss=1.4)]
    run = read(put(tmp_path, "trainer_log.jsonl", "".join(rows)))
    assert run.curve("eval_loss").step.tolist() == [360]


def test_log_of_llama_factory_that_just_stops(tmp_path: Path) -> None:
    """Step 14 of 156 and no closing row: ended before its plan, nobody knows why."""
    rows = [factory(n, 156, loss=1.5) for n in range(2, 15, 2)]
    run = read(put(tmp_path, "trainer_log.jsonl", "".join(rows)))
    assert run.state.kind == "stopped_early"
    assert run.state.done_steps == 14


def test_small_losses_of_llama_factory_are_rounded_not_zero(tmp_path: Path) -> None:
    """Four digits behind the point are all it keeps."""
    losses = [round(6.25 / n**2 + 1e-4, 4) for n in range(5, 361, 5)]
    rows = [factory(5 * n, loss=loss) for n, loss in enumerate(losses, 1)]
    run = read(put(tmp_path, "trainer_log.jsonl", "".join(rows)))
    assert run.curve("train_loss").value.tolist() == losses
    assert len(run.curve("grad_norm")) == 0


def test_swift_reads_rows_or_their_copy_but_not_both(tmp_path: Path) -> None:
    """The last line holds all rows once more."""
    rows = [
        {"loss": 20.5 - n / 2, "grad_norm": 3.0, "learning_rate": 1e-5, "token_acc": 0.5,
         "memory(GiB)": 15.97, "train_speed(iter/s)": 0.13, "elapsed_time": f"{n}m 19s",
         "global_step/max_steps": f"{n}/30", "percentage": "2%", "epoch": n / 10}
        for n in (1, 10, 20, 30)
    ]  # fmt: skip
    last = {"log_history": [{**row, "step": 1} for row in rows], "train_dataset": "x", "epoch": 3.0}
    text = "".join(f"{json.dumps(row)}\n" for row in [*rows, last])
    run = read(put(tmp_path, "v0-20260101-000000/logging.jsonl", text))
    assert run.curve("train_loss").step.tolist() == [1, 10, 20, 30]
    assert run.curve("token_accuracy").value.tolist() == [0.5] * 4
    assert run.curve("throughput_steps").value.tolist() == [0.13] * 4
    assert (run.framework, run.state.planned_steps) == ("ms-swift", 30)


def test_chat_under_the_name_of_a_log_is_none(tmp_path: Path) -> None:
    """It is the rows that tell."""
    rows = [{"role": "user", "content": "loss of data", "time": 1.5, "step": 1}] * 3
    text = "".join(f"{json.dumps(row)}\n" for row in rows)
    with pytest.raises(NothingReadable):
        read_all(put(tmp_path, "logging.jsonl", text))


@pytest.mark.parametrize("steps", ["0.5 1.5 2.5", "-3 -2 -1", "nan nan nan"])
def test_column_that_only_is_called_step_is_none(steps: str, tmp_path: Path) -> None:
    """Fractions, negative numbers, nothing: the rows are numbered, and the reader says so."""
    rows = "".join(f"{step},{3 - n}\n" for n, step in enumerate(steps.split()))
    run = read(put(tmp_path, "metrics.csv", f"step,loss\n{rows}") / "metrics.csv")
    assert run.curve("train_loss").step.tolist() == [0, 1, 2]
    assert "were numbered row by row" in run.problems[0].text


def test_step_that_a_resume_says_twice_alike_is_no_contradiction(tmp_path: Path) -> None:
    """Another value stands at that step in the launch before: only launches are compared."""
    before, after = [(10, 4), (20, 3), (30, 2), (40, 1)], [(20, 9), (20, 9), (30, 8), (40, 7)]
    rows = "".join(f"{step},{loss}\n" for step, loss in before + after)
    run = read(put(tmp_path, "metrics.csv", f"step,loss\n{rows}"))
    assert [(s.first_step, s.last_step) for s in run.segments] == [(10, 40), (20, 40)]
    assert run.problems == ()


@pytest.mark.parametrize(
    ("name", "text", "metric", "values"),
    [
        ("history.csv", "6.5e-01\n0.4\n0.3\n", "column 1", [0.65, 0.4, 0.3]),
        ("m.csv", "epoch,1,2,3,4,5,6\ntrain_loss,6,5,4,3,2,1.5\nval_loss,9,8,7,6,5,4\n",
         "train_loss", [6, 5, 4, 3, 2, 1.5]),
        ("m.csv", "metric,1,2,3,4,5,6\nloss,6,5,4,3,2,1.5\n", "train_loss",
         [6, 5, 4, 3, 2, 1.5]),
        ("m.csv", "loss,6,5,4,3,2,1.5\n", "train_loss", [6, 5, 4, 3, 2, 1.5]),
        ("m.csv", "loss acc\n1 0.5 0.6\n".replace(" ", ","), "", []),
        ("m.csv", "loss\tacc\n1\t0.5\t0.6\n2\t0.4\t0.7\n3\t0.3\t0.8\n4\t0.2\t0.9\n5\t0.1\t0.9\n",
         "train_loss", [0.5, 0.4, 0.3, 0.2, 0.1]),  # R names no column for the numbers of its rows
        ("m.csv", "step,loss,loss,step\n1,0.5,0.6,7\n2,0.4,0.5,7\n", "loss (2)", [0.6, 0.5]),
    ],
)  # fmt: skip
def test_tables_with_few_names(
    tmp_path: Path, name: str, text: str, metric: str, values: list[float]
) -> None:
    """One column of numbers, a curve in each row, numbered rows, the same name twice."""
    (tmp_path / name).write_text(text)
    read = csv_log.read(tmp_path / name)
    found = {naming(called).metric: some.value.tolist() for called, some in read.series.items()}
    assert found.get(metric, []) == values


@pytest.mark.parametrize("text", ["7\n8\n9\n", "loss,0.5,0.1\nacc,0.8,0.2\n", "a,b\n1,2,3\n"])
def test_tables_that_are_no_curves(tmp_path: Path, text: str) -> None:
    """Labels, means with their deviations, rows that are wider and do not count."""
    (tmp_path / "m.csv").write_text(text)
    assert not csv_log.read(tmp_path / "m.csv").series


@pytest.mark.parametrize(
    ("cell", "encoding"),
    [
        ("{:.2f} ± {:.3f}", "utf-8"),
        ("{:.2f} ± {:.3f}", "latin-1"),
        ("{:.2f}Â±{:.3f}", "utf-8"),
        ("{:.2f} +/- {:.3f}", "utf-8"),
        ("{:.2f}+-{:.1e}", "utf-8"),
        ("{:.2f} ({:.3f})", "utf-8"),
        ("${:.2f} \\pm {:.3f}$", "utf-8"),
        ("{:.2f}% ± {:.3f}%", "utf-8"),
    ],
)
def test_the_mean_of_a_cell_with_its_deviation_is_its_value(
    tmp_path: Path, cell: str, encoding: str
) -> None:
    """That the deviations were left out is told."""
    rows = (f"{n},{cell.format(4 / n, 0.2 / n)},{cell.format(-n, 1)}\n" for n in range(1, 9))
    (tmp_path / "log.csv").write_text("epoch,train loss,ssim\n" + "".join(rows), encoding)
    run = read(tmp_path)
    assert run.curve("train_loss").value.tolist() == [round(4 / n, 2) for n in range(1, 9)]
    assert run.curve("ssim").value[-1] == -8
    assert any("deviation" in problem.text for problem in run.problems)


def test_the_mean_of_a_cell_with_commas_for_points(tmp_path: Path) -> None:
    """As spreadsheets of Europe write it."""
    text = "epoch;loss\n" + "".join(f"{n};{64 // n},5 ± 0,25\n" for n in range(1, 9))
    (tmp_path / "log.csv").write_text(text)
    expected = [64 // n + 0.5 for n in range(1, 9)]
    assert read(tmp_path).curve("train_loss").value.tolist() == expected


@pytest.mark.parametrize(("value", "is_score"), [(0, False), (0.5, True)])
def test_a_counter_of_batches_that_are_added_up_is_no_accuracy(
    tmp_path: Path, value: float, is_score: bool
) -> None:
    """``acc_step`` is one where it has a share."""
    rows = ({"global_step": n, "acc_step": value * n / 8, "loss": 4 / (n + 1)} for n in range(9))
    put(tmp_path, "metrics.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
    assert ("train_accuracy" in read(tmp_path).history.metrics) == is_score
