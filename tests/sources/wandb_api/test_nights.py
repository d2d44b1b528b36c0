"""Nights of a project on a server: what is asked of it, and what becomes of odd runs."""

import os
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import runlens
from runlens.auditing import cache
from runlens.auditing.pages import Pages
from runlens.diagnosis import Diagnosis
from runlens.nights import Audit, RunRow
from tests.wandb_server.server import Fault, Quota, Server
from tests.wandb_server.stored import StoredRun

pytestmark = pytest.mark.usefixtures("connection")
PROJECT = "wandb:team/llm"


def short(diagnosis: Diagnosis) -> str:
    """Return a page of one line."""
    return f"{diagnosis.run_name}: {diagnosis.verdict}"


def curve(*, broken: bool = False) -> list[dict[str, Any]]:
    """Return the rows of a run whose loss falls, or becomes NaN."""
    return [
        {"_step": at, "loss": "NaN" if broken and at > 20 else 3 / (at + 1) + 1} for at in range(40)
    ]


def put(server: Server, name: str, *, broken: bool = False, **more: Any) -> StoredRun:
    """Put a run into the project."""
    return server.put("llm", name, curve(broken=broken), **{"display_name": name} | more)


def night(folder: Path, *, pages: bool = False, **how: Any) -> Audit:
    """Audit the project."""
    known: dict[str, Any] = {"store": folder / "a.db", "jobs": 1, "cache": folder / "cache"} | how
    made = Pages(str(folder / "site"), short) if pages else None
    return runlens.audit(PROJECT, pages=made, **known)


def rows(audit: Audit) -> dict[str, RunRow]:
    """Return the runs by name."""
    return {row.name: row for row in audit.runs}


def test_pages_cost_no_request(server: Server, tmp_path: Path) -> None:
    """On the night on which seven runs broke, and on the next with an empty folder for pages."""
    for number in range(9):
        put(server, f"r{number}", broken=number < 7)
    night(tmp_path / "bare")
    alone = len(server.log)
    server.log.clear()
    made = night(tmp_path, pages=True)
    assert (len(made.pages), made.unpaged) == (7, 0)
    assert len(server.log) <= alone  # the first night made a connection besides
    server.log.clear()
    shutil.rmtree(tmp_path / "site")
    again = night(tmp_path, pages=True)
    assert again.pages == made.pages
    assert server.log == ["Runs"]


def test_without_cache_an_old_page_is_counted_as_missing(server: Server, tmp_path: Path) -> None:
    """Nothing is fetched for it."""
    put(server, "a", broken=True)
    assert len(night(tmp_path, pages=True, cache=False).pages) == 1
    shutil.rmtree(tmp_path / "site")
    server.log.clear()
    again = night(tmp_path, pages=True, cache=False)
    assert (again.pages, again.unpaged) == ({}, 1)
    assert server.log == ["Runs"]


def test_siblings_are_those_of_the_trackers_own_groups(server: Server, tmp_path: Path) -> None:
    """A sweep, a group with its job type; W&B's own names of runs say nothing."""
    for number, name in enumerate(("lively-sun-1", "quiet-otter-2", "brave-sea-3", "mild-fog-4")):
        where = {"sweep_name": "sw01"} if number < 2 else {"group": "exp1", "job_type": "sft"}
        put(server, name, broken=True, tags=["team-a"], **where)
    found = night(tmp_path)
    assert {one.group.split(" · ", 1)[1] for one in found.issues} == {
        "sweep sw01",
        "exp1 · sft",
    }
    row = rows(found)["lively-sun-1"]
    assert (row.sweep, row.user, row.tags) == ("sw01", "tester", ("team-a",))
    assert row.url == f"{server.url}/team/llm/runs/lively-sun-1"
    assert rows(found)["mild-fog-4"].job == "exp1 · sft"


def test_runs_that_died_before_their_first_row_are_an_issue(server: Server, tmp_path: Path) -> None:
    """By name, and they are asked for once."""
    for number in range(5):
        server.put("llm", f"id{number}", [], state="failed", display_name=f"start-{number}")
    server.put("llm", "idle", [], state="finished", display_name="idle")
    put(server, "well")
    first = night(tmp_path)
    (issue,) = first.issues
    assert (issue.rule, issue.severity, len(issue.runs)) == ("failed-at-start", "warning", 5)
    assert issue.worst == "start-0: It failed before it logged anything; its console may say why."
    assert [(one.place, one.why) for one in first.unread] == [
        (f"{PROJECT}/idle", "has logged nothing")
    ]
    server.log.clear()
    assert [one.status for one in night(tmp_path).issues] == ["ongoing"]
    assert server.log == ["Runs"]


