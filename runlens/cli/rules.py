"""`runlens rules`: the list of rules, or one rule's page."""

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from runlens.crossrun.rule import CrossRule
    from runlens.rules.rule import Rule


@click.command("rules")
@click.argument("slug", required=False)
def command(slug: str | None) -> None:
    """List the rules, or show the page of one with its limits."""
    from runlens.crossrun import CROSS_RULES
    from runlens.errors import nearest
    from runlens.rules import RULES

    rules: list[Rule[Any] | CrossRule[Any]] = [*RULES, *CROSS_RULES]
    if slug is None:
        for rule in rules:
            trial = "  (preview)" if rule.preview else ""
            click.echo(f"{rule.slug:<28} {rule.severity:<9} {rule.title}{trial}")
        return
    known = {rule.slug: rule for rule in rules}
    if slug not in known:
        raise click.UsageError(f"no rule {slug!r}{nearest(slug, list(known))}")
    rule = known[slug]
    several = ", over several runs (runlens audit)" if rule.family == "XRN" else ""
    tasks = (", ".join(sorted(rule.tasks)) or "every task") + several
    needs = ", ".join(need.replace("|", " or ") for need in rule.needs) or "no metric"
    click.echo(f"{rule.slug}: {rule.title} ({rule.family}, usually {rule.severity})\n")
    click.echo(rule.page.rstrip() + "\n")
    click.echo(f"Holds for: {tasks}\nNeeds: {needs}\nLimits in force:")
    for name, value in vars(rule.limits).items():
        click.echo(f"    {name} = {value!r}")
