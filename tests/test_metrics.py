"""Names as frameworks log them, and what they mean."""

from itertools import product
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runlens.metrics import METRICS, naming, plain, quality
from runlens.sources.console.telling import tells

# (framework, as logged, canonical): the alias table of the design, read in the frameworks' sources
TABLE = [
    ("transformers", "loss", "train_loss"),
    ("transformers", "train/loss", "train_loss"),
    ("transformers", "eval_loss", "eval_loss"),
    ("transformers", "eval/loss", "eval_loss"),
    ("transformers", "eval_squad_loss", "eval_loss:squad"),
    ("transformers", "eval_g0_loss", "eval_loss:g0"),
    ("transformers", "eval_policy_docs_loss", "eval_loss:policy_docs"),
    ("transformers", "eval_policy_loss", "eval_policy_loss"),
    ("transformers", "eval_value_loss", "eval_value_loss"),
    ("transformers", "eval_kl_loss", "eval_kl_loss"),
    ("transformers", "eval_nll_loss", "eval_nll_loss"),
    ("transformers", "eval_rpn_box_loss", "eval_rpn_box_loss"),
    ("transformers", "eval_accuracy", "eval_accuracy"),
    ("transformers", "train/grad_norm", "grad_norm"),
    ("trl", "mean_token_accuracy", "token_accuracy"),
    ("trl", "num_tokens", "tokens"),
    ("trl", "rewards/chosen", "dpo_chosen"),
    ("trl", "eval_rewards/margins", "eval_dpo_margin"),
    ("trl", "logps/rejected", "logp_rejected"),
    ("trl", "rewards/format_reward/mean", "reward:format_reward"),
    ("trl", "train/rewards/format_reward/std", "reward_std:format_reward"),
    ("trl", "frac_reward_zero_std", "frac_zero_std"),
    ("trl", "clip_ratio/region_mean", "clip_ratio"),
    ("trl", "completions/mean_length", "len_mean"),
    ("trl", "completion_length", "len_mean"),
    ("trl", "completions/clipped_ratio", "len_clipped"),
    ("trl", "sampling/sampling_logp_difference/mean", "logp_diff"),
    ("trl", "objective/kl", "kl_seq"),
    ("trl", "policy/approxkl_avg", "kl_step"),
    ("axolotl", "memory/max_allocated (GiB)", "gpu_mem"),
    ("axolotl", "tokens/train_per_sec_per_gpu", "throughput_tokens"),
    ("axolotl", "ebft/cfm_loss", "ebft_cfm"),
    ("rlkit", "evaluation/Rewards Mean", "evaluation/Rewards Mean"),
    ("rlkit", "evaluation/Average Returns", "eval_reward"),
    ("", "perf/step_sec", "step_time"),
    ("", "steps/sec", "throughput_steps"),
    ("lightning", "val_loss", "eval_loss"),
    ("lightning", "val_loss/dataloader_idx_1", "eval_loss:dataloader_idx_1"),
    ("lightning", "train_loss_step", "train_loss"),
    ("lightning", "lr-AdamW", "learning_rate"),
    ("lightning", "lr-AdamW/pg2", "learning_rate:pg2"),
    ("keras", "val_accuracy", "eval_accuracy"),
    ("verl", "actor/pg_loss", "policy_loss"),
    ("verl", "actor/entropy", "entropy"),
    ("verl", "critic/rewards/mean", "reward"),
    ("verl", "response_length/clip_ratio", "len_clipped"),
    ("verl", "actor/ppo_kl", "kl_step"),
    ("openrlhf", "vllm_kl", "logp_diff"),
    ("llama-factory", "vram_allocated", "gpu_mem"),
    ("ms-swift", "token_acc", "token_accuracy"),
    ("megatron", "lm loss", "train_loss"),
    ("megatron", "lm loss validation", "eval_loss"),
    ("megatron", "grad-norm", "grad_norm"),
    ("stable-baselines3", "rollout/ep_rew_mean", "reward"),
    ("own loop", "mean_loss", "train_loss"),
    ("own loop", "trn_loss", "train_loss"),
    ("own loop", "avg_val_loss", "eval_loss"),
    ("own loop", "test Average loss", "eval_loss"),
    ("own loop", "mean 100 episode reward", "reward"),
    ("own loop", "avg_return_100", "reward"),
    ("own loop", "TotalReward", "reward"),
    ("own loop", "Avg_Reward_100", "reward"),
    ("own loop", "mean_episode_rewards", "reward"),
    ("own loop", "Reward/mean_episodes", "reward"),
    ("own loop", "rew", "reward"),
    ("own loop", "rewards", "rewards"),
    ("own loop", "mean", "mean"),
    ("own loop", "max_episode_reward", "max_episode_reward"),
    ("own loop", "avg_len_loss", "avg_len_loss"),
    ("own loop", "mean_accuracy", "mean_accuracy"),  # of classes
    ("ultralytics", "metrics/mAP50-95(B)", "eval_map"),
    ("ultralytics", "metrics/mAP_0.5", "eval_map50"),
    ("stable-baselines3", "train/clip_fraction", "clip_ratio"),
    ("stable-baselines3", "train/value_loss", "value_loss"),
    ("ml-agents", "Losses/Value Loss", "value_loss"),
    ("ml-agents", "Policy/Entropy", "entropy"),
    ("ml-agents", "Environment/Cumulative Reward", "reward"),
    ("rl_games", "info/kl", "kl_step"),
    ("fairseq", "gnorm", "grad_norm"),
    ("", "something/of ours", "something/of ours"),
    ("", "grad_norm_rank3", "grad_norm:rank3"),
    ("", "avg_return_100", "reward"),
    ("", "mean_reward_last_100_episodes", "reward"),
    ("", "avg_len_100", "avg_len_100"),
]


