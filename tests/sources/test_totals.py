"""The loss of a detector: the sum of the parts that it logs."""

from pathlib import Path

import pytest

from runlens import read
from runlens.sources.tables import csv_log
from runlens.sources.totals import with_totals


def table(folder: Path, *columns: str, rows: int = 4) -> Path:
    """Write a results.csv in which each column of row n holds n and its place."""
    lines = [",".join(("epoch", *columns))]
    for number in range(1, rows + 1):
        cells = [f"{number + place / 10:.1f}" for place in range(len(columns))]
        lines.append(",".join((str(number), *cells)))
    path = folder / "results.csv"
    path.write_text("\n".join([*lines, ""]))
    return path


@pytest.mark.parametrize(
    ("names", "first"),
    [
        (("box_loss", "cls_loss", "dfl_loss"), 3.3),
        (("box_loss", "obj_loss", "cls_loss"), 3.3),
        (("box_om", "cls_om", "dfl_om", "box_oo", "cls_oo", "dfl_oo"), 7.5),
        (("giou_loss", "cls_loss", "l1_loss"), 3.3),
    ],
)
def test_the_loss_is_the_sum_of_its_parts(
    tmp_path: Path, names: tuple[str, ...], first: float
) -> None:
    """YOLO of several releases; training and validation apart."""
    columns = [f"{split}/{name}" for split in ("train", "val") for name in names]
    run = read(table(tmp_path, *columns, "metrics/mAP50-95(B)"))
    assert run.curve("train_loss").value[0] == pytest.approx(first)
    assert run.curve("eval_loss").value[0] == pytest.approx(first + len(names) ** 2 / 10)
    assert run.curve("train_loss").step.tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize(
    "columns",
    [
        ("train/cls_loss", "train/seg_loss"),  # no detector: a loss in two parts, weights unknown
        ("train/box_loss", "train/lr"),  # one part has no sum
        ("box_loss", "cls_loss"),  # no word of the split
    ],
)
def test_other_losses_are_not_added_up(tmp_path: Path, columns: tuple[str, ...]) -> None:
    """Where the parts are not those of a detector."""
    assert set(with_totals(csv_log.read(table(tmp_path, *columns)).series)) == set(columns)


def test_a_total_that_was_logged_stays(tmp_path: Path) -> None:
    """It may be weighted."""
    series = with_totals(
        csv_log.read(table(tmp_path, "train/box_loss", "train/cls_loss", "train/loss")).series
    )
    assert series["train/loss"].value[0] == pytest.approx(1.2)


def test_parts_of_different_steps_have_no_sum(tmp_path: Path) -> None:
    """A part that is logged now and then."""
    path = tmp_path / "results.csv"
    path.write_text("epoch,train/box_loss,train/cls_loss\n1,2,3\n2,2,\n3,2,3\n")
    assert "train/loss" not in with_totals(csv_log.read(path).series)
