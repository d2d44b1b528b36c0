"""Runs put side by side: places, repeats, several at once."""

from pathlib import Path

import numpy as np
import pytest

import runlens
from runlens.comparing import places
from runlens.comparing.engine import compare
from runlens.comparing.shown import MOST_POINTS
from runlens.comparison import MOST_RUNS
from runlens.errors import BadSettings, NoSuchRun, NothingReadable, SeveralRuns
from runlens.settings import Settings
from tests.cli.places import a_run
from tests.comparing.drawn_runs import falling, run

PAIRS = Path(__file__).parents[2] / "fixtures" / "pairs"


def test_the_public_function_takes_places_and_runs() -> None:
    """A path beside a run that was read before."""
    found = runlens.compare(PAIRS / "p01a", runlens.read(PAIRS / "p02b"))
    assert [one.run_name for one in found.runs] == ["p01a", "p02b"]
    assert isinstance(found, runlens.Comparison)


def test_further_runs_are_compared_with_the_first() -> None:
    """Each has a verdict of its own."""
    found = compare(*(PAIRS / name for name in ("q10a", "q12b", "q10a")))
    assert [pair.verdict.result for pair in found.pairs] == ["worse", "identical"]
    assert all(pair.a.run_name == "q10a" for pair in found.pairs)
    assert {len(curves) for curves in found.curves.values()} == {3}


def test_too_many_runs_are_refused() -> None:
    """In one line, before anything is read."""
    with pytest.raises(BadSettings, match=f"{MOST_RUNS} at most"):
        compare(*["nowhere"] * (MOST_RUNS + 1))


def test_curves_are_thinned_and_keep_their_extremes() -> None:
    """One spike among many points is still drawn."""
    loss = falling(20_000, 1)
    loss[7_777] = 50.0
    found = compare(run({"train_loss": loss}), run({"train_loss": falling(20_000, 2)}))
    first, _ = found.curves["train_loss"]
    assert first is not None
    assert len(first.step) <= MOST_POINTS + 4
    assert max(first.value) == 50.0
    assert first.points == 20_000


def test_an_axis_of_another_unit_moves_the_curves() -> None:
    """By tokens: twice the batch is twice as far on."""
    config = {"per_device_train_batch_size": 8}
    a = run({"train_loss": falling(100, 1)}, "a", config=config)
    b = run({"train_loss": falling(100, 2)}, "b", config={"per_device_train_batch_size": 16})
    found = compare(a, b)
    one, two = found.curves["train_loss"]
    assert found.align == "tokens"
    assert one is not None
    assert two is not None
    assert np.allclose(2 * np.array(one.step), two.step)
    assert found.pairs[0].partings[0].step == 1  # the optimizer step, whatever the axis


def test_a_run_among_several_is_named_behind_a_hash(tmp_path: Path) -> None:
    """And without a name all are offered, each as it can be typed."""
    for seed in (1, 2):
        a_run(tmp_path / f"run-{seed}", seed)
    with pytest.raises(SeveralRuns, match=f"{tmp_path}#run-1"):
        places.chosen(str(tmp_path), Settings())
    assert places.chosen(f"{tmp_path}#run-2", Settings()).name == "run-2"
    with pytest.raises(NoSuchRun, match="did you mean 'run-1'"):
        places.chosen(f"{tmp_path}#run-11", Settings())


def test_of_a_log_that_was_started_twice_the_last_run_is_taken(tmp_path: Path) -> None:
    """And its problems say so."""
    log = tmp_path / "train.log"
    log.write_text(
        "".join(f"Epoch {i} loss: {k - i / 20:.4f}\n" for k in (3, 2) for i in range(12))
    )
    with pytest.raises(SeveralRuns):
        places.chosen(str(log), Settings())
    found = places.chosen(str(log), Settings(), last=True)
    assert (found.name, found.curve("train_loss").value[0]) == ("train.log (2 of 2)", 2.0)
    assert any("several runs lie here" in one.text for one in found.problems)


def test_repeats_are_found_by_pattern(tmp_path: Path) -> None:
    """Each folder that matches; a pattern that meets nothing is one clear line."""
    for seed in (1, 2, 3):
        a_run(tmp_path / f"seed-{seed}", seed)
    found = places.repeats([str(tmp_path / "seed-*")], Settings())
    assert [one.name for one in found] == ["seed-1", "seed-2", "seed-3"]
    with pytest.raises(NothingReadable):
        places.repeats([str(tmp_path / "no-*")], Settings())


def test_where_one_loss_became_nan_no_metric_of_before_says_how_likely_that_is() -> None:
    """The verdict rests on what was lost; the probability of a metric of before would deny it."""
    broken = falling(300, 2)
    broken[200:] = np.nan
    evals = 1.5 + 0.01 * np.random.default_rng(1).normal(size=(2, 20))
    a = run({"train_loss": falling(300, 1), "eval_loss": evals[0]})
    b = run({"train_loss": broken, "eval_loss": evals[1]})
    pair = compare(a, b).pairs[0]
    assert pair.verdict.result == "worse"
    assert pair.verdict.p_b_better is None
    assert [row.p_b_better for row in pair.measures if row.decides] == [None]
