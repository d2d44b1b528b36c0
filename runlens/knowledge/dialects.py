"""How each framework writes a setting: in which call or file, and under which name.

A setting that the run's files name is changed there, as they spell it. For the others these rows
say how the framework of the run spells it; what is in no row is told in words.
"""

from collections.abc import Mapping
from typing import Literal

from runlens.knowledge.in_force import TRAINER_FRAMEWORKS
from runlens.records import NamedTuple
from runlens.run import Configured, Run

Style = Literal["arguments", "yaml", "json", "flags", "overrides", "python"]

# canonical keys that are fields of these classes under the same name
ARGUMENTS: Mapping[str, frozenset[str]] = {
    "TrainingArguments": frozenset(
        {
            "learning_rate", "warmup_steps", "lr_scheduler_type", "max_grad_norm",
            "per_device_train_batch_size", "per_device_eval_batch_size",
            "gradient_accumulation_steps", "num_train_epochs", "max_steps", "weight_decay",
            "adam_beta1", "adam_beta2", "adam_epsilon", "optim", "bf16", "fp16",
            "bf16_full_eval", "fp16_full_eval", "logging_steps", "logging_nan_inf_filter",
            "eval_steps", "eval_strategy", "eval_accumulation_steps", "save_steps",
            "save_strategy", "load_best_model_at_end", "metric_for_best_model", "greater_is_better",
            "gradient_checkpointing",
            "dataloader_num_workers", "dataloader_pin_memory", "dataloader_drop_last",
            "torch_empty_cache_steps", "label_smoothing_factor", "ignore_data_skip",
        }
    ),
    "SFTConfig": frozenset({"max_length", "packing", "loss_type"}),
    "DPOConfig": frozenset({"max_length", "beta", "loss_type"}),
    "GRPOConfig": frozenset(
        {
            "beta", "loss_type", "num_generations", "num_iterations", "max_completion_length",
            "temperature", "epsilon", "epsilon_high", "mask_truncated_completions",
            "importance_sampling_level", "vllm_importance_sampling_correction",
            "log_completions",
        }
    ),
    "RewardConfig": frozenset({"max_length"}),
}  # fmt: skip
_OF_TASK = {"dpo": "DPOConfig", "grpo": "GRPOConfig", "reward-model": "RewardConfig"}
LOGS = (".log", ".out", ".txt", ".err", ".md")
OF_PEFT = "adapter_config.json"  # PEFT's record of LoraConfig
OF_TRAINER = "trainer_state.json"  # the Trainer's record of itself
OF_LIGHTNING = "hparams.yaml"  # what save_hyperparameters() writes: nothing reads it back
OF_ULTRALYTICS = "args.yaml"  # what it was called with, and its defaults
SCRIPT, CONFIG = "the script", "the training config"  # of which no file is known
LORA = {"lora_r": "r", "lora_alpha": "lora_alpha", "lora_dropout": "lora_dropout"}


class Dialect(NamedTuple):
    """One way to write settings, and the names of one framework that differ from ours."""

    style: Style
    where: str  # what is shown above the lines: a call, a file
    names: Mapping[str, str]  # canonical key -> name; a key that is not here has no name
    source: str


def _same(*keys: str) -> dict[str, str]:
    return {key: key for key in keys}


