"""`runlens audit SOURCE...`: many runs every night, a store, and what is new since the last."""

import os
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from runlens.cli import ExitCode, completion

if TYPE_CHECKING:
    from runlens.diagnosis import Diagnosis
    from runlens.nights import Audit
    from runlens.settings import Settings

FORMATS = {
    "text": "audit.txt",
    "json": "audit.json",
    "markdown": "audit.md",
    "html": "index.html",
}  # and the file in the folder of -o
FOR_FOLDER = ("html", "json", "markdown")
NIGHTS_KEPT = 60  # pages of nights
LEVELS = ("new-critical", "critical", "new-warning", "warning")


class _OrAck(click.Command):
    """The audit, and `runlens audit ack`, which is a command of its own."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,  # noqa: ANN401 - of click
    ) -> click.Context:
        """Hand over to `ack` where it is the first word and no source of that name lies here."""
        if args[:1] == ["ack"] and not Path("ack").exists():
            from runlens.cli.ack import command as ack

            return ack.make_context(f"{info_name} ack", args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - of click
        """Run the command that the context was made for."""
        return super().invoke(ctx) if ctx.command is self else ctx.command.invoke(ctx)


@click.command(name="audit", cls=_OrAck)
@click.argument(
    "sources", nargs=-1, metavar="SOURCE...", required=True, shell_complete=completion.places
)
@click.option("--store", metavar="PATH", required=True, help="What is kept from night to night.")
@click.option("--since", metavar="TIME", help="Only runs that changed in the last 24h, 7d, ...")
@click.option("--filter", "filters", metavar="KEY=VALUE", multiple=True, help="Only such runs.")
@click.option("--jobs", type=click.IntRange(1), help="Processes (default: one per core).")
@click.option("--cluster", metavar="ADDRESS", help="Dask: tcp://host:8786, or local:4.")
@click.option("-o", "--output", metavar="DIR", help="Folder of page, JSON and Markdown.")
@click.option(
    "--notify",
    metavar="URL",
    multiple=True,
    envvar="RUNLENS_NOTIFY",
    help="Where to send what is new (or RUNLENS_NOTIFY, separated by spaces).",
)
@click.option("--page-url", metavar="URL", help="Where the folder of -o is served, for links.")
@click.option(
    "--ping",
    metavar="URL",
    envvar="RUNLENS_PING",
    help="Request it when a night ends, URL/fail if it failed (or RUNLENS_PING).",
)
@click.option("--tag-wandb", is_flag=True, help="WRITES to W&B: tag runs with what was found.")
@click.option("--fail-on", type=click.Choice(LEVELS), help="Exit with 1 on such an issue.")
@click.option("--format", "form", type=click.Choice(list(FORMATS)), help="This alone.")
@click.option("--config", metavar="FILE", help="Settings (default: the nearest runlens.toml).")
@click.option("-v", "--verbose", is_flag=True, help="All issues, and all runs with a fault.")
@click.option("-q", "--quiet", is_flag=True, help="The verdict in one line.")
@click.option("--no-color", is_flag=True, help="No color (as NO_COLOR).")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    sources: tuple[str, ...],
    store: str,
    filters: tuple[str, ...],
    output: str | None,
    notify: tuple[str, ...],
    fail_on: str | None,
    form: str | None,
    config: str | None,
    **how: Any,  # noqa: ANN401 - of each option its type
) -> None:
    """Say what is new in all runs of SOURCE since the last night.

    \b
    runlens audit runs --store a.db                         text here
    runlens audit wandb:acme/llm --store a.db -o site       and a page
    runlens audit runs --store a.db --fail-on new-critical  for CI: exit code 1
    runlens audit ack 3f9a --store a.db --until 2026-12-01  known, until then

    Only runs that are new or changed are read. SOURCE is a folder of runs, wandb:entity/project,
    or the address of a W&B project. PATH is a file, or postgresql://user@host/database. An
    audit that was interrupted continues where it stopped.

    --filter takes name=GLOB for folders, and what W&B's API filters by: state=finished,
    tags=nightly. --fail-on critical counts every open issue, new-critical those that are new, back
    or growing; warning includes critical ones. The exit code is 3 where a source could not be
    read.
    """
    from runlens import errors
    from runlens.cli.output import nearest_settings
    from runlens.sources.addresses import filter_of

    code, failed = ExitCode.OK, True
    try:
        settings = nearest_settings(config, sources)
        how |= {"folder": "" if form else output, "page": _page(output)}
        told = (*notify, *_routed(settings))
        _deliver(store, sources, told)  # what earlier nights could not
        found = _audited(sources, store, dict(map(filter_of, filters)), settings, notify, how)
        try:
            _report(found, form, output, how)
        finally:
            _deliver(store, sources, told)
        failed = False
    except KeyboardInterrupt:
        _leave()
    except errors.BadStore as error:
        click.echo(f"runlens: {error}", err=True)
        ctx.exit(ExitCode.USAGE)
    except errors.RunLensError as error:
        raise click.UsageError(str(error)) from None
    finally:
        if how["ping"]:
            _ping(how["ping"], failed=failed or bool(found.unlisted))
    if how["tag_wandb"]:
        from runlens.auditing.tags import tag

        for line in tag(found):
            click.echo(f"runlens: {line}", err=True)
    if found.unlisted or (not found.runs and found.unread):
        code = ExitCode.UNREADABLE
    elif fail_on and reached(found, fail_on):
        code = ExitCode.REACHED
    ctx.exit(code)


def _deliver(store: str, sources: tuple[str, ...], notify: tuple[str, ...]) -> None:
    from runlens.auditing.delivery import deliver

    for failure in deliver(store, sources, notify):
        click.echo(f"runlens: {failure}", err=True)


def _routed(settings: "Settings") -> list[str]:
    from runlens.auditing.routes import addresses

    return addresses(settings.routes)


def _ping(url: str, *, failed: bool) -> None:
    """Tell a watcher (healthchecks.io and its like) that the audit ran: silence is its alarm."""
    from runlens.auditing.heartbeat import ping

    if why := ping(url, failed=failed):
        click.echo(f"runlens: --ping: {why}", err=True)


def _leave() -> NoReturn:
    """End at once: threads that wait for a server would hold the process for minutes."""
    click.echo(
        "runlens: interrupted; what was judged is kept; start it again to continue", err=True
    )
    if any(not thread.daemon for thread in threading.enumerate()[1:]):
        sys.stderr.flush()
        os._exit(ExitCode.INTERRUPTED)
    raise KeyboardInterrupt


def reached(audit: "Audit", level: str) -> bool:
    """Whether an audit has an open issue of a level of --fail-on."""
    from runlens.nights import TOLD

    loud = {"critical"} if level.endswith("critical") else {"critical", "warning"}
    some = [one for one in audit.issues if one.severity in loud]
    if level.startswith("new-"):
        return any(one.status in TOLD for one in some)
    return any(one.open and one.status != "acknowledged" for one in some)


def _audited(
    sources: tuple[str, ...],
    store: str,
    filters: dict[str, str | float],
    settings: "Settings",
    notify: tuple[str, ...],
    how: Mapping[str, Any],
) -> "Audit":
    from contextlib import nullcontext

    from runlens.auditing.delivery import outgoing
    from runlens.auditing.engine import audit
    from runlens.auditing.pages import Pages
    from runlens.auditing.progress import Shown

    page = how["page_url"] or how["page"]
    pages = Pages(how["folder"], run_page) if how["folder"] else None

    chosen = {name: how[name] for name in ("since", "jobs", "cluster")}
    with nullcontext() if how["quiet"] else Shown(sys.stderr) as shown:
        made = audit(
            *sources,
            store=store,
            filters=filters,
            settings=settings,
            on_result=shown,
            messages=lambda found: outgoing(found, notify, page, settings.routes),
            pages=pages,
            **chosen,
        )
        if shown:
            shown.ended(made)
    return made


def _page(output: str | None) -> str:
    return str(Path(output) / FORMATS["html"]) if output else ""


def run_page(diagnosis: "Diagnosis") -> str:
    """Return the page of one run, small: hundreds may lie in a folder."""
    from runlens.report.html import render

    return render(diagnosis, static=True)


def _report(
    audit: "Audit",
    form: str | None,
    output: str | None,
    how: Mapping[str, Any],
) -> None:
    """Write the text to stdout and the rest to the folder; with a format, that alone."""
    from runlens.cli.output import emit, shown, text_options, write

    folder = Path(output) if output else None
    if folder:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise click.UsageError(f"cannot make {folder}: {error.strerror}") from None
    if form and folder:
        write(folder / FORMATS[form], _rendered(audit, form))
        return
    looks = {"no_color": how["no_color"], "verbose": how["verbose"]}
    if form:
        emit(_rendered(audit, form, **looks), None, _encoding(form))
        return
    if how["quiet"]:
        from runlens.report.audit import text

        options = text_options(verbose=False, no_color=how["no_color"])
        emit(text.verdict(audit, options), None, _encoding("text"))
    else:
        emit(_rendered(audit, "text", **looks), None, _encoding("text"))
    if folder:
        for name in FOR_FOLDER:
            write(folder / FORMATS[name], _rendered(audit, name))
        _write_besides(audit, folder, how["page_url"] or "")
        if not how["quiet"]:
            click.echo(f"Report: {shown(folder / FORMATS['html'])}", err=True)


def _write_besides(audit: "Audit", folder: Path, page: str) -> None:
    """Write the feeds, the metrics, and the page of this night for good; keep some of the latter.

    Runs' own pages are those of the last night: links of older nights may lead to none.
    """
    from runlens.cli.output import write
    from runlens.report.audit import feed, metrics

    known = folder / "feed.json"
    before = known.read_text(encoding="utf-8") if known.is_file() else ""
    items = feed.entries(audit, before, page)
    write(known, feed.as_json(items, page))
    write(folder / "feed.atom", feed.as_atom(items, page))
    write(folder / "metrics.prom", metrics.render(audit))
    home = folder / "nights"
    home.mkdir(exist_ok=True)
    write(
        home / f"{audit.night.number:06}.html", _rendered(replace(audit, pages=_up(audit)), "html")
    )
    for old in sorted(home.glob("[0-9]*.html"))[:-NIGHTS_KEPT]:
        with suppress(OSError):
            old.unlink()


def _up(audit: "Audit") -> dict[str, str]:
    return {key: f"../{link}" for key, link in audit.pages.items()}


def _encoding(form: str) -> str:
    return sys.stdout.encoding if form == "text" else "utf-8"


def _rendered(audit: "Audit", form: str, *, no_color: bool = True, verbose: bool = False) -> str:
    from importlib import import_module

    if form == "html":
        from runlens.report.html.audit import render

        return render(audit)
    if form == "text":
        from runlens.cli.output import text_options
        from runlens.report.audit import text

        return text.render(audit, text_options(verbose=verbose, no_color=no_color))
    content: str = import_module(f"runlens.report.audit.{form}").render(audit)
    return content
