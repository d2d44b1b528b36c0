"""Make the library of `runlens similar` from the labelled runs, and measure it.

    python benchmarks/similar.py BENCH WILD

BENCH is the folder with bench, bench_b and bench_c; WILD has a folder for each run of
`benchmarks/wild/runs/`, by its id. Both are read; runs that are unclear or unjudgeable are
left out. Writes `runlens/similar/cases.jsonl`: features and labels, nothing that a run logged.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

import runlens
from runlens.errors import RunLensError
from runlens.similar.features import features
from runlens.similar.library import FILE, SCALE, Known, scored

HERE = Path(__file__).parent
SETS = ("bench", "bench_b", "bench_c")


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a JSON Lines file."""
    yield from map(json.loads, path.read_text(encoding="utf-8").splitlines())


def labelled(bench: Path, wild: Path) -> Iterator[tuple[dict[str, Any], Path, str, str]]:
    """Yield each label, where its run lies, its name and its group."""
    for name in SETS:
        for row in rows(bench / name / "labels.jsonl"):
            yield row, bench / name / row["path"], f"{name} {row['id']}", f"{name} {row['id']}"
    for part in sorted((HERE / "wild" / "runs").glob("*.jsonl")):
        for row in rows(part):
            name, group = f"{row['repo']}/{row['path']}", row["repo"].partition("/")[0]
            yield row, wild / row["id"], name, group


def main(arguments: list[str]) -> None:
    """Read every run and write the file."""
    bench, wild = map(Path, arguments)
    causes = {f"{row['set']} {row['id']}": row["cause"]
              for row in rows(HERE / "causes" / "labels.jsonl")}  # fmt: skip
    known = []
    for row, place, name, group in labelled(bench, wild):
        if row["verdict"] not in {"healthy", "faulty"} or (
            row["verdict"] == "faulty" and not row["findings"]
        ):
            continue
        try:
            run = runlens.read_all(place)[0]
        except RunLensError as error:
            print(f"{name}: {error}", file=sys.stderr)
            continue
        values = [None if v != v else round(v * SCALE) for v in features(run)]  # noqa: PLR0124
        sick = row["verdict"] == "faulty"  # a healthy one may have findings that are worth an info
        faults = tuple(one["rule"] for one in row["findings"] if sick)
        known.append(Known(name, group, faults, causes.get(name, ""), tuple(values)))
    table = np.array([one.thousandths for one in known], dtype=np.float64) / SCALE
    measured = scored(known, table)
    target = Path(runlens.__file__).parent / "similar" / FILE
    target.write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in (measured, *known)))
    print(f"{len(known)} runs, {target.stat().st_size:,} bytes. {measured}")


if __name__ == "__main__":
    main(sys.argv[1:])
