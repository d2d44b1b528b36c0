"""`runlens export`: the normalized frame as a file."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from runlens.cli import ExitCode, completion

if TYPE_CHECKING:
    import pandas as pd

FORMATS = (".csv", ".json", ".jsonl", ".parquet")


@click.command("export")
@click.argument("place", metavar="RUN", shell_complete=completion.places)
@click.option("-o", "--output", metavar="FILE", required=True, help="CSV, JSON or Parquet.")
@click.option("--run", "name", metavar="NAME", help="One of several runs.")
@click.option("--config", metavar="FILE", help="Settings (default: the nearest runlens.toml).")
@click.pass_context
def command(
    ctx: click.Context, place: str, output: str, name: str | None, config: str | None
) -> None:
    """Write the history of RUN as a table: one row an observation.

    \b
    runlens export runs/my-run -o history.csv
    runlens export runs/my-run -o history.parquet
    runlens export runs/sweep --run run-3 -o run-3.jsonl

    RUN is a file, a directory, or - for a log that comes through a pipe. Columns: metric, step,
    value, epoch, time (seconds since 1970), segment, source. The ending of FILE decides
    the format; Parquet needs the extra `runlens-training[parquet]`.
    """
    from runlens import errors
    from runlens.cli.output import nearest_settings
    from runlens.sources import read_all

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
        if ending == ".csv":
            frame.to_csv(output, index=False)
        elif ending == ".parquet":
            frame.to_parquet(output, index=False)
        else:
            _spelled_out(frame).to_json(
                output, orient="records", lines=ending == ".jsonl", double_precision=15
            )
    except ImportError:
        raise click.UsageError(
            "Parquet needs pyarrow; pip install 'runlens-training[parquet]'"
        ) from None
    except OSError as error:
        raise click.UsageError(f"cannot write {output}: {error.strerror or error}") from None
    click.echo(f"{len(frame):,} observations of {frame['metric'].nunique()} metrics: {output}")


def _writable(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return the frame with halves of surrogate pairs, which UTF-8 cannot write, as escapes."""
    names = {
        column: frame[column].cat.rename_categories(
            lambda name: str(name).encode("utf-8", "backslashreplace").decode()
        )
        for column in ("metric", "source")
    }
    return frame.assign(**names)


def _spelled_out(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return the frame with the values that JSON lacks as "NaN", "Infinity", "-Infinity"."""
    import numpy as np

    from runlens.diagnosis import spell_out

    if np.isfinite(frame["value"]).all():
        return frame
    return frame.assign(value=frame["value"].astype(object).map(spell_out))
