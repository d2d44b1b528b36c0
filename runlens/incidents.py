"""From findings to incidents: one accident is told once, its gravest finding leads.

What leads to what, within which share of the run, and which readings of one curve are the same
stands on the rules (`runlens.rules.relations`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from runlens.cause import RANKS
from runlens.diagnosis import (
    MERGED,
    OTHER_TASKS,
    SEVERITIES,
    UNLOGGED,
    UNTESTED,
    Evidence,
    Finding,
    Incident,
    Outcome,
    RuledOut,
    SettingRow,
)
from runlens.rules import related
from runlens.rules.relations import (
    ANY,
    COVERS,
    DENIED_BY,
    HOLDS_BESIDE,
    NAMED_BY,
    SOON,
    STATES,
)
from runlens.run import Run, State

MOST_SETTINGS = 1_000
# notes on a curve that a fault of it explains
EXPLAINED: Mapping[str, tuple[str, ...]] = {
    "grad-explosion": ("grad-spike", "not-learning"),
    "hidden-nan": ("not-learning",),
    "nan-loss": ("not-learning",),
}
EVEN = 0.5  # confidence below which a finding is no emergency


def merged(findings: Sequence[Finding], covered: float) -> tuple[list[Finding], dict[str, str]]:
    """Drop the lesser of two readings of one curve; `covered` is the steps of the run.

    Returns the findings kept (a dropped one is now a line of evidence of its better reading)
    and, for each dropped rule, the reason.
    """
    by_rule = {finding.rule: finding for finding in findings}
    told: dict[str, Finding] = {}  # what is kept, with what was dropped as evidence
    dropped: dict[str, str] = {}
    pairs = [(one.rule, drop) for one in findings for drop in related(one.rule).absorbs]
    pairs += [
        (one.rule, drop)
        for one in findings
        for drop in EXPLAINED.get(one.rule, ())
        if one.severity != "info" and drop in by_rule and by_rule[drop].severity == "info"
    ]
    for keep, drop in pairs:
        if drop not in by_rule or keep in dropped:
            continue
        better, lesser = by_rule[keep], by_rule[drop]
        if SEVERITIES.index(better.severity) > SEVERITIES.index(lesser.severity):
            continue  # an info must not hide a warning
        if related(drop).brief and abs(better.begins - lesser.begins) > SOON * covered:
            continue  # another place of the same curve
        line = Evidence("Also seen", lesser.title, where=lesser.metric)
        by_rule[keep] = told[keep] = replace(better, evidence=(*better.evidence, line))
        dropped[drop] = f"{MERGED}{keep}: {lesser.title}"
    return [told.get(f.rule, f) for f in findings if f.rule not in dropped], dropped


def louder(findings: Iterable[Finding]) -> list[Finding]:
    """Raise an info to a warning where a companion that it names was found in the same run.

    And no finding is critical of confidence below 0.5.
    """
    some = [
        replace(one, severity="warning")
        if one.severity == "critical" and one.confidence.value < EVEN
        else one
        for one in findings
    ]
    loud = {finding.rule for finding in some if finding.severity != "info"}
    return [
        replace(finding, severity="warning")
        if finding.severity == "info" and loud.intersection(finding.louder_with)
        else finding
        for finding in some
    ]


def incidents(findings: Iterable[Finding], covered: float, slack: float) -> tuple[Incident, ...]:
    """Join findings by the causal graph; severe incidents first, then by onset.

    `covered` is the number of steps of the run, `slack` one logging interval: an effect may be
    seen that much before its cause.
    """
    groups: list[list[Finding]] = []
    for finding in sorted(findings, key=_order):
        mine = [
            group
            for group in groups
            if any(_connected(other, finding, covered, slack) for other in group)
        ]
        if not mine:
            groups.append([finding])
            continue
        mine[0].append(finding)
        for other in mine[1:]:
            mine[0].extend(other)
            groups.remove(other)
    return tuple(sorted((_incident(group, covered, slack) for group in groups), key=gravity))


def causes_of(effect: Finding, all_: Iterable[Finding], covered: float, slack: float) -> list[str]:
    """Return the slugs of the findings that may have caused `effect`."""
    return [one.rule for one in all_ if one is not effect and _leads(one, effect, covered, slack)]


def _incident(group: list[Finding], covered: float, slack: float) -> Incident:
    """Put the gravest first: of those the earliest that none of them caused, early signs last."""
    gravest = min(SEVERITIES.index(one.severity) for one in group)
    grave = [one for one in group if SEVERITIES.index(one.severity) == gravest]
    free = [one for one in grave if not causes_of(one, grave, covered, slack)] or grave
    first = min(free, key=lambda one: (related(one.rule).early_sign, _order(one)))
    rest = sorted((one for one in group if one is not first), key=_order)
    return Incident((first, *rest), first.title)


def gravity(incident: Incident) -> tuple[int, bool, float]:
    """Return what incidents are sorted by: severity, early signs after faults, onset."""
    lead = incident.findings[0]
    return SEVERITIES.index(incident.severity), related(lead.rule).early_sign, lead.begins


def _connected(one: Finding, other: Finding, covered: float, slack: float) -> bool:
    return _leads(one, other, covered, slack) or _leads(other, one, covered, slack)


def _leads(cause: Finding, effect: Finding, covered: float, slack: float) -> bool:
    window = related(cause.rule).window(effect.rule)
    if window is None:
        return False
    if cause.onset.step is None:  # a setting is in force all the time
        return window == ANY
    delay, latest = effect.begins - cause.begins, max(window * covered, slack)
    early = related(effect.rule).early_sign and related(cause.rule).late
    return -(latest if early else slack) <= delay <= latest


def _order(finding: Finding) -> tuple[float, int, float, str]:
    return finding.begins, related(finding.rule).rank, -finding.confidence.value, finding.rule


def setting_rows(run: Run, made: Sequence[Incident]) -> tuple[SettingRow, ...]:
    """Return the settings of a run; those that a fix of a loud finding changes come first."""
    blamed: dict[str, str] = {}
    for finding in (one for incident in made for one in incident.findings):
        for fix in finding.fixes:
            if fix.setting and finding.severity != "info":
                blamed.setdefault(fix.setting, finding.rule)
    rows = [
        SettingRow(key, known.value, known.origin, blamed.get(key, ""))
        for key, known in sorted(run.config.items())
    ]
    return tuple(sorted(rows, key=lambda row: not row.blamed)[:MOST_SETTINGS])


def covered(
    outcomes: Mapping[str, Outcome], made: Sequence[Incident], state: State
) -> dict[str, str]:
    """Return the checks that found nothing, of a fault that the report tells by another name.

    Each with the rule that found it; an empty one where the end of the run tells it.
    """
    told: dict[str, str] = {}
    blamed: dict[str, str] = {}  # checks of settings that a cause names, whatever became of them
    findings = [one for incident in made for one in incident.findings]
    for one in findings:
        if one.rule == "stopped-early" and state.sure == "certain":
            told |= {slug: one.rule for cause in one.causes[:1] for slug in cause.answers}
            continue  # a clean end: no crash
        denied = {_bare(out.what).replace(" ", "-") for out in one.ruled_out}
        for slug in COVERS.get(one.rule, ()):
            if slug not in denied:
                told.setdefault(slug, one.rule)
        causes = one.causes if one.severity != "info" else ()
        likely = [cause for cause in causes if cause.rank in RANKS[:2]]
        named = (NAMED_BY.get(cause.kind, "") for cause in likely)
        for slug in filter(None, named):
            told.setdefault(slug, one.rule)
        blamed |= {slug: one.rule for cause in causes for slug in cause.answers}
    found = {one.rule for one in findings}
    told = _by_merged(outcomes) | told
    for slug, outcome in outcomes.items():
        for better in found.intersection(outcome.yields_to):
            told.setdefault(slug, better)
    for slug in STATES.get(state.settled, ()):
        told.setdefault(slug, "")
    kept = {
        slug: by
        for slug, by in told.items()
        if slug in outcomes and slug not in found and not _stands(outcomes[slug], slug, by)
        if slug != "stopped-early" or (state.done_share or 0.0) < 1
    }
    return kept | {slug: by for slug, by in blamed.items() if slug in outcomes.keys() - found}


def _by_merged(outcomes: Mapping[str, Outcome]) -> dict[str, str]:
    """Return what the findings that became a line of another would have covered themselves."""
    return {
        also: outcome.reason.removeprefix(MERGED).partition(":")[0]
        for slug, outcome in outcomes.items()
        if outcome.reason.startswith(MERGED)
        for also in COVERS.get(slug, ())
    }


def _stands(outcome: Outcome, slug: str, by: str) -> bool:
    """Whether a check is told as what became of it, whatever the rule `by` found."""
    if outcome.status == "passed":
        return slug in HOLDS_BESIDE[""] or slug in HOLDS_BESIDE.get(by, ())
    if slug in NAMED_BY.values() and outcome.reason.endswith("not recorded"):
        return True  # a cause may name a setting that nobody knows
    return outcome.status != "unmet" or outcome.reason.startswith((UNLOGGED, OTHER_TASKS))


def consistent(findings: Sequence[Finding], became: Mapping[str, str]) -> list[Finding]:
    """Return findings that agree with what `became` of the rules, by their titles.

    They rule out nothing that was found or that no check could judge, and call nothing unchecked
    that passed.
    """
    of = {
        status: {_bare(title) for title, one in became.items() if one == status}
        for status in ("found", "passed", "unmet")
    }
    denied = {word for one in findings for word in DENIED_BY.get(one.rule, ())}

    def agrees(out: RuledOut) -> bool:
        apart = of["passed" if out.why.startswith(UNTESTED) else "unmet"]
        return _bare(out.what) not in of["found"] | denied | apart

    return [replace(one, ruled_out=tuple(filter(agrees, one.ruled_out))) for one in findings]


def _bare(name: str) -> str:
    """Return a name without its article: ``An epoch staircase`` is ``Epoch staircase``."""
    return name.casefold().removeprefix("a ").removeprefix("an ")
