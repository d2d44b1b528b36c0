"""How the program ends: no traceback, whatever happens; what could not be written is told."""

import errno
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from runlens import faults
from runlens.cli import ExitCode

# errors of a write, which name no file: the disk, the quota or the largest file is full; closed
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EBADF, errno.EIO}
_shown = False


def show_tracebacks() -> None:
    """Show the tracebacks of what fails from here on."""
    global _shown  # noqa: PLW0603 - one a process, as stderr is
    _shown = True


@contextmanager
def one_line_each(*, alone: bool) -> Iterator[None]:
    """Run a command. What it raises and nobody foresaw becomes one line and an exit code.

    `alone`: nothing else runs in this process. Then warnings of libraries are not shown: there is
    none that a user could act on. ``python -W`` shows them.
    """
    global _shown  # noqa: PLW0603 - as above
    _shown = False
    faults.forget()
    if alone and not sys.warnoptions:
        warnings.simplefilter("ignore")
    if sys.stdout is None:  # closed: what is written shall fail, and not go into another file
        sys.stdout = open(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")  # noqa: PTH123, SIM115
    try:
        yield
    except Exception as error:  # noqa: BLE001 - the last net
        full = isinstance(error, OSError) and error.filename is None and error.errno in FULL
        sys.exit(_not_written(error) if full else _fault(error))
    finally:
        if _shown:
            for survived in faults.caught():
                sys.stderr.write(faults.trace(survived))
        _let_go()


def _fault(error: Exception) -> ExitCode:
    if _shown:
        sys.stderr.write(faults.trace(error))
    told = "there is not enough memory" if isinstance(error, MemoryError) else faults.words(error)
    _tell(f"{told}; {faults.REPORT}")
    return ExitCode.FAULT


def _not_written(error: Exception) -> ExitCode:
    _forget()
    why = getattr(error, "strerror", None) or error
    _tell(f"cannot write to stdout: {why}; see to it, or write elsewhere with -o FILE")
    return ExitCode.NOT_WRITTEN


def _tell(line: str) -> None:
    with suppress(OSError, AttributeError):  # stderr may be closed as well
        sys.stderr.write(f"runlens: {line}\n")
        sys.stderr.flush()


def _let_go() -> None:
    """Write out what stdout still holds, or forget it where nobody reads any more.

    Python would try again at its end, and tell of the failure.
    """
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _forget()
    except OSError as error:
        sys.exit(_not_written(error))
    except ValueError:  # closed by whoever called us
        pass


def _forget() -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
