"""The losses of a generator and a discriminator, where none is called by what it is."""

from collections.abc import Mapping

import numpy as np

from runlens.history import Columns
from runlens.naming import words
from runlens.sources.merging.objective import DISCRIMINATOR, MEAN

OF_WHOLE = frozenset(("gan", "loss", "train"))


def halves_of_discriminator(metrics: Mapping[str, Columns]) -> tuple[str, ...]:
    """Return the losses on real and on made samples beside a generator's, of which one is the mean.

    As pix2pix trains it (Isola et al. 2017, "we divide the objective by 2") and logs its halves
    alone. Below zero they are scores of a critic.
    """
    found = {
        half: name
        for name in metrics
        for half in ("real", "fake")
        if half in words(name) and DISCRIMINATOR & set(words(name))
    }
    halves = tuple(found[half] for half in ("real", "fake") if half in found)
    if len(halves) < len(("real", "fake")):
        return ()
    real, fake = (metrics[name] for name in halves)
    of_one = np.array_equal(real.step, fake.step)
    return halves if of_one and min(np.nanmin(real.value), np.nanmin(fake.value)) >= 0 else ()


def through_both(metrics: Mapping[str, Columns]) -> str:
    """Return the loss of a generator that is called after the whole: ``gan_loss``; "" of none.

    Loops of Keras train it through both networks. Beside other losses than those of the
    discriminator it is the adversarial part of one.
    """
    losses = {name: set(words(name)) for name in metrics if "loss" in words(name)}
    others = {name for name, said in losses.items() if not DISCRIMINATOR & said}
    (alone,) = others if len(others) == 1 else ("",)
    return alone if "gan" in losses.get(alone, ()) and losses[alone] - MEAN <= OF_WHOLE else ""