_TRAINER = _same(*ARGUMENTS["TrainingArguments"])
_ADAPTER = _same("lora_r", "lora_alpha", "lora_dropout")
DIALECTS: Mapping[str, Dialect] = {
    "axolotl": Dialect(
        "yaml",
        "the axolotl YAML",
        {
            **_same(
                "learning_rate", "warmup_steps", "max_grad_norm", "gradient_accumulation_steps",
                "max_steps", "weight_decay", "adam_beta2", "adam_epsilon", "bf16", "fp16",
                "logging_steps", "eval_steps", "eval_strategy", "save_steps", "save_strategy",
                "load_best_model_at_end", "gradient_checkpointing", "early_stopping_patience",
                "dataloader_num_workers", "train_on_inputs", "val_set_size", "sample_packing",
            ),
            **_ADAPTER,
            "per_device_train_batch_size": "micro_batch_size",
            "per_device_eval_batch_size": "eval_batch_size",
            "num_train_epochs": "num_epochs",
            "lr_scheduler_type": "lr_scheduler",
            "optim": "optimizer",
            "max_length": "sequence_len",
            "packing": "sample_packing",
        },
        "axolotl 067b021c, src/axolotl/utils/schemas",
    ),
    "llama-factory": Dialect(
        "yaml",
        "the LLaMA-Factory YAML",
        {
            **_TRAINER,
            "max_length": "cutoff_len",
            "lora_r": "lora_rank",
            **_same("lora_alpha", "lora_dropout", "packing", "val_size"),
            "beta": "pref_beta",
        },
        "LLaMA-Factory ff6d4d12, src/llamafactory/hparams",
    ),
    "ms-swift": Dialect(
        "yaml",
        "the arguments of swift",
        {**_TRAINER, "max_length": "max_length", "lora_r": "lora_rank",
         **_same("lora_alpha", "lora_dropout", "packing")},
        "ms-swift, docs Command-line-parameters",
    ),
    "lightning": Dialect(
        "arguments",
        "Trainer",
        {
            "max_grad_norm": "gradient_clip_val",
            "gradient_accumulation_steps": "accumulate_grad_batches",
            "num_train_epochs": "max_epochs",
            "max_steps": "max_steps",
        },
        "lightning 2.6.6, pytorch/trainer/trainer.py",
    ),
    "keras": Dialect(
        "arguments",
        "the optimizer",
        {"learning_rate": "learning_rate", "max_grad_norm": "global_clipnorm",
         "weight_decay": "weight_decay"},
        "keras 3.15.1, src/optimizers/base_optimizer.py",
    ),
    "stable-baselines3": Dialect(
        "arguments",
        "the model",
        {
            **_same("learning_rate", "max_grad_norm", "target_kl", "gamma"),
            "entropy_coef": "ent_coef",
            "epsilon": "clip_range",
            "num_iterations": "n_epochs",
            "per_device_train_batch_size": "batch_size",
        },
        "stable-baselines3 2.9.2, ppo/ppo.py",
    ),
    "nanogpt": Dialect(
        "python",
        "the config of nanoGPT",
        {
            **_same("learning_rate", "weight_decay", "gradient_accumulation_steps", "min_lr"),
            "max_grad_norm": "grad_clip",
            "warmup_steps": "warmup_iters",
            "max_steps": "max_iters",
            "adam_beta1": "beta1",
            "adam_beta2": "beta2",
            "per_device_train_batch_size": "batch_size",
        },
        "karpathy/nanoGPT, train.py",
    ),
    "megatron": Dialect(
        "flags",
        "the command line",
        {
            "learning_rate": "lr",
            "max_grad_norm": "clip_grad",
            "warmup_steps": "lr_warmup_iters",
            "per_device_train_batch_size": "micro_batch_size",
            "weight_decay": "weight_decay",
            "max_steps": "train_iters",
            **_same("adam_beta2", "bf16", "fp16"),
        },
        "Megatron-LM, megatron/training/arguments.py",
    ),
    "fairseq": Dialect(
        "flags",
        "fairseq-train",
        {
            "learning_rate": "lr",
            "max_grad_norm": "clip_norm",
            "gradient_accumulation_steps": "update_freq",
            "max_steps": "max_update",
            "num_train_epochs": "max_epoch",
            "warmup_steps": "warmup_updates",
            "per_device_train_batch_size": "batch_size",
            "early_stopping_patience": "patience",
            **_same("weight_decay", "fp16", "bf16"),
        },
        "facebookresearch/fairseq 0bb4677a, fairseq/dataclass/configs.py",
    ),
    "ultralytics": Dialect(
        "arguments",
        "model.train",
        {
            "learning_rate": "lr0",
            "num_train_epochs": "epochs",
            "per_device_train_batch_size": "batch",
            "early_stopping_patience": "patience",
            "dataloader_num_workers": "workers",
            "optim": "optimizer",
            **_same("momentum", "weight_decay"),
        },
        "ultralytics 00033e8f, ultralytics/cfg/default.yaml",
    ),
    "verl": Dialect(
        "overrides",
        "the command line",
        {
            "learning_rate": "actor_rollout_ref.actor.optim.lr",
            "max_grad_norm": "actor_rollout_ref.actor.grad_clip",
            "entropy_coef": "actor_rollout_ref.actor.entropy_coeff",
            "epsilon": "actor_rollout_ref.actor.clip_ratio",
            "num_generations": "actor_rollout_ref.rollout.n",
            "temperature": "actor_rollout_ref.rollout.temperature",
            "max_completion_length": "data.max_response_length",
            "num_iterations": "actor_rollout_ref.actor.ppo_epochs",
        },
        "volcengine/verl, verl/trainer/config/ppo_trainer.yaml",
    ),
}  # fmt: skip


class Place(NamedTuple):
    """Where one setting is written: a file or call, the path in it, the way of writing."""

    where: str
    path: tuple[str, ...]
    style: Style
    recorded: bool = False  # the run's files name it there

    @property
    def name(self) -> str:
        """The name as its user knows it: dotted where it is nested."""
        return ".".join(self.path)

    @property
    def told(self) -> bool:
        """Whether the place is none that lines could be pasted into: only a record is known."""
        return self.where == CONFIG or self.where.startswith(SCRIPT)


