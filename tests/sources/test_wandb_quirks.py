"""What W&B directories look like in the wild: copied, resumed, cut, and lacking files."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from runlens import diagnose, read, read_all
from runlens.errors import NothingReadable
from runlens.report import json as json_report
from runlens.sources import wandb_dir
from runlens.sources.files import walk
from runlens.sources.wandb_dir.log import HEADER
from tests.sources.wandb_files import (
    BLOCK,
    CONFIG,
    ENVIRONMENT,
    EXIT,
    HISTORY,
    OUTPUT,
    RUN,
    SUMMARY,
    items,
    log,
    message,
    points,
    rows,
    run_folder,
)
from tests.sources.wandb_files import read as read_log

Record = tuple[int, bytes]
MAIL = "some.body@example.org"


def trained(first: int, last: int, number: int = 0) -> list[Record]:
    """Make rows of a Trainer that logs every tenth step; W&B's counter starts at `number`."""
    return [
        (
            HISTORY,
            items(
                {
                    "train/loss": round(2 - 0.01 * n, 4),
                    "train/global_step": 10 * n,
                    "train/epoch": n / 10,
                    "_step": number + n - first,
                    "_timestamp": 1000.0 + n,
                },
                nested=True,
            ),
        )
        for n in range(first, last + 1)
    ]


def printed(first: int, last: int) -> str:
    """Return what the Trainer prints for the same rows."""
    return "".join(
        f"{{'loss': {round(2 - 0.01 * n, 4)}, 'grad_norm': 0.5, 'epoch': {n / 10}}}\n"
        for n in range(first, last + 1)
    )


def began(name: str, time: int) -> Record:
    """Make the record of a run."""
    return RUN, message((1, name), (17, message((1, time))))


def test_the_console_has_what_the_log_has_lost(tmp_path: Path) -> None:
    """A killed run's log ends with a block of 32 KiB; the later rows are in output.log."""
    folder = run_folder(tmp_path, "one")
    whole = log(*trained(1, 400))
    (folder / "run-one.wandb").write_bytes(whole[:BLOCK])
    (folder / "files" / "output.log").write_text(printed(1, 400))
    logged = wandb_dir.read(folder / "run-one.wandb").series["train/loss"]
    assert len(logged.step) < 300
    curve = read(folder).curve("train_loss")
    assert curve.step.tolist() == list(range(10, 4010, 10))
    assert curve.value[-1] == (2 - 4)


@pytest.mark.parametrize("content", [b"", HEADER])
def test_killed_before_the_first_flush(tmp_path: Path, content: bytes) -> None:
    """An empty log is a run that was killed early, perhaps: its console and settings are read."""
    folder = run_folder(tmp_path, "one")
    (folder / "run-one.wandb").write_bytes(content)
    (alone,) = read_all(folder)
    assert (alone.id, len(alone.history)) == ("one", 0)
    assert (alone.state.kind, alone.state.sure) == ("killed", "guess")
    (folder / "files" / "output.log").write_text(printed(1, 30))
    (folder / "files" / "config.yaml").write_text("lr:\n    value: 0.1\n")
    run = read(folder)
    assert run.id == "one"
    assert len(run.curve("train_loss")) == 30
    assert run.config["learning_rate"].value == 0.1
    assert (run.state.kind, run.state.sure) == ("killed", "guess")
    found = [finding for finding in diagnose(run).findings if finding.rule == "killed"]
    assert [finding.severity for finding in found] == ["warning"]


def test_empty_log_beside_runs(tmp_path: Path) -> None:
    """The launch that came to nothing is told by the only run there, and one of several runs."""
    empty = run_folder(tmp_path, "empty", date="20260101_000001")
    run_folder(tmp_path, "one", *trained(1, 30))
    run = read(tmp_path)
    assert run.id == "one"
    assert [problem.where.rpartition("/")[2] for problem in run.problems] == ["run-empty.wandb"]
    run_folder(tmp_path, "two", *trained(1, 40))
    runs = {run.id: run.state.kind for run in read_all(tmp_path)}
    assert runs == {"empty": "killed", "one": "unknown", "two": "unknown"}
    assert read(empty).id == "empty"


