"""Rules over many runs, by hand: to add one, write its file and its slug here.

A slug is all that the settings of a single run need of them, so their files are imported late.
"""

from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runlens.crossrun.rule import CrossFinding, CrossRule, Rows

    CROSS_RULES: tuple[CrossRule[Any], ...]

SLUGS = (
    "cluster",
    "fleet",
    "regression",
    "outlier",
    "stale",
    "wasted",
    "seed-variance",
    "duplicate",
    "never-evaluated",
)


def __getattr__(name: str) -> object:
    """Import all rules when `CROSS_RULES` is first asked for."""
    if name != "CROSS_RULES":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    modules = (import_module(f"{__name__}.{slug.replace('-', '_')}") for slug in SLUGS)
    globals()[name] = rules = tuple(module.RULE for module in modules)
    return rules


def findings(
    rows: "Rows", now: float, rules: "Iterable[CrossRule[Any]] | None" = None
) -> "tuple[CrossFinding, ...]":
    """Ask rules over runs.

    Args:
        rows: all runs of the sources.
        now: the time of the audit, in seconds since 1970.
        rules: those to ask; all where none are given.

    """
    if rules is None:
        from runlens.crossrun import CROSS_RULES

        rules = CROSS_RULES
    return tuple(found for rule in rules for found in rule.check(rows, rule.limits, now))
