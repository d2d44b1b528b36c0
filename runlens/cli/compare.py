"""`runlens compare A B [MORE...]`: which run is better, where they part, what explains it."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from runlens.cli import ExitCode, completion

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from runlens.comparing.seeds import SeedNoise
    from runlens.comparison import Comparison, Leaderboard
    from runlens.run import Run

FORMATS = ("html", "text", "json", "markdown", "csv")
LEVELS = ("worse", "mixed", "cannot_tell", "not_comparable")  # one takes those before it along
MOST_NAME = 40
BETWEEN = "\0"  # what `--` becomes: no argument of a user holds it


class Sided(click.Command):
    """A command that keeps ``--`` between its arguments: it parts groups of repeats."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Hand ``--`` on as an argument; click would drop it."""
        return super().parse_args(ctx, [BETWEEN if arg == "--" else arg for arg in args])


@click.command(name="compare", cls=Sided)
@click.argument(
    "places", nargs=-1, metavar="A B [MORE]...", required=True, shell_complete=completion.places
)
@click.option("--align", type=click.Choice(["step", "epoch", "tokens", "time"]), help="Axis.")
@click.option("--seeds", metavar="GLOB", multiple=True, help="Repeats of A with other seeds.")
@click.option("--store", metavar="PATH", envvar="RUNLENS_STORE", help="Of an audit, for repeats.")
@click.option("--metric", metavar="NAME[:max]", default="", help="Decides; :max or :min.")
@click.option("--delta", type=click.FloatRange(min=0), help="A difference that counts as equal.")
@click.option("--format", "form", type=click.Choice(FORMATS), help="This format alone.")
@click.option("-o", "output", metavar="FILE", help="Write there; - for stdout.")
@click.option("--no-html", is_flag=True, help="No page, text only.")
@click.option("--static", is_flag=True, help="Page without the workbench.")
@click.option("--fail-on", type=click.Choice(LEVELS), help="Exit with 1 on this result.")
@click.option("--config", metavar="FILE", help="Settings file (default: the nearest).")
@click.option("-v", "--verbose", is_flag=True, help="All checks, settings and pairs.")
@click.option("--quiet", is_flag=True, help="Only the verdict.")
@click.option("--no-color", is_flag=True, help="No color.")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    places: tuple[str, ...],
    align: str | None,
    seeds: tuple[str, ...],
    store: str | None,
    metric: str,
    delta: float | None,
    form: str | None,
    output: str | None,
    fail_on: str | None,
    config: str | None,
    **how: bool,
) -> None:
    """Compare run B, and MORE runs, with the baseline A.

    \b
    runlens compare runs/a runs/b                    text here, and a page
    runlens compare runs/a runs/b --seeds 'runs/s*'  noise from repeats of A
    runlens compare runs/a runs/s* --fail-on worse   up to 20 runs, for CI
    runlens compare runs/sweep#1 runs/sweep#2        of several in one directory
    runlens compare 'a/s*' -- 'b/s*'                 repeats, paired by seed
    runlens compare runs/sweep                       all runs, the best first
    runlens compare 'wandb:team/llm?tags=nightly'    those of a project

    Each is a file, a directory, wandb:entity/project/run or a W&B URL. Where several runs lie in
    one directory, name one: runs/sweep#run-3. Says whether B is better, worse, equivalent or not to
    be told, with interval and probability; where the curves part, which settings explain it, what
    was fixed and what is new.

    How far seeds lie apart is taken from --seeds, else from runs of the same settings in the
    --store of an audit (or RUNLENS_STORE), which learns it each night, else from the curves.

    Exit code 1 with --fail-on worse where a run is worse than A; mixed takes those too whose
    metrics disagree, cannot_tell those that these runs do not tell, not_comparable those that do
    not compare.
    """
    from runlens import errors
    from runlens.cli.output import nearest_settings
    from runlens.comparing.engine import compare
    from runlens.comparing.places import repeats, sides

    if len(places) == 1:
        _leaderboard(ctx, places[0], metric, config, form, output, how)
        return
    if form == "csv":
        raise click.UsageError("csv is for a leaderboard: runlens compare DIR --format csv")
    try:
        settings = nearest_settings(config, places)
        a, b, *more = sides(places, BETWEEN, settings)
        others = repeats(seeds, settings)
        comparison = compare(
            a,
            b,
            *more,
            align=align,  # type: ignore[arg-type]
            seeds=others,
            noise=_learned(store) if store else None,
            delta=delta,
            metric=metric,
            settings=settings,
        )
    except errors.NothingReadable as error:
        click.echo(f"runlens: {error}", err=True)
        ctx.exit(ExitCode.UNREADABLE)
    except errors.RunLensError as error:
        raise click.UsageError(str(error)) from None
    places = tuple(place for place in places if place != BETWEEN)
    _report(comparison, places, form, output, how)
    reached = set(LEVELS[: LEVELS.index(fail_on) + 1]) if fail_on else set()
    if reached & {pair.verdict.result for pair in comparison.pairs}:
        ctx.exit(ExitCode.REACHED)


