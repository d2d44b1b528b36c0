"""What a model knew before it stood at a guess, and what only looks like it."""

from typing import Any

import numpy as np
import pytest

from runlens.engine import diagnose
from tests.causes.test_traces import made

DRAWS = np.random.default_rng(11)
GUESS = 2.303 + 0.008 * DRAWS.standard_normal(16)
RIGHT = 0.12 + 0.008 * DRAWS.standard_normal(16)
OTHERS: dict[str, Any] = {"eval_accuracy": 0.1 + 0.008 * DRAWS.standard_normal(16)}


def first_is(value: float, rest: Any) -> Any:
    """Return a curve with another first value."""
    return np.concatenate([[value], rest[1:]])


@pytest.mark.parametrize(
    ("right", "train", "config", "named"),
    [
        (first_is(0.245, RIGHT), first_is(2.228, GUESS), {}, True),
        (first_is(0.13, RIGHT), first_is(2.301, GUESS), {}, False),  # a guess from the start
        (first_is(0.245, RIGHT), first_is(2.4, GUESS), {}, False),  # the loss was no lower
        (first_is(0.245, RIGHT), first_is(2.228, GUESS), {"learning_rate": 1e-4}, False),
    ],
)
def test_what_was_right_at_first_and_never_again(
    right: Any, train: Any, config: dict[str, Any], *, named: bool
) -> None:
    """Neither wrong labels nor small steps lose what was learned."""
    run = made("classification", config, train_accuracy=right, train_loss=train, **OTHERS)
    causes = [one for finding in diagnose(run).findings for one in finding.causes[:1]]
    assert any("at the first point and at most" in one.evidence_for for one in causes) is named


@pytest.mark.parametrize(("start", "named"), [(53.9, True), (3.1, False)])
def test_a_first_loss_far_above_a_guess_is_a_hint(start: float, *, named: bool) -> None:
    """Inputs that are not scaled begin there too: not known, with a rate that would fit."""
    run = made("classification", train_loss=first_is(start, GUESS), **OTHERS)
    causes = [one for finding in diagnose(run).findings for one in finding.causes[:1]]
    told = [one for one in causes if "(median) ever since" in one.evidence_for]
    assert bool(told) is named
    assert all(one.what == "Not known" for one in told)
