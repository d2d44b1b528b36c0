"""Rows that were left unread: by a second way to count, by another tongue, by a spaced clock."""

import json
from pathlib import Path

import pytest

from runlens import read
from runlens.run import Run


def run_of(folder: Path, text: str, name: str = "log.txt") -> Run:
    """Read one log."""
    (folder / name).write_text(text)
    return read(folder / name)


@pytest.mark.parametrize(
    "glued", ["{} Val loss:{:.4f} Val err:{:.4f}", "{}: Val loss {:.4f} Val err {:.4f}"]
)
def test_a_number_that_counts_as_a_word_did_before(tmp_path: Path, glued: str) -> None:
    """The program was changed while it trained: ``iter 9 Val loss: 0.5``, ``10 Val loss:0.5``."""
    rows = [f"iter {n} Val loss: {2 / n:.4f} Val err: {1 / n:.4f}" for n in range(1, 9)]
    rows += [glued.format(n, 2 / n, 1 / n) for n in range(9, 20)]
    run = run_of(tmp_path, "\n".join(rows) + "\n")
    assert run.curve("eval_loss").step.tolist() == list(range(1, 20))


@pytest.mark.parametrize(
    "later", ["3 Val loss: 0.5\n4 Val loss: 0.4\n", "30 Test loss: 0.5\n31 Test loss: 0.4\n"]
)
@pytest.mark.parametrize("word", ["iter", "Epoch"])
def test_other_numbers_before_a_name_count_nothing(tmp_path: Path, later: str, word: str) -> None:
    """They fall back, or what stands behind them is called otherwise; epochs are no steps."""
    rows = "".join(f"{word} {n} Val loss: {2 / n:.4f}\n" for n in range(1, 20))
    run = run_of(tmp_path, rows + later)
    assert len(run.curve("eval_loss")) == 19


def test_numbers_that_go_on_behind_epochs_are_left_alone(tmp_path: Path) -> None:
    """Nothing says that they count epochs."""
    rows = "".join(f"Epoch {n} loss: {2 / n:.4f}\n" for n in range(1, 20))
    assert len(run_of(tmp_path, f"{rows}20 loss: 0.1\n").curve("train_loss")) == 19


@pytest.mark.parametrize("word", ["Epoca", "Época", "epoche", "Époque", "ÉPOCA"])
def test_epochs_of_other_languages(tmp_path: Path, word: str) -> None:
    """With or without their accents."""
    rows = "".join(f"{word} {n}/30 - Loss: {2 / n:.4f} | LR: 1e-3\n" for n in range(1, 31))
    run = run_of(tmp_path, rows)
    assert run.curve("train_loss").step.tolist() == list(range(1, 31))
    assert run.state.planned_epochs == 30


def test_steps_of_a_sample_are_none_of_the_training(tmp_path: Path) -> None:
    """``step 2: token 9 (score: 3.1)`` below each epoch."""
    rows = "".join(
        f"Epoch {n}/30 - Loss: {2 / n:.4f}\n"
        + "".join(f"step {word}: token 9, score: {word + n / 100:.2f}\n" for word in range(3))
        for n in range(1, 31)
    )
    run = run_of(tmp_path, rows)
    assert run.curve("train_loss").step.tolist() == list(range(1, 31))


@pytest.mark.parametrize("name", ["loss_history", "train_losses_list", "loss_hist", "Task Loss"])
def test_names_of_a_loss(tmp_path: Path, name: str) -> None:
    """A history of it, or what a student is taught for beside what it copies."""
    values = [round(2 / n, 4) for n in range(1, 31)]
    run = run_of(tmp_path, json.dumps({name: values, "KD Loss": values}), "history.json")
    assert run.curve("train_loss").value.tolist() == values


@pytest.mark.parametrize("name", ["val_loss.txt", "validation-loss.log", "test_acc.txt"])
def test_a_file_that_is_called_after_a_measure_of_held_out_data(tmp_path: Path, name: str) -> None:
    """Its rows are of that data, whatever they are called."""
    rows = "".join(f"epoch: {n} loss: {2 / n:.4f}\n" for n in range(1, 20))
    run = run_of(tmp_path, rows, name)
    (metric,) = run.history.metrics
    assert metric.startswith(("eval_loss", "test_loss"))


@pytest.mark.parametrize("bracketed", ["batch [{}/1434] loss 6.57", "batch {}/1434, loss: 6.57"])
def test_one_row_below_its_epoch(tmp_path: Path, bracketed: str) -> None:
    """Counted to what an epoch has; words behind it are a sample."""
    run = run_of(tmp_path, f"epoch:1\n{bracketed.format(1433)}\nshe said that it was late\n")
    assert run.curve("train_loss").value.tolist() == [6.57]
    assert run.curve("train_loss").step.tolist() == [1433]


