"""What kind of training a run was."""

from typing import Any

import pytest

from runlens.naming import classify
from runlens.run import Configured, Task, adapter_of
from runlens.sources.merging.task import Sign, typed, weighed
from runlens.sources.merging.task_words import ARGUMENTS


@pytest.mark.parametrize(
    ("names", "loss", "config", "framework", "task"),
    [
        ({"train_loss"}, 0.01, {"rl": "grpo"}, "axolotl", "grpo"),
        ({"train_loss"}, 2.0, {"rl": "pt"}, "llama-factory", "pretrain"),
        ({"train_loss", "dpo_chosen"}, 0.69, {}, "transformers", "dpo"),
        ({"reward", "frac_zero_std", "train_loss"}, 0.0, {}, "transformers", "grpo"),
        ({"reward", "kl_seq"}, None, {}, "trl", "ppo"),
        ({"reward"}, None, {"method.name": "ppoconfig"}, "", "ppo"),
        ({"reward"}, None, {"method.name": "PPOConfig"}, "", "ppo"),
        ({"reward"}, None, {"method.name": "ilqlconfig"}, "", "rl"),
        ({"reward", "reward_std"}, None, {}, "", "grpo"),
        ({"reward", "reward_std", "value_loss"}, None, {}, "", "rl"),
        ({"reward", "reward_std", "episode"}, None, {}, "", "rl"),
        ({"reward", "std_reward"}, None, {}, "", "rl"),
        ({"reward", "value_loss"}, None, {}, "ml-agents", "rl"),
        ({"reward", "kl", "episode_len_mean"}, None, {}, "", "rl"),  # RLlib
        ({"reward", "kl", "ref/kl"}, None, {}, "", "grpo"),
        ({"reward", "kl"}, None, {}, "transformers", "grpo"),
        ({"reward", "kl"}, None, {}, "", "rl"),  # of a natural gradient
        ({"reward", "kl", "d_loss"}, None, {}, "", "rl"),  # the change of TRPO's loss; GAIL
        ({"train_loss", "train_mse_q0", "mse"}, 0.9, {}, "", "gan-diffusion"),
        ({"train_loss", "recon_loss", "eval_map"}, 0.9, {}, "", "other"),  # a code for retrieval
        ({"train_loss", "denoise_output_loss", "vad_output_loss"}, 6.9, {}, "", "other"),  # filters
        ({"train_loss", "denoising_loss"}, 0.9, {}, "", "gan-diffusion"),
        ({"train_loss", "recon_loss", "train_accuracy"}, 0.9, {}, "", "classification"),
        ({"train_loss", "classification_error"}, 11.5, {}, "", "other"),
        ({"train_loss"}, 1.64, {"n_layer": 6, "n_embd": 384}, "", "other"),  # of noise
        ({"train_loss"}, 1.66, {"n_layer": 6, "n_embd": 384}, "", "pretrain"),
        ({"train_loss", "tokens"}, 1.1, {"n_layer": 6, "n_embd": 384}, "", "pretrain"),
        ({"reward", "critic_loss", "len_mean"}, None, {}, "", "rl"),  # of an agent
        ({"policy_loss", "critic_loss", "alpha"}, None, {}, "", "rl"),  # SAC
        ({"train_loss", "critic_loss"}, 5.5, {}, "", "other"),
        ({"train_loss", "eval_loss", "eval_r2"}, 0.3, {}, "", "regression"),
        ({"reward", "kl", "episode", "completions/mean"}, None, {}, "", "grpo"),
        ({"reward", "completion_reward"}, None, {}, "", "grpo"),
        ({"reward", "completion_ratio"}, None, {}, "", "rl"),  # of tasks
        ({"train_loss", "dpo_acc", "dpo_margin"}, 0.7, {}, "transformers", "reward-model"),
        ({"train_loss", "dpo_acc", "bt_loss"}, 0.7, {}, "", "reward-model"),  # Bradley-Terry
        ({"train_loss", "dpo_acc"}, 0.7, {}, "", "other"),
        ({"train_loss", "reward", "dpo_margin", "min_reward", "train_accuracy"}, 0.8, {},
         "transformers", "reward-model"),  # TRL's RewardTrainer
        ({"train_loss", "eval_wer"}, 3.0, {}, "transformers", "asr"),
        ({"train_loss", "token_accuracy"}, 2.0, {}, "transformers", "sft"),
        ({"train_loss", "eval_accuracy"}, 1.4, {}, "transformers", "classification"),
        ({"train_loss"}, 0.69, {}, "transformers", "classification"),
        # BERT of 110 million with 128 tokens; a language model that small begins above ln 5
        ({"train_loss"}, 0.26, {"flos_per_sample": 6.5e10}, "transformers", "other"),
        ({"train_loss"}, 1.60, {"flos_per_sample": 4.9e11}, "transformers", "other"),
        ({"train_loss"}, 1.60, {"flos_per_sample": 5.1e11}, "transformers", "sft"),
        ({"train_loss"}, 1.62, {"flos_per_sample": 4.9e11}, "transformers", "sft"),
        ({"train_loss"}, 1.44, {"num_labels": 4, "vocab_size": 200}, "", "classification"),
        ({"train_loss"}, 4.0, {"num_labels": 4, "vocab_size": 200}, "", "pretrain"),
        ({"train_loss"}, 10.2, {"vocab_size": 32_000}, "transformers", "pretrain"),
        ({"train_loss"}, 11.0, {}, "", "pretrain"),
        ({"train_loss"}, 11.0, {"image_size": 512}, "", "other"),
        ({"train_loss"}, 5.0, {"vocab_size": 512}, "transformers", "pretrain"),
        ({"train_loss"}, 2.1, {"vocab_size": 32_000}, "transformers", "sft"),
        ({"train_loss"}, 8.0, {"lora_r": 16}, "transformers", "sft"),
        ({"train_loss"}, 7.6, {"vocab_size": 2_000}, "axolotl", "sft"),
        ({"train_loss"}, 4.0, {"model_type": "mlp-regressor"}, "transformers", "regression"),
        ({"train_loss", "d_loss", "g_loss"}, 1.0, {}, "", "gan-diffusion"),
        ({"train_loss"}, 4.2, {"architectures": "BertForSequenceClassification"}, "",
         "classification"),
        ({"train_loss", "codebook_usage"}, 1.0, {}, "", "gan-diffusion"),
        ({"train_loss"}, 2.0, {"architectures": "WhisperForConditionalGeneration"}, "", "asr"),
        ({"train_loss"}, 4.2, {"n_layer": 6, "n_embd": 384}, "", "pretrain"),
        ({"train_loss"}, 4.2, {"n_layer": 6, "n_embd": 384, "model_name": "x"}, "", "other"),
        ({"train_loss"}, 4.2, {}, "", "other"),
        # the Trainer with a module of one's own: all its arguments, and no model among them
        ({"train_loss"}, 1.3, dict.fromkeys(ARGUMENTS, 1e-3), "transformers", "other"),
        ({"train_loss"}, 1.3, dict.fromkeys(ARGUMENTS, 1e-3) | {"model_type": "gpt2"},
         "transformers", "sft"),
        # beside a loss of pairs an accuracy is none of classes
        ({"train_loss", "train_accuracy"}, 0.4, {"loss._target_": "loss.ContrastiveLoss"}, "",
         "contrastive"),
        ({"train_loss", "train_accuracy"}, 0.4, {"criterion": "nt_xent"}, "", "contrastive"),
        # above chance of two classes, and no labels of its own: the accuracy is one of tokens
        ({"train_loss", "train_accuracy"}, 1.05,
         {"architectures": "GPT2LMHeadModel", "vocab_size": 30_000}, "", "sft"),
        ({"train_loss", "train_accuracy"}, 1.03,
         {"architectures": "GPT2LMHeadModel", "vocab_size": 30_000}, "", "classification"),
        ({"train_loss", "train_accuracy"}, 4.7,
         {"architectures": "GPT2LMHeadModel", "num_labels": 100}, "", "classification"),
    ],
)  # fmt: skip
def test_task_is_told_by_settings_then_metrics(
    names: set[str], loss: float | None, config: dict[str, Any], framework: str, task: Task
) -> None:
    """With the evidence as a sentence."""
    settings = {key: Configured(value, "config.yaml") for key, value in config.items()}
    found, why = typed(names, loss, settings, framework, names)
    assert found == task, why
    assert why


