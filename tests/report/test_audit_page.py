"""The page of an audit: complete without scripts, small, safe, the same bytes again."""

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from runlens.diagnosis import Health
from runlens.nights import SourceState, SparkRow
from runlens.report import audited
from runlens.report.html.audit import render
from runlens.report.html.components.audit_last import last_night
from runlens.report.html.components.audit_spark import spark
from tests.report import audits
from tests.report.diagnoses import HOSTILE
from tests.report.markup import Document, Element

MOST = 1_300_000  # bytes of a page of 2,000 runs


def rows(page: Document, uid: str) -> list[Element]:
    """Return the rows of one of the tables of runs."""
    table = page.elements.index(page.one("table", id=uid))
    inside = page.elements[table:]
    body = next(at for at, one in enumerate(inside) if one.tag == "tbody")
    ends = (at for at, one in enumerate(inside[body:], body) if one.tag in {"table", "section"})
    return [one for one in inside[body : next(ends, None)] if one.tag == "tr"]


@pytest.mark.parametrize("shape", audits.SHAPES)
def test_every_shape_is_a_whole_page(shape: str) -> None:
    """One headline, balanced elements, and every link of the navigation leads somewhere."""
    page = Document(render(audits.SHAPES[shape]()))
    assert page.unbalanced == []
    assert page.comments == []
    assert len(page.all("h1")) == 1
    ids = [one.attributes["id"] for one in page.elements if "id" in one.attributes]
    assert len(ids) == len(set(ids))
    anchors = [one.attributes["href"] for one in page.all("a")]
    assert {link[1:] for link in anchors if link.startswith("#")} <= set(ids)
    assert not any("style" in one.attributes for one in page.elements)


@pytest.mark.parametrize("shape", audits.SHAPES)
def test_the_same_audit_gives_the_same_bytes(shape: str) -> None:
    """Nothing but the audit is on the page."""
    assert render(audits.SHAPES[shape]()) == render(audits.SHAPES[shape]())


SCRIPT = """
import sys
from tests.report import audits
from runlens.report.html.audit import render
for name in audits.SHAPES:
    sys.stdout.buffer.write(render(audits.SHAPES[name]()).encode())
"""


def test_the_machine_changes_nothing() -> None:
    """Neither the hash seed nor the time zone nor the locale."""
    machines = [
        {"PYTHONHASHSEED": "1", "TZ": "UTC", "LC_ALL": "C"},
        {"PYTHONHASHSEED": "2", "TZ": "Asia/Kathmandu", "LC_ALL": "tr_TR.UTF-8"},
    ]
    root = Path(__file__).parents[2]
    running = [
        subprocess.Popen(
            [sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, env=os.environ | one, cwd=root
        )
        for one in machines
    ]
    first, second = (process.communicate(timeout=60)[0] for process in running)
    assert len(first) > 100_000
    assert first == second


def test_the_top_says_what_is_new_and_what_it_cost() -> None:
    """Severity of what is new, the night, the sentence, and the four counts."""
    page = Document(render(audits.night()))
    top = page.all("section", class_="verdict")[0].text
    assert top.startswith("Critical night 12 · 21 November 2026 · wandb:acme/llm1 new issue")
    assert "40 runs, 8 with a fault (5 critical). 144 of 1,170 GPU-hours (12\u202f%)" in top
    counts = page.one("dl", class_="counts").text
    assert re.sub(r"[^A-Z0-9]", "", counts) == "N1B1O2R1"


def test_notes_are_no_issues_at_the_top_and_come_behind_all_faults() -> None:
    """The counts are those of the sentence; a new note stands below what has gone on for nights."""
    known = audits.night()
    note = audits.issue("divergence", ("runs/sft-000",), severity="info", fingerprint="f0")
    audit = replace(known, issues=(note, *known.issues))
    page, before = Document(render(audit)), Document(render(known))
    assert page.one("dl", class_="counts").text == before.one("dl", class_="counts").text
    shown = audited.open_issues(audit)
    assert shown[0].severity != "info"
    assert note in shown[-sum(one.severity == "info" for one in shown) :]


def test_of_a_night_on_which_nothing_was_read_no_runs_are_counted() -> None:
    """A key that expired is no night on which nothing ran."""
    state = SourceState("wandb:acme/llm", "2026-11-20T02:00:00Z", 40, tries=1, why="no key")
    audit = replace(audits.night(), sources=(state,), since="2026-11-20T02:00:00Z", ran=0, broke=())
    said = last_night(audit)
    assert "No source could be read: what ran since 2026-11-20 is not known." in said
    assert "finished well" not in said


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ("nothing new", "Nothing new"),
        ("the first night", "No open issue"),
        ("nothing readable", "Nothing judged"),
    ],
)
def test_a_night_without_news_is_not_called_healthy(shape: str, words: str) -> None:
    """Known issues go on, or nothing could be read: the word at the top says which."""
    assert Document(render(audits.SHAPES[shape]())).all("span", class_="tag " + {
        "Nothing new": "info", "No open issue": "ok", "Nothing judged": "unmet"
    }[words])[0].text == words  # fmt: skip


