"""The axis: chosen by what the runs know, refused where one does not, overlap only."""

import numpy as np
import pytest

from runlens.comparing import align
from runlens.comparison import Align
from runlens.errors import CannotAlign
from runlens.history import History, columns
from runlens.run import Configured, Run, Segment
from tests.comparing.drawn_runs import falling, run

LOSS = {"train_loss": falling(50)}
BATCH_8 = {"per_device_train_batch_size": 8, "gradient_accumulation_steps": 1}
BATCH_2_BY_4 = {"per_device_train_batch_size": 2, "gradient_accumulation_steps": 4}
BATCH_16 = {"per_device_train_batch_size": 16}


def test_equal_effective_batches_are_compared_by_step() -> None:
    """2 x 4 accumulated is the batch of 8."""
    axis = align.choose(run(LOSS, config=BATCH_8), run(LOSS, config=BATCH_2_BY_4))
    assert (axis.kind, axis.unit) == ("step", "step")
    assert "8 samples in both" in axis.why


def test_an_unknown_batch_is_compared_by_step_and_said() -> None:
    """What is not known is not assumed to differ."""
    axis = align.choose(run(LOSS, config=BATCH_8), run(LOSS))
    assert axis.kind == "step"
    assert "not known of both" in axis.why


def test_unequal_batches_are_compared_by_samples() -> None:
    """Step 10 of a batch of 16 is step 20 of a batch of 8."""
    a, b = run(LOSS, config=BATCH_8), run(LOSS, config=BATCH_16)
    axis = align.choose(a, b)
    assert (axis.kind, axis.unit) == ("tokens", "samples")
    assert "8 and 16 samples" in axis.why
    assert align.along(a, "train_loss", "tokens", (b,))[0][19] == 160
    assert align.along(b, "train_loss", "tokens", (a,))[0][9] == 160


def test_the_batch_that_the_trainer_names_counts() -> None:
    """Where accumulation is not recorded: 2 and 3 a device, yet 8 and 8 in all."""
    a = run(LOSS, config={"per_device_train_batch_size": 2, "total_train_batch_size": 8})
    b = run(LOSS, config={"per_device_train_batch_size": 4, "total_train_batch_size": 8})
    assert align.choose(a, b).kind == "step"
    assert align.batches((a, b)) == (8, 8)


def test_logged_tokens_are_the_axis_where_both_log_them() -> None:
    """Samples are the second choice: they differ in length."""
    tokens = np.arange(1, 51) * 100.0
    a = run({**LOSS, "tokens": tokens}, config=BATCH_8)
    b = run({**LOSS, "tokens": 2 * tokens}, config=BATCH_16)
    assert align.choose(a, b).unit == "tokens"
    assert align.along(b, "train_loss", "tokens", (a,))[0][0] == 200
    assert align.choose(a, run(LOSS, config=BATCH_16)).unit == "samples"


def test_longer_sequences_at_an_equal_batch_are_compared_by_tokens() -> None:
    """A step of twice the tokens is no equal step."""
    tokens = np.arange(1, 51) * 100.0
    a = run({**LOSS, "tokens": tokens}, config=BATCH_8)
    assert align.choose(a, run({**LOSS, "tokens": 2 * tokens}, config=BATCH_8)).kind == "tokens"
    assert align.choose(a, run({**LOSS, "tokens": 1.02 * tokens}, config=BATCH_8)).kind == "step"


def test_tokens_that_a_policy_wrote_choose_no_axis() -> None:
    """Longer answers are a result of the run, no setting."""
    tokens = np.arange(1, 51) * 100.0
    a = run({"reward": falling(50), "tokens": tokens}, task="grpo")
    b = run({"reward": falling(50), "tokens": 3 * tokens}, task="grpo")
    assert align.choose(a, b).kind == "step"


def test_processes_count_only_where_both_record_them() -> None:
    """Two GPUs beside an unknown number: the batch is not known."""
    two = {**BATCH_8, "num_processes": 2}
    assert align.batches((run(LOSS, config=two), run(LOSS, config=BATCH_8))) is None
    one = {**BATCH_8, "num_processes": 1}
    assert align.batches((run(LOSS, config=one), run(LOSS, config=BATCH_8))) == (8, 8)
    assert align.batches((run(LOSS, config=one), run(LOSS, config=two))) == (8, 16)


@pytest.mark.parametrize(("dataset", "kind"), [("c4", "epoch"), ("wiki", "step")])
def test_steps_an_epoch_tell_the_batch_only_of_the_same_data(dataset: str, kind: str) -> None:
    """Of other data they tell the size of the data."""
    a = run(LOSS, per_epoch=100, config={"dataset_name": "c4"})
    b = run(LOSS, per_epoch=25, config={"dataset_name": dataset})
    axis = align.choose(a, b)
    assert axis.kind == kind
    assert "100 and 25 steps" in axis.why


