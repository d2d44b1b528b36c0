"""Two networks that train against each other: whether one of them has won."""

from runlens import fixes
from runlens.arrays import median
from runlens.diagnosis import Chart, Confidence, Evidence, Finding, Fix, Mark, Moment, Outcome
from runlens.history import Curve
from runlens.rules.rule import found, passed, unmet
from runlens.signals import Signals
from runlens.signals.changes import last_false
from runlens.signals.shape import above, confidence
from runlens.wording import count, loss, step, times

DISCRIMINATOR, GENERATOR = "d_loss", "g_loss"
FEWEST_POINTS = 8  # two medians of four each can differ beyond chance
FIFTH = 5
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
        return passed(f"the discriminator has not won: its loss ends at {loss(end)}")
    onset = float(judges.step[at])
    before, last = _levels(makers, onset)
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


def _cures() -> tuple[Fix, ...]:
    slower = fixes.action(
        "Slow the discriminator down: a third of its learning rate, or one update of it for two "
        "of the generator",
        "it learns faster than the generator",
    )
    label = f"Label real samples {SMOOTHED_LABEL:g} instead of 1, or penalize the gradient (R1)"
    return slower, fixes.action(label, "a discriminator that is never quite sure keeps teaching")
