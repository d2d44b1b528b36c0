"""The console of Ultralytics, for every task and with either bar."""

from pathlib import Path

import pytest

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
