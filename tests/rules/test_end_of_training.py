"""Where the training loss came to, whatever its last point is."""

import numpy as np
import pytest

from runlens.rules.evaluation.sets import train_around
from runlens.rules.rule import drawn
from runlens.signals import Signals


@pytest.mark.parametrize(("last", "told"), [(1.26, False), (0.5, True)])
def test_a_spike_at_the_very_end_is_not_where_the_loss_came_to(last: float, told: bool) -> None:
    """The last value of its level is told; one within its noise is itself that."""
    run = drawn("s", noise=0.02, train_loss=f"0:2.2 990:0.5 1000:{last}").run()
    value = run.curve("train_loss").value
    train = train_around(Signals(run), 180)
    assert train is not None
    assert (train.logged_end == value[-1]) == told
    assert np.isin(train.logged_end, value[-6:])
    assert train.logged_end < 0.6
