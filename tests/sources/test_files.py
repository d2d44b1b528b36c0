"""Reading what strangers wrote: bounded, never executed, every failure in words."""

import math
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import runlens
from runlens.sources import files, kinds_among
from runlens.sources.configs.plain_yaml import parse_yaml
from runlens.sources.files import Unreadable, flat, parse_json, read_bytes, walk

DEEP = 100_000


def test_walk_sees_regular_files_and_nothing_else(tmp_path: Path) -> None:
    """No FIFO, no link that leaves or turns in circles, no folder of a tool."""
    run = tmp_path / "run"
    (run / "sub").mkdir(parents=True)
    (run / ".git").mkdir()
    for path in (run / "b.log", run / "a.log", run / "sub" / "c.log", run / ".git" / "config"):
        path.write_text("x")
    (tmp_path / "outside.log").write_text("x")
    os.mkfifo(run / "pipe.log")
    (run / "inside.log").symlink_to("a.log")
    (run / "leaves.log").symlink_to(tmp_path / "outside.log")
    (run / "loop.log").symlink_to("loop.log")
    (run / "up").symlink_to(tmp_path)
    assert walk(run) == {run: ["a.log", "b.log", "inside.log"], run / "sub": ["c.log"]}
    assert walk(run / "a.log") == {run: ["a.log"]}


def test_walk_ends_somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A whole disk is not a run."""
    for number in range(9):
        (tmp_path / f"d{number}").mkdir()
    monkeypatch.setattr(files, "MAX_FOLDERS", 4)
    assert len(walk(tmp_path)) == 4


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is empty (0 bytes)"),
        (b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
    ],
)
def test_files_without_content_say_so(content: bytes, told: str, tmp_path: Path) -> None:
    """And what to do."""
    (tmp_path / "f").write_bytes(content)
    with pytest.raises(Unreadable, match=told.replace("(", r"\(").replace(")", r"\)")):
        read_bytes(tmp_path / "f")


def test_files_that_are_none_say_so(tmp_path: Path) -> None:
    """A pipe is not opened, it would block."""
    os.mkfifo(tmp_path / "pipe")
    for name, told in (
        ("pipe", "not a regular file"),
        ("gone", "cannot be read"),
        (".", "regular"),
    ):
        with pytest.raises(Unreadable, match=told):
            read_bytes(tmp_path / name)


def test_only_so_many_bytes_are_read(tmp_path: Path) -> None:
    """Of a file of any size."""
    (tmp_path / "f").write_bytes(b"x" * 1_000)
    assert len(read_bytes(tmp_path / "f", 10)) == 10


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("NaN", math.nan),
        ("[1, Infinity]", [1, math.inf]),
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
        ('{"a": %s, "b": 2}' % ("9" * 5_000), {"a": "9" * 5_000, "b": 2}),
    ],
)
def test_json_of_python_is_read(text: str | bytes, value: object) -> None:
    """With NaN, a byte-order mark, and integers of any length, which stay texts."""
    assert repr(parse_json(text)) == repr(value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "is no whole JSON: .* at line 1, column 2"),
        (b"\xff\xfe", "is no text in UTF-8"),
        ("[" * DEEP, "is nested too deeply"),
        ('{"a":' * DEEP, "is nested too deeply"),
        ("", "is no whole JSON"),
    ],
)
def test_broken_json_says_what_is_wrong(text: str | bytes, told: str) -> None:
    """In words, with the place."""
    with pytest.raises(Unreadable, match=told):
        parse_json(text)


@pytest.mark.parametrize(
    "text", ["[" * DEEP, "{a: " * DEEP, "- " * DEEP, "a: &x [1]\nb: [" + "*x," * 9_000 + "]"]
)
def test_deep_yaml_is_refused_before_it_is_built(text: str) -> None:
    """The C parser would kill the process."""
    with pytest.raises(Unreadable, match="is n"):
        parse_yaml(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('!!python/object/apply:os.system ["touch owned"]', ["touch owned"]),
        ("a: !!python/name:os.system x", {"a": "x"}),
        ("a: !include secrets.yaml", {"a": "secrets.yaml"}),
        ("a: !mine {b: 1}", {"a": {"b": 1}}),
        ("a: %s" % ("9" * 5_000), {"a": "9" * 5_000}),
        ("a: 0x10", {"a": 16}),
        ("", None),
    ],
)
def test_tags_of_yaml_are_not_obeyed(
    text: str, value: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They become plain values."""
    monkeypatch.chdir(tmp_path)
    assert parse_yaml(text) == value
    assert not list(tmp_path.iterdir())


