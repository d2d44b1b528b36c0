"""Curves that were saved as arrays of NumPy."""

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from runlens import read, read_all
from runlens.errors import NothingReadable
from runlens.sources import npy_arrays, printed_values, saved_numbers

FALLING = np.array([2 / n for n in range(1, 30)])


@pytest.mark.parametrize("kind", ["f8", "f4"])
def test_an_array_is_called_after_its_file(tmp_path: Path, kind: str) -> None:
    """One axis, or a column; alone in a folder too, beside data."""
    values = FALLING.astype(kind)
    for saved in (values, values[:, None]):
        np.save(tmp_path / "train_losses.npy", saved)
        np.save(tmp_path / "labels.npy", np.arange(90) % 10)
        np.save(tmp_path / "pixels.npy", np.random.default_rng(0).normal(size=(90, 8)))
        for place in (tmp_path, tmp_path / "train_losses.npy"):
            assert read(place).curve("train_loss").value.tolist() == values.tolist()


def test_values_behind_their_steps_stand_at_these(tmp_path: Path) -> None:
    """Two columns, of which the first counts; it may leave some out."""
    for step in (np.arange(101, 130), np.arange(29) * 7):
        np.save(tmp_path / "loss.npy", np.stack([step, FALLING], axis=1))
        curve = read(tmp_path / "loss.npy").curve("train_loss")
        assert curve.step.tolist() == step.tolist()
        assert curve.value.tolist() == FALLING.tolist()


def test_two_rows_are_of_both_data(tmp_path: Path) -> None:
    """That of the training first."""
    np.save(tmp_path / "loss.npy", np.stack([FALLING, FALLING + 0.1]))
    run = read(tmp_path / "loss.npy")
    assert run.curve("train_loss").value.tolist() == FALLING.tolist()
    assert run.curve("eval_loss").value.tolist() == (FALLING + 0.1).tolist()


def test_a_structured_array_has_a_curve_for_each_column(tmp_path: Path) -> None:
    """Named as they are; the epoch counts the rows."""
    kinds = [("epoch", "<i4"), ("loss", "<f4"), ("val_loss", "<f8")]
    rows = [(n, one, one + 0.1) for n, one in enumerate(FALLING.astype("f4").tolist())]
    np.save(tmp_path / "curves.npy", np.array(rows, dtype=kinds))
    for place in (tmp_path, tmp_path / "curves.npy"):
        run = read(place)
        assert run.curve("train_loss").value.tolist() == [one for _, one, _ in rows]
        assert run.curve("eval_loss").value.tolist() == [one for _, _, one in rows]
        assert run.curve("train_loss").step.tolist() == list(range(29))


def test_a_structured_array_of_other_things_is_refused(tmp_path: Path) -> None:
    """Texts, arrays in a field, and one that was cut off."""
    place = tmp_path / "curves.npy"
    for kinds in ([("loss", "<f4"), ("name", "<U3")], [("loss", "<f4", (2,))]):
        np.save(place, np.zeros(9, dtype=kinds))
        assert npy_arrays.arrays_in(place.read_bytes()) == {}
    np.save(place, np.zeros(9, dtype=[("loss", "<f4"), ("epoch", "<i4")]))
    whole = place.read_bytes()
    assert list(npy_arrays.arrays_in(whole)) == ["loss", "epoch"]
    for cut in (8, 5):  # a row too few, and within one
        assert npy_arrays.arrays_in(whole[:-cut]) == {}


def test_an_archive_has_a_curve_for_each_name(tmp_path: Path) -> None:
    """In a folder or pointed at; what is no curve in it is left out."""
    saves: tuple[Callable[..., None], ...] = (np.savez, np.savez_compressed)
    for save in saves:
        others = {"args": np.array([{"a": 1}], dtype=object), "images": np.zeros((4, 4))}
        with (tmp_path / "history.npz").open("wb") as file:
            save(file, train_loss=FALLING, val_loss=FALLING / 2, **others)
        for place in (tmp_path, tmp_path / "history.npz"):
            run = read(place)
            assert run.curve("train_loss").value.tolist() == FALLING.tolist()
            assert run.curve("eval_loss").value.tolist() == (FALLING / 2).tolist()


@pytest.mark.parametrize(
    "saved",
    [
        np.arange(90) % 10,
        np.random.default_rng(0).normal(size=(90, 8)),
        np.zeros((2, 3, 4)),
        np.stack([np.arange(90), np.arange(90) % 10], axis=1),
        np.stack([FALLING, FALLING / 2], axis=1),
        np.stack([np.arange(29)[::-1], FALLING], axis=1),
        np.stack([np.arange(29) - 5, FALLING], axis=1),
        np.array([[1, np.nan], [2, 0.5]]),
        np.array(["a", "b"]),
        np.array(0.5),
        np.zeros(0),
    ],
)
def test_data_are_no_curve(tmp_path: Path, saved: np.ndarray[Any, Any]) -> None:
    """Labels, features, words."""
    np.save(tmp_path / "data.npy", saved)
    with pytest.raises(NothingReadable):
        read(tmp_path / "data.npy")


