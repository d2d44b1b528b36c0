"""Layouts that few programs have: each was read of no log before, or in parts."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.sources.written import curve_of, runs_of

LOSS = [round(2.5 / n + 0.25, 4) for n in range(1, 13)]


def rows(form: str) -> str:
    """Write a line for each loss."""
    return "".join(form.format(n=n, loss=loss, more=loss + 1) for n, loss in enumerate(LOSS))


@pytest.mark.parametrize(
    ("name", "text", "metric"),
    [
        (  # MATLAB without semicolons
            "session.txt",
            ">> net_train\n" + rows("\nstep =\n\n     {n}\n\nmse =\n\n    {loss}\n"),
            "train_loss",
        ),
        (  # a range of batches is one counter
            "train.1.log",
            rows("LOG (x:y.cc:12) Objf for minibatches {n}0 to {n}9 is {loss} over 640 frames.\n"),
            "Objf",
        ),
        (  # how many games a mean is of
            "sortie.txt",
            rows("Partie n°{n}5 : récompense moyenne (5 dernières) = {loss}, eps = 0.1\n"),
            "reward",
        ),
        ("out.txt", rows("Pass {n}\ntrain rmse so far {loss}\n"), "train_loss"),
        ("w2v.out", rows("{n}.5% | words {n}k | NCE = {loss} | 20 kw/s\n"), "train_loss"),
        ("fit.log", rows("  {n}   {loss}   +{more}\n").replace("+3.75", "nan"), "column 2"),
        (
            "notes.txt",
            "Fertig.\nVerlauf: {'loss': ["
            + ",\n   ".join(map(str, LOSS))
            + f"],\n 'val_loss': {LOSS}}}\nDauer: 12 min\n",
            "train_loss",
        ),
        (
            "history.log",
            repr([{"ep": n, "va": {"f1": 0.5}, "tr": {"loss": v}} for n, v in enumerate(LOSS)]),
            "train_loss",
        ),
        (
            "epoch_losses.json",
            json.dumps({f"epoch_{n}": [loss, 2 * loss] for n, loss in enumerate(LOSS)}),
            "column 1",
        ),
        ("losses.csv", rows("mlp,{n},{loss}\n"), "column 3"),
        ("loss.json", rows("{loss:.18e}\n"), "train_loss"),
        (  # messages between the rows of a table
            "training_log.csv",
            rows("{n},{loss},0.5\n[2024-03-02 10:00:{n:02d}] Epoch {n} | loss={loss}\n"),
            "train_loss",
        ),
        (  # a count that is done before the first row, and no end of line
            "run.log",
            "".join(f"\rRead {n}M words" for n in range(30))
            + "\nNumber of words:  70123\n"
            + rows("\rProgress: {n:5.1f}% lr:  0.05 avg.loss:  {loss} ETA: 0h 0m"),
            "train_loss",
        ),
    ],
)
def test_every_row_is_read(tmp_path: Path, name: str, text: str, metric: str) -> None:
    """With its own number."""
    assert curve_of(tmp_path, name, text, metric) == LOSS


JULIA = (
    " Row │ epoch  critic_loss_of_this_epoch  generator_loss_of_this_epoch\n"
    "     │ Int64  Float64                    Float64?\n"
    "─────┼───────────────────────────────────────────────────────────────\n"
) + rows("{n:4d} │ {n:5d} {more:26.4f}  {loss:28.4f}\n")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("train.log", f"12×3 DataFrame\n{JULIA}"),
        ("metrics.csv", f'first,second\ntrain_info,"12×3 DataFrame\n{JULIA}"\n'),
    ],
)
def test_a_frame_of_julia(tmp_path: Path, name: str, text: str) -> None:
    """Types stand below its names; it may be printed in a cell of a table."""
    assert curve_of(tmp_path, name, text, "generator_loss_of_this_epoch") == LOSS


def test_a_printed_history_says_nothing_more_of_rows_before(tmp_path: Path) -> None:
    """The rows are the course of the training; other lists are none."""
    text = rows("epoch {n} loss {loss}\n") + f"{{'loss': {LOSS}}}\n{{'shape': [1, 2]}}\n"
    assert curve_of(tmp_path, "train.log", text, "train_loss") == LOSS


def test_two_curves_in_a_file_of_both_data(tmp_path: Path) -> None:
    """``numpy.savetxt`` of two lists has a line for each."""
    numbers = [" ".join(str(k * one) for one in LOSS + LOSS) for k in (1, 2)]
    (run,) = runs_of(tmp_path, "train_val_loss.txt", "\n".join(numbers) + "\n")
    assert run.curve("train_loss").value.tolist() == LOSS + LOSS
    assert run.curve("eval_loss").value[0] == 2 * LOSS[0]


def test_a_list_of_two_numbers_is_read(tmp_path: Path) -> None:
    """Too few to judge by; whole ones are no measure."""
    assert curve_of(tmp_path, "train_loss.txt", "[1000.0, 6.5]", "train_loss") == [1000.0, 6.5]
    (run,) = runs_of(tmp_path, "loss.txt", "[3, 4]")
    assert not run.history.metrics


@pytest.mark.parametrize(("heads", "trainings"), [(["4 3"], 1), (["4 3", "1 4"], 2)])
def test_blocks_below_lines_of_whole_numbers(
    tmp_path: Path, heads: list[str], trainings: int
) -> None:
    """Each is a training."""
    text = "".join(f"{head}\n" + rows("{loss} {more} -0.5\n") for head in heads)
    found = runs_of(tmp_path, "log2.txt", text)
    assert len(found) == trainings
    assert found[-1].curve("column 1").value.tolist() == LOSS


@pytest.mark.parametrize("text", ["0.5 1\n" + rows("{loss} {more} 1\n"), "4 3\n1 2 3\n" * 3])
def test_other_lines_head_no_block(tmp_path: Path, text: str) -> None:
    """Numbers that were measured, a row or none behind each."""
    assert len(runs_of(tmp_path, "log2.txt", text)) == 1


def h2o(n: int, loss: float) -> str:
    """Write a row of H2O's history, as R prints it."""
    when = f"{n:<2} 2020-06-01 10:11:{n:02d} {n / 4:6.3f} sec"
    return f"{when} {5 * n:15d} {loss:13.5f} {loss + 1:16.5f}\n"


