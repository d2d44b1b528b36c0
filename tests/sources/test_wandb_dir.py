"""W&B run folders: values, steps, endings and settings are those of the run that was logged."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from runlens.sources import wandb_dir
from runlens.sources.files import walk
from runlens.sources.wandb_dir.log import HEADER, Log, Records
from tests.sources.wandb_files import (
    CONFIG,
    EXIT,
    HISTORY,
    METRIC,
    OUTPUT,
    RUN,
    STATS,
    SUMMARY,
    items,
    log,
    message,
    points,
    read,
    rows,
    run_folder,
)


def test_steps_are_optimizer_steps(tmp_path: Path) -> None:
    """W&B's row counter is not the step where the rows say the optimizer step."""
    logged = [{"loss": 2.0 / n, "iter": 50 * n} for n in range(1, 6)]
    reading = read(tmp_path, *rows(*logged))
    assert reading.series["loss"].step.tolist() == [50, 100, 150, 200, 250]
    assert reading.series["loss"].time.tolist() == [1000.0, 1001.0, 1002.0, 1003.0, 1004.0]
    assert reading.hints.ended_step == 250
    assert not reading.steps_inferred


@pytest.mark.parametrize(
    "iteration",
    [
        pytest.param([0, 1, 2, 0, 1, 2], id="starts again each epoch"),
        pytest.param([0, 0, 0, 0, 0, 0], id="never moves"),
        pytest.param([0, 1, math.inf, 3, math.nan, 5], id="not finite"),
        pytest.param([0.5, 1.5, 2.5, 3.5, 4.5, 5.5], id="no whole numbers"),
    ],
)
def test_a_counter_that_is_no_step(tmp_path: Path, iteration: list[float]) -> None:
    """A key with the name of a step that does not go on like one is not taken for it."""
    reading = read(
        tmp_path, *rows(*({"loss": 1.0 + i, "iter": n} for i, n in enumerate(iteration)))
    )
    assert reading.series["loss"].step.tolist() == [0, 1, 2, 3, 4, 5]
    assert reading.steps_inferred


def test_rows_between_the_steps(tmp_path: Path) -> None:
    """TRL's timing rows, which repeat the last step, add no points and do not decide the step."""
    timing = {"profiling/Time taken: generate": 0.1, "train/global_step": 0}
    logged = [timing] * 30 + [{"train/loss": 1.0, "train/epoch": 0.1, "train/global_step": 5}]
    logged += [{"train/epoch": 0.1, "train/global_step": 5}] * 3 + [{"late": 7.0}]
    reading = read(tmp_path, *rows(*logged))
    assert points(reading, "train/loss") == [(5, 1.0)]
    assert points(reading, "train/epoch") == [(5, 0.1)]
    assert points(reading, "late") == [(5, 7.0)]  # a row without a step is at the last one
    assert reading.series["train/loss"].epoch.tolist() == [0.1]
    assert reading.series.keys() == {"train/loss", "train/epoch", "late"}


def test_several_rows_a_step(tmp_path: Path) -> None:
    """What evaluation rows log again at a step stays at that step, each value of it once."""
    logged = [
        {key: 1.0, "train/global_step": 10 * n, "train/epoch": 0.1 * n, "train/memory": memory}
        for n in range(1, 4)
        for memory, key in enumerate(("train/loss", "eval/a_loss", "eval/b_loss", "eval/c_loss"))
    ]
    reading = read(tmp_path, *rows(*logged))
    assert reading.series["train/loss"].step.tolist() == [10, 20, 30]
    assert points(reading, "train/epoch") == [(10, 0.1), (20, 0.2), (30, 0.1 * 3)]
    assert reading.series["train/memory"].step.tolist() == [10] * 4 + [20] * 4 + [30] * 4


