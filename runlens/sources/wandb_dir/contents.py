"""What the records of a W&B transaction log say, before anything is concluded from it."""

import re
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from runlens.history import IntArray
from runlens.metrics import Better
from runlens.run import Setting
from runlens.sources import environment
from runlens.sources.files import Unreadable, parse_json
from runlens.sources.reading import Environment
from runlens.sources.wandb_dir import proto
from runlens.sources.wandb_dir.log import Records
from runlens.sources.wandb_dir.rows import Rows
from runlens.sources.wandb_dir.walk import Buffer, Heads, heads

CONSOLE_RECORDS = 20_000  # a line is up to four records, a progress bar one each time it moves
CLOSING_MARK = b"train_runtime\x82\x01"  # the key's end and the tag of its value


@dataclass
class Contents:
    """All records of a log, sorted by what they are about."""

    rows: Rows = field(default_factory=Rows)
    config: dict[str, Any] = field(default_factory=dict)
    declared: dict[str, str] = field(default_factory=dict)  # step metric by name or glob
    directions: dict[str, Better] = field(default_factory=dict)  # which is better, by the same
    stats: list[tuple[float, list[tuple[str, float]]]] = field(default_factory=list)
    console: deque[str] = field(default_factory=lambda: deque(maxlen=CONSOLE_RECORDS))
    machine: dict[str, Setting] = field(default_factory=dict)
    environment: Environment = field(default_factory=dict)
    run: proto.Message = field(default_factory=lambda: proto.Message(b""))
    exit: proto.Message | None = None
    sdk: str = ""
    closing: int | None = None  # rows before the Trainer's closing row came into the summary
    records: int = 0
    malformed: int = 0

    def __post_init__(self) -> None:
        """Say who takes which of the records that are rare."""
        self._takers: dict[int, Callable[[bytes], None]] = {
            proto.STATS: self._stats,
            proto.OUTPUT: self._console,
            proto.OUTPUT_RAW: self._console,
            proto.CONFIG: self._config,
            proto.RUN: self._run,
            proto.TELEMETRY: self._telemetry,
            proto.METRIC: self._metric,
            proto.ENVIRONMENT: self._environment,
            proto.EXIT: self._exit,
        }

    def take(self, records: Records) -> None:
        """Take in records; those that cannot be decoded are counted."""
        buffer = Buffer(records.data)
        found = self._heads(buffer, records)
        kind, start, end = found
        self.records += len(kind)
        history = kind == proto.HISTORY
        before = self.rows.count
        taken = self.rows.add(buffer, start[history], end[history])
        self.malformed += int((~taken).sum())
        history[history] = taken
        self._look_for_closing(found, buffer, before + np.cumsum(history))
        for place in np.flatnonzero(np.isin(kind, list(self._takers))).tolist():
            try:
                self._takers[int(kind[place])](buffer.data[start[place] : end[place]])
            except proto.Malformed:
                self.malformed += 1

    def _heads(self, buffer: Buffer, records: Records) -> Heads:
        """Return kind and content of each record; kind 0 for those that cannot be decoded."""
        found = heads(buffer, records.start, records.end)
        for place in np.flatnonzero(found.kind == 0).tolist():
            begin = int(records.start[place])
            try:
                kind, start, end = proto.record_span(buffer.data, begin, int(records.end[place]))
            except proto.Malformed:
                kind, start, end = 0, begin, begin
                self.malformed += 1
            found.kind[place], found.start[place], found.end[place] = kind, start, end
        return found

    def _look_for_closing(self, records: Heads, buffer: Buffer, before: IntArray) -> None:
        """Find the last summary with the Trainer's closing row; `before`: rows ahead of each."""
        summaries = np.flatnonzero(records.kind == proto.SUMMARY)
        if not len(summaries) or CLOSING_MARK not in buffer.data:
            return
        marks = [mark.start() for mark in re.finditer(CLOSING_MARK, buffer.data)]
        summaries = summaries[np.argsort(records.start[summaries])]
        place = np.searchsorted(records.start[summaries], marks, side="right") - 1
        holding = summaries[np.maximum(place, 0)]
        holding = holding[(place >= 0) & (marks < records.end[holding])]
        if len(holding):
            self.closing = int(before[holding].max())

    def _stats(self, content: bytes) -> None:
        time, found = proto.stats(content)
        if time is not None:
            self.stats.append((time, found))

    def _console(self, content: bytes) -> None:
        self.console.append(proto.Message(content).text(3))

    def _config(self, content: bytes) -> None:
        found = proto.Message(content)
        for path, value in map(proto.item, found.all(1)):
            _put(self.config, path, value)
        for path, _ in map(proto.item, found.all(2)):
            _put(self.config, path, None)

    def _run(self, content: bytes) -> None:
        self.run = proto.Message(content)
        self._config(self.run.content(4))
        self._telemetry(self.run.content(19))

    def _telemetry(self, content: bytes) -> None:
        found = proto.Message(content)
        self.sdk = found.text(5) or self.sdk
        if python := found.text(4):
            self.machine.setdefault("python_version", python)

    def _metric(self, content: bytes) -> None:
        found = proto.Message(content)
        name = found.text(1) or found.text(2)
        if step := found.text(4):
            self.declared[name] = step
        summary = proto.Message(found.content(7))
        if better := proto.direction(found.number(8), [n for n in (1, 2) if summary.number(n)]):
            self.directions[name] = better

    def _environment(self, content: bytes) -> None:
        found = proto.Message(content)
        self.machine |= machine(
            found.text(6), found.texts(5), found.text(18), found.number(19), found.text(2)
        )
        slurm = map(proto.Message, found.all(27))
        self.environment = environment.of_metadata(
            {
                "python": found.text(2),
                "docker": found.text(4),
                "git": {"commit": proto.Message(found.content(9)).text(2)},
                "host": found.text(12),
                "gpu": found.text(18),
                "gpu_nvidia": [{"uuid": proto.Message(one).text(5)} for one in found.all(24)],
                "cudaVersion": found.text(25),
                "slurm": {entry.text(1): entry.text(2) for entry in slurm},
            }
        )

    def _exit(self, content: bytes) -> None:
        self.exit = proto.Message(content)


def machine(
    program: str, args: Sequence[str], gpu: str, gpu_count: int, python: str
) -> dict[str, Setting]:
    """Return what is known of the machine as settings; unknown (empty) ones are left out."""
    found: dict[str, Setting] = {
        "command_line": " ".join((program, *args)).strip(),
        "gpu": gpu,
        "gpu_count": gpu_count,
        "python_version": python,
    }
    return {key: value for key, value in found.items() if value}


def _put(tree: dict[str, Any], path: tuple[str, ...], value: bytes | None) -> None:
    """Set a value in nested settings; None removes it, and what is no JSON is left out."""
    *above, key = path
    for level in above:
        if not isinstance(tree.get(level), dict):
            tree[level] = {}
        tree = tree[level]
    tree.pop(key, None)
    if value is not None:
        try:
            tree[key] = parse_json(value)
        except Unreadable:
            return
