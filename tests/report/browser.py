"""A headless Chromium driven over its debugging pipe, with the standard library alone."""

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
LISTENS, ANSWERS = 3, 4  # file numbers that Chromium uses for the pipe
PATIENCE = 60.0  # seconds for one answer


def executable() -> str | None:
    """Return the Chromium of this machine, or None."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return next((path for name in names if (path := shutil.which(name))), None)


@dataclass
class Page:
    """One open page with all that it said while it loaded."""

    browser: "Browser"
    session: str
    complaints: list[str] = field(default_factory=list)  # console, exceptions, policy
    requests: list[str] = field(default_factory=list)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send one command of the DevTools protocol to the page."""
        return self.browser.call(method, self.session, **parameters)

    def value(self, expression: str) -> Any:
        """Return what a JavaScript expression is worth on the page; promises are awaited."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise AssertionError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def until(self, expression: str, seconds: float = 20.0) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + seconds
        while not self.value(expression):
            if time.monotonic() > end:
                raise AssertionError(f"not true after {seconds:g} s: {expression}")
            time.sleep(0.05)

    def picture(self, path: Path, top: float = 0, height: float = 1400) -> None:
        """Write a part of the page as PNG."""
        width = self.value("innerWidth")
        clip = {"x": 0, "y": top, "width": width, "height": height, "scale": 1}
        shot = self.call("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))


class Browser:
    """A running Chromium."""

    def __init__(self, chromium: str, profile: str) -> None:
        """Start it with an empty profile."""
        child_reads, self._to = os.pipe()
        self._from, child_writes = os.pipe()
        high = [os.dup(number) for number in (child_reads, child_writes)]

        def place() -> None:
            os.dup2(high[0], LISTENS)
            os.dup2(high[1], ANSWERS)

        self._process = subprocess.Popen(
            [chromium, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(LISTENS, ANSWERS),
            preexec_fn=place,  # noqa: PLW1509 - nothing else runs in the child before it
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for number in (child_reads, child_writes, *high):
            os.close(number)
        self._number = 0
        self._rest = b""
        self._pages: dict[str, Page] = {}

    def call(self, method: str, session: str = "", **parameters: Any) -> dict[str, Any]:
        """Send one command and return its result; events that come meanwhile are kept."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                result: dict[str, Any] = answer["result"]
                return result

    def open(
        self,
        path: Path,
        width: int = 1280,
        *,
        dark: bool = False,
        scripts: bool = True,
        height: int = 1200,
        first: str = "",
    ) -> Page:
        """Open a file and wait until it is loaded; `first` is JavaScript that runs before it."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = self._pages[session] = Page(self, session)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.call(f"{domain}.enable")
        page.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        scheme = "dark" if dark else "light"
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        page.call("Emulation.setEmulatedMedia", features=features)
        page.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        if first:
            page.call("Page.addScriptToEvaluateOnNewDocument", source=first)
        page.call("Page.navigate", url=path.resolve().as_uri())
        page.until("location.href != 'about:blank' && document.readyState == 'complete'")
        return page

    def close(self) -> None:
        """End it."""
        with contextlib.suppress(AssertionError, OSError):
            self.call("Browser.close")
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._to)
        os.close(self._from)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._from], [], [], PATIENCE)
            chunk = os.read(self._from, 1 << 16) if ready else b""
            if not chunk:
                raise AssertionError("Chromium does not answer")
            self._rest += chunk
        raw, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(raw)
        page = self._pages.get(message.get("sessionId", ""))
        if page is not None:
            _note(page, message.get("method", ""), message.get("params", {}))
        return message


def _note(page: Page, method: str, said: dict[str, Any]) -> None:
    if method == "Runtime.consoleAPICalled":
        page.complaints.append(json.dumps(said["args"]))
    elif method == "Runtime.exceptionThrown":
        page.complaints.append(json.dumps(said["exceptionDetails"]))
    elif method == "Log.entryAdded":
        page.complaints.append(said["entry"]["text"])
    elif method == "Network.requestWillBeSent":
        page.requests.append(said["request"]["url"])


@contextlib.contextmanager
def running() -> Iterator[Browser]:
    """Run a browser with a profile of its own, and end it."""
    chromium = executable()
    if chromium is None:
        raise FileNotFoundError("no Chromium on PATH; install chromium")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(chromium, profile)
        try:
            yield browser
        finally:
            browser.close()