def test_a_step_metric_of_its_own(tmp_path: Path) -> None:
    """The most exact pattern of define_metric decides; a step metric that is an epoch does not."""
    declared = [
        (METRIC, message((2, "*"), (4, "train/global_step"))),
        (METRIC, message((2, "story/*"), (4, "story/step"))),
        (METRIC, message((1, "acc"), (4, "epoch"))),
    ]
    logged = [
        {"train/loss": 1.0, "train/global_step": 10 * n, "story/x": 2.0 * n, "story/step": n}
        | {"acc": 0.1 * n, "epoch": n}
        for n in range(1, 4)
    ]
    reading = read(tmp_path, *declared, *rows(*logged, nested=True))
    assert reading.series["train/loss"].step.tolist() == [10, 20, 30]
    assert reading.series["story/x"].step.tolist() == [1, 2, 3]
    assert reading.series["acc"].step.tolist() == [10, 20, 30]
    assert points(reading, "epoch") == [(10, 1.0), (20, 2.0), (30, 3.0)]


def test_several_trainings(tmp_path: Path) -> None:
    """A step that starts again begins the next launch; the end of an earlier one is no end."""
    first = [{"train/loss": 1.0, "train/global_step": n} for n in range(12)]
    closing = {"train/train_runtime": 9.0, "train/train_loss": 1.2, "train/global_step": 11}
    ended = read(tmp_path, *rows(*first, closing))
    assert ended.hints.summary
    assert "train/train_loss" not in ended.series  # a mean over the run, no point of a curve
    going_on = read(tmp_path, *rows(*first, closing, *first))
    assert not going_on.hints.summary
    assert going_on.series["train/loss"].launch.tolist() == [0] * 12 + [1] * 12


def test_closing_row_in_the_summary_only(tmp_path: Path) -> None:
    """The Trainer's closing row is seen where newer releases put it: in the summary alone."""
    history = rows(*({"train/loss": 1.0, "train/global_step": n} for n in range(3)))
    closed = (SUMMARY, items({"train_runtime": 12.5, "train_loss": 1.1}, nested=True))
    assert not read(tmp_path, *history).hints.summary
    assert read(tmp_path, *history, closed).hints.summary


def test_what_is_no_number(tmp_path: Path) -> None:
    """Media, text, lists and yes-or-no values give no series; numbers in quotes do."""
    old: dict[str, Any] = {
        "loss": 1.0,
        "picture": {"_type": "image-file", "width": 64},
        "stats": {"a": {"b": 2}},
    }
    other: dict[str, Any] = {
        "text": "hello",
        "flag": True,
        "list": [1, 2],
        "big": 10**400,
        "quoted": "NaN",
    }
    reading = read(tmp_path, *rows(old | other))
    assert reading.series.keys() == {"loss", "stats.a.b", "big", "quoted"}
    assert reading.series["big"].value[0] == math.inf
    assert math.isnan(reading.series["quoted"].value[0])


def test_media_of_newer_releases(tmp_path: Path) -> None:
    """An image whose parts are items of their own gives no series."""
    row = message(
        *(
            (1, message((2, "picture"), (2, key), (16, json.dumps(value))))
            for key, value in {"_type": "image-file", "width": 64, "size": 900}.items()
        )
    )
    reading = read(tmp_path, (HISTORY, row + items({"loss": 1.0, "_step": 0}, nested=True)))
    assert reading.series.keys() == {"loss"}


@pytest.mark.parametrize(("release", "kept"), [("0.16.6", 3), ("0.31.0", 2)])
def test_null_and_nan(tmp_path: Path, release: str, kept: int) -> None:
    """Null is "not logged", but for a loss where the release wrote NaN so; and that is told."""
    telemetry = (RUN, message((1, "abc"), (19, message((5, release)))))
    logged: list[dict[str, Any]] = [
        {"loss": 2.0, "note": 1.0},
        {"loss": None, "note": None},
        {"loss": 1.0},
    ]
    reading = read(tmp_path, telemetry, *rows(*logged))
    assert len(reading.series["loss"].step) == kept
    assert int(np.isnan(reading.series["loss"].value).sum()) == kept - 2
    assert points(reading, "note") == [(0, 1.0)]
    assert len(reading.problems) == kept - 2


