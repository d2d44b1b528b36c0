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
    """With its interval, and the probability that B is better; the verdict has them as fields."""
    a, b = drawn(), drawn(2, factor, learning_rate=2e-3)
    found = verdict(a, b)
    assert found.result == result
    assert re.search(r"train loss [\d.]+ in B against [\d.]+ in A", found.sentence)
    assert re.search(
        r"B − A lies between .* and .* \(95.% interval\); P\(B better\) [=<>] ", found.second
    )
    assert found.interval is not None
    assert found.effect is not None
    assert found.interval[0] < found.effect < found.interval[1]
    assert (found.p_b_better or 0) > 0.95 if result == "better" else (found.p_b_better or 1) < 0.05


def test_noise_under_another_setting_is_not_told() -> None:
    """Two runs of other settings that end alike: perhaps equal, but one pair cannot show it."""
    found = verdict(drawn(), drawn(2, learning_rate=2e-3))
    assert found.result == "cannot_tell"
    assert "difference of" in found.second
    assert found.smallest is not None


def test_a_small_difference_is_clear_where_repeats_lie_closer() -> None:
    """Half a percent: nothing by one pair, better by five repeats within 0.05 %."""
    rng = np.random.default_rng(0)
    made = [
        run({"eval_loss": 3.28 * level * falling(60) * (1 + 5e-4 * rng.normal())},
            config={"learning_rate": rate, "seed": seed})
        for level, rate in ((1.0, 1e-3), (0.995, 2e-3)) for seed in range(5)
    ]  # fmt: skip
    a, b = made[0], made[5]
    assert compare(a, b, seeds=made[:5]).verdict.result == "better"


def test_a_difference_of_seeds_has_no_winner() -> None:
    """However large: nothing but the seed was changed. Far apart something else was."""
    near, far = verdict(drawn(), drawn(2, 1.01)), verdict(drawn(), drawn(2, 1.5))
    assert (near.result, far.result) == ("equivalent", "cannot_tell")
    assert "nothing but seed was changed" in near.sentence


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
    assert found.verdict.result in {"equivalent", "cannot_tell"}
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


def test_three_points_decide_little() -> None:
    """Little is known of what repeats differ by: no winner by a tenth, and what to do."""
    found = verdict(run({"train_loss": [3, 2, 1.0]}), run({"train_loss": [3, 2.1, 1.15]}))
    assert found.result == "cannot_tell"
    assert "Cannot tell which is better" in found.sentence
    assert "--seeds" in found.second


def test_no_common_steps_are_said() -> None:
    """One run logs up to step 50, the other from 1,000 on."""
    a = run({"train_loss": falling(50)}, "early")
    b = run({"train_loss": falling(5)}, "late", every=1_000)
    found = compare(a, b)
    assert found.verdict.result in {"equivalent", "cannot_tell", "not_comparable"}
    assert found.pairs[0].problems


def test_several_changes_share_the_credit() -> None:
    """The second sentence says so."""
    found = verdict(drawn(weight_decay=0.0), drawn(2, 0.7, learning_rate=2e-3, weight_decay=0.1))
    assert "2 settings differ" in found.second
    assert "with the learning_rate of B alone would separate them" in found.second


def test_equal_ends_are_called_equal() -> None:
    """Two policies without any reward; the curves differ elsewhere."""
    zero = np.zeros(100)
    a = run({"reward": zero, "grad_norm": falling(100, 1)}, task="grpo")
    b = run({"reward": zero, "grad_norm": falling(100, 2)}, task="grpo")
    assert "equivalent at the end: reward 0 in both" in verdict(a, b).sentence


def test_many_findings_are_listed_with_a_count() -> None:
    """Three by name, the rest by number."""
    assert verdict_module.listed(["a", "b", "c", "d"]) == "a, b, c and 1 more"
    assert verdict_module.listed(["a", "b", "a"]) == "a and b"


def test_a_run_that_diverged_is_worse_though_its_own_scatter_is_large() -> None:
    """And better the other way round."""
    found = runlens.compare(FIXTURES / "healthy-pretrain", FIXTURES / "divergence").verdict
    assert found.result == "worse"
    reverse = runlens.compare(FIXTURES / "divergence", FIXTURES / "healthy-pretrain").verdict
    assert reverse.result == "better"


def test_a_run_that_a_fault_spoilt_is_worse_whatever_its_noise() -> None:
    """The fault makes the noise as large as itself: a probability by that noise would deny it."""
    rng, late = np.random.default_rng(2), np.arange(400) >= 250
    loss, norm = falling(400, 2), np.full(400, 1.0)
    loss += np.where(late, np.clip(2.5 + 3 * rng.standard_normal(400), 0, None), 0)
    norm *= np.where(late, 1e3, 1)
    spoilt = run({"train_loss": loss, "grad_norm": norm}, "spoilt", config={"seed": 2})
    pair = compare(drawn(), spoilt).pairs[0]
    assert pair.verdict.result == "worse"
    assert re.search(r"B was lost to \S+ from step 25\d on", pair.verdict.second)
    assert (pair.verdict.p_b_better, pair.verdict.interval) == (None, None)
    assert not any(row.p_b_better for row in pair.measures if row.decides)
