"""Layouts of programs that nobody described, with names that say little."""

from pathlib import Path

import numpy as np
import pytest

from runlens import read, read_all
from runlens.errors import NothingReadable
from runlens.run import Run
from tests.sources.run_points import points


def run_of(folder: Path, *lines: str, name: str = "train.log", ends: str = "\n") -> Run:
    """Write a log of these lines and read it."""
    (folder / name).write_text(ends.join(lines) + "\n")
    return read(folder)


def drawn(step: int, label: str) -> str:
    """Return a state of a progress bar of 400 steps."""
    return f"{label}:  {step // 4}%|##        | {step}/400 [00:{step % 60:02}<01:00,  6.67it/s]"


def test_the_label_of_a_bar_is_a_row(tmp_path: Path) -> None:
    """Of its states at one step the last counts; the total is judged, as nothing else is."""
    said = "[Adam] Tot:{:.3e} PDE:{:.1e}/1.1e-03 IF:{:.1e}"
    bars = [drawn(step, said.format(9 / (step + 1), 1 / (step + 1), 0.5)) for step in range(60)]
    run = run_of(tmp_path, drawn(0, said.format(70, 1, 2)), *bars, ends="\r")
    assert points(run, "train_loss")[:2] == [(0, 9.0), (1, 4.5)]
    assert points(run, "PDE")[1] == (1, 0.5)
    assert {"PDE[1]", "IF"} <= set(run.history.metrics)
    assert (run.state.done_steps, run.state.planned_steps) == (59, 400)
    assert run.taken == {"train_loss": "Tot"}
    assert run.task == "other"  # a total says nothing of a language model by its level


@pytest.mark.parametrize(
    ("columns", "taken"),
    [
        (("total", "PDE", "IF"), {"train_loss": "total"}),
        (("total", "PDE"), {}),  # of what?
        (("total", "PDE", "reward"), {}),
    ],
)
def test_a_total_is_the_loss_where_its_parts_stand_beside_it(
    tmp_path: Path, columns: tuple[str, ...], taken: dict[str, str]
) -> None:
    """It falls, and nothing else measures success."""
    rows = [",".join([str(n), *(f"{9 / n + 0.01:.4f}" for _ in columns)]) for n in range(1, 9)]
    (tmp_path / "metrics.csv").write_text(
        "\n".join(
            [
                f"step,lr,{','.join(columns)}",
                *[f"{row.partition(',')[0]},0.1,{row.partition(',')[2]}" for row in rows],
                "",
            ]
        )
    )
    assert dict(read(tmp_path).taken) == taken


def test_accuracy_beside_an_edit_distance_is_of_texts(tmp_path: Path) -> None:
    """Text recognition is no classification."""
    rows = [
        f"[{n}/900] Train loss: {1 / n:.4f}, Valid loss: {2 / n:.4f}, accuracy: 0.5, norm_ED: 0.3"
        for n in range(1, 9)
    ]
    assert run_of(tmp_path, *rows).task == "other"
    assert np.isfinite(read(tmp_path).curve("train_loss").value).all()


SETTINGS = ["latent_dim: 128", "epochs: 50", "batch_size: 256", "lr: 0.0003", "save_dir: ./models"]
STAMP = "2026-02-14 09:55:19,670 - INFO - "


@pytest.mark.parametrize(
    "lines",
    [
        SETTINGS,
        [f"{STAMP}  {line}" for line in SETTINGS],
        [
            f"INFO - 09/02/20 13:55:22 - 0:00:00 - {SETTINGS[0]}",
            *(" " * 37 + s for s in SETTINGS[1:]),
        ],
        [f"[2026-02-14 09:55:19][main] {line}" for line in SETTINGS],
        [line.replace(":", " =") for line in SETTINGS],
    ],
)
def test_settings_one_a_line(tmp_path: Path, lines: list[str]) -> None:
    """Behind stamps and levels, or indented below the first."""
    rows = [f"{STAMP}Epoch {n} loss: {2 / n:.4f}" for n in range(1, 51)]
    run = run_of(tmp_path, "begins", *lines, *rows)
    assert run.config["learning_rate"].value == 0.0003
    assert run.config["latent_dim"].value == 128
    assert (run.state.kind, run.state.done_epochs, run.state.planned_epochs) == ("finished", 50, 50)


@pytest.mark.parametrize(
    "lines",
    [
        SETTINGS[1:4],  # too few
        ["epoch: 3", "lr: 0.0003", "batch_size: 8", "loss: 0.25"],  # a row of a table
        ["name: a", "path: b", "kind: c", "lr: 0.1"],  # one that is known
        ["lr: 0.1", "lr: 0.2", "lr: 0.3", "batch_size: 4"],
        ["a sentence that goes on and on: 3", "lr: 0.1", "and so on", "epochs: 4"],
    ],
)
def test_other_lists_are_no_settings(tmp_path: Path, lines: list[str]) -> None:
    """Lists that measure something, that say little, or say it again."""
    rows = [f"Epoch {n} loss: {2 / n:.4f}" for n in range(1, 9)]
    assert "learning_rate" not in run_of(tmp_path, "begins", *lines, *rows).config


