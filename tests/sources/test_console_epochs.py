"""Rows, steps and epochs of consoles that count within an epoch, once an epoch, or in a bar."""

import json
from pathlib import Path

import numpy as np
import pytest

from runlens import diagnose, read_all
from runlens.run import Run

FILL = "==================="


def _run(tmp_path: Path, text: str, name: str = "train.log", encoding: str = "utf-8") -> Run:
    path = tmp_path / name
    path.write_text(text + "\n", encoding=encoding)
    (run,) = read_all(path)
    return run


def _hapi(epoch: int) -> str:
    train = [
        f"    step {batch:2d}/31 - loss: {2 - epoch / 5 - batch / 100:.4f} - acc: 0.5 - 99ms/step"
        for batch in (10, 20, 30, 31)
    ]
    held_out = [
        f"    step {batch}/9 - loss: {3 - epoch / 5 - batch / 100:.4f} - acc: 0.4 - 9ms/step"
        for batch in (5, 9)
    ]
    lines = [f"    Epoch {epoch}/4", *train, "    Eval begin...", *held_out, "    Eval samples: 77"]
    return "\n".join(lines)


def test_steps_within_an_epoch_that_a_line_above_names_go_on(tmp_path: Path) -> None:
    """Steps within an epoch that a line above names go on."""
    run = _run(tmp_path, "\n".join(map(_hapi, range(1, 5))))
    loss, held_out = run.curve("train_loss"), run.curve("eval_loss")
    assert loss.step.tolist()[:5] == [10, 20, 30, 31, 41]
    assert loss.step[-1] == 124
    assert loss.value[-1] == pytest.approx(0.89)
    assert held_out.step.tolist() == [31, 62, 93, 124]
    assert held_out.value.tolist() == pytest.approx([2.71, 2.51, 2.31, 2.11])
    assert (run.state.done_epochs, run.state.planned_epochs) == (4, 4)


def test_means_without_a_counter_stand_at_the_end_of_their_epoch(tmp_path: Path) -> None:
    """A heading that says it in words, and below the batches the mean of each epoch."""
    lines = ["Model loaded. Begin from Epoch #11."]
    for epoch in (11, 12, 13):
        lines.append(f"Training at Epoch #{epoch}...")
        lines += [
            f"\tIteration:{n} | Mov Avg Loss:{1 / epoch + n / 999:.4f}" for n in range(0, 50, 10)
        ]
        lines += [f"Training Loss of the epoch:{1 / epoch:.4f}", "Model saved."]
        lines += [
            f"Evaluating at Epoch #{epoch}...",
            f"Evaluation Loss of the epoch:{2 / epoch:.4f}",
        ]
    run = _run(tmp_path, "\n".join(lines))
    assert len(run.curve("Mov Avg Loss")) == 15
    assert run.curve("eval_loss").step.tolist() == [40, 80, 120]
    assert run.state.done_epochs == 13


@pytest.mark.parametrize(
    "before",
    [
        "",
        "2018-08-22 09:11:27,587 - log/train.log - INFO - ",
        r"2018-08-22 09:11:27,587 - log\train.log - INFO - ",
    ],
)
def test_steps_that_run_to_an_end_within_an_iteration_are_its_batches(
    tmp_path: Path, before: str
) -> None:
    """``iteration:2 step:10/40`` counts as an epoch and its batches do."""
    rows = [
        f"{before}iteration:{n} step:{k}/40 loss:{3 / n - k / 200:.3f}"
        for n in (1, 2, 3)
        for k in range(10, 50, 10)
    ]
    run = _run(tmp_path, "\n".join(rows))
    assert run.curve("train_loss").step.tolist() == list(range(10, 130, 10))
    assert run.state.done_epochs == 3


