"""What kinds of settings there are, and how much each usually bears on the curves.

The priors of the kinds are those of the ranking of settings: a learning rate 10, data and masks 9,
schedule, batch and precision 8, optimizer and model 7, clipping and length of the run 6, weight
decay and dropout 4, seeds and versions 3. Paths, names and logging bear on nothing.
"""

import math
import re
from functools import lru_cache
from typing import Literal

from runlens.comparing.canonical import Pair, number
from runlens.patterns import lazy_re

Group = Literal[
    "rate", "warmup", "schedule", "batch", "precision", "optimiser", "model", "data",
    "length_of_text", "clip", "horizon", "decay", "dropout", "seed", "version", "resume",
    "policy", "loss", "speed", "other", "nothing", "machinery",
]  # fmt: skip
PRIOR: dict[Group, float] = {
    "rate": 10, "data": 9, "loss": 9, "warmup": 8, "schedule": 8, "batch": 8, "precision": 8,
    "resume": 8, "policy": 8, "optimiser": 7, "model": 7, "length_of_text": 7, "clip": 6,
    "horizon": 6, "decay": 4, "dropout": 4, "other": 4, "seed": 3, "version": 3,
    "speed": 1, "nothing": 0, "machinery": 0,
}  # fmt: skip
MOST = math.log(10)  # a tenfold change counts as much as any larger one
BY_LOG = frozenset({"rate", "warmup", "batch", "horizon", "clip", "length_of_text", "policy",
                    "model", "other", "decay", "dropout"})  # fmt: skip
COARSE = 1.0  # of one change in kind, and of numbers whose size says little
SMALL_VERSION = 0.3  # of another version: most change nothing in the curves

# exact canonical keys
_KEYS: dict[str, Group] = {
    "learning_rate": "rate", "embedding_lr": "rate", "min_lr": "schedule", "lrf": "schedule",
    "loraplus_lr_ratio": "rate", "eta_min": "schedule", "warmup_steps": "warmup",
    "warmup_ratio": "warmup", "warmup_epochs": "warmup", "lr_scheduler_type": "schedule",
    "gamma": "schedule", "step_size": "schedule", "milestones": "schedule", "decay_lr": "schedule",
    "lr_decay_iters": "schedule", "lr_decay_steps": "schedule",
    "per_device_train_batch_size": "batch", "gradient_accumulation_steps": "batch",
    "num_processes": "batch", "total_train_batch_size": "batch", "num_nodes": "batch",
    "nnodes": "batch", "batch_size_total": "batch", "auto_find_batch_size": "batch",
    "steps_per_epoch": "batch", "tokens_per_step": "batch", "effective_batch_size": "batch",
    "precision": "precision", "load_in_4bit": "precision", "load_in_8bit": "precision",
    "tf32": "speed", "attention": "speed", "torch_dtype": "precision", "dtype": "precision",
    "mixed_precision_training": "precision", "half_precision_backend": "precision",
    "optim": "optimiser", "adam_beta1": "optimiser", "adam_beta2": "optimiser",
    "adam_epsilon": "optimiser", "momentum": "optimiser", "optim_args": "optimiser",
    "nesterov": "optimiser", "ema": "optimiser", "ema_decay": "optimiser",
    "model_name": "model", "model_type": "model", "architectures": "model", "adapter": "model",
    "lora_r": "model", "lora_alpha": "model", "lora_target_modules": "model", "r": "model",
    "num_parameters": "model", "vocab_size": "model", "num_labels": "model",
    "modules_to_save": "model", "use_rslora": "model", "use_dora": "model", "bias": "model",
    "init_lora_weights": "model", "rank_pattern": "model", "tie_word_embeddings": "model",
    "initializer_range": "model", "activation_function": "model", "hidden_act": "model",
    "train_on_inputs": "data", "completion_only_loss": "data", "assistant_only_loss": "data",
    "packing": "data", "data_collator": "data", "group_by_length": "data", "template": "data",
    "mask_history": "data", "chat_template": "data", "val_set_size": "data", "shuffle": "data",
    "train_sampling_strategy": "data", "dataloader_drop_last": "data", "num_samples": "data",
    "max_length": "length_of_text", "max_completion_length": "length_of_text",
    "max_prompt_length": "length_of_text", "n_positions": "length_of_text",
    "max_grad_norm": "clip", "clip_value": "clip", "max_steps": "horizon",
    "num_train_epochs": "horizon", "early_stopping_patience": "horizon",
    "early_stopping_threshold": "horizon", "max_time": "horizon", "weight_decay": "decay",
    "seed": "seed", "data_seed": "seed", "random_seed": "seed", "torch_seed": "seed",
    "shuffle_seed": "seed", "random_state": "seed", "full_determinism": "seed",
    "resume_from_checkpoint": "resume", "auto_resume_from_checkpoints": "resume",
    "ignore_data_skip": "resume", "init_from": "resume", "label_smoothing_factor": "loss",
    "loss_type": "loss", "rl": "loss", "problem_type": "loss", "loss_reduction": "loss",
    "average_tokens_across_devices": "loss", "beta": "policy", "num_generations": "policy",
    "num_iterations": "policy", "temperature": "policy", "epsilon": "policy", "top_p": "policy",
    "epsilon_high": "policy", "entropy_coef": "policy", "target_kl": "policy", "top_k": "policy",
    "clip_ratio": "policy", "gae_lambda": "policy", "reward_weights": "policy",
    "scale_rewards": "policy", "importance_sampling_level": "policy", "rpo_alpha": "policy",
    "mask_truncated_completions": "policy", "gradient_checkpointing": "speed",
    "attn_implementation": "speed", "flash_attention": "speed", "flash_attn": "speed",
    "torch_compile": "speed", "compile": "speed", "use_liger_kernel": "speed",
    "distributed_type": "speed", "use_cache": "speed", "gpu": "speed",
    "num_examples": "data", "train_rows": "data", "eval_rows": "data",
    "trainable_parameters": "model", "megatron_core": "nothing",
    "python_version": "nothing", "framework": "nothing",
}  # fmt: skip

