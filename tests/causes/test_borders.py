"""What each sign of a cause says of a drawn run, at the numbers at which it changes its mind."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from runlens.causes import HYPOTHESES
from runlens.causes.data import MEMORISED_SOON
from runlens.causes.scene import Scene
from runlens.diagnosis import Moment
from runlens.rules.rule import drawn, message
from runlens.run import Event
from tests.causes.weighed import scene
from tests.rules.moves import changed

LEVEL = "0:2 900:2"
LOST = "0:2 490:2 500:nan 900:nan"
BLOWN = "divergence 400 critical"
LORA = {"lora_r": 16}
ALONE = {"eval_loss": "0:2 300:1 900:2", "moves": "gone train_loss"}
ADAM = {"optim": "adamw_torch"}
LEAPS = "0:2 190:2 200:{0} 210:2 390:2 400:{0} 410:2 600:2 610:9 900:9"
STANDS = "0:2 390:2 400:249.5 {0}:249.5 {1}:{2} 900:{2}"
ONE_LEVEL = "0:2 390:2 400:249.371 900:249.371"
AGENT: dict[str, Any] = {"task": "rl", "reward": "0:1 900:1"}
TURNED: dict[str, Any] = {
    "eval_loss": "0:2 300:1 350:1.6 900:1.8",
    "config": {"num_train_epochs": 9},
    "steps_per_epoch": 100,
}
DEAD: dict[str, Any] = {"train_loss": "0:5 100:3 900:3"}
PLAN: dict[str, Any] = {"config": {"learning_rate": 1e-3, "lr_scheduler_type": "constant"}}


def asked(kind: str, found: str, case: dict[str, Any], ends: float | None = None) -> str:
    """Return what a cause says: the weight of each sign, its own name and its words."""
    moves = case.pop("moves", "")
    run = drawn("x", **{"noise": 0.0, "train_loss": LEVEL, **case}).run()
    one = scene(changed(run, moves), found)
    if ends is not None:
        made = [replace(finding, end=Moment(ends)) for finding in one.findings]
        one = Scene(one.run, one.signals, made)
    (cause,) = (one for one in HYPOTHESES if one.kind == kind)
    with np.errstate(all="ignore"):
        if why := cause.against(one):
            return f"out: {why}"
        signs = [sign for sign in cause.signs(one) if sign]
    return "; ".join(f"{sign.weight:g} {sign.what}: {sign.text}" for sign in signs)


def held(kind: str, found: str, *rows: tuple[dict[str, Any], str]) -> list[Any]:
    """Write the cases of one cause: what a run has, and the words that must be there, or none."""
    return [
        pytest.param(kind, found, case, words, id=f"{kind} {number} {words[:40]}")
        for number, (case, words) in enumerate(rows)
    ]


def config(**settings: Any) -> dict[str, Any]:
    """Return settings of a run."""
    return {"config": settings}


OPTIMISER = (
    *held(
        "clip-too-tight",
        "clip-saturation 0 warning",
        ({**config(max_grad_norm=1), "grad_norm": LEVEL}, "2 : the clipping limit is 1 and"),
        ({**config(max_grad_norm=1), "grad_norm": LEVEL}, "scaled down to 50"),
        ({**config(max_grad_norm=1), "grad_norm": "0:1.9 900:1.9"}, ""),
        ({**config(max_grad_norm=1), "grad_norm": "0:5 900:5"}, "4 : the clipping limit is 1"),
        ({**config(max_grad_norm=0), "grad_norm": "0:5 900:5"}, ""),
    ),
    *held(
        "clip-missing",
        "grad-spike 400 warning",
        ({**config(max_grad_norm=5), "grad_norm": LEVEL}, ""),
        (config(max_grad_norm=6), "1 Clipping limit too loose to matter: the clipping limit is 6"),
        (
            {**config(max_grad_norm=6), "grad_norm": LEVEL},
            "2 Clipping limit too loose to matter: the clipping limit is 6, and the",
        ),
        ({**config(max_grad_norm=0), "grad_norm": LEVEL}, "clipping is off, and the largest norm"),
        (
            {**config(max_grad_norm=0), "grad_norm": "0:2 800:2 810:nan 900:nan"},
            "the largest finite norm was 2",
        ),
    ),
    *held(
        "optimizer-setting",
        BLOWN,
        (config(momentum=0.98), ""),
        (config(momentum=0.99), "2 : a momentum of 0.99 averages over 100 steps"),
        (config(momentum=0.995), "4 : a momentum of 0.995 averages over 200 steps"),
        (config(momentum=1), "over 1,000,000 steps"),
        (config(weight_decay=0.1), ""),
        (config(weight_decay=0.12), "1 Weight decay too high: weight_decay is 0.12"),
        ({**config(weight_decay=0.12), "task": "pretrain"}, ""),
        (config(weight_decay=0.5), "1 Weight decay too high: weight_decay is 0.5"),
        (config(weight_decay=0.6), "4 : a weight_decay of 0.6 pulls the weights to zero"),
        (
            config(weight_decay=-0.1),
            "4 : a weight_decay of -0.1 makes the weights grow at each step",
        ),
        (config(adam_beta2=0.9), ""),
        (config(adam_beta2=0.8), "2 : an adam_beta2 of 0.8 averages over only 5 steps"),
    ),
    *held(
        "precision",
        "divergence 400 critical",
        ({"loss_scale": "0:8 900:1"}, "3 : the loss scale fell from 8 to 1"),
        ({"loss_scale": "0:8 900:1.1"}, ""),
        (config(fp16=True), "1 fp16 overflow: fp16 is set"),
        (config(fp16=True, bf16=True), "1 fp16 overflow"),
        (config(bf16=True), "out: bf16 is set"),
        (config(fp16=True, model_name="google/gemma-2b"), "2 fp16 overflow: fp16 is set, and the"),
    ),
    *held(
        "precision",
        "divergence 400 critical, clip-saturation 0 warning",
        (config(fp16=True), "clipping cannot help"),
    ),
    *held("precision", "nan-loss 1 critical", (config(fp8=True), "3 fp8 scale of zero")),
    *held("precision", "nan-loss 2 critical", (config(fp8=True), "2 fp8 scale of zero")),
    *held(
        "precision",
        "nan-loss 500 critical",
        (
            {
                "train_loss": LOST,
                "grad_norm/a": "0:1 490:1 500:nan 900:nan",
                "grad_norm/b": "0:1 480:1 490:nan 900:nan",
            },
            "1 : of 2 logged layers, b becomes NaN first, at step 490",
        ),
        ({"task": "grpo", "train_loss": LOST, "kl": "0:3 900:3"}, "2 Overflow in"),
        (
            {"grad_norm": "0:1 490:1 500:nan 900:nan"},
            "2 An operation without a finite gradient",
        ),
    ),
    *held(
        "precision",
        "grad-explosion 500 critical",
        ({"grad_norm/a": "0:1 900:1", "grad_norm/b": "0:1 490:1 500:100 900:100"}, "1 One layer"),
        ({"grad_norm/a": "0:1 900:1", "grad_norm/b": "0:1 490:1 500:99 900:99"}, ""),
    ),
    *held(
        "batch-too-small",
        "oscillation 100 warning",
        (config(per_device_train_batch_size=4, gradient_accumulation_steps=1), "1 : each update"),
        (config(per_device_train_batch_size=5, gradient_accumulation_steps=1), ""),
    ),
    *held(
        "loss-function",
        BLOWN,
        (
            {**config(max_grad_norm=2), "grad_norm": "0:200 900:200"},
            "2 Gradients that were never unscaled, or a loss that is scaled up: the median",
        ),
        ({**config(max_grad_norm=2), "grad_norm": "0:200 0:200"}, "the only logged gradient norm"),
        ({**config(max_grad_norm=2), "grad_norm": "0:198 900:198"}, ""),
        ({**config(max_grad_norm=0), "grad_norm": "0:198 900:198"}, ""),
    ),
)
KNOWN = {"train_loss": "0:2 900:1.35"}  # two thirds of its start
TEXT = {"config": {"max_length": 1024}}
ZERO = {"train_loss": "0:2 90:2 100:0 900:0"}
NARROW = {"fp16": True, "model_name": "llama-3"}
PAIRS = {"task": "dpo", "train_loss": "0:0.6931 900:0.6931"}
DATA = (
    *held(
        "memorised",
        "hockey-stick 300 critical",
        ({"steps_per_epoch": 149}, "4 : the run made 6.04 passes"),
        ({**KNOWN, "steps_per_epoch": 150}, f"2 {MEMORISED_SOON}: the run made 6 passes"),
        ({**KNOWN, "steps_per_epoch": 300}, f"2 {MEMORISED_SOON}: the run made 3 passes"),
        ({**KNOWN, "steps_per_epoch": 500}, f"2 {MEMORISED_SOON}: the run made 1.8 passes"),
        ({**ALONE, "steps_per_epoch": 149}, "2 : the run made 6.04 passes over the data"),
        ({**ALONE, "steps_per_epoch": 149}, "but no training loss is there to show it"),
        ({"train_loss": "0:2 900:1.45", "steps_per_epoch": 300}, "2 What is learned of the"),
        ({"steps_per_epoch": 500}, "best after 0.6"),
        ({**KNOWN, "steps_per_epoch": 900}, f"2 {MEMORISED_SOON}: the run made 1 pass"),
        ({"train_loss": "0:2 40:1", "eval_loss": "0:1 200:3"}, "2 : train loss fell to 1.000"),
        ({"steps_per_epoch": 1000}, "out: no row was seen twice: 90"),
        ({"train_loss": "0:2 300:1 900:1.2", "eval_loss": "0:2 300:1 900:3"}, "out: train loss"),
    ),
    *held(
        "data-order",
        "sawtooth 100 warning",
        (config(shuffle=False), "2 : shuffle is off"),
        (config(shuffle=True), ""),
    ),
    *held(
        "bad-batch",
        "nan-loss 500 critical",
        ({"train_loss": LOST}, "1 : train loss was 2.000 at step 490, so it had not been rising"),
        ({"train_loss": LOST, "moves": "slow 0.5"}, "2 : train loss was 2.000 at step "),
        ({"train_loss": LOST, "moves": "slow 0.6"}, "1 : train loss was 2.000 at step "),
        ({"train_loss": "0:2 480:2 490:4 500:nan 900:nan"}, "1 : train loss was 4.000"),
        ({"train_loss": "0:2 480:2 490:4.2 500:nan 900:nan"}, ""),
        (
            {"train_loss": LOST, "grad_norm": "0:1 480:1 490:3 500:nan 900:nan"},
            "3 : at step 490 the gradient norm was 3 and the loss 2.000",
        ),
        ({"train_loss": LOST, "grad_norm": "0:1 480:1 490:4 500:nan 900:nan"}, ""),
    ),
    *held(
        "bad-batch", "divergence 100 critical, grad-spike 500 warning", ({"grad_norm": LEVEL}, "")
    ),
    *held(
        "bad-batch",
        "grad-spike 500 warning",
        ({"grad_norm": LEVEL}, "3 : the curve recovered quickly"),
    ),
    *held(
        "bad-batch", "nan-loss 500 critical, divergence 470 critical", ({"train_loss": LOST}, "")
    ),
    *held(
        "bad-batch",
        "nan-loss 500 critical, divergence 480 critical",
        ({"train_loss": LOST}, "1 : train loss was 2.000 at step 490"),
    ),
    *held(
        "bad-batch",
        "nan-loss 1 critical",
        ({"train_loss": "1:nan 900:nan"}, "2 Data or labels: the loss was not finite at the first"),
        ({"train_loss": "2:nan 900:nan"}, "1 Data or labels"),
    ),
    *held(
        "labels-wrong",
        "stuck-at-chance 0 warning",
        ({**PAIRS, "grad_norm": "0:1 900:1"}, "2 : the median gradient norm is 1"),
        ({**PAIRS, "grad_norm": "0:0 900:0"}, ""),
        (PAIRS, ""),
        (
            {**PAIRS, "train_loss": "0:0.696 900:0.696", "grad_norm": LEVEL},
            "2 : the median gradient norm is 2",
        ),
        ({**PAIRS, "train_loss": "0:0.697 900:0.697", "grad_norm": LEVEL}, ""),
        ({**PAIRS, "train_loss": "0:0.689 900:0.689", "grad_norm": LEVEL}, ""),
        ({"train_loss": "0:6.1 900:6", **TEXT}, "2 "),
        ({"train_loss": "0:6 190:6", **TEXT}, "2 "),  # too short for any head to be fitted
        ({"train_loss": "0:6 200:6", **TEXT}, "1 "),
        ({"train_loss": "0:5.9 900:5.9", **TEXT}, "2 Wrong chat template or tokenizer, padding"),
        # a bare state of a Trainer, which trains images and classes as well
        ({"train_loss": "0:6.1 900:6"}, "1 "),
        ({"train_loss": "0:5.9 900:5.9"}, "1 Wrong chat template or tokenizer, padding"),
        ({"train_loss": "0:5.9 900:5.9", "token_accuracy": "0:0.1 900:0.1"}, "2 Wrong chat"),
        ({"train_loss": "0:5.9 900:3.9"}, ""),
    ),
    *held(
        "labels-wrong",
        "clip-saturation 0 warning",
        ({"train_loss": "0:6.9 900:5", "config": {"vocab_size": 1000}}, "3 Wrong chat template"),
        ({"train_loss": "0:6 900:5", "config": {"vocab_size": 1000}}, ""),
        ({"train_loss": "0:5.9 900:5", "config": {"vocab_size": 500}}, ""),
        ({"train_loss": "0:6.9 900:5"}, ""),
    ),
    *held(
        "precision",
        "clip-saturation 0 warning",
        ({"grad_norm": "0:9 900:9", "config": NARROW}, "1 fp16 overflow: fp16 is set"),
        ({"config": NARROW}, "2 fp16 overflow: fp16 is set"),
    ),
    *held(
        "precision",
        "divergence 0 warning",
        ({"grad_norm": "0:9 900:9", "config": NARROW}, ""),
        ({"config": NARROW}, "2 fp16 overflow: fp16 is set"),
    ),
    *held(
        "frozen-weights",
        "not-learning 0 critical",
        ({"train_loss": "0:6 200:6.01"}, "1 : the loss did not fall in 200 steps"),
        ({"train_loss": "0:6 190:6.01"}, ""),
        ({"train_loss": "0:6 200:5.9"}, ""),
        ({"train_loss": "0:6 200:6.01", "grad_norm": "0:1 200:1"}, ""),
        ({"train_loss": "0:958.344 20:958.344"}, "6 No weight is updated, or one stored value"),
        ({"train_loss": "0:958.344 10:958.344"}, ""),  # two of them
        ({"train_loss": "0:958.34 20:958.34"}, ""),  # two prints of five digits may agree
    ),
    *held(
        "labels-wrong",
        "preference-collapse 0 warning",
        ({**PAIRS, "dpo_acc": "0:0.5 900:0.5"}, "2 : 50"),
        ({**PAIRS, "dpo_acc": "0:0.6 900:0.6"}, "2 : 60"),
        ({**PAIRS, "dpo_acc": "0:0.62 900:0.62"}, ""),
        ({**PAIRS, "dpo_acc": "0:0.9 400:0.9 450:0.5 900:0.5"}, "2 : 50"),
        ({**PAIRS, "dpo_acc": "0:0.5 900:0.5", "logp_chosen": "0:-10 900:-12"}, "3 : 50"),
        ({**PAIRS, "dpo_acc": "0:0.5 900:0.5", "logp_chosen": "0:-10 900:-11.5"}, "2 : 50"),
    ),
    *held(
        "precision",
        "zero-loss 100 critical",
        (ZERO, "3 A NaN that the log shows as 0: the loss went from 2.000 to exactly 0"),
        ({**ZERO, "train_loss": "0:2 90:1e-4 100:0 900:0"}, ""),
        ({**ZERO, "train_loss": "0:2 90:2 100:0 490:0 500:1 900:1"}, ""),
        ({**ZERO, "grad_norm": "0:1 90:1 100:0 900:0"}, ""),
    ),
    *held(
        "labels-masked",
        "zero-loss 100 critical",
        (ZERO, "2 : the loss is exactly 0 from step 100 on; a hidden NaN would look the same"),
        ({**ZERO, "grad_norm": "0:1 90:1 100:0 900:0"}, "6 : loss and gradient norm are exactly 0"),
        ({**ZERO, "grad_norm": "0:1 900:1"}, ""),
        ({**ZERO, "train_loss": "0:2 90:2 100:0 490:0 500:1 900:1"}, ""),
    ),
    *held("labels-masked", "plateau 100 critical", (ZERO, "")),
    *held(
        "labels-masked",
        "plateau 100 critical",
        (config(label_mask_id="-100 everywhere"), "4 A setting masks labels"),
        (config(attention_mask_id="-100 everywhere"), ""),
        (config(label_mask_id="0"), ""),
    ),
    *held(
        "leak",
        "zero-loss 100 critical",
        ({**ZERO, "grad_norm": LEVEL, "steps_per_epoch": 100}, "3 : "),
        ({**ZERO, "grad_norm": LEVEL, "steps_per_epoch": 50}, ""),
        (
            {
                **ZERO,
                "grad_norm": LEVEL,
                "steps_per_epoch": 100,
                "eval_loss": "0:2 90:0.05 900:0.05",
            },
            "4 : ",
        ),
        (
            {
                **ZERO,
                "grad_norm": LEVEL,
                "steps_per_epoch": 50,
                "eval_loss": "0:2 90:0.05 900:0.05",
            },
            "3 : eval loss is 0.05",
        ),
        (
            {
                **ZERO,
                "grad_norm": LEVEL,
                "steps_per_epoch": 50,
                "eval_loss": "0:2 90:0.051 900:0.051",
            },
            "",
        ),
    ),
    *held(
        "data-shift",
        "divergence 500 critical",
        ({"noise": 0.01, "train_loss": "0:1 490:1 500:1.6 900:1.6"}, "1 : train loss jumped"),
        ({"noise": 0.01, "train_loss": "0:1 490:1 500:1.25 900:1.25"}, ""),
        (
            {
                "noise": 0.01,
                "train_loss": "0:1 490:1 500:1.6 900:1.6",
                "eval_loss": "0:1 450:1 500:1.05 900:1.1",
            },
            "2 : train loss jumped",
        ),
        (
            {
                "noise": 0.01,
                "train_loss": "0:1 490:1 500:1.6 900:1.6",
                "eval_loss": "0:1 450:1 500:1.2 900:1.2",
            },
            "1 : train loss jumped",
        ),
        (
            {
                "noise": 0.01,
                "train_loss": "0:1 490:1 500:1.6 900:1.6",
                "events": (Event("resume", 490),),
            },
            "",
        ),
    ),
)
GROUPS = {"task": "grpo", "reward": "0:0.2 900:0.3"}
FALLS_BACK = {**GROUPS, "reward": "0:0.2 400:0.3 900:0.1"}
POLICY = (
    *held(
        "kl-weight",
        "kl-blow-up 300 warning",
        ({**GROUPS, **config(beta=0.001)}, "2 : beta is 0.001, so the KL term hardly restrains"),
        ({**GROUPS, **config(beta=0)}, "3 : beta is 0, so no KL term restrains the policy, and"),
        ({**FALLS_BACK, **config(beta=0)}, "2 : beta is 0, so no KL term restrains"),
        ({**GROUPS, **config(beta=0.005)}, ""),
    ),
    *held(
        "kl-weight",
        "reward-collapse 300 warning",
        ({**GROUPS, **config(beta=0.001)}, "1 : beta is 0.001"),
    ),
    *held(
        "kl-weight",
        "reward-flat 300 warning",
        ({**GROUPS, **config(beta=0.001)}, ""),
        ({**GROUPS, **config(beta=0.1)}, ""),
        ({**GROUPS, **config(beta=0.12)}, "2 : beta is 0.12, which keeps the policy very close"),
    ),
    *held(
        "exploration",
        "entropy-collapse 300 warning",
        ({**GROUPS, **config(temperature=0.8)}, ""),
        ({**GROUPS, **config(temperature=0.7)}, "2 : temperature is 0.7"),
    ),
    *held(
        "exploration",
        "entropy-high 300 warning",
        ({**GROUPS, **config(entropy_coef=0.1)}, ""),
        ({**GROUPS, **config(entropy_coef=0.12)}, "3 : the entropy bonus is 0.12"),
    ),
    *held(
        "stale-policy",
        "entropy-collapse 300 warning",
        ({**GROUPS, **config(num_iterations=4)}, ""),
        ({**GROUPS, **config(num_iterations=5)}, "1 : 5 updates use the samples"),
    ),
    *held(
        "stale-policy",
        "entropy-collapse 300 critical, clip-ratio-high 300 warning",
        ({**GROUPS, **config(num_iterations=2)}, "each batch is used 2 times"),
        ({"task": "ppo", "reward": LEVEL, **config(ppo_epochs=10)}, ""),
        ({"task": "ppo", "reward": LEVEL, **config(ppo_epochs=11)}, "used 11 times"),
    ),
    *held(
        "reward-function",
        "reward-flat 0 warning",
        ({"task": "rl", "reward": "0:1 900:1"}, "6 The reward is the same for every episode"),
        ({"task": "grpo", "reward": "0:1 900:1"}, "6 The reward function returns 1 for"),
        ({"task": "grpo", "reward": "0:1 70:1"}, "6 The reward function returns"),
        ({"task": "grpo", "reward": "0:1 60:1"}, ""),
        ({"task": "grpo", "reward": "0:1 900:1", "frac_zero_std": "0:0.98 900:0.98"}, "6 The re"),
        ({"task": "grpo", "reward": "0:1 900:1", "frac_zero_std": "0:0.5 900:0.5"}, ""),
        (
            {"task": "grpo", "reward": "0:0 900:1", "train_accuracy": "0:0.5 900:0.5"},
            "4 A reward that",
        ),
        ({"task": "grpo", "reward": "0:0 900:1", "train_accuracy": "0:0.5 900:0.63"}, ""),
        ({"task": "grpo", "reward": "0:0 900:1", "train_accuracy": "0:1 900:1"}, "4 A reward"),
        ({"task": "grpo", "reward": "0:0 900:1", "train_accuracy": "0:50 900:50"}, ""),
        (
            {"task": "ppo", "reward": "0:500 900:900", "explained_variance": "0:0 900:0"},
            "2 A value function that explains nothing of the returns: explained variance is 0",
        ),
        (
            {"task": "grpo", "reward": "0:0 900:1", "len_mean": "0:100 900:200"},
            "2 A reward that can",
        ),
        ({"task": "grpo", "reward": "0:0 900:1", "len_mean": "0:100 900:140"}, ""),
        ({"task": "grpo", "reward": "0:0 900:1", "len_mean": "0:100 800:2 900:2"}, "4 A reward"),
        ({"task": "grpo", "reward": "0:1 900:0", "len_mean": "0:100 800:2 900:2"}, ""),
    ),
    *held(
        "length-limit",
        "completions-clipped 0 warning",
        ({**GROUPS, "len_clipped": "0:0.8 900:0.8"}, "3 : a median of 80"),
        ({**GROUPS, "len_clipped": "0:0.79 900:0.79"}, ""),
        ({**GROUPS, "len_clipped": "0:0.41 40:0.41 50:0.9 900:0.9"}, "3 : a median of 90"),
        ({**GROUPS, "len_clipped": "0:0.3 40:0.3 50:0.9 900:0.9"}, ""),
    ),
    *held(
        "length-limit",
        "entropy-collapse 300 warning, completions-clipped 0 warning",
        ({**GROUPS, "len_clipped": "0:0.9 900:0.9"}, "out: the policy had stopped exploring"),
    ),
    *held(
        "length-limit",
        "reward-stuck-zero 0 critical",
        ({**GROUPS, "len_mean": "0:64 900:64"}, "7 : every completion is 64 tokens long"),
        ({**GROUPS, "len_mean": "0:32 900:64"}, ""),
    ),
)
HIGH = "divergence 400 critical"
RATE = (
    *held(
        "rate-too-high",
        HIGH,
        ({**config(**LORA), "learning_rate": "0:5e-4 900:5e-4"}, ""),
        ({**config(**LORA), "learning_rate": "0:1.4e-3 900:1.4e-3"}, "1 : the peak rate was"),
        ({**config(**LORA), "learning_rate": "0:1.5e-3 900:1.5e-3"}, "2 : the peak rate was"),
        (
            {**config(**LORA), "learning_rate": "0:5e-3 900:5e-3"},
            "3 : the peak rate was 5e-3, which is 10",
        ),
        (
            {**config(**LORA), "learning_rate": "0:5e-2 900:5e-2"},
            "4 : the peak rate was 5e-2, which is 100",
        ),
        (
            {**config(**LORA), "learning_rate": "0:1e-3 450:1e-3 900:2e-3"},
            "1 : the rate was 1e-3 up to step 400",
        ),
        (
            {**config(**LORA), "learning_rate": "0:0 400:0 410:1.2e-3 900:5e-2"},
            "by step 420",
        ),
        (
            {"learning_rate": "0:1.5e-3 900:1.5e-3"},
            "1 : the peak rate was 1.5e-3, which is 3 × the top",
        ),
        (
            {**config(num_parameters=7e9), "learning_rate": "0:1.5e-3 900:1.5e-3"},
            "2 : the peak rate was 1.5e-3, which is 3 × the top",
        ),
        (
            {"task": "asr", **config(**ADAM), "learning_rate": "0:1.6e-4 900:1.6e-4"},
            "1 : the peak rate was 1.6e-4, which is 3.2 × the",
        ),
        ({"task": "asr", **config(**ADAM), "learning_rate": "0:1.4e-4 900:1.4e-4"}, ""),
        (
            {"task": "asr", **config(**ADAM), "learning_rate": "0:1e-2 900:1e-2"},
            "2 : ",
        ),
        (
            {"task": "asr", **config(**ADAM), "learning_rate": "0:1e-2 900:1e-2"},
            "1 : the rate was 200 × the",
        ),
        (
            {"task": "asr", **config(**ADAM), "learning_rate": "0:0.1 900:0.1"},
            "4 : ",
        ),
        ({**config(**LORA, **ADAM), "learning_rate": "0:0.1 900:0.1"}, "; 4 : Adam moves each"),
        (
            {
                **config(**LORA, per_device_train_batch_size=1, gradient_accumulation_steps=1),
                "learning_rate": "0:4e-4 900:4e-4",
            },
            "1 : a rate of 4e-4 is high for 1 sample per update",
        ),
        (
            {
                **config(**LORA, per_device_train_batch_size=7, gradient_accumulation_steps=1),
                "learning_rate": "0:4e-4 900:4e-4",
            },
            "high for 7 samples per update",
        ),
        (
            {
                **config(**LORA, per_device_train_batch_size=8, gradient_accumulation_steps=1),
                "learning_rate": "0:4e-4 900:4e-4",
            },
            "",
        ),
        (
            {**config(**LORA, num_processes=4), "learning_rate": "0:2e-3 900:2e-3"},
            "2 The rate was scaled linearly with the devices: 2e-3 over 4 devices is 5e-4",
        ),
        (
            {**config(**LORA, num_processes=32), "learning_rate": "0:6.4e-4 900:6.4e-4"},
            "2 The rate was scaled linearly with the devices: 6.4e-4 over 32 devices is 2e-5",
        ),
        (
            {**config(**LORA, num_processes=4), "learning_rate": "0:1.3e-3 900:1.3e-3"},
            "1 The rate was scaled linearly with the devices",
        ),
    ),
    *held(
        "rate-too-high",
        "divergence 20 critical",
        ({"train_loss": "0:2 10:3 20:3 900:3"}, "2 : the first updates took the loss from 2.000"),
        ({"train_loss": "0:2 10:2.9 20:2.9 900:2.9"}, ""),
        ({"train_loss": "0:2 10:4 20:4 900:4"}, "3 : the first updates took the loss from 2.000"),
        ({"train_loss": "0:2 20:2 30:4 900:4"}, "3 : the first updates"),
        ({"task": "grpo", "train_loss": "0:2 10:4 20:4 900:4"}, ""),
    ),
    *held(
        "rate-too-high",
        "nan-loss 20 critical",
        ({"train_loss": "0:2 10:2 20:nan 900:nan"}, "1 First updates too large"),
        ({"train_loss": "0:2 10:3 20:nan 900:nan"}, "2 First updates too large"),
        ({"train_loss": "0:2 20:2 30:nan 900:nan"}, ""),
    ),
    *held(
        "rate-too-high",
        "warmup-shock 20 warning",
        ({"learning_rate": "0:1e-5 100:1e-4 900:1e-4"}, "3 : the loss rose at step 20, before the"),
    ),
    *held(
        "rate-too-high",
        "warmup-shock 200 warning",
        (
            {"learning_rate": "0:1e-5 100:1e-4 900:1e-4"},
            "3 : the loss rose at step 200, at the peak",
        ),
        ({"learning_rate": "0:1e-4 900:1e-4"}, "3 : the loss rose at step 200, at the peak"),
    ),
    *held(
        "rate-too-high",
        "divergence 100 critical",
        (
            {"task": "asr", **config(**ADAM), "learning_rate": "0:9e-3 100:9e-3 200:1 900:1"},
            "out: it is 9e-3 there, 0.9",
        ),
        (
            {"task": "asr", **config(**ADAM), "learning_rate": "0:1e-2 130:1e-2 200:1 900:1"},
            "2 : the rate was",
        ),
    ),
    *held("rate-too-high", "nan-loss 0 critical", ({"train_loss": "0:nan 900:nan"}, "")),
    *held(
        "rate-too-high",
        "entropy-collapse 400 warning",
        ({**GROUPS, "clip_ratio": "0:0.3 900:0.3"}, ""),
        ({**GROUPS, "clip_ratio": "0:0.31 900:0.31"}, "2 : the clip ratio reached 0.31"),
        ({**GROUPS, "kl_step": "0:0.05 900:0.05"}, ""),
        ({**GROUPS, "kl_step": "0:0.06 900:0.06"}, "2 : the KL per update reached 0.06"),
    ),
    *held(
        "rate-too-high",
        "grad-explosion 400 warning",
        ({"grad_norm": "0:1 390:1 400:10 900:10"}, "2 : updates that are too large let"),
        ({"grad_norm": "0:1 390:1 400:3 900:3"}, "1 : updates that are too large let"),
        ({"grad_norm": "0:1 390:1 400:2.9 900:2.9"}, ""),
    ),
    *held(
        "rate-too-high",
        "preference-collapse 0 warning",
        ({**PAIRS, "token_accuracy": "0:0.8 900:0.4"}, "3 : the model is broken, as token"),
        ({**PAIRS, "token_accuracy": "0:0.8 900:0.7"}, "out: the model is intact: token accuracy"),
        (PAIRS, ""),
    ),
    *held(
        "rate-too-high",
        "divergence 800 critical",
        ({"learning_rate": "0:1e-4 400:1e-4 800:1e-5 900:1e-5"}, "out: it had decayed to 10"),
        ({"learning_rate": "0:1e-4 400:1e-4 800:3e-5 900:3e-5"}, ""),
    ),
    *held(
        "rate-too-low",
        "plateau 0 warning",
        ({"learning_rate": "0:9e-9 900:9e-9"}, "4 : the peak rate is 9e-9, which is too low to"),
        ({"learning_rate": "0:1e-8 900:1e-8"}, "4 : the peak rate is 1e-8, 1/1,000 of the"),
        ({"learning_rate": "0:1e-6 900:1e-6"}, "4 : the peak rate is 1e-6, 1/10 of the usual"),
        ({"learning_rate": "0:2e-6 900:2e-6"}, "2 : the peak rate is 2e-6, 1/5 of the usual"),
        ({"learning_rate": "0:4e-6 900:4e-6"}, ""),
        ({"learning_rate": "0:1e-3 900:1e-3"}, "out: the peak rate of 1e-3 is above"),
    ),
    *held(
        "rate-zero",
        "plateau 400 warning",
        ({"learning_rate": "0:1e-4 440:1e-4 450:0 900:0"}, "6 : the rate is below 5"),
        ({"learning_rate": "0:1e-4 440:1e-4 450:0 900:0"}, "for 51"),
        ({"learning_rate": "0:1e-4 450:1e-4 460:0 900:0"}, ""),
        ({"learning_rate": "0:1e-4 400:1e-4 450:6e-6 900:6e-6"}, ""),
        ({"learning_rate": "0:1e-4 400:1e-4 450:4e-6 900:4e-6"}, "6 : the rate is below 5"),
    ),
    *held(
        "warmup-missing",
        "divergence 50 critical",
        (config(warmup_steps=0, learning_rate=1e-4), "1 : the first logged rate is the peak"),
        (
            {
                **config(warmup_steps=10, learning_rate=1e-4),
                "learning_rate": "0:1e-5 10:1e-4 900:1e-4",
            },
            "1 : the warm-up ends at step 10 of 900",
        ),
    ),
    *held("warmup-missing", "divergence 200 critical", (config(warmup_steps=0), "")),
    *held(
        "rate-leaves-plan",
        "divergence 500 critical",
        (
            {
                **config(learning_rate=1e-3, lr_scheduler_type="constant"),
                "learning_rate": "0:1e-3 400:1e-3 410:4e-3 900:4e-3",
            },
            "6 : the rate was 1e-3 before step 410 and 4e-3 at step 410, 4 × the configured 1e-3",
        ),
        (
            {
                **config(learning_rate=1e-3, lr_scheduler_type="constant"),
                "learning_rate": "0:1e-3 400:1e-3 410:1.6e-3 900:1.6e-3",
            },
            "1.6 × the configured 1e-3",
        ),
        (
            {
                **config(learning_rate=1e-3, lr_scheduler_type="constant"),
                "learning_rate": "0:1e-3 400:1e-3 410:1.4e-3 900:1.4e-3",
            },
            "",
        ),
    ),
)


@pytest.mark.parametrize(("kind", "found", "case", "words"), [*OPTIMISER, *DATA, *POLICY, *RATE])
def test_a_sign_says_what_it_is_for_at_its_border(
    kind: str, found: str, case: dict[str, Any], words: str
) -> None:
    """With its weight, at the last number that counts and at the first that does not."""
    said = asked(kind, found, dict(case))
    assert words in said if words else said == ""


THROWN = (
    *held(
        "rate-too-high",
        "divergence 600 critical",
        ({"train_loss": LEAPS.format(4)}, "1 : the loss had leaped 2 times before, from step 200"),
        ({"train_loss": LEAPS.format(3.8)}, ""),  # less than a doubling
    ),
    *held(
        "rate-too-high",
        "divergence 400 critical",
        ({"train_loss": STANDS.format(870, 880, 249.371)}, "2 Updates so large that the model"),
        ({"train_loss": STANDS.format(880, 890, 249.371)}, ""),  # two points
        ({"train_loss": STANDS.format(870, 880, 249.37)}, ""),  # five digits
    ),
    *held("rate-too-high", "loss-spike 400 critical", ({"train_loss": ONE_LEVEL}, "")),
    *held(
        "rate-too-high",
        "reward-flat 0 warning",
        ({**AGENT, "train_loss": "0:4 200:4 500:402 900:402"}, "2 The value function diverged: "),
        ({**AGENT, "train_loss": "0:4 200:4 500:398 900:398"}, ""),
        ({**AGENT, "value_loss": "0:4 200:4 500:500 900:4"}, "value loss rose from 4 to 483.5"),
        ({**AGENT, "task": "ppo", "value_loss": "0:4 200:4 500:500 900:4"}, ""),
        ({**AGENT, "value_loss": "0:4 30:4 40:900"}, ""),  # five points: no level of the start
    ),
    *held(
        "rate-too-low",
        "stuck-at-chance 0 warning",
        ({"train_loss": "0:2.302 70:2.300"}, "in a straight line"),
        ({"train_loss": "0:2.302 60:2.300"}, ""),  # seven points
        ({"train_loss": "0:2.302 900:2.2"}, "but by 4.2"),
        ({"train_loss": "0:2.3 900:2.299", "noise": 0.02}, ""),
        ({"train_loss": "0:2.3 900:2.4"}, ""),
        ({"train_loss": "0:3.3 10:2.4 900:2.3"}, ""),  # most of it at once
        ({"train_loss": "0:2.45 10:2.4 900:2.3"}, "fell steadily"),
        ({"train_loss": "0:2.9 150:2.303 900:2.3"}, ""),  # what stands since did not creep
    ),
    *held(
        "precision",
        "nan-grad 0 warning",
        ({"grad_norm": "0:nan 20:1 900:1", "policy_loss": LEVEL}, "2 : policy loss stayed finite"),
        ({"grad_norm": "0:inf 20:1 900:1"}, "2 : train loss stayed finite after 2 such updates"),
        ({"grad_norm": "0:inf 10:1 900:1"}, ""),
        ({"grad_norm": "0:inf 20:1 900:1", "train_loss": "0:2 500:2 510:inf 900:inf"}, ""),
    ),
    *held(  # the logger writes 0 for NaN: such a loss is no number
        "precision",
        "hidden-nan 20 critical, nan-grad 0 info",
        ({"grad_norm": "0:inf 900:inf", "train_loss": "0:2.4 10:2.4 20:0 900:0"}, ""),
    ),
    *held(
        "frozen-weights",
        "plateau 200 warning",
        ({**DEAD, "grad_norm": "0:0 900:0"}, "out: train loss fell from 4.800 to 3.000"),
        ({**DEAD, "eval_loss": LEVEL}, "6 The optimizer does not hold the model's parameters"),
    ),
    *held(
        "rate-leaves-plan",
        "divergence 400 critical",
        ({**PLAN, "learning_rate": "0:1e-3 390:1e-3 400:5e-5 900:5e-5"}, ""),  # less throws nothing
        ({**PLAN, "learning_rate": "0:1e-3 390:1e-3 400:5e-3 900:5e-3"}, "6 : the rate was 1e-3"),
    ),
    *held(
        "rate-leaves-plan",
        "divergence 400 critical",
        ({"learning_rate": "0:1e-3 390:1e-6 400:1e-3 900:5e-4"}, "3 A restart of the learning"),
        ({"learning_rate": "0:1e-3 190:1e-6 200:1e-3 900:5e-4"}, ""),  # long before
    ),
    *held(
        "memorised",
        "hockey-stick 300 warning",
        ({**TURNED, "train_loss": "0:4 250:1 900:1"}, "out: train loss stood, at medians of 1.000"),
        ({**TURNED, "train_loss": "0:4 250:1 850:0.9 900:0.9"}, "4 : the run made 9 passes"),
        # so low that repetition explains it
        ({**TURNED, "train_loss": "0:14 200:1 900:1"}, "4 : the run made 9 passes"),
    ),
    *held(
        "data-shift",
        "hockey-stick 300 warning",
        ({**TURNED, "train_loss": "0:4 250:1 900:1"}, "2 : train loss stood, at medians of 1.000"),
    ),
    *held(
        "capacity",
        "plateau 200 warning",
        ({"task": "classification", **config(num_labels=3), "train_loss": "0:1.1 900:0.6"}, ""),
        (
            {"task": "pretrain", **config(vocab_size=32000), "train_loss": "0:10.4 900:7"},
            "1 Bad initialization",
        ),
    ),
    *held(
        "rate-leaves-plan",
        "plateau 400 warning",
        (
            {**PLAN, "learning_rate": "0:1e-3 390:1e-3 400:2e-4 900:2e-4"},
            "2e-4 at step 400, 20\u202f% of the configured",
        ),
    ),
)


@pytest.mark.parametrize(("kind", "found", "case", "words"), THROWN)
def test_a_curve_tells_of_the_size_of_its_steps(
    kind: str, found: str, case: dict[str, Any], words: str
) -> None:
    """What leaped, stands, creeps or outlived its norm."""
    said = asked(kind, found, dict(case))
    assert words in said if words else said == ""


SCALER = message("OVERFLOW! Skipping step", "num", 1, 10, cause_kind="precision")


@pytest.mark.parametrize(
    ("begins", "case", "words"),
    [
        (0, {}, "2 The loss scaler skipped the first steps, and the schedule with them: the rate"),
        (0, config(fp16=True), "3 The loss scaler skipped"),
        (0, {"loss_scale": "0:8 900:8"}, "3 The loss scaler skipped"),
        (0, {"events": (SCALER,)}, "3 The loss scaler skipped"),
        (20, {}, "2 The loss scaler skipped"),
        (40, {}, ""),
    ],
)
def test_a_rate_that_is_zero_at_first_is_the_scalers(
    begins: int, case: dict[str, Any], words: str
) -> None:
    """The sooner if the log or the settings tell of one; later zeros are another matter."""
    said = asked("precision", f"lr-zero {begins} warning", dict(case), ends=60)
    assert said.startswith(words) if words else "scaler" not in said


@pytest.mark.parametrize(("falls", "said"), [(200, "out: 20 points lay flat"), (60, "6 ")])
def test_what_lay_flat_at_a_high_rate_does_not_wait_for_it(falls: int, said: str) -> None:
    """A rate that is lowered where nothing moves is a consequence."""
    rate = {"learning_rate": f"0:1e-4 {falls - 1}:1e-4 {falls}:1e-6 900:1e-6"}
    assert asked("rate-zero", "plateau 0 warning", rate).startswith(said)


def test_a_rate_that_comes_late_is_not_gone() -> None:
    """A rate of zero that ends is ruled out as one that decayed."""
    rate = {"learning_rate": "0:0 90:0 100:1e-4 900:1e-4"}
    assert asked("rate-zero", "lr-zero 0 warning", rate, ends=90) == "out: it rises after that"
    assert asked("rate-zero", "lr-zero 0 warning", rate).startswith("6 ")
