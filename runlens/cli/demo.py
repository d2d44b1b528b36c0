"""`runlens demo`: a diagnosis of a small faulty run that comes with the package."""

from importlib import resources

import click


@click.command("demo")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    default="demo-report.html",
    show_default=True,
    help="Where the page goes.",
)
@click.option("-v", "--verbose", is_flag=True, help="All evidence, causes, fixes and checks.")
@click.option("--no-color", is_flag=True, help="No color (as NO_COLOR).")
def command(output: str, *, verbose: bool, no_color: bool) -> None:
    """Diagnose a small faulty run from packaged data; needs no input.

    \b
    runlens demo              text here, the page as ./demo-report.html
    runlens demo -v           all evidence, causes, fixes and checks
    runlens demo -o a.html    the page elsewhere

    The run overfits: its page shows what a diagnosis looks like before you have one of your own.
    """
    from pathlib import Path

    from runlens.cli.output import text_options, write
    from runlens.engine import diagnose
    from runlens.report import html, text

    with resources.as_file(resources.files("runlens").joinpath("demo")) as place:
        diagnosis = diagnose(place)
    click.echo(text.render(diagnosis, text_options(verbose=verbose, no_color=no_color)), nl=False)
    write(Path(output), html.render(diagnosis))
    click.echo(f"Report: {output}", err=True)
