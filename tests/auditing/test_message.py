"""What a team reads at 7 AM: when it is told, in which order, and in how many words."""

from dataclasses import replace
from typing import Any

import pytest

from runlens.auditing.ledger import ledger
from runlens.auditing.message import LINE, PLACE, Links, changed, is_told, message
from runlens.auditing.telling import verdict
from runlens.nights import Audit, Change, Issue, SourceState, Unread
from tests.report import audits
from tests.report.diagnoses import HOSTILE

REFUSED = SourceState("wandb:acme/llm", "2026-11-19T02:00:00Z", 40, 3, "refused the key")


def issues(*some: Issue) -> Audit:
    """Return a quiet night with these issues."""
    return replace(audits.first(), issues=some)


@pytest.mark.parametrize(
    ("audit", "worth"),
    [
        (audits.night(), True),
        (audits.quiet(), False),
        (audits.first(), False),
        (audits.unreadable(), True),
        (replace(audits.quiet(), unread=(Unread("x", "gone", tries=2),)), False),
        (replace(audits.quiet(), unread=(Unread("x", "gone", tries=1),)), True),
        (issues(audits.issue("divergence", (), state="resolved", detail="fixed")), True),
        (issues(audits.issue("divergence", (), state="ongoing", detail="growing")), True),
        (issues(audits.issue("divergence", (), state="ongoing", detail="acknowledged")), False),
        (issues(audits.issue("divergence", (), severity="info")), False),
    ],
)
def test_a_message_is_sent_only_when_something_changed(audit: Audit, *, worth: bool) -> None:
    """New, graver, back, over, or unreadable; what goes on is no news, and an info never is."""
    assert changed(audit) is worth


@pytest.mark.parametrize(
    ("tries", "worth"),
    [(1, True), (2, True), (3, False), (4, True), (5, False), (7, True), (14, True)],
)
def test_a_source_that_stays_unread_is_told_again_and_again(tries: int, *, worth: bool) -> None:
    """On nights 1, 2 and 4, then each week."""
    assert is_told(tries) is worth
    assert changed(replace(audits.quiet(), sources=(REFUSED._replace(tries=tries),))) is worth


def test_what_could_not_be_read_comes_first() -> None:
    """For of that, nobody knows anything."""
    told = message(replace(audits.night(), sources=(REFUSED._replace(tries=4),)))
    assert told.lines[0] == (
        "NOT READ for 4 nights: wandb:acme/llm: refused the key. Nothing is known of it since"
        " 2026-11-19."
    )


def test_the_message_says_what_broke_whose_it_is_and_where_to_read_on() -> None:
    """Five lines and the link."""
    night = audits.night()
    broke = night.runs[30:34]
    rows = [
        replace(row, user="anna", url="https://wandb.ai/acme/llm/runs/r00030")
        if row in broke
        else row
        for row in night.runs
    ]
    new, back, *rest = night.issues
    keys = tuple(row.key for row in broke)
    audit = replace(
        night,
        runs=tuple(rows),
        ran=41,
        broke=keys,
        ended=keys,
        ledger=ledger(broke, keys, 2.0),
        gpu_hour_price=2.0,
        finished=("x",) * 30,
        issues=(
            replace(new, tonight=keys, suspect="4 of 4 runs with lr 5e-4 have it."),
            back,
            *rest,
        ),
    )
    told = message(audit, Links("https://ci.example/audit/"))
    assert told.lines == (
        (
            "4 of last night's 41 runs broke, 30 finished well;"
            " 72 of 120 GPU-h wasted, a cost of 144 (Divergence 72)."
        ),
        (
            "CRITICAL @anna, new: Divergence in 4 runs of sft · qwen3-8b · ultrachat · trl."
            " sft-8b-lr2e-4-s00030: Divergence from step 400: train loss rose from 2.980 to 16.80."
            " 4 of 4 runs with lr 5e-4 have it. 72 GPU-h wasted."
            " https://ci.example/audit/#issue=divergence-4 https://wandb.ai/acme/llm/runs/r00030"
        ),
        (
            "CRITICAL, back, since 2026-11-18: NaN loss in 1 run of sft · qwen3-8b · ultrachat ·"
            " trl. sft-8b-lr2e-4-s00050: NaN loss from step 400: the last finite loss was 1.834."
            " 18 GPU-h wasted. https://ci.example/audit/#issue=nan-loss-1"
        ),
        "Could not be read: wandb:acme/llm/2pq (history empty: 0 rows).",
        "Over: Constant gradient clipping in 0 runs of sft · qwen3-8b · ultrachat · trl.",
        "Known issues: 2 ongoing.",
        "Report: https://ci.example/audit/",
    )
    assert told.runs == keys
    assert "/data/runs/a" not in told.body  # it was told on an earlier night


