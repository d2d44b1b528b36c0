"""Logs of no known layout: what counts in them, what is measured, and what is neither."""

from pathlib import Path

import pytest

from runlens import errors, read
from runlens.sources.console.mining.phrases import phrase, split_of
from runlens.sources.console.mining.slots import parts
from runlens.sources.console.one_line import with_ends
from tests.sources.console_logs import reading

Expected = dict[str, list[tuple[int, float]]]


def lines(form: str, count: int = 6) -> str:
    """Return rows of a layout; `n` counts from 0, `loss` falls by 0.1 from 2.5."""
    return "".join(form.format(n=n, loss=f"{2.5 - n / 10:.3f}") + "\n" for n in range(count))


def losses(first: int = 0, every: int = 1, count: int = 6) -> list[tuple[int, float]]:
    """Return the points of the losses of `lines`."""
    return [(first + n * every, round(2.5 - n / 10, 3)) for n in range(count)]


def points(folder: Path, text: str) -> Expected:
    """Return what was read of a log."""
    found = reading(folder, text).series
    return {
        name: list(zip(some.step.tolist(), some.value.tolist(), strict=True))
        for name, some in found.items()
    }


@pytest.mark.parametrize(
    ("form", "name", "first", "every"),
    [
        ("Train {n}, loss: {loss}, train acc: 0.45", "loss", 0, 1),
        ("<epoch: {n}, lr:1e-4> loss: {loss}", "loss", 0, 1),
        ("12:01:07.123 | INFO | run:_log:146 - iter=000{n} reward=0.1 loss={loss}", "loss", 0, 1),
        ("[Mar 30, 10:51:4{n}] {n}000 {loss}", "column 2", 0, 1000),
        ("step:{n}K smpl:557K loss:{loss} grdn:6.2", "loss", 0, 1000),
        ("Loss after {n} epochs: {loss}", "Loss", 0, 1),
        ("Loss at step {n}00 : {loss}", "Loss", 0, 100),
        ("132{n} Loss : {loss}", "Loss", 1320, 1),
        ("epoch {n} - {loss} loss, 0.87 acc", "loss", 0, 1),
        ("Train {n} - {loss} loss, 0.87{n} acc", "loss", 0, 1),
        ("{n}/600 loss: {loss}", "loss", 0, 1),
        ("> | it {n} | xent {loss} | gn 0.{n}", "xent", 0, 1),
        ("[12/09/24 16:24:0{n}] INFO     Epoch {n}: v_loss {loss}    train.py:120", "v_loss", 0, 1),
        ("=== epoch {n} ===\n  train_mse={loss}\n  took 3.{n}s", "train_mse", 0, 1),
        ("epoch:  {n}\n2023-09-04 02:43:29.744022: train loss : {loss}", "train loss", 0, 1),
        ("iteration {n} loss tensor({loss}, grad_fn=<NllLossBackward>)", "loss", 0, 1),
        ('{{"it": {n}, "recon loss": {loss}}}', "recon loss", 0, 1),
    ],
)  # fmt: skip
def test_one_row_a_step(tmp_path: Path, form: str, name: str, first: int, every: int) -> None:
    """Whatever stands before the counter, and wherever the counter and the name stand."""
    assert points(tmp_path, lines(form))[name] == losses(first, every)


def test_batches_count_on_over_the_epochs(tmp_path: Path) -> None:
    """As SwAV and DINO print them, behind stamp and elapsed time."""
    form = "INFO - 09/02/20 16:46:45 - 0:43:39 - Epoch: [{}][{}]\tTime 0.6 (0.7)\tLoss {} (3.91)\n"
    text = "".join(form.format(epoch, batch, 3.5) for epoch in (4, 5) for batch in (0, 50, 100))
    found = points(tmp_path, text)
    assert [step for step, _ in found["Loss"]] == [0, 50, 100, 100, 150, 200]


