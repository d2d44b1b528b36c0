"""The difference of two diagnoses: what B no longer has, what it has besides, what both have."""

from collections.abc import Sequence

from runlens.comparison import Both, DiagnosisDiff, Unjudged
from runlens.diagnosis import MERGED, Diagnosis, Finding, Outcome

COULD_NOT_RUN = "the check could not run"


def difference(a: Diagnosis, b: Diagnosis) -> DiagnosisDiff:
    """Return the findings of two runs by who has them.

    A finding is the same where rule and metric are, or the rule alone where a run tells it by
    another metric. One that a run lacks counts as fixed, or as new, only where its rule could
    judge the other run as well.
    """
    both, gone, come = _matched(a.findings, b.findings)
    unjudged = [Unjudged(one, "A", why) for one in gone if (why := _unjudged(one, b))]
    unjudged += [Unjudged(one, "B", why) for one in come if (why := _unjudged(one, a))]
    return DiagnosisDiff(
        fixed=tuple(one for one in gone if not _unjudged(one, b)),
        new=tuple(one for one in come if not _unjudged(one, a)),
        both=tuple(both),
        unjudged=tuple(unjudged),
    )


def _matched(
    mine: Sequence[Finding], theirs: Sequence[Finding]
) -> tuple[list[Both], list[Finding], list[Finding]]:
    """Return the findings of both runs, of A alone and of B alone."""
    gone, come, both = list(mine), list(theirs), []
    for same in (_rule_and_metric, _rule):
        for one in list(gone):
            other = next((found for found in come if same(found) == same(one)), None)
            if other:
                gone.remove(one)
                come.remove(other)
                both.append(Both(one, other))
    return both, gone, come


def _rule_and_metric(finding: Finding) -> tuple[str, str]:
    return finding.rule, finding.metric


def _rule(finding: Finding) -> str:
    return finding.rule


def _unjudged(finding: Finding, other: Diagnosis) -> str:
    """Return why the other run says nothing of a finding's rule; empty where it does."""
    outcome = other.outcomes.get(finding.rule, Outcome("unmet", COULD_NOT_RUN))
    if outcome.status in {"unmet", "error"}:
        return outcome.reason or COULD_NOT_RUN
    return outcome.reason if outcome.reason.startswith(MERGED) else ""