def test_an_evaluation_of_all_epochs_behind_the_training(tmp_path: Path) -> None:
    """Its lines count, those of the training are headed: each stands at the epoch that it names."""
    text = "".join(
        f"\n====\nEpoch {n}/9\n====\n\nEpoch {n} Summary:\nAverage Loss: {2 / n:.4f}\nModel saved\n"
        for n in range(1, 10)
    )
    text += "".join(
        f"Loading model_epoch_{n}.pth\nEpoch {n}: Val Loss = {3 / n:.4f}\n" for n in range(1, 10)
    )
    run = _run(tmp_path, text)
    assert run.curve("train_loss").step.tolist() == list(range(1, 10))
    assert run.curve("eval_loss").step.tolist() == list(range(1, 10))
    assert run.curve("train_loss").value[0] == 2.0


def test_the_evaluation_behind_the_last_epoch_of_keras_is_no_row_of_it(tmp_path: Path) -> None:
    """Its bar runs to another number of batches."""
    bar = "{n}/{n} [======] - 3s 2ms/step - loss: 0.{e} - accuracy: 0.8"
    lines = [x for e in (3, 2) for x in (f"Epoch {4 - e}/2", bar.format(n=1875, e=e))]
    run = _run(tmp_path, "\n".join([*lines, bar.format(n=313, e=7), "Test accuracy: 0.81"]))
    assert run.curve("train_loss").value.tolist() == [0.3, 0.2]


@pytest.mark.parametrize(("planned", "epochs"), [(5, 6), (9, 9)])
def test_the_number_of_the_last_of_epochs_from_0(tmp_path: Path, planned: int, epochs: int) -> None:
    """``Epoch 5/5`` behind ``Epoch 0/5`` is the sixth; where it did not come, nobody knows."""
    rows = [
        f"Epoch {e}/{planned}\n-----\ntrain Loss: {3 / (e + 1):.3f}\nval Loss: {4 / (e + 1):.3f}"
        for e in range(6)
    ]
    batches = [
        f"Epoch [{e}/{planned}] Batch [{b}/30] loss: {3 / (e + 1):.3f}"
        for e in range(6)
        for b in (10, 20, 30)
    ]
    state = _run(tmp_path, "\n".join(rows)).state
    assert (state.planned_epochs, state.done_epochs) == (epochs, 6)
    assert _run(tmp_path, "\n".join(batches)).state.planned_steps == 30 * epochs


def test_epochs_behind_a_hash_and_accuracies_in_percent(tmp_path: Path) -> None:
    """As wide-resnet prints them: ``Acc@1: 45.000%`` is 0.45, in batches and at the end."""
    text = "".join(
        f"=> Training Epoch #{e}, LR=0.1000\n"
        f"| Epoch [ {e}/200] Iter[391/391]\t\tLoss: {2 / e:.4f} Acc@1: {40 + 5 * e:.3f}%\n\n"
        f"| Validation Epoch #{e}\t\t\tLoss: {2.1 / e:.4f} Acc@1: {39 + 5 * e:.2f}%\n"
        for e in range(1, 8)
    )
    run = _run(tmp_path, text)
    assert run.curve("train_accuracy").value.tolist() == pytest.approx(
        [0.4 + e / 20 for e in range(1, 8)]
    )
    assert run.curve("eval_accuracy").value.tolist() == pytest.approx(
        [0.39 + e / 20 for e in range(1, 8)]
    )


@pytest.mark.parametrize(
    ("epochs", "beside", "times"),
    [
        (8, "", 1),  # never above 1: shares
        (8, ", Test prec@5: 3.5", 0.01),  # a thousand classes: 0.8 % in the first epochs
        (4, "", 0.01),  # too few to tell
    ],
)
def test_the_first_answer_may_be_a_share(
    tmp_path: Path, epochs: int, beside: str, times: float
) -> None:
    """``Test acc@1`` is usually in per cent; where none of them is above 1 it is not."""
    text = "".join(
        f"Epoch {e}, Train loss: {2 / e:.4f}, Test acc@1: {e / 10:.4f}{beside}\n"
        for e in range(1, epochs + 1)
    )
    values = _run(tmp_path, text).curve("eval_accuracy").value.tolist()
    assert values == pytest.approx([e / 10 * times for e in range(1, epochs + 1)])


