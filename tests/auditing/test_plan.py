"""A tree is split into places that are read on their own, and only what changed is judged."""

import os
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from runlens import read_all
from runlens.auditing.known import Known
from runlens.auditing.plan import Chosen, Plan, named, planned, seconds
from runlens.errors import BadSettings
from runlens.run import Run
from tests.auditing.trees import rewritten, state, tree

FIXTURES = Path(__file__).parents[2] / "fixtures"
UNKNOWN = Chosen({}, "rules 1")


def _plan(root: Path, chosen: Chosen = UNKNOWN) -> Plan:
    return planned(str(root), chosen)


def _places(root: Path) -> list[str]:
    return sorted(os.path.relpath(unit.place, root) for unit in _plan(root).changed)


def _known(plan: Plan, **changes: object) -> dict[str, Known]:
    return {
        unit.place: Known(unit.stamp, "rules 1")._replace(**changes)  # type: ignore[arg-type]
        for unit in plan.changed
    }


def _touch(*paths: Path) -> None:
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")


def _content(run: Run) -> tuple[object, ...]:
    sums = [
        (name, len(run.curve(name)), float(np.nansum(run.curve(name).value)))
        for name in run.history.metrics
        if np.isfinite(run.curve(name).value).any()
    ]
    return (*sorted(sums), run.state.kind, len(run.events))


def test_reading_all_places_gives_the_runs_of_the_tree() -> None:
    """Splitting loses no run and makes none; each is as it would be read with all others."""
    whole = Counter(_content(run) for run in read_all(FIXTURES))
    split = Counter(
        _content(run)
        for unit in _plan(FIXTURES).changed
        for run in read_all(unit.readable, only=unit.parts)
    )
    assert split == whole


def test_each_run_folder_is_a_place(tmp_path: Path) -> None:
    """One run that changed must not cost the reading of its neighbours."""
    tree(tmp_path / "sweep", 3)
    assert _places(tmp_path) == ["sweep/run-00", "sweep/run-01", "sweep/run-02"]


def test_checkpoints_belong_to_the_run_above_them(tmp_path: Path) -> None:
    """A checkpoint is no run of its own."""
    for step in (10, 20):
        state(tmp_path / "a" / f"checkpoint-{step}", steps=step)
    state(tmp_path / "b" / "checkpoint-10")
    assert _places(tmp_path) == ["a", "b"]


def test_what_a_tracker_keeps_beside_a_run_belongs_to_it(tmp_path: Path) -> None:
    """Output folder, TensorBoard and W&B of one launch are one run."""
    for run in "ab":
        state(tmp_path / run / "outputs" / "checkpoint-20")
        _touch(tmp_path / run / "wandb" / "offline-run-20261121_100000-x1" / "run-x1.wandb")
        _touch(tmp_path / run / "outputs" / "runs" / "Nov21_10-00-00_box" / "events.out.tfevents.1")
    assert _places(tmp_path) == ["a", "b"]


def test_wandb_gives_a_place_for_each_run_id(tmp_path: Path) -> None:
    """A resumed run has several directories with one id."""
    wandb = tmp_path / "wandb"
    for name in (
        "run-20261120_100000-aa",
        "offline-run-20261121_100000-aa",
        "run-20261121_110000-bb",
    ):
        _touch(wandb / name / f"{name[-2:]}.wandb", wandb / name / "files" / "config.yaml")
    units = {unit.place: unit for unit in _plan(tmp_path).changed}
    first = units[str(wandb / "run-20261120_100000-aa")]
    assert first.readable == str(wandb)
    assert first.parts == ("run-20261120_100000-aa", "offline-run-20261121_100000-aa")
    assert str(wandb / "run-20261121_110000-bb") in units
    assert len(units) == 2


def test_launches_that_lie_together_are_one_place(tmp_path: Path) -> None:
    """A launch may go on from the one beside it; only reading them together tells."""
    for version in range(3):
        _touch(tmp_path / "lightning_logs" / f"version_{version}" / "events.out.tfevents.1")
    assert _places(tmp_path) == ["lightning_logs"]


