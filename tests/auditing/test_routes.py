"""One message a team, of its own runs alone."""

from dataclasses import replace
from pathlib import Path

import pytest

from runlens.auditing.delivery import outgoing
from runlens.auditing.outbox import digest
from runlens.auditing.routes import addresses, of_route
from runlens.errors import BadSettings
from runlens.nights import Audit
from runlens.settings import Route, load
from tests.report import audits

ANNA = Route("$TEAM_A", users=("anna",))


def night() -> Audit:
    """Return a night on which runs of two people broke in one issue."""
    whole = audits.night()
    who = {row.key: "anna" if at % 2 else "ben" for at, row in enumerate(whole.runs)}
    rows = tuple(replace(row, user=who[row.key], tags=("nightly",)) for row in whole.runs)
    new, *rest = whole.issues
    return replace(
        whole, runs=rows, issues=(replace(new, tonight=new.runs), *rest), broke=new.runs, unread=()
    )


def test_a_team_is_told_of_its_own_runs() -> None:
    """By user, tag, or place; the others' are none of its news."""
    whole = night()
    found = of_route(whole, ANNA)
    assert {row.user for row in found.runs} == {"anna"}
    assert len(found.broke) == len(whole.broke) // 2
    assert set(found.issues[0].tonight) == set(found.broke)
    assert len(of_route(whole, Route("x", tags=("night*",))).runs) == len(whole.runs)
    assert len(of_route(whole, Route("x", places=("wandb:acme/*",))).runs) == len(whole.runs)
    assert of_route(whole, Route("x", users=("nobody",))).broke == ()


def test_an_address_is_that_of_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that no secret stands in a file; without it there is none."""
    monkeypatch.delenv("TEAM_A", raising=False)
    assert addresses([ANNA]) == []
    monkeypatch.setenv("TEAM_A", "json://team-a.example/")
    assert addresses([ANNA]) == ["json://team-a.example/"]
    made = {one.address: one.body for one in outgoing(night(), ["json://all/"], "", [ANNA])}
    assert "@ben" in made[digest("json://all/")]
    assert "@ben" not in made[digest("json://team-a.example/")]


def test_routes_stand_in_the_settings(tmp_path: Path) -> None:
    """What is not understood is one clear line."""
    file = tmp_path / "runlens.toml"
    file.write_text('[[audit.routes]]\nusers = ["anna"]\nnotify = "$TEAM_A"\n')
    assert load(file).routes == (ANNA,)
    for wrong in ("users = ['anna']", "notify = 'x'", "users = 'anna'\nnotify = 'x'"):
        file.write_text(f"[[audit.routes]]\n{wrong}\n")
        with pytest.raises(BadSettings, match="route"):
            load(file)
