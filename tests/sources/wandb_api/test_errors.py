"""What can go wrong on the way to a run: one clear line each, no question, no key, nothing left."""

import os
import sys
import time
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

import runlens
from runlens.errors import NothingReadable
from runlens.sources import wandb_api
from runlens.sources.libraries import library
from runlens.sources.wandb_api import client
from tests.wandb_server.server import KEY, REFUSED, Server

ROOT = Path(__file__).parents[3]
PLACE = "wandb:team/llm/abc"
ROWS = [{"_step": n, "loss": 1 / (n + 1)} for n in range(50)]


@pytest.fixture(autouse=True)
def nobody_is_connected() -> None:
    """Wait until downloads that tests before have given up are over: a connection is shared."""
    end = time.monotonic() + 120
    while client._shared.users and time.monotonic() < end:  # noqa: SLF001 - nothing else tells
        time.sleep(0.1)
    assert not client._shared.users  # noqa: SLF001


def refusal(place: str = PLACE) -> str:
    """Read and return the one line that says why it cannot be."""
    with pytest.raises(NothingReadable) as caught:
        runlens.read(place)
    line = str(caught.value)
    assert line.startswith(f"{place}: ")
    assert "\n" not in line
    assert not any(key in line for key in (KEY, REFUSED))
    return line.removeprefix(f"{place}: ")


