"""History rows decoded many at once: whatever is in them, what was logged comes back."""

import json
import math
import random
import tracemalloc
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import numpy as np
import pytest

from runlens.sources.reading import as_number
from runlens.sources.wandb_dir import (
    keys as wandb_keys,
)
from runlens.sources.wandb_dir import (
    log as wandb_log,
)
from runlens.sources.wandb_dir import (
    numbers as wandb_numbers,
)
from runlens.sources.wandb_dir import (
    proto as wandb_proto,
)
from runlens.sources.wandb_dir import (
    rows as wandb_rows,
)
from runlens.sources.wandb_dir import (
    walk as wandb_walk,
)
from runlens.sources.wandb_dir.chunks import BLOCK
from runlens.sources.wandb_dir.contents import Contents
from runlens.sources.wandb_dir.history import History
from runlens.sources.wandb_dir.log import Log
from runlens.sources.wandb_dir.rows import Column, without_nulls
from tests.sources.wandb_files import HISTORY, SUMMARY, framed, items, message

NAMES = [
    *("loss", "a", "train/loss", "sixteen_letters_", "k.with.dot", "sp ace", "über/\U0001f600"),
    *("", "x" * 40, "y" * 66, "z" * 127, "long/" + "w" * 200),
]
VALUES: list[Any] = [
    *(0, -7, 1.5, -0.25, 1e-30, 5e-324, 1.7976931348623157e308, 2**53 + 1, 10**20, 10**400, -0.0),
    *(math.nan, math.inf, -math.inf, None, True, False, "text", "NaN", " 7 ", "x" * 300, "", "-"),
    *([1, 2], [], {}, {"a": 1, "b": {"c": 2.5, "d": math.nan}}, {"_type": "image-file", "w": 64}),
    *({"deep": {"_type": "histogram", "bins": [1]}, "n": None}, {"list": [{"a": 1}], "k": "0.5"}),
]
ODD_JSON = [
    b"",
    b"1e400",
    b"-1e400",
    b"01",
    b"1,2",
    b"1]",
    b"-",
    b"1.",
    b"{",
    b"[1",
    b"nan",
    b"\xff",
]

Rows = list[dict[str, list[Any]]]

Row = list[tuple[tuple[str, ...], bytes]]  # the path of a key, and JSON text


def drawn(seed: int, count: int = 120) -> list[Row]:
    """Draw rows of named JSON texts: usual ones, odd ones, a key twice, levels of keys."""
    rng = random.Random(seed)
    made = []
    for step in range(count):
        row: Row = [(("_step",), b"%d" % step), (("lr",), repr(1e-4 * rng.random()).encode())]
        for name in rng.sample(NAMES, rng.randrange(len(NAMES))):
            text = json.dumps(rng.choice(VALUES)).encode()
            path = (name, *rng.sample(["p", "q", "r" * 30, ""], rng.choice([0, 0, 0, 1, 3])))
            row.append((path, rng.choice(ODD_JSON) if rng.random() < 0.1 else text))
        if rng.random() < 0.1:
            row.append(row[-1])
        rng.shuffle(row)
        made.append(row if rng.random() < 0.95 else [])
    return made


def encoded(row: Row, rng: random.Random) -> bytes:
    """Encode a row in the form of the old or of the newer SDKs, with or without its step."""
    nested = rng.random() < 0.5
    found = []
    for path, text in row:
        key = [(2, k) for k in path] if nested or len(path) > 1 else [(1, path[0])]
        found.append((1, message(*key, (16, text))))
    tails: list[list[tuple[int, bytes]]] = [
        [],
        [(2, b"")],
        [(2, message((1, 70_000)))],
        [(2, message((1, 5))), (200, b"info")],
        [(200, b"i" * 300)],
        [(7, b"not known")],
    ]
    return message(*found, *rng.choice(tails))


def numbers(path: tuple[str, ...], value: Any) -> Iterator[tuple[tuple[str, ...], float]]:
    """Yield what of a value is a number, the plain way; null is NaN."""
    if isinstance(value, dict):
        for key, inner in value.items() if "_type" not in value else ():
            yield from numbers((*path, key), inner)
    elif value is None:
        yield path, math.nan
    elif (number := as_number(value)) is not None:
        yield path, number


def expected(rows: list[Row]) -> dict[str, list[tuple[int, float]]]:
    """Return the columns that a plain loop with Python's json finds."""
    columns: dict[str, list[tuple[int, float]]] = {}
    for number, row in enumerate(rows):
        for path, text in row:
            try:
                value = json.loads(text or b"null")
            except ValueError:
                continue
            for inner, found in numbers(path, value):
                columns.setdefault(".".join(inner), []).append((number, found))
    return columns


