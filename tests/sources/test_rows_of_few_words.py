"""Rows whose words say little: a counter in brackets, letters, a single line, two numbers."""

from pathlib import Path

import pytest

from runlens import read
from runlens.run import Run


def run_of(folder: Path, text: str, name: str = "out.log") -> Run:
    """Read one log."""
    (folder / name).write_text(text)
    return read(folder / name)


@pytest.mark.parametrize("word", ["epoch", "Epoch", "EPOCH", "step", "iter", "iteration", "round"])
def test_a_counter_in_brackets_is_no_process(tmp_path: Path, word: str) -> None:
    """From ten on it looks as ``sshd[1234]:`` does."""
    rows = [f"#{word}[{n}]: {2 / (n + 2):.4f} {2.5 / (n + 2):.4f} 3.0e-04" for n in range(15)]
    run = run_of(tmp_path, "#params: 1200\n" + "\n".join(rows) + "\n")
    assert run.curve("column 2").value.tolist() == [round(2 / (n + 2), 4) for n in range(15)]
    assert run.curve("column 2").step.tolist() == list(range(15))


def test_a_process_in_brackets_counts_nothing(tmp_path: Path) -> None:
    """Its number is that of a message."""
    rows = [f"trainer[{4000 + n}]: step {n} loss {2 / (n + 2):.4f}" for n in range(15)]
    run = run_of(tmp_path, "\n".join(rows) + "\n")
    assert run.curve("train_loss").step.tolist() == list(range(15))


def test_letters_between_sentences(tmp_path: Path) -> None:
    """A sentence whose number never changes is no row of another kind."""
    rows = [
        f"optimising the last 4 layers\nE: {n} | A: {0.1 + n / 90:.3f} | Q: {-0.8 + n / 50:.2E}"
        for n in range(12)
    ]
    run = run_of(tmp_path, "\n".join(rows) + "\n")
    assert run.curve("A").step.tolist() == list(range(12))
    assert run.curve("Q").value[0] == -0.8


def test_a_log_that_is_one_row(tmp_path: Path) -> None:
    """It counts itself, and measures more than one thing; in a longer one it may be prose."""
    row = "Epoch: [12]\tTime 0.31\tLoss 0.7421\tAcc@1 71.25\tLR 0.001"
    run = run_of(tmp_path, row)
    assert run.curve("train_loss").value.tolist() == [0.7421]
    assert not run_of(tmp_path, f"{row}\nread 300 images\n").history.metrics


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("31.250732421875\n17.4063415527344", [31.250732421875, 17.4063415527344]),
        ("31.25\n17.4", [31.25]),  # may be the half of 17.43
        ("3.1250732421875e-02\n1.74063415527344", [0.031250732421875]),  # of 1.7e-02
    ],
)
def test_two_numbers_alone(tmp_path: Path, text: str, values: list[float]) -> None:
    """The last is whole where what it may have lost would change nothing."""
    assert run_of(tmp_path, text, "loss.txt").curve("train_loss").value.tolist() == values


@pytest.mark.parametrize(
    "row",
    [
        "[Epoch 2/90][Iter {at}/400][lr 0.01][Loss: obj {a} || cls {b} || size 416 || time: 0.52]",
        "Epoch 2 Iter {at} Loss: (obj {a} | cls {b} | lr 0.01)",
        "step {at} losses {{obj: {a}, cls: {b}, n: 16}}",
        "step {at} total_loss[obj={a} cls={b} eta=31]",
    ],
)
def test_parts_of_a_loss_behind_their_common_name(tmp_path: Path, row: str) -> None:
    """Each is a loss; times, sizes, counts and settings beside them are none."""
    rows = [row.format(at=10 * n, a=f"{8 / n:.2f}", b=f"{4 / n:.2f}") for n in range(1, 9)]
    run = run_of(tmp_path, "**" * row.startswith("[") + "\n".join(rows) + "\nend\n")
    assert run.curve("obj_loss").value.tolist() == [round(8 / n, 2) for n in range(1, 9)]
    assert len(run.curve("cls_loss")) == 8
    assert {m for m in run.history.metrics if m.endswith("_loss")} == {"obj_loss", "cls_loss"}


def test_statistics_of_a_loss_are_no_parts_of_it(tmp_path: Path) -> None:
    """Nor is a lone name, or the data."""
    rows = [
        f"epoch {n} LOSS (avg {2 / n:.2f}, min {1 / n:.2f}) acc 0.{n} loss [xe {1 / n:.2f}]"
        for n in range(1, 9)
    ]
    run = run_of(tmp_path, "\n".join(rows) + "\n")
    assert not {m for m in run.history.metrics if m.startswith(("min_loss", "xe_loss"))}


def test_a_function_is_named_with_what_it_is_of(tmp_path: Path) -> None:
    """The logarithm of a probability, which training raises."""
    rows = [
        f"LOG (train:Eval():net.cc:82) After {n}000 sequences ({n}.5Hr): "
        f"Obj(log[Pzx]) = -{40 / n:.3f}   TokenAcc = {50 + n}.25%"
        for n in range(1, 9)
    ]
    run = run_of(tmp_path, "\n".join(rows) + "\n")
    assert run.curve("train_loss").value.tolist() == [round(40 / n, 3) for n in range(1, 9)]


@pytest.mark.parametrize(("rate", "planned"), [("2533443.36", None), ("12.40", 900000)])
def test_a_bar_that_is_too_fast_for_a_training_plans_none(
    tmp_path: Path, rate: str, planned: int | None
) -> None:
    """It counts the data being prepared."""
    bar = f"100%|##########| 900000/900000 [00:01<00:00, {rate}it/s]"
    error = 'Traceback (most recent call last):\n  File "t.py", line 6, in <module>\n    go()\n'
    run = run_of(tmp_path, f"{bar}\nstart to train\n{error}ValueError: no checkpoint there\n")
    assert run.state.planned_steps == planned
    assert run.state.kind == "crashed"
