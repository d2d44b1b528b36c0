"""Shapes of drawn curves: which phases, from where to where, and what they quote."""

from itertools import pairwise

import numpy as np
import pytest

from runlens.history import FloatArray, History, IntArray, columns
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.shape import Shape, confidence, shape_of
from runlens.signals.shape.chance import calibrated, signs


def drawn(corners: str, *, noise: float = 0.0, points: int = 200, seed: int = 0) -> Shape:
    """Return the shape of straight lines between corners, ``0:4 100:2``, with normal noise."""
    return shape_of(*curve(corners, noise=noise, points=points, seed=seed))


def curve(
    corners: str, *, noise: float = 0.0, points: int = 200, seed: int = 0
) -> tuple[IntArray, FloatArray]:
    """Return (step, value) of such a curve."""
    places = [corner.split(":") for corner in corners.split()]
    at, level = [float(place[0]) for place in places], [float(place[1]) for place in places]
    step = np.linspace(at[0], at[-1], points).astype(np.int64)
    value = np.interp(step.astype(np.float64), at, level)
    return step, value + noise * np.random.default_rng(seed).standard_normal(points)


def kinds(shape: Shape) -> list[str]:
    """Return the kinds of the phases."""
    return [phase.kind for phase in shape.phases]


@pytest.mark.parametrize("noise", [0.005, 0.02, 0.1])
@pytest.mark.parametrize("points", [60, 200, 1_000, 20_000])
def test_a_fall_and_a_plateau_meet_at_their_corner(noise: float, points: int) -> None:
    """The phases that a reader sees, within 3 % of the run."""
    shape = drawn("0:4 30000:2 100000:2", noise=noise, points=points)
    assert kinds(shape) == ["fall", "flat"]
    assert shape.phases[0].last.step == pytest.approx(30_000, abs=3_000)


def test_phases_quote_what_was_logged() -> None:
    """First, last, lowest and highest are points of the curve, never medians."""
    step, value = curve("0:4 300:2 1000:3", noise=0.05)
    shape = shape_of(step, value)
    for phase in shape.phases:
        for point in (phase.first, phase.last, phase.lowest, phase.highest):
            assert (step[point.index], value[point.index]) == (point.step, point.value)
    assert shape.first.value == value[0]
    assert shape.lowest.value == value.min()


def test_the_first_logged_value_counts() -> None:
    """One point far above the rest is the start of a fall, not an outlier."""
    value = np.array([3.85, 2.8, 2.77, 2.82, 2.79, 2.75, 2.78, 2.81, 2.76])
    shape = shape_of(np.arange(9) * 100, value)
    assert kinds(shape) == ["fall", "flat"]
    assert shape.phases[0].first.value == 3.85
    assert shape.describe().startswith("falls from 3.850 (step 0) to 2.800 (step 100)")


def test_ten_points_that_rise_thirtyfold_rise() -> None:
    """Evidence, not a count of points, decides."""
    value = np.array([0.997, 2.2, 6.9, 5.4, 9.8, 12.3, 14.9, 19.1, 24.6, 29.56])
    shape = shape_of(np.arange(10, 101, 10), value)
    assert kinds(shape) == ["rise"]
    assert shape.phases[0].chance < 1e-3
    assert shape.fell_overall().effect.change > 0


def test_four_points_that_gain_each_time_fall() -> None:
    """Four evaluations that improve to the last have a shape."""
    shape = shape_of(np.arange(1, 5), np.array([3.9, 3.5, 3.2, 3.0]))
    assert kinds(shape) == ["fall"]


def test_five_points_that_climb_each_time_are_no_two_flats() -> None:
    """A line fits them better than two levels; a step is two levels."""
    climbing = np.array([22.0, 24.6, 32.1, 42.8, 54.5])
    assert kinds(shape_of(np.arange(5), climbing)) == ["rise"]
    step = np.array([1.0, 1.01, 1.02, 2.0, 2.01, 2.02])
    assert kinds(shape_of(np.arange(6), step)) == ["flat", "flat"]


def test_few_noisy_points_are_flat() -> None:
    """Five points that end 4 % above their best say nothing."""
    shape = shape_of(np.arange(5), np.array([1.02, 0.98, 1.03, 0.97, 1.01]))
    assert kinds(shape) == ["flat"]
    assert shape.rose_after_best().chance > 0.1


def test_a_power_law_falls_to_the_end() -> None:
    """Each doubling gains: no plateau."""
    step = np.arange(10, 20_001, 10)
    noise = 0.02 * np.random.default_rng(1).standard_normal(len(step))
    shape = shape_of(step, 12.0 * step**-0.12 + noise)
    assert kinds(shape) == ["fall"]