def test_an_issue_has_its_state_its_cost_and_its_worst_run() -> None:
    """New, back, ongoing in this order; the resolved one is folded."""
    page = Document(render(audits.night()))
    table = page.all("table", class_="stack issues")[0].text
    assert "Divergence in 4 runs of sft" in table
    assert "Worst: sft-8b-lr2e-4-s00030: Divergence from step 400" in table
    assert "ongoing since night 9" in table
    assert "1 without times" in table
    assert "144.00" in table
    heads = ("Divergence in", "NaN loss in", "Overfitting in", "Five")
    order = [table.index(words) for words in heads]
    assert order == sorted(order)
    assert "Constant gradient clipping in 0 runs" not in table
    assert any("1 resolved issue" in one.text for one in page.all("summary"))


def test_a_rule_over_several_runs_says_why_and_of_which() -> None:
    """Its numbers and limits, and the first of its runs by name."""
    table = Document(render(audits.night())).all("table", class_="stack issues")[0].text
    assert "Deviation of 0.043 between seeds; 3 standard errors" in table
    assert "Runs: sft-8b-lr2e-4-s00000, sft-8b-lr2e-4-s00001, sft-8b-lr2e-4-s00002 and 2 more" in (
        table
    )


def test_there_is_no_column_of_costs_without_a_price() -> None:
    """Nobody wonders about a currency that was never given."""
    page = Document(render(audits.quiet()))
    assert "Cost" not in [one.text for one in page.all("th", scope="col")]


def test_faulty_runs_are_a_table_and_the_others_are_folded() -> None:
    """The worst first; all runs are on the page."""
    page = Document(render(audits.night()))
    assert len(rows(page, "runs")) == 8
    assert [row.attributes["data-s"] for row in rows(page, "runs")] == list("33333222")
    assert len(rows(page, "runs-ok")) == 32
    summary = page.all("summary")[-1].text
    assert summary == "32 runs without a fault 31 healthy, 1 not judged"
    assert "Also: clip-saturation" in rows(page, "runs")[-1].text


def test_runs_name_the_issues_to_which_they_belong() -> None:
    """So that the script can show the runs of one issue, healthy ones included."""
    page = Document(render(audits.night()))
    issues = [row.attributes.get("data-i") for row in rows(page, "runs")]
    assert issues == ["1"] * 4 + ["2"] + ["3"] * 3
    assert [row.attributes.get("data-i") for row in rows(page, "runs-ok")].count("4") == 5
    buttons = [one.attributes for one in page.all("button") if "data-issue" in one.attributes]
    assert [one["data-issue"] for one in buttons] == ["1", "2", "3", "4"]


def test_runs_of_one_name_are_told_apart() -> None:
    """By their keys."""
    whole = audits.first()
    twins = tuple(replace(row, name="trainer") for row in whole.runs)
    page = Document(render(replace(whole, runs=twins)))
    assert "trainerwandb:acme/llm/r00000" in rows(page, "runs-ok")[0].text


@pytest.mark.parametrize(
    ("link", "kept"),
    [
        ("runs/a.html", True),
        ("a%23b.html#curves", True),
        ("javascript:alert(1)", False),
        (" JavaScript:alert(1)", False),
        ("https://example.com/a.html", False),
        ("//example.com/a.html", False),
        ("/etc/passwd", False),
        ("\\\\server\\share", False),
        ("", False),
    ],
)
def test_only_pages_beside_this_one_are_linked(link: str, *, kept: bool) -> None:
    """A link that leads elsewhere is left out; the name stays."""
    whole = audits.night()
    key = whole.runs[30].key
    page = Document(render(replace(whole, pages={key: link})))
    links = {one.attributes["href"] for one in page.all("a") if one.attributes["href"][:1] != "#"}
    assert links == ({link} if kept else set())
    assert (audited.safe_link(link) is not None) is kept


