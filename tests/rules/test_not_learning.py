"""Not learning where the start is missing, the noise is strong, or a second sign speaks."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from runlens.diagnosis import Outcome
from runlens.engine import examine
from runlens.history import History, columns
from runlens.rules.loss.not_learning import RULE
from runlens.rules.rule import drawn
from runlens.run import Run, Segment
from runlens.signals import Signals


def ask(run: Run) -> Outcome:
    """Examine one run."""
    return examine(RULE, run, Signals(run))


def test_late_slice_of_a_run_is_unmet() -> None:
    """A flat history that begins mid-run says nothing."""
    step = np.arange(5_000, 9_000, 20)
    history = History({"train_loss": columns(step, 3.7 + 0.02 * np.sin(step))})
    assert ask(Run("late", "late", history, task="pretrain")).status == "unmet"


def test_resumed_launch_alone_is_unmet() -> None:
    """What is left of a run that was resumed at its first point lacks its start."""
    run = drawn("flat", train_loss="10:3.2 900:3.2").run()
    assert ask(run).status == "found"
    assert ask(replace(run, segments=(Segment(1, 10, 900),))).status == "unmet"


def test_run_inside_its_warmup_is_unmet() -> None:
    """The learning rate still rises at the end."""
    run = drawn("warming", train_loss="0:3.2 300:3.2", config={"warmup_steps": 1000}).run()
    assert ask(run).status == "unmet"


@pytest.mark.parametrize(("norm", "severity"), [("0:0 900:0", "warning"), ("0:1 900:1", "info")])
def test_strong_noise_needs_a_second_sign(norm: str, severity: str) -> None:
    """Noise of 40 % hides a small fall, which is told; a gradient norm of zero makes it a fault."""
    run = drawn("noisy", noise=0.4, task="regression", train_loss="0:5 900:5", grad_norm=norm).run()
    assert ask(run).findings[0].severity == severity


def test_low_rate_is_raised_into_its_range() -> None:
    """The fix for a rate of 1e-9 is the low end of the usual range."""
    rate = "0:1e-9 900:1e-9"
    run = drawn("tiny", train_loss="0:3.2 900:3.2", learning_rate=rate).run()
    fix = ask(run).findings[0].fixes[0]
    assert (fix.setting, fix.old, fix.new) == ("learning_rate", 1e-9, 1e-5)


@pytest.mark.parametrize(("end", "words"), [(2.97, "hardly fell"), (3.03, "did not fall")])
def test_a_small_fall_is_not_told_as_none(end: float, words: str) -> None:
    """Its title says which, with both levels."""
    run = drawn("little", noise=0.002, train_loss=f"0:3 900:{end}").run()
    finding = ask(run).findings[0]
    assert finding.title.startswith(f"Train loss {words}. Its median was 3.00")
    assert finding.evidence[0].value == pytest.approx((end - 3) / 3, abs=0.004)


@pytest.mark.parametrize(
    ("end", "status"),
    [(0.478, "found"), (0.40, "passed")],
)
def test_a_fall_within_the_scatter_of_single_points_is_told(end: float, status: str) -> None:
    """Thousands of batch losses that end 3 % lower, and dipped in between, show no learning."""
    step, rng = np.arange(3_000), np.random.default_rng(0)
    level = np.interp(step, [0, 1_400, 1_500, 1_600, 3_000], [0.5, 0.5, 0.43, 0.495, end])
    history = History({"train_loss": columns(step, level + rng.normal(0, 0.08, len(step)))})
    outcome = ask(Run("batches", "batches", history, task="other"))
    assert outcome.status == status
    assert all("the scatter of its points" in one.title for one in outcome.findings)


@pytest.mark.parametrize(
    ("accuracy", "evaluation", "severity"),
    [(0.62, 0.662, "warning"), (0.62, 0.63, "info"), (0.76, 0.55, "info")],
)
def test_one_answer_for_all_has_the_entropy_of_its_accuracy(
    accuracy: float, evaluation: float, severity: str
) -> None:
    """Two evaluations tell it: where 62 % are right, a constant answer has a loss of 0.664."""
    run = drawn(
        "constant",
        noise={"train_loss": 0, "eval_loss": 0.002, "eval_accuracy": 0.002},
        task="classification",
        train_loss="0:0.69 900:0.681 /150",
        eval_loss=f"450:{evaluation} 900:{evaluation}",
        eval_accuracy=f"450:{accuracy} 900:{accuracy}",
    ).run()
    (found,) = ask(run).findings
    assert found.severity == severity


@pytest.mark.parametrize(
    ("right", "status"), [("0:0.78 160:0.84", "passed"), ("0:0.4 160:0.6", "found")]
)
def test_pairs_that_are_told_apart_from_the_first_row_on(right: str, status: str) -> None:
    """Their margin grows beside an accuracy that stays where it is, above that of a coin."""
    curves: dict[str, Any] = {
        "train_loss": "0:3.16 160:3.085 /8",
        "dpo_margin": "0:0.007 160:0.27 /8",
    }
    run = drawn("x", task="dpo", noise=0.003, **curves, train_accuracy=f"{right} /8").run()
    assert RULE.check(run, Signals(run), RULE.limits).status == status
