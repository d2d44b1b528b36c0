"""Reading MLflow's SQLite store."""

from pathlib import Path

import numpy as np
import pytest

from runlens import read
from runlens.errors import NothingReadable
from runlens.run import Run
from runlens.sources import read_all
from runlens.sources.files import walk
from runlens.sources.stores import mlflow_db
from tests.sources import test_trackio_db as trackio
from tests.sources.sdk.logged import ODD, RESUMED, STEPS, loss
from tests.sources.store import changing, snapshot, unpacked

RUNS = (
    "CREATE TABLE runs (run_uuid VARCHAR(32), status VARCHAR(9), start_time BIGINT,"
    " lifecycle_stage VARCHAR(20), experiment_id INTEGER)"
)
METRICS = (
    "CREATE TABLE metrics (key VARCHAR(250), value FLOAT, timestamp BIGINT,"
    " run_uuid VARCHAR(32), step BIGINT, is_nan BOOLEAN)"
)


def store(folder: Path, *rows: tuple[object, ...]) -> Path:
    """Write a store of one run with rows (key, value, time, run, step, is it NaN)."""
    path = folder / "mlflow.db"
    run = "INSERT INTO runs VALUES ('a1', 'FINISHED', 1700000000000, 'active', 1)"
    with changing(path, RUNS, METRICS, run) as connection:
        connection.executemany("INSERT INTO metrics VALUES (?, ?, ?, ?, ?, ?)", rows)
    return path


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """Return a folder with what MLflow 3.17 wrote, see `sdk/mlflow_runs.py`."""
    unpacked("mlflow-3.17.2.db.gz", tmp_path, "mlflow.db")
    return tmp_path


def named(folder: Path) -> dict[str, Run]:
    """Return the runs by name."""
    return {run.name: run for run in read_all(folder)}


def test_runs_are_named_and_end_as_mlflow_says(kept: Path) -> None:
    """A run whose process died is still running in MLflow."""
    before = snapshot(kept)
    assert {name: run.state.kind for name, run in named(kept).items()} == {
        "finished": "finished",
        "resumed": "finished",
        "killed": "killed",
        "alive": "running",
        "crashed": "crashed",
    }
    assert snapshot(kept) == before


def test_values_steps_times_and_settings_come_back(kept: Path) -> None:
    """A NaN is a flag in the table, an infinity the largest number."""
    run = named(kept)["finished"]
    curve = run.curve("train_loss")
    assert curve.step.tolist() == list(STEPS)
    assert curve.value.tolist() == [loss(step) for step in STEPS]
    odd = [ODD.get(step, 0.5) for step in STEPS]
    assert np.array_equal(run.curve("grad_norm").value, odd, equal_nan=True)
    assert run.curve("eval_loss:de").value.tolist() == [1.25] * len(STEPS)
    assert np.isfinite(curve.time).all()
    assert run.config["learning_rate"].value == 0.001
    assert run.config["bf16"].value is True
    assert run.task == "asr"  # the experiment is called speech recognition
    assert run.curve("gpu_util").value.tolist() == [55.0]
    assert run.last_step == STEPS[-1]


def test_deleted_runs_are_left_out_and_told(kept: Path) -> None:
    """They are still in the tables."""
    told = [problem.text for run in read_all(kept) for problem in run.problems]
    assert told == ["holds 1 run deleted in MLflow, left out here"]


def test_runs_of_a_deleted_experiment_are_left_out(kept: Path) -> None:
    """MLflow hides them too."""
    with changing(kept / "mlflow.db", "UPDATE experiments SET lifecycle_stage = 'deleted'"):
        pass
    with pytest.raises(NothingReadable, match="holds 6 runs deleted in MLflow, left out here"):
        read_all(kept)


def test_launch_that_goes_back_is_a_segment(kept: Path) -> None:
    """For all metrics logged after it."""
    run = named(kept)["resumed"]
    assert [segment.first_step for segment in run.segments] == [0, RESUMED[0]]
    assert run.curve("train_loss").value[-1] == loss(RESUMED[-1], 1)


