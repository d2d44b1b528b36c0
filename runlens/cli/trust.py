"""`runlens trust DIR`: settings and rule files of a folder that may be used from now on."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from runlens.cli import completion

if TYPE_CHECKING:
    from runlens.trust import Trusted


@click.command("trust")
@click.argument("folder", metavar="DIR", required=False, shell_complete=completion.folders)
@click.option("--list", "listing", is_flag=True, help="All folders that are trusted.")
@click.option("--revoke", is_flag=True, help="Trust DIR no longer.")
def command(folder: str | None, *, listing: bool, revoke: bool) -> None:
    """Let rule files and settings of a folder be used.

    \b
    runlens trust .             the settings of this folder, as they are now
    runlens trust --list        what is trusted, and what changed since
    runlens trust --revoke .    not any more

    Rule files (rules in runlens.toml or pyproject.toml) are code and run with your rights: look
    at them first. What is trusted is kept in your configuration folder with a hash of the
    settings, of the rule files and of the Python files beside them; when one changes, trust it
    again. Without it the settings of a project are used, its rule files are not; settings of
    another user, or within what is diagnosed, are not used at all. --config FILE trusts a file
    for once.
    """
    from runlens.errors import RunLensError

    if listing == (folder is not None) or (revoke and folder is None):
        raise click.UsageError("name a folder: runlens trust DIR  (or runlens trust --list)")
    try:
        if listing:
            _list()
        elif revoke:
            _revoke(Path(str(folder)))
        else:
            _trust(Path(str(folder)))
    except RunLensError as error:
        raise click.UsageError(str(error)) from None


def _trust(folder: Path) -> None:
    from runlens.errors import BadSettings, one_line
    from runlens.settings import in_folder, rule_files
    from runlens.trust import trust

    path = in_folder(folder)
    if path is None:
        raise BadSettings(one_line(f"{folder}: has neither runlens.toml nor [tool.runlens]"))
    files = rule_files(path)
    trust(path, files)
    click.echo(one_line(f"trusted: {path.resolve()}"))
    for file in files:
        click.echo(one_line(f"         {file}"))


def _revoke(folder: Path) -> None:
    from runlens.errors import BadSettings, one_line
    from runlens.trust import revoke

    if not revoke(folder):
        raise BadSettings(one_line(f"{folder}: was not trusted"))
    click.echo(one_line(f"no longer trusted: {folder.resolve()}"))


def _list() -> None:
    from runlens.errors import one_line
    from runlens.trust import trusted

    for one in trusted():
        click.echo(one_line(f"{_standing(one):<8} {one.files:>3} rule files  {one.folder}"))


def _standing(one: "Trusted") -> str:
    """Return whether a folder is as it was trusted."""
    from runlens.errors import BadSettings
    from runlens.settings import in_folder, rule_files
    from runlens.trust import why_not_run

    path = in_folder(Path(one.folder))
    if path is None:
        return "gone"
    try:
        return "changed" if why_not_run(path, rule_files(path)) else "current"
    except BadSettings:
        return "changed"
