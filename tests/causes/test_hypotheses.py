"""Every cause is found where it was put in, and not where only its symptom is."""

from collections import Counter
from dataclasses import replace
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import numpy as np
import pytest

from runlens import causes
from runlens.cause import KINDS, OF_CLASS, UNKNOWN
from runlens.causes import HYPOTHESES
from runlens.causes.data import _repeats
from runlens.causes.hypothesis import Hypothesis
from runlens.engine import diagnose
from runlens.history import Curve
from runlens.rules import RULES
from runlens.rules.rule import Case, drawn, message
from runlens.run import Event, Setting, State, Task
from runlens.sources.console.messages import MESSAGES

LOST = "0:2.2 490:1.2 500:nan 900:nan"
FALLS = "0:3 300:1.6 900:1.2"
CRASH = State("crashed", "an exception", "certain", 1, done_steps=160, planned_steps=400)


def ended(text: str, kind: str, row: int, state: State = CRASH, **data: Any) -> Case:
    """Draw a run that a line of the log ends."""
    event = message(text, kind, row, 160, **data)
    return drawn("ended", state=state, events=(event,), train_loss="0:2.2 160:1.6")


CASES: dict[str, tuple[str, Case]] = {
    "the rate leaves its plan": (
        "rate-leaves-plan",
        drawn(
            "x",
            train_loss="0:3 400:1.5 500:4 900:9",
            learning_rate="0:1e-3 400:1e-3 500:2e-1 900:2e-1",
            config={"learning_rate": 1e-3, "lr_scheduler_type": "constant"},
        ),
    ),
    "a factor on the rate that hardly rose": (
        "rate-too-low",
        drawn("x", task="pretrain", train_loss="0:10.4 900:10.39", lrm="0:0 900:0.05"),
    ),
    "a policy that leaves a sampler that agreed with it": (
        "rate-too-high",
        drawn(
            "x",
            task="grpo",
            reward="0:0.9 100:0.9 140:0 900:0",
            is_ratio_mean="0:1 100:1 120:0.3 900:0.2",
            is_ratio_min="0:0.5 100:0.4 120:0.001 900:0.001",
            learning_rate="0:1e-4 900:1e-4",
            config={"learning_rate": 1e-4, "max_grad_norm": 1.0},
        ),
    ),
    "a sampler that never agreed": (
        "stale-policy",
        drawn(
            "x",
            task="grpo",
            reward="0:0.9 100:0.9 140:0 900:0",
            is_ratio_mean="0:0.3 900:0.2",
            is_ratio_min="0:0.001 900:0.001",
            learning_rate="0:1e-4 900:1e-4",
            config={"learning_rate": 1e-4, "max_grad_norm": 1.0},
        ),
    ),
    "a policy that had settled before its reward fell": (
        "exploration",
        drawn(
            "x",
            task="rl",
            reward="0:10 600:200 700:20 900:10",
            entropy="0:2 300:1.9 400:0.5 900:0.1",
            learning_rate="0:3e-4 900:3e-4",
        ),
    ),
    "a schedule that stands still, as the loss scaler skips each update": (
        "precision",
        drawn(
            "x",
            train_loss="0:3 400:1.5 500:4 900:9",
            learning_rate="0:1e-4 300:6.67e-5 900:6.67e-5",
            noise={"learning_rate": 0.0},
            state=State("finished", "", "certain", planned_steps=900),
            loss_scale="0:65536 300:65536 350:1 900:1",
            config={
                "learning_rate": 1e-4,
                "lr_scheduler_type": "linear",
                "max_steps": 900,
                "fp16": True,
            },
        ),
    ),
    "a rate a hundred times above the usual": (
        "rate-too-high",
        drawn(
            "x",
            task="pretrain",
            train_loss="0:9 200:4 400:6 900:8",
            learning_rate="0:0.2 900:0.2",
            config={"learning_rate": 0.2},
        ),
    ),
    "a rate multiplied by eight devices, under AdamW": (
        "rate-too-high",
        drawn(
            "x",
            train_loss="0:3 400:1.5 500:4 900:9",
            learning_rate="0:8e-4 900:8e-4",
            config={"learning_rate": 8e-4, "num_processes": 8, "lora_r": 16},
        ),
    ),
    "an eval loss that leaps ten thousandfold while training goes on": (
        "evaluation",
        drawn(
            "x",
            task="classification",
            train_loss="0:16 400:5",
            eval_loss="50:44 100:40 200:490000 400:490000",
            config={"num_train_epochs": 20},
            steps_per_epoch=20,
        ),
    ),
    "an eval loss that rises twentyfold over many passes": (
        "memorised",
        drawn(
            "x",
            task="classification",
            train_loss="0:1 400:0.01",
            eval_loss="50:0.1 100:0.05 400:1",
            config={"num_train_epochs": 20},
            steps_per_epoch=20,
        ),
    ),
    "a rate multiplied by more than one at each epoch": (
        "rate-leaves-plan",
        drawn(
            "x",
            noise={"train_loss": 0.02},
            train_loss="0:3 400:1.5 500:4 900:9",
            learning_rate=" ".join(f"{90 * k}:{1e-3 * 1.4**k:.6g}" for k in range(11)),
        ),
    ),
    "a clip ratio that is high in PPO, and nothing that is stale": (
        "rate-too-high",
        drawn(
            "x",
            task="ppo",
            reward="0:1 300:5 500:1 900:1",
            clip_ratio="0:0.1 290:0.1 300:0.5 900:0.5",
            kl_step="0:0.01 290:0.01 300:0.4 900:0.4",
            config={"ppo_epochs": 4},
        ),
    ),
    "updates that leave policy and entropy as they were": (
        "frozen-weights",
        Case(
            "x",
            {
                "reward": "0:1 "
                + " ".join(f"{10 * k}:{(1, -1, -1, 1, -1, 1, 1)[k % 7]}" for k in range(1, 40)),
                "kl_step": "0:0 400:0",
                "entropy": "0:0.3497 400:0.3497",
            },
            noise=0.0,
            task="rl",
        ),
    ),
    "the chat template of another family": (
        "labels-wrong",
        drawn(
            "x",
            noise=0.005,
            train_loss="0:5.5 100:4.5 900:4.45",
            learning_rate="0:1e-4 900:1e-4",
            grad_norm="0:1 900:1",
            config={
                "model_name": "meta-llama/Llama-3.1-8B-Instruct",
                "template": "chatml",
                "lora_r": 16,
            },
        ),
    ),
    "a rate that SGD does not survive": (
        "rate-too-high",
        drawn(
            "x",
            task="regression",
            train_loss="0:2 20:5 100:60 400:3e5 600:nan 900:nan",
            config={"optim": "sgd", "learning_rate": 30.0},
        ),
    ),
    "a rate a thousand times below the usual": (
        "rate-too-low",
        drawn("x", noise=0.001, train_loss="0:3.2 900:3.2", learning_rate="0:1e-9 900:1e-9"),
    ),
    "a plan of twenty updates": (
        "few-updates",
        drawn(
            "x",
            noise=0.0,
            train_loss="1:3.302 20:3.301 /1",
            state=State("finished", "", "certain", done_steps=20, planned_steps=20),
        ),
    ),
    "a rate that is gone after a tenth": (
        "rate-zero",
        drawn(
            "x",
            task="pretrain",
            config={"vocab_size": 509},
            train_loss="0:6.2 60:5.4 900:5.38",
            learning_rate="0:1e-3 10:1e-3 60:1e-5 900:1e-9",
        ),
    ),
    "a limit at a twentieth of the norm": (
        "clip-too-tight",
        drawn(
            "x",
            train_loss=FALLS,
            grad_norm="0:1 900:1",
            config={"max_grad_norm": 0.05},
            noise={"grad_norm": 0.05, "train_loss": 0.02},
        ),
    ),
    "a NaN that nothing announced": (
        "bad-batch",
        drawn("x", train_loss=LOST, grad_norm="0:1 490:1 500:nan 900:nan"),
    ),
    "two passes and a turn": (
        "memorised",
        drawn(
            "x",
            train_loss="0:2.2 300:0.9 900:0.1",
            eval_loss="50:1.9 300:1.2 900:2.0",
            steps_per_epoch=100,
        ),
    ),
    "an evaluation of other data, in the first pass": (
        "evaluation",
        drawn(
            "x",
            train_loss="0:4 100:2 900:1.2",
            eval_loss="50:6.0 900:6.6",
            steps_per_epoch=9000,
        ),
    ),
    "a gradient of zero": (
        "frozen-weights",
        drawn("x", train_loss="0:1.4 900:1.4", grad_norm="0:0 900:0", noise=0.001),
    ),
    "all labels masked": (
        "labels-masked",
        drawn("x", train_loss="0:0 900:0", grad_norm="0:0 900:0", noise=0.0),
    ),
    "a reward that is the same for all": (
        "reward-function",
        drawn("x", task="grpo", reward="0:0 600:0", frac_zero_std="0:1 600:1", noise=0.0),
    ),
    "samples of another policy": (
        "stale-policy",
        drawn(
            "x",
            task="grpo",
            reward="0:0.3 600:0.32",
            is_ratio_mean="0:1 30:0.2 600:0.2",
            is_ratio_min="0:0.5 600:0.1",
        ),
    ),
    "out of memory": ("memory", ended("CUDA out of memory. Tried to allocate 2 GiB", "oom", 1)),
    "a full disk": (
        "machine",
        ended(
            "RuntimeError: [enforce fail at inline_container.cc:1] . unexpected pos 2 vs 1",
            "fallback",
            99,
            exception="RuntimeError: [enforce fail at inline_container.cc:1] . unexpected pos 2",
            stage="saving a checkpoint",
        ),
    ),
    "an exception of the program": (
        "code-error",
        ended("KeyError: 'x'", "fallback", 99, exception="KeyError: 'x'", frame="train.py:3 in f"),
    ),
    "an answer that is always as long as the limit": (
        "length-limit",
        drawn("x", task="grpo", reward="0:0 600:0", len_mean="0:128 600:128", noise=0.0),
    ),
    "no evaluation has a loss, and all have a score": (
        "precision",
        drawn(
            "x",
            train_loss=FALLS,
            eval_loss="50:nan 900:nan",
            eval_accuracy="50:0.1 900:0.8",
            config={"amp": True},
        ),
    ),
    "a part of the parameters, though the evaluation moves": (
        "frozen-weights",
        drawn(
            "x",
            task="pretrain",
            train_loss="0:3.9 90:2.8 900:2.75",
            eval_loss="50:3.9 200:2.85 900:2.8",
            grad_norm="0:1 900:0.3",
            config={"trainable": 3055, "parameters": 109231, "vocab_size": 47},
        ),
    ),
    "a person": (
        "by-hand",
        ended(
            "KeyboardInterrupt",
            "kill",
            14,
            State("killed", "Ctrl-C", "certain", done_steps=160),
            cause_kind="by-hand",
        ),
    ),
    "a resume without its schedule": (
        "resume-state",
        drawn(
            "x",
            train_loss="0:3 440:1.6 450:2.4 900:1.5",
            learning_rate="0:1e-3 440:6e-4 450:1e-5 550:1e-3 900:6e-4",
            events=(Event("resume", 450),),
            config={"learning_rate": 1e-3, "lr_scheduler_type": "linear"},
        ),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_was_put_in_is_the_first_cause(name: str) -> None:
    """One run for each kind of cause, drawn with its input and its symptom."""
    kind, case = CASES[name]
    found = diagnose(case.run())
    told = [(cause.kind, cause.rank, cause.evidence_for) for cause in found.causes]
    assert told, found.verdict
    assert told[0][0] == kind, told
    assert found.causes[0].rank in {"most likely", "likely"}


@pytest.mark.parametrize(
    "case",
    [
        drawn("flat", train_loss="0:3.2 900:3.2"),
        drawn("norm", train_loss="0:3 300:1.6 500:4 900:4.5", learning_rate="0:1e-4 900:1e-4"),
        drawn("falls", task="grpo", reward="0:0.1 300:0.8 400:0.1 600:0.1"),
        drawn(
            "breaks off", train_loss=FALLS, state=State("stopped_early", "?", "likely", None, 90)
        ),
    ],
    ids=lambda case: case.name,
)
def test_without_a_positive_sign_nothing_is_likely(case: Case) -> None:
    """A constant rate, a metric that is not logged and a setting not recorded are no signs."""
    causes = diagnose(case.run()).causes
    assert [cause.kind for cause in causes[:1]] == [UNKNOWN]
    assert {cause.rank for cause in causes} == {"possible"}
    assert causes[0].experiment
    assert "of its highest so far" not in str(causes)
    assert "not recorded" not in str(causes)


def test_a_rate_that_left_its_plan_leads_over_all_that_followed() -> None:
    """The norm climbs, the loss rises and is lost: one input came before all of them."""
    case = drawn(
        "x",
        train_loss="0:3 400:1.5 480:6 500:nan 900:nan",
        grad_norm="0:1 420:1 480:90 500:nan 900:nan",
        learning_rate="0:1e-3 400:1e-3 500:2e-1 900:2e-1",
        config={"learning_rate": 1e-3, "lr_scheduler_type": "constant", "fp16": True},
    )
    found = diagnose(case.run())
    assert (found.causes[0].kind, found.causes[0].rank) == ("rate-leaves-plan", "most likely")
    steps = [domino.step for domino in found.story]
    assert found.story[0].what == "the learning rate went off schedule"
    assert found.story[0].metric == "learning_rate"
    assert steps == sorted(steps)
    assert found.story[-1].what == "the loss became NaN"


def test_a_departure_after_the_symptom_is_no_cause() -> None:
    """The loss diverged at 300; somebody lowered the rate at 700."""
    case = drawn(
        "x",
        train_loss="0:3 300:1.5 400:8 900:9",
        learning_rate="0:1e-3 700:1e-3 710:1e-5 900:1e-5",
        config={"learning_rate": 1e-3, "lr_scheduler_type": "constant"},
    )
    assert "rate-leaves-plan" not in {cause.kind for cause in diagnose(case.run()).causes}


def test_a_rate_scaled_with_its_devices_is_named_so() -> None:
    """Not where its share of one device is above the usual too, and not of two devices."""
    case = CASES["a rate multiplied by eight devices, under AdamW"][1]
    first = diagnose(case.run()).causes[0]
    assert "8e-4 over 8 devices is 1e-4, within the usual" in first.evidence_for
    others: tuple[dict[str, Setting], ...] = ({"num_processes": 2}, {"optim": "sgd"})
    for other in others:
        run = replace(case, config={**case.config, **other}).run()
        assert "devices" not in str(diagnose(run).causes)


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({}, True),
        ({"template": "llama3"}, False),
        ({"template": "default"}, False),  # says nothing
        ({"model_name": "meta-llama/Llama-3.1-8B"}, False),  # has no template of its own
    ],
)
def test_a_template_is_foreign_only_to_a_chat_model_of_another_family(
    config: dict[str, Setting], named: bool
) -> None:
    """And only where both are known by name."""
    case = CASES["the chat template of another family"][1]
    causes = diagnose(replace(case, config={**case.config, **config}).run()).causes
    assert ("The chat template of another model" in str(causes)) is named