def test_many_plain_files_are_one_place(tmp_path: Path) -> None:
    """Logs that lie in one folder may be of one run."""
    for number in range(30):
        _touch(tmp_path / "all" / f"events.out.tfevents.{number}")
    assert _places(tmp_path) == ["all"]


def test_a_stray_log_does_not_make_one_place_of_hundreds_of_runs(tmp_path: Path) -> None:
    """Else one changed run would cost the reading of all."""
    tree(tmp_path, 70)
    (tmp_path / "all.jsonl").write_text('{"step": 1, "loss": 2.0}\n' * 5, encoding="utf-8")
    assert len(_places(tmp_path)) == 71


def test_settings_alone_are_no_run(tmp_path: Path) -> None:
    """They must not be listed as unreadable every night."""
    state(tmp_path / "a")
    _touch(tmp_path / "conf" / "config.yaml", tmp_path / "notes" / "requirements.txt")
    assert _places(tmp_path) == ["a"]


def test_links_out_of_the_tree_are_not_followed(tmp_path: Path) -> None:
    """Neither links to folders nor to files."""
    state(tmp_path / "elsewhere")
    state(tmp_path / "tree" / "a")
    (tmp_path / "tree" / "b").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "tree" / "c").mkdir()
    link = tmp_path / "tree" / "c" / "trainer_state.json"
    link.symlink_to(tmp_path / "elsewhere" / "trainer_state.json")
    assert _places(tmp_path / "tree") == ["a"]


def test_unchanged_runs_are_not_judged_again(tmp_path: Path) -> None:
    """An unchanged tree costs a look at its files."""
    first = _plan(tree(tmp_path, 3))
    again = _plan(tmp_path, Chosen(_known(first), "rules 1"))
    assert again.changed == []
    assert again.unchanged == 3
    assert again.missed == []


def test_a_run_that_went_on_is_judged_again(tmp_path: Path) -> None:
    """And it counts as news."""
    known = _known(_plan(tree(tmp_path, 3)))
    rewritten(tmp_path / "run-01")
    (unit,) = _plan(tmp_path, Chosen(known, "rules 1")).changed
    assert unit.place == str(tmp_path / "run-01")
    assert unit.fresh


def test_other_rules_judge_anew_without_calling_it_new(tmp_path: Path) -> None:
    """What an update finds in old runs is no news of the night."""
    known = _known(_plan(tree(tmp_path, 2)))
    units = _plan(tmp_path, Chosen(known, "rules 2")).changed
    assert [unit.fresh for unit in units] == [False, False]


def test_what_could_not_be_read_is_tried_again_and_what_was_set_aside_is_not(
    tmp_path: Path,
) -> None:
    """A file may be whole tomorrow; what kills workers will kill them again."""
    first = _plan(tree(tmp_path, 1))
    unread = Chosen(_known(first, tries=1, judged_with=""), "rules 1")
    assert len(_plan(tmp_path, unread).changed) == 1
    aside = Chosen(_known(first, tries=1, judged_with="", set_aside=True), "rules 1")
    assert _plan(tmp_path, aside).changed == []


def test_a_run_that_was_deleted_is_missing_and_may_be_there_again(tmp_path: Path) -> None:
    """It leaves the store on the second night on which it is."""
    known = _known(_plan(tree(tmp_path, 3)))
    (tmp_path / "run-02").rename(tmp_path.parent / "elsewhere")
    missing = str(tmp_path / "run-02")
    plan = _plan(tmp_path, Chosen(known, "rules 1"))
    assert (plan.missed, plan.present, plan.again) == ([missing], 2, [])
    known[missing] = known[missing]._replace(missed=2, gone=True)
    assert _plan(tmp_path, Chosen(known, "rules 1")).missed == []
    (tmp_path.parent / "elsewhere").rename(tmp_path / "run-02")
    again = _plan(tmp_path, Chosen(known, "rules 1"))
    assert (again.missed, again.again, again.changed) == ([], [missing], [])


