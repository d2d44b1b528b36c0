"""What a change does to the findings: those gone, new and altered over all runs at hand.

    python benchmarks/drift.py [BASE]      # make drift BASE=HEAD~1; BASE is HEAD if left out

Reads and judges the fixtures, and ../shared/{bench,corpus} where present, once with the package
as committed at BASE and once as it lies here. Prints Markdown: a row for each finding that differs
in severity or onset, or is on one side only; rules on trial (``preview=True``) are asked as well.
Where nothing differs it says so. The exit code is 0 either way: whether a difference is meant is
for the commit message to say.
"""

import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared"
WORKERS = 2


class Said(NamedTuple):
    """How a tree words one finding."""

    severity: str
    step: float | None
    title: str


def places() -> list[str]:
    """Return all run directories and files that are at hand."""
    fixtures = ROOT / "fixtures"
    folders = [*sorted(fixtures.iterdir()), *sorted((fixtures / "pairs").iterdir())]
    known = [str(path) for path in folders if path.is_dir() and path.name != "pairs"]
    for name in ("bench", "corpus"):
        labels = SHARED / name / "labels.jsonl"
        if labels.exists():
            rows = [json.loads(line) for line in labels.read_text(encoding="utf-8").splitlines()]
            known += [str(labels.parent / row["path"]) for row in rows]
    return known


def judged(place: str) -> dict[str, Said]:
    """Return the findings at a place by ``run: rule``, as the package on the path makes them."""
    import runlens
    from runlens.errors import RunLensError

    try:
        runs = runlens.read_all(place)
    except RunLensError as error:
        return {"unreadable": Said("-", None, str(error))}
    found = {}
    for run in runs:
        for finding in runlens.diagnose(run, preview=True).findings:
            name = run.name if len(runs) > 1 else ""
            key = f"{name}: {finding.rule}" if name else finding.rule
            found[key] = Said(finding.severity, finding.onset.step, finding.title)
    return found


def collect() -> None:
    """Print the findings of all places, a JSON line each, by the package on the path."""
    with ProcessPoolExecutor(WORKERS) as pool:
        for place, found in zip(places(), pool.map(judged, places(), chunksize=4), strict=True):
            print(json.dumps([place, found]))


def told_by(tree: Path) -> dict[str, dict[str, Said]]:
    """Return what the package in `tree` finds, by place."""
    command = [sys.executable, str(Path(__file__)), "--collect"]
    ran = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": str(tree)},
        check=True,
        capture_output=True,
        text=True,
    )
    rows = (json.loads(line) for line in ran.stdout.splitlines())
    return {place: {key: Said(*said) for key, said in found.items()} for place, found in rows}


def changes(before: dict[str, dict[str, Said]], after: dict[str, dict[str, Said]]) -> Iterator[str]:
    """Yield a Markdown row for each finding that differs."""
    for place, new in after.items():
        old = before.get(place, {})
        for key in sorted(old.keys() | new.keys()):
            if old.get(key, ())[:2] != new.get(key, ())[:2]:
                name = "/".join(Path(place).parts[-2:])
                yield f"| {name} | {key} | {_words(old.get(key))} | {_words(new.get(key))} |"


def _words(said: Said | None) -> str:
    if said is None:
        return "–"
    at = "" if said.step is None else f" at step {said.step:g}"
    return f"{said.severity}{at}: {said.title}".replace("|", "\\|")


def main(base: str) -> None:
    """Judge both trees and print the difference."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["git", "archive", base, "runlens"]
        packed = subprocess.run(command, cwd=ROOT, check=False, capture_output=True)
        if packed.returncode:
            sys.exit(f"drift: {base} is no commit of this repository; set BASE to one")
        with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as tree:
            tree.extractall(folder, filter="data")
        before = told_by(Path(folder))
    rows = list(changes(before, told_by(ROOT)))
    total = len(places())
    print(f"### {len(rows)} findings differ from {base}, over {total} places\n")
    if rows:
        print("| place | finding | before | after |\n| --- | --- | --- | --- |")
        print("\n".join(rows))


if __name__ == "__main__":
    if sys.argv[1:] == ["--collect"]:
        collect()
    else:
        main(sys.argv[1] if len(sys.argv) > 1 else "HEAD")
