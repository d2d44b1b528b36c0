"""What findings on gradients, NaN and policies blame and propose."""

from dataclasses import replace
from typing import Any

import pytest

from runlens.rules.rule import Case, drawn
from runlens.run import Event, Setting
from tests.rules.said import Said, bad, check

CLIMB = "climbs and the loss follows"
NAN_AT_500: dict[str, Any] = {
    "train_loss": "0:2.2 490:1.2 500:nan 900:nan",
    "grad_norm": "0:1 490:1 500:nan",
}


def nan(name: str, **config: Setting) -> Case:
    """Return a run that went NaN."""
    return bad("nan-loss", name, **config)


SAID = {
    "B30 A22 explosion": Said(
        "grad-explosion",
        bad(
            "grad-explosion",
            CLIMB,
            learning_rate=3e-4,
            max_grad_norm=0.0,
            adam_epsilon=1e-8,
            fp16=True,
            gradient_accumulation_steps=1,
        ),
        (
            "Learning rate too high | updates that are too large let the gradient norm climb",
            "cause likely No gradient clipping | clipping is off",
            "fix learning_rate: 0.0003 -> 0.0001",
            "fix max_grad_norm: 0.0 -> ",
            "fix adam_epsilon: 1e-08 -> 1e-06",
            "fix gradient_accumulation_steps: 1 -> 2",
            "fix bf16: False -> True",
        ),
    ),
    "A18 a single layer above 100": Said(
        "grad-explosion",
        replace(
            bad("grad-explosion", CLIMB),
            curves={
                **bad("grad-explosion", CLIMB).curves,
                "grad_norm/lm_head": "0:1 500:1 700:400 900:600",
                "grad_norm/layers.0": "0:1 900:2",
            },
        ),
        ("One layer | lm_head is at 4", "the largest of 2 layers; above 100"),
        bad("grad-explosion", CLIMB),
    ),
    "A22 spikes that repeat": Said(
        "grad-spike",
        bad(
            "grad-spike",
            "three that the loss reacts to",
            learning_rate=2e-4,
            gradient_accumulation_steps=1,
        ),
        ("fix learning_rate: 0.0002 -> 0.0001", "fix gradient_accumulation_steps: 1 -> 2"),
        bad("grad-spike", "one", learning_rate=2e-4),
    ),
    "A19 B36 clipping all the time": Said(
        "clip-saturation",
        bad("clip-saturation", "far above", learning_rate=2e-4),
        ("fix learning_rate: 0.0002 -> 0.0001", "evidence Median norm as a multiple of the limit"),
    ),
    "B37 clipping cannot help in fp16": Said(
        "clip-saturation",
        bad("clip-saturation", "far above", fp16=True),
        ("activations overflow before the gradients",),
        bad("clip-saturation", "far above", bf16=True),
    ),
    "B38 share of the gradient that is kept": Said(
        "clip-saturation",
        drawn(
            "five",
            noise={"train_loss": 0.02, "grad_norm": 0.0},
            config={"max_grad_norm": 1.0},
            train_loss="0:2.2 900:0.9",
            grad_norm="0:5 450:5.2 900:5",
        ),
        ("evidence Median share of the gradient kept 0.19",),
    ),
    "A27 peak too high at the end of warm-up": Said(
        "warmup-shock",
        bad("warmup-shock", "damaged by warm-up", learning_rate=1e-3, warmup_steps=10),
        ("cause most likely Learning rate too high", "fix learning_rate: 0.001 -> 0.00033"),
    ),
    "C2 C8 B42 guard the operation": Said(
        "nan-loss",
        drawn("flat norm", **NAN_AT_500),
        ("do Guard log, root and division with an epsilon, and compute softmax in fp32",),
        nan("after a climbing norm"),
    ),
    "C23 C24 C28 the batch alone": Said(
        "nan-loss",
        drawn("flat norm", **NAN_AT_500),
        ("alone on one GPU, with forward hooks and under torch.autograd.detect_anomaly",),
        nan("after a climbing norm"),
    ),
    "C22 C21 fp32 experiment": Said(
        "nan-loss",
        nan("after a climbing norm", bf16=True),
        ("do Repeat the steps around 500 in fp32 (bf16: false)",),
        nan("after a climbing norm"),
    ),
    "C7 C30 B35 what to look for in the batch": Said(
        "nan-loss",
        nan("from the first step"),
        (
            "empty labels, empty sequences, odd values, and token ids or labels out of range",
            "Data or labels",
        ),
    ),
    "C16 fp8 scale of zero": Said(
        "nan-loss",
        nan("from the first step", fp8=True),
        ("cause most likely fp8 scale of zero", "448", "clear ~/.triton/cache"),
        nan("from the first step"),
    ),
    "C18 one batch alone": Said(
        "nan-loss",
        nan("one point of 201"),
        (
            "cause most likely An empty or fully masked sequence in that batch",
            "train loss is a number again at step 1,010",
        ),
        nan("last point"),
    ),
    "C19 the ratio of probabilities": Said(
        "nan-loss",
        drawn(
            "ratio",
            task="grpo",
            logp_diff="0:0.02 300:0.1 490:40",
            train_loss="0:0.1 490:0.1 500:nan 900:nan",
        ),
        ("Overflow in the probability ratio | logp_diff reached 3", "do Clamp the difference"),
        nan("after a climbing norm"),
    ),
    "C3 C4 C13 F11 a rate too high": Said(
        "nan-loss",
        nan("after a climbing norm", learning_rate=1e-3, max_grad_norm=0.0),
        (
            "cause likely Learning rate too high",
            "No gradient clipping",
            "fix learning_rate: 0.001 -> 0.0002",
            "fix max_grad_norm: 0.0 -> 2.0",
        ),
    ),
    "C25 from the last clean checkpoint": Said(
        "nan-loss",
        replace(
            nan("after a climbing norm"),
            events=(
                Event("checkpoint", 300, data={"path": "out/checkpoint-300"}),
                Event("checkpoint", 600, data={"path": "out/checkpoint-600"}),
            ),
        ),
        ("do Run on from checkpoint-300 with a tenth of the learning rate over the same batches",),
        nan("after a climbing norm"),
    ),
    "C26 E36 B48 steps after the NaN": Said(
        "nan-loss",
        nan("after a climbing norm"),
        ("evidence Run after the onset 400 of 900",),
    ),
    "A4 the layer that is lost first": Said(
        "nan-loss",
        replace(
            nan("after a climbing norm"),
            curves={
                **nan("after a climbing norm").curves,
                "grad_norm/layers.0": "0:1 900:1",
                "grad_norm/layers.7": "0:1 480:1 490:nan 900:nan",
            },
        ),
        ("of 2 logged layers, layers.7 becomes NaN first, at step 490",),
        nan("after a climbing norm"),
    ),
    "C6 F16 the scale grew first": Said(
        "loss-scale-collapse",
        drawn(
            "grew",
            train_loss="0:2.2 900:0.9",
            loss_scale="0:1024 200:4096 400:65536 410:16384 420:1024 430:16 440:1 900:1",
        ),
        ("Gradients so small that the scale grew until it overflowed",),
        bad("loss-scale-collapse", "to the floor"),
    ),
    "C5 C14 bf16 for fp16": Said(
        "loss-scale-collapse",
        bad("loss-scale-collapse", "to the floor", fp16=True),
        ("fix fp16: True -> False", "fix bf16: False -> True"),
    ),
    "D1 reward at zero": Said(
        "reward-stuck-zero",
        bad("reward-stuck-zero", "never rewarded", use_vllm=True),
        (
            "do Call the reward function on a known-correct answer",
            "fix log_completions: None -> True",
            "do Print the arguments of the reward function",
            "do Check which checkpoint the inference server serves",
            "The reward function returns 0 for every completion",
        ),
    ),
    "D3 entropy collapse": Said(
        "entropy-collapse",
        bad(
            "entropy-collapse",
            "to nothing",
            temperature=0.5,
            beta=0.0,
            num_generations=8,
            learning_rate=2e-6,
        ),
        (
            "fix temperature: 0.5 -> 1.0",
            "fix learning_rate: 2e-06 -> 1e-06",
            "fix beta: 0.0 -> 0.04",
            "fix num_generations: 8 -> 16",
        ),
    ),
    "D4 F4 the sampler lags": Said(
        "importance-ratio-divergence",
        bad(
            "importance-ratio-divergence",
            "far apart",
            vllm_sync_interval=8,
            importance_sampling_level="sequence",
        ),
        (
            "fix vllm_sync_interval: 8 -> 4",
            "fix importance_sampling_level: sequence -> token",
            "fix off_policy_mask_threshold: None -> 0.5",
        ),
    ),
    "D10 A56 clip ratio": Said(
        "clip-ratio-high",
        bad("clip-ratio-high", "at first", num_iterations=4, learning_rate=2e-6),
        ("fix learning_rate: 2e-06 -> 1e-06", "fix num_iterations: 4 -> 2"),
    ),
    "D9 A58 completions cut": Said(
        "completions-clipped",
        bad("completions-clipped", "all the time", max_completion_length=128),
        ("fix max_completion_length: 128 -> 256",),
    ),
    "D8 A53 KL": Said(
        "kl-blow-up",
        bad("kl-blow-up", "climbs and stays", beta=0.01, learning_rate=3e-6),
        ("fix beta: 0.01 -> 0.03", "fix learning_rate: 3e-06 -> 1e-06"),
    ),
    "A50 A51 groups without spread": Said(
        "zero-reward-std",
        bad("zero-reward-std", "none at all", temperature=0.6, num_generations=4),
        ("fix temperature: 0.6 -> 1.0", "fix num_generations: 4 -> 16"),
    ),
    "D13 F21 EBFT": Said(
        "ebft-diversity",
        bad("ebft-diversity", "mode collapse", diversity_coef=1.0),
        ("fix diversity_coef: 1.0 -> 2.0", "where lower is more diverse"),
    ),
}


@pytest.mark.parametrize("name", SAID)
def test_finding_says(name: str) -> None:
    """All the words, and none of the first of them where nothing in the run calls for it."""
    check(SAID[name])
