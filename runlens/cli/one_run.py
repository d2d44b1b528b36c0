"""One run and its diagnosis, for commands that look at a single one."""

from typing import TYPE_CHECKING

import click

from runlens.cli import ExitCode

if TYPE_CHECKING:
    from runlens.diagnosis import Diagnosis
    from runlens.run import Run


def judged(
    ctx: click.Context, place: str, name: str | None, config: str | None
) -> "tuple[Run, Diagnosis]":
    """Read and diagnose the one run at a place; ends with a line where that is not one run."""
    from runlens import errors
    from runlens.cli.output import nearest_settings
    from runlens.engine import diagnose
    from runlens.sources import judged_by_default, read_all

    settings = nearest_settings(config, [place])
    try:
        runs = read_all(place, columns=settings.columns)
    except errors.NothingReadable as error:
        click.echo(f"runlens: {error}", err=True)
        ctx.exit(ExitCode.UNREADABLE)
    except errors.RunLensError as error:
        raise click.UsageError(str(error)) from None
    runs = judged_by_default(runs) if name is None else runs
    names = [run.name for run in runs]
    if name is None and len(runs) > 1:
        raise click.UsageError(str(errors.SeveralRuns(place, names)))
    if name is not None and name not in names:
        raise click.UsageError(str(errors.NoSuchRun(name, names)))
    run = runs[names.index(name) if name is not None else 0]
    return run, diagnose(run, settings=settings)