def test_store_of_an_old_release_has_fewer_columns(tmp_path: Path) -> None:
    """No names of runs, no experiments table here; a metric without a step is at 0."""
    store(
        tmp_path,
        ("loss", 2.0, 1_700_000_001_000, "a1", 10, None),
        ("loss", 1.0, 1_700_000_002_000, "a1", 20, None),
        ("f1", 0.5, 1_700_000_002_000, "a1", None, None),
    )
    run = read(tmp_path)
    assert run.id == "a1"
    assert run.curve("train_loss").step.tolist() == [10, 20]
    assert run.curve("f1").step.tolist() == [0]
    assert run.curve("train_loss").time.tolist() == [1_700_000_001, 1_700_000_002]


def test_rows_that_are_no_metric_are_counted(tmp_path: Path) -> None:
    """SQLite lets any value be in any column."""
    good = ("loss", 2.0, 1_700_000_001_000, "a1", 10, 0)
    path = store(
        tmp_path,
        good,
        ("loss", "x", 1, "a1", 10, 0),
        ("loss", 1.0, b"y", "a1", 10, 0),
        ("loss", 1.0, 1, "a1", 1.5, 0),
        ("loss", None, 1, "a1", 10, 0),
        ("loss", 1.0, 1, "no run", 10, 0),
        (None, 1.0, 1, "a1", 10, 0),
    )
    reading = mlflow_db.read_all(path)[0]
    assert reading.series["loss"].value.tolist() == [2.0]
    assert [p.lost for p in reading.problems] == ["4 rows"]


def test_store_without_a_run_says_so(tmp_path: Path) -> None:
    """A server that was only started."""
    with changing(tmp_path / "mlruns.db", RUNS, METRICS):
        pass
    with pytest.raises(NothingReadable, match=r"mlruns.db holds no run"):
        read_all(tmp_path)


def test_damaged_store_is_found_by_the_text_of_its_schema(tmp_path: Path) -> None:
    """Its name alone says nothing."""
    path = store(tmp_path, ("loss", 2.0, 1_700_000_001_000, "a1", 10, 0))
    data = bytearray(path.read_bytes())
    data[100:108] = b"\xff" * 8  # the page header of the schema
    path.write_bytes(data)
    assert mlflow_db.find(tmp_path, walk(tmp_path)) == [path]
    with pytest.raises(NothingReadable, match="cannot be read as a database"):
        read_all(tmp_path)


def test_run_logged_with_two_trackers_is_one_run(tmp_path: Path) -> None:
    """Each gives it an id of its own; the values are the same."""
    values = [2.0, 1.5, 1.25, 1.125]
    when = 1_700_000_000_000
    store(tmp_path, *(("loss", v, when + n, "a1", 10 * n, 0) for n, v in enumerate(values)))
    trackio.project(tmp_path, *(("t1", 10 * n, {"loss": v}) for n, v in enumerate(values)))
    run = read(tmp_path)
    assert set(run.sources) == {"mlflow.db", "project.db"}
    assert run.curve("train_loss").value.tolist() == values


def test_settings_beyond_the_limit_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store may hold any number of them; those of other runs do not count."""
    monkeypatch.setattr(mlflow_db, "MAX_LEAVES", 2)
    path = store(tmp_path, ("loss", 2.0, 1_700_000_001_000, "a1", 10, 0))
    for table in ("params", "tags"):
        made = f"CREATE TABLE {table} (key TEXT, value TEXT, run_uuid TEXT)"
        with changing(path, made) as connection:
            row = f"INSERT INTO {table} VALUES (?, ?, ?)"  # noqa: S608 - our own
            connection.executemany(row, [(f"k{n}", "1", "a1") for n in range(4)])
            connection.execute(row, ("k", "1", "another run"))
    assert mlflow_db.read_all(path)[0].config == {"k0": 1, "k1": 1}
