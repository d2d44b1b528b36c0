"""Every row of a run, however the server hands it over."""

import sys
from typing import Any

import numpy as np
import pytest

import runlens
from runlens.sources.wandb_api import connected
from runlens.sources.wandb_api.rows import Collected
from tests.wandb_server.server import Server

pytestmark = pytest.mark.usefixtures("connection")
PLACE = "wandb:team/llm/abc"


def rows(count: int, *, apart: int = 1, **more: Any) -> list[dict[str, Any]]:
    """Return rows with a training loss; `more` are columns, None for rows without the key."""
    made: list[dict[str, Any]] = []
    for n in range(count):
        row = {
            "_step": n * apart,
            "_timestamp": 1.7e9 + n,
            "_runtime": 1.0 * n,
            "loss": 1 / (n + 1),
        }
        row |= {name: column[n] for name, column in more.items() if column[n] is not None}
        made.append(row)
    return made


@pytest.mark.parametrize("most", [500, 1_000_000])
def test_all_rows_come_and_none_is_sampled(server: Server, most: int) -> None:
    """More than the 500 that the client samples by default, and that a server may give at most."""
    server.most = most
    server.put("llm", "abc", rows(1200))
    run = runlens.read(PLACE)
    assert run.curve("train_loss").value.tolist() == [1 / (n + 1) for n in range(1200)]
    assert run.problems == ()


