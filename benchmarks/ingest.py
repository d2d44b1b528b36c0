"""From file to history: CPU seconds and memory, beside what others need for the same files.

    python benchmarks/ingest.py [PART...]     parts: events linear wandb state console rows media

Writes files of each format into a temporary folder (1 GB), reads each with RunLens
(`runlens.read`: checksums, grouping, merging and naming included) and with its peers, every reader
in a process of its own after a small file that pays for the imports. Medians of five, of three
where one reading takes longer than SLOW seconds. Prints the Markdown of `docs/benchmarks.md`.
"""

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import ingest_files as files
import wandb_logs
from completeness import SDK, sdk_python

TIMES, TIMES_SLOW, SLOW = 5, 3, 4.0  # seconds of one reading
HERE = Path(__file__).parent
OTHERS = {
    "tbparse": "tbparse",
    "accumulator": "TensorBoard EventAccumulator",
    "data_server": "TensorBoard data server (Rust) and its client",
    "json_loads": "reading it and `json.loads`",
    "lines": "`for line in file`",
    "pandas_csv": "`pandas.read_csv`",
    "json_lines": "`json.loads` of each line",
    "plain_bytes": "reading the bytes",
    "datastore": f"plain loop over the DataStore of {SDK}",
}


class Measured(NamedTuple):
    """What one reader needed for one file."""

    seconds: float  # median CPU
    times: int
    peak_mb: float


class Asked(NamedTuple):
    """The ratio that is asked for."""

    ratio: float
    faster: bool  # by this ratio at least; else: slower by this ratio at most

    def __str__(self) -> str:
        if not self.faster:
            return f"<= {self.ratio:g}x as long"
        return f">= {self.ratio:g}x faster" if self.ratio > 1 else "faster"


def measured(reader: str, path: Path, small: Path) -> Measured:
    """Read a file in a process of its own; again while it is quick."""
    first = _told(reader, 1, path, small)
    slow = first["seconds"][0] > SLOW
    rest = _told(reader, (TIMES_SLOW if slow else TIMES) - 1, path, small)
    seconds = first["seconds"] + rest["seconds"]
    return Measured(statistics.median(seconds), len(seconds), first["peak_mb"])


