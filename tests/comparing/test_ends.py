"""What a curve reached at its end, and how far chance could have moved that."""

import math

import numpy as np
import pytest

from runlens.comparing.ends import End, bend, difference, end
from runlens.comparing.spread import prior
from runlens.history import FloatArray
from tests.comparing.drawn_runs import falling


def of(value: FloatArray, *, held_out: bool = False) -> End:
    """Return the end of a curve."""
    found = end(value, held_out=held_out)
    assert found is not None
    return found


def test_a_plateau_counts_in_full() -> None:
    """150 points of 300: the error is a twelfth of the scatter of one."""
    reward = np.random.default_rng(3).normal(0.5, 0.25, 300)
    found = of(reward)
    assert found.window > 100
    assert found.error == pytest.approx(0.25 / found.window**0.5, rel=1.0)


@pytest.mark.parametrize("last", [6, 9, 15])
def test_an_explosion_of_the_last_points_is_the_end(last: int) -> None:
    """Not hidden by what lay before it; a single point is a spike."""
    loss = falling(300, 1)
    loss[-last:] = 8.0
    assert of(loss).value == pytest.approx(8.0, abs=0.1)
    spike = falling(300, 1)
    spike[-1] = 50.0
    assert of(spike).value == pytest.approx(1.0, abs=0.05)


def test_autocorrelated_points_keep_their_error() -> None:
    """The true scatter of the ends of AR(.98) curves is within a factor of two of the error."""
    rng = np.random.default_rng(0)
    ends = []
    for _ in range(30):
        noise, at = np.zeros(1_500), 0.0
        for place in range(1_500):
            at = 0.98 * at + 0.02 * (1 - 0.98**2) ** 0.5 * rng.normal()
            noise[place] = at
        ends.append(of(falling(1_500) + noise))
    spread = np.std([one.value for one in ends])
    assert 0.5 < np.median([one.error for one in ends]) / spread < 2


def test_the_last_evaluation_is_the_end() -> None:
    """With the jitter of its neighbours."""
    value = falling(20, 2, 0.01)
    found = of(value, held_out=True)
    assert (found.value, found.window) == (value[-1], 1)
    assert found.jitter == pytest.approx(0.01, rel=0.8)
    assert end(np.empty(0), held_out=True) is None


def test_the_prior_goes_with_jitter_and_size() -> None:
    """An eighth of the jitter quarters it, as does a 64th of way and values; as fitted."""
    known = End(1.0, 0.0, 0.01, 0.6, 1.0, 1.0, 20, 1, 1.0)
    base = prior((known, known))
    assert base.deviation == pytest.approx(0.47 * 0.01 ** (2 / 3))
    assert base.doubt == 0.6
    assert base.rare == pytest.approx((0.15, 7.4 * base.deviation, 1.2))
    for other in (known._replace(jitter=0.00125), known._replace(span=1 / 64, scale=1 / 64)):
        assert prior((other, other)).deviation == pytest.approx(base.deviation / 4)
    one = End(3.0, 0.0, 0.0, 0.0, 0.0, 3.0, 1, 1, 3.0)
    assert prior((one, one)).deviation == pytest.approx(0.03)


def test_a_curve_that_glides_tells_little() -> None:
    """Its jitter is its bend; half of the turns of noise are half of what they tell."""
    chance = End(1.0, 0.0, 0.01, 0.5, 1.0, 1.0, 20, 1, 1.0)
    gliding, between = chance._replace(turning=0.0), chance._replace(turning=0.25)
    assert prior((gliding, gliding)).doubt == 1.3
    assert prior((between, between)).doubt == pytest.approx((0.6 + 1.3) / 2)
    assert prior((gliding, gliding)).deviation == pytest.approx(0.65 * 0.01 ** (2 / 3))
    mixed = prior((chance, gliding))
    assert 0.6 < mixed.doubt < (0.6 + 1.3) / 2  # the one that tells more counts more
    few = chance._replace(points=4, turning=0.0)
    assert prior((few, few)).doubt == pytest.approx((0.6 + 1.3) / 2)  # too few to see turns
    assert prior((few._replace(points=5),) * 2).doubt == 1.3


