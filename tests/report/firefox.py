"""A headless Firefox driven over WebDriver BiDi, which it speaks itself: no driver is needed."""

import asyncio
import contextlib
import json
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

from tornado.websocket import websocket_connect

FLAGS = ("--headless", "--no-remote", "--remote-debugging-port=0")
LISTENS = re.compile(r"WebDriver BiDi listening on (ws://\S+)")
PATIENCE = 90.0  # seconds for one answer
HEARD = ("log.entryAdded", "network.beforeRequestSent")
# what the page's policy refuses stands in no log that BiDi tells of
REFUSED = """() => { window.refused = []; addEventListener('securitypolicyviolation',
  one => window.refused.push(one.violatedDirective)) }"""
# a first start fetches nothing and asks nothing
PREFERENCES = {
    "app.normandy.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "remote.prefs.recommended": True,
    "toolkit.telemetry.enabled": False,
}


def executable() -> str | None:
    """Return the Firefox of this machine, or None."""
    return next((path for name in ("firefox-esr", "firefox") if (path := shutil.which(name))), None)


class Firefox:
    """A running Firefox with one tab, and all that its pages said since the last `open`."""

    def __init__(self, address: str) -> None:
        """Connect to a Firefox that listens."""
        self._loop = asyncio.new_event_loop()
        self._socket = self._run(
            lambda: websocket_connect(f"{address}/session", max_message_size=1 << 27)
        )
        self._number = 0
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.call("session.new", capabilities={})
        self.call("session.subscribe", events=list(HEARD))
        self._tab = self.call("browsingContext.getTree")["contexts"][0]["context"]
        self.call("script.addPreloadScript", functionDeclaration=REFUSED)

    def open(self, path: Path, width: int = 1280, height: int = 800) -> None:
        """Open a file and wait until it is loaded."""
        self.complaints.clear()
        self.requests.clear()
        view = {"width": width, "height": height}
        self.call("browsingContext.setViewport", context=self._tab, viewport=view)
        address = path.resolve().as_uri()
        self.call("browsingContext.navigate", context=self._tab, url=address, wait="complete")

    def value(self, expression: str) -> Any:
        """Return what a JavaScript expression is worth on the page; promises are awaited."""
        answer = self.call(
            "script.evaluate",
            expression=f"(async () => JSON.stringify(await ({expression})))()",
            target={"context": self._tab},
            awaitPromise=True,
        )
        if answer["type"] != "success":
            raise AssertionError(f"{expression}: {answer['exceptionDetails']['text']}")
        words = answer["result"].get("value")
        return None if words is None else json.loads(words)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send one command and return its result; events that come meanwhile are kept."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        self._run(lambda: self._socket.write_message(json.dumps(message)))
        while True:
            words = self._run(lambda: asyncio.wait_for(self._socket.read_message(), PATIENCE))
            if words is None:
                raise AssertionError("Firefox closed the connection")
            answer = json.loads(words)
            if answer.get("id") == self._number:
                if answer["type"] == "error":
                    raise AssertionError(f"{method}: {answer['message']}")
                result: dict[str, Any] = answer["result"]
                return result
            self._note(answer.get("method", ""), answer.get("params", {}))

    def _note(self, method: str, told: dict[str, Any]) -> None:
        if method == "log.entryAdded":
            self.complaints.append(str(told.get("text")))
        elif method == "network.beforeRequestSent":
            self.requests.append(told["request"]["url"])

    def close(self) -> None:
        """End it."""
        with contextlib.suppress(AssertionError, OSError):
            self.call("browser.close")
        self._run(self._closed)
        self._loop.close()

    async def _closed(self) -> None:
        """Close the connection within its loop: closing writes a last frame."""
        self._socket.close()

    def _run(self, start: Callable[[], Awaitable[Any]]) -> Any:
        async def wait() -> Any:
            return await start()

        return self._loop.run_until_complete(wait())


@contextlib.contextmanager
def running() -> Iterator[Firefox]:
    """Run a Firefox with a profile of its own, and end it."""
    firefox = executable()
    if firefox is None:
        raise FileNotFoundError("no Firefox on PATH; install firefox-esr")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        wanted = [f"user_pref({json.dumps(k)}, {json.dumps(v)});" for k, v in PREFERENCES.items()]
        (Path(profile) / "user.js").write_text("\n".join(wanted), encoding="utf-8")
        log = Path(profile) / "said.txt"
        with log.open("wb") as said:
            process = subprocess.Popen(
                [firefox, *FLAGS, "--profile", profile], stdout=subprocess.DEVNULL, stderr=said
            )
        try:
            browser = Firefox(_address(log))
            try:
                yield browser
            finally:
                browser.close()
        finally:
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _address(log: Path) -> str:
    end = time.monotonic() + PATIENCE
    while not (found := LISTENS.search(log.read_text(encoding="utf-8", errors="replace"))):
        if time.monotonic() > end:
            raise AssertionError("Firefox did not start")
        time.sleep(0.1)
    return found[1]
