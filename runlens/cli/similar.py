"""`runlens similar`: which labeled runs this one is like, and what they were."""

import click

from runlens.cli import completion


@click.command("similar")
@click.argument("place", metavar="RUN", shell_complete=completion.places)
@click.option("--run", "name", metavar="NAME", help="One of several runs.")
@click.option("--config", metavar="FILE", help="Settings (default: the nearest runlens.toml).")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text",
              help="This format.")  # fmt: skip
@click.pass_context
def command(
    ctx: click.Context, place: str, name: str | None, config: str | None, form: str
) -> None:
    """Tell what the labeled runs were that RUN is most like.

    \b
    runlens similar runs/my-run
    runlens similar runs/my-run --format json

    A second opinion that knows no rule: it compares what the curves do and how the run ended with
    runs of public repositories and runs that were trained with a known fault. The package holds
    their features and labels, none of their data, and nothing is sent anywhere. The last line says
    how often such an answer is right.
    """
    import msgspec

    from runlens.cli.one_run import judged
    from runlens.similar import like

    run, diagnosis = judged(ctx, place, name, config)
    answer = like(run)
    if form == "json":
        document = {
            "were": dict(answer.were),
            "causes": dict(answer.causes),
            "of": answer.of,
            "nearest": [
                {"run": one.name, "distance": distance, "faults": one.faults, "cause": one.cause}
                for one, distance in answer.nearest
            ],
            "measured": answer.measured,
        }
        click.echo(msgspec.json.format(msgspec.json.encode(document), indent=2).decode())
        return
    from runlens.similar.words import text

    click.echo(text(run.name, answer, diagnosis.titles), nl=False)
