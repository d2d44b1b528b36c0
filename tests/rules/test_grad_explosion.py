"""Exploding gradient: what the drawn cases cannot say."""

import numpy as np
import pytest

from runlens.diagnosis import Outcome
from runlens.engine import examine
from runlens.history import FloatArray, History, columns
from runlens.rules.gradients.grad_explosion import RULE
from runlens.rules.rule import Case, drawn
from runlens.run import Run, State
from runlens.signals import Signals

LOSS = "0:2.2 300:1.3 900:0.9"


def said(case: Case) -> Outcome:
    """Ask the rule."""
    run = case.run()
    return examine(RULE, run, Signals(run))


def of_norms(norm: FloatArray) -> Outcome:
    """Ask the rule about a norm beside a falling loss."""
    step = np.arange(len(norm)) * 10
    loss = columns(step, np.linspace(2, 1, len(norm)))
    history = History({"train_loss": loss, "grad_norm": columns(step, norm)})
    run = Run("r", "r", history, task="sft")
    return examine(RULE, run, Signals(run))


@pytest.mark.parametrize("factor", [20, 100, 1000])
@pytest.mark.parametrize("scatter", [0.1, 0.4])
def test_climbs_are_found_near_their_onset(factor: float, scatter: float) -> None:
    """Within 10 % of the run, whatever the noise."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        ramp = np.clip((np.arange(300) - 180) / 60, 0, 1)
        norm = np.exp(scatter * rng.normal(size=300) + np.log(factor) * ramp)
        finding = of_norms(norm).findings[0]
        assert finding.onset.step is not None
        assert abs(finding.onset.step - 1800) <= 300


def test_heavy_tails_and_slow_growth_are_quiet() -> None:
    """Not one of 100 healthy norms is called an explosion."""
    for seed in range(100):
        rng = np.random.default_rng(seed)
        norm = np.exp(0.6 * rng.normal(size=200) + np.linspace(0, rng.uniform(-1, 0.7), 200))
        assert of_norms(norm).status == "passed"


def test_crash_at_high_norms_is_critical() -> None:
    """Three norms above ten times the base and the run is over."""
    case = drawn(
        "c",
        noise=0.0,
        state=State("crashed"),
        train_loss=LOSS,
        grad_norm="0:1 870:1 880:50 900:90",
    )
    assert said(case).findings[0].severity == "critical"


def test_loss_that_explodes_at_once_is_found() -> None:
    """A run lost within a few points has its first norms as base."""
    case = drawn(
        "a", train_loss="0:2 190:9 200:nan 900:nan", grad_norm="0:1 20:1 100:1e4 190:1e9 200:nan"
    )
    finding = said(case).findings[0]
    assert finding.severity == "critical"
    assert finding.onset.step is not None
    assert finding.onset.step <= 60


def test_huge_norms_are_a_fault_only_where_the_loss_does_not_fall() -> None:
    """A scale of 1e5 is no explosion; with a flat loss it is worth a warning."""
    flat = drawn("f", train_loss="0:2.2 900:2.2", grad_norm="0:500 900:500")
    assert said(flat).findings[0].severity == "warning"
    assert said(drawn("g", train_loss=LOSS, grad_norm="0:500 900:500")).status == "passed"


def test_too_few_norms_are_unmet() -> None:
    """The reason says how many are needed."""
    outcome = said(drawn("n", train_loss="0:2 40:1", grad_norm="0:1 40:50"))
    assert outcome.status == "unmet"
    assert "only 4 gradient norms after the first steps; 6 needed" in outcome.reason


def test_learning_rate_fix_has_the_old_and_the_new_value() -> None:
    """A third of what the run used, in two digits."""
    case = drawn(
        "l",
        config={"learning_rate": 2e-4},
        train_loss="0:2 500:1 900:3",
        grad_norm="0:1 500:1 700:60 900:80",
    )
    fix = said(case).findings[0].fixes[0]
    assert (fix.setting, fix.old, fix.new) == ("learning_rate", 2e-4, 6.7e-05)


def test_norms_of_a_gradient_that_died_are_no_new_climb() -> None:
    """The explosion is dated where the norm left its level, not behind the zeros that followed."""
    norm = np.full(100, 0.5)
    norm[60:70], norm[70:90], norm[90:] = 1e6, 0.0, 1e8
    assert of_norms(norm).findings[0].onset.step == 600


@pytest.mark.parametrize(("low", "onset"), [(2, 500), (6, 690)])
def test_a_climb_begins_where_most_norms_are_high(low: int, onset: float) -> None:
    """Some that are low again change nothing; where more are low than high it had not begun."""
    norm = np.full(100, 0.5)
    norm[50:] = 20.0
    for first in (53, 63) if low > 2 else (58,):
        norm[first : first + low] = 0.5
    assert of_norms(norm).findings[0].onset.step == onset


def test_norms_of_a_lost_loss_are_counted_before_it() -> None:
    """The norms after it are no norms that could explode."""
    outcome = said(drawn("n", train_loss="0:nan 400:nan", grad_norm="0:1 400:1"))
    assert outcome.reason.startswith("no gradient norm from before the loss became NaN")


def test_a_climb_that_came_back_has_an_end() -> None:
    """Its title and its span name the same steps; one that stays has none."""
    back, stays = (
        said(drawn("x", noise=0.1, train_loss="0:2 900:1", grad_norm=norm)).findings[0]
        for norm in ("0:1 500:1 510:50 700:50 710:1 900:1", "0:1 500:1 700:60 900:80")
    )
    assert back.end is not None
    assert "was high from step 5" in back.title
    assert f"to step {back.end.step:g}." in back.title
    assert 680 <= (back.end.step or 0) <= 730
    assert stays.end is None
    assert "climbed from step" in stays.title


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ({"max_grad_norm": 0.0}, "Clipping is off"),
        ({"max_grad_norm": 1.0}, "limits it to 1"),
        ({}, "does not say whether"),
    ],
)
def test_what_bounds_the_step_is_told(config: dict[str, float], told: str) -> None:
    """A norm is logged before it is clipped; a loop of one's own clips what it says alone."""
    case = drawn(
        "x",
        noise=0.1,
        framework="unknown",
        config=config,
        train_loss="0:2 900:1",
        grad_norm="0:1 500:1 700:60 900:80",
    )
    assert told in said(case).findings[0].seen