def test_a_step_that_was_printed_once_is_not_that_of_all_later_epochs(tmp_path: Path) -> None:
    """A step that was printed once is not that of all later epochs."""
    lines = [
        "[03.25.23|13:02:47] Training epoch: 0",
        "[03.25.23|13:02:48] \tIter 0 Done. | lr: 0.01",
    ]
    for epoch in range(8):
        lines += [
            f"[03.25.23|13:03:{epoch:02d}] Training epoch: {epoch}",
            f"[03.25.23|13:03:{epoch:02d}] \tmean_loss: {2.2 - epoch / 9}",
        ]
    run = _run(tmp_path, "\n".join(lines))
    assert run.curve("train_loss").step.tolist() == list(range(8))


def test_iterations_of_one_batch_an_epoch_stand_at_their_epochs(tmp_path: Path) -> None:
    """Iterations of one batch an epoch stand at their epochs."""
    lines = []
    for epoch in range(6):
        lines += [
            f"[13:02:{epoch:02d}] Training epoch: {epoch}",
            f"\tIter 0 Done. | loss: 0.{9 - epoch}",
        ]
    assert _run(tmp_path, "\n".join(lines)).curve("train_loss").step.tolist() == list(range(6))


def test_the_mean_of_an_epoch_is_no_value_of_its_last_batch(tmp_path: Path) -> None:
    """The mean of an epoch is no value of its last batch."""
    lines = []
    for epoch in range(1, 6):
        lines += [
            f"Epoch {epoch} | Batch {n}/40 | Loss: {2 - epoch / 5 - n / 100}" for n in (20, 40)
        ]
        lines.append(f"Epoch {epoch}/9 | Loss: {2.5 - epoch / 5:.2f} | Time: 13.2s")
    run = _run(tmp_path, "\n".join(lines))
    assert len(run.curve("train_loss")) == 10
    assert run.curve("train_loss").value[-1] == pytest.approx(0.6)
    assert run.curve("train_loss_epoch").value.tolist() == pytest.approx([2.3, 2.1, 1.9, 1.7, 1.5])


def test_a_single_epoch_above_a_short_log_is_the_one_of_its_rows(tmp_path: Path) -> None:
    """A single epoch above a short log is the one of its rows."""
    lines = ["**** EPOCH 000 ****"]
    for batch in (10, 20, 30, 40):
        lines += [
            f" -- {batch:03d} / 095 --",
            f"mean loss: {5 - batch / 10}",
            f"mean pc loss: {batch}.5",
        ]
    run = _run(tmp_path, "\n".join(lines))
    assert run.curve("train_loss").step.tolist() == [10, 20, 30, 40]
    assert run.state.done_epochs == pytest.approx(40 / 95)
    assert run.state.planned_steps is None


def test_the_range_of_batches_ends_at_the_step(tmp_path: Path) -> None:
    """The range of batches ends at the step."""
    lines = [
        f"2018-10-11 09:1{epoch}:{n:02d},448 INFO - Epoch[{epoch}] Batch [{n - 20}-{n}]\t"
        f"Speed: 25.2 samples/sec\tRPNAcc=0.9{n}\tRPNL1Loss=0.{99 - n}"
        for epoch in (5, 6, 7)
        for n in (20, 40)
    ]
    curve = _run(tmp_path, "\n".join(lines)).curve("train_loss")
    assert curve.step.tolist() == [20, 40, 60, 80, 100, 120]
    assert curve.value.tolist() == [0.79, 0.59] * 3
    assert curve.epoch[-1] == 7


