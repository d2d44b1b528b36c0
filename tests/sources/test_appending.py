"""Reading while a training still writes: a valid prefix of the series, no number that is half."""

import random
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from runlens.sources import console, tensorboard, trainer_state, wandb_dir
from runlens.sources.configs import model_card
from runlens.sources.reading import Reader, Series, SourceReading, StoreReader
from runlens.sources.stores import mlflow_db, mlflow_dir, swanlab_dir, trackio_db
from runlens.sources.tables import csv_log, jsonl_log, sb3_monitor
from tests.fuzz.corpus import Sample, samples

READERS: dict[str, Reader] = {
    "console": console,
    "csv": csv_log,
    "jsonl": jsonl_log,
    "mlflow": mlflow_dir,
    "model_card": model_card,
    "sb3_monitor": sb3_monitor,
    "swanlab": swanlab_dir,
    "tensorboard": tensorboard,
    "trainer_state": trainer_state,
    "wandb": wandb_dir,
}
CUTS = 60
# formats that are appended to, and the state that is written over and over
APPENDED = [one for one in samples() if one.kind in READERS and not one.name.endswith("meta.yaml")]


def read_first(sample: Sample, size: int, folder: Path) -> SourceReading:
    """Read the first bytes of a sample as its reader does."""
    for name, data in ((sample.name, sample.data[:size]), *sample.beside):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    place = folder / sample.name
    return READERS[sample.kind].read(place.parents[1] if sample.kind == "mlflow" else place)


def begins_with(whole: Series, part: Series, *, steps: bool) -> bool:
    """Whether a series is the beginning of another; NaN is equal to NaN."""
    size = len(part.value)
    same = np.array_equal(part.value, whole.value[:size], equal_nan=True)
    return same and (not steps or np.array_equal(part.step, whole.step[:size]))


def cuts(sample: Sample) -> list[int]:
    """Return sizes at which to cut: some anywhere, and all within the last line or record."""
    size = len(sample.data)
    return [*sorted(random.Random(size).sample(range(size), CUTS)), *range(size - 40, size)]


@pytest.mark.parametrize(
    "sample", APPENDED, ids=[f"{one.kind}-{len(one.data)}" for one in APPENDED]
)
def test_a_prefix_of_a_file_is_a_prefix_of_its_series(sample: Sample, tmp_path: Path) -> None:
    """Whatever byte it ends at; steps too, but where the source names none and says so."""
    whole = read_first(sample, len(sample.data), tmp_path).series
    most = 0
    for size in cuts(sample):
        reading = read_first(sample, size, tmp_path)
        # W&B: which column is the step of a metric can be told only when several were logged
        steps = not (reading.steps_inferred or sample.name.startswith("run-steps"))
        for name, part in reading.series.items():
            assert begins_with(whole[name], part, steps=steps), (size, name, part)
        most = max([most, *(len(part.value) for part in reading.series.values())])
    assert most >= 0.9 * max((len(series.value) for series in whole.values()), default=0)


LINES = "".join(f"step {10 * number}/90 loss 0.5\n" for number in (1, 2, 3))
TORN = [
    ("metrics.csv", "step,lr,loss\n10,0.1,0.5\n20,0.1,0.25", "loss", [0.5]),
    ("metrics.csv", "step,lr,loss\n10,0.1,0.5\n20,0.1,0.25\n", "loss", [0.5, 0.25]),
    ("train.log", f"{LINES}step 40/90 loss 0.25", "loss", [0.5, 0.5, 0.5]),
    ("train.log", f"{LINES}step 40/90 loss 0.25\n", "loss", [0.5, 0.5, 0.5, 0.25]),
    ("train.log", f"{LINES}step 40/90 loss 0.25 lr 0.", "loss", [0.5, 0.5, 0.5, 0.25]),
    (
        "train.log",
        f"{LINES} 44%|# | 40/90 [00:10<00:10, 1.00it/s, loss=0.2",
        "loss",
        [0.5, 0.5, 0.5],
    ),
    ("0/abc/metrics/loss", "1700000001 0.5 100\n1700000002 0.25 2", "loss", [0.5]),
    ("0/abc/metrics/loss", "1700000001 0.5 100\n1700000002 0.25 200\n", "loss", [0.5, 0.25]),
]
KINDS = {"metrics.csv": "csv", "train.log": "console", "0/abc/metrics/loss": "mlflow"}


@pytest.mark.parametrize(("name", "text", "metric", "values"), TORN)
def test_a_number_at_which_a_file_breaks_off_is_left_out(
    name: str, text: str, metric: str, values: list[float], tmp_path: Path
) -> None:
    """It may be half a number; a line end behind it says that it is whole."""
    sample = Sample(KINDS[name], name, text.encode())
    assert read_first(sample, len(text), tmp_path).series[metric].value.tolist() == values


@pytest.mark.parametrize(
    ("cells", "whole"),
    [("0 2 0 1 2 0 1 2", True), ("0 2 0 1 2 0 1 3", False), ("1 2 3 4 5 6 7 1", False),
     ("0 2 0 1", False), ("0 12 0 1 2 0 1 2", False),
     ("0.97 0.9897 1 0.97 0.9798 0.97", True), ("0.97 0.9897 1 0.96 0.9798 0.97", False),
     ("0.97 0.9897 0.97 0.9798 0.97", False)],
)  # fmt: skip
def test_a_cell_of_a_few_kinds_is_whole(cells: str, tmp_path: Path, *, whole: bool) -> None:
    """It comes again and again above, among others as long: the line end alone is not there."""
    (tmp_path / "log.csv").write_text(
        "step,loss,kind\n" + "\n".join(f"{n},0.5,{cell}" for n, cell in enumerate(cells.split()))
    )
    read = csv_log.read(tmp_path / "log.csv")
    assert (len(read.series["kind"].value) == len(cells.split())) == whole
    assert bool(read.problems) != whole


