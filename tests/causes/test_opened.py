"""The last file that a log opened before the loss was lost."""

import math
from dataclasses import replace

import pytest

from runlens import diagnose
from runlens.causes import opened
from runlens.rules.rule import drawn
from runlens.run import Run

LOST_AT = 41


def _log(opens: str, every: int, lost: int = LOST_AT) -> Run:
    """Return a run with a row each 20 steps, a line before each `every`-th, and NaN from a row."""
    losses, lines = {}, []
    for row in range(lost + 8):
        if row % every == 0:
            lines.append(opens.format(row // every))
        losses[20 * row] = math.nan if row >= lost else 0.3 + 0.01 * (row % 3)
        lines.append(f"step={20 * row:05d} loss=({losses[20 * row]:f}) dt=1.{row % 10}ms")
    points = " ".join(f"{at}:{value}" for at, value in losses.items())
    run = drawn("lost", noise=0.0, task="other", train_loss=f"/20 {points}").run()
    return replace(run, log_tail=tuple(lines))


def test_a_file_opened_two_rows_before_is_told() -> None:
    """Both stand in the reasons of the batch, with no more weight than chance allows."""
    run = _log("[data] opened donor_{:02d}.npz (300 cells)", 10)
    told = "the log says that donor_04.npz was opened 2 rows before"
    assert opened.before(run) == told
    batch = next(one for one in diagnose(run).causes if one.kind == "bad-batch")
    assert told in batch.evidence_for


@pytest.mark.parametrize(
    ("opens", "every", "lost"),
    [
        ("[data] opened donor_{:02d}.npz", 10, 46),  # long before
        ("[data] opened donor_{:02d}.npz", 2, LOST_AT),  # any row is near one
        ("saved weights to model_{:02d}.npz", 10, LOST_AT),
        ("[data] opened the door {}", 10, LOST_AT),
    ],
)
def test_no_other_line_is_told(opens: str, every: int, lost: int) -> None:
    """Long before, before every second row, weights, and no file at all."""
    assert opened.before(_log(opens, every, lost)) == ""


def test_a_log_without_a_row_before_says_nothing() -> None:
    """A tail that begins behind the first lost row does not tell what came before it."""
    run = _log("[data] opened donor_{:02d}.npz", 10)
    assert opened.before(replace(run, log_tail=run.log_tail[-6:])) == ""
    assert opened.before(replace(run, log_tail=())) == ""
