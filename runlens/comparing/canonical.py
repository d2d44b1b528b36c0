"""Settings of two runs in one writing: typed, without sections and without aliases.

``"1e-4"`` is 0.0001, ``"True"`` true, ``IntervalStrategy.STEPS`` is ``steps``; ``model_config.x``
is ``x``. What one run does not record is no difference, unless a source of the same kind lists
all settings there: then it was not set, and the default holds.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from runlens.config_keys import GENERATED, GENERATION, betas, canonical_key
from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.run import Configured, Run, Setting

Typed = str | int | float | bool | tuple[str, ...] | None

NOT_SET = "not set"  # origin of a value that a source of the run would have listed
FAR = 10**300
LONGEST = 200  # characters of a text that may be a list or a path

SECTIONS = (
    "model_config", "model", "config", "args", "training_args", "train_args", "training_arguments",
    "training", "train", "trainer", "hparams", "hyperparameters", "params", "trl",
)  # fmt: skip
# order means nothing in them
SETS = {"lora_target_modules", "modules_to_save", "report_to", "tags", "architectures", "loraplus"}
# Arguments of transformers' TrainingArguments and TRL's configs whose default is None or says
# nothing: a complete dump does not show them. Value: what holds then.
UNSET: Mapping[str, Setting] = {
    "data_seed": None, "max_steps": None, "warmup_steps": 0, "warmup_ratio": 0.0, "tf32": None,
    "neftune_noise_alpha": None, "deepspeed": None, "resume_from_checkpoint": None,
    "eval_steps": None, "eval_accumulation_steps": None, "optim_args": None,
    "optim_target_modules": None, "torch_empty_cache_steps": None, "save_total_limit": None,
    "metric_for_best_model": None, "greater_is_better": None, "lr_scheduler_kwargs": None,
    "gradient_checkpointing_kwargs": None, "model_init_kwargs": None, "liger_kernel_config": None,
    "label_names": None,
}  # fmt: skip
UNSET_TRL: Mapping[str, Setting] = {
    "max_length": None, "completion_only_loss": None, "chat_template_path": None,
    "rpo_alpha": None, "epsilon_high": None, "dataset_num_proc": None,
    "eos_token": None, "pad_token": None, "loss_weights": None,
}  # fmt: skip
MARKERS_TRL = (
    "padding_free", "dataset_text_field", "packing_strategy", "num_generations", "disable_dropout",
    "truncation_mode", "reference_free", "assistant_only_loss", "max_prompt_length",
)  # fmt: skip
# a complete dump of the arguments has nearly all of these, whatever its version
MARKERS = (
    "adam_beta1", "adam_beta2", "adam_epsilon", "dataloader_drop_last", "ddp_timeout", "do_train",
    "disable_tqdm", "eval_delay", "gradient_accumulation_steps", "gradient_checkpointing",
    "label_smoothing_factor", "learning_rate", "logging_first_step", "log_level", "max_grad_norm",
    "num_train_epochs", "optim", "prediction_loss_only", "remove_unused_columns", "seed",
    "skip_memory_metrics", "weight_decay",
)  # fmt: skip
ENOUGH_MARKERS = 16
# defaults that hold in every framework that has the key, for files that list only what was set
DEFAULTS: Mapping[str, Setting] = {
    **UNSET, **UNSET_TRL, "gradient_accumulation_steps": 1,
    "num_processes": 1, "label_smoothing_factor": 0.0,
    "weight_decay": 0.0, "packing": False, "lora_dropout": 0.0, "dropout": 0.0,
    "train_on_inputs": False, "gradient_checkpointing": False, "bf16": False, "fp16": False,
    "load_in_4bit": False, "load_in_8bit": False, "adam_beta1": 0.9, "adam_beta2": 0.999,
    "adam_epsilon": 1e-8,
}  # fmt: skip
# of Hugging Face's trainers alone
TRAINER_DEFAULTS: Mapping[str, Setting] = {
    "max_grad_norm": 1.0,
    "seed": 42,
    "lr_scheduler_type": "linear",
}
FEWEST_LISTED = 5  # settings of a source before one that it lacks counts as not set

_ENUM = lazy_re(r"[A-Z][A-Za-z]+\.([A-Z][A-Z0-9_]*)")
_NUMBER = lazy_re(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_LOCAL = lazy_re(r"[/\\~.]|[A-Za-z]:[/\\]|.*[/\\].*[/\\]")
_WORDS: Mapping[str, bool | None] = {
    "true": True,
    "false": False,
    "none": None,
    "null": None,
    "": None,
}


@lru_cache(maxsize=8192)
def _typed_text(text: str) -> Typed:
    plain = text.strip().strip("'\"")
    if plain.lower() in _WORDS:
        return _WORDS[plain.lower()]
    if _NUMBER.fullmatch(plain):
        number = float(plain)
        return number if math.isfinite(number) else plain
    if len(plain) > LONGEST:
        return plain
    if enum := _ENUM.fullmatch(plain):
        return enum[1].lower()
    if plain[0] in "[({" and plain[-1] in "])}":
        plain = plain[1:-1]
        return _items(plain)
    if ", " in plain:
        return _items(plain)
    return plain.removeprefix("torch.")


def _items(text: str) -> tuple[str, ...]:
    return tuple(item.strip().strip("'\"") for item in text.split(",") if item.strip())


def typed(value: Setting) -> Typed:
    """Return a setting as what it means: number, truth value, list or text; None where empty."""
    if isinstance(value, int) and abs(value) > FAR:
        return str(value)  # has no float
    return _typed_text(value) if isinstance(value, str) else value


def number(value: Setting) -> float | None:
    """Return a setting as a number; None for texts, truth values and what is no finite number."""
    plain = typed(value)
    if isinstance(plain, bool) or not isinstance(plain, int | float):
        return None
    return float(plain) if math.isfinite(plain) else None


def same(key: str, one: Setting, other: Setting) -> bool:
    """Whether two values of a setting mean the same."""
    a, b = typed(one), typed(other)
    if isinstance(a, int | float) and isinstance(b, int | float):
        return math.isclose(a, b, rel_tol=1e-6) or (math.isnan(a) and math.isnan(b))
    if isinstance(a, tuple) or isinstance(b, tuple):
        return _list(key, a) == _list(key, b)
    if isinstance(a, str) and isinstance(b, str):
        return a.lower() == b.lower() or _one_place(a, b)
    return a is b


def _list(key: str, value: Typed) -> tuple[str, ...]:
    items = value if isinstance(value, tuple) else () if value is None else (str(value),)
    return tuple(sorted(items)) if key in SETS else items


def _one_place(a: str, b: str) -> bool:
    """Whether two texts are paths to the same thing, at least one of them on a machine."""
    if len(a) > LONGEST or len(b) > LONGEST or not (_LOCAL.match(a) or _LOCAL.match(b)):
        return False
    return last_part(a) == last_part(b) != ""


def last_part(path: str) -> str:
    """Return the last component of a path, a hub's id or an address."""
    return re.split(r"[/\\]", path.rstrip("/\\"))[-1]


