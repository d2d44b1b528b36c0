"""What frameworks refuse: rows over the settings of a run as they would be after a change.

Each row has the frameworks that it holds for, the settings that it is about, and where it was read.
`wrong` returns what is refused; `partner` the settings that must be changed as well.
"""

from collections.abc import Callable, Mapping

from runlens.knowledge.dialects import own_file
from runlens.knowledge.in_force import TRAINER_FRAMEWORKS
from runlens.records import NamedTuple
from runlens.run import Run, Setting

Settings = Mapping[str, Setting]
TRAINERS = frozenset(TRAINER_FRAMEWORKS)
SAVE_STEPS = 500  # default of TrainingArguments


class Constraint(NamedTuple):
    """One thing that a framework refuses, or that has no effect in it."""

    about: frozenset[str]  # it is asked where one of these settings is changed
    frameworks: frozenset[str]
    wrong: Callable[[Run, Settings], str]  # "" where all is well
    source: str


def _number(settings: Settings, key: str) -> float | None:
    value = settings.get(key)
    try:
        return None if value is None or isinstance(value, bool) else float(value)
    except ValueError:
        return None


def _true(settings: Settings, key: str) -> bool:
    return str(settings.get(key)).lower() in {"true", "yes", "1"}


def _strategy(settings: Settings, key: str, default: str) -> str:
    return str(settings.get(key) or default).lower().rpartition(".")[2]


def _keeps_best(_: Run, settings: Settings) -> str:
    if not _true(settings, "load_best_model_at_end"):
        return ""
    evaluates = _strategy(settings, "eval_strategy", "no")
    saves = _strategy(settings, "save_strategy", "steps")
    if saves == "best":
        return ""
    if evaluates != saves:
        return f"it evaluates by {evaluates} and saves by {saves}: they must match"
    every, often = _number(settings, "save_steps") or SAVE_STEPS, _number(settings, "eval_steps")
    often = often or _number(settings, "logging_steps")
    if evaluates == "steps" and not often:
        return "eval_steps is not known, and save_steps must be a multiple of it"
    if evaluates == "steps" and often and every % often:
        return f"save_steps {every:g} is no multiple of eval_steps {often:g}"
    return ""


def _one_half(_: Run, settings: Settings) -> str:
    both = _true(settings, "fp16") and _true(settings, "bf16")
    return "fp16 and bf16 exclude each other" if both else ""


def _steps_rule(run: Run, settings: Settings) -> str:
    own, known = own_file(run), run.config.get("max_steps")
    if own and known and known.file != own and "num_train_epochs" in run.config:
        return ""  # the framework worked it out from the epochs of its user's file
    steps = _number(settings, "max_steps")
    return f"max_steps {steps:g} is set and rules over epochs" if steps and steps > 0 else ""


def _whole_groups(run: Run, settings: Settings) -> str:
    group = _number(settings, "num_generations")
    if run.task != "grpo" or not group:
        return ""
    size, device = _number(settings, "generation_batch_size"), None
    if not size:
        device = _number(settings, "per_device_train_batch_size")
        steps = _number(settings, "steps_per_generation") or _number(
            settings, "gradient_accumulation_steps"
        )
        size = device * (steps or 1) * (_number(settings, "num_processes") or 1) if device else None
    if group < 2:  # noqa: PLR2004 - an advantage needs two
        return "a group needs two completions"
    if size and size % group:
        return f"{size:g} completions a generation are no multiple of {group:g}"
    return ""


def _one_warmup(_: Run, settings: Settings) -> str:
    both = _number(settings, "warmup_steps") and _number(settings, "warmup_ratio")
    return "warmup_steps and warmup_ratio exclude each other" if both else ""


def _stops_early(_: Run, settings: Settings) -> str:
    saves, often = _number(settings, "save_steps"), _number(settings, "eval_steps")
    if not _number(settings, "early_stopping_patience"):
        return ""
    if not saves or not often:
        return "early stopping needs save_steps and eval_steps"
    return "eval_steps must divide save_steps" if saves % often else ""


