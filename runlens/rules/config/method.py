"""What kind of training a run is, as far as its settings tell, and which learning rates are usual.

Ranges: full fine-tuning 1e-5 to 5e-5 and LoRA 1e-4 to 3e-4 as axolotl's page on training stability
gives them (LoRA is seen down to 2e-5 and up to 5e-4 in health); GRPO and PPO around TRL's default
of 1e-6; DPO around TRL's 1e-6 and LLaMA-Factory's 5e-6; pre-training 1.5e-4 (70B) to 6e-4 (125M);
SGD on images 0.1 for 256 samples a step; encoders 1e-5 to 5e-5, with LoRA up to PEFT's 1e-3, and
in between where nothing says which. The ranges of DPO, GRPO, PPO and pre-training rest on
practice, not on a measurement: a rule on them is advice.
"""

import re
from typing import NamedTuple

from runlens import fixes
from runlens.diagnosis import Chart, Confidence, Evidence, Finding, Fix, Moment
from runlens.patterns import lazy_re
from runlens.run import Run, Setting, Task

LLM_TUNING: frozenset[Task] = frozenset({"sft", "dpo", "grpo", "ppo", "reward-model"})
SMALL_MODEL = 5e7  # parameters: below it a model is a toy or a classic network, with other rates
UNTRAINED = 5.0  # nats: half of ln(vocabulary) for 30,000 tokens
SGD_RATE, SGD_BATCH = (0.01, 0.1), 256

_BERT_LIKE = lazy_re(r"bert|electra|xlnet|longformer|bigbird|ernie|camembert", re.IGNORECASE)


class Usual(NamedTuple):
    """A usual range of learning rates and the kind of training that it is for."""

    low: float
    high: float
    what: str

    @property
    def middle(self) -> float:
        """The middle of the range, on the logarithmic scale of rates."""
        return float((self.low * self.high) ** 0.5)


_BY_TASK = {
    "sft": (Usual(1e-5, 5e-5, "full fine-tuning"), Usual(2e-5, 5e-4, "LoRA")),
    "dpo": (Usual(5e-7, 5e-6, "DPO of all weights"), Usual(5e-6, 5e-5, "DPO with LoRA")),
    "grpo": (Usual(1e-7, 1e-5, "GRPO of all weights"), Usual(1e-6, 5e-5, "GRPO with LoRA")),
    "ppo": (Usual(1e-7, 1e-5, "PPO of all weights"), Usual(1e-6, 5e-5, "PPO with LoRA")),
}
_PRETRAIN = Usual(1e-4, 1e-3, "pre-training")
_CONTINUED = Usual(1e-5, 1e-3, "continued pre-training")
_BERT = {
    False: Usual(1e-5, 5e-5, "fine-tuning an encoder"),
    None: Usual(1e-5, 3e-4, "fine-tuning an encoder"),
    True: Usual(1e-4, 1e-3, "LoRA on an encoder"),
}
_EITHER = {"sft": "fine-tuning", "dpo": "DPO", "grpo": "GRPO", "ppo": "PPO"}


def usual_rates(run: Run) -> Usual | None:
    """Return the usual learning rates for this kind of training; None where none are known.

    Where it is not recorded whether an adapter is trained, the range holds both ways.
    """
    optimizer = str(run.setting("optim") or "").lower()
    if optimizer == "sgd" and run.task == "classification":
        scale = (fixes.effective_batch(run) or SGD_BATCH) / SGD_BATCH
        return Usual(SGD_RATE[0] * scale, SGD_RATE[1] * scale, "SGD on images")
    if optimizer.startswith(("sgd", "muon", "adafactor", "lion", "prodigy", "dadapt")):
        return None
    if 0 < (run.number("num_parameters") or SMALL_MODEL) < SMALL_MODEL:
        return None
    if run.task in _BY_TASK:
        full, light = _BY_TASK[run.task]
        with_adapter = run.adapted
        if with_adapter is None:
            return Usual(full.low, light.high, _EITHER[run.task])
        return light if with_adapter else full
    if run.task == "pretrain":
        return _CONTINUED if _trained_before(run) else _PRETRAIN
    names = (
        f"{run.setting('model_name')} {run.setting('model_type')} {run.setting('architectures')}"
    )
    if run.task == "classification" and _BERT_LIKE.search(names):
        return _BERT[run.adapted]
    return None


def _trained_before(run: Run) -> bool:
    """Whether the first losses are too low for random weights, which start at ln(vocabulary)."""
    first = run.curve("train_loss").finite().value[:1]
    return bool(len(first) and first[0] < UNTRAINED)


def is_set(run: Run, key: str) -> bool:
    """Whether a setting is recorded, be it as null."""
    return key in run.config


def evaluation_off(run: Run) -> bool:
    """Whether the settings switch evaluation off; not where nothing is recorded."""
    return str(run.setting("eval_strategy")).lower() in {"no", "evalstrategy.no"}


def advice(
    title: str,
    key: str,
    value: Setting,
    seen: str,
    fix: tuple[Fix, ...],
    *,
    limit: float | None = None,
    source: str = "",
    above: bool = True,
    sure: Confidence = Confidence(0.7, "the settings alone"),
) -> Finding:
    """Make the finding of a setting: an info about the whole run, without an onset."""
    shown = value if isinstance(value, int | float) and not isinstance(value, bool) else str(value)
    return Finding(
        severity="info",
        title=title,
        metric=key,
        onset=Moment(),
        evidence=(Evidence(key, shown, limit, source, key, above=above),),
        seen=seen,
        fixes=fix,
        confidence=sure,
        chart=Chart(),
    )
