"""Long tables, counters within counters, headers behind ``#``, and consoles called a table."""

from pathlib import Path

import pytest

from runlens import read
from runlens.errors import NothingReadable
from runlens.sources import read_all
from runlens.sources.files import walk
from runlens.sources.reading import SourceReading
from runlens.sources.tables import csv_log


def read_text(folder: Path, text: str, name: str = "metrics.csv") -> SourceReading:
    """Write and read a table with this text."""
    path = folder / name
    path.write_text(text)
    return csv_log.read(path)


def found(folder: Path) -> list[Path]:
    """Return the tables in a folder that count as logs."""
    return csv_log.find(folder, walk(folder))


def test_table_of_mlflows_page(tmp_path: Path) -> None:
    """One row a number, metric by metric; its time stamps are milliseconds."""
    rows = [
        f'"calm-snake","f8b","{name}","{10 * n}","{1761884192934 + n}","{value / n}"'
        for name, value in (("eval_loss", 3.0), ("loss", 2.0))
        for n in (1, 2, 3)
    ]
    head = '"Run","Run ID","metric","step","timestamp","value"'
    reading = read_text(tmp_path, "\n".join([head, *rows, ""]), "export.csv")
    assert found(tmp_path) == [reading.path]
    assert set(reading.series) == {"loss", "eval_loss"}
    assert reading.series["loss"].value.tolist() == [2.0, 1.0, 2.0 / 3]
    assert reading.series["eval_loss"].step.tolist() == [10, 20, 30]
    assert reading.series["loss"].time[0] == pytest.approx(1761884192.935)
    assert not reading.problems


def test_long_table_of_several_runs(tmp_path: Path) -> None:
    """Each run is a training, with all of its metrics; an evaluation may be rarer."""
    rows = [
        f"{run},{name},{n},{value / n}"
        for name, value, every in (("loss", 2.0, 1), ("val_loss", 3.0, 2))
        for run in ("a", "b")
        for n in range(every, 7, every)
    ]
    reading = read_text(tmp_path, "\n".join(["run,key,step,value", *rows, ""]))
    assert [part.run_name for part in reading.parts] == ["run a", "run b"]
    for part in reading.parts:
        assert part.series["loss"].step.tolist() == [1, 2, 3, 4, 5, 6]
        assert part.series["val_loss"].step.tolist() == [2, 4, 6]


@pytest.mark.parametrize("label", ["metric", "metric_name", "tag", "key", "name", "variable"])
@pytest.mark.parametrize("value", ["value", "metric_value"])
def test_names_of_the_columns_of_a_long_table(tmp_path: Path, label: str, value: str) -> None:
    """Whatever wrote it, its words and its numbers stand under a few names."""
    text = f"epoch,split,{label},{value}\n1,x,loss,2.0\n1,x,acc,0.5\n2,x,loss,1.5\n2,x,acc,0.6\n"
    series = read_text(tmp_path, text).series
    assert series["loss"].value.tolist() == [2.0, 1.5]
    assert series["acc"].step.tolist() == [1, 2]


def test_long_table_after_a_resume_stays_in_its_order(tmp_path: Path) -> None:
    """A step that a metric says twice is of another launch."""
    steps = [*range(0, 60, 10), *range(30, 90, 10)]
    rows = [f"{name},{n},{1.0 + n / 7}" for n in steps for name in ("loss", "lr")]
    loss = read_text(tmp_path, "\n".join(["metric,step,value", *rows, ""])).series["loss"]
    assert loss.launch.tolist() == [0] * 6 + [1] * 6


def test_long_table_with_a_row_without_a_step(tmp_path: Path) -> None:
    """Its rows stay where they are: such a row is at the step before it."""
    text = "metric,step,value\nloss,0,2.0\nacc,,0.5\nloss,1,1.5\nacc,,0.6\n"
    series = read_text(tmp_path, text).series
    assert series["loss"].value.tolist() == [2.0, 1.5]
    assert series["acc"].step.tolist() == [0, 1]


@pytest.mark.parametrize(
    "text",
    [
        "name,step,value\nfred,1,2.0\nanna,2,1.5\n",  # no metric
        "metric,value\nloss,2.0\nloss,1.5\n",  # no step
        "metric,step,amount\nloss,1,2.0\nloss,2,1.5\n",  # no number of it
        "metric,step,value\nloss,1,2.0\n7,2,1.5\n",  # a number is no name
    ],
)
def test_words_beside_numbers_are_no_long_table(tmp_path: Path, text: str) -> None:
    """A metric's name, a step and its value are needed."""
    assert "loss" not in read_text(tmp_path, text, "table.csv").series