def test_empty_log_of_a_run_that_ended(tmp_path: Path) -> None:
    """A summary is written at the end of an online run: its empty log was lost later."""
    folder = run_folder(tmp_path, "one")
    (folder / "run-one.wandb").write_bytes(b"")
    (folder / "files" / "wandb-summary.json").write_text('{"_wandb": {"runtime": 5}, "loss": NaN}')
    with pytest.raises(NothingReadable, match="is empty"):
        read(folder)
    (folder / "files" / "output.log").write_text(printed(1, 30))
    assert read(folder).state.kind != "killed"


def test_resumed_directory_of_one_id(tmp_path: Path) -> None:
    """Two directories of one id are one run; the later launch went on from a checkpoint."""
    run_folder(tmp_path, "one", began("one", 1000), *trained(1, 30))
    run_folder(tmp_path, "one", began("one", 9000), *trained(26, 60, 26), date="20260102_000000")
    run = read(tmp_path)
    assert run.id == "one"
    assert [segment.first_step for segment in run.segments] == [10, 260]
    assert run.curve("train_loss").step.tolist() == list(range(10, 610, 10))
    assert [event.step for event in run.events if event.kind == "resume"] == [260]


def test_offline_resume_that_counts_from_nought(tmp_path: Path) -> None:
    """Without a step metric each directory of the id begins at 0: the later one goes on."""
    for began_at, first, date in ((1000, 0, "20260101_000000"), (9000, 20, "20260102_000000")):
        rows = [(HISTORY, items({"_step": n, "loss": 2.0 / (first + n + 1)})) for n in range(20)]
        run_folder(tmp_path, "one", began("one", began_at), *rows, date=date)
    run = read(tmp_path)
    loss = run.curve("train_loss")
    assert loss.step.tolist() == list(range(40))
    assert loss.value.tolist() == [2.0 / (n + 1) for n in range(40)]
    assert [segment.first_step for segment in run.segments] == [0, 20]
    assert "counts its steps from 0 again" in run.problems[0].text


def test_copy_of_an_offline_run_that_counts_from_nought(tmp_path: Path) -> None:
    """It says the same at the same steps: nothing is put behind anything."""
    rows = [(HISTORY, items({"_step": n, "loss": 2.0 / (n + 1)})) for n in range(20)]
    for parent in ("wandb", "backup"):
        run_folder(tmp_path / parent, "one", began("one", 1000), *rows)
    run = read(tmp_path)
    assert run.curve("train_loss").step.tolist() == list(range(20))
    assert len(run.segments) == 1
    assert not any("counts its steps" in problem.text for problem in run.problems)


def test_runs_of_one_folder_stay_apart(tmp_path: Path) -> None:
    """Runs that began in the same second, as the processes of one launch do, are runs."""
    for name in ("one", "two", "ft-ab-cd"):
        run_folder(tmp_path, name, *trained(1, 30))
    assert [run.id for run in read_all(tmp_path)] == ["ft-ab-cd", "one", "two"]


@pytest.mark.parametrize("linked", [True, False])
def test_latest_run_is_not_read_twice(tmp_path: Path, linked: bool) -> None:
    """Neither as a link nor as the copy that a tool made of it."""
    run_folder(tmp_path, "one", *trained(1, 30))
    newest = run_folder(tmp_path, "two", *trained(1, 40))
    latest = newest.parent / "latest-run"
    if linked:
        latest.symlink_to(newest.name)
    else:
        shutil.copytree(newest, latest)
    assert sorted(len(run.curve("train_loss")) for run in read_all(tmp_path)) == [30, 40]
    assert len(read(latest).curve("train_loss")) == 40


def test_log_without_files_under_another_name(tmp_path: Path) -> None:
    """The id is in the name of the log; the folder may be called anything."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    (folder / "run-ft-jxFT-2.wandb").write_bytes(log(*trained(1, 30)))
    assert wandb_dir.find(tmp_path, walk(tmp_path)) == [folder / "run-ft-jxFT-2.wandb"]
    assert read(tmp_path).id == "ft-jxFT-2"


@pytest.mark.parametrize(
    ("content", "code", "state"),
    [
        (b"", 0, "finished"),
        (message((1, 0), (2, 60)), 0, "finished"),
        (message((1, 1)), 1, "crashed"),
        (message((1, 3)), 3, "crashed"),
        (message((1, 255)), 255, "killed"),  # Ctrl-C
    ],
)
def test_exit_records(tmp_path: Path, content: bytes, code: int, state: str) -> None:
    """An exit record without a code means 0, whether or not it is closed by W&B's footer."""
    for footer in ([], [(20, b""), (22, b"")]):
        folder = tmp_path / str(len(footer))
        (run_folder(folder, "one", began("one", 1000), *trained(1, 30), (EXIT, content), *footer))
        run = read(folder)
        assert (run.state.exit_code, run.state.kind) == (code, state)
        assert [event.data for event in run.events if event.kind == "exit"] == [{"code": code}]


