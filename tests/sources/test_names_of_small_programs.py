"""Names that small programs give to counters and metrics, told by what stands beside them."""

import json
from pathlib import Path

import pytest

from runlens.sources.tables.names import is_log
from tests.sources.written import runs_of


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["episode", "mean_return", "mean_len"], True),
        (["episode", "rating", "length"], False),  # of a series on television
        (["i", "mse", "gn"], True),
        (["i", "mse"], False),  # of samples, it may be
    ],
)
def test_what_only_trainings_measure_beside_a_counter(names: list[str], told: bool) -> None:
    """A return of an episode and a norm of gradients, under whatever words."""
    assert is_log(names) is told


def test_rows_are_counted_by_a_letter(tmp_path: Path) -> None:
    """The norm of the gradients beside it says that these are updates."""
    rows = [{"i": 20 * n, "mse": 1 / n, "gn": 0.3 + 0.1 * (n % 2)} for n in range(1, 11)]
    (run,) = runs_of(tmp_path, "log.jsonl", "\n".join(map(json.dumps, rows)) + "\n")
    assert list(run.curve("grad_norm").step[:2]) == [20, 40]
    assert len(run.curve("train_loss")) == len(rows)
