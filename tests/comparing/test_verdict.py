"""Which run is better: what is known decides, and what is not known is not claimed."""

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import runlens
from runlens.comparing import verdict as verdict_module
from runlens.comparing.engine import compare
from runlens.comparison import CompareVerdict
from runlens.run import Run, Setting
from tests.comparing.drawn_runs import falling, run

FIXTURES = Path(__file__).parents[2] / "fixtures"


def verdict(a: Run, b: Run) -> CompareVerdict:
    """Return the verdict of B against A."""
    return compare(a, b).verdict


def drawn(seed: int = 1, factor: float = 1.0, **config: Setting) -> Run:
    """Return a run of 400 points whose loss ends `factor` times as high."""
    loss = falling(400, seed) * np.linspace(1, factor, 400)
    known = {"seed": seed, "learning_rate": 1e-3, "per_device_train_batch_size": 8} | config
    return run({"train_loss": loss}, f"seed {seed}, {factor}", config=known)


def broken(at: int) -> Run:
    """Return a run whose loss is NaN from a step on."""
    loss = falling(400, 1)
    loss[at - 1 :] = math.nan
    return run({"train_loss": loss}, "broken")


@pytest.mark.parametrize(("factor", "result"), [(0.8, "better"), (1.3, "worse")])
def test_a_difference_far_beyond_noise_is_said_with_numbers(factor: float, result: str) -> None:
    """And with how many times the noise it is."""
    a, b = drawn(), drawn(2, factor, learning_rate=2e-3)
    found = verdict(a, b)
    assert found.result == result
    assert re.search(r"train loss [\d.]+ in B against [\d.]+ in A", found.sentence)
    assert "times the noise" in found.sentence
    assert "One pair cannot tell a setting from a seed" in found.second


def test_noise_is_no_difference() -> None:
    """Two runs of other settings that end alike."""
    assert verdict(drawn(), drawn(2, learning_rate=2e-3)).result == "within_noise"


def test_less_than_one_percent_is_no_difference_however_small_the_noise() -> None:
    """A smooth curve beside one that lies half a percent lower."""
    a, b = run({"train_loss": falling(400)}), run({"train_loss": falling(400) * 0.995})
    found = verdict(a, b)
    assert found.result == "within_noise"
    assert "less than 1" in found.sentence


def test_a_difference_of_seeds_has_no_winner() -> None:
    """However large: nothing but the seed was changed."""
    found = verdict(drawn(), drawn(2, 1.5))
    assert found.result == "within_noise"
    assert "nothing but seed was changed" in found.sentence


def test_a_run_that_ended_in_nan_is_worse() -> None:
    """It says from which step on, whichever of the two it is."""
    well = run({"train_loss": falling(400, 2)}, "well")
    worse, better = verdict(well, broken(100)), verdict(broken(100), well)
    assert (worse.result, better.result) == ("worse", "better")
    assert "no number from step 100 on" in worse.sentence


def test_runs_of_two_tasks_have_no_winner_even_where_one_is_lost() -> None:
    """A policy and a language model: what became of either says nothing of the other."""
    policy = run({"reward": np.linspace(0, 1, 400), "train_loss": falling(400)}, task="grpo")
    found = verdict(policy, broken(100))
    assert found.result == "not_comparable"
    assert "the task of A is grpo" in found.sentence


def test_two_runs_that_ended_in_nan_are_not_compared() -> None:
    """Both steps are said."""
    found = verdict(broken(100), broken(300))
    assert found.result == "not_comparable"
    assert "step 100" in found.sentence
    assert "step 300" in found.sentence


def test_a_nan_that_passes_decides_nothing() -> None:
    """The loss came back: the ends are compared, and what was lost is told."""
    loss = falling(400, 2)
    loss[50:60] = math.nan
    found = compare(run({"train_loss": falling(400, 1)}), run({"train_loss": loss}, "hole"))
    assert found.verdict.result == "within_noise"
    assert any("no number" in problem.text for problem in found.pairs[0].problems)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ({"train_loss": falling(50)}, {"reward": falling(50)}),
        ({"train_loss": falling(50)}, {}),
        ({}, {}),
    ],
)
def test_nothing_in_common_is_said(a: dict[str, Any], b: dict[str, Any]) -> None:
    """Not compared, and the reason names what is missing."""
    found = verdict(run(a, "one"), run(b, "two"))
    assert found.result == "not_comparable"
    assert "cannot be compared" in found.sentence


def test_three_points_decide_nothing() -> None:
    """The noise is not known: no winner, and what to do."""
    found = verdict(run({"train_loss": [3, 2, 1.0]}), run({"train_loss": [3, 2.5, 2.0]}))
    assert found.result == "within_noise"
    assert "No difference can be claimed" in found.sentence
    assert "--seeds" in found.second


def test_no_common_steps_are_said() -> None:
    """One run logs up to step 50, the other from 1,000 on."""
    a = run({"train_loss": falling(50)}, "early")
    b = run({"train_loss": falling(5)}, "late", every=1_000)
    found = compare(a, b)
    assert found.verdict.result in {"within_noise", "not_comparable"}
    assert found.pairs[0].problems


def test_several_changes_share_the_credit() -> None:
    """The second sentence says so."""
    found = verdict(drawn(weight_decay=0.0), drawn(2, 0.7, learning_rate=2e-3, weight_decay=0.1))
    assert "2 settings differ" in found.second


def test_equal_ends_are_called_equal() -> None:
    """Two policies without any reward; the curves differ elsewhere."""
    zero = np.zeros(100)
    a = run({"reward": zero, "grad_norm": falling(100, 1)}, task="grpo")
    b = run({"reward": zero, "grad_norm": falling(100, 2)}, task="grpo")
    assert "do not differ at the end: reward 0 in both" in verdict(a, b).sentence


def test_many_findings_are_listed_with_a_count() -> None:
    """Three by name, the rest by number."""
    assert verdict_module.listed(["a", "b", "c", "d"]) == "a, b, c and 1 more"
    assert verdict_module.listed(["a", "b", "a"]) == "a and b"


def test_a_run_that_diverged_is_worse_though_its_own_scatter_is_large() -> None:
    """The fault makes the noise as large as itself; its rule told it from a look-alike."""
    found = runlens.compare(FIXTURES / "healthy-pretrain", FIXTURES / "divergence").verdict
    assert found.result == "worse"
    assert "B was lost to divergence" in found.second
    reverse = runlens.compare(FIXTURES / "divergence", FIXTURES / "healthy-pretrain").verdict
    assert reverse.result == "better"
