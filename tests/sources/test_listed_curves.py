"""Tables with a training in each row, whose curves are lists in its cells."""

from pathlib import Path

import pytest

from runlens import read, read_all
from runlens.errors import NothingReadable
from runlens.run import Run
from runlens.sources.tables import listed

FALLING = [round(8 / n, 3) for n in range(1, 13)]
RISING = [round(n / 13, 3) for n in range(1, 13)]


def runs_of(folder: Path, *rows: str, name: str = "results.csv") -> list[Run]:
    """Read a table of these rows."""
    (folder / name).write_text("".join(f"{row}\n" for row in rows))
    return read_all(folder / name)


def test_each_row_is_a_training_named_by_its_words(tmp_path: Path) -> None:
    """Curves have the names of their columns; that rows were taken for trainings is told."""
    runs = runs_of(
        tmp_path,
        "net,lr,train_loss,val_acc",
        f'gru,0.1,"{FALLING}","{RISING}"',
        f'lstm,0.2,"{FALLING}","{RISING[:6]}"',
        f'cnn,0.2,"{FALLING}","{RISING[:7]}"',
    )
    assert [run.name for run in runs] == ["run cnn", "run gru", "run lstm"]
    assert runs[0].curve("train_loss").value.tolist() == FALLING
    assert len(runs[1].curve("eval_accuracy")) == 12
    assert runs[2].curve("eval_accuracy").step.tolist() == [2, 4, 6, 8, 10, 12]
    assert "eval_accuracy" not in runs[0].history.metrics  # nothing says at which rows
    told = [one.text for run in runs for one in run.problems]
    assert any("each row was taken for a training" in text for text in told)


def test_rows_without_a_header_in_a_file_that_says_its_data(tmp_path: Path) -> None:
    """Numbers that fall are a loss; rows of one name are numbered."""
    wrapped = ", ".join(f"np.float64({value})" for value in FALLING)
    rows = [f'adam,64,"{FALLING}"', f'sgd,32,"[{wrapped}]"', f'sgd,64,"{FALLING}"']
    runs = runs_of(tmp_path, *rows, name="train_runs.csv")
    assert [run.name for run in runs] == ["run adam", "run sgd 1", "run sgd 2"]
    assert all(run.curve("train_loss").value.tolist() == FALLING for run in runs)


def test_settings_name_trainings_where_no_word_does(tmp_path: Path) -> None:
    """Those that differ."""
    rows = (f'{size},0.5,"{FALLING}"' for size in (16, 32))
    runs = runs_of(tmp_path, "width,dropout,loss", *rows)
    assert [run.name for run in runs] == ["run 16", "run 32"]


def test_a_single_row_is_a_training(tmp_path: Path) -> None:
    """Found in a folder."""
    (tmp_path / "history.csv").write_text(f'loss,epochs\n"{FALLING}",12\n')
    assert read(tmp_path).curve("train_loss").value.tolist() == FALLING


@pytest.mark.parametrize(
    "text",
    [
        'a,b\n1,"[0.5, 0.4]"\n',  # a few
        'a,b\n1,"[x, y, z, u, v]"\n',
        'a,b\n1,"[1, 2, 3, 4, 5]"\n2,none\n',  # not in each row
        'a,b\n1,"[1, 2, 3, 4, 5]",7\n',  # another width than the header
        'a,b\n1,"[1, 2, 3, 4, 5]"\n1\n',
        '"[1, 2, 3, 4, 5]",a\nb,"[1, 2, 3, 4, 5]"\n',  # by turns
        'a,"b[\nc"]\n' + '"' * 3,
        "[1,2]\n",
    ],
)
def test_other_tables_stay_as_they_are(text: str) -> None:
    """Few numbers, words, ragged rows."""
    assert listed.upright(text, "train_log") is text


def test_lists_that_nothing_names_are_none(tmp_path: Path) -> None:
    """They rise, and the file says nothing of them."""
    with pytest.raises(NothingReadable):
        runs_of(tmp_path, f'a,"{RISING}"', f'b,"{RISING}"', name="embedded.csv")


def test_lists_of_samples_are_no_trainings(tmp_path: Path) -> None:
    """As many as there are, where no list says that it is of a training."""
    rows = [f'S{n},"{RISING}"' for n in range(listed.MOST + 1)]
    with pytest.raises(NothingReadable):
        runs_of(tmp_path, "sample,scores", *rows)
    assert len(runs_of(tmp_path, "net,loss", *rows)) == listed.MOST + 1
    assert len(runs_of(tmp_path, "net,scores", *rows[1:])) == listed.MOST
