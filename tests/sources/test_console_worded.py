"""Console logs of well-known examples: build-nanogpt, MNIST, CycleGAN, TensorFlow's Estimator."""

from pathlib import Path

import pytest

from runlens import read, read_all
from runlens.sources import console
from tests.sources.console_logs import canonical, each, reading

NANOGPT = "# run 3\n" + "".join(
    (f"{step} val {11 - step / 50:.4f}\n{step} hella 0.2{step // 50}00\n" if step % 50 == 0 else "")
    + f"{step} train {11 - step / 50 + 0.01:.6f}\n"
    for step in range(0, 200, 10)
)


def test_a_step_a_word_and_a_value(tmp_path: Path) -> None:
    """The log.txt of build-nanogpt."""
    (tmp_path / "log.txt").write_text(NANOGPT)
    run = read(tmp_path)
    assert (run.framework, run.task) == ("nanogpt", "pretrain")
    assert len(run.curve("train_loss")) == 20
    assert run.curve("eval_loss").step.tolist() == [0, 50, 100, 150]
    assert len(run.curve("eval_hellaswag_acc")) == 4


@pytest.mark.parametrize(
    "text",
    [
        "100 train 80\n100 val 20\n200 train 160\n200 val 40\n300 train 240\n",  # counts of files
        "12 train 0.5\n12 val 0.5\n",  # shares of one data set
        "1 trains 0.5\n2 trains 0.5\n3 trains 0.5\n4 trains 0.5\n",
        "at 1 train 0.5\nat 2 train 0.5\nat 3 train 0.5\n",
    ],
)
def test_words_between_numbers_are_no_metrics(tmp_path: Path, text: str) -> None:
    """No step that goes on, no value with a fraction, or other words around."""
    assert not reading(tmp_path, text).series


def test_the_test_of_an_epoch_has_no_counter(tmp_path: Path) -> None:
    """PyTorch's MNIST example: a share of what was counted is the accuracy."""
    text = "".join(
        each(f"Train Epoch: {epoch} [{{t}}/60 ({{n}}%)]\tLoss: 0.{9 - epoch}", 0, 2, 4)
        + f"\nTest set: Average loss: 0.{8 - epoch}5, Accuracy: 9{epoch}13/10000 (9{epoch}%)\n\n"
        for epoch in (1, 2, 3)
    )
    found = canonical(reading(tmp_path, text))
    assert [value for _, value in found["train_loss"][::3]] == [0.8, 0.7, 0.6]
    assert [value for _, value in found["eval_loss"]] == [0.75, 0.65, 0.55]
    assert [value for _, value in found["eval_accuracy"]] == [0.9113, 0.9213, 0.9313]


def test_a_share_of_nothing_is_no_number(tmp_path: Path) -> None:
    """An empty test set."""
    text = each("step {t} loss: 0.{n} Accuracy: 0/0 (0%)", 1, 2, 3)
    assert set(reading(tmp_path, text).series) == {"loss"}


def test_the_date_above_is_no_loss(tmp_path: Path) -> None:
    """CycleGAN's header; its discriminator and generator are what they are everywhere."""
    line = "(epoch: 1, iters: {t}0, time: 0.2, data: 0.3) D_A: 0.{n} G_A: 0.5 cycle_A: 1.2 D_B: 0.4"
    head = "================ Training Loss (Thu Oct 31 10:43:06 2024) ================\n"
    (tmp_path / "loss_log.txt").write_text(head + each(line, 1, 2, 3) + head + each(line, 1, 2, 3))
    for run in read_all(tmp_path):  # two trainings
        assert run.task == "gan-diffusion"
        assert set(run.history.metrics) == {"d_loss", "g_loss", "cycle_A", "D_B"}


def test_an_evaluation_of_the_estimator(tmp_path: Path) -> None:
    """What it saves a dict of is held out; what is printed at the end has no step."""
    text = each("INFO:tensorflow:loss = 0.{n}, step = {t}0 (1.2 sec)", 1, 2, 3)
    text += "INFO:tensorflow:Saving dict for global step 300: accuracy = 0.7, global_step = 300,"
    text += " loss = 0.72\nINFO:tensorflow:Loss for final step: 0.0025.\n"
    found = canonical(reading(tmp_path, text))
    assert found["eval_loss"] == [(300, 0.72)]
    assert found["eval_accuracy"] == [(300, 0.7)]
    assert len(found["train_loss"]) == 3
    assert set(found) == {"eval_loss", "eval_accuracy", "train_loss"}


def test_words_behind_a_name_are_no_part_of_it(tmp_path: Path) -> None:
    """A loss that is, so far."""
    text = each("Epoch {n}, Step 25, avg loss so far is 0.{n}\nEpoch {n}, val loss is 0.5", 1, 2, 3)
    assert set(canonical(reading(tmp_path, text))) >= {"eval_loss"}
    assert "avg loss" in reading(tmp_path, text).series


def test_columns_that_count_nothing(tmp_path: Path) -> None:
    """Losses between tabs below their names are numbered, and it is said."""
    text = "train_loss\ttrain_EPE\tEPE\n" + each("1{n}.5\t2.{n}\t3.5", 1, 2, 3, 4)
    found = reading(tmp_path, text)
    assert found.series["train_loss"].step.tolist() == [1, 2, 3, 4]
    assert any("numbered in order" in problem.text for problem in found.problems)


