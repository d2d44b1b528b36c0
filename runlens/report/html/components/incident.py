"""An incident: its gravest finding in full, what followed from it folded below."""

from collections.abc import Mapping, Sequence

from runlens.cause import UNKNOWN
from runlens.diagnosis import UNTESTED, Cause, Diagnosis, Finding, Fix, Incident, RuledOut
from runlens.report.facts import loud, sentence, span, sure_word
from runlens.report.html.components.evidence import evidence
from runlens.report.html.components.proof import lead_of, proof_of
from runlens.report.html.components.signs import tag
from runlens.report.html.components.tables import bullets, code, folded, section, sub, words
from runlens.report.html.element import NOTHING, Markup, cut, el, join
from runlens.report.html.words import setting
from runlens.report.once import Once, Top
from runlens.wording import uncapitalised

ROOM = 20_000  # characters of all charts of findings, so that the page stays small
CAUSES = 4
TITLE = 400  # characters


def incidents(diagnosis: Diagnosis) -> Markup:
    """Return all incidents, in the order of the diagnosis: severe first, then by onset.

    The first fault is what the top of the page is about: here it has its evidence and its other
    causes, and nothing that was said there. The others are folded.
    """
    proofs = _proofs(diagnosis)
    once = Top.of(diagnosis).told
    faults = loud(diagnosis)
    cards: list[Markup] = []
    notes: list[Markup] = []
    for index, incident in enumerate(diagnosis.incidents, 1):
        if not incident.findings:
            continue
        first = bool(faults) and incident is faults[0]
        card = _card(index, incident, proofs, once, diagnosis, first=first)
        (notes if faults and incident.severity == "info" else cards).append(card)
    cards += _noted(notes)
    title = "Incident" if faults else "Note"
    note = "Worst first. Findings with one root cause are one incident."
    quiet = "Not a fault, but worth knowing."
    title = title if len(diagnosis.incidents) == 1 else f"{title}s"
    return section("incidents", title, sub(note if faults else quiet), cards)


def _proofs(diagnosis: Diagnosis) -> dict[tuple[int, int], Markup]:
    """Return the chart or log excerpt of each finding, by number of incident and finding.

    First movers come first: when there is no more room, it is followers that have no chart. That
    of the finding which the page is about stands beside the verdict alone.
    """
    shown = lead_of(diagnosis)
    places = [
        (index, place, finding)
        for index, incident in enumerate(diagnosis.incidents, 1)
        for place, finding in enumerate(incident.findings)
    ]
    made: dict[tuple[int, int], Markup] = {}
    size = 0
    for index, place, finding in sorted(places, key=lambda one: one[1] > 0):
        wanted = size < ROOM and finding is not shown
        drawn = proof_of(finding, diagnosis, f"f{index}-{place}") if wanted else NOTHING
        made[index, place] = drawn if size + len(drawn) <= ROOM or not size else NOTHING
        size += len(made[index, place])
    return made


def _card(
    index: int,
    incident: Incident,
    proofs: Mapping[tuple[int, int], Markup],
    once: Once,
    diagnosis: Diagnosis,
    *,
    first: bool,
) -> Markup:
    lead = incident.findings[0]
    body = _finding(lead, proofs[index, 0], once)
    follow: list[Markup] = []
    notes: list[Markup] = []
    for place, finding in enumerate(incident.findings):
        if not place:
            continue
        told = _folded(finding, diagnosis, _finding(finding, proofs[index, place], once), once)
        (notes if finding.severity == "info" else follow).append(told)
    follow += _noted(notes)
    rest = join(el("h3", "Followed from it"), follow) if follow else NOTHING
    if not first:
        return el(
            "div",
            _folded(lead, diagnosis, join(body, rest), once),
            id=f"incident-{index}",
        )
    head = el(
        "div",
        tag(incident.severity),
        " ",
        el("span", words([span(lead)]), " · ", rule_link(lead.rule, diagnosis), class_="mut sm"),
        class_="hd",
    )
    return el("article", head, body, rest, class_="long", id=f"incident-{index}")


def _noted(notes: Sequence[Markup]) -> list[Markup]:
    """Return what is worth knowing and no fault: one as it is, more of them in one fold."""
    if len(notes) < 2:  # noqa: PLR2004 - one is as short as its fold
        return list(notes)
    return [folded(join(tag("info"), " ", "Worth knowing"), f"{len(notes)} notes", join(*notes))]


def rule_link(slug: str, diagnosis: Diagnosis) -> Markup:
    """Return a rule's name, with the address of its page where it is one of ours."""
    page = diagnosis.pages.get(slug)
    return el("a", code(slug), href=page, rel="noreferrer") if page else code(slug)