def test_clocks_of_several_words(tmp_path: Path) -> None:
    """``0h 41min 50s 511ms`` and `` 1h  0min 57s  76ms`` are a time."""
    rows = "".join(
        f"time: {n // 60:2d}h {n % 60:2d}min {n * 7 % 60:2d}s {n * 37 % 1000:3d}ms, epoch: 1/5, "
        f"batch: {n}/2000, avg loss: {5 / n:.4f}\n"
        for n in range(1, 130)
    )
    run = run_of(tmp_path, rows)
    assert len(run.curve("train_loss")) == 129
    assert set(run.history.metrics) == {"train_loss"}


def test_a_counter_that_stands_still_gives_way_to_one_that_rises(tmp_path: Path) -> None:
    """Steps of an environment are told when an episode ends, iterations always."""
    rows = [
        {"iteration": n, "env_steps": 8064 * (n // 2), "loss_mean": 5 / n, "lr": 0.1 / n}
        for n in range(1, 6)
    ]
    run = run_of(tmp_path, json.dumps(rows), "training_stats.json")
    assert run.curve("train_loss").step.tolist() == [1, 2, 3, 4, 5]
    for row in rows:
        row["iteration"] = 3
    run = run_of(tmp_path, json.dumps(rows), "training_stats.json")
    assert len(run.curve("train_loss")) == 3  # none rises: it stays as it was


@pytest.mark.parametrize("unit", ["ms", "s", "it/s", "GB"])
def test_a_unit_before_a_name_is_no_name(tmp_path: Path, unit: str) -> None:
    """``speed: 35.1ms loss: 0.5`` has a time."""
    rows = "".join(f"step {n} speed: 35.{n}{unit} loss: {2 / n:.4f}\n" for n in range(1, 30))
    run = run_of(tmp_path, rows)
    assert len(run.curve("train_loss")) == 29


@pytest.mark.parametrize(("last", "kind"), [(20, "finished"), (13, "stopped_early")])
def test_the_batches_of_the_only_epoch_are_the_plan(tmp_path: Path, last: int, kind: str) -> None:
    """What it was called with says that there is one, and the rows to what they count."""
    rows = "".join(
        f"Training [=====     ] {5 * n:.1f}% {100 * n}/2000 | 4.62 it/s | ETA: {2000 - 100 * n} s "
        f"| loss={2 / n:.6f} | validation_loss={3 / n:.6f}\n"
        for n in range(1, last + 1)
    )
    run = run_of(tmp_path, f"./train --input data.jsonl \\\n  --epochs 1 \\\n  --lr 3e-4\n{rows}")
    assert len(run.curve("train_loss")) == last
    assert run.state.planned_steps == 2000
    assert run.state.kind == kind


def test_means_of_the_last_episodes_between_steps(tmp_path: Path) -> None:
    """Lines that come more than once between two heads are all read."""
    text = ""
    for n in range(1, 60):
        for part in range(n % 4):
            text += f"Avg reward last 100 episodes: {n + part / 4:.4f}\nUpdated target network!\n"
        text += f"Step {50_000 * n}\n"
        if not n % 4:
            text += f"Avg Q value: {n / 9:.4f} Avg duration: {n}.5000\n"
    run = run_of(tmp_path, text)
    assert max(len(run.curve(name)) for name in run.history.metrics) == sum(
        n % 4 for n in range(60)
    )
    assert max(run.curve(name).step[-1] for name in run.history.metrics) == 59 * 50_000


def test_a_dump_that_speaks_of_what_was_saved_is_no_checkpoint(tmp_path: Path) -> None:
    """A line of very many words is passed over."""
    long = "Saving model checkpoint to out/checkpoint-5 " + 3_000 * "word "
    rows = "".join(f"step {n} loss: {2 / n:.4f}\n" for n in range(1, 30))
    run = run_of(tmp_path, f"{rows}{long}\n")
    assert not [event for event in run.events if event.kind == "checkpoint"]


def test_a_norm_beside_a_loss_and_a_rate_is_that_of_the_gradient(tmp_path: Path) -> None:
    """Where nothing else is called so."""
    rows = "".join(
        f'{{"step": {n}, "loss": {2 / n}, "lr": 0.001, "norm": {1 + 1 / n}, "time": 0.5}}\n'
        for n in range(1, 30)
    )
    assert "grad_norm" in run_of(tmp_path, rows, "log.jsonl").history.metrics
