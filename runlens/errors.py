"""What the user can cause. One line each: what, where, what to do.

RunLensError
├── NothingReadable    no reader knows anything at this place
├── SeveralRuns        one run was asked for, several lie here
├── NoSuchRun          the run that was named is not among them
├── BadSettings        runlens.toml or an option is wrong
├── CannotAlign        runs are to be compared on an axis that one of them does not know
├── BadStore           the store of an audit cannot be used
├── CannotStart        no worker process can be started
├── MissingPackage     a package that this command needs is not installed
└── NothingToDraw      a chart of this name, or a curve for it, does not exist
"""

from collections.abc import Sequence

SHOWN_NAMES = 8
# what steers a terminal or is not seen, beside C0: DEL and C1, marks of direction, line ends of
# Unicode, the mark of byte order, tags; to stand between the brackets of a pattern
UNSEEN = (
    "\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ufeff\\U000e0000-\\U000e007f"
)


class RunLensError(Exception):
    """The base of all errors that are the input's fault and not ours."""


class NothingReadable(RunLensError):  # noqa: N818 - "raise NothingReadable" is a sentence
    """No reader knows anything at this place."""

    def __init__(self, place: str, why: str, problems: Sequence[tuple[str, str]] = ()) -> None:
        """Name the place as the user gave it, why nothing came of it, and what to do.

        `problems` are pairs (where, what) of files that were tried and failed.
        """
        from runlens.redaction import purged, redacted

        super().__init__(one_line(redacted(f"{place}: {why}")))
        self.problems = purged(tuple(problems))


class SeveralRuns(RunLensError):  # noqa: N818 - "raise SeveralRuns" is a sentence
    """One run was asked for and several lie at this place."""

    def __init__(self, place: str, names: Sequence[str]) -> None:
        """Name the runs found; `names` are what --run takes."""
        self.names = tuple(names)
        shown = ", ".join(self.names[:SHOWN_NAMES])
        more = len(self.names) - SHOWN_NAMES
        rest = f" and {more} more" if more > 0 else ""
        super().__init__(
            one_line(f"{place}: {len(self.names)} runs lie here ({shown}{rest}); point at one")
        )


class NoSuchRun(RunLensError):  # noqa: N818 - "raise NoSuchRun" is a sentence
    """The run that was named is not at this place."""

    def __init__(self, name: str, names: Sequence[str]) -> None:
        """Suggest the nearest of the `names` that exist."""
        super().__init__(one_line(f"no run {name!r} here{nearest(name, names)}"))


class BadSettings(RunLensError):  # noqa: N818 - "raise BadSettings" is a sentence
    """An option or a settings file holds something that RunLens does not know."""


class CannotAlign(RunLensError):  # noqa: N818 - "raise CannotAlign" is a sentence
    """Runs are to be compared on an axis that one of them does not know."""

    def __init__(self, axis: str, run: str, remedy: str) -> None:
        """Name the axis, the run that lacks it, and what to do."""
        super().__init__(one_line(f"{run}: cannot align by {axis}, it is not known; {remedy}"))


class BadStore(RunLensError):  # noqa: N818 - "raise BadStore" is a sentence
    """The store of an audit cannot be opened, or its database refuses."""

    def __init__(self, store: str, why: str) -> None:
        """Name the store, without password, and why it cannot be used."""
        super().__init__(one_line(f"{store}: {why}"))


class CannotStart(RunLensError):  # noqa: N818 - "raise CannotStart" is a sentence
    """No worker process can be started."""


class MissingPackage(RunLensError, ImportError):  # noqa: N818 - "raise MissingPackage" is a sentence
    """A package that only some commands need is not installed."""

    def __init__(self, what: str, package: str, install: str) -> None:
        """Name what cannot go on, the package, and the command that installs it."""
        super().__init__(f"{what} needs {package}, which is not installed; {install}")


class NothingToDraw(RunLensError):  # noqa: N818 - "raise NothingToDraw" is a sentence
    """A chart was asked for that does not exist, or for which nothing was recorded."""

    def __init__(self, of: str, what: str, name: str, names: Sequence[str]) -> None:
        """Name the run, what is missing (a noun: metric, figure), and the nearest that exists."""
        there = (
            f"; there is {', '.join(names[:SHOWN_NAMES])}" if names else "; nothing was recorded"
        )
        hint = nearest(name, names) or there
        super().__init__(one_line(f"{of}: no {what} {name!r}{hint}"))


def nearest(name: str, known: Sequence[str]) -> str:
    """Return "; did you mean ...?" for the closest known name, or nothing."""
    from difflib import get_close_matches

    close = get_close_matches(name, known, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def one_line(text: str) -> str:
    r"""Return `text` with control characters shown as escapes, so that it stays one line."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)
