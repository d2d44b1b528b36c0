"""A log that comes through a pipe, and columns that settings name."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from runlens.cli import main
from runlens.errors import NothingReadable
from runlens.sources import stdin
from tests.cli.places import SICK, history, lens

ROWS = history()["log_history"]
NAMES = list(ROWS[0])
CONSOLE = "".join(f"{{'loss': {r['loss']}, 'epoch': {r['epoch']}}}\n" for r in ROWS)
LINES = "".join(f"{json.dumps(row)}\n" for row in ROWS)
TABLE = "\n".join([",".join(NAMES), *(",".join(str(r[n]) for n in NAMES) for r in ROWS), ""])
MONITOR = '#{"t_start": 1.0}\nr,l,t\n' + "".join(f"{n * n},10,{n}\n" for n in range(30))


def piped(content: str | bytes, *args: str) -> Result:
    """Run a command with something on its stdin."""
    env = {"COLUMNS": "80", "TERM": "dumb"}
    return CliRunner().invoke(main, list(args), input=content, env=env, catch_exceptions=False)


@pytest.fixture(autouse=True)
def spool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in an empty folder, with another for temporary files."""
    (tmp_path / "here").mkdir()
    (tmp_path / "spool").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "spool"))
    return tmp_path / "spool"


@pytest.mark.parametrize(
    ("content", "metric", "points"),
    [
        (CONSOLE, "train_loss", 29),
        (LINES, "train_loss", 29),
        (LINES.replace("\n", "\r\n"), "train_loss", 29),
        (TABLE, "train_loss", 29),
        ("\ufeff" + TABLE.replace(",", ";"), "train_loss", 29),
        (json.dumps(history()), "train_loss", 29),
        ("\ufeff" + json.dumps(history(), indent=2), "train_loss", 29),
        (MONITOR, "reward", 30),
    ],
)
def test_any_text_is_known_by_its_content(
    content: str, metric: str, points: int, spool: Path
) -> None:
    """Whatever file it was; nothing is left behind."""
    document = json.loads(piped(content, "diagnose", "-", "--format", "json", "--full").stdout)
    assert document["run"]["name"] == "stdin"
    assert document["run"]["sources"] == ["stdin"]
    assert len(document["curves"][metric]["step"]) == points
    assert not list(spool.iterdir())


def test_what_is_pasted_from_its_first_epoch_on_has_no_end() -> None:
    """A file of the same rows is told to end there."""
    rows = "".join(f"Epoch [{at}/50], Loss: {2 / at:.4f}\n" for at in range(1, 21))
    read = json.loads(piped(rows, "diagnose", "-", "--format", "json", "--no-html").stdout)
    assert read["run"]["state"]["kind"] == "unknown"
    assert "stopped-early" not in {one["rule"] for one in read["findings"]}


def test_the_page_goes_to_the_current_folder() -> None:
    """A pipe lies in no folder of a run."""
    result = piped(LINES, "diagnose", "-")
    assert result.exit_code == 0
    assert [path.name for path in Path.cwd().iterdir()] == ["runlens-stdin.html"]


def test_the_history_of_a_pipe_is_exported() -> None:
    """As that of a file."""
    assert piped(LINES, "export", "-", "-o", "out.jsonl").exit_code == 0
    rows = [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]
    losses = [row["value"] for row in rows if row["metric"] == "train_loss"]
    assert losses == [row["loss"] for row in ROWS]


def test_a_real_pipe_is_read(tmp_path: Path) -> None:
    """As the shell makes it, with bytes that are no text among the lines."""
    command = [sys.executable, "-m", "runlens", "diagnose", "-", "-q"]
    piped_in = LINES.encode() + b"\xff\xfe\n"
    result = subprocess.run(command, input=piped_in, capture_output=True, check=False, cwd=tmp_path)
    assert result.returncode == 0
    assert result.stdout.startswith(b"HEALTHY stdin:")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "stdin: is empty; pipe a log into it"),
        (b"\0\1\2" * 9_999, "stdin: nothing readable here: stdin is no text"),
    ],
)
def test_what_is_no_log_is_one_line(content: bytes, told: str, spool: Path) -> None:
    """Exit code 3, and nothing left behind."""
    result = piped(content, "diagnose", "-")
    assert result.exit_code == 3
    assert len(result.stderr.splitlines()) == 1
    assert told in result.stderr
    assert not list(spool.iterdir())
    assert not list(Path.cwd().iterdir())


def test_a_terminal_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody types a log."""

    class Terminal:
        def isatty(self) -> bool:
            return True

    class Input:
        buffer = Terminal()

    monkeypatch.setattr(sys, "stdin", Input())
    with pytest.raises(NothingReadable, match="is a terminal; pipe a log into it"):
        stdin.spooled().__enter__()
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(NothingReadable, match="is closed"):
        stdin.spooled().__enter__()


def test_only_so_much_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe may never end; what was left is told."""
    monkeypatch.setattr(stdin, "MAX_TEXT", 1_000)
    monkeypatch.setattr(stdin, "CHUNK", 300)
    document = json.loads(piped(LINES, "diagnose", "-", "--format", "json").stdout)
    assert any("is too long; only its first" in p["text"] for p in document["problems"])


def own_log() -> str:
    """Return a table with names of one's own."""
    return "it,mine\n" + "".join(f"{row['step']},{row['loss']}\n" for row in ROWS)


def report(*args: Any) -> Any:
    """Return the JSON of a diagnosis."""
    return json.loads(lens("diagnose", "--format", "json", "--full", *args).stdout)


@pytest.mark.parametrize("name", ["runlens.toml", "pyproject.toml", "other.toml"])
def test_settings_name_the_columns(name: str, tmp_path: Path) -> None:
    """Of the nearest file, or of the one that --config names; a pipe's columns too."""
    table = "tool.runlens.columns" if name == "pyproject.toml" else "columns"
    Path(name).write_text(f'[{table}]\nstep = "it"\ntrain_loss = "mine"\n')
    config = ["--config", name] if name == "other.toml" else []
    own = tmp_path / "data" / "own.csv"  # settings beside it would lie within what is read
    own.parent.mkdir()
    own.write_text(own_log())
    document = report(own, *config)
    assert document["curves"]["train_loss"]["step"] == [row["step"] for row in ROWS]
    piped_one = piped(own_log(), "diagnose", "-", "--format", "json", "--full", *config)
    assert json.loads(piped_one.stdout)["curves"] == document["curves"]
    lens("export", own, "-o", "out.csv", *config)
    assert Path("out.csv").read_text().count("train_loss") == len(ROWS)


def test_a_column_that_is_not_there_is_told() -> None:
    """In the report, with the nearest name."""
    Path("runlens.toml").write_text('[columns]\ntrain_loss = "lss"\n')
    Path("run").mkdir()
    Path("run/metrics.csv").write_text(TABLE)
    problems = report("run/metrics.csv")["problems"]
    assert [problem["where"] for problem in problems] == ["[columns]"]
    assert "did you mean 'loss'?" in problems[0]["text"]
    assert report(SICK)["problems"] == []


@pytest.mark.parametrize("command", ["diagnose", "export"])
def test_wrong_settings_are_wrong_usage(command: str) -> None:
    """For each command that reads runs."""
    Path("runlens.toml").write_text("[columns]\nstep = 3\n")
    output = ["-o", "out.csv"] if command == "export" else []
    result = lens(command, SICK, *output)
    assert result.exit_code == 2
    assert "column step is 3; it takes the name in the file" in result.stderr
