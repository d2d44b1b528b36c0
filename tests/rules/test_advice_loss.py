"""What findings on losses blame and propose: what common guides name, with the run's numbers."""

from dataclasses import replace
from typing import Any

import pytest

from runlens.rules import RULES
from runlens.rules.rule import Rule, drawn
from runlens.run import Event
from tests.rules.said import BY_SLUG, Said, ask, bad, check

SPIKES = "again and again"
FLAT_SFT: dict[str, Any] = {
    "train_loss": "0:5.2 100:4 900:3.95",
    "learning_rate": "0:2e-5 900:2e-5",
}
HIGH_START: dict[str, Any] = {
    "train_loss": "0:9.6 60:5.4 900:5.38",
    "learning_rate": "0:2e-5 900:2e-5",
}

SAID = {
    "A6 F1 start of an untrained model": Said(
        "plateau",
        drawn("high start", config={"vocab_size": 32000}, **HIGH_START),
        ("Wrong chat template or tokenizer, or a newly initialized head", "loss started at 9.4"),
        drawn("low start", **FLAT_SFT),
    ),
    "A42 F6 steps without a gain": Said(
        "plateau",
        drawn("flat", **FLAT_SFT),
        ("evidence Change since the second quarter", "standstill"),
    ),
    "B4 both losses high": Said(
        "plateau",
        drawn("flat", eval_loss="50:4.4 900:4.2", **FLAT_SFT),
        ("evidence Last eval loss 4.", "do Overfit one batch"),
    ),
    "B5 B6 B9 look at the label mask": Said(
        "plateau",
        drawn("flat", framework="axolotl", **FLAT_SFT),
        (
            "label mask, as the model sees them (axolotl preprocess",
            "needs a label that is not -100",
        ),
    ),
    "B7 rate below its range": Said(
        "plateau",
        drawn(
            "low",
            config={"learning_rate": 2e-6, "adapter": "lora"},
            train_loss="0:5.2 100:4 900:3.95",
            learning_rate="0:2e-6 900:2e-6",
        ),
        ("cause most likely Learning rate too low", "fix learning_rate: 2e-06 -> 0.0001"),
        drawn("usual", config={"adapter": "lora"}, **FLAT_SFT),
    ),
    "B8 no warm-up before a plateau": Said(
        "plateau",
        drawn("flat", **FLAT_SFT),
        ("fix warmup_steps: None -> 45",),
        drawn("warm", train_loss=FLAT_SFT["train_loss"], learning_rate="0:0 90:2e-5 900:2e-5"),
    ),
    "B10 weight decay above 0.1": Said(
        "plateau",
        drawn("decay", config={"weight_decay": 0.3, "lora_r": 16}, **FLAT_SFT),
        ("Weight decay too high | weight_decay is 0.3", "fix weight_decay: 0.3 -> 0.01"),
        drawn("usual decay", config={"weight_decay": 0.1, "lora_r": 16}, **FLAT_SFT),
    ),
    "B46 data checks": Said(
        "plateau",
        drawn("flat", **FLAT_SFT),
        ("do Count empty samples, samples over 4,096 tokens, samples with the same first 200",),
    ),
    "B12 wiring, not tuning": Said(
        "not-learning",
        bad("not-learning", "flat and high"),
        ("do Overfit one batch", "suspect the code"),
    ),
    "B13 frozen parameters": Said(
        "not-learning",
        bad("not-learning", "frozen"),
        (
            "cause most likely Frozen parameters, or parameters missing from the optimizer",
            "do Check requires_grad",
        ),
        bad("not-learning", "flat and high", max_grad_norm=1.0),
    ),
    "B11 range test": Said(
        "not-learning",
        bad("not-learning", "flat and high", learning_rate=2e-5),
        ("do Run a learning-rate range test",),
        bad("not-learning", "learning rate of almost nothing"),
    ),
    "B14 B43 initialisation and architecture": Said(
        "not-learning",
        drawn("new", task="pretrain", config={"vocab_size": 50257}, train_loss="0:10.8 900:10.8"),
        ("Bad initialization, normalization, attention mask or positions",),
        bad("not-learning", "flat and high"),
    ),
    "B15 label smoothing and teacher forcing": Said(
        "not-learning",
        bad("not-learning", "flat and high", learning_rate=2e-5, label_smoothing_factor=0.4),
        (
            "label smoothing of 0.4 raises the floor of the loss",
            "fix label_smoothing_factor: 0.4 -> 0.0",
            "by hand, as a mean over its shifted targets",
        ),
        None,
    ),
    "B17 F11 sawtooth": Said(
        "sawtooth",
        bad("sawtooth", "regular teeth", learning_rate=3e-4, gradient_accumulation_steps=1),
        (
            "fix learning_rate: 0.0003 -> 0.0001",
            "fix gradient_accumulation_steps: 1 -> 2",
        ),
    ),
    "F11 a mild sawtooth takes half": Said(
        "sawtooth",
        drawn("mild", config={"learning_rate": 3e-4}, train_loss="0:4 300:3.6 2000:0.8 ~0.38/150"),
        ("fix learning_rate: 0.0003 -> 0.00015",),
        bad("sawtooth", "regular teeth", learning_rate=3e-4),
    ),
    "B18 F7 oscillation": Said(
        "oscillation",
        bad(
            "oscillation",
            "with whole batches",
            learning_rate=3e-4,
            lr_scheduler_type="constant",
            gradient_accumulation_steps=2,
        ),
        (
            "at a tenth of the learning rate",
            "fix learning_rate: 0.0003 -> 0.0001",
            "fix gradient_accumulation_steps: 2 -> 8",
            "fix lr_scheduler_type: constant -> cosine",
            "fix warmup_steps",
        ),
    ),
    "B20 B23 a spike": Said(
        "loss-spike",
        bad("loss-spike", "single and tall", learning_rate=2e-4, max_grad_norm=0.0),
        (
            "cause most likely A few unusual batches",
            "cause possible No gradient clipping",
            "fix max_grad_norm: 0.0 -> 1.0",
            "fix learning_rate: 0.0002 -> 0.0001",
        ),
    ),
    "B20 a spike in the first tenth": Said(
        "loss-spike",
        drawn(
            "early",
            train_loss="0:3 70:2.6 80:9 90:2.55 900:1.2",
            config={"learning_rate": 2e-4, "max_steps": 900},
        ),
        ("fix warmup_steps",),
        bad("loss-spike", "single and tall", learning_rate=2e-4),
    ),
    "A28 rate at a loss spike": Said(
        "loss-spike",
        drawn(
            "rated",
            train_loss="0:3 300:1.5 500:1.4 510:5 520:1.4 900:1.2",
            learning_rate="0:2e-4 1000:0",
        ),
        ("evidence Learning rate at the peak 9.8", "at step 510"),
    ),
    "A28 rate at a gradient spike": Said(
        "grad-spike",
        drawn(
            "rated",
            noise={"train_loss": 0.02, "grad_norm": 0.1},
            train_loss="0:2.2 900:0.9",
            grad_norm="0:1 490:1 500:40 510:1 900:1",
            learning_rate="0:2e-4 1000:0",
        ),
        ("evidence Learning rate at the first spike 0.0001",),
    ),
    "A48 batch indices": Said(
        "loss-spike",
        bad(
            "loss-spike",
            "single and tall",
            total_train_batch_size=4,
            num_processes=1,
            per_device_train_batch_size=4,
        ),
        ("do Look at the batch at step 510 (samples 2,036 to 2,039)", "the length and the labels"),
    ),
    "B22 packing off for a while": Said(
        "loss-spike",
        bad("loss-spike", SPIKES, packing=True),
        ("fix packing: True -> False", "do Count empty samples"),
        bad("loss-spike", "single and tall", packing=True),
    ),
    "B24 G7 effective batch": Said(
        "loss-spike",
        bad(
            "loss-spike",
            SPIKES,
            per_device_train_batch_size=2,
            gradient_accumulation_steps=4,
            num_processes=8,
        ),
        ("evidence Samples per update 64.0 2 a device × 4 accumulated × 8 devices",),
    ),
    "B25 F17 fp32 for a few steps": Said(
        "loss-spike",
        bad("loss-spike", SPIKES, bf16=True),
        ("in fp32 (bf16: false) | if the fault is then gone, the precision is the cause",),
        bad("loss-spike", SPIKES),
    ),
    "B27 Adam's second moment": Said(
        "loss-spike",
        bad("loss-spike", SPIKES, adam_beta2=0.999),
        ("Slow second moment of Adam", "fix adam_beta2: 0.999 -> 0.95"),
        bad("loss-spike", SPIKES, adam_beta2=0.95),
    ),
    "B45 F7 small batches accumulate more": Said(
        "loss-spike",
        bad("loss-spike", SPIKES, per_device_train_batch_size=2, gradient_accumulation_steps=1),
        ("fix gradient_accumulation_steps: 1 -> 2",),
        bad("loss-spike", SPIKES, per_device_train_batch_size=64),
    ),
    "B44 C24 several processes": Said(
        "divergence",
        bad("divergence", "jumps", num_processes=8),
        (
            "do Repeat the run on one GPU with one seed, to see whether the processes differ",
            "if the problem goes away, the 8 processes",
            "gradients not averaged",
        ),
        bad("divergence", "jumps", num_processes=1),
    ),
    "B28 back to before a divergence": Said(
        "divergence",
        replace(
            bad("divergence", "jumps", learning_rate=3e-4, max_grad_norm=0.0),
            events=(Event("checkpoint", 300, data={"path": "out/checkpoint-300"}),),
        ),
        (
            "do Go back to checkpoint-300",
            "fix learning_rate: 0.0003 -> 0.0001",
            "fix max_grad_norm: 0.0 -> 1.0",
        ),
    ),
    "B15 smoothing at chance": Said(
        "stuck-at-chance",
        bad("stuck-at-chance", "four classes", label_smoothing_factor=0.5),
        ("Label smoothing too strong", "label smoothing of 0.5"),
        bad("stuck-at-chance", "four classes"),
    ),
    "B1 B2 B3 A47 overfitting": Said(
        "hockey-stick",
        replace(
            bad(
                "hockey-stick",
                "little data",
                num_train_epochs=6,
                lora_r=64,
                lora_dropout=0.0,
                weight_decay=0.0,
            ),
            steps_per_epoch=100,
        ),
        (
            "noisy | the run made 6 passes over the data, and evaluation was best after 2 passes",
            "fix num_train_epochs: 6 -> 2",
            "fix load_best_model_at_end: None -> True",
            "fix early_stopping_patience: None -> 3",
            "fix lora_dropout: 0.0 -> 0.05",
            "fix lora_r: 64 -> 32",
            "fix weight_decay: 0.0 -> 0.01",
            "do Add more training data",
        ),
    ),
    "A47 axolotl's own patience": Said(
        "hockey-stick",
        bad("hockey-stick", "little data", framework="axolotl"),
        ("fix early_stopping_patience: None -> 3",),
        bad("hockey-stick", "little data", framework="axolotl", early_stopping_patience=2),
    ),
    "B32 B33 B41 a flat evaluation": Said(
        "eval-flat",
        bad("eval-flat", "another template"),
        (
            "The template, tokenizer or label mask differs between training and evaluation",
            "Evaluate on ten training rows",
            "do Print one decoded evaluation sample with its label mask",
            "not Evaluation rows from the training set | it would fall with them",
        ),
    ),
    "B34 labels in the inputs": Said(
        "eval-leak",
        bad("eval-leak", "rows in both"),
        ("check that no input contains its target", "do Hash the rows of both sets"),
    ),
    "A43 B3 look at completions": Said(
        "eval-too-rare",
        bad("eval-too-rare", "off", framework="axolotl"),
        (
            "do Generate 10 completions every 1,000 steps, and read them",
            "fix val_set_size: None -> 0.05",
            "fix eval_steps: None -> 100",
        ),
    ),
}