@given(st.one_of(st.text(), st.binary()))
def test_no_content_raises_anything_else(content: str | bytes) -> None:
    """A value, or one line of why not."""
    for parse in (parse_json, parse_yaml):
        with suppress(Unreadable):
            parse(content)


def test_settings_are_flattened_and_bounded() -> None:
    """Names joined by dots; lists as a text; long ones cut, deep ones left out."""
    value = {"a": {"b": 1, "c": [1, "x", None]}, "d": "y" * 9_999, "e": [{"f": True}]}
    found = flat(value)
    assert found["a.b"] == 1
    assert found["a.c"] == "1, x, None"
    assert len(str(found["d"])) == files.MAX_SETTING
    assert found["e.0.f"] is True
    assert len(flat({str(n): n for n in range(20_000)})) == files.MAX_LEAVES
    deep: Any = 1
    for _ in range(200):
        deep = {"x": deep}
    assert flat(deep) == {}


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("checkpoint-1000", 1_000),
        ("checkpoint-", -1),
        ("checkpoint-best", -1),
        ("1000", -1),
        ("checkpoint-١٢", -1),
        ("checkpoint-" + "9" * 99, -1),
    ],
)
def test_step_of_a_checkpoint_is_in_its_name(name: str, step: int) -> None:
    """Plain digits, and not too many."""
    assert files.step_in_name(name) == step


def test_kinds_of_a_folder_are_told_without_what_lies_below(tmp_path: Path) -> None:
    """An audit asks so which folders are runs of their own."""
    (tmp_path / "deeper").mkdir()
    for folder in (tmp_path, tmp_path / "deeper"):
        (folder / "trainer_state.json").write_text('{"log_history": [{"step": 1, "loss": 2.0}]}')
    assert kinds_among(tmp_path, ["trainer_state.json"]) == {"trainer_state"}
    assert kinds_among(tmp_path, ["deeper"]) == set()


BEGINS, HALF, BASE, ENDS = "<<<<<<< HEAD\n", "=======\n", "||||||| 1a2b3c\n", ">>>>>>> 4d5e6f\n"


@pytest.mark.parametrize(
    ("text", "first"),
    [
        (f"a\n{BEGINS}b\n{HALF}c\n{ENDS}d\n", "a\nb\nd\n"),
        (f"a\n{BEGINS}b\n{BASE}x\n{HALF}c\n{ENDS}d\n{BEGINS}{HALF}e\n{ENDS}", "a\nb\nd\n"),
        (f"{BEGINS}b\n{HALF}c\n{ENDS.strip()}", "b\n"),
        (f"a\n{HALF}b\n", f"a\n{HALF}b\n"),  # a rule
        (f"a\n{BEGINS}b\n{HALF}c <<<<<<< >>>>>>>\n", f"a\n{BEGINS}b\n{HALF}c <<<<<<< >>>>>>>\n"),
        ("<<<<<<<<<< =======\n>>>>>>>>>>\n", "<<<<<<<<<< =======\n>>>>>>>>>>\n"),
    ],
)
def test_the_first_side_of_a_conflict(text: str, first: str) -> None:
    """Of a text whose marks are not whole nothing is left out."""
    assert files.first_side(text.encode()) == first.encode()


@pytest.mark.parametrize(
    ("name", "head", "row", "tail"),
    [
        ("metrics.csv", "step,loss\n", "{step},{loss}\n", ""),
        ("log.jsonl", "", '{{"step": {step}, "loss": {loss}}}\n', ""),
        (
            "trainer_state.json",
            '{"log_history": [\n',
            '{{"step": {step}, "loss": {loss}}},\n',
            '{"step": 90, "loss": 0.125}\n]}\n',
        ),
    ],
)
def test_a_file_with_marks_of_a_conflict_is_read_and_told(
    tmp_path: Path, name: str, head: str, row: str, tail: str
) -> None:
    """The first side is that of who merged."""
    rows = [row.format(step=10 * n, loss=1 / n) for n in (1, 2, 4, 5)]
    other = row.format(step=20, loss=7.5)
    (tmp_path / name).write_text(
        head + rows[0] + BEGINS + rows[1] + HALF + other + ENDS + "".join(rows[2:]) + tail
    )
    run = runlens.read(tmp_path / name)
    assert run.curve("train_loss").value[:4].tolist() == [1, 0.5, 0.25, 0.2]
    assert any("git conflict" in problem.text for problem in run.problems)
