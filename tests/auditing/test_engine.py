"""Nights as a user sees them: what is new, what stays, and what could not be read."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest

import runlens
from runlens.auditing import schedule
from runlens.auditing.engine import Progress
from runlens.errors import BadSettings, BadStore, NothingReadable
from runlens.nights import Audit
from runlens.settings import Settings
from runlens.sources import read_all
from runlens.sources.wandb_api import Listed
from tests.auditing import workers
from tests.auditing.trees import NIGHT, rewritten, state, tree


class Nights:
    """Nights of one store, with two processes."""

    def __init__(self, folder: Path) -> None:
        """Keep all in a folder."""
        self._how: dict[str, Any] = {
            "store": folder / "audit.db",
            "cache": folder / "cache",
            "jobs": 2,
            "now": NIGHT,
        }

    def night(self, *sources: str | Path, **how: Any) -> Audit:
        """Audit."""
        return runlens.audit(*sources, **(self._how | how))


@pytest.fixture
def nights(tmp_path: Path) -> Nights:
    """Return nights with a store of their own."""
    return Nights(tmp_path / "kept")


def _states(audit: Audit) -> dict[str, str]:
    return {issue.rule: issue.status for issue in audit.issues if issue.rule == "nan-loss"}


def test_three_nights(tmp_path: Path, nights: Nights) -> None:
    """A fault is new, then known, then over; only what changed is read."""
    root = tree(tmp_path / "runs", 4)
    first = nights.night(root)
    assert (first.night.number, first.night.read, first.night.unchanged) == (1, 4, 0)
    assert first.night.date == "2026-11-21T02:00:00Z"
    assert _states(first) == {"nan-loss": "new"}
    assert "1 new issue" in first.verdict
    second = nights.night(root)
    assert (second.night.number, second.night.read, second.night.unchanged) == (2, 0, 4)
    assert _states(second) == {"nan-loss": "ongoing"}
    assert second.verdict.startswith("Nothing new: 4 runs")
    rewritten(root / "run-02")
    third = nights.night(root)
    assert (third.night.read, third.night.unchanged) == (1, 3)
    assert _states(third) == {"nan-loss": "fixed"}


def test_a_broken_run_is_listed_and_tried_again(tmp_path: Path, nights: Nights) -> None:
    """Once whole, it is read like any other."""
    root = tree(tmp_path / "runs", 2)
    (root / "late").mkdir()
    (root / "late" / "trainer_state.json").write_text("{", encoding="utf-8")
    first, second = nights.night(root), nights.night(root)
    assert [(one.place, one.tries) for one in first.unread] == [(str(root / "late"), 1)]
    assert second.unread[0].tries == 2
    assert "no whole JSON" in second.unread[0].why
    state(root / "late")
    third = nights.night(root)
    assert third.unread == ()
    assert len(third.runs) == 3


def test_a_run_that_kills_workers_is_not_tried_every_night(
    tmp_path: Path, nights: Nights, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stays in the list until it changes."""
    deadly = partial(schedule.results, judge=workers.deadly)
    monkeypatch.setattr(schedule, "results", deadly)
    root = tree(tmp_path / "runs", 2)
    state(root / "deadly")
    seen: list[Progress] = []
    for _ in range(2):
        audit = nights.night(root, on_result=seen.append)
        assert [Path(one.place).name for one in audit.unread] == ["deadly"]
    assert [one.total for one in seen if one.judged is None] == [3, 0]


def test_a_source_that_is_gone_stops_no_other(tmp_path: Path, nights: Nights) -> None:
    """Its runs stay known, and the list says why nothing came of it."""
    here, there = tree(tmp_path / "here", 2), tree(tmp_path / "there", 2)
    nights.night(here, there)
    there.rename(tmp_path / "unmounted")
    audit = nights.night(here, there)
    assert len(audit.runs) == 4
    assert [one.place for one in audit.unread] == [str(there)]
    (tmp_path / "unmounted").rename(there)
    assert nights.night(here, there).unread == ()


def test_runs_that_were_deleted_are_gone_on_the_second_night(
    tmp_path: Path, nights: Nights
) -> None:
    """Their issue says that it was deleted, not that it was fixed; they may come back."""
    root = tree(tmp_path / "runs", 3)
    nights.night(root)
    (root / "run-02").rename(tmp_path / "elsewhere")
    first = nights.night(root)
    assert (len(first.runs), _states(first)) == (3, {"nan-loss": "ongoing"})
    second = nights.night(root)
    assert ({row.name for row in second.runs}, _states(second)) == (
        {"run-00", "run-01"},
        {"nan-loss": "deleted"},
    )
    (tmp_path / "elsewhere").rename(root / "run-02")
    assert _states(nights.night(root)) == {"nan-loss": "back"}


def test_other_rules_judge_all_runs_anew_without_news(tmp_path: Path, nights: Nights) -> None:
    """From the cache: the sources are not read."""
    root = tree(tmp_path / "runs", 4)
    nights.night(root)
    seen: list[Progress] = []
    settings = Settings(limits={"loss-spike": {"ratio": 9.0}})
    audit = nights.night(root, settings=settings, on_result=seen.append)
    assert [one.judged.cached for one in seen if one.judged] == [True] * 4
    assert _states(audit) == {"nan-loss": "ongoing"}