def test_heartbeat_goes_on_while_the_run_hangs(tmp_path: Path) -> None:
    """System metrics stay at the last step while nothing is logged, so that a hang shows."""

    def stats(time: int) -> tuple[int, bytes]:
        values = {"gpu.0.gpu": 97.5, "gpu.0.temp": 60, "proc.memory.rssMB": 512.0}
        return STATS, message((2, message((1, time)))) + items(values, 3)

    logged = rows(*({"loss": 1.0, "global_step": 10 * n} for n in range(1, 4)))
    reading = read(tmp_path, stats(999), *logged, stats(1002), stats(1500), stats(2000))
    heartbeat = reading.series["system/heartbeat"]
    assert heartbeat.step.tolist() == [0, 30, 30, 30]
    assert heartbeat.time.tolist() == [999.0, 1002.0, 1500.0, 2000.0]
    assert points(reading, "system/gpu.0.gpu")[-1] == (30, 97.5)
    assert reading.hints.ended_step == 30


def test_every_system_metric_is_kept(tmp_path: Path) -> None:
    """Also where other bytes look like the beginning of an item; text is none."""
    values = {"cpu": 12, "ten\nletter": 1.5, "disk./.usageGB": 7.0, "network.sent": 1e9}
    time = message((1, 1000), (2, 26))  # of which the last byte is that with which an item begins
    content = message((2, time)) + items({**values, "note": "idle"}, 3)
    reading = read(tmp_path, *rows({"loss": 1.0}), (STATS, content))
    kept = {name: series.value.tolist() for name, series in reading.series.items()}
    assert kept == {
        "loss": [1.0],
        "system/heartbeat": [1.0],
        **{f"system/{name}": [value] for name, value in values.items()},
    }


def test_clean_end(tmp_path: Path) -> None:
    """An exit record without a code is a clean end."""
    hints = read(tmp_path, *rows({"loss": 1.0}), (EXIT, b"")).hints
    assert (hints.exit_code, hints.tracker_state, hints.no_exit_record) == (0, "finished", False)


def test_no_exit_record(tmp_path: Path) -> None:
    """Without an exit record nothing is concluded about the end but that."""
    hints = read(tmp_path, *rows({"loss": 1.0})).hints
    assert (hints.exit_code, hints.tracker_state, hints.no_exit_record) == (None, "", True)


def test_console_text_as_a_terminal_shows_it(tmp_path: Path) -> None:
    """The console text is joined from its pieces; where output.log exists, that one is read."""
    pieces = ["line", " ", "0", "\n", "\x1b[31mred\x1b[0m\n"]
    records = [(OUTPUT, message((3, piece))) for piece in pieces]
    assert read(tmp_path, *records).log_tail == ("line 0", "red")
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "output.log").write_text("line 0\n")
    assert read(tmp_path, *records).log_tail == ()


def test_the_bar_of_the_console_says_how_far_a_run_without_rows_came(tmp_path: Path) -> None:
    """Nothing was logged yet: the last step is that of the bar, not 0."""
    lines = ["  0%|   | 15/3581 [04:04<15:54:18, 16.06s/it]\n"]
    lines += ["  0%|   | 16/3581 [04:20<15:54:18, 16.06s/it]\n", "KeyboardInterrupt\n"]
    hints = read(tmp_path, *[(OUTPUT, message((3, line))) for line in lines]).hints
    assert (hints.ended_step, hints.planned_steps) == (16, 3581)


@pytest.mark.parametrize(
    ("line", "kinds"),
    [("wandb: Ctrl + C detected. Stopping sweep.\n", ["message"]), ("ValueError: odd\n", [])],
)
def test_a_clean_exit_keeps_only_the_hand_that_stopped_it(
    tmp_path: Path, line: str, kinds: list[str]
) -> None:
    """Exit code 0: an error in the console was survived; a Ctrl-C is why it ended."""
    records = [(OUTPUT, message((3, "betas: (0.9, 0.95)\n"))), (OUTPUT, message((3, line)))]
    read_in = read(tmp_path, *records, *rows({"loss": 1.0}), (EXIT, b""))
    assert [event.kind for event in read_in.events if event.kind == "message"] == kinds
    assert read_in.config["betas"] == "(0.9, 0.95)"


def test_removed_setting(tmp_path: Path) -> None:
    """A setting that was taken back is not in the configuration."""
    given = items({"lr": 0.1, "model": {"a": 1, "b": 2}})
    update = message((1, message((1, "lr"), (16, "0.2"))), (2, message((2, "model"), (2, "b"))))
    assert read(tmp_path, (CONFIG, given), (CONFIG, update)).config == {"lr": 0.2, "model.a": 1}


