"""Reading SwanLab's logs."""

import json
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest

from runlens import read
from runlens.errors import NothingReadable
from runlens.sources import read_all
from runlens.sources.files import walk
from runlens.sources.stores import swanlab_dir
from tests.sources.sdk.logged import ODD, STEPS, loss
from tests.sources.store import DATA

RELEASES = {"0.6.13": "backup.swanlab", "0.10.3": "run-x1.swanlab"}
CONFIG = "learning_rate:\n  desc: ''\n  sort: 0\n  value: 0.001\ntrl:\n  value:\n    beta: 0.1\n"


def run_folder(place: Path, log: bytes, name: str, run: str = "x1") -> Path:
    """Write the folder of a run as SwanLab does and return the path of its log."""
    folder = place / "swanlog" / f"run-20261121_200816-{run}"
    (folder / "files").mkdir(parents=True)
    (folder / "files" / "config.yaml").write_text(CONFIG)
    known = {"runtime": {"command": "python train.py --x", "python_version": "3.11.7"}}
    (folder / "files" / "swanlab-metadata.json").write_text(json.dumps(known))
    (folder / name).write_bytes(log)
    return folder / name


def framed(version: int, *records: bytes) -> bytes:
    """Return a log of these records."""
    chunks = [
        struct.pack("<IHB", zlib.crc32(b"\1" + record), len(record), 1) + record
        for record in records
    ]
    return b"".join((swanlab_dir.HEADERS[version], *chunks))


@pytest.fixture(params=RELEASES)
def release(request: pytest.FixtureRequest) -> str:
    """Return a release that wrote the files of `data`, see `sdk/swanlab_runs.py`."""
    return str(request.param)


def kept(place: Path, release: str, run: str = "finished") -> Path:
    """Lay a log that a release wrote into a folder and return its path."""
    log = (DATA / f"swanlab-{run}-{release}.swanlab").read_bytes()
    return run_folder(place, log, RELEASES[release])


def test_values_steps_times_and_settings_come_back(tmp_path: Path, release: str) -> None:
    """The tracker's end is the run's; the folder is no run of W&B, which calls it alike."""
    kept(tmp_path, release)
    run = read(tmp_path)
    curve = run.curve("train_loss")
    assert curve.step.tolist() == list(STEPS)
    assert curve.value.tolist() == [loss(step) for step in STEPS]
    odd = np.array([ODD.get(step, 0.5) for step in STEPS])
    if release == "0.6.13":  # it lost the sign when it wrote
        odd = np.where(np.isinf(odd), np.inf, odd)
    assert np.array_equal(run.curve("grad_norm").value, odd, equal_nan=True)
    assert len(run.curve("nested.deep" if release == "0.6.13" else "nested/deep")) == len(STEPS)
    assert np.isfinite(curve.time).all()
    assert run.config["learning_rate"].value == 0.001
    assert run.config["beta"].value == 0.1
    assert run.config["command_line"].value == "python train.py --x"
    assert run.state.kind == "finished"
    assert run.problems == ()
    assert "said on the console" in run.log_tail


def test_exception_ends_the_run(tmp_path: Path, release: str) -> None:
    """The closing record says so, from 0.10 with the traceback."""
    kept(tmp_path, release, "crashed")
    run = read(tmp_path)
    assert run.state.kind == "crashed"
    assert run.curve("train_loss").step.tolist() == list(STEPS[:2])
    if release == "0.10.3":
        assert "RuntimeError: boom" in run.state.why


def test_system_metrics_are_placed_by_time(tmp_path: Path) -> None:
    """They count samples of their own."""
    kept(tmp_path, "0.6.13")
    run = read(tmp_path)
    assert run.curve("heartbeat").step.tolist() == [STEPS[-1]]
    assert run.last_step == STEPS[-1]


@pytest.mark.parametrize("size", [0, 3, 7, 8, 400, 1200])
def test_cut_log_keeps_its_beginning(tmp_path: Path, release: str, size: int) -> None:
    """A run that was killed: the log is written now and then, at first it is empty."""
    path = kept(tmp_path, release)
    path.write_bytes(path.read_bytes()[:size])
    assert swanlab_dir.find(tmp_path, walk(tmp_path)) == [path]
    reading = swanlab_dir.read(path)
    assert reading.hints.tracker_state == ""
    assert reading.hints.no_exit_record
    assert reading.run_id
    assert reading.config["learning_rate"] == 0.001
    for points in reading.series.values():
        assert points.step.tolist() == list(STEPS[: len(points.step)])
    assert reading.problems


