"""Logs of AllenNLP and others that print their bars and headings through loggers."""

from pathlib import Path

import pytest

from runlens import read, read_all
from runlens.sources.console.compared import compared
from runlens.sources.console.loggers import without_logger
from tests.sources.console_logs import canonical, reading

LOGGERS = (
    "2021-02-03 10:00:01,123 - INFO - {} - ",
    "[2021-02-03 10:00:01] {} INFO: ",
    "02/03/2021 10:00:01 - INFO - {} -   ",
    "INFO:{}:",
    "",
)


def log(logger: str, epochs: int, *, tables: bool, first: int = 0, held: str = "Validating") -> str:
    """Return a log of so many epochs of 200 batches, each with an evaluation of 40."""
    lines = []

    def out(name: str, text: str) -> None:
        lines.append(logger.format(name) + text)

    def bar(done: int, total: int, loss: float) -> None:
        share = 100 * done // total
        text = f"accuracy: 0.{60 + share // 4}, batch_loss: {loss + 0.1:.4f}, loss: {loss:.4f} ||: "
        out(
            "tqdm",
            f"{text}{share:3}%|{'#' * (share // 10)} | {done}/{total} [00:07<01:40,  1.80it/s]",
        )

    for epoch in range(epochs):
        out("my.trainer", f"Epoch {epoch + first}/{epochs - 1 + first}")
        out("my.trainer", "Training")
        for done in range(20, 201, 20):
            bar(done, 200, 2.0 / (epoch + 1) - done / 1000)
        out("my.trainer", held)
        for done in (20, 40):
            bar(done, 40, 1.5 + epoch / 10)
        if tables:
            out("my.writer", "                  Training |  Validation")
            out("my.writer", f"accuracy     |     0.{70 + epoch}1  |     0.{60 + epoch}2")
            out("my.writer", "gpu_0_mem    |    52.799  |       N/A")
            out(
                "my.writer",
                f"loss         |     {2 / (epoch + 1):.3f}  |     {1.5 + epoch / 10:.3f}",
            )
        out("my.trainer", "Epoch duration: 0:07:52.199374")
    return "\n".join([*lines, ""])


@pytest.mark.parametrize("logger", LOGGERS)
def test_a_table_of_an_epoch_with_a_column_for_each_data(tmp_path: Path, logger: str) -> None:
    """Whatever the logger; the bars repeat what it says, and their total is no plan."""
    found = reading(tmp_path, log(logger, 4, tables=True))
    curves = canonical(found)
    assert curves["train_loss"] == [(n, round(2 / (n + 1), 3)) for n in range(4)]
    assert curves["eval_loss"] == [(n, 1.5 + n / 10) for n in range(4)]
    assert found.hints.planned_epochs == 4
    assert found.hints.planned_steps is None


@pytest.mark.parametrize("logger", LOGGERS)
@pytest.mark.parametrize(
    "held", ["Validating", "Evaluating on the dev set", "-- Starting evaluation"]
)
def test_bars_below_a_heading_of_held_out_data_are_of_these(
    tmp_path: Path, logger: str, held: str
) -> None:
    """One training, whose epochs the headings count."""
    run = read(written(tmp_path, log(logger, 4, tables=False, held=held)))
    assert run.curve("train_loss").step.tolist() == list(range(20, 801, 20))
    assert run.state.planned_epochs == 4


def written(folder: Path, text: str) -> Path:
    """Write a log."""
    path = folder / "train.log"
    path.write_text(text)
    return path


def headed(*done: int, heading: str = "EPOCH ::: {}") -> str:
    """Return a bar of 255 batches below the heading of each epoch, drawn so far."""
    return "".join(
        f"{heading.format(n)}\nTraining: {at * 100 // 255}%|##| {at}/255 [03:58<00:00, 1.07it/s, "
        f"Loss_pi={1 / n:.2e}, Loss_v=1.5e-04]\n"
        for n, at in enumerate(done, 1)
    )


