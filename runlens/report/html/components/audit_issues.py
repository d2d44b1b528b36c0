"""Issues of a night: one row is one kind of fault in one group of runs."""

from collections.abc import Mapping, Sequence

from runlens.nights import Audit, Issue, RunRow
from runlens.records import NamedTuple
from runlens.report import audited
from runlens.report.facts import sentence
from runlens.report.html.components.signs import tag
from runlens.report.html.components.tables import folded, section, small, sub
from runlens.report.html.element import Child, Markup, cut, el, join
from runlens.wording import count

SHOWN, MOST = 10, 200  # rows that are not folded, and rows in all
TITLE, WORST, WHY, NAME = 300, 400, 800, 80  # characters
NAMED = 3  # runs of an issue
CAPTION = (
    "New first, then back, then ongoing; the gravest first, then by GPU-hours after onset."
    " Notes come last."
)
EXPLAINED = "One row is one kind of fault in one group of runs, followed from night to night."


class Known(NamedTuple):
    """What rows of issues need besides the issue."""

    runs: Mapping[str, RunRow]
    pages: Mapping[str, str]
    numbers: Mapping[str, int]  # fingerprint -> its number on the page
    money: bool


def numbered(audit: Audit) -> dict[str, int]:
    """Return the number of each open issue on the page, by which its runs are shown."""
    open_ = audited.open_issues(audit)
    return {issue.fingerprint: number for number, issue in enumerate(open_[:MOST], 1)}


def issues(audit: Audit) -> Markup:
    """Return the open issues, the first ten unfolded, and those resolved tonight."""
    open_ = audited.open_issues(audit)
    gone = audited.in_state(audit, "resolved")
    known = Known(
        {row.key: row for row in audit.runs},
        audit.pages,
        numbered(audit),
        any(issue.money is not None for issue in audit.issues),
    )
    alarms = audited.false_alarms(audit)
    return section(
        "issues",
        "Issues",
        sub(EXPLAINED),
        _table(open_[:SHOWN], known, CAPTION) if open_ else el("p", "No open issue."),
        _more(open_, known),
        _resolved(gone, known) if gone else None,
        el("p", alarms, class_="sm mut gap") if alarms else None,
    )


def _more(open_: Sequence[Issue], known: Known) -> Markup | None:
    rest = open_[SHOWN:MOST]
    if not rest:
        return None
    left = len(open_) - MOST
    note = f"and {left:,} more that only the JSON lists" if left > 0 else ""
    return folded(count(len(rest), "more issue"), note, _table(rest, known))


def _resolved(gone: Sequence[Issue], known: Known) -> Markup:
    left = len(gone) - MOST
    note = f"{MOST} shown" if left > 0 else "gone since the last night"
    return folded(count(len(gone), "resolved issue"), note, _table(gone[:MOST], known))


def _table(some: Sequence[Issue], known: Known, caption: str = "") -> Markup:
    heads = ["Severity", "Issue", "Tonight", "Runs", "GPU-h after onset"]
    heads += ["Cost"] if known.money else []
    numbers = {"Runs", "GPU-h after onset", "Cost"}
    row = [el("th", one, scope="col", class_="num" if one in numbers else None) for one in heads]
    row.append(el("th", el("span", "Filter", class_="js", hidden=True), scope="col"))
    return el(
        "table",
        el("caption", caption) if caption else None,
        el("thead", el("tr", row)),
        el("tbody", [_row(issue, known) for issue in some]),
        class_="stack issues",
    )


def _row(issue: Issue, known: Known) -> Markup:
    spent = audited.issue_hours(issue)
    cells = [
        el("td", tag(issue.severity), data_l=""),
        el("th", _what(issue, known), scope="row"),
        el("td", _state(issue), data_l="tonight"),
        el("td", f"{len(issue.runs):,}", class_="num", data_l="runs"),
        el("td", spent, _untimed(issue), class_="num", data_l="GPU-h after onset"),
    ]
    if known.money:
        cells.append(el("td", audited.money(issue), class_="num", data_l="cost"))
    return el(
        "tr", cells, el("td", _button(issue, known), data_l=""), id=f"issue={issue.fingerprint}"
    )


def _state(issue: Issue) -> Markup:
    since = small(f"since night {issue.first_night:,}")
    known = issue.state == "ongoing"
    word = audited.STATUS_WORDS.get(issue.status, issue.state)
    ack = issue.acknowledged
    by = small(cut(f"by {ack.by} until {ack.until[:10]}", NAME)) if ack else None
    odds = small(issue.odds) if issue.odds else None
    parts = [part for part in (since if known else None, by, odds) if part]
    return join(word, [join(" ", part) for part in parts])


def _untimed(issue: Issue) -> Markup | None:
    """Return of how many runs the hours are not known, where that is not plain from a dash."""
    if not issue.untimed:
        return None
    return el("span", f"{issue.untimed:,} without times", class_="src under")


def _button(issue: Issue, known: Known) -> Markup | None:
    number = known.numbers.get(issue.fingerprint)
    if number is None or not any(key in known.runs for key in issue.runs):
        return None
    return el(
        "button",
        "Show runs",
        class_="js",
        hidden=True,
        type="button",
        data_issue=number,
        aria_label=f"Show runs: {cut(issue.title, NAME)}",
    )


def _what(issue: Issue, known: Known) -> Markup:
    """Return the sentence of an issue, its worst run, and of a rule over runs why, and which."""
    lines: list[Child] = [_worst(issue, known)] if issue.worst else []
    lines += [sentence(cut(issue.suspect, WHY))] if issue.suspect else []
    changed = issue.what_changed(known.runs)
    lines += [sentence(cut(changed, WHY))] if changed else []
    lines += [sentence(cut(issue.why, WHY))] if issue.why else []
    lines += [_named(issue, known)] if issue.why and len(issue.runs) > 1 else []
    return join(
        cut(issue.title, TITLE), [el("span", small(line), class_="under") for line in lines]
    )


def _worst(issue: Issue, known: Known) -> Markup:
    """Return what the worst run's finding says, the name linked to the run's page."""
    said = cut(issue.worst, WORST)
    worst = known.runs.get(issue.runs[0]) if issue.runs else None
    link = link_to(worst, known.pages) if worst else None
    if worst is None or link is None or not said.startswith(worst.name):
        return join("Worst: ", said)
    return join("Worst: ", el("a", worst.name, href=link), said[len(worst.name) :])


def _named(issue: Issue, known: Known) -> Markup:
    shown = [
        el("bdi", cut(known.runs[key].name if key in known.runs else key, NAME))
        for key in issue.runs[:NAMED]
    ]
    left = len(issue.runs) - len(shown)
    parts = [join(", " if at else "", name) for at, name in enumerate(shown)]
    return join("Runs: ", parts, f" and {left:,} more" if left else None)


def link_to(row: RunRow, pages: Mapping[str, str]) -> str | None:
    """Return the link to a run's own page; None where it has none."""
    link = pages.get(row.key)
    return audited.safe_link(link) if link else None
