"""How far repeats lie apart, by runs of a sweep whose settings are near each other.

A random search repeats no configuration. Its runs are put in the order of the settings that move
the metric, what explains most first; of two that stand side by side the settings differ least, and
what they reach differs by noise and by the little that the settings still do. So it bounds the
noise from above (difference-based variance: Rice 1984, Annals of Statistics 12). The middle of the
differences is taken: configurations that diverge say nothing of how far the others lie apart.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from runlens.comparing.belief import ALONE, Spread
from runlens.comparing.partial import columns_of
from runlens.comparison import Effect
from runlens.history import FloatArray
from runlens.run import Setting

OF_MIDDLE = 1 / (2**0.5 * 0.6745)  # deviation of one, by the median difference of normal twos
WORTH = 0.37  # efficiency of a median beside a mean of squares, for normal values


def between(
    settings: Sequence[Mapping[str, Setting]],
    value: FloatArray,
    effects: Sequence[Effect],
    before: Spread,
) -> Spread:
    """Return the spread by neighbors, of what each run reached, shape (n,).

    `before` where that is less, or where the runs are too few to need no prior.
    """
    names = [effect.setting.partition(" + ")[0] for effect in effects]
    known = [columns_of([one.get(name) for one in settings]) for name in names]
    keys = [part for made in known if made is not None for part in made.T]
    order = np.lexsort(keys[::-1]) if keys else np.arange(len(value))
    pairs = value[order][: len(value) // 2 * 2].reshape(-1, 2)
    freedom = int(WORTH * len(pairs))
    if freedom < ALONE:
        return before
    apart = OF_MIDDLE * float(np.median(np.abs(np.diff(pairs))))
    if not 0 < apart < before.deviation or not math.isfinite(apart):
        return before
    return before._replace(measured=apart, freedom=freedom, source="neighbours")