def test_cut_after_the_exit_record(tmp_path: Path) -> None:
    """A bare chunk header behind the exit record is told, and the exit code counts."""
    folder = run_folder(tmp_path, "one", *trained(1, 30), (EXIT, message((1, 1))))
    path = folder / "run-one.wandb"
    path.write_bytes(path.read_bytes() + b"\x12\x34\x56\x78\x40\x00\x01")
    reading = wandb_dir.read(path)
    assert reading.hints.exit_code == 1
    assert [problem.lost.split(" of ")[0] for problem in reading.problems] == ["the last 7"]


def test_only_the_damaged_chunk_is_lost(tmp_path: Path) -> None:
    """Rows before and after are there, and the place of the damage is told."""
    folder = run_folder(tmp_path, "one", *trained(1, 900), (EXIT, b""))
    path = folder / "run-one.wandb"
    data = bytearray(path.read_bytes())
    assert len(data) > 3 * BLOCK
    data[BLOCK + 5000] ^= 1
    path.write_bytes(data)
    run = read(path)
    assert len(run.curve("train_loss")) == 899
    assert run.state.exit_code == 0
    assert [problem.lost.split()[-1] for problem in run.problems] == ["bytes"]
    assert "at 1 place" in run.problems[0].text


@pytest.mark.parametrize(
    "text",
    [
        """wandb_version: 1

lr:
  desc: null
  value: 0.1
optimizer:
  desc: null
  value:
    lr: 0.2
_wandb:
  desc: null
  value:
    cli_version: 0.16.6
""",
        """_wandb:
    value:
        cli_version: 0.19.8
        e:
            x1:
                email: some.body@example.org
lr:
    value: 0.1
optimizer:
    value:
        lr: 0.2
""",
    ],
)
def test_config_yaml_in_both_layouts(tmp_path: Path, text: str) -> None:
    """Settings are read from files/config.yaml where the log has none; W&B's own are left out."""
    folder = run_folder(tmp_path, "one", *trained(1, 30))
    (folder / "files" / "config.yaml").write_text(text)
    assert wandb_dir.read(folder / "run-one.wandb").config == {"lr": 0.1, "optimizer.lr": 0.2}


def test_settings_of_the_log_come_first(tmp_path: Path) -> None:
    """config.yaml is the fallback only."""
    folder = run_folder(tmp_path, "one", (CONFIG, items({"lr": 0.2})), *trained(1, 3))
    (folder / "files" / "config.yaml").write_text("lr: {value: 0.1}\n")
    assert wandb_dir.read(folder / "run-one.wandb").config == {"lr": 0.2}


@pytest.mark.parametrize("where", ["metadata", "environment"])
def test_no_personal_data(tmp_path: Path, where: str) -> None:
    """The command line is read; who ran it, and at which address, is in no report."""
    machine = message(
        (5, "--lr"), (5, "0.1"), (6, "train.py"), (12, "a-host"), (13, MAIL), (14, MAIL)
    )
    environment = [(ENVIRONMENT, machine)] if where == "environment" else []
    folder = run_folder(tmp_path, "one", *environment, *trained(1, 30))
    found = {"program": "train.py", "args": ["--lr", "0.1"], "email": MAIL, "username": MAIL}
    if where == "metadata":
        (folder / "files" / "wandb-metadata.json").write_text(json.dumps(found))
    run = read(folder)
    assert run.config["command_line"].value == "train.py --lr 0.1"
    assert MAIL not in repr(run.config)
    assert MAIL not in json_report.render(diagnose(run), full=True)