@pytest.mark.parametrize(
    ("rates", "usual"),
    [
        (
            {},
            "labels that do not match the inputs and a learning rate that is too low",
        ),
        (
            {"learning_rate": "0:6e-5 900:6e-5"},  # not below the default
            "labels that do not match the inputs and a learning rate that is too high",
        ),
    ],
)
def test_where_nothing_speaks_what_is_usual_is_named(rates: dict[str, Any], usual: str) -> None:
    """With the experiment of the first; nothing that is excluded."""
    case = drawn(
        "x",
        noise=0.01,
        task="other",
        train_loss="0:2.3 900:2.3",
        grad_norm="0:1 900:1",
        **rates,
    )
    first = diagnose(case.run()).causes[0]
    assert first.kind == UNKNOWN
    assert usual in first.evidence_for


def test_a_loss_of_zero_to_the_end_is_of_no_few_batches() -> None:
    """It had a loss, so its labels are not masked; what else is usual is a clause."""
    case = drawn(
        "x",
        task="classification",
        steps_per_epoch=5,
        train_loss="0:1e-4 10:0 190:0",
        eval_loss="0:0 190:0",
    )
    first = diagnose(case.run()).causes[0]
    assert first.kind == UNKNOWN
    assert (
        "the usual causes are that the answer leaks into the input and a summed"
        in first.evidence_for
    )


