"""Canonical metric names: the only place that knows how frameworks spell them.

Names as logged were read in the sources of transformers, TRL, axolotl, verl, OpenRLHF, fairseq,
LLaMA-Factory, ms-swift, Megatron, nanoGPT, stable-baselines3, rl_games, ML-Agents and Lightning.
Healthy ranges are those in common use; where axolotl's page on stability gives one, it is named.
"""

import re
from functools import cache
from typing import Literal

from runlens.naming import Meaning, classify, in_english, words
from runlens.naming.as_written import CARD, CARD_METRICS, SCALED, SPECIAL, as_spelled
from runlens.naming.classify import AVERAGES, split_of
from runlens.naming.quantities import PARTS
from runlens.naming.vocabulary import STATISTICS
from runlens.patterns import lazy_re
from runlens.records import NamedTuple

Better = Literal["lower", "higher", ""]
SPOKEN = {  # others: as written
    "grad_norm": "gradient norm",
    "dpo_acc": "preference accuracy",
    "dpo_margin": "reward margin",
}


class Metric(NamedTuple):
    """One quantity that runs log."""

    name: str
    unit: str
    better: Better
    meaning: str
    aliases: tuple[str, ...] = ()  # as logged, without prefixes such as ``train/``
    healthy: str = ""  # range, with its source


class Naming(NamedTuple):
    """What a logged name means: ``canonical value = factor * logged value``."""

    metric: str
    factor: float = 1.0


