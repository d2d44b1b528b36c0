"""Corners of what a console log says in words: settings, exceptions, checkpoints."""

from pathlib import Path

import pytest

from runlens.run import UNNAMED, Event
from runlens.sources.console.messages import memory
from runlens.sources.reading import SourceReading
from tests.sources.console_logs import bar, reading, row, steps

BATCH = "  Total train batch size (w. parallel, distributed & accumulation) = 16\n"


NANOGPT = (
    "Overriding config with config/train_shakespeare.py:\n# a small model\n\n"
    "out_dir = 'out-shakespeare'\nbatch_size = 64 # per device\nlearning_rate = 1e-3\n"
    "tokens per iteration will be: 16,384\n"
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            NANOGPT,
            {"out_dir": "out-shakespeare", "batch_size": 64, "learning_rate": 1e-3},
        ),
        ("Overriding config with a.py:\nbatch_size = 64\n", {"batch_size": 64}),
        ("Overriding config with a.py:\na = 5 * 8\nb = 2*3\n", {"a": 40, "b": 6}),
        ("Overriding config with a.py:\na = 5 * n\n", {"a": "5 * n"}),
        ("TrainingArguments(\nmax_steps=10,\nWARNING: cut\nseed=3,\n", {"max_steps": 10}),
        ("TrainingArguments(\nmax_steps=10,\n\nseed=3,\n", {"max_steps": 10, "seed": 3}),
        (BATCH, {"total_train_batch_size": 16}),
        ("Namespace(fp16=True, resume=None)\n", {"fp16": True, "resume": None}),
        (f"$ python train.py --lr 1e-3 {'a' * 50_000}\nOverriding: seed = 3\n", {"seed": 3}),
        ('args:\n{\nargs:\n{\n  "seed": 3\n}\n', {"seed": 3}),
        ('args:\n{\n  "a": "' + "x" * 400_000 + '",\n  "seed": 3\n}\n', {}),
        ('args:\n{\n  "seed": 3,\n', {}),
        ('args:\n{\n  "seed": ?\n}\n', {}),
        ("{'seed': 3,\n 'lr': 0.1}\n", {"seed": 3, "lr": 0.1}),
    ],
    ids=[
        "nanogpt", "nanogpt cut", "products", "no product",
        "arguments broken off", "arguments without an end", "batch",
        "words that are values",
        "a very long line", "a dump in a dump", "a very long dump", "a dump without an end",
        "no dump", "a python dict",
    ],
)  # fmt: skip
def test_settings_of_whole_and_of_broken_dumps(
    text: str, expected: dict[str, object], tmp_path: Path
) -> None:
    """What is whole is a setting, and nothing is made of the rest."""
    rows = "".join(row(n / 40) + bar(n) for n in range(1, 5))
    read = reading(tmp_path, text + rows)
    assert read.config == expected
    assert steps(read) == [1, 2, 3, 4]


# messages and events


def failures(read: SourceReading) -> list[Event]:
    """Return the exceptions that were read."""
    return [event for event in read.events if "exception" in event.data]


HEADER = "Traceback (most recent call last):\n"
STRANGERS = "other words\n" * 30
FRAME = '  File "/home/me/train.py", line 12, in main\n    step()\n'


@pytest.mark.parametrize(
    ("text", "frame"),
    [
        (f"{HEADER}{FRAME}ValueError: bad\n", "train.py:12 in main"),
        (f"{HEADER}ValueError: bad\n", ""),
        (
            f"{HEADER}some other words\n{FRAME}and again\nValueError: bad\n",
            "train.py:12 in main",
        ),
        (
            f"{HEADER}{HEADER}{FRAME}ValueError: bad\n",
            "train.py:12 in main",
        ),
        (f"{HEADER}{FRAME}{STRANGERS}ValueError: bad\n", ""),
    ],
    ids=["whole", "no frames", "strangers within", "two headers", "cut by many lines"],
)  # fmt: skip
def test_an_exception_is_found_in_what_is_left_of_its_traceback(
    text: str, frame: str, tmp_path: Path
) -> None:
    """Once, with the place in the user's own code where that was printed."""
    read = reading(tmp_path, text)
    (event,) = failures(read)
    assert (event.data["exception"], event.data["frame"]) == ("ValueError: bad", frame)
    assert read.hints.traceback == "ValueError: bad"


def test_a_traceback_that_breaks_off_is_told_without_its_name(tmp_path: Path) -> None:
    """It ended the run all the same; what is left of it is kept in the tail of the log."""
    read = reading(tmp_path, row(0.1) + bar(3) + f"{HEADER}    the first frame is lost\n{FRAME}")
    assert [one.text for one in failures(read)] == [f"{UNNAMED}, in main()"]
    assert read.log_tail[-1] == "    step()"


def test_a_checkpoint_whose_name_has_no_step_is_one_each_time(tmp_path: Path) -> None:
    """It has the step that was reached; one that names its step counts once."""
    text = bar(3) + "Saving model checkpoint to out\n" + bar(5) + "Saving model checkpoint to out\n"
    named = "Saving model checkpoint to out/checkpoint-7\n" * 2
    read = reading(tmp_path, row(0.1) + text + named)
    assert [(e.step, e.data["path"]) for e in read.events if e.kind == "checkpoint"] == [
        (3, "out"),
        (5, "out"),
        (7, "out/checkpoint-7"),
    ]


def test_parts_of_a_checkpoint_are_none_of_their_own(tmp_path: Path) -> None:
    """Its weights and its configuration; a number within a path is no step."""
    text = (
        bar(3) + "Saving model checkpoint to /data/2024/out\n"
        "Configuration saved in /data/2024/out/config.json\n"
        "Model weights saved in /data/2024/out/model.safetensors\n"
    )
    read = reading(tmp_path, row(0.1) + text)
    assert [(e.step, e.data["path"]) for e in read.events if e.kind == "checkpoint"] == [
        (3, "/data/2024/out")
    ]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("subprocess.CalledProcessError: '[...]' died with <Signals.SIGKILL: 9>.", 137),
        ("Fatal Python error: Aborted", 134),
        ("train.sh: line 7: 4242 Killed                  python train.py", 137),
        ("exitcode  : -9 (pid: 77)", 137),
    ],
)
def test_a_signal_is_an_exit_code_as_the_shell_counts_it(
    line: str, code: int, tmp_path: Path
) -> None:
    """128 more than the number of the signal."""
    assert reading(tmp_path, row(0.1) + bar(3) + line + "\n").hints.exit_code == code


def test_sizes_of_memory_are_numbers_or_nothing() -> None:
    """What is torn is left out, the others stay."""
    line = (
        "Tried to allocate .. GiB. GPU 0 has a total capacity of 79.15 GiB of which 512 MiB is free"
    )
    assert memory(line) == {"total_gib": 79.15, "free_gib": 0.5}
