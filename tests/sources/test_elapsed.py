"""Rows that count nothing: launches told by the time they took; lines of threads beside them."""

from pathlib import Path

import pytest

from runlens import read_all
from runlens.sources.console.elapsed import seconds, starts
from runlens.sources.console.ranks import without_threads

FORMS = (
    "INFO:root:Time {h:02}h {m:02}m {s:02}s, Avg Reward {r}, Avg Ep length 23.5",
    "elapsed: {h}:{m:02}:{s:02} | mean reward {r} | max reward 2",
    "Return: {r} Time: {t}s Length: 20.5",
)


def rows(form: str, launches: tuple[int, ...]) -> list[str]:
    """Return so many rows of each launch, one every 130 seconds."""
    lines = []
    for count in launches:
        for n in range(1, count + 1):
            t = 130 * n
            said = {"h": t // 3600, "m": t % 3600 // 60, "s": t % 60, "t": t, "r": n / 100}
            lines.append(form.format(**said))
    return lines


def points(folder: Path, lines: list[str]) -> list[int]:
    """Return how many rewards each training of a log has."""
    path = folder / "train.log"
    path.write_text("\n".join([*lines, ""]))
    return [len(run.curve("reward")) for run in read_all(path)]


@pytest.mark.parametrize("form", FORMS)
def test_a_time_that_falls_back_is_a_new_launch(tmp_path: Path, form: str) -> None:
    """However it is written."""
    assert points(tmp_path, rows(form, (20, 12, 30))) == [20, 12, 30]


def test_lines_of_threads_are_beside_the_rows_of_all(tmp_path: Path) -> None:
    """What they count says nothing of where these stand."""
    lines = rows(FORMS[0], (20, 30))
    thread = (
        "INFO:root:Training thread: {} Num iters: 1K Avg policy loss: -0.3{} Avg value loss: 0.6{}"
    )
    lines[10:10] = [thread.format(n, n, n) for n in range(8)]
    assert points(tmp_path, lines) == [20, 30]


def test_threads_stay_where_nothing_else_is_the_training() -> None:
    """Where they are more, or where the other rows count themselves."""
    threads = [f"worker 3 step {n} loss 0.{n}" for n in range(6)]
    counted = [f"step {n} loss 0.{n}" for n in range(9)]
    for lines in (threads, [*threads, "reward 0.5"], [*threads, *counted]):
        others = list(enumerate(lines))
        assert without_threads(others) == others


def test_times_that_begin_nothing_anew() -> None:
    """Those of a day, of one row, and rows without one."""
    of_day = [f"Time 0{9 + n // 30 if n < 30 else 0}:{n % 60:02}:10 loss 2" for n in range(40)]
    of_row = [f"loss 2 time {1 + n % 3 / 10}s" for n in range(40)]
    assert not starts(of_day)
    assert not starts(of_row)
    assert not starts([*rows(FORMS[2], (9, 9)), "reward 3"])
    assert not starts(["Time: 5s"] * 8)
    assert not starts(rows(FORMS[2], (2, 2)))
    assert seconds("time per batch") is None
