"""Two networks that train against each other: whether one of them has won."""

import numpy as np

from runlens import fixes
from runlens.arrays import median
from runlens.diagnosis import Chart, Confidence, Evidence, Finding, Fix, Mark, Moment, Outcome
from runlens.history import Curve
from runlens.naming import words
from runlens.rules.rule import drawn, found, passed, unmet
from runlens.signals import Signals
from runlens.signals.changes import last_false
from runlens.signals.shape import above, confidence
from runlens.wording import count, loss, step, times

DISCRIMINATOR, GENERATOR = "d_loss", "g_loss"
FEWEST_POINTS = 8  # two medians of four each can differ beyond chance
FIFTH = 5
UNSURE = 0.25  # of a probability: halfway from a sure no to 0.5, of who cannot tell
# D(x) and D(G(z)) of DCGAN, and what others call them
FILLING = frozenset(("mean", "avg", "d", "prob", "output", "out", "disc", "score", ""))
FAKE = frozenset((frozenset(("g", "z")), frozenset(("fake",))))
REAL = frozenset((frozenset(("x",)), frozenset(("real",))))
NEVER_WRONG = 0.01  # of a probability: from a sure yes, and from a sure no, all last fifth through
SMOOTHED_LABEL = 0.9  # for real samples: Salimans et al. 2016, "Improved Techniques", section 3.4


