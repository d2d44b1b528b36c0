"""What forbids a comparison of two runs, what is to be minded, and what is not known."""

from typing import Any

import pytest

from runlens.comparing.gate import checks, family
from runlens.comparison import Check
from runlens.run import Event, Run, Setting
from tests.comparing.drawn_pairs import ARGUMENTS, run, with_

EVALUATED = {
    "eval_loss": "50:1.9 1000:1.2",
    "eval_runtime": "50:4 1000:4",
    "eval_throughput_samples": "50:25 1000:25",
}


def said(a: Run, b: Run) -> dict[str, Check]:
    """Return the checks of two runs by name."""
    return {check.what: check for check in checks(a, b)}


def failed(a: Run, b: Run) -> list[str]:
    """Return the hard points that fail."""
    return [check.what for check in checks(a, b) if check.hard and check.ok is False]


def evaluated(
    samples: float = 100, noise: str = "one", loss: str = "50:1.9 1000:1.2", **more: Any
) -> Run:
    """Draw a run that was evaluated on so many samples."""
    speed = f"50:{samples / 4} 1000:{samples / 4}"
    curves = {**EVALUATED, "eval_throughput_samples": speed, "eval_loss": loss}
    return run(more.pop("config", {}), {**curves, **more}, noise=noise)


@pytest.mark.parametrize(
    ("a", "b", "what"),
    [
        ({"vocab_size": 32000}, {"vocab_size": 50257}, "Tokenizer"),
        ({"tokenizer": "a/bpe-32k"}, {"tokenizer": "a/bpe-64k"}, "Tokenizer"),
        ({"model_type": "llama"}, {"model_type": "gpt2"}, "Base model"),
        ({"model_name": "meta-llama/Llama-3-8B"}, {"model_name": "Qwen/Qwen2-7B"}, "Base model"),
        ({"train_on_inputs": True}, {"train_on_inputs": False}, "Tokens that count in the loss"),
        ({"completion_only_loss": True}, {"completion_only_loss": False},
         "Tokens that count in the loss"),
        ({"roles_to_train": "assistant"}, {"roles_to_train": "user, assistant"},
         "Tokens that count in the loss"),
        ({"loss_type": "sigmoid"}, {"loss_type": "hinge"}, "Type of loss"),
        ({"label_smoothing_factor": 0.0}, {"label_smoothing_factor": 0.1}, "Label smoothing"),
        ({"test_datasets.0.path": "a/x"}, {"test_datasets.0.path": "a/y"}, "Evaluation set"),
        ({"val_set_size": 0.05}, {"val_set_size": 0.2}, "Evaluation set"),
        ({"chat_template": "chatml"}, {"chat_template": "llama3"}, "Chat template"),
    ],
)  # fmt: skip
def test_a_hard_point_that_differs_fails(
    a: dict[str, Setting], b: dict[str, Setting], what: str
) -> None:
    """Both values are said, and what may still be compared."""
    one, other = evaluated(config=a), evaluated(config=b)
    assert failed(one, other) == [what]
    found = said(one, other)
    assert " in A and " in found[what].why
    assert "What still compares" in found


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ({"learning_rate": 1e-4}, {"learning_rate": 1e-3}),
        ({"vocab_size": 32000}, {"vocab_size": 32064}),
        ({"tokenizer": "/data/bpe-32k"}, {"tokenizer": "me/bpe-32k"}),
        (
            {"model_name": "meta-llama/Llama-3-8B"},
            {"model_name": "meta-llama/Llama-3-70B-Instruct"},
        ),
        ({"model_name": "./my-checkpoint"}, {"model_name": "Qwen/Qwen2-7B"}),
        ({"train_on_inputs": "False"}, {"train_on_inputs": False}),
        ({"train_on_inputs": True}, {}),
        ({"seed": 1}, {"seed": 2}),
        ({"gradient_accumulation_steps": 2}, {"gradient_accumulation_steps": 4}),
    ],
)
def test_other_changes_and_unknown_values_fail_nothing(
    a: dict[str, Setting], b: dict[str, Setting]
) -> None:
    """A comparison is forbidden by what is known alone."""
    assert failed(evaluated(config=a), evaluated(config=b, noise="two")) == []


