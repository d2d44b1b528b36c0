"""Arrays of numbers as NumPy saves them: ``losses.npy``, the members of an ``.npz`` archive.

Arrays of objects are pickles, of which no more is read than `pickles` does; what an array's header
promises is asked before anything is unpacked.
"""

import re
import struct
import zlib
from io import BytesIO
from math import prod
from typing import IO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile

import numpy as np

from runlens.history import FloatArray
from runlens.patterns import lazy_re
from runlens.sources.files import Unreadable

BEGINS = (b"\x93NUMPY", b"PK\x03\x04")  # an array, an archive of some
LARGEST = 64 * 2**20  # bytes of an archive, and of an array
MOST_ARRAYS = 64  # in an archive
LISTED = b"PK\x01\x02"  # how an entry in the archive's list of contents begins
UNPACKED = (ZIP_STORED, ZIP_DEFLATED)  # others unpack without a bound
REFUSED = "is a file of NumPy without a curve in it: one array of numbers for each metric is read"
# how NumPy begins an array: its later versions are for headers that no array of numbers has
_HEADER = lazy_re(
    rb"\x93NUMPY\x01\x00..\{'descr': '(?P<dtype>.(?P<kind>[A-Za-z])\d*)', "
    rb"'fortran_order': (?:False|(?P<by_column>True)), 'shape': \((?P<shape>[\dL, ]*)\), \} *\n",
    re.DOTALL,
)
# a table of named columns, each of single numbers: a structured array
_COLUMNS = lazy_re(
    rb"\x93NUMPY\x01\x00..\{'descr': \[(?P<columns>(?:\('[^'\\]+', '[<>|][biuf]\d+'\)(?:, )?)+)\], "
    rb"'fortran_order': (?:False|True), 'shape': \((?P<rows>\d+),\), \} *\n",
    re.DOTALL,
)
_COLUMN = lazy_re(rb"\('([^']+)', '([^']+)'\)")
_HEAD = 10  # bytes of it before its text, of which the last two say its length
_NUMBERS = (b"b", b"i", b"u", b"f")
_OBJECTS = b"O"
# what damage makes of an archive, an entry, a header
DAMAGE = (
    BadZipFile, EOFError, KeyError, MemoryError, NotImplementedError, OSError, OverflowError,
    RuntimeError, TypeError, ValueError, struct.error, zlib.error,
)  # fmt: skip


def array_in(file: IO[bytes], length: int, key: str) -> FloatArray:
    """Return the array in a file of so many bytes; raise Unreadable, or what `DAMAGE` lists."""
    head = file.read(_HEAD)
    known = _HEADER.fullmatch(head + file.read(int.from_bytes(head[-2:], "little")))
    if not known:
        raise ValueError(key)
    if known["kind"] not in _NUMBERS:
        raise Unreadable(f"has {key} that are no numbers, which are not opened")
    dtype = np.dtype(known["dtype"].decode())
    shape = [int(size) for size in re.findall(rb"\d+", known["shape"])]
    size = prod(shape) * dtype.itemsize
    if size != length - file.tell():
        raise Unreadable(f"has {key} of another size than its header says")
    values = np.frombuffer(file.read(size), dtype)  # without a size, all of it is unpacked
    return values.reshape(shape, order="F" if known["by_column"] else "C").astype(np.float64)


def objects_in(data: bytes) -> bytes | None:
    """Return the pickle in an ``.npy`` of objects, as of a dict; else None."""
    end = _HEAD + int.from_bytes(data[_HEAD - 2 : _HEAD], "little")
    known = _HEADER.fullmatch(data[:end])
    return data[end:] if known and known["kind"] == _OBJECTS else None


def arrays_in(data: bytes) -> dict[str, FloatArray]:
    """Return the arrays in a file, by their names; that of an ``.npy`` has none.

    Those that hold anything but numbers are left out; all of a damaged file.
    """
    if len(data) > LARGEST or data.count(LISTED) > MOST_ARRAYS:
        return {}
    try:
        if columns := _columns_in(data):
            return columns
        if data.startswith(BEGINS[0]):
            return {"": array_in(BytesIO(data), len(data), "")}
        with ZipFile(BytesIO(data)) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > LARGEST:
                return {}
            names = [name for name in archive.namelist() if name.endswith(".npy")]
            found = {name.removesuffix(".npy"): _member(archive, name) for name in names}
    except (Unreadable, *DAMAGE):
        return {}
    return {name: some for name, some in found.items() if some is not None}


def _columns_in(data: bytes) -> dict[str, FloatArray]:
    """Return the columns of a structured array by their names; {} for other files."""
    end = _HEAD + int.from_bytes(data[_HEAD - 2 : _HEAD], "little")
    known = _COLUMNS.fullmatch(data[:end])
    if not known:
        return {}
    fields = [(name.decode(), kind.decode()) for name, kind in _COLUMN.findall(known["columns"])]
    table = np.frombuffer(data[end:], np.dtype(fields))
    if len(table) != int(known["rows"]):
        raise ValueError(fields)
    return {name: table[name].astype(np.float64) for name, _ in fields}


def _member(archive: ZipFile, name: str) -> FloatArray | None:
    entry = archive.getinfo(name)
    if entry.compress_type not in UNPACKED:
        return None
    with archive.open(entry) as file:
        try:
            return array_in(file, entry.file_size, name)
        except (Unreadable, *DAMAGE):
            return None
