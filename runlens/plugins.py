"""What other packages add to RunLens: entry points, found cheaply and loaded when asked for.

    [project.entry-points."runlens.rules"]
    lr-floor = "my_package.lr_floor:RULE"          # a runlens.rules.rule.Rule
    [project.entry-points."runlens.sources"]
    steplog = "my_package.steplog"                 # LOOKS_FOR, FRAMEWORK, find, read
    [project.entry-points."runlens.formats"]
    one-line = "my_package.one_line:render_all"    # list of Diagnosis -> str

A plugin that cannot be loaded, or that hangs, is a problem that is told, never a traceback.
"""

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from functools import lru_cache
from pathlib import Path
from typing import Literal

from runlens.errors import one_line
from runlens.records import NamedTuple
from runlens.run import Problem

Group = Literal["runlens.rules", "runlens.sources", "runlens.formats"]

# seconds of the clock after which code of others is given up: the slowest import of the field
# (torch and transformers from a network disk) takes ten, a reader some minutes for gigabytes
ASKED, READING = 30.0, 600.0
AGAIN = 1.0  # seconds after which what went on all the same is stopped again
LONGEST = 300  # characters of what a plugin's error says
INSTALLED = (".dist-info", ".egg-info")  # folders that tell of an installed package
LISTED = "entry_points.txt"


class Point(NamedTuple):
    """One entry point: its name, the package that has it, and how to load what it names."""

    name: str
    package: str  # "runlens-example 0.1.0"
    value: str  # "my_package.lr_floor:RULE"
    load: Callable[[], object]

    @property
    def origin(self) -> str:
        """Name it for the user."""
        return f"{self.package} ({self.name})"


def points(group: Group) -> tuple[Point, ...]:
    """Return the entry points of a group by name; nothing of them is imported."""
    return _points(group, tuple(sys.path))


def attempted(
    load: Callable[[], object], origin: str, lost: str, failed: str = "cannot be loaded"
) -> tuple[object, Problem | None]:
    """Return what `load` returns, or None and the problem; what it prints goes to stderr.

    Args:
        load: code of others; it may raise anything.
        origin: whose it is, for the user.
        lost: what there is not without it: "its rules".
        failed: what to say where it raises.

    """
    try:
        with redirect_stdout(sys.stderr), time_limit(ASKED):
            return load(), None
    except (Exception, SystemExit) as error:  # noqa: BLE001 - theirs, not ours
        return None, Problem(origin, f"{failed}: {said(error)}", lost)


class _Expired(BaseException):
    """The time is over; no ``except Exception`` of a plugin stops it."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeoutError in what takes longer by the clock.

    Only the main thread can be stopped, and on Windows not even that: elsewhere nothing is limited.
    Where another timer of the process runs, that one counts.
    """
    import signal  # its lists of names take 1 ms, and few have a plug-in

    if (
        threading.current_thread() is not threading.main_thread()
        or not hasattr(signal, "setitimer")
        or signal.getitimer(signal.ITIMER_REAL)[0]
    ):
        yield
        return

    def stop(*_: object) -> None:
        raise _Expired

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
    try:
        yield
    except _Expired:
        raise TimeoutError(f"given up after {seconds:g} s") from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before or signal.SIG_DFL)


def said(error: BaseException) -> str:
    """Return what an error of a plugin says, in one line of bounded length."""
    return one_line(f"{type(error).__name__}: {error}")[:LONGEST]


@lru_cache(maxsize=16)
def _points(group: Group, places: tuple[str, ...]) -> tuple[Point, ...]:
    """Look in the folders of `sys.path`; `importlib.metadata` costs 50 ms, so it comes second."""
    if not _any_named(places):
        return ()
    from importlib.metadata import entry_points

    made = [
        Point(
            one.name,
            f"{one.dist.name} {one.dist.version}" if one.dist else one.module,
            one.value,
            one.load,
        )
        for one in entry_points(group=group)
    ]
    return tuple(sorted(made, key=lambda one: one[:3]))


@lru_cache(maxsize=16)
def _any_named(places: tuple[str, ...]) -> bool:
    """Whether any installed package has an entry point of ours: 2 ms for 170 packages."""
    return any(b"[runlens." in _listed(place) for place in places)


def _listed(place: str) -> bytes:
    """Return the entry points of all packages installed in one folder, as written."""
    try:
        with os.scandir(place or ".") as entries:
            folders = [entry.path for entry in entries if entry.name.endswith(INSTALLED)]
    except OSError:  # a zip file, or a folder that is not there
        return b""
    return b"".join(_content(Path(folder, LISTED)) for folder in folders)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
