"""Two drawn runs that differ in what a test says, and in nothing else."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from runlens.comparing.changed import differing
from runlens.comparing.parting import partings
from runlens.comparison import DiagnosisDiff, Parting, SettingDifference
from runlens.rules.cases import Case
from runlens.run import Configured, Run, Setting

RATE = "0:0 50:2e-4 1000:0"  # warm-up of 50 steps, then a linear decay
LOSS = "0:2.2 300:1.4 1000:1.1"
CURVES = {"train_loss": LOSS, "learning_rate": RATE, "grad_norm": "0:2 1000:0.8"}
# what a dump of the Trainer's arguments has, whatever else it has
ARGUMENTS: dict[str, Setting] = {
    "adam_beta1": 0.9, "adam_beta2": 0.999, "adam_epsilon": 1e-8, "dataloader_drop_last": False,
    "ddp_timeout": 1800, "do_train": True, "disable_tqdm": False, "eval_delay": 0,
    "gradient_accumulation_steps": 1, "gradient_checkpointing": False, "optim": "adamw_torch",
    "label_smoothing_factor": 0.0, "learning_rate": 2e-4, "logging_first_step": False,
    "log_level": "passive", "max_grad_norm": 1.0, "num_train_epochs": 3.0, "seed": 42,
    "prediction_loss_only": False, "remove_unused_columns": True, "skip_memory_metrics": True,
    "weight_decay": 0.0, "per_device_train_batch_size": 8, "bf16": False, "fp16": False,
    "lr_scheduler_type": "linear", "run_name": "one", "output_dir": "out",
}  # fmt: skip


def with_(**settings: Setting) -> dict[str, Setting]:
    """Return a complete dump of arguments with some of them set otherwise."""
    return {**ARGUMENTS, **settings}


def run(
    config: Mapping[str, Setting] | None = None,
    curves: Mapping[str, str] | None = None,
    *,
    origin: str = "run-1.wandb",
    noise: str = "one",
    **more: Any,
) -> Run:
    """Draw a run; runs of one `noise` have equal values where their curves are equal."""
    case = Case(noise, {**CURVES, **(curves or {})}, **more)
    settings = ARGUMENTS if config is None else config
    return replace(case.run(), config={k: Configured(v, origin) for k, v in settings.items()})


def changed(
    a: Run,
    b: Run,
    diff: DiagnosisDiff | None = None,
    parted: tuple[Parting, ...] | None = None,
) -> list[SettingDifference]:
    """Return the settings that differ, by rank."""
    where = partings(a, b, "step") if parted is None else parted
    return list(differing(a, b, where, diff or DiagnosisDiff()))


def ranked(a: Run, b: Run) -> list[str]:
    """Return the keys of the settings that bear on the curves, the first one first."""
    return [row.key for row in changed(a, b) if row.rank]
