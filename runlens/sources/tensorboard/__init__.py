"""TensorBoard event files, one reading a file: a file is one start of a program.

Values are float32, steps as logged. The file does not say how the run ended; only the Hugging
Face Trainer closes with a row of its own. Most programs flush at every log, so a kill loses
little. Graphs, histograms, images and audio are stepped over.
"""

import os
import re
from collections import Counter
from collections.abc import Mapping
from math import isfinite
from pathlib import Path

import numpy as np

from runlens.history import IntArray
from runlens.patterns import lazy_re
from runlens.run import Problem, Setting
from runlens.sources import environment
from runlens.sources.files import LFS, MAX_LEAVES, Unreadable, flat, read_bytes
from runlens.sources.reading import Hints, Series, SourceReading, as_number, series
from runlens.sources.tensorboard import tags as event_tags
from runlens.sources.tensorboard.proto import MAX_TAG, EventRecord, Malformed, decode_event
from runlens.sources.tensorboard.records import HEADER, Damage, Records, intact, masked, windows
from runlens.sources.tensorboard.scalars import Points, decode
from runlens.sources.tensorboard.texts import settings_in

LOOKS_FOR = "events.out.tfevents.*"
FRAMEWORK = (
    "TensorBoard: Hugging Face Trainer, PyTorch, Lightning, Keras, stable-baselines3, ML-Agents"
)
NEEDS = ("google-crc32c",)
NOT_EVENTS = (".meta", ".profile-empty")
# what loops write into a text when a patience has run out
_STOPPED = lazy_re(r"early[- _]?stop(?:ping|ped)? (?:was )?(?:triggered|at|after)\b", re.IGNORECASE)
LONGEST_SAID = 120
MAX_POINTS = 20_000_000
MAX_TAGS = 20_000


def find(_place: Path, names: Mapping[Path, list[str]]) -> list[Path]:
    """List all event files, and the files of their names that stand where one should be."""
    return [
        folder / name
        for folder, files in names.items()
        for name in files
        if event_tags.EVENT_FILE in name and not _companion(name, files)
    ]


def _companion(name: str, files: list[str]) -> bool:
    """Tell whether a file only goes with an event file beside it (Unity, TensorFlow's profiler)."""
    return any(name.endswith(end) and _has_log(name.removesuffix(end), files) for end in NOT_EVENTS)


def _has_log(stem: str, files: list[str]) -> bool:
    logs = [name for name in files if not name.endswith(NOT_EVENTS)]
    return any(name.startswith(stem) or event_tags.EVENT_FILE in name for name in logs)


def read(path: Path) -> SourceReading:
    """Read one event file."""
    reading = SourceReading(path, "tensorboard", precision="float32")
    reading.environment = environment.of_event_file(path.name)
    try:
        head = read_bytes(path, len(LFS))[: HEADER.size]
        events = _Events()
        with path.open("rb") as handle:
            size = os.fstat(handle.fileno()).st_size
            for records in windows(handle, size, events.damage):
                events.take(records)
                if events.full:
                    break
    except Unreadable as error:
        reading.problems.append(Problem(str(path), str(error), "the whole file"))
        return reading
    except OSError as error:
        text = f"cannot be read to its end ({error.strerror or error})"
        reading.problems.append(Problem(str(path), text, "what follows"))
    if events.damage.records:
        _fill(reading, events)
        _tell_damage(reading, events)
    else:
        text = _no_record(head)
        reading.problems.append(Problem(str(path), text, "the whole file"))
    return reading


class _Events:
    """Collects what the records of one file say."""

    def __init__(self) -> None:
        self.damage = Damage()
        self.points: dict[bytes, list[Points]] = {}
        self.singles: dict[bytes, list[tuple[int, int, float, float]]] = {}
        self.texts: dict[str, str] = {}
        self.hparams: dict[str, object] = {}
        self.others: Counter[str] = Counter()  # kinds of records that hold no scalar
        self.bad: list[int] = []  # records whose data does not fit the checksum
        self.malformed: list[int] = []
        self.starts: list[int] = []  # records at which TensorFlow 1 says that it starts
        self.began: float | None = None
        self.count = 0

    @property
    def full(self) -> bool:
        """Whether more would take too much memory."""
        return self.count > MAX_POINTS or len(self.points) + len(self.singles) > MAX_TAGS

    def take(self, records: Records) -> None:
        decoded = decode(records)
        self.bad += (decoded.damaged + records.first).tolist()
        for tag, points in decoded.points:
            self.points.setdefault(tag, []).append(points)
            self.count += len(points.step)
        for index in decoded.others.tolist():
            start, length = int(records.start[index]), int(records.length[index])
            number = records.first + index
            data = intact(records.buffer, start, length)
            if data is None:
                self.bad.append(number)
                continue
            try:
                self._add(number, decode_event(memoryview(data)))
            except Malformed:
                self.malformed.append(number)
        first = self.points.values()
        if self.began is None and first:
            self.began = min(float(points[0].time[0]) for points in first)

    def _add(self, number: int, event: EventRecord) -> None:
        if self.began is None and isfinite(event.time):
            self.began = event.time
        for tag, value in event.scalars:
            row = (number, event.step, value, event.time)
            self.singles.setdefault(tag.encode(), []).append(row)
        self.count += len(event.scalars)
        for tag, text in event.texts:
            if tag not in self.texts and len(self.texts) < MAX_LEAVES:
                self.texts[tag] = text
        self.hparams.update(event.hparams)
        self.others.update(event.others)
        if event.starts:
            self.starts.append(number)

    def tagged(self) -> event_tags.Tagged:
        """Return all points by tag, tags and points in the order of logging."""
        for tag, rows in self.singles.items():
            record, step, value, time = zip(*rows, strict=True)
            self.points.setdefault(tag, []).append(
                Points(
                    np.array(record, np.int64),
                    np.array(step, np.int64),
                    np.array(value, np.float64),
                    np.array(time, np.float64),
                )
            )
        self.singles = {}
        named: dict[str, list[Points]] = {}
        for tag, parts in self.points.items():
            named.setdefault(tag.decode("utf-8", "replace")[:MAX_TAG], []).extend(parts)
        self.points.clear()  # what is joined is not held twice
        joined = {tag: _in_order(named.pop(tag)) for tag in list(named)}
        return dict(sorted(joined.items(), key=lambda item: int(item[1].record[0])))