def test_the_same_source_twice_is_one(tmp_path: Path, nights: Nights) -> None:
    """However it is written."""
    root = tree(tmp_path / "runs", 2)
    audit = nights.night(root, f"{root}/", root.parent / "." / "runs")
    assert audit.night.sources == (str(root),)
    assert len(audit.runs) == 2


def test_two_audits_of_one_source_do_not_meet(tmp_path: Path, nights: Nights) -> None:
    """The second one says so at once."""
    root = tree(tmp_path / "runs", 2)

    def another(progress: Progress) -> None:
        if progress.done == 1:
            with pytest.raises(BadStore, match="another audit of"):
                nights.night(root)

    assert len(nights.night(root, on_result=another).runs) == 2


def test_an_interrupt_keeps_what_was_judged(tmp_path: Path, nights: Nights) -> None:
    """The night goes on where it was."""
    root = tree(tmp_path / "runs", 6)

    def stop(progress: Progress) -> None:
        if progress.done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        nights.night(root, on_result=stop)
    seen: list[Progress] = []
    audit = nights.night(root, on_result=seen.append)
    assert audit.night.number == 1
    assert (seen[0].total, seen[0].unchanged) == (3, 3)
    assert audit.night.read == 6


def test_a_project_is_read_where_its_runs_changed(
    tmp_path: Path, nights: Nights, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By state, last heartbeat and count of rows; W&B's own filters and the time go with it."""
    asked: list[dict[str, Any]] = []
    fetched: list[str] = []
    beats = {"a": 1.0, "b": 1.0}
    state(tmp_path / "run")

    def listed(place: str, since: float | None, filters: Any) -> list[Listed]:
        asked.append({"place": place, "since": since, "filters": filters})
        return [
            Listed(f"{place}/{run}", run, run, "finished", beat, 0.0, 20, "", "", "", (), "")
            for run, beat in beats.items()
        ]

    def fetch(place: str, **_kept: object) -> tuple[object, bool]:
        fetched.append(place)
        return read_all(tmp_path / "run")[0], True

    monkeypatch.setattr("runlens.sources.wandb_api.listed", listed)
    monkeypatch.setattr("runlens.sources.wandb_api.looked_up", lambda *_: [])
    monkeypatch.setattr("runlens.sources.wandb_api.fetched", fetch)
    monkeypatch.setattr("runlens.sources.wandb_api.connected", _Nothing)
    page = "https://wandb.ai/team/words/workspace"
    first = nights.night(page)
    beats["b"] = 2.0
    second = nights.night("wandb:team/words", filters={"tags": "nightly"}, since="24h")
    assert {row.key for row in first.runs} == {"wandb:team/words/a", "wandb:team/words/b"}
    assert sorted(fetched) == ["wandb:team/words/a", "wandb:team/words/b", "wandb:team/words/b"]
    assert second.night.number == 2
    since = NIGHT.timestamp() - 86_400
    assert asked[1] == {"place": "wandb:team/words", "since": since, "filters": {"tags": "nightly"}}


class _Nothing:
    def __enter__(self) -> None:
        """Connect to nothing."""

    def __exit__(self, *how: object) -> None:
        """Leave nothing."""


def test_a_server_that_cannot_be_reached_stops_no_folder(
    tmp_path: Path, nights: Nights, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The project is in the list, with what to do."""

    def listed(place: str, *_: Any) -> list[Listed]:
        raise NothingReadable(place, "no answer from here; check the network")

    monkeypatch.setattr("runlens.sources.wandb_api.listed", listed)
    audit = nights.night("wandb:team/words", tree(tmp_path / "runs", 2))
    assert len(audit.runs) == 2
    (unread,) = audit.unread
    assert (unread.place, unread.why) == ("wandb:team/words", "no answer from here")
    assert unread.what_to_do == "check the network"


def test_progress_tells_how_far_a_night_is(tmp_path: Path, nights: Nights) -> None:
    """First the plan, then each result."""
    seen: list[Progress] = []
    nights.night(tree(tmp_path / "runs", 3), on_result=seen.append)
    assert [(one.done, one.total) for one in seen] == [(0, 3), (1, 3), (2, 3), (3, 3)]
    assert seen[0].judged is None


def test_histories_are_kept_in_the_users_cache_folder(
    tmp_path: Path, nights: Nights, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless nothing shall be kept."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    root = tree(tmp_path / "runs", 1)
    nights.night(root, cache=False)
    assert not (tmp_path / "home").exists()
    rewritten(root / "run-00")
    nights.night(root, cache=None)
    assert list((tmp_path / "home" / "runlens" / "histories").rglob("*.npz"))


def test_wrong_options_are_one_clear_line(tmp_path: Path, nights: Nights) -> None:
    """Before anything is written."""
    with pytest.raises(BadSettings, match="no source"):
        nights.night()
    with pytest.raises(BadSettings, match="--since"):
        nights.night(tmp_path, since="yesterday")
    assert not (tmp_path / "kept").exists()
