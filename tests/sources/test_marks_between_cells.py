"""Tables whose cells stand between bars or blanks, beside settings, and as text of Markdown."""

from pathlib import Path

import pytest

from runlens import read
from runlens.errors import NothingReadable
from runlens.sources.tables.marks import of_results, with_tabs

ROWS = [(n, round(2 / n + 0.1, 4)) for n in range(1, 9)]
TABLE = "| pass | logloss (fit) | logloss (holdout) | auc (holdout) |\n|---|---|---|---|\n"


@pytest.mark.parametrize("mark", ["|", " | ", "  ", ";", "\t", ","])
def test_all_marks_are_read_alike(tmp_path: Path, mark: str) -> None:
    """In a folder, beside the settings of the run."""
    lines = "".join(f"{mark.join(map(str, row))}\n" for row in ROWS)
    (tmp_path / "lm_steps.csv").write_text(f"step{mark}ce\n{lines}")
    (tmp_path / "config.json").write_text('{"lr": 0.1}')
    run = read(tmp_path)
    assert run.curve("train_loss").value.tolist() == [loss for _, loss in ROWS]
    assert run.taken == {"train_loss": "ce"}


def test_a_text_that_is_one_table(tmp_path: Path) -> None:
    """Behind each name its data: what a model was fitted to, and what was held out."""
    rows = "".join(f"| {n} | {loss} | {loss + 0.1:.4f} | 0.9 |\n" for n, loss in ROWS)
    (tmp_path / "churn.md").write_text(TABLE + rows)
    run = read(tmp_path)
    assert run.curve("train_loss").value[0] == 2.1
    assert run.curve("eval_loss").value[0] == 2.2
    assert run.curve("train_loss").step.tolist() == list(range(1, 9))


def test_a_text_with_a_table_in_it(tmp_path: Path) -> None:
    """It may show an example of one, and is left alone as before."""
    rows = "".join(f"| {n} | {loss} | {loss} | 0.9 |\n" for n, loss in ROWS)
    (tmp_path / "churn.md").write_text(f"How we did it:\n{TABLE}{rows}")
    with pytest.raises(NothingReadable):
        read(tmp_path)


def test_what_cannot_be_read_is_no_table(tmp_path: Path) -> None:
    """Nor is what is not there."""
    assert not of_results(tmp_path / "missing.md")
    assert of_results(tmp_path / "results.md")


@pytest.mark.parametrize(
    "text",
    [
        "a,b|c\n1,2\n3,4\n",
        "epoch|loss\n1|2|3\n2|4\n",
        "step|loss\n1|2\t3\n",
        "step loss\n1 words\n2 of\n",
        "step loss\n1 2 3\n2 3\n",
        "1 2\n3 4\n5 6\n",
        "loss\n1\n2\n",
        "",
    ],
)
def test_other_texts_stand_as_they_are(text: str) -> None:
    """Bars within cells, lines of unlike lengths, words below names, numbers without any."""
    assert with_tabs(text) == text


def test_a_rule_below_the_names_is_no_row() -> None:
    """And the bars around a row are no cells."""
    assert with_tabs("| a | b |\n|---|---|\n| 1 | 2 |\n") == "a\tb\n1\t2\n"