_MACHINERY = lazy_re(
    r"(^|[._/])(_?wandb(_version|_internal)?|_n_gpu|pid|ppid|hostname|host|master_(addr|port)|port"
    r"|timestamp|start_time|created_at|date|time|uuid|\w*flops\w*"
    r"|best_(model_checkpoint|metric|global_step)|planned_steps|run_id|trial_id|local_rank|rank|node_rank"
    r"|global_rank|cached_setup_devices|xpu_backend|os|executable|username|user)$|^_|hub_token"
    r"|(^|[._])(id2label|label2id)[._]"
)
_NOTHING = lazy_re(
    r"(^|[./])(output_dir|out_dir|run_name|run|name|exp(eriment)?(_name|_id)?|logging_dir|log_dir"
    r"|save_dir|work_dir|working_dir|cache_dir|project(_name|_dir)?|group|job_type|entity|tags?"
    r"|(node|host|gpu|machine|cluster|partition)(_?name|s|_id)?|n_?(threads|cores|cpus?)"
    r"|notes?|comment|description|title|command_line|argv|args_file|config_file|report_to|verbose"
    r"|disable_tqdm|debug|dataset_prepared_path|resume_download|do_(train|eval|predict)"
    r"|metric_for_best_model|flos_per_sample|greater_is_better|load_best_model_at_end|prediction_loss_only"
    r"|skip_memory_metrics|overwrite_\w+|\w*num_workers|\w*num_proc|\w*prefetch\w*|\w*pin_memory"
    r"|\w*persistent_workers|\w*ddp_timeout|include_(tokens|num_input|inputs|for)\w*"
    r"|torch_empty_cache_steps"
    r"|per_device_eval_batch_size|eval_batch_size|low_cpu_mem_usage|split_batches|device"
    r"|profiler\w*|plots?|summary_freq|keep_checkpoints|threaded"
    r"|gpus?_util|saves_per_epoch|evals_per_epoch|datasets_cache\w*)$"
    r"|(^|[._])(wandb|hub|push_to_hub|mlflow|comet|swanlab|trackio|neptune|tensorboard)(_|$)"
    r"|(^|[._])(log|logging|save|eval|evaluation|checkpoint|keep|val)_(\w*(steps?|strategy|limit"
    r"|every|interval|freq\w*|level\w*|first_step|last|only_model|on_each_node|iters|period"
    r"|accumulation_steps|delay|on_start|safetensors|total_limit))$"
    r"|(^|[._])log(_|ging_)(?!std|alpha|temp|prob|likelihood)\w+$"
    r"|(?<!data)(?<!dataset)(?<!train)(?<!eval)(?<!val)(?<!test)(?<!corpus)_(dir|directory|folder)$"
)
_PATTERNS: tuple[tuple[Group, re.Pattern[str]], ...] = (
    ("seed", lazy_re(r"(^|[._])(\w+_)?seed$|(^|[._])(rng|prng|rng_key|random_state)$")),
    ("version", lazy_re(r"(?<!dataset_)(?<!data_)(?<!prompt_)(?<!reward_)(?<!env_)version"
                           r"|(^|[._])(git_)?commit(_?(hash|sha|id))?$"
                           r"|^(torch|transformers|trl|peft|tokenizers|cuda)$")),
    ("warmup", lazy_re(r"warm_?up")),
    ("schedule", lazy_re(r"schedul|lr_decay|decay_steps|anneal|cooldown")),
    ("rate", lazy_re(r"(^|[._])(lr|learning_rate)\d*$|_lr$|_learning_rate$|^lr_")),
    ("decay", lazy_re(r"weight_decay|(^|[._])l[12](_reg)?$")),
    ("dropout", lazy_re(r"drop(out|path|_path|_rate)|_pdrop$|mixup|cutmix|augment")),
    ("optimiser", lazy_re(r"optim|adam|beta[12]$|momentum|(^|[._])eps(ilon)?$")),
    ("clip", lazy_re(r"(grad|norm).*clip|clip.*(grad|norm)")),
    ("precision", lazy_re(r"bf16|fp16|fp8|dtype|amp(_|$)|quant|4bit|8bit|precision")),
    ("batch", lazy_re(r"batch|accum")),
    ("horizon", lazy_re(r"epochs?$|iters$|iterations$|total_steps|num_steps|max_updates?$")),
    ("resume", lazy_re(r"resume|checkpoint_path|pretrained_path")),
    ("length_of_text", lazy_re(r"max_\w*(len|length|tokens)$"
                                  r"|(seq|block|context|ctx)_?(len|size)")),
    ("data", lazy_re(r"data|corpus|catalog|template|token(s|izer|izer_name)\b|mask|prompt"
                        r"|train_file|split|sampl|shuffl|pack|roles")),
    ("policy", lazy_re(r"reward|env(ironment)?(_(id|name|version))?$"
                          r"|(^|[._])log_(alpha|std|temp)"
                          r"|kl_|_kl|entropy|advantage|rollout|generation|clip_range|gae")),
    ("loss", lazy_re(r"loss|commitment|teacher|_(coef|coeff|weight)$|task(_name)?$"
                        r"|smoothing|objective|criterion|reduction")),
    ("speed", lazy_re(r"attn|attention_impl|compile|kernel|liger|deepspeed|zero|fsdp|ddp"
                         r"|offload|accelerator|parallel|tqdm|device")),
    ("model", lazy_re(r"lora|peft|adapter|model|layer|head|embd|embed|hidden|width|depth"
                         r"|channels|kernel_size|filters|arch|activation|vocab|freeze|rope|^n_|dim$")),
)  # fmt: skip


