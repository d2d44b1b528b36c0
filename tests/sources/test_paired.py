"""Tables without names in which scores and losses go against each other."""

from pathlib import Path

import numpy as np
import pytest

from runlens import Run, read_all
from runlens.errors import NothingReadable
from runlens.history import FloatArray

ROWS = 120


def rows(learns: float = 0.4, *, against: float = -0.4, seed: int = 0) -> FloatArray:
    """Return a score and a loss of a training, and of held-out data: shape (ROWS, 4)."""
    rng = np.random.default_rng(seed)
    pairs = []
    for share in (1.0, 0.5):
        score = np.clip(0.5 + share * learns * np.linspace(0, 1, ROWS), 0, 1)
        off = rng.normal(0, 0.05, ROWS)
        loss = 0.5 - share * 0.8 * learns * np.linspace(0, 1, ROWS) + against * off
        pairs += [np.clip(score + off, 0, 1).round(2), loss + rng.normal(0, 0.004, ROWS)]
    return np.stack(pairs, axis=1)


def written(path: Path, lines: list[str]) -> list[Run]:
    """Read the lines."""
    path.write_text("\n".join(lines) + "\n")
    return read_all(path)


def columns(run: Run) -> set[str]:
    """Return the names of what was read."""
    return {*run.history.metrics}


def cells(row: FloatArray) -> str:
    """Return a row as text."""
    return ",".join(f"{value:.4g}" for value in row)


def test_a_log_of_two_trainings_in_turn(tmp_path: Path) -> None:
    """Each is named by the word in its rows, and a time goes on through both."""
    lines = [
        f"model-{1000 + k},{1.6e9 + 100 * (ROWS * k + n):.3f},{cells(row)} "
        for k in range(2)
        for n, row in enumerate(rows(seed=k))
    ]
    runs = written(tmp_path / "model.log", lines)
    assert [run.name.rpartition(" ")[2] for run in runs] == ["model-1000", "model-1001"]
    for run in runs:
        assert {"train_loss", "train_accuracy", "eval_loss", "eval_accuracy"} <= columns(run)
        assert len(run.curve("train_loss").value) == ROWS
    assert "taken for" in " ".join(problem.text for run in runs for problem in run.problems)


def test_a_counter_a_score_and_its_loss(tmp_path: Path) -> None:
    """The counter is the step."""
    table = rows()[:, :2]
    (run,) = written(tmp_path / "out.csv", [f"{n},{cells(row)}" for n, row in enumerate(table)])
    assert columns(run) == {"train_loss", "train_accuracy"}
    assert run.curve("train_loss").step.tolist() == list(range(ROWS))


def test_the_loss_may_come_first(tmp_path: Path) -> None:
    """Which is the score is told by its course."""
    table = rows()[:, [1, 0, 3, 2]]
    (run,) = written(tmp_path / "out.csv", [cells(row) for row in table])
    assert run.curve("train_loss").value[0] == pytest.approx(table[0, 0], abs=1e-3)
    assert run.curve("eval_accuracy").value[-1] == pytest.approx(table[-1, 3], abs=1e-3)


@pytest.mark.parametrize(
    "table",
    [
        pytest.param(rows(against=0.4), id="both rise and fall together"),
        pytest.param(rows(learns=0.0), id="nothing rises"),
        pytest.param(rows() - 0.5, id="below 0"),
        pytest.param(rows() * [30, 1, 30, 1], id="decibels"),
        pytest.param(rows() * [0, 1, 1, 1] + [0.5, 0, 0, 0], id="a share that stands"),
        pytest.param(rows()[:19], id="few"),
        pytest.param(rows()[:, :3], id="three columns"),
        pytest.param(
            np.stack([np.linspace(0.3, 0.9, ROWS), np.linspace(0.1, 0.01, ROWS)], axis=1),
            id="a share that rises beside a rate that falls, at no time against each other",
        ),
    ],
)
def test_others_are_not_named(tmp_path: Path, table: FloatArray) -> None:
    """Their columns are numbered."""
    (run,) = written(tmp_path / "out.csv", [cells(row) for row in table])
    assert all(name.startswith("column ") for name in columns(run))


def test_two_times_tell_nothing(tmp_path: Path) -> None:
    """One of them may be something else."""
    lines = [f"{1.6e9 + n:.1f},{1.6e9 + n:.1f},{cells(row)}" for n, row in enumerate(rows())]
    (run,) = written(tmp_path / "out.csv", lines)
    assert not any("loss" in name for name in columns(run))


def test_words_that_come_back_name_no_trainings(tmp_path: Path) -> None:
    """All rows are of one."""
    lines = [f"{'ab'[n % 2]},{1.6e9 + n:.1f},{cells(row)}" for n, row in enumerate(rows())]
    (run,) = written(tmp_path / "out.csv", lines)
    assert len(run.curve("train_loss").value) == ROWS


def test_a_log_that_is_no_table_has_no_pairs(tmp_path: Path) -> None:
    """Nor does a long word cost time."""
    (tmp_path / "odd.log").write_text('a,"b\n' + "c" * 200_000 + "\n")
    with pytest.raises(NothingReadable):
        read_all(tmp_path)