def test_top_five_is_another_accuracy_than_top_one(tmp_path: Path) -> None:
    """Top five is another accuracy than top one."""
    lines = []
    for epoch in range(6):
        lines += [
            f"INFO: Epoch: {epoch}/20, Iteration step: {1300 * (epoch + 1)}, loss: {4 - epoch / 9}",
            f"INFO: =====Epoch: {epoch}/20,top 1 acc: 0.2{epoch}=====",
            f"INFO: =====Epoch: {epoch}/20,top 5 acc: 0.5{epoch}=====",
        ]
    run = _run(tmp_path, "\n".join(lines))
    assert run.curve("train_accuracy").value.tolist() == pytest.approx(
        [0.2 + e / 100 for e in range(6)]
    )
    assert run.curve("top 5 acc").value[-1] == pytest.approx(0.55)
    assert run.curve("train_loss").step[-1] == 7800
    assert not {"top", "Iteration step"} & set(run.history.metrics)


def test_a_tensor_keeps_its_sign(tmp_path: Path) -> None:
    """A tensor keeps its sign."""
    lines = [
        f"Step: {step} Loss: tf.Tensor(-{900 - step}.25, shape=(), dtype=float64)"
        for step in range(0, 600, 100)
    ]
    assert _run(tmp_path, "\n".join(lines)).curve("train_loss").value[0] == -900.25


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8"])
def test_keras_bars_whose_signs_were_replaced(tmp_path: Path, encoding: str) -> None:
    """Keras bars whose signs were replaced."""
    lines = []
    for epoch in (1, 2, 3):
        lines += [f"Epoch {epoch}/3", ""]
        lines += [
            f"\x1b[1m {n}/49\x1b[0m \x1b[32m==\x1b[0m\x1b[37m{FILL}\x1b[0m \x1b[1m1:06\x1b[0m "
            f"1s/step - accuracy: 0.{epoch}{n} - loss: {2 - epoch / 4 - n / 100:.4f} – µ"
            for n in (1, 20, 48)
        ]
        lines.append(
            f"\x1b[1m49/49\x1b[0m {FILL} \x1b[1m14s\x1b[0m 9ms/step - loss: {2 - epoch / 4}"
        )
    run = _run(tmp_path, "\r\n".join(lines), "log.txt", encoding)
    assert run.curve("train_loss").step.tolist() == [1, 2, 3]
    assert run.curve("train_loss").value.tolist() == [1.75, 1.5, 1.25]


def test_a_loss_of_each_batch_in_lightnings_bar_is_read_at_each(tmp_path: Path) -> None:
    """Equal losses of two batches are two; the batches of the validation have none."""
    lines = []
    for epoch in range(3):
        for n in range(13):
            loss = f"0.{90 - 2 * (min(n, 10) // 2 * 2) - epoch}"
            lines.append(
                f"Epoch {epoch}: {n * 7:3d}%|#   | {n}/13 "
                f"[00:02<00:04, 3.6it/s, loss={loss}, v_num=8]"
            )
        lines += [f"Validating: {50 * n}%|#  | {n}/2 [00:00<00:00, 9.1it/s]" for n in (1, 2)]
    run = _run(tmp_path, "\n".join(lines))
    curve = run.curve("train_loss")
    assert len(curve) == 33
    assert curve.value[1] == curve.value[2]
    assert np.isfinite(curve.value).all()
    assert round(run.state.done_epochs or 0) == 3


def test_printed_settings_are_no_metrics(tmp_path: Path) -> None:
    """Printed settings are no metrics."""
    lines = []
    for epoch in range(6):
        lines += [
            str(
                {
                    "work_dir": "./out",
                    "phase": "train",
                    "batch_size": 256,
                    "weight_decay": epoch / 1000,
                    "loss_weight": epoch / 9,
                    "debug": False,
                }
            ),
            f"epoch {epoch} mean_loss: {1 - epoch / 9:.3f} top: 0.{epoch + 3}",
        ]
    run = _run(tmp_path, "\n".join(lines))
    assert not {"weight_decay", "batch_size", "loss_weight"} & set(run.history.metrics)
    assert len(run.curve("train_loss")) == 6