def _recomputes(_: Run, __: Settings) -> str:
    return "it recomputes activations by itself, unless disable_gradient_checkpointing is set"


def _masks_all(run: Run, settings: Settings) -> str:
    cut = run.curve("len_clipped").finite().value
    if not _true(settings, "mask_truncated_completions") or not len(cut):
        return ""
    share = float(cut[len(cut) // 2 :].mean())
    return f"{share:.0%} of the completions would be masked" if share > MOSTLY_CUT else ""


MOSTLY_CUT = 0.5  # masked completions leave no loss: the rest must be the greater part
_TA = "transformers 5.23.0, training_args.py: "
CONSTRAINTS = (
    Constraint(
        frozenset({"load_best_model_at_end", "save_steps", "eval_steps", "save_strategy"}),
        TRAINERS,
        _keeps_best,
        _TA + "_validate_args, load_best_model_at_end",
    ),
    Constraint(frozenset({"fp16", "bf16"}), TRAINERS, _one_half, _TA + "_validate_args, fp16"),
    Constraint(
        frozenset({"num_train_epochs"}), TRAINERS, _steps_rule, _TA + "docstring of max_steps"
    ),
    Constraint(
        frozenset(
            {
                "num_generations",
                "per_device_train_batch_size",
                "gradient_accumulation_steps",
            }
        ),
        TRAINERS,
        _whole_groups,
        "trl 1.16.0, grpo_config.py: __post_init__",
    ),
    Constraint(
        frozenset({"warmup_steps", "warmup_ratio"}),
        frozenset({"axolotl"}),
        _one_warmup,
        "axolotl 067b021c, schemas/validation.py: check_warmup",
    ),
    Constraint(
        frozenset({"gradient_checkpointing"}),
        frozenset({"llama-factory"}),
        _recomputes,
        "LLaMA-Factory ff6d4d12, hparams/model_args.py: disable_gradient_checkpointing",
    ),
    Constraint(
        frozenset({"early_stopping_patience"}),
        frozenset({"axolotl"}),
        _stops_early,
        "axolotl 067b021c, schemas/validation.py: check_early_stopping",
    ),
    Constraint(
        frozenset({"mask_truncated_completions"}),
        TRAINERS,
        _masks_all,
        "trl 1.16.0, grpo_trainer.py: a truncated completion's mask is zeroed",
    ),
)

# what a resume may not change: the state of the optimizer, or the data order, is of the old one
# (bitsandbytes 0.50.2, optim/optimizer.py: init_state is skipped)
FRESH_START = frozenset({"optim", "lora_r", "lora_target_modules", "adapter", "max_length"})


def refused(run: Run, settings: Settings, changed: frozenset[str]) -> str:
    """Say why the framework of a run would refuse its settings after a change; empty if it takes.

    `settings` are all of them as they would be, `changed` the canonical keys that differ.
    """
    told = (
        row.wrong(run, settings)
        for row in CONSTRAINTS
        if run.framework in row.frameworks and row.about & changed
    )
    return next((why for why in told if why), "")


def partners(run: Run, settings: Settings) -> dict[str, str | int]:
    """Return what must be set beside `load_best_model_at_end`; nothing where nothing helps."""
    evaluates = _strategy(settings, "eval_strategy", "no")
    if run.framework not in TRAINERS or evaluates == "no":
        return {}
    made: dict[str, str | int] = {}
    if _strategy(settings, "save_strategy", "steps") != evaluates:
        made["save_strategy"] = evaluates
    every, often = _number(settings, "save_steps") or SAVE_STEPS, _number(settings, "eval_steps")
    if evaluates == "steps" and often and every != often:  # what is not saved is not kept
        made["save_steps"] = int(often)
    return made
