"""`runlens export`: normalized histories as one table."""

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from runlens.cli import ExitCode, completion

FORMATS = ("csv", "json", "jsonl", "parquet")
_FORMULA = re.compile(r"^(?=[=+\-@\t\r])")  # OWASP's list of how a formula begins
STDOUT = "-"

if TYPE_CHECKING:
    from runlens.report.table import Named
    from runlens.run import Run


@click.command("export")
@click.argument(
    "places", metavar="RUN...", nargs=-1, required=True, shell_complete=completion.places
)
@click.option("-o", "--output", metavar="FILE", default=STDOUT, help="Default: CSV to stdout.")
@click.option(
    "--format", "form", type=click.Choice(FORMATS), help="Default: the extension of FILE."
)
@click.option("--wide", is_flag=True, help="One row per step, one column per metric.")
@click.option("--metric", "metrics", metavar="NAME", multiple=True, help="Only these.")
@click.option("--run", "name", metavar="NAME", help="One of several runs.")
@click.option("--config", metavar="FILE", help="Settings (default: the nearest runlens.toml).")
@click.option("--raw", is_flag=True, help="CSV: names as logged, even if they begin a formula.")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    places: tuple[str, ...],
    output: str,
    form: str | None,
    metrics: tuple[str, ...],
    name: str | None,
    config: str | None,
    *,
    wide: bool,
    raw: bool,
) -> None:
    """Write the history of runs as one table.

    \b
    runlens export runs/my-run -o history.csv
    runlens export runs/my-run --wide | head
    runlens export runs/sweep --metric eval_loss -o sweep.parquet
    runlens export runs/a runs/b --format jsonl

    RUN is a file, a directory, wandb:ENTITY/PROJECT, or - for a log that comes through a pipe; of
    several runs the first column names the run. One row an observation: metric, step, value, epoch,
    time (seconds since 1970), segment, source. With --wide one row a step: step, and a column a
    metric. Parquet needs the extra `runlens-training[parquet]`.

    A spreadsheet takes a cell that begins with = + - @, a tab or a carriage return for a formula.
    In CSV such a name gets a ' before it; --raw leaves it as it was logged.
    """
    from runlens import errors
    from runlens.report.table import write
    from runlens.written import replaced

    form = _form(output, form)
    try:
        chosen = _chosen(places, config, name, metrics)
    except errors.NothingReadable as error:
        click.echo(f"runlens: {error}", err=True)
        ctx.exit(ExitCode.UNREADABLE)
    except errors.RunLensError as error:
        raise click.UsageError(str(error)) from None
    named = _named(chosen, guard=form == "csv" and not raw)
    try:
        if output == STDOUT:
            write(named, form, sys.stdout.buffer, wide=wide)
        else:
            replaced(Path(output), lambda path: _into(path, named, form, wide=wide))
    except OSError as error:
        why = f"cannot write {output}: {error.strerror or error}"
        raise click.UsageError(errors.one_line(why)) from None
    except errors.MissingPackage as error:
        raise click.UsageError(str(error)) from None
    told = {metric for one in chosen for metric in one.history.metrics}
    rows = sum(len(one.history) for one in chosen)
    of = "" if len(chosen) == 1 else f" of {len(chosen)} runs"
    if output != STDOUT:
        words = f"{rows:,} observations of {len(told)} metrics{of}: {output}"
        click.echo(errors.one_line(words))


def _form(output: str, form: str | None) -> str:
    """Return the format: what is asked for, else the ending of the file; CSV to stdout."""
    made = form or ("csv" if output == STDOUT else Path(output).suffix.lower().removeprefix("."))
    if made not in FORMATS:
        known = ", ".join(f".{one}" for one in FORMATS)
        raise click.UsageError(f"{output}: unknown extension; use one of {known}, or --format")
    if made == "parquet" and output == STDOUT:
        raise click.UsageError("Parquet goes into a file; name it with -o")
    return made


def _into(path: Path, named: "list[Named]", form: str, *, wide: bool) -> None:
    from runlens.report.table import write

    with path.open("wb") as file:
        write(named, form, file, wide=wide)


def _chosen(
    places: tuple[str, ...], config: str | None, name: str | None, metrics: tuple[str, ...]
) -> "list[Run]":
    """Read the runs, of those metrics alone that are asked for."""
    from dataclasses import replace

    from runlens import errors
    from runlens.cli.output import nearest_settings
    from runlens.comparing.places import repeats

    runs = repeats(places, nearest_settings(config, places))
    names = [run.name for run in runs]
    if name and name not in names:
        raise errors.NoSuchRun(name, names)
    runs = [run for run in runs if not name or run.name == name]
    if not metrics:
        return runs
    logged = {metric for run in runs for metric in run.history.metrics}
    for metric in metrics:
        if metric not in logged:
            raise errors.BadSettings(
                f"no run logs {metric!r}; there are {', '.join(sorted(logged))}"
            )
    wanted = {metric: metric for metric in metrics}
    return [replace(run, history=run.history.renamed(wanted)) for run in runs]


def _named(runs: "list[Run]", *, guard: bool) -> "list[Named]":
    from runlens.report.table import Named

    shown = _distinct(tuple(run.name for run in runs), guard=guard)
    return [
        Named(
            name,
            run.history,
            _distinct(run.history.metrics, guard=guard),
            _distinct(run.history.sources, guard=guard),
        )
        for name, run in zip(shown, runs, strict=True)
    ]


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
