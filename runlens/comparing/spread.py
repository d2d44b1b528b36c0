"""How far repeats with other seeds lie apart: from repeats, else by a prior from the curve itself.

The prior. In 250 groups of 8 to 24 repeats (44 kinds of small trainings: classification, language
modelling, regression, factorisation, retrieval, policies, clusters, smoothed losses, small networks
under all usual schedules) the deviation of the last value between seeds goes with what one curve
shows as

    share x jitter^(2/3) x size^(1/3)

with the jitter of one value about its neighbors; the size is the geometric mean of the values
themselves and of how far they have come: a floor that nothing can learn makes the one too large, a
wild start the other.

How well it is known depends on whether the end of the curve is chance. A curve that turns at every
second value, as white noise does, shows what chance does: right within a factor of 1.8. A curve
that glides shows nothing but its bend, told as if it had been evaluated eight times (ends.py): its
seeds may lie where it does not tell, by another start or another optimum, and the factor is 3.7.
What of that bend both runs have is no noise of either, so that the jitter of B - A, where it is
smaller, takes its place (over 165 kinds of trainings it tells deviations better by a tenth in
likelihood a pair, each sixth of the kinds left out in turn).
And one kind in seven does what no curve shows: its seeds end in several optima, or few data are
memorized in as many ways; there they lie 7 times as far apart, known to a factor of 3.3 (`RARE`).
The three were fitted together, as the likeliest mixture, to 134 kinds of trainings, and change
little (by a fifth) when any tenth of them is left out. Nothing else that was tried knows better
(size of the last slope, residual about a line, level, overfitting, training loss, the jitter of the
middle; regressions that each left one kind out). Repeats (`--seeds`, groups) take the prior's
place. benchmarks/compare_families.py measures what rests on it.

The mean of many points shows more, but only where nothing moved over them: with half of the points
in it it is right within a factor of 1.7, with a twentieth of 3 (298 configurations of 74 kinds, as
the likeliest mixture), since what wanders may end elsewhere with another seed.
"""

import math

import numpy as np

from runlens.comparing.belief import Rare, Spread
from runlens.comparing.ends import FEWEST_JITTER, GROWTH, LONGEST, TURNS, End, end
from runlens.history import FloatArray
from runlens.knowledge.seed_deviations import Expected

SHARE = 0.47  # of a curve whose end is chance: it turns as white noise does
DOUBT = 0.6  # deviation of its logarithm over the kinds of trainings
SMOOTH = 0.65  # of a curve that still glides: what one calls jitter is its bend
DOUBT_SMOOTH = 1.3
RARE = Rare(0.15, 7.4, 1.2)  # of kinds, times the deviation that the curve tells, its doubt
RARE_OF_MEAN = 0.05  # its weight where a mean of many points is the end: it shows more
APART = 0.2  # of the logarithms of two configurations of one kind, beside their doubts
SHARE_OF_MEAN = 0.12  # the same of a mean, beside its own error
DOUBT_OF_MEAN = 0.55  # where nothing moved over the longest stretch
DOUBT_OF_SHORT = 1.2  # where the curve still moves: its end is the mean of a few points
FEW = 5  # values below which turns tell nothing: one white curve of twelve has none in four
FEW_BY_CHANCE = 0.5
FEWEST_APART = 8  # of a difference, from which its end tells how equal two runs of one seed are
OF_SPAN = 0.03  # without a jitter: of how far the curve has come
OF_LEVEL = 0.01  # without either: of the level
DOUBT_BLIND = 1.0


def prior(
    ends: tuple[End, End], published: Expected | None = None, apart: float | None = None
) -> Spread:
    """Return the prior of the deviation between repeats, by the ends of both curves.

    `apart`: the jitter of B - A, where it is known; bends that both have cancel in it.

    One deviation for both configurations: the mean of what the curves show in logarithms, each
    weighed by how much it tells. Both are of one kind of training, so that their errors are alike
    and the doubt does not fall by having two. It does by what was published of such trainings.
    """
    each = [known for one in ends if (known := _of_curve(one, apart))[0] > 0]
    level = (abs(ends[0].value) + abs(ends[1].value)) / 2
    if not each or level <= 0:
        return Spread(each[0][0] if each else 0.0, DOUBT_BLIND, source="prior" if each else "")
    weight = [1 / (doubt**2 + APART**2) for _, doubt in each]
    centre = float(np.average([math.log(deviation) for deviation, _ in each], weights=weight))
    doubt = float(np.average([doubt for _, doubt in each], weights=weight))
    rare = RARE._replace(
        weight=RARE_OF_MEAN if ends[0].error and ends[1].error else RARE.weight,
        deviation=RARE.deviation * math.exp(centre),
    )
    found = Spread(math.exp(centre), doubt, source="prior", rare=rare)
    if published is not None:
        if published.of_span:  # a return of nearly 0 is no small one: what was learned is its size
            level = max(level, (ends[0].span + ends[1].span) / 2)
        of_kind = math.log(published.deviation * (level if published.of_level else 1.0))
        return _with_published(found, of_kind, published.doubt)
    return found


