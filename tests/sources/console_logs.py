"""Console logs that a test writes, in lines as the Trainer prints them."""

from pathlib import Path

from runlens.metrics import naming
from runlens.sources import console
from runlens.sources.reading import SourceReading

Points = list[tuple[int, float]]


def reading(folder: Path, text: str) -> SourceReading:
    """Write a log and read it."""
    path = folder / "train.log"
    path.write_text(text, encoding="utf-8", newline="")
    return console.read(path)


def row(epoch: object, loss: object = 2.5) -> str:
    """Return a row of the Trainer as a line."""
    return f"{{'loss': {loss}, 'epoch': {epoch}}}\n"


def bar(done: int, total: int = 40) -> str:
    """Return a state of the Trainer's bar as a line."""
    return f"{100 * done // total:3d}%|##        | {done}/{total} [00:01<00:02, 9.00it/s]\n"


def points(read: SourceReading, name: str) -> list[tuple[int, float]]:
    """Return steps and values of a series."""
    found = read.series[name]
    return list(zip(found.step.tolist(), found.value.tolist(), strict=True))


def steps(read: SourceReading, name: str = "loss") -> list[int]:
    """Return the steps of a series."""
    return [int(step) for step in read.series[name].step]


def canonical(read: SourceReading) -> dict[str, Points]:
    """Return steps and values by canonical name, in canonical units."""
    found = {}
    for name, curve in read.series.items():
        metric, factor = naming(name, read.framework)
        values = (curve.value * factor).tolist()
        found[metric] = list(zip(curve.step.tolist(), values, strict=True))
    return found


def each(line: str, *numbers: int) -> str:
    """Return the line once for each number: `{n}` is the number, `{t}` ten times it."""
    return "".join(line.replace("{n}", str(n)).replace("{t}", str(10 * n)) + "\n" for n in numbers)
