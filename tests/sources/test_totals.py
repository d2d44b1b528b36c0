"""Sums: the loss of a detector, and a column that adds another one up."""

from pathlib import Path

import pytest

from runlens import read
from runlens.sources.tables import csv_log
from runlens.sources.totals import with_totals
from tests.sources.writers import losses


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


@pytest.mark.parametrize(
    ("rows", "summed", "told"),
    [
        (40, True, True),
        (40, False, False),  # a reward of its own: the first of two has the name
        (8, True, False),  # so few may grow so by chance
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_a_running_sum_is_no_reward(
    tmp_path: Path, rows: int, *, summed: bool, told: bool, first: bool
) -> None:
    """Whichever column stands first: the mean of an episode tells how the agent does."""
    reward = -100 + losses(3)[:rows]
    total = reward.cumsum() if summed else 3 * reward
    names = ("TotalRewardMean", "EpRewMean") if first else ("EpRewMean", "TotalRewardMean")
    columns = {"TotalRewardMean": total, "EpRewMean": reward}
    cells = [f"{n},{columns[names[0]][n]:.6f},{columns[names[1]][n]:.6f}" for n in range(rows)]
    path = tmp_path / "progress.csv"
    path.write_text("\n".join([",".join(("episode", *names)), *cells, ""]))
    judged = read(path).curve("reward").value
    wanted = "EpRewMean" if told else names[0]
    assert judged.tolist() == pytest.approx(columns[wanted].tolist(), abs=1e-5)
