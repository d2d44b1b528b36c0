"""Why a loss lies flat and high: what the schedule, the norms and the settings say."""

import numpy as np

from runlens import fixes
from runlens.diagnosis import Cause, Fix
from runlens.history import Curve
from runlens.rules.loss import surroundings
from runlens.run import Run
from runlens.signals import Signals
from runlens.wording import number, step
from runlens.wording import rate as as_rate

GONE = 0.05  # of the peak: a learning rate below it moves nothing


def rate_gone(signals: Signals, train: Curve) -> float | None:
    """Return the step at which the rate fell for good below 5 % of its peak in the first half."""
    rate, peak = signals.curve("learning_rate"), signals.peak_learning_rate or 0.0
    alive = rate.step[rate.value > GONE * peak]
    gone = float(alive[-1]) if len(alive) else 0.0
    return gone if len(rate) and gone < 0.5 * float(train.step[-1]) else None


def causes(run: Run, signals: Signals, train: Curve, knee: float) -> tuple[Cause, ...]:
    """Rank what holds the loss up after the step of the knee."""
    made: list[Cause] = []
    gone = rate_gone(signals, train)
    if gone is not None:
        why = f"below 5 % of its peak from step {step(gone)} on"
        made.append(Cause("Learning rate decayed too early", "most likely", why))
    norms = signals.curve("grad_norm").after(int(knee)).value
    norm = float(np.median(norms)) if len(norms) else None
    if norm is not None and norm < 1e-3:  # noqa: PLR2004 - 0.1 to 2.0 is usual
        made.append(
            Cause("Frozen or unwired parameters", "likely", f"gradient norm {number(norm)}")
        )
    usual, peak = surroundings.usual_rate(run), signals.peak_learning_rate
    if usual and peak and peak < usual[0]:
        why = f"peak {as_rate(peak)}; usual are {as_rate(usual[0])} to {as_rate(usual[1])}"
        made.append(Cause("Learning rate too low", "likely", why))
    if usual and peak and peak > usual[1]:
        why = f"peak {as_rate(peak)}; usual are {as_rate(usual[0])} to {as_rate(usual[1])}"
        made.append(Cause("Learning rate too high", "likely", why))
    limit = fixes.clip_limit(run)
    if norm is not None and limit and norm > 5 * limit:
        why = f"gradient norm {number(norm)} against max_grad_norm {limit:g}"
        made.append(Cause("Clipping too hard", "likely", why))
    if run.task in {"sft", "pretrain"}:
        made.append(Cause("Too few trained tokens: label mask or template", "possible"))
    made.append(Cause("Model too small, or data without more to learn", "possible"))
    ranked = [made[0]._replace(rank="most likely"), *made[1:]]
    return tuple(ranked[:4])


def cures(run: Run, signals: Signals, train: Curve) -> tuple[Fix, ...]:
    """Return what to try, cheapest first."""
    made = list(surroundings.first_checks(run))
    usual, peak = surroundings.usual_rate(run), signals.peak_learning_rate
    if rate_gone(signals, train) is not None:
        made.insert(0, fixes.action("Stretch the schedule over the planned steps", "it ends early"))
    elif usual and peak and peak > usual[1]:
        made += fixes.learning_rate(run, signals, 1 / 3, "above the usual range")
    elif usual and peak and peak < usual[0]:
        made += fixes.learning_rate(run, signals, 3, "below the usual range")
    decay, rank = run.number("weight_decay"), run.number("lora_r")
    if rank and decay and decay > 0.1:  # noqa: PLR2004 - 0 to 0.1 is usual with LoRA
        made.append(
            fixes.setting(run, "weight_decay", 0.01, "Lower the weight decay", "0 to 0.1 is usual")
        )
    if rank and rank <= 8:  # noqa: PLR2004 - 8 to 32 is usual
        made.append(fixes.setting(run, "lora_r", 32, "Raise the LoRA rank", "more capacity"))
    return tuple(made)
