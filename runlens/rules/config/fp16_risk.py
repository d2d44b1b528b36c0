"""fp16 risk: half precision where bf16 would be safe.

What is seen
    The run trains in fp16, on a card that has bf16 or with a model that was trained in bf16.
Why it matters
    fp16 ends at 65,504. Activations of models that were trained in bf16 can lie beyond it, and
    the loss scale has to find the range of the gradients: both end in NaN losses. bf16 has the
    range of fp32.
Looks alike
    V100 and T4 have no bf16: there fp16 is right, and only a model that was trained in bf16 is
    worth a word. Nothing went wrong yet: it is advice until a NaN or an overflow is seen.
Limits
    None: what counts is the card and the model. (This rule has no number to tune.)
Fixes
    bf16: true and fp16: false. On a card without bf16: fp32 for the layers that overflow.
"""

import re

from msgspec import Struct

from runlens import fixes
from runlens.diagnosis import Fix, Outcome
from runlens.patterns import lazy_re
from runlens.rules.config.method import advice
from runlens.rules.relations import NAN, Relations
from runlens.rules.rule import Rule, drawn, found, passed, unmet
from runlens.run import Run
from runlens.signals import Signals

_HAS_BF16 = lazy_re(
    r"\b(?:A100|A800|A30|A40|A10G?|A16|A2|H100|H200|H800|H20|GH200|GB?200|B100|B200|L4|L40S?"
    r"|A[456]000|RTX A?\d{4}(?: Ada)?|RTX [345]0\d\d|MI2\d\dX?|MI3\d\dX?)\b",
    re.IGNORECASE,
)
_NO_BF16 = lazy_re(
    r"V100|\bT4\b|P100|P40|K80|M60|GTX|RTX 20\d\d|TITAN|RTX [4568]000\b(?! Ada)", re.IGNORECASE
)
_TRAINED_IN_BF16 = lazy_re(
    r"gemma|llama-?_?[234]|qwen|mistral|mixtral|deepseek|phi-?[34]|olmo|\bmt5|flan-t5"
    r"|\bt5-|falcon|yi-\d",
    re.IGNORECASE,
)


class Limits(Struct, frozen=True):
    """Nothing to tune."""


def check(run: Run, _: Signals, limits: Limits) -> Outcome:  # noqa: ARG001 - as every rule
    """Look at the precision, the card and the model."""
    if run.flag("fp16") is None:
        return unmet("the precision is not recorded")
    if not run.flag("fp16"):
        return passed("fp16 is off")
    card, model = str(run.setting("gpu") or ""), str(run.setting("model_name") or "")
    old_card = bool(_NO_BF16.search(card))
    has_bf16 = bool(_HAS_BF16.search(card)) and not old_card
    if has_bf16:
        title = f"fp16 is on, although the {card} supports bf16, which has a far wider range."
    elif _TRAINED_IN_BF16.search(model):
        title = f"fp16 is on for {model}, which was trained in bf16."
    elif old_card:
        return passed(f"the {card} has no bf16")
    else:
        return unmet("neither the card nor a model trained in bf16 is recorded")
    return found(
        advice(
            title,
            "fp16",
            "true",
            "Activations beyond 65,504 become infinite in fp16.",
            _fixes(run, old_card=old_card),
        )
    )


def _fixes(run: Run, *, old_card: bool) -> tuple[Fix, ...]:
    if old_card:
        what = "Keep the layers that overflow in fp32, and watch the loss scale"
        return (fixes.action(what, "this card has no bf16"),)
    return fixes.bf16(run, "the range of fp32 at the same cost")


BAD = (
    drawn(
        "fp16 on an A100",
        severity="info",
        train_loss="0:2 600:1",
        config={"fp16": True, "gpu": "NVIDIA A100-SXM4-80GB"},
    ),
    drawn(
        "Gemma in fp16",
        severity="info",
        train_loss="0:2 600:1",
        config={"fp16": True, "model_name": "google/gemma-2-9b"},
    ),
    drawn(
        "Llama in fp16 on a T4",
        severity="info",
        train_loss="0:2 600:1",
        config={"fp16": True, "model_name": "meta-llama/Llama-3.1-8B", "gpu": "Tesla T4"},
    ),
)
GOOD = (
    drawn("bf16", train_loss="0:2 600:1", config={"fp16": False, "bf16": True}),
    drawn(
        "GPT-2 on a V100",
        train_loss="0:3 600:2",
        config={"fp16": True, "gpu": "Tesla V100-SXM2-16GB", "model_name": "gpt2"},
    ),
)

RULE = Rule(
    slug="fp16-risk",
    title="fp16 risk",
    family="CFG",
    severity="info",
    page=__doc__,
    limits=Limits(),
    check=check,
    relations=Relations(ever=(*NAN, "loss-scale-collapse", "nan-grad"), layer="setting"),
    bad=BAD,
    good=GOOD,
)