def _folded(finding: Finding, diagnosis: Diagnosis, body: Markup, once: Once) -> Markup:
    """Return a finding that the reader opens: severity and sentence, then how sure and why.

    Where the sentence stands in the verdict it goes by its title.
    """
    title = finding.heading or diagnosis.titles.get(finding.rule, "")
    name = cut(once.new(finding.title) or title or finding.title, TITLE)
    why = uncapitalised(once.new(finding.confidence.reason).rstrip("."))
    sure = f"Confidence: {sure_word(finding.confidence)}{', ' if why else ''}{why}."
    return folded(
        join(tag(finding.severity), " ", name),
        span(finding),
        join(el("p", rule_link(finding.rule, diagnosis), " · ", sure, class_="mut sm"), body),
    )


def _finding(finding: Finding, proof: Markup, once: Once) -> Markup:
    """Return what a finding says below its title, less what the page has said before."""
    seen = once.new(finding.seen)
    for item in finding.evidence:
        once.tell(item.value if isinstance(item.value, str) else "")
    table = el("div", evidence(finding.evidence)) if finding.evidence else None
    causes = join(_causes(finding.causes, once), _ruled_out(finding.ruled_out, once))
    fixes = _fixes(finding.fixes, once)
    shown = [el("p", seen) if seen else None]
    if not proof:  # the evidence stands beside the causes
        return join(*shown, _columns(table, causes), fixes)
    return join(*shown, _columns(table, proof, "ev"), _columns(causes, fixes))


def _columns(left: Markup | None, right: Markup | None, kind: str = "") -> Markup:
    """Set two parts side by side; one alone is as wide as it likes."""
    there = [el("div", part) for part in (left, right) if part]
    return (
        el("div", there, class_=f"{'two' if len(there) > 1 else 'one'} {kind}".strip())
        if (there)
        else NOTHING
    )


def _causes(causes: Sequence[Cause], once: Once) -> Markup:
    shown = [made for cause in causes[:CAUSES] if (made := _cause(cause, once))]
    if not shown:
        return NOTHING
    more = len(shown) - 1
    rest = folded("Other causes", str(more), el("ol", shown[1:], class_="causes"), class_="plain")
    name = "Likely causes" if more else "Likely cause"
    head = join(el("h3", name), el("ol", shown[0], class_="causes"))
    return join(head, rest) if more else head


def _cause(cause: Cause, once: Once) -> Markup:
    """Return a cause with what was not said of it yet; nothing where all was."""
    if cause.kind == UNKNOWN:  # what is not known is said of the first fault, at the top
        return NOTHING
    known = not once.first(f"cause {cause.kind or cause.what}")
    told = (
        ("for", once.new(cause.evidence_for)),
        ("against", once.new(cause.against)),
        ("check", cause.experiment if once.first(cause.experiment) else ""),
    )
    rows = [el("li", el("span", name), " ", words) for name, words in told if words]
    if known and not rows:
        return NOTHING
    rank = el("span", f"· {cause.rank}", class_="cost")
    return el("li", el("h4", cause.what, " ", rank), el("ul", rows, class_="fa") if rows else None)


def _ruled_out(items: Sequence[RuledOut], once: Once) -> Markup:
    items = [item for item in items if once.first(f"{item.what}: {item.why}")]
    if not items:
        return NOTHING
    still = [item for item in items if item.why.startswith(UNTESTED)]
    out = [item for item in items if item not in still]
    return join(
        folded("Ruled out", str(len(out)), bullets(map(_excluded, out)), class_="plain")
        if out
        else None,
        join(el("h3", "Still open"), bullets(f"{item.what}: {item.why}" for item in still))
        if still
        else None,
    )


def _excluded(item: RuledOut) -> str:
    return f"{item.what}: {item.why}"


def _fixes(fixes: Sequence[Fix], once: Once) -> Markup:
    """Return the fixes that stand nowhere above, folded: what to do first is at the top."""
    shown = [_fix(fix, once) for fix in fixes if not once.sets(fix) and once.first(fix.what)]
    if not shown:
        return NOTHING
    extra = f"{len(shown)}, fastest first"
    return folded("More fixes", extra, el("ol", shown, class_="fixes"), class_="plain")


def _fix(fix: Fix, once: Once) -> Markup:
    change = None
    if fix.setting:
        name = fix.name or fix.setting
        now = setting(fix.new)
        known = [code(f"{name}: {setting(fix.old)}"), " to ", code(now)]
        change = join(*(known if fix.old is not None else [code(f"{name}: {now}")]), ".")
        if fix.where:
            change = join(change, " (", fix.where, ")")
    reason = once.new(fix.why)
    why = join(" " if change else "", sentence(reason)) if reason else None
    cost = el("span", f"· {fix.cost}", class_="cost")
    return el("li", el("strong", fix.what, " ", cost), el("p", change, why, class_="sm"))