@pytest.mark.parametrize(
    ("program", "settings", "framework"),
    [
        ("/opt/env/bin/axolotl", {"transformers_version": "5.0"}, "axolotl"),
        ("/w/LLaMA-Factory/src/train.py", {"transformers_version": "4.4"}, "llama-factory"),
        ("/w/axolotl/train.py", {"transformers_version": "4.4"}, "transformers"),
        ("train.py", {"lr": 0.1}, ""),
    ],
)
def test_framework(tmp_path: Path, program: str, settings: dict[str, Any], framework: str) -> None:
    """The framework is told by the program, else by settings that only the Trainer has."""
    environment = (26, message((6, program), (5, "train"), (18, "NVIDIA L4"), (19, 2)))
    reading = read(tmp_path, environment, (CONFIG, items(settings)))
    assert reading.framework == framework
    assert reading.config["command_line"] == f"{program} train"
    assert (reading.config["gpu"], reading.config["gpu_count"]) == ("NVIDIA L4", 2)


def test_find_each_run_once(tmp_path: Path) -> None:
    """Each log is found from every folder above it, a copy named latest-run not again."""
    one, two = run_folder(tmp_path, "one"), run_folder(tmp_path, "two")
    (one / "files" / "wandb-summary.json").write_text("{}")
    copy = one.parent / "latest-run"
    copy.mkdir()
    (copy / "run-two.wandb").write_bytes((two / "run-two.wandb").read_bytes())
    logs = [one / "run-one.wandb", two / "run-two.wandb"]
    for place in (tmp_path, one.parent):
        assert wandb_dir.find(place, walk(place)) == logs
    for place in (one, one / "run-one.wandb", one / "files"):
        assert wandb_dir.find(place, walk(place)) == logs[:1]
    assert wandb_dir.find(copy, walk(copy)) == [copy / "run-two.wandb"]


def test_run_folder_without_its_log(tmp_path: Path) -> None:
    """Settings, machine and last step are read from files/; that the history is gone is told."""
    folder = run_folder(tmp_path, "one")
    (folder / "run-one.wandb").unlink()
    (folder / "files" / "config.yaml").write_text(
        "wandb_version: 1\n_wandb:\n  value: {cli_version: 0.16}\nlr: {desc: null, value: 0.1}\n"
    )
    (folder / "files" / "wandb-summary.json").write_text('{"loss": NaN, "train/global_step": 40}')
    (folder / "files" / "wandb-metadata.json").write_text(
        '{"program": "train.py", "args": ["--lr", "0.1"], "gpu": "A100", "state": "running"}'
    )
    assert wandb_dir.find(tmp_path, walk(tmp_path)) == [folder]
    reading = wandb_dir.read(folder)
    assert reading.config == {"lr": 0.1, "command_line": "train.py --lr 0.1", "gpu": "A100"}
    assert (reading.hints.done_steps, reading.hints.tracker_state) == (40, "")
    assert reading.run_id == "one"
    assert [problem.lost for problem in reading.problems] == ["the history"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (HEADER, "is empty"),
        (HEADER[:3], "is empty"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git lfs pull"),
        (b"step,loss\n1,2.0\n" * 50, "is no W&B transaction log"),
    ],
)
def test_unreadable_log(tmp_path: Path, content: bytes, words: str) -> None:
    """A log of which nothing can be read gives one problem, and files/ is read all the same."""
    folder = run_folder(tmp_path, "one")
    (folder / "run-one.wandb").write_bytes(content)
    (folder / "files" / "config.yaml").write_text("lr: {value: 0.1}\n")
    reading = wandb_dir.read(folder / "run-one.wandb")
    assert [words in problem.text for problem in reading.problems] == [True]
    assert reading.config == {"lr": 0.1}
    assert reading.hints.no_exit_record


def test_latest_run_as_text(tmp_path: Path) -> None:
    """A link that was kept as text gives one problem that says where to point."""
    link = tmp_path / "latest-run"
    link.write_text("run-20260101_000000-one")
    assert wandb_dir.find(link, walk(link)) == [link]
    assert ["point at" in problem.text for problem in wandb_dir.read(link).problems] == [True]


