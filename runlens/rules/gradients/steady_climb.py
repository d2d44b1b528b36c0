"""A norm that climbs all along while the loss leaves its best: no first quarter is its base.

Gradients that are added up over all steps, as where nothing sets them to zero, grow in proportion
to the steps. Then a tenfold climb over the norm after warm-up is never reached, yet from the first
norms on it is a multiple. A norm that grows as slowly beside a loss that falls is usual; so two
ranks must agree: the norm rises with the steps, and the loss since its best as well, to above its
start. A sum of gradients hardly scatters, as each step adds little to all before: where the norm is
a line of the steps, the turn of the loss is enough, before all that was gained is lost.
"""

import numpy as np

from runlens import fixes
from runlens.arrays import median
from runlens.diagnosis import Chart, Confidence, Evidence, Finding, Moment, RuledOut
from runlens.history import Curve
from runlens.records import NamedTuple
from runlens.rules.gradients import explosion_advice
from runlens.rules.rule import LOSS_TASKS, Case, drawn
from runlens.run import Run
from runlens.signals import Signals
from runlens.signals.noise import MEDIAN_LOSS, sigma_diff, smooth
from runlens.signals.trend import mann_kendall
from runlens.wording import count, loss, number, step, times

FEWEST = 20  # norms: fewer in an order are a warm-up
ORDER = 0.8  # Kendall's tau of norm and step: nine pairs in ten are in order
CHANCE = 0.01  # of the rise of the loss since its best, by rank
ERRORS = 4.0  # standard errors, as of a divergence
LINE = 0.99  # correlation of norm and step, and order: single batches scatter by a tenth and more
TURNS = 0.05  # chance of the rise of the loss behind its best, beside a norm that is such a line
UNDONE = 0.2  # of what was gained: less of it back is the noise floor of a constant rate
WIDTH = 3  # points of the first and the last level, a tenth of many


class Turn(NamedTuple):
    """Where a loss was best, and what it came to."""

    at: int  # index of the best
    was: float  # level there, or behind it
    now: float