def test_a_loss_that_fell_before_it_stood_has_labels_of_which_some_were_learned() -> None:
    """The rate is tried first, at ten times its size."""
    case = drawn("x", noise=0.01, task="regression", train_loss="0:8 80:5 900:5")
    first = diagnose(case.run()).causes[0]
    assert first.kind == UNKNOWN
    assert "the usual cause is a learning rate that is too low or too high" in first.evidence_for
    assert first.experiment.startswith("Run 100 steps at ten times")


@pytest.mark.parametrize(
    ("found", "kind"), [("50:0.09 2000:0.13", "evaluation"), ("50:0.3 2000:0.6", "memorised")]
)
def test_objects_that_are_never_found_were_not_lost_by_heart(found: str, kind: str) -> None:
    """A gap beside a score that was low from the start on: what was learned is of other classes."""
    gap = {"train_loss": "0:8 300:3 2000:1.2 /50", "eval_loss": "50:8 300:3.6 2000:3.5 /50"}
    case = drawn("x", noise=0.01, task="other", eval_map50=f"{found} /50", **gap)  # type: ignore[arg-type]
    run = replace(case, steps_per_epoch=50).run()
    (first, *_) = diagnose(run).causes
    assert first.kind == kind


@pytest.mark.parametrize(("task", "losses", "told"), [
    ("rl", "0:0 2000:0", True), ("rl", "0:0 2000:1e-4", False), ("grpo", "0:0 2000:0", False),
])  # fmt: skip
def test_an_agent_without_a_loss_is_told_nothing(task: Task, losses: str, told: bool) -> None:
    """Beside a reward that stays where it is; in GRPO a mean of 0 is usual."""
    case = drawn("x", (0, 10), 0.3, task=task, reward="0:0.8 2000:0.8", train_loss=f"{losses} /10")
    run = replace(case, noise={"reward": 0.3, "train_loss": 0.0}).run()
    said = [one.what for one in diagnose(run).causes]
    assert any("No action is told from another" in one for one in said) == told


