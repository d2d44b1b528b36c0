"""High weight decay: above what fine-tuning of a language model takes.

What is seen
    weight_decay is above 0.1.
Why it matters
    It pulls every weight to zero at each step. In LoRA it shrinks the update itself: the loss
    stays on a shelf.
Looks alike
    0.1 is standard in pre-training. Recipes for images go to 0.3: only fine-tuning of language
    models is judged.
Limits
    high: above it (0.01 is usual in fine-tuning, 0.1 in pre-training).
Fixes
    weight_decay: 0.01.
"""

from msgspec import Struct

from runlens import fixes
from runlens.diagnosis import Outcome
from runlens.knowledge.optimizer_settings import HIGH_DECAY, USUAL_DECAY
from runlens.rules.config.method import LLM_TUNING, advice
from runlens.rules.relations import Relations
from runlens.rules.rule import Rule, drawn, found, passed, unmet
from runlens.run import Run
from runlens.signals import Signals
from runlens.wording import number


class Limits(Struct, frozen=True):
    """What may be tuned."""

    high: float = HIGH_DECAY


def check(run: Run, _: Signals, limits: Limits) -> Outcome:
    """Look at the setting."""
    value = run.number("weight_decay")
    if value is None:
        return unmet("weight_decay is not recorded")
    if value <= limits.high:
        return passed(f"weight_decay is {number(value)}")
    return found(
        advice(
            f"Weight decay is high for fine-tuning: {number(value)}.",
            "weight_decay",
            value,
            "Weight decay pulls the weights to zero at each step, an adapter's update included.",
            (
                fixes.setting(
                    run,
                    "weight_decay",
                    USUAL_DECAY,
                    "Lower the weight decay",
                    "0.01 is usual",
                ),
            ),
            limit=limits.high,
            source="0.01 is usual in fine-tuning, 0.1 in pre-training",
        )
    )


BAD = (drawn("at 0.5", severity="info", train_loss="0:2 600:1", config={"weight_decay": 0.5}),)
GOOD = (
    drawn("usual", train_loss="0:2 600:1", config={"weight_decay": 0.01}),
    drawn("as in pre-training", train_loss="0:2 600:1", config={"weight_decay": 0.1}),
)

RULE = Rule(
    slug="weight-decay-high",
    title="High weight decay",
    family="CFG",
    severity="info",
    page=__doc__,
    limits=Limits(),
    check=check,
    relations=Relations(ever=("plateau",), layer="setting"),
    tasks=LLM_TUNING,
    bad=BAD,
    good=GOOD,
)
