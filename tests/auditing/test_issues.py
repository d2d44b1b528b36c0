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
    Tonight,
    expected_false_alarms,
    issues,
)
from runlens.auditing.sights import fingerprint, of_run
from runlens.crossrun.rule import CrossFinding
from runlens.diagnosis import Severity
from runlens.nights import Ack, Issue, Night, RunRow
from tests.auditing.made import HOUR, START, found, row

ACCURACY = Path(__file__).parent.parent.parent / "docs" / "accuracy.md"


class Story:
    """A project that is audited night after night, with the store in memory."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.rows: dict[str, RunRow] = {}
        self.store: dict[str, Issue] = {}
        self.acks: dict[str, Ack] = {}
        self.night = 0

    def next(
        self, *fresh: RunRow, crossed: Sequence[CrossFinding] = (), listed: bool = True
    ) -> dict[str, str]:
        """Audit a night on which these runs are new or grew; return rule -> status."""
        self.night += 1
        self.rows |= {one.key: one for one in fresh}
        night = Night(self.night, f"2026-11-{self.night:02}T02:00:00Z")
        tonight = Tonight(
            night, {one.key for one in fresh}, {"runs"} if listed else set(), self.acks
        )
        made = issues(list(self.rows.values()), self.store.values(), tonight, crossed)
        self.store |= {one.fingerprint: one for one in made}
        told = [one for one in made if one.open or one.changed == self.night]
        return {one.rule: one.status for one in told}

    def delete(self, *names: str) -> None:
        """Take runs away."""
        for name in names:
            del self.rows[f"runs/{name}"]

    @property
    def issue(self) -> Issue:
        """The one issue."""
        (one,) = self.store.values()
        return one


BROKEN = found()


def test_from_new_to_fixed_and_back() -> None:
    """One job, a run a night: as many clean ones as chance does not explain, then a faulty one."""
    story = Story()
    assert story.next(row("a", findings=[BROKEN])) == {"nan-loss": "new"}
    assert story.next() == {"nan-loss": "ongoing"}
    assert story.next(row("b", findings=[BROKEN])) == {"nan-loss": "growing"}
    assert story.issue.tonight == ("runs/b",)
    assert story.next(row("c")) == {"nan-loss": "ongoing"}
    assert story.issue.odds == "2 of 2 runs; 0 of 1 since"
    assert story.next(row("d")) == {"nan-loss": "ongoing"}
    assert story.next(row("e")) == {"nan-loss": "fixed"}
    assert story.issue.odds == "2 of 2 runs; 0 of 3 since"
    assert story.next(row("f")) == {}, "it is told once"
    assert story.next(row("g", findings=[BROKEN])) == {"nan-loss": "back"}
    assert story.issue.tonight == ("runs/g",)
    assert (story.issue.first_night, story.issue.last_night) == (1, 8)


def test_one_clean_run_among_many_fixes_nothing() -> None:
    """A quarter of the runs fail: that one of them does not is no news."""
    story = Story()
    seeds = [row(f"s{at}", findings=[BROKEN] if at < 3 else ()) for at in range(11)]
    assert story.next(*seeds) == {"nan-loss": "new"}
    for at in range(10):
        assert story.next(row(f"clean{at}")) == {"nan-loss": "ongoing"}
    assert story.issue.odds == "3 of 11 runs; 0 of 10 since"


def test_a_resolved_issue_opens_for_a_run_that_it_does_not_account_for() -> None:
    """The same run, resumed and broken again; a run that was lost and is there again."""
    story = Story()
    old = row("a", findings=[BROKEN])
    story.next(old)
    story.delete("a")
    assert story.next() == {"nan-loss": "deleted"}
    assert story.next(old) == {"nan-loss": "back"}
    assert story.next(row("a", steps=1100)) == {"nan-loss": "fixed"}
    assert story.next(row("a", steps=1200, findings=[BROKEN])) == {"nan-loss": "back"}


def test_an_old_faulty_run_that_is_touched_again_brings_nothing_back() -> None:
    """A tag, a new version of the rules: its fault is known, and accounted for."""
    story = Story()
    old = row("a", findings=[BROKEN])
    story.next(old)
    for at in range(5):
        story.next(row(f"clean{at}"))
    assert story.issue.status == "fixed"
    assert story.next(old) == {}
    assert story.next(replace(old, steps=2000)) == {"nan-loss": "back"}


def test_a_run_that_was_trained_anew_in_the_place_of_another_is_another() -> None:
    """Its fault is not the one that is accounted for, even at an earlier step or at the same."""
    for anew in ({"steps": 500}, {"started": 2e9}):
        story = Story()
        old = row("a", findings=[BROKEN])
        story.next(old)
        for at in range(5):
            story.next(row(f"clean{at}"))
        assert story.issue.status == "fixed"
        assert story.next(replace(old, **anew)) == {"nan-loss": "back"}


def test_a_graver_fault_is_news() -> None:
    """A warning that became critical, in a run that was known."""
    story = Story()
    story.next(row("a", findings=[found("divergence", "warning")]))
    assert story.next(row("a", findings=[found("divergence")])) == {"divergence": "growing"}
    assert story.issue.graver_than == "warning"


def test_nothing_ends_while_its_source_is_not_listed() -> None:
    """An expired key for a month resolves nothing."""
    story = Story()
    story.next(row("a", findings=[BROKEN]))
    for _ in range(2 * QUIET):
        assert story.next(listed=False) == {"nan-loss": "ongoing"}


def test_an_acknowledged_issue_is_no_news_until_its_day_or_until_it_gets_graver() -> None:
    """Growth is what it was acknowledged for."""
    story = Story()
    story.next(row("a", findings=[found("divergence", "warning")]))
    story.acks = {
        story.issue.fingerprint: Ack("anna", "2026-11-01T09:00:00Z", "2026-11-04T00:00:00Z")
    }
    assert story.next(row("b", findings=[found("divergence", "warning")])) == {
        "divergence": "acknowledged"
    }
    assert story.issue.acknowledged is not None
    assert story.next(row("c", findings=[found("divergence")])) == {"divergence": "growing"}


def test_an_acknowledgement_ends_on_its_day() -> None:
    """The issue is told again."""
    story = Story()
    story.next(row("a", findings=[BROKEN]))
    story.acks = {
        story.issue.fingerprint: Ack("anna", "2026-11-01T09:00:00Z", "2026-11-03T00:00:00Z")
    }
    assert story.next() == {"nan-loss": "acknowledged"}
    assert story.next() == {"nan-loss": "back"}
    assert story.next() == {"nan-loss": "ongoing"}


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
    for at in range(9):
        one = replace(no_proof, key=f"{no_proof.key}{at}")
        assert story.next(one)["nan-loss"] == "ongoing"
    assert all(not one.clean for one in story.store.values())


def test_a_faulty_run_outweighs_a_clean_one_of_the_same_night() -> None:
    """What overlaps has no order."""
    story = Story()
    story.next(row("a", findings=[found()]))
    assert story.next(row("b", findings=[found()]), row("c")) == {"nan-loss": "growing"}
    assert story.issue.clean == ()


def test_an_issue_that_no_run_shows_any_more_is_fixed() -> None:
    """Its run was resumed, and is well."""
    story = Story()
    story.next(row("a", findings=[found()]))
    assert story.next(row("a")) == {"nan-loss": "fixed"}


def test_what_nobody_runs_any_more_ends_by_itself() -> None:
    """After so many nights without a run of that group, it is no news."""
    story = Story()
    story.next(row("a", findings=[found()]))
    for _ in range(QUIET - 1):
        assert story.next() == {"nan-loss": "ongoing"}
    assert story.next() == {"nan-loss": "unused"}
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
    (issue,) = issues(rows, (), Tonight(Night(1, ""), price=2.0))
    assert issue.runs == ("runs/early", "runs/late", "runs/untimed")
    assert issue.worst == "early: nan-loss from step 500."
    assert issue.title.endswith(" in 3 runs of sft · acme/tiny · acme/words · trl.")
    assert (issue.gpu_hours, issue.money, issue.untimed) == (8.0, 16.0, 1)


def test_hours_that_nobody_knows_have_no_price() -> None:
    """Zero hours would be a lie."""
    untimed = row("a", findings=[found()], started=None, ended=None)
    (issue,) = issues([untimed], (), Tonight(Night(1, ""), price=2.0))
    assert (issue.money, issue.untimed) == (None, len(issue.runs))


def test_new_comes_first_then_back_then_ongoing_each_the_gravest_first() -> None:
    """The order of the page: severity, then hours."""
    groups: dict[str, Severity] = {
        "w": "warning",
        "c1": "critical",
        "c2": "critical",
        "b": "critical",
        "o": "critical",
    }
    story = Story()
    rows = {
        name: row(
            name, group=name, findings=[found("divergence", severity, time=START + at * HOUR)]
        )
        for at, (name, severity) in enumerate(groups.items())
    }
    story.next(rows["b"], rows["o"])
    story.delete("b")
    story.next()
    night = Tonight(Night(3, "2026-11-03T02:00:00Z"), set(), {"runs"})
    made = issues(list(rows.values()), story.store.values(), night)
    assert [(one.group, one.state) for one in made] == [
        ("c1", "new"),
        ("c2", "new"),
        ("w", "new"),
        ("b", "back"),
        ("o", "ongoing"),
    ]


def test_the_severity_is_the_worst_of_its_runs() -> None:
    """One critical run among warnings."""
    faults = [[found("divergence", "warning")], [found("divergence", "critical")]]
    rows = [row(str(at), findings=some) for at, some in enumerate(faults)]
    assert [one.severity for one in issues(rows, (), Tonight(Night(1, "")))] == ["critical"]


def test_what_holds_now_is_ongoing_until_it_is_not_found() -> None:
    """A quiet run stays quiet, whatever other runs do."""
    story = Story()
    quiet = row("a", state="running")
    stale = CrossFinding(
        "stale", "warning", "runs", quiet.group, "Quiet.", (quiet.key,), "a", "9 h"
    )
    assert story.next(quiet, crossed=[stale]) == {"stale": "new"}
    assert story.next(row("b"), crossed=[stale]) == {"stale": "ongoing"}
    assert story.next(row("a")) == {"stale": "fixed"}


def test_what_old_runs_show_for_ever_is_resolved_by_clean_ones() -> None:
    """An outlier of last month is none of tonight's."""
    story = Story()
    far = row("a")
    outlier = CrossFinding(
        "outlier", "warning", "runs", far.group, "Far.", (far.key,), "a", "z 9", standing=False
    )
    story.next(far, crossed=[outlier])
    clean = [row(f"b{at}") for at in range(5)]
    assert story.next(*clean, crossed=[outlier]) == {"outlier": "fixed"}
    (issue,) = story.store.values()
    assert (issue.why, issue.title) == ("z 9", "Far.")


def test_fingerprint_is_the_same_on_every_machine() -> None:
    """Another process, another hash seed; ``./runs/`` is ``runs``."""
    told = fingerprint("nan-loss", "sft · m", "runs")
    code = (
        "from runlens.auditing.sights import fingerprint as f;"
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
    assert expected_false_alarms([*some, row("x", health="unknown")]) == pytest.approx(2.0)
