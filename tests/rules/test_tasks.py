"""The kind of a training decides which rules speak: each look-alike under its own task."""

from typing import Any

import pytest

from runlens.engine import diagnose
from runlens.rules import RULES
from runlens.rules.cases import drawn
from runlens.run import Configured, Task
from runlens.sources.merging.task import typed

SHAPES = {rule.slug for rule in RULES if rule.family == "LOS"} | {"hockey-stick"}


def loud(task: Task, **curves: Any) -> set[str]:
    """Return the rules that warn of a drawn run."""
    made = diagnose(drawn("a run", task=task, **curves).run())
    return {finding.rule for finding in made.findings if finding.severity != "info"}


@pytest.mark.parametrize(
    ("task", "names", "config", "framework", "logged"),
    [
        ("rl", {"reward", "entropy"}, {}, "stable-baselines3", {"rollout/ep_len_mean"}),
        ("gan-diffusion", {"d_loss", "g_loss", "train_loss"}, {}, "", {"d_loss", "g_loss"}),
        ("gan-diffusion", {"train_loss"}, {}, "", {"loss", "kimg"}),
        ("contrastive", {"train_loss", "logit_scale"}, {}, "", {"loss", "logit_scale"}),
        ("asr", {"train_loss", "eval_wer"}, {}, "transformers", {"eval_wer"}),
        ("asr", {"train_loss"}, {"architectures": "Wav2Vec2ForCTC"}, "transformers", {"loss"}),
        ("dpo", {"train_loss", "dpo_chosen", "entropy"}, {}, "trl", {"rewards/chosen", "entropy"}),
        ("dpo", {"train_loss", "kto_kl"}, {"trainer": "KTOTrainer"}, "trl", {"loss", "kl"}),
        ("sft", {"train_loss", "token_accuracy", "entropy"}, {}, "trl", {"entropy"}),
        ("grpo", {"reward", "frac_zero_std", "train_loss", "entropy"}, {}, "trl", {"reward"}),
        ("ppo", {"kl_seq", "entropy_seq", "reward"}, {}, "trl", {"objective/kl"}),
        ("classification", {"train_loss", "eval_accuracy"}, {}, "", {"val_acc"}),
    ],
)  # fmt: skip
def test_each_task_is_told(
    task: Task, names: set[str], config: dict[str, str], framework: str, logged: set[str]
) -> None:
    """By what only such a training logs or sets."""
    settings = {key: Configured(value, "config.json") for key, value in config.items()}
    assert typed(names, 2.0, settings, framework, logged)[0] == task


def test_the_name_of_a_log_tells_more_than_a_reward() -> None:
    """Every method of reinforcement learning logs a reward."""
    assert typed({"reward"}, None, {}, "", {"reward"}, {"grpo"})[0] == "grpo"
    assert typed({"reward"}, None, {}, "", {"reward"}, {"train"})[0] == "rl"
    assert typed({"reward", "len_mean"}, None, {}, "", {"reward"}, {"ppo"})[0] == "ppo"


@pytest.mark.parametrize("task", ["grpo", "ppo", "rl"])
def test_a_policy_loss_that_rises_means_nothing(task: Task) -> None:
    """It begins at 0 and may rise while the reward rises."""
    curves = {"train_loss": "0:0.01 300:2 600:9", "reward": "0:0.1 600:0.8"}
    assert loud(task, **curves) & SHAPES == set()
    assert "divergence" in loud("sft", **curves)


@pytest.mark.parametrize("task", ["sft", "dpo", "classification", "contrastive", "asr"])
def test_entropy_that_falls_is_no_collapse_of_a_policy(task: Task) -> None:
    """A model that grows sure of its data does what it should."""
    curves = {"train_loss": "0:0.7 600:0.3", "entropy": "0:1.5 200:0.001 600:0.001"}
    assert not {"entropy-collapse", "entropy-high"} & loud(task, **curves)
    assert "entropy-collapse" in loud("grpo", reward="0:0.5 600:0.5", entropy=curves["entropy"])


def test_adversarial_losses_may_swing_and_rise() -> None:
    """The same curve of a classifier is a finding."""
    curves = {"train_loss": "0:0.7 300:0.3 600:2", "d_loss": "0:0.7 300:0.3 600:2"}
    assert loud("gan-diffusion", **curves, g_loss="0:0.7 600:4") & SHAPES == set()
    assert "divergence" in loud("classification", train_loss=curves["train_loss"])


def test_the_blank_shelf_of_ctc_is_no_plateau() -> None:
    """It stands at about 3 for long and then drops; an error rate above 1 is no fault."""
    shelf = {"train_loss": "0:30 60:3.2 500:3.0 600:1.2 1200:0.6", "eval_wer": "100:1.1 1200:0.4"}
    assert loud("asr", **shelf) == set()


def test_preferences_begin_at_ln_2_and_fall_at_epochs() -> None:
    """A loss near zero with growing margins is saturation, not memorised text."""
    falls = "0:0.693 290:0.6 300:0.35 590:0.3 600:0.1 900:0.05"
    told = loud("dpo", train_loss=falls, dpo_margin="0:0 900:4", steps_per_epoch=300.0)
    assert not {"zero-loss", "epoch-staircase", "stuck-at-chance"} & told
    stuck = loud("dpo", train_loss="0:0.693 900:0.693", noise=0.002, dpo_margin="0:0 900:0")
    assert "stuck-at-chance" in stuck


def test_chance_of_a_contrastive_loss_is_the_batch_not_the_classes() -> None:
    """ln(256) = 5.545 for 256 pairs a batch; the same level with other batches is no chance."""
    level = {"train_loss": "0:5.545 900:5.545", "noise": 0.001}
    batch: dict[str, Any] = {"per_device_train_batch_size": 256, "num_processes": 1}
    assert "stuck-at-chance" in loud("contrastive", **level, config=batch)
    other = batch | {"per_device_train_batch_size": 64}
    assert "stuck-at-chance" not in loud("contrastive", **level, config=other)


def test_classic_rl_has_no_lengths_of_answers() -> None:
    """Short episodes are good in one environment and bad in another."""
    told = loud("rl", reward="0:1 600:9", len_mean="0:500 300:5 600:5", entropy="0:1.4 600:0.5")
    assert told == set()
