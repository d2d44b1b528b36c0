"""Tags in W&B: ours alone are touched, nothing else is written, errors are lines.

Against the stand-in server, with the unmodified client.
"""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from runlens.auditing.tags import tag, tags_of
from runlens.nights import Audit, RunRow
from tests.report import audits
from tests.sources.wandb_api.conftest import server, standin
from tests.wandb_server.server import REFUSED, Fault, Server

__all__ = ["server", "standin"]

ROWS = [{"_step": 0, "_timestamp": 1.79e9, "loss": 2.0}]


def night(*rows: RunRow) -> Audit:
    """Return an audit of these runs."""
    return replace(audits.first(), runs=rows)


def row(server: Server, name: str, *rules: str, **changes: Any) -> RunRow:
    """Return a run of the stand-in's project with findings of these rules."""
    place = f"wandb:{server.entity}/llm/{name}"
    return audits.run(1, *rules, key=place, place=place, name=name, **changes)


def test_a_run_has_one_tag_for_each_loud_rule() -> None:
    """Infos are none; no tag is longer than W&B allows."""
    loud, calm = audits.found("divergence"), audits.found("nan-loss", severity="info")
    long = loud._replace(rule="r" * 90)
    made = audits.run(1, findings=(loud, calm, loud, long))
    assert tags_of(made) == ("runlens:divergence", "runlens:" + "r" * 56)


def test_tags_are_written_and_nothing_else_changes(server: Server) -> None:
    """People's tags, settings and summary stay; what is no longer true goes."""
    kept: dict[str, Any] = {"config": {"lr": 1e-3, "odd": None}, "last_values": {"loss": 2.0}}
    bad = server.put("llm", "bad", ROWS, tags=["nightly", "runlens:hang"], **kept)
    well = server.put("llm", "well", ROWS, tags=["runlens:hang", "mine"])
    same = server.put("llm", "same", ROWS, tags=["runlens:nan-loss"])
    other = server.put("llm", "other", ROWS, tags=["runlens:hang"])
    (done,) = tag(
        night(
            row(server, "bad", "divergence", "clip-saturation"),
            row(server, "well"),
            row(server, "same", "nan-loss"),
        )
    )
    assert str(done) == f"wandb:{server.entity}/llm: tags runlens:* of 2 runs changed in W&B"
    assert bad.tags == ["nightly", "runlens:divergence", "runlens:clip-saturation"]
    assert well.tags == ["mine"]
    assert same.tags == ["runlens:nan-loss"]
    assert other.tags == ["runlens:hang"]  # not in the audit
    assert bad.settings == {"lr": {"value": 1e-3}, "odd": {"value": None}}
    assert bad.last_values == {"loss": 2.0}


def test_a_second_time_changes_nothing(server: Server) -> None:
    """Runs that have the right tags are not written to."""
    server.put("llm", "bad", ROWS)
    audit = night(row(server, "bad", "divergence"))
    assert [one.changed for one in (*tag(audit), *tag(audit))] == [1, 0]


def test_a_run_that_goes_on_is_left_alone(server: Server) -> None:
    """Its own client writes to it; other sources than W&B are no business of this."""
    run = server.put("llm", "going", ROWS, state="running")
    local = audits.run(2, "divergence", place="/data/runs/a")
    assert tag(night(row(server, "going", "divergence", state="running"), local)) == ()
    assert run.tags == []


def test_a_refusal_is_a_line_and_stops_no_other_run(server: Server) -> None:
    """With how many, and the last reason."""
    runs = [server.put("llm", name, ROWS) for name in ("a", "b")]
    server.faults.append(Fault(match="Tags", kind="errors", message="permission denied"))
    (done,) = tag(night(*(row(server, name, "divergence") for name in ("a", "b"))))
    assert done.changed == 1
    assert sorted(map(len, (run.tags for run in runs))) == [0, 1]
    assert "1 run refused: " in str(done)
    assert "permission denied" in str(done)


def test_a_key_that_may_not_write_is_given_up_soon(server: Server) -> None:
    """Three refusals in a row are enough."""
    names = [f"r{number}" for number in range(8)]
    for name in names:
        server.put("llm", name, ROWS)
    server.faults.append(Fault(match="Tags", kind="errors", times=99, message="read only"))
    (done,) = tag(night(*(row(server, name, "divergence") for name in names)))
    assert done.changed == 0
    assert "gave up after 3 refusals in a row" in done.why
    assert "may the key write?" in done.why


def test_a_wrong_key_is_one_line(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """And no exception: the audit is done by then."""
    server.put("llm", "a", ROWS)
    monkeypatch.setenv("WANDB_API_KEY", REFUSED)
    (done,) = tag(night(row(server, "a", "divergence")))
    assert done.changed == 0
    assert "\n" not in str(done)
    assert "key" in done.why


def test_no_audit_tags_unless_it_is_asked_to() -> None:
    """Nothing in the audit itself imports this module."""
    package = Path(audits.__file__).parents[2] / "runlens"
    callers = [
        path.name
        for path in package.rglob("*.py")
        if re.search(r"auditing(\.| import )tags", path.read_text(encoding="utf-8"))
    ]
    assert set(callers) <= {"audit.py"}
