"""Pickles of plain numbers; nothing in them is called."""

import datetime as dt
import os
import pickle
from collections import OrderedDict, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from runlens import read
from runlens.errors import NothingReadable
from runlens.sources import pickles, printed_values

FALLING = [2 / n for n in range(1, 9)]
RIGHT = [n / 9 for n in range(1, 9)]


class Harmful:
    """Runs a command when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Name what is called."""
        return os.system, ("touch harmed",)


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("name", ["train_loss.txt", "train_loss.pkl"])
def test_a_list_is_called_after_its_file(tmp_path: Path, name: str, protocol: int) -> None:
    """A tuple is one too, and so is one number in a list."""
    path = tmp_path / name
    for saved in (FALLING, tuple(FALLING), [*FALLING, 1, 300, 70_000]):
        path.write_bytes(pickle.dumps(saved, protocol))
        assert read(path).curve("train_loss").value.tolist() == list(saved)
    path = tmp_path / "loss.txt"
    path.write_bytes(pickle.dumps([0.5], protocol))
    assert read(path).curve("train_loss").value.tolist() == [0.5]


@pytest.mark.parametrize("protocol", [2, 4])
def test_a_history_of_keras(tmp_path: Path, protocol: int) -> None:
    """Lists by their names, of which one may stand under two."""
    history = {"loss": FALLING, "val_loss": FALLING[::-1], "val_accuracy": FALLING}
    path = tmp_path / "trainHistoryDict"
    path.write_bytes(pickle.dumps(history, protocol))
    run = read(path)
    assert run.curve("train_loss").value.tolist() == FALLING
    assert run.curve("eval_loss").value.tolist() == FALLING[::-1]
    assert len(run.curve("eval_accuracy")) == 8


def test_the_numbers_of_epochs_lie_at_their_last_batches(tmp_path: Path) -> None:
    """Where names tell both, and each epoch has as many batches; else nothing says where."""
    path = tmp_path / "history.pkl"
    of_epochs = [0.5 + n / 10 for n in range(4)]
    for batches, epochs, some, beside, placed in (
        ("batch_loss", "epoch_loss", FALLING, of_epochs, True),
        ("batch_loss", "epoch_loss", FALLING[:7], of_epochs, False),
        ("batch_loss", "epoch_loss", FALLING, of_epochs[:3], False),
        ("loss", "epoch_loss", FALLING, of_epochs, False),
        ("batch_loss", "mean loss", FALLING, of_epochs, False),
    ):
        path.write_bytes(pickle.dumps({batches: some, epochs: FALLING[:4], "auc": beside}))
        run = read(path)
        assert run.curve("train_loss").value.tolist() == some
        assert run.curve("auc").step.tolist() == ([2, 4, 6, 8] if placed else [])


def test_a_list_that_counts_those_beside_it(tmp_path: Path) -> None:
    """It says their epochs or steps; where it counts not on, or not all, nothing does."""
    path = tmp_path / "history.pkl"
    told = "holds lists in which nothing counts, so each number was read as one row"
    tens = [*range(10, 90, 10)]
    for epoch, beside, counted in (
        (tens, FALLING, True),
        ([0.5 * n for n in range(8)], FALLING, False),
        ([3] * 8, FALLING, False),
        (tens, FALLING[:5], False),
    ):
        path.write_bytes(pickle.dumps({"epoch": epoch, "loss": FALLING, "val_loss": beside}))
        run = read(path)
        assert run.curve("train_loss").value.tolist() == FALLING
        assert (run.curve("train_loss").epoch.tolist() == tens) == counted
        assert any(told in one.text for one in run.problems) == (not counted)
    path.write_bytes(pickle.dumps({"step": tens, "loss": FALLING}))
    assert read(path).curve("train_loss").step.tolist() == tens


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("kind", ["f8", ">f4", "f2"])
def test_numbers_of_numpy_are_numbers(tmp_path: Path, kind: str, protocol: int) -> None:
    """One by one, as PyTorch's ``.item()`` is forgotten, or an array of them."""
    numbers = np.array(FALLING, dtype=kind)
    by_name = {"loss": list(numbers), "val_loss": numbers, "lr": 0.1, "seed": np.int64(3)}
    path = tmp_path / "trainHistoryDict"
    for saved in (by_name, OrderedDict(by_name), defaultdict(list, by_name), {"of": by_name}):
        path.write_bytes(pickle.dumps(saved, protocol))
        run = read(tmp_path)
        assert run.curve("train_loss").value.tolist() == numbers.tolist()
        assert run.curve("eval_loss").value.tolist() == numbers.tolist()
    path = tmp_path / "loss.pkl"
    for array in (numbers, np.asfortranarray(np.stack([numbers, numbers / 2]))[:1]):
        path.write_bytes(pickle.dumps(array, protocol))
        assert read(path).curve("train_loss").value.tolist() == numbers.tolist()