def test_a_cell_that_is_shorter_than_nearly_all_is_no_whole_one(tmp_path: Path) -> None:
    """Two of thirty are as short: it may be the beginning of one that is as long as the others."""
    cells = ["0.5", *(f"0.{n}4321" for n in range(11, 40)), "0.5", "0.5"]
    rows = "\n".join(f"{n},{cell}" for n, cell in enumerate(cells))
    (tmp_path / "log.csv").write_text(f"step,loss\n{rows}")
    assert len(csv_log.read(tmp_path / "log.csv").series["loss"].value) == len(cells) - 1


@pytest.mark.parametrize("name", ["metrics.csv", "0/abc/metrics/loss"])
def test_a_torn_last_line_is_told(name: str, tmp_path: Path) -> None:
    """So that nobody looks for the number that is not there."""
    text = next(text for known, text, _, _ in TORN if known == name)
    problems = read_first(Sample(KINDS[name], name, text.encode()), len(text), tmp_path).problems
    assert any("cut off or is still being written" in problem.text for problem in problems)


@pytest.mark.parametrize("kind", ["tensorboard", "wandb"])
def test_a_file_that_grows_while_it_is_read_loses_nothing(kind: str, tmp_path: Path) -> None:
    """Every reading holds what the one before held, and the last one everything."""
    sample = max((one for one in APPENDED if one.kind == kind), key=lambda one: len(one.data))
    counts = [
        sum(len(part.value) for part in read_first(sample, size, tmp_path).series.values())
        for size in (*range(100, len(sample.data), 97), len(sample.data))
    ]
    assert counts == sorted(counts)
    assert counts[-1] > 0


WRITER = """
import sys, time
data = open(sys.argv[1], "rb").read()
with open(sys.argv[2], "wb", buffering=0) as out:
    for at in range(0, len(data), 89):
        out.write(data[at : at + 89])
        time.sleep(0.001)
"""
# by the trainer_state a whole file is replaced in place, time and again
REWRITER = """
import sys, time
data = open(sys.argv[1], "rb").read()
for _ in range(40):
    with open(sys.argv[2], "wb", buffering=0) as out:
        out.write(data[: len(data) // 2])
        time.sleep(0.001)
        out.write(data[len(data) // 2 :])
        time.sleep(0.002)
"""


def of_kind(kind: str) -> Sample:
    """Return the largest sample of a kind that names its steps."""
    known = [one for one in APPENDED if one.kind == kind and not one.name.startswith("run-steps")]
    return max(known, key=lambda one: len(one.data))


@pytest.mark.parametrize("kind", READERS)
def test_reading_beside_a_writing_process_gives_prefixes(kind: str, tmp_path: Path) -> None:
    """Whatever instant it is caught at; when the writer is done everything is there."""
    sample = of_kind(kind)
    whole = read_first(sample, len(sample.data), tmp_path)
    source, target = tmp_path / "source", tmp_path / sample.name
    source.write_bytes(sample.data)
    target.unlink()
    place = target.parents[1] if kind == "mlflow" else target
    script = REWRITER if kind == "trainer_state" else WRITER
    with subprocess.Popen([sys.executable, "-c", script, source, target]) as writer:
        while writer.poll() is None:
            seen = READERS[kind].read(place)
            for name, part in seen.series.items():
                steps = not (seen.steps_inferred or whole.steps_inferred)
                assert begins_with(whole.series[name], part, steps=steps), (name, part)
    done = READERS[kind].read(place).series
    assert done.keys() == whole.series.keys()
    assert all(len(done[name].step) == len(whole.series[name].step) for name in done)


# each row is a transaction, as the trackers write them
STORE_WRITER = """
import sqlite3, sys, time
with open(sys.argv[2]) as script:
    statements = script.read().split(";\\n")
target = sqlite3.connect(sys.argv[1], isolation_level=None)
target.execute(f"PRAGMA journal_mode = {sys.argv[3]}")
for statement in statements:
    if "TRANSACTION" not in statement and "COMMIT" not in statement:
        target.execute(statement)
        time.sleep(0.001)
"""
STORES: dict[str, tuple[StoreReader, str]] = {
    "trackio": (trackio_db, "wal"),
    "mlflow_db": (mlflow_db, "delete"),
}


def read_store(reader: StoreReader, path: Path) -> dict[str, Series]:
    """Read the only run of a database; nothing where it is not there yet."""
    readings = reader.read_all(path) if path.exists() else []
    return next((one.series for one in readings if one.run_id), {})


@pytest.mark.parametrize("kind", STORES)
def test_reading_a_database_beside_a_writing_process_gives_prefixes(
    kind: str, tmp_path: Path
) -> None:
    """Whatever transaction it is caught in; when the writer is done everything is there."""
    reader, journal = STORES[kind]
    (sample,) = (one for one in samples() if one.kind == kind)
    source, script, target = (tmp_path / name for name in ("source.db", "script", sample.name))
    source.write_bytes(sample.data)
    connection = sqlite3.connect(source)
    script.write_text(";\n".join(line.rstrip(";") for line in connection.iterdump()))
    connection.close()
    whole = read_store(reader, source)
    with subprocess.Popen([sys.executable, "-c", STORE_WRITER, target, script, journal]) as writer:
        while writer.poll() is None:
            for name, part in read_store(reader, target).items():
                assert begins_with(whole[name], part, steps=True), (name, part)
    assert writer.returncode == 0
    done = read_store(reader, target)
    assert {name: len(one.step) for name, one in done.items()} == {
        name: len(one.step) for name, one in whole.items()
    }