class Pair(NamedTuple):
    """One setting of two runs; None where a run does not record it."""

    key: str
    a: Configured | None
    b: Configured | None

    @property
    def values(self) -> tuple[Setting, Setting]:
        """Both values; None where one is not recorded."""
        return self.a.value if self.a else None, self.b.value if self.b else None

    @property
    def differs(self) -> bool:
        """Whether both are known and are not the same."""
        if self.a is None or self.b is None:
            return False
        return not same(self.key, self.a.value, self.b.value)


def plain(run: Run) -> dict[str, Configured]:
    """Return the settings of a run under one name each, empty ones left out."""
    found = {key: known for key, known in run.config.items() if typed(known.value) is not None}
    for key in [name for name in found if "." in name or "/" in name]:
        section, _, rest = key.replace("/", ".").partition(".")
        name = canonical_key(rest)
        if section.lower() in SECTIONS and "." not in rest and rest:
            known = found.pop(key)
            found.setdefault(name, known)
    length = found.get("max_length")
    if length and found.keys() >= GENERATION and same("max_length", length.value, GENERATED):
        del found["max_length"]
    for key in list(found):
        for name, beta in betas(key, found[key].value).items():
            found.setdefault(name, Configured(beta, found[key].origin))
        if betas(key, found[key].value):
            del found[key]
    return found