# fmt: off
METRICS = (
    Metric("train_loss", "nats", "lower", "training loss, mean since the last log line",
           ("loss", "train_loss", "train_loss_step", "loss_step", "lm_loss", "gpt_loss",
           "training_loss", "train_samples_train_loss", "loss_mean", "total_loss",
           "losses_total_loss", "reduced_train_loss", "avr_loss", "batch_loss", "loss_total_loss",
           "train_cross_entropy_loss", "task_loss"),
           "0.5-2.0 for chat fine-tuning (axolotl); starts at ln(vocabulary) from scratch"),
    Metric("train_loss_epoch", "nats", "lower", "training loss, mean of an epoch",
           ("loss_epoch",)),
    Metric("eval_loss", "nats", "lower", "loss on held-out data",
           ("validation_loss", "lm_loss_validation", "dev_loss", "losses_distributed",
           "clip_val_loss"), "close to train_loss (axolotl)"),
    Metric("eval_train_loss", "nats", "lower", "training loss in evaluation mode (nanoGPT)"),
    Metric("train_ppl", "", "lower", "exp(train_loss)", ("ppl", "perplexity")),
    Metric("grad_norm", "", "", "L2 norm of all gradients, before clipping unless noted",
           ("gnorm", "gradient_norm", "actor_grad_norm", "grad_2_0_norm_total", "global_grad_norm",
           "total_grad_norm", "grad_norm_total", "norm_grad", "optim_total_grad_norm"),
           "0.1-2.0 LoRA of a 7B model; 0.1-10 SFT, 0.001-1.0 GRPO (axolotl)"),
    Metric("clip_share", "fraction", "lower", "share of updates that were clipped", (), "< 0.5"),
    Metric("learning_rate", "", "", "of the first parameter group",
           ("lr", "actor_lr", "last_lr", "info_last_lr", "policy_learning_rate", "lr_pg0",
           "learning_rate_0", "lr_abs", "train_samples_lr", "x_lr0")),
    Metric("tokens", "tokens", "higher", "tokens seen so far",
           ("num_tokens", "total_tokens", "tokens_total", "num_input_tokens_seen", "tokens_seen")),
    Metric("loss_scale", "", "higher", "dynamic loss scale of fp16",
           ("amp_loss_scale", "train_samples_loss_scale"),
           ">= 128 when stable"),
    Metric("throughput_tokens", "tokens/s", "higher", "tokens per second",
           ("tok_sec", "throughput", "tokens_per_sec", "tokens_per_second", "tok_per_sec", "tok_s",
           "wps", "tokens_train_per_sec_per_gpu", "perf_throughput", "train_tok_per_sec", "tps",
           "throughput_device_tokens_per_second"),
           "2,000-4,000 per second for LoRA of a 7B model on one A100"),
    Metric("throughput_samples", "samples/s", "higher", "samples per second",
           ("samples_per_sec", "samples_sec", "curr_samples_per_sec")),
    Metric("throughput_steps", "steps/s", "higher", "optimizer steps per second",
           ("ups", "steps_per_sec", "train_speed_iter_s", "it_s")),
    Metric("step_time", "s", "lower", "seconds per optimizer step",
           ("iter_time_s", "timing_s_step", "time_per_step", "sec_per_step", "train_speed_s_it",
           "iteration_time", "timing_step_total", "elapsed_time_per_iteration_s",
           "train_step_timing_in_s")),
    Metric("mfu", "fraction", "higher", "model flops utilization",
           ("perf_mfu_actor", "train_mfu"),
           "0.15-0.25 fine-tuning, 0.30-0.45 pretraining"),
    Metric("gpu_util", "%", "higher", "GPU utilization",
           ("gpu_utilization",),
           "> 60"),
    Metric("gpu_mem", "GiB", "", "GPU memory allocated",
           ("memory_max_allocated_gib", "memory_max_alloc", "memory_max_allocated",
           "vram_allocated", "perf_max_memory_allocated_gb", "memory_gib")),
    Metric("gpu_mem_reserved", "GiB", "", "GPU memory reserved by the allocator",
           ("memory_device_reserved_gib", "memory_max_reserved", "memory_device_reserved",
           "vram_reserved", "perf_max_memory_reserved_gb")),
    Metric("host_mem", "GiB", "", "memory of the process",
           ("memory_rss_gib", "rss_gib", "perf_cpu_memory_used_gb")),
    Metric("token_accuracy", "fraction", "higher", "share of tokens predicted right",
           ("mean_token_accuracy", "token_acc", "training_token_accuracy")),
    Metric("train_accuracy", "fraction", "higher", "training accuracy",
           ("accuracy", "acc", "train_acc")),
    Metric("eval_accuracy", "fraction", "higher", "accuracy on held-out data",
           ("validation_accuracy", "val_acc", "eval_acc", "metrics_distributed_accuracy")),
    Metric("eval_wer", "", "lower", "word error rate"),
    Metric("eval_cer", "", "lower", "character error rate"),
    Metric("reward", "", "higher", "mean reward of a step",
           ("avg_ep_reward", "objective_scores", "ppo_mean_scores", "rollout_ep_rew_mean",
           "ep_rew_mean", "avg_reward", "critic_rewards_mean", "environment_cumulative_reward",
           "rewards_step", "mean_reward", "ebft_reward", "ebft_mean_reward", "episode_reward",
           "episode_reward_mean", "eprewmean", "reward_total_reward_mean", "ep_reward_mean",
           "average_reward", "episodic_return", "episodic_returns", "average_ep_ret")),
    Metric("reward_raw", "", "higher", "reward before the KL penalty (verl)",
           ("critic_score_mean",)),
    Metric("reward_std", "", "", "spread of the reward within a group",
           ("group_reward_std",)),
    Metric("frac_zero_std", "fraction", "lower", "share of groups whose rewards are all equal",
           ("frac_reward_zero_std", "zero_std_ratio"),
           "< 0.8 (axolotl)"),
    Metric("entropy", "nats/token", "", "entropy of the policy",
           ("policy_entropy", "policy_entropy_avg", "actor_entropy", "actor_entropy_loss",
           "losses_entropy", "entropy_mean", "token_entropy"),
           "0.05-0.5 (axolotl)"),
    Metric("pred_entropy", "nats/token", "", "entropy of the model on its data, no policy"),
    Metric("entropy_seq", "nats/sequence", "", "summed over tokens (TRL PPO)",
           ("objective_entropy",)),
    Metric("kl", "nats/token", "lower", "divergence from the reference policy",
           ("kl_ref", "klref", "actor_kl_loss", "actor_reward_kl_penalty", "kl_mean", "mean_kl",
           "train_kl"), "0-0.5; alarm at 2 (axolotl)"),
    Metric("kl_seq", "nats/sequence", "lower", "summed over tokens (TRL PPO)",
           ("objective_kl", "obj_kl")),
    Metric("kl_step", "nats", "lower", "old against new policy",
           ("approx_kl", "approxkl", "policy_approxkl_avg", "actor_ppo_kl", "ppo_kl", "info_kl")),
    Metric("clip_ratio", "fraction", "lower", "share of ratios that were clipped",
           ("clip_ratio_region_mean", "policy_clipfrac_avg", "clip_fraction", "actor_pg_clipfrac",
           "ppo_clip_ratio", "clipfrac", "ppo_policy_clipfrac"),
           "< 0.1; alarm at 0.3 (axolotl)"),
    Metric("is_ratio_min", "", "", "smallest importance-sampling ratio",
           ("sampling_importance_sampling_ratio_min", "rollout_corr_rollout_is_min"),
           "> 0.1 (axolotl)"),
    Metric("is_ratio_mean", "", "", "mean importance-sampling ratio",
           ("sampling_importance_sampling_ratio_mean", "rollout_corr_rollout_is_mean")),
    Metric("is_ratio_max", "", "", "largest importance-sampling ratio",
           ("sampling_importance_sampling_ratio_max", "rollout_corr_rollout_is_max")),
    Metric("logp_diff", "nats", "lower", "sampling against training log-probability",
           ("sampling_sampling_logp_difference_mean", "vllm_kl",
           "training_rollout_probs_diff_mean"),
           "< 0.1; alarm at 1 (axolotl)"),
    Metric("len_mean", "tokens", "", "mean completion length",
           ("avg_len", "completions_mean_length", "completion_length", "response_length_mean",
           "response_length", "mean_length", "avg_response_len", "avg_completion_length",
           "length_mean")),
    Metric("len_max", "tokens", "", "longest completion",
           ("completions_max_length", "response_length_max")),
    Metric("len_term", "tokens", "", "mean length of completions that ended by themselves",
           ("completions_mean_terminated_length",)),
    Metric("len_clipped", "fraction", "lower", "share of completions cut at the length limit",
           ("completions_clipped_ratio", "response_length_clip_ratio", "length_cap_hit_rate"),
           "< 0.3; alarm at 0.8 (axolotl)"),
    Metric("ebft_alignment", "", "higher", "EBFT alignment",
           (),
           "0.3-0.9 (axolotl)"),
    Metric("ebft_diversity", "", "lower", "EBFT diversity term",
           (),
           "0.01-0.1 (axolotl)"),
    Metric("ebft_cfm", "", "lower", "EBFT feature-matching loss",
           ("ebft_cfm_loss",),
           "< 10 (axolotl)"),
    Metric("ebft_ce", "nats", "lower", "cross-entropy part of the EBFT loss",
           ("ebft_ce_loss",)),
    Metric("dpo_chosen", "", "higher", "implicit reward of the chosen answer",
           ("rewards_chosen", "chosen_reward")),
    Metric("dpo_rejected", "", "lower", "implicit reward of the rejected answer",
           ("rewards_rejected", "reject_reward")),
    Metric("dpo_margin", "", "higher", "chosen minus rejected reward",
           ("rewards_margins", "margin", "reward_margin")),
    Metric("dpo_acc", "fraction", "higher", "share of pairs ranked right",
           ("rewards_accuracies",),
           "> 0.5"),
    Metric("logp_chosen", "nats", "higher", "log-probability of the chosen answer",
           ("logps_chosen",)),
    Metric("logp_rejected", "nats", "", "log-probability of the rejected answer",
           ("logps_rejected",)),
    Metric("value_loss", "", "lower", "loss of the value function",
           ("loss_value_avg", "losses_value_loss", "critic_vf_loss", "losses_c_loss",
           "train_value_loss", "mean_value_function_loss", "mean_value_loss")),
    Metric("policy_loss", "", "", "policy-gradient loss; its value means nothing",
           ("loss_policy_avg", "policy_gradient_loss", "losses_policy_loss", "actor_pg_loss",
           "losses_a_loss", "actor_loss", "pg_loss", "mean_surrogate_loss", "rl_loss")),
    Metric("explained_variance", "", "higher", "of the value function",
           ("critic_vf_explained_var",),
           "toward 1; below 0 is bad"),
    Metric("d_loss", "", "", "loss of the discriminator",
           ("discriminator_loss", "loss_d", "disc_loss", "lossd", "d_adv_loss",
           "discriminator_loss_0")),
    Metric("g_loss", "", "", "loss of the generator",
           ("generator_loss", "loss_g", "gen_loss", "lossg", "g_adv_loss", "generator_loss_0")),
    Metric("heartbeat", "", "", "system records of a tracker",
           ("system_heartbeat",)),
)
# fmt: on

