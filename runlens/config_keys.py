"""Canonical names of settings, how each framework spells them, and how a value is written.

The canonical key is the one of transformers' TrainingArguments (TRL's for RL settings): most
runs use it as it is. The spellings were read in axolotl 0.19, LLaMA-Factory, ms-swift, Megatron,
nanoGPT, fairseq, Lightning, DeepSpeed, accelerate and the Trainer's model cards.
"""

import math
import re

from runlens.naming.settings import setting_by_words
from runlens.patterns import lazy_re
from runlens.records import NamedTuple


class Key(NamedTuple):
    """One setting: its canonical key and the other names under which it is met."""

    name: str
    axolotl: str = ""  # empty: as `name`
    others: tuple[str, ...] = ()


KEYS = (
    Key(
        "learning_rate",
        others=("lr", "max_lr", "base_lr", "peak_lr", "lr0", "scheduler_params_warmup_max_lr"),
    ),
    Key(
        "warmup_steps",
        others=(
            "warmup_iters",
            "num_warmup_steps",
            "lr_warmup_iters",
            "lr_scheduler_warmup_steps",
            "scheduler_params_warmup_num_steps",
        ),
    ),
    Key(
        "warmup_ratio",
        others=("lr_warmup_fraction", "warmup_proportion", "lr_scheduler_warmup_ratio"),
    ),
    Key("lr_scheduler_type", "lr_scheduler", ("lr_decay_style", "scheduler", "lr_schedule")),
    Key(
        "max_grad_norm",
        others=(
            "clip_grad",
            "grad_clip",
            "gradient_clip_val",
            "clip_norm",
            "clip_grad_norm",
            "gradient_clipping",
            "grad_norm_clip",
            "max_gradient_norm",
        ),
    ),
    Key(
        "per_device_train_batch_size",
        "micro_batch_size",
        (
            "train_batch_size",
            "batch_size",
            "per_gpu_train_batch_size",
            "train_micro_batch_size_per_gpu",
        ),
    ),
    Key("per_device_eval_batch_size", "eval_batch_size"),
    Key(
        "gradient_accumulation_steps",
        others=("grad_accum", "grad_accum_steps", "accumulate_grad_batches"),
    ),
    Key(
        "num_train_epochs", "num_epochs", ("epochs", "max_epochs", "n_epochs_total", "epochs_base")
    ),
    Key(
        "max_steps",
        others=(
            "train_iters",
            "max_iters",
            "total_steps",
            "num_iterations_total",
            "training_steps",
            "max_train_steps",
            "total_training_steps",
            "scheduler_params_total_num_steps",
        ),
    ),
    Key("weight_decay", others=("wd",)),
    Key("momentum", others=("sgd_momentum",)),
    Key("adam_beta1", others=("beta1",)),
    Key("adam_beta2", others=("beta2",)),
    Key("adam_epsilon", others=("adam_eps", "eps")),
    Key("optim_target_modules"),
    Key("optim", "optimizer", ("optimizer_name", "optimizer_type")),
    Key("bf16"),
    Key("fp16"),
    Key("fp8"),
    Key("tf32"),
    Key("seed"),
    Key("logging_steps", others=("log_interval", "log_every", "logging_interval")),
    Key("logging_nan_inf_filter"),
    Key("eval_steps", others=("eval_interval", "eval_every")),
    Key("eval_strategy", others=("evaluation_strategy",)),
    Key("save_steps", others=("save_interval",)),
    Key("save_total_limit"),
    Key("load_best_model_at_end"),
    # AllenNLP's "trainer.patience"; "patience" alone may be that of a schedule
    Key("early_stopping_patience", others=("trainer_patience",)),
    Key("gradient_checkpointing"),
    Key(
        "max_length",
        "sequence_len",
        (
            "max_seq_length",
            "cutoff_len",
            "block_size",
            "seq_length",
            "context_length",
            "max_seq_len",
        ),
    ),
    Key("packing", "sample_packing"),
    Key("train_on_inputs", others=("train_on_prompt",)),
    Key(
        "model_name",
        "base_model",
        (
            "model_name_or_path",
            "pretrained_model_name_or_path",
            "base_model_name_or_path",
            "_name_or_path",
            "model",
            "model_id",
        ),
    ),
    Key("model_type"),
    Key("architectures"),
    Key("num_parameters", others=("model/num_parameters", "n_params", "num_params", "parameters")),
    Key("vocab_size", others=("padded_vocab_size", "model/vocab_size", "n_vocab")),
    Key("num_labels", others=("num_classes", "n_classes", "nc")),
    Key("adapter", others=("finetuning_type", "peft_type", "train_type", "tuner_type")),
    Key("lora_r", others=("lora_rank", "peft_r")),
    Key("lora_alpha"),
    Key("lora_dropout"),
    Key("lora_target_modules", others=("lora_target", "target_modules")),
    Key("load_in_4bit"),
    Key("load_in_8bit"),
    Key("rl", others=("stage", "rlhf_type")),
    Key("beta", "rl_beta", ("dpo_beta", "pref_beta", "kl_coef", "init_kl_coef")),
    Key("loss_type", others=("pref_loss",)),
    Key("num_generations", others=("rollout_n", "n_samples_per_prompt")),
    Key("num_iterations", others=("ppo_epochs", "num_ppo_epochs")),
    Key(
        "max_completion_length",
        others=(
            "max_new_tokens",
            "response_length",
            "max_response_length",
            "max_gen_len",
            "generate_max_len",
        ),
    ),
    Key("temperature"),
    Key("epsilon", others=("clip_range", "cliprange")),
    Key("epsilon_high"),
    Key("entropy_coef", others=("ent_coef",)),
    Key("target_kl"),
    Key("mask_truncated_completions"),
    Key("vllm_sync_interval"),
    Key("vllm_importance_sampling_correction"),
    Key("importance_sampling_level"),
    Key("rpo_alpha"),
    Key(
        "num_processes",
        others=("world_size", "n_gpus", "num_gpus", "num_devices", "nproc_per_node"),
    ),
    Key("gpu", others=("gpu_name", "gpu_type", "device_name")),
    Key("dataloader_num_workers", others=("num_workers",)),
    Key("dataloader_pin_memory", others=("pin_memory",)),
    Key("torch_empty_cache_steps"),
    Key("resume_from_checkpoint"),
    Key("label_smoothing_factor", others=("label_smoothing",)),
)

