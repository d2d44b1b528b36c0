"""Tables as programs print them: tensors in their cells, a list for each column, dashes below."""

from pathlib import Path

import pytest

from runlens.errors import NothingReadable
from tests.sources.written import curve_of, run_of, runs_of

LOSS = [round(2.5 / n + 0.25, 4) for n in range(1, 25)]
TENSOR = "tensor({loss}, device='cuda:0', grad_fn=<MseLossBackward0>)"


@pytest.mark.parametrize(
    ("head", "row"),
    [
        ("", TENSOR),
        ("loss\n", TENSOR),
        ("epoch,loss,acc\n", "{n}," + TENSOR + ",0.5"),
        ("", "tensor([{loss}], device='cuda:0')"),
        ("", "<tf.Tensor: shape=(), dtype=float32, numpy={loss}>"),
        ("", "{n},tensor({loss}, device='cuda:0')"),
    ],
)
def test_commas_of_a_tensor_part_no_cells(tmp_path: Path, head: str, row: str) -> None:
    """Its first row is none of names either."""
    text = head + "".join(f"{row.format(n=n, loss=loss)}\n" for n, loss in enumerate(LOSS))
    assert curve_of(tmp_path, "loss.csv", text, "train_loss") == LOSS


@pytest.mark.parametrize("head", ["Trial,Games Won,Ratio", "Games,Wins,Ratio", "At,Kept,Ratio"])
def test_a_column_counts_by_what_it_begins_with(tmp_path: Path, head: str) -> None:
    """Every thousand games a row: whatever the column is called."""
    text = "".join(f"{n * 1000},{n * 509},{0.5 + n / 100}\n" for n in range(1, 21))
    run = run_of(tmp_path, "train_stats.csv", f"{head}\n{text}")
    assert run.curve("Ratio").step.tolist() == list(range(1000, 21000, 1000))


@pytest.mark.parametrize("head", ["Trial,Ratio", "Year,Ratio", "Trial,Kept"])
def test_numbers_of_rows_count_nothing(tmp_path: Path, head: str) -> None:
    """A trial is a game where games were won; years begin elsewhere."""
    text = "".join(f"{1950 + n * 10},{0.5 + n / 100}\n" for n in range(20))
    with pytest.raises(NothingReadable):
        runs_of(tmp_path, "stats.csv", f"{head}\n{text}")


def test_a_trial_is_a_game_where_games_were_won(tmp_path: Path) -> None:
    """Counted by one."""
    text = "".join(f"{n},{n // 2},{0.5 + n / 100}\n" for n in range(20))
    run = run_of(tmp_path, "stats.csv", f"Trial,Games Won,Ratio\n{text}")
    assert run.curve("Ratio").step.tolist() == list(range(20))


def test_a_list_is_a_column(tmp_path: Path) -> None:
    """However short: the only row has nothing else."""
    text = '"error","time"\n"[0.5,0.4]","[1000.5,2000.6]"\n'
    assert curve_of(tmp_path, "stats.csv", text, "train_loss") == [0.5, 0.4]


@pytest.mark.parametrize(
    "text",
    [
        'loss,box\n"[0.5,0.4,0.3]","[0.2,0.3]"\n',
        'boxes,names\n"[0.5,0.4]","[0.2,0.3]"\n',
        'loss,name\n"[0.5,0.4]",a\n',
    ],
)
def test_short_lists_of_other_rows_are_no_columns(tmp_path: Path, text: str) -> None:
    """Of other lengths, of other names, beside words."""
    with pytest.raises(NothingReadable):
        runs_of(tmp_path, "stats.csv", text)


def ruled(names: str = "rec_error  weight", rows: int = 24, rule: str = "---------  ------") -> str:
    """Write what tabulate prints when a program has ended."""
    table = "".join(f"   {loss}    0.{n:03}\n" for n, loss in enumerate(LOSS[:rows]))
    return f"\te:0/5\n\t\tb:0/20000\n\t\tb:500/20000\n\n{names}\n{rule}\n{table}\nDone.\n"


def test_a_long_table_below_dashes_is_a_course(tmp_path: Path) -> None:
    """Nothing in it counts: its rows are numbered."""
    assert curve_of(tmp_path, "stdout.txt", ruled(), "rec_error") == LOSS


@pytest.mark.parametrize(
    "text",
    [
        ruled(rows=10),
        ruled("score  weight"),
        ruled("id  rec_error"),
        ruled(rule="---------  ------  ----"),
        ruled("rec_error  2weight"),
    ],
)
def test_a_table_of_results_is_none(tmp_path: Path, text: str) -> None:
    """Short, without a loss, of samples."""
    runs = runs_of(tmp_path, "stdout.txt", text)
    assert not any(run.history.metrics for run in runs)