def test_two_runs_that_differ_in_the_rate_alone_pass_what_is_known() -> None:
    """And the one setting is named."""
    shared: dict[str, Setting] = {**ARGUMENTS, "vocab_size": 32000, "model_type": "llama"}
    a = evaluated(config=shared)
    b = evaluated(
        config={**shared, "learning_rate": 1e-3}, noise="two", learning_rate="0:0 50:1e-3 1000:0"
    )
    found = said(a, b)
    known = ("Task", "Tokenizer", "Base model", "Evaluation set", "Label smoothing")
    assert all(found[what].ok for what in known)
    assert found["Settings changed at once"].why == "learning_rate alone"
    assert not [check.what for check in found.values() if check.ok is False]


def test_what_nothing_records_is_not_known_to_be_equal() -> None:
    """Neither equal nor different."""
    found = said(run({}), run({}))
    assert found["Tokenizer"].ok is None
    assert found["Tokenizer"].why == "not known to be equal"
    assert found["Evaluation set"].why == "A and B were never evaluated"


def test_the_size_of_the_evaluation_set_is_read_from_its_times() -> None:
    """Seconds times samples a second; rounding and another speed are no other set."""
    assert failed(evaluated(100), evaluated(200)) == ["Evaluation set"]
    why = said(evaluated(100), evaluated(200))["Evaluation set"].why
    assert why == "an evaluation takes 100 samples in A and 200 in B"
    faster = evaluated(
        100, eval_runtime="50:2.001 1000:2.001", eval_throughput_samples="50:49.975 1000:49.975"
    )
    assert said(evaluated(100), faster)["Evaluation set"].ok


def test_another_eval_loss_of_one_training_is_another_set() -> None:
    """Every train loss is equal: the model is the same."""
    assert failed(evaluated(), evaluated(loss="50:2.9 1000:2.2")) == ["Evaluation set"]
    assert failed(evaluated(), evaluated(noise="two", loss="50:2.9 1000:2.2")) == []


def test_one_model_has_one_loss_before_training() -> None:
    """Another template or set shows at step 0; another precision moves it a little."""
    start, far, near = "0:1.9 1000:1.2", "0:2.6 1000:1.2", "0:2.0 1000:1.2"
    model: dict[str, Setting] = {"model_name": "me/base", "bf16": True}
    half: dict[str, Setting] = {"model_name": "me/base", "fp16": True}
    a = evaluated(loss=start, config=model)
    what = "Eval loss before training"
    assert what in failed(a, evaluated(loss=far, config=model, noise="two"))
    assert said(a, evaluated(loss=near, config=half, noise="two"))[what].ok
    assert what not in said(a, evaluated(loss=far, config={"model_name": "me/other"}, noise="two"))


def test_a_loss_that_is_multiplied_by_accumulation_is_no_divergence() -> None:
    """4 times from the first step on, with 4 steps of accumulation in one run."""
    times = {"train_loss": "0:8.8 300:5.6 1000:4.4"}
    settings: dict[str, Setting] = {"gradient_accumulation_steps": 4}
    a, b = run({"gradient_accumulation_steps": 1}), run(settings, times)
    assert failed(a, b) == ["Scale of the loss"]
    assert "4 ×: scaled by accumulation" in said(a, b)["Scale of the loss"].why


def test_a_loss_that_starts_elsewhere_is_not_scaled() -> None:
    """No whole multiple, or one that does not last."""
    settings: dict[str, Setting] = {"gradient_accumulation_steps": 2}
    a = run({"gradient_accumulation_steps": 1})
    assert failed(a, run(settings, {"train_loss": "0:3.4 300:1.4 1000:1.1"})) == []
    assert failed(a, run(settings, {"train_loss": "0:4.4 20:2.2 1000:1.1"})) == []