def _told(reader: str, times: int, path: Path, small: Path) -> dict[str, Any]:
    if reader == "datastore":
        command = [sdk_python(), HERE / "wandb_datastore_loop.py", path, str(times)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        return {"seconds": [float(done.stdout.split()[0])] * times, "peak_mb": 0}
    command = [sys.executable, HERE / "ingest_readers.py", reader, str(times), path, small]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    said: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return said


class Table:
    """Rows of one Markdown table, printed as they come."""

    def __init__(self, *heads: str) -> None:
        """Print the head."""
        print("\n| " + " | ".join(heads) + " |\n|" + " --- |" * len(heads), flush=True)

    def row(self, *cells: object) -> None:
        """Print a row."""
        print("| " + " | ".join(map(str, cells)) + " |", flush=True)


class Ratios(Table):
    """RunLens beside others."""

    def __init__(self) -> None:
        """Print the head."""
        super().__init__("file", "RunLens, CPU s", "beside", "CPU s", "ratio", "asked")

    def compare(
        self, what: str, path: Path, small: Path, others: Mapping[str, Asked | None]
    ) -> None:
        """Measure RunLens and others on a file; a row for each other."""
        ours = measured("runlens", path, small)
        for other, asked in others.items():
            theirs = measured(other, path, small)
            ratio = theirs.seconds / ours.seconds
            said = f"{ratio:.1f}x faster" if ratio >= 1 else f"{1 / ratio:.2f}x as long"
            times = "" if theirs.times == TIMES else f" (of {theirs.times})"
            self.row(
                what,
                f"{ours.seconds:.3f}",
                OTHERS[other],
                f"{theirs.seconds:.3f}{times}",
                said,
                asked or "for information",
            )


def events(folder: Path) -> None:
    """Measure event files of the Trainer beside three readers of TensorBoard's formats."""
    small = files.write_events(folder / "small", 10_000)
    table = Ratios()
    for scalars, name, limits in (
        (100_000, "event file, 100k scalars", (20, 1)),
        (1_000_000, "event file, 1M scalars", (25, 20)),
    ):
        path = files.write_events(folder / f"events-{scalars}", scalars)
        asked = {
            "tbparse": Asked(limits[0], faster=True),
            "accumulator": Asked(limits[1], faster=True),
            "data_server": Asked(1, faster=True),
        }
        table.compare(name, path, small, asked)


def linear(folder: Path) -> None:
    """Measure seconds an observation and memory, from ten thousand to ten million observations."""
    small = files.write_events(folder / "small", 10_000)
    table = Table("observations", "file", "CPU s", "CPU µs an observation", "peak memory")
    for scalars in (10_000, 100_000, 1_000_000, 10_000_000):
        path = files.write_events(folder / f"linear-{scalars}", scalars)
        ours = measured("runlens", path, small)
        size = f"{path.stat().st_size / 1e6:.1f} MB"
        each = f"{1e6 * ours.seconds / scalars:.2f}"
        table.row(f"{scalars:,}", size, f"{ours.seconds:.3f}", each, f"{ours.peak_mb:.0f} MB")
        path.unlink()


def wandb(folder: Path) -> None:
    """Measure W&B's transaction logs beside the loop that its SDK allows."""
    try:
        sdk_python()
    except (OSError, subprocess.CalledProcessError):
        print(f"\n(`.wandb` left out: no environment with {SDK} could be made)")
        return
    table = Ratios()
    for name, write, ratio in (
        ("newest SDK", wandb_logs.write_newest, 2.5),
        ("SDK before 0.18", wandb_logs.write_before_018, 3.5),
    ):
        small, path = (
            write(_made(folder / f"{ratio}-{rows}") / "run-bench.wandb", rows, 10)
            for rows in (1_000, 200_000)
        )
        what = f"`.wandb` of the {name}, 200k rows x 10, {path.stat().st_size / 1e6:.0f} MB"
        table.compare(what, path, small, {"datastore": Asked(ratio, faster=True)})


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def state(folder: Path) -> None:
    """Measure a trainer_state.json beside the standard library's parser."""
    small, path = (files.write_state(folder / f"state-{n}", n) for n in (1_000, 200_000))
    what = f"trainer_state.json, {path.stat().st_size / 1e6:.0f} MB, 200k rows"
    Ratios().compare(what, path, small, {"json_loads": Asked(1.5, faster=False)})


def console(folder: Path) -> None:
    """Measure a Trainer's console log beside nothing but iterating over its lines."""
    small, path = (files.write_console(folder / f"console-{n}", n) for n in (1_000, 101_000))
    what = f"Trainer console log, {path.stat().st_size / 1e6:.0f} MB, 101k metric rows"
    Ratios().compare(what, path, small, {"lines": Asked(4, faster=False)})


def rows(folder: Path) -> None:
    """Measure tables of rows beside the usual parsers."""
    table = Ratios()
    for name, write, other in (
        ("CSV", files.write_csv, "pandas_csv"),
        ("JSONL", files.write_jsonl, "json_lines"),
    ):
        small, path = (write(folder / f"{name}-{n}", n) for n in (1_000, 200_000))
        what = f"{name}, 200k rows x 6, {path.stat().st_size / 1e6:.0f} MB"
        table.compare(what, path, small, {other: None})


def media(folder: Path) -> None:
    """Measure scalars among histograms and images, which are stepped over."""
    small = files.write_events(folder / "small", 10_000)
    path = files.write_media(folder / "media", 1_000, 200)
    Ratios().compare(
        "event file, 1,000 scalars in 200 MB of histograms and images",
        path,
        small,
        {"plain_bytes": None, "accumulator": None},
    )


PARTS: tuple[Callable[[Path], None], ...] = (events, linear, wandb, state, console, rows, media)


def main() -> None:
    """Measure and print."""
    chosen = sys.argv[1:] or [part.__name__ for part in PARTS]
    for part in PARTS:
        if part.__name__ in chosen:
            with tempfile.TemporaryDirectory() as folder:
                part(Path(folder))


if __name__ == "__main__":
    main()
