"""`runlens export`: the normalized frame as a file."""

import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from runlens.cli import ExitCode, completion

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

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
    frame = _writable(chosen[0].frame)
    try:
        replaced(Path(output), partial(_write, frame if raw else _guarded(frame, ending), ending))
    except ImportError:
        raise click.UsageError(
            "Parquet needs pyarrow; pip install 'runlens-training[parquet]'"
        ) from None
    except OSError as error:
        why = f"cannot write {output}: {error.strerror or error}"
        raise click.UsageError(errors.one_line(why)) from None
    told = f"{len(frame):,} observations of {frame['metric'].nunique()} metrics: {output}"
    click.echo(errors.one_line(told))


def _write(frame: "pd.DataFrame", ending: str, path: Path) -> None:
    if ending == ".csv":
        frame.to_csv(path, index=False)
    elif ending == ".parquet":
        frame.to_parquet(path, index=False)
    else:
        _spelled_out(frame).to_json(
            path, orient="records", lines=ending == ".jsonl", double_precision=15
        )


def _guarded(frame: "pd.DataFrame", ending: str) -> "pd.DataFrame":
    """Return the frame with a ' before each name that a spreadsheet would take for a formula."""
    return frame if ending != ".csv" else _renamed(frame, lambda name: _FORMULA.sub("'", name))


def _renamed(frame: "pd.DataFrame", rename: "Callable[[str], str]") -> "pd.DataFrame":
    """Return the frame with its names changed; two that become one are told apart by a ~."""
    columns = {}
    for column in ("metric", "source"):
        names: dict[str, None] = {}
        for name in map(rename, map(str, frame[column].cat.categories)):
            free = name
            while free in names:
                free += "~"
            names[free] = None
        columns[column] = frame[column].cat.rename_categories(list(names))
    return frame.assign(**columns)


def _writable(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return the frame with halves of surrogate pairs, which UTF-8 cannot write, as escapes."""
    return _renamed(frame, lambda name: name.encode("utf-8", "backslashreplace").decode())


def _spelled_out(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return the frame with the values that JSON lacks as "NaN", "Infinity", "-Infinity"."""
    import numpy as np

    from runlens.diagnosis import spell_out

    if np.isfinite(frame["value"]).all():
        return frame
    return frame.assign(value=frame["value"].astype(object).map(spell_out))
