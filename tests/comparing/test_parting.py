"""Where runs part: the first different value, the step from which it is clear, the order."""

import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from runlens.comparing.align import Common
from runlens.comparing.parting import differing, is_clock, partings, same_values
from runlens.comparison import Parting
from runlens.history import History, columns
from runlens.run import Run
from runlens.sources import read
from tests.comparing.drawn_runs import Values, falling, run, steps

BENCH = Path(__file__).parents[2].parent / "shared" / "bench"
PAIRS = BENCH / "pairs.jsonl"
LABELS = [json.loads(line) for line in PAIRS.read_text().splitlines()] if PAIRS.exists() else []
STEPS_OF_LOG = 5  # of the runs of the bench

needs_bench = pytest.mark.skipif(not LABELS, reason="the labelled pairs are not at hand")


def parted(a: Run, b: Run) -> dict[str, Parting]:
    """Return the partings by metric."""
    return {one.metric: one for one in partings(a, b, "step")}


def from_step(at: int, size: float, count: int = 300, noise: float = 0.01) -> tuple[Run, Run]:
    """Return a run and one that is the same until a step, and differs by `size` from there on."""
    a, b = falling(count, 1, noise), falling(count, 2, noise)
    b[: at - 1] = a[: at - 1]
    b[at - 1 :] *= 1 + size
    return run({"train_loss": a}), run({"train_loss": b})


def test_runs_that_are_one_until_a_step_part_at_it() -> None:
    """The first different value, to the step; clear from near there on."""
    found = parted(*from_step(120, 0.2))["train_loss"]
    assert found.step == 120
    assert found.clear == pytest.approx(120, abs=10)
    assert found.side == "higher"
    assert found.how.startswith("equal in 119 points before")


def test_noise_alone_differs_from_the_first_point_and_is_never_clear() -> None:
    """Of 100 pairs at most one is called clear."""
    pairs = [
        parted(
            run({"train_loss": falling(200, seed)}), run({"train_loss": falling(200, 500 + seed)})
        )
        for seed in range(100)
    ]
    assert all(found["train_loss"].step == 1 for found in pairs)
    assert sum(found["train_loss"].clear is not None for found in pairs) <= 1


def test_a_difference_that_passes_is_not_clear_to_the_end() -> None:
    """A bump in the middle: the ends meet again."""
    a, b = falling(300, 1), falling(300, 2)
    b[80:150] *= 1.3
    assert parted(run({"train_loss": a}), run({"train_loss": b}))["train_loss"].clear is None


def test_identical_runs_part_nowhere() -> None:
    """No row at all."""
    a = run({"train_loss": falling(100, 1), "grad_norm": falling(100, 2)}, per_epoch=10)
    assert partings(a, a, "step") == ()
    assert same_values(a, a) == (True, 200, 2)


def test_metrics_come_in_the_order_in_which_they_part_then_of_cause_and_effect() -> None:
    """The learning rate before the norm before the loss, where all part at one step."""
    curves = {
        name: falling(100, 1)
        for name in ("eval_loss", "train_loss", "grad_norm", "learning_rate", "kl")
    }
    later = {name: value.copy() for name, value in curves.items()}
    for name, value in later.items():
        value[20 if name == "kl" else 40 :] *= 1.5
    order = [one.metric for one in partings(run(curves), run(later), "step")]
    assert order == ["kl", "learning_rate", "grad_norm", "train_loss", "eval_loss"]


def test_clocks_part_last_and_only_where_they_are_clear() -> None:
    """Two runs never take the same time."""
    rng = np.random.default_rng(0)
    speed = rng.normal(3_000, 60, (2, 200))
    same, slow = {"throughput_tokens": speed[1]}, {"throughput_tokens": 0.5 * speed[1]}
    loss = {"train_loss": falling(200, 1)}
    other = {"train_loss": np.append(falling(200, 1)[:-1], 9.0)}
    a = run({**loss, "throughput_tokens": speed[0]})
    assert parted(a, run({**loss, **same})) == {}
    found = partings(a, run({**other, **slow}), "step")
    assert [(one.metric, one.step) for one in found] == [
        ("train_loss", 200),
        ("throughput_tokens", None),
    ]
    assert found[-1].clear is not None


def test_another_epoch_at_the_same_step_is_a_parting() -> None:
    """Other data, or another batch."""
    loss = {"train_loss": falling(100, 1)}
    found = partings(run(loss, per_epoch=20), run(loss, per_epoch=10), "step")
    assert [(one.metric, one.step, one.side) for one in found] == [("epoch", 1, "higher")]


def test_different_values_are_looked_for_at_equal_steps_on_any_axis() -> None:
    """The step is a step; where it is clear lies on the axis, here in samples."""
    a, b = from_step(120, 0.2)
    small = run(
        {"train_loss": a.curve("train_loss").value}, config={"per_device_train_batch_size": 8}
    )
    large = run(
        {"train_loss": b.curve("train_loss").value}, config={"per_device_train_batch_size": 16}
    )
    found = partings(small, large, "tokens")
    assert [(one.metric, one.step) for one in found] == [("train_loss", 120)]
    assert found[0].clear is not None
    assert found[0].clear % 16 == 0
    assert found[0].clear > 120


def test_a_loss_that_becomes_nan_parts_there() -> None:
    """All before it is equal."""
    value = falling(100, 1)
    value[60:] = math.nan
    found = parted(run({"train_loss": falling(100, 1)}), run({"train_loss": value}))["train_loss"]
    assert (found.step, found.clear, found.how) == (61, None, "B is no number there")