def _notebook(outputs: list[dict[str, object]]) -> str:
    picture = {"output_type": "display_data", "data": {"image/png": "iVBOR" * 40_000}}
    cells = [
        {"cell_type": "markdown", "source": ["# loss"]},
        {"cell_type": "code", "outputs": [picture, *outputs, picture]},
    ]
    return json.dumps({"cells": cells, "nbformat": 4, "metadata": {}})


def test_what_the_cells_of_a_notebook_printed_is_read(tmp_path: Path) -> None:
    """What the cells of a notebook printed is read."""
    printed = [
        f"2021-02-20 03:07:0{e} - mmdet - INFO - Epoch [{e}][{n}/25]\tlr: 2.5e-05, "
        f"loss: {2 - e / 9 - n / 99:.4f}\n"
        for e in range(1, 5)
        for n in (10, 20)
    ]
    outputs: list[dict[str, object]] = [
        {"output_type": "stream", "name": "stderr", "text": printed},
        {"output_type": "execute_result", "data": {"text/plain": ["0.93"]}},
        {
            "output_type": "error",
            "traceback": ["Traceback (most recent call last):", "ValueError: no"],
        },
    ]
    run = _run(tmp_path, _notebook(outputs), "train.ipynb")
    assert run.curve("train_loss").step.tolist() == [10, 20, 35, 45, 60, 70, 85, 95]
    assert run.curve("learning_rate").value[0] == 2.5e-05


@pytest.mark.parametrize(
    "text", ['{"cells": [{"outputs": 5}]}', '{"cells": 3, ', '{"metadata": {}}']
)
def test_what_is_no_notebook_is_read_as_it_is(tmp_path: Path, text: str) -> None:
    """What is no notebook is read as it is."""
    rows = "\n".join(f"step {n} loss: 0.{n}" for n in range(1, 9))
    assert len(_run(tmp_path, f"{text}\n{rows}\n").curve("train_loss")) == 8


def test_rows_without_the_metrics_that_others_end_with_are_rows_of_their_layout(
    tmp_path: Path,
) -> None:
    """``| FID=97.0`` behind each third of them; a line of other numbers is none of them."""
    rows = [
        f"epoch {n:3} | cross={2 / (n + 1):.4f} rr=0.2{n} | {900 + n}s"
        + f" | FID={300 - n}.1 IS=2.0" * (n % 3 == 2)
        for n in range(12)
    ]
    text = "\n".join([*rows, "epoch 11 | kept=12.0"])
    run = _run(tmp_path, text)
    assert run.curve("cross").step.tolist() == list(range(12))
    assert run.curve("FID").step.tolist() == [2, 5, 8, 11]
    assert run.state.done_epochs == 12
    assert "kept" not in run.history.metrics


def test_a_fraction_alone_before_a_bar_counts_epochs(tmp_path: Path) -> None:
    """``[fold_0] 001/200:  25%|##  | 1/4`` counts batches within an epoch; folds begin anew."""
    rows = [
        f"[fold_{fold}] {n:03}/006: {25 * k}%|##| {k}/4 [00:14<00:42, loss={5 / n - k / 40}]"
        for fold in (0, 1)
        for n in range(1, 7)
        for k in range(1, 5)
    ]
    (tmp_path / "train.log").write_text("\r".join(rows))
    runs = read_all(tmp_path / "train.log")
    assert [run.curve("train_loss").step[-1] for run in runs] == [24, 24]
    assert [run.state.done_epochs for run in runs] == [6, 6]


def test_a_log_of_little_but_one_whole_number_behind_its_name_is_read(tmp_path: Path) -> None:
    """``DQN INFO episodic returns: 29``: no counter and no decimals, and nothing else there."""
    stamp = "2024-11-28 20:07:{:02},710 DQN INFO "
    lines = [f"{stamp.format(n)}episodic returns: {10 + 7 * n % 13}" for n in range(1, 40)]
    run = _run(tmp_path, "\n".join([f"{stamp.format(0)}DQN started", *lines]))
    assert run.curve("reward").value.tolist() == [10 + 7 * n % 13 for n in range(1, 40)]
    said = "\n".join(
        f"The number of successes was {n}\nsome words {n}\nothers: {n}" for n in (3, 4)
    )
    (tmp_path / "prose.log").write_text(said)
    assert not read_all(tmp_path / "prose.log")[0].history.metrics


