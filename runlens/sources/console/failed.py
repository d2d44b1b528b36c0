"""Which of several exceptions in a log ended the run."""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise

from runlens.patterns import lazy_re
from runlens.sources.console.error_lines import ERRORS, level, says
from runlens.sources.console.events import Failure, unranked

# what other ranks, launchers and clean-up raise once something else has failed
_CONSEQUENCE = lazy_re(
    r"ChildFailedError|SignalException|DistBackendError|BrokenPipe|CalledProcessError|EOFError"
    r"|closed by peer|Timed out waiting"
    # and no 'Connection' object of a data base
    r"|\bConnection(?:\w+| (?:closed|reset|refused|aborted|lost|broken|timed out|was|to|with)\b)"
)


def kind_of(item: Failure) -> tuple[str, str]:
    """Name what tells one exception from another: its type and where it was raised."""
    return item.exception.partition(":")[0], item.frame


def first_own(last: Sequence[Failure]) -> Failure:
    """Return the first exception that no other one brought about."""
    return next((item for item in last if not _follows(item)), last[0])


def other_end(found: Sequence[Failure]) -> int:
    """Return the line at which a launch ended other than the last; -1: none.

    A script ends once: where its own lines raised again, it was started again. Ranks of one launch
    print so too, but then their launcher says that others failed.
    """
    if not found or any(map(_follows, found)):
        return -1
    ends = [item.end for item in found[:-1] if item.main and item.main == found[-1].main]
    return ends[-1] if ends else -1


def passed_over(
    found: Sequence[Failure], lines: Sequence[str], index: Sequence[int]
) -> set[tuple[str, str]]:
    """Return the kinds of exceptions that a logger printed and that the program went on after.

    Only where another one comes later, which is none of a clean-up: on its way out a program may
    print as well. What nothing caught is printed by the interpreter, below no line of a logger.
    """
    own = [item for item in found if not _follows(item)]
    caught = set()
    for item, after in pairwise(own):
        at, end, later = (bisect_left(index, line) for line in (item.at, item.end, after.at))
        logged = at > 0 and level(unranked(lines[at - 1]))[0] in ERRORS
        if logged and any(says(unranked(line)) == "goes on" for line in lines[end + 1 : later]):
            caught.add(kind_of(item))
    return caught - {kind_of(item) for item in own[-1:]}


def _follows(item: Failure) -> bool:
    return _CONSEQUENCE.search(item.exception) is not None
