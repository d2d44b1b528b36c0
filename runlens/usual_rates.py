"""Which learning rates are usual for a kind of training, which no model survives, and what clips.

The one table of them. Ranges: full fine-tuning 1e-5 to 5e-5 and LoRA 1e-4 to 3e-4 as axolotl's page
on training stability gives them (LoRA is seen down to 2e-5 and up to 5e-4 in health); GRPO and PPO
around TRL's default of 1e-6; DPO around TRL's 1e-6 and LLaMA-Factory's 5e-6; pre-training 1.5e-4
(70B) to 6e-4 (125M); SGD on images 0.1 for a batch of 256; encoders 1e-5 to 5e-5, with LoRA up
to PEFT's 1e-3, and in between where nothing says which; PPO and A2C on environments around the
defaults of Stable-Baselines3, 3e-4 and 7e-4. The ranges of DPO, GRPO, PPO and pre-training rest on
practice, not on a measurement: a rule on them is advice.
"""

import re
from math import log

from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.run import Run
from runlens.signals.inputs import Inputs
from runlens.signals.trend import mann_kendall

SMALL_MODEL = 5e7  # parameters: below it a model is a toy or a classic network, with other rates
UNTRAINED = 5.0  # nats: half of ln(vocabulary) for 30,000 tokens
ALPHABET = 27  # letters and the space: the fewest characters of a language model
FAR_DOWN = 0.6  # of its first loss: what was trained before, and on other text, loses less
AT_CHANCE = 0.9  # of ln(vocabulary), where the vocabulary is known: characters have a small one
SGD_RATE, SGD_BATCH = (0.01, 0.1), 256
ON_IMAGES = "SGD on images"
ADAM_CEILING, SGD_CEILING = 1e-2, 1.0
MOST_MOMENTUM = 0.999
# of a momentum without an optimizer, as in Caffe and Darknet, whose default is SGD: that of a norm
# over batches is 0.1 or 0.99, and that of averaged weights is higher
OF_SGD = 0.5, 0.95
LEAST_LIMIT = 0.1  # of gradients: of detection transformers; text takes 0.3 to 1, images up to 35
MEAN_NORM = 10.0  # gradients of mean losses have norms of 0.1 to 10; sums have larger ones
IMAGES_FROM = 1e-6  # DreamBooth 2e-6 to 5e-6, Stable Diffusion 1e-5, DDPM 2e-5 to 2e-4, GANs 2e-4
OF_POLICIES = frozenset(("grpo", "ppo"))
FEWEST_ORDERED, IN_ORDER = 8, 0.01  # points, and p of their order by chance
ALMOST_NOTHING = 1e-8  # a tenth of the lowest rate that is usual anywhere, that of RL fine-tuning

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


class Ceiling(NamedTuple):
    """A rate that is too high for any model, and why."""

    rate: float
    why: str


_BY_TASK = {
    "sft": (Usual(1e-5, 5e-5, "full fine-tuning"), Usual(2e-5, 5e-4, "LoRA")),
    "dpo": (Usual(5e-7, 5e-6, "DPO of all weights"), Usual(5e-6, 5e-5, "DPO with LoRA")),
    "grpo": (
        Usual(1e-7, 1e-5, "RL fine-tuning of all weights"),
        Usual(1e-6, 5e-5, "RL fine-tuning with LoRA"),
    ),
    "ppo": (Usual(1e-7, 1e-5, "PPO of all weights"), Usual(1e-6, 5e-5, "PPO with LoRA")),
}
_GAMES = Usual(1e-5, 3e-3, "RL policies")
_PRETRAIN = Usual(1e-4, 1e-3, "pre-training")
_CONTINUED = Usual(1e-5, 1e-3, "continued pre-training")
_BERT = {
    False: Usual(1e-5, 5e-5, "fine-tuning an encoder"),
    None: Usual(1e-5, 3e-4, "fine-tuning an encoder"),
    True: Usual(1e-4, 1e-3, "LoRA on an encoder"),
}
_EITHER = {"sft": "fine-tuning", "dpo": "DPO", "grpo": "RL fine-tuning", "ppo": "PPO"}


def usual_rates(run: Run) -> Usual | None:
    """Return the usual learning rates for this kind of training; None where none are known.

    Where it is not recorded whether an adapter is trained, the range holds both ways.
    """
    small = 0 < (run.number("num_parameters") or SMALL_MODEL) < SMALL_MODEL
    usual = of_method(run)
    return None if small and usual and not usual.what.startswith(ON_IMAGES) else usual


