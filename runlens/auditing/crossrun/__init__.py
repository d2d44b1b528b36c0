"""Rules over many runs, by hand: to add one, write its file and add it here."""

from collections.abc import Mapping
from typing import Any

from runlens.auditing.crossrun import (
    cluster,
    duplicate,
    never_evaluated,
    outlier,
    regression,
    seed_variance,
    stale,
    wasted,
)
from runlens.auditing.crossrun.rule import CrossFinding, CrossRule, Rows, apply

__all__ = ["CROSS_RULES", "CrossFinding", "CrossRule", "findings"]

CROSS_RULES: tuple[CrossRule[Any], ...] = (
    cluster.RULE,
    regression.RULE,
    outlier.RULE,
    stale.RULE,
    wasted.RULE,
    seed_variance.RULE,
    duplicate.RULE,
    never_evaluated.RULE,
)


def findings(
    rows: Rows, now: float, limits: Mapping[str, Mapping[str, object]] | None = None
) -> tuple[CrossFinding, ...]:
    """Ask all rules over runs.

    Args:
        rows: all runs of the sources.
        now: the time of the audit, in seconds since 1970.
        limits: limits as set, by rule; the others stay as they come.

    """
    own = limits or {}
    return tuple(
        found for rule in CROSS_RULES for found in apply(rule, own.get(rule.slug, {}), rows, now)
    )
