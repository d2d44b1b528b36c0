"""What a writer wrote as CSV or JSON Lines comes back equal, whatever the numbers and the order."""

import csv
import io
import json
import math
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runlens.sources.reading import Series, SourceReading
from runlens.sources.tables import csv_log, jsonl_log
from runlens.sources.tables.emptied import FEWEST

NAMES = ("loss", "val_loss", "grad_norm", "train/kl", "my column, quoted", "größe_loss")
NUMBERS = st.floats(width=64)
ROW = st.dictionaries(st.sampled_from(NAMES), st.none() | NUMBERS, max_size=len(NAMES))
ROWS = st.lists(ROW, min_size=1, max_size=25).filter(
    lambda rows: any(row.get("loss") is not None for row in rows)
)
quick = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

Row = dict[str, Any]


def logged(rows: list[Row], name: str) -> tuple[list[int], list[float]]:
    """Return the steps and values that were written of one name; row n is at step 10 n."""
    pairs = [(10 * n, row[name]) for n, row in enumerate(rows) if row.get(name) is not None]
    return [step for step, _ in pairs], [value for _, value in pairs]


def assert_came_back(reading: SourceReading, rows: list[Row]) -> None:
    """Compare with what was written, to the last bit."""
    assert not reading.problems
    written = {name for row in rows for name, value in row.items() if value is not None}
    assert set(reading.series) == written
    for name in written:
        steps, values = logged(rows, name)
        found: Series = reading.series[name]
        assert found.step.tolist() == steps
        np.testing.assert_array_equal(found.value, values)
        assert not found.launch.any()


def is_gap_filler(rows: list[Row]) -> bool:
    """Whether NaN comes and goes so often that it only says "not measured here"."""
    return any(
        sum(math.isnan(value) for value in values) * 2 >= len(values) > 0
        for name in NAMES
        for _, values in [logged(rows, name)]
    )


def is_emptied(rows: list[Row]) -> bool:
    """Whether a column has a number in each row and then in none: what a writer makes of NaN."""
    there = [[row.get(name) is not None for row in rows] for name in NAMES]
    return any(
        FEWEST <= sum(some) <= len(rows) - FEWEST and all(some[: sum(some)]) for some in there
    )


def without_gaps(rows: list[Row]) -> list[Row]:
    """Leave out what the readers take as a filler of gaps, or as NaN."""
    return rows if not is_gap_filler(rows) and not is_emptied(rows) else [{"loss": 1.0}]


def test_a_loss_that_ends_empty_is_no_row_that_comes_back() -> None:
    """`tests/sources/test_emptied_losses.py` has it."""
    kept: list[Row] = [{"loss": 0.0}, {"loss": 0.0}, {"loss": 0.0}, {}, {}]
    assert without_gaps(kept) == kept
    assert without_gaps([*kept, {}]) == [{"loss": 1.0}]


@quick
@given(
    rows=ROWS.map(without_gaps),
    order=st.permutations(("step", *NAMES)),
    dialect=st.sampled_from([",", ";", "\t"]),
    end=st.sampled_from(["\n", "\r\n"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    batch=st.integers(1, 30),
)
def test_csv_comes_back(
    tmp_path: Path,
    rows: list[Row],
    order: list[str],
    dialect: str,
    end: str,
    quoting: Any,
    batch: int,
) -> None:
    """As the csv module writes it: any order of the columns, delimiter, quoting, line end."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=dialect, lineterminator=end, quoting=quoting)
    writer.writerow(order)
    for number, row in enumerate(rows):
        cells = {**row, "step": 10 * number}
        writer.writerow("" if cells.get(n) is None else cells[n] for n in order)
    path = tmp_path / "run.csv"
    path.write_text(text.getvalue(), encoding="utf-8", newline="")
    with patch.object(csv_log, "BATCH", batch):
        assert_came_back(csv_log.read(path), rows)


@quick
@given(
    rows=ROWS.map(without_gaps),
    shuffled=st.randoms(use_true_random=False),
    as_text=st.sampled_from([0.0, 0.5, 1.0]),
    batch=st.integers(1, 30),
    end=st.sampled_from(["\n", "\r\n", "\n\n"]),
)
def test_json_lines_come_back(
    tmp_path: Path, rows: list[Row], shuffled: Any, as_text: float, batch: int, end: str
) -> None:
    """As json.dumps writes it, NaN and Infinity too; numbers as texts; keys in any order."""
    lines = []
    for number, row in enumerate(rows):
        items = [("step", 10 * number), ("note", "text, no number"), ("done", False), *row.items()]
        shuffled.shuffle(items)
        lines.append(json.dumps({
            name: str(value) if isinstance(value, float) and shuffled.random() < as_text else value
            for name, value in items
        }))  # fmt: skip
    path = tmp_path / "run.jsonl"
    path.write_text("".join(f"{line}{end}" for line in lines), newline="")
    with patch.object(jsonl_log, "BATCH", batch):
        assert_came_back(jsonl_log.read(path), rows)


@pytest.mark.parametrize("name", ["run.csv", "run.jsonl"])
def test_any_beginning_of_a_file_is_a_beginning_of_the_run(name: str, tmp_path: Path) -> None:
    """A trainer may still be writing: whole rows are there, and no number that was not written."""
    rows: list[Row] = [{"loss": 1 / (n + 3), "val_loss": n / 7} for n in range(4)]
    if name.endswith("csv"):
        lines = [f"{10 * n},{row['loss']!r},{row['val_loss']!r}\n" for n, row in enumerate(rows)]
        whole = "".join(["step,loss,val_loss\n", *lines])
        read = csv_log.read
    else:
        whole = "".join(f"{json.dumps({'step': 10 * n, **row})}\n" for n, row in enumerate(rows))
        read = jsonl_log.read
    path = tmp_path / name
    for cut in range(len(whole) + 1):
        path.write_text(whole[:cut])
        series = read(path).series
        complete = whole[:cut].count("\n") - name.endswith("csv")
        for metric in ("loss", "val_loss"):
            steps, values = logged(rows, metric)
            found = series[metric].value.tolist() if metric in series else []
            assert found == values[: len(found)]
            assert len(found) >= complete
            assert metric not in series or series[metric].step.tolist() == steps[: len(found)]