def log_of(rows: list[Row], seed: int) -> bytes:
    """Write rows as a log, with summaries and records of other kinds between them."""
    rng = random.Random(seed)
    records = []
    for number, row in enumerate(rows, start=1):
        records.append(message((1, number), (SUMMARY, items({"loss": 0.5}, nested=True))))
        head: list[tuple[int, int | bytes]] = [(1, number << rng.choice([0, 7, 20]))]
        head = rng.choice([head, head, [], [(16, b"control"), *head]])
        records.append(
            message(*head, (HISTORY, encoded(row, rng)), *rng.choice([[], [(19, b"uuid")]]))
        )
    return framed(records)


def contents(data: bytes) -> Contents:
    """Read a log."""
    found = Contents()
    for records in Log(BytesIO(data)).batches():
        found.take(records)
    return found


def same(columns: dict[str, Column], wanted: dict[str, list[tuple[int, float]]]) -> None:
    """Assert that the columns hold these rows and values, nulls as NaN."""
    assert columns.keys() == wanted.keys()
    for name, rows in wanted.items():
        assert columns[name].row.tolist() == [row for row, _ in rows], name
        values = np.array([value for _, value in rows])
        assert np.array_equal(columns[name].value, values, equal_nan=True), name


@pytest.mark.parametrize("seed", range(6))
def test_all_that_was_logged_comes_back(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers, text, media, levels, missing and repeated items: as a plain loop reads them."""
    monkeypatch.setattr(wandb_log, "PIECE", 2 * BLOCK)
    rows = drawn(seed)
    found = contents(log_of(rows, seed))
    assert found.rows.count == len(rows)
    assert found.malformed == 0
    same(found.rows.columns(), expected(rows))


@pytest.mark.parametrize("seed", range(6, 9))
def test_the_careful_way_says_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Record by record and value by value comes out what comes out in bulk."""
    rows = drawn(seed)
    data = log_of(rows, seed)
    in_bulk = contents(data).rows.columns()
    monkeypatch.setattr(wandb_walk, "MOST_ITEMS", -1)
    monkeypatch.setattr(wandb_numbers, "LONGEST", -1)
    careful = contents(data).rows.columns()
    assert in_bulk.keys() == careful.keys()
    for name, column in in_bulk.items():
        for one, other in zip(column, careful[name], strict=True):
            assert np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    same(careful, expected(rows))


def test_nearly_all_rows_are_decoded_in_bulk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows as the SDKs write them never take the careful way, which is slow."""

    def refuse(_data: bytes) -> None:
        raise AssertionError

    monkeypatch.setattr(wandb_rows, "items", refuse)
    rows = [{"loss": 1 / (n + 1), "_step": n, "text": "x" * 200, "null": None} for n in range(300)]
    records = [
        message((1, n), (HISTORY, items(row, nested=bool(n % 2)) + message((2, message((1, n))))))
        for n, row in enumerate(rows)
    ]
    found = contents(framed(records)).rows.columns()
    assert found["loss"].value.tolist() == [1 / (n + 1) for n in range(300)]
    assert found["null"].null.all()


def test_many_keys_and_many_items(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys that share the sum by which they are looked up are told apart; so are 3,000 in a row."""
    monkeypatch.setattr(wandb_walk, "MOST_ITEMS", 500)
    monkeypatch.setattr(wandb_keys, "_FACTORS", np.zeros(8, dtype=np.uint64))
    wide = {f"key/{number}": number / 7 for number in range(3000)}
    few = {f"other/{number}": number / 3 for number in range(40)}
    rows = [wide, few, {"other/7": 1.0}, few]
    data = framed([message((1, n), (HISTORY, items(row))) for n, row in enumerate(rows)])
    found = contents(data).rows.columns()
    assert found.keys() == wide.keys() | few.keys()
    assert [found[name].value.tolist() for name in wide] == [[value] for value in wide.values()]
    assert found["other/7"].row.tolist() == [1, 2, 3]
    assert found["other/7"].value.tolist() == [7 / 3, 1.0, 7 / 3]


def test_media_in_several_items_are_no_numbers() -> None:
    """An image of the newer releases, a level down, is left out; what lies beside it is not."""
    row = message(
        *(
            (1, message((2, "eval"), (2, "sample"), (2, key), (16, json.dumps(value))))
            for key, value in {"_type": "image-file", "width": 64}.items()
        ),
        (1, message((2, "eval"), (2, "score"), (16, "0.5"))),
    )
    found = contents(framed([message((1, 1), (HISTORY, row))])).rows.columns()
    assert found.keys() == {"eval.score"}


def test_typed_values() -> None:
    """The typed values of the newest schema are read, though no release is known to write them."""
    fields: list[tuple[str, bytes]] = [
        ("none", message((3, 1))),
        ("no", message((4, 0))),
        ("yes", message((4, 1))),
        ("whole", message((5, 13))),  # zigzag
        ("double", b"\x31" + np.float64(0.1).tobytes()),
        ("text", message((7, "0.5"))),
        ("json", message((8, '{"a": 2}'))),
    ]
    row = message(*((1, message((2, key)) + value) for key, value in fields))
    found = contents(framed([message((1, 1), (HISTORY, row))])).rows.columns()
    values = {name: column.value.tolist() for name, column in found.items()}
    assert math.isnan(values.pop("none")[0])
    assert values == {"whole": [-7.0], "double": [0.1], "text": [0.5], "json.a": [2.0]}


@pytest.mark.parametrize(
    "row",
    [
        b"\x0a\x05\x0a\x01",  # ends inside an item
        b"\x0a\xff\xff\xff\xff\x7f",  # a length beyond everything
        items({"a": 1})[:-1],
        message((1, b"\x0b")),  # a wire type that is not
    ],
)
def test_rows_that_are_no_message(row: bytes) -> None:
    """A row that cannot be decoded is counted, and has no place among the rows."""
    good = message((1, 1), (HISTORY, items({"loss": 1.0})))
    found = contents(framed([good, message((1, 2), (HISTORY, row)), good]))
    assert found.malformed == 1
    assert found.rows.columns()["loss"].row.tolist() == [0, 1]


@pytest.mark.parametrize("size", [0, 1, 127, 128, 16_383, 16_384, 2**21, 2**28])
def test_lengths(size: int) -> None:
    """Lengths of one to five bytes; what is longer than four is left to the careful way."""
    data = wandb_proto_varint(size) + bytes(600)
    value, after = wandb_walk.Buffer(data).lengths(np.array([0]))
    long = size >= 2**28
    assert value.tolist() == [wandb_walk.TOO_LONG if long else size]
    assert long or after.tolist() == [wandb_proto.varint(data, 0)[1]]


def wandb_proto_varint(size: int) -> bytes:
    """Encode a length."""
    return message((1, size))[1:]


def test_a_key_of_many_levels_and_records_of_high_numbers() -> None:
    """What is beyond the usual forms is read with care."""
    deep = message((1, message(*((2, f"l{n}") for n in range(20)), (16, "1.5"))))
    records = [message((1, 2**60), (HISTORY, deep)), message((1, 2), (HISTORY, items({"a": 2.0})))]
    found = contents(framed(records)).rows.columns()
    assert {name: column.value.tolist() for name, column in found.items()} == {
        ".".join(f"l{n}" for n in range(20)): [1.5],
        "a": [2.0],
    }


def test_only_long_keys() -> None:
    """Keys too long for the table are looked up by their bytes."""
    rows = [{"k" * 80: n / 3, "m" * 90: n} for n in range(5)]
    data = framed([message((1, n + 1), (HISTORY, items(row))) for n, row in enumerate(rows)])
    found = contents(data).rows.columns()
    assert found["k" * 80].value.tolist() == [n / 3 for n in range(5)]
    assert found["m" * 90].value.tolist() == [0, 1, 2, 3, 4]


def test_typed_values_that_no_schema_has() -> None:
    """Fields that are not known say nothing."""
    row = message((1, message((2, "a"), (12, 5), (9, "x"))), (1, message((2, "b"), (16, "2"))))
    found = contents(framed([message((1, 1), (HISTORY, row))])).rows.columns()
    assert found["a"].null.tolist() == [True]
    assert found["b"].value.tolist() == [2]


def test_records_that_are_no_message() -> None:
    """They are counted; an empty one says nothing; the others are read."""
    good = message((1, 1), (HISTORY, items({"loss": 1.0})))
    bad = [b"\x08\x01\xff", b"\x12\x7f", b"\x10\x80", b"", message((2**30, b"x"))]
    found = contents(framed([good, *bad, good]))
    assert (found.records, found.malformed) == (7, 4)
    assert found.rows.count == 2


def test_the_closing_row_is_looked_for_in_summaries() -> None:
    """A run that logs train_runtime in each row has not come to its end by that."""
    row = message((1, 1), (HISTORY, items({"train_runtime": 5.0})))
    other = message((1, 2), (SUMMARY, items({"loss": 5.0})))
    assert contents(framed([row, other, row])).closing is None
    closing = message((1, 3), (SUMMARY, items({"train_runtime": 5.0})))
    assert contents(framed([row, other, closing, row])).closing == 1


def test_metrics_of_one_row_share_its_step_and_time() -> None:
    """Of a run of 2,000 metrics, each with its own, they took four times the room of the values."""
    rows, wide = 1_000, 200
    at, known = np.arange(rows), np.zeros(rows, dtype=np.bool_)
    names = ["_step", "_timestamp", *(f"layer/{n}" for n in range(wide))]
    columns = {name: Column(at.copy(), np.linspace(1, 2, rows), known) for name in names}
    columns["_step"] = Column(at, at.astype(float), known)
    tracemalloc.start()
    series = History(rows, {name: without_nulls(columns[name], kept=False) for name in columns}, {})
    found = series.series()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(found) == wide
    assert peak < rows * wide * 8
