"""What became of the runs of last night, what was not looked at, and the nights before."""

from collections.abc import Iterable, Sequence

from runlens.nights import Audit, RunRow, SourceState, Trend
from runlens.report import audited
from runlens.report.facts import sentence
from runlens.report.html.components.audit_issues import link_to
from runlens.report.html.components.signs import tag
from runlens.report.html.components.tables import Column, code, folded, section, small, sub, table
from runlens.report.html.element import Child, Markup, cut, el, join
from runlens.wording import count, percent

SHOWN, MOST = 12, 200  # runs that are not folded, and runs in all
NAME, TEXT = 80, 300  # characters
SHORT = 24  # characters of a name that stays on one line
BAR, HIGH = 6, 44  # of a night in the chart: width and height in pixels
NIGHTS = 30  # in the chart
FEWEST = 2  # nights that make a chart


def unlisted(audit: Audit) -> Markup | None:
    """Return which sources nobody looked at tonight: of them, this page says nothing new."""
    lost = audit.unlisted
    if not lost:
        return None
    return el("p", el("strong", "Not read tonight. "), _lost(lost), class_="lede", role="alert")


def _lost(some: Sequence[SourceState]) -> Markup:
    said = []
    for one in some:
        since = f"last listed {one.listed[:10]}" if one.listed else "never listed"
        nights = f", for {count(one.tries, 'night')}" if one.tries > 1 else ""
        why = (
            f": {one.why}" if one.why else f": {one.missing:,} of {one.known:,} places are missing"
        )
        said.append(join(code(cut(one.source, NAME)), cut(f" ({since}{nights}){why}. ", TEXT)))
    return join(said)


def last_night(audit: Audit) -> Markup:
    """Return the runs that broke, by whom, the counts of the others, and the nights before."""
    rows = {row.key: row for row in audit.runs}
    broke = audited.gravest_first([rows[key] for key in audit.broke if key in rows])
    quiet = [rows[key] for key in audit.went_quiet if key in rows]
    return section(
        "last-night",
        "Since last night",
        sub(_counts(audit)),
        _table(audit, broke[:SHOWN]) if broke else None,
        _more(audit, broke[SHOWN:MOST]),
        folded(count(len(quiet), "run") + " went quiet", "", _table(audit, quiet[:MOST]))
        if quiet
        else None,
        _chart(audit.trend),
    )


def _counts(audit: Audit) -> str:
    since = f" since {audit.since[:10]}" if audit.since else ""
    if audit.sources and all(one.tries for one in audit.sources):
        return f"No source could be read: what ran{since} is not known."
    said = f"{count(audit.ran, 'run')} ran{since}: {len(audit.broke):,} broke"
    said += f", {len(audit.finished):,} finished well"
    said += f", {len(audit.went_quiet):,} went quiet" if audit.went_quiet else ""
    return f"{said}."


def _more(audit: Audit, rest: Sequence[RunRow]) -> Markup | None:
    return folded(count(len(rest), "more run"), "", _table(audit, rest)) if rest else None


def _table(audit: Audit, some: Iterable[RunRow]) -> Markup:
    columns = (Column("Run"), Column("Whose"), Column("What broke"), Column("W&B"))
    return table(columns, [_row(audit, row) for row in some])


def _row(audit: Audit, row: RunRow) -> tuple[Child, ...]:
    link = link_to(row, audit.pages)
    name = cut(row.name, NAME)
    where = audited.tracker_link(row.url)
    short = "nb" if len(name) <= SHORT else None
    return (
        el("span", el("a", name, href=link) if link else name, class_=short),
        cut(row.user, NAME) or audited.DASH,
        join(tag(row.health), " ", small(sentence(cut(row.verdict, TEXT)))),
        el("a", "open", href=where, rel="noreferrer", class_="nb") if where else audited.DASH,
    )


def _chart(trend: Sequence[Trend]) -> Markup | None:
    """Return the last nights as bars: how many runs broke, open issues, and what was wasted."""
    if len(trend) < FEWEST:
        return None
    shown = trend[-NIGHTS:]
    shares = [one.broke / one.ran if one.ran else 0.0 for one in shown]
    issues = [float(one.issues) for one in shown]
    lost = [one.wasted / one.gpu_hours if one.gpu_hours else 0.0 for one in shown]
    top = (
        f"at most {percent(max(shares))}",
        f"at most {max(issues):,.0f}",
        f"at most {percent(max(lost))}",
    )
    said = (
        [f"night {t.night}: {t.broke:,} of {t.ran:,} broke" for t in shown],
        [f"night {t.night}: {count(t.issues, 'open issue')}" for t in shown],
        [f"night {t.night}: {t.wasted:,.1f} of {t.gpu_hours:,.1f} GPU-hours" for t in shown],
    )
    titles = "Runs that broke", "Open issues, warnings and worse", "GPU-hours wasted"
    charts = [
        el("div", el("dt", title), el("dd", _bars(some, each), " ", el("span", most, class_="n")))
        for title, some, each, most in zip(titles, (shares, issues, lost), said, top, strict=True)
    ]
    return join(
        el("p", f"Nights {shown[0].night:,} to {shown[-1].night:,}", class_="sm gap"),
        el("dl", charts, class_="counts"),
    )


def _bars(shares: Sequence[float], titles: Sequence[str]) -> Markup:
    top = max(shares) or 1.0
    bars = []
    for at, (share, title) in enumerate(zip(shares, titles, strict=True)):
        high = max(1, round(HIGH * share / top)) if share else 1
        bars.append(
            el(
                "rect",
                el("title", title),
                x=at * BAR,
                y=HIGH - high,
                width=BAR - 2,
                height=high,
                fill="currentColor",
            )
        )
    wide = len(shares) * BAR
    return el(
        "svg",
        bars,
        width=wide,
        height=HIGH,
        viewBox=f"0 0 {wide} {HIGH}",
        role="img",
        aria_label=titles[-1],
    )
