"""The console of YOLO (Ultralytics): its numbers stand in the label of the epoch's bar.

A line with the names of the columns, a bar that begins with their values, a bar that begins with
the names of the validation, and a line that begins with ``all`` and has their values. The bar is
that of tqdm or, in newer versions, one of their own: ``label: 100% ━━━━ 50/50 4.8it/s 10.3s``.

YOLOv3, YOLOv5, YOLOR and YOLOv7 write the same numbers to ``results.txt``, where nothing names them
but their order: the losses, their sum, two that measure nothing, four scores, the losses again.
Who adds a loss to them writes the sum of the last ones too.
"""

import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from itertools import groupby
from math import isclose, isfinite

from runlens.patterns import lazy_re
from runlens.sources.console.counters import Counted, whole
from runlens.sources.console.rows import Row
from runlens.sources.console.text import Bar
from runlens.sources.reading import as_number

Label = tuple[int, str]  # index of the line, and what stands before the percentage

_OWN_BAR = lazy_re(r"^(.*\S): +\d+% [━─╸]+ ")
_COLUMNS = lazy_re(r"^\s*Epoch\s+gpu_mem\s+(\w.*)$", re.IGNORECASE)
_TRAINED = lazy_re(r"^\s*(\d+)/(\d+)\s+[\d.]+[MG]i?B?\s+(\S.*)$")
_HEAD = lazy_re(r"^\s*class(?:es)?\s", re.IGNORECASE)
_ALL = lazy_re(r"^\s*all\s+(\d.*)$")
_COUNTS = 2  # images and instances, before the values of a validation
_NO_METRICS = {"instances", "size", "labels", "img_size", "targets", "total"}
# as results.csv names them, so that both are one metric
_DETECTED = ("precision(B)", "recall(B)", "mAP50(B)", "mAP50-95(B)")
_CLASSIFIED = ("accuracy_top1", "accuracy_top5")
_OF_YOLOV5 = ("precision", "recall", "mAP_0.5", "mAP_0.5:0.95")
_WRITTEN = lazy_re(  # epoch, memory or batches, and nothing but numbers behind them
    r"\s*(\d+)/(\d+)\s+(?:[\d.]+[MG]i?B?|\d+/\d+)((?:\s+(?:[\d.]+(?:e[+-]\d+)?|nan|inf))+)\s*"
)
_LOSSES = ("box", "obj", "cls", "loss_4", "loss_5", "loss_6")  # those of faces and poses have more
_OF_2019 = ("xy", "wh", "conf", "cls")  # YOLOv3's first; of held-out data only their sum
_ASIDE = ("", "", "")  # the sum, the targets of the last batch, and the size or the time
_SUMS = ("train/loss", "val/loss")  # where both are there
_ROUNDED = 0.02  # of a sum: its parts have three digits or four
_OF_CLASSES = 0.05  # so much F1 differs from that of the means of many classes
_SECOND = {"Mask(P": "(M)", "Pose(P": "(P)"}  # of a model that does more than to detect


def yolo(others: Sequence[tuple[int, str]], bars: Sequence[Bar]) -> list[Row]:
    """Return the rows of an Ultralytics log, two an epoch; the step is the epoch, as in its CSV."""
    columns = next((found[1].split() for _, line in others if (found := _COLUMNS.match(line))), [])
    if not columns:
        return _of_results(others)
    own = [(at, found[1]) for at, line in others if (found := _OWN_BAR.match(line))]
    plain = [(at, line) for at, line in others if _TRAINED.match(line) or _HEAD.match(line)]
    labels = sorted([*((bar.at, bar.label) for bar in bars), *own, *plain])
    old = not any(name.endswith("loss") for name in columns)
    trained = list(_trained([f"{name}_loss" for name in columns] if old else columns, labels))
    head = next((label for _, label in labels if _HEAD.match(label)), "")
    validated = _validated(others, trained, _OF_YOLOV5 if old else _names(head))
    return sorted([*trained, *validated], key=lambda row: row.at)


