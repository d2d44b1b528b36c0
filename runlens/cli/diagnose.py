"""`runlens diagnose`: read runs, judge them, report."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from runlens.cli import ExitCode, completion
from runlens.cli.formats import FORMATS, Format, rendered, takes_all

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from runlens.comparison import Leaderboard
    from runlens.diagnosis import Diagnosis
    from runlens.report.terminal import Options
    from runlens.run import Problem, Run
    from runlens.settings import Settings

LEVELS = ("critical", "warning", "info")
# Once that much was given back, the C library of Linux keeps what arrays of up to this size leave
# for the next one (mallopt(3), M_MMAP_THRESHOLD: 32 MiB at most); nothing is written to it.
ARRAYS = 2**25 - 2**16
HEALTHY = "healthy"
SUMMARY = "GITHUB_STEP_SUMMARY"  # the file that GitHub shows as a job's summary


@click.command("diagnose")
@click.argument("places", metavar="[RUN]...", nargs=-1, shell_complete=completion.places)
@click.option("--format", "form", type=Format(FORMATS), help="This alone.")
@click.option("-o", "--output", metavar="FILE", help="Where the page or the --format goes.")
@click.option("--no-html", is_flag=True, help="Write no page beside the text.")
@click.option("--static", is_flag=True, help="A page without script: no zoom, no readout.")
@click.option("--run", "names", metavar="NAME", multiple=True, help="One of several runs.")
@click.option("--all", "every", is_flag=True, help="Diagnose each of several runs in full.")
@click.option("--fail-on", type=click.Choice(LEVELS), help="Exit with 1 from this severity on.")
@click.option("--preview", is_flag=True, help="Ask rules that are still on trial too.")
@click.option("--config", metavar="FILE", help="Settings (default: the nearest runlens.toml).")
@click.option(
    "--column",
    "columns",
    metavar="NAME=COLUMN",
    multiple=True,
    help="What a column is: train_loss=xent.",
)
@click.option("--full", is_flag=True, help="JSON with curves, events, settings and log tail.")
@click.option("--share", metavar="CASE", help="Write the run's numbers alone into a file to show.")
@click.option("-v", "--verbose", is_flag=True, help="All evidence, causes, fixes and checks.")
@click.option("-q", "--quiet", is_flag=True, help="The verdict in one line.")
@click.option("--no-color", is_flag=True, help="No color (as NO_COLOR).")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    places: tuple[str, ...],
    form: str | None,
    output: str | None,
    names: tuple[str, ...],
    columns: tuple[str, ...],
    fail_on: str | None,
    config: str | None,
    share: str | None,
    **how: bool,
) -> None:
    """Say what went wrong in RUN, when, why, and what to change.

    RUN is a file or a directory that a training run left behind (default: here), - for a log that
    comes through a pipe, wandb:ENTITY/PROJECT/RUN, or the address of its page.

    \b
    runlens diagnose runs/my-run                text here, and a page
    runlens diagnose runs/my-run -v             all evidence, causes, checks
    runlens diagnose runs --all                 each of several runs in full
    runlens diagnose runs/my-run --format json  for programs
    runlens diagnose --fail-on critical         for CI: exit code 1 from there
    cat train.log | runlens diagnose -          a log through a pipe

    Without --format the diagnosis goes to stdout as text and to ./runlens-NAME.html as a page;
    nothing is ever written into the run. Several runs in one directory give an overview: choose
    with --run NAME or --all. Where the last training in a log has fewer than 4 points, the one
    before it is judged, and a line says so. With --format that format alone goes to stdout, or to
    the file of -o (html: ./runlens-NAME.html, -o - for stdout); json, markdown, github
    (annotations, and the job's summary), sarif and junit take all runs, and so do formats of
    installed packages.

    --share CASE writes a file to send with a question or a false alarm: curves, steps, task and
    which rules fired, settings of the training (numbers, switches); no names, paths, hosts, log
    lines, times of day. It is JSON, to be looked at before it is sent, and runlens diagnose CASE
    reads it and finds the same.
    """
    from dataclasses import replace

    from runlens import errors
    from runlens.cli.output import nearest_settings, runs_among, short_lived
    from runlens.settings import columns_of

    short_lived()
    places = tuple(runs_among(places))
    every = how["every"] or takes_all(form)
    bytes(ARRAYS)
    diagnosed: list[tuple[Diagnosis, str]] = []
    examined: list[Run] = []
    unasked: list[Run] = []
    try:
        settings = nearest_settings(config, places or (".",))
        said = columns_of(columns)
        settings = replace(settings, preview=settings.preview or how["preview"])
        for place in places or (".",):
            of = {**settings.columns, **said}
            runs, others = _chosen(place, names, of, every=how["every"])
            diagnosed += [
                (one, place) for one in _judged(runs, others, settings, alone=bool(share))
            ]
            examined += runs
            unasked += others
    except errors.NothingReadable as error:
        click.echo(f"runlens: {error}", err=True)
        if form and takes_all(form):
            from runlens.diagnosis import unreadable

            nothing = unreadable(place, [(place, str(error)), *error.problems])
            _for_machines([nothing], form, output, full=how["full"])
        ctx.exit(ExitCode.UNREADABLE)
    except errors.RunLensError as error:
        raise click.UsageError(str(error)) from None
    if share:
        from runlens.cli.share import write_case

        write_case(share, examined, [diagnosis for diagnosis, _ in diagnosed], settings)
    overview = _board(examined, [one for one, _ in diagnosed]) if len(diagnosed) > 1 else None
    if not share:
        diagnosed = _beside_siblings([*examined, *unasked], diagnosed)
    _report(diagnosed, form, output, how | {"every": every}, overview)
    _tell_silences(settings, [diagnosis for diagnosis, _ in diagnosed])
    worst = {diagnosis.health for diagnosis, _ in diagnosed}
    if fail_on and worst.intersection(LEVELS[: LEVELS.index(fail_on) + 1]):
        ctx.exit(ExitCode.REACHED)


def _chosen(
    place: str, names: tuple[str, ...], columns: "Mapping[str, str]", *, every: bool
) -> "tuple[list[Run], list[Run]]":
    """Return the runs that are asked about, and the others of the place."""
    from runlens.errors import NoSuchRun
    from runlens.sources import judged_by_default, read_all

    runs = read_all(place, columns=columns)
    if not names:
        return (runs if every else judged_by_default(runs)), []
    known = [run.name for run in runs]
    for name in names:
        if name not in known:
            raise NoSuchRun(name, known)
    return (
        [run for run in runs if run.name in names],
        [run for run in runs if run.name not in names],
    )


def _judged(
    runs: "list[Run]", others: "list[Run]", settings: "Settings", *, alone: bool
) -> "list[Diagnosis]":
    """Diagnose runs beside each other; each `alone` for a file that holds no other."""
    from runlens.engine import diagnose

    made = [diagnose(run, settings=settings) for run in runs]
    if alone or all(one.health == HEALTHY for one in made):
        return made
    from runlens.cli.siblings import beside, not_well  # of several runs alone

    if not any(map(not_well, made)):
        return made
    return beside(runs, made, others, settings)


def _tell_silences(settings: "Settings", diagnoses: "list[Diagnosis]") -> None:
    """Say which silences are over, and which met nothing: both are settings to remove."""
    from runlens.silences import unused

    for silence in settings.ended:
        click.echo(f"runlens: the {silence} is over; its rule alarms again", err=True)
    for silence in unused(settings.silences, diagnoses):
        click.echo(f"runlens: the {silence} matched no finding", err=True)


def _report(
    diagnosed: "list[tuple[Diagnosis, str]]",
    form: str | None,
    output: str | None,
    how: dict[str, bool],
    board: "Leaderboard | None",
) -> None:
    from runlens.cli.output import emit, text_options

    diagnoses = [diagnosis for diagnosis, _ in diagnosed]
    if form and takes_all(form):
        _for_machines(diagnoses, form, output, full=how["full"])
        return
    if form == "html":
        _pages(diagnosed, output, how)
        return
    from runlens.report import overview, text

    goes_to = output if form == "text" else None
    to_file = goes_to not in {None, "-"}
    options = text_options(verbose=how["verbose"], no_color=how["no_color"] or to_file)
    if how["quiet"]:
        content = "".join(text.verdict(diagnosis, options) for diagnosis in diagnoses)
    elif len(diagnoses) > 1 and not how["every"]:
        listed = _listed(board, diagnoses, options)
        apart = {one.where: one.text for one in _apart(board)} if listed else {}
        content = overview.overview(diagnoses, options, apart) + listed
        content += "Show one run with --run NAME, or all of them with --all.\n"
    else:
        content = "\n".join(text.render(diagnosis, options) for diagnosis in diagnoses)
    emit(content, goes_to, sys.stdout.encoding)
    whole = len(diagnoses) == 1 or how["every"]
    wanted = output is not None or (whole and not how["quiet"])
    if form is not None or how["no_html"]:
        return
    if board and not how["every"]:
        _overview_page(board, diagnosed, output, how)
    elif wanted:
        _pages(diagnosed, output, how)


def _board(runs: "list[Run]", diagnoses: "list[Diagnosis]") -> "Leaderboard | None":
    """Return the runs by a metric that most of them log; None where there is none."""
    from runlens.comparing.leaderboard import leaderboard
    from runlens.errors import BadSettings

    try:
        return leaderboard(runs, judged=[one.verdict for one in diagnoses])
    except BadSettings:
        return None


def _apart(board: "Leaderboard | None") -> "tuple[Problem, ...]":
    """Return what is told of single runs beside their siblings."""
    names = {row.run for row in board.rows} if board else set()
    return tuple(one for one in (board.problems if board else ()) if one.where in names)


def _beside_siblings(
    runs: "list[Run]", diagnosed: "list[tuple[Diagnosis, str]]"
) -> "list[tuple[Diagnosis, str]]":
    """Return the diagnoses of the first of some runs, with what is told of them beside them all."""
    if len(runs) < 2 or not _one_kind(runs):  # noqa: PLR2004 - nothing is beside a single run
        return diagnosed
    from dataclasses import replace

    from runlens.comparing.leaderboard import beside

    verdicts = beside(runs, [one.verdict for one, _ in diagnosed])
    return [
        (replace(one, verdict=verdict), place)
        for (one, place), verdict in zip(diagnosed, verdicts, strict=True)
    ]


def _one_kind(runs: "Sequence[Diagnosis | Run]") -> bool:
    """Whether runs are of one task and framework: of others no order means a thing."""
    from runlens.run import Run

    logged = [one for one in runs if (one.history.metrics if isinstance(one, Run) else one.curves)]
    return len({(one.task, one.framework) for one in logged}) == 1


def _listed(board: "Leaderboard | None", diagnoses: "list[Diagnosis]", options: "Options") -> str:
    """Return the runs by what they reached, where that can be held against each other."""
    from runlens.report.comparison.board import text

    return text(board, options, ranked=False) if board and _one_kind(diagnoses) else ""


def _overview_page(
    board: "Leaderboard",
    diagnosed: "list[tuple[Diagnosis, str]]",
    output: str | None,
    how: dict[str, bool],
) -> None:
    from runlens.cli.output import folder_page
    from runlens.report.html.leaderboard import render
    from runlens.report.values import counted

    if how["quiet"] and output is None:
        return
    counts, places = counted([one for one, _ in diagnosed]), [place for _, place in diagnosed]
    page = render(board, places[0], static=how["static"], counts=counts)
    folder_page(page, list(dict.fromkeys(places)), output, quiet=how["quiet"])


def _for_machines(
    diagnoses: "list[Diagnosis]", form: str, output: str | None, *, full: bool
) -> None:
    from runlens.cli.output import append, emit

    emit(rendered(form, diagnoses, full=full), output)
    if form == "github" and os.environ.get(SUMMARY):
        from runlens.report import github

        path = Path(os.environ[SUMMARY])
        used = path.stat().st_size if path.exists() else 0
        append(path, github.summary(diagnoses, github.MOST_SUMMARY - used))


def _pages(
    diagnosed: "list[tuple[Diagnosis, str]]", output: str | None, how: dict[str, bool]
) -> None:
    from runlens.cli.output import emit, page_path, shown, write
    from runlens.report import html

    if output and len(diagnosed) > 1:
        raise click.UsageError("-o takes one page, and these are several runs; leave -o out")
    taken: set[Path] = set()
    for diagnosis, place in diagnosed:
        content = html.render(diagnosis, static=how["static"])
        if output == "-":
            emit(content, output)
            continue
        path = Path(output) if output else page_path(diagnosis.run_name, Path(place))
        number = 2
        while path in taken:
            path = path.with_name(f"{path.stem.rpartition('~')[0] or path.stem}~{number}.html")
            number += 1
        taken.add(path)
        write(path, content)
        if not how["quiet"]:
            click.echo(f"Report: {shown(path)}", err=True)
