"""Decimals with a comma, as programs write them in most of Europe."""

from pathlib import Path

import pytest

from runlens import read
from runlens.sources.decimals import with_points

HEAD = "epoch{0}train_loss{0}val_loss\n"
ROWS = [(n, 2 / n, 3 / n) for n in range(1, 13)]


def body(between: str, places: int) -> str:
    """Return rows of a counter and two losses, with commas for points."""
    rows = (f"{n}{between}{one:.{places}f}{between}{two:.{places}f}\n" for n, one, two in ROWS)
    return "".join(rows).replace(".", ",")


@pytest.mark.parametrize("between", ["\t", ";", " ; ", " | "])
@pytest.mark.parametrize("places", [2, 3, 6])
@pytest.mark.parametrize("name", ["metrics.csv", "log.tsv", "train.log", "train.txt"])
def test_a_table_of_decimals_with_commas(
    tmp_path: Path, between: str, places: int, name: str
) -> None:
    """Whatever stands between them; three decimals are no thousands."""
    if "|" in between and name[-4:] in {".csv", ".tsv"}:
        return
    (tmp_path / name).write_text(HEAD.format(between) + body(between, places))
    run = read(tmp_path / name)
    for metric, column in (("train_loss", 1), ("eval_loss", 2)):
        expected = [round(row[column], places) for row in ROWS]
        assert run.curve(metric).value.tolist() == pytest.approx(expected)


@pytest.mark.parametrize("name", ["loss.csv", "loss.tsv", "loss.txt"])
def test_without_a_head(tmp_path: Path, name: str) -> None:
    """The first row tells what parts the cells: no comma."""
    (tmp_path / name).write_text(body("\t", 3))
    run = read(tmp_path / name)
    values = [run.curve(metric).value[0] for metric in run.history.metrics]
    assert {2.0, 3.0} <= set(values)


@pytest.mark.parametrize(
    "text",
    [
        "1,250\t2,500\n3,750\t12,000\n",  # thousands
        "0,25\t1.5\n",  # a list, and a number
        "a, b\t0,25\n",  # words
        "0,25\n0,5\n",  # two columns
        "1,2,3\t4,5\n",
        "0.25\t1.5\n",
    ],
)
def test_other_commas_stay(text: str) -> None:
    """They part cells or thousands."""
    assert with_points(text) == text
