"""Numbers that nothing parts, that stand behind settings, or that are the only one of a file."""

from pathlib import Path

import numpy as np
import pytest

from runlens import read, read_all
from runlens.errors import NothingReadable
from runlens.sources import console

FALLING = np.float32(2) / np.arange(1, 30, dtype=np.float32) + np.float32(0.001)


def loss_in(folder: Path, text: str) -> list[float]:
    """Return the losses that are read in a file."""
    (folder / "loss.txt").write_text(text)
    run = read(folder / "loss.txt")
    return list(run.curve("train_loss").value) if "train_loss" in run.history.metrics else []


@pytest.mark.parametrize("form", ["{:.4f}", "{:.2f}", "{:.8e}", "{!s}"])
@pytest.mark.parametrize("times", [1, 10])
def test_numbers_that_nothing_parts(tmp_path: Path, form: str, times: int) -> None:
    """With as many decimals each, or with as many as each needs."""
    if times > 1 and form in {"{!s}", "{:.8e}"}:
        pytest.skip("of 20 or 2 nothing says where the first digit belongs")
    said = [form.format(value) for value in times * FALLING]
    assert np.allclose(loss_in(tmp_path, "".join(said)), list(map(float, said)))


def test_numbers_below_zero_part_themselves(tmp_path: Path) -> None:
    """By their sign."""
    said = [f"{sign * value:.6f}" for value in FALLING for sign in (1, -1)]
    assert np.allclose(loss_in(tmp_path, "".join(said)), list(map(float, said)))


@pytest.mark.parametrize(
    "text",
    [
        "0.50.40.30.2",  # too few to tell
        "1.2.3.4.5.6.7.8.9.10.11.12",  # no decimals
        "12.51.402.625" + 10 * "1.5",  # the first has more digits than one, and decimals differ
        "0.5," + 20 * "0.25",  # something else is among them
        "0.5" + 20 * "e-1.25",
    ],
)
def test_other_digits_and_points_are_left_alone(tmp_path: Path, text: str) -> None:
    """Nothing says where one ends."""
    assert not loss_in(tmp_path, text)


@pytest.mark.parametrize("value", ["2.201014041900634766e+00\n", "0.5\n0.25\n"])
def test_the_only_numbers_of_a_file_are_a_training(tmp_path: Path, value: str) -> None:
    """Where a user points at it, and in a folder that has nothing else."""
    assert loss_in(tmp_path, value) == list(map(float, value.split()))
    assert len(read(tmp_path).curve("train_loss")) == len(value.split())
    (tmp_path / "loss.txt").rename(tmp_path / "offsets.txt")
    with pytest.raises(NothingReadable):
        read(tmp_path)


SETTINGS = ["[64, [0.1, 1e-10], 4]", "lr=0.1, wd=0", "(0.5, 'adam')", "resnet18"]


@pytest.mark.parametrize("between", [", ", " "])
@pytest.mark.parametrize("sign", [": ", " = "])
def test_losses_behind_the_settings_of_each_training(
    tmp_path: Path, between: str, sign: str
) -> None:
    """A line each; where one became NaN its numbers go on so."""
    curves = [[(n + 2) / step for step in range(1, 9)] for n in range(len(SETTINGS))]
    curves[1][5:] = [np.nan] * 3
    rows = zip(SETTINGS, curves, strict=True)
    text = "".join(f"{name}{sign}{between.join(map(str, some))}\n" for name, some in rows)
    (tmp_path / "train_loss.txt").write_text(text)
    runs = read_all(tmp_path / "train_loss.txt")
    assert [len(run.curve("train_loss")) for run in runs] == [8] * 4
    assert np.isnan(runs[1].curve("train_loss").value[-1])
    assert runs[3].curve("train_loss").value[0] == 5
    (tmp_path / "accuracy.txt").write_text(text)  # of classes
    assert not console.read(tmp_path / "accuracy.txt").series


def test_lines_of_words_among_settings_are_none(tmp_path: Path) -> None:
    """Where most lines are something else the numbers are no trainings."""
    text = "a: 0.5 0.4 0.3 0.2 0.1\n" + "it was slow: no\n" * 5
    assert not loss_in(tmp_path, text)


def test_whole_numbers_behind_settings_are_counts(tmp_path: Path) -> None:
    """No losses."""
    assert not loss_in(tmp_path, "seed 1: 1 2 3 4 5\nseed 2: 1 2 3 4 5\n")


@pytest.mark.parametrize("between", [",", ", ", " ", ";", "\t", " | "])
def test_numbers_of_one_line(tmp_path: Path, between: str) -> None:
    """Whatever parts them, and whether the last has a mark behind it."""
    said = [f"{value:.7f}" for value in FALLING]
    for end in ("", between, "\n"):
        assert np.allclose(loss_in(tmp_path, between.join(said) + end), list(map(float, said)))


@pytest.mark.parametrize("between", [" \\\\", "; ", " | ", " "])
def test_numbers_of_one_line_behind_their_steps(tmp_path: Path, between: str) -> None:
    """With a mark behind each pair, or none where the steps are as far apart all along."""
    pairs = [f"{250 * n} {value:.3f}" for n, value in enumerate(FALLING)]
    assert len(loss_in(tmp_path, between.join(pairs) + between)) == len(FALLING)
    assert read(tmp_path / "loss.txt").last_step == 250 * (len(FALLING) - 1)


@pytest.mark.parametrize(
    "text", ["1 2 3 4 5 6 7 8 9 10 11 12", "0.5 0.4 0.3", "0.5 1;" * 9 + "0.5", "0.5,-" * 12]
)
def test_other_numbers_of_one_line(tmp_path: Path, text: str) -> None:
    """Labels, too few, rows of different lengths, and what is no number."""
    assert loss_in(tmp_path, text) == []
