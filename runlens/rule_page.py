"""The page of one rule as text: what it looks for, when, and the limits in force."""

from typing import Any

from runlens.crossrun.rule import CrossRule
from runlens.rules.rule import Rule, values

OVER_RUNS = "XRN"  # the family of rules over several runs


def rule_page(rule: Rule[Any] | CrossRule[Any]) -> str:
    """Return heading, documentation page, tasks, needs and limits of a rule."""
    several = ", over several runs (runlens audit)" if rule.family == OVER_RUNS else ""
    tasks = (", ".join(sorted(rule.tasks)) or "every task") + several
    needs = ", ".join(need.replace("|", " or ") for need in rule.needs) or "no metric"
    lines = [
        f"{rule.slug}: {rule.title} ({rule.family}, usually {rule.severity})",
        "",
        rule.page.rstrip(),
        "",
        f"Holds for: {tasks}",
        f"Needs: {needs}",
        "Limits in force:",
        *(f"    {name} = {value!r}" for name, value in values(rule.limits).items()),
    ]
    return "\n".join(lines) + "\n"