def test_the_gravest_comes_first_and_what_may_be_saved_is_a_last_word() -> None:
    """Whatever it cost."""
    info = audits.issue("clip-saturation", ("a",), severity="info", gpu_hours=9e3, title="Waste.")
    warned = audits.issue("hockey-stick", ("b",), gpu_hours=500.0)
    broken = audits.issue("nan-loss", ("c",), gpu_hours=1.0)
    told = message(issues(info, warned, broken))
    assert [line.split(",")[0] for line in told.lines[1:3]] == ["CRITICAL", "WARNING"]
    assert told.lines[-1] == "No other issue is open. 1 note on the page."
    assert len(told.issues) == 2


def test_an_issue_that_is_known_as_one_only_tonight_tells_when_it_began() -> None:
    """A node at fault is new when its third run breaks, not when the first did."""
    rows = audits.night().runs
    some = [replace(rows[n], ended=1_772_900_000.0 + 86_400 * n) for n in (0, 1, 2)]
    fleet = audits.issue("nan-loss", tuple(row.key for row in some))
    fleet = replace(fleet, tonight=(some[2].key,))
    for since, told in (("2026-03-09T02:00:00+00:00", ", since 2026-03-07:"), ("", ", new:")):
        night = replace(issues(fleet), runs=tuple(some), since=since)
        assert told in message(night).lines[1], since


def test_an_issue_has_one_beginning_from_night_to_night() -> None:
    """The day on which its first run broke, not that of the first message; and it is said once."""
    rows = audits.night().runs
    some = [replace(rows[n], ended=1_772_900_000.0 + 86_400 * n) for n in (0, 1, 2)]
    known = audits.issue("nan-loss", tuple(row.key for row in some), state="ongoing")
    known = replace(known, detail="growing", tonight=known.runs[2:], first_date="2026-03-09T02:00")
    night = replace(issues(known), runs=tuple(some), since="2026-03-09T02:00:00+00:00")
    assert ", growing (1 more run), since 2026-03-07: NaN loss" in message(night).lines[1]
    dated = replace(known, title="3 of 3 runs on n1 broke since 2026-03-07; 0 of 9 elsewhere.")
    assert message(replace(night, issues=(dated,))).lines[1].count("since 2026-03-07") == 1


@pytest.mark.parametrize(
    ("rule", "detail", "said"),
    [
        ("nan-loss", "fixed", "Fixed: "),
        ("nan-loss", "deleted", "Deleted with its runs: "),
        ("nan-loss", "unused", "Nobody runs it any more: "),
        ("outlier", "fixed", "No longer the case: "),
    ],
)
def test_what_is_over_says_how(rule: str, detail: Any, said: str) -> None:
    """Nobody fixed a run that is an outlier no more since others lie beside it."""
    ended = replace(audits.issue("nan-loss", ("a",), state="resolved", detail=detail), rule=rule)
    assert message(issues(ended)).lines[-2].startswith(f"{said}NaN loss in 1 run of ")


