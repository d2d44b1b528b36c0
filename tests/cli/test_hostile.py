"""Places that nobody wants to meet: one line or a diagnosis, never a traceback, never code run."""

import json
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.places import a_run, history, lens

LFS = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a21\nsize 12345\n"
DEEP = 100_000
DIGITS = "9" * 5_000
STATE = "trainer_state.json"


def state(folder: Path, content: str | bytes) -> Path:
    """Write a trainer_state.json of any content."""
    data = content.encode() if isinstance(content, str) else content
    (folder / STATE).write_bytes(data)
    return folder


def cut(folder: Path) -> Path:
    """Write the start of a file, not one whole row of its log."""
    return state(folder, json.dumps(history())[:40])


def denied(folder: Path) -> Path:
    """Write a file that only its owner may read."""
    a_run(folder).joinpath(STATE).chmod(0)
    return folder


def pipe(folder: Path) -> Path:
    """Make a FIFO, which blocks whoever opens it."""
    os.mkfifo(folder / STATE)
    return folder / STATE


def dangling(folder: Path) -> Path:
    """Make two links that point at each other."""
    (folder / "a").symlink_to("b")
    (folder / "b").symlink_to("a")
    return folder / "a"


def strangers(folder: Path) -> Path:
    """Write files that are no run."""
    (folder / "notes.txt").write_text("buy milk\n")
    (folder / "tool.py").write_text("print(1)\n")
    return folder


def binary(folder: Path) -> Path:
    """Write bytes that are no text under the name of a log."""
    (folder / "train.log").write_bytes(bytes(range(256)) * 40)
    return folder / "train.log"


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda folder: folder / "missing", "does not exist"),
        (lambda folder: folder / ("x" * 5_000), "does not exist"),
        (lambda folder: folder, "is an empty directory"),
        (lambda folder: state(folder, ""), "is empty (0 bytes)"),
        (lambda folder: state(folder, "") / STATE, "is empty (0 bytes)"),
        (lambda folder: state(folder, LFS), "git-lfs pointer, not the file; run git lfs pull"),
        (cut, "is no whole JSON"),
        (lambda folder: state(folder, "[]"), ""),
        (lambda folder: state(folder, b"\xff\xfe\x00"), "is no text in UTF-8"),
        (lambda folder: state(folder, "[" * DEEP), "is nested too deeply"),
        (pipe, "is not a regular file"),
        (dangling, "nothing readable here"),
        (strangers, "nothing readable here; looked for trainer_state.json"),
        (binary, "train.log is no text"),
    ],
)
def test_an_unreadable_place_is_one_line(
    make: Callable[[Path], Path], told: str, tmp_path: Path
) -> None:
    """Exit code 3; the line names the place and says why."""
    result = lens("diagnose", "--no-html", make(tmp_path))
    assert result.exit_code == 3
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert told in result.stderr
    assert str(tmp_path) in result.stderr


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read every file")
def test_a_file_without_permission_says_so(tmp_path: Path) -> None:
    """With what to do about it."""
    assert "no permission to read it; try chmod +r" in lens("diagnose", denied(tmp_path)).stderr


def test_a_refusal_of_the_system_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same where the system says no, told without such a file (root may read all)."""
    a_run(tmp_path)

    def refused(path: Path, *_: Any) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Path, "open", refused)
    result = lens("diagnose", "--no-html", tmp_path)
    assert result.exit_code == 3
    assert "no permission to read it; try chmod +r" in result.stderr


class Bomb:
    """An object that runs a command when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        """Remember which file the command would make."""
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, (f"touch {self.mark}",)


def test_nothing_is_executed(tmp_path: Path) -> None:
    """Neither tags of YAML nor pickles; the settings beside the tag are still read."""
    run, mark = a_run(tmp_path / "run"), tmp_path / "owned"
    for name in ("training_args.bin", "optimizer.pt", "scheduler.pt"):
        (run / name).write_bytes(pickle.dumps(Bomb(mark)))
    call = f'!!python/object/apply:os.system ["touch {mark}"]'
    (run / "config.yaml").write_text(f"evil: {call}\nmax_grad_norm: 0.25\n")
    (run / "hparams.yaml").write_text(call)
    result = lens("diagnose", "--format", "json", "--full", run)
    settings = {row["key"]: row["value"] for row in json.loads(result.stdout)["settings"]}
    assert result.exit_code == 0
    assert settings["max_grad_norm"] == 0.25
    assert not mark.exists()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("config.json", "[" * DEEP),
        ("hparams.yaml", "[" * DEEP),
        ("args.yaml", "{" * DEEP),
        ("config.yaml", "- " * DEEP),
        ("axolotl.yaml", "a: &a [x]\nb: [" + "*a, " * 6_000 + "]"),
        ("config.yaml", "a: ["),
        ("args.json", "{"),
    ],
)
def test_broken_settings_cost_only_the_settings(name: str, content: str, tmp_path: Path) -> None:
    """The run is diagnosed, the loss is told on top."""
    (a_run(tmp_path) / name).write_text(content)
    result = lens("diagnose", "--no-html", tmp_path)
    assert result.exit_code == 0
    head = result.stdout.partition("train_loss  ")[0]
    assert f"! {name} is n" in head
    assert "Lost: its settings." in " ".join(head.split())


