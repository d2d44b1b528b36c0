"""Numbers that a program saved without a text: pickles, and the arrays of NumPy."""

import re
from pathlib import Path
from typing import Any

import numpy as np

from runlens.history import FloatArray
from runlens.patterns import lazy_re
from runlens.sources import npy_arrays, pickles
from runlens.sources.console.telling import tells
from runlens.sources.files import SNIFFED, Unreadable, read_bytes
from runlens.sources.printed_values import MOST, WIDEST, printed
from runlens.sources.reading import MAX_STEP
from runlens.sources.tables.unnamed import FEWEST, of_log

BEGINS = (*pickles.BEGINS, *npy_arrays.BEGINS)
PAIR = 2  # axes, and columns: a step and its value
ENDINGS = {".pkl", ".pickle", ".npy", ".npz"}
_LIST = lazy_re(rb"\s*\[\s*[^\s{]")  # of numbers: one of objects is read by their keys
_NUMBERED = lazy_re(r"arr_\d+")  # as np.savez calls arrays without a name
_HISTORY = lazy_re(r"(?:.*_)?(?:train)?hist(?:ory)?(?:_?dict)?(?:_.*)?", re.IGNORECASE)


def as_text(data: bytes, *, named: bool = True) -> bytes | None:
    """Return the numbers in such bytes as they would be printed; None where they hold others.

    An array with two axes is some curves where its file is `named` after what was measured.
    """
    if data.startswith(pickles.BEGINS):
        return pickles.as_text(data)
    if objects := npy_arrays.objects_in(data):
        return pickles.as_text(objects)
    if table := npy_arrays.table_in(data):
        return printed({name: _listed(column) for name, column in table.items()})
    arrays = npy_arrays.arrays_in(data)
    if sum(values.size for values in arrays.values()) > MOST:
        return None
    if "" in arrays:
        lone = arrays[""].ravel() if arrays[""].size == 1 else arrays[""]
        if _is_counted(lone):
            lines = (f"{at:.0f} {one!r}\n" for at, one in zip(*lone.T.tolist(), strict=True))
            return "".join(lines).encode()
        read = _is_curve(lone) or (named and _are_curves(lone))
        return printed(_listed(lone)) if read else None
    lists = {name: _listed(some) for name, some in arrays.items() if some.ndim == 1}
    unnamed = len(lists) > 1 and all(map(_NUMBERED.fullmatch, lists))
    return (printed([*lists.values()]) if unnamed else None) or printed(lists)


def _is_curve(values: FloatArray) -> bool:
    """Whether an array is a curve, or the two of the data of training and of held-out ones."""
    return values.ndim == 1 or values.shape[1:] == (1,) or values.shape[:-1] == (2,)


def _are_curves(values: FloatArray) -> bool:
    """Whether an array is a few curves, one in each row, or narrow with one in each column."""
    if values.ndim != PAIR:
        return False
    rows, width = values.shape
    return bool(0 < rows < width or 1 < width <= WIDEST < rows)


def _is_counted(values: FloatArray) -> bool:
    """Whether each value of an array, shape (n, 2), stands behind a whole number that rises.

    Whole numbers behind such ones are labels, or counts: nothing tells what of.
    """
    if values.ndim != PAIR or values.shape[1] != PAIR or len(values) < FEWEST:
        return False
    step, value = values.T
    whole = bool((np.floor(step) == step).all() and (step >= 0).all() and (step < MAX_STEP).all())
    return whole and bool((np.diff(step) > 0).all() and (value != np.floor(value)).any())


def _listed(values: FloatArray) -> Any:  # noqa: ANN401 - lists in lists
    """Return an array as lists: counts and labels as whole numbers."""
    whole = bool(np.isfinite(values).all()) and bool((values == np.floor(values)).all())
    return (values.astype(np.int64) if whole else values).tolist()


def why_refused(data: bytes) -> str:
    """Say what such bytes hold that is not read."""
    return pickles.REFUSED if data.startswith(pickles.BEGINS) else npy_arrays.REFUSED


def text_of(path: Path, head: bytes) -> bytes | None:
    """Return the numbers in a file whose first bytes are given; None where it holds others."""
    if not head.startswith(BEGINS):
        return None
    try:
        data = read_bytes(path, npy_arrays.LARGEST + 1)
        return as_text(data, named=may_be(path))
    except Unreadable:
        return None


def may_be(path: Path) -> bool:
    """Whether a file is called as what a training left: ``losses.npy``, ``trainHistoryDict``.

    Or as its log, of JSON that is a list: of numbers, it may be.
    """
    name = path.name
    if path.suffix.lower() == ".json" and of_log(path.stem):
        try:
            return _LIST.match(read_bytes(path, SNIFFED)) is not None
        except Unreadable:
            return False
    stem = path.stem if path.suffix.lower() in ENDINGS else name
    whole = path.suffix.lower() in ENDINGS or not path.suffix
    return whole and (_HISTORY.fullmatch(stem) is not None or (stem != name and tells(stem)))
