"""Tables without a header whose columns say by their course what they are: episodes, seconds."""

from collections.abc import Callable
from pathlib import Path

import pytest

from runlens import read

ROWS = 40


def put(folder: Path, name: str, row: Callable[[int], str]) -> Path:
    """Write rows without a header."""
    path = folder / name
    path.write_text("".join(f"{row(n)}\n" for n in range(ROWS)))
    return path


def got(n: int) -> float:
    """Return what an agent got in an episode."""
    return -100.5 + 7 * n + 20 * (n % 3)


def share(n: int) -> float:
    """Return how often it explores."""
    return max(0.05, 0.93**n)


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("scores.csv", lambda n: f"{n},{got(n)},{share(n)}"),
        ("data.csv", lambda n: f"{n + 1};{got(n)};{share(n)}"),
        ("log.csv", lambda n: f"{n},{got(n)},{1 - n / 50}"),
        ("log.csv", lambda n: f"{n},{share(n)},{got(n)}"),
        ("rewards.csv", lambda n: f"{n},{got(n)},{n % 7 + 3},{share(n)}"),
        ("episode_rewards.csv", lambda n: f"{n},{got(n)},{n % 7 + 3}"),
        ("rewards.csv", lambda n: f"{n},{got(n)},{1 - (n // 4 * 4) ** 2 / 5_000}"),
    ],
)
def test_episodes_are_known_by_what_falls_beside_them(
    tmp_path: Path, name: str, row: Callable[[int], str]
) -> None:
    """The rate of exploration, or a file that is called after what was got."""
    run = read(put(tmp_path, name, row))
    curve = run.curve("reward")
    assert curve.value.tolist() == [got(n) for n in range(ROWS)]
    assert curve.step[-1] in {ROWS - 1, ROWS}
    assert run.task == "rl"
    assert any("they were taken for" in problem.text for problem in run.problems)


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("train_log.csv", lambda n: f"{10 * n},{2 / (n + 1)},{6.4 + 0.21 * n}"),
        ("loss.csv", lambda n: f"{n},{0.4 * n + 0.1},{2 / (n + 1)}"),
    ],
)
def test_seconds_rise_from_row_to_row(tmp_path: Path, name: str, row: Callable[[int], str]) -> None:
    """What is left is the loss: it falls, or the file says it."""
    curve = read(put(tmp_path, name, row)).curve("train_loss")
    assert curve.value.tolist() == [2 / (n + 1) for n in range(ROWS)]


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("data.csv", lambda n: f"{n},{got(n)},{n % 7 + 3}"),  # nothing explores
        ("data.csv", lambda n: f"{n},{got(n)},{(0.1 + n % 5) / 9}"),
        ("data.csv", lambda n: f"{n},{got(n)},{share(n) / 100}"),  # a learning rate
        ("data.csv", lambda n: f"{n},{got(n)},{got(n + 1)},{share(n)}"),
        ("scores.csv", lambda n: f"{n},{n % 5 + 3},{n % 7 + 3},{share(n)}"),  # which of the two?
        ("data.csv", lambda n: f"{n},{2 / (n + 1)},{6.4 + 0.21 * n}"),  # no log by its name
        ("train_log.csv", lambda n: f"{n},{n % 3 + 0.5},{6.4 + 0.21 * n}"),  # nothing falls
    ],
)
def test_what_may_be_something_else_is_numbered(
    tmp_path: Path, name: str, row: Callable[[int], str]
) -> None:
    """No name is given to it."""
    run = read(put(tmp_path, name, row))
    assert any("they were numbered" in problem.text for problem in run.problems)


def test_the_kind_of_a_row_names_its_metric(tmp_path: Path) -> None:
    """A long table may call that column ``type``."""
    rows = "".join(f"{n},val_loss,{3 / (n + 1)}\n{n},train_loss,{2 / (n + 1)}\n" for n in range(9))
    (tmp_path / "metrics.csv").write_text(f"step,type,value\n{rows}")
    run = read(tmp_path)
    assert run.curve("train_loss").value[-1] == 2 / 9
    assert run.curve("eval_loss").value[-1] == 3 / 9
