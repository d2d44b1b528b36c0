"""What the end of a log says of the end of its run: a row amid a plan proves nothing."""

from pathlib import Path

import pytest

from runlens import diagnose, read, read_all
from runlens.live import judged
from runlens.settings import Settings
from runlens.watching import looks


def epochs(last: int, planned: int = 90) -> list[str]:
    """Return the lines of a training: its settings, and a row an epoch."""
    rows = [f"Epoch {n}/{planned} loss: {2 / n + 0.3:.4f}" for n in range(1, last + 1)]
    return ["Namespace(lr=0.1, width=64)", "Loading the data", *rows]


def put(folder: Path, *lines: str) -> Path:
    """Write a log."""
    path = folder / "train.log"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_log_that_ends_within_the_plan_was_copied_or_cut(tmp_path: Path) -> None:
    """It is told, but nobody is woken for it: the run may go on to this day."""
    path = put(tmp_path, *epochs(37))
    state = read(path).state
    assert (state.settled, state.sure, state.done_epochs) == ("unknown", "guess", 37)
    (found,) = [one for one in diagnose(path).findings if one.rule == "stopped-early"]
    assert found.severity == "info"
    assert found.title.startswith("The log ends at epoch 37 of 90, at 41\u202f% of the plan")


def test_a_watch_goes_on_where_a_log_ends_within_the_plan(tmp_path: Path) -> None:
    """As it does while the run writes; a run that is judged while it trains is running."""
    path = put(tmp_path, *epochs(37))
    (look,) = next(iter(looks(path, Settings(), 1)))
    assert not look.over
    assert judged(read(path)).state.kind == "running"


def test_a_training_behind_which_another_begins_is_over(tmp_path: Path) -> None:
    """It stopped for sure; how the last one ended, the log does not say."""
    first, last = read_all(put(tmp_path, *epochs(30), *epochs(41)))
    assert (first.state.settled, first.state.sure) == ("stopped_early", "certain")
    assert "goes on with another training behind epoch 30 of 90" in first.state.why
    assert last.state.settled == "unknown"


@pytest.mark.parametrize("above", [0, 6_000, 9_001])
def test_a_log_of_powershell_within_a_folder_is_found(tmp_path: Path, above: int) -> None:
    """PowerShell's redirection writes UTF-16; much may stand above the rows."""
    rows = "\n".join(f"Epoch {n}/9 - loss: {2 / n:.4f}" for n in range(1, 10))
    rows = "this CPU can do more\n" * above + rows
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "train_output.txt").write_text(rows, encoding="utf-16")
    (run,) = read_all(tmp_path / "run")
    assert len(run.curve("train_loss")) == 9


REPORT = "2025-03-02 09:00:{:02d},120 - fit - INFO - {}\n"
SCORES = ("Train Accuracy: 0.9871", "Valid Accuracy: 1.0000", "Test F1: 0.9312")


def report(*lines: str, above: int = 90) -> str:
    """Return a log of a classifier that has no epochs, with much said before."""
    said = [f"column {chr(97 + n % 26)}{chr(97 + n // 26)} was scaled" for n in range(above)]
    return "".join(REPORT.format(n % 60, line) for n, line in enumerate((*said, *lines)))


def test_results_of_a_model_without_epochs_before_a_crash(tmp_path: Path) -> None:
    """In a log that is not short they stand beside each other, with their data."""
    text = report(*SCORES, "Model saved", "Fitting the next one")
    text += 'Traceback (most recent call last):\n  File "fit.py", line 7, in main\n    go()\n'
    text += "ValueError: sizes do not match\n"
    (tmp_path / "train.log").write_bytes(text.encode("utf-16"))
    run = read(tmp_path / "train.log")
    assert run.state.kind == "crashed"
    assert run.curve("train_accuracy").value.tolist() == [0.9871]
    assert run.curve("eval_accuracy").value.tolist() == [1.0]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (report("Train Accuracy: 0.9871"), {"train_accuracy": 0.9871}),
        (
            report(SCORES[0], *["still going on"] * 20, SCORES[1]),
            {"train_accuracy": 0.9871, "eval_accuracy": 1.0},
        ),
        (report("RMSE = 0.7993", "the list was written: 20 rows"), {"train_loss": 0.7993}),
        (report("Loss: 4.75%", "Accuracy:  97.0 %"), {"train_loss": 0.0475}),
    ],
)
def test_single_numbers_that_a_log_ends_in_are_results(
    tmp_path: Path, text: str, values: dict[str, float]
) -> None:
    """Of one kind of data, or far apart: a line has nothing else, and nothing is told again."""
    (tmp_path / "train.log").write_text(text)
    run = read(tmp_path / "train.log")
    assert {name: run.curve(name).value.tolist() for name in values} == {
        name: [value] for name, value in values.items()
    }
    assert "each number was read as a single point" in run.problems[0].text


@pytest.mark.parametrize(
    "text",
    [
        report(*SCORES, above=5_000),
        report("Accuracy: 0.91", "Recall: 0.84", "and the next", "Accuracy: 0.87"),
        report("conf: 0.25", "iou: 0.7", "mode: fast"),  # settings
        report("target accuracy: 0.95", "best loss: 0.4", "min reward = 0.5"),
        report("learning rate: 0.01", "gamma: 0.99"),
        report("Final loss: 0.0475"),  # or of the first row of what was cut
        report("Accuracy: 91", "Accuracy of it: 0.91 of all"),
    ],
)
def test_single_numbers_of_other_logs_are_no_results(tmp_path: Path, text: str) -> None:
    """Of several trainings, of settings, of what is wanted, or in a log that is long."""
    (tmp_path / "train.log").write_text(text)
    assert not read(tmp_path / "train.log").history.metrics


def test_results_may_stand_behind_the_sentence_that_closes_a_log(tmp_path: Path) -> None:
    """They are told once the training is done."""
    (tmp_path / "train.log").write_text(report("Training finished in 9 s", "Accuracy: 0.91"))
    assert read(tmp_path / "train.log").state.kind == "finished"
