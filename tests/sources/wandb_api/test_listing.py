"""The runs of a project: listed in few requests, read several at once."""

import pytest

import runlens
from runlens.errors import NothingReadable, SeveralRuns
from runlens.sources import wandb_api
from runlens.sources.wandb_api import Listed, listed
from tests.wandb_server.server import Server
from tests.wandb_server.stored import Project

pytestmark = pytest.mark.usefixtures("connection")
PROJECT = "wandb:team/llm"
ROWS = [{"_step": n, "loss": 1 / (n + 1)} for n in range(5)]


def test_a_listing_tells_what_an_audit_decides_by(server: Server) -> None:
    """In one request, the last heard of first."""
    server.put("llm", "old", ROWS, created=1.7e9, group="g", job_type="sft", tags=["a", "b"])
    server.put("llm", "new", [], created=1.8e9, state="failed", display_name="", sweep_name="s")
    newest, oldest = listed(PROJECT)
    assert newest == Listed(
        place=f"{PROJECT}/new",
        id="new",
        name="new",
        state="failed",
        heartbeat=1.8e9,
        created=1.8e9,
        history_lines=0,
        group="",
        job_type="",
        sweep="s",
        tags=(),
        user="tester",
        url=f"{server.url}/team/llm/runs/new",
    )
    assert (oldest.id, oldest.history_lines, oldest.group) == ("old", 5, "g")
    assert (oldest.job_type, oldest.tags) == ("sft", ("a", "b"))
    assert server.log.count("Runs") == 1


def test_only_what_was_heard_of_lately_is_listed(server: Server) -> None:
    """A request for each 200 runs that there are."""
    server.fill("llm", runs=500, rows=1)
    assert [one.id for one in listed(PROJECT, since=1.79e9 + 498)] == ["run-00499", "run-00498"]
    assert server.log.count("Runs") == 3
    assert len(listed(PROJECT)) == 500
    assert server.log.count("Runs") == 6


def test_filters_are_the_servers(server: Server) -> None:
    """As ``wandb.Api().runs`` takes them; a run that is named is listed alone."""
    server.put("llm", "a", ROWS, tags=["nightly"], config={"lr": 0.1})
    server.put("llm", "b", ROWS, config={"lr": 0.2}, state="failed")
    for filters, expected in (
        ({"tags": "nightly"}, ["a"]),
        ({"state": {"$in": ["failed", "crashed"]}}, ["b"]),
        ({"$or": [{"config.lr": 0.1}, {"config.lr.value": {"$gt": 0.15}}]}, ["a", "b"]),
        ({"username": {"$ne": "tester"}}, []),
    ):
        assert sorted(one.id for one in listed(PROJECT, filters=filters)) == expected
    assert [one.id for one in listed(f"{PROJECT}/b")] == ["b"]


def test_all_runs_of_a_project_are_read(server: Server) -> None:
    """By name; runs of one name are told apart by their ids."""
    for number, name in enumerate(("sun", "moon", "sun")):
        server.put("llm", f"id{number}", ROWS, display_name=name)
    runs = runlens.read_all(PROJECT)
    assert [run.name for run in runs] == ["moon", "sun (id0)", "sun (id2)"]
    with pytest.raises(SeveralRuns, match="3 runs lie here"):
        runlens.read(PROJECT)


def test_a_project_of_one_run_is_that_run(server: Server) -> None:
    """No need to name it."""
    server.put("llm", "only", ROWS)
    assert runlens.read(PROJECT).id == "only"


def test_one_broken_run_stops_no_other(server: Server) -> None:
    """It is told with its reason."""
    server.put("llm", "good", ROWS)
    server.put("llm", "empty", [], state="failed")
    (run,) = runlens.read_all(PROJECT)
    assert run.id == "good"
    (problem,) = run.problems
    assert problem == (f"{PROJECT}/empty", "has logged nothing; W&B has it as failed", "")


def test_where_no_run_can_be_read_the_first_reason_is_told(server: Server) -> None:
    """The others' too."""
    server.put("llm", "empty", [], state="failed")
    with pytest.raises(NothingReadable, match="has logged nothing") as caught:
        runlens.read_all(PROJECT)
    assert [where for where, _ in caught.value.problems] == [f"{PROJECT}/empty"]
    server.runs.clear()
    with pytest.raises(NothingReadable, match="wandb:team/llm: has no runs"):
        runlens.read_all(PROJECT)


def test_fetching_tells_each_place_its_run_or_why_there_is_none(server: Server) -> None:
    """For an audit, which goes on with the next."""
    server.put("llm", "good", ROWS)
    server.put("llm", "part", ROWS, withheld=1)
    places = [f"{PROJECT}/good", f"{PROJECT}/part", f"{PROJECT}/gone", "wandb:x"]
    good, part, gone, wrong = sorted(wandb_api.fetch_all(places), key=lambda f: places.index(f[0]))
    assert isinstance(good.run, runlens.Run)
    assert isinstance(part.run, runlens.Run)
    assert "no such project or run" in str(gone.run)
    assert "names no run" in str(wrong.run)
    assert [one.complete for one in (good, part, gone, wrong)] == [True, False, False, False]


@pytest.mark.parametrize("counts", [(4, 3), (4, 4)], ids=["then they agree", "never"])
def test_a_listing_that_does_not_fit_the_count_is_asked_for_again(
    server: Server, monkeypatch: pytest.MonkeyPatch, counts: tuple[int, int]
) -> None:
    """Once: a run may be made or deleted while the pages come."""
    server.fill("llm", runs=3, rows=1)
    told = iter(counts)
    monkeypatch.setattr(Project, "run_count", lambda _, **__: next(told))
    assert len(listed(PROJECT)) == 3
    assert server.log.count("Runs") == 2
