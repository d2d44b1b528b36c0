"""A training that goes on from weights alone, and one that only begins with some."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from runlens.cause import Cause
from runlens.engine import diagnose
from runlens.run import Event
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


@pytest.mark.parametrize(
    ("line", "resumed", "named"),
    [
        ("WARNING:lm:checkpoint has no key 'optimizer'; it starts fresh", True, True),
        ("INFO | optimizer state not found in checkpoint, starting fresh", True, True),
        ("key 'optimizer' not in checkpoint", True, True),
        ("resumed from ckpt_220 (model, optimizer, scheduler, rng)", True, False),
        ("optimizer offload is not in use", True, False),
        ("optimizer state not found in checkpoint", False, False),  # weights to begin with
    ],
)
def test_a_loader_that_misses_the_optimizer(line: str, *, resumed: bool, named: bool) -> None:
    """At a resume, whose rate begins again."""
    decays = 3e-2 * 0.92 ** np.arange(40)
    worse = np.append(np.geomspace(3.6, 1.0, 40), np.geomspace(2.6, 1.2, 20))
    rate = np.append(decays, decays[:20])
    run = made("other", train_loss=worse, learning_rate=rate)
    events = (Event("resume", 400, text="resumed"),) if resumed else ()
    run = replace(run, events=events, log_tail=(line, "step 410"))
    causes = [one for each in diagnose(run).incidents for one in each.findings[0].causes]
    told = [one for one in causes if f'"{line.partition(";")[0]}"' in one.evidence_for]
    assert bool(told) is named
    if named:
        assert causes[0].what in {
            "Optimizer and schedule not restored",
            "Optimizer state not restored",
        }


@pytest.mark.parametrize(
    ("line", "resumed", "named"),
    [
        ("missing keys: ['out.weight', 'out.bias'] unexpected keys: ['head.weight']", True, True),
        ("missing_keys=['out.weight']", True, True),
        ("missing keys: [] unexpected keys: ['head.weight']", True, False),
        ("missing keys: ['out.weight']", False, False),  # the new head of a model that is tuned
    ],
)
def test_weights_that_a_resume_did_not_load(line: str, *, resumed: bool, named: bool) -> None:
    """It lost what that part had learned, whatever the rate did."""
    worse = np.append(np.geomspace(3.6, 0.3, 40), np.geomspace(3.6, 0.4, 20))
    run = made("other", train_loss=worse)
    events = (Event("resume", 400, text="resumed"),) if resumed else ()
    run = replace(run, events=events, log_tail=(line, "step 410"))
    causes = [one for each in diagnose(run).incidents for one in each.findings[0].causes]
    assert causes
    assert causes[0].what.startswith("Weights that the resume did not load") is named
    assert not named or '"out" started over' in causes[0].what
