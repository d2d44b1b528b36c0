"""`runlens sources`: what can be read, and what is found at a place."""

import json
import sys
from typing import TYPE_CHECKING

import click

from runlens.cli import ExitCode, completion

if TYPE_CHECKING:
    from runlens.sources.libraries import Library

BUILT_IN = "built in"
PARQUET = "pyarrow"
HEADINGS = ("source", "looks for", "written by", "library")


@click.command("sources")
@click.argument("place", required=False, shell_complete=completion.places)
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", help="This format."
)
@click.option("--json", "form", flag_value="json", help="The same as --format json.")
@click.option("--no-color", is_flag=True, help="Plain text.")
@click.pass_context
def command(ctx: click.Context, place: str | None, form: str, *, no_color: bool) -> None:
    """List what RunLens can read; with PLACE, what of it lies there.

    \b
    runlens sources                  every format, who writes it, what it needs
    runlens sources runs/my-run      which files are read there, by which reader
    runlens sources --format json    the same for programs

    Exit code 3 where nothing at PLACE can be read; it is said what was looked for.
    """
    if place is not None:
        _list_place(ctx, place, form)
    elif form == "json":
        click.echo(json.dumps(_known(), indent=2))
    else:
        _list_known(no_color=no_color)


def _list_place(ctx: click.Context, place: str, form: str) -> None:
    from runlens import errors

    problem, found = "", []
    try:
        found = _found(place)
    except errors.NothingReadable as error:
        problem = str(error)
    if form == "json":
        listed = [{"source": kind, "path": path} for kind, path in found]
        click.echo(json.dumps({"place": place, "found": listed, "problem": problem}, indent=2))
    width = max((len(kind) for kind, _ in found), default=0) + 2
    for kind, path in found if form == "text" else ():
        click.echo(f"{kind:<{width}}{errors.one_line(path)}")
    if problem:
        click.echo(f"runlens: {problem}", err=True)
        ctx.exit(ExitCode.UNREADABLE)


def _found(place: str) -> list[tuple[str, str]]:
    """Return the kind and the place of each source."""
    from runlens import sources
    from runlens.sources.addresses import is_on_server

    if is_on_server(place):
        from runlens.sources import wandb_api

        return [(sources.kind_of(wandb_api), run.place) for run in wandb_api.listed(place)]
    if sources.case.is_case(place):
        return [(sources.kind_of(sources.case), place)]
    return [(sources.kind_of(reader), str(path)) for reader, path in sources.find(place)]


def _known() -> dict[str, object]:
    """Return all that is known about sources and exports, for machines."""
    from runlens.sources import described, kind_of
    from runlens.sources.libraries import library, needed

    sources = [
        {
            "source": kind_of(reader),
            "looks_for": reader.LOOKS_FOR,
            "written_by": reader.FRAMEWORK,
            "libraries": [_as_json(one) for one in needed(reader)],
        }
        for reader in described()
    ]
    plain: list[dict[str, object]] = [
        {"format": name, "libraries": []} for name in ("csv", "json", "jsonl")
    ]
    parquet = {"format": "parquet", "libraries": [_as_json(library(PARQUET))]}
    return {"sources": sources, "exports": [*plain, parquet]}


def _from(reader: object) -> str:
    """Return the package that a reader came with."""
    return str(getattr(reader, "origin", BUILT_IN))


def _as_json(known: "Library") -> dict[str, object]:
    there = known.version is not None
    install = None if there else known.install
    return {"name": known.name, "there": there, "version": known.version, "install": install}


def _list_known(*, no_color: bool) -> None:
    from rich.console import Console
    from rich.table import Table

    from runlens.cli.output import text_options
    from runlens.sources import added, described, kind_of
    from runlens.sources.libraries import library, needed

    options = text_options(verbose=False, no_color=no_color)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for heading in HEADINGS:
        table.add_column(heading, overflow="fold", no_wrap=heading == HEADINGS[0])
    for reader in described():
        there = "; ".join(one.words for one in needed(reader)) or _from(reader)
        table.add_row(kind_of(reader), reader.LOOKS_FOR, reader.FRAMEWORK, there)
    for problem in added.problems():
        click.echo(f"runlens: {problem.where}: {problem.text}", err=True)
    console = Console(
        file=sys.stdout,
        width=options.width,
        color_system="standard" if options.color else None,
        force_terminal=options.color,
        markup=False,
        highlight=False,
    )
    console.print(table)
    console.print(f"\nexport: CSV, JSON, JSON Lines: {BUILT_IN}; Parquet: {library(PARQUET).words}")