def test_a_run_that_was_renamed_is_known_by_its_new_name(server: Server, tmp_path: Path) -> None:
    """Without another download; its page stays."""
    run = put(server, "sft-mistral", broken=True)
    night(tmp_path, pages=True)
    run.display_name = "sft-mistral-v2"
    server.log.clear()
    again = night(tmp_path, pages=True)
    assert list(rows(again)) == ["sft-mistral-v2"]
    assert again.issues[0].status == "ongoing"
    assert server.log == ["Runs"]
    (page,) = again.pages.values()
    assert (tmp_path / "site" / page).read_text(encoding="utf-8").startswith("sft-mistral-v2: ")


def test_a_run_of_which_rows_are_missing_is_asked_for_three_nights(
    server: Server, tmp_path: Path
) -> None:
    """The server counts one more than it gives: forks and rewinds do that for ever."""
    put(server, "fork", withheld=1)
    asked = []
    for _ in range(5):
        server.log.clear()
        found = night(tmp_path)
        asked.append(len(server.log) > 1)
    assert asked == [True, True, True, False, False]
    assert [row.name for row in found.runs] == ["fork"]


def test_a_part_of_a_run_does_not_stand_for_the_whole(server: Server, tmp_path: Path) -> None:
    """A server that gives less tonight resolves nothing."""
    run = put(server, "a", broken=True)
    night(tmp_path)
    run.withheld, run.beat = 25, run.beat + 60
    found = night(tmp_path)
    assert [(one.rule, one.status) for one in found.issues] == [("nan-loss", "ongoing")]
    assert rows(found)["a"].steps == 39


