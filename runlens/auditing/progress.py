"""How far a night is: a bar on a terminal, lines of key=value elsewhere."""

import json
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self, TextIO

from runlens.auditing.engine import Progress
from runlens.diagnosis import SEVERITIES
from runlens.errors import one_line
from runlens.nights import Audit
from runlens.patterns import lazy_re
from runlens.redaction import redacted

PATIENCE = 1.0  # seconds after which a bar is shown
EVERY = 10.0  # seconds between lines
_BARE = lazy_re(r"[^\s\"=]+")


def line(values: Mapping[str, object]) -> str:
    """Return a line of a log: ``event=judged done=12 place="a b"``."""
    return " ".join(f"{key}={_shown(value)}" for key, value in values.items())


def _shown(value: object) -> str:
    """Return a value as it may stand in a terminal: one line, no control character, no secret."""
    text = f"{value:.1f}" if isinstance(value, float) else redacted(str(value))
    bare = _BARE.fullmatch(text) and text.isprintable()
    return text if bare else one_line(json.dumps(text, ensure_ascii=False))


class Shown:
    """Shows the progress of a night on a stream; give it to `runlens.audit` as `on_result`."""

    def __init__(self, stream: TextIO) -> None:
        """Show a bar where the stream is a terminal, lines where not."""
        self._stream = stream
        self._terminal = stream.isatty()
        self._began = self._told = time.monotonic()
        self._met: Counter[str] = Counter()
        self._stack = ExitStack()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def __call__(self, now: Progress) -> None:
        """Take a result in, and show it where it is time."""
        judged = now.judged
        if judged:
            self._met["unread"] += judged.unread is not None
            self._met.update(row.health for row in judged.rows)
        if self._terminal:
            self._draw(now)
        else:
            self._log(now)

    def ended(self, audit: Audit) -> None:
        """Tell what a night came to; on a terminal the report does."""
        if self._terminal:
            return
        night = audit.night
        values: dict[str, object] = {"event": "closed", "night": night.number, "read": night.read}
        self._line(values | audit.counts | {"seconds": night.seconds})

    def _draw(self, now: Progress) -> None:
        if self._bar is None:
            if time.monotonic() - self._began < PATIENCE or not now.total:
                return
            self._open(now.total)
        self._bar.update(self._task, completed=now.done, met=self._counts())

    def _open(self, total: int) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        columns = (
            TextColumn("Reading runs"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[met]}"),
        )
        bar = Progress(*columns, console=Console(file=self._stream), transient=True)
        self._bar = self._stack.enter_context(bar)
        self._task = self._bar.add_task("", total=total, met="")

    def _counts(self) -> str:
        names = (*SEVERITIES[:2], "unread")
        return ", ".join(f"{self._met[name]} {name}" for name in names if self._met[name])

    def _log(self, now: Progress) -> None:
        if now.judged is None:
            self._line({"event": "planned", "places": now.total, "unchanged": now.unchanged})
        elif now.judged.unread:
            unread = now.judged.unread
            self._line({"event": "unread", "place": unread.place, "why": unread.why}, "warning")
        if now.done and (now.done == now.total or time.monotonic() - self._told > EVERY):
            self._told = time.monotonic()
            left = (self._told - self._began) / now.done * (now.total - now.done)
            met = {name: self._met[name] for name in (*SEVERITIES[:2], "unread")}
            far: dict[str, object] = {"event": "judged", "done": now.done, "of": now.total}
            self._line(far | met | {"left_s": round(left)})

    def _line(self, values: Mapping[str, object], level: str = "info") -> None:
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        told = line({"time": moment, "level": level, **values})
        print(told, file=self._stream, flush=True)
