"""Corners of the miner of logs: what comes seldom, and where it stops."""

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from runlens.sources import console
from runlens.sources.console.mining import mine
from runlens.sources.console.mining.counting import counters, within_epoch
from runlens.sources.console.mining.heads import MAX_HEAD, head
from runlens.sources.console.mining.phrases import phrase
from runlens.sources.console.mining.prefixes import without_prefix
from runlens.sources.console.mining.slots import parts
from runlens.sources.console.records import launches

mined = import_module("runlens.sources.console.mining.layouts")


def points(folder: Path, *lines: str) -> dict[str, list[tuple[int, float]]]:
    """Read a log of these lines."""
    path = folder / "train.log"
    path.write_text("\n".join(lines) + "\n")
    return {
        name: list(zip(some.step.tolist(), some.value.tolist(), strict=True))
        for name, some in console.read(path).series.items()
    }


def names(line: str) -> list[str]:
    """Return what the numbers of a line are called."""
    cut = parts(line)
    return [column.name for column in phrase(cut.text, cut.marks).columns]


def test_of_two_counters_of_one_kind_the_first_counts() -> None:
    """Unless another says that it is global."""
    (one,) = mined.layouts([(n, f"update {n} | round {n + 5} | x: 0.{n}") for n in range(9)], {})
    assert counters(one, *one.array()).step == 0
    (two,) = mined.layouts(
        [(n, f"update {n} | global step {n + 5} | x: 0.{n}") for n in range(9)], {}
    )
    assert counters(two, *two.array()).step == 1


def test_a_bare_number_beside_an_epoch_is_no_counter_of_batches() -> None:
    """Where no total says that it is one."""
    (one,) = mined.layouts([(n, f"epoch {n} {7 + n % 3} | x: 0.{n}") for n in range(9)], {})
    assert counters(one, *one.array()).batch < 0


def test_where_no_epoch_is_known_no_counter_is_of_one() -> None:
    """There is nothing that it could begin anew with."""
    one, none = np.array([1.0, 2.0]), np.array([np.nan, np.nan])
    assert not within_epoch(one, none, one)
    assert within_epoch(one, np.array([3.0, 3.0]), one)  # of one epoch, and it has a total


def test_a_line_that_is_no_head() -> None:
    """It is too long for one."""
    assert head("epoch | " + "loss | " * MAX_HEAD) is None
    assert head("epoch | loss") is not None


def test_logs_of_too_many_layouts(monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes then is left out."""
    monkeypatch.setattr(mined, "MOST_LAYOUTS", 1)
    lines = [(n, f"step {n} loss: 0.{n}" if n % 2 else f"acc: 0.{n}") for n in range(8)]
    (one,) = mined.layouts(lines, {})
    assert len(one.at) == 4


def test_names_that_come_twice_in_a_line() -> None:
    """A split that is said again is not doubled; a counter in brackets is no part of a name."""
    assert names("val loss: 0.5, val loss: 0.6") == ["val loss", "val loss 2"]
    assert names("loss (step): 0.5") == [""]


def test_beginnings_that_are_stamps_in_some_lines_alone() -> None:
    """``[12345:6]`` is no time: the lines keep it."""
    lines = [(0, "[12345:6] loss 0.5"), *((n, f"[10:3{n % 9}] loss 0.{n}") for n in range(1, 20))]
    assert without_prefix(lines)[0][1].endswith("loss 0.5")


def test_a_launch_begins_with_rows_of_another_kind() -> None:
    """An evaluation that stands before its first row."""
    steps = np.array([10, 20, 30, 5, 10, 20])
    assert launches(steps, ["a", "a", "a", "b", "a", "a"]).tolist() == [0, 0, 0, 1, 1, 1]


def test_thousands_in_a_block(tmp_path: Path) -> None:
    """LeRobot counts so."""
    lines = [line for n in range(1, 5) for line in (f"step:{n}K", f"loss: {2 / n}", "")]
    assert [step for step, _ in points(tmp_path, *lines)["loss"]] == [1000, 2000, 3000, 4000]


def test_a_learned_layout_that_has_more_and_lacks_nothing(tmp_path: Path) -> None:
    """It is believed where the known one has some of its rows."""
    known = [f"step {n} loss: {2 / n:.4f}" for n in range(1, 4)]
    more = [f"{n} :: loss = {2 / n:.4f} ; acc = {n / 40:.4f}" for n in range(4, 12)]
    found = points(tmp_path, *known, *more)
    assert len(found["loss"]) >= 8


def test_a_time_where_a_number_stood(tmp_path: Path) -> None:
    """The row is read again as a whole."""
    lines = [f"step {n} loss: {2 / n:.4f} took: {took}" for n, took in ((1, "35"), (2, "1:35"))]
    assert [step for step, _ in points(tmp_path, *lines, "step 3 loss: 0.6 took: 36")["loss"]]


@pytest.mark.parametrize("counter", ["step", "epoch", "phase"])
def test_a_plan_beyond_any_step_is_none(counter: str) -> None:
    """A damaged total has more digits than a number of steps."""
    (row, *_) = mine([(n, f"{counter} {n}/{10**30} | loss 0.{90 - n}") for n in range(1, 30)])
    assert (row.counted.steps, row.counted.epochs) == (-1, -1)


def test_the_share_that_is_done_of_a_task_is_no_score(tmp_path: Path) -> None:
    """It rises by the same from row to row, and begins anew with each task."""
    text = ""
    for run in range(4):
        for n in range(40):
            text += (
                f"Tabu on 2-objective Zakharov ( {2.5 * (n + 1):.2f}%), {n * 0.04:.2f}s gone...\n"
            )
        text += f"Trial {run}: accuracy={0.5 + run / 20:.3f}, cost={9.5 - run:.2f}\n"
    (tmp_path / "train.log").write_text(text)
    series = console.read(tmp_path / "train.log").series
    assert not any("Zakharov" in name for name in series)
    assert {"accuracy", "cost"} <= set(series)