def test_less_than_one_pass_is_not_memorised() -> None:
    """No row was seen twice: that is said where it is excluded."""
    case = CASES["an evaluation of other data, in the first pass"][1]
    (lead, *_) = diagnose(case.run()).findings
    assert "memorised" not in {cause.kind for cause in lead.causes}
    assert any("no row was seen twice" in out.why for out in lead.ruled_out)


def test_a_loss_that_repeats_itself_each_pass_is_of_the_order() -> None:
    """Rows over batch give the period, though no epoch is logged; shuffle is off."""
    config = {"train_rows": 9000, "per_device_train_batch_size": 60, "shuffle": False}
    case = drawn("x", train_loss="0:2 2000:1.9 ~0.8/150", config=config, framework="unknown")
    first = diagnose(case.run()).causes[0]
    assert first.kind == "data-order"
    assert "one pass over the data" in first.evidence_for


def test_memory_inside_a_collectives_error_is_memory() -> None:
    """NCCL fails with the error of a rank inside: the advice is not the network."""
    text = "RuntimeError: NCCL error in: ProcessGroupNCCL.cpp:2: unhandled cuda error"
    run = ended(text, "fallback", 99, exception=text).run()
    tail = ("node1: NCCL WARN Cuda failure 2 'out of memory'", text)
    assert diagnose(replace(run, log_tail=tail)).causes[0].kind == "memory"


