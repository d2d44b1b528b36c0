"""A run that ends far from its siblings is told of where they are listed."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from runlens.cli import main
from runlens.comparing.apart import far_off


@pytest.mark.parametrize(
    ("values", "better", "far"),
    [
        ([0.050, 0.044, 65.4, 0.046], "lower", [2]),
        ([147.3, 139.4, 137.8, 61.8], "higher", [3]),
        ([0.050, 0.044, 0.001, 0.046], "lower", []),  # it is better
        ([0.30, 0.52, 0.41, 0.75], "lower", []),  # all lie apart
        ([1.0000, 1.0001, 1.0000, 1.02], "lower", []),  # nobody minds 2 %
        ([-1.0, -1.1, -0.9, 4.0], "lower", [3]),  # no logarithm of these
        ([0.05, 60.0], "lower", []),  # of two nobody knows which is usual
    ],
)
def test_a_value_is_held_against_the_others(
    values: list[float], better: str, far: list[int]
) -> None:
    """By how far repeats of them would lie, and by how much it is worse."""
    assert far_off(values, "higher" if better == "higher" else "lower") == far


def test_repeats_are_seldom_told_to_lie_apart() -> None:
    """Of drawn families of seeds one in a hundred may, on the worse side alone half as many."""
    rng = np.random.default_rng(7)
    drawn = [np.exp(rng.normal(0, 0.05, rng.integers(3, 9))).tolist() for _ in range(400)]
    assert sum(bool(far_off(values, "lower")) for values in drawn) <= 4


@pytest.mark.parametrize(("last", "told"), [(55.0, True), (0.051, False)])
def test_a_seed_that_went_wrong_is_told_beside_the_others(
    tmp_path: Path, last: float, told: bool
) -> None:
    """Its curve alone may fall well."""
    for seed, end in enumerate((0.050, 0.044, last, 0.046)):
        rows = [f"{n},{end * (1 + 9 * 0.5**n):.5f}" for n in range(1, 16)]
        (tmp_path / f"seed_{seed}.csv").write_text("\n".join(["epoch,train_loss", *rows]))

    said = CliRunner().invoke(main, ["diagnose", str(tmp_path), "--no-html"]).output

    assert ("seed_2.csv: it ends far from 3 siblings: train loss 55" in said) is told
    assert ("siblings" in said) is told
