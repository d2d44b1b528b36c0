"""Causes and fixes of the ways in which learning from preferences fails."""

from typing import Literal

from runlens import fixes
from runlens.diagnosis import Cause, Fix
from runlens.rules.rl.policy import ranked
from runlens.run import Run
from runlens.signals import Signals
from runlens.wording import number
from runlens.wording import rate as as_rate

Pattern = Literal["chance", "reversed", "displacement", "saturation", "memorized"]
LOW_RATE = 5e-7  # lower end for full fine-tuning by DPO
HIGH_RATE = 5e-5  # upper end, with LoRA
READ = "Read ten pairs as the trainer sees them, after templating and truncation"
FAR = 10.0  # times the upper end: the model breaks whatever the pairs are


def _far_too_high(rate: float | None) -> bool:
    return rate is not None and rate > FAR * HIGH_RATE


def causes_of(run: Run, signals: Signals, pattern: Pattern) -> tuple[Cause, ...]:
    """Rank the causes of a pattern by the settings of the run."""
    rate, beta = signals.peak_learning_rate, run.number("beta")
    known = f"the peak rate was {as_rate(rate)}" if rate else "the learning rate is not recorded"
    if pattern == "reversed":
        broke = "Learning rate too high, which broke the model"
        swapped = Cause(
            "Chosen and rejected are swapped",
            "likely",
            "fewer than half of the pairs are ranked correctly",
            kind="labels-wrong",
        )
        if _far_too_high(rate):  # trained on, swapped pairs would be learned as they are labelled
            return (
                Cause(broke, "most likely", known, kind="rate-too-high"),
                swapped._replace(rank="possible"),
            )
        return (
            swapped._replace(rank="most likely"),
            Cause(broke, "likely", known, kind="rate-too-high"),
        )
    if pattern == "chance":
        low = rate is not None and rate < LOW_RATE
        return ranked(
            Cause("Pairs without a learnable preference", "likely", kind="labels-wrong"),
            Cause(
                "Learning rate too low",
                "most likely" if low else "possible",
                known,
                kind="rate-too-low",
            ),
        )
    if pattern == "memorized":
        why = "training pairs are ranked right, and held-out pairs as by a coin"
        what, denied = "Pairs whose labels do not follow from their answers", "held-out pairs too"
        return (
            Cause(what, "likely", why, "", "labels-wrong", f"{denied} are ranked right", READ),
            Cause("Too few pairs for what is to be learned", "possible", kind="overfit"),
        )
    small = f"beta is {number(beta)}" if beta else "beta is not recorded"
    return (
        Cause(
            "Learning rate too high for preference tuning", "likely", known, kind="rate-too-high"
        ),
        Cause(
            "beta too small to keep the model near its reference", "likely", small, kind="kl-weight"
        ),
        Cause("Chosen and rejected too much alike", "possible", kind="labels-wrong")
        if pattern == "displacement"
        else Cause("Pairs that are too easy", "likely", kind="labels-wrong"),
    )


def fixes_of(run: Run, signals: Signals, pattern: Pattern) -> tuple[Fix, ...]:
    """Return what to change, the cheapest first."""
    look = fixes.look(READ)
    if pattern == "memorized":
        return (look, fixes.look("Check where chosen and rejected are set, and the order of rows"))
    if pattern == "reversed":
        swap = fixes.action("Swap chosen and rejected if they are reversed", cost="one run")
        rate = signals.peak_learning_rate
        if rate and _far_too_high(rate):
            down = fixes.learning_rate(
                run, signals, HIGH_RATE / rate, f"{as_rate(HIGH_RATE)} is the usual maximum"
            )
            return (*down, look, swap)
        return (look, swap, *fixes.learning_rate(run, signals, 1 / 3, "if the pairs are right"))
    if pattern == "chance":
        rate = signals.peak_learning_rate
        if rate and rate < LOW_RATE:
            return (look, *fixes.learning_rate(run, signals, 3, "nothing moved so far"))
        return (look,)
    made = [*fixes.learning_rate(run, signals, 1 / 3, "this keeps the answers likely")]
    old = run.number("beta")
    if run.task == "dpo" and (old is None or old < 0.3):  # noqa: PLR2004 - 0.1 to 0.3 is usual
        why = "this holds the model near its reference"
        made.append(fixes.setting(run, "beta", 0.3, "Raise beta", why))
    if run.task == "dpo" and pattern == "displacement":
        what = "Add a share of the supervised loss"
        made.append(
            fixes.setting(run, "rpo_alpha", 0.5, what, "this keeps the chosen answers likely")
        )
    return (*made, look)
