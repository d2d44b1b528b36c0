"""Messages on their way: names as text, secrets nowhere, failures in one line."""

import base64
import email.message
import json
import logging
import socketserver
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from email import policy
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import pytest

from runlens.auditing import notify, slack
from runlens.auditing.message import Links, message
from runlens.nights import Audit
from tests.report import audits

SECRET = "sEcReTtOkEn"  # noqa: S105 - of nobody
NAME = "*bold* _it_ <@U123> <!channel> @everyone [x](http://evil.example) `c` <b>&amp;</b>"
SLACK = f"slack://T1JJ3T3L2/A1BRTD4JD/{SECRET}{SECRET}AB/#runs"
DISCORD = f"discord://123456789012345678/{SECRET}"
TEAMS = f"workflows://teams.example:443/{SECRET}/sig{SECRET}"


@dataclass
class Receiver:
    """What a server on loopback was sent."""

    port: int
    answer: int = 200
    body: bytes = b"ok"
    bodies: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """Run an HTTP server that keeps what it is sent."""
    known = Receiver(0)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["Content-Length"]))
            known.paths.append(self.path)
            known.bodies.append(json.loads(raw))
            self.send_response(known.answer)
            self.send_header("Content-Length", str(len(known.body)))
            self.end_headers()
            self.wfile.write(known.body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        known.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield known
        server.shutdown()


@pytest.fixture
def diverted(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> Receiver:
    """Lead every request of apprise, wherever it goes, to the receiver."""
    pytest.importorskip("apprise", reason="the extra notify is not installed")
    adapters = pytest.importorskip("requests.adapters")
    send = adapters.HTTPAdapter.send

    def divert(self: Any, request: Any, **how: Any) -> Any:
        path = "/" + request.url.partition("://")[2].partition("/")[2]
        request.url = f"http://127.0.0.1:{receiver.port}{path}"
        return send(self, request, **how)

    monkeypatch.setattr(adapters.HTTPAdapter, "send", divert)
    return receiver


def named(name: str) -> Audit:
    """Return a night with one new issue whose worst run has this name."""
    issue = audits.issue("divergence", ("a/r00001",), worst=f"{name}: diverged.", title=name)
    return replace(audits.first(), verdict="1 new issue since last night.", issues=(issue,))


def told(audit: Audit, *urls: str, page: str = "") -> tuple[str, ...]:
    """Send the message of a night to addresses; return why those failed that did."""
    text = message(audit, Links(page))
    return tuple(why for url in urls if (why := notify.send(text.title, text.body, url).why))


@pytest.mark.parametrize("most", [300, 600, notify.LONGEST])
def test_a_message_fits_into_the_room_of_a_service(most: int) -> None:
    """What has no room is counted, and the link stays."""
    lines = [f"{at} {'*x_' * 60}" for at in range(9)]
    body = "\n".join([*lines, "Report: page.html"])
    kept = notify.fitted(body, most)
    assert sum(map(notify._cost, kept.split("\n"))) <= most  # noqa: SLF001 - escapes are reckoned with
    *first, last = kept.split("\n")
    assert last == "Report: page.html"
    assert first[-1] == f"and {9 - len(first) + 1} more lines"


def test_a_generic_webhook_gets_json(receiver: Receiver) -> None:
    """By json://, with the plain message; the address may hold a path and a password."""
    pytest.importorskip("apprise", reason="the extra notify is not installed")
    url = f"json://user:{SECRET}@127.0.0.1:{receiver.port}/hook/{SECRET}"
    assert told(named(NAME), url, page="page.html") == ()
    assert receiver.paths == [f"/hook/{SECRET}"]
    (body,) = receiver.bodies
    assert body["title"] == "RunLens, night 1: runs"
    assert NAME in body["message"]
    assert "Report: page.html" in body["message"]


def test_an_address_that_apprise_does_not_know_is_a_generic_webhook(diverted: Receiver) -> None:
    """As people paste it: https://."""
    assert told(named("x"), "https://example.com/hook") == ()
    assert "diverged" in diverted.bodies[0]["message"]


def test_slack_gets_blocks(diverted: Receiver) -> None:
    """A header, and rich text in which nothing is markup; addresses are links, nobody is called."""
    assert told(named(NAME), SLACK) == ()
    (sent,) = diverted.bodies
    assert "attachments" not in sent
    assert "runs" in sent["channel"]
    header, text = sent["blocks"]
    assert header["text"]["type"] == "plain_text"
    parts = [part for line in text["elements"] for part in line["elements"]]
    assert {part["type"] for part in parts} <= {"text", "link"}
    assert any(part.get("style") == {"bold": True} for part in parts)
    said = "".join(part["text"] for part in parts)
    assert "<!channel>" in said  # as text
    assert "@everyone" not in said


def test_a_bot_of_slack_answers_in_a_thread(diverted: Receiver) -> None:
    """It is told the stamp of what it sends; a webhook is not."""
    bot = "slack://xoxb-1234567890-1234567890-abcdefghijklmnopqrstuvwx/#runs"  # of nobody
    diverted.body = b'{"ok": true, "channel": "C1", "ts": "1573694689.003700"}'
    first = notify.send("night 1", "CRITICAL @anna, new: NaN loss", bot)
    assert first == ("", "1573694689.003700")
    notify.send("night 2", "growing", bot, first.stamp)
    message, reply = diverted.bodies
    assert "thread_ts" not in message
    assert reply["thread_ts"] == first.stamp
    assert [one["type"] for one in reply["blocks"]] == ["rich_text"]
    diverted.body = b"ok"
    assert notify.send("night 1", "x", SLACK) == ("", "")


def test_links_of_slack_have_names() -> None:
    """An issue, a run on W&B, the page; the words around them stay."""
    page = "https://audit.example/"
    body = f"CRITICAL @a: lost. {page}#issue=3f https://wandb.ai/a/b/runs/x\nReport: {page}"
    _, text = slack.payload("t", body)["blocks"]
    first, last = ([p["text"] for p in line["elements"]] for line in text["elements"])
    assert first == ["CRITICAL", " @a: lost. ", "issue", " ", "run", "\n"]
    assert last == ["Report: ", "page", "\n"]


def test_discord_gets_markdown_escaped(diverted: Receiver) -> None:
    """Discord renders whatever it gets; nobody is called."""
    assert told(named(NAME), DISCORD) == ()
    content = diverted.bodies[0]["content"]
    assert r"\*bold\* \_it\_ \<@" in content
    assert r"\[x\]\(http" in content
    assert "@everyone" not in content
    assert "<b>" not in content
    assert "allow_mentions" not in diverted.bodies[0]
    assert len(content) < 2000


def test_teams_gets_markdown_escaped(diverted: Receiver) -> None:
    """Within the 1,000 characters that apprise allows there."""
    assert told(replace(named(NAME), runs=audits.night().runs), TEAMS) == ()
    (card,) = diverted.bodies[0]["attachments"]
    said = " ".join(part.get("text", "") for part in card["content"]["body"])
    assert r"\*bold\*" in said
    assert r"\[x\]\(http" in said
    assert "@everyone" not in said


class _Mail(socketserver.StreamRequestHandler):
    """As much of SMTP as one letter needs."""

    letters: ClassVar[list[bytes]] = []

    def handle(self) -> None:
        self.wfile.write(b"220 here\r\n")
        for raw in self.rfile:
            word = raw[:4].upper()
            if word == b"DATA":
                self.wfile.write(b"354 go on\r\n")
                lines = iter(self.rfile.readline, b".\r\n")
                self.letters.append(b"".join(lines))
            self.wfile.write(b"221 bye\r\n" if word == b"QUIT" else b"250 ok\r\n")
            if word == b"QUIT":
                return


def mailed(audit: Audit, form: str = "") -> email.message.EmailMessage:
    """Return the letter that a mail server on loopback gets."""
    pytest.importorskip("apprise", reason="the extra notify is not installed")
    _Mail.letters.clear()
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Mail) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        url = (
            f"mailto://runlens.example:{server.server_address[1]}?smtp=127.0.0.1&mode=insecure"
            f"&from=audit@runlens.example&to=team@runlens.example{form}"
        )
        assert told(audit, url) == ()
        server.shutdown()
    (raw,) = _Mail.letters
    return email.message_from_bytes(raw, policy=policy.default)


def test_mail_is_plain_text() -> None:
    """Through a mail server, as apprise writes it."""
    letter = mailed(named(NAME))
    assert letter["Subject"] == "RunLens, night 1: runs"
    assert letter.get_content_type() == "text/plain"
    assert NAME in letter.get_content()


def test_mail_as_html_has_names_as_text() -> None:
    """Where the address asks for it."""
    body = mailed(named(NAME), "&format=html").get_body(("html",))
    assert body is not None
    content = body.get_content().replace("&nbsp;", " ")
    assert "&lt;b&gt;&amp;amp;&lt;/b&gt;" in content
    assert "<b>" not in content


@pytest.mark.parametrize(
    ("status", "why"),
    [
        (404, "the service answered 404; is the address still valid?"),
        (500, "the service answered 500"),
    ],
)
@pytest.mark.parametrize("url", [SLACK, DISCORD, TEAMS, f"https://example.com/{SECRET}"])
def test_a_refusal_is_one_line_without_secrets(
    url: str,
    status: int,
    why: str,
    diverted: Receiver,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Neither our line nor what apprise logs or prints holds the address."""
    diverted.answer = status
    caplog.set_level(logging.DEBUG)
    (line,) = told(named("x"), url)
    assert line == why
    assert "\n" not in line
    printed = capsys.readouterr()
    said = line + caplog.text + printed.out + printed.err
    assert SECRET.lower() not in said.lower()
    assert base64.b64encode(SECRET.encode()).decode() not in said


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (f"foo://{SECRET}", "foo"),
        (SECRET, "not an address"),
        ("", "not an address"),
        (f"slack://{SECRET}", "slack"),
        (f"json://user:{SECRET}@127.0.0.1:1/{SECRET}", "json://127.0.0.1"),
    ],
)
def test_an_address_of_no_service_is_one_line(url: str, shown: str) -> None:
    """It says where to read how addresses are written, and holds no secret."""
    pytest.importorskip("apprise", reason="the extra notify is not installed")
    assert notify.named(url) == shown
    (line,) = told(named("x"), url)
    assert "https://appriseit.com" in line or "no connection" in line
    assert SECRET.lower() not in line.lower()


def test_without_apprise_the_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages are an extra."""
    monkeypatch.setitem(sys.modules, "apprise", None)
    (line,) = told(named("x"), "json://127.0.0.1/")
    assert "pip install 'runlens-training[notify]'" in line


def test_a_fault_inside_apprise_does_not_end_the_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it raises is a line."""
    apprise = pytest.importorskip("apprise", reason="the extra notify is not installed")

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError(SECRET)

    monkeypatch.setattr(apprise.Apprise, "notify", broken)
    (line,) = told(named("x"), "json://127.0.0.1/")
    assert line == "RuntimeError in apprise"
