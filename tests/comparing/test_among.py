"""Repeats among the runs of a sweep: of the two that are compared, and of no other."""

import numpy as np

from runlens.comparing.among import repeats
from runlens.comparing.engine import compare
from runlens.run import Run
from tests.comparing.drawn_runs import falling, run


def one(end: float, rate: float, seed: int) -> Run:
    """Return a run with a last eval loss, at a rate, of a seed."""
    curve = falling(20) + (end - falling(20)[-1])
    config = {"learning_rate": rate, "seed": seed}
    return run({"eval_loss": curve}, f"{rate:g}-{seed}", config=config)


def test_repeats_in_a_sweep_tell_its_noise() -> None:
    """Of the configurations of the two: what a third one does, as one that diverges, is its own."""
    a, b = [one(2 + 0.01 * s, 1e-3, s) for s in range(3)], [one(2.1, 2e-3, 0), one(2.12, 2e-3, 1)]
    wild = [one(3.0, 1.0, 0), one(9.0, 1.0, 1)]
    known = repeats([*a, *b, *wild], a[0], b[0])
    assert known is not None
    assert known.siblings == 5
    assert [sorted(np.round(one, 3)) for one in known.levels["eval_loss", "last"]] == [
        [2.0, 2.01, 2.02], [2.1, 2.12],
    ]  # fmt: skip
    row = next(row for row in compare(a[0], b[0], *a[1:], *wild).pairs[0].measures if row.decides)
    assert (row.noise_from, row.outcome) == ("seeds", "worse")


def test_no_pair_is_the_noise_of_its_own_difference() -> None:
    """Two repeats alone; copies of a run; runs without a seed."""
    a, again = one(2.0, 1e-3, 0), one(2.5, 1e-3, 1)
    assert repeats([a, again, one(3.0, 1.0, 0)], a, again) is None
    assert repeats([a, a, one(3.0, 1.0, 0)], a, one(3.0, 1.0, 0)) is None
    bare = run({"eval_loss": falling(20)}, config={"learning_rate": 1e-3})
    assert repeats([bare, bare, a], bare, a) is None
