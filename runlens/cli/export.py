"""`runlens export`: the normalized history as a file."""

import re
from functools import partial
from pathlib import Path

import click

from runlens.cli import ExitCode, completion

FORMATS = (".csv", ".json", ".jsonl", ".parquet")
_FORMULA = re.compile(r"^(?=[=+\-@\t\r])")  # OWASP's list of how a formula begins


@click.command("export")
@click.argument("place", metavar="RUN", shell_complete=completion.places)
@click.option("-o", "--output", metavar="FILE", required=True, help="CSV, JSON or Parquet.")
@click.option("--run", "name", metavar="NAME", help="One of several runs.")
@click.option("--config", metavar="FILE", help="Settings (default: the nearest runlens.toml).")
@click.option("--raw", is_flag=True, help="CSV: names as logged, even if they begin a formula.")
@click.pass_context
def command(
    ctx: click.Context, place: str, output: str, name: str | None, config: str | None, *, raw: bool
) -> None:
    """Write the history of RUN as a table: one row an observation.

    \b
    runlens export runs/my-run -o history.csv
    runlens export runs/my-run -o history.parquet
    runlens export runs/sweep --run run-3 -o run-3.jsonl

    RUN is a file, a directory, or - for a log that comes through a pipe. Columns: metric, step,
    value, epoch, time (seconds since 1970), segment, source. The ending of FILE decides
    the format; Parquet needs the extra `runlens-training[parquet]`.

    A spreadsheet takes a cell that begins with = + - @, a tab or a carriage return for a formula.
    In CSV such a name gets a ' before it; --raw leaves it as it was logged.
    """
    from runlens import errors
    from runlens.cli.output import nearest_settings
    from runlens.report.table import write
    from runlens.sources import read_all
    from runlens.written import replaced

    ending = Path(output).suffix.lower()
    if ending not in FORMATS:
        raise click.UsageError(f"{output}: unknown ending; use one of {', '.join(FORMATS)}")
    try:
        runs = read_all(place, columns=nearest_settings(config, [place]).columns)
    except errors.NothingReadable as error:
        click.echo(f"runlens: {error}", err=True)
        ctx.exit(ExitCode.UNREADABLE)
    except errors.RunLensError as error:
        raise click.UsageError(str(error)) from None
    names = [run.name for run in runs]
    if name and name not in names:
        raise click.UsageError(str(errors.NoSuchRun(name, names)))
    chosen = [run for run in runs if not name or run.name == name]
    if len(chosen) > 1:
        raise click.UsageError(f"{errors.SeveralRuns(place, names)} with --run NAME")
    history = chosen[0].history
    guard = ending == ".csv" and not raw
    metrics, sources = (_distinct(some, guard=guard) for some in (history.metrics, history.sources))
    try:
        replaced(Path(output), partial(write, history, metrics, sources))
    except OSError as error:
        why = f"cannot write {output}: {error.strerror or error}"
        raise click.UsageError(errors.one_line(why)) from None
    except errors.MissingPackage as error:
        raise click.UsageError(str(error)) from None
    told = f"{len(history):,} observations of {len(history.metrics)} metrics: {output}"
    click.echo(errors.one_line(told))


def _distinct(names: tuple[str, ...], *, guard: bool) -> list[str]:
    """Return names as they can be written; two that become one are told apart by a ~.

    Halves of surrogate pairs, which UTF-8 cannot write, become escapes. `guard`: a ' goes before
    each name that a spreadsheet would take for a formula.
    """
    free: dict[str, None] = {}
    for name in names:
        written = name.encode("utf-8", "backslashreplace").decode()
        written = _FORMULA.sub("'", written) if guard else written
        while written in free:
            written += "~"
        free[written] = None
    return list(free)
