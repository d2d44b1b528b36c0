"""What was checked: passed with the deciding number, could not run with what is missing."""

from collections.abc import Mapping

from runlens.diagnosis import Diagnosis
from runlens.report import facts
from runlens.report.facts import Checks, sentence
from runlens.report.html.components.signs import icon
from runlens.report.html.components.tables import Column, code, folded, folded_section, table
from runlens.report.html.element import NOTHING, Markup, el, join
from runlens.report.missing import told
from runlens.wording import count


def checks(diagnosis: Diagnosis) -> Markup:
    """Return all rules by outcome; the counts add up to the number of rules."""
    sorted_out, titles = facts.checks(diagnosis), diagnosis.titles
    loud = any(incident.severity != "info" for incident in diagnosis.incidents)
    noted = loud or not sorted_out.found  # a page without a fault does not say that one was found
    found = f"{sorted_out.found} found something" if noted else count(sorted_out.found, "note")
    return folded_section(
        "checks",
        "Checks",
        ", ".join([found, *sorted_out.all_counted]),
        _passed(sorted_out, titles),
        _covered(sorted_out, diagnosis),
        _unmet(sorted_out, titles, diagnosis.framework),
        _broken(sorted_out.broken, titles),
    )


def _name(slug: str, titles: Mapping[str, str]) -> str:
    return titles.get(slug) or slug


def _passed(ended: Checks, titles: Mapping[str, str]) -> Markup:
    if not ended.passed:
        return el("p", "No check passed: none could judge this run.", class_="sm")
    tick = el("span", icon("healthy"), class_="ok")
    items = [
        el("li", tick, _name(slug, titles), " ", el("span", why, class_="mut"))
        for slug, why in ended.passed.items()
    ]
    extra = f"{count(len(ended.passed), 'check')}, each with the value that decided it"
    return folded("Passed", extra, el("ul", items, class_="pass"))


def _covered(ended: Checks, diagnosis: Diagnosis) -> Markup:
    if not ended.covered:
        return join()
    extra = f"{count(len(ended.covered), 'check')} of a fault that a finding tells"
    items = [el("li", NOTHING, one) for one in facts.covering(ended, diagnosis)]
    return folded("Covered above", extra, el("ul", items, class_="pass"))


def _unmet(ended: Checks, titles: Mapping[str, str], framework: str) -> Markup:
    if not ended.lacking and not ended.other:
        return join()
    missing: dict[str, list[str]] = {}
    for slug, why in ended.lacking.items():
        missing.setdefault(told(why, framework), []).append(_name(slug, titles))
    rows = [(", ".join(names), sentence(why)) for why, names in missing.items()]
    listed = table((Column("Checks"), Column("Missing")), rows) if rows else None
    extra = f"{count(len(ended.lacking), 'check')} without the data"
    extra += f", {len(ended.other)} for other tasks" if ended.other else ""
    return folded("Could not run", extra, join(listed, _other(list(ended.other), titles)))


def _other(slugs: list[str], titles: Mapping[str, str]) -> Markup:
    """Return in one line the rules that hold for other tasks."""
    if not slugs:
        return join()
    names = ", ".join(_name(slug, titles) for slug in slugs)
    many = "1 check holds" if len(slugs) == 1 else f"{len(slugs)} checks hold"
    return el("p", f"{many} for other tasks: {names}.", class_="sm mut gap")


def _broken(reasons: Mapping[str, str], titles: Mapping[str, str]) -> Markup:
    if not reasons:
        return join()
    rows = [(_name(slug, titles), why, code(slug)) for slug, why in reasons.items()]
    columns = (Column("Check"), Column("Error"), Column("Rule"))
    extra = f"{count(len(reasons), 'check')}: a mistake in RunLens, not in the run"
    return folded("Broke", extra, table(columns, rows), opened=True)