SAVED: dict[str, Any] = {"vocab_size": 50_000, "model_name": "facebook/bart-large-cnn"}


@pytest.mark.parametrize(
    ("names", "loss", "config", "framework", "task"),
    [
        # a default of three labels makes no classifier of what writes
        ({"train_loss"}, 1.1, {"architectures": "BartForConditionalGeneration", "num_labels": 3},
         "transformers", "sft"),
        ({"train_loss", "eval_accuracy"}, 3.0, {"architectures": "OPTForCausalLM"},
         "transformers", "sft"),
        ({"train_loss"}, 0.69, {"architectures": "OPTForCausalLM"}, "transformers", "sft"),
        ({"train_loss"}, 25.5, {"architectures": "MT5ForConditionalGeneration"},
         "transformers", "sft"),
        ({"train_loss", "eval_rouge1"}, 25.5, {}, "transformers", "sft"),
        ({"train_loss", "eval_bleu"}, 9.0, {}, "fairseq", "pretrain"),
        ({"train_loss", "eval_cer"}, 9.0, {"architectures": "VisionEncoderDecoderModel"},
         "transformers", "sft"),
        ({"train_loss"}, 0.69, {"task_type": "SEQ_CLS", "lora_r": 8}, "transformers",
         "classification"),
        ({"train_loss"}, 0.69, {"task_type": "SEQ_CLS", "num_labels": 1}, "transformers",
         "regression"),
        ({"train_loss"}, 1.1, {"task_type": "CAUSAL_LM", "lora_r": 8}, "transformers", "sft"),
        ({"train_loss"}, 30.0, {"problem_type": "regression"}, "transformers", "regression"),
        ({"train_loss"}, 3.0, {"problem_type": "single_label_classification"}, "transformers",
         "classification"),
        ({"train_loss", "dpo_acc"}, 0.65, {}, "llama-factory", "dpo"),
    ],
)  # fmt: skip
def test_what_was_saved_says_more_than_levels(
    names: set[str], loss: float, config: dict[str, Any], framework: str, task: Task
) -> None:
    """Architecture, adapter, names of metrics: in this order, before any level of a loss."""
    settings = SAVED | config if config else {}
    known = {key: Configured(value, "config.json") for key, value in settings.items()}
    assert typed(names, loss, known, framework)[0] == task


