"""Records what the real server answers, so that the stand-in is held to it.

    RUNLENS_WANDB_LIVE=1 WANDB_API_KEY=... python -m tests.wandb_server.recording \
        wandb:me/project tests/sources/data/live/project.json

reads a project of a few small runs of your own through a proxy, writes what was asked and answered,
and says where the stand-in answers in another form. Each file there is a test from then on
(`tests/wandb_server/test_recording.py`). The key, addresses, names of people and what looks like a
secret are left out; look through the file before it is committed, names and settings of the runs
are in it. Exported histories, which come from another host, are not recorded.
"""

import base64
import gzip
import json
import os
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from runlens.redaction import redacted
from runlens.sources.wandb_api import fetch_all, listed
from tests.wandb_server.graphql_queries import operation
from tests.wandb_server.server import KEY, Server

CLOUD = "https://api.wandb.ai"
PEOPLE = frozenset({"email", "username", "photoUrl", "host", "apiKeys", "flags"})
ROWS = frozenset({"history", "events"})  # fields whose lines are the rows of a run


class Exchange(NamedTuple):
    """A query and its answer."""

    query: str
    variables: Mapping[str, Any]
    answer: Any

    @property
    def name(self) -> str:
        """Which operation it is."""
        return operation(self.query)


@contextmanager
def recorded(upstream: str) -> Iterator[tuple[str, list[Exchange]]]:
    """Serve as a proxy before a server; hand out its address, and what goes through it."""
    kept: list[Exchange] = []

    class Proxy(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            passed = {"Host", "Accept-Encoding", "Connection", "Content-Length"}
            headers = {name: one for name, one in self.headers.items() if name not in passed}
            url = f"{upstream}{self.path}"
            request = Request(url, body or None, headers, method=self.command)  # noqa: S310
            try:
                with urlopen(request) as got:  # noqa: S310 - the user's own server
                    status, content = got.status, got.read()
            except HTTPError as error:
                status, content = error.code, error.read()
            if self.path == "/graphql" and status == 200:
                packed = self.headers.get("Content-Encoding") == "gzip"
                asked = json.loads(gzip.decompress(body) if packed else body)
                told = cleaned(json.loads(content))
                kept.append(Exchange(asked["query"], asked.get("variables") or {}, told))
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = answer  # noqa: N815 - as they are called

    with ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}", kept
        server.shutdown()


def cleaned(value: Any, key: str = "") -> Any:
    """Return an answer without people, secrets, and addresses that let others in."""
    if isinstance(value, dict):
        return {name: cleaned(one, name) for name, one in value.items()}
    if isinstance(value, list):
        return [cleaned(one, key) for one in value]
    if key in PEOPLE and value is not None:
        return "" if isinstance(value, str) else value
    if isinstance(value, str) and value.startswith("https://"):
        return value.partition("?")[0]
    return redacted(value) if isinstance(value, str) else value


def differences(real: Any, ours: Any, path: str = "") -> list[str]:
    """Return where two answers differ in form: fields, and kinds of values; null fits all."""
    if real is None or ours is None:
        return []
    if isinstance(real, dict) and isinstance(ours, dict):
        missing = [f"{path}.{name} is missing" for name in sorted(real.keys() - ours.keys())]
        both = sorted(real.keys() & ours.keys())
        return missing + [
            one for name in both for one in differences(real[name], ours[name], f"{path}.{name}")
        ]
    if isinstance(real, list) and isinstance(ours, list):
        return differences(real[0], ours[0], f"{path}[]") if real and ours else []
    kinds = [type(one).__name__ for one in (real, ours)]
    number = set(kinds) <= {"int", "float"}
    return [] if number or kinds[0] == kinds[1] else [f"{path} is {kinds[1]}, not {kinds[0]}"]


def held(exchanges: Sequence[Exchange]) -> list[str]:
    """Return where the stand-in, with the same runs, answers in another form."""
    found: dict[str, None] = {}
    with Server() as server:
        for entity, project, name, rows in _runs(exchanges):
            server.entity = entity
            server.put(project, name, rows, display_name=name)
        for one in exchanges:
            body = json.dumps({"query": one.query, "variables": one.variables}).encode()
            key = base64.b64encode(f"api:{KEY}".encode()).decode()
            headers = {"Authorization": f"Basic {key}", "Content-Type": "application/json"}
            with urlopen(Request(f"{server.url}/graphql", body, headers)) as got:  # noqa: S310
                ours = json.loads(got.read())
            found |= dict.fromkeys(differences(one.answer, ours, one.name))
        found |= dict.fromkeys(f"{name} is not imitated" for name in sorted(server.unknown))
    return list(found)


def _runs(exchanges: Sequence[Exchange]) -> Iterator[tuple[str, str, str, list[Any]]]:
    """Yield entity, project, name and rows of each run that was asked for."""
    rows: dict[tuple[str, str, str], list[Any]] = {}
    for one in exchanges:
        given = {key.lower(): str(value) for key, value in one.variables.items()}
        name = given.get("name") or given.get("run") or ""
        if name:
            key = given.get("entity", ""), given.get("project", ""), name
            lines = [line for line in _lines(one.answer) if "_step" in line]
            rows[key] = max(rows.get(key, []), [json.loads(line) for line in lines], key=len)
    for key, lines in rows.items():
        yield *key, lines


def _lines(value: Any, key: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for name, one in value.items():
            yield from _lines(one, name)
    elif isinstance(value, list):
        for one in value:
            yield from _lines(one, key)
    elif isinstance(value, str) and key in ROWS:
        yield value


def load(path: Path) -> list[Exchange]:
    """Return what was recorded into a file."""
    return [Exchange(*one) for one in json.loads(path.read_text(encoding="utf-8"))]


def save(exchanges: Sequence[Exchange], path: Path) -> None:
    """Write what was recorded."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(exchanges, indent=1), encoding="utf-8")


def main() -> None:
    """Record a project, and say how the stand-in differs."""
    if os.environ.get("RUNLENS_WANDB_LIVE") != "1" or len(sys.argv) != 3:
        sys.exit(__doc__)
    project, path = sys.argv[1], Path(sys.argv[2])
    with recorded(os.environ.get("WANDB_BASE_URL", CLOUD).rstrip("/")) as (url, exchanges):
        os.environ["WANDB_BASE_URL"] = url
        for one in fetch_all(run.place for run in listed(project)):
            print(one.place, "read" if one.complete else one.run)
    save(exchanges, path)
    print(f"{path}: {len(exchanges)} answers", *held(exchanges), sep="\n")


if __name__ == "__main__":
    main()
