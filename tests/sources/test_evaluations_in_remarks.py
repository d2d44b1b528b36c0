"""Evaluations as remarks between the rows of a table."""

from pathlib import Path

import pytest

from runlens import read
from runlens.sources.tables.remarks import with_evaluations


def table(mark: str, remark: str, *, head: str = "step,epoch,loss", end: str = "\n") -> str:
    """Return a table of ten rows an epoch, with a remark behind each."""
    lines = ["# a run", head]
    for epoch in range(4):
        lines += [f"{n},{epoch},{2 / n:.4f}" for n in range(10 * epoch + 1, 10 * epoch + 11)]
        lines.append(remark.format(e=epoch, n=10 * epoch + 10, l=f"{3 / (epoch + 1):.2f}"))
    return "\n".join(lines).replace(",", mark) + end


@pytest.mark.parametrize("end", ["\n", "\n\n"])
@pytest.mark.parametrize("mark", ["\t", ",", ";"])
def test_a_remark_that_comes_again_is_an_evaluation(tmp_path: Path, mark: str, end: str) -> None:
    """Its loss stands below the loss, at the step of the row above it."""
    text = table(mark, "#eval,{e},{l},acc=0.{e}5", end=end)
    (tmp_path / "run.tsv").write_text(text)
    run = read(tmp_path / "run.tsv")
    assert run.curve("eval_loss").value.tolist() == [3.0, 1.5, 1.0, 0.75]
    assert run.curve("eval_loss").step.tolist() == [10, 20, 30, 40]
    assert run.curve("eval_accuracy").value.tolist() == [0.05, 0.15, 0.25, 0.35]
    assert len(run.curve("train_loss")) == 40
    assert not run.problems


@pytest.mark.parametrize("remark", ["# val:,{e},{l}", "#val,loss={l}", "#val,epoch={e},loss={l}"])
def test_remarks_of_other_forms(tmp_path: Path, remark: str) -> None:
    """With names, or without."""
    (tmp_path / "run.csv").write_text(table(",", f"{remark},a=1", end=""))  # its last may be cut
    assert read(tmp_path / "run.csv").curve("eval_loss").value.tolist() == [3.0, 1.5, 1.0, 0.75]


@pytest.mark.parametrize(
    "text",
    [
        table(",", "#eval,7,{l}"),  # no epoch of the rows
        table(",", "#eval,{e},well"),
        table(",", "#eval,{e},{l},{l}"),  # without a name
        table(",", "#train,{e},{l}"),
        table(",", "# epoch {e} is over, {l}"),
        table(",", "#eval,{e},{l},seconds=3", head="1,0,3.5"),
        table(",", "#eval,{e},{l}").replace("#eval,0", "#eval,0,acc=2", 1),  # of two kinds
        "loss\n1\n#eval,2\n2\n#eval,2\n",  # of one column
        "a,b\n1,2\n#eval,3\n",  # once
        "#eval,3\n#eval,4\n",  # of nothing
        "a,b\n1,2\n",
    ],
)
def test_other_remarks_stay(text: str) -> None:
    """As they are."""
    assert with_evaluations(text) == text


def test_a_short_row_above_a_remark(tmp_path: Path) -> None:
    """It lacks what it measures, and has its step."""
    text = table(",", "#eval,{e},{l}").replace("10,0,0.2000", "10,0", 1)
    (tmp_path / "run.csv").write_text(text)
    assert read(tmp_path / "run.csv").curve("eval_loss").step.tolist() == [10, 20, 30, 40]