def test_a_tracker_names_what_the_model_was_made_of() -> None:
    """A classifier is made of a masked language model: scores decide."""
    known = {"architectures": Configured("BertForMaskedLM", "events.out.tfevents.1")}
    assert typed({"eval_accuracy"}, 0.7, known, "transformers")[0] == "classification"


@pytest.mark.parametrize(("entropy", "task"), [(0.8, "sft"), (9.9, "pretrain"), (None, "pretrain")])
def test_a_summed_loss_is_none_of_an_untrained_model(entropy: float | None, task: Task) -> None:
    """The entropy of an untrained model is as high as its loss."""
    assert typed({"train_loss"}, 13.5, {}, "", first_entropy=entropy)[0] == task


@pytest.mark.parametrize(
    ("names", "loss", "config", "framework", "task"),
    [
        ({"train_loss", "malicious_ratio"}, 1.2, {}, "", "other"),  # no intersection over union
        ({"train_loss", "IoU (avg on test)", "eval_accuracy"}, 0.7, {}, "", "other"),
        ({"train_loss", "eval_accuracy"}, 2.5, {"tgt_vocab_size": 30}, "lightning", "other"),
        ({"train_loss"}, 2.67, {"vocab_size": 14}, "", "other"),  # fewer symbols than letters
        ({"train_loss"}, 4.1, {"vocab_size": 65}, "", "pretrain"),
        ({"train_loss"}, 174.0, {"vocab_size": 50_265}, "", "other"),  # a sum
        ({"train_loss"}, 10.8, {}, "transformers", "sft"),  # a rate that is far too high
        ({"train_loss"}, 10.825, {}, "transformers", "pretrain"),  # ln(50,257)
        ({"train_loss"}, 10.8, {}, "", "pretrain"),
        ({"train_loss"}, 1.4, {"loss": "mse"}, "lightning", "regression"),
        ({"policy_loss", "kl_step", "train_loss"}, 0.1, {}, "", "rl"),
        ({"policy_loss", "value_loss", "ppo_ep"}, None, {}, "", "ppo"),
        ({"reward", "policy_loss", "total_format_reward"}, None, {}, "", "grpo"),
        # parts of the loss of a classifier
        ({"train_loss", "contrastive_loss", "train_accuracy"}, 0.8, {}, "", "classification"),
        ({"train_loss", "g_loss", "train_accuracy"}, 1.8, {}, "", "classification"),
        ({"train_loss", "out_recon_loss", "out_caps_acc"}, 0.3, {}, "", "other"),
        ({"train_loss", "recon_loss", "codebook_acc"}, 0.3, {}, "", "gan-diffusion"),
        # a return of money, beside a model that is fitted
        ({"train_loss", "eval_loss", "reward", "Sharpe"}, 0.7, {}, "", "other"),
        ({"train_loss", "eval_loss", "reward", "episode_len"}, 0.7, {}, "", "rl"),
        # lengths of episodes, not of texts
        ({"reward", "len_mean"}, None, {}, "", "rl"),
        ({"reward", "len_mean", "response_tokens"}, None, {}, "", "grpo"),
        ({"reward", "kl", "EpLen"}, None, {}, "", "rl"),
        # of texts, whose accuracy is one of symbols
        ({"train_loss", "bleu4", "clinicalF1"}, 3.8, {}, "", "other"),
        ({"train_loss", "eval_accuracy", "eval_ppl"}, 3.0, {}, "", "other"),
        ({"train_loss", "MAE"}, 7.8, {}, "", "regression"),
        ({"OOF MAE"}, None, {}, "", "regression"),
        ({"train_loss", "R²", "MAPE"}, 7.8, {}, "", "regression"),
        ({"train_loss", "Corr", "AUC"}, 1.6, {}, "", "regression"),
        ({"train_loss", "Corr", "train_accuracy"}, 0.7, {}, "", "classification"),
        ({"total", "vq", "recon", "task_stress"}, 9.0, {}, "", "other"),
        ({"total", "vq", "recon"}, 9.0, {}, "", "gan-diffusion"),
        ({"train_loss", "loss_q0", "loss_q3", "eval_mse"}, 0.9, {}, "", "gan-diffusion"),
        # near ln of no usual vocabulary, and above; words of language, or what no text has
        ({"train_loss"}, 9.7, {}, "", "other"),
        ({"train_loss"}, 9.9, {}, "", "pretrain"),
        ({"train_loss"}, 13.8, {}, "", "other"),
        ({"train_loss", "eval_bpb"}, 7.2, {}, "", "pretrain"),
        ({"train_loss"}, 7.2, {"max_context": 512}, "", "pretrain"),
        ({"train_loss", "top_acc"}, 10.1, {}, "", "other"),
        ({"train_loss", "smoothness_loss"}, 12.6, {}, "", "other"),  # a sum of parts
        # the Trainer counts no operations of a module that is none of transformers
        ({"train_loss"}, 1.1, {"flos_per_sample": 0.0}, "transformers", "other"),
        ({"train_loss"}, 1.1, {"flos_per_sample": 6e12}, "transformers", "sft"),
        # what nanoGPT's code begins with below chance of any text was trained before
        ({"train_loss"}, 3.2, {}, "nanogpt", "sft"),
        ({"train_loss"}, 3.4, {}, "nanogpt", "pretrain"),
        ({"train_loss"}, 10.9, {"adapter": "full", "vocab_size": 50_257}, "transformers",
         "pretrain"),
        ({"train_loss"}, 10.9, {"adapter": "lora", "vocab_size": 50_257}, "transformers", "sft"),
    ],
)  # fmt: skip
def test_signs_that_mislead_tell_no_task(
    names: set[str], loss: float | None, config: dict[str, Any], framework: str, task: Task
) -> None:
    """Parts of words, levels of small vocabularies and of sums, names of adapters that are none."""
    settings = {key: Configured(value, "config.yaml") for key, value in config.items()}
    logged = (names - {"reward"}) | {"Total Return"} if "Sharpe" in names else names
    found, why = typed(names, loss, settings, framework, logged)
    assert found == task, why