def place_of(run: Run, key: str) -> Place | None:
    """Return where a setting is changed; None where neither files nor framework name it."""
    known = run.config.get(key)
    if known is not None and known.key:
        if flag := _flag_of(run, key, known):
            return Place("the command line", (flag,), "flags", recorded=True)
        own = own_file(run)
        # a record of all defaults is no file of the user's: where there is one, the change is there
        if own and known.file != own and (name := _name_in(run, key)):
            return Place(_shown(own), (name,), _style_of(own))
        return _recorded(run, key, known)
    if (own := own_file(run)) and (name := _name_in(run, key)):
        return Place(_shown(own), (name,), _style_of(own))
    return _by_framework(run, key)


def _flag_of(run: Run, key: str, known: Configured) -> str:
    """Return the flag that set a number or a word, as the recorded command line spells it.

    A switch is a flag by itself or takes a value, and which of them no record tells.
    """
    command = run.config.get("command_line")
    if command is None or isinstance(known.value, bool):
        return ""
    names = {known.key.rpartition(".")[2].rpartition("/")[2], key, _name_in(run, key)} - {""}
    given = (word.partition("=")[0] for word in str(command.value).split())
    flags = (word for word in given if word.startswith("--"))
    return next((flag for flag in flags if flag[2:].replace("-", "_") in names), "")


def _shown(file: str) -> str:
    """Return a file within the run as it is, one beside it by its name."""
    return file.rpartition("/")[2] if file.startswith("/") else file


def _name_in(run: Run, key: str) -> str:
    dialect = DIALECTS.get(run.framework)
    return dialect.names.get(key, "") if dialect else ""


def _recorded(run: Run, key: str, known: Configured) -> Place:
    path = tuple(known.key.replace("/", ".").split("."))
    style = _style_of(known.file)
    made = _by_framework(run, key)
    records: tuple[str, ...] = (OF_PEFT, OF_TRAINER, OF_LIGHTNING)
    if run.framework == "ultralytics":
        records = (*records, OF_ULTRALYTICS)
    own = known.file.endswith((".yaml", ".yml", ".json"))
    own &= not known.file.endswith(records)
    if own and not _of_curves(run, known.file):
        return Place(_shown(known.file), path, style, recorded=True)
    if made and made.name == ".".join(path):  # the record of a call: its arguments
        return made._replace(recorded=True)
    if made and known.file.endswith(LOGS):  # a sentence of a log is no place to change a setting
        return made
    if len(path) > 1:
        return Place("the command line", path, "overrides", recorded=True)
    return Place(_record_name(known.file), path, "yaml", recorded=True)


def _of_curves(run: Run, file: str) -> bool:
    """Whether a file holds curves of the run: then the run wrote it, and nobody edits it."""
    held = run.history.joined.source
    return any(one == file and (held == n).any() for n, one in enumerate(run.history.sources))


def _record_name(file: str) -> str:
    """Name a record for a person: its file is none that anybody edits."""
    name = file.rpartition("/")[2]
    if name == OF_LIGHTNING or name.endswith(LOGS):
        return f"{SCRIPT}; {name} only records it"
    if name.endswith(".wandb") or ".tfevents." in name:
        return CONFIG
    return f"the settings in {name}"


def _by_framework(run: Run, key: str) -> Place | None:
    if run.framework in {"transformers", "trl", "unsloth"}:
        return _argument(run, key)
    dialect = DIALECTS.get(run.framework)
    if dialect is None or key not in dialect.names:
        return None
    name = dialect.names[key]
    path = tuple(name.split(".")) if dialect.style == "overrides" else (name,)
    where = dialect.where
    if run.framework == "stable-baselines3":  # the call is that of the algorithm's class
        clips = run.logged("clip_ratio") or run.logged("kl_step")  # as PPO alone does
        where = str(run.setting("algo") or "").upper() or ("PPO" if clips else where)
    return Place(where, path, dialect.style)


def _argument(run: Run, key: str) -> Place | None:
    """Return the argument of a Trainer's configuration class; TRL's take the Trainer's as well."""
    own = _OF_TASK.get(run.task, "SFTConfig")
    trl = run.framework == "trl" or run.task in _OF_TASK
    if key in LORA and run.adapted:
        return Place("LoraConfig", (LORA[key],), "arguments")
    if key in ARGUMENTS["TrainingArguments"]:
        return Place(own if trl else "TrainingArguments", (key,), "arguments")
    if trl and key in ARGUMENTS[own]:
        return Place(own, (key,), "arguments")
    return None


def own_file(run: Run) -> str:
    """Return the YAML that a framework was started with; empty where there is none."""
    if run.framework not in TRAINER_FRAMEWORKS:
        return ""
    files = [one.file for one in run.config.values() if one.file.endswith((".yaml", ".yml"))]
    return max(set(files), key=lambda name: (files.count(name), name), default="")


def _style_of(file: str) -> Style:
    return "json" if file.endswith(".json") else "yaml"