def test_a_jump_is_dated_between_two_points() -> None:
    """The last good and the first bad step, as logged."""
    step = np.arange(200)
    value = np.where(step < 120, 1.0, 3.0) + 0.02 * np.random.default_rng(2).standard_normal(200)
    (jump,) = shape_of(step, value).events_of("jump")
    assert (jump.before.step, jump.after.step) == (119, 120)
    assert jump.share == pytest.approx(2.0, rel=0.05)
    assert not jump.recovers


def test_a_spike_is_no_phase() -> None:
    """One wild point is an event beside the phases."""
    step, value = curve("0:2 1000:1", noise=0.01)
    value[80] = 30.0
    shape = shape_of(step, value)
    assert kinds(shape) == ["fall"]
    (spike,) = shape.events
    assert (spike.kind, spike.peak.value, spike.recovers) == ("spike", 30.0, True)


def test_nan_to_the_end_is_gone() -> None:
    """A tail of NaN is a phase with its first step; what came before keeps its shape."""
    step, value = curve("0:4 1000:2", noise=0.02)
    value[150:] = np.nan
    shape = shape_of(step, value)
    assert kinds(shape) == ["fall", "gone"]
    assert shape.phases[-1].first.step == step[150]


@pytest.mark.parametrize("value", [[], [1.0], [np.nan] * 3, [2.0, 1.0, np.inf]])
def test_too_few_points_have_no_phase(value: list[float]) -> None:
    """No answer rather than a wrong one, and no error."""
    shape = shape_of(np.arange(len(value)), np.array(value))
    assert not shape
    assert shape.points == len(value)
    assert shape.describe()


def test_noise_alone_is_flat() -> None:
    """White noise and noise with memory have no phase but one."""
    rng = np.random.default_rng(3)
    flat = 0
    for _ in range(60):
        value = rng.standard_normal(300)
        for at in range(1, 300):
            value[at] += 0.8 * value[at - 1]
        flat += kinds(shape_of(np.arange(300), 20 + value)) == ["flat"]
    assert flat >= 59


def test_a_rise_after_the_best_is_measured_from_the_best() -> None:
    """A sharp minimum at the first point is not smoothed away."""
    value = np.array([0.219, 0.416, 0.423, 0.410, 0.438, 0.402])
    change = shape_of(np.arange(250, 1501, 250), value).rose_after_best()
    assert change.first.value == 0.219
    assert change.effect.level == pytest.approx(0.85, abs=0.1)
    assert change.chance < 0.05


def test_a_rise_ends_where_it_leads() -> None:
    """Not at the median of its last tenth; a flat end is a median."""
    rising = drawn("0:1 1000:2", noise=0.01).final_level()
    assert rising.value == pytest.approx(2.0, abs=0.02)
    assert drawn("0:4 300:2 1000:2", noise=0.01).final_level().value == pytest.approx(2.0, abs=0.02)


def test_confidence_grows_with_effect_and_certainty() -> None:
    """One scale for all findings, 0 to 1."""
    assert confidence(0.0, 0.0) == 0.0
    assert confidence(1.0, 0.05) < confidence(2.0, 0.05) < confidence(2.0, 1e-5) < 1.0


def test_run_and_signals_share_one_shape() -> None:
    """Made once; a metric that was not logged has a false one."""
    step, value = curve("0:4 300:2 1000:2", noise=0.01)
    run = Run("r", "r", History({"train_loss": columns(step, value)}))
    assert run.shape("train_loss") is Signals(run).shape("train_loss")
    assert not run.shape("reward")


@pytest.mark.parametrize("points", [120, 400, 3_000])
@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_a_regular_swing_has_period_and_height(points: int, noise: float) -> None:
    """Neither folded nor hidden by blocks."""
    step = np.arange(points)
    period = points / 12
    value = 2.0 + 0.5 * np.sin(2 * np.pi * step / period)
    value += noise * np.random.default_rng(4).standard_normal(points)
    (phase,) = shape_of(step, value).phases
    assert phase.kind == "swing"
    assert phase.swing is not None
    assert phase.swing.period == pytest.approx(period, rel=0.1)
    assert phase.swing.amplitude == pytest.approx(1.0, rel=0.25)
    assert phase.swing.cycles in {10, 11, 12}


def test_a_swing_on_a_long_fall_goes_with_the_fall() -> None:
    """The fall keeps its kind: the swing is small beside it."""
    step = np.arange(600)
    value = np.linspace(9.0, 3.0, 600) + 0.5 * np.sin(2 * np.pi * step / 30)
    shape = shape_of(step, value)
    assert kinds(shape) == ["fall"]
    assert shape.phases[0].swing is not None
    assert "swinging by about" in shape.describe()


