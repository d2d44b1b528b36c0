"""Where results go: text to stdout, pages beside the run but never into it."""

import atexit
import gc
import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from runlens.errors import one_line
from runlens.report.terminal import Options

if TYPE_CHECKING:
    from runlens.settings import Settings

LONGEST_NAME = 80
WRITTEN, HEAD = b'name="generator" content="RunLens"', 1_000  # in so many bytes of a page
WIDTH = 80  # columns, of what is no terminal


def short_lived() -> None:
    """Collect no memory in a command that soon ends: that costs more than it frees.

    Nor when it ends, where Python looks through all that is left: a tenth of a short command.
    """
    gc.disable()
    atexit.register(gc.freeze)


def text_options(*, verbose: bool, no_color: bool) -> Options:
    """Return how to write to this terminal: its width, its encoding, color or none.

    --no-color wins over NO_COLOR (any value), which wins over FORCE_COLOR, which wins over
    what stdout is.
    """
    color = sys.stdout.isatty()
    if os.environ.get("FORCE_COLOR"):
        color = True
    if no_color or "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb":
        color = False
    return Options(
        _width(), color=color, verbose=verbose, ascii_only=not _draws(sys.stdout.encoding)
    )


def _width() -> int:
    """Return the columns of the terminal, as `shutil` does, whose import of archives takes 3 ms."""
    with suppress(ValueError):
        if (given := int(os.environ.get("COLUMNS", ""))) > 0:
            return given
    with suppress(OSError, ValueError, AttributeError):
        return os.get_terminal_size(sys.stdout.fileno()).columns or WIDTH
    return WIDTH


def _draws(encoding: str | None) -> bool:
    try:
        "▁█×".encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def page_path(run_name: str, *places: Path) -> Path:
    """Return where a page goes: the current folder, or above it while that is inside a run.

    What came through a pipe lies in no folder.
    """
    from runlens.sources.addresses import STDIN

    folder = Path.cwd()
    runs = [place.resolve() for place in places if str(place) != STDIN]
    insides = [run if run.is_dir() else run.parent for run in runs]
    while any(folder.is_relative_to(inside) for inside in insides) and folder.parent != folder:
        folder = folder.parent
    return folder / f"runlens-{file_name(run_name)}.html"


def runs_among(places: Sequence[str]) -> list[str]:
    """Return the places but for pages that this package wrote, which a `run*` of the shell names.

    Raises click.UsageError where nothing else is left.
    """
    pages = [place for place in places if place.endswith(".html") and _is_page(Path(place))]
    left = [place for place in places if place not in pages]
    if pages and not left:
        raise click.UsageError(f"{pages[0]} is a page that RunLens wrote; name the run itself")
    for page in pages:
        click.echo(f"runlens: {one_line(page)} is a page of RunLens, not a run; left out", err=True)
    return left


def _is_page(path: Path) -> bool:
    with suppress(OSError), path.open("rb") as file:
        return WRITTEN in file.read(HEAD)
    return False


def folder_page(content: str, places: Sequence[str], output: str | None, *, quiet: bool) -> None:
    """Write the page of all runs at some places: to `output`, else named by their folder."""
    if output == "-":
        emit(content, output)
        return
    known = [path for place in places if (path := Path(place)).exists()]
    shared = Path(os.path.commonpath([path.resolve() for path in known])) if known else None
    name = shared.name if shared and len(known) == len(places) else places[0]
    path = Path(output) if output else page_path(name, *known)
    write(path, content)
    if not quiet:
        click.echo(f"Report: {shown(path)}", err=True)


def file_name(run_name: str) -> str:
    """Return a run's name as a part of a file name: no separators, no control characters."""
    safe = re.sub(r"[^A-Za-z0-9._-]+", "-", run_name).strip(".-")
    return safe[:LONGEST_NAME] or "run"


def shown(path: Path) -> str:
    """Return a path as the user would type it from here."""
    try:
        return one_line(str(path.relative_to(Path.cwd())))
    except ValueError:
        return one_line(str(path))


def append(path: Path, content: str) -> None:
    """Add a result to the end of a file, as `write`."""
    write(path, content, mode="a")


def write(path: Path, content: str, mode: Literal["w", "a"] = "w") -> None:
    """Write a result; a folder that is missing or read-only is one clear line, exit code 2.

    A new file comes in the place of the old one when it is whole.
    """
    from runlens.written import write_beside

    try:
        if mode == "w":
            write_beside(path, content.encode())
            return
        with path.open(mode, encoding="utf-8") as handle:
            handle.write(content)
    except OSError as error:
        reason = error.strerror or str(error)
        raise click.UsageError(
            one_line(f"cannot write {path}: {reason}; name another file with -o")
        ) from None


def nearest_settings(
    config: str | None, places: Sequence[str] = (), *, quiet: bool = False
) -> "Settings":
    """Return the settings in a file, or in the nearest one above the current folder.

    `places` are what is read: no rule is run that is named there. What of the settings is not
    used is told on stderr, but where `quiet`: the caller tells it.
    """
    from runlens.settings import find, load

    if config:
        return load(Path(config))
    settings = load(find(Path.cwd()), places=places)
    for problem in () if quiet else settings.problems:
        click.echo(f"runlens: {one_line(f'{problem.where}: {problem.text}')}", err=True)
    return settings


def emit(content: str, output: str | None, encoding: str = "utf-8") -> None:
    """Write a result to a file, or to stdout for None and ``-``.

    JSON and pages are UTF-8 whatever the terminal speaks; text goes in the terminal's encoding.
    """
    if output is None or output == "-":
        sys.stdout.flush()
        sys.stdout.buffer.write(content.encode(encoding, "replace"))
        sys.stdout.flush()
    else:
        write(Path(output), content)
