"""What changed between the last good and the first bad run of a job: the suspects of a fault.

A suspect is a setting, the image, the commit, the driver or a library that both of the last two
good runs had in common, that the first bad run and all bad ones after it had in common too, and
that no good run ever had. What changes from run to run by itself (a sweep, a commit a run) is none.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from runlens.crossrun.groups import recipe, shown
from runlens.crossrun.rule import JUDGED, by_start, done
from runlens.nights import Change, RunRow
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
    last, first = _facts(before[-1]), _facts(broken[0])
    suspects = (
        Change(key, last.get(key, shown(None)), first.get(key, shown(None)))
        for key in sorted(last.keys() | first.keys(), key=lambda key: (key not in first, key))
        if last.get(key) != first.get(key)
    )
    steady, well, ill = ([_facts(row) for row in some] for some in (before[-STABLE:], good, broken))
    return Since(
        before[-1].key,
        tuple(
            one
            for one in suspects
            if all(facts.get(one.what) == last.get(one.what) for facts in steady)
            and all(facts.get(one.what) == first.get(one.what) for facts in ill)
            and not any(facts.get(one.what) == first.get(one.what) for facts in well)
        ),
    )


def _start(row: RunRow) -> float:
    return row.started or 0.0


def _facts(row: RunRow) -> Mapping[str, str]:
    """Return the settings that bear on the result, and where the run ran, as words."""
    settings = {key: shown(one) for key, one in recipe(row.config).items() if not env.named_by(key)}
    where = {key: ", ".join(some) for key, some in row.environment.items() if key not in PLACES}
    return settings | where