@pytest.mark.parametrize("protocol", [2, 4])
def test_rows_and_pairs_of_curves(tmp_path: Path, protocol: int) -> None:
    """Dicts one behind the other; the curves of both data."""
    path = tmp_path / "history.pkl"
    rows = [{"epoch": n, "loss": value, "tag": "a"} for n, value in enumerate(FALLING)]
    path.write_bytes(pickle.dumps(rows, protocol))
    assert read(tmp_path).curve("train_loss").value.tolist() == FALLING
    path = tmp_path / "loss.pkl"
    path.write_bytes(pickle.dumps((FALLING * 2, FALLING[::-1] * 2), protocol))
    assert read(path).curve("eval_loss").value.tolist() == FALLING[::-1] * 2


class History:
    """What a trainer keeps, as Flower does: pairs that count rounds, beside its weights."""

    def __init__(self) -> None:
        """Keep a loss by round, an accuracy under its name, and what is none of it."""
        self.losses_distributed = list(enumerate(FALLING, 1))
        self.metrics_distributed = {"accuracy": list(enumerate(RIGHT, 1))}
        self.coef_ = FALLING


class Slotted:
    """Attributes without a dict."""

    __slots__ = ("loss",)

    def __init__(self, loss: float) -> None:
        """Take one value."""
        self.loss = loss


@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_what_an_object_keeps_of_a_training(tmp_path: Path, protocol: int) -> None:
    """Its curves alone; its class is not looked up."""
    path = tmp_path / "history.pkl"
    path.write_bytes(pickle.dumps(History(), protocol))
    run = read(path)
    assert run.history.metrics == ("eval_accuracy", "eval_loss")
    assert run.curve("eval_loss").value.tolist() == FALLING
    assert run.curve("eval_accuracy").value.tolist() == RIGHT
    path.write_bytes(pickle.dumps([Slotted(loss) for loss in FALLING], protocol))
    assert read(path).curve("train_loss").value.tolist() == FALLING


@pytest.mark.parametrize(
    "pairs", [[(1, 0.5), (3, 0.4)], [(0.5, 1.0), (0.4, 2.0)], [(1, 2, 3)], [], "ab"]
)
def test_pairs_that_count_nothing_are_none(pairs: object) -> None:
    """Points of a curve have places of their own."""
    assert pickles.as_text(pickle.dumps({"loss": pairs})) is None


@pytest.mark.parametrize("letters", [object, str])
@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_a_table_of_pandas(tmp_path: Path, protocol: int, letters: type) -> None:
    """Its columns of numbers by their names, whichever blocks they lie in."""
    table = pd.DataFrame({
        "epoch": range(1, 9), "tag": list("abcdefgh"), "loss": FALLING, "when": pd.Timestamp(0),
        "val_loss": FALLING[::-1], "val_acc": RIGHT,
    })  # fmt: skip
    table.columns = table.columns.astype(letters)
    path = tmp_path / "history.pkl"
    path.write_bytes(pickle.dumps(table, protocol))
    run = read(path)
    assert run.curve("train_loss").value.tolist() == FALLING
    assert run.curve("eval_loss").value.tolist() == FALLING[::-1]
    path.write_bytes(pickle.dumps(table.iloc[:, [2, 4]], protocol))
    assert read(path).curve("train_loss").value.tolist() == FALLING


class _Blocks:
    """The blocks of a table as pandas wrote them before 1.3."""

    def __init__(self, names: list[str]) -> None:
        """Take the names of two columns."""
        blocks = [{"values": np.array([FALLING, FALLING[::-1]]), "mgr_locs": slice(0, 2, 1)}]
        axes = [pd.Index(np.array(names, dtype=object)), pd.RangeIndex(len(FALLING))]
        self.state: tuple[Any, ...] = axes, [], [], {"0.14.1": {"axes": axes, "blocks": blocks}}

    def __reduce__(self) -> tuple[Any, ...]:
        """Give the state, of four parts."""
        return _Manager, (), self.state


class _Manager:
    """Stands for the class of the blocks."""


class _Early:
    """Stands for a table."""

    def __init__(self, names: list[str]) -> None:
        """Take the names of its columns."""
        self._data = _Blocks(names)


def test_a_table_of_an_early_pandas(tmp_path: Path) -> None:
    """Its blocks lie in a dict, by the version whose state it is; one of data is none."""
    ours = f"c{__name__}\n_Early".encode()
    path = tmp_path / "history.pkl"
    for names in (["train_loss", "valid_loss"], ["age", "height"]):
        told = pickle.dumps(_Early(names), 2).replace(ours, b"cpandas.core.frame\nDataFrame")
        assert (pickles.as_text(told) is not None) is (names[0] == "train_loss")
        path.write_bytes(told if names[0] == "train_loss" else path.read_bytes())
    assert read(path).curve("train_loss").value.tolist() == FALLING
    assert read(path).curve("eval_loss").value.tolist() == FALLING[::-1]


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"age": FALLING, "height": FALLING}),
        pd.DataFrame([FALLING, FALLING]),
        pd.DataFrame({"loss": ["low", "high"]}),
        pd.Series(FALLING, name="loss"),
        pd.DataFrame({"loss": FALLING}).groupby("loss"),
    ],
)
def test_a_table_of_data_is_none(table: object) -> None:
    """What a training was given, by the same library."""
    assert pickles.as_text(pickle.dumps(table)) is None