def _learned(store: str) -> "Callable[[Sequence[Run]], SeedNoise | None]":
    """Return how repeats of runs are looked up in the store of an audit."""
    from functools import partial

    from runlens.auditing.repeats import repeats

    return partial(repeats, store)


def _leaderboard(
    ctx: click.Context,
    place: str,
    metric: str,
    config: str | None,
    form: str | None,
    output: str | None,
    how: dict[str, bool],
) -> None:
    """Rank the runs of a directory, a pattern or a W&B project."""
    from runlens import errors
    from runlens.cli.output import emit, nearest_settings, short_lived, text_options
    from runlens.comparing.leaderboard import leaderboard
    from runlens.comparing.places import repeats
    from runlens.report.comparison import board as boards

    short_lived()
    try:
        settings = nearest_settings(config, [place])
        board = leaderboard(repeats([place], settings), metric=metric, settings=settings)
    except errors.NothingReadable as error:
        click.echo(f"runlens: {error}", err=True)
        ctx.exit(ExitCode.UNREADABLE)
    except errors.RunLensError as error:
        raise click.UsageError(str(error)) from None
    if form == "html":
        _board_page(board, place, output, how)
        return
    writers = {"json": boards.as_json, "markdown": boards.as_markdown, "csv": boards.as_csv}
    if form in writers:
        emit(writers[form](board), output)
    elif how["quiet"]:
        click.echo(boards.headline(board))
    else:
        goes_to = output if form else None
        to_file = goes_to not in {None, "-"}
        options = text_options(verbose=how["verbose"], no_color=how["no_color"] or to_file)
        emit(boards.text(board, options), goes_to, sys.stdout.encoding)
    if form is None and not how["no_html"] and (output is not None or not how["quiet"]):
        _board_page(board, place, output, how)


def _board_page(board: "Leaderboard", place: str, output: str | None, how: dict[str, bool]) -> None:
    from runlens.cli.output import folder_page
    from runlens.report.html.leaderboard import render

    folder_page(render(board, place, static=how["static"]), [place], output, quiet=how["quiet"])


def _report(
    comparison: "Comparison",
    places: tuple[str, ...],
    form: str | None,
    output: str | None,
    how: dict[str, bool],
) -> None:
    from runlens.cli.output import emit, text_options
    from runlens.report.comparison import json, markdown, text

    if form in {"json", "markdown"}:
        emit(json.render(comparison) if form == "json" else markdown.render(comparison), output)
        return
    if form == "html":
        _page(comparison, places, output, how)
        return
    goes_to = output if form == "text" else None
    to_file = goes_to not in {None, "-"}
    options = text_options(verbose=how["verbose"], no_color=how["no_color"] or to_file)
    content = (text.verdict if how["quiet"] else text.render)(comparison, options)
    emit(content, goes_to, sys.stdout.encoding)
    if form is None and not how["no_html"] and (output is not None or not how["quiet"]):
        _page(comparison, places, output, how)


def _page(
    comparison: "Comparison", places: tuple[str, ...], output: str | None, how: dict[str, bool]
) -> None:
    from runlens.cli.output import emit, file_name, page_path, shown, write
    from runlens.report.html.comparison import render

    content = render(comparison, static=how["static"])
    if output == "-":
        emit(content, output)
        return
    first, second, *others = [file_name(run.run_name)[:MOST_NAME] for run in comparison.runs]
    name = f"{first}-{second}" + (f"-and-{len(others)}-more" if others else "")
    path = Path(output) if output else page_path(name, *(Path(place) for place in places))
    write(path, content)
    if not how["quiet"]:
        click.echo(f"Report: {shown(path)}", err=True)