def test_names_and_aliases_are_written_plain() -> None:
    """In lower case with ``_`` between words: as names are looked up."""
    names = [name for metric in METRICS for name in (metric.name, *metric.aliases)]
    assert [name for name in names if plain(name) != name] == []


@pytest.mark.parametrize(("framework", "logged", "wanted"), TABLE)
def test_logged_name_becomes_canonical(framework: str, logged: str, wanted: str) -> None:
    """Prefixes, sets, reward functions and ranks are understood; the unknown stays as it is."""
    assert naming(logged, framework).metric == wanted


@pytest.mark.parametrize(
    ("framework", "logged", "factor"),
    [
        ("fairseq", "loss", log(2)),
        ("stable-baselines3", "train/entropy_loss", -1.0),
        ("verl", "train/lr(1e-3)", 1e-3),
        ("transformers", "loss", 1.0),
    ],
)
def test_units_that_differ_are_converted(framework: str, logged: str, factor: float) -> None:
    """Base-2 losses, negative entropies and scaled rates come out in canonical units."""
    assert naming(logged, framework).factor == pytest.approx(factor)


@pytest.mark.parametrize(
    "name", ["train_" * 3_000 + "loss", "eval/" * 3_000, "x" + "_rank0" * 3_000]
)
def test_endless_names_stay_as_they_are(name: str) -> None:
    """Names come from files: one made of prefixes alone is no reason to fail."""
    assert naming(name).metric == name


WORDS = ("train", "eval", "val", "test", "loss", "acc", "epoch", "step", "mean", "rank0")
SEPARATORS = ("/", "_", ".", " ", "-", "")


@pytest.mark.parametrize("separator", SEPARATORS)
def test_every_name_of_up_to_four_words_has_an_end(separator: str) -> None:
    """An ordinary tag such as ``val_loss/epoch`` must not ask for its own meaning for ever."""
    for words in (words for many in range(1, 5) for words in product(WORDS, repeat=many)):
        name = separator.join(words)
        assert naming(name).metric, name


@given(st.lists(st.sampled_from((*WORDS, *SEPARATORS, "Val", "Loss", "#", "é")), max_size=40))
def test_every_name_has_an_end(parts: list[str]) -> None:
    """Whatever stands between the words, however long the name."""
    naming("".join(parts))


@pytest.mark.parametrize(
    ("name", "metric"),
    [("val_loss_epoch", "eval_loss"), ("val/acc_epoch", "eval_accuracy"),
     ("val_loss/epoch", "eval_loss"), ("val/loss/epoch", "eval_loss"),
     ("Val Loss/Epoch", "eval_loss"), ("test-acc-epoch", "eval_accuracy"),
     ("eval/squad/loss.epoch", "eval_loss:squad"), ("val_box_loss/epoch", "eval_box_loss_epoch"),
     ("val_loss_step", "eval_loss_step"), ("loss_step", "train_loss"),
     ("loss_epoch", "train_loss_epoch")],
)  # fmt: skip
def test_twins_of_lightning(name: str, metric: str) -> None:
    """What is logged at each step and as the mean of an epoch; an evaluation is the latter."""
    assert naming(name).metric == metric


@pytest.mark.parametrize(
    ("name", "kind", "of", "sign"),
    [("eval_f1", "f1", "", 1), ("eval_overall_f1", "f1", "overall", 1),
     ("eval/rougeL", "rougel", "", 1), ("eval_rougeLsum", "rouge", "", 1),
     ("eval_bleu-4", "bleu", "", 1), ("eval_squad_f1", "f1", "squad", 1),
     ("eval_matthews_correlation", "matthews_correlation", "", 1), ("eval_mcc", "mcc", "", 1),
     ("eval_exact_match", "exact_match", "", 1), ("val/mAP50-95", "map", "", 1),
     ("val_dice_coef", "dice", "", 1), ("val_f1_epoch", "f1", "", 1),
     ("val_f1_scores", "f1", "", 1),
     ("eval_wer", "wer", "", -1), ("eval_cer", "cer", "", -1), ("eval_fr_ter", "ter", "fr", -1)],
)  # fmt: skip
def test_scores_of_quality(name: str, kind: str, of: str, sign: float) -> None:
    """Known by the last words of their names, with the direction that is better."""
    score = quality(naming(name).metric)
    assert score
    assert (score.kind, score.of, score.sign) == (kind, of, sign)


@pytest.mark.parametrize(
    "name",
    ["eval_loss", "eval_perplexity", "eval_ppl", "eval_precision", "eval_mean_token_accuracy",
     "eval_runtime", "eval_steps_per_second", "eval_gen_len", "eval_f1_std", "eval_swap",
     "eval_chapter", "f1", "train_accuracy", "eval_std_dev_acc", "eval_majority_baseline_f1"],
)  # fmt: skip
def test_what_says_nothing_of_quality(name: str) -> None:
    """Losses and what follows from them, halves of a trade, speed; and no training metric."""
    assert quality(naming(name).metric) is None


def test_each_name_of_the_loss_tells_of_a_training() -> None:
    """So that a console line with it is a row, whatever stands around."""
    names = [
        one for row in METRICS if row.name in {"train_loss", "eval_loss"} for one in row.aliases
    ]
    assert [name for name in names if not tells(name)] == []


@pytest.mark.parametrize("name", ["EPE", "Avg EPE", "val_mpjpe", "WER"])
def test_errors_of_other_fields_tell_of_a_training(name: str) -> None:
    """Those of optical flow and stereo, of poses and of speech: words, not parts of some."""
    assert tells(name)
    assert not tells(name.replace("E", "EX").replace("e", "ex"))
