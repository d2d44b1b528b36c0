"""The console of YOLO (Ultralytics): its numbers stand in the label of the epoch's bar.

A line with the names of the columns, a bar that begins with their values, a bar that begins with
the names of the validation, and a line that begins with ``all`` and has their values.
"""

import re
from collections.abc import Sequence

from runlens.sources.console.counters import Counted, whole
from runlens.sources.console.rows import Row
from runlens.sources.console.text import Bar
from runlens.sources.reading import as_number

_COLUMNS = re.compile(r"^\s*Epoch\s+gpu_mem\s+(\w.*)$", re.IGNORECASE)
_TRAINED = re.compile(r"^\s*(\d+)/(\d+)\s+[\d.]+[MG]i?B?\s+(\S.*)$")
_ALL = re.compile(r"^\s*all\s+\d+\s+(?:\d+\s+)?(\S.*)$")
_NO_METRICS = {"instances", "size", "labels", "img_size", "targets", "total"}
# as results.csv names them, so that both are one metric
_VALIDATED = ("precision(B)", "recall(B)", "mAP50(B)", "mAP50-95(B)")
_OF_YOLOV5 = ("precision", "recall", "mAP_0.5", "mAP_0.5:0.95")


def yolo(others: Sequence[tuple[int, str]], bars: Sequence[Bar]) -> list[Row]:
    """Return the rows of an Ultralytics log, two an epoch; the step is the epoch, as in its CSV."""
    columns = next((found[1].split() for _, line in others if (found := _COLUMNS.match(line))), [])
    if not columns:
        return []
    old = not any(name.endswith("_loss") for name in columns)
    trained = _trained([f"{name}_loss" for name in columns] if old else columns, bars)
    validated = _validated(others, trained, _OF_YOLOV5 if old else _VALIDATED)
    return sorted([*trained, *validated], key=lambda row: row.at)


def _trained(columns: list[str], bars: Sequence[Bar]) -> list[Row]:
    """Return the last state of each epoch's bar."""
    last: dict[int, Row] = {}
    for bar in bars:
        found = _TRAINED.match(bar.label)
        if not found:
            continue
        cells = [as_number(cell) for cell in found[3].split()]
        pairs = {
            f"train/{name}": cell
            for name, cell in zip(columns, cells, strict=False)
            if cell is not None and name.lower().removesuffix("_loss") not in _NO_METRICS
        }
        epoch = whole(found[1])
        counted = Counted(step=epoch, steps=whole(found[2]), epoch=epoch)
        last[epoch] = Row(bar.at, counted, tuple(pairs), tuple(pairs.values()))
    return list(last.values())


def _validated(
    others: Sequence[tuple[int, str]], trained: list[Row], names: tuple[str, ...]
) -> list[Row]:
    rows = []
    for at, line in others:
        found = _ALL.match(line)
        before = [row for row in trained if row.at < at] if found else []
        if not found or not before:
            continue
        cells = [as_number(cell) for cell in found[1].split()]
        values = tuple(cell for cell in cells if cell is not None)
        if len(values) == len(names):
            metrics = tuple(f"metrics/{name}" for name in names)
            rows.append(Row(at, before[-1].counted, metrics, values))
    return rows