@pytest.mark.parametrize(
    ("train", "held_out"),
    [
        ("Training {step}/150 loss {loss:.3f}", "Evaluated {n}/20 with loss {loss:.3f}"),
        (
            "Epoch {e} Training {n}/50 loss {loss:.3f}",
            "Epoch {e} Validation {n}/20 loss {loss:.3f}",
        ),
        ("Training {step}/150 loss {loss:.3f}", "Epoch {e} Validating {n}/20 loss {loss:.3f}"),
    ],
)
def test_of_an_evaluation_the_last_row_counts(tmp_path: Path, train: str, held_out: str) -> None:
    """It was measured on all batches, and stands where the training does."""
    text = "layers 3 (x: float64) 4\n"
    for e in (1, 2, 3):
        rows = [(n, n + 50 * e - 50, 3 - e / 2 - n / 100) for n in range(10, 60, 10)]
        text += "".join(train.format(e=e, n=n, step=s, loss=loss) + "\n" for n, s, loss in rows)
        rows = [(n, 0, 3.1 - e / 2 - n / 100) for n in range(5, 25, 5)]
        text += "".join(held_out.format(e=e, n=n, loss=loss) + "\n" for n, _, loss in rows)
    found = points(tmp_path, text)
    assert found["val/loss"] == [(50, 2.4), (100, 1.9), (150, 1.4)]
    assert [step for step, _ in found["train/loss"]] == list(range(10, 160, 10))
    assert len(found) == 2


def test_batches_of_an_evaluation_alone_are_rows(tmp_path: Path) -> None:
    """Nothing else stands in the log."""
    text = "".join(f"Evaluated {n}/20 with L2 loss {1 + n / 99:.3f}\n" for n in range(5, 25, 5))
    assert len(points(tmp_path, text)["L2 loss"]) == 4


def test_a_number_that_rises_where_the_counter_begins_anew_is_its_epoch(tmp_path: Path) -> None:
    """As GANs that grow print the scale before the iterations at it."""
    form = "[{} : {:>6}] loss G : {:.3f} loss D : 1.{}\n"
    text = "".join(form.format(e, b, 5 - e - b / 999, b) for e in (0, 1) for b in (100, 200, 300))
    assert [step for step, _ in points(tmp_path, text)["loss G"]] == [100, 200, 300, 400, 500, 600]


def test_a_counter_that_goes_on_over_the_epochs_is_the_step(tmp_path: Path) -> None:
    """BasicSR counts iterations of the whole run beside the epoch."""
    text = lines("epoch:{n}, iter:31{n},600, lr:(1.0e-4,) loss: {loss}")
    assert points(tmp_path, text)["loss"] == losses(310600, 1000)


@pytest.mark.parametrize(
    "form",
    [
        "[Train] Epoch {n}: loss {loss}\n[Diff-Val(Test-Normal)] Epoch {n}: loss 0.{n}5",
        "Epoch {n}\nTrain: loss = {loss}\nTest: loss = 0.{n}5",
        "epoch {n} train loss {loss} test loss 0.{n}5",
        "--- epoch {n} ---\nloss: {loss}\n--- test ---\nloss: 0.{n}5",
    ],
)
def test_the_split_is_part_of_the_name(tmp_path: Path, form: str) -> None:
    """Losses of two sets are never one curve."""
    found = points(tmp_path, lines(form))
    assert losses() in found.values()
    (held_out,) = (name for name, some in found.items() if some[0][1] == 0.05)
    assert split_of(held_out) in {"val/", "test/"}
    assert len(found[held_out]) == len(losses())


def test_tables_with_a_line_of_names(tmp_path: Path) -> None:
    """Markdown, and names with commas over numbers with tabs."""
    text = "| Step | Loss |\n|------|------|\n| 37 | 1.5 |\n| 38 | NaN |\n| 39 | 1.25 |\n"
    found = points(tmp_path, text)["Loss"]
    assert [step for step, _ in found] == [37, 38, 39]
    text = lines("Epoch: {n} | Epoch Time: 0m 57s\n**train_loss,valid_loss**\n{loss}\t4.9")
    assert points(tmp_path, text)["train_loss"] == losses()


def test_a_dict_over_several_lines_is_a_row(tmp_path: Path) -> None:
    """As pprint shows it, the last one without its end."""
    text = "{{\n    'loss': {},\n    'grad_norm': nan,\n    'epoch': {}\n}}\n"
    found = points(tmp_path, text.format(2.5, 0.1) + text.format(2.4, 0.2)[:-2])
    assert [value for _, value in found["loss"]] == [2.5, 2.4]


def test_rows_of_another_layout_stand_at_the_steps_of_the_known(tmp_path: Path) -> None:
    """Evaluations without a counter between rows that are read the fast way."""
    text = lines("iter {n}: loss {loss}, time 3.5ms\naverage reward score: 0.{n}5\n" + "-" * 20)
    assert points(tmp_path, text)["average reward score"][2] == (2, 0.25)


def test_an_excerpt_of_one_row_is_read(tmp_path: Path) -> None:
    """No row repeats in it, and none is invented."""
    text = "Epoch 7, time usage: 10319.676s, average loss: [0.050121 0.051044]\n"
    assert points(tmp_path, text)["average loss"] == [(7, 0.050121)]


