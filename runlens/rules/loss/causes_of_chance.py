"""What keeps a loss at chance, and what is done about it."""

from runlens import fixes
from runlens.diagnosis import Cause, Fix
from runlens.rules.loss import chance, surroundings
from runlens.run import Run
from runlens.signals import Signals
from runlens.wording import loss, rate


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