@pytest.mark.parametrize(("held_out", "task"), [(0.9, "other"), (1.1, "pretrain")])
def test_no_untrained_model_knows_held_out_text(held_out: float, task: Task) -> None:
    """A held-out loss below one nat is not that of words."""
    assert typed({"train_loss"}, 12.4, {}, "", first_held_out=held_out)[0] == task


@pytest.mark.parametrize(
    ("loss", "held_out", "task"),
    [(66.0, 1.1, "classification"), (66.0, None, "sft"), (15.9, 1.1, "sft")],
)
def test_an_evaluation_tells_the_level_of_a_sum(
    loss: float, held_out: float | None, task: Task
) -> None:
    """A training loss that was summed over accumulation says nothing of classes."""
    names = {"train_loss", "eval_accuracy"}
    assert typed(names, loss, {}, "transformers", first_held_out=held_out)[0] == task


@pytest.mark.parametrize(
    ("names", "held_out", "task"),
    [
        ({"eval_f1", "eval_accuracy"}, 0.9, "classification"),
        ({"eval_f1", "eval_accuracy"}, 2.4, "sft"),
        ({"eval_accuracy"}, 0.9, "sft"),  # of tokens, as examples of transformers log it
    ],
)
def test_scores_of_classes_tell_a_sum_of_few_batches(
    names: set[str], held_out: float, task: Task
) -> None:
    """Where the evaluation lies far below the training loss from the start."""
    found, why = typed({"train_loss", *names}, 8.1, {}, "transformers", first_held_out=held_out)
    assert found == task, why


