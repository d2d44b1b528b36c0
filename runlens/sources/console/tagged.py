"""Lines behind a bracket that says of which job they are: ``[mf k=4] 12/60 rmse=0.62``.

A script that tries one setting after the other appends to one log. What the bracket holds is a
setting, and no number of a row: each job is a training, whose counter begins anew.
"""

from collections.abc import Sequence
from itertools import groupby

from runlens.naming.vocabulary import SPLITS
from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.run import Setting
from runlens.sources.console.mining.counter_names import counter
from runlens.sources.console.telling import tells

FEWEST = 3  # lines of a job: two values may be equal where they change from row to row
_TAGGED = lazy_re(r"\s*\[(?P<tag>[A-Za-z][^\[\]]{0,80}=[^\[\]]{1,40})\]:?\s+(?P<rest>\S.*)")
_PIECE = lazy_re(r"(?P<name>[A-Za-z][\w-]{0,30})(?:=(?P<value>[\w.+-]{1,40}))?")
_APART = lazy_re(r"[\s,;|]+")
_Line = tuple[int, str]


class _Tagged(NamedTuple):
    at: int
    tag: str
    rest: str


def with_tags_left_out(others: Sequence[_Line]) -> Sequence[_Line]:
    """Return lines without the bracket of their job, where each job stands in one piece.

    >>> jobs = [(0, "[mf k=4] 1/2 mse=0.5"), (1, "[mf k=4] 2/2 mse=0.4"), (2, "[mf k=4] done")]
    >>> [line for _, line in with_tags_left_out(jobs)]
    ['1/2 mse=0.5', '2/2 mse=0.4', 'done']
    """
    plain = {one.at: one.rest for one in _tagged(others)}
    return [(at, plain.get(at, line)) for at, line in others] if plain else others


def of_tags(lines: Sequence[str]) -> dict[str, Setting]:
    """Return the settings in the bracket of a job; nothing where lines are of several.

    >>> of_tags(["[mf k=4] 1/2 mse=0.5", "[mf k=4] 2/2 mse=0.4", "[mf k=4] done"])
    {'k': 4}
    """
    from runlens.sources.console.printed_settings import value

    tags = {one.tag for one in _tagged(list(enumerate(lines)))}
    pieces = _APART.split(tags.pop()) if len(tags) == 1 else []
    found = [piece for text in pieces if (piece := _PIECE.fullmatch(text)) and piece["value"]]
    return {piece["name"]: value(piece["value"]) for piece in found}


def _tagged(others: Sequence[_Line]) -> list[_Tagged]:
    found = [
        _Tagged(at, said["tag"], said["rest"])
        for at, line in others
        if line.lstrip()[:1] == "["
        and "=" in line
        and (said := _TAGGED.fullmatch(line))
        and _is_setting(said["tag"])
    ]
    jobs = [(tag, len(list(some))) for tag, some in groupby(found, key=lambda one: one.tag)]
    # the last job may have been stopped in its first lines
    whole = all(many >= FEWEST for _, many in jobs[: max(1, len(jobs) - 1)])
    return found if whole and len(dict(jobs)) == len(jobs) else []


def _is_setting(tag: str) -> bool:
    """Whether a bracket names a setting; what counts or is measured is of the row."""
    pieces = [_PIECE.fullmatch(text) for text in _APART.split(tag.strip())]
    names = [piece["name"].lower() if piece else "" for piece in pieces]
    return all(names) and not any(name in SPLITS or counter(name) or tells(name) for name in names)
