"""Columns that the user names: `[columns]` of runlens.toml."""

import json
from pathlib import Path

import pytest

from runlens import read, read_all
from runlens.errors import NothingReadable
from runlens.sources.tables.columns import meanings, role

COLUMNS = {
    "step": "mark", "train_loss": "alpha", "eval_loss": "beta/x", "time": "when",
    "epoch": "round",
}  # fmt: skip
ROWS = [(10 * n, n, 3.0 - n / 10, 3.5 - n / 10, f"2026-01-01T00:00:{n:02}") for n in range(1, 9)]


def write_csv(folder: Path) -> None:
    """Write a table with names that nobody can know."""
    lines = [f"{it},{part},{mine},{dev},{when}" for it, part, mine, dev, when in ROWS]
    (folder / "out.csv").write_text("\n".join(["mark,round,alpha,beta/x,when", *lines, ""]))


def write_jsonl(folder: Path) -> None:
    """Write the same as JSON Lines, the evaluation as an inner value."""
    rows = [
        {"mark": it, "round": part, "alpha": mine, "beta": {"x": dev}, "when": when}
        for it, part, mine, dev, when in ROWS
    ]
    (folder / "out.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))


@pytest.mark.parametrize("write", [write_csv, write_jsonl])
def test_named_columns_make_a_log(write: object, tmp_path: Path) -> None:
    """In a directory too, where nothing else tells that the file is one."""
    assert callable(write)
    write(tmp_path)
    with pytest.raises(NothingReadable):
        read_all(tmp_path)
    run = read(tmp_path, columns=COLUMNS)
    train, held_out = run.curve("train_loss"), run.curve("eval_loss")
    assert train.step.tolist() == held_out.step.tolist() == [row[0] for row in ROWS]
    assert train.value.tolist() == [row[2] for row in ROWS]
    assert held_out.value.tolist() == [row[3] for row in ROWS]
    assert train.epoch.tolist() == [row[1] for row in ROWS]
    assert train.time[1] - train.time[0] == 1
    assert set(run.history.metrics) == {"train_loss", "eval_loss"}
    assert not run.problems


def test_choice_counts_against_what_would_be_guessed(tmp_path: Path) -> None:
    """Other steps, and other columns of the same meaning, give way."""
    text = "global_step,sample,loss,smoothed\n" + "".join(
        f"{n},{7 * n},9,{n * n}\n" for n in range(5)
    )
    (tmp_path / "metrics.csv").write_text(text)
    run = read(tmp_path, columns={"step": "sample", "train_loss": "smoothed"})
    assert run.curve("train_loss").step.tolist() == [0, 7, 14, 21, 28]
    assert run.curve("train_loss").value.tolist() == [0, 1, 4, 9, 16]
    assert run.history.metrics == ("train_loss",) or set(run.history.metrics) == {"train_loss"}


def test_names_of_ones_own_stay(tmp_path: Path) -> None:
    """Not all that is worth a curve has a name that RunLens knows."""
    (tmp_path / "a.csv").write_text("step,q\n1,0.5\n2,0.25\n")
    run = read(tmp_path, columns={"quantile": "q"})
    assert run.curve("quantile").value.tolist() == [0.5, 0.25]


def test_files_without_these_columns_are_read_as_ever(tmp_path: Path) -> None:
    """One setting serves a folder with logs of several kinds."""
    (tmp_path / "metrics.csv").write_text("step,loss\n1,0.5\n2,0.4\n")
    (tmp_path / "own.csv").write_text("mark,accuracy\n1,0.1\n2,0.2\n")
    run = read(tmp_path, columns={"step": "mark"})
    assert run.curve("train_loss").step.tolist() == [1, 2]
    assert run.curve("train_accuracy").step.tolist() == [1, 2]
    assert not run.problems


def test_held_out_file_keeps_the_chosen_name(tmp_path: Path) -> None:
    """The file's name says "validation" of the other columns alone."""
    (tmp_path / "val_log.csv").write_text("step,loss,objective\n1,0.5,2.5\n2,0.4,2.25\n")
    run = read(tmp_path, columns={"train_loss": "objective"})
    assert run.curve("train_loss").value.tolist() == [2.5, 2.25]


def test_name_that_no_table_has_is_told_with_the_nearest(tmp_path: Path) -> None:
    """Once, however many tables there are; where there is no table, nothing is missing."""
    (tmp_path / "a.csv").write_text("step,my_loss,loss\n1,0.5,1\n2,0.4,1\n")
    (problem,) = read(tmp_path, columns={"train_loss": "my_los"}).problems
    assert problem.where == "[columns]"
    assert "'my_los'" in problem.text
    assert "did you mean 'my_loss'?" in problem.text
    (tmp_path / "b.csv").write_text("it,quantile\n1,0.5\n2,0.4\n")
    with pytest.raises(NothingReadable, match="did you mean 'quantile'"):
        read(tmp_path / "b.csv", columns={"train_loss": "quantil"})
    state = {"log_history": [{"step": 1, "loss": 1.0}], "global_step": 1}
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "trainer_state.json").write_text(json.dumps(state))
    assert not read(tmp_path / "other", columns={"train_loss": "my_los"}).problems


@pytest.mark.parametrize(
    ("name", "known"),
    [("step", "step"), ("iteration", "step"), ("epochs", "epoch"), ("timestamp", "time"),
     ("train_loss", "train_loss"), ("my own", "my own")],
)  # fmt: skip
def test_roles_have_their_usual_names(name: str, known: str) -> None:
    """`iteration = "it"` says the same as `step = "it"`."""
    assert role(name) == known


def test_nothing_said_changes_nothing() -> None:
    """Each name means itself."""
    names = ["step", "epoch", "time", "loss", "train_loss"]
    assert meanings(names, {}) == {name: name for name in names}


@pytest.mark.parametrize(("scale", "taken"), [(1.0, True), (0.2, False)])
def test_a_held_out_cross_entropy_as_high_as_the_training_loss(
    tmp_path: Path, scale: float, *, taken: bool
) -> None:
    """A training loss seldom names its kind: their levels tell one loss from another."""
    rows = [f"{n},{3 / n:.4f},{scale * (2.2 + abs(n - 6) / 20):.4f}" for n in range(1, 21)]
    (tmp_path / "epoch_log.csv").write_text("epoch,train_loss,val_mean_ce\n" + "\n".join(rows))
    assert read(tmp_path).logged("eval_loss") is taken
