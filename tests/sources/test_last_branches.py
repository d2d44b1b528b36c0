"""Logs that reach the seldom branches of the readers, and what is read of each."""

import json
from pathlib import Path

import pytest

import runlens
from runlens.sources import json_columns
from runlens.sources.tables import jsonl_log
from tests.sources.written import curve_of, run_of

LOSS = [round(2.5 / n + 0.25, 4) for n in range(1, 26)]
HELD = [round(2.8 / n + 0.35, 4) for n in range(1, 26)]


def test_an_evaluation_that_stays_at_zero_is_kept(tmp_path: Path) -> None:
    """Labels that are all 0 give it: only TensorFlow 2.0 prints zeros of the first epoch alone."""
    bar = "1875/1875 [==============================] - 4s 2ms/step"
    text = "".join(
        f"Epoch {n}/3\n{bar} - loss: {loss:.4f} - val_loss: 0.0000e+00 - val_accuracy: {right}\n"
        for n, loss, right in ((1, 0.9, "0.0000e+00"), (2, 0.5, 0.5), (3, 0.4, 0.75))
    )
    run = run_of(tmp_path, "train.log", text)
    assert run.curve("eval_loss").value.tolist() == [0, 0, 0]
    assert run.curve("eval_accuracy").value.tolist() == [0, 0.5, 0.75]


def test_a_line_with_very_long_lists_is_left_as_it_is(tmp_path: Path) -> None:
    """What was printed of each batch is no curve; the lists of the epochs are read beside it."""
    batches = str([0.123456] * 60_000)
    text = f"batch_losses: {batches} batch_accs: {batches}\ntrain_loss: {LOSS} val_loss: {HELD}\n"
    run = run_of(tmp_path, "result.txt", text)
    assert run.history.metrics == ("eval_loss", "train_loss")
    assert run.curve("train_loss").value.tolist() == LOSS
    assert run.curve("eval_loss").value.tolist() == HELD


@pytest.mark.parametrize(
    ("head", "row"),
    [
        ("           train       valid\nepoch  loss  acc  loss  acc", "{n}  {a}  0.5  {b}  0.25"),
        ("   train       valid\nloss  acc  loss  acc  epoch", "{a}  0.5  {b}  0.25  {n}"),
        ("  train              valid\nloss  acc  epoch  loss  acc", "{a}  0.5  {n}  {b}  0.25"),
    ],
)
def test_names_that_come_again_below_their_data(tmp_path: Path, head: str, row: str) -> None:
    """Wherever the counter stands: what comes second is of the second data."""
    rows = (row.format(n=n, a=a, b=b) for n, (a, b) in enumerate(zip(LOSS, HELD, strict=True)))
    run = run_of(tmp_path, "train.log", "\n".join([head, *rows, ""]))
    assert run.curve("train_loss").value.tolist() == LOSS
    assert run.curve("eval_loss").value.tolist() == HELD
    assert run.curve("eval_accuracy").value.tolist() == [0.25] * len(HELD)
    assert run.curve("eval_loss").step.tolist() == list(range(len(HELD)))


def test_a_long_table_at_the_end_of_a_log_is_read_to_its_last_row(tmp_path: Path) -> None:
    """Nothing has to stand below it."""
    rows = "".join(f"   {loss}    0.{n:03}\n" for n, loss in enumerate(LOSS))
    text = f"b:500/20000\n\nrec_error  weight\n---------  ------\n{rows}"
    assert curve_of(tmp_path, "stdout.txt", text, "rec_error") == LOSS


@pytest.mark.parametrize("name", ["runs.jsonl", "history.json"])
def test_histories_one_behind_the_other_are_found_in_a_folder(tmp_path: Path, name: str) -> None:
    """As when the file itself is named."""
    some = [{"train_loss": [n + 3.5, *LOSS], "val_loss": [n + 4.5, *HELD]} for n in range(3)]
    (tmp_path / name).write_text("\n".join(map(json.dumps, some)) + "\n")
    runs = runlens.read_all(tmp_path)
    assert [run.curve("train_loss").value[0] for run in runs] == [3.5, 4.5, 5.5]
    assert [run.curve("eval_loss").value[0] for run in runs] == [4.5, 5.5, 6.5]


def test_a_row_whose_cell_holds_no_dict_has_no_numbers(tmp_path: Path) -> None:
    """It is left out of the curve; those around it stay at their epochs."""
    cells = [f"\"{{'loss': {loss}}}\"" for loss in LOSS]
    cells[22] = "nan"
    text = "".join(f"{n},{cell}\n" for n, cell in enumerate(cells))
    run = run_of(tmp_path, "log.csv", f"epoch,stats\n{text}")
    assert run.curve("train_loss").step.tolist() == [*range(22), 23, 24]
    assert run.curve("train_loss").value.tolist() == [*LOSS[:22], *LOSS[23:]]


def test_a_long_log_of_lines_is_held_as_columns_in_between(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of two kinds in turn keep their order and their steps."""
    monkeypatch.setattr(jsonl_log, "BATCH", 7)
    rows = []
    for n, (loss, held) in enumerate(zip(LOSS, HELD, strict=True)):
        rows += [{"step": n, "loss": loss}, {"step": n, "eval_loss": held}]
    run = run_of(tmp_path, "log.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
    assert run.curve("train_loss").value.tolist() == LOSS
    assert run.curve("train_loss").step.tolist() == list(range(len(LOSS)))
    assert run.curve("eval_loss").value.tolist() == HELD
    assert run.curve("eval_loss").step.tolist() == list(range(len(HELD)))


def test_a_long_state_of_rows_alike_is_read_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each part but the first comes as columns, in which no row lacks a number."""
    monkeypatch.setattr(json_columns, "PART", 200)
    rows = [{"step": n, "epoch": n / 10, "loss": loss} for n, loss in enumerate(LOSS)]
    run = run_of(tmp_path, "trainer_state.json", json.dumps({"log_history": rows}))
    assert run.curve("train_loss").value.tolist() == LOSS
    assert run.curve("train_loss").step.tolist() == list(range(len(LOSS)))
