"""Results below headings of their own: data sets, classes, choices of settings."""

from pathlib import Path

import pytest

from runlens import read_all
from tests.sources.written import runs_of

SETS = ["Cora", "Citeseer small", "PubMed (all)", "Reddit"]
PLANTS = ["fern", "moss", "alga", "ivy", "reed", "lily"]


def results(headings: list[str], row: str = "Test loss: 0.{0}7 | Test acc: 0.9{0}") -> str:
    """Return a log with a result below each heading."""
    return "".join(f"{one}\n{row.format(n % 10)}\n\n" for n, one in enumerate(headings))


@pytest.mark.parametrize(
    ("headings", "row"),
    [
        (SETS, "Test loss: 0.{0}7 | Test acc: 0.9{0}"),
        (PLANTS, "Accuracy: 0.9{0}\n  Precision: 0.8{0}\n  Recall: 0.7{0}"),
        (
            [f"----\nnet = {a} layers = {n}" for a in SETS for n in (1, 2)],
            "AVG ACC : 7{0}.5, N : 3",
        ),
    ],
)
def test_each_result_is_one_of_its_own(tmp_path: Path, headings: list[str], row: str) -> None:
    """Nothing goes on from one to the next: the loss of another data set rose in none."""
    runs = runs_of(tmp_path, "results.txt", results(headings, row))
    assert len(runs) == len(headings)
    assert {len(run.curve(name)) for run in runs for name in run.history.metrics} == {1}
    assert len(runs[0].history.metrics) >= row.count(": ") - 1


def test_counts_of_things_are_no_results(tmp_path: Path) -> None:
    """A program says how much it goes through of each, and measures nothing there."""
    text = results([f"Now for {one}" for one in PLANTS], "Processing {0}38 cells in batches of 16")
    (run,) = runs_of(tmp_path, "run.log", text)
    assert not run.history.metrics
    assert "counts of things" in run.problems[0].text


@pytest.mark.parametrize("headings", [PLANTS * 3, [f"{a}{b}{c}" for a in "abcde" for b in "abcde"
                                                    for c in "abcde"]])  # fmt: skip
def test_of_things_that_come_again_and_of_very_many_none_is_told(
    tmp_path: Path, headings: list[str]
) -> None:
    """Classes of several models are no course, and a list of them says nothing of one."""
    (run,) = runs_of(
        tmp_path, "classes.txt", results(headings, "Precision: 0.8{0}, Recall: 0.7{0}")
    )
    assert not run.history.metrics
    assert "no course of a training" in run.problems[0].text


@pytest.mark.parametrize(
    ("headings", "row"),
    [
        (SETS, "loss: 0.{0}7 | acc: 0.9{0}"),  # of a training
        (SETS, "Epoch {0} | Test acc: 0.9{0} | Test f1: 0.8{0}"),  # which counts
        (["Saved the model", "No improvement", "New best so far", "Waiting"], "Test acc: 0.9{0}5"),
        (["on the training rows", "on the test rows", "on all rows"] * 2, "acc: 0.9{0}5"),
        (["Evaluating now"] * 8, "Test acc: 0.9{0}5"),
        (PLANTS[:4] * 5, "Test acc: 0.9{0}5"),  # phases may be four
        ([*PLANTS, *PLANTS[:3]] * 4, "Test acc: 0.9{0}5"),
        (["12.5", *SETS], "Test acc: 0.9{0}5"),
        ([f"{'x' * 300} {one}" for one in SETS], "Test acc: 0.9{0}5"),
        (PLANTS, "Test acc: 0.9{0}5\nTest acc: 0.9{0}6"),
        ([""] * 5, "Test acc: 0.9{0}5"),
    ],
)
def test_look_alikes_of_headings_are_left_as_they_are(
    tmp_path: Path, headings: list[str], row: str
) -> None:
    """A course has the same words above its rows, or those of what is done with its model."""
    (tmp_path / "log.txt").write_text(results(headings, row))
    (run,) = read_all(tmp_path / "log.txt")
    lengths = [len(run.curve(name)) for name in run.history.metrics]
    assert max(lengths) >= len(headings) - 1
