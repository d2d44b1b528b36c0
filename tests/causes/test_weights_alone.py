"""A training that goes on from weights alone, and one that only begins with some."""

from typing import Any

import numpy as np
import pytest

from runlens.cause import Cause
from runlens.engine import diagnose
from tests.causes.test_beside_the_curve import made

DECAYS = 4e-3 * np.cos(np.linspace(0, 1.5, 40))
AGAIN = np.append(DECAYS, 4e-3 * np.cos(np.linspace(0, 1, 20)))
LOSS = np.append(np.linspace(3.6, 2.26, 40), np.linspace(2.37, 2.1, 20))
LOADED = {"init_weights": "ckpt/last.pt", "lr_scheduler_type": "cosine", "learning_rate": 4e-3}


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({**LOADED, "start_step": 400}, True),
        (LOADED, False),  # weights to begin with
        ({**LOADED, "start_step": 0}, False),
        ({**LOADED, "start_step": 100}, False),  # long before
        (
            {"start_step": 400, "lr_scheduler_type": "cosine", "learning_rate": 4e-3},
            False,
        ),  # nothing says what was loaded
    ],
)
def test_weights_alone_begin_a_schedule_anew(config: dict[str, Any], *, named: bool) -> None:
    """At the step where the rate jumps."""
    run = made("other", config, train_loss=LOSS, learning_rate=AGAIN)
    found = diagnose(run).incidents[0].findings[0].causes
    assert found or not named
    cause = found[0] if found else Cause("")
    assert (cause.what == "Optimizer and schedule not restored") is named
    if named:
        assert (cause.kind, cause.rank) == ("resume-state", "most likely")
        assert "take the weights alone to step 400" in cause.evidence_for
