"""Which settings pull at which kind of cause, the first one first; what no setting cures is empty.

One lever is one row's first group: settings that belong together (half precision has two switches).
The second group is tried where the first does not help.
"""

from collections.abc import Mapping

Group = tuple[str, ...]
ITS_OWN = "*"  # the first fix that is for this kind of cause, whatever it sets

LEVERS: Mapping[str, tuple[Group, ...]] = {
    "rate-too-high": (("learning_rate",),),
    "rate-too-low": (("learning_rate",),),
    "rate-zero": ((ITS_OWN,), ("learning_rate",)),
    "rate-leaves-plan": (),
    "warmup-missing": (("warmup_steps", "warmup_ratio"), ("learning_rate",)),
    "clip-too-tight": (("max_grad_norm",),),
    "clip-missing": (("max_grad_norm",),),
    "optimizer-setting": ((ITS_OWN,),),
    "batch-too-small": (("gradient_accumulation_steps",),),
    "memorised": (
        ("max_steps", "num_train_epochs"),
        ("load_best_model_at_end", "metric_for_best_model"),
        ("lora_dropout",),
        ("weight_decay",),
    ),
    "data-order": (("shuffle",),),
    "kl-weight": (("beta",),),
    "exploration": (("entropy_coef",), ("temperature",), ("epsilon_high",), ("beta",)),
    "stale-policy": (
        ("num_iterations",),
        ("vllm_importance_sampling_correction",),
        ("learning_rate",),
    ),
    "length-limit": (("max_completion_length",), ("loss_type",)),
    "precision": (("bf16", "fp16"), ("bf16_full_eval", "fp16_full_eval")),
    "capacity": (("lora_r",),),
    "memory": (
        ("per_device_train_batch_size", "gradient_accumulation_steps"),
        ("gradient_checkpointing",),
        ("per_device_eval_batch_size", "eval_accumulation_steps"),
        ("dataloader_num_workers", "dataset_num_proc"),
        ("optim",),
    ),
    "machine": (),
    "logging": (("logging_nan_inf_filter",),),
}

DOWN = frozenset({"rate-too-high"})  # causes whose lever only goes down
UP = frozenset({"rate-too-low", "rate-zero", "clip-too-tight", "batch-too-small"})
