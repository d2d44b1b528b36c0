"""Rows that count twice: a step that begins anew beside, or below, what goes on."""

from pathlib import Path

from tests.sources.written import run_of


def blocks(epochs: int, *, at_end: int) -> list[str]:
    """Return heads of three numbers, each above a row of both data; some stand at the same one."""
    lines = []
    for epoch in range(epochs):
        for n in (*range(100, 400, 100), at_end):
            loss = 2 / (epoch * 4 + n / 100 + 1)
            lines += [f"epoch: {epoch}, iteration: {n}, step: {epoch * 400 + n}"]
            lines += [
                f"[Train] loss: {loss:.6f}, score: 0.5",
                f"[Dev] loss: {loss:.6f}, score: 0.4",
            ]
            lines += [f"best accuracy performance has been updated: 0.{n} --> 0.{n + 100}"]
    return lines


def test_the_step_that_goes_on_is_the_one_of_the_run(tmp_path: Path) -> None:
    """And what is better than before is no row of its own."""
    run = run_of(tmp_path, "train.log", "\n".join([*blocks(4, at_end=400), ""]))
    loss = run.curve("train_loss")
    assert loss.step[-1] == 1600
    assert len(set(loss.step.tolist())) == len(loss.step)
    assert sorted(run.history.metrics) == ["eval_loss", "eval_score", "score", "train_loss"]


def test_a_second_step_that_does_not_go_on_is_none(tmp_path: Path) -> None:
    """It falls where the first rises: how long an episode was."""
    rows = [f"iter: {n}, steps: {100 + 7 * (n % 5)}, loss: {2 / (n + 1):.5f}" for n in range(1, 30)]
    loss = run_of(tmp_path, "train.log", "\n".join([*rows, ""])).curve("train_loss")
    assert loss.step.tolist() == list(range(1, 30))


def headed(first: int) -> list[str]:
    """Return epochs with a heading, steps of their own and a line that sums them up."""
    lines = []
    for epoch in range(5):
        lines += [f"Starting training epoch {epoch}"]
        lines += [f"Iter: {n} | Loss: {2 / (epoch * 3 + n / 100 + 1):.6f}" for n in (0, 100, 200)]
        lines += [f"Epoch: {epoch + first} complete | Train Loss: 0.5{epoch} | Valid Loss: 0.6"]
    return lines


def test_steps_below_the_heading_of_their_epoch_are_counted_on(tmp_path: Path) -> None:
    """Though a line sums it up; the heading starts no training."""
    run = run_of(tmp_path, "train.log", "\n".join([*headed(0), ""]))
    loss = run.curve("train_loss")
    assert loss.step.tolist() == [200 * e + n for e in range(5) for n in (0, 100, 200)]
    assert run.curve("eval_loss").step.tolist() == [200, 400, 600, 800, 1000]


def test_a_heading_of_another_number_than_the_sum_tells_no_epoch(tmp_path: Path) -> None:
    """One counts from 0 and the other from 1: nothing is counted on by either."""
    run = run_of(tmp_path, "train.log", "\n".join([*headed(1), ""]))
    assert run.curve("eval_loss").epoch.tolist() == [1, 2, 3, 4, 5]
