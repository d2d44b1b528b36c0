"""Tables of several runs: trainings side by side, or the CSV of a chart of W&B.

Such a chart has of each run ``run - train/loss``, with its lowest and highest.
"""

from collections.abc import Iterable
from dataclasses import replace

from runlens.patterns import lazy_re
from runlens.sources.reading import SourceReading
from runlens.sources.tables.names import has_metric

_OF_RUN = lazy_re(r"(?P<run>.+?) - (?P<metric>.+)")
EXTREMES = ("__MIN", "__MAX")


def by_run(reading: SourceReading) -> list[SourceReading]:
    """Return a reading for each run of a table; of a table of one run the reading itself."""
    if reading.parts:
        reading.parts[0].problems[:0] = reading.problems
        return [one for part in reading.parts for one in _within(part)]
    found = {name: _OF_RUN.fullmatch(name) for name in reading.series}
    charted = {name for name in reading.series if name.endswith(EXTREMES)}
    if not found or not all(found.values()) or not (charted or _of_one_run(found)):
        return [reading]
    runs: dict[str, SourceReading] = {}
    for name, match in found.items():
        if match is None or name in charted:
            continue
        run = match["run"]
        if run not in runs:
            runs[run] = replace(reading, series={}, run_name=run, run_id=run, in_store=True)
        runs[run].series[match["metric"]] = reading.series[name]
    return list(runs.values())


def _of_one_run(names: Iterable[str]) -> bool:
    """Whether all columns are of one run, called first: ``v3 - train/loss``, ``v3 - eval/acc``.

    The panel of a run without its extremes. What is a metric itself names no run.
    """
    runs, metrics = zip(*(name.split(" - ", 1) for name in names), strict=True)
    paths = all("/" in metric for metric in metrics)
    return len(set(runs)) == 1 < len(metrics) and paths and not has_metric(runs[:1])


def _within(part: SourceReading) -> list[SourceReading]:
    """Return a training, or those of the table that lies in it, by both names."""
    for inner in part.parts:
        inner.run_name = inner.run_id = f"{part.run_name}, {inner.run_name}"
    return by_run(part) if part.parts else [part]
