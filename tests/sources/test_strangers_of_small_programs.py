"""Ways of printing that logs of strangers had: each with one that looks like it and is not."""

import json
from pathlib import Path

import pytest

from runlens import read_all
from runlens.run import Run
from runlens.sources.console.text import cleaned

COUNT = range(1, 31)


def run_of(folder: Path, *lines: str) -> Run:
    """Write a log of one training and read it."""
    (folder / "train.log").write_text("\n".join([*lines, ""]), encoding="utf-8")
    (run,) = read_all(folder / "train.log")
    return run


def steps(run: Run, name: str) -> list[int]:
    """Return the steps of a metric."""
    return [int(step) for step in run.curve(name).step]


@pytest.mark.parametrize(("said", "plan"), [("--total=9000", 9000), ("--totals=9000", None)])
def test_games_that_learn_by_differences(tmp_path: Path, said: str, plan: int | None) -> None:
    """TDL2048 names the games of its command, and their mean score since the row before."""
    block = "{n}000\tavg = {a}, max = 7050, ops = 18693 (12|38)\n\t6\t100%\t(0.2%)\n"
    rows = [block.format(n=n, a=650 + n) for n in range(1, 10)]
    run = run_of(tmp_path, f"Threes! Demo: ./threes --play=alpha=0.003 {said} --block=1000", *rows)
    assert run.curve("reward").value.tolist() == [650 + n for n in range(1, 10)]
    assert steps(run, "reward") == [1000 * n for n in range(1, 10)]
    assert run.state.planned_steps == plan


def test_another_statistic_of_a_game(tmp_path: Path) -> None:
    """The mean alone, with tabs around it, as an older release prints."""
    rows = [f"{n}000\tmean = {n}.5\tmax = 99" for n in range(1, 10)]
    assert run_of(tmp_path, *rows).curve("reward").value[-1] == 9.5


@pytest.mark.parametrize("pressed", ["^[[B", "^[[1;5C"])
def test_a_key_that_was_pressed_in_a_terminal(tmp_path: Path, pressed: str) -> None:
    """It stands in letters before the row that was printed next."""
    rows = [f"Episode {n}\tLast length: {n}\tAverage length: {n}.5" for n in range(5)]
    rows[2] = pressed + rows[2]
    assert steps(run_of(tmp_path, *rows), "Average length") == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("text", [b"^[[A-Z]{3}$", b"^[[0-9]+", b"2^[[", b"a[[B"])
def test_what_is_no_key_is_left(text: bytes) -> None:
    """A regular expression, for one."""
    assert cleaned(text)[0] == text


ROW = "  step={n},000 | critic={a} | actor=0.{n} | loss={a}"


@pytest.mark.parametrize(
    ("said", "end"),
    [
        ("  [EARLY STOP] log_pi > 0.0 at step 30,954. Policy collapsed. Saving.", "stopped_early"),
        ("  [EARLY STOP] no improvement for 9 evaluations", "finished"),
        ("INFO: Stopping training loop, no improvement since epoch 6, Loss: 0.03", "finished"),
        ("INFO: no improvement since epoch 6, stopping the evaluation", "unknown"),
    ],
)
def test_a_guard_that_saw_a_failure_is_no_patience(tmp_path: Path, said: str, end: str) -> None:
    """A program that gives up says why; one that waited long enough is done."""
    rows = [ROW.format(n=n, a=20 / n) for n in COUNT]
    state = run_of(tmp_path, "  Total steps   : 500,000", *rows, said).state
    assert state.settled == end
    assert state.planned_steps == 500_000


def test_a_guard_of_no_plan(tmp_path: Path) -> None:
    """Nothing says how far it was to go."""
    rows = [ROW.format(n=n, a=20 / n) for n in COUNT]
    assert run_of(tmp_path, *rows, "[EARLY STOP] Policy collapsed").state.settled == "finished"


@pytest.mark.parametrize(
    ("said", "plan"),
    [
        ("  Total steps   : 500,000", 500_000),
        ("total_timesteps=500000, lr=0.1", 500_000),
        ("Total environment steps: 500000", 500_000),
        ("Total steps: 500,0001", None),
        ("Subtotal steps: 500,000", None),
        ("total eval steps: 500,000", None),
    ],
)
def test_all_the_steps_of_a_training(tmp_path: Path, said: str, plan: int | None) -> None:
    """With commas between the thousands; others are of something within it."""
    rows = [ROW.format(n=n, a=20 / n) for n in COUNT]
    assert run_of(tmp_path, said, *rows).state.planned_steps == plan


@pytest.mark.parametrize(
    ("said", "row", "plan"),
    [
        ("max_global_step=4000, lr=4e-06", "epoch 0 | global step {s} | loss {a}", 4000),
        ("max_global_step=4000, num_global_steps: 5000", "epoch 0 | global step {s} | loss {a}", 0),
        ("valid_global_step=4000, lr=4e-06", "epoch 0 | global step {s} | loss {a}", 0),
        ("max_global_step=4000, lr=4e-06", "epoch {n} | loss {a}", 0),
    ],
)
def test_a_plan_in_steps_beside_epochs(tmp_path: Path, said: str, row: str, plan: int) -> None:
    """It says that it counts over all of them, and so do the rows."""
    rows = [row.format(n=n, s=32 * n, a=2 / n) for n in COUNT]
    state = run_of(tmp_path, f"Namespace(config='a.yml', {said})", *rows).state
    assert state.planned_steps == (plan or None)