def test_debug_logs_of_the_sdk_are_no_console(tmp_path: Path) -> None:
    """A traceback in logs/debug.log proves nothing about the ending, wherever the folder lies."""
    folder = run_folder(tmp_path, "one", *trained(1, 30), (EXIT, b""))
    (folder / "logs").mkdir()
    text = 'Traceback (most recent call last):\n  File "x.py", line 1\nRuntimeError: boom\n'
    for name in ("debug.log", "debug-internal.log", "debug-core.log"):
        (folder / "logs" / name).write_text(text)
    elsewhere = tmp_path / "copied" / folder.name
    shutil.copytree(folder, elsewhere)
    for place in (folder, elsewhere):
        run = read(place)
        assert run.sources == ("run-one.wandb",)
        assert run.state.kind == "finished"
        assert not run.log_tail


@pytest.mark.parametrize("kind", [4, OUTPUT])
def test_console_text_inside_the_log(tmp_path: Path, kind: int) -> None:
    """Without output.log the traceback stands in records, `output` up to 0.12, `output_raw` now."""
    lines = ["Traceback (most recent call last):\n", '  File "a.py", line 3, in <module>\n']
    lines += ["torch.cuda.OutOfMemoryError: CUDA out of ", "memory. Tried to allocate 2.0 GiB\n"]
    console = [(kind, message((1, 1), (3, line))) for line in lines]
    reading = read_log(tmp_path, *trained(1, 30), *console, (EXIT, message((1, 1))))
    assert reading.hints.traceback.startswith("torch.cuda.OutOfMemoryError")
    assert [e.data["class"] for e in reading.events if e.kind == "message"][-1:] == ["oom"]


def test_records_of_kinds_to_come(tmp_path: Path) -> None:
    """A record that no release has written yet is passed over."""
    reading = read_log(tmp_path, (77, b"\x0a\x03new"), *trained(1, 3), (999, b"more"))
    assert len(reading.series["train/loss"].step) == 3
    assert reading.problems == []


def test_nan_is_not_null_and_absent_is_neither(tmp_path: Path) -> None:
    """A NaN that was logged is a point; a row without the key, or with null, is none."""
    logged: list[dict[str, Any]] = [{"loss": 1.0, "x": 1.0}, {"loss": float("nan")}]
    logged += [{"x": None}, {"loss": 0.5, "x": 2.0}]
    reading = read_log(tmp_path, *rows(*logged, nested=True))
    assert reading.series["loss"].step.tolist() == [0, 1, 3]
    assert np.isnan(reading.series["loss"].value[1])
    assert points(reading, "x") == [(0, 1.0), (3, 2.0)]


def test_sentinel_of_the_first_row(tmp_path: Path) -> None:
    """NanoGPT logs an mfu of -100 until it is known: utilisation is judged by what follows."""
    logged = [{"iter": 50 * n, "train/loss": 2.0 - n / 50, "mfu": -100.0} for n in range(2)]
    logged += [{"iter": 50 * n, "train/loss": 2.0 - n / 50, "mfu": 45.0} for n in range(2, 60)]
    run_folder(tmp_path, "one", *rows(*logged))
    run = read(tmp_path)
    assert run.curve("train_loss").step[-1] == 2950
    assert "low-utilisation" not in {finding.rule for finding in diagnose(run).findings}


def test_two_models_on_alternating_rows(tmp_path: Path) -> None:
    """A generator on even rows and a discriminator on odd ones keep their own steps."""
    logged = [{("G_loss", "D_loss")[n % 2]: 1.0 + n} for n in range(40)]
    reading = read_log(tmp_path, *rows(*logged))
    assert reading.series["G_loss"].step.tolist() == list(range(0, 40, 2))
    assert reading.series["D_loss"].step.tolist() == list(range(1, 40, 2))


def test_summary_is_no_history(tmp_path: Path) -> None:
    """Summaries before each row add no points, also those that define_metric made a dict."""
    made = []
    for row in trained(1, 5):
        made += [(SUMMARY, items({"train/loss": {"min": 1.0}}, nested=True)), row]
    reading = read_log(tmp_path, *made)
    assert len(reading.series["train/loss"].step) == 5
    assert "train/loss.min" not in reading.series


def test_half_a_gigabyte_is_no_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log longer than any text that is read at once is read to its end."""
    from runlens.sources import files

    monkeypatch.setattr(files, "MAX_TEXT", 1000)
    folder = run_folder(tmp_path, "one", *trained(1, 400))
    assert len(wandb_dir.read(folder / "run-one.wandb").series["train/loss"].step) == 400
