"""The loss of a network that is held to an equation is the sum of parts that are logged alone."""

from pathlib import Path

import pytest

from runlens.run import Run
from tests.sources.written import run_of

ROWS = range(12)
HOLE = -9.0  # no number stands there
COURSES = {
    "falls": [8.0 / (1 + n) for n in ROWS],
    "level": [8.0 + 0.1 * (n % 3 == 0) for n in ROWS],
    "rises": [0.01 + n for n in ROWS],
    "small": [0.5 / (1 + n) for n in ROWS],
    "sinks": [-0.5 * n for n in ROWS],
    "lost": [1.0 + n if n < 9 else float("nan") for n in ROWS],
    "seldom": [0.5 / (1 + n) if n % 2 else HOLE for n in ROWS],
}


def logged(folder: Path, said: str) -> Run:
    """Write a table of some columns, ``L_pde:falls L_bc:small``, and read it."""
    names = dict(one.split(":") for one in said.split())
    rows = zip(*(COURSES[course] for course in names.values()), strict=True)
    cells = [["" if one == HOLE else str(one) for one in row] for row in rows]
    lines = [",".join([str(40 * n), *row]) for n, row in enumerate(cells)]
    return run_of(folder, "metrics.csv", "\n".join([",".join(["iter", *names]), *lines]) + "\n")


@pytest.mark.parametrize(
    "said",
    [
        "L_pde:falls L_bc:small",
        "loss_res:falls loss_ics:small",
        "pde_loss:level boundary_loss:small rel_L2:small",
        "PDE:falls BC:small",
        "train/loss_physics:falls train/loss_data:small",
        "L_pde:small L_bc:falls",
        "L_pde:lost L_bc:small",  # whatever it did before
    ],
)
def test_the_sum_of_all_parts(tmp_path: Path, said: str) -> None:
    """It is said which they are, and that none is weighted."""
    run = logged(tmp_path, said)
    one, other = (COURSES[part.split(":")[1]] for part in said.split()[:2])
    sums = [a + b for a, b in zip(one, other, strict=True)]
    assert run.curve("train_loss").value.tolist() == pytest.approx(sums, nan_ok=True)
    assert any("none weighted" in problem.text for problem in run.problems)


@pytest.mark.parametrize(
    "said",
    [
        "L_pde:falls L_res:small",  # twice the same
        "L_bc:falls L_ic:small",  # of behaviour cloning, it may be
        "L_pde:rises L_bc:small",  # of little weight, it may be
        "L_pde:falls L_bc:small L_adv:small",  # another part
        "residual:falls data:small",  # of what?
        "L_pde:falls L_bc:sinks",  # no part of a sum
        "L_pde:falls L_bc:seldom",
        "val_loss_pde:falls val_loss_bc:small",
    ],
)
def test_no_sum_of_others(tmp_path: Path, said: str) -> None:
    """What is no whole loss is none."""
    assert "train_loss" not in logged(tmp_path, said).history.metrics


def test_a_loss_that_is_logged_is_taken(tmp_path: Path) -> None:
    """Beside its parts."""
    run = logged(tmp_path, "loss:level L_pde:falls L_bc:small")
    assert run.curve("train_loss").value.tolist() == COURSES["level"]