@lru_cache(maxsize=8192)
def group(key: str) -> Group:
    """Return what kind of setting a canonical key is; `other` where its name does not tell."""
    name = key.lower()
    leaf = re.split(r"[./]", name)[-1]
    if name in _KEYS or leaf in _KEYS:
        return _KEYS.get(name) or _KEYS[leaf]
    if _MACHINERY.search(name):
        return "machinery"
    if _NOTHING.search(name):
        return "nothing"
    for what, pattern in _PATTERNS:
        if pattern.search(name):
            return what
    return "other"


def size(pair: Pair, what: Group) -> float:
    """Return how large a change is: |ln(b / a)|, at most ln 10; 1 for what has no ratio.

    Betas near 1 are taken by their distance from it: from 0.9 to 0.95 halves it.
    """
    values = [number(known.value) if known else None for known in (pair.a, pair.b)]
    a, b = values
    if what == "version":
        return SMALL_VERSION
    if a is None or b is None:
        return COARSE
    if pair.key in {"adam_beta1", "adam_beta2", "momentum", "ema_decay"} and max(a, b) < 1:
        return min(abs(math.log(1 - b) - math.log(1 - a)), MOST)
    if what not in BY_LOG or not a or not b or (a < 0) != (b < 0):
        return COARSE
    return min(abs(math.log(abs(b)) - math.log(abs(a))), MOST)