NAMES = {metric.name: metric for metric in METRICS}
LONGEST = 300  # characters of a name that may be known

_TRAIN = lazy_re(r"^(?:training|train|trn)_")
_EVAL = lazy_re(r"^(?:evaluation|validation|valid|eval|val|test|dev)_(?=.)")
_LIGHTNING_LR = lazy_re(r"lr_(?:adam|sgd|adagrad|rms|lion|radam|nadam)[a-z_]*?(?:_(pg[1-9]))?")
_OWNED = lazy_re(r"'s\b")  # LightGBM: "valid_1's auc"
_RANK = lazy_re(r"_(?:rank|gpu|node)_?(\d+)$")
_DATALOADER = lazy_re(r"loss_(dataloader_idx_\d+)(?:_epoch)?")
# a chart of W&B saved as CSV: "smooth-sky-7 - train/loss", "... - train/loss__MAX"
_OF_RUN = lazy_re(r"(?P<run>.+?) - (?P<metric>.+?)(?P<extreme>__MIN|__MAX)?")
# scores of quality by the last words of their names, and the words that may stand after them
_HIGHER = (
    r"f1|f_1|hmean|accuracy|acc|bleu|blue|sacrebleu|chrf|rouge(?:\d|l|lsum)?|meteor|bertscore|mcc|"
    r"matthews_correlation|matthews_corrcoef|auc|auroc|roc_auc|exact_match|em|map|ap|iou|miou|io_u|"
    r"dice|pearson|pearsonr|spearman|spearmanr|ndcg|mrr|(?:recall|hits?|hr)_at"
)
_SCORE = lazy_re(
    rf"eval_(?:(?P<of>.+?)_)??(?:(?P<higher>{_HIGHER})|(?P<lower>wer|cer|ter|eer|hter|acer))\d*"
    r"(?:_(?:scores?|measure|coef|coefficient|macro|micro|weighted|mean|avg|average|overall|norm|top\d*|l|"
    r"lsum|epoch|\d+))*"
)
_NO_ANSWERS = lazy_re(r".*token|(?:.*_)?(?:std|baseline|dummy|majority)(?:_.*)?")
_BY_TOKEN = lazy_re(r"wer|cer|ter|bleu|blue|sacrebleu|chrf|rouge.*|meteor|bertscore")


