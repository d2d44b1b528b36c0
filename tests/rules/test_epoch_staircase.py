"""Stairs whose epochs are known by another way, or not at all."""

from dataclasses import replace

import numpy as np
import pytest

from runlens.diagnosis import Outcome
from runlens.engine import examine
from runlens.history import History, columns
from runlens.rules.loss.divergence import RULE as DIVERGENCE
from runlens.rules.loss.epoch_staircase import RULE
from runlens.rules.rule import Case, drawn
from runlens.run import Run, State
from runlens.signals import Signals

STAIRS = "0:1.8 299:1.78 300:1.4 599:1.38 600:1.05 900:1.03"


def ask(run: Run) -> Outcome:
    """Examine one run."""
    return examine(RULE, run, Signals(run))


def test_plan_tells_the_epochs_where_no_epoch_is_logged() -> None:
    """900 steps in three epochs are as good as an epoch column; nothing at all is unmet."""
    run = drawn("stairs", train_loss=STAIRS).run()
    assert ask(run).status == "unmet"
    outcome = ask(replace(run, state=State(planned_steps=900, planned_epochs=3)))
    assert outcome.findings[0].onset.step in {300, 310}


@pytest.mark.parametrize(("end", "harmless"), [(0.05, False), (0.08, True)])
def test_three_passes_are_usual_unless_nothing_of_the_loss_is_left(
    end: float, harmless: bool
) -> None:
    """Pairs that are known by heart at the end of the third epoch, and no evaluation."""
    half = 0.3 + end / 2
    curve = f"0:0.6 299:0.6 300:{half} 599:{half} 600:{end} 900:{end}"
    case = Case("s", {"train_loss": curve}, noise=0.002, steps_per_epoch=300)
    assert ask(case.run()).findings[0].harmless is harmless


@pytest.mark.parametrize(
    ("evals", "told"),
    [
        ("150:1.7 300:1.5 900:1.2", set()),
        ("150:1.7 300:1.5 900:1.6", {"num_train_epochs", ""}),
        ("", {""}),
    ],
)
def test_fewer_epochs_only_where_evaluation_no_longer_improves(evals: str, told: set[str]) -> None:
    """Steps alone are usual in fine-tuning: the passes may still pay."""
    curves = {"train_loss": STAIRS} | ({"eval_loss": evals} if evals else {})
    case = Case("s", curves, noise=0.002, config={"num_train_epochs": 3}, steps_per_epoch=300)
    assert {fix.setting for fix in ask(case.run()).findings[0].fixes} == told


def so_far(run: Run, steps: int) -> Run:
    """Return the run with each loss as the mean of its epoch so far."""
    train = run.curve("train_loss")
    parts = np.split(train.value, np.flatnonzero(np.diff(np.ceil(train.step / steps))) + 1)
    value = np.concatenate([np.cumsum(part) / np.arange(1, len(part) + 1) for part in parts])
    rows = columns(train.step, value, train.epoch)
    return replace(run, history=History({"train_loss": rows}, ("drawn",)))


@pytest.mark.parametrize(("last", "diverged"), [(0.8, False), (1.9, True)])
def test_means_of_the_epoch_so_far_have_no_stairs(last: float, diverged: bool) -> None:
    """They leap where they begin anew; the ends of the epochs tell a rise all the same."""
    curve = f"0:2 999:1.9 1000:1.4 1999:1.3 2000:1 2999:0.9 3000:{last} 6000:{last}"
    run = drawn("s", noise=0.2, steps_per_epoch=1000, train_loss=curve).run()
    means = so_far(run, 1000)
    assert ask(means).status == "passed"
    assert Signals(run).epoch_means is None
    ends = Signals(means).epoch_means
    assert ends is not None
    assert ends.step.tolist() == list(range(1000, 7000, 1000))
    told = examine(DIVERGENCE, means, Signals(means))
    assert (told.status == "found") == diverged
