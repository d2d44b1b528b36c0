"""Tensors in a pickle, of which no more is read than their numbers: nothing named is called.

The test writes them as PyTorch does, under names that stand for its own functions.
"""

import pickle
import struct
import sys
from io import BytesIO
from math import prod
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from runlens import read
from runlens.sources import pickles

FALLING = [2 / n for n in range(1, 9)]
KEPT = [struct.unpack("f", struct.pack("f", value))[0] for value in FALLING]
OF_BYTES, OF_NUMBERS = "_load_from_bytes", "_rebuild_tensor_v2"
CODES = {"FloatStorage": "f", "LongStorage": "q", "BFloat16Storage": "e"}


class Stored:
    """The numbers that tensors are views of."""

    def __init__(self, values: list[float], kind: str = "FloatStorage", said: int = 0) -> None:
        """Take them; another length than theirs may be `said`."""
        self.values, self.kind, self.said = values, kind, said

    def __reduce__(self) -> tuple[Any, ...]:
        """Write a file of PyTorch into the pickle."""
        saved = BytesIO()
        for part in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}):
            saved.write(pickle.dumps(part, 2))
        saved.write(_persistent(self.kind, len(self.values)))
        saved.write(pickle.dumps(["94"], 2))
        saved.write(struct.pack("<q", self.said or len(self.values)))
        saved.write(struct.pack(f"<{len(self.values)}{CODES[self.kind]}", *self.values))
        return getattr(sys.modules["torch.storage"], OF_BYTES), (saved.getvalue(),)


class Tensor:
    """A view of numbers."""

    def __init__(self, stored: Stored, size: tuple[int, ...], *more: Any) -> None:
        """Take them, and how far they lie apart."""
        self.stored, self.size = stored, size
        rows = tuple(prod(size[n + 1 :]) for n in range(len(size)))
        self.offset, self.stride = more or (0, rows)

    def __reduce__(self) -> tuple[Any, ...]:
        """Write what makes it again."""
        made = getattr(sys.modules["torch._utils"], OF_NUMBERS)
        return made, (self.stored, self.offset, self.size, self.stride, False, {})


def _persistent(kind: str, count: int) -> bytes:
    """Return the pickle of a storage: where its bytes lie, no more."""
    storage, key, device = (
        b"X" + struct.pack("<I", len(text)) + text for text in (b"storage", b"94", b"cuda:0")
    )
    named = f"ctorch\n{kind}\n".encode()
    return b"\x80\x02(" + storage + named + key + device + b"K" + bytes([count]) + b"NtQ."


@pytest.fixture(autouse=True)
def names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the names of PyTorch stand for something that a pickle may name."""
    for module, name in (("torch.storage", OF_BYTES), ("torch._utils", OF_NUMBERS)):
        made = ModuleType(module)
        setattr(made, name, type(name, (), {"__module__": module, "__qualname__": name}))
        monkeypatch.setitem(sys.modules, module, made)
    monkeypatch.setitem(sys.modules, "torch", ModuleType("torch"))


@pytest.mark.parametrize("protocol", [2, 4])
def test_a_loss_that_stayed_a_tensor(tmp_path: Path, protocol: int) -> None:
    """Of one number each, or of all; on a GPU or not."""
    path = tmp_path / "train_loss.pkl"
    alone = [Tensor(Stored([value]), ()) for value in FALLING]
    together = Tensor(Stored([9.0, *FALLING]), (8,), 1, (1,))
    for saved in (alone, together, {"loss": alone}):
        path.write_bytes(pickle.dumps(saved, protocol))
        assert read(path).curve("train_loss").value.tolist() == KEPT


def test_rows_of_tensors(tmp_path: Path) -> None:
    """Beside numbers; whole ones stay numbers too."""
    path = tmp_path / "all_metrics.pkl"
    rows = [
        {"epoch": n, "accuracy": Tensor(Stored([n * n], "LongStorage"), (1,)), "loss": 1 / n}
        for n in range(1, 9)
    ]
    path.write_bytes(pickle.dumps(rows))
    assert read(path).curve("train_accuracy").value.tolist() == [n * n / 100 for n in range(1, 9)]
    table = Tensor(Stored([1.5, 2.5, 3.5, 4.5, 5.5, 6.5]), (2, 3))
    assert pickles.as_text(pickle.dumps(table)) == b"[1.5, 2.5, 3.5]\n[4.5, 5.5, 6.5]\n"


def test_tensors_that_are_not_what_they_say() -> None:
    """A kind or an order that is not known, another length, fewer numbers: nothing is guessed."""
    for tensor in (
        Tensor(Stored(FALLING, "BFloat16Storage"), (8,)),
        Tensor(Stored(FALLING, said=9), (8,)),
        Tensor(Stored(FALLING), (9,)),
        Tensor(Stored(FALLING), (4,), 0, (2,)),
    ):
        assert pickles.as_text(pickle.dumps(tensor)) is None
