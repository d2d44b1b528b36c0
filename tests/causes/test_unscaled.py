"""Settings that make an update, or what a loss can tell, far too large or small; look-alikes."""

from dataclasses import replace
from math import log
from typing import Any

import numpy as np
import pytest

from runlens.engine import diagnose
from tests.causes.test_too_long import told
from tests.causes.test_traces import made

GREW = 3.0 * np.concatenate([np.geomspace(1, 1e5, 12), np.full(28, 1e5)])
NORM = 20.0 * np.concatenate([np.geomspace(1, 1e5, 12), np.full(28, 1e5)])
SUMMED = "Gradients of several batches that are summed, not averaged"
HOT = "A temperature at which all pairs look alike"
OFF = {"gradient_accumulation_steps": 32, "loss_div_by_accum": False, "optim": "sgd"}


@pytest.mark.parametrize(
    ("config", "named"),
    [
        (OFF, True),
        ({**OFF, "loss_div_by_accum": True}, False),
        ({**OFF, "gradient_accumulation_steps": 1}, False),  # nothing is added up
        ({**OFF, "optim": "adamw"}, False),  # divides by the size of gradients
        ({**OFF, "max_grad_norm": 1.0}, False),  # bounds the sum
        ({**OFF, "max_grad_norm": 1000.0}, True),
        ({"gradient_accumulation_steps": 32, "optim": "sgd", "norm_by_batch": False}, False),
    ],
)
def test_gradients_that_are_summed(config: dict[str, Any], *, named: bool) -> None:
    """By a switch of the user's own."""
    what, why = told(config=config, train_loss=GREW, grad_norm=NORM)
    assert (what == SUMMED) is named
    assert ("adds up 32 batches" in why) is named


@pytest.mark.parametrize(
    ("config", "level", "named"),
    [
        ({"temperature": 50.0}, log(255), True),
        ({"temperature": 50.0}, log(128), True),  # of one view against the other
        ({"temperature": 0.5}, log(255), False),
        ({"temperature": 50.0}, 3.0, False),  # a factor: its loss is not that of a guess
        ({}, log(255), False),
    ],
)
def test_a_temperature_at_which_pairs_look_alike(
    config: dict[str, Any], level: float, *, named: bool
) -> None:
    """Of a contrastive loss that stands where equal odds have it."""
    still = level + 1e-4 * np.sin(np.arange(40))
    config = {"per_device_train_batch_size": 128, **config}
    what, why = told(task="contrastive", config=config, train_loss=still)
    assert (what == HOT) is named
    assert ("differ by at most 0.04" in why) is named


def test_labels_have_no_temperature() -> None:
    """Of a classifier the setting is that of something else."""
    still = log(255) + 1e-4 * np.sin(np.arange(40))
    config = {"per_device_train_batch_size": 128, "temperature": 50.0}
    assert told(task="classification", config=config, train_loss=still)[0] != HOT


@pytest.mark.parametrize(
    ("name", "lost", "hinted"),
    [("ctc_loss", 0, True), ("ctc_loss", 20, False), ("xent", 0, False)],
)
def test_inputs_that_are_too_short_for_ctc(name: str, lost: int, *, hinted: bool) -> None:
    """Never proved by a NaN alone, and only of one that no update made."""
    losses = 3.0 + 0.01 * np.sin(np.arange(40))
    losses[lost:] = np.nan
    run = replace(made("asr", train_loss=losses), taken={"train_loss": name})
    causes = diagnose(run).incidents[0].findings[0].causes
    assert any("fewer frames than" in f"{one.what} {one.evidence_for}" for one in causes) is hinted
    assert causes[0].rank != "most likely"