@pytest.mark.parametrize(
    "code",
    [
        b"cnumpy\ndtype\n(X\x02\x00\x00\x00O8tR.",  # a kind of objects
        b"cnumpy\ndtype\n(X\x02\x00\x00\x00f4tR(K\x03X\x01\x00\x00\x00Ztb.",  # no order of bytes
        b"c_codecs\nencode\n(X\x01\x00\x00\x00aX\x05\x00\x00\x00utf-8tR.",
        b"cos\nsystem\n(X\x01\x00\x00\x00atR.",
        b"cfunctools\npartial\n(X\x01\x00\x00\x00atR(K\x01tR.",
        b"]K\x01b.",  # a list has no state
        b"]K\x01R.",  # nor is it called
        b"cnumpy\nndarray\n.",
        b"cnumpy.core.multiarray\nscalar\n(cnumpy\ndtype\n(X\x02\x00\x00\x00f4tRC\x01atR.",
    ],
)
def test_what_numpy_does_not_write_is_refused(code: bytes) -> None:
    """Whatever the opcodes are."""
    assert pickles.as_text(b"\x80\x03" + code) is None


@pytest.mark.parametrize(
    "value",
    [
        Harmful(),
        [Harmful()],
        np.array([FALLING] * 2).reshape(2, 2, 4),
        np.array([Harmful()]),
        np.zeros((9, 0)),
        np.array(["low"]),
        np.complex64(1),
        np.array(0.5),
        dt.date(2020, 1, 1),
        {"loss": [FALLING]},
        {str(n): FALLING for n in range(1_001)},
        [{"name": "x"}],
        {"loss": "low"},
        [1 << 80],
        [None, True],
        [(1, 2, 3), (1, 2), (1,), (), (1, 2, 3, 4)],
        {"a": 1},
        {1.5},
    ],
)
def test_what_is_more_is_refused_in_a_line(
    tmp_path: Path, value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is never called."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "train_loss.txt"
    path.write_bytes(pickle.dumps(value))
    with pytest.raises(NothingReadable) as said:
        read(path)
    assert "is a pickle of objects, which is not opened" in str(said.value)
    assert not (tmp_path / "harmed").exists()


def test_what_holds_itself_is_read_once() -> None:
    """Its own curves, however deep they seem to lie."""
    whole: dict[str, Any] = {"loss": FALLING}
    whole["again"] = whole
    assert (pickles.as_text(pickle.dumps(whole)) or b"").startswith(b"loss: [2.0, 1.0")
    history = History()
    history.losses_of_all = [history]  # type: ignore[attr-defined]
    assert pickles.as_text(pickle.dumps(history))


def test_a_damaged_or_too_long_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever it was cut; one list under many names is counted each time."""
    data = pickle.dumps({"loss": FALLING, "more": FALLING, "b": [1, None]})
    assert all(pickles.as_text(data[:end]) is None for end in range(len(data)))
    assert pickles.as_text(b"\x80\x02(0.") is None  # an opcode that is not known, behind a mark
    data = pickle.dumps({"loss": FALLING, "more": FALLING})
    assert pickles.as_text(data)
    monkeypatch.setattr(printed_values, "MOST", 15)
    assert pickles.as_text(data) is None
    monkeypatch.setattr(pickles, "LARGEST", len(data) - 1)
    assert pickles.as_text(data) is None


def torch_saved(whole: Any) -> bytes:
    """Return a file as PyTorch wrote it before its archives: of numbers without a tensor."""
    machine = {"protocol_version": 1001, "little_endian": True, "type_sizes": {"int": 4}}
    parts: tuple[Any, ...] = (0x1950A86A20F9469CFC6C, 1001, machine, whole, [])
    return b"".join(pickle.dumps(part, 2) for part in parts)


def test_numbers_that_pytorch_saved(tmp_path: Path) -> None:
    """Behind what it says of itself; objects are refused there as elsewhere."""
    for saved in (FALLING, np.array(FALLING)):
        (tmp_path / "loss.npy").write_bytes(torch_saved(saved))
        assert read(tmp_path / "loss.npy").curve("train_loss").value.tolist() == FALLING
    assert pickles.as_text(torch_saved(FALLING)[:-40]) is None
    assert pickles.as_text(torch_saved(Harmful())) is None
