"""How an issue lives: new, ongoing, resolved, back."""

import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from runlens.auditing.issues import (
    FALSE_ALARMS,
    QUIET,
    expected_false_alarms,
    fingerprint,
    issues,
    of_run,
)
from runlens.crossrun import CrossFinding
from runlens.nights import Issue, IssueState, Night, RunRow
from tests.auditing.made import HOUR, START, found, row

STATES: tuple[IssueState, ...] = ("ongoing", "resolved", "ongoing")
ACCURACY = Path(__file__).parent.parent.parent / "docs" / "accuracy.md"


class Story:
    """A project that is audited night after night, with the store in memory."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.rows: dict[str, RunRow] = {}
        self.store: dict[str, Issue] = {}
        self.night = 0

    def next(self, *fresh: RunRow, crossed: Sequence[CrossFinding] = ()) -> dict[str, str]:
        """Audit a night on which these runs are new or grew; return rule -> state."""
        self.night += 1
        self.rows |= {one.key: one for one in fresh}
        made = issues(
            list(self.rows.values()),
            self.store.values(),
            Night(self.night, "2026-11-21"),
            {one.key for one in fresh},
            crossed,
        )
        self.store |= {one.fingerprint: one for one in made}
        return {one.rule: one.state for one in made}


def test_three_nights_and_one_more() -> None:
    """New, ongoing while nothing runs, resolved by a clean run, back with the next faulty one."""
    story = Story()
    assert story.next(row("a"), row("b", findings=[found()])) == {"nan-loss": "new"}
    assert story.next() == {"nan-loss": "ongoing"}
    assert story.next(row("c", findings=[found()])) == {"nan-loss": "ongoing"}
    assert story.next(row("d")) == {"nan-loss": "resolved"}
    assert story.next(row("e")) == {}, "it is told once"
    assert story.next(row("f", findings=[found()])) == {"nan-loss": "back"}
    assert story.next() == {"nan-loss": "ongoing"}
    (issue,) = story.store.values()
    assert (issue.first_night, issue.last_night) == (1, 6)
    assert set(issue.runs) == {"runs/b", "runs/c", "runs/f"}


def test_an_old_faulty_run_that_is_touched_again_brings_nothing_back() -> None:
    """A tag, a new version of the rules: its fault is known."""
    story = Story()
    old = row("a", findings=[found()])
    story.next(old)
    story.next(row("b"))
    assert story.next(old) == {}


@pytest.mark.parametrize(
    "no_proof",
    [
        row("b", state="running", health="healthy"),
        row("b", steps=400),
        row("b", health="unknown"),
        row("b", findings=[found("divergence", onset=100)]),
        row("b", group="sft · another/model · acme/words · trl"),
        row("b", project="other"),
    ],
    ids=["still runs", "ended before the onset", "unknown", "broke otherwise", "group", "source"],
)
def test_a_run_that_could_not_have_shown_it_resolves_nothing(no_proof: RunRow) -> None:
    """Only a run that is over, judged and long enough is clean."""
    story = Story()
    story.next(row("a", findings=[found(onset=500)]))
    assert story.next(no_proof)["nan-loss"] == "ongoing"


def test_a_faulty_run_outweighs_a_clean_one_of_the_same_night() -> None:
    """What overlaps has no order."""
    story = Story()
    story.next(row("a", findings=[found()]))
    assert story.next(row("b", findings=[found()]), row("c")) == {"nan-loss": "ongoing"}


def test_an_issue_that_no_run_shows_any_more_is_resolved() -> None:
    """Its runs were deleted, or resumed and mended."""
    story = Story()
    story.next(row("a", findings=[found()]))
    assert story.next(row("a")) == {"nan-loss": "resolved"}


def test_what_nobody_runs_any_more_ends_by_itself() -> None:
    """After so many nights without a run of that group, it is no news."""
    story = Story()
    story.next(row("a", findings=[found()]))
    for _ in range(QUIET - 1):
        assert story.next() == {"nan-loss": "ongoing"}
    assert story.next() == {"nan-loss": "resolved"}
    assert story.next() == {}


def test_infos_and_consequences_make_no_issue() -> None:
    """One accident is told once; an info never alarms."""
    story = Story()
    faults = [found(), found("crashed", leads=False), found("eval-gap", "info")]
    assert story.next(row("a", findings=faults)) == {"nan-loss": "new"}


def test_an_issue_says_what_it_cost_and_which_run_is_worst() -> None:
    """Runs the worst first; hours after the onset; money at a price; unknown hours are counted."""
    rows = [
        row("late", findings=[found(time=START + 3 * HOUR)]),
        row("early", findings=[found(time=START + HOUR)]),
        row("untimed", findings=[found()], started=None, ended=None),
    ]
    (issue,) = issues(rows, (), Night(1, ""), price=2.0)
    assert issue.runs == ("runs/early", "runs/late", "runs/untimed")
    assert issue.worst == "early: nan-loss from step 500."
    assert issue.title.endswith(": 3 runs of sft · acme/tiny · acme/words · trl.")
    assert (issue.gpu_hours, issue.money, issue.untimed) == (8.0, 16.0, 1)


def test_hours_that_nobody_knows_have_no_price() -> None:
    """Zero hours would be a lie."""
    untimed = row("a", findings=[found()], started=None, ended=None)
    (issue,) = issues([untimed], (), Night(1, ""), price=2.0)
    assert (issue.money, issue.untimed) == (None, len(issue.runs))


def test_new_comes_first_then_back_ongoing_and_resolved_each_by_hours() -> None:
    """The order of the page."""
    groups = [f"g{number}" for number in range(6)]
    faulty = {
        g: row(g, group=g, findings=[found(time=START + at * HOUR / 2)])
        for at, g in enumerate(groups)
    }
    night = Night(3, "")
    known = [
        replace(one, state=state, runs=runs)
        for one, state, runs in zip(
            issues([faulty[g] for g in ("g0", "g2", "g4")], (), Night(1, "")),
            STATES,
            (("runs/g0",), ("runs/old",), ("runs/g4",)),
            strict=True,
        )
    ]
    clean = row("clean", group="g4")
    fresh = {"runs/clean", *(f"runs/{g}" for g in groups if g not in {"g0", "g4"})}
    made = issues([*faulty.values(), clean], known, night, fresh)
    assert [(one.group, one.state) for one in made] == [
        ("g1", "new"),
        ("g3", "new"),
        ("g5", "new"),
        ("g2", "back"),
        ("g0", "ongoing"),
        ("g4", "resolved"),
    ]


def test_the_severity_is_the_worst_of_its_runs() -> None:
    """One critical run among warnings."""
    faults = [[found("divergence", "warning")], [found("divergence", "critical")]]
    rows = [row(str(at), findings=some) for at, some in enumerate(faults)]
    assert [one.severity for one in issues(rows, (), Night(1, ""))] == ["critical"]


def test_what_holds_now_is_ongoing_until_it_is_not_found() -> None:
    """A quiet run stays quiet, whatever other runs do."""
    story = Story()
    quiet = row("a", state="running")
    stale = CrossFinding(
        "stale", "warning", "runs", quiet.group, "Quiet.", (quiet.key,), "a", "9 h"
    )
    assert story.next(quiet, crossed=[stale]) == {"stale": "new"}
    assert story.next(row("b"), crossed=[stale]) == {"stale": "ongoing"}
    assert story.next(row("a")) == {"stale": "resolved"}


def test_what_old_runs_show_for_ever_is_resolved_by_a_clean_one() -> None:
    """An outlier of last month is none of tonight's."""
    story = Story()
    far = row("a")
    outlier = CrossFinding(
        "outlier", "warning", "runs", far.group, "Far.", (far.key,), "a", "z 9", standing=False
    )
    story.next(far, crossed=[outlier])
    assert story.next(row("b"), crossed=[outlier]) == {"outlier": "resolved"}
    (issue,) = story.store.values()
    assert (issue.why, issue.title) == ("z 9", "Far.")


