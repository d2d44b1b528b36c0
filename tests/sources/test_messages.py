"""Messages and exceptions in a log: what becomes of them; the table itself is tested beside."""

from pathlib import Path

import pytest

from runlens.run import Event
from runlens.sources import console
from runlens.sources.console.messages import memory
from runlens.sources.reading import SourceReading

OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.75 GiB."
OVERFLOW = "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536"


def reading(folder: Path, *lines: str) -> SourceReading:
    """Write a log of these lines and read it."""
    path = folder / "train.log"
    path.write_text("\n".join(lines) + "\n")
    return console.read(path)


def messages(read: SourceReading) -> list[Event]:
    """Return the messages of a reading."""
    return [event for event in read.events if event.kind == "message"]


RECORDS = [f"step {n} loss 1.5" for n in range(1, 11)]
FAILED = [
    "Traceback (most recent call last):",
    '  File "/home/me/train.py", line 12, in main',
    "    trainer.train()  # raise KeyboardInterrupt",
    '  File "/venv/lib/python3.11/site-packages/torch/nn/module.py", line 5, in forward',
    "    return x",
]


def test_sizes_of_memory_are_parsed() -> None:
    """Old and new forms of PyTorch's message, all in GiB."""
    new = (
        "CUDA out of memory. Tried to allocate 268.00 MiB. GPU 0 has a total capacity of "
        "23.68 GiB of which 158.81 MiB is free. Of the allocated memory 22.10 GiB is allocated by "
        "PyTorch, and 512.00 MiB is reserved by PyTorch but unallocated."
    )
    old = (
        "CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 15.78 GiB total capacity; "
        "12.00 GiB already allocated; 1.50 GiB free; 13.00 GiB reserved in total by PyTorch)"
    )
    assert memory(new) == {
        "tried_gib": pytest.approx(0.2617, abs=1e-4),
        "total_gib": 23.68,
        "free_gib": pytest.approx(0.1551, abs=1e-4),
        "allocated_gib": 22.1,
        "reserved_gib": 0.5,
    }
    assert memory(old) == {
        "tried_gib": 2.0,
        "total_gib": 15.78,
        "free_gib": 1.5,
        "allocated_gib": 12.0,
        "reserved_gib": 1.0,  # of 13 in total, 12 are in use
    }
    host = "DefaultCPUAllocator: can't allocate memory: you tried to allocate 67600000000 bytes."
    assert memory(host) == {"tried_gib": pytest.approx(62.96, abs=0.01)}


def test_a_fatal_exception_ends_the_log(tmp_path: Path) -> None:
    """The last exception is a hint, with the last frame of the user's own code."""
    read = reading(tmp_path, *RECORDS, *FAILED, OOM)
    fallback, oom = sorted(messages(read), key=lambda event: -int(event.data["row"]))
    assert read.hints.traceback == OOM
    assert fallback.data["frame"] == "train.py:12 in main"
    assert fallback.data["exception"] == OOM
    assert fallback.data["last"]
    assert not fallback.data["handled"]
    assert oom.data["class"] == "oom"
    assert oom.data["tried_gib"] == 2.75
    assert (oom.step, oom.where) == (10, f"{tmp_path / 'train.log'}:16")


def test_an_exception_with_training_after_it_was_handled(tmp_path: Path) -> None:
    """An appended log with a failed start does not say that the run crashed."""
    read = reading(tmp_path, *FAILED, "ValueError: no GPU", *RECORDS)
    (event,) = messages(read)
    assert event.data["handled"]
    assert not event.data["last"]
    assert read.hints.traceback == ""


def test_every_launch_of_a_log_may_end_in_the_same_exception(tmp_path: Path) -> None:
    """What follows is of a program that was started again: it begins as the log did."""
    start = ["2024-01-01 10:00:0{0} - INFO - run 0{0}", "epoch: 0 start, learning rate: 0.0{0}"]
    launches = [
        line
        for number in range(1, 9)
        for line in (*(part.format(number) for part in start), *FAILED, "TypeError: no metrics")
    ]
    read = reading(tmp_path, *launches)
    assert read.hints.traceback == "TypeError: no metrics"
    assert messages(read)[-1].data["last"]
    assert messages(read)[-1].data["count"] == len(launches) / len([*start, *FAILED, ""])