def test_what_could_not_be_read_is_listed_with_a_remedy() -> None:
    """Place, reason, what to do, and for how many nights."""
    text = Document(render(audits.night())).one("section", id="unread").text
    assert "wandb:acme/llm/2pqHistory empty: 0 rows.Log train_loss; the run ended after 12 s.1" in (
        text
    )
    assert "/data/runs/aPermission denied.Let the user of the audit read it.3" in text
    text = Document(render(audits.quiet())).one("section", id="unread").text
    assert "None: everything was read." in text


def test_the_expected_false_alarms_are_said() -> None:
    """With the rate from which they come."""
    said = "8 of 2,000 judged runs are expected to alarm without a fault: the measured rate is 0.4"
    whole = audits.many(2000)
    judged = replace(whole, expected_false_alarms=8.0)
    assert said in Document(render(judged)).one("section", id="issues").text
    unknown = replace(whole, expected_false_alarms=None)
    assert "expected to alarm" not in render(unknown)


def test_where_it_comes_from_is_said() -> None:
    """Night, date, sources, how many were read and how many taken over, and how long it took."""
    text = Document(render(audits.night())).one("section", id="provenance").text
    for part in ("12", "2026-11-21T02:00:00Z", "wandb:acme/llm", "14", "26", "31.5 s"):
        assert part in text


@pytest.mark.parametrize("words", HOSTILE)
def test_hostile_words_make_no_markup(words: str) -> None:
    """A page full of hostile strings has the very elements that harmless strings give."""
    bad, good = (
        Document(render(audits.hostile(text)))
        for text in (words, re.sub("[^/ ]", "w", words))
    )  # fmt: skip
    assert [(e.tag, sorted(e.attributes)) for e in bad.elements] == [
        (e.tag, sorted(e.attributes)) for e in good.elements
    ]
    assert bad.unbalanced == []
    assert render(audits.hostile(words)).encode("utf-8")


def test_2000_runs_are_below_their_budget() -> None:
    """1.3 MB, most of it the rows of healthy runs."""
    page = render(audits.many(2000))
    assert 500_000 < len(page.encode()) < MOST
    assert page.count("<tr ") >= 2000


def test_a_curve_is_coloured_from_its_onset_and_stops_where_the_run_stopped() -> None:
    """One unit a point; the coloured part begins at the last point before the onset."""
    drawn = spark(SparkRow("train_loss", (20, 10, 5, 15, 20), 3, 0.5))
    assert 'viewBox="0 -1 8 22"' in drawn
    assert '<path d="M0 0l1 10 1 5"/>' in drawn
    assert '<path class="f" d="M2 15l1-10 1-5"/>' in drawn


def test_a_curve_that_turns_nan_is_dashed_along_the_top() -> None:
    """And a gap before the onset is a gap."""
    drawn = spark(SparkRow("train_loss", (20, -1, 10, 5, -1, -1), 4))
    assert '<path d="M0 0M2 10l1 5"/>' in drawn
    assert '<path class="n" d="M4 0H5"/>' in drawn


@pytest.mark.parametrize("points", [(), (3,), (-1, -1, -1), (-1, 4)])
def test_less_than_two_points_are_no_curve(points: tuple[int, ...]) -> None:
    """The cell stays empty."""
    assert spark(SparkRow("train_loss", points, 0)) == ""


@pytest.mark.parametrize("odd", [SparkRow("x", (1, 2), 99, 7.0), SparkRow("x", (1, 2), -3, -1.0)])
def test_odd_rows_are_drawn_all_the_same(odd: SparkRow) -> None:
    """An onset beyond the points, a share beyond 1."""
    assert 'viewBox="0 -1 1 22"' in spark(odd)


def test_the_runs_of_last_night_stand_the_gravest_first() -> None:
    """Whatever their names are; the link to the tracker stays on one line."""
    healths: tuple[Health, ...] = ("warning", "critical")
    some = [
        replace(row, name=f"run-{health}", health=health, url="https://wandb.ai/a/b/runs/c")
        for row, health in zip(audits.night().runs, healths, strict=False)
    ]
    night = replace(audits.night(), runs=tuple(some), broke=tuple(one.key for one in some))
    section = str(last_night(night))
    assert 0 < section.index("run-critical") < section.index("run-warning")
    assert section.count('class="nb">open<') == len(some)
