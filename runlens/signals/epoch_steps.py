"""Falls of a curve at whole epochs, and from epoch to epoch at the same place of each."""

from math import factorial, prod

import numpy as np

from runlens.arrays import medians
from runlens.history import FloatArray, IntArray
from runlens.records import NamedTuple
from runlens.signals.noise import MEDIAN_LOSS, sigma

FEWEST_POINTS = 6  # of an epoch
FEWEST_MEANS, FEWEST_EPOCHS = 30, 2  # points of an epoch whose mean so far is told; such epochs
START = 10  # an epoch begins with a tenth of its points
# a mean of k points moves by 1/k of what the next one is off it: in the later half by less than
# 0.08 of what it moves by at first, from 30 points on; a loss of single batches by 0.2 and more
SETTLES = 0.1
DIGITS = 3  # of a share of an epoch: places that far apart are two
CHANCE = 0.01  # that points in any order fall so at each place


class EpochSteps(NamedTuple):
    """Falls at the whole epochs of a curve; arrays of shape (k,), one entry a boundary."""

    first: IntArray  # index of the first point of the new epoch
    fall: FloatArray  # median before minus median after the boundary
    middle: FloatArray  # the same contrast half an epoch earlier, NaN where it has no room
    error: float  # standard error of one fall
    per_epoch: float  # points an epoch


def epoch_steps(value: FloatArray, epoch: FloatArray) -> EpochSteps | None:
    """Return the falls at whole epochs; None below one boundary or 6 points an epoch.

    `epoch` has shape (n,). A quarter of an epoch on each side is compared, at least 3 points.
    A point logged exactly at the end of an epoch belongs to that epoch.
    """
    known = np.isfinite(epoch)
    value, epoch = value[known], epoch[known]
    if len(value) < 2 * FEWEST_POINTS or epoch[-1] <= epoch[0]:
        return None
    per_epoch = (len(value) - 1) / float(epoch[-1] - epoch[0])
    if not FEWEST_POINTS <= per_epoch <= len(value):
        return None
    width = max(3, int(0.25 * per_epoch))
    whole = np.arange(np.floor(epoch[0]) + 1, np.ceil(epoch[-1] - 1e-9))
    first = np.searchsorted(epoch, whole + 1e-6)
    middle = np.searchsorted(epoch, whole - 0.5)
    room = (first >= width) & (first + width <= len(value))
    if not room.any():
        return None
    return EpochSteps(
        first=first[room],
        fall=_contrast(value, first[room], width),
        middle=_contrast(value, middle[room], width),
        error=MEDIAN_LOSS * sigma(value) * (2 / width) ** 0.5,
        per_epoch=per_epoch,
    )


def _contrast(value: FloatArray, at: IntArray, width: int) -> FloatArray:
    """Return the median of `width` points before `at` minus that of the points from `at` on."""
    room = (at >= width) & (at + width <= len(value))
    safe = np.where(room, at, width)[:, None] + np.arange(width)[None, :]
    made = medians(value[safe - width]) - medians(value[safe])
    return np.where(room, made, np.nan)


def means_so_far(value: FloatArray, epoch: FloatArray) -> IntArray | None:
    """Return the indices of the last points of the epochs, where all before are means so far.

    A progress bar shows the mean of its epoch, which begins anew with the next. None for a loss of
    its own at each point. ``epoch`` has shape (n,), as ``value``.
    """
    if len(value) < FEWEST_EPOCHS * FEWEST_MEANS or not np.isfinite(epoch).all():
        return None
    begins = np.flatnonzero(np.diff(np.ceil(epoch - 1e-9))) + 1
    edges = np.concatenate([[0], begins, [len(value)]])
    whole = np.flatnonzero(np.diff(edges) >= FEWEST_MEANS)
    if len(whole) < FEWEST_EPOCHS:
        return None
    moved = [np.abs(np.diff(value[edges[one] : edges[one + 1]])) for one in whole.tolist()]
    first = np.array([one[: len(one) // START + 1].mean() for one in moved])
    later = np.array([one[len(one) // 2 :].mean() for one in moved])
    odd = int((later >= SETTLES * first).sum())  # one in ten may hold next to no noise
    return None if odd > len(whole) / START else edges[whole + 1] - 1


def places_that_fall(value: FloatArray, epoch: FloatArray) -> int:
    """Return at how many places of an epoch a curve only fell from epoch to epoch; 0 where not.

    Where batches differ more than a model learns in an epoch, and come in the same order each time,
    a curve goes up and down. ``epoch`` has shape (n,), as ``value``. At each place there is one
    order of k points in k! that only falls.
    """
    if not np.isfinite(epoch).all():
        return 0
    at = np.round(epoch % 1, DIGITS)
    places = [value[at == place] for place in np.unique(at)]
    falls = all(len(one) > 1 and bool((np.diff(one) < 0).all()) for one in places)
    known = len(places) > 1 and falls and prod(factorial(len(one)) for one in places) * CHANCE > 1
    return len(places) if known else 0
