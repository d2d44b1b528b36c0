"""The runs, projects and entities of the stand-in, with the fields that the client asks for."""

import hashlib
import json
import re
import sys
import time
import urllib.parse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tests.wandb_server.filters import field_of, matches
from tests.wandb_server.recorded import Recorded, global_id, parquet, spread, strict

if TYPE_CHECKING:
    from tests.wandb_server.server import Server

NO_HEARTBEAT = 300.0  # seconds after which the server calls a run crashed
PARQUET = "_history.parquet"
_CONSOLE = re.compile(r"(?P<level>ERROR )?(?P<time>\d{4}-\d\d-\d\dT\S+) (?:\[.*?\] )?")


def iso(seconds: float) -> str:
    """Return a time as the API writes it: UTC without saying so."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


@dataclass(eq=False)
class StoredRun:
    """One run. Properties and methods are what clients ask for."""

    server: "Server"
    owner: str
    within: str
    name: str  # the run's id
    display_name: str = ""
    tags: list[str] = field(default_factory=list)
    group: str | None = None
    job_type: str | None = None
    notes: str | None = None
    description: str | None = None
    commit: str | None = None
    sweep_name: str | None = None
    host: str | None = None
    job_program: str | None = None
    read_only: bool = False
    project_id: int = 1
    stopped: bool = False
    last_state: str = "running"
    began: float = field(default_factory=time.time)
    beat: float = field(default_factory=time.time)
    settings: dict[str, Any] = field(default_factory=dict)
    last_values: dict[str, Any] = field(default_factory=dict)
    rows: Recorded = field(default_factory=Recorded)
    records: Recorded = field(default_factory=Recorded)
    console: list[str] = field(default_factory=list)
    contents: dict[str, bytes] = field(default_factory=dict)
    exported: int = 0  # rows that are in the parquet export
    keyless: bool = False  # the server does not know the keys of the history
    withheld: int = 0  # rows that the server counts but does not send
    nobody: bool = False  # whoever logged it has left
    username: str = "tester"

    def log(self, rows: Iterable[Mapping[str, Any]], *, rewind: int | None = None) -> None:
        """Log more rows; `rewind` gives up those from that step on before."""
        kept = [row for row in self.rows.rows if rewind is None or row["_step"] < rewind]
        self.rows = Recorded([*kept, *rows])
        self.beat = max(self.beat + 1, time.time())

    def __post_init__(self) -> None:
        """Name it by its id, where it has no other name."""
        self.display_name = self.display_name or self.name

    @property
    def id(self) -> str:
        """The id of the record."""
        return global_id("Run", "v1", self.name, self.within, self.owner)

    @property
    def state(self) -> str:
        """The state; a run that is not heard of any more counts as crashed."""
        silent = time.time() - self.beat > NO_HEARTBEAT
        return "crashed" if self.last_state == "running" and silent else self.last_state

    @property
    def user(self) -> dict[str, str] | None:
        """Who logged it."""
        if self.nobody:
            return None
        return {"id": "VXNlcjox", "name": "Test User", "username": self.username, "email": ""}

    @property
    def project(self) -> "Project":
        """The project that it is in."""
        return Project(self.server, self.owner, self.within)

    @property
    def created_at(self) -> str:
        """When it began."""
        return iso(self.began)

    @property
    def heartbeat_at(self) -> str:
        """When it was last heard of."""
        return iso(self.beat)

    @property
    def config(self) -> str:
        """The settings, as text."""
        return strict(self.settings)

    @property
    def summary_metrics(self) -> str:
        """The last values, as text."""
        return strict(self.last_values)

    @property
    def system_metrics(self) -> str:
        """The last system metrics, as text."""
        return self.records.lines[-1] if self.records.lines else "{}"

    @property
    def history_line_count(self) -> int:
        """How many rows there are."""
        return len(self.rows.lines)

    @property
    def events_line_count(self) -> int:
        """How many records of system metrics there are."""
        return len(self.records.lines)

    @property
    def log_line_count(self) -> int:
        """How many lines of the console there are."""
        return len(self.console)

    @property
    def history_tail(self) -> str:
        """The last row, as a resuming client reads it."""
        return json.dumps(self.rows.lines[-1:])

    @property
    def events_tail(self) -> str:
        """The last record of system metrics."""
        return json.dumps(self.records.lines[-1:])

    @property
    def history_keys(self) -> dict[str, Any] | None:
        """The keys of the history with their types, and the last step."""
        return None if self.keyless else self.rows.keys

    def wandb_config(self, keys: Sequence[str] = (), **_: Any) -> str:
        """Return some of W&B's own settings."""
        own = self.settings.get("_wandb", {}).get("value", {})
        return json.dumps({key: own[key] for key in keys or own if key in own})

    def history(
        self,
        samples: int | None = None,
        min_step: int | None = None,
        max_step: int | None = None,
        **_: Any,
    ) -> list[str]:
        """Return samples of all rows, or a page: those of `min_step` up to before `max_step`."""
        lines = self.rows.lines[: len(self.rows.lines) - self.withheld]
        if min_step is None or max_step is None:
            return spread(lines, min(samples or sys.maxsize, self.server.most))
        begin = 0 if self.server.overlap else self.exported
        steps = self.rows.steps
        page = [
            line
            for line, step in zip(lines[begin:], steps[begin:], strict=False)
            if min_step <= step < max_step
        ]
        return page[:samples]

    def events(self, samples: int | None = None, **_: Any) -> list[str]:
        """Return samples of the system metrics."""
        return spread(self.records.lines, samples)

    def parquet_history(self, live_keys: Sequence[str] = (), **_: Any) -> dict[str, Any]:
        """Return where the exported rows lie, and some keys of the others."""
        rows = self.rows.rows[self.exported :]
        live = [{key: row[key] for key in live_keys if key in row} for row in rows]
        if not self.exported:
            return {"parquetUrls": [], "liveData": live}
        self.contents[PARQUET] = parquet(self.rows.rows[: self.exported])
        return {"parquetUrls": [self.url_of(PARQUET)], "liveData": live}

    def log_lines(
        self,
        first: int | None = None,
        after: str | None = None,
        last: int | None = None,
        **_: Any,
    ) -> dict[str, Any]:
        """Return a page of the console, or its last lines."""
        edges = []
        for number, line in enumerate(self.console):
            head = _CONSOLE.match(line)
            node = {
                "number": number,
                "timestamp": head["time"] if head else "",
                "level": "error" if head and head["level"] else "",
                "label": "",
                "line": line[head.end() if head else 0 :],
            }
            edges.append({"node": node, "cursor": str(number)})
        if last:
            return paged(edges[-last:], None, last)
        return paged(edges, after, first or 1000)

    def files(
        self,
        names: Sequence[str] = (),
        pattern: str | None = None,
        first: int | None = None,
        after: str | None = None,
        **_: Any,
    ) -> dict[str, Any]:
        """Return a page of the files; one that is asked for by name but absent has size 0."""
        like = re.escape(pattern or "").replace("%", ".*").replace("_", ".")
        wanted = [name for name in names or () if name] or sorted(set(self.contents) - {PARQUET})
        listed = [n for n in wanted if not pattern or re.fullmatch(like, n)]
        edges = [{"node": self._file(n), "cursor": str(i)} for i, n in enumerate(listed)]
        return paged(edges, after, first or 50)

    def _file(self, name: str) -> dict[str, Any]:
        content = self.contents.get(name, b"")
        digest = hashlib.md5(content, usedforsecurity=False).hexdigest()
        url = self.url_of(name)
        return {
            "id": global_id("File", name),
            "name": name,
            "url": lambda **_: url,
            "directUrl": url,
            "uploadUrl": url,
            "sizeBytes": len(content),
            "mimetype": "text/plain",
            "updatedAt": self.heartbeat_at,
            "md5": digest,
        }

    @property
    def file_count(self) -> int:
        """How many files there are."""
        return len(self.contents)

    def url_of(self, name: str) -> str:
        """Return where a file lies."""
        path = "/".join(map(urllib.parse.quote, (self.owner, self.within, self.name, name)))
        return f"{self.server.url}/storage/{path}"


