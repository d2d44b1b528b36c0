"""A stand-in for the W&B server: in memory, on a free port of this machine.

The unmodified SDK logs to it, ``wandb sync`` uploads to it, ``wandb.Api()`` reads from it::

    with Server() as server:
        os.environ |= {"WANDB_BASE_URL": server.url, "WANDB_API_KEY": KEY}

It can be slow for wide answers (`speed`, `gateway`), older than the client (`lacks`), bound to a
`quota`, and change between any two requests (`between`). Not imitated: artifacts, sweeps, reports,
teams, permissions, the real server's sampling.
"""

import base64
import json
import math
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from http.server import ThreadingHTTPServer
from typing import Any, Self

from tests.wandb_server.handler import Handler
from tests.wandb_server.recorded import Recorded
from tests.wandb_server.stored import StoredRun

KEY = "0" * 40  # any key of the right length is let in, but a REFUSED one
REFUSED = "1" * 40
Key = tuple[str, str, str]  # entity, project, run


@dataclass
class Fault:
    """What goes wrong with requests whose operation or path contains `match`.

    `kind` is an HTTP status, or ``drop``, ``slow`` (by `delay` seconds), ``errors`` (GraphQL's,
    with status 200) or ``html``. It happens `times` times, each with the probability `share`.
    """

    match: str = ""
    kind: str = "500"
    times: int = 1
    retry_after: float | None = None  # seconds
    delay: float = 0.0  # seconds
    message: str = "a scripted fault"
    share: float = 1.0


@dataclass
class Quota:
    """How many requests a key may send in a window of time, as the ``RateLimit-*`` headers say."""

    most: int
    seconds: float = 1.0
    left: int = 0
    until: float = 0.0  # of the monotonic clock

    def spend(self) -> tuple[bool, dict[str, str]]:
        """Count a request; return whether it is within the quota, and the headers."""
        now = time.monotonic()
        if now >= self.until:
            self.left, self.until = self.most, now + self.seconds
        fits = self.left > 0
        self.left -= fits
        reset = str(math.ceil(self.until - now))
        told = {"Limit": str(self.most), "Remaining": str(self.left), "Reset": reset}
        return fits, {f"RateLimit-{name}": value for name, value in told.items()}


