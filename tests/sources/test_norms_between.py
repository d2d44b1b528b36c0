"""Norms of gradients in lines of their own between the rows of a log."""

from pathlib import Path

import pytest

from runlens import read_all
from runlens.history import Curve


def norms(folder: Path, *lines: str) -> Curve:
    """Read the norms of a log."""
    (folder / "train.log").write_text("\n".join([*lines, ""]))
    (run,) = read_all(folder / "train.log")
    assert len(run.curve("train_loss")) == 6
    return run.curve("grad_norm")


def row(step: int) -> str:
    """Write a row."""
    return f"[step {step:04d}]  loss={1 / (step + 1):.3f}  mean_reward={step}.500"


@pytest.mark.parametrize("form", ["[DEBUG] grad_norm = {}.25", "Gradient norm: {}.25"])
def test_a_norm_is_that_of_the_step_it_stands_at(tmp_path: Path, form: str) -> None:
    """Above the first row it stands before each; else behind."""
    above = [line for n in range(6) for line in (form.format(n), row(n))]
    behind = [line for n in range(6) for line in (row(n), form.format(n))]
    for lines in (above, behind):
        curve = norms(tmp_path, *lines)
        assert curve.step.tolist() == list(range(6))
        assert curve.value.tolist() == [n + 0.25 for n in range(6)]


def test_a_norm_may_be_lost(tmp_path: Path) -> None:
    """It is printed as it is."""
    lines = [line for n in range(6) for line in (f"grad_norm = {'nan' if n > 3 else n}", row(n))]
    assert norms(tmp_path, *lines).value.tolist()[:4] == [0, 1, 2, 3]


def test_a_norm_of_no_known_step_is_left_out(tmp_path: Path) -> None:
    """One is missing, and another stands twice; or the rows say theirs."""
    lines = [line for n in range(6) for line in (f"grad_norm = {n}.5", row(n))]
    assert not len(norms(tmp_path, *lines[:3], lines[4], lines[3], *lines[5:]))
    assert not len(norms(tmp_path, *lines[1:]))
    own = [f"{line}  grad_norm=7.5" if "step" in line else line for line in lines]
    assert set(norms(tmp_path, *own).value.tolist()) == {7.5}