def test_cells_of_several_words_end_where_their_names_do(tmp_path: Path) -> None:
    """A row number and a date stand below one name."""
    head = "             timestamp   duration number_of_trees training_rmse training_logloss\n"
    text = "Scoring History: \n" + head + "".join(h2o(n, loss) for n, loss in enumerate(LOSS))
    assert curve_of(tmp_path, "gbm.txt", text, "training_rmse") == LOSS


def test_a_blank_cell_of_a_row(tmp_path: Path) -> None:
    """MATLAB has no step before the first; its cells stand below their names alone."""
    head = " Iteration  Func-count       f(x)        Step-size       optimality\n"
    cells = (
        f"{n:6d}{3 * n:12d}{loss:17.6g}{'0.5' if n else '':>15}{n:16.3g}\n"
        for n, loss in enumerate(LOSS)
    )
    assert curve_of(tmp_path, "fminunc.txt", head + "".join(cells), "f(x)") == LOSS


@pytest.mark.parametrize(
    "row", ["5 words that are of no table", "12 0.5", "1       2 0.5 3           4"]
)
def test_lines_below_names_that_are_no_row(tmp_path: Path, row: str) -> None:
    """They stand below no name, or several below one."""
    head = "epoch    loss      accuracy\n"
    text = head + rows("{n}        {loss:.4f}    0.5\n") + f"{row}\n"
    assert len(curve_of(tmp_path, "log.txt", text, "train_loss")) == len(LOSS)


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_a_loss_that_is_empty_in_every_row_is_nan(tmp_path: Path, form: str) -> None:
    """What pandas writes of a NaN, beside an accuracy that was measured with it."""
    row = "{n},,0.5\n" if form == "csv" else '{{"epoch": {n}, "loss": null, "accuracy": 0.5}}\n'
    text = ("epoch,loss,accuracy\n" if form == "csv" else "") + rows(row)
    (run,) = runs_of(tmp_path, f"history.{form}", text)
    assert np.isnan(run.curve("train_loss").value).sum() == len(LOSS)
    assert any("empty in every row" in problem.text for problem in run.problems)


@pytest.mark.parametrize(
    ("head", "cells"),
    [
        ("epoch,loss,val_accuracy", "{n},,0.5\n"),  # measured elsewhere
        ("epoch,val_loss,accuracy", "{n},,0.5\n"),  # no loss of the training
        ("epoch,loss,accuracy", "{n},see log,0.5\n"),
    ],
)
def test_other_empty_columns_are_none(tmp_path: Path, head: str, cells: str) -> None:
    """Nothing says that they became NaN."""
    (run,) = runs_of(tmp_path, "history.csv", f"{head}\n" + rows(cells))
    assert not {"train_loss", "eval_loss"} & set(run.history.metrics)


def test_the_last_number_is_whole_if_it_is_as_long_as_most(tmp_path: Path) -> None:
    """A program that leaves zeros out writes some shorter ones."""
    cells = ["0.123456789"] * 9 + ["0.1234", "0.987654321"]
    text = "step,loss\n" + "\n".join(f"{n},{cell}" for n, cell in enumerate(cells))
    assert curve_of(tmp_path, "log.csv", text, "train_loss")[-1] == 0.987654321
    torn = text.removesuffix("21")
    assert len(curve_of(tmp_path, "log.csv", torn, "train_loss")) == len(cells) - 1


def test_a_namespace_with_an_object_over_lines(tmp_path: Path) -> None:
    """What stands before it is read: the epochs of the base session."""
    text = "Namespace(lr_base=0.1, epochs_base=40, tfm=Compose(\n    Resize()\n))\n"
    (run,) = runs_of(tmp_path, "results.txt", text + rows("epoch:{n}, training_loss:{loss}\n"))
    assert run.state.planned_epochs == 40
