"""What a shell offers behind TAB, beyond the commands and options that click knows.

The script of each shell comes from click: ``_RUNLENS_COMPLETE=bash_source runlens``.
"""

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def places(ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Let the shell offer files and folders."""
    from click.shell_completion import CompletionItem

    del ctx, param
    return [CompletionItem(incomplete, type="file")]


def folders(ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Let the shell offer folders."""
    from click.shell_completion import CompletionItem

    del ctx, param
    return [CompletionItem(incomplete, type="dir")]


def slugs(ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Offer the rules, each with its title where the shell shows one."""
    from click.shell_completion import CompletionItem

    from runlens.crossrun import CROSS_RULES
    from runlens.rules import LISTED

    del ctx, param
    titles = {rule.slug: rule.title for rule in LISTED}
    titles |= {rule.slug: rule.title for rule in CROSS_RULES}
    return [
        CompletionItem(slug, help=title)
        for slug, title in titles.items()
        if slug.startswith(incomplete)
    ]
