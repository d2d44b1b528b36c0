"""What changed between the last good and the first bad run of a job: the suspects of a fault.

A suspect is a setting, the image, the commit, the driver or a library that both of the last two
good runs had in common, that the first bad run and all bad ones after it had in common too, and
that no good run ever had. What changes from run to run by itself (a sweep, a commit a run) is none.
"""

from collections.abc import Collection, Iterable

from runlens.crossrun.groups import recipe, shown
from runlens.crossrun.rule import JUDGED, by_start, done
from runlens.naming.bearing import bears
from runlens.nights import Change, RunRow
from runlens.records import NamedTuple
from runlens.sources import environment as env

STABLE = 2  # good runs before the first bad one that agree
PLACES = frozenset({env.NODE, env.SERIAL})  # a job is moved about: see `fleet`


class Since(NamedTuple):
    """The last good run, and what is other since."""

    good: str  # key of the run
    changes: tuple[Change, ...]


def since(rows: Iterable[RunRow], bad: Collection[str]) -> Since | None:
    """Return what changed with the first of the bad runs of a job; None without two good ones.

    Args:
        rows: of the job, the good ones too.
        bad: keys of those with the fault.

    """
    runs = by_start(rows)
    broken = [row for row in runs if row.key in bad]
    good = [row for row in runs if row.key not in bad and done(row) and row.health in JUDGED]
    before = [row for row in good if broken and _start(row) < _start(broken[0])]
    if len(before) < STABLE:
        return None
    last, first = before[-1], broken[0]
    here = _keys(first)
    suspects = (
        Change(key, was, now)
        for key in sorted(_keys(last) | here, key=lambda key: (key not in here, key))
        if (was := _fact(last, key)) != (now := _fact(first, key))
    )
    return Since(
        last.key,
        tuple(
            one
            for one in suspects
            if all(_fact(row, one.what) == one.before for row in before[-STABLE:])
            and all(_fact(row, one.what) == one.after for row in broken)
            and not any(_fact(row, one.what) == one.after for row in good)
        ),
    )


def _start(row: RunRow) -> float:
    return row.started or 0.0


def _keys(row: RunRow) -> set[str]:
    """Return the settings that bear on the result, and what is known of where the run ran."""
    return {key for key in recipe(row.config) if not env.named_by(key)} | (
        row.environment.keys() - PLACES
    )


def _fact(row: RunRow, key: str) -> str:
    """Return one of them in words."""
    if key in row.environment:
        return ", ".join(row.environment[key])
    return shown(row.config.get(key) if bears(key) and not env.named_by(key) else None)