def test_tasks_of_another_kind_do_not_compare() -> None:
    """Two kinds of next-token losses are told apart by their levels: that proves nothing."""
    assert failed(run({}, task="sft"), run({}, task="dpo"))[0] == "Task"
    assert failed(run({}, task="sft"), run({}, task="pretrain")) == []


def test_a_classifier_may_have_another_base_model() -> None:
    """Its loss is over classes, not tokens; their number matters."""
    a = run({"model_name": "bert-base", "num_labels": 2}, task="classification")
    b = run({"model_name": "roberta-base", "num_labels": 2}, task="classification")
    c = run({"model_name": "roberta-base", "num_labels": 3}, task="classification")
    assert failed(a, b) == []
    assert said(a, b)["Base model"].ok is False
    assert failed(a, c) == ["Classes"]


def test_bits_per_byte_compare_across_tokenizers() -> None:
    """Else a task metric does; else the shapes alone."""
    a, b = {"vocab_size": 32000}, {"vocab_size": 50257}
    bits = {"eval_bits_per_byte": "50:1.2 1000:0.9"}
    assert said(run(a, bits), run(b, bits))["What still compares"].why.startswith(
        "eval_bits_per_byte"
    )
    task = {"eval_accuracy": "50:0.5 1000:0.8"}
    assert said(run(a, task), run(b, task))["What still compares"].why.startswith("eval_accuracy")
    assert said(run(a), run(b))["What still compares"].ok is None


def test_soft_points_are_said_and_forbid_nothing() -> None:
    """Precision, lengths, dropout, seeds, a resume, several changes at once."""
    a = run(with_(bf16=True, packing=True, max_length=2048, lora_dropout=0.0))
    settings = {"fp16": True, "packing": False, "max_length": 4096, "lora_dropout": 0.1, "seed": 7}
    b = run({**ARGUMENTS, **settings}, events=(Event("resume", 300),))
    found = said(a, b)
    soft = {what for what, check in found.items() if check.ok is False}
    assert soft == {
        "Precision", "Packing", "Sequence length", "Dropout", "Resume", "Seed",
        "Settings changed at once",
    }  # fmt: skip
    assert not any(found[what].hard for what in soft)
    assert found["Resume"].why == "B was resumed at step 300"
    assert (
        "the difference cannot be attributed to one of them"
        in found["Settings changed at once"].why
    )


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Meta-Llama-3.1-8B-Instruct", "llama 3.1"),
        ("llama-2-13b-hf", "llama 2"),
        ("TinyLlama-1.1B-Chat-v1.0", "llama"),
        ("DeepSeek-R1-Distill-Qwen-7B", "qwen"),
        ("bert-base-uncased", "bert"),
        ("roberta-large", "roberta"),
        ("gpt2-medium", "gpt2"),
        ("my-adopted-model", ""),
    ],
)
def test_the_family_of_a_model_is_in_its_name(name: str, expected: str) -> None:
    """With its generation, without its size; a word that only holds the letters is none."""
    assert family(name) == expected


def of_tokens(per_step: float, noise: str, eval_samples: float = 100, **config: Setting) -> Run:
    """Draw a run of 1,000 steps that counts its tokens."""
    tokens = f"0:0 1000:{1000 * per_step}"
    return evaluated(eval_samples, noise, tokens=tokens, config=dict(config))


@pytest.mark.parametrize(
    ("b", "what"),
    [
        (of_tokens(2075, "two"), ["Tokens of a sample"]),  # 14 %: no ratio of batches
        (of_tokens(1850, "two"), []),  # texts of equal number differ a little
        (of_tokens(3628, "two"), []),  # twice: another batch
        (of_tokens(2075, "two", 200), ["Evaluation set"]),
        (of_tokens(2075, "two", max_length=512), []),  # the setting says why
    ],
)
def test_one_set_with_other_numbers_of_tokens_is_other_text(b: Run, what: list[str]) -> None:
    """As many steps over as many samples: the loss is of other tokens."""
    assert failed(of_tokens(1814, "one", max_length=1024), b) == what
