"""`runlens watch`: a run that trains, judged again as it grows."""

from time import strftime
from typing import TYPE_CHECKING

import click

from runlens.cli import ExitCode, completion

if TYPE_CHECKING:
    from runlens.watching import Look

LEVELS = ("critical", "warning")


@click.command("watch")
@click.argument("place", metavar="[DIR]", default=".", shell_complete=completion.places)
@click.option("--until", type=click.Choice(LEVELS), default="critical", show_default=True,
              help="End with exit code 1 from this severity on.")  # fmt: skip
@click.option("--every", type=click.FloatRange(0.1), default=10.0, show_default=True,
              metavar="SECONDS", help="Least time between two readings.")  # fmt: skip
@click.option("--run", "names", metavar="NAME", multiple=True, help="One of several runs.")
@click.option("--config", metavar="FILE", help="Settings (default: the nearest runlens.toml).")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing before the end.")
@click.pass_context
def command(
    ctx: click.Context,
    place: str,
    until: str,
    every: float,
    names: tuple[str, ...],
    config: str | None,
    *,
    quiet: bool,
) -> None:
    """Judge a run again as it trains; end when it turns critical.

    \b
    runlens watch runs/my-run
    runlens watch runs/my-run && echo fine || kill %1
    runlens watch runs --run lora-3 --until warning --every 60

    A line for each verdict that changed. Exit code 1 when a run turns critical, with the last good
    checkpoint; 0 when all of them have ended without that. Between two looks nothing is read; it
    takes 1 % of a core at most, so a large run is looked at less often than --every asks for.
    """
    from runlens import errors
    from runlens.cli.output import nearest_settings
    from runlens.watching import looks

    try:
        settings = nearest_settings(config, [place])
    except errors.RunLensError as error:
        raise click.UsageError(str(error)) from None
    said: dict[str, str] = {}
    for seen in looks(place, settings, every):
        chosen = [one for one in seen if not names or one.run.name in names]
        if not quiet:
            _tell(chosen, said, place)
        worst = [one for one in chosen if _reached(one, until)]
        for one in worst:
            click.echo(_last_words(one))
        if worst:
            ctx.exit(ExitCode.REACHED)
        if chosen and all(one.over for one in chosen):
            click.echo(f"{len(chosen)} ended, nothing {until}")
            ctx.exit(ExitCode.OK)


def _reached(look: "Look", level: str) -> bool:
    from runlens.live import reached

    return reached(look.diagnosis, "critical" if level == "critical" else "warning")


def _tell(seen: "list[Look]", said: dict[str, str], place: str) -> None:
    """Write a line for each run whose verdict changed."""
    from runlens.errors import one_line

    if not seen and "" not in said:
        said[""] = ""
        click.echo(f"runlens: nothing to read in {place} yet", err=True)
    for one in seen:
        verdict = one.diagnosis.verdict.sentence
        if said.get(one.run.name) != verdict:
            said[one.run.name] = verdict
            line = f"{one.run.name}, step {one.run.last_step:,}: {one.diagnosis.health}. {verdict}"
            click.echo(one_line(f"{strftime('%H:%M:%S')}  {line}"), err=True)


def _last_words(look: "Look") -> str:
    from runlens.errors import one_line
    from runlens.live import from_where

    run, diagnosis = look
    line = f"{diagnosis.health.upper()} {run.name}: {diagnosis.verdict.sentence}"
    return one_line(line) + "\n" + one_line(from_where(run, diagnosis))
