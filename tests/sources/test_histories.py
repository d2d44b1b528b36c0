"""A history that was saved as Python prints it, in a file of any name."""

from pathlib import Path

import numpy as np
import pytest

from runlens.sources import console


@pytest.mark.parametrize(
    "text",
    [
        "{'loss': [1.5, 0.25, nan], 'val_loss': [1.25, 0.5, 0.75]}",
        "history = {'loss': [1.5, 0.25, None],\n 'val_loss': [1.25, 0.5, 0.75]}\n",
        "defaultdict(<class 'list'>, {'loss': [1.5, 0.25, nan], 'val_loss': [1.25, 0.5, 0.75]})",
        '{"loss": [1.5, 0.25, nan],\n"val_loss": [1.25, 0.5, 0.75]}',
    ],
)
def test_a_printed_history_has_a_row_for_each_value(tmp_path: Path, text: str) -> None:
    """As Keras' ``str(history.history)`` and a dict of lists leave it; NaN stays NaN."""
    path = tmp_path / "log_train.txt"
    path.write_text(text)
    read = console.read(path)
    np.testing.assert_equal(read.series["loss"].value, [1.5, 0.25, np.nan])
    assert read.series["val_loss"].value.tolist() == [1.25, 0.5, 0.75]


@pytest.mark.parametrize(
    "text",
    [
        "{'loss': [1.5, 0.25], 'val_loss': [1.25]}",  # of other lengths: where is each?
        "{'name': ['a', 'b'], 'loss': ['c', 'd']}",
        "{'width': [640, 320], 'height': [480, 240]}",  # no training
        "{'loss': [1.5, __import__('os').getcwd()]}",
        "{'loss': [1.5, 0.25]",
        "{[1.5, 0.25]}",
        "[" * 5_000 + "{'loss': [1.5, 0.25]}",
        "{'a': " + "[" * 5_000 + "]" * 5_000 + "}",
    ],
)
def test_what_is_none_has_no_values(tmp_path: Path, text: str) -> None:
    """Nothing in it is run, and nothing is guessed."""
    path = tmp_path / "log_train.txt"
    path.write_text(text)
    read = console.read(path)
    assert not any(len(series.value) > 1 for series in read.series.values())
