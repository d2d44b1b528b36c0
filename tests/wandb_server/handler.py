"""The stand-in's HTTP: GraphQL, the stream of a run that logs, files; and the scripted faults."""

import gzip
import json
import re
import socket
import struct
import time
from collections import Counter
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote, urlsplit

from tests.wandb_server.graphql_queries import Execution, operation
from tests.wandb_server.root import Root

if TYPE_CHECKING:
    from tests.wandb_server.server import Fault, Http

_STREAM = re.compile(r"/files/([^/]+)/([^/]+)/([^/]+)/file_stream")
_FILE = re.compile(r"/(?:storage|files)/([^/]+)/([^/]+)/([^/]+)/(.+)")
_RANGE = re.compile(r"bytes=(\d+)-(\d*)")


class Handler(BaseHTTPRequestHandler):
    """Answers one connection."""

    protocol_version = "HTTP/1.1"
    _limits: Mapping[str, str] = MappingProxyType({})  # headers that tell of a quota

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as it is called
        """Print nothing: `Server.log` has the requests."""

    def answer(self) -> None:
        """Answer one request, or fail as scripted."""
        self.server: Http
        self._standin = self.server.standin
        path, body = urlsplit(self.path).path, self._body()
        query: dict[str, Any] = json.loads(body) if path == "/graphql" else {}
        called = operation(query["query"]) if query else path
        self._standin.log.append(called)
        self._standin.asked.append((called, [*(query.get("variables") or {}).values()]))
        time.sleep(self._standin.latency)
        if self._standin.between:
            self._standin.between(called)
        fault = self._standin.next_fault(called)
        if fault is not None and self._failed(fault):
            return
        if self._standin.quota and path != "/requests":
            with self._standin.lock:
                fits, self._limits = self._standin.quota.spend()
            if not fits:
                self._send(429, {"errors": [{"message": "rate limit exceeded"}]})
                return
        if query:
            self._answer_query(query)
        else:
            self._answer_path(path, body)

    do_GET = do_POST = do_PUT = do_HEAD = answer  # noqa: N815 - as they are called

    def _body(self) -> bytes:
        size = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(size)
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            while size := int(self.rfile.readline().split(b";")[0], 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        return gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body

    def _send(
        self,
        status: int,
        content: object,
        headers: Mapping[str, str] | None = None,
        kind: str = "application/json",
    ) -> None:
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in {**self._limits, **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _failed(self, fault: "Fault") -> bool:
        """Fail as scripted; a slow answer comes after all."""
        if fault.kind == "slow":
            time.sleep(fault.delay)
            return False
        if fault.kind == "drop":  # with a reset
            self.close_connection = True
            linger = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.connection.shutdown(socket.SHUT_RD)
            self.connection.close()
        elif fault.kind == "errors":
            self._send(200, {"data": None, "errors": [{"message": fault.message}]})
        elif fault.kind == "html":
            self._send(200, b"<html>a gateway</html>", kind="text/html")
        else:
            after = {"Retry-After": str(fault.retry_after)} if fault.retry_after else {}
            self._send(int(fault.kind), {"errors": [{"message": fault.message}]}, after)
        return True

    def _answer_query(self, query: Mapping[str, Any]) -> None:
        authorization = self.headers.get("Authorization", "")
        if not self._standin.admits(authorization):
            self._send(401, {"errors": [{"message": "user is not logged in"}]})
            return
        # the one argument of a mutation is called input, which is a word of Python
        text = re.sub(r"\(\s*input:", "(given:", query["query"])
        for name in self._standin.lacks:
            if re.search(rf"\b{name}\b", text):
                said = f'Cannot query field "{name}" on type "Run".'
                self._send(200, {"data": None, "errors": [{"message": said}]})
                return
        with self._standin.lock:
            asked = Execution(text, query.get("variables") or {}, self._standin.unknown)
            answer = json.dumps({"data": asked.answer(Root(self._standin))}).encode()
        self._standin.largest = max(self._standin.largest, len(answer))
        needed = len(answer) / self._standin.speed
        time.sleep(min(needed, self._standin.gateway))
        if needed > self._standin.gateway:
            self._send(504, b"<html>gateway time-out</html>", kind="text/html")
        else:
            self._send(200, answer)

    def _answer_path(self, path: str, body: bytes) -> None:
        if found := _STREAM.fullmatch(path):
            key = cast("tuple[str, str, str]", tuple(map(unquote, found.groups())))
            with self._standin.lock:
                self._standin.take_stream(key, json.loads(body))
            self._send(200, {"limits": {}})
        elif path == "/requests":
            self._send(200, Counter(self._standin.log))
        elif found := _FILE.fullmatch(path):
            self._answer_file(*map(unquote, found.groups()), body=body)
        else:
            self._send(404, {"error": f"not imitated: {path}"})

    def _answer_file(self, entity: str, project: str, run: str, name: str, *, body: bytes) -> None:
        files = self._standin.runs[entity, project, run].contents
        if self.command in {"PUT", "POST"}:
            files[name] = body
            self._send(200, b"")
        elif name not in files:
            self._send(404, {"error": "no such file"})
        else:
            self._send_part(files[name])

    def _send_part(self, content: bytes) -> None:
        wanted = _RANGE.match(self.headers.get("Range", ""))
        if not wanted:
            self._send(200, content, {"Accept-Ranges": "bytes"}, "application/octet-stream")
            return
        begin, end = int(wanted[1]), min(int(wanted[2] or len(content)), len(content) - 1)
        part = {"Accept-Ranges": "bytes", "Content-Range": f"bytes {begin}-{end}/{len(content)}"}
        self._send(206, content[begin : end + 1], part, "application/octet-stream")
