"""`runlens sources`: what can be read, and what is found at a place."""

import click

from runlens.cli import ExitCode


@click.command("sources")
@click.argument("place", required=False)
@click.pass_context
def command(ctx: click.Context, place: str | None) -> None:
    """List what RunLens can read; with PLACE, what of it lies there."""
    from runlens import errors, sources

    if place is None:
        for reader in sources.READERS:
            click.echo(f"{reader.LOOKS_FOR}\n    written by: {reader.FRAMEWORK}")
        return
    try:
        found = sources.find(place)
    except errors.NothingReadable as error:
        click.echo(f"runlens: {error}", err=True)
        ctx.exit(ExitCode.UNREADABLE)
    for reader, path in found:
        click.echo(f"{sources.kind_of(reader):<14} {errors.one_line(str(path))}")
