"""A warning about numbers ahead of a loss that is none: the operation that had no result."""

from runlens.causes.hypothesis import STRONG, Sign
from runlens.causes.opened import NAN, NUMBERS
from runlens.causes.scene import Scene
from runlens.patterns import lazy_re

# of numpy, about arguments outside the domain; a scalar is a statistic, no data. What overflows
# grew first, and updates may have made it grow
_WARNED = lazy_re(
    r"RuntimeWarning: (?P<what>invalid value|divide by zero) encountered in "
    r"(?P<of>(?!scalar)[A-Za-z_][\w.]{0,40})"
)


def before_training(scene: Scene) -> Sign | None:
    """Say that an operation had no result before the first row of the log, so no update did it.

    Rows are the lines that look like the first one without a number but for their numbers. Where
    the loss was rising before it, or there is no row, nothing says that the data came to it.
    """
    lines = scene.run.log_tail
    row = next((NUMBERS.sub("#", line) for line in lines if _is_row(line)), "")
    first = next((k for k, line in enumerate(lines) if row and NUMBERS.sub("#", line) == row), 0)
    told = [found for line in lines[:first] if (found := _WARNED.search(line))]
    if not told:
        return None
    what, of = told[-1]["what"], told[-1]["of"]
    said = f"the log warns of {'an ' if what[0] == 'i' else 'a '}{what} in {of} before the first "
    return Sign(
        f"{said}logged loss",
        STRONG,
        f"Data that {of} has no number for",
        f"Count the values that are not finite after {of}, and print what went into it there",
        falsifier=f"all values are finite after {of}",
    )


def _is_row(line: str) -> bool:
    return NAN.search(line) is not None and "arning" not in line
