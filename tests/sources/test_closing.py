"""Sentences with which a training says that it came to its end."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runlens import read, read_all
from runlens.sources.console.closing import CLOSING, Closing, closes, marked

ROWS = "".join(f"Epoch {n} loss: {2 / n:.4f}\n" for n in range(1, 20))


@pytest.mark.parametrize("row", CLOSING, ids=[row.line[:30] for row in CLOSING])
def test_every_sentence_is_told(row: Closing) -> None:
    """Each by the line that stands beside it, and by no other row of the table alone."""
    assert closes(row.line)


@pytest.mark.parametrize("row", CLOSING, ids=[row.line[:30] for row in CLOSING])
def test_no_sentence_is_passed_over_by_its_words(row: Closing) -> None:
    """Of whatever its form allows, lines with none of the words are not looked at."""

    @settings(max_examples=25, deadline=None)
    @given(st.from_regex(row.form))
    def asked(line: str) -> None:
        assert marked(line)

    asked()


@pytest.mark.parametrize(
    "line",
    [
        "Epoch 3 training complete",
        "Training is not finished",
        "Saving the model until training is done",
        "Loading training data",
        "Training engine loaded",
        "Loading the checkpoint ... done.",
        "training " + 300 * "x" + " done",
    ],
)
def test_other_sentences_are_not(line: str) -> None:
    """They speak of a part, or of a time to come."""
    assert not closes(line)


def test_a_sentence_behind_the_last_row_is_the_end(tmp_path: Path) -> None:
    """It is quoted."""
    path = tmp_path / "train.log"
    path.write_text(ROWS + "saved to out/\n2024-01-01 10:00:00 Training is done!\n")
    state = read(path).state
    assert (state.kind, state.sure) == ("finished", "certain")
    assert "Training is done!" in state.why


def test_the_last_row_may_be_the_sentence(tmp_path: Path) -> None:
    """It says at which step the end came, and what was best."""
    path = tmp_path / "train.log"
    rows = "".join(f"step={n}00  loss={2 / n:.4f}\n" for n in range(1, 20))
    path.write_text(rows + "Training complete at step 1900. Best val loss: 0.1385\n")
    assert read(path).state.kind == "finished"


def test_a_sentence_of_every_epoch_is_none(tmp_path: Path) -> None:
    """Nor one that rows follow."""
    path = tmp_path / "train.log"
    path.write_text("".join(f"{row}\nTraining done in 12.5 s\n" for row in ROWS.splitlines()))
    assert read(path).state.kind == "unknown"
    path.write_text("Finished Training\n" + ROWS)
    assert read(path).state.kind == "unknown"


def test_a_plan_in_epochs(tmp_path: Path) -> None:
    """Where rows count epochs, so does the plan; counted from 0 the last is one less."""
    path = tmp_path / "train.log"
    for first, kind in ((0, "finished"), (1, "finished")):
        rows = "".join(f"Epoch {n}/20 loss: {2 / (n + 1):.4f}\n" for n in range(first, 20 + first))
        path.write_text("my program\n" + rows)
        assert read(path).state.kind == kind
    path.write_text("my program\n" + rows.partition("Epoch 12")[0])
    assert read(path).state.kind == "stopped_early"


def test_each_training_of_a_log_may_close_with_the_sentence(tmp_path: Path) -> None:
    """What is printed at the end of each epoch is no end; at the end of each launch it is."""
    path = tmp_path / "train.log"
    ended = "Optimization complete with best validation score of 5.9 %\n"
    path.write_text(3 * (ROWS + ended))
    assert "Optimization complete" in read_all(path)[-1].state.why
    path.write_text("".join(row + "\nTraining done\n" for row in ROWS.splitlines()))
    assert read(path).state.kind == "unknown"


def test_evaluations_of_the_last_step_may_follow(tmp_path: Path) -> None:
    """A test set is asked once the training is over."""
    path = tmp_path / "train.log"
    path.write_text(ROWS + "Training complete\nEpoch 19 test loss: 0.3\n")
    assert "Training complete" in read(path).state.why