def test_the_settings_of_argparse_are_no_row(tmp_path: Path) -> None:
    """A namespace that two launches print is no table of two rows."""
    lines = [f"Namespace(eval_batch_size=8, lr=0.{n}, noise=[0.3, 0.1])" for n in range(1, 9)]
    rows = [f"Epoch {n} loss: {2 / n:.4f}" for n in range(1, 9)]
    assert set(run_of(tmp_path, *lines, *rows).history.metrics) == {"train_loss"}


def test_a_log_that_was_pasted_into_markdown(tmp_path: Path) -> None:
    """In a folder only where it has more rows than an example."""
    rows = [f"Epoch {n:03} loss  {22 / n:.4f} | train 2.5s" for n in range(1, 30)]
    lines = ["## cifar 100", "", "```", "Namespace(epoches=100)", *rows, "```"]
    run = run_of(tmp_path, *lines, name="log_cifar.md")
    assert len(run.curve("train_loss")) == 29
    assert run.state.planned_epochs == 100
    (tmp_path / "log_cifar.md").write_text("\n".join([*lines[:9], "```", ""]))
    with pytest.raises(NothingReadable):
        read(tmp_path)
    assert len(read(tmp_path / "log_cifar.md").curve("train_loss")) == 5


def test_epochs_of_two_kinds_of_rows(tmp_path: Path) -> None:
    """The last epoch is done though its row has one number more than most."""
    rows = [
        f"Epoch {n} | loss {2 / n:.4f}" + (f" | Acc {n / 100:.2f}" if n % 5 == 0 else "")
        for n in range(1, 21)
    ]
    assert run_of(tmp_path, "Namespace(epochs=20)", *rows).state.kind == "finished"


def test_a_counter_that_is_glued_to_a_message(tmp_path: Path) -> None:
    """Messages that were printed without an end; an iteration that goes on is the step."""
    rows = [
        ("Saving checkpoint" if n % 5 == 0 else "")
        + f"[Epoch {3 * n:02}] it={n}00, loss={1 / n:.4f}"
        for n in range(1, 21)
    ]
    rows[0] = f"Total number of parameters: 44414512{rows[0]}"
    for n in (10, 15, 20):
        rows[n - 1] += f"\nSaving checkpointValidation metric : {2 / n:.4f}"
    run = run_of(tmp_path, *rows)
    assert points(run, "train_loss")[:2] == [(100, 1.0), (200, 0.5)]
    assert len(run.curve("train_loss")) == 20
    (metric,) = (name for name in run.history.metrics if "metric" in name)
    assert run.curve(metric).step.tolist() == [1000, 1500, 2000]


def test_an_iteration_that_begins_anew_is_of_its_epoch(tmp_path: Path) -> None:
    """Then steps are counted over the epochs."""
    rows = [
        f"[Epoch {epoch}] it={at}, loss={1 / (1 + epoch * 50 + at):.4f}"
        for epoch in range(4)
        for at in range(50)
    ]
    assert run_of(tmp_path, *rows).curve("train_loss").step.tolist() == list(range(200))


def test_caffe(tmp_path: Path) -> None:
    """Behind glog's prefix, in which processes and lines differ; a weighted loss is said twice."""
    lines = []
    for n in range(20):
        glog = f"I0401 08:05:{n:02}.118290  {5674 + n // 5} "
        speed, loss = "(2.9 iter/s, 6.7s/20 iters)", f"{1 / (n + 1):.4f}"
        lines += [
            f"{glog}solver.cpp:{218 + n // 7}] Iteration {20 * n} {speed}, loss = {loss}",
            f"{glog}s.cpp:237]     Train net output #0: loss_bbox = {loss} (* 1 = {loss} loss)",
            f"{glog}sgd_solver.cpp:105] Iteration {20 * n}, lr = 1e-05",
        ]
    run = run_of(tmp_path, *lines, "done solving")
    assert set(run.history.metrics) == {"train_loss", "loss_bbox", "learning_rate"}
    assert points(run, "loss_bbox")[1] == (20, 0.5)
    assert run.state.kind == "finished"


def test_rows_of_detr_stand_at_their_epochs(tmp_path: Path) -> None:
    """A dict that has losses of both splits is a training row; its epochs count from 0."""
    rows = [
        f'{{"train_loss": {3 / (n + 1):.4f}, "test_loss": {4 / (n + 1):.4f}, '
        f'"test_coco_eval_bbox": [0.1, 0.2], "epoch": {n}, "n_parameters": 42}}'
        for n in range(12)
    ]
    run = run_of(tmp_path, *rows, name="log.txt")
    assert run.curve("train_loss").step.tolist() == list(range(12))
    assert run.curve("eval_loss").step.tolist() == list(range(12))


