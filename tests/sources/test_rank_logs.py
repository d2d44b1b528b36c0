"""Logs of one run in several files: stdout beside stderr, and a file for each rank."""

from pathlib import Path

import pytest

import runlens
from runlens.run import Event, Run
from tests.sources.run_points import points

FAILED = [
    "Traceback (most recent call last):",
    '  File "/home/me/train.py", line 12, in main',
    "    trainer.train()",
]
OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.75 GiB."
ABORTED = "RuntimeError: NCCL communicator was aborted on rank 0."


def step_lines(rank: int = 0) -> list[str]:
    """Return twelve rows with the time at which they were printed."""
    return [
        f"2024-01-01 00:00:{n:02d} - INFO - step {n} loss {4 - n / 10:.2f} rank {rank}"
        for n in range(1, 13)
    ]


def written(folder: Path, files: dict[str, list[str]]) -> Path:
    """Write logs into a folder."""
    for name, some in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(some) + "\n")
    return folder


def message(run: Run, row: int) -> Event:
    """Return the only message of a row."""
    (event,) = [e for e in run.events if e.kind == "message" and e.data["row"] == row]
    return event


LOSS = [(n, round(4 - n / 10, 2)) for n in range(1, 13)]


@pytest.mark.parametrize(
    ("out", "err"),
    [
        ("stdout.log", "stderr.log"),
        ("train.out", "train.err"),
        ("stdout", "stderr"),
        ("slurm-17.out", "slurm-17.err"),
        ("logs/job_17.out", "logs/job_17.err"),
        ("stdout.txt", "stderr.txt"),
    ],
)
def test_stdout_and_stderr_are_one_run(tmp_path: Path, out: str, err: str) -> None:
    """The rows stand in one file, the exception in the other."""
    error = ["2024-01-01 00:00:13 - ERROR - failed", *FAILED, OOM]
    run = runlens.read(written(tmp_path, {out: step_lines(), err: error}))
    assert points(run) == LOSS
    event = message(run, 1)
    assert event.where == f"{err}:5"
    assert event.data["last"]
    assert run.state.kind == "crashed"


RANKS = {
    "by-rank": ("rank_0.log", "rank_1.log"),
    "numbered-streams": ("stderr.0", "stderr.1"),
    "workers": ("worker_0.err", "worker_3.err"),
    "torchelastic": ("attempt_0/0/stderr.log", "attempt_0/1/stderr.log"),
    "slurm-tasks": ("log_node0_rank0.txt", "log_node0_rank1.txt"),
}


@pytest.mark.parametrize("names", RANKS.values(), ids=RANKS)
def test_the_logs_of_all_ranks_are_one_run(tmp_path: Path, names: tuple[str, str]) -> None:
    """Each rank prints the same rows; the error of each is kept, with its file and line."""
    first, second = names
    files = {
        first: [*step_lines(), *FAILED, ABORTED],
        second: [*step_lines(), *FAILED, OOM],
    }
    run = runlens.read(written(tmp_path, files))
    assert points(run) == LOSS
    assert message(run, 26).where == f"{first}:16"
    assert message(run, 1).where == f"{second}:16"
    assert message(run, 1).step == 12


def test_a_message_keeps_its_time(tmp_path: Path) -> None:
    """The stamp of the line that says it."""
    killed = "2024-01-01 00:00:20 - slurmstepd: error: *** JOB 17 CANCELLED DUE TO TIME LIMIT ***"
    files = {"train.log": step_lines(), "train.err": [killed]}
    event = message(runlens.read(written(tmp_path, files)), 10)
    assert event.time == 1704067220.0


def test_a_torchelastic_folder_with_both_streams_of_two_ranks(tmp_path: Path) -> None:
    """Rank 0 prints the rows, rank 1 the error that ended the run."""
    files = {
        "run_1/attempt_0/0/stdout.log": step_lines(),
        "run_1/attempt_0/0/stderr.log": [*FAILED, ABORTED],
        "run_1/attempt_0/1/stderr.log": [*FAILED, OOM],
    }
    run = runlens.read(written(tmp_path, files))
    assert points(run) == LOSS
    assert {e.data["row"] for e in run.events if e.kind == "message"} >= {1, 26}
    assert run.state.kind == "crashed"


def test_logs_of_two_runs_stay_two(tmp_path: Path) -> None:
    """Other numbers at the same steps are another run."""
    other = [line.replace("loss 3", "loss 7").replace("loss 2", "loss 6") for line in step_lines()]
    files = {"a/train.log": step_lines(), "b/train.log": other}
    assert len(runlens.read_all(written(tmp_path, files))) == 2