class Settings:
    """The settings of one run, and what its sources would have told of others."""

    def __init__(self, run: Run) -> None:
        """Take the settings in; look at nothing else."""
        self.run = run
        self.known = plain(run)
        complete = sum(key in self.known for key in MARKERS) >= ENOUGH_MARKERS
        trl = any(key in self.known for key in MARKERS_TRL)
        self._unset = {**(UNSET if complete else {}), **(UNSET_TRL if complete and trl else {})}
        self.listed = Counter(kind(known.origin) for known in run.config.values())

    def get(self, key: str, other: "Settings | None" = None) -> Configured | None:
        """Return a setting, by its default where it must have been left as it was; else None.

        `other` has it, or may have: of which kind its source is tells whether a source here would
        have it.
        """
        if key in self.known:
            return self.known[key]
        if key in self._unset or key.partition(".")[0] in self._unset:
            return Configured(self._unset.get(key), NOT_SET)
        theirs = other.known.get(key) if other else None
        if other is None or theirs is None or not self._would_list(theirs, other):
            return None
        default = self._default(key)
        neutral = typed(theirs.value) in {0, "no", "none", "off", "default", "auto"}
        return Configured(theirs.value if default is None and neutral else default, NOT_SET)

    def value(self, key: str) -> Setting:
        """Return the value of a setting, by its default where that holds; None if not known."""
        known = self.get(key)
        return known.value if known else None

    def number(self, key: str) -> float | None:
        """Return a numeric setting; None where it is not known or no number."""
        return number(self.value(key))

    def _would_list(self, theirs: Configured, other: "Settings") -> bool:
        sort = kind(theirs.origin)
        mine, all_theirs = self.listed[sort], other.listed[sort]
        return sort not in {"log", NOT_SET} and mine >= max(FEWEST_LISTED, all_theirs / 2)

    def _default(self, key: str) -> Setting:
        if key in DEFAULTS:
            return DEFAULTS[key]
        hugging = self.run.framework in {"transformers", "trl", "axolotl", "llama-factory"}
        return TRAINER_DEFAULTS.get(key) if hugging else None


def kind(origin: str) -> str:
    """Return which kind of source an origin is: two of a kind list the same settings."""
    name = last_part(origin).lower()
    for mark, what in (
        (".wandb", "wandb"),
        ("tfevents", "tensorboard"),
        ("readme", "card"),
        (".log", "log"),
        (".txt", "log"),
        (".out", "log"),
        (".err", "log"),
    ):
        if mark in name:
            return what
    if "wandb" in origin:
        return "wandb"
    return NOT_SET if origin == NOT_SET else "yaml" if name.endswith((".yaml", ".yml")) else name


def pairs(a: Settings, b: Settings, left_out: Sequence[str] = ()) -> list[Pair]:
    """Return the settings that either run records, by key, as both have them."""
    keys = sorted((a.known.keys() | b.known.keys()) - set(left_out))
    return paired(keys, a, b)


def paired(keys: Iterable[str], a: Settings, b: Settings) -> list[Pair]:
    """Return these settings as both runs have them, by whichever name."""
    return [Pair(key, a.get(key, b), b.get(key, a)) for key in keys]
