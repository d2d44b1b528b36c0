"""`runlens audit` as a shell sees it: exit codes, streams, files, interrupts."""

import json
import os
import signal
import subprocess
import sys
import time
from io import StringIO
from pathlib import Path

import pytest

from runlens.auditing.engine import Progress
from runlens.auditing.plan import Unit
from runlens.auditing.progress import Shown, line
from runlens.auditing.work import Judged
from runlens.nights import Unread
from tests.auditing.trees import rewritten, stored, tree
from tests.cli.places import lens


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


def test_a_night_in_text(tmp_path: Path) -> None:
    """The verdict on stdout, how it went on stderr."""
    tree(tmp_path / "runs", 3)
    result = lens("audit", "runs", "--store", "a.db", "--jobs", "2")
    assert result.exit_code == 0
    assert "1 new issue" in result.stdout
    assert "NaN loss" in result.stdout
    assert "event=planned places=3 unchanged=0" in result.stderr
    assert "event=closed night=1 read=3 new=1" in result.stderr


def test_quiet_is_one_line(tmp_path: Path) -> None:
    """And nothing on stderr."""
    tree(tmp_path / "runs", 1)
    result = lens("audit", "runs", "--store", "a.db", "--quiet")
    assert result.stdout.count("\n") == 1
    assert result.stdout == "No open issue in 1 run.\n"
    assert result.stderr == ""


def test_json_alone_goes_to_stdout(tmp_path: Path) -> None:
    """For a program to read."""
    tree(tmp_path / "runs", 3)
    result = lens("audit", "runs", "--store", "a.db", "--format", "json")
    assert json.loads(result.stdout)["counts"]["new"] == 1


def test_a_folder_gets_the_page_or_the_format(tmp_path: Path) -> None:
    """It is made where it is missing."""
    tree(tmp_path / "runs", 3)
    both = lens("audit", "runs", "--store", "a.db", "-o", "out/night")
    assert "1 new issue" in both.stdout
    assert "<html" in (tmp_path / "out" / "night" / "index.html").read_text(encoding="utf-8")
    alone = lens("audit", "runs", "--store", "a.db", "-o", "out", "--format", "markdown")
    assert alone.stdout == ""
    assert (tmp_path / "out" / "audit.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("level", "first", "second"),
    [("new-critical", 1, 0), ("critical", 1, 1), ("new-warning", 1, 0), ("warning", 1, 1)],
)
def test_fail_on_tells_new_from_old(level: str, first: int, second: int, tmp_path: Path) -> None:
    """A known fault breaks a pipeline once, or for as long as it is there."""
    tree(tmp_path / "runs", 3)
    command = ("audit", "runs", "--store", "a.db", "--quiet", "--fail-on", level)
    assert [lens(*command).exit_code for _ in range(2)] == [first, second]


def test_nothing_readable_is_exit_code_3(tmp_path: Path) -> None:
    """And the report says why."""
    (tmp_path / "runs").mkdir()
    result = lens("audit", "runs", "nowhere", "--store", "a.db")
    assert result.exit_code == 3
    assert "event=unread place=nowhere" in result.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--since", "often"), "--since 'often' is not a duration"),
        (("--filter", "exp"), "write KEY=VALUE"),
        (("--filter", "state=finished"), "folders are filtered by name alone"),
        (("--cluster", "local:many"), "write local:4"),
        (("--jobs", "0"), "not in the range"),
        (("--store", "runs"), "runs"),
    ],
)
def test_a_wrong_option_is_one_clear_line(
    options: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    """With exit code 2."""
    tree(tmp_path / "runs", 1)
    result = lens("audit", "runs", "--store", "a.db", *options)
    assert result.exit_code == 2
    assert said in result.stderr
    assert "Traceback" not in result.stderr


def test_names_and_times_choose_runs(tmp_path: Path) -> None:
    """The others are not read."""
    tree(tmp_path / "runs", 4)
    os.utime(tmp_path / "runs" / "run-01" / "trainer_state.json", (1e9, 1e9))
    command = ("audit", "runs", "--store", "a.db", "--format", "json")
    result = lens(*command, "--since", "2d", "--filter", "name=run-0[12]")
    assert [run["name"] for run in json.loads(result.stdout)["runs"]] == ["run-02"]


def test_ctrl_c_ends_with_130_and_keeps_what_is_done(tmp_path: Path) -> None:
    """No traceback, no process left behind; the next start goes on."""
    tree(tmp_path / "runs", 120)  # a second or two: not over before it is stopped
    command = [sys.executable, "-m", "runlens", "audit", "runs", "--store", "a.db", "--jobs", "1"]
    path = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
    # a shell's background jobs ignore Ctrl-C, and so do their children: not this one
    ours = signal.signal(signal.SIGINT, signal.default_int_handler)
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": path}
    ) as process:
        signal.signal(signal.SIGINT, ours)
        assert process.stderr is not None
        while stored(tmp_path / "a.db") < 3:
            assert process.poll() is None, process.stderr.read()  # it ended by itself
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()
        assert process.wait(20) == 130
    assert "Traceback" not in said
    rest = lens("audit", "runs", "--store", "a.db")
    (planned,) = [text for text in rest.stderr.splitlines() if "event=planned" in text]
    assert "unchanged=0" not in planned
    assert "event=closed night=1 read=120" in rest.stderr


