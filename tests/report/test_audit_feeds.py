"""What other programs read of an audit: feeds and metrics."""

import json
from dataclasses import replace
from xml.etree import ElementTree as ET

from runlens.nights import SourceState, Trend
from runlens.report.audit import feed, metrics
from tests.report import audits
from tests.report.diagnoses import HOSTILE

PAGE = "https://ci.example/audit/"


def test_a_feed_has_an_entry_for_each_issue_that_is_news() -> None:
    """The latest first; those of earlier nights stay."""
    first = feed.as_json(feed.entries(audits.night(), "", PAGE), PAGE)
    items = json.loads(first)["items"]
    assert [one["title"].split(":")[0] for one in items] == [
        "critical, new",
        "critical, back",
        "warning, resolved",
    ]
    assert items[0]["url"] == f"{PAGE}#issue=divergence-4"
    later = replace(audits.night(), night=audits.NIGHT._replace(number=13))
    both = feed.entries(later, first, PAGE)
    assert [one["id"][-2:] for one in both] == ["13"] * 3 + ["12"] * 3
    assert len(feed.entries(audits.night(), first, PAGE)) == 3, "the same night once"
    assert len(feed.entries(audits.night(), "no feed", PAGE)) == 3


def test_atom_says_the_same_whatever_the_names() -> None:
    """Names of strangers stay text."""
    items = feed.entries(audits.hostile("".join(HOSTILE)), "", PAGE)
    root = ET.fromstring(feed.as_atom(items, PAGE))  # noqa: S314 - our own
    titles = [one.text for one in root.iter(f"{{{feed.ATOM}}}title")]
    assert titles[1:] == [one["title"] for one in items]


def test_metrics_have_what_an_alert_needs() -> None:
    """How old a source is, how many nights it was unread, and what broke."""
    source = SourceState("wandb:a/b", "2026-11-20T02:00:00Z", 40, 2, 'refused "the" key')
    night = replace(
        audits.night(),
        sources=(source,),
        broke=("x",),
        trend=(Trend(12, "2026-11-21T02:00:00Z", 41, 1, 3, 100.0, 7.5),),
    )
    lines = metrics.render(night).splitlines()
    assert 'runlens_source_unread_nights{source="wandb:a/b"} 2' in lines
    assert 'runlens_issues{status="new",severity="critical"} 1' in lines
    assert 'runlens_last_night_runs{became="broke"} 1' in lines
    assert "runlens_last_night_wasted_gpu_hours 7.5" in lines
    assert all(line.startswith(("#", "runlens_")) for line in lines)
