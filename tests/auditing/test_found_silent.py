"""Ways in which a known fault once became silent for ever, with exit code 0.

`silenced.CASES` has all of them, with their tests, and breaks the code again to see them fail.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from runlens.auditing.message import message
from runlens.nights import Audit
from tests.auditing import silenced
from tests.auditing.lab import FOLDER, ONE, TWO, Lab, OneStore, place


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    """Return a lab of a project of eleven runs, three of them broken, seen on one night."""
    made = Lab(OneStore(tmp_path))
    for at in range(11):
        made.change(ONE, f"s{at}", fault="critical" if at < 3 else None)
        made.change(FOLDER, f"f{at}", fault="critical" if at < 2 else None)
    yield made
    made.store.store.close()


def seen(audit: Audit | None) -> dict[str, str]:
    """Return the status of each issue, by source."""
    assert audit is not None
    return {one.source: f"{one.rule} {one.status}" for one in audit.issues}


def test_a_first_night_is_what_there_is_to_begin_with(lab: Lab) -> None:
    """Its issues are not called new since last night."""
    found = lab.audit(ONE)
    assert found is not None
    assert found.verdict.startswith("First night: 1 new issue. The worst is")
    known = f"First night of {ONE}: all that is known is new."
    assert message(found).lines[0].endswith(known)
    assert "First night" not in str(lab.audit(ONE))


def test_a_run_that_a_moving_listing_misses_is_not_gone(lab: Lab) -> None:
    """It is looked up by itself; once it deleted the run, and resolved its fault for ever."""
    lab.audit(ONE)
    lab.unlisted = {(ONE, name) for name in ("s0", "s1", "s2")}
    assert seen(lab.audit(ONE)) == {ONE: "nan-loss ongoing"}
    assert seen(lab.audit(ONE)) == {ONE: "nan-loss ongoing"}


def test_a_run_is_gone_on_the_second_night_on_which_it_is_not_there(lab: Lab) -> None:
    """And its issue says so; what was lost by mistake comes back as it was."""
    lab.audit(ONE)
    kept = {name: lab.runs[ONE].pop(name) for name in ("s0", "s1", "s2")}
    assert seen(lab.audit(ONE)) == {ONE: "nan-loss ongoing"}
    assert seen(lab.audit(ONE)) == {ONE: "nan-loss deleted"}
    assert seen(lab.audit(ONE)) == {}
    lab.runs[ONE] |= kept
    assert seen(lab.audit(ONE)) == {ONE: "nan-loss back"}


def test_a_folder_that_is_not_mounted_loses_nothing(lab: Lab) -> None:
    """An empty mount point once resolved all that was known below it."""
    lab.audit(FOLDER)
    lab.unmounted.add(FOLDER)
    for night in range(5):
        found = lab.audit(FOLDER)
        assert found is not None
        states = [(one.rule, one.status) for one in found.issues]
        assert states == [
            ("source-shrank", "new" if night == 0 else "ongoing"),
            ("nan-loss", "ongoing"),
        ]
        assert found.unlisted, "the exit code is 3"
        assert len(found.runs) == 11
        assert found.issues[0].title == "runs is empty: it shows none of the 11 places known in it."
    lab.unmounted.clear()
    found = lab.audit(FOLDER)
    assert found is not None
    assert {one.rule: one.status for one in found.issues} == {
        "source-shrank": "fixed",
        "nan-loss": "ongoing",
    }


def test_a_source_that_was_emptied_on_purpose_is_acknowledged(lab: Lab) -> None:
    """Then its runs are gone on the second night."""
    lab.audit(FOLDER)
    lab.unmounted.add(FOLDER)
    found = lab.audit(FOLDER)
    assert found is not None
    lab.acknowledge(found.issues[0], days=5)
    lab.audit(FOLDER)
    assert seen(lab.audit(FOLDER))[FOLDER] == "nan-loss deleted"


def test_an_expired_key_is_never_green(lab: Lab) -> None:
    """It is in the verdict and the exit code each night, in messages on nights 1, 2, 4 and 7."""
    lab.audit(ONE)
    lab.refused.add(ONE)
    lab.delivered.clear()
    for night in range(1, 8):
        found = lab.audit(ONE)
        assert found is not None
        (state,) = found.unlisted
        assert (state.tries, state.listed[:10]) == (night, "2026-01-02")
        assert found.verdict.startswith(f"{ONE} could not be read")
        assert seen(found) == {ONE: "nan-loss ongoing"}
    told = [body.split("\n")[0] for _, body in lab.delivered]
    assert [line.partition(":")[0] for line in told] == [
        "NOT READ",
        "NOT READ for 2 nights",
        "NOT READ for 4 nights",
        "NOT READ for 7 nights",
    ]
    lab.refused.clear()
    found = lab.audit(ONE)
    assert found is not None
    assert found.unlisted == ()


def test_a_message_that_nobody_heard_is_sent_on_the_next_night(lab: Lab) -> None:
    """And says that it is late; once it was lost."""
    lab.deaf = True
    lab.audit(ONE)
    assert lab.delivered == []
    lab.deaf = False
    lab.audit(ONE)
    ((title, body),) = lab.delivered
    assert title == f"RunLens, night 1: {ONE}"
    assert body.startswith("(late: of night 1, 2026-01-02)\n")
    assert "CRITICAL" in body


def test_what_comes_of_an_issue_answers_the_message_that_told_it_first(lab: Lab) -> None:
    """Growth and end are in its thread, and in the message of their night."""
    lab.threads = True
    lab.audit(ONE)
    lab.change(ONE, "s9", fault="critical")
    lab.audit(ONE)
    for at in range(20):
        lab.change(ONE, f"clean{at}", fault=None)
    lab.audit(ONE)
    assert [(thread, body.partition(":")[0]) for thread, body in lab.replied] == [
        ("1", "CRITICAL, growing (1 more run), since 2026-01-02"),
        ("1", "Fixed"),
    ]
    assert len(lab.delivered) == 3


def test_a_kill_after_the_night_is_closed_loses_no_message(lab: Lab) -> None:
    """The store knew, and the team did not."""
    lab.audit(FOLDER)
    lab.delivered.clear()
    lab.change(FOLDER, "f9", fault="critical")
    lab.kill_after_closing = True
    assert lab.audit(FOLDER) is None
    assert lab.delivered == []
    lab.audit(FOLDER)
    ((_, body),) = lab.delivered
    assert "f9: NaN." in body


def test_two_audits_of_one_source_tell_one_truth(lab: Lab) -> None:
    """Issues belong to their source, whoever read it last."""
    lab.audit(ONE)
    for at in range(14):
        lab.change(ONE, f"clean{at}", fault=None)
    assert seen(lab.audit(ONE)) == {ONE: "nan-loss fixed"}
    assert seen(lab.audit(ONE, FOLDER)) == {FOLDER: "nan-loss new"}


def test_a_source_more_makes_nothing_old_new(lab: Lab) -> None:
    """A second project in the command once made every known issue new."""
    lab.audit(ONE)
    lab.change(TWO, "x", fault="warning")
    found = lab.audit(ONE, TWO)
    assert seen(found) == {ONE: "nan-loss ongoing", TWO: "nan-loss new"}
    assert found is not None
    assert found.night.number == 2


def test_growth_is_told(lab: Lab) -> None:
    """A known fault in one more run, and the runs of last night."""
    lab.audit(ONE)
    lab.change(ONE, "s7", fault="critical")
    lab.change(ONE, "s8", fault=None)
    found = lab.audit(ONE)
    assert found is not None
    assert (found.broke, found.finished) == ((place(ONE, "s7"),), (place(ONE, "s8"),))
    (issue,) = found.issues
    assert (issue.status, issue.tonight) == ("growing", (place(ONE, "s7"),))
    assert message(found).lines[0] == "1 of last night's 2 runs broke, 1 finished well."
    assert "1 growing issue since last night" in found.verdict


def test_one_clean_run_resolves_no_fault_that_comes_and_goes(lab: Lab) -> None:
    """Three of eleven seeds fail: it takes fourteen clean ones to say that it is fixed."""
    lab.audit(ONE)
    for at in range(13):
        lab.change(ONE, f"clean{at}", fault=None)
        assert seen(lab.audit(ONE)) == {ONE: "nan-loss ongoing"}
    lab.change(ONE, "last", fault=None)
    found = lab.audit(ONE)
    assert seen(found) == {ONE: "nan-loss fixed"}
    assert found is not None
    assert found.issues[0].odds == "3 of 11 runs; 0 of 14 since"


@pytest.mark.parametrize("case", silenced.CASES.values(), ids=silenced.CASES)
def test_each_case_can_be_broken_again(case: silenced.Case) -> None:
    """Its test is there, and so is the code without which it fails."""
    file, _, name = case.test.partition("::")
    assert f"def {name}(" in (silenced.ROOT / file).read_text("utf-8")
    for edit in case.edits:
        assert (silenced.ROOT / "runlens" / edit.file).read_text("utf-8").count(edit.old) == 1


def test_a_run_that_came_by_halves_too_often_is_fetched_again_a_week_later(lab: Lab) -> None:
    """What the server could not give on three nights it may give later: then its fault is told."""
    lab.change(ONE, "late", fault="critical")
    lab.in_part = {(ONE, "late")}
    for _ in range(3):
        lab.audit(ONE)
    lab.in_part = set()
    key = place(ONE, "late")
    for _ in range(6):
        lab.audit(ONE)
        assert lab.rows(ONE)[key].health == "healthy"
    lab.audit(ONE)
    assert lab.rows(ONE)[key].health == "critical"
    assert key in {run for runs in lab.messages().values() for run in runs}