@dataclass
class Project:
    """One project."""

    server: "Server"
    owner: str
    name: str
    internal_id: str = "1"
    read_only: bool = False

    @property
    def id(self) -> str:
        """The id of the record."""
        return global_id("Project", "v1", self.name, self.owner)

    @property
    def entity(self) -> "Entity":
        """Whose it is."""
        return Entity(self.owner)

    def run(self, name: str, **_: Any) -> StoredRun | None:
        """Return a run by its id."""
        return self.server.runs.get((self.owner, self.name, name))

    def bucket(self, name: str, **_: Any) -> StoredRun | None:
        """Return a run by its id, as logging clients ask for it."""
        return self.run(name)

    def run_count(self, filters: str | None = None, **_: Any) -> int:
        """Return how many runs fit."""
        return len(self._fitting(filters))

    def runs(
        self,
        filters: str | None = None,
        order: str | None = None,
        after: str | None = None,
        first: int | None = None,
        **_: Any,
    ) -> dict[str, Any]:
        """Return a page of the runs that fit, in an order such as `-heartbeat_at`."""
        found = self._fitting(filters)
        for key in reversed((order or "+created_at").split(",")):
            found.sort(key=lambda run: _rank(run, key.lstrip("+-")), reverse=key.startswith("-"))
        edges = [{"node": run, "cursor": str(n)} for n, run in enumerate(found)]
        return paged(edges, after, first or 50) | {"totalCount": len(found)}

    def _fitting(self, filters: str | None) -> list[StoredRun]:
        wanted = json.loads(filters or "{}")
        place = (self.owner, self.name)
        mine = [run for key, run in self.server.runs.items() if key[:2] == place]
        return [run for run in mine if matches(run, wanted)]


def _rank(run: StoredRun, key: str) -> tuple[bool, bool, Any]:
    times = {"created_at": run.began, "heartbeat_at": run.beat}
    value = times.get(key, field_of(run, key))
    return value is not None, isinstance(value, str), value


@dataclass
class Entity:
    """A user or a team."""

    name: str
    organization: None = None

    @property
    def id(self) -> str:
        """The id of the record."""
        return global_id("Entity", self.name)


def paged(edges: list[dict[str, Any]], after: str | None, first: int) -> dict[str, Any]:
    """Cut a page of at most `first` out of edges, behind the cursor `after`."""
    cursors = [edge["cursor"] for edge in edges]
    begin = cursors.index(after) + 1 if after else 0
    page = edges[begin : begin + first]
    more = {
        "endCursor": page[-1]["cursor"] if page else None,
        "hasNextPage": begin + first < len(edges),
    }
    return {"edges": page, "pageInfo": more}
