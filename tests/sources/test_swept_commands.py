"""Launches of a sweep in one log, each below the command that started it."""

from pathlib import Path

import pytest

from runlens.sources import read_all
from runlens.sources.console.commands import differ, options

CALL = "##### python rnn_lm.py {} >> sweep.log\n"


def _log(tmp_path: Path, *calls: str, on: bool = False) -> Path:
    """Write a log of launches whose losses begin anew, or go on."""
    text = ""
    for launch, call in enumerate(calls):
        begun = 6 * launch if on else 0
        rows = range(1, 7)
        text += CALL.format(call)
        text += "".join(f"iter={n * 50} nll={1 + 2 / (n + begun + 1):.4f}\n" for n in rows)
    (tmp_path / "sweep.log").write_text(text)
    return tmp_path


@pytest.mark.parametrize("on", [False, True])
@pytest.mark.parametrize(
    "calls",
    [
        ("--lr 0.1 --cell relu --iters 300", "--lr 0.3 --cell relu --iters 300"),
        ("--lr 1 --cell relu", "--lr 1 --cell gru", "--lr 1 --cell lstm"),
    ],
)
def test_another_value_of_an_option_begins_a_training(
    tmp_path: Path, calls: tuple[str, ...], *, on: bool
) -> None:
    """Each has the options of its own command, whatever its loss begins with."""
    runs = read_all(_log(tmp_path, *calls, on=on))
    assert [run.curve("train_loss").step.tolist() for run in runs] == [
        list(range(50, 301, 50)) for _ in calls
    ]
    for run, call in zip(runs, calls, strict=True):
        told = {key: str(one.value) for key, one in run.config.items()}
        assert options(f"python x.py {call}")["cell"] in told.values()
    assert not any("no epoch says why" in problem.text for run in runs for problem in run.problems)


@pytest.mark.parametrize(
    "second",
    ["--lr 0.1 --iters 300", "--lr 0.1 --iters 600", "--lr 0.05 --iters 300 --resume last.pt"],
)
def test_a_launch_that_may_go_on_does_where_its_loss_does(tmp_path: Path, second: str) -> None:
    """The same command again, one with more time, and one that loads weights."""
    calls = ("--lr 0.1 --iters 300", second, second)
    assert len(read_all(_log(tmp_path, *calls, on=True))) == 1


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        ("--lr 0.1 --bs 8", "--lr 0.3 --bs 8", True),
        ("--lr 0.1 --bs 8", "--lr 0.1 --bs 8", False),
        ("--lr 0.1 --bs 8", "--lr 0.3", False),
        ("--lr 0.1 --load a.pt", "--lr 0.3 --load b.pt", False),
        ("--lr 0.1 --local_rank 0", "--lr 0.1 --local_rank 1", False),
        ("--lr 0.1 --epochs 5", "--lr 0.1 --epochs 9", False),
        ("--lr 0.1 --upload a", "--lr 0.3 --upload a", True),
    ],
)
def test_commands_differ_by_what_bears_on_the_training(
    before: str, now: str, *, expected: bool
) -> None:
    """How long and where it runs does not."""
    both = (options(f"python train.py {one}") for one in (before, now))
    assert differ(*both) is expected