@pytest.mark.parametrize(
    "text",
    [
        "score\tlabel\n" + each("0.{n}\t1", 1, 2, 3, 4),  # data
        "loss of weight\tage\n" + each("0.{n}\t1", 1, 2, 3, 4),
        "the loss  the gain\n" + each("0.{n}  1", 1, 2, 3, 4),
    ],
)
def test_other_columns_are_no_metrics(tmp_path: Path, text: str) -> None:
    """Scores and sentences."""
    assert not reading(tmp_path, text).series


def test_the_log_of_the_client_is_no_log_of_the_run(tmp_path: Path) -> None:
    """W&B's own, in a folder of another name; another program's of that name is read."""
    line = "2026-01-01 10:00:00,0 INFO MainThread:5 [wandb_setup.py:_flush():76] config loss: 0.5\n"
    (tmp_path / "debug.log").write_text(line * 3)
    assert console.find(tmp_path, {tmp_path: ["debug.log"]}) == []
    (tmp_path / "debug.log").write_text(each("step {t} loss 0.{n}", 1, 2, 3))
    assert console.find(tmp_path, {tmp_path: ["debug.log"]})


@pytest.mark.parametrize(
    ("epochs", "first"),
    [
        (range(352, 355), 3520),  # of 520: from 0
        (range(518, 521), 5170),  # the last is the 520th: from 1
        (range(3), 0),
        (range(1, 4), 0),
    ],
)
def test_a_resumed_log_counts_on(tmp_path: Path, epochs: range, first: int) -> None:
    """The plan counts all epochs, so what was done does too."""
    text = "".join(
        each(f"Epoch: [{epoch}/520] Iter:[{{n}}/10], Loss: 0.5", 0, 5, 9) for epoch in epochs
    )
    found = reading(tmp_path, text)
    assert int(found.series["Loss"].step[0]) == first
    assert found.hints.planned_steps == 5200


@pytest.mark.parametrize(("epochs", "first"), [((7, 8), 60), ((1, 2), 0), ((0, 1), 0)])
def test_a_log_of_later_epochs_stands_where_its_rows_say(
    tmp_path: Path, epochs: tuple[int, int], first: int
) -> None:
    """An excerpt from epoch 7 on has six epochs before it, each of as many batches as it tells."""
    text = "".join(each(f"Epoch: [{epoch}][{{n}}/10] Loss: 0.5", 0, 5, 9) for epoch in epochs)
    steps = reading(tmp_path, text).series["Loss"].step.tolist()
    assert steps[:3] == [first, first + 5, first + 9]
    assert steps[3] == first + 10


def test_a_bar_that_knows_no_total_counts_over_epochs(tmp_path: Path) -> None:
    """The label names the epoch; how long one is, the bar of a whole one says."""
    text = "".join(
        f"Train Epoch: {epoch} [{step}/60 (9%)] Loss: {9 - epoch}.{step}:"
        f" : {step}it [00:02,  4it/s]\r"
        for epoch in range(3)
        for step in (20, 40, 60)
    )
    found = reading(tmp_path, text + "\n")
    assert next(iter(found.series.values())).step.tolist() == list(range(20, 200, 20))


def test_names_of_two_words_between_tabs(tmp_path: Path) -> None:
    """The logger of pytorch-classification, with its settings before."""
    head = "arch:resnet50\nepochs:6\nlr:0.1\nmomentum:0.9\n"
    names = "Learning Rate\tTrain Loss\tValid Loss\tTrain Acc\tValid Acc\t\n"
    rows = each("0.1\t2.{n}\t2.5\t18.5\t19.5\t", 5, 4, 3, 2, 1, 0)
    found = reading(tmp_path, head + names + rows)
    assert found.series["Train Loss"].value.tolist() == [2.5, 2.4, 2.3, 2.2, 2.1, 2.0]
    assert found.config["epochs"] == 6


def test_a_printed_model_is_no_table(tmp_path: Path) -> None:
    """Its layers have numbers, and measure nothing."""
    text = each("    ({n}): Conv2d(128, 128, kernel_size=({n}, 1), stride=(1, 1))\n", *range(20))
    assert not reading(tmp_path, "Training epoch: 1\n" + text).series


def test_settings_as_a_dict_in_one_line(tmp_path: Path) -> None:
    """Sections and all; a row of a training is no setting."""
    first = "{'train_config': {'n_iters': 2000, 'learning_rate': 0.0002, 'batch_size': 8}}\n"
    rows = each("iteration: {n} \tloss: 0.5\n", *range(100, 2100, 100))
    found = reading(tmp_path, first + rows)
    assert found.config["train_config.n_iters"] == 2000


def test_a_loss_and_a_score_under_one_epoch_are_of_that_epoch(tmp_path: Path) -> None:
    """Each in a line of its own, of which one layout is known and one is learned."""
    text = each("epoch {n}\nloss: 6.{n}\ntest accuracy: 20.{n}%, (51{n}/2466)\n", 1, 2, 3, 4, 5, 6)
    found = reading(tmp_path, text)
    assert found.series["loss"].step.tolist() == [1, 2, 3, 4, 5, 6]
    assert found.series["loss"].value.tolist() == [6.1, 6.2, 6.3, 6.4, 6.5, 6.6]
    assert found.series["test accuracy"].step.tolist() == [1, 2, 3, 4, 5, 6]


def test_what_a_program_was_called_with_is_no_row(tmp_path: Path) -> None:
    """Settings have names and numbers, and some of the names are those of losses."""
    said = "epochs=10, patience=100, weight_decay=0.01, label_smoothing=0.1, loss=0.5, acc=1.5\n"
    assert not reading(
        tmp_path, said + "Traceback (most recent call last):\nKeyError: 'x'\n"
    ).series