@pytest.mark.parametrize("number", [DIGITS, "1e999", "-1e999", "NaN", "Infinity", '"1e999"'])
def test_numbers_beyond_all_bounds_are_survived(number: str, tmp_path: Path) -> None:
    """In a log's row, in a plan, in every setting that a fix may name."""
    run = history(more={"loss": 9.9})
    text = json.dumps(run).replace('"max_steps": 290', f'"max_steps": {number}')
    state(tmp_path, text.replace('"step": 10,', f'"step": {number},', 1))
    keys = ("learning_rate", "max_grad_norm", "warmup_steps", "num_train_epochs", "vocab_size")
    row = ", ".join(f'"{key}": {number}' for key in keys)
    (tmp_path / "args.json").write_text(f"{{{row}}}")
    for form in ("text", "json"):
        result = lens("diagnose", tmp_path, "--format", form, "-v", "--full")
        assert result.exit_code == 0
        assert "broken" not in result.stdout
        assert "set_int_max_str_digits" not in result.stdout


def test_a_directory_of_traps_is_walked(tmp_path: Path) -> None:
    """FIFOs are not opened, links out of the run and in circles are not followed."""
    run, outside = a_run(tmp_path / "run"), a_run(tmp_path / "outside", 1)
    os.mkfifo(run / "train.log")
    os.mkfifo(run / "config.yaml")
    (run / "self").symlink_to(".")
    (run / "loop").symlink_to("loop")
    (run / "out").symlink_to(outside)
    (run / "args.json").symlink_to(outside / STATE)
    document = json.loads(lens("diagnose", "--format", "json", run).stdout)
    assert document["run"]["sources"] == [STATE]


NAMES = [
    "line\nbreak",
    "\x1b[2J\x1b[31mred",
    "bell\x07",
    "\u202egnp.exe",
    "half\udcff",
    "'; rm -rf ~",
]


def tame(text: str) -> bool:
    """Whether no terminal obeys any of it."""
    return all(char.isprintable() or char in "\n\u202f\u00a0" for char in text)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", ["text", "html"])
def test_hostile_names_are_shown_not_obeyed(
    name: str, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No control character reaches the terminal or a file name."""
    monkeypatch.chdir(tmp_path)
    result = lens("diagnose", a_run(tmp_path / "runs" / name), "--format", form, "--full")
    assert result.exit_code == 0
    pages = [page.name for page in tmp_path.glob("*.html")]
    assert tame(result.stdout + result.stderr + "".join(pages))
    assert len(pages) == (form == "html")


def test_hostile_metrics_settings_and_lines_are_shown_not_obeyed(tmp_path: Path) -> None:
    """Everything that a log or a config says may come from a stranger."""
    run = a_run(tmp_path, more={"we\x1b[31mird\nname": 1.0, "half\ud800": 2.0})
    (run / "config.yaml").write_text('learning_rate: "1e-4\\x1b[2J"\nmodel_name: "\\u202eabc"\n')
    (run / "train.log").write_text(
        "{'loss': 1.0, 'epoch': 1}\n\x1b[31mTraceback (most recent call last):\n"
        "RuntimeError: CUDA out of memory \x1b[2J\x07\n"
    )
    for args in (["--no-html", "-v"], ["-q"]):
        result = lens("diagnose", run, *args)
        assert result.exit_code == 0
        assert tame(result.stdout)


@pytest.mark.parametrize("name", NAMES)
def test_json_keeps_names_as_they_are(name: str, tmp_path: Path) -> None:
    """Programs get the name itself, in JSON's escapes; only half a character cannot be kept."""
    result = lens("diagnose", a_run(tmp_path / name), "--format", "json")
    shown = json.loads(result.stdout)["run"]["name"]
    assert shown == name.encode("utf-8", "backslashreplace").decode()
    assert all(char >= " " or char == "\n" for char in result.stdout)