def test_lightning_writes_a_point_behind_nan(tmp_path: Path) -> None:
    """``train_loss=nan.0`` in its bars; a line above the rows that heads nothing hides none."""
    rows = [
        f"Epoch 0: {n}%|#| {n}/40 [00:0{n % 9}<00:09, 6.9it/s, v_num=0, train_loss={value}]"
        for n, value in enumerate(("2.5", "inf.0", "nan.0", "nan.0"), 1)
    ]
    run = _run(tmp_path, "\n".join(["  Validation batches: 4,282", *rows]))
    value = run.curve("train_loss").value
    assert value[:2].tolist() == [2.5, np.inf]
    assert np.isnan(value[2:]).all()


@pytest.mark.parametrize("names", ["loss: {a:.3f} val_loss: {b:.3f}", "val_loss: {b:.3f}"])
def test_epochs_from_0_are_over_when_they_log_all(tmp_path: Path, names: str) -> None:
    """Five are done at the last of 0 to 4; what is evaluated before the first is at none."""
    first = "Epoch 0/4 " + names
    rest = "Epoch {n}/4 loss: {a:.3f} val_loss: {b:.3f}"
    lines = [
        (first if n == 0 else rest).format(n=n, a=2 / (n + 1), b=3 / (n + 1)) for n in range(5)
    ]
    epoch = _run(tmp_path, "\n".join(lines)).curve("eval_loss").epoch.tolist()
    assert epoch == ([1, 2, 3, 4, 5] if "{a" in names else [0, 1, 2, 3, 4])


@pytest.mark.parametrize("first", [0, 1])
def test_an_epoch_is_called_as_its_log_calls_it(tmp_path: Path, first: int) -> None:
    """Of epochs from 0 on, that of the best score is no other in the report than in the log."""
    score = [27.3, 25.9, 26.1, 26.5, 27.7, 29.9, 29.1, 30.2, 29.0, 30.7, 29.2, 31.5, 32.2, 33.5]
    lines = [f"Epoch {n + first}, EER {eer}" for n, eer in enumerate(score)]
    (tmp_path / "scores.txt").write_text("\n".join([*lines, ""]))
    diagnosis = diagnose(tmp_path)
    (found,) = (one for one in diagnosis.findings if one.rule == "hockey-stick")
    assert (found.onset.step, found.onset.epoch) == (1 + first, 1 + first)
    assert f"step {1 + first} (epoch {1 + first})" in str(diagnosis.to_dict())


@pytest.mark.parametrize("counter", [" -- {batch:03d} / 040 --", "step {batch}/40"])
@pytest.mark.parametrize("stamp", ["2020-09-15 16:2{epoch}:12.359932\n", ""])
def test_epochs_named_above_the_time_at_which_they_began(
    tmp_path: Path, counter: str, stamp: str
) -> None:
    """PointNet's heads, which it prints again above each evaluation; no time there is a launch."""
    rows = [
        f"**** EPOCH {epoch:03d} ****\n{stamp.format(epoch=epoch)}"
        + "".join(
            f"{counter.format(batch=batch)}\nmean loss: {3 - epoch / 3 - batch / 100:.6f}\n"
            for batch in range(5, 45, 5)
        )
        + f"{stamp.format(epoch=epoch)}---- EPOCH {epoch:03d} EVALUATION ----\n"
        + f"eval mean loss: {3.2 - epoch / 3:.6f}"
        for epoch in range(5)
    ]
    run = _run(tmp_path, "\n".join(["pid: 9716", *rows]))
    train, evals = run.curve("train_loss"), run.curve("eval_loss")
    assert (train.step[-1], len(train), train.value[0]) == (200, 40, 2.95)
    assert evals.step.tolist() == [40, 80, 120, 160, 200]