@pytest.mark.parametrize("name", ["history.md", "notes", "run7.dat"])
def test_a_log_that_is_pointed_at_may_have_any_name(tmp_path: Path, name: str) -> None:
    """Its content is what counts; other texts are no logs whatever they are called."""
    place = tmp_path / name
    place.write_text(lines("it {n} xent {loss}", 8), encoding="utf-8")
    assert len(read(place).curve("train_loss")) == 8
    place.write_text("nothing is measured in this text\n", encoding="utf-8")
    with pytest.raises(errors.NothingReadable):
        read(place)


def test_a_traceback_of_the_first_launch_is_not_the_end(tmp_path: Path) -> None:
    """The log goes on for long, though no number of it is understood."""
    trace = 'Traceback (most recent call last):\n  File "train.py", line 3, in main\nKeyError: 7\n'
    assert reading(tmp_path, "start\n" + trace + "the end\n" * 20).hints.traceback == "KeyError: 7"
    assert not reading(tmp_path, "start\n" + trace + "it works\n" * 900).hints.traceback


def test_full_bars_count_nothing(tmp_path: Path) -> None:
    """As Keras leaves them where the lines with the epochs are missing: rows are numbered."""
    text = lines("12300/12300 [=====] - 2773s 225ms/step - loss: {loss} - val_loss: 1.5{n}")
    assert points(tmp_path, text)["loss"] == losses(1)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("reward 0.5 ± 0.1, len 200 +/- 20", ["reward", "reward std", "len", "len std"]),
        (
            "Train Loss: 0.5 Acc: 0.8 | Val Loss: 0.6 Acc: 0.7",
            ["Train Loss", "Acc", "Val Loss", "val/Acc"],
        ),
        (
            "   Average Precision  (AP) @[ IoU=0.50:0.95 | area=   all | maxDets=100 ] = 0.377",
            ["AP IoU=0.50:0.95 | area= all | maxDets=100"],
        ),
        ("G/D loss: 1.2/0.3", ["G loss", "D loss"]),
        ("Epoch(val) [12][14659]  bbox_mAP: 0.377", ["epoch", "val", "val/bbox_mAP"]),
        ("Accuracy of the network on the 10000 test images: 54 %", ["share", "test/Accuracy"]),
        ("12 epochs done, loss=0.4", ["epoch", "loss"]),
        ("step 100/5,000 (2%) | loss 2.31 | lat 35.1ms", ["step", "share", "loss", "lat_ms"]),
        ("avg_loss: 4.88  (+0.2)", ["avg_loss", "share"]),
        ("7 loss: +NAN / score: +0.054(-0/+3)", ["", "loss", "score", "score (avg)", "share"]),
        ("time per epoch 3.5 loss 0.2", ["time per epoch", "loss"]),
        ("loss (step 5) = 0.3", ["step", "loss"]),
        ("Sampling: 17.2s", ["Sampling_s"]),
        ("Train: [3/50] loss 0.5", ["Train", "train/loss"]),
        ("{'grad': 0.5, \"memory(GiB)\": 3.4}", ["grad", "memory(GiB)"]),
        ("Epoch 20 - Dev BLEU: BLEU-1 0.2 BLEU-2 0.1", ["epoch", "dev/BLEU-1", "dev/BLEU-2"]),
        ("loss is 0.5 so far, INFO acc 0.3", ["loss", "acc"]),
    ],
)
def test_what_the_text_says_about_its_numbers(line: str, said: list[str]) -> None:
    """The name of each number, or what it counts; a share of the way says nothing."""
    taken = parts(line)
    columns = phrase(taken.text, taken.marks).columns
    assert [column.kind or column.name for column in columns] == said


def test_a_share_of_an_epoch_is_a_batch(tmp_path: Path) -> None:
    """A number without a name that runs to another one counts within the epoch of its line."""
    text = "".join(lines(f"{{n}}/6 | epoch {e} | loss {{loss}}") for e in (0, 1))
    assert points(tmp_path, text)["loss"] == losses() + losses(first=6)


def test_the_first_of_two_counters_is_the_step(tmp_path: Path) -> None:
    """Both stand behind what was measured."""
    text = lines("cost {loss} | step {n}0 | iter {n}1")
    assert points(tmp_path, text)["cost"] == losses(every=10)


def test_a_row_that_does_not_fit_its_head_is_passed_over(tmp_path: Path) -> None:
    """One cell too many, or text with a digit in place of a number."""
    text = "step | loss | note\n" + lines("{n} | {loss} | 7") + "6 | 1.9 | 7 | 8\n7 | 1.8 | run 5\n"
    assert points(tmp_path, text)["loss"] == losses()