def test_a_bend_that_both_curves_have_is_no_noise() -> None:
    """The jitter of B - A takes its place, as far as they glide, and where it is the smaller."""
    chance = End(1.0, 0.0, 0.01, 0.5, 1.0, 1.0, 20, 1, 1.0)
    gliding, between = chance._replace(turning=0.0), chance._replace(turning=0.25)
    apart = 0.001 * 2**0.5
    assert prior((chance, chance), None, apart) == prior((chance, chance))
    found = prior((gliding, gliding), None, apart).deviation
    assert found == pytest.approx(0.65 * 0.001 ** (2 / 3))
    half = prior((between, between), None, apart).deviation
    assert half == pytest.approx(prior((between, between)).deviation * 0.1 ** (1 / 3))
    assert prior((gliding, gliding), None, 1.0) == prior((gliding, gliding))
    assert prior((gliding, gliding), None, 0.0) == prior((gliding, gliding))


def test_the_bend_of_a_gliding_curve_does_not_hang_on_its_spacing() -> None:
    """Evaluated eight times as often its second differences fall by 64; its seeds lie as far."""
    bend = 1 + 2 * np.exp(-4 * np.linspace(0, 1, 65))
    often, seldom = (of(bend[:: 8 // times], held_out=True) for times in (8, 1))
    assert 0.5 < often.jitter / seldom.jitter < 2
    noise = 1 + 0.01 * np.random.default_rng(4).normal(size=64)  # chance has no spacing
    assert of(noise, held_out=True).jitter == pytest.approx(0.01, rel=0.3)


def test_turns_of_a_curve() -> None:
    """White noise turns at two points of three, a slope at none."""
    noise = np.random.default_rng(1).normal(size=4_000)
    assert of(noise, held_out=True).turning == pytest.approx(2 / 3, abs=0.03)
    assert of(np.linspace(3, 1, 40), held_out=True).turning == 0


def test_the_prior_of_a_mean_is_its_error_and_what_seeds_add() -> None:
    """A wild start makes a run no less sure: of span and size the smaller counts."""
    mean = End(0.5, 0.01, 0.05, 0.6, 4.0, 0.5, 200, 60, 0.5)
    expected = math.hypot(0.01, 0.12 * math.sqrt(0.01 * 0.5))
    assert prior((mean, mean)).deviation == pytest.approx(expected)
    assert prior((mean, mean._replace(span=0.02))).deviation < expected


def test_the_mean_of_a_short_stretch_shows_less() -> None:
    """A curve that moved over all but its last tenth may end elsewhere with another seed."""
    settled = End(0.5, 0.01, 0.05, 0.6, 4.0, 0.5, 200, 72, 0.5)  # the next window is over half
    known = prior((settled, settled))
    assert known.doubt == pytest.approx(0.55, abs=0.001)
    assert known.rare.weight == 0.05
    for window, share in ((36, 0.504), (7, 0.098)):
        moving = settled._replace(window=window)
        assert prior((moving, moving)).doubt == pytest.approx(1.2 - 0.65 * share, abs=0.001)


def test_one_last_evaluation_that_chance_moved_does_not_decide() -> None:
    """Halves that turn by chance count, where the last value is one draw of many."""
    jitter = np.random.default_rng(4).normal(0, 0.01, (2, 40))
    a, b = 0.5 + jitter[0], 0.5 + jitter[1]
    b[-1] = 0.46
    assert abs(difference(of(a, held_out=True), of(b, held_out=True))) < 0.4 * abs(b[-1] - a[-1])


def test_curves_that_glide_are_told_apart_by_where_they_end() -> None:
    """What lay further apart before has come together: that is no evidence of the end."""
    at = np.arange(1, 31)
    a, b = 1 + 3 / at, 1 + 5 / at
    found = difference(of(a, held_out=True), of(b, held_out=True))
    assert found == pytest.approx(b[-1] - a[-1])


def test_the_bend_of_a_difference_is_told_at_eight_places() -> None:
    """Whatever turns between them: seeds that wander apart slowly have a bend too."""
    wave = 0.01 * np.sin(np.linspace(0, 6, 64))
    rough = wave + 0.001 * np.random.default_rng(6).normal(size=64)
    assert bend(rough) == pytest.approx(bend(wave), rel=0.5)
    assert bend(rough) > 1.3 * of(rough, held_out=True).jitter
    assert bend(wave[:2]) == 0.0