def test_a_run_that_is_read_with_its_folder_now_has_moved(tmp_path: Path) -> None:
    """It is not missing, and not there twice."""
    known = _known(_plan(tree(tmp_path / "sweep", 2)))
    (tmp_path / "sweep" / "train.log").write_text("step 1 loss 2.0\nstep 2 loss 1.9\n" * 9)
    plan = _plan(tmp_path, Chosen(known, "rules 1"))
    assert [Path(unit.place).name for unit in plan.changed] == ["sweep"]
    assert (sorted(plan.moved), plan.missed) == (sorted(known), [])


def test_a_source_that_is_not_there_loses_no_run(tmp_path: Path) -> None:
    """A disk that is not mounted is no reason to forget its runs."""
    known = _known(_plan(tree(tmp_path / "disk", 2)))
    (tmp_path / "disk").rename(tmp_path / "unmounted")
    plan = _plan(tmp_path / "disk", Chosen(known, "rules 1"))
    assert plan.missed == []
    assert plan.unread == []
    assert plan.failed is not None
    assert "check the path" in plan.failed.what_to_do


def test_a_closed_folder_is_told_and_loses_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What nobody may look into is not gone."""
    known = _known(_plan(tree(tmp_path, 2)))
    look = os.scandir

    def closed(path: str) -> object:
        if path.endswith("run-01"):
            raise PermissionError(13, "Permission denied", path)
        return look(path)

    monkeypatch.setattr(os, "scandir", closed)
    plan = _plan(tmp_path, Chosen(known, "rules 1"))
    assert plan.missed == []
    assert [one.place for one in plan.unread] == [str(tmp_path / "run-01")]


def test_since_leaves_old_runs_as_they_are(tmp_path: Path) -> None:
    """They are neither judged nor forgotten."""
    tree(tmp_path, 2)
    os.utime(tmp_path / "run-00" / "trainer_state.json", (1e9, 1e9))
    plan = _plan(tmp_path, Chosen({}, "rules 1", since=1.1e9))
    assert [Path(unit.place).name for unit in plan.changed] == ["run-01"]
    assert plan.missed == []


def test_a_name_filters_folders(tmp_path: Path) -> None:
    """By the folder's name, or by its path below the source."""
    tree(tmp_path / "a", 2)
    tree(tmp_path / "b", 2)
    by_name = _plan(tmp_path, Chosen({}, "rules 1", filters={"name": "run-01"})).changed
    by_path = _plan(tmp_path, Chosen({}, "rules 1", filters={"name": "b/*"})).changed
    assert {unit.place for unit in by_name} == {str(tmp_path / x / "run-01") for x in "ab"}
    assert {unit.place for unit in by_path} == {str(tmp_path / "b" / f"run-0{n}") for n in "01"}


def test_the_dearest_run_comes_first(tmp_path: Path) -> None:
    """It must not be the one that all wait for at the end."""
    tree(tmp_path, 3)
    state(tmp_path / "run-01", steps=500)
    assert Path(_plan(tmp_path).changed[0].place).name == "run-01"


def test_sources_have_one_name_each() -> None:
    """However they are spelled: their history depends on it."""
    assert named("runs/") == named("./runs") == "runs"
    assert named("https://wandb.ai/acme/words/workspace") == "wandb:acme/words"
    with pytest.raises(BadSettings, match="is not a source"):
        named("-")


def test_times_are_minutes_hours_days_or_weeks() -> None:
    """Anything else is one clear line."""
    assert [seconds(text) for text in ("90m", "24h", "1.5d", "2w")] == [
        5400.0,
        86_400.0,
        129_600.0,
        1_209_600.0,
    ]
    with pytest.raises(BadSettings, match="--since '1 month'"):
        seconds("1 month")
