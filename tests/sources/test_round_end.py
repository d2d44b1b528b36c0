"""A run of which no record tells the end, but whose rows end at a round number, as plans do."""

import json
from pathlib import Path

import pytest

from runlens import read, read_all
from runlens.run import State


def state(tmp_path: Path, rows: list[str], name: str = "train.log") -> State:
    """Return how the run ended whose log holds rows."""
    path = tmp_path / name
    path.write_text("\n".join(["Loading the data", *rows]) + "\n")
    return read(path).state


def epochs(first: int, last: int) -> list[str]:
    """Return one row an epoch."""
    return [f"Epoch {n} loss: {2 / (n + 1):.4f}" for n in range(first, last + 1)]


def steps(first: int, last: int, every: int) -> list[str]:
    """Return one row each `every` steps."""
    return [f"step {n} loss: {2 / (n + 1):.4f}" for n in range(first, last + 1, every)]


@pytest.mark.parametrize(
    ("rows", "where"),
    [
        (epochs(1, 50), "epoch 50,"),
        (epochs(0, 49), "epoch 50,"),  # counted from 0
        (epochs(1, 120), "epoch 120,"),
        (steps(100, 20_000, 100), "step 20,000,"),
        (steps(0, 9_900, 100), "step 10,000,"),  # the next row would be the number of all
        (steps(19, 1_499, 20), "step 1,500,"),
        (steps(2_048, 100_352, 2_048), "step 100,000,"),  # ended with the rollout that passed it
        (steps(99, 49_995, 99), "step 50,000,"),  # the next row would pass it
    ],
)
def test_a_round_end_is_taken_for_the_plan(tmp_path: Path, rows: list[str], where: str) -> None:
    """It is a guess, and says from what."""
    found = state(tmp_path, rows)
    assert (found.kind, found.sure, found.settled) == ("finished", "guess", "unknown")
    assert where in found.why


@pytest.mark.parametrize(
    "rows",
    [
        epochs(1, 47),
        epochs(1, 4),  # so few are planned as often as not
        epochs(1, 345),
        steps(100, 99_400, 100),
        steps(1_000, 3_000, 1_000),  # each of its rows is round
        steps(2_048, 55_296, 2_048),
    ],
)
def test_other_ends_stay_unknown(tmp_path: Path, rows: list[str]) -> None:
    """Chance would explain them as well."""
    assert state(tmp_path, rows).kind == "unknown"


def test_a_plan_and_an_exception_come_first(tmp_path: Path) -> None:
    """A round number proves nothing where the log itself tells more."""
    planned = [row.replace(" loss", "/200 loss") for row in epochs(1, 100)]
    assert state(tmp_path, planned).kind == "stopped_early"
    died = [
        "Traceback (most recent call last):",
        '  File "a.py", line 1, in <module>',
        "ValueError: x",
    ]
    assert state(tmp_path, [*epochs(1, 100), *died]).kind == "crashed"


def test_a_checkpoint_says_nothing_of_the_end(tmp_path: Path) -> None:
    """They are saved at round steps, whatever was planned."""
    rows = [{"step": n, "loss": 2 / n, "epoch": n / 1000} for n in range(10, 510, 10)]
    path = tmp_path / "checkpoint-500" / "trainer_state.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"log_history": rows, "global_step": 500, "epoch": 0.5}))
    assert read(path).state.kind == "unknown"


def test_each_training_of_a_file_has_its_own_epochs(tmp_path: Path) -> None:
    """The second came to its second epoch, whatever the first came to."""
    path = tmp_path / "metrics.jsonl"
    rows = [*range(10), 0, 1]
    path.write_text(
        "".join(json.dumps({"epoch": n, "train_loss": 2 / (n + 1)}) + "\n" for n in rows)
    )
    first, second = (run.state for run in read_all(path))
    assert (first.done_epochs, second.done_epochs) == (10, 2)
    assert (first.kind, second.kind) == ("finished", "unknown")
