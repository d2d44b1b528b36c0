"""A network that fails now and then costs time, not rows; one that fails for good has a bound."""

import threading
import time

import pytest

import runlens
from runlens.errors import NothingReadable
from runlens.sources.wandb_api import fetch, fetch_all, fetching, read_all
from tests.wandb_server.server import Server

pytestmark = pytest.mark.usefixtures("connection", "scanned")
PLACE = "wandb:team/llm/abc"
ROWS = [{"_step": n, "loss": 1 / (n + 1)} for n in range(50)]


def test_what_fails_once_is_asked_for_again(server: Server) -> None:
    """Whatever fails, and whatever request it is."""
    server.put("llm", "abc", ROWS, console=["a line"])
    server.fault("RunConsoleLogTail", "502")
    server.fault("RunHistoryKeys", "503")
    server.fault("RunParquetHistory", "500")
    server.fault("HistoryPage", "drop")
    server.fault("RunFullHistory", "429", times=2)  # the samples, and the system metrics
    run = runlens.read(PLACE)
    assert not any(fault.times for fault in server.faults)
    assert len(run.curve("train_loss")) == 50
    assert run.log_tail == ("a line",)
    assert run.problems == ()


def test_a_server_that_limits_requests_is_waited_for(server: Server) -> None:
    """For as long as it says in Retry-After."""
    server.put("llm", "abc", ROWS)
    server.fault("HistoryPage", "429", retry_after=2)
    begin = time.perf_counter()
    assert len(runlens.read(PLACE).curve("train_loss")) == 50
    assert time.perf_counter() - begin > 2


def test_a_slow_answer_is_waited_for(server: Server) -> None:
    """It is not asked for again."""
    server.put("llm", "abc", ROWS)
    server.fault("HistoryPage", "slow", delay=0.5)
    assert len(runlens.read(PLACE).curve("train_loss")) == 50
    assert server.log.count("HistoryPage") == 1


@pytest.mark.parametrize(
    ("match", "what"),
    [
        ("HistoryPage", "the history"),
        ("RunConsoleLogTail", "the console"),
        ("RunFullHistory", "the system metrics"),
    ],
)
def test_one_part_that_never_comes_costs_no_other(server: Server, match: str, what: str) -> None:
    """What is lost is told."""
    events = [{"_timestamp": 1.0, "system.cpu": 1}]
    server.put("llm", "abc", ROWS, console=["a line"], events=events)
    server.fault(match, "403", times=99)
    run = runlens.read(PLACE)
    text = f"{what} did not come, or not all of it: "
    assert any(problem.text.startswith(text) for problem in run.problems)
    came = {
        "the history": len(run.curve("train_loss")) == 50,
        "the console": run.log_tail == ("a line",),
        "the system metrics": len(run.curve("system/cpu")) == 1,
    }
    assert [part for part, there in came.items() if not there] == [what]


def test_pages_are_made_no_smaller_than_a_row(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a server does not give even that, it is told."""
    monkeypatch.setattr(fetching, "ANSWER", 1)
    server.put("llm", "abc", ROWS)
    server.fault("HistoryPage", "403", times=99)
    with pytest.raises(NothingReadable, match="the history did not come, or not all of it: "):
        runlens.read(PLACE)
    assert server.log.count("HistoryPage") == 1


def test_a_run_of_which_nothing_came_did_not_log_nothing(server: Server) -> None:
    """The network's failure is told, not a state."""
    server.put("llm", "abc", ROWS)
    server.fault("RunHistoryKeys", "403", times=99)
    with pytest.raises(NothingReadable, match="abc: the history did not come, or not all of it: "):
        runlens.read(PLACE)


def test_what_came_within_the_budget_is_read(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rest is told as lost; what was on its way is waited for no more, and then dropped."""
    monkeypatch.setattr("runlens.sources.wandb_api.fetching.ROWS", 1_000)
    server.put("llm", "abc", [{"_step": n, "loss": 1 / (n + 1)} for n in range(2_000)])
    server.fault("HistoryPage", "slow", delay=0.0)  # the first page
    server.fault("HistoryPage", "slow", delay=4.0)
    begin = time.perf_counter()
    run = fetch(PLACE, budget_seconds=2.5)
    assert time.perf_counter() - begin < 4
    assert run.curve("train_loss").step.tolist() == list(range(1_000))
    texts = [problem.text for problem in run.problems]
    assert texts == [
        "not all of it came within 2.5 seconds; what came until then was read",
        "the server counts 2,000 rows, 1,000 came",
    ]
    for thread in threading.enumerate():
        if thread.name == PLACE:
            thread.join(10)
            assert not thread.is_alive()


def test_a_server_that_stays_silent_has_a_bound(server: Server) -> None:
    """Nothing came: no run."""
    server.put("llm", "abc", ROWS)
    server.fault("Run", "slow", delay=3.0)
    with pytest.raises(NothingReadable, match=r"no answer from .* within 0\.5 seconds; try again"):
        fetch(PLACE, budget_seconds=0.5)


def test_no_run_is_lost_where_one_request_in_ten_fails(server: Server) -> None:
    """Eight at a time."""
    server.fill("llm", runs=16, rows=20)
    server.fault("", "503", times=999, share=0.1)
    runs = read_all("wandb:team/llm")
    assert sorted(run.id for run in runs) == [f"run-{n:05}" for n in range(16)]
    assert {len(run.curve("train_loss")) for run in runs} == {20}
    assert [run.problems for run in runs] == [()] * 16


def test_runs_are_handed_over_when_they_are_there(server: Server) -> None:
    """A slow one holds up no other; those that nobody waits for any more are not begun."""
    server.fill("llm", runs=60, rows=5)
    asked: list[str] = []

    def places() -> list[str]:
        return [f"wandb:team/llm/run-{n:05}" for n in range(60)]

    for found in fetch_all(places(), threads=4):
        asked.append(found.place)
        if len(asked) == 10:
            break
    assert len(set(asked)) == 10
    assert server.log.count("Run") < 40