def judge(signals: Signals, won: float, grew: float) -> Outcome:
    """Ask whether the discriminator's loss stays at zero while the generator's has risen.

    It has where its loss is at most `won` of its highest level, sure of almost all samples, and the
    generator's `grew` times its level before.
    Critics of Wasserstein distances, whose losses go below zero, have no such level.
    """
    judges, makers = signals.curve(DISCRIMINATOR), signals.curve(GENERATOR)
    if min(len(judges), len(makers)) < FEWEST_POINTS:
        return unmet(f"only {count(len(judges), 'value')} of {DISCRIMINATOR}")
    if judges.value.min() < 0 or makers.value.min() < 0:
        return unmet("a loss that goes below 0 has no level at which a network has won")
    end = float(median(judges.value[-(len(judges) // FIFTH) :]))
    smooth = signals.smooth(DISCRIMINATOR)
    low = won * float(smooth.max())
    at = last_false(smooth <= low) + 1
    if end > low or at >= len(judges):
        if long := _for_most_of_it(signals, judges, makers, (won, grew)):
            return found(long)
        return passed(f"the discriminator has not won: its loss ends at {loss(end)}")
    onset = float(judges.step[at])
    before, last = _levels(makers, onset)
    if _never_wrong(signals):  # from the first rows on, so that no fifth lies before
        before = min(before, float(makers.value[makers.step < onset].min(initial=np.inf)))
    chance = above(makers.value[: len(makers) // FIFTH], makers.value[-(len(makers) // FIFTH) :])
    sure = confidence(last / (grew * before) if before > 0 else 1.0, chance)
    if last < grew * before:
        return passed(f"the generator keeps up: its loss went from {loss(before)} to {loss(last)}")
    return found(
        Finding(
            severity="warning",
            title=f"The discriminator has won from step {step(onset)} on. Its loss went to "
            f"{loss(end)} while the generator's rose from {loss(before)} to {loss(last)}.",
            metric=GENERATOR,
            onset=Moment(onset),
            evidence=(
                Evidence(
                    "Discriminator loss in the last fifth",
                    end,
                    low,
                    "a share of its highest level",
                    DISCRIMINATOR,
                    above=False,
                ),
                Evidence("Generator loss in the last fifth", last, where=GENERATOR),
                Evidence("Generator loss before the rise", before, where=GENERATOR),
            ),
            seen="A discriminator that is sure of every sample gives the generator hardly any "
            "gradient to learn from.",
            fixes=_cures(),
            confidence=Confidence(
                round(sure, 2),
                f"the generator's loss rose to {times(last / before)} its level"
                if before > 0
                else "the generator's loss was zero before",
            ),
            chart=Chart("curves", (GENERATOR, DISCRIMINATOR), marks=(Mark(onset, last, "onset"),)),
        )
    )


def _levels(makers: Curve, onset: float) -> tuple[float, float]:
    """Return the generator's lowest level up to the onset, or at its start, and its last fifth.

    It rises while the discriminator wins, so a level is that of a fifth of the time before.
    """
    width, lost = len(makers) // FIFTH, int((makers.step < onset).sum())
    early = max(FEWEST_POINTS // 2, lost // FIFTH)
    starts = range(0, max(lost, early) - early + 1, max(1, early // 2))
    before = min(float(median(makers.value[at : at + early])) for at in starts)
    return before, float(median(makers.value[-width:]))


def _for_most_of_it(
    signals: Signals, judges: Curve, makers: Curve, limits: tuple[float, float]
) -> Finding | None:
    """Return what is found of a discriminator that was sure for most of the run, if not at its end.

    A loss that creeps up at last does no good to a generator whose own never came back since. A
    head start of the discriminator that ends is usual, and the generator's loss falls with it.
    """
    won, grew = limits
    sure = judges.value <= won * float(judges.value.max())
    at = int(np.argmax(sure))
    rest = makers.value[makers.step >= judges.step[at]]
    most = sure.any() and 2 * int(sure.sum()) > len(sure)
    if not most or at == 0 or len(rest) < FEWEST_POINTS:
        return None
    onset = float(judges.step[at])
    before = float(makers.value[makers.step < onset].min(initial=np.inf))
    fakes, reals = (_outputs(signals, words_of) for words_of in (FAKE, REAL))
    if rest.min() < grew * before or (fakes and float(median(fakes[1].value)) > UNSURE):
        return None
    last, end = float(median(rest[-max(3, len(rest) // FIFTH) :])), float(judges.value[-1])
    told = f"{int(sure.sum()):,} of {count(len(sure), 'point')}"
    beside = [
        Evidence(f"Median {name} over the run", float(median(curve.value)), where=name)
        for name, curve in filter(None, (fakes, reals))
    ]
    return Finding(
        severity="warning",
        title=f"The discriminator had won for most of the run, from step {step(onset)} on. Its "
        f"loss was near 0 at {told}, and the generator's never came back: it was {loss(before)} "
        f"before and {loss(last)} in the last fifth.",
        metric=GENERATOR,
        onset=Moment(onset),
        evidence=(
            Evidence("Lowest generator loss since then", float(rest.min()), grew * before),
            Evidence("Discriminator loss at the end", end, where=DISCRIMINATOR),
            *beside,
        ),
        seen="A discriminator that is sure of every sample gives the generator hardly any "
        "gradient to learn from.",
        fixes=_cures(),
        confidence=Confidence(
            0.85, f"{count(len(rest), 'point')}, none of them near the level before"
        ),
        chart=Chart("curves", (GENERATOR, DISCRIMINATOR), marks=(Mark(onset, last, "onset"),)),
    )


def _outputs(signals: Signals, wanted: frozenset[frozenset[str]]) -> tuple[str, Curve] | None:
    """Return what the discriminator says of samples, a probability, and its name; or None."""
    for name in signals.run.history.metrics:
        said = frozenset(word.rstrip("012") for word in words(name)) - FILLING
        curve = signals.curve(name)
        if said in wanted and len(curve) and 0 <= curve.value.min() <= curve.value.max() <= 1:
            return name, curve
    return None


def _never_wrong(signals: Signals) -> bool:
    """Whether what the discriminator says of samples, both kinds, is sure all last fifth through.

    Smoothed labels, and a generator that deceives it now and then, leave more than that.
    """
    fakes, reals = (_outputs(signals, words_of) for words_of in (FAKE, REAL))
    if not fakes or not reals:
        return False
    low, high = (one[1].value[-max(3, len(one[1]) // FIFTH) :] for one in (fakes, reals))
    return bool(low.max() <= NEVER_WRONG and high.min() >= 1 - NEVER_WRONG)


def _cures() -> tuple[Fix, ...]:
    slower = fixes.action(
        "Slow the discriminator down: a third of its learning rate, or one update of it for two "
        "of the generator",
        "it learns faster than the generator",
    )
    label = f"Label real samples {SMOOTHED_LABEL:g} instead of 1, or penalize the gradient (R1)"
    return slower, fixes.action(label, "a discriminator that is never quite sure keeps teaching")


EARLY_D = "/100 100:0.08 200:2e-4 300:1e-4 400:0 1500:0"
EARLY_G = "/100 100:6 200:9 300:10.3 500:12 1500:18.5"
ONCE_SURE = "0:0.9 10:0 200:0 300:0.05 400:0.3"
BAD = (
    drawn(
        "sure of every sample from the first rows on",
        (200, 400),
        task="gan-diffusion",
        severity="warning",
        noise=0,
        d_loss=EARLY_D,
        g_loss=EARLY_G,
        d_x="/100 100:0.97 200:1 1500:1",
        d_g_z="/100 100:0.04 200:0 1500:0",
    ),
    drawn(
        "sure for two thirds of the run, and less so at last",
        (10, 40),
        task="gan-diffusion",
        severity="warning",
        noise=0,
        d_loss=ONCE_SURE,
        g_loss="0:0.9 10:10 200:16 400:11",
        d_x="0:0.8 10:1 300:0.99 400:0.9",
        d_g_z="0:0.5 10:0 300:0.02 400:0.1",
    ),
)
GOOD = (
    drawn(
        "a loss near 0 from the first rows on, whose outputs still err",
        task="gan-diffusion",
        noise=0,
        d_loss=EARLY_D,
        g_loss=EARLY_G,
        d_x="/100 100:0.97 200:0.9 1500:0.9",
        d_g_z="/100 100:0.04 200:0.08 1500:0.1",
    ),
    drawn(
        "sure for two thirds of the run, until the generator caught up",
        task="gan-diffusion",
        noise=0,
        d_loss=ONCE_SURE,
        g_loss="0:0.9 10:10 200:16 400:1.2",
    ),
    drawn(
        "a loss near 0 whose outputs say that it cannot tell",
        task="gan-diffusion",
        noise=0,
        d_loss=ONCE_SURE,
        g_loss="0:0.9 10:10 200:16 400:11",
        real_score="0:0.5 400:0.52",
        fake_score="0:0.5 400:0.48",
    ),
)