def test_a_perplexity_says_more_than_a_word_that_may_be_a_loss(tmp_path: Path) -> None:
    """Its logarithm is the loss; what was printed stays under its own name."""
    rows = [
        f"Epoch {n} | Train Energy: {1.5 + 1 / n:.4f} | Train Perplexity: {900 / n:.4f}"
        for n in range(1, 9)
    ]
    run = run_of(tmp_path, *rows)
    assert run.curve("train_loss").value[0] == pytest.approx(np.log(900))
    assert points(run, "Train Energy")[0] == (1, 2.5)
    assert not run.taken


@pytest.mark.parametrize(
    ("row", "called"),
    [
        ("Epoch {n}: loss {loss}{rare}", "eval_accuracy"),  # now and then
        ("Epoch {n}: loss {loss} | Acc 0.{n}", "train_accuracy"),
        ("Epoch {n} | train loss {loss} | valid loss {loss} | Acc 0.{n}", "train_accuracy"),
        (
            "Epoch {n}: train loss {loss}, valid loss {loss}, Acc 0.{n}, Best_acc 0.9",
            "eval_accuracy",
        ),
        ("Epoch {n} | train loss {loss}{rare} | train acc 0.{n}", "train_accuracy"),
    ],
)
def test_an_accuracy_that_names_no_data(tmp_path: Path, row: str, called: str) -> None:
    """It is of evaluation where it is logged now and then, or has a best beside it."""
    rows = [
        row.format(n=n, loss=f"{2 / n:.4f}", rare=f" | Acc 0.{n}" if n % 5 == 0 else "")
        for n in range(10, 60)
    ]
    metrics = set(run_of(tmp_path, *rows).history.metrics)
    assert {"train_accuracy", "eval_accuracy"} & metrics == {called}


def test_what_numbers_the_rows_is_no_metric(tmp_path: Path) -> None:
    """Whatever it is called."""
    rows = [f"Start ep num {n}\nEpoch {n}:\nloss_D: {1 / n:.4f}, loss_G: 0.5" for n in range(1, 20)]
    assert "Start ep num" not in run_of(tmp_path, *rows).history.metrics


def test_the_second_training_of_a_log_is_no_resume(tmp_path: Path) -> None:
    """Its first loss is a start: what needs one can be judged."""
    rows = [f"Epoch {n} loss: {9 / n:.4f}" for n in range(1, 40)]
    (tmp_path / "train.log").write_text("\n".join(["begins", *rows, "begins", *rows, ""]))
    (tmp_path / "b").mkdir()
    table = [f"{n},{9 / n:.4f}" for n in range(1, 40)]
    (tmp_path / "b" / "metrics.csv").write_text("\n".join(["epoch,loss", *table, *table, ""]))
    for place in (tmp_path / "train.log", tmp_path / "b"):
        second = read_all(place)[1]
        assert [segment.number for segment in second.segments] == [0]
        assert not second.events_of("resume")


def test_a_reward_of_both_splits_is_of_an_agent(tmp_path: Path) -> None:
    """A policy gradient has a loss too, which is no measure of it."""
    rows = [f"{n},{9 / n:.4f},{-9 / n:.4f},{-8 / n:.4f}" for n in range(1, 40)]
    head = "step,train/loss,train/reward,val/reward"
    (tmp_path / "metrics.csv").write_text("\n".join([head, *rows, ""]))
    assert read(tmp_path).task == "rl"


def test_a_line_that_names_the_epochs_is_the_plan(tmp_path: Path) -> None:
    """Among other things, and though no row repeats it."""
    rows = [f"[train] epoch:{n} iter:0/18 loss:{2 / (n + 1):.4f}" for n in range(8)]
    run = run_of(tmp_path, "Total Epoch:30 Image_size:(256, 256) Training num:288", *rows)
    assert (run.state.done_epochs, run.state.planned_epochs) == (8, 30)


def test_a_markdown_file_with_a_whole_progress_bar_is_the_log_of_its_folder(tmp_path: Path) -> None:
    """Its few rows are no example in a text: nobody pastes forty updates of a bar into one."""
    bar = "".join(f"\r  0%|   | {at}/29790 [00:{at:02d}<31:29:58, 3.81s/it]" for at in range(44))
    (tmp_path / "run_terminal.md").write_text(
        "# Training Logs\n\n```text\n" + bar + "\nTraceback (most recent call last):\n"
        '  File "train.py", line 7, in <module>\n    trainer.train()\nKeyboardInterrupt\n```\n'
    )
    assert read(tmp_path).state.kind == "killed"