@pytest.mark.parametrize(("version", "kind"), [("4.47.0", "library-defect"), ("4.50.1", "")])
def test_a_summed_loss_is_the_librarys_in_its_versions_alone(version: str, kind: str) -> None:
    """Train loss is as many times eval loss as batches are accumulated."""
    config: dict[str, Setting] = {
        "transformers_version": version,
        "gradient_accumulation_steps": 8,
        "max_grad_norm": 1.0,
    }
    case = drawn(
        "summed",
        train_loss="0:32 900:30",
        eval_loss="50:4 900:3.8",
        grad_norm="0:50 900:50",
        config=config,
    )
    kinds = {cause.kind for cause in diagnose(case.run()).causes}
    assert ("library-defect" in kinds) == bool(kind)


def test_memory_in_the_first_optimizer_step_is_that_of_its_states() -> None:
    """No longer batch, no fragments: the stage of the traceback says which memory it was."""
    text = "CUDA out of memory. Tried to allocate 2 GiB"
    events = (
        message(text, "oom", 1, 160),
        message(text, "fallback", 99, 160, exception=text, stage="an optimizer step"),
    )
    case = drawn("states", state=CRASH, events=events, train_loss="0:2.2 160:1.6")
    first = diagnose(case.run()).causes[0]
    assert (first.kind, "optimizer states" in first.what) == ("memory", True)
    assert "than the others" not in first.evidence_for