def test_header_behind_a_hash_and_a_metric_named_by_the_file(tmp_path: Path) -> None:
    """Each model is a training; numpy's savetxt writes a header so."""
    rows = [f"{model},{n},{1 / (n + 1)}" for model in ("LCH", "JCN") for n in range(4)]
    reading = read_text(tmp_path, "\n".join(["#Model,Step,Value", *rows, ""]), "loss.csv")
    assert [part.run_name for part in reading.parts] == ["Model LCH", "Model JCN"]
    assert reading.parts[0].series["loss"].step.tolist() == [0, 1, 2, 3]
    assert found(tmp_path) == [reading.path]


@pytest.mark.parametrize(
    ("head", "name"),
    [
        ("# of 5 May\n# epoch,loss\n", "loss"),
        ("# one,two,three\n", "column 2"),
        ("# 3,loss\n", "column 2"),
        ("# loss\n", "column 2"),
        ("# a comment, no more\nepoch,my_loss\n", "my_loss"),
    ],
)
def test_comment_is_a_header_where_it_names_the_columns(
    tmp_path: Path, head: str, name: str
) -> None:
    """As many words as there are numbers below."""
    reading = read_text(tmp_path, f"{head}1,2.5\n2,1.5\n3,1.0\n", "history.csv")
    assert reading.series[name].value.tolist() == [2.5, 1.5, 1.0]


@pytest.mark.parametrize("inner", ["batch", "minibatch", "iter"])
@pytest.mark.parametrize("outer", ["iteration", "episode", "epoch"])
def test_counter_within_another_is_added_up(tmp_path: Path, outer: str, inner: str) -> None:
    """No row is lost, and it is said how the steps came about."""
    rows = [f"{n},{b},{2.0 / (n + b)}" for n in (1, 2, 3) for b in range(0, 200, 50)]
    reading = read_text(tmp_path, "\n".join([f"{outer},{inner},batch_loss", *rows, ""]))
    assert reading.series["batch_loss"].step.tolist() == list(range(0, 600, 50))
    assert f"{inner} begins anew each {outer}" in reading.problems[0].text


@pytest.mark.parametrize(
    ("outer", "inner"),
    [
        ([1, 1, 2, 2, 3, 3], [0, 1, 2, 0, 1, 2]),  # begins anew elsewhere
        ([1, 2, 3, 4, 5, 6], [1, 1, 1, 1, 1, 1]),  # goes on by itself
        ([1, 1, 1, 1, 1, 1], [0, 1, 2, 3, 4, 5]),  # never rises
    ],
)
def test_counters_beside_each_other_are_not_added_up(
    tmp_path: Path, outer: list[int], inner: list[int]
) -> None:
    """The inner one begins anew where the outer one rises, and nowhere else."""
    rows = [f"{n},{b},{2.0 + b}" for n, b in zip(outer, inner, strict=True)]
    reading = read_text(tmp_path, "\n".join(["iteration,batch,loss", *rows, ""]))
    assert not any("anew" in problem.text for problem in reading.problems)


def test_rows_of_a_console_in_a_file_that_is_called_a_table(tmp_path: Path) -> None:
    """What is no table is read as any text is."""
    path = tmp_path / "loss.csv"
    rows = [f"===> Epoch[1]({n}/2500): Loss: {2.0 - n / 5000:.4f}" for n in range(0, 2500, 50)]
    path.write_text("\n".join([*rows, ""]))
    curve = read(path).curve("train_loss")
    assert curve.value[:2].tolist() == [2.0, 1.99]
    assert len(curve.value) == 50


@pytest.mark.parametrize(
    "text",
    [
        "path,label\na.png,cat\nb.png,dog\n",
        "name,height\nanna,1.5\nfred,1.8\n",
        "loss of a house,words\nepoch of loss: none,said\n",
        'key,loss\n"never closed' + "x" * 200_000,
    ],
)
def test_table_of_other_things_is_no_console(tmp_path: Path, text: str) -> None:
    """It is refused as it was."""
    path = tmp_path / "data.csv"
    path.write_text(text)
    with pytest.raises(NothingReadable):
        read_all(path)