def test_no_key(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says how to log in and asks nothing, even on a terminal."""
    monkeypatch.delenv("WANDB_API_KEY")
    for stream in (sys.stdin, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
    assert refusal() == f"no W&B key for {_host(server)}; run wandb login, or set WANDB_API_KEY"


def test_a_key_from_wandb_login(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which keeps it in the netrc file."""
    server.put("llm", "abc", ROWS)
    monkeypatch.delenv("WANDB_API_KEY")
    netrc = Path(os.environ["NETRC"])
    netrc.write_text(f"machine {_host(server)}\nlogin user\npassword {KEY}\n", encoding="utf-8")
    netrc.chmod(0o600)
    assert len(runlens.read(PLACE).curve("train_loss")) == 50


@pytest.mark.parametrize("key", [REFUSED, "short"])
@pytest.mark.usefixtures("server")
def test_a_wrong_key(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the server or the client refuses it."""
    monkeypatch.setenv("WANDB_API_KEY", key)
    assert "refused the key" in refusal()
    assert "check WANDB_API_KEY" in refusal()


@pytest.mark.parametrize("place", ["wandb:team/nope", "wandb:nobody/llm", "wandb:team/llm/nope"])
def test_an_unknown_entity_project_or_run(server: Server, place: str) -> None:
    """The server does not say which, nor whether the key may see it."""
    server.put("llm", "abc", ROWS)
    said = "no such project or run on {}, or this key may not see it; check the names"
    assert refusal(place) == said.format(_host(server))


def test_a_project_is_not_a_run(server: Server) -> None:
    """Where one run is asked for."""
    server.put("llm", "abc", ROWS)
    with pytest.raises(NothingReadable, match="is a project; name one of its runs"):
        wandb_api.fetch("wandb:team/llm")


@pytest.mark.usefixtures("server")
def test_a_server_that_does_not_answer_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client alone would try for a minute."""
    monkeypatch.setenv("WANDB_BASE_URL", "http://127.0.0.1:9")
    begin = time.perf_counter()
    assert refusal().startswith(
        "no answer from 127.0.0.1:9 (Connection refused); check the network"
    )
    assert time.perf_counter() - begin < 5


@pytest.mark.usefixtures("server")
def test_through_a_proxy_only_the_client_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    """The proxy may reach what this machine does not."""
    monkeypatch.setenv("WANDB_BASE_URL", "http://no-such-host.invalid")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("WANDB_X_GRAPHQL_RETRY_MAX", "1")
    assert refusal().startswith("no answer from no-such-host.invalid (")


@pytest.mark.parametrize(
    "place", ["https://wandb.ai/team/llm", "http://elsewhere.example/team/llm"]
)
def test_a_key_is_sent_to_no_other_server(server: Server, place: str) -> None:
    """The address of a page may lead anywhere."""
    host = place.split("/")[2]
    with pytest.raises(NothingReadable) as caught:
        runlens.read(place)
    assert f"is not on {_host(server)}; set WANDB_BASE_URL (and a key) for {host}" in str(
        caught.value
    )
    assert server.log == []


@pytest.mark.parametrize(
    ("kind", "message", "words"),
    [
        ("429", "slow down", "limits requests (429) and went on doing so; try again later"),
        ("500", "oops", "no answer from {} (HTTP 500: oops); check the network"),
        ("drop", "", "connection reset by peer); check the network and WANDB_BASE_URL"),
        (
            "403",
            "permission denied",
            "{} refuses access (permission denied); ask who owns the project",
        ),
        ("errors", "permission denied", "{} refuses access (input: permission denied"),
        ("html", "", "the W&B client says of {}: invalid character '<' looking for beginning"),
    ],
)
def test_a_server_that_fails_for_good(
    server: Server, kind: str, message: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a bounded number of tries, what the server says and what to do."""
    monkeypatch.setenv("WANDB_X_GRAPHQL_RETRY_MAX", "1")
    server.put("llm", "abc", ROWS)
    server.fault("Run", kind, times=99, message=message)
    assert words.format(_host(server)) in refusal()
    assert len(server.log) < 10


@pytest.mark.usefixtures("server")
def test_a_setting_that_the_client_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is sent."""
    monkeypatch.setenv("WANDB_BASE_URL", "nonsense")
    with pytest.raises(NothingReadable, match=r"wandb: the client does not start: .*base_url"):
        runlens.read(PLACE)


def test_an_old_client_is_told(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Older ones read less and say less."""
    server.put("llm", "abc", ROWS)
    monkeypatch.setattr(client, "MINIMUM", (999, 0))
    with pytest.raises(NothingReadable, match=r"needs wandb 999.0 or later, installed is 0\."):
        runlens.read(PLACE)


def test_a_client_that_is_not_there_is_told(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what installs it."""
    server.put("llm", "abc", ROWS)
    absent = library("wandb")._replace(version="")
    monkeypatch.setattr(client, "library", lambda _: absent)
    with pytest.raises(NothingReadable) as caught:
        runlens.read(PLACE)
    assert str(caught.value) == f"wandb: the package is not installed; {absent.install}"


def test_pages_of_the_cloud_lie_at_another_address() -> None:
    """Its API has a name of its own."""
    for api, shown in (("https://api.wandb.ai", "https://wandb.ai"), ("http://x:8080/",) * 2):
        wandb = SimpleNamespace(
            setup=lambda api=api: SimpleNamespace(settings=SimpleNamespace(base_url=api))
        )
        assert client.Client(wandb).app_url == shown.rstrip("/")


def test_the_client_that_is_required_is_one_that_works() -> None:
    """Else pip keeps an older one, and the night meets an error."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["optional-dependencies"]["wandb"] == [
        f"wandb>={'.'.join(map(str, client.MINIMUM))}"
    ]


def test_reading_leaves_nothing_behind(
    server: Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """No folder here or at home, no variable, no line on the terminal.

    Temporary folders that W&B's own modules make when they are first imported go with the process.
    """
    server.put("llm", "abc", ROWS)
    runlens.read(PLACE)  # imports them
    capfd.readouterr()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    before = dict(os.environ)
    runlens.read(PLACE)
    assert list(tmp_path.rglob("*")) == []
    assert dict(os.environ) == before
    assert capfd.readouterr() == ("", "")


def test_a_service_of_another_process_is_left_alone(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have ended: once all runs that a worker of an audit had to fetch were unread then."""
    server.put("llm", "abc", ROWS)
    monkeypatch.setenv("WANDB_SERVICE", "3-1-unix-/nowhere/socket")
    assert len(runlens.read(PLACE).curve("train_loss").step) == len(ROWS)
    assert os.environ["WANDB_SERVICE"] == "3-1-unix-/nowhere/socket"


def test_a_program_that_uses_wandb_itself_keeps_its_settings(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its connection stays open, and where its runs go stays where it was."""
    import wandb

    server.put("llm", "abc", ROWS)
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    monkeypatch.setenv("WANDB_SILENT", "true")
    own = wandb.setup()
    try:
        runlens.read(PLACE)
        assert wandb.setup() is own
        assert own.settings.root_dir == str(tmp_path)
        assert os.environ["WANDB_DIR"] == str(tmp_path)
    finally:
        wandb.teardown()


def _host(server: Server) -> str:
    return server.url.removeprefix("http://")