def test_the_sentence_of_a_night_names_what_leads_the_message_and_its_cause() -> None:
    """The one that cost more tonight, not in all nights; and what its runs share."""
    rows = audits.night().runs
    old = replace(audits.issue("nan-loss", (rows[30].key,), fingerprint="o"), gpu_hours=900.0)
    share = "6 of 6 runs on n1 broke since 2026-03-07; 0 of 9 elsewhere."
    new = replace(audits.issue("divergence", (rows[31].key,)), tonight=(rows[31].key,))
    said = verdict(
        [replace(old, state="ongoing", detail="growing"), replace(new, suspect=share)], rows
    )
    assert "The worst is Divergence in 1 run of " in said
    assert said.endswith(f"GPU-hours wasted. {share}")
    assert (
        message(replace(issues(old, new), runs=rows))
        .lines[1]
        .startswith("CRITICAL, new: Divergence")
    )


def test_faults_of_several_jobs_with_one_cause_in_the_fleet_are_told_as_that_cause() -> None:
    """With all whose they are, last night's first, as grave as the gravest; and what changed."""
    title = "5 of 6 runs on node-17 broke; 1 of 90 elsewhere."
    keys = [row.key for row in audits.night().runs[30:34]]
    rows = [
        replace(row, user="anna" if row.key == keys[0] else "ben") for row in audits.night().runs
    ]
    fleet = audits.issue("hockey-stick", tuple(keys), title=title, fingerprint="f")
    fleet = replace(fleet, rule="fleet")
    its = [
        audits.issue(rule, some, fingerprint=rule, suspect=title, group=rule)
        for rule, some in (("nan-loss", tuple(keys[:2])), ("divergence", tuple(keys[2:])))
    ]
    own = replace(
        audits.issue("hockey-stick", (rows[9].key,), fingerprint="own"),
        changes=(Change("learning_rate", "2e-4", "5e-4"),),
        last_good=rows[8].key,
    )
    some = [replace(one, tonight=one.runs) for one in (fleet, *its, own)]
    told = message(replace(issues(*some), runs=tuple(rows), broke=(keys[3],)))
    assert told.lines[1].startswith(f"CRITICAL @ben, @anna, new: {title} {rows[33].name}: ")
    assert len([line for line in told.lines if line.startswith(("CRITICAL", "WARNING"))]) == 2
    assert f"Since learning_rate 2e-4 -> 5e-4 (last good run: {rows[8].name})." in told.lines[2]


def test_a_night_on_which_nothing_was_listed_says_nothing_of_runs() -> None:
    """Nobody knows whether one broke."""
    told = message(replace(audits.quiet(), sources=(REFUSED._replace(tries=1),)))
    assert [line.partition(":")[0] for line in told.lines] == ["NOT READ", "Known issues"]


def test_several_nights_are_not_called_last_night() -> None:
    """After a weekend on which the key was refused."""
    late = replace(audits.first(), ran=116, since="2026-11-18T02:00:00Z")
    assert message(late).lines[0] == "None of the 116 runs since 2026-11-18 broke."


def test_what_broken_runs_share_is_told_with_them() -> None:
    """It is no issue of its own in the message."""
    shares = replace(audits.issue("nan-loss", ("a",)), rule="cluster", title="5 of 5 with lr 5e-4.")
    broken = audits.issue("divergence", ("a",), suspect="5 of 5 with lr 5e-4.")
    told = message(issues(shares, broken))
    assert sum("5 of 5 with lr 5e-4." in line for line in told.lines) == 1
    assert len(told.issues) == 2
    assert "5 of 5 with lr 5e-4." in message(issues(shares)).body


def test_a_message_is_short_however_much_happened() -> None:
    """Three issues have a line, the others a count; all of them are in its document."""
    many = [
        audits.issue("divergence", (f"r{at}",), fingerprint=f"f{at}", title=f"{at} {'x ' * 900}")
        for at in range(300)
    ]
    told = message(issues(*many), Links("https://ci.example/"))
    assert len(told.lines) == 7
    assert told.lines[4].startswith("and 297 more issues (297 critical): ")
    assert len(told.lines[4]) <= LINE
    assert max(map(len, told.lines)) < 3 * LINE
    assert len(told.title) <= PLACE
    assert len(told.issues) == 300


@pytest.mark.parametrize("words", HOSTILE)
def test_no_name_breaks_a_line(words: str) -> None:
    """Control characters are spelled out."""
    told = message(audits.hostile(words))
    assert all(line.isprintable() for line in (told.title, *told.lines))