def test_source_lines_in_a_traceback_are_not_searched(tmp_path: Path) -> None:
    """The quoted line names KeyboardInterrupt, nobody interrupted."""
    rows = [event.data["row"] for event in messages(reading(tmp_path, *FAILED, "ValueError: x"))]
    assert rows == [99]


def test_a_chain_of_exceptions_is_one(tmp_path: Path) -> None:
    """The last one of the chain counts."""
    chain = [
        "KeyError: 'a'",
        "",
        "During handling of the above exception, another exception occurred:",
        "",
    ]
    read = reading(tmp_path, *RECORDS, *FAILED, *chain, *FAILED, "ValueError: bad a")
    (event,) = messages(read)
    assert event.data["exception"] == "ValueError: bad a"


def test_the_last_line_alone_may_name_the_exception(tmp_path: Path) -> None:
    """Some captures keep only the last line of a traceback."""
    assert reading(tmp_path, "Exception: no data").hints.traceback == "Exception: no data"


def test_tracebacks_of_two_ranks_cut_through_each_other(tmp_path: Path) -> None:
    """The lines of each rank are put together; the rank that only lost its peer is no cause."""
    lost = "RuntimeError: [gloo] Connection closed by peer"
    both = [text for line in FAILED for text in (f"[rank0]: {line}", f"[rank1]: {line}")]
    read = reading(tmp_path, *RECORDS, *both, f"[rank0]: {lost}", "[rank1]: ValueError: bad batch")
    found = [event.data["exception"] for event in messages(read) if event.data["row"] == 99]
    assert sorted(found) == [lost, "ValueError: bad batch"]
    assert read.hints.traceback == "ValueError: bad batch"


def test_repeats_keep_first_and_last(tmp_path: Path) -> None:
    """A hundred skipped steps are two events and a count."""
    lines = [text for n in range(100) for text in (f"step {n} loss 1.5", OVERFLOW)]
    first, last = messages(reading(tmp_path, *lines))
    assert (first.step, last.step) == (0, 99)
    assert first.data["count"] == last.data["count"] == 100


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("  exitcode  : -9 (pid: 4711)", 137),
        ("run.sh: line 7: 26655 Killed                  python train.py", 137),
        ("> **Killed**", 137),  # in Markdown
        ("[launch.py:325] Process 17 exits with return code = -15", 143),
        ("srun: error: n1: task 0: Exited with exit code 1", 1),
    ],
)
def test_exit_codes(tmp_path: Path, line: str, code: int) -> None:
    """Launchers and shells report codes in their own ways; the shell's way is kept."""
    assert reading(tmp_path, *RECORDS, line).hints.exit_code == code


def test_an_exit_code_before_the_training_is_not_the_runs(tmp_path: Path) -> None:
    """Something else ended with it."""
    assert reading(tmp_path, "make: exit code 2", *RECORDS).hints.exit_code is None


def test_a_launcher_that_ends_the_other_ranks_is_no_cause(tmp_path: Path) -> None:
    """SIGTERM to the other processes follows from the first failure."""
    line = "W0517 api.py:858] Sending process 17 closing signal SIGTERM"
    (event,) = messages(reading(tmp_path, *RECORDS, line))
    assert event.data["class"] == "secondary"


def test_a_list_of_what_may_have_happened_says_nothing_that_did(tmp_path: Path) -> None:
    """Ray names the common reasons for a lost worker in one breath: none of them is known."""
    died = "(raylet) A worker died: connection error code 2. End of file. "
    causes = "Some common causes include: (1) the process was killed by the OOM killer, (2) "
    causes += "ray stop --force was called, or (3) the worker crashed due to SIGSEGV."
    told = {e.data["class"] for e in messages(reading(tmp_path, *RECORDS, died + causes))}
    assert not told & {"known", "kill", "oom"}
    crashed = messages(reading(tmp_path, *RECORDS, "(raylet) the worker crashed due to SIGSEGV."))
    assert [event.data["class"] for event in crashed] == ["known"]