def _with_published(known: Spread, of_kind: float, its_doubt: float) -> Spread:
    """Return what a curve, and what was published of its kind in logarithms, tell together.

    Both parts of the prior are drawn to it, and the one that it speaks for gains weight.
    """
    usual = Rare(1 - known.rare.weight, known.deviation, known.doubt)
    (share, deviation, doubt), rare = (
        _drawn(part, of_kind, its_doubt) for part in (usual, known.rare)
    )
    rare = rare._replace(weight=rare.weight / (share + rare.weight))
    return known._replace(deviation=deviation, doubt=doubt, rare=rare)


def _drawn(part: Rare, of_kind: float, its_doubt: float) -> Rare:
    """Return one part of the prior with what was published, its weight times the likelihood."""
    both = part.doubt**2 + its_doubt**2
    middle, share = math.log(part.deviation), part.doubt**2 / both
    seen = math.exp(-0.5 * (of_kind - middle) ** 2 / both) / math.sqrt(both)
    drawn = middle + share * (of_kind - middle)
    return Rare(part.weight * seen, math.exp(drawn), part.doubt * math.sqrt(1 - share))


def _of_curve(end: End, apart: float | None = None) -> tuple[float, float]:
    """Return (deviation, doubt of its logarithm) by one curve; 0.0 where it shows nothing."""
    if end.jitter > 0 and end.points >= FEWEST_JITTER:
        span = max(end.span, end.jitter)
        if end.error:  # a mean of many points: its own error, and what seeds add to it
            seed = SHARE_OF_MEAN * math.sqrt(end.error * min(span, end.scale))
            settled = min(end.window * GROWTH / (LONGEST * end.points), 1.0)
            doubt = DOUBT_OF_SHORT + (DOUBT_OF_MEAN - DOUBT_OF_SHORT) * settled
            return math.hypot(seed, end.error), doubt
        by_chance = min(end.turning / TURNS, 1.0) if end.points >= FEW else FEW_BY_CHANCE
        bend = min(apart / 2**0.5, end.jitter) if apart else end.jitter
        jitter = end.jitter**by_chance * bend ** (1 - by_chance)
        size = (jitter**4 * span * end.scale) ** (1 / 6)
        share = SMOOTH ** (1 - by_chance) * SHARE**by_chance
        return share * size, DOUBT_SMOOTH + (DOUBT - DOUBT_SMOOTH) * by_chance
    if end.points > 1 and end.span > 0:
        return OF_SPAN * end.span, DOUBT_BLIND
    return OF_LEVEL * abs(end.value) if end.points <= 1 else 0.0, DOUBT_BLIND


def coupled(difference: FloatArray, *, held_out: bool) -> Spread:
    """Return the spread of the difference of two runs with one seed, by its own curve B - A.

    Runs that began alike and saw the same data in the same order may stay together to the end: what
    parts them is then far less than what parts two seeds. It tells how equal they are, and is never
    what a claim of a difference rests on, since a difference that grows would count as noise.
    """
    known = end(difference, held_out=held_out)
    if known is None or known.points < FEWEST_APART:
        return Spread(0.0, DOUBT_BLIND)
    deviation, doubt = _of_curve(known)
    return Spread(deviation, doubt, source="prior")


def measured(levels: list[FloatArray], before: Spread) -> Spread:
    """Return a spread with the pooled deviation of groups of repeats, each of shape (n,)."""
    groups = [one for one in levels if len(one) > 1]
    freedom = sum(len(one) - 1 for one in groups)
    if not freedom:
        return before
    squares = sum(float(((one - one.mean()) ** 2).sum()) for one in groups)
    deviation = math.sqrt(squares / freedom)
    return before._replace(measured=deviation, freedom=freedom, source="seeds")


def with_sampling(spread: Spread, share: float, samples: float | None) -> Spread:
    """Return a spread that is no smaller than the sampling of a share over n samples allows.

    A share p over n samples has the standard error sqrt(p (1 - p) / n). Two runs that are evaluated
    on one set share a part of it, so that half of its variance is taken.
    """
    if not samples or not 0 < share < 1:
        return spread
    sampling = math.sqrt(share * (1 - share) / samples / 2)
    return spread.beside(sampling)