@pytest.mark.parametrize("kind", ["tokens", "epoch", "time"])
def test_an_axis_that_one_run_does_not_know_is_refused_with_the_remedy(kind: Align) -> None:
    """One line: which run, which axis, what to do."""
    tokens = np.arange(1, 51) * 100.0
    a = run({**LOSS, "tokens": tokens}, per_epoch=10, seconds=2, config=BATCH_8)
    with pytest.raises(CannotAlign, match=f"bare: cannot align by {kind}.*or align by step"):
        align.choose(a, run(LOSS, "bare"), kind)


@pytest.mark.parametrize("kind", ["step", "tokens", "epoch", "time"])
def test_an_axis_that_both_know_is_taken_when_asked_for(kind: Align) -> None:
    """Also where another one would have been chosen."""
    a = run(LOSS, per_epoch=10, seconds=2, config=BATCH_8)
    axis = align.choose(a, a, kind)
    assert axis.kind == kind
    assert axis.why.startswith("asked for")


def test_time_counts_from_the_first_point_without_the_pause_of_a_resume() -> None:
    """An hour between two launches trained nothing."""
    at = np.arange(1, 21)
    time = 1.7e9 + at * 2.0 + np.where(at > 10, 3_600, 0)
    history = History({"train_loss": columns(at, falling(20), time=time)})
    launches = (Segment(0, 1, 10), Segment(1, 11, 20))
    resumed = Run("r", "r", history, segments=launches)
    assert align.along(resumed, "train_loss", "time")[0][-1] == pytest.approx(38)


def test_joined_launches_keep_the_later_values_of_repeated_steps() -> None:
    """A resume from step 5 discards what came after it."""
    rows = columns(
        [*range(1, 11), *range(6, 16)], [1.0] * 10 + [2.0] * 10, segment=[0] * 10 + [1] * 10
    )
    resumed = Run("r", "r", History({"train_loss": rows}))
    both = align.common(resumed, run({"train_loss": [1.0] * 15}), "train_loss", "step")
    assert both is not None
    assert both.a.tolist() == [1.0] * 5 + [2.0] * 10


def test_the_common_grid_is_exact_where_both_logged_the_same_steps() -> None:
    """No value is interpolated."""
    both = align.common(run(LOSS), run({"train_loss": falling(30)}), "train_loss", "step")
    assert both is not None
    assert both.at.tolist() == list(range(1, 31))
    assert np.array_equal(both.a, LOSS["train_loss"][:30])


def test_the_finer_curve_is_interpolated_on_the_overlap_only() -> None:
    """Every 7 steps against every 2: the steps of the first, none beyond the second's."""
    coarse = run({"train_loss": steps_of(10, 7)}, every=7)
    fine = run({"train_loss": steps_of(20, 2)}, every=2)
    both = align.common(coarse, fine, "train_loss", "step")
    assert both is not None
    assert both.at.tolist() == [7, 14, 21, 28, 35]
    assert both.b.tolist() == [7, 14, 21, 28, 35]


def steps_of(count: int, every: int) -> list[float]:
    """Return values that equal their steps, so that interpolation can be checked."""
    return [every * float(at) for at in range(1, count + 1)]


def test_a_stretch_of_nan_is_not_bridged() -> None:
    """Between its last number before and its first after it, nothing is known."""
    value = np.array(steps_of(100, 1))
    value[40:70] = np.nan
    both = align.common(
        run({"train_loss": steps_of(30, 3)}, every=3),
        run({"train_loss": value}),
        "train_loss",
        "step",
    )
    assert both is not None
    assert not ((both.at > 40) & (both.at < 71)).any()
    assert np.array_equal(both.a, both.b)


def test_runs_without_a_common_step_have_no_grid_and_say_so() -> None:
    """No extrapolation from one to the other."""
    late = Run("late", "late", History({"train_loss": columns(np.arange(100, 150), falling(50))}))
    early = run(LOSS, "early")
    assert align.common(early, late, "train_loss", "step") is None
    said = [problem.text for problem in align.choose(early, late).problems]
    assert said == ["train_loss: no step at which both have values"]


def test_what_cannot_be_compared_is_said() -> None:
    """NaN from a step on, too few points, nothing in common."""
    broken = falling(50)
    broken[29:] = np.nan
    problems = align.choose(run(LOSS), run({"train_loss": broken}, "broken")).problems
    assert [(p.where, p.text, p.lost) for p in problems] == [
        ("broken", "train_loss is no number from step 30 on: not compared there", "21 of 50 points")
    ]
    short = align.choose(run(LOSS), run({"train_loss": falling(5)})).problems
    assert "5 common points, too few" in short[0].text
    apart = align.choose(run(LOSS, "a"), run({"reward": falling(50)}, "b")).problems
    assert apart[0].text == "no loss and no reward that both logged (train_loss and reward)"


def test_a_run_without_anything_is_compared_with_nothing() -> None:
    """It raises nothing and says what is missing."""
    empty = Run("e", "e", History({}), {"x": Configured(1, "drawn")})
    axis = align.choose(empty, run(LOSS))
    assert axis.kind == "step"
    assert "none and train_loss" in axis.problems[0].text
    assert align.common(empty, run(LOSS), "train_loss", "step") is None
