"""All rules, by hand: to add one, write its file and its row here.

A row is what must be known to say that a rule is not asked: half of them are for tasks or metrics
that a run does not have, and their files are not imported.
"""

from functools import cache
from typing import TYPE_CHECKING, Any

from runlens.rules.relations import Relations
from runlens.rules.rule import (
    ALONE,
    LANGUAGE_TASKS,
    LOSS_TASKS,
    PREFERENCE_TASKS,
    RL_TASKS,
    Listed,
    Rule,
)
from runlens.run import Task

if TYPE_CHECKING:
    RULES: tuple[Rule[Any], ...]

TUNED = LANGUAGE_TASKS | PREFERENCE_TASKS
GROUPED: frozenset[Task] = frozenset({"grpo", "ppo"})  # completions of a prompt, in groups

LISTED = (
    Listed("nan-loss", "NaN loss", "NUM"),
    Listed("hidden-nan", "NaN hidden by the logger", "NUM", ("train_loss",)),
    Listed("nan-grad", "NaN gradient", "NUM", ("grad_norm",)),
    Listed("nan-eval", "NaN evaluation", "NUM"),
    Listed("loss-scale-collapse", "Loss scale collapse", "NUM"),
    Listed(
        "divergence",
        "Divergence",
        "LOS",
        ("train_loss|g_loss|reward",),
        LOSS_TASKS | {"gan-diffusion", "rl"},
    ),
    Listed("loss-spike", "Loss spike", "LOS", ("train_loss|eval_loss",), LOSS_TASKS),
    Listed("plateau", "Plateau", "LOS", ("train_loss",), LOSS_TASKS),
    Listed(
        "not-learning",
        "Not learning",
        "LOS",
        ("train_loss|train_accuracy|eval_accuracy",),
        TUNED | {"asr", "classification", "contrastive", "gan-diffusion", "other", "regression"},
    ),
    Listed(
        "stuck-at-chance",
        "Stuck at chance",
        "LOS",
        tasks=TUNED | {"classification", "contrastive", "other", "regression"},
    ),
    Listed(
        "sawtooth",
        "Sawtooth",
        "LOS",
        ("train_loss",),
        LOSS_TASKS - PREFERENCE_TASKS,
    ),
    Listed(
        "oscillation", "Oscillation", "LOS", ("train_loss|eval_loss|eval_accuracy",), LOSS_TASKS
    ),
    Listed(
        "zero-loss",
        "Zero loss",
        "LOS",
        ("train_loss",),
        LANGUAGE_TASKS | {"asr", "classification", "other"},
    ),
    Listed("epoch-staircase", "Epoch staircase", "LOS", ("train_loss",), LOSS_TASKS),
    Listed("hockey-stick", "Overfitting", "EVL", tasks=LOSS_TASKS),
    Listed("eval-flat", "Evaluation flat", "EVL", tasks=LOSS_TASKS),
    Listed("eval-gap", "Widening train/eval gap", "EVL", tasks=LOSS_TASKS),
    Listed(
        "eval-leak",
        "Evaluation leak",
        "EVL",
        ("train_loss",),
        LANGUAGE_TASKS | {"asr", "classification", "contrastive", "other", "regression"},
    ),
    Listed("grad-explosion", "Exploding gradient", "GRD", ("grad_norm",)),
    Listed("grad-spike", "Gradient spikes", "GRD", ("grad_norm",), LOSS_TASKS),
    Listed("grad-zero", "Zero gradient", "GRD", ("grad_norm",)),
    Listed(
        "clip-saturation",
        "Constant gradient clipping",
        "GRD",
        ("grad_norm|clip_share",),
        LOSS_TASKS,
    ),
    Listed("lr-zero", "Zero learning rate", "LRS", ("learning_rate",)),
    Listed("warmup-shock", "Warm-up shock", "LRS", ("train_loss",), LOSS_TASKS),
    Listed("schedule-mismatch", "Schedule mismatch", "LRS", ("learning_rate",)),
    Listed("entropy-collapse", "Entropy collapse", "RLX", ("entropy|entropy_seq",), RL_TASKS),
    Listed("reward-stuck-zero", "Constant reward", "RLX", ("reward",), RL_TASKS),
    Listed("reward-flat", "Flat reward", "RLX", ("reward",), RL_TASKS),
    Listed("reward-collapse", "Reward collapse", "RLX", ("reward",), RL_TASKS),
    Listed(
        "zero-reward-std",
        "Identical rewards within groups",
        "RLX",
        ("frac_zero_std|reward_std",),
        GROUPED,
    ),
    Listed("kl-blow-up", "KL blow-up", "RLX", ("kl|kl_seq|kl_step",), RL_TASKS),
    Listed("clip-ratio-high", "High clip ratio", "RLX", ("clip_ratio",), RL_TASKS),
    Listed("length-growth", "Completions grow to the limit", "RLX", ("len_mean",), GROUPED),
    Listed("length-collapse", "Completions shrink to nothing", "RLX", ("len_mean",), GROUPED),
    Listed(
        "completions-clipped",
        "Completions cut at the limit",
        "RLX",
        ("len_clipped|len_mean",),
        GROUPED,
    ),
    Listed(
        "importance-ratio-divergence",
        "Importance ratio far from 1",
        "RLX",
        ("logp_diff|is_ratio_min",),
        RL_TASKS,
    ),
    Listed("reward-hacking", "Reward hacking", "RLX", ("reward",), GROUPED | {"rl"}),
    Listed(
        "ebft-diversity",
        "Low sample diversity",
        "RLX",
        ("ebft_diversity|ebft_alignment|ebft_cfm",),
        GROUPED,
    ),
    Listed(
        "preference-collapse",
        "Preferences not learned",
        "RLX",
        ("dpo_acc|dpo_margin|dpo_chosen",),
        PREFERENCE_TASKS,
    ),
    Listed("throughput-drop", "Throughput drop", "PRF"),
    Listed("low-utilisation", "Low utilization", "PRF", ("gpu_util|mfu|throughput_tokens",)),
    Listed("memory-growth", "Memory growth", "PRF", ("gpu_mem|gpu_mem_reserved|host_mem|rss",)),
    Listed("oom-cliff", "Out of memory", "RUN"),
    Listed("crashed", "Crash", "RUN"),
    Listed("killed", "Killed or interrupted", "RUN"),
    Listed("stopped-early", "Stopped early", "RUN"),
    Listed("hang", "Hang", "RUN"),
    Listed("known-error", "Known error", "RUN"),
    Listed("resume-jump", "Resume jump", "RUN"),
    Listed("lr-out-of-range", "Learning rate out of range", "CFG"),
    Listed("fp16-risk", "fp16 risk", "CFG"),
    Listed("no-clipping", "No clipping", "CFG", (), TUNED | {"grpo", "ppo"}),
    Listed(
        "no-warmup",
        "No warm-up",
        "CFG",
        (),
        TUNED | {"classification", "grpo", "ppo"},
    ),
    Listed(
        "eval-too-rare",
        "Evaluation too rare",
        "CFG",
        (),
        TUNED | {"asr", "classification", "regression"},
    ),
    Listed(
        "weight-decay-high",
        "High weight decay",
        "CFG",
        (),
        PREFERENCE_TASKS | {"grpo", "ppo", "sft"},
    ),
    Listed(
        "missing-signal",
        "Missing core metric",
        "OBS",
        (),
        TUNED | {"asr", "classification", "grpo", "ppo", "regression"},
    ),
    Listed("too-short", "Too short", "OBS"),
    Listed("entropy-high", "High entropy", "RLX", ("entropy",), GROUPED),
    Listed("forgetting", "Forgetting", "EVL"),
)


def __getattr__(name: str) -> object:
    """Import all rules when `RULES` is first asked for."""
    if name != "RULES":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = rules = tuple(one.load() for one in LISTED)
    return rules


@cache
def related(slug: str) -> Relations:
    """Return how a rule stands to the others; an added rule stands alone."""
    return next((one.load().relations for one in LISTED if one.slug == slug), ALONE)
