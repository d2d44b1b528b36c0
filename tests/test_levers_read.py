"""What two readers of 72 proposals found wrong in them, each with a run that shows it."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import runlens
from runlens.config_keys import as_found
from runlens.diagnosis import Diagnosis
from runlens.engine import diagnose
from runlens.rules.rule import drawn, message
from runlens.run import PLACING, STATES, Configured, Event, Run, State
from runlens.sources.console.messages import memory

OVERFIT: dict[str, Any] = {"train_loss": "0:2 1000:0.1", "eval_loss": "50:2 300:1.4 1000:2.4"}
OOM = (
    "CUDA out of memory. Tried to allocate 960.00 MiB. GPU 0 has a total capacity of 10.75 GiB of "
    "which 824.50 MiB is free. {}Of the allocated memory 5.07 GiB is allocated by PyTorch, and "
    "{} MiB is reserved by PyTorch but unallocated."
)
TWO = "Process 11 has 5.84 GiB memory in use. Process 12 has 4.10 GiB memory in use. "


def first(diagnosis: Diagnosis) -> str:
    """Return what to do first, as one text."""
    return " | ".join(f"{what}: {why}" for what, why in diagnosis.do_first.steps)


def diff(diagnosis: Diagnosis) -> list[str]:
    """Return the changed lines."""
    return [f"{sign} {text.strip()}" for sign, text in diagnosis.do_first.diff if sign.strip()]


def state(folder: Path, steps: int, epochs: int, per_epoch: float) -> Run:
    """Write and read the state of a Trainer whose evaluation loss turns at a third."""
    log: list[dict[str, float]] = []
    for step in range(10, steps + 1, 10):
        at = {"step": step, "epoch": step / per_epoch}
        log.append({**at, "loss": 2 * 0.99 ** (step / steps * 300) + 0.01})
        log.append({**at, "eval_loss": 1.4 + abs(step / steps - 0.3) * 1.5})
    known = {"global_step": steps, "epoch": steps / per_epoch, "save_steps": 500}
    whole = {"log_history": log, "max_steps": steps, "num_train_epochs": epochs, **known}
    (folder / "trainer_state.json").write_text(json.dumps(whole))
    return runlens.read(folder)


@pytest.mark.parametrize(
    ("steps", "epochs", "per_epoch", "old"),
    [
        (500, 10, 50.0, "- num_train_epochs=10,"),  # 10 epochs of 50 steps
        (300, 38, 8.0, "- max_steps=300,"),  # 37.5 epochs: max_steps was given, and rules
        (330, 42, 8.0, "- max_steps=330,"),
    ],
)
def test_the_length_of_a_run_is_changed_where_it_was_set(
    tmp_path: Path, steps: int, epochs: int, per_epoch: float, old: str
) -> None:
    """The Trainer's state names both; the one that it worked out changes nothing."""
    assert diff(diagnose(state(tmp_path, steps, epochs, per_epoch)))[0] == old


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0007517543981675069, "0.0007517543981675069"),
        (1e6, "1000000.0"),
        (2e-4, "2e-4"),
        (40.0, "40"),
        (True, "True"),
    ],
)
def test_an_old_value_loses_no_digit(value: object, text: str) -> None:
    """Its line must be found in the file."""
    assert as_found(value) == text


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"save_strategy": "steps", "save_steps": 320}, "Use checkpoint-320, if it was kept"),
        ({"save_strategy": "steps", "save_steps": 440}, "Use checkpoint-440, if it was kept"),
        ({"save_strategy": "steps", "save_steps": 460}, "For the next run, train for fewer epochs"),
        ({}, "Use a checkpoint from step 300 (epoch 3), if one was saved"),
    ],
)
def test_weights_that_can_exist_are_named(settings: dict[str, Any], words: str) -> None:
    """The nearest save to the best evaluation; none where it lies far from it."""
    case = drawn("x", framework="trl", noise=0.0, config={"num_train_epochs": 10}, **OVERFIT)
    run = replace(case, steps_per_epoch=100).run()
    added = {key: Configured(value, "args") for key, value in settings.items()}
    assert words in first(diagnose(replace(run, config={**run.config, **added})))


@pytest.mark.parametrize(
    ("used", "idle", "done", "cause", "todo"),
    [
        (TWO, "8.39", 0, "Other processes on the same card", "End the other processes"),
        ("", "1200.00", 50, "Fragmented memory", "expandable_segments"),
        ("", "1200.00", 0, "Model and batch do not fit on the GPU", "Halve the per-device batch"),
        ("", "8.39", 0, "Model and batch do not fit on the GPU", "Halve the per-device batch"),
    ],
)
def test_what_fills_the_card_is_read_from_the_message(
    used: str, idle: str, done: int, cause: str, todo: str
) -> None:
    """Other processes by their sizes, and room that is reserved in vain but in a first step."""
    text = OOM.format(used, idle)
    sizes: dict[str, Any] = {**memory(text)}
    run = drawn(
        "x",
        state=State("crashed", text, "certain", done_steps=done, planned_steps=500),
        events=(message(text, "oom", 1, done, **sizes),),
        config={"per_device_train_batch_size": 8},
        framework="trl",
        train_loss=f"0:2.2 {done}:2.2",
    ).run()
    diagnosis = diagnose(run)
    assert diagnosis.causes[0].what == cause
    too_large = "do not fit on the GPU" in diagnosis.causes[0].evidence_for
    assert not (used and too_large)  # the room that others take says nothing of the settings
    assert todo in first(diagnosis)


