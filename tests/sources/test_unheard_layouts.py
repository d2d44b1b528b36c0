"""Layouts of single programs that a general rule reads: cells of several names, rows by turns."""

from pathlib import Path

import pytest

from runlens import read, read_all
from runlens.run import Run


def put(folder: Path, *lines: str, name: str = "train.log") -> Path:
    """Write a log."""
    path = folder / name
    path.write_text("\n".join(lines) + "\n")
    return path


GROUPS = "               |---- TRAIN -----|---- VALID ----|--- Best ---|----------|"
HEAD = "rate    epoch  | loss    top-1  | loss   top-1  |  so far    | time     |"


def cells(epoch: int) -> str:
    """Return a row of the table whose heading has two lines."""
    both = f"{2 / (epoch + 1):.3f}  {50 + epoch:.2f}  | {3 / (epoch + 1):.3f}  {40 + epoch:.2f} "
    return f"0.0100  {epoch}.0    | {both} |   {40 + epoch:.3f}   | 0 hr {4 + epoch:02d} min"


def test_cells_of_several_names_are_of_the_data_above_them(tmp_path: Path) -> None:
    """And each start, below its own heading, is a training."""
    lines = []
    for epochs in (2, 0, 6):
        lines += ["------ [START 2021-03-04 10:00:00] ------", "", GROUPS, HEAD, "-" * 70]
        lines += [cells(n) for n in range(epochs)]
    short, long = read_all(put(tmp_path, *lines))
    assert short.curve("train_loss").value.tolist() == [2, 1]
    assert long.curve("train_loss").step.tolist() == [0, 1, 2, 3, 4, 5]
    assert long.curve("eval_loss").value[:3].tolist() == [3, 1.5, 1]
    assert not {"loss", "top-1"} & set(long.history.metrics)


@pytest.mark.parametrize(
    "above",
    [
        "| a table | of | other | words | x |",
        "|-- TRAIN --|",
        "               |- TRAIN -|- VALID -|-- Best --|-- a --|-- b --|-- c --|",
    ],
)
def test_what_else_stands_above_a_heading_says_nothing_of_its_data(
    tmp_path: Path, above: str
) -> None:
    """Names without data stay as they are printed, the second of each with its number."""
    run = read(put(tmp_path, above, HEAD, *(cells(n) for n in range(6))))
    assert not len(run.curve("eval_loss"))


def test_rows_by_turns_without_a_counter_are_numbered(tmp_path: Path) -> None:
    """Where a colon stands behind the number, and all are of the first epoch; no clock is one."""
    lines = ["2024-01-02 03:04:05,600 - INFO - loaded the fonts"]
    for n in range(1, 40):
        stamp = f"2024-01-02 03:04:{n:02d},600 - INFO -"
        lines += [f"{stamp} chamfer {1 / n:.6f}:", f"{stamp} shape_loss {2 / n:.6f}:"]
        lines += [f"{stamp} elapsed {n / 7:.6f}:"] + [f"{stamp} Epoch 0:"] * (n in {20, 39})
    run = read(put(tmp_path, *lines))
    assert len(run.curve("chamfer")) == 39
    assert len(run.history.metrics) == 2
    assert any("numbered in order" in problem.text for problem in run.problems)


def test_layers_of_a_network_are_no_losses(tmp_path: Path) -> None:
    """Their names have the word, and behind it stands where each is; a resume builds them again."""
    lines = []
    for first in (0, 10):
        lines += [f"Rank:0: Setup: aux1/loss_{x}({n}) - 1 in, 1 out" for n, x in enumerate("abc")]
        for n in range(first, first + 10 + first, 2):
            lines += [f"I0603 04:24:{n:02d}.500432   822 solver.cpp:316] Iteration {n}, loss = 2.5"]
            lines += [f"I0603 04:24:{n:02d}.500432   822 solver.cpp:332]     Output #0: acc = 0.5"]
    (run,) = read_all(put(tmp_path, *lines))
    assert run.curve("train_loss").step.tolist() == list(range(0, 30, 2))
    assert not [name for name in run.history.metrics if "aux1" in name]


def test_a_rate_in_a_line_that_counts_is_part_of_no_name(tmp_path: Path) -> None:
    """So the line whose rate occurs once counts for the rows below it as all others do."""
    lines = []
    for last in (200, 400):
        lines += ["START", "start_epoch: 0", "**** EPOCH 000 / 149 ****"]
        for n in range(10, last, 10):
            took = 0.1 + n / 7919
            lines += [
                f"[TRAIN] Epoch 000 | batch {n:04d}/9000 ({n / 90:5.1f}%) | {took:.3f}s/batch"
            ]
            lines += [f"[TRAIN] mean acc: {n / 900:.6f}", f"[TRAIN] mean loss: {9 / n:.6f}"]
    runs = read_all(put(tmp_path, *lines))
    assert [run.curve("train_loss").step.tolist() for run in runs] == [
        list(range(10, 200, 10)),
        list(range(10, 400, 10)),
    ]


def _planned(folder: Path, *lines: str, row: str = "step={n} avg_score={v:.3f}") -> Run:
    rows = (row.format(n=100 * n, v=0.5 + n / 100) for n in range(1, 20))
    return read(put(folder, lines[0], *rows, *lines[1:]))


@pytest.mark.parametrize(
    ("said", "plan"),
    [
        ("10:00:00 | INFO | [Train] поток, макс. шагов: 5000", 5000),
        ("max_iter: 5000", 5000),
        ("--max-steps=5000", 5000),
        ("max steps: 5000\nmax_iterations: 6000", None),
        ("eval max steps: 5000", None),
        ("max_steps: 0", None),
        ("max_steps", None),
    ],
)
def test_steps_that_are_named_above_the_rows_are_the_plan(
    tmp_path: Path, said: str, plan: int | None
) -> None:
    """What is said behind the last row is of another training."""
    assert _planned(tmp_path, said, "max steps: 9000").state.planned_steps == plan


@pytest.mark.parametrize("row", ["Epoch {n}: loss {v:.3f}", "loss {v:.3f}"])
def test_rows_that_count_no_steps_have_no_such_plan(tmp_path: Path, row: str) -> None:
    """Of an agent they are the steps of an episode."""
    assert _planned(tmp_path, "max_steps: 5000", row=row).state.planned_steps is None


def test_darknet_between_its_regions(tmp_path: Path) -> None:
    """The loss is the mean so far; a region without an object has no value."""
    region = "Region {n} Avg IOU: -nan, Class: -nan, Obj: -nan, No Obj: 0.5, .5R: -nan,  count: 0"
    lines = ["yolov3-tiny", "Learning Rate: 0.001, Momentum: 0.9, Decay: 0.0005"]
    for n in range(1, 30):
        lines += ["Loaded: 0.000034 seconds", *(region.format(n=k) for k in (16, 23, 30))]
        lines += [f"{n}: {90 / n:.6f}, {99 / n:.6f} avg, 0.000100 rate, 0.19 seconds, {n} images"]
    run = read(put(tmp_path, *lines))
    assert run.curve("train_loss").value[:2].tolist() == [99, 49.5]
    assert run.curve("train_loss").step.tolist() == list(range(1, 30))
    assert run.curve("learning_rate").value[0] == 1e-4
