"""What was checked: passed with the deciding number, could not run with what is missing."""

from collections.abc import Mapping

from runlens.diagnosis import Diagnosis
from runlens.report.html.components.signs import icon
from runlens.report.html.components.tables import Column, code, folded, section, sub, table
from runlens.report.html.element import NOTHING, Markup, el, join
from runlens.report.html.words import sentence
from runlens.report.missing import MERGED, OTHER_TASKS, told
from runlens.wording import count


def checks(diagnosis: Diagnosis) -> Markup:
    """Return all rules by outcome; the counts add up to the number of rules."""
    passed, unmet, broken = (diagnosis.reasons(status) for status in ("passed", "unmet", "error"))
    found = len(diagnosis.outcomes) - len(passed) - len(unmet) - len(broken)
    counted = (
        f"{count(len(diagnosis.outcomes), 'check')}: {found} found something, {len(passed)} "
        f"passed, {len(unmet)} could not run, {count(len(broken), 'error')}."
    )
    titles = diagnosis.titles
    return section(
        "checks",
        "Checks",
        sub(f"{counted} Nothing was skipped in silence."),
        _passed(passed, titles),
        _unmet(unmet, titles, opened=not diagnosis.incidents),
        _broken(broken, titles),
    )


def _name(slug: str, titles: Mapping[str, str]) -> str:
    return titles.get(slug) or slug


def _passed(reasons: Mapping[str, str], titles: Mapping[str, str]) -> Markup:
    if not reasons:
        return el("p", "No check passed: none could judge this run.", class_="sm")
    tick = el("span", icon("healthy"), class_="ok")
    items = [
        el(
            "li",
            NOTHING if why.startswith(MERGED) else tick,
            _name(slug, titles),
            " ",
            el("span", why, class_="mut"),
        )
        for slug, why in sorted(reasons.items(), key=lambda one: one[1].startswith(MERGED))
    ]
    extra = f"{count(len(reasons), 'check')}, each with the value that decided it"
    return folded("Passed", extra, el("ul", items, class_="pass"), opened=True)


def _unmet(reasons: Mapping[str, str], titles: Mapping[str, str], *, opened: bool) -> Markup:
    if not reasons:
        return join()
    other = [slug for slug, why in reasons.items() if why.startswith(OTHER_TASKS)]
    missing: dict[str, list[str]] = {}
    for slug, why in reasons.items():
        if slug not in other:
            missing.setdefault(told(why), []).append(_name(slug, titles))
    rows = [(", ".join(names), sentence(why)) for why, names in missing.items()]
    listed = table((Column("Checks"), Column("Missing")), rows) if rows else None
    lacking = f"{count(len(reasons) - len(other), 'check')} without the data"
    extra = f"{lacking}, {len(other)} for other kinds of runs" if other else lacking
    return folded("Could not run", extra, join(listed, _other(other, titles)), opened=opened)


def _other(slugs: list[str], titles: Mapping[str, str]) -> Markup:
    """Return in one line the rules that hold for other kinds of runs."""
    if not slugs:
        return join()
    names = ", ".join(_name(slug, titles) for slug in slugs)
    many = "1 check holds" if len(slugs) == 1 else f"{len(slugs)} checks hold"
    return el("p", f"{many} for other kinds of runs: {names}.", class_="sm mut gap")


def _broken(reasons: Mapping[str, str], titles: Mapping[str, str]) -> Markup:
    if not reasons:
        return join()
    rows = [(_name(slug, titles), why, code(slug)) for slug, why in reasons.items()]
    columns = (Column("Check"), Column("Error"), Column("Rule"))
    extra = f"{count(len(reasons), 'check')}: a mistake in RunLens, not in the run"
    return folded("Broke", extra, table(columns, rows), opened=True)