def test_runs_logged_at_other_steps_are_told_by_statistics_alone() -> None:
    """No step is common: where they part is not known to the step."""
    a = run({"train_loss": falling(300, 1)}, every=2)
    odd = columns(np.arange(300) * 2 + 1, 1.3 * falling(300, 2))
    found = parted(a, Run("odd", "odd", History({"train_loss": odd})))["train_loss"]
    assert found.step is None
    assert found.clear is not None


def both(a: Values, b: Values) -> Common:
    """Return two curves on the same steps."""
    return Common(steps(len(a)), np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64))


@pytest.mark.parametrize(
    "written",
    [
        lambda value: value.astype(np.float32).astype(np.float64),
        lambda value: np.round(value, 4),
        lambda value: np.round(value, 3),
        lambda value: np.array([float(f"{one:.3e}") for one in value]),
    ],
    ids=["float32", "four decimals", "three decimals", "four digits"],
)
def test_another_writing_of_the_same_value_is_no_difference(written: Any) -> None:
    """And a change of ten units of it is one."""
    value = falling(100, 1)
    assert not differing(both(value, written(value))).any()
    assert not differing(both(written(value), value)).any()
    changed = value.copy()
    changed[50] += 0.01
    assert np.flatnonzero(differing(both(written(changed), value))).tolist() == [50]


def test_a_round_setting_is_not_taken_for_a_rounded_value() -> None:
    """A constant learning rate of 0.002 is not 0.0021."""
    assert differing(both(np.full(50, 2e-3), np.full(50, 2.1e-3))).all()
    assert differing(both(np.full(50, 2e-3), 2e-3 * (1 + 1e-3 * falling(50, 1)))).all()


def test_values_of_one_writing_differ_by_their_last_digit() -> None:
    """Both were rounded alike: one unit is a difference. Counts are exact."""
    value = np.round(falling(100, 1), 4)
    assert differing(both(value, value + 1e-4)).all()
    counts = np.arange(1, 101) * 163_840.0
    assert differing(both(counts, counts + 1)).all()


def test_nan_equals_nan_and_nothing_else() -> None:
    """Infinities are values."""
    a = np.array([1.0, math.nan, math.nan, math.inf, math.inf])
    b = np.array([1.0, math.nan, 1.0, math.inf, -math.inf])
    assert differing(both(a, b)).tolist() == [False, False, True, False, True]


def test_sameness_leaves_clocks_out_and_wants_all_steps() -> None:
    """A run that went on for longer is another run; one with another clock is the same."""
    a = run({"train_loss": falling(100, 1), "step_time": falling(100, 1)})
    clock = run({"train_loss": falling(100, 1), "step_time": falling(100, 2)})
    assert same_values(a, clock) == (True, 100, 1)
    assert not same_values(a, run({"train_loss": falling(100, 1)[:90]})).equal
    assert not same_values(a, run({"train_loss": falling(100, 2)})).equal
    assert not same_values(a, run({"step_time": falling(100, 1)})).equal
    more = run({"train_loss": falling(100, 1), "eval_loss": falling(5, 1)})
    assert not same_values(a, more).equal


def test_a_run_that_logged_several_values_at_a_step_is_the_same_as_itself() -> None:
    """Micro-batches, or two loggers."""
    rows = columns([1, 1, 2, 2, 3, 3], [3.0, 2.9, 2.5, 2.4, 2.0, 1.9])
    double = Run("double", "double", History({"train_loss": rows}))
    assert same_values(double, double).equal
    assert partings(double, double, "step") == ()


@pytest.mark.parametrize(
    ("metric", "clock"),
    [
        ("eval_runtime", True),
        ("eval_samples_per_second", True),
        ("train/tok_per_sec", True),
        ("timing_s/gen", True),
        ("perf/max_memory_gb", True),
        ("system/proc.memory.percent", True),
        ("step_time", True),
        ("throughput_tokens", True),
        ("train_loss", False),
        ("eval_loss:times", False),
        ("reward", False),
        ("tokens", False),
        ("len_mean", False),
        ("total_flos", False),
    ],
)
def test_clocks_are_known_by_their_names(metric: str, clock: bool) -> None:
    """Times, speeds and uses of the machine."""
    assert is_clock(metric) == clock


@cache
def bench(name: str) -> Run:
    """Read a run of the bench once."""
    return read(BENCH / name)


@needs_bench
@pytest.mark.parametrize("label", LABELS, ids=lambda label: f"{label['a']}-{label['b']}")
def test_labelled_pairs_part_within_two_logs_of_their_label(label: dict[str, Any]) -> None:
    """The first different value; the clear step where it is labelled, within 20 % of the run."""
    a, b = bench(label["a"]), bench(label["b"])
    found = partings(a, b, "step")
    wanted = label["first_divergence_step"]
    assert same_values(a, b).equal == (wanted is None)
    if wanted is None:
        assert found == ()
        return
    assert abs((found[0].step or math.inf) - wanted) <= 2 * STEPS_OF_LOG
    loss = next(one for one in found if one.metric == "train_loss")
    assert abs((loss.step or math.inf) - label["first_loss_difference_step"]) <= 2 * STEPS_OF_LOG
    clear = label["clear_to_the_end_from"]
    if clear is not None:
        assert abs((loss.clear or math.inf) - clear) <= 0.2 * a.last_step