@pytest.mark.parametrize(
    ("row", "ends"),
    [
        ("INFO - Loss: {a}, Last Reward: 1, Total Steps: 200", (1, 30)),
        ("INFO - Loss: {a}, Last Reward: 1, Total Steps: {s}", (32, 960)),
        ("INFO - epoch {n}, Loss: {a}, Last Reward: 1, Total Steps: 200", (1, 30)),
    ],
)
def test_the_length_of_an_episode_counts_nothing(
    tmp_path: Path, row: str, ends: tuple[int, int]
) -> None:
    """Where nearly all rows have the same; the last episode may be a short one."""
    rows = [row.format(n=n, s=32 * n, a=200 / n) for n in COUNT]
    short = rows[-1].replace("Steps: 200", "Steps: 173")
    run = run_of(tmp_path, *rows[:-1], short)
    found = steps(run, "train_loss")
    assert (found[0], found[-1], len(found)) == (*ends, 30)


BAR = "steps:  {p}%|##    | {s}/800 [00:46<02:44,  3.79it/s, avr_loss={a}]"


@pytest.mark.parametrize(
    ("heading", "points"), [("\nepoch {n}/50", 9), ("", 1), ("\nepoch 7/50", 1)]
)
def test_a_loss_that_stands_still_in_the_bars_of_epochs(
    tmp_path: Path, heading: str, points: int
) -> None:
    """Each bar that a line parts from the next shows one; states that are drawn anew do not."""
    bars = [BAR.format(p=2 * n, s=16 * n, a=0) + heading.format(n=n + 1) for n in range(1, 10)]
    if "7" in heading:
        bars[1:] = [bar.partition("\n")[0] for bar in bars[1:]]
    assert len(run_of(tmp_path, *bars).curve("train_loss")) == points


@pytest.mark.parametrize(("value", "points"), [("NaN", 8), ("{a}", 1)])
def test_iterations_that_begin_anew_with_no_number_to_tell(
    tmp_path: Path, value: str, points: int
) -> None:
    """Each epoch counts its own; where values begin anew too, the rows before are gone."""
    row = "09:54 [main] INFO  o.d.o.l.ScoreIterationListener - Score at iteration {n} is " + value
    rows = [row.format(n=n, a=9 - n / 10) for n in (60, 80, 0, 20, 40, 60, 80, 0)]
    assert len(run_of(tmp_path, *rows).curve("train_loss")) == points


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ("classes (a, b), features ({n}, d), accuracy ({a})", 9),
        ("labels of (a, b), then features ({n}, d), accuracy ({a})", 0),
        ("classes (a, b), features ({n}, d), accuracy ({a} of all)", 0),
    ],
)
def test_what_was_chosen_for_each_training(tmp_path: Path, row: str, found: int) -> None:
    """Each by a name and what it is in parentheses, as the score is; a sentence is none."""
    lines = [row.format(n=9 * one, a=0.5 + n / 100) for n, one in enumerate("pqrstuvwx")]
    (tmp_path / "accuracy.txt").write_text("\n".join(lines))
    runs = [run for run in read_all(tmp_path / "accuracy.txt") if run.history.metrics]
    assert len(runs) == found


@pytest.mark.parametrize("launches", [1, 2])
def test_rows_of_an_evaluation_that_count_their_own_batches(tmp_path: Path, launches: int) -> None:
    """As JSON of mmpose has them, in a file called a log: no epoch is a training for itself."""
    rows = [
        {"mode": "train", "epoch": epoch, "iter": n, "lr": 1e-5, "loss": 1 / (epoch + n)}
        for epoch in range(1, 7)
        for n in range(1, 11)
    ]
    for epoch in (6, 3):
        rows.insert(10 * epoch, {"mode": "val", "epoch": epoch, "iter": 3, "lr": 1e-5, "AP": 0.1})
    text = "\n".join(map(json.dumps, rows * launches)) + "\n"
    (tmp_path / "training.log").write_text(text)
    runs = read_all(tmp_path / "training.log")
    assert len(runs) == launches
    for run in runs:
        assert run.curve("train_loss").step.tolist() == list(range(1, 61))
        assert run.curve("AP").step.tolist() == [30, 60]


BOX = "-------------\n| loss | 0.{n} |\n| mse_q1 | 0.0{n} |\n| step | {step} |\n-------------"


@pytest.mark.parametrize(
    ("step", "read"),
    [("2.39e+06", [1, 2, 3]), ("{n}00", [100, 200, 300])],
    ids=("rounded", "whole"),
)
def test_boxes_of_diffusion_loops(tmp_path: Path, step: str, read: list[int]) -> None:
    """Those of OpenAI round the step to three digits: where it is the same in all, none counts."""
    rows = [BOX.format(n=n, step=step.format(n=n)) for n in (1, 2, 3)]
    run = run_of(tmp_path, "creating model and diffusion...", *rows)
    assert run.curve("train_loss").value.tolist() == [0.1, 0.2, 0.3]
    assert steps(run, "train_loss") == read
    assert run.framework != "stable-baselines3"


def test_a_single_box_is_at_its_step(tmp_path: Path) -> None:
    """Nothing says that it does not count."""
    assert run_of(tmp_path, BOX.format(n=1, step=300)).curve("train_loss").step.tolist() == [300]
