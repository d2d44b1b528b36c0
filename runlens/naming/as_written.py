"""Names as frameworks write them, where a unit, a sign or a meaning is their own."""

from math import log

from runlens.patterns import lazy_re

BASE_2 = log(2.0)

# logged name (as `plain` writes it) -> canonical, where a unit or a sign differs
# fmt: off
SCALED = {
    "fairseq": {
        "loss": ("train_loss", BASE_2), "nll_loss": ("train_nll_loss", BASE_2),
        "train_loss": ("train_loss", BASE_2), "val_loss": ("eval_loss", BASE_2),
        "valid_loss": ("eval_loss", BASE_2), "valid_nll_loss": ("eval_nll_loss", BASE_2),
        "train_nll_loss": ("train_nll_loss", BASE_2), "clip": ("clip_share", 0.01),
    },
    "": {
        "train_lr_1e_3": ("learning_rate", 1e-3), "train_total_tokens_b": ("tokens", 1e9),
        "entropy_loss": ("entropy", -1.0), "train_entropy_loss": ("entropy", -1.0),
        "iteration_time_ms": ("step_time", 1e-3), "dt_ms": ("step_time", 1e-3),
        "elapsed_time_per_iteration_ms": ("step_time", 1e-3), "step_avg_ms": ("step_time", 1e-3),
        "bf16_mfu": ("mfu", 0.01), "acc_1": ("train_accuracy", 0.01),
        "prec_1": ("train_accuracy", 0.01), "metrics_map50_95_b": ("eval_map", 1.0),
        "metrics_map_0_5_0_95": ("eval_map", 1.0), "metrics_map50_b": ("eval_map50", 1.0),
        "metrics_map_0_5": ("eval_map50", 1.0), "metrics_accuracy_top1": ("eval_accuracy", 1.0),
        "system_proc_memory_rssmb": ("host_mem", 2.0**-10), "rss_mb": ("host_mem", 2.0**-10),
        "rss_mib": ("host_mem", 2.0**-10), "memory_rss_mb": ("host_mem", 2.0**-10),
        "val_acc_1": ("eval_accuracy", 0.01), "val_prec_1": ("eval_accuracy", 0.01),
        # tinker-cookbook: episodes are conversations
        "env_all_reward_total": ("reward", 1.0), "env_all_ac_tokens_per_turn": ("len_mean", 1.0),
        "optim_entropy": ("entropy", 1.0), "optim_kl_sample_train_v1": ("kl_step", 1.0),
        # rlkit: of a step; "evaluation/Returns Mean" beside it is of an episode
        "evaluation_rewards_mean": ("evaluation/Rewards Mean", 1.0),
        "test_acc_1": ("eval_accuracy", 0.01), "test_prec_1": ("eval_accuracy", 0.01),
    },
}
# fmt: on
# of one step: "step_sec", where "steps/sec" and "steps_sec" are how many there are in one
_SECONDS = lazy_re(r"(?:.*[/.])?(?:step|iter(?:ation)?)_(?:secs?|seconds)")
# W&B's system records, one a card: gpu.0.gpu in percent, memory in bytes
CARD = lazy_re(r"system_gpu_(\d+)_(gpu|memory_allocated_bytes)")
CARD_METRICS = {"gpu": ("gpu_util", 1.0), "memory_allocated_bytes": ("gpu_mem", 2.0**-30)}
# names that mean something else under one framework
SPECIAL = {
    "megatron": {"eval_test_loss": "eval_loss:test"},  # beside that of the validation set
    "kto": {"kl": "kto_kl"},
    "reward-model": {"accuracy": "dpo_acc", "mean_reward": "mean_reward"},
}
# what the learner of RLlib logs of each policy, in its newer layout and in the older one:
# "learners/default_policy/vf_loss", "info/learner/default_policy/learner_stats/vf_loss"
_LEARNER = lazy_re(r"(?:.*/)?(?:learners|info/learner)/[^/]+/(?:learner_stats/)?(\w+)")
LEARNT = {
    "total_loss": "train_loss", "policy_loss": "policy_loss", "vf_loss": "value_loss",
    "vf_explained_var": "explained_variance", "entropy": "entropy", "kl": "kl_step",
    "mean_kl_loss": "kl_step", "cur_lr": "learning_rate", "grad_gnorm": "grad_norm",
    "default_optimizer_learning_rate": "learning_rate",
    "gradients_default_optimizer_global_norm": "grad_norm",
}  # fmt: skip


def as_spelled(logged: str) -> str:
    """Return our name for what a learner of RLlib measured, or seconds of a step; "" for others."""
    if _SECONDS.fullmatch(logged):
        return "step_time"
    found = _LEARNER.fullmatch(logged)
    return LEARNT.get(found[1], "") if found else ""