def of(run: Run, signals: Signals, climb: float) -> Finding | None:
    """Return the finding of such a climb by the factor `climb` or more; else None."""
    norms, train = signals.curve("grad_norm"), signals.curve("train_loss")
    if run.task not in LOSS_TASKS or len(norms) < FEWEST or len(train) < FEWEST:
        return None
    width = max(WIDTH, len(norms) // 10)
    first, last = float(median(norms.value[:width])), float(median(norms.value[-width:]))
    if first <= 0 or last < climb * first or mann_kendall(norms.value)[0] < ORDER:
        return None
    turn = _above_start(train) or (_turned(train) if _is_line(norms) else None)
    if turn is None:
        return None
    at, was, now = turn
    onset, best = float(train.step[at]), float(train.value[at])
    return Finding(
        severity="warning",
        title=f"The gradient norm climbed all along, from {number(first)} to {number(last)} "
        f"(medians). From step {step(onset)} on train loss rose as well, from its best of "
        f"{loss(best)} to {loss(now)} (median).",
        metric="grad_norm",
        onset=Moment(onset),
        evidence=(
            Evidence("Gradient norm at the end over that at the start", last / first, climb,
                     "a slow growth beside a loss that falls is usual", "grad_norm"),
            Evidence("Train loss at the end (median)", now, was, "its median behind its best",
                     "train_loss", float(train.step[-1])),
        ),
        seen="A norm that grows with the steps is that of gradients that are added up: something "
        "must set them to zero before each backward().",
        fixes=(
            fixes.look(
                "Check that the gradients are set to zero before each backward()",
                "print the norm of the same batch twice: added up, the second one is larger",
            ),
            *explosion_advice.cures(run, signals, onset),
        ),
        ruled_out=(RuledOut("A slow growth in health", "the loss rises with it"),),
        confidence=Confidence(0.7, f"{times(last / first)}, {count(len(norms), 'norm')}"),
        chart=Chart("curves", ("grad_norm", "train_loss")),
    )  # fmt: skip


def _above_start(train: Curve) -> Turn | None:
    """Return the rise of a loss behind its best that ends above its start."""
    at = int(np.argmin(train.value))
    behind = train.value[at + 1 :]
    if len(behind) < FEWEST // 2 or train.value[at] <= 0:
        return None
    tau, chance = mann_kendall(behind)
    width = max(WIDTH, len(behind) // 4)
    was, now = float(median(behind[:width])), float(median(behind[-width:]))
    error = MEDIAN_LOSS * sigma_diff(behind) * (2 / width) ** 0.5  # of a difference of two medians
    begun = float(median(train.value[:WIDTH]))
    if tau <= 0 or chance / 2 > CHANCE or now - was < ERRORS * error / 2 or now <= begun:
        return None
    return Turn(at, was, now)


def _is_line(norms: Curve) -> bool:
    """Whether norms grow in proportion to the steps, one after the other."""
    value = norms.value
    straight = float(np.corrcoef(norms.step, value)[0, 1])
    return straight >= LINE and mann_kendall(value)[0] >= LINE


def _turned(train: Curve) -> Turn | None:
    """Return the rise of a loss behind the best of its smooth course, beyond chance and noise."""
    course = smooth(train.value)
    at, width = int(np.argmin(course)), max(WIDTH, len(train) // 10)
    tau, chance = mann_kendall(train.value[at:])
    best, now = float(course[at]), float(median(train.value[-width:]))
    gained = float(median(train.value[:width])) - best
    error = MEDIAN_LOSS * sigma_diff(train.value) / width**0.5
    far = now - best >= max(UNDONE * gained, ERRORS * error / 2)
    return Turn(at, best, now) if tau > 0 and chance / 2 <= TURNS and far and best > 0 else None


GROWS = "0:4 100:12 900:34"


def _climbing(name: str, train: str, norm: str = GROWS) -> Case:
    """Draw a norm beside a loss."""
    noise = {"train_loss": 0.2, "grad_norm": 0.03}
    return drawn(
        name, (150, 150), noise, severity="warning", train_loss=train, grad_norm=norm, task="other"
    )


BAD = (
    drawn(
        "gradients that are added up",
        (130, 190),
        {"train_loss": 0.15, "grad_norm": 0.03},
        task="other",
        severity="warning",
        train_loss="0:1.5 150:0.3 300:1.8 900:3.2",
        grad_norm=GROWS,
    ),
    drawn(
        "a norm that is a line of the steps, and the loss begins to lose what it gained",
        (560, 700),
        {"train_loss": 0.02, "grad_norm": 0},
        task="other",
        severity="warning",
        train_loss="0:3.4 300:3.1 600:2.65 900:2.98",
        grad_norm="0:0.3 900:4.3",
    ),
)
GOOD = (
    _climbing("a norm that grows beside a loss that falls", "0:3 150:1.6 900:0.6"),
    _climbing("a norm that grows beside a loss at its floor", "0:3 150:0.6 900:0.6"),
    drawn(
        "a norm that is a line of the steps beside a loss that still falls",
        noise={"train_loss": 0.02, "grad_norm": 0},
        task="other",
        train_loss="0:3.4 300:3.1 600:2.65 900:2.4",
        grad_norm="0:0.3 900:4.3",
    ),
    drawn(
        "a norm that is a line of the steps beside a loss at its noise floor",
        noise={"train_loss": 0.02, "grad_norm": 0},
        task="other",
        train_loss="0:3.4 300:2.9 600:2.65 900:2.68",
        grad_norm="0:0.3 900:4.3",
    ),
    _climbing(
        "a norm of single batches that scatter beside a loss that turns",
        "0:3.4 300:3.1 600:2.65 900:2.98",
        "0:0.5 900:4.3",
    ),
    _climbing("a loss that rises a little beside a norm that stands", "0:3 900:3.6", "0:4 900:4"),
)
