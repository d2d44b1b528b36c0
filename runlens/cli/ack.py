"""`runlens audit ack ISSUE`: say that an issue is known, so that it is no news for a while."""

import os
from datetime import UTC, datetime, timedelta
from getpass import getuser

import click

from runlens.cli import ExitCode

DATE = "%Y-%m-%dT%H:%M:%SZ"
DAYS = 7  # that an acknowledgement holds where no day is given


@click.command(name="ack")
@click.argument("issue", metavar="ISSUE")
@click.option("--store", metavar="PATH", required=True, help="What the audit keeps.")
@click.option("--by", metavar="NAME", help="Who knows of it (default: who runs this).")
@click.option("--until", metavar="DAY", help="Until then, as 2026-12-01 (default: for a week).")
@click.option("--note", metavar="TEXT", default="", help="What is done about it.")
@click.pass_context
def command(
    ctx: click.Context, issue: str, store: str, by: str | None, until: str | None, note: str
) -> None:
    """Say that ISSUE is known: it is no news until a day, unless it gets graver.

    ISSUE is the name that page, message and JSON give it (fingerprint), or its beginning. For a
    source that lost most of its runs, this says that they were deleted on purpose.
    """
    from runlens.auditing.store import Store
    from runlens.errors import BadStore
    from runlens.nights import Ack

    now = datetime.now(UTC)
    ack = Ack(by or _me(), now.strftime(DATE), _day(until, now), note)
    try:
        with Store(store) as opened:
            names = opened.open_issues(issue)
            if len(names) != 1:
                few = "no open issue" if not names else f"{len(names)} open issues"
                raise click.UsageError(f"{few} whose name begins with {issue!r}; see audit.json")
            found = opened.acknowledge(names[0], ack)
    except BadStore as error:
        click.echo(f"runlens: {error}", err=True)
        ctx.exit(ExitCode.USAGE)
    if found:
        click.echo(f"Known by {ack.by} until {ack.until[:10]}: {found.title}")


def _me() -> str:
    try:
        return getuser()
    except (OSError, KeyError):  # a container without accounts
        return os.environ.get("USER", "somebody")


def _day(until: str | None, now: datetime) -> str:
    if until is None:
        return (now + timedelta(days=DAYS)).strftime(DATE)
    try:
        day = datetime.fromisoformat(until)
    except ValueError:
        raise click.UsageError(f"--until {until!r} is not a date; write it as 2026-12-01") from None
    when = day if day.tzinfo else day.replace(tzinfo=UTC)
    if when <= now:
        raise click.UsageError(f"--until {until} is in the past; give a later day")
    return when.astimezone(UTC).strftime(DATE)