class _Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def _progress(done: int, *, unread: bool = False) -> Progress:
    unit = Unit("runs", f"runs/{done}", "")
    why = Unread(unit.place, "is empty (0 bytes)") if unread else None
    return Progress(done, 40, 2, Judged(unit, unread=why) if done else None)


def test_a_terminal_gets_a_bar_after_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """With how many are done, how long it takes, and what was met."""
    monkeypatch.setenv("TERM", "xterm")
    stream = _Terminal()
    clock = iter([0.0, 0.2, 5.0, 6.0, 7.0])
    monkeypatch.setattr("runlens.auditing.progress.time.monotonic", lambda: next(clock, 8.0))
    with Shown(stream) as shown:
        shown(_progress(0))
        assert stream.getvalue() == ""
        shown(_progress(1))
        shown(_progress(30, unread=True))
    assert "30/40" in stream.getvalue()
    assert "1 unread" in stream.getvalue()


def test_a_log_has_a_line_for_what_matters(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plan, what was not read, and from time to time how far it is."""
    stream = StringIO()
    clock = iter([0.0, 20.0])
    monkeypatch.setattr("runlens.auditing.progress.time.monotonic", lambda: next(clock, 21.0))
    with Shown(stream) as shown:
        for done in range(5):
            shown(_progress(done, unread=done == 2))
    planned, first, unread = stream.getvalue().splitlines()
    assert planned.endswith("level=info event=planned places=40 unchanged=2")
    assert first.endswith("event=judged done=1 of=40 critical=0 warning=0 unread=0 left_s=819")
    assert unread.endswith('level=warning event=unread place=runs/2 why="is empty (0 bytes)"')


def test_values_of_a_log_line_are_quoted_where_they_must_be() -> None:
    """A name of a stranger can neither end the line nor add a key."""
    assert line({"a": 1, "b": "x y", "c": 'q"=\n', "d": ""}) == 'a=1 b="x y" c="q\\"=\\n" d=""'


def test_a_run_that_went_on_is_news_of_the_next_night(tmp_path: Path) -> None:
    """Only it is read."""
    tree(tmp_path / "runs", 3)
    lens("audit", "runs", "--store", "a.db", "--quiet")
    rewritten(tmp_path / "runs" / "run-02")
    result = lens("audit", "runs", "--store", "a.db")
    assert "event=planned places=1 unchanged=2" in result.stderr
    assert "resolved=1" in result.stderr


@pytest.mark.parametrize("name", ["lfs\x1b[2J", "c1\x9b31m", "bidi\u202egnp", "a b\x07", 'q"\n'])
def test_no_control_character_of_a_folder_reaches_the_log(name: str, tmp_path: Path) -> None:
    """Nor a token in its name; a terminal obeys neither."""
    folder = tmp_path / "runs" / f"{name}-hf_{'a1' * 17}"
    folder.mkdir(parents=True)
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a21\nsize 12345\n"
    (folder / "trainer_state.json").write_text(pointer)
    result = lens("audit", tmp_path / "runs", "--store", tmp_path / "a.db", "--jobs", "1")
    assert "event=unread" in result.stderr
    assert all(char.isprintable() or char == "\n" for char in result.stderr + result.stdout)
    assert "a1a1a1" not in result.stderr
