"""What to do where no file of the run names a setting: in the framework's own calls, or in words.

Read in lightning 2.6.6 (callbacks), keras 3.15.1 (callbacks), stable-baselines3 2.9.2 (callbacks)
and torch 2.13.0.
"""

from collections.abc import Mapping
from dataclasses import replace

from runlens.config_keys import written
from runlens.diagnosis import Fix
from runlens.knowledge.in_force import PATIENCE, patience
from runlens.metrics import spoken
from runlens.run import Run
from runlens.wording import capitalised

_LOOP = {
    "learning_rate": "lr={new} in the optimizer",
    "max_grad_norm": (
        "in PyTorch, call torch.nn.utils.clip_grad_norm_(model.parameters(), {new}) before "
        "optimizer.step()"
    ),
    "warmup_steps": "let the rate rise from near 0 to its peak over {new} steps",
    "weight_decay": "weight_decay={new} in the optimizer",
    "gradient_accumulation_steps": "step the optimizer after every {new} batches",
    "num_train_epochs": "stop after epoch {new}",
    "max_steps": "stop at step {new}",
    "load_best_model_at_end": (
        "save the weights whenever the evaluation improves, and stop after {patience} evaluations "
        "without improvement"
    ),
    "bf16": 'in PyTorch, run the forward pass under torch.autocast("cuda", dtype=torch.bfloat16)',
    "shuffle": "in PyTorch, DataLoader(..., shuffle=True)",
    "per_device_train_batch_size": "a batch of {new}",
    "dataloader_num_workers": "{new} workers",
    "label_smoothing_factor": "in PyTorch, CrossEntropyLoss(label_smoothing={new})",
}
SNIPPETS: Mapping[str, Mapping[str, str]] = {
    "lightning": {
        **_LOOP,
        "load_best_model_at_end": (
            'Trainer(callbacks=[ModelCheckpoint(monitor="val_loss"), '
            'EarlyStopping(monitor="val_loss", patience={patience})])'
        ),
        "bf16": 'Trainer(precision="bf16-mixed")',
    },
    "keras": {
        "load_best_model_at_end": (
            'model.fit(..., callbacks=[EarlyStopping(monitor="val_loss", patience={patience}, '
            "restore_best_weights=True)])"
        ),
        "num_train_epochs": "model.fit(..., epochs={new})",
        "per_device_train_batch_size": "model.fit(..., batch_size={new})",
        "shuffle": "model.fit(..., shuffle=True)",
        "bf16": 'keras.mixed_precision.set_global_policy("mixed_bfloat16")',
    },
    "stable-baselines3": {
        "load_best_model_at_end": (
            "EvalCallback(eval_env, best_model_save_path=..., eval_freq=...) keeps the best policy"
        ),
    },
    "nanogpt": {"load_best_model_at_end": "always_save_checkpoint = False keeps only the best"},
    "transformers": {
        "early_stopping_patience": (
            "Trainer(callbacks=[EarlyStoppingCallback(early_stopping_patience={patience})]), with "
            "load_best_model_at_end=True"
        ),
        "warmup_ratio": "set warmup_ratio={new}",
        "shuffle": "the Trainer shuffles: look for a sampler of your own, or streamed data",
    },
}


# the same where the run's own curve tells no patience with which to stop
UNSTOPPED: Mapping[str, str] = {
    "lightning": 'Trainer(callbacks=[ModelCheckpoint(monitor="val_loss")])',
    "keras": (
        'model.fit(..., callbacks=[ModelCheckpoint(..., monitor="val_loss", save_best_only=True)])'
    ),
}
KEPT = "load_best_model_at_end"
KEEP = "Keep the model with the best "
OWN_LOOPS = {"unknown", "pytorch"}
PLAIN = {"logging_steps"}  # of a framework: elsewhere what to do says all


def in_words(run: Run, fix: Fix) -> Fix:
    """Return a change that no file of the run names as something to do."""
    known = SNIPPETS.get(run.framework, _LOOP if run.framework in OWN_LOOPS else {})
    template = known.get(fix.setting, "")
    new = written(fix.new)
    if "{patience}" in template and fix.setting == KEPT:
        wait = patience(run, _kept_by(run, fix))
        if not wait:
            template = UNSTOPPED.get(run.framework, template.partition(", and stop")[0])
        words = "three" if wait == PATIENCE and run.framework in OWN_LOOPS else f"{wait}"
        template = template.replace("{patience}", words)
    how = template.replace("{new}", new).replace("{patience}", new)
    if KEEP in fix.what:  # by a score, whose name as logged the user knows
        how = how.replace('"val_loss"', "...").replace("the evaluation improves", "it improves")
    what = fix.what
    plain = isinstance(fix.new, bool) or fix.setting in PLAIN
    if not template and not plain and new not in what:
        own_ = f"set {fix.setting} to {new}"
        what = capitalised(own_) if fix.setting in what else f"{what}: {own_}"
    told = f"{what}: {how}" if how else what
    own = {"setting": "", "name": fix.setting, "old": None, "new": None, "kind": "code"}
    return replace(fix, what=told, **own)  # type: ignore[arg-type]


def _kept_by(run: Run, fix: Fix) -> str:
    """Return the metric by which a fix keeps the best model: the score it names, else the loss."""
    named = (name for name in run.history.metrics if fix.what == f"{KEEP}{spoken(name)}")
    return next(named, "eval_loss")
