"""`runlens export`: the frame, whole and readable by others."""

import json
import math
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from runlens import read
from tests.cli.places import SICK, a_run, lens

COLUMNS = ["metric", "step", "value", "epoch", "time", "segment", "source"]


@pytest.mark.parametrize("ending", ["csv", "json", "jsonl", "parquet"])
def test_the_frame_comes_back_as_it_was(ending: str, tmp_path: Path) -> None:
    """Every observation, to the last digit."""
    path = tmp_path / f"frame.{ending}"
    result = lens("export", SICK, "-o", path)
    frame = read(SICK).frame
    assert result.exit_code == 0
    assert f"{len(frame):,} observations of" in result.stdout
    if ending == "csv":
        back = pd.read_csv(path)
    elif ending == "parquet":
        back = pd.read_parquet(path)
    else:
        back = pd.read_json(path, lines=ending == "jsonl", precise_float=True, dtype=False)
    assert list(back.columns) == COLUMNS
    np.testing.assert_array_equal(back["step"], frame["step"])
    np.testing.assert_allclose(back["value"], frame["value"], rtol=1e-12)
    assert list(back["metric"]) == list(frame["metric"])


def test_values_that_are_no_numbers_are_told_apart(tmp_path: Path) -> None:
    """JSON has neither NaN nor infinity, and null would be both."""
    run = a_run(tmp_path / "run", more={"lost": math.nan, "high": math.inf, "low": -math.inf})
    assert lens("export", run, "-o", tmp_path / "f.jsonl").exit_code == 0
    rows = [json.loads(line) for line in (tmp_path / "f.jsonl").read_text().splitlines()]
    values = {row["metric"]: row["value"] for row in rows}
    assert values["lost"] == "NaN"
    assert values["high"] == "Infinity"
    assert values["low"] == "-Infinity"
    assert isinstance(values["train_loss"], float)


def test_hostile_names_are_written(tmp_path: Path) -> None:
    """Half a character does not stop the export."""
    run = a_run(tmp_path / "run", more={"half\ud800": 2.0})
    for ending in ("csv", "json"):
        assert lens("export", run, "-o", tmp_path / f"f.{ending}").exit_code == 0
        assert "half\\" in (tmp_path / f"f.{ending}").read_text()


def test_several_runs_are_one_table(tmp_path: Path) -> None:
    """The first column names the run; a typing error gets a suggestion."""
    for seed, name in enumerate(("alpha", "beta")):
        a_run(tmp_path / "runs" / name, seed)
    path = tmp_path / "f.csv"
    assert lens("export", tmp_path / "runs", "-o", path).exit_code == 0
    frame = pd.read_csv(path)
    assert list(frame.columns) == ["run", *COLUMNS]
    alpha = read(tmp_path / "runs" / "alpha").frame
    assert (frame["run"] == "alpha").sum() == len(alpha)
    np.testing.assert_allclose(frame.loc[frame["run"] == "alpha", "value"], alpha["value"])
    wrong = lens("export", tmp_path / "runs", "-o", path, "--run", "beat")
    assert (wrong.exit_code, "did you mean 'beta'?" in wrong.stderr) == (2, True)
    assert lens("export", tmp_path / "runs", "-o", path, "--run", "beta").exit_code == 0
    assert list(pd.read_csv(path).columns) == COLUMNS


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_a_wide_table_has_a_row_a_step(form: str, tmp_path: Path) -> None:
    """A column a metric, of the metrics that were asked for; empty where none was logged."""
    for seed, name in enumerate(("alpha", "beta")):
        a_run(tmp_path / "runs" / name, seed, more={"rare": 3.0} if seed else {})
    path = tmp_path / f"f.{form}"
    asked = ["--wide", "--metric", "rare", "--metric", "train_loss"]
    assert lens("export", tmp_path / "runs", "-o", path, *asked).exit_code == 0
    if form == "jsonl":
        frame = pd.read_json(path, lines=True)
    else:
        frame = pd.read_csv(path) if form == "csv" else pd.read_parquet(path)
    assert list(frame.columns) == ["run", "step", "train_loss", "rare"]
    curve = read(tmp_path / "runs" / "alpha").curve("train_loss")
    alpha = frame[frame["run"] == "alpha"]
    np.testing.assert_array_equal(alpha["step"], curve.step)
    np.testing.assert_allclose(alpha["train_loss"], curve.value)
    assert alpha["rare"].isna().all()
    assert frame["rare"].notna().any()


def test_a_table_goes_to_stdout(tmp_path: Path) -> None:
    """As CSV where no format is asked for; a table of Parquet needs a file; a metric must be."""
    run = a_run(tmp_path / "run")
    lines = lens("export", run).stdout.splitlines()
    assert lines[0] == ",".join(COLUMNS)
    assert len(lines) == 1 + len(read(run).frame)
    first = json.loads(lens("export", run, "--format", "jsonl", "--wide").stdout.splitlines()[0])
    assert {"step", "train_loss"} <= set(first)
    refused = lens("export", run, "--format", "parquet")
    assert (refused.exit_code, "goes into a file" in refused.stderr) == (2, True)
    unknown = lens("export", run, "--metric", "loss2")
    assert (unknown.exit_code, "no run logs 'loss2'" in unknown.stderr) == (2, True)


def test_parquet_without_pyarrow_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An extra, and how to get it."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "fastparquet", None)
    result = lens("export", SICK, "-o", tmp_path / "f.parquet")
    assert result.exit_code == 2
    line = "Parquet needs pyarrow, which is not installed; pip install 'runlens-training[parquet]'"
    assert line in result.stderr


@pytest.mark.parametrize(
    ("output", "told"),
    [
        ("frame.xlsx", "unknown extension; use one of .csv"),
        ("no/such/f.csv", "cannot write no/such"),
    ],
)
def test_a_file_that_cannot_be_written_is_wrong_usage(output: str, told: str) -> None:
    """In one sentence."""
    result = lens("export", SICK, "-o", output)
    assert (result.exit_code, told in result.stderr) == (2, True)


def test_nothing_readable_is_code_3(tmp_path: Path) -> None:
    """As for a diagnosis, and no file is written."""
    result = lens("export", tmp_path, "-o", tmp_path / "f.csv")
    assert result.exit_code == 3
    assert "is an empty directory" in result.stderr
    assert not list(tmp_path.iterdir())


FORMULAS = ["=cmd|'/C calc'!A0", "@SUM(1)", "+x", "-y", "\tz"]


def test_no_name_in_a_csv_is_a_formula(tmp_path: Path) -> None:
    """A spreadsheet would run it; --raw and the other formats have the name as logged."""
    run = a_run(tmp_path / "run", more=dict.fromkeys([*FORMULAS, "'+x", "a-b"], 1.0))
    path = tmp_path / "f.csv"
    assert lens("export", run, "-o", path).exit_code == 0
    names = set(pd.read_csv(path)["metric"])
    assert not any(name.startswith(tuple("=+-@\t\r")) for name in names)
    assert {"'-y", "a-b", "'+x", "'+x~"} <= names
    assert lens("export", run, "-o", path, "--raw").exit_code == 0
    assert {"=cmd|'/C calc'!A0", "-y"} <= set(pd.read_csv(path)["metric"])
    assert lens("export", run, "-o", tmp_path / "f.jsonl").exit_code == 0
    assert '"metric":"-y"' in (tmp_path / "f.jsonl").read_text()