def _in_order(parts: list[Points]) -> Points:
    joined = Points._make(np.concatenate(column) for column in zip(*parts, strict=True))
    if (joined.record[1:] >= joined.record[:-1]).all():
        return joined
    order = np.argsort(joined.record, kind="stable")
    return Points._make(column[order] for column in joined)


def _fill(reading: SourceReading, events: _Events) -> None:
    tags = events.tagged()
    reading.started = events.began
    reading.framework = event_tags.framework_of(tags)
    _read_settings(reading, events)
    reading.hints.summary = event_tags.drop_closing_row(tags)
    event_tags.drop_doubles(tags)
    starts = _launch_starts(tags, events.starts)
    for tag, name in event_tags.names(reading.path, tags).items():
        reading.series[name] = _series(tag, tags[tag], starts)
    if reading.empty and not events.texts:
        held = ", ".join(f"{number} {kind}" for kind, number in events.others.items())
        reading.problems.append(
            Problem(str(reading.path), f"holds no scalars{f', only: {held}' if held else ''}")
        )


def _series(tag: str, points: Points, starts: IntArray) -> Series:
    # Keras logs the epoch from 0 as step when it is over: one more is done then
    epoch = points.step + 1 if event_tags.by_epoch(tag) else None
    launch = event_tags.launches(points, starts) if len(starts) else None
    return series(points.step, points.value, epoch, points.time, launch)


def _launch_starts(tags: event_tags.Tagged, sessions: list[int]) -> IntArray:
    """Return the records at which the launches after the first begin."""
    first = min((int(points.record[0]) for points in tags.values()), default=0)
    later = np.array([record for record in sessions if record > first], np.int64)
    return later if len(later) else event_tags.restarts(tags)


def _read_settings(reading: SourceReading, events: _Events) -> None:
    for tag, text in events.texts.items():
        if _STOPPED.search(text):
            reading.hints.early_stopping = text[:LONGEST_SAID]
        found = settings_in(tag, text)
        reading.config = found | reading.config
        if tag.startswith("args") and "per_device_train_batch_size" in found:
            reading.framework = "transformers"
            _read_plan(found, reading.hints)
    reading.config = flat(events.hparams) | reading.config


def _read_plan(arguments: Mapping[str, Setting], hints: Hints) -> None:
    """Take what the Trainer was asked to do; max_steps, where positive, overrides the epochs."""
    steps, epochs = (as_number(arguments.get(key)) for key in ("max_steps", "num_train_epochs"))
    if steps and 0 < steps < 1e15:  # noqa: PLR2004 - no step is that large
        hints.planned_steps = int(steps)
    else:
        hints.planned_epochs = epochs


def _no_record(head: bytes) -> str:
    if len(head) < HEADER.size or masked(head[:8]) == HEADER.unpack(head)[1]:
        return "ends within its first record"
    if head.isascii() and head.decode().isprintable():
        return "is text, not an event file"
    return "is not an event file, or is damaged from its first byte on"


def _tell_damage(reading: SourceReading, events: _Events) -> None:
    damage, where = events.damage, str(reading.path)
    told: list[tuple[str, str]] = []
    if events.bad:
        text = f"damaged: data does not fit its checksum (record {min(events.bad) + 1})"
        told.append((text, f"{len(events.bad):,} of {damage.records:,} records"))
    if events.malformed:
        text = f"records that cannot be decoded (record {events.malformed[0] + 1})"
        told.append((text, f"{len(events.malformed):,} of {damage.records:,} records"))
    if damage.holes:
        places = f"byte {damage.holes[0][0]:,}"
        more = f", and {len(damage.holes) - 1:,} more places" if len(damage.holes) > 1 else ""
        lost = sum(size for _, size in damage.holes)
        told.append((f"damaged: no record at {places}{more}", f"{lost:,} bytes skipped"))
    if damage.garbage:
        told.append(("damaged: no record at its end", f"{damage.garbage:,} bytes skipped"))
    if damage.tail:
        text = "ends in the middle of a record"
        told.append((text, f"{damage.tail:,} bytes of an unfinished record at the end"))
    if events.full:
        told.append(("has more scalars than can be held", f"all after {events.count:,} values"))
    reading.problems += [Problem(where, text, lost) for text, lost in told]