LONGEST = 300  # characters of a name that may be known


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9/]+", "_", name.strip().lower()).strip("_")


KNOWN_KEYS = frozenset(key.name for key in KEYS)
_CANONICAL = {  # aliases are plain but for what they begin with
    alias.lstrip("_"): key.name
    for key in reversed(KEYS)
    for alias in (*key.others, key.axolotl, key.name)
    if alias
}
# beside these, a max_length of 20 is the default of generation in a model's config.json
GENERATION, GENERATED = frozenset({"length_penalty", "num_beams"}), 20
_BETAS = {_plain(name) for name in ("betas", "adam_betas", "optimizer.betas", "optim.betas")}
_PAIR = lazy_re(r"^\s*[\[(]?\s*(-?\d[\d.e+-]*)\s*,\s*(-?\d[\d.e+-]*)\s*[\])]?\s*$")
_OF_LORA = lazy_re(r"(?:\w+\.)*lora[_-](?!config)\w", re.IGNORECASE)  # a rate of the adapter alone
_SECTIONS = (
    "trl",
    "training",
    "train",
    "trainer",
    "optimizer",
    "optim",
    "model",
    "lora",
    "args",
    "hparams",
    "params",
    "config",
    "hyperparameters",
    "top",
    "method",
)


def canonical_key(name: str) -> str:
    """Return our name for a setting; a name that we do not know stays as it is.

    Case, ``-``, ``.`` and ``_`` make no difference; the usual section names in front
    (``trl.beta``, ``model.optimizer.lr``) are looked through.
    """
    found = _meant(name)
    of_lora = _OF_LORA.match(name) and not found.startswith("lora") and found != "adapter"
    return name if of_lora else found


def _meant(name: str) -> str:
    if len(name) > LONGEST:
        return name
    plain = _plain(name)
    if plain in _CANONICAL:
        return _CANONICAL[plain]
    section, _, rest = plain.replace("/", "_").partition("_")
    if section == "hyperparameters" and rest in {"beta", "epsilon"}:
        return name  # ML-Agents: the entropy bonus and the clip range of its own
    while section in _SECTIONS and rest:
        if rest in _CANONICAL:
            return _CANONICAL[rest]
        section, _, rest = rest.partition("_")
    return setting_by_words(name) or name


def betas(name: str, value: object) -> dict[str, float]:
    """Return Adam's two betas from a setting that holds both: ``(0.9, 0.95)``; else nothing."""
    pair = _PAIR.match(value) if isinstance(value, str) and _plain(name) in _BETAS else None
    return {"adam_beta1": float(pair[1]), "adam_beta2": float(pair[2])} if pair else {}


SEVEN_DIGITS = 1e6  # from which `written` has an exponent, and files have not


def as_found(value: object) -> str:
    """Write a setting so that it is found where it stands: no digit lost, ``1000000.0``."""
    if isinstance(value, float) and math.isfinite(value):
        short = written(value)
        return short if float(short) == value and abs(value) < SEVEN_DIGITS else repr(value)
    return written(value)


def written(value: object) -> str:
    """Write a setting as a config file does: ``2e-4``, ``0.05``, ``16``."""
    if isinstance(value, float):
        size = abs(value)
        if 0 < size < 1e-3 or 1e6 <= size < math.inf:  # noqa: PLR2004 - as %g does
            mantissa, _, exponent = f"{value:.3e}".partition("e")
            return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"
        return f"{value:.6g}"
    return str(value)