@pytest.mark.parametrize(
    ("stage", "size", "cause", "todo"),
    [
        (PLACING, 8, "The model does not fit on the GPU", "a smaller model, or use a card"),
        (STATES, 8, "The optimizer states do not fit next to the model", "8-bit optimizer"),
        (
            "the forward pass",
            8,
            "Model and batch do not fit on the GPU",
            "Halve the per-device batch",
        ),
        (
            "the forward pass",
            None,
            "Model and batch do not fit on the GPU",
            "Lower the per-device batch",
        ),
    ],
)
def test_what_helps_is_what_did_not_fit(
    stage: str, size: int | None, cause: str, todo: str
) -> None:
    """No batch makes room for weights or for states, and a neighbour's room is gone after one."""
    text = OOM.format(TWO if stage == STATES else "", "8.39")
    sizes: dict[str, Any] = {**memory(text)}
    events = (
        message("OutOfMemoryError", "fallback", 99, 0, exception="OutOfMemoryError", stage=stage),
        message(text, "oom", 1, 0, **sizes),
    )
    run = drawn(
        "x",
        state=State("crashed", text, "certain", done_steps=0, planned_steps=500),
        events=events,
        config={"per_device_train_batch_size": size} if size else {},
        framework="trl",
        train_loss="0:2.2 0:2.2",
    ).run()
    diagnosis = diagnose(run)
    assert diagnosis.causes[0].what == cause
    assert todo in first(diagnosis)
    assert ("per-device batch" in first(diagnosis)) is (stage == "the forward pass")


@pytest.mark.parametrize(("curve", "kept"), [("0:5 30:9", False), ("0:5 40:9", True)])
def test_memory_that_grew_at_few_records_may_be_of_longer_batches(
    curve: str, *, kept: bool
) -> None:
    """What is kept alive grows at each of them."""
    text = OOM.format("", "8.39")
    sizes: dict[str, Any] = {**memory(text)}
    run = drawn(
        "x",
        state=State("crashed", text, "certain", done_steps=50, planned_steps=500),
        events=(message(text, "oom", 1, 50, **sizes),),
        noise=0.0,
        train_loss="0:2.2 50:2.0",
        gpu_mem=curve,
    ).run()
    assert ("kept alive" in diagnose(run).causes[0].what) is kept


@pytest.mark.parametrize(
    ("earned", "cut"), [("0:0.8 600:0.9", False), ("0:0.9 300:0.6 600:0.6", True)]
)
def test_a_limit_is_raised_only_where_answers_are_cut(earned: str, *, cut: bool) -> None:
    """A reward for whole JSON that is earned while all is cut: the answer stood before the end."""
    form: dict[str, Any] = {"reward:valid_json": earned}
    run = drawn(
        "x",
        task="grpo",
        framework="trl",
        config={"max_completion_length": 128},
        len_clipped="0:0.95 600:0.96",
        len_mean="0:126 600:127",
        reward="0:0.5 600:0.5",
        **form,
    ).run()
    diagnosis = diagnose(run)
    assert ("+ max_completion_length=256," in diff(diagnosis)) is cut
    assert ("a stop string" in first(diagnosis)) is not cut


def test_nothing_is_memorised_where_train_loss_never_fell() -> None:
    """Fewer epochs are no lever then."""
    curves: dict[str, Any] = {
        "train_loss": "0:7.4 1000:7.39",
        "eval_loss": "50:7.5 300:7.45 1000:9.5",
    }
    run = replace(
        drawn("x", framework="trl", config={"num_train_epochs": 10}, **curves), steps_per_epoch=100
    )
    diagnosis = diagnose(run.run())
    assert all(cause.kind != "memorised" for cause in diagnosis.causes)
    assert not any("num_train_epochs" in line for line in diff(diagnosis))


def test_no_checkpoint_of_a_spent_policy_is_gone_back_to() -> None:
    """Half of the entropy was gone before it was saved."""
    run = drawn(
        "x",
        task="grpo",
        noise=0.01,
        entropy="0:2 100:0.5 500:0.05 900:0.01",
        reward="0:0.2 100:0.8 900:0.8",
    ).run()
    saved = [Event("checkpoint", at, data={"path": f"checkpoint-{at}"}) for at in (30, 300)]
    late, early = (replace(run, events=tuple(some)) for some in (saved[1:], saved))
    assert "no checkpoint from before step" in first(diagnose(late))
    assert "Go back to checkpoint-30" in first(diagnose(early))


@pytest.mark.parametrize(("every", "told"), [(450, True), (100, False)])
def test_a_step_between_two_saves_is_told_as_one(every: int, told: bool) -> None:
    """Where it is not known whether a run saved by steps, the interval is told."""
    case = drawn("x", framework="trl", noise=0.0, config={"num_train_epochs": 10}, **OVERFIT)
    run = replace(case, steps_per_epoch=100).run()
    added = {"save_steps": Configured(every, "args"), "save_strategy": Configured("epoch", "args")}
    shown = diagnose(replace(run, config={**run.config, **added})).do_first.steps
    assert shown[0][0] == "Use a checkpoint from step 300 (epoch 3), if one was saved"
    assert (f"save_steps is {every}" in shown[0][1]) == told


def test_a_new_rate_lies_below_the_one_at_which_the_warm_up_broke_the_run() -> None:
    """Half of a peak of 1e-4 is still above the 4e-5 that were too much."""
    run = drawn(
        "x",
        task="asr",
        config={"learning_rate": 1e-4, "warmup_steps": 500},
        train_loss="0:0.8 50:0.13 150:0.12 200:0.2 500:0.5 900:0.5",
        learning_rate="0:0 500:1e-4 900:1e-4",
    ).run()
    diagnosis = diagnose(run)
    assert any(one.rule == "warmup-shock" for one in diagnosis.findings)
    changed = [row for row in diagnosis.do_first.changes if row.setting == "learning_rate"]
    assert changed
    assert float(str(changed[0].new)) < 2e-5
