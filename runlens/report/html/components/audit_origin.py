"""What an audit could not read, and where everything comes from."""

from collections.abc import Sequence

from runlens.nights import SCHEMA, Audit, Unread
from runlens.report import audited
from runlens.report.facts import sentence
from runlens.report.html.components.tables import Column, code, folded, section, sub, table
from runlens.report.html.element import Child, Markup, cut, el
from runlens.version import __version__
from runlens.wording import count, duration

SHOWN, MOST = 12, 500  # places that are not folded, and places in all
TEXT = 600  # characters
SOURCES = 40


def unread(audit: Audit) -> Markup:
    """Return the places of which nothing could be read; that there were none is said as well."""
    missed = audit.unread
    if not missed:
        return section("unread", "Could not be read", el("p", "None: everything was read."))
    rest = missed[SHOWN:MOST]
    left = len(missed) - MOST
    note = f"and {left:,} more that only the JSON lists" if left > 0 else ""
    return section(
        "unread",
        "Could not be read",
        sub("They are in no count of runs, and are tried again on the next night."),
        _table(missed[:SHOWN]),
        folded(count(len(rest), "more place"), note, _table(rest)) if rest else None,
    )


def _table(rows: Sequence[Unread]) -> Markup:
    columns = (Column("Run"), Column("Why"), Column("What to do"), Column("Nights", numbers=True))
    return table(
        columns,
        [
            (
                code(cut(one.place, TEXT)),
                sentence(cut(one.why, TEXT)),
                sentence(cut(one.what_to_do, TEXT)) if one.what_to_do else "",
                f"{one.tries:,}",
            )
            for one in rows
        ],
    )


def provenance(audit: Audit) -> Markup:
    """Return what was read when, and from where."""
    night = audit.night
    took = duration(night.seconds) if night.seconds else "not measured"
    rows: list[tuple[Child, ...]] = [
        ("Night", f"{night.number:,}", cut(night.date, TEXT)),
        ("Read and judged", f"{night.read:,}", "new, or grown since the night before"),
        ("Taken over", f"{night.unchanged:,}", "unchanged since an earlier night"),
        ("Took", took, ""),
        ("RunLens", __version__, code(SCHEMA)),
    ]
    shown = night.sources[:SOURCES]
    left = len(night.sources) - len(shown)
    sources: list[tuple[Child, ...]] = [
        ("Source" if not at else "", code(cut(name, TEXT)), "") for at, name in enumerate(shown)
    ]
    if left:
        sources.append(("", f"and {left} more", ""))
    columns = (Column("What"), Column("Value"), Column("Note"))
    return section("provenance", "Provenance", table(columns, [*sources, *rows]))


def where(audit: Audit) -> str:
    """Return what stands beside our name at the head of the page."""
    named = audited.sources(audit.night)
    return f"Nightly audit · {named}" if named else "Nightly audit"