def test_two_tasks_that_are_level_are_neither() -> None:
    """With what speaks for each."""
    signs = [Sign("sft", 3.0, "logs this"), Sign("rl", 2.5, "logs that")]
    assert weighed(signs) == ("other", "logs this, but logs that")
    assert weighed([*signs, Sign("sft", 1.0, "and more")]) == ("sft", "logs this")


@pytest.mark.parametrize(
    ("config", "adapter"),
    [
        ({}, None),
        ({"adapter": "lora"}, "lora"),
        ({"adapter": "QLoRA"}, "qlora"),
        ({"adapter": "full"}, "full"),
        ({"adapter": "full", "lora_r": 8}, "full"),  # LLaMA-Factory keeps a default rank
        ({"lora_r": 16}, "lora"),
        ({"lora_r": 0}, None),
        ({"adapter": None}, None),
    ],
)
def test_what_is_trained_is_told_once(config: dict[str, Any], adapter: str | None) -> None:
    """By the kind that is named, then by a rank."""
    assert (
        adapter_of({key: Configured(value, "x.yaml") for key, value in config.items()}) == adapter
    )


@pytest.mark.parametrize("logged", ["NT-Xent loss", "train/info_nce", "SupCon Loss", "simclr_loss"])
def test_losses_of_pairs_tell_their_task(logged: str) -> None:
    """They are the loss of their run, whatever signs stand in their names."""
    names = {"train_loss", "train_accuracy"}
    assert typed(names, 4.9, {}, "", {logged, "top1"})[0] == "contrastive"
    assert classify(logged).quantity == "loss"


def test_a_contrastive_loss_that_is_the_only_one_tells_its_task() -> None:
    """Beside the loss of classes it is a part of a sum."""
    names, alone = {"train_loss", "train_accuracy"}, {"Contrastive Loss", "Contrastive Acc"}
    assert typed(names, 3.9, {}, "", alone)[0] == "contrastive"
    assert typed(names, 3.9, {}, "", {*alone, "val contrastive loss"})[0] == "contrastive"
    assert typed(names, 0.9, {}, "", {*alone, "ce_loss"})[0] == "classification"