class Http(ThreadingHTTPServer):
    """The socket of a stand-in, which does not print when a client goes away."""

    daemon_threads = True
    request_queue_size = 128
    standin: "Server"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a client that gave up and has closed its connection."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class Server:
    """The store, the script of faults, and the requests seen (`log`)."""

    def __init__(self, *, port: int = 0, entity: str = "team", latency: float = 0.0) -> None:
        """Listen on a port of the loopback; each answer takes `latency` seconds more."""
        self.entity, self.latency = entity, latency
        self.runs: dict[Key, StoredRun] = {}
        self.projects: set[tuple[str, str]] = set()
        self.faults: list[Fault] = []
        self.log: list[str] = []  # operations and paths, in the order in which they came
        self.asked: list[tuple[str, list[Any]]] = []  # operations with the values they ask for
        self.unknown: Counter[str] = Counter()  # fields that were asked for and are not here
        self.overlap = False  # pages repeat the rows that are in the parquet export
        self.largest = 0  # bytes of an answer
        self.quota: Quota | None = None  # of requests
        self.lacks: set[str] = set()  # fields that this server is too old for
        self.speed = math.inf  # bytes a second at which answers are made
        self.gateway = math.inf  # seconds after which a gateway gives up on an answer, with 504
        self.between: Callable[[str], None] | None = None  # called with each operation, before it
        self.most = sys.maxsize  # samples of a history in one answer
        self.lock = threading.RLock()
        self._random = random.Random(0)
        self._http = Http(("127.0.0.1", port), Handler)
        self._http.standin = self
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> Self:
        self.thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *how: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def asked_of(self, run: str) -> list[str]:
        """Return the operations that asked for a run, in the order in which they came."""
        return [called for called, values in self.asked if run in values]

    def fault(self, match: str = "", kind: str = "500", **how: Any) -> None:
        """Script a fault; see `Fault`."""
        self.faults.append(Fault(match, kind, **how))

    def next_fault(self, called: str) -> Fault | None:
        """Return what goes wrong with a request, if anything."""
        with self.lock:
            for fault in self.faults:
                if fault.times and fault.match in called and self._random.random() < fault.share:
                    fault.times -= 1
                    return fault
        return None

    def admits(self, authorization: str) -> bool:
        """Whether a request has a key that is let in."""
        _, _, packed = authorization.partition(" ")
        key = base64.b64decode(packed).decode().rpartition(":")[2]
        return bool(key) and key != REFUSED

    def keep(self, run: StoredRun) -> StoredRun:
        """Put a run into the store."""
        self.runs[run.owner, run.within, run.name] = run
        self.projects.add((run.owner, run.within))
        return run

    def put(
        self,
        project: str,
        name: str,
        rows: Iterable[Mapping[str, Any]] | Recorded,
        *,
        config: Mapping[str, Any] | None = None,
        own: Mapping[str, Any] | None = None,
        state: str = "finished",
        created: float | None = None,
        events: Iterable[Mapping[str, Any]] = (),
        **more: Any,
    ) -> StoredRun:
        """Put a run into the store without the SDK.

        `own` are W&B's own settings (``{"cli_version": "0.16.6"}``); `more` are further fields
        of `StoredRun`, such as ``console``, ``last_values``, ``beat``, ``tags``.
        """
        settings = {key: {"value": value} for key, value in (config or {}).items()}
        if own is not None:
            settings["_wandb"] = {"value": dict(own)}
        began = time.time() if created is None else created
        history = rows if isinstance(rows, Recorded) else Recorded(rows)
        fields: dict[str, Any] = {"began": began, "beat": began, "records": Recorded(events)}
        fields |= {"settings": settings, "rows": history, "last_state": state} | more
        return self.keep(StoredRun(self, self.entity, project, name, **fields))

    def fill(
        self, project: str, runs: int, rows: int, *, variants: int = 50, faulty: int = 0
    ) -> None:
        """Put `runs` runs of `rows` rows into a project: training losses, no two alike.

        For benchmarks: only `variants` histories are made, which the runs share. `faulty` of them,
        spread evenly, become NaN at two thirds.
        """
        histories = [Recorded(_training(seed, rows)) for seed in range(min(variants, runs))]
        broken = [Recorded(_broken(one.rows)) for one in histories] if faulty else []
        for number in range(runs):
            breaks = (number + 1) * faulty // runs > number * faulty // runs
            self.put(
                project,
                f"run-{number:05}",
                (broken if breaks else histories)[number % len(histories)],
                config={"learning_rate": 2e-4, "seed": number},
                created=1.79e9 + number,
            )

    def take_stream(self, key: Key, chunk: Mapping[str, Any]) -> None:
        """Take what a run streams while it logs."""
        run = self.runs[key]
        run.beat = time.time()
        for name, part in (chunk.get("files") or {}).items():
            _take_lines(run, name, part.get("offset", 0), part["content"])
        if chunk.get("complete"):
            run.last_state = "failed" if chunk.get("exitcode") else "finished"


def _take_lines(run: StoredRun, name: str, offset: int, lines: Sequence[str]) -> None:
    if name == "wandb-history.jsonl":
        run.rows.put(offset, lines)
    elif name == "wandb-events.jsonl":
        run.records.put(offset, lines)
    elif name == "output.log":
        plain = [line.rstrip("\n") for line in lines]
        run.console[offset : offset + len(lines)] = plain
    elif name == "wandb-summary.json":
        run.last_values = json.loads(lines[-1])


def _training(seed: int, rows: int) -> Iterable[dict[str, float]]:
    drawn = random.Random(seed)
    for step in range(rows):
        loss = 2.5 * (step + 1) ** -0.3 * (1 + 0.05 * drawn.gauss(0, 1))
        row = {"train/loss": loss, "train/grad_norm": 1 + abs(drawn.gauss(0, 0.2))}
        row |= {"train/learning_rate": 2e-4 * (1 - step / rows), "train/global_step": 10 * step}
        yield {"_step": step, "_runtime": 2.0 * step, "_timestamp": 1.79e9 + 2 * step} | row


def _broken(rows: Sequence[Mapping[str, Any]]) -> Iterable[dict[str, Any]]:
    from_there = {"train/loss": "NaN", "train/grad_norm": "NaN"}
    for at, row in enumerate(rows):
        yield {**row, **(from_there if at >= 2 * len(rows) // 3 else {})}
