"""How a training logs a metric that it does not log yet: the line or the setting, by metric.

Said by the rule that names missing signals, and by the reports where a check could not run.
"""

from collections.abc import Iterable

# metric -> what to do, an imperative that can stand within a sentence
HOW_TO_LOG = {
    "train_loss": "log loss.item() of each update as train_loss",
    "eval_loss": "evaluate on held-out data and log the loss as eval_loss",
    "grad_norm": "log the return value of clip_grad_norm_ as grad_norm",
    "learning_rate": "log scheduler.get_last_lr()[0] as learning_rate",
    "loss_scale": "log the loss scale of fp16, scaler.get_scale(), as loss_scale",
    "throughput_tokens": "log tokens per second as throughput_tokens",
    "mfu": "log mfu, or let a tracker (wandb, MLflow) record GPU utilization",
    "gpu_util": "run the tracker's system metrics (wandb, MLflow) or log torch.cuda.utilization()",
    "gpu_mem": "log torch.cuda.max_memory_allocated() / 2**30 as gpu_mem",
    "gpu_mem:rank1": "log the memory of every rank, not of rank 0 alone",
    "grad_norm/<layer>": (
        "log gradient norms by layer (grad_norm/<layer>), parameter norms and activations"
    ),
    "reward": "log the mean reward of each update as reward",
    "reward_std": "log the spread of the rewards within a group as reward_std",
    "len_mean": "log the mean completion length in tokens as len_mean",
    "entropy": "log the mean entropy of the policy as entropy",
    "kl": "log the KL to the reference as kl; TRL does where beta is above 0",
    "clip_ratio": "log the share of clipped ratios as clip_ratio",
    "logp_diff": "log the difference of sampler and trainer log-probabilities; TRL does with vLLM",
    "dpo_acc": "log rewards/accuracies, rewards/margins and logps/chosen, as TRL does",
    "ebft_diversity": "log ebft/diversity, ebft/alignment and ebft/cfm_loss, as axolotl does",
}


# the same where the training is Keras', which has no step of one's own to log from
IN_KERAS = {
    "train_loss": "log the loss of each epoch with keras.callbacks.CSVLogger or TensorBoard",
    "eval_loss": "pass validation_data to model.fit",
    "grad_norm": "log the global norm of the gradients in train_step as grad_norm",
    "learning_rate": "log optimizer.learning_rate in a callback as learning_rate",
    "loss_scale": "log the scale of the LossScaleOptimizer in a callback as loss_scale",
    "gpu_util": "let a tracker (wandb, MLflow) record GPU utilization",
    "gpu_mem": "log tf.config.experimental.get_memory_info('GPU:0')['peak'] / 2**30 as gpu_mem",
}


def how_to_log(names: Iterable[str], framework: str = "") -> str:
    """Return how to log the first of the metrics that the table knows; "" where it knows none.

    >>> how_to_log(["reward_std", "frac_zero_std"])
    'log the spread of the rewards within a group as reward_std'
    """
    table = HOW_TO_LOG | IN_KERAS if framework == "keras" else HOW_TO_LOG
    return next((table[name] for name in names if name in table), "")
