"""`runlens mcp`: answers an assistant that speaks the Model Context Protocol."""

import click

from runlens.cli import ExitCode, completion


@click.command("mcp")
@click.argument("folders", metavar="[FOLDER]...", nargs=-1, shell_complete=completion.folders)
@click.option("--config", metavar="FILE", help="Settings (default: the nearest runlens.toml).")
@click.pass_context
def command(ctx: click.Context, folders: tuple[str, ...], config: str | None) -> None:
    """Serve diagnoses to an assistant (Model Context Protocol).

    It speaks over stdin and stdout. The assistant gets seven tools that only read: list_runs,
    diagnose, next_experiment, compare, curve (a slice of one metric), list_rules and rule_page.
    Answers are at most 1.5 kB unless detail="full" is asked for. They see runs below FOLDER
    (default: the current one) and nothing else: a path or a link that leads out is refused, and
    so is the network.

    It is started by the assistant, not by hand. Its configuration names the command:

    \b
    {"mcpServers":
      {"runlens": {"command": "runlens", "args": ["mcp", "/data/runs"]}}}

    Needs the extra: pip install 'runlens-training[mcp]'
    """
    from runlens import errors
    from runlens.cli.output import nearest_settings
    from runlens.integrations.mcp import server

    try:
        below = folders or (".",)
        made = server(below, nearest_settings(config, below))
    except errors.NothingReadable as error:
        click.echo(f"runlens: {error}", err=True)
        ctx.exit(ExitCode.UNREADABLE)
    except errors.RunLensError as error:
        raise click.UsageError(str(error)) from None
    made.run()