@pytest.mark.parametrize(
    ("done", "what"),
    [
        (0, "Model and batch do not fit on the GPU"),
        (1, "Model, batch and optimizer states do not fit on the GPU together"),
        (2, "Model, batch and optimizer states do not fit on the GPU together"),
        (3, "One batch with longer samples than the others"),
    ],
)
def test_memory_that_is_gone_with_the_first_update_is_of_no_longer_batch(
    done: int, what: str
) -> None:
    """The optimizer allocates its states there: from then on all of them are held."""
    event = message("CUDA out of memory. Tried to allocate 2 GiB", "oom", 1, done)
    state = State("crashed", "an exception", "certain", 1, done_steps=done, planned_steps=400)
    case = drawn("x", state=state, events=(event,))
    assert diagnose(case.run()).causes[0].what == what


def test_a_crash_outside_the_table_says_where_and_doing_what() -> None:
    """Exception, last frame of the user's own code, and the stage of the traceback."""
    case = ended(
        "ValueError: no",
        "fallback",
        99,
        exception="ValueError: no",
        frame="loop.py:31 in save",
        stage="saving a checkpoint",
    )
    first = diagnose(case.run()).causes[0]
    assert first.what == "ValueError while saving a checkpoint"
    assert "loop.py:31 in save" in first.evidence_for


def test_every_hypothesis_is_of_the_vocabulary() -> None:
    """Kinds, rules that it explains, words; each kind but the last resort has one."""
    slugs = {rule.slug for rule in RULES}
    for one in HYPOTHESES:
        assert one.kind in KINDS, f"{one.kind} is no key of KINDS in runlens/cause.py"
        assert not one.explains - slugs, f"{one.kind} explains what no rule finds"
        assert one.what, one.kind
        assert one.falsifier, one.kind
        assert one.experiment, one.kind
    kinds = Counter(one.kind for one in HYPOTHESES)
    twice = [kind for kind, times in kinds.items() if times > 1]
    assert not twice, f"{twice}: one hypothesis a kind; a sign of it has a name, Sign(..., what=)"
    written = [
        one
        for module in iter_modules(causes.__path__, "runlens.causes.")
        for one in vars(import_module(module.name)).values()
        if isinstance(one, Hypothesis)
    ]
    missing = [one.kind for one in written if one not in HYPOTHESES]
    assert not missing, f"not in HYPOTHESES of runlens/causes/ranking.py, so never asked: {missing}"
    assert {message.cause_kind for message in MESSAGES} - {""} <= set(KINDS)
    assert set(OF_CLASS.values()) <= set(KINDS)


@pytest.mark.parametrize(
    ("kind", "case"),
    [
        (
            "frozen-weights",  # the policy moved: its gradient is 0 where rewards are alike
            drawn(
                "alike",
                task="grpo",
                noise=0.0,
                reward="0:0 600:0",
                grad_norm="0:0 600:0",
                entropy="0:0.5 100:0.1 600:0.1",
            ),
        ),
        (
            "bad-batch",  # one stretch, not one place of each epoch
            drawn("epochs", steps_per_epoch=10, train_loss="0:0.6 10:0.5 20:nan 90:nan"),
        ),
        (
            "bad-batch",  # a point is the mean of an epoch
            drawn(
                "lost for an epoch",
                steps_per_epoch=1,
                noise=0.01,
                train_loss="0:1.6 10:0.9 110:0.5 120:2.9 130:0.5 300:0.2",
                learning_rate="0:1e-3 300:1e-3",
            ),
        ),
        (
            "bad-batch",  # twice as long as the optimizer remembers one
            drawn(
                "a hump",
                noise=0.02,
                train_loss="0:1.6 1500:0.5 20000:0.5 20010:2 21900:2 21910:0.5 40000:0.5",
                learning_rate="0:1e-3 40000:1e-3",
            ),
        ),
        (
            "bad-batch",  # the last norm of a log is not known to be over
            drawn("at the end", train_loss=FALLS, grad_norm="0:1 890:1 900:900"),
        ),
        (
            "rate-too-high",  # the first points rise by no more than noise does
            drawn(
                "noise",
                task="regression",
                noise=0.4,
                train_loss="0:0.7 10:1.2 20:1.0 900:1.0",
            ),
        ),
    ],
    ids=lambda one: one.name if isinstance(one, Case) else one,
)
def test_what_excludes_a_cause_is_seen(kind: str, case: Case) -> None:
    """Each has the symptom, and a sign by which it cannot be that cause."""
    assert kind not in {cause.kind for cause in diagnose(case.run()).causes[:1]}


