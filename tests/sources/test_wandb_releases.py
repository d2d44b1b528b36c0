"""W&B logs as the releases of six years wrote them: small runs of our own, see `data`."""

import math
from pathlib import Path

import numpy as np
import pytest

from runlens.sources import wandb_dir
from runlens.sources.reading import SourceReading

DATA = Path(__file__).parent / "data"
RELEASES = ("0.13.11", "0.16.6", "0.17.9", "0.19.11", "0.22.3", "0.27.2", "0.31.0")


def points(reading: SourceReading, name: str) -> list[tuple[int, float]]:
    """Return one series as (step, value)."""
    found = reading.series[name]
    return list(zip(found.step.tolist(), found.value.tolist(), strict=True))


@pytest.mark.parametrize("release", RELEASES)
def test_values_of_every_release(release: str) -> None:
    """Every number that was logged comes back, in each of the formats that W&B has written."""
    reading = wandb_dir.read(DATA / f"run-values-{release}.wandb")
    logged: dict[str, list[tuple[int, float]]] = {
        "loss": [(0, 1.5), (1, math.nan), (2, float(np.float32(0.1))), (7, 0.5)],
        "train/acc": [(0, 0.25)],
        "i": [(0, 3)],
        "big": [(0, 2.0**53)],
        "neg": [(0, -7)],
        "x": [(1, math.inf)],
        "y": [(1, -math.inf)],
        "np64": [(2, 1e-30)],
        "npi": [(2, 12)],
        "nested.a": [(3, 1)],
        "nested.b.c": [(3, 2.5)],
        "nested.b.d": [(3, math.nan)],
        "k.with.dot": [(3, 4)],
        "tiny": [(4, 5e-324)],
        "huge": [(4, 1.7976931348623157e308)],
        "negzero": [(4, 0.0)],
        "deep.a.b.c.d": [(6, 1)],
        "sp ace": [(6, 1)],
        "über/\U0001f600": [(6, 2)],
        "bignum": [(7, 1e15 if release.startswith("0.13") else 1e20)],
    }
    if release == "0.31.0":  # before 0.28.2 it was written as null
        logged["npnan"] = [(2, math.nan)]
    assert reading.series.keys() == logged.keys()
    for name, expected in logged.items():
        steps, values = zip(*points(reading, name), strict=True)
        assert steps == tuple(step for step, _ in expected)
        assert np.array_equal(values, [value for _, value in expected], equal_nan=True), name
    assert reading.problems == []


@pytest.mark.parametrize("release", ["0.13.11", "0.19.11", "0.31.0"])
def test_declared_step_metric(release: str) -> None:
    """Metrics are by the step metric that define_metric named, those logged without it by _step."""
    reading = wandb_dir.read(DATA / f"run-steps-{release}.wandb")
    assert points(reading, "train/loss") == [(500, 2.0), (1000, 1.0), (1500, 0.5)]
    assert points(reading, "a") == [(0, 1.0), (1, 2.0), (10, 4.0)]
    assert "train/global_step" not in reading.series
    assert reading.hints.done_steps == 1500


def test_old_release_with_system_metrics() -> None:
    """The system metrics of a release of the old format are read."""
    reading = wandb_dir.read(DATA / "run-system-0.17.9.wandb")
    assert len(reading.series["system/heartbeat"].step) == 4
    assert reading.series["system/proc.memory.rssMB"].value[0] > 1


@pytest.mark.parametrize("release", RELEASES)
def test_settings_of_every_release(release: str) -> None:
    """Settings come back flat under their own keys, later updates too, W&B's own ones not."""
    reading = wandb_dir.read(DATA / f"run-values-{release}.wandb")
    expected = {
        "lr": 2e-4,
        "model.name": "tiny",
        "model.layers": 2,
        "model.dims": "1, 2",
        "note": 'grüße "q"',
        "nothing": None,
        "flag": True,
        "a.b": 1,
        "c/d": 2,
        "late": 5,
        "wandb_project": "demo",
    }
    assert {key: reading.config[key] for key in expected} == expected
    assert not [key for key in reading.config if key.startswith("_wandb")]
    assert reading.run_id == f"rvalues{int(release.split('.')[1]):03d}"
    assert reading.run_name == "values"
    assert reading.started is not None
    assert reading.log_tail == ("console line one", "console err")


@pytest.mark.parametrize("release", ["0.16.6", "0.31.0"])
def test_exception(release: str) -> None:
    """A run that raised has all rows, its exit code, and the exception from the console text."""
    reading = wandb_dir.read(DATA / f"run-exception-{release}.wandb")
    assert len(reading.series["loss"].step) == 40
    assert reading.hints.exit_code == 1
    assert reading.hints.tracker_state == "failed"
    assert reading.hints.traceback.startswith("RuntimeError: CUDA out of memory.")
    ends = [(e.kind, e.step, e.data) for e in reading.events if e.kind == "exit"]
    assert ends == [("exit", 39, {"code": 1})]
    messages = [(e.step, e.data["class"]) for e in reading.events if e.kind == "message"]
    assert (39, "oom") in messages


def test_losses_are_told(tmp_path: Path) -> None:
    """Damage and a cut end are one problem each, with the amount; the other rows are there."""
    path = tmp_path / "run-abc.wandb"
    data = bytearray((DATA / "run-exception-0.31.0.wandb").read_bytes())
    data[7000] ^= 1
    path.write_bytes(bytes(data[:-400]))
    reading = wandb_dir.read(path)
    assert len(reading.series["loss"].step) >= 39
    assert [problem.text.split(":")[0] for problem in reading.problems] == [
        "is damaged at 1 place, first at byte 6897",
        "ends in the middle of a record",
    ]
    assert all(
        problem.lost.endswith(f"of {len(data) - 400:,} bytes") for problem in reading.problems
    )


def test_any_damage_is_survived(tmp_path: Path) -> None:
    """Whatever bytes are damaged, something is read and no number is invented."""
    whole = (DATA / "run-exception-0.31.0.wandb").read_bytes()
    path = tmp_path / "run-abc.wandb"
    path.write_bytes(whole)
    truth = set(points(wandb_dir.read(path), "loss"))
    random = np.random.default_rng(0)
    for _ in range(60):
        data = bytearray(whole)
        start = int(random.integers(0, len(data)))
        length = int(random.integers(1, 300))
        data[start : start + length] = random.bytes(length)
        path.write_bytes(bytes(data))
        reading = wandb_dir.read(path)
        assert set(points(reading, "loss")) <= truth
        assert reading.problems