def plain(name: str) -> str:
    """Write a logged name in lower-case English with ``_`` between its words, without accents."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z][a-z])", "_", _OWNED.sub("", in_english(name).strip()))
    return re.sub(r"[^a-z0-9]+", "_", apart.lower()).strip("_")


_CANONICAL = {a: metric.name for metric in METRICS for a in (metric.name, *metric.aliases)}


@cache
def naming(logged: str, framework: str = "") -> Naming:
    """Return the canonical name for a logged one; names that we do not know stay as they are.

    Names of frameworks are known as they are written, all others by their words: prefixes and
    suffixes (``train/``, ``Loss/val``), evaluation sets (``eval_<set>_loss`` ->
    ``eval_loss:<set>``), reward functions (``rewards/<f>/mean`` -> ``reward:<f>``), ranks.
    ``framework`` decides where two of them use one name for different things.
    """
    if len(logged) > LONGEST:
        return Naming(logged)  # no framework's, and long to look through
    if not logged.isascii():
        meant = in_english(logged, only=True)
        return naming(meant, framework) if classify(meant).quantity else Naming(logged)
    name = plain(logged)
    rank = _RANK.search(name)
    if rank and name not in _CANONICAL:
        base = naming(name[: rank.start()], framework)
        return Naming(f"{base.metric}:rank{rank[1]}", base.factor)
    return (
        _as_written(logged, name, framework)
        or _by_words(logged)
        or _of_reward_function(logged, name)
        or _of_run(logged, framework)
        or _by_prefix(logged, name, framework)
    )


def _as_written(logged: str, name: str, framework: str) -> Naming | None:
    """Look a name up that a framework writes so."""
    if card := CARD.fullmatch(name):
        metric, factor = CARD_METRICS[card[2]]
        return Naming(metric if card[1] == "0" else f"{metric}:rank{card[1]}", factor)
    for table in (SCALED.get(framework, {}), SCALED[""]):
        if name in table:
            return Naming(*table[name])
    known = SPECIAL.get(framework, {}).get(name) or _CANONICAL.get(name) or as_spelled(logged)
    return Naming(known) if known else None


def _of_reward_function(logged: str, name: str) -> Naming | None:
    """Name the reward of one function among several: ``rewards/format/mean``."""
    reward = re.fullmatch(r"rewards?_(.+?)(?:_(mean|std))?", name)
    if not reward or "/" not in logged:
        return None
    of = set(reward[1].split("_"))
    if of & {"chosen", "rejected"} or not of - STATISTICS.keys():
        return None
    return Naming(("reward_std:" if reward[2] == "std" else "reward:") + reward[1])


def _by_words(logged: str) -> Naming | None:
    """Name what the words of a name say without doubt, as a mean or a single value."""
    meaning = classify(logged)
    if not meaning.sure or meaning.statistic not in AVERAGES:
        return None
    return Naming(canonical(meaning))


def canonical(meaning: Meaning) -> str:
    """Return our name for a meaning whose quantity is known.

    >>> canonical(Meaning("val", "loss"))
    'eval_loss'
    """
    quantity = meaning.quantity
    if meaning.split in {"val", "test"}:
        of_batch = quantity == "loss" and meaning.scope == "step"
        return f"eval_{quantity}{'_step' if of_batch else ''}"
    of_epoch = quantity == "loss" and meaning.scope == "epoch"
    return f"train_{quantity}{'_epoch' * of_epoch}" if f"train_{quantity}" in NAMES else quantity


def _of_run(logged: str, framework: str) -> Naming | None:
    """Name the metric behind the name of a run; extremes over runs or points stay as written."""
    of_run = _OF_RUN.fullmatch(logged)
    if not of_run or of_run["extreme"]:
        return None
    inner = naming(of_run["metric"], framework)
    return inner if base(inner.metric) in NAMES else None


def _by_prefix(logged: str, name: str, framework: str) -> Naming:
    if optimizer := _LIGHTNING_LR.fullmatch(name):
        return Naming(f"learning_rate:{optimizer[1]}" if optimizer[1] else "learning_rate")
    train = _TRAIN.sub("", name)
    if train != name:
        inner = naming(logged[6:] if logged[5:6] == "/" else train, framework)
        known = base(inner.metric) in NAMES or logged[5:6] == "/"
        return inner if known else Naming(logged)
    held_out = _EVAL.sub("", name)
    if held_out == name:
        return Naming(_scored_after(name) or logged)
    return _evaluated(logged, held_out, framework)


def _evaluated(logged: str, held_out: str, framework: str) -> Naming:
    if dataloader := _DATALOADER.fullmatch(held_out):
        return Naming(f"eval_loss:{dataloader[1]}")  # Lightning, with several of them
    if set_of := re.fullmatch(r"(.+)_loss(?:_epoch)?", held_out):
        # an evaluation set of the Trainer, or a component such as val/box_loss
        of_part = set(set_of[1].split("_")) <= PARTS
        of_set = logged.startswith(("eval_", "eval/")) and not of_part
        return Naming(f"eval_loss:{set_of[1]}" if of_set else f"eval_{held_out}")
    inner = naming(held_out, framework)
    metric = inner.metric if inner.metric in NAMES else held_out
    return Naming(f"eval_{metric.removeprefix('train_').removeprefix('eval_')}", inner.factor)


def _scored_after(name: str) -> str:
    """Name a score whose split comes last: ``F1/val``; "" for others."""
    score, _, last = name.rpartition("_")
    of_set = score and split_of(words(last)) in {"val", "test"}
    return f"eval_{score}" if of_set and quality(f"eval_{score}") else ""


class Quality(NamedTuple):
    """What an evaluation metric says of the quality of the answers, where it says that at all."""

    kind: str  # f1, accuracy, wer
    of: str  # what stands before it: an evaluation set, a class, ``overall``; or ""
    sign: float  # 1.0 where more is better, else -1.0
    by_token: bool  # measured over words, of which a sample has many


def quality(metric: str) -> Quality | None:
    """Return what a metric says of quality; None for losses, perplexities and all else.

    Precision and recall trade one for the other; next-token accuracy follows the loss; of spreads
    and of baselines nothing is asked.
    """
    if not (score := _SCORE.fullmatch(metric)) or _NO_ANSWERS.fullmatch(score["of"] or ""):
        return None
    kind, sign = (score["higher"], 1.0) if score["higher"] else (score["lower"], -1.0)
    return Quality(kind, score["of"] or "", sign, bool(_BY_TOKEN.fullmatch(kind)))


def base(metric: str) -> str:
    """Return a metric's name without its evaluation set, reward function or rank."""
    return metric.partition(":")[0]


def spoken(metric: str) -> str:
    """Return a metric in the words of a sentence: ``eval loss``, ``gradient norm``.

    >>> spoken("eval_loss:dev")
    'eval loss of dev'
    """
    name, _, part = metric.partition(":")
    words = SPOKEN.get(name, name.replace("_", " "))
    return f"{words} of {part}" if part else words


def is_loss(metric: str) -> bool:
    """Whether a metric is a loss in nats, which has digits of its own."""
    return base(metric) in {"train_loss", "eval_loss", "train_loss_epoch", "eval_train_loss"}


def is_rate(metric: str) -> bool:
    """Whether a metric is a learning rate, which is written with its power of ten."""
    return base(metric) == "learning_rate"
