"""The reference of the command line, from its own help."""

import inspect
import re

import click

from docs.generate.markup import cell, code, escaped, table
from runlens.cli import COMMANDS, main

_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")


def page() -> str:
    """Return the page: the program, then each command."""
    root = click.Context(main, info_name="runlens")
    parts = [
        "# Command line\n",
        "What `runlens COMMAND --help` says. Results go to stdout, everything else to stderr.\n",
        _help(main),
    ]
    for name in COMMANDS:
        command = main.get_command(root, name)
        if command is None:
            continue
        context = click.Context(command, info_name=name, parent=root)
        usage = context.get_usage().removeprefix("Usage: ")
        parts += [f"## runlens {name}\n", code(usage), _help(command), _options(context)]
    return "\n".join(parts)


def _help(command: click.Command) -> str:
    """Return the help text; paragraphs that click leaves as they are become blocks."""
    made = []
    for part in inspect.cleandoc(command.help or "").split("\n\n"):
        kept = part.removeprefix("\b").removeprefix("\\b").strip("\n")
        made.append(_OPTION.sub(r"`\g<0>`", escaped(part)) if kept == part else code(kept))
    return "\n\n".join(one.rstrip() for one in made) + "\n"


def _options(context: click.Context) -> str:
    rows = []
    for option in context.command.params:
        if not isinstance(option, click.Option):
            continue
        names = " ".join(cell(name) for name in option.opts)
        rows.append((names, _takes(option, context), escaped(option.help or "")))
    return table(("option", "takes", "meaning"), rows) if rows else ""


def _takes(option: click.Option, context: click.Context) -> str:
    if option.is_flag:
        return ""
    if isinstance(option.type, click.Choice):
        return ", ".join(cell(str(one)) for one in option.type.choices)
    return cell(option.make_metavar(context))
