"""The console of Ultralytics, for every task and with either bar."""

from pathlib import Path

import pytest

from runlens import read_all
from tests.sources.console_logs import points, reading

BOX = "Class     Images  Instances      Box(P          R      mAP50  mAP50-95)"
BOTH = (
    "all        128        929      0.64      0.53      0.6{n}      0.44"
    "      0.61      0.51      0.5{n}      0.41"
)
TASKS = {
    "segment": (
        f"{BOX}     Mask(P          R      mAP50  mAP50-95)",
        BOTH,
        {"metrics/mAP50(B)": 0.6, "metrics/mAP50(M)": 0.5},
    ),
    "pose": (
        f"{BOX}     Pose(P          R      mAP50  mAP50-95)",
        BOTH,
        {"metrics/mAP50(B)": 0.6, "metrics/mAP50(P)": 0.5},
    ),
    "classify": (
        "classes   top1_acc   top5_acc",
        "all       0.7{n}       0.9{n}",
        {"metrics/accuracy_top1": 0.7, "metrics/accuracy_top5": 0.9},
    ),
}
BARS = ("{}%|##| {}/50 [00:01<00:02, 9.00it/s]", "{}% ━━╸─ {}/50 9.0it/s 1.3s")


def yolo(head: str, values: str, own: str = BARS[0]) -> str:
    """Return the log of three epochs, and of the best weights that are validated at the end."""
    names = "Epoch    GPU_mem   seg_loss       loss  Instances       Size"
    text = ""
    for n in (1, 2, 3):
        text += f"      {names}\n"
        for done in (25, 50):
            state = f"{n}/3      2.3G      1.{n}      0.{done + n}         12        640"
            text += f"\r      {state}: {own.format(2 * done, done)}"
        text += f"\n      {head}: {own.format(100, 50)}\n      {values.format(n=n)}\n"
    return (
        f"{text}Validating best.pt...\n      {head}: {own.format(100, 50)}\n{values.format(n=9)}\n"
    )


@pytest.mark.parametrize("own", BARS)
@pytest.mark.parametrize("task", TASKS)
def test_yolo_of_every_task_and_with_either_bar(task: str, own: str, tmp_path: Path) -> None:
    """The last state of each epoch, under the names of results.csv; newer versions draw a bar."""
    head, values, expected = TASKS[task]
    read = reading(tmp_path, yolo(head, values, own))
    assert points(read, "train/loss") == [(1, 0.51), (2, 0.52), (3, 0.53)]
    assert points(read, "train/seg_loss") == [(1, 1.1), (2, 1.2), (3, 1.3)]
    for name, first in expected.items():
        assert points(read, name) == [(n, round(first + n / 100, 2)) for n in (1, 2, 3)]
    assert read.framework == "ultralytics"


def test_yolo_whose_validation_has_other_columns_keeps_the_training(tmp_path: Path) -> None:
    """A row of two values under four names would put them under wrong ones."""
    read = reading(tmp_path, yolo(BOX, "all        128        929      0.6{n}      0.44"))
    assert set(read.series) == {"train/loss", "train/seg_loss"}


def test_yolov5_without_its_bars_and_below_its_layers(tmp_path: Path) -> None:
    """As a notebook keeps it; the layers of the next model are no rows, nor is the closing line."""
    head = "     Epoch   gpu_mem       box       obj       cls     total    labels  img_size"
    held_out = "               Class      Images      Labels           P           R    mAP@.5"
    layer = "  {n}   -1  1   3520  models.common.Focus   [3, 32, 3]\n"
    text = ""
    for _ in (1, 2):
        text += "    from  n    params  module    arguments\n"
        text += "".join(layer.format(n=n) for n in range(8))
        for n in range(4):
            text += f"\n{head}\n"
            text += f"       {n}/3    0.726G   0.0{9 - n}   0.02   0   0.{14 - n}     1    544\n"
            text += f"{held_out}\n"
            text += f"                 all          16          17     0.8    0.7   0.6{n}   0.3\n"
        text += "\n4 epochs completed in 0.081 hours.\n"
    (tmp_path / "train.log").write_text(text)
    runs = read_all(tmp_path / "train.log")
    assert len(runs) == 2
    for run in runs:
        assert run.curve("box_loss").value.tolist() == [0.09, 0.08, 0.07, 0.06]
        assert run.curve("eval_map50").step.tolist() == [0, 1, 2, 3]
        assert run.state.kind == "finished"


def results(own: str, *, last: str = "0.3{n}", ends: str = "\n") -> str:
    """Return the rows of ``results.txt`` of three epochs, whose F1 or second mAP is `last`."""
    scores = f"0.6  0.6  0.7{{n}}  {last}"
    return "".join(f"  {n}/2  {own.format(n=n, scores=scores.format(n=n))}{ends}" for n in range(3))


WRITTEN = {
    "yolov5": (results("1.8G  0.1  0.2  0  0.3  24  640  {scores}  0.3  0.1  0"),
               {"train/box_loss", "train/obj_loss", "metrics/mAP_0.5:0.95", "val/obj_loss"}),
    "yolov3": (results("1.8G  0.1  0.2  0.1  0.4  24  416  {scores}  0.3  0.1  0.2", last="0.61"),
               {"train/cls_loss", "metrics/F1", "val/cls_loss"}),
    "of faces": (results("2G  0.1  0.2  0.1  0.1  nan  9  8  {scores}  0.3  0.1  0.2  0.1"),
                 {"train/loss_4_loss", "val/loss_4_loss"}),
    "of a fourth loss": (
        results("2G  0.1  0.2  0.1  0.3  0.7  9  8  {scores}  0.3  0.1  0.2  0.1  0.7"),
        {"train/loss_4_loss", "val/loss_4_loss", "train/loss", "val/loss"},
    ),
    "2019": (results("9/9  0.1  0.2  0.1  1e+01  10.4  24  0.4  {scores}  0.3", last="0.61"),
             {"train/xy_loss", "metrics/mAP_0.5", "val/loss"}),
}  # fmt: skip


@pytest.mark.parametrize("who", WRITTEN)
def test_results_whose_columns_nobody_names(who: str, tmp_path: Path) -> None:
    """What was never computed is no metric; how many epochs there are stands before the rows."""
    text, expected = WRITTEN[who]
    read = reading(tmp_path, text)
    assert expected <= set(read.series)
    assert points(read, "metrics/mAP_0.5") == [(n, 0.7 + n / 100) for n in range(3)]
    assert "train/cls_loss" not in read.series or who != "yolov5"
    assert read.hints.planned_steps == 2


@pytest.mark.parametrize(
    "own",
    [
        "1.8G  0.1  0.2  0.1  0.9  24  640  {scores}  0.3  0.1  0.2",  # their sum is another
        "1.8G  0.1  0.2  0.1  0.3  0.7  24  640  {scores}  0.3  0.1  0.2  0.1  0.9",
        "1.8G  0.1  0.3  24  640  {scores}  0.3",
        "1.8G  0.1  0.2  0.3",
        "1.8G  0.1  0.2  0.1  0.4  24  640  {scores}  0.3  0.1  0.2\nimages",
    ],
)
def test_other_rows_of_epochs_are_no_results(own: str, tmp_path: Path) -> None:
    """Of another width, or sum, or between other lines."""
    assert "metrics/mAP_0.5" not in reading(tmp_path, results(own)).series
