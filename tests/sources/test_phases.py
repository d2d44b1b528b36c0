"""Logs that go over from one training to another, which counts to a number of its own."""

from pathlib import Path

import pytest

from tests.sources.run_points import points
from tests.sources.written import runs_of


def _epochs(total: int, row: str, first: int = 1) -> str:
    rows = (f"epoch {n}/{total}  {row.format(2 / n, 1 / n)}\n" for n in range(first, total + 1))
    return "".join(rows)


def _steps(total: int, row: str, last: int = 10) -> str:
    shown = range(total // 10, last * total // 10 + 1, total // 10)
    return "".join(f"  step {n:6,}/{total:,}  {row.format(9 / n, 3 / n)}\n" for n in shown)


ENCODER = "recon_loss={:.4f}  kl={:.4f}"
POLICY = "actor_loss={:.6f}  critic_loss={:.6f}"
UNSAID = "q={:.6f}  v={:.6f}"


def _plans(folder: Path, text: str) -> list[float | None]:
    runs = runs_of(folder, "train.log", text)
    return [run.state.planned_epochs or run.state.planned_steps for run in runs]


@pytest.mark.parametrize(
    ("text", "plans"),
    [
        (_epochs(20, ENCODER) + _steps(30_000, POLICY), [20, 30_000]),
        (_steps(30_000, POLICY) + _epochs(20, ENCODER), [30_000, 20]),
        (_epochs(20, ENCODER) + "now all of it\n" + _epochs(30, "loss={:.4f}"), [20, 30]),
        (2 * (_epochs(20, ENCODER) + _epochs(30, "loss={:.4f}")), [20, 30, 20, 30]),
        (_epochs(20, ENCODER) + _steps(30_000, POLICY, 7), [20, 30_000]),  # it was stopped
        (_epochs(20, ENCODER) + _steps(40, POLICY).replace("step", "epoch"), [20, 40]),
    ],
)
def test_what_counts_to_another_number_is_another_training(
    tmp_path: Path, text: str, plans: list[int]
) -> None:
    """Each has the plan that its own rows name, and no row of another."""
    assert _plans(tmp_path, text) == plans


@pytest.mark.parametrize(
    "behind",
    [
        _steps(30_000, POLICY, 2),  # too few to be told from a remark
        "Testing the model\n" + _steps(30_000, POLICY),
        _steps(30_000, "test_loss={:.6f}  test_acc={:.6f}"),
        _epochs(30, "loss={:.4f}", 12),  # it does not begin there
    ],
)
def test_what_is_behind_the_epochs_is_no_training_of_its_own(tmp_path: Path, behind: str) -> None:
    """Too few rows, an evaluation, a counter that goes on from elsewhere."""
    assert len(_plans(tmp_path, _epochs(20, ENCODER) + behind)) == 1


def test_epochs_that_did_not_come_to_their_end_are_no_phase(tmp_path: Path) -> None:
    """What is counted below them may be within an epoch."""
    text = "".join(_epochs(20, ENCODER).splitlines(keepends=True)[:9])
    assert len(_plans(tmp_path, text + _steps(30_000, POLICY))) == 1


def test_thousands_set_apart_in_what_is_counted_to(tmp_path: Path) -> None:
    """No row counts to 30, as the first digits alone would say."""
    (run,) = runs_of(tmp_path, "train.log", _steps(30_000, POLICY))
    assert (run.state.planned_steps, run.last_step) == (30_000, 30_000)


def test_a_phase_whose_numbers_have_names_that_say_nothing(tmp_path: Path) -> None:
    """Beside one that has a loss its rows come to the end as a training does."""
    text = 2 * _steps(30_000, UNSAID) + _epochs(20, ENCODER)
    *others, last = runs_of(tmp_path, "train.log", text)
    assert [len(points(run, "q")) for run in others] == [10, 10]
    assert set(last.history.metrics) == {"kl", "recon_loss"}
    within = _epochs(2, "loss={:.4f}").replace("\n", "\n" + _steps(300, UNSAID))
    assert len(runs_of(tmp_path, "other.log", within)) == 1


def test_a_phase_below_epochs_without_a_loss(tmp_path: Path) -> None:
    """Its rows are of no epoch, though the one above them is the last that was named."""
    first, second = runs_of(
        tmp_path, "train.log", _epochs(6, "train={:.4f} val={:.4f}") + _steps(30_000, UNSAID)
    )
    assert (first.state.planned_epochs, second.state.planned_steps) == (6, 30_000)
    assert [step for step, _ in points(second, "q")] == [*range(3_000, 30_001, 3_000)]
    within = _epochs(6, "train={:.4f} val={:.4f}").replace("5/6", "6/6")
    between = _steps(300, UNSAID) + "epoch 7/7  train=0.2 val=0.3\n" + _steps(300, UNSAID)
    assert len(runs_of(tmp_path, "other.log", within + between)) == 1
