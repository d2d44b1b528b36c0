"""What the path of a log says about its place among the logs of one run.

One run can write several: one a rank (``rank_3.log``), one a stream (``train.out`` and
``train.err``), one an attempt of torchelastic (``attempt_1/0/stderr.log``). Their names differ in
nothing else.
"""

import re
from pathlib import Path

from runlens.patterns import lazy_re
from runlens.records import NamedTuple

_ATTEMPT = lazy_re(r"(?<=/)attempt_(\d{1,6})/(?:(\d{1,6})(?=/))?")
_RANK = lazy_re(r"(?<![a-z])rank[_-]?(\d{1,6})(?!\d)", re.IGNORECASE)
_STREAM = lazy_re(r"(?<![a-z])(?:std)?(out|err)(?:put|ors?)?(?![a-z])", re.IGNORECASE)
_DIGITS = lazy_re(r"(\d+)")


class LogPlace(NamedTuple):
    """The name that all logs of one run have in common, and what tells this one from them."""

    common: str
    attempt: int
    rank: int
    stream: str


def log_place(path: Path) -> LogPlace:
    """Take rank, stream and attempt out of a path; 0 and "" where it names none."""
    folder, name = str(path.parent) + "/", path.name
    attempt = _ATTEMPT.search(folder)
    rank = _RANK.search(name) or _RANK.search(folder)
    stream = _STREAM.search(name)
    number = attempt[2] if attempt and attempt[2] else rank[1] if rank else 0
    common = _ATTEMPT.sub("attempt/", _RANK.sub("rank", folder))
    common += _STREAM.sub("stream", _RANK.sub("rank", name))
    return LogPlace(
        common,
        int(attempt[1]) if attempt else 0,
        int(number),
        stream[1].lower() if stream else "",
    )


def of_one_launch(one: Path, other: Path) -> bool:
    """Whether two logs are of two ranks or of the two streams of one launch."""
    first, second = log_place(one), log_place(other)
    return one != other and first.common == second.common and first.attempt == second.attempt


def of_one_command(one: Path, other: Path) -> bool:
    """Whether two logs are of two ranks, streams or attempts of one command."""
    return one != other and log_place(one).common == log_place(other).common


def in_order(path: Path) -> tuple[object, ...]:
    """Return a key that sorts ``train_2.log`` before ``train_10.log``."""
    parts = _DIGITS.split(str(path))
    return tuple(int(part) if number % 2 else part for number, part in enumerate(parts))


def home_of(path: Path) -> Path:
    """Return the folder above those of attempts and ranks."""
    found = _ATTEMPT.search(f"{path}/")
    return Path(f"{path}/"[: found.start()]) if found else path
