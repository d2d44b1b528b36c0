"""The window of a mean in brackets behind its name is no value."""

from pathlib import Path

import pytest

from runlens import read
from runlens.sources.console.windows import with_windows_left_out


@pytest.mark.parametrize(
    "row",
    [
        "frame {n:6d}/9000 | eps 0.{n} | ret(20)   {r} | td 8.{n}9e+04\n",
        "--- iteration {n}/30 ---\n  return (60)    : {r}\n  value loss     : 2{n}.96\n",
    ],
)
def test_rewards_of_a_window(tmp_path: Path, row: str) -> None:
    """The reward is what stands behind the brackets, and no constant."""
    rows = [row.format(n=n, r=20 + n * n) for n in range(1, 10)]
    (tmp_path / "train.log").write_text("".join(rows))
    run = read(tmp_path / "train.log")
    assert run.curve("reward").value.tolist() == [20 + n * n for n in range(1, 10)]
    assert not any("(" in name or "column" in name for name in run.history.metrics)


@pytest.mark.parametrize(
    "row",
    [
        "avg loss 0.3 (0.4) acc 3.2 (3.4)",  # a value and its mean
        "loss (1): 0.{n} loss (2): 0.3",  # one of several
        "head (3): 0.{n}",  # no mean
        "avg ({n}): 0.3",  # a counter
        "ret(20): 0.{n} ret(100): 0.3",  # two windows
    ],
)
def test_other_brackets_stay(row: str) -> None:
    """What is no window of a mean is left as it stands."""
    lines = [(n, row.format(n=n)) for n in range(1, 9)]
    assert with_windows_left_out(lines) == lines


def test_a_mean_without_the_name_of_what() -> None:
    """Beside another name in brackets, which is none of a mean and stays."""
    lines = [(n, f"avg(100): 1{n} head (3): 0.5") for n in range(4)]
    assert with_windows_left_out(lines)[1] == (1, "avg: 11 head (3): 0.5")
    assert with_windows_left_out([*lines, (4, "done")])[-1] == (4, "done")