def _trained(columns: list[str], labels: Sequence[Label]) -> Iterator[Row]:
    """Return the last state of each epoch's bar."""
    states = [(at, found) for at, label in labels if (found := _TRAINED.match(label))]
    for _, same in groupby(states, key=lambda state: state[1][1]):
        *_, (at, state) = same
        pairs = {
            f"train/{name}": number
            for name, cell in zip(columns, state[3].split(), strict=False)
            if name.lower().removesuffix("_loss") not in _NO_METRICS
            and (number := as_number(cell)) is not None
        }
        epoch = whole(state[1])
        counted = Counted(step=epoch, steps=whole(state[2]), epoch=epoch)
        yield Row(at, counted, tuple(pairs), tuple(pairs.values()))


def _validated(
    others: Sequence[tuple[int, str]], trained: Sequence[Row], names: tuple[str, ...]
) -> list[Row]:
    """Return the validation of each epoch; that of the best weights, at the end, is no epoch's."""
    ends = [row.at for row in trained]
    counts = 0 if names == _CLASSIFIED else _COUNTS
    metrics = tuple(f"metrics/{name}" for name in names)
    rows: dict[int, Row] = {}
    for at, line in others:
        found = _ALL.match(line)
        epoch = bisect(ends, at) - 1 if found else -1
        if not found or epoch < 0 or epoch in rows:
            continue
        cells = [as_number(cell) for cell in found[1].split()]
        values = tuple(cell for cell in cells if cell is not None)
        if len(values) == len(cells) == counts + len(metrics):
            rows[epoch] = Row(at, trained[epoch].counted, metrics, values[counts:])
    return list(rows.values())


def _names(head: str) -> tuple[str, ...]:
    """Return the names of what a validation measures, told by the head above its values."""
    if "top1_acc" in head:
        return _CLASSIFIED
    second = next((kind for part, kind in _SECOND.items() if part in head), "")
    more = (name.replace("(B)", second) for name in _DETECTED) if second else ()
    return (*_DETECTED, *more)


def _of_results(others: Sequence[tuple[int, str]]) -> list[Row]:
    """Return the rows of ``results.txt``, each line of which is one."""
    found = [match for _, line in others if (match := _WRITTEN.fullmatch(line))]
    cells = [tuple(map(float, match[3].split())) for match in found]
    names = _written(len(cells[0])) if cells else ()
    total = next((n for n, name in enumerate(names) if name in {"", _SUMS[0]}), 0)
    alike = len(found) == len(others) and all(len(some) == len(names) for some in cells)
    if not names or not alike or not all(_sums(some[:total], some[total]) for some in cells):
        return []
    with_sum = names[total] == _SUMS[0]
    if with_sum and not all(_sums(some[-total - 1 : -1], some[-1]) for some in cells):
        return []
    if all(_is_f1(*some[total + 3 : total + 7]) for some in cells):
        names = tuple(name.replace(_OF_YOLOV5[-1], "F1") for name in names)
    kept = [n for n, name in enumerate(names) if name and any(some[n] for some in cells)]
    return [
        Row(
            at,
            Counted(step=whole(match[1]), steps=whole(match[2]), epoch=whole(match[1])),
            tuple(names[n] for n in kept),
            tuple(some[n] for n in kept),
        )
        for (at, _), match, some in zip(others, found, cells, strict=True)
    ]


def _written(width: int) -> tuple[str, ...]:
    """Return the names of so many numbers of a row; empty for what does not measure.

    An odd number of losses are as many twice, and behind them their sum.
    """
    scores = tuple(f"metrics/{name}" for name in _OF_YOLOV5)
    rest = width - len(_ASIDE) - len(scores)
    old = rest == len(_OF_2019) + 1
    losses = _OF_2019 if old else _LOSSES[: rest // 2]
    train = tuple(f"train/{name}_loss" for name in losses)
    held_out = ("val/loss",) if old else tuple(f"val/{name}_loss" for name in losses)
    first, *last = _SUMS if not old and rest % 2 else _ASIDE[:1]
    names = (*train, first, *_ASIDE[1:], *scores, *held_out, *last)
    return names if len(names) == width and len(losses) > 2 else ()  # noqa: PLR2004 - box, obj, cls


def _sums(parts: Sequence[float], total: float) -> bool:
    """Whether a number is the sum of others, as far as it is finite."""
    return not isfinite(total) or isclose(sum(parts), total, rel_tol=_ROUNDED, abs_tol=1e-6)


def _is_f1(precision: float, recall: float, _: float, score: float) -> bool:
    """Whether the last score is the harmonic mean of the first two, which no mAP is for long."""
    mean = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return abs(score - mean) <= _OF_CLASSES
