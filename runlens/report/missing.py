"""What to add to a training so that a check that could not run can run the next time."""

UNLOGGED = "not logged: "  # how the engine begins the reason of a rule that lacks metrics
OTHER_TASKS = "holds for "  # how it begins the reason of a rule for other kinds of runs
MERGED = "merged into "  # how an incident says that it tells a finding as part of another
UNTESTED = "not checked"  # how a rule begins what it could not rule out

# metric -> the line or the setting that logs it
HOW_TO_LOG = {
    "train_loss": "log loss.item() each logging step as train_loss",
    "eval_loss": "set eval_strategy and an evaluation set",
    "grad_norm": "log the return value of clip_grad_norm_ as grad_norm",
    "learning_rate": "log scheduler.get_last_lr()[0] as learning_rate",
    "gpu_util": "run the tracker's system metrics (wandb, MLflow) or log torch.cuda.utilization()",
    "gpu_mem": "log torch.cuda.max_memory_allocated() / 2**30 as gpu_mem",
    "reward": "log the mean reward of each update as reward",
    "reward_std": "log the spread of the rewards within a group as reward_std",
    "frac_zero_std": "log the spread of the rewards within a group as reward_std",
    "len_mean": "log the mean completion length in tokens as completions/mean_length",
    "entropy": "log the mean entropy of the policy as entropy",
    "kl": "log the KL to the reference as kl; TRL does where beta is above 0",
    "clip_ratio": "log the share of clipped ratios as clip_ratio",
    "logp_diff": "log the difference of sampler and trainer log-probabilities; TRL does with vLLM",
    "dpo_acc": "log rewards/accuracies, rewards/margins and logps/chosen, as TRL does",
}


def told(reason: str) -> str:
    """Return why a check could not run, with the line that logs what is missing.

    >>> told("not logged: grad_norm")
    'grad_norm is not logged; log the return value of clip_grad_norm_ as grad_norm'
    """
    if not reason.startswith(UNLOGGED):
        return reason
    needs = reason.removeprefix(UNLOGGED).split(", ")
    said = "; ".join(_absent(need.split(" or ")) for need in needs)
    how = next((HOW_TO_LOG[name] for name in needs[0].split(" or ") if name in HOW_TO_LOG), "")
    return f"{said}; {how}" if how else said


def _absent(names: list[str]) -> str:
    if len(names) == 1:
        return f"{names[0]} is not logged"
    return f"neither {' nor '.join(names)} is logged"
