"""Repeats among the runs that are compared: a sweep that ran its configurations twice has some.

They tell how far seeds lie apart in this very training, which no prior does.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from runlens.comparing.canonical import Settings, typed
from runlens.comparing.groups import group
from runlens.comparing.rows import recorded
from runlens.comparing.seed_groups import seed_of
from runlens.comparing.seeds import FEWEST, Kind, SeedNoise, reached
from runlens.comparing.terms import REPEATS
from runlens.history import FloatArray
from runlens.run import Run, Setting

BROKEN = frozenset({"crashed", "killed", "running"})  # states of runs that are no repeats
Key = tuple[frozenset[tuple[str, str]], int]


def repeats(runs: Sequence[Run], a: Run, b: Run) -> SeedNoise | None:
    """Return what repeats of two of these runs reached; None where there are none.

    Repeats have the same settings, seeds and machines aside, ended at the same step, and each has a
    seed of its own: a copy of a run shows no noise. Of the configurations of these two alone: how
    far seeds lie apart is not one number for a sweep. Two runs that are the only repeats of one
    configuration tell nothing of the noise between them.
    """
    found: dict[Key, dict[str, Run]] = defaultdict(dict)
    asked = {_key(run) for run in (a, b)}
    for run in (a, b, *runs):
        seed, key = seed_of(run), _key(run)
        if key in asked and seed is not None and _is_whole(run):
            found[key].setdefault(seed, run)
    least = FEWEST + 1 if len(asked) == 1 else FEWEST
    groups = [list(one.values()) for one in found.values() if len(one) >= least]
    if not groups:
        return None
    levels: dict[tuple[str, Kind], tuple[FloatArray, ...]] = {}
    for name in sorted({name for one in groups for run in one for name in run.history.metrics}):
        known = [[reached(run, name) for run in one] for one in groups]
        levels[name, "last"] = tuple(_known([one.last for one in some]) for some in known)
        levels[name, "best"] = tuple(_known([one.best for one in some]) for some in known)
    return SeedNoise(sum(map(len, groups)), levels)


def _is_whole(run: Run) -> bool:
    return recorded(Settings(run)) and run.state.kind not in BROKEN


def _known(values: Sequence[float | None]) -> FloatArray:
    return np.array([value for value in values if value is not None], dtype=np.float64)


def _key(run: Run) -> Key:
    known = Settings(run).known
    return key_of({key: one.value for key, one in known.items()}, run.last_step)


def key_of(config: Mapping[str, Setting], steps: int) -> Key:
    """Return what repeats share: the settings that make a training, and how long it was."""
    bearing = (
        (key, str(typed(value))) for key, value in config.items() if group(key) not in REPEATS
    )
    return frozenset(bearing), steps