def test_a_listing_that_moves_while_it_is_read_loses_no_run(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Heartbeats tick between its pages."""
    monkeypatch.setattr("runlens.sources.wandb_api.listing.PAGE", 4)
    runs = [put(server, f"r{at}", broken=at < 3, created=1.79e9 + at) for at in range(11)]
    for at, run in enumerate(runs):
        run.beat = 1.79e9 + at  # the latest first, the broken ones would be on the last page
    first = night(tmp_path)
    server.log.clear()

    def tick(called: str) -> None:
        if called == "Runs" and server.log.count("Runs") > 1:
            for run in runs[:3]:
                run.beat += 1e6

    server.between = tick
    second = night(tmp_path)
    server.between = None
    assert len(second.runs) == len(first.runs) == 11
    assert [one.status for one in second.issues] == ["ongoing"]


def test_odd_records_cost_nothing(server: Server, tmp_path: Path) -> None:
    """No user, no sweep, no heartbeat: of one run, not of the project."""
    put(server, "a").nobody = True
    put(server, "b", broken=True)
    found = night(tmp_path)
    assert {name: row.user for name, row in rows(found).items()} == {"a": "", "b": "tester"}


@pytest.mark.parametrize("field", ["logLines", "events"])
def test_an_older_server_costs_one_listing_a_night(
    field: str, server: Server, tmp_path: Path
) -> None:
    """It knows no console, or no system metrics; that will not change by asking again."""
    for number in range(3):
        put(server, f"r{number}")
    server.lacks = {field}
    night(tmp_path)
    server.log.clear()
    assert len(night(tmp_path).runs) == 3
    assert server.log == ["Runs"]


def test_a_quota_costs_time_and_no_run(server: Server, tmp_path: Path) -> None:
    """Eight requests a second; each run takes four."""
    for number in range(6):
        put(server, f"r{number}", broken=number < 2)
    server.quota = Quota(8)
    found = night(tmp_path)
    assert (len(found.runs), found.unread, found.unlisted) == (6, (), ())
    assert {row.problems for row in found.runs} == {0}


def test_what_a_gateway_gives_up_on_is_asked_for_in_smaller_parts(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wide rows are slow: of 300 kB a gateway sees nothing, of 100 kB it does."""
    monkeypatch.setenv("WANDB_X_GRAPHQL_RETRY_MAX", "0")
    rows = [{"_step": at} | {f"layer/{n}/norm": at + n for n in range(100)} for at in range(200)]
    server.put("llm", "wide", rows)
    server.speed, server.gateway = 1e6, 0.12
    run = runlens.read(f"{PROJECT}/wide")
    assert len(run.curve("layer/7/norm")) == 200
    assert server.largest > 120_000, "it was asked for more at first"


def test_a_way_of_asking_that_fails_is_given_up(server: Server, tmp_path: Path) -> None:
    """Whole histories in one answer, after three failures; pages work."""
    for number in range(30):
        put(server, f"r{number}")
    server.faults.append(Fault("RunFullHistory", "errors", times=10**6))
    assert len(night(tmp_path).runs) == 30
    system = 30  # asked for in the same way, once a run
    assert server.log.count("RunFullHistory") - system <= 8 + 3  # those under way, and the limit


def test_wide_rows_come_in_small_answers(server: Server) -> None:
    """Of 500 metrics, some hundred rows at once, however many there are."""
    rows = [{"_step": at} | {f"layer/{n}/norm": at + n for n in range(500)} for at in range(1200)]
    server.put("llm", "wide", rows)
    run = runlens.read(f"{PROJECT}/wide")
    assert len(run.curve("layer/7/norm")) == 1200
    assert server.log.count("RunFullHistory") == 1  # of system metrics
    pages = [one for one in server.log if "History" in one]

    assert pages.count("HistoryPage") >= 3


def losses(*values: float) -> list[dict[str, Any]]:
    """Return rows with these losses."""
    return [
        {"_step": at, "_timestamp": 1.7e9 + at, "loss": loss, "a": {"b": "NaN"}}
        for at, loss in enumerate(values)
    ]


def going_on(server: Server, rows: list[dict[str, Any]], state: str = "running") -> None:
    """Let a run have these rows now."""
    server.largest = 0
    server.put("llm", "on", rows, state=state, beat=time.time(), created=1.7e9)


def test_of_a_run_that_goes_on_only_the_new_rows_are_fetched(
    server: Server, tmp_path: Path
) -> None:
    """All of them are judged; when it has ended, nothing is kept but its history."""
    values = [3 / (at + 1) + 1 for at in range(4_000)]
    going_on(server, losses(*values[:3_000]))
    night(tmp_path)
    whole = server.largest
    for rows, state in ((3_300, "running"), (4_000, "finished")):
        going_on(server, losses(*values[:rows]), state)
        (row,) = night(tmp_path).runs
        assert row.steps == rows - 1
        assert server.largest < whole / 3
    assert not list((tmp_path / "cache").glob("??/*.part"))
    (path,) = sorted((tmp_path / "cache").glob("??/*.npz"), key=os.path.getmtime)[-1:]
    (run,) = cache._read(path)  # noqa: SLF001 - what the judge saw
    assert run.curve("train_loss").value.tolist() == values


def test_a_run_that_was_rewound_is_fetched_whole(server: Server, tmp_path: Path) -> None:
    """Its old rows are others now, and it is further than before."""
    going_on(server, losses(*[1.0] * 2_000))
    night(tmp_path)
    going_on(server, losses(*[1.0] * 1_500, *[2.0] * 700))
    (row,) = night(tmp_path).runs
    assert row.steps == 2_199
    assert row.measures["train_loss.end"] == 2.0
    assert row.measures["train_loss.best"] == 1.0
    going_on(server, losses(*[3.0] * 1_600))
    (row,) = night(tmp_path).runs
    assert (row.steps, row.measures["train_loss.best"]) == (1_599, 3.0)


def test_kept_rows_that_are_damaged_cost_a_download(server: Server, tmp_path: Path) -> None:
    """And nothing else."""
    going_on(server, losses(*[1.0] * 2_000))
    night(tmp_path)
    (kept,) = (tmp_path / "cache").glob("??/*.part")
    kept.write_bytes(kept.read_bytes()[:-50])
    going_on(server, losses(*[1.0] * 2_100))
    (row,) = night(tmp_path).runs
    assert (row.steps, row.problems) == (2_099, 0)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (range(0, 6_000, 2), [*range(11), *range(6_000, 10_000)]),
        (range(0, 6_000, 2), [*range(2_000), *range(2_000, 5_999, 2), 5_999, 6_000]),
        (range(0, 40_000, 10), [*range(11), *range(20, 10_000)]),
        (range(0, 6_000, 2), range(5_999)),
    ],
    ids=["goes on elsewhere", "with other rows", "ends before", "has more within"],
)
def test_rows_that_are_kept_and_no_longer_there_are_not_told(
    server: Server, tmp_path: Path, before: Sequence[int], after: Sequence[int]
) -> None:
    """Whatever became of the run: what the server has now is judged."""
    for steps in (before, after):
        going_on(server, [{"_step": at, "_timestamp": 1.7e9 + at, "loss": 2.0} for at in steps])
        (row,) = night(tmp_path).runs
    assert row.steps == after[-1]
    (path,) = sorted((tmp_path / "cache").glob("??/*.npz"), key=os.path.getmtime)[-1:]
    (run,) = cache._read(path)  # noqa: SLF001 - what the judge saw
    assert run.curve("train_loss").step.tolist() == list(after)
