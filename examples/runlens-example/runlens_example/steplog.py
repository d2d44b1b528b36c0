"""The source `steplog`: text files that end in .steplog, a line a step.

step=100 loss=2.31 lr=1e-4
"""

from collections.abc import Mapping
from pathlib import Path

from runlens.run import Problem
from runlens.sources.reading import SeriesBuilder, SourceReading, as_number

LOOKS_FOR = "*.steplog"
FRAMEWORK = "the trainer of this example"

MOST_BYTES = 64 * 2**20  # of one file that are read


def find(place: Path, names: Mapping[Path, list[str]]) -> list[Path]:
    """List our files; `names` maps each folder at and below `place` to the files in it."""
    del place
    return [folder / name for folder, some in names.items() for name in some if _is_ours(name)]


def _is_ours(name: str) -> bool:
    return name.endswith(".steplog")


def read(path: Path) -> SourceReading:
    """Read what can be read; what is lost is a problem of the reading, not an exception."""
    reading = SourceReading(path, "steplog")
    try:
        with path.open(encoding="utf-8", errors="replace") as handle:
            lines = handle.read(MOST_BYTES).splitlines()
    except OSError as error:
        reading.problems.append(Problem(str(path), f"cannot be read ({error.strerror})", "all"))
        return reading
    builder, lost = SeriesBuilder(), 0
    for line in lines:
        lost += not _take(line, builder)
    if lost:
        told = f"{lost} of {len(lines)} lines"
        reading.problems.append(Problem(str(path), "has lines that are none of ours", told))
    reading.series = builder.series()
    return reading


def _take(line: str, builder: SeriesBuilder) -> bool:
    """Take the numbers of one line under the names as logged; False where it names no step."""
    pairs = dict(word.split("=", 1) for word in line.split() if "=" in word)
    step = pairs.pop("step", "")
    if not (step.isascii() and step.isdigit() and len(step) <= 15):  # noqa: PLR2004 - fits int64
        return False
    for name, text in pairs.items():
        value = as_number(text)
        if value is not None:
            builder.add(name, int(step), value)
    return True
