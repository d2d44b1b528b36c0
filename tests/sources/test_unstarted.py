"""Logs of programs that Python or the shell could not start: the run crashed before any step."""

from pathlib import Path

import pytest

from runlens import diagnose, read
from runlens.errors import NothingReadable


@pytest.mark.parametrize(
    "line",
    [
        "python: can't open file 'fit_unet.py': [Errno 2] No such file or directory",
        "/opt/Program Files/bin/python3.11: can't open file '/x/a.py': [Errno 2] No such file",
        "/usr/bin/python3: No module named detector.train",
        "/A/Python.app/MacOS/Python: can't open file '/b/c.py': [Errno 2] No such file",
        "python: Error while finding module specification for 'a.b' (ModuleNotFoundError: ...)",
        "bash: python: command not found",
        "./train.sh: line 4: torchrun: command not found",
        "/bin/sh: 1: python: not found",
        "zsh: command not found: accelerate",
        "bash: run_all.sh: No such file or directory",
        "nohup: failed to run command \u2018python\u2019: No such file or directory",
        "slurmstepd: error: execve(): run.sh: Permission denied",
        "'python' is not recognized as an internal or external command,\noperable program.",
    ],
)
def test_a_program_that_could_not_be_started_crashed(tmp_path: Path, line: str) -> None:
    """Found in a folder, certain, with its words as the reason; what a script says last is more."""
    (tmp_path / "train_output.log").write_text(f"nohup: ignoring input\n{line}\nfinished\n")
    run = read(tmp_path)
    assert (run.state.kind, run.state.sure) == ("crashed", "certain")
    assert run.state.why.startswith(line[:20])
    found = {finding.rule for finding in diagnose(tmp_path).findings}
    assert "crashed" in found or "known-error" in found


def test_the_error_of_another_program_is_told_where_nothing_else_is(tmp_path: Path) -> None:
    """Whether it is that of a training nobody says: a user may point at the file.

    Who points at a folder that holds this one file means it.
    """
    line = "python: can't open file 'fcnn2d.py': [Errno 2] No such file or directory"
    (tmp_path / "nohup.out").write_text(f"{line}\n")
    assert read(tmp_path).state.kind == "crashed"
    (tmp_path / "photo.jpg").write_bytes(b"\xff\xd8")
    with pytest.raises(NothingReadable, match="holds no training but the error of a program") as no:
        read(tmp_path)
    assert "fcnn2d.py" in str(no.value)
    assert read(tmp_path / "nohup.out").state.kind == "crashed"


def test_a_script_without_its_python_is_a_known_error(tmp_path: Path) -> None:
    """The message is of the table."""
    line = "python3.9: can't open file 'go.py': [Errno 2] No such file or directory\n"
    (tmp_path / "training_output.log").write_text(line)
    assert "known-error" in {finding.rule for finding in diagnose(tmp_path).findings}


def test_arguments_that_were_refused_are_a_crash(tmp_path: Path) -> None:
    """Argparse prints its usage, and ends the program."""
    text = "usage: fit.py [-h] [--lr LR]\nfit.py: error: unrecognized arguments: --rate 0.1\n"
    (tmp_path / "train.log").write_text(text)
    state = read(tmp_path).state
    assert (state.kind, state.sure) == ("crashed", "certain")
    assert "unrecognized arguments" in state.why


@pytest.mark.parametrize(
    "text",
    [
        "./train.sh: line 2: module: command not found\n",  # the script goes on without it
        "./train.sh: line 3: conda: command not found\n",
        "./train.sh: line 4: /opt/etc/profile.d/conda.sh: No such file or directory\n",
        "python: can't open file 'a.py': [Errno 2]\n" + 9 * "loading the training data\n",
        "python: can't open file 'a.py': [Errno 2]\n" + 9_000 * "0123456 training\n",
    ],
)
def test_what_goes_on_is_no_end(tmp_path: Path, text: str) -> None:
    """A tool that a script lacks, and a log that goes on."""
    (tmp_path / "train.log").write_text(text)
    with pytest.raises(NothingReadable):
        read(tmp_path)
    assert read(tmp_path / "train.log").state.kind == "unknown"


def test_a_launch_that_was_refused_is_none_of_the_run_beside_it(tmp_path: Path) -> None:
    """Nor where rows stand above it in one log: a second launch says nothing of the first."""
    rows = "".join(f"epoch {n} loss {3 / n:.3f}\n" for n in range(1, 9))
    refusal = "python: can't open file 'eval.py': [Errno 2] No such file or directory\n"
    (tmp_path / "train.log").write_text(rows)
    (tmp_path / "old_train.log").write_text(refusal)
    assert read(tmp_path).state.kind != "crashed"
    (tmp_path / "train.log").write_text(rows + refusal)
    assert read(tmp_path / "train.log").state.kind != "crashed"


def test_a_file_that_cannot_be_opened_is_no_log(tmp_path: Path) -> None:
    """A link that leads nowhere."""
    (tmp_path / "train.log").symlink_to(tmp_path / "gone" / "train.log")
    with pytest.raises(NothingReadable):
        read(tmp_path)


def test_an_error_of_one_request_ends_no_server(tmp_path: Path) -> None:
    """It answers others before and after; one that fell behind its last answer is as it was."""
    asked = '10.0.0.7 - - [03/Mar/2021 10:00:0{}] "GET /chat HTTP/1.1" 200 -\n'
    other = '10.0.0.7:311 - - [03/Mar/2021 10:00:0{}] "HTTP/1.1 POST /chat" - 404 Not Found\n'
    fell = (
        "Traceback (most recent call last):\n"
        '  File "bot.py", line 7, in answer\n    send(5)\nTypeError: a number is no text\n'
    )
    path = tmp_path / "nohup.log"
    path.write_text(asked.format(1) + fell + other.format(2))
    assert read(path).state.kind == "unknown"
    for text in (asked.format(1) + fell, fell + other.format(2), fell):
        path.write_text(text)
        assert read(path).state.kind == "crashed"


def test_what_tests_cannot_import_ends_no_training(tmp_path: Path) -> None:
    """A log of pytest, of one folder or of many; beside rows of a training it is as it was."""
    head = "======================== test session starts ========================\n"
    said = "E   ModuleNotFoundError: No module named 'layers'\n"
    path = tmp_path / "train.log"
    path.write_text(f"{head}collected 0 items / 1 error\n{said}")
    assert read(path).state.kind == "unknown"
    path.write_text(
        f'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n{said[4:]}'
    )
    assert read(path).state.kind == "crashed"


@pytest.mark.parametrize(
    ("raised", "ended"),
    [
        ("werkzeug.exceptions.NotFound: 404 Not Found: The requested URL was not found", False),
        ("fastapi.exceptions.HTTPException: 500: no model", False),
        ("KeyError: 'exceptions'", True),
    ],
)
def test_what_a_web_server_answers_ends_no_training(
    tmp_path: Path, raised: str, *, ended: bool
) -> None:
    """A program that trains, and then serves its model, writes both into one log."""
    rows = "".join(
        f"Epoch {n}/5 | loss={3 - n / 10:.4f} | val_loss=3.{9 - n}\n" for n in range(1, 6)
    )
    trace = f'Traceback (most recent call last):\n  File "app.py", line 3, in serve\n{raised}\n'
    (tmp_path / "train.log").write_text(f"{rows}ERROR | app | Unexpected error\n{trace}")
    run = read(tmp_path)
    assert (run.state.kind == "crashed") is ended
