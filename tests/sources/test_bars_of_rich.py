"""The bar of tqdm.rich, which a log shows once, at its end, where no terminal was."""

from pathlib import Path

import pytest

from tests.sources.written import run_of

ROWS = "".join(
    f"Eval num_timesteps={n}, episode_reward={n / 300:.2f} +/- 0.00\nEpisode length: 9.00 +/- 1\n"
    for n in range(2_400, 100_000, 2_400)
)
LINE = "━" * 20
END = "  [ 0:46:37 < 0:00:00 , ? it/s ]\n"


@pytest.mark.parametrize(
    ("bar", "plan"),
    [
        (f" 100% {LINE} 100,352/100,000{END}", 100_000),
        (f"  50% ━━━━━╺{LINE} 99,840/200,000  [ 0:46:37 < 0:46:40 , 35 it/s ]\n", 200_000),
        (f" 100% {LINE} 240,352/240,000{END}", None),  # it came further than the rows
        (f" 100% {LINE} 98,304/98,000{END}" * 2, None),  # of two, neither is the end
        (f" 100% {LINE} 900/900{END}", None),  # of something else
        (f" 100% {LINE} 99,840/100,…{END}", None),  # to how many, was cut
        (f" 100% {LINE} 4.4/4.4 MB 12.3 MB/s eta 0:00:00\n", None),  # pip
    ],
)
def test_the_plan_of_a_bar_that_is_shown_once(tmp_path: Path, bar: str, plan: int | None) -> None:
    """It is that of the run, if it came as far as the next row would have."""
    assert run_of(tmp_path, "train.log", ROWS + bar).state.planned_steps == plan


def test_a_bar_that_came_to_its_end_closes_the_run(tmp_path: Path) -> None:
    """Rollouts are whole, so it may have passed its plan; with few steps it may be of any loop."""
    state = run_of(tmp_path, "train.log", f"{ROWS} 100% {LINE} 100,352/100,000{END}").state
    assert (state.kind, state.done_steps) == ("finished", 100_352)
    few = "".join(f"step {n}: loss {2 / n:.4f}\n" for n in range(1, 40))
    assert run_of(tmp_path, "few.log", f"{few} 100% {LINE} 40/40{END}").state.planned_steps is None


def test_a_bar_above_the_rows_is_of_something_else(tmp_path: Path) -> None:
    """What was read, or built, before the training began."""
    text = f" 100% {LINE} 100,352/100,000{END}{ROWS}"
    assert run_of(tmp_path, "train.log", text).state.planned_steps is None