def test_a_short_history_comes_at_once(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """One request in place of three; all of it, or it comes page by page.

    Downloads that earlier tests gave up may go on meanwhile: they ask, and fail, of other runs.
    """
    server.put("llm", "short", rows(1_000))
    with connected() as client:
        monkeypatch.setattr(client.whole, "most", sys.maxsize)
        assert len(runlens.read("wandb:team/llm/short").curve("train_loss")) == 1_000
    asked = server.asked_of("short")
    assert asked == ["Run", "RunConsoleLogTail", "RunFullHistory", "RunFullHistory"]


@pytest.mark.usefixtures("scanned")
def test_steps_far_apart_take_few_requests(server: Server) -> None:
    """A page is a span of steps: 400 rows up to step 199,500 would be 200 pages of 1,000."""
    server.put("llm", "abc", rows(400, apart=500))
    assert len(runlens.read(PLACE).curve("train_loss")) == 400
    assert server.log.count("HistoryPage") == 1


@pytest.mark.usefixtures("scanned")
def test_many_rows_come_in_pages(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer holds about 10,000 rows; here 1,000."""
    monkeypatch.setattr("runlens.sources.wandb_api.fetching.ROWS", 1_000)
    server.put("llm", "abc", rows(2_500))
    assert len(runlens.read(PLACE).curve("train_loss")) == 2_500
    assert server.log.count("HistoryPage") == 3


@pytest.mark.usefixtures("scanned")
def test_a_shortfall_is_told(server: Server) -> None:
    """The server counts more rows than it sends."""
    server.put("llm", "abc", rows(100), withheld=3)
    run = runlens.read(PLACE)
    assert len(run.curve("train_loss")) == 97
    (problem,) = run.problems
    assert problem == (PLACE, "the server counts 100 rows, 97 came", "3 of 100 rows")


def test_a_history_whose_last_step_the_server_does_not_know_is_read_all_the_same(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The scan is empty then; all rows are asked for at once, however many."""
    monkeypatch.setattr("runlens.sources.wandb_api.fetching.ROWS", 500)
    server.put("llm", "abc", rows(700), keyless=True)
    run = runlens.read(PLACE)
    assert len(run.curve("train_loss")) == 700
    assert run.problems == ()


@pytest.mark.usefixtures("scanned")
def test_exported_rows_and_live_rows_are_one_history(
    server: Server, capfd: pytest.CaptureFixture[str]
) -> None:
    """The older rows come as Parquet, where NaN is NaN and a key that a row lacks is null."""
    pytest.importorskip("pyarrow")
    norms = [None, 1.0, "NaN", None, "Infinity", None] * 5
    nested = [{"a": {"b": n}} for n in range(30)]
    server.put("llm", "abc", rows(30, grad_norm=norms, n=nested), exported=20)
    run = runlens.read(PLACE)
    assert run.curve("train_loss").step.tolist() == list(range(30))
    norm = run.curve("grad_norm")
    assert norm.step.tolist() == [n for n in range(30) if norms[n] is not None]
    assert np.array_equal(norm.value, [1.0, np.nan, np.inf] * 5, equal_nan=True)
    assert run.curve("n.a.b").value.tolist() == list(range(30))
    assert capfd.readouterr() == ("", "")


@pytest.mark.usefixtures("scanned")
def test_rows_that_come_twice_are_one(server: Server) -> None:
    """Where a page reaches over the border of the export the client yields its rows twice."""
    pytest.importorskip("pyarrow")
    server.overlap = True
    server.put("llm", "abc", rows(30), exported=20)
    run = runlens.read(PLACE)
    assert run.curve("train_loss").step.tolist() == list(range(30))
    assert run.problems == ()


@pytest.mark.parametrize(
    ("sdk", "values"), [("0.16.6", [1.0, 0.5, np.nan]), ("0.31.0", [1.0, 0.5])]
)
def test_null_is_nan_where_the_sdk_wrote_it_so(
    server: Server, sdk: str, values: list[float]
) -> None:
    """Of a loss that had numbers before; numpy's NaN was written as null up to 0.28.1."""
    history = [{"_step": n, "train/loss": loss} for n, loss in enumerate([1.0, 0.5, None])]
    server.put("llm", "abc", history, own={"cli_version": sdk})
    run = runlens.read(PLACE)
    assert np.array_equal(run.curve("train_loss").value, values, equal_nan=True)
    assert any("is taken for NaN" in problem.text for problem in run.problems) == (sdk == "0.16.6")


def test_nulls_that_nobody_logged_are_no_values() -> None:
    """An exported row has null for a key that it lacks, as the server's counts tell."""
    for counts, expected in (
        ({"loss": {"typeCounts": [{"type": "number", "count": 2}]}}, [0, 2]),
        ({"loss": {"typeCounts": [{"type": "nil", "count": 1}]}}, [0, 1, 2]),
        ({}, [0, 2]),
    ):
        collected = Collected()
        for step, loss in enumerate([1.0, None, 0.5]):
            collected.add({"_step": step, "loss": loss})
        _, columns = collected.columns(counts)
        assert columns["loss"].row.tolist() == expected


def test_rows_without_a_step_keep_their_order() -> None:
    """What cannot be sorted is left as it came."""
    collected = Collected()
    for row in ({"loss": 1.0}, {"loss": 0.5, "_step": 0}, {"_step": 0}):
        collected.add(row)
    count, columns = collected.columns({})
    assert count == 3
    assert columns["loss"].value.tolist() == [1.0, 0.5]


def test_of_rows_with_one_step_the_last_is_kept() -> None:
    """In the order of the steps, whatever the order in which they came."""
    collected = Collected()
    for step, loss in ((2, 1.0), (0, 2.0), (2, 3.0), (1, 4.0)):
        collected.add({"_step": step, "loss": loss})
    count, columns = collected.columns({})
    assert count == 3
    assert columns["loss"].value.tolist() == [2.0, 4.0, 3.0]


def test_media_text_and_choices_are_no_metrics(server: Server) -> None:
    """Whether their levels are nested or joined by dots."""
    history = [
        row | {"table": {"_type": "table-file", "nrows": 3}, "hist._type": "histogram"}
        for row in rows(5)
    ]
    history = [row | {"hist.bins": [1, 2], "hist.n": 3, "on": True, "word": "x"} for row in history]
    server.put("llm", "abc", history)
    assert runlens.read(PLACE).history.metrics == ("train_loss",)