def least(run: Run) -> float | None:
    """Return the lower end of what is usual; small models, which take higher rates, too.

    Of denoisers, GANs and VAEs no upper end is known, but nobody goes below that of DreamBooth.
    """
    if run.task == "gan-diffusion":
        return IMAGES_FROM
    usual = of_method(run)
    return usual.low if usual else None


def of_method(run: Run) -> Usual | None:
    """Return the range of a method, whatever the size of the model."""
    optimizer = str(run.setting("optim") or "").lower()
    if optimizer == "sgd" and run.task == "classification":
        batch = _batch(run)
        low, high = (batch / SGD_BATCH * rate for rate in SGD_RATE)
        return Usual(low, high, f"{ON_IMAGES} in batches of {batch:,.0f}")
    if optimizer.startswith(("sgd", "muon", "adafactor", "lion", "prodigy", "dadapt")):
        return None
    if run.task in _BY_TASK:
        full, light = _BY_TASK[run.task]
        with_adapter = run.adapted
        if with_adapter is None:
            return Usual(full.low, light.high, _EITHER[run.task])
        return light if with_adapter else full
    if run.task == "rl":
        return _GAMES
    if run.task == "pretrain":
        return _CONTINUED if _trained_before(run) else _PRETRAIN
    names = (
        f"{run.setting('model_name')} {run.setting('model_type')} {run.setting('architectures')}"
    )
    if run.task == "classification" and _BERT_LIKE.search(names):
        return _BERT[run.adapted]
    return None


def of_known_size(run: Run) -> bool:
    """Whether the usual range is sure to hold, which small models have not, nor their adapters."""
    return bool(run.adapted) or run.number("num_parameters") is not None


def of_no_model(run: Run) -> bool:
    """Whether nothing says which model a policy is, nor how large: a toy takes other rates."""
    named = any(run.setting(key) for key in ("model_name", "model_type", "architectures"))
    return run.task in OF_POLICIES and not named and not of_known_size(run)


def earned(run: Run) -> bool:
    """Whether the reward rose all along, more than chance lets it: the rate lets it learn."""
    reward = run.curve("reward").finite().value
    tau, p = mann_kendall(reward) if len(reward) >= FEWEST_ORDERED else (0.0, 1.0)
    return tau > 0 and p < IN_ORDER


def _trained_before(run: Run) -> bool:
    """Whether the first losses are too low for random weights, which start at ln(vocabulary).

    Where its size is not known, one that falls far from that of an alphabet was not trained before.
    """
    train, size = run.curve("train_loss").finite().value, run.number("vocab_size") or 0.0
    if not len(train):
        return False
    if size > 1:
        return bool(train[0] < min(UNTRAINED, AT_CHANCE * log(size)))
    from_letters = train[0] >= log(ALPHABET) and train.min() <= FAR_DOWN * train[0]
    return bool(train[0] < UNTRAINED and not from_letters)


def _batch(run: Run) -> float:
    known = Inputs(run).batch
    return float(known.value) if known else SGD_BATCH


def ceiling(run: Run) -> Ceiling | None:
    """Return the rate that is too high for any model with this optimizer; None for unknown ones.

    Adam moves each weight by about the rate at each step (Kingma & Ba 2015, section 2.1): at 1e-2
    a weight of the usual size, 0.02 to 0.1, is gone within ten steps. SGD with momentum m moves
    by rate / (1 - m): above 1 it exceeds 2 / curvature wherever the curvature is 2 or more. So does
    what has such a momentum and names no optimizer. Of a second beta only Adam and its kin know.
    """
    name = str(run.setting("optim") or "").lower()
    if not name and OF_SGD[0] <= (run.number("momentum") or 0.0) <= OF_SGD[1]:
        name = "sgd"
    if not name and run.number("adam_beta2") is not None:
        name = "adam"
    if name.startswith(("adam", "paged_adam", "nadam", "radam", "lion")):
        return Ceiling(ADAM_CEILING, "Adam moves each weight by about the learning rate per step")
    if name.startswith("sgd"):
        momentum = min(max(run.number("momentum") or 0.0, 0.0), MOST_MOMENTUM)
        why = "SGD" + (f" with momentum {momentum:g}" if momentum else "")
        return Ceiling(
            (1 - momentum) * SGD_CEILING, f"{why} moves each weight by the rate times its gradient"
        )
    return None


def limit_at_fault(run: Run, peak: float | None, limit: float, norm: float) -> bool:
    """Whether a clipping limit is below all that are in use while the median norm is no sum's.

    A rate that no unclipped SGD stands was set to go with the limit: then it is no fault.
    """
    most = ceiling(run)
    fits = most is None or peak is None or peak < most.rate
    return limit < LEAST_LIMIT and norm <= MEAN_NORM and fits
