"""The frame and the curves are the same observations."""

import math
import pickle

import numpy as np
import pytest

from runlens.history import History, Observation

OBSERVATIONS = [("train_loss", 20, math.nan), ("train_loss", 10, 2.0), ("eval_loss", 20, 1.5)]
HISTORY = History.of(Observation(*row) for row in OBSERVATIONS)


def test_curve_is_sorted_keeps_nan_and_copies_nothing() -> None:
    """A logged NaN is a value; a step without a value is no row."""
    curve = HISTORY.curve("train_loss")
    np.testing.assert_array_equal(curve.step, [10, 20])
    np.testing.assert_array_equal(curve.value, [2.0, math.nan])
    assert np.shares_memory(curve.value, HISTORY.segment("train_loss", 0).value)
    assert len(HISTORY.curve("never logged")) == 0


def test_a_copy_in_another_process_is_the_same() -> None:
    """Joined or not."""
    for joined in (False, True):
        one = History.of(Observation(*row) for row in OBSERVATIONS)
        assert not joined or len(one.joined.step) == 3
        other = pickle.loads(pickle.dumps(one))  # noqa: S301 - our own
        assert other.lengths == one.lengths == {"eval_loss": 1, "train_loss": 2}
        for mine, its in zip(other.joined, one.joined, strict=True):
            np.testing.assert_array_equal(mine, its)
        np.testing.assert_array_equal(other.curve("train_loss").step, [10, 20])


def test_nobody_writes_into_a_curve() -> None:
    """Rules share it, and what was computed of it."""
    with pytest.raises(ValueError, match="read-only"):
        HISTORY.curve("train_loss").value[0] = 1.0


def test_frame_has_the_columns_of_the_design() -> None:
    """Long, one row an observation, by metric and step."""
    wanted = ["metric", "step", "value", "epoch", "time", "segment", "source"]
    assert list(HISTORY.frame.columns) == wanted
    assert list(HISTORY.frame["metric"]) == ["eval_loss", "train_loss", "train_loss"]
    assert list(HISTORY.frame["step"]) == [20, 10, 20]
    assert HISTORY.frame["segment"].dtype == np.int16


def test_a_later_launch_replaces_what_it_repeats() -> None:
    """Steps that a resume discarded are in the frame and in their segment, not in the curve."""
    launches = [(0, 10, 3.0), (0, 20, 2.5), (0, 30, 2.4), (1, 20, 2.6), (1, 40, 2.0)]
    history = History.of(Observation("train_loss", s, v, segment=k) for k, s, v in launches)
    np.testing.assert_array_equal(history.curve("train_loss").step, [10, 20, 40])
    np.testing.assert_array_equal(history.curve("train_loss").value, [3.0, 2.6, 2.0])
    np.testing.assert_array_equal(history.segment("train_loss", 0).step, [10, 20, 30])
    assert len(history.frame) == 5


def test_three_launches_each_discard_the_tail_before_them() -> None:
    """A third launch that goes further back discards parts of both earlier ones."""
    launches = [(0, 10), (0, 20), (0, 30), (1, 20), (1, 30), (2, 15), (2, 25)]
    history = History.of(Observation("train_loss", s, float(k), segment=k) for k, s in launches)
    np.testing.assert_array_equal(history.curve("train_loss").step, [10, 15, 25])


def test_several_evaluations_at_one_step_are_all_kept_in_order() -> None:
    """Rows that tie keep the order in which they were logged."""
    history = History.of(Observation("eval_loss", 10, value) for value in (1.0, 3.0, 2.0))
    np.testing.assert_array_equal(history.curve("eval_loss").value, [1.0, 3.0, 2.0])


@pytest.mark.parametrize(("step", "before", "after"), [(0, 0, 3), (20, 1, 2), (99, 3, 0)])
def test_before_and_after_split_at_a_step(step: int, before: int, after: int) -> None:
    """The step itself belongs to what comes after."""
    curve = History.of(Observation("x", at, 0.0) for at in (10, 20, 30)).curve("x")
    assert (len(curve.before(step)), len(curve.after(step))) == (before, after)


def test_an_empty_history_has_no_metrics_and_an_empty_frame() -> None:
    """A run that crashed before its first log line is a run."""
    assert History({}).metrics == ()
    assert len(History({}).frame) == 0
