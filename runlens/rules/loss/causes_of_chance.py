"""How sure it is that a loss stands at chance, what keeps it there, and what is done about it."""

import numpy as np

from runlens import fixes
from runlens.arrays import quantile
from runlens.diagnosis import Cause, Fix, Severity
from runlens.history import Curve
from runlens.rules.loss import chance, surroundings
from runlens.rules.rule import Case, drawn
from runlens.run import Run
from runlens.signals import Signals
from runlens.wording import loss, rate

MOST = 0.75  # of the points: a few more batches of another size do no harm
FEWEST = 20  # points whose level names a number by itself


def severity(run: Run, train: Curve, level: float, exact: float) -> Severity:
    """Return how sure it is: of an unknown task one level in 25 is ln of a number by coincidence.

    One that never left it, with three points in four at its digits, names the number itself.
    """
    if run.task != "other":
        return "warning" if run.task == "dpo" else "critical"
    moved = np.ptp(train.value[len(train) // 2 :]) > exact * level
    told = chance.of_known_classes(level) or chance.of_settings(run, level)
    both = len(run.curve("eval_loss")) > 0  # which names the same number
    if chance.of_start(float(train.value[0])) or (not moved and (told or both)):
        return "critical"
    still = quantile(np.abs(train.value - level), MOST) <= exact * level
    named = still and len(train) >= FEWEST and chance.names_number(level)
    return "warning" if named else "info"


def causes(run: Run, signals: Signals, *, back: bool, low: float) -> tuple[Cause, ...]:
    """Return the causes, the likeliest first; `back` from `low`, the lowest smoothed loss."""
    made: list[Cause] = []
    norms = signals.curve("grad_norm").value
    flat = len(norms) > 0 and not norms.any()
    if flat:
        made.append(
            Cause(
                "Frozen or unwired parameters",
                "most likely",
                "gradient norm is 0",
                kind="frozen-weights",
            )
        )
    if surroundings.too_low(run, signals, 10):
        why = f"the peak rate is {rate(signals.peak_learning_rate or 0.0)}"
        made.append(
            Cause(
                "Learning rate too low",
                "likely" if made else "most likely",
                why,
                kind="rate-too-low",
            )
        )
    if back:
        first = float(signals.curve("train_loss").value[0])
        why = f"the smoothed loss had fallen to {loss(low)} before it rose to chance again"
        if first <= low:  # it never fell: the mean of the first points is above the first
            why = f"train loss was {loss(first)} at the start and rose to chance"
        made.insert(0, Cause("Learning rate too high", "most likely", why, kind="rate-too-high"))
    against = "" if not flat else "gradient norm is 0: labels play no part"
    what = "Labels that do not match the inputs"
    made.append(
        Cause(what, "possible" if made else "most likely", "", against, kind="labels-wrong")
    )
    made.append(
        Cause("Inputs are empty, all padding, or wrongly normalized", "possible", kind="code-error")
    )
    start = float(signals.curve("train_loss").value[0])
    if chance.high_start(run, start):
        made.append(
            Cause(chance.NOT_TRAINED, "possible", chance.start_words(start), kind="labels-wrong")
        )
    if run.number("label_smoothing_factor"):
        why = f"label_smoothing_factor is {run.number('label_smoothing_factor'):g}"
        made.append(Cause("Label smoothing too strong", "possible", why, kind="loss-function"))
    return tuple(made)


def cures(run: Run, signals: Signals, *, back: bool) -> tuple[Fix, ...]:
    """Return what to check first, and the rate where it tells of the fault."""
    made = list(surroundings.first_checks(run))
    made.append(
        fixes.look(
            "Check requires_grad and the optimizer's parameter groups",
            cures="frozen-weights",  # the head may be frozen
        )
    )
    if back:
        why = "the loss fell first and rose to chance again"
        made += fixes.learning_rate(run, signals, 1 / 10, why)
    elif surroundings.too_low(run, signals, 10):
        made += fixes.learning_rate(run, signals, 10, "far below the usual range")
    return tuple(made)


OFTEN = range(100, 901, 200)


def _of_three(name: str, severity: Severity, level: float) -> Case:
    """Draw a loss of an unknown task that never left a level, with an odd batch now and then."""
    odd = " ".join(f"{at}:{level} {at + 10}:{1.008 * level} {at + 20}:{level}" for at in OFTEN)
    return drawn(name, task="other", severity=severity, noise=1e-5, train_loss=f"0:{level} {odd}")


SUMMED = {"num_labels": 10, "gradient_accumulation_steps": 32}
BAD = (
    drawn(
        "a sum over 32 micro-batches of ten classes, with a hump",
        task="other",
        severity="warning",
        noise=0.005,
        config=SUMMED,
        train_loss="0:73.6 300:85 600:73.8 900:73.5",
    ),
    drawn(
        "preferences", severity="warning", task="dpo", noise=5e-3, train_loss="0:0.693 900:0.693"
    ),
    drawn("ImageNet's classes", task="other", noise=1e-5, train_loss="0:6.9077 900:6.9077"),
    _of_three("ln 3 to four digits, in all but a few batches", "warning", 1.098612),
    drawn(
        "ln 3 to four digits, in all",
        task="other",
        severity="warning",
        noise=2e-5,
        train_loss="0:1.098612 900:1.098612",
    ),
    _of_three("near the logarithm of a number", "info", 1.1035),
)
GOOD = (
    drawn(
        "a sum over micro-batches that is learned from",
        task="classification",
        noise=0.005,
        config=SUMMED,
        train_loss="0:73.6 300:60 900:40",
    ),
    drawn(
        "a loss of another unit that falls to 32 ln 10",
        task="classification",
        noise=0.005,
        config=SUMMED,
        train_loss="0:95 300:74 900:73.7",
    ),
)