@pytest.mark.parametrize("seed", range(12))
def test_phases_cover_the_curve_in_order_whatever_it_does(seed: int) -> None:
    """Jumps side by side, steps of noise, wild points, NaN: no gap, no overlap, no error."""
    rng = np.random.default_rng(seed)
    for _ in range(12):
        count = int(rng.integers(4, 400))
        value = np.repeat(rng.normal(0, 3, count), rng.integers(1, 9))[:count]
        value = value + rng.choice([0.0, 0.01, 1.0]) * rng.standard_t(2, count)
        value = np.exp(value) if rng.random() < 0.3 else value
        value[rng.random(count) < rng.choice([0.0, 0.0, 0.1])] = np.nan
        shape = shape_of(np.arange(count) * 10, value)
        inner = [phase for phase in shape.phases if phase.kind != "gone"]
        finite = np.flatnonzero(np.isfinite(value))
        if len(finite) >= 4:
            assert inner[0].first.index == finite[0]
            assert inner[-1].last.index == finite[-1]
        for one, after in pairwise(inner):
            assert one.first.index <= one.last.index <= after.first.index
        assert shape.describe()


def test_a_change_of_nothing_is_flat_however_sure() -> None:
    """A loss that goes from 5.359 to 5.358 without noise."""
    assert kinds(drawn("0:5.359 500:5.358 1000:5.3581")) == ["flat"]


@pytest.mark.parametrize(("low", "kind"), [(1.0, "restart"), (4.0, "jump")])
def test_a_curve_that_starts_anew_is_told_from_one_that_jumps(low: float, kind: str) -> None:
    """Back at its first level, and falling again as it did, or staying there."""
    value = np.concatenate([np.linspace(4, 1, 100), np.linspace(4, low, 100)])
    value += 0.02 * np.random.default_rng(5).standard_normal(200)
    (event,) = shape_of(np.arange(200), value).events
    assert (event.kind, event.before.step, event.after.step) == (kind, 99, 100)


@pytest.mark.parametrize("size", [1e308, 1e300, 1e-300, 5e-324])
def test_values_at_the_ends_of_floats_raise_nothing(size: float) -> None:
    """A loss that explodes to the largest float still has a shape, and answers questions."""
    value = np.clip(np.random.default_rng(6).standard_normal(50), -1.7, 1.7) * size
    shape = shape_of(np.arange(50), value)
    assert shape
    assert shape.describe()
    for change in (shape.fell_overall(), shape.rose_after_best()):
        assert 0.0 <= change.chance <= 1.0


def test_calibrated_confidence_keeps_the_order_and_knows_no_certainty() -> None:
    """What rules are less sure of is right less often; of the surest some is wrong as well."""
    told = [calibrated(value) for value in (0.0, 0.3, 0.6, 0.9, 0.99, 1.0)]
    assert told[0] == 0.0
    assert told == sorted(told)
    assert 0.75 < told[1] < told[3] < told[5] < 1.0


def test_the_sign_of_steps_is_a_test_that_knows_no_memory() -> None:
    """Exact for few, near the exact share beyond; a random walk is beyond 1 in 20 as often."""
    assert signs(np.arange(6.0)) == 2 / 2**5
    assert signs(np.array([1.0, 2, 2, 3, 2])) == 1.0
    assert signs(np.zeros(9)) == 1.0
    rng = np.random.default_rng(3)
    walks = np.cumsum(rng.normal(size=(400, 60)), axis=1)
    assert np.mean([signs(walk) < 0.05 for walk in walks]) < 0.08
    long = np.cumsum(np.where(np.arange(150) % 5, 1.0, -1.0))
    assert signs(long) < 1e-12


def test_a_trend_below_any_number_still_has_an_effect() -> None:
    """The smallest number there is, three times: the logarithmic trend between them underflows."""
    value = 1 + 3 / np.arange(1.0, 38.0)
    value[[0, 33, 34]] = 5e-324
    with np.errstate(all="ignore"):
        shape = shape_of(np.arange(37), value)
        assert shape.scale == "log"
        assert shape.trend.min() == 0
        assert shape.rose_after_best().effect.change > 0


def test_two_jumps_whose_first_pieces_gain_little_are_found() -> None:
    """What decays after each takes many pieces, and the first four together say nothing yet."""
    t = np.arange(147.0)
    first, second = 70 + 100 * np.exp(-t / 9), 70 + 84 * np.exp(-(t - 35) / 9)
    third = 70 + 36 * np.exp(-(t - 135) / 4.5)
    value = np.where(t < 35, first, np.where(t < 135, second, third))
    value *= np.exp(np.random.default_rng(0).normal(0, 0.001, len(t)))
    shape = shape_of(np.arange(147), value)
    assert [event.before.index for event in shape.events_of("jump")] == [34]
    assert len(shape.phases) > 1