def test_a_prefix_with_a_number_that_changes_is_none(tmp_path: Path) -> None:
    """What stands before each row and rises is its counter, not the stamp of a logger."""
    assert points(tmp_path, lines("worker {n} > loss {loss}"))["loss"] == losses()


def test_a_cell_of_a_table_names_the_data(tmp_path: Path) -> None:
    """The split stands in a column of its own."""
    text = "step | phase | loss\n" + lines("{n} | val | {loss}")
    assert points(tmp_path, text)["val/loss"] == losses()


def test_seconds_before_each_row_are_a_prefix(tmp_path: Path) -> None:
    """They rise as a counter does, and are none."""
    assert points(tmp_path, lines("[1{n}s] {n}0 loss {loss}"))["loss"] == losses(every=10)


@pytest.mark.parametrize(
    ("line", "step"),
    [("第{n}轮 训练损失: {a} 验证损失: {b}\n", 1), ("第 {n} 步，训练损失 {a}，验证损失 {b}\n", 1)],
)
def test_chinese_counters_stand_amid_their_word(tmp_path: Path, line: str, step: int) -> None:
    """Whether they count epochs or steps."""
    path = tmp_path / "t.log"
    path.write_text("".join(line.format(n=n, a=3 / n, b=3.2 / n) for n in range(1, 9)))
    run = read(path)
    assert set(run.history.metrics) == {"train_loss", "eval_loss"}
    assert run.curve("train_loss").step[0] == step


@pytest.mark.parametrize("line", ["ep {n} done. avg train nll {a}, dev nll {b} (took 9s)\n"])
def test_a_name_does_not_begin_in_another_sentence(tmp_path: Path, line: str) -> None:
    """What was said before it is none of its words."""
    path = tmp_path / "t.log"
    path.write_text("".join(line.format(n=n, a=3 / n, b=3.2 / n) for n in range(1, 9)))
    metrics = read(path).history.metrics
    assert {"train_loss", "eval_loss"} <= set(metrics)


def test_rows_without_an_end_of_line(tmp_path: Path) -> None:
    """Several stand in one line."""
    rows = [f"[{n:03d}] train_loss: {3 / n:.3f} | dev_loss: {4 / n:.3f}" for n in range(1, 31)]
    lines = rows[:8] + ["   ".join(rows[n : n + 3]) for n in range(8, 30, 3)]
    run = points(tmp_path, "\n".join(lines) + "\n")
    assert run["train_loss"] == [(n, round(3 / n, 3)) for n in range(1, 31)]
    assert len(run["dev_loss"]) == 30


@pytest.mark.parametrize(
    ("form", "words", "names"),
    [
        ("{word} | step {n} | loss {loss}", ["Generator", "Discriminator"], ["g_loss", "d_loss"]),
        ("epoch {n} of {word}-set \t loss={loss}", ["train", "valid", "future"],
         ["train_loss", "eval_loss", "future-set loss"]),
        ("0{n} - INFO - a.py : run [{at}] - eval of epoch-{n} of {word}-set  eval_loss={loss}",
         ["train", "valid", "new"],
         ["train_loss", "eval_loss", "new-set eval_loss"]),
    ],
)  # fmt: skip
def test_rows_told_apart_by_words_are_not_mixed(
    tmp_path: Path, form: str, words: list[str], names: list[str]
) -> None:
    """They stand at the same counter under the same names, and are of different things."""
    text = "".join(
        form.format(n=n, word=word, at=220 + at, loss=round(4 / n + at, 3)) + "\n"
        for n in range(1, 9)
        for at, word in enumerate(words)
    )
    (tmp_path / "train.log").write_text(text)
    run = read(tmp_path)
    for at, name in enumerate(names):
        assert run.curve(name).value.tolist() == [round(4 / n + at, 3) for n in range(1, 9)], name
        assert run.curve(name).step.tolist() == list(range(1, 9))


def test_rows_of_one_thing_keep_their_names(tmp_path: Path) -> None:
    """Words before some rows alone, and steps that both kinds do not share."""
    text = "".join(f"so far | step {n} | loss {4 / n:.3f}\n" for n in range(1, 9))
    text += "".join(f"resumed | step {n} | loss {4 / n:.3f}\n" for n in range(8, 15))
    assert points(tmp_path, text)["loss"][0] == (1, 4.0)
    assert len(points(tmp_path, text)["loss"]) >= 14


