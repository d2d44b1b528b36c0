"""A log decoded in parts says what it says in one piece."""

import json
import math
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runlens.sources import json_columns, trainer_state
from runlens.sources.reading import SourceReading

NUMBERS = st.one_of(st.integers(-(2**70), 2**70), st.floats(allow_nan=False, allow_infinity=False))
ODD: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, "}, {", '"}], [{', [1, {"a": 2}, {"b": 3}], {"c": {}}, "0.5"]
)
NAMES = st.sampled_from(
    ["loss", "eval/loss", "grad_norm", "épreuve", "train_runtime", 'a"b', "a\\b", "a\n", ""]
)
ROWS = st.lists(
    st.one_of(
        st.fixed_dictionaries({"step": st.integers(0, 9), "epoch": NUMBERS, "loss": NUMBERS}),
        st.fixed_dictionaries({"step": NUMBERS}).flatmap(
            lambda row: st.dictionaries(NAMES, NUMBERS | ODD).map(lambda more: row | more)
        ),
        ODD,
    ),
    max_size=30,
)


def read(text: str) -> SourceReading:
    """Read a state that holds this log."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "trainer_state.json"
        path.write_text(text)
        return trainer_state.read(path)


@given(ROWS, st.sampled_from([None, 2]), st.integers(1, 90))
def test_parts_of_a_log_say_what_the_whole_says(
    log: list[Any], indent: int | None, size: int
) -> None:
    """However it is cut: through rows within rows, and texts that look like the end of one."""
    text = json.dumps({"log_history": log, "global_step": 9}, indent=indent)
    with pytest.MonkeyPatch.context() as patch:
        whole = read(text)
        patch.setattr(json_columns, "PART", size)
        parted = read(text)
    assert [one[1:] for one in parted.problems] == [one[1:] for one in whole.problems]
    assert parted.hints == whole.hints
    assert parted.series.keys() == whole.series.keys()
    for name, series in whole.series.items():
        for mine, other in zip(parted.series[name], series, strict=True):
            np.testing.assert_array_equal(mine, other)


def test_rows_of_known_names_come_as_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """With NaN for what a row lacks; a name that is new, or no number, makes its part dicts."""
    rows: list[dict[str, Any]] = [{"step": n, "loss": n / 8} for n in range(40)]
    rows[20], rows[30]["loss"] = {"step": 20, "eval_loss": 1.0}, "0.5"
    data = msgspec.json.encode(rows)
    monkeypatch.setattr(json_columns, "PART", len(data) // 10)
    state = json_columns.in_parts(BytesIO(b'{"log": ' + data + b"}"), "log", frozenset())
    assert state is not None
    found = state["log"]
    kinds = [type(part) for part in found]
    assert kinds.count(list) == 3  # the first, that with the new name, that with the text
    assert len(found) >= 8
    columns = [part for part in found if isinstance(part, dict)]
    assert sum(len(part["step"]) for part in columns) > 20
    assert math.isnan(columns[-1]["eval_loss"][0])


ROW = {"step": 1, "loss": 0.5}
LOG = json.dumps([ROW | {"step": step} for step in range(1, 41)])


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        (f'{{"log_history": {LOG}, "trial": {LOG}}}', 40),  # a list behind it, as long
        (f'{{"trial": {LOG}, "log_history": {LOG}}}', 40),  # before it
        (f'{{"trial": {{"log_history": {LOG}}}, "global_step": 40}}', 0),  # within something else
        (f'{{"log_history": [{{"step": 1, "loss": 1}}], "log_history": {LOG}}}', 40),  # twice
        (f'{{"log_history": {LOG}, "log_history": [{{"step": 1, "loss": 1}}]}}', 40),
        (f'{{"log_history": {LOG}', 40),  # cut
        (f'{{"log_history": {LOG}}} and more', 40),
        (f'{{"log_history": {LOG[:-1]}, {{"step": 41, "loss": NaN}}]}}', 41),
        ('{"log_history": []}', 0),
        ('{"log_history": [7, {"step": 1, "loss": 1}]}', 1),
    ],
)
@pytest.mark.parametrize("size", [20, 100, 500, 2**18])
def test_states_of_any_order(
    text: str, steps: int, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However little is held at once."""
    monkeypatch.setattr(json_columns, "PART", size)
    reading = read(text)
    found = reading.series.get("loss")
    assert (0 if found is None else len(found.step)) == steps
