"""A week of nights from the command line: new, ongoing, resolved, back, and the page of each."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.auditing.trees import state
from tests.cli.places import digest, lens


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the cache, and what is written here, in a folder of our own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


def night(runs: Path, *options: str) -> dict[str, Any]:
    """Audit a folder as a timer does; return the JSON beside the page."""
    result = lens("audit", runs, "--store", "audit.db", "-o", "site", "--jobs", "1", *options)
    assert result.exit_code in {0, 1}, result.output
    document: dict[str, Any] = json.loads(Path("site/audit.json").read_text())
    return document | {"exit_code": result.exit_code, "said": result.stdout}


def nan_loss(document: dict[str, Any]) -> dict[str, Any] | None:
    """Return the issue of the NaN losses, where the night tells of one."""
    return next((one for one in document["issues"] if one["rule"] == "nan-loss"), None)


def test_a_week(tmp_path: Path) -> None:
    """One job, a run a night: broken, broken again, well for a week, broken again."""
    runs = tmp_path / "runs"
    state(runs / "nightly-1", scale=1.1)
    state(runs / "nightly-2", nan_from=12, scale=1.2)
    before = digest(runs)
    first = night(runs, "--fail-on", "new-critical")
    assert digest(runs) == before
    issue = nan_loss(first)
    assert issue is not None
    assert (issue["state"], issue["severity"]) == ("new", "critical")
    assert len(issue["runs"]) == 1
    assert first["exit_code"] == 1
    assert "1 new issue" in first["said"]
    page = Path("site/index.html").read_text()
    assert "nightly-2" in page
    assert len(list(Path("site/run-pages").iterdir())) == 1

    state(runs / "nightly-3", nan_from=9, scale=1.3)
    second = night(runs, "--fail-on", "new-critical")
    issue = nan_loss(second)
    assert issue is not None
    assert (issue["status"], len(issue["runs"])) == ("growing", 2)
    assert [Path(key).name for key in second["last_night"]["broke"]] == ["nightly-3"]
    assert second["exit_code"] == 1
    assert (second["night"]["read"], second["night"]["unchanged"]) == (1, 2)

    for number in range(4, 9):
        state(runs / f"nightly-{number}", scale=1 + number / 20)
        third = night(runs, "--fail-on", "new-critical")
        assert third["exit_code"] == 0
        issue = nan_loss(third)
        assert issue is not None
        assert issue["status"] == ("fixed" if number == 8 else "ongoing")
    assert issue["odds"] == "2 of 3 runs; 0 of 5 since"

    state(runs / "nightly-9", scale=1.5)
    assert nan_loss(night(runs)) is None

    state(runs / "nightly-10", nan_from=15, scale=1.6)
    last = night(runs, "--fail-on", "new-critical")
    issue = nan_loss(last)
    assert issue is not None
    assert issue["state"] == "back"
    assert issue["first_night"] == 1
    assert last["exit_code"] == 1
    assert "Nothing new" in night(runs)["said"]