def test_bars_of_torch7_are_no_rows(tmp_path: Path) -> None:
    """What they count is of the epoch, whose row stands below."""
    bar = " [==================== 731/731 ====>]  Tot: 44m5{n}s | Step: 3s69{n}ms\n"
    row = "epoch\t{n}\trunning_average\t0.5{n}170658843\t\n"
    text = "".join(bar.format(n=n) + row.format(n=n) for n in range(1, 9))
    found = points(tmp_path, text)
    assert list(found) == ["running_average"]
    assert found["running_average"][-1] == (8, 0.58170658843)


def test_a_log_without_any_end_of_line(tmp_path: Path) -> None:
    """Its rows stand behind one another: `train` counts them within each training."""
    form = "train: {} @ epoch:1/2 loss: {:.4f} reg_loss: 0.5 forward time: 50.1 "
    values = [round(3 + n / 1000, 4) for n in range(1, 401)]
    found = points(tmp_path, "".join(form.format(n, v) for n, v in enumerate(values, 1)))
    assert found["loss"] == list(enumerate(values, 1))
    for other in (b"Part 1 of the text " + b"lorem ipsum " * 2500, b"lorem ipsum " * 2500):
        assert with_ends(other) is other


def test_rows_that_count_batches_keep_their_steps_beside_others(tmp_path: Path) -> None:
    """The evaluation at the end of each epoch is of a layout that is known."""
    rows = []
    for epoch in range(1, 4):
        rows += [
            f"> Epoch: [{epoch}][{n}/100] - {3 / n:.3f} loss, 0.{n} acc" for n in (20, 60, 100)
        ]
        rows.append(f"> Epoch: [{epoch}][100/100] | val_loss: {2 / epoch:.2f}")
    found = points(tmp_path, "\n".join(rows) + "\n")
    assert [step for step, _ in found["loss"]] == [20, 60, 100, 120, 160, 200, 220, 260, 300]
    assert [step for step, _ in found["val_loss"]] == [100, 200, 300]


def test_rows_of_batches_are_read_beside_few_of_epochs(tmp_path: Path) -> None:
    """Though they are called no more than total; what stands once an epoch keeps its place."""
    text = ""
    for epoch in range(1, 7):
        for batch in range(0, 300, 10):
            loss = 2 / (epoch + batch / 300)
            text += f"[epoch: {epoch}/9, iter: {batch}/300] total: {loss:.6f} \n"
        text += (
            f"Validation accuracy: 0.{epoch}1\nEnd of epoch {epoch} / 9 \t Time Taken: 21.5 sec\n"
        )
    (tmp_path / "train.out").write_text(text)
    run = read(tmp_path / "train.out")
    assert run.curve("train_loss").step[:3].tolist() == [0, 10, 20]
    assert len(run.curve("train_loss")) == 180
    assert run.curve("eval_accuracy").step.tolist() == [290 + 300 * n for n in range(6)]


def test_lines_below_a_record_of_validation_are_of_it(tmp_path: Path) -> None:
    """Its parts are none of the training; the batch at the end of each epoch is no step."""
    text = "".join(
        f"Train Epoch {n}, iter 35, total time 250.5, loss {2 / n:.4f}\n"
        f"cls_loss {1 / n:.4f}, box_loss {0.9 / n:.4f}\n\n"
        f"Val Epoch {n}, iter 1, total time 21.5, loss {3 / n:.4f}\n"
        f"cls_loss {1.5 / n:.4f}, box_loss {1.4 / n:.4f}\n\n"
        for n in range(1, 7)
    )
    (tmp_path / "train.log").write_text(text)
    run = read(tmp_path / "train.log")
    for metric, first in (("train_loss", 2), ("eval_loss", 3), ("cls_loss", 1)):
        assert run.curve(metric).step.tolist() == list(range(1, 7))
        assert run.curve(metric).value[0] == pytest.approx(first)
    assert run.curve("eval_cls_loss").value[0] == pytest.approx(1.5)


def test_validation_comes_before_the_test_set(tmp_path: Path) -> None:
    """Of a log that prints the loss of both, and that of the test set somewhat more often."""
    text = "".join(f"Epoch {n} Test Loss: {5 / n:.4f}\n" for n in (1, 1))
    text += "".join(
        f"Epoch {n} Train Loss: {2 / n:.4f}\nEpoch {n} Val Loss: {3 / n:.4f}\n"
        f"Epoch {n} Test Loss: {4 / n:.4f}\n"
        for n in range(1, 21)
    )
    (tmp_path / "train.log").write_text(text)
    assert read(tmp_path / "train.log").curve("eval_loss").value[0] == pytest.approx(3)
