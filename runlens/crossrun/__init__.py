"""Rules over many runs, by hand: to add one, write its file and add it here."""

from collections.abc import Iterable
from typing import Any

from runlens.crossrun import (
    cluster,
    duplicate,
    fleet,
    never_evaluated,
    outlier,
    regression,
    seed_variance,
    stale,
    wasted,
)
from runlens.crossrun.rule import CrossFinding, CrossRule, Rows

__all__ = ["CROSS_RULES", "CrossFinding", "CrossRule", "findings"]

CROSS_RULES: tuple[CrossRule[Any], ...] = (
    cluster.RULE,
    fleet.RULE,
    regression.RULE,
    outlier.RULE,
    stale.RULE,
    wasted.RULE,
    seed_variance.RULE,
    duplicate.RULE,
    never_evaluated.RULE,
)


def findings(
    rows: Rows, now: float, rules: Iterable[CrossRule[Any]] = CROSS_RULES
) -> tuple[CrossFinding, ...]:
    """Ask rules over runs.

    Args:
        rows: all runs of the sources.
        now: the time of the audit, in seconds since 1970.
        rules: those to ask.

    """
    return tuple(found for rule in rules for found in rule.check(rows, rule.limits, now))