@pytest.mark.parametrize("name", SAID)
def test_finding_says(name: str) -> None:
    """All the words, and none of the first of them where nothing in the run calls for it."""
    check(SAID[name])


@pytest.mark.parametrize("slug", ["sawtooth", "loss-spike", "oscillation", "divergence"])
def test_a_large_batch_is_never_blamed(slug: str) -> None:
    """F7: noise falls with the batch, whatever a guide says of very large ones."""
    for case in BY_SLUG[slug].bad:
        large = replace(case, config={**case.config, "per_device_train_batch_size": 4096})
        for finding in ask(slug, large.run()).findings:
            assert not [c for c in finding.causes if "batch too large" in c.what.lower()]
            assert not [f for f in finding.fixes if f.setting == "per_device_train_batch_size"]


def test_first_loss_of_a_fine_tune_above_six_is_told() -> None:
    """F1: no finding, but a word, where the start was that of a new model and the loss falls."""
    curve = "0:11.2 100:6 900:2"
    run = drawn("high", config={"vocab_size": 128256}, train_loss=curve).run()
    reason = ask("stuck-at-chance", run).reason
    assert "loss started at 11.2" in reason
    assert "tokenizer" in reason
    low = drawn("usual", config={"vocab_size": 128256}, train_loss="0:2.4 900:1").run()
    assert "starts at" not in ask("stuck-at-chance", low).reason


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.slug)
def test_what_takes_days_comes_last(rule: Rule[Any]) -> None:
    """A71: fixes go from fast to invasive."""
    for case in rule.bad:
        for finding in ask(rule.slug, case.run()).findings:
            days = [fix.cost == "days" for fix in finding.fixes]
            assert days == sorted(days), finding.fixes