@pytest.mark.parametrize(("until", "first"), [(20_900, "bad-batch"), (21_100, UNKNOWN)])
def test_a_batch_is_forgotten_after_a_thousand_updates(until: int, first: str) -> None:
    """Adam's mean of squares spans 1 / (1 - 0.999) updates: what lasts longer is of no batch."""
    run = drawn(
        "spike",
        noise=0.02,
        train_loss=f"0:1.6 1500:0.5 20000:0.5 20010:2 {until}:2 {until + 10}:0.5 40000:0.5",
        learning_rate="0:1e-3 40000:1e-3",
    ).run()
    assert diagnose(run).causes[0].kind == first


def test_a_rate_above_the_usual_is_not_too_low() -> None:
    """Though the policy hardly moved: ten times as much would be advice that harms."""
    for rate, named in ((1e-7, True), (1e-4, False)):
        run = drawn(
            "flat",
            task="grpo",
            noise={"reward": 0.3, "entropy": 0.001},
            reward="0:0.4 1500:0.4",
            entropy="0:0.5 1500:0.5",
            learning_rate=f"0:{rate} 1500:{rate}",
        ).run()
        assert ("rate-too-low" in {cause.kind for cause in diagnose(run).causes}) is named


@pytest.mark.parametrize(("task", "epochs", "stale"), [
    ("ppo", 10, False), ("ppo", 11, True), ("grpo", 1, True),
])  # fmt: skip
def test_a_clip_ratio_tells_of_stale_samples_where_a_batch_is_used_too_often(
    task: Task, epochs: int, *, stale: bool
) -> None:
    """PPO uses each batch for several epochs; one update of GRPO has a ratio of 1."""
    case = drawn(
        "x",
        task=task,
        reward="0:1 300:5 500:1 900:1",
        clip_ratio="0:0.1 290:0.1 300:0.5 900:0.5",
        config={"ppo_epochs": epochs},
    )
    kinds = [cause.kind for cause in diagnose(case.run()).causes]
    assert ("stale-policy" in kinds) is stale


def test_several_losses_at_each_step_are_no_pass_that_repeats() -> None:
    """Rows of a log that counts nothing else all stand at its epochs."""
    step = np.repeat(np.arange(1, 5), 8)
    nothing = np.full(32, np.nan)
    train = Curve(step, np.linspace(2.0, 1.0, 32), nothing, nothing)
    assert _repeats(train, 8.0) == 0.0


@pytest.mark.parametrize(
    ("loss", "config", "to_blame"),
    [
        ("0:5.6 100:4.9 300:4.5 900:4.45", {}, False),  # ChatGLM's P-tuning: falls at once
        ("0:5.6 40:6.5 100:4.9 300:4.5 900:4.45", {}, True),  # the first updates threw it
        ("0:5.6 100:4.9 300:4.5 900:4.45", {"lora_r": 16}, True),
    ],
)
def test_a_loss_that_falls_at_the_rates_of_prompts_was_not_thrown_by_them(
    loss: str, config: dict[str, Setting], *, to_blame: bool
) -> None:
    """No weights and no adapter learn at 2e-2; which of them trains is not recorded."""
    rate: dict[str, Any] = {"learning_rate": "0:2e-2 900:0"}
    case = drawn("x", noise=0.002, train_loss=loss, config=config, **rate)
    causes = diagnose(case.run()).causes
    assert ("rate-too-high" in {cause.kind for cause in causes[:1]}) is to_blame


def test_a_rate_that_is_off_for_a_single_record_was_set_by_something_else() -> None:
    """A scheduler that is wrong stays wrong."""
    rate: dict[str, Any] = {"learning_rate": "0:1e-3 390:1e-3 400:4e-2 410:1e-3 900:1e-3"}
    config: dict[str, Setting] = {"learning_rate": 1e-3, "lr_scheduler_type": "constant"}
    loss = "0:3 390:1.5 400:1.5 410:4 500:1.6 900:1.5"
    noise = {"learning_rate": 0.0, "train_loss": 0.01}
    case = drawn("x", noise=noise, config=config, train_loss=loss, **rate)
    first = diagnose(case.run()).causes[0]
    assert first.kind == "rate-leaves-plan"
    assert "Something other than the scheduler" in first.what