def test_an_array_under_the_name_of_a_log_says_why_it_is_not_read(tmp_path: Path) -> None:
    """In a line."""
    file = io.BytesIO()
    np.save(file, np.array([{"a": 1}], dtype=object))
    (tmp_path / "loss.txt").write_bytes(file.getvalue())
    with pytest.raises(NothingReadable, match="is a file of NumPy without a curve in it"):
        read(tmp_path / "loss.txt")


def test_what_is_too_large_or_damaged_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing raises, and nothing is unpacked beyond the bound."""
    with (tmp_path / "a.npz").open("wb") as file:
        np.savez(file, loss=FALLING, acc=FALLING)
    data = (tmp_path / "a.npz").read_bytes()
    assert saved_numbers.as_text(data) is not None
    for end in range(4, len(data), 7):
        assert saved_numbers.as_text(data[:end]) is None
    with zipfile.ZipFile(tmp_path / "b.npz", "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("loss.npy", b"x")
    assert npy_arrays.arrays_in((tmp_path / "b.npz").read_bytes()) == {}
    assert npy_arrays.arrays_in(b"\x93NUMPY of another kind") == {}
    one = io.BytesIO()
    np.save(one, FALLING)
    assert npy_arrays.arrays_in(one.getvalue()[:-8]) == {}
    monkeypatch.setattr(npy_arrays, "LARGEST", len(data) - 1)
    monkeypatch.setattr(npy_arrays, "MOST_ARRAYS", 64)
    assert npy_arrays.arrays_in(data) == {}
    monkeypatch.undo()
    with zipfile.ZipFile(tmp_path / "c.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("loss.npy", bytes(9_000))
    monkeypatch.setattr(npy_arrays, "LARGEST", 2_000)
    assert npy_arrays.arrays_in((tmp_path / "c.npz").read_bytes()) == {}
    monkeypatch.undo()
    monkeypatch.setattr(saved_numbers, "MOST", 50)
    assert saved_numbers.as_text(data) is None
    monkeypatch.setattr(npy_arrays, "LARGEST", 700)
    assert npy_arrays.arrays_in(data) == {}
    monkeypatch.setattr(npy_arrays, "LARGEST", 400)
    assert npy_arrays.arrays_in(data) == {}
    monkeypatch.setattr(printed_values, "MOST", 2)
    assert printed_values.printed([1.0, 2.0, 3.0]) is None
    assert saved_numbers.text_of(tmp_path / "none.npy", data) is None


def test_a_likelihood_is_driven_up(tmp_path: Path) -> None:
    """Its negative is the loss, where it says of which data it is: else it may be of samples."""
    np.save(tmp_path / "val_log_likelihoods.npy", -FALLING)
    assert read(tmp_path / "val_log_likelihoods.npy").curve("eval_loss").value[0] == 2
    np.save(tmp_path / "log_likelihoods.npy", -FALLING)
    assert set(read(tmp_path / "log_likelihoods.npy").history.metrics) == {"column 1"}


def _noisy(level: float, rows: int = 60) -> np.ndarray[Any, Any]:
    return level * np.random.default_rng(int(level * 1000)).uniform(0.8, 1.2, rows)


def test_columns_at_levels_of_their_own_are_curves_side_by_side(tmp_path: Path) -> None:
    """Some jump up and others down from one to the next: no epoch begins so."""
    columns = [_noisy(level) for level in (2.0, 0.5, 1.5, 0.02)]
    np.save(tmp_path / "val_loss.npy", np.stack(columns, axis=1))
    run = read(tmp_path / "val_loss.npy")
    assert run.state.done_steps == len(columns[0])
    for number, column in enumerate(columns, 1):
        assert run.curve(f"eval_loss_{number}").value.tolist() == column.tolist()


@pytest.mark.parametrize(
    "levels",
    [
        pytest.param((1.0, 1.01, 0.99, 1.02), id="batches of one epoch in each row"),
        pytest.param((2.0, 0.9, 0.4, 0.1), id="all fall, as epochs may"),
        pytest.param((2.0, 0.5), id="both data"),
    ],
)
def test_columns_of_one_thing_stay_as_they_are(tmp_path: Path, levels: tuple[float, ...]) -> None:
    """Whatever they are of, none is called by a number."""
    np.save(tmp_path / "val_loss.npy", np.stack([_noisy(one) for one in levels], axis=1))
    runs = read_all(tmp_path / "val_loss.npy")
    assert not any(name.endswith("_1") for run in runs for name in run.history.metrics)


def test_trainings_with_a_name_are_no_curves_of_one(tmp_path: Path) -> None:
    """The lists of each stand behind what it was trained with."""
    lists = [_noisy(level).tolist() for level in (2.0, 0.5, 1.5, 0.02)]
    text = "".join(f"run {'abcd'[n]}: {some}\n" for n, some in enumerate(lists))
    (tmp_path / "loss.txt").write_text(text)
    runs = read_all(tmp_path / "loss.txt")
    assert {name for run in runs for name in run.history.metrics} == {"train_loss"}