def test_empty_log_is_told_beside_runs_that_are_read(tmp_path: Path) -> None:
    """It belongs to no other run."""
    kept(tmp_path, "0.10.3")
    run_folder(tmp_path, b"", "run-y2.swanlab", "y2")
    assert [p.text for p in read(tmp_path).problems] == ["is empty (0 bytes)"]


def test_damage_costs_one_record(tmp_path: Path, release: str) -> None:
    """Reading goes on at the next whole record."""
    path = kept(tmp_path, release)
    data = bytearray(path.read_bytes())
    at = data.rindex(b"train/loss")  # in the last point of it
    data[at] ^= 1
    path.write_bytes(data)
    reading = swanlab_dir.read(path)
    assert reading.series["train/loss"].step.tolist() == list(STEPS[:-1])
    assert "is damaged at 1 place" in reading.problems[0].text


def test_foreign_file_is_not_found(tmp_path: Path) -> None:
    """The ending alone says nothing."""
    (tmp_path / "notes.swanlab").write_bytes(b"words" * 100)
    with pytest.raises(NothingReadable):
        read_all(tmp_path)


def test_resumed_run_is_one_run(tmp_path: Path) -> None:
    """Two folders of one id."""
    log = (DATA / "swanlab-finished-0.10.3.swanlab").read_bytes()
    first = run_folder(tmp_path, log, "run-x1.swanlab")
    again = first.parent.with_name("run-20261122_200816-x1")
    again.mkdir()
    (again / "run-x1.swanlab").write_bytes(log)
    assert len(read(tmp_path).sources) == 2


def test_records_that_cannot_be_decoded_are_counted(tmp_path: Path) -> None:
    """The others are kept."""
    scalar = '{"model_type": "Scalar", "data": {"key": "loss", "step": %s, "metric": %s}}'
    bad = (
        b"{",
        b'{"model_type": "Scalar", "data": 3}',
        (scalar % (1, "4")).encode(),
        (scalar % (-1, '{"data": 1.0}')).encode(),
        (scalar % ('"x"', '{"data": 1.0}')).encode(),
        b"\xff\xff",
    )
    good = (
        (scalar % (10, '{"data": NaN, "create_time": "never"}')).encode(),
        b'{"model_type": "Unheard", "data": {}}',
        b'{"model_type": "Header", "data": {"create_time": "never"}}',
        b'{"model_type": "Log", "data": {"epoch": "x", "message": "said"}}',
    )
    path = run_folder(tmp_path, framed(1, *bad, *good), "backup.swanlab")
    reading = swanlab_dir.read(path)
    assert reading.series["loss"].step.tolist() == [10]
    assert reading.log_tail == ("said",)
    assert reading.started is None
    assert [(p.text, p.lost) for p in reading.problems] == [
        ("holds records that cannot be decoded", "6 of 10 records")
    ]


def test_file_in_a_run_folder_that_is_no_log_is_told(tmp_path: Path) -> None:
    """Its settings are read."""
    path = run_folder(tmp_path, b"words" * 100, "backup.swanlab")
    reading = swanlab_dir.read(path)
    assert reading.config["learning_rate"] == 0.001
    assert "is no SwanLab log" in reading.problems[0].text


def test_settings_that_are_missing_or_damaged_are_told(tmp_path: Path) -> None:
    """The history is read all the same."""
    path = kept(tmp_path, "0.10.3")
    files = path.parent / "files"
    (files / "config.yaml").write_text("a: [")
    (files / "swanlab-metadata.json").unlink()
    reading = swanlab_dir.read(path)
    assert "is no YAML" in reading.problems[0].text
    assert reading.series
    (files / "config.yaml").write_text("- a list\n")
    assert swanlab_dir.read(path).problems == []
    (files / "config.yaml").write_text("transformers_version:\n  value: 5.0.0\n")
    assert swanlab_dir.read(path).framework == "transformers"
