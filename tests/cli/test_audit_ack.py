"""`runlens audit ack`, and what an audit tells whom: addresses, watchers, folders."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.auditing.trees import state, tree
from tests.cli.places import lens


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the cache, and what is written here, in a folder of our own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


@contextmanager
def watcher() -> Iterator[tuple[str, list[str]]]:
    """Listen on the loopback; yield the address, and the paths that are asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/uuid", asked
        server.shutdown()


def test_an_issue_that_is_known_breaks_no_pipeline(tmp_path: Path) -> None:
    """Until its day; its name may be cut short."""
    tree(tmp_path / "runs", 3)
    lens("audit", "runs", "--store", "a.db", "-o", "site", "--jobs", "1")
    (issue,) = json.loads(Path("site/audit.json").read_text())["issues"]
    told = lens("audit", "ack", issue["fingerprint"][:6], "--store", "a.db", "--by", "anna")
    assert told.exit_code == 0
    assert told.stdout.startswith("Known by anna until 20")
    state(tmp_path / "runs" / "run-05", nan_from=3)
    again = lens("audit", "runs", "--store", "a.db", "-o", "site", "--fail-on", "critical")
    assert again.exit_code == 0
    (issue,) = json.loads(Path("site/audit.json").read_text())["issues"]
    assert (issue["status"], issue["acknowledged"]["by"]) == ("acknowledged", "anna")
    assert len(issue["runs"]) == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("ffff",), "no open issue"),
        (("ffff", "--until", "soon"), "is not a date"),
        (("ffff", "--until", "2020-01-01"), "is in the past"),
    ],
)
def test_what_cannot_be_acknowledged_is_one_line(
    arguments: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    """With exit code 2."""
    tree(tmp_path / "runs", 1)
    lens("audit", "runs", "--store", "a.db", "--jobs", "1")
    result = lens("audit", "ack", *arguments, "--store", "a.db")
    assert result.exit_code == 2
    assert said in result.stderr


def test_a_watcher_hears_of_each_night(tmp_path: Path) -> None:
    """And of one on which a source was not read, which has exit code 3."""
    tree(tmp_path / "runs", 1)
    with watcher() as (url, asked):
        assert lens("audit", "runs", "--store", "a.db", "--ping", url).exit_code == 0
        (tmp_path / "runs").rename(tmp_path / "unmounted")
        assert lens("audit", "runs", "--store", "a.db", "--ping", url).exit_code == 3
    assert asked == ["/uuid", "/uuid/fail"]


def test_a_folder_has_what_others_read(tmp_path: Path) -> None:
    """Feeds, metrics, and a page of the night that stays."""
    tree(tmp_path / "runs", 3)
    for _ in range(2):
        lens("audit", "runs", "--store", "a.db", "-o", "site", "--jobs", "1")
    site = tmp_path / "site"
    assert len(json.loads((site / "feed.json").read_text())["items"]) == 1
    assert (site / "feed.atom").read_text().startswith("<?xml")
    assert 'runlens_runs{health="critical"} 1' in (site / "metrics.prom").read_text()
    assert [path.name for path in sorted((site / "nights").iterdir())] == [
        "000001.html",
        "000002.html",
    ]
    assert "../run-pages/" in (site / "nights" / "000001.html").read_text()