def test_a_bar_below_each_epoch_is_of_this_epoch(tmp_path: Path) -> None:
    """Whose label says nothing of it; one that goes on over the epochs counts the whole run."""
    run = read(written(tmp_path, headed(255, 255, 100)))
    assert run.curve("policy_loss").step.tolist() == [255, 510, 610]
    run = read(written(tmp_path, headed(100, 255, heading="epoch {}/2")))
    assert run.curve("policy_loss").step.tolist() == [100, 255]


def test_a_bar_that_names_its_epoch_needs_no_heading(tmp_path: Path) -> None:
    """It says it itself."""
    text = headed(255, 255).replace("Training:", "Epoch 7 Training:")
    assert read(written(tmp_path, text)).curve("policy_loss").step.tolist() == [255]


def test_bars_that_name_their_data_need_no_heading(tmp_path: Path) -> None:
    """They are as they were."""
    text = log("", 3, tables=False).replace("accuracy", "Training | accuracy")
    assert reading(tmp_path, text).series


def test_epochs_that_count_from_1(tmp_path: Path) -> None:
    """The last is the plan then."""
    assert reading(tmp_path, log("", 4, tables=True, first=1)).hints.planned_epochs == 4


@pytest.mark.parametrize(
    "line",
    [
        "2021-02-03 10:00:01,123 - INFO - valid - loss 0.5",
        "2021-02-03 10:00:01,123 - INFO - loss - 0.5",
        "INFO: epoch 3",
        "2021-02-03 loss 0.5",
        "",
    ],
)
def test_what_says_something_is_no_logger(line: str) -> None:
    """A logger may be called after data or a measure."""
    assert without_logger(line) == line


def turns(*data: tuple[int, str], epochs: int = 4) -> str:
    """Return bars by turns whose numbers stand before them, each of a length and a text."""
    return "\r".join(
        f"{said}loss: {1 / (epoch + done / total):.4f} ||: {100 * done // total:3d}%|##   "
        f"| {done}/{total} [00:10<00:10,  3.00it/s]"
        for epoch in range(1, epochs + 1)
        for total, said in data
        for done in range(1, total + 1)
    )


def test_bars_by_turns_are_of_training_and_of_held_out_data(tmp_path: Path) -> None:
    """As AllenNLP draws them: neither names its data or its epoch."""
    (tmp_path / "err.log").write_text(turns((20, "accuracy: 0.7, "), (5, "accuracy: 0.6, ")))
    run = read(tmp_path / "err.log")
    loss, held_out = run.curve("train_loss"), run.curve("eval_loss")
    assert loss.step.tolist() == list(range(1, 81))
    assert held_out.step.tolist() == [20, 40, 60, 80]
    assert held_out.value.tolist() == pytest.approx([1 / (n + 1) for n in range(1, 5)], abs=1e-4)


@pytest.mark.parametrize(
    "data",
    [
        [(20, "")],  # one length
        [(20, ""), (5, ""), (7, "")],
        [(20, "train "), (5, "val ")],  # a label says it
    ],
)
def test_bars_that_are_not_by_turns_are_left_alone(
    tmp_path: Path, data: list[tuple[int, str]]
) -> None:
    """Of which data they are nothing tells, or their own label does."""
    (tmp_path / "err.log").write_text(turns(*data))
    steps = [run.curve("train_loss").step for run in read_all(tmp_path / "err.log")]
    assert not any(len(step) > 1 and step[-1] == 80 and len(data) > 1 for step in steps)


def test_lines_that_are_no_such_table() -> None:
    """A single table, one without what is judged by, and words between their lines."""
    head, row = "Training | Validation", "loss | 0.5 | 0.6"
    assert not compared([(0, head), (1, row)])
    assert not compared([(0, head), (1, "memory | 5 | 6"), (2, head), (3, "memory | 5 | 7")])
    lines = [head, row, "that was it", "loss | 0.4 | 0.5", "x" * 400, head, "metric | 1", row]
    assert [found.at for found in compared(list(enumerate(lines)))] == [0, 5]
