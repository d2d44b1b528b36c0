"""What is in force where nothing was set: the defaults of frameworks, and what follows."""

import numpy as np

from runlens.history import FloatArray
from runlens.metrics import quality
from runlens.patterns import lazy_re
from runlens.run import BEST_SAVED, Run

PATIENCE = 3  # evaluations, as in most examples
EARLY = 0.1  # of the run: a warm-up is over by then, at the latest
DEFAULT_CLIP = 1.0  # max_grad_norm of transformers' TrainingArguments, which TRL and axolotl keep
TRAINER_FRAMEWORKS = {"transformers", "trl", "axolotl", "llama-factory", "ms-swift", "unsloth"}
# nats: ln of the smallest number above 0 in float32 is -103.97, and no token is less likely; a loss
# above it is no mean over tokens
MOST_OF_A_TOKEN = 104.0
TEXT_TASKS = frozenset({"sft", "pretrain", "dpo", "reward-model", "grpo", "ppo"})
PROMPTED = frozenset({"verl", "openrlhf", *TRAINER_FRAMEWORKS})
# what is measured of completions, groups of them, and the model that they are held against
OF_COMPLETIONS = frozenset(
    {"len_mean", "len_clipped", "len_max", "frac_zero_std", "reward_std", "kl", "entropy"}
)
# settings of a model of text, or of its data, and what is measured of tokens
OF_TEXT = frozenset(
    {"model_name", "model_type", "vocab_size", "tokenizer", "template", "max_length", "packing"}
    | {"lora_r", "architectures", "dataset_text_field", "completion_only_loss"}
)
_TOKENS = lazy_re(r"token|perplexity|ppl|bleu|rouge|entropy")
SETTINGS = ("num_generations", "max_completion_length", "max_prompt_length", "model_name")


def clip_limit(run: Run) -> float | None:
    """Return the clipping limit in force; the Trainer's default where it applies, else None."""
    known = run.number("max_grad_norm")
    if known is None and run.framework in TRAINER_FRAMEWORKS:
        return DEFAULT_CLIP
    return known


def accumulation(run: Run) -> int | None:
    """Return the batches that an update adds up; None where a Trainer's settings lack it.

    Where it is not recorded, the total batch over that of all devices tells; a loop of one's own
    adds none up unless it says so.
    """
    if known := run.number("gradient_accumulation_steps"):
        return max(1, int(known))
    size, whole = run.number("per_device_train_batch_size"), run.number("total_train_batch_size")
    devices = run.number("num_processes")
    if size and whole and devices:
        return max(1, round(whole / (size * devices)))
    return None if run.framework in TRAINER_FRAMEWORKS else 1


def past_warmup(run: Run, onset: float) -> bool:
    """Whether a fault began so late that no warm-up would have reached it."""
    return onset > EARLY * max(run.state.planned_steps or 0, run.last_step)


def clips_ratio(run: Run) -> bool:
    """Whether a policy's importance ratio is clipped: plain REINFORCE has none to clip."""
    return run.framework in TRAINER_FRAMEWORKS or run.number("epsilon") is not None


def keeps_best(run: Run) -> bool:
    """Whether the best weights are kept, or loaded at the end; nanoGPT's name says it off.

    A log that says so whenever it saves the best model keeps it as well, by a measure of its own.
    """
    set_so = run.flag("load_best_model_at_end") or run.flag("always_save_checkpoint") is False
    return bool(set_so) or any(path == BEST_SAVED for _, path in run.checkpoints)


def effective_batch(run: Run) -> float | None:
    """Return the samples of one update of one process; None where the batch is not known."""
    batch, steps = run.number("per_device_train_batch_size"), accumulation(run)
    return batch * steps if batch and steps else None


def scale_matters(run: Run) -> bool:
    """Whether a step is as long as its gradient: under SGD; Adam and its kin divide by it."""
    return str(run.setting("optim") or "").lower().startswith("sgd")


def reads_text(run: Run) -> bool:
    """Whether a run trains a language model, and its loss can be one of tokens."""
    if run.task not in TEXT_TASKS:
        return False
    train = run.curve("train_loss").finite().value
    return not len(train) or float(train[0]) <= MOST_OF_A_TOKEN


def shows_text(run: Run) -> bool:
    """Whether anything but the height of a loss says that a Trainer's model reads text.

    A bare trainer_state.json is written for images, sound and labels as well.
    """
    if run.framework != "transformers":
        return True
    return bool(run.config.keys() & OF_TEXT) or any(
        _TOKENS.search(name) for name in run.history.metrics
    )


def answers_prompts(run: Run) -> bool:
    """Whether a policy that is trained answers prompts: something of its answers is recorded."""
    if run.task != "grpo":
        return False
    logged = OF_COMPLETIONS.intersection(run.history.metrics)
    return bool(
        logged or run.framework in PROMPTED or any(run.setting(key) is not None for key in SETTINGS)
    )


def patience(run: Run, metric: str) -> int:
    """Return the patience that would have kept the best model of `metric`; 0 where none stops it.

    A noisy curve waits long for its next best: with a patience below its longest wait the run
    would have stopped before it was as good as it became. Nothing is stopped where no more
    evaluations than that follow the best one.
    """
    kind, value = quality(metric), run.curve(metric).finite().value
    if not len(value):
        return PATIENCE
    best = _records(value * (kind.sign if kind else -1.0))
    waited = max(PATIENCE, int(np.diff(best).max(initial=0)))
    return waited if len(value) - 1 - best[-1] >= waited else 0


def _records(value: FloatArray) -> list[int]:
    """Return where a value is above all before it."""
    top = np.maximum.accumulate(value)
    return [0, *(np.flatnonzero(np.diff(top) > 0) + 1).tolist()]