def test_fingerprint_is_the_same_on_every_machine() -> None:
    """Another process, another hash seed; ``./runs/`` is ``runs``."""
    told = fingerprint("nan-loss", "sft · m", "runs")
    code = (
        "from runlens.auditing.issues import fingerprint as f;"
        "print(f('nan-loss', 'sft · m', './runs/'))"
    )
    ran = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONHASHSEED": "7", "PYTHONPATH": str(Path(__file__).parent.parent.parent)},
    )
    assert ran.stdout.strip() == told
    assert told != fingerprint("nan-loss", "sft · m", "other")


def test_fingerprint_holds_no_step_value_or_run() -> None:
    """Other runs with other onsets and numbers are the same issue."""
    one, other = row("a", findings=[found(onset=3)]), row("b", 2, findings=[found(onset=900)])
    assert of_run(one, one.findings[0]) == of_run(other, other.findings[0])


def test_expected_false_alarms_are_those_of_the_measured_rate() -> None:
    """The table in docs/accuracy.md, calm noise; runs that nobody could judge raise none."""
    calm = r"^\| calm \| [\d,]+ \| \d+ \(([\d.]+)%\)"
    (rate,) = re.findall(calm, ACCURACY.read_text(encoding="utf-8"), re.MULTILINE)
    assert pytest.approx(float(rate) / 100) == FALSE_ALARMS
    some = [row(str(at)) for at in range(500)]
    assert expected_false_alarms([*some, row("x", health="unknown")]) == pytest.approx(1.5)
