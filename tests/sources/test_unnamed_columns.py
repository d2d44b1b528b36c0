"""Tables without a header whose file says what was measured: numbers tell what the others are."""

from collections.abc import Callable
from pathlib import Path

import pytest

from runlens import read, read_all

START = 1_690_000_000


def put(folder: Path, row: Callable[[int], str], name: str = "loss.csv", rows: int = 24) -> None:
    """Write rows without a header."""
    (folder / name).write_text("".join(f"{row(n)}\n" for n in range(rows)))


@pytest.mark.parametrize(
    "row",
    [
        lambda n: f"{10 * n},{8 / (n + 1)}",
        lambda n: f"{10.0 * n},{START * 1000 + 7 * n},{8 / (n + 1)}",
        lambda n: f"{START + 7 * n},{10 * n},{8 / (n + 1)}",
        lambda n: f"{8 / (n + 1)};{10 * n}",
        lambda n: f"{n + 1},{10 * n},{8 / (n + 1)}",
        lambda n: f"{n // 5},{10 * n},{8 / (n + 1)}",
    ],
)
def test_a_step_a_time_and_what_the_file_is_called_after(
    tmp_path: Path, row: Callable[[int], str]
) -> None:
    """In any order; that they were taken for it is told."""
    put(tmp_path, row)
    run = read(tmp_path)
    curve = run.curve("train_loss")
    assert curve.step.tolist() == [10 * n for n in range(24)]
    assert curve.value[1] == 4
    assert any("they were taken for" in problem.text for problem in run.problems)


def test_times_are_those_of_the_rows(tmp_path: Path) -> None:
    """Milliseconds since 1970; parts of a loss lie beside it in files of their own."""
    for name in ("loss.csv", "loss_ic.csv"):
        put(tmp_path, lambda n: f"{n}.0,{(START + n) * 1000},{8 / (n + 1)}", name)
    run = read(tmp_path)
    assert run.curve("train_loss").time[3] == START + 3
    assert set(run.history.metrics) == {"train_loss", "loss_ic"}


def test_clients_by_turns_are_trainings(tmp_path: Path) -> None:
    """In any order within a round."""
    put(tmp_path, lambda n: f"{(5 * n + n // 3) % 3}, {n // 3}, {8 / (n + 1)}")
    runs = read_all(tmp_path)
    assert [run.name for run in runs] == ["run 0", "run 1", "run 2"]
    assert {tuple(run.curve("train_loss").step.tolist()) for run in runs} == {tuple(range(8))}


def test_batches_begin_anew_in_each_epoch(tmp_path: Path) -> None:
    """The first column counts epochs, the second what is in them."""
    put(tmp_path, lambda n: f"{n // 6},{n % 6},{8 / (n + 1)}")
    assert read(tmp_path).curve("train_loss").epoch[-1] in {3, 4}
    put(tmp_path, lambda n: f"0,{n},{8 / (n + 1)}")
    assert read(tmp_path).curve("train_loss").step[-1] == 23


def test_a_score_of_whole_numbers_is_the_last_column(tmp_path: Path) -> None:
    """Episodes and what was got in them."""
    put(tmp_path, lambda n: f"{n},{(n * n) % 17 + n}", "episode_rewards.csv")
    assert read(tmp_path / "episode_rewards.csv").curve("reward").value[4] == 20


@pytest.mark.parametrize(
    "row",
    [
        lambda n: f"{n},{8 / (n + 1)},{90 / (n + 1)}",  # two that nobody names
        lambda n: f"{n},{n % 2},{8 / (n + 1)}",  # a flag
        lambda n: f"{n % 4},{8 / (n + 1)}",  # nothing goes on
        lambda n: f"{n % 2},{n % 3},{8 / (n + 1)}",
        lambda n: f"{n % 2},{n // 9},{8 / (n + 1)}",  # several rows of a training at each step
        lambda n: f"{n},{n},{n},{8 / (n + 1)}",
        lambda n: f"{n},nan,{8 / (n + 1)}",
    ],
)
def test_columns_that_are_not_clear_are_numbered(tmp_path: Path, row: Callable[[int], str]) -> None:
    """As is told."""
    put(tmp_path, row)
    assert any("they were numbered" in problem.text for problem in read(tmp_path).problems)


def test_two_rows_are_too_few_to_tell(tmp_path: Path) -> None:
    """Whatever they count."""
    put(tmp_path, lambda n: f"{n},{8 / (n + 1)}", rows=2)
    assert any("they were numbered" in one.text for one in read(tmp_path / "loss.csv").problems)


def test_launches_that_were_appended_begin_anew(tmp_path: Path) -> None:
    """The second by two at a time, and each to an end of its own; the file says no metric."""
    counts = [*range(40), *range(0, 90, 2), *range(30)]
    put(tmp_path, lambda n: f"{counts[n]},{3 / (n + 1):.6f},0.9", "progress.csv", len(counts))
    runs = read_all(tmp_path / "progress.csv")
    steps = [step for run in runs for step in run.curve("column 3").step.tolist()]
    assert steps == counts


@pytest.mark.parametrize(
    "counted",
    [
        lambda n: n % 40,  # of an epoch: it falls from the same number
        lambda n: n // 2,
        lambda n: 7 * n + n % 3,  # a clock, which goes on by no even steps
        lambda n: n + 0.5,
        lambda n: n - 9,
    ],
)
def test_other_first_columns_are_no_step(tmp_path: Path, counted: Callable[[int], float]) -> None:
    """The rows are numbered then."""
    put(tmp_path, lambda n: f"{counted(n)},{3 / (n + 1):.6f},0.9", "progress.csv", 200)
    (run,) = read_all(tmp_path / "progress.csv")
    assert run.curve("column 2").step.tolist() == list(range(200))
