"""What reads the cells of a column, by its name: counters, what was won, how many were right."""

from collections.abc import Callable

from runlens.naming import classify
from runlens.naming.agents import won
from runlens.naming.classify import says_right
from runlens.patterns import lazy_re
from runlens.sources.tables.cells import number_in, step_in
from runlens.sources.tables.names import is_step

_OF_ALL = lazy_re(r"\s*(\d{1,12})\s*/\s*(\d{1,12})\s*")


def reader_of(name: str) -> Callable[[str], float | None]:
    """Return what reads the numbers in the cells of a column.

    What is won may be ``True``, what is right a number of all: ``296/1500``.
    """
    if is_step(name):
        return step_in
    if won(name):
        return _won_in
    return _right_in if says_right(name) or classify(name).quantity == "accuracy" else number_in


def _won_in(cell: str) -> float | None:
    number = number_in(cell)
    return {"true": 1.0, "false": 0.0}.get(cell.strip().lower()) if number is None else number


def _right_in(cell: str) -> float | None:
    of_all = _OF_ALL.fullmatch(cell)
    every = int(of_all[2]) if of_all else 0
    return int(of_all[1]) / every if of_all and every else number_in(cell)