def test_start_that_cannot_be_decoded(tmp_path: Path) -> None:
    """A run record with a broken time still gives the run's id and name."""
    record = (RUN, message((1, "abc"), (8, "fine-tune"), (17, b"\x08\xff")))
    reading = read(tmp_path, record)
    assert (reading.run_id, reading.run_name, reading.started) == ("abc", "fine-tune", None)


def test_records_of_garbage(tmp_path: Path) -> None:
    """Records that are framed well but hold garbage are counted, the others are read."""
    random = np.random.default_rng(0)
    garbage = [(int(random.integers(2, 27)), random.bytes(30)) for _ in range(60)]
    reading = read(tmp_path, *garbage, *rows({"loss": 1.0}))
    assert points(reading, "loss")[-1][1] == 1.0
    assert "cannot be decoded" in reading.problems[-1].text


def test_nested_settings_and_such_as_are_no_json(tmp_path: Path) -> None:
    """Levels of settings are joined by dots; a plain value gives way to levels below it."""
    given = message(
        (1, message((1, "optimizer"), (16, "5"))),
        (1, message((2, "optimizer"), (2, "lr"), (16, "0.1"))),
        (1, message((1, "broken"), (16, "{"))),
    )
    assert read(tmp_path, (CONFIG, given)).config == {"optimizer.lr": 0.1}


def test_unknown_header(tmp_path: Path) -> None:
    """A damaged header is told, and the records behind it are read."""
    path = tmp_path / "run-abc.wandb"
    data = bytearray(log(*rows({"loss": 1.0})))
    data[4] = 0
    path.write_bytes(data)
    reading = wandb_dir.read(path)
    assert points(reading, "loss") == [(0, 1.0)]
    assert [problem.text.split(";")[0] for problem in reading.problems] == [
        "has a header that is not known"
    ]


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ('{"program": "a.py", "args": 3, "gpu_count": NaN}', {"command_line": "a.py"}),
        ('{"program": "a.py", "gpu_count": 1e400}', {"command_line": "a.py"}),
        ('{"gpu_count": "2"}', {"gpu_count": 2}),
        ("[1]", {}),
        ("{", {}),
    ],
)
def test_odd_metadata(tmp_path: Path, text: str, settings: dict[str, Any]) -> None:
    """What is no metadata gives no settings, a file that is no JSON one problem."""
    folder = run_folder(tmp_path, "one", *rows({"loss": 1.0}))
    (folder / "files" / "wandb-metadata.json").write_text(text)
    reading = wandb_dir.read(folder / "run-one.wandb")
    assert reading.config == settings
    assert len(reading.problems) == (text == "{")


def test_state_in_the_metadata(tmp_path: Path) -> None:
    """A state other than running is the tracker's word."""
    folder = run_folder(tmp_path, "one", *rows({"loss": 1.0}))
    (folder / "files" / "wandb-metadata.json").write_text('{"state": "failed"}')
    assert wandb_dir.read(folder / "run-one.wandb").hints.tracker_state == "failed"


def test_odd_system_metrics_and_exit_codes(tmp_path: Path) -> None:
    """Records without a time, with a number that is none, or with text for a code: no exception."""
    stats = message((2, message((1, 1000)))) + items({"gpu.0.gpu": 5.0}, 3)
    odd = stats.replace(b"5.0", b"5-0")
    timeless = items({"gpu.0.gpu": 7.0}, 3)
    records = [(STATS, odd), (STATS, timeless), (EXIT, message((1, "text")))]
    reading = read(tmp_path, *rows({"loss": 1.0}), *records)
    assert reading.series.keys() == {"loss", "system/heartbeat"}
    assert reading.hints.exit_code == 0


def test_a_file_that_cannot_be_read_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error of the disk is a problem; what was read before it is kept."""

    class Broken(Log):
        def batches(self) -> Iterator[Records]:
            yield from super().batches()
            raise OSError(5, "Input/output error")

    monkeypatch.setattr(wandb_dir, "Log", Broken)
    reading = read(tmp_path, *rows({"loss": 1.0}))
    assert points(reading, "loss") == [(0, 1.0)]
    assert ["Input/output error" in problem.text for problem in reading.problems] == [True]
