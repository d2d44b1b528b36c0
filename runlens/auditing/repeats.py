"""Repeats in the store of an audit: what runs of one configuration reached, learned each night.

People rerun a baseline only to learn how far seeds lie apart. A store has seen runs that differ in
nothing else: of each configuration that ran to its end twice or more the last values tell it.
"""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from runlens.auditing.rows import LAST, settings
from runlens.comparing.among import BROKEN, Key, key_of
from runlens.comparing.seeds import Kind, SeedNoise
from runlens.history import FloatArray
from runlens.nights import RunRow
from runlens.run import Run

FEWEST = 2


def repeats(place: str | Path, runs: Iterable[Run]) -> SeedNoise | None:
    """Return what repeats of these runs' configurations reached; None where a store has none.

    Repeats have the same settings, seeds and machines aside, and ended at the same step; without a
    setting none is one.

    Raises:
        BadStore: where the store cannot be read.

    """
    from runlens.auditing.store import Store

    wanted = {key_of(settings(run), run.last_step) for run in runs}
    found: dict[Key, list[RunRow]] = defaultdict(list)
    with Store(place) as store:
        for row in store.runs(*store.sources()):
            key = key_of(row.config, row.steps)
            if key in wanted and key[0] and row.state not in BROKEN:
                found[key].append(row)
    groups = [rows for rows in found.values() if len(rows) >= FEWEST]
    if not groups:
        return None
    levels: dict[tuple[str, Kind], tuple[FloatArray, ...]] = {}
    names = {name for rows in groups for row in rows for name in row.measures}
    for name in sorted(name for name in names if name.endswith(LAST)):
        known = [[row.measures[name] for row in rows if name in row.measures] for rows in groups]
        both = tuple(np.array(some) for some in known if len(some) >= FEWEST)
        if both:
            levels[name.removesuffix(LAST), "last"] = both
            levels[name.removesuffix(LAST), "best"] = both
    return SeedNoise(sum(map(len, groups)), levels) if levels else None
