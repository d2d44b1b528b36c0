"""Rows that name their epoch by a letter, and what is counted within: ``E0 it012 xent 0.2``."""

from pathlib import Path

import pytest

from runlens.sources.console.letter_counters import with_epochs_spelled
from tests.sources.written import run_of, runs_of

XENT = [2.85, 0.9, 1.2, 1.5, 2.4, 0.7, 0.6, 1.1, 1.3, 0.4, 0.3, 0.5]


def test_a_log_is_one_training(tmp_path: Path) -> None:
    """Its epochs go on, and so does what a row below each says of other data."""
    text = ""
    for epoch in range(3):
        for n, value in enumerate(XENT[4 * epoch : 4 * epoch + 4]):
            text += f"E{epoch} it{6 * n:03} xent {value}\n"
        text += f"E{epoch} DEV xent {2 - epoch / 2} err {60 - 10 * epoch}.5%\n"
    run = run_of(tmp_path, "log.txt", text)
    assert run.curve("train_loss").value.tolist() == XENT
    assert run.curve("eval_loss").value.tolist() == [2.0, 1.5, 1.0]


@pytest.mark.parametrize(
    "row",
    [
        "E{e} it{n} seconds 0.{n}",  # nothing that a training logs
        "E0 it{n} xent 0.{n}",  # one epoch: it may be the number of an expert
        "E{n} it{e} xent 0.{n}",  # experts, each of which counts
        "E{e} layer{n} loss 0.{n}",
    ],
)
def test_other_lines_stay(row: str) -> None:
    """A letter with a number may be anything."""
    lines = [(10 * e + n, row.format(e=e, n=n)) for e in range(2) for n in range(4)]
    assert with_epochs_spelled(lines) == lines


def test_a_counter_that_begins_anew_is_no_epoch(tmp_path: Path) -> None:
    """Two trainings, one after the other, stay two."""
    rows = [f"E{e} it{n} xent {value}" for e in (0, 1) for n, value in enumerate(XENT)]
    assert len(runs_of(tmp_path, "log.txt", "\n".join(rows + rows) + "\n")) == 2
