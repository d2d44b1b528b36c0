"""A change is named as the run names it, and checked before it is printed."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from runlens import sources
from runlens.cause import KINDS
from runlens.diagnosis import Fix
from runlens.knowledge.constraints import CONSTRAINTS, refused
from runlens.knowledge.dialects import DIALECTS, Dialect, place_of
from runlens.knowledge.levers import LEVERS
from runlens.knowledge.snippets import in_words
from runlens.knowledge.written_changes import Change, lines, told
from runlens.proposals import levers, objection, proposal
from runlens.rules.evaluation.overfit_advice import keep_best
from runlens.rules.rule import drawn
from runlens.run import Configured, Run
from runlens.signals import Signals


def run(config: dict[str, Any] | None = None, *, file: str = "", **more: Any) -> Run:
    """Return a run of 1,000 steps; each setting under a key of `file`, "canonical=as written"."""
    known: dict[str, Configured] = {}
    for key, value in (config or {}).items():
        name, _, spelled = key.partition("=")
        known[name] = Configured(value, file or "x.wandb", spelled or name, file or "x.wandb")
    framework = more.pop("framework", "unknown")
    made = drawn("r", **{"train_loss": "0:3 1000:1", "framework": framework, **more}).run()
    return Run(**{**vars(made), "config": known})


def shown(of: Run, *group: Fix) -> list[str]:
    """Return the diff of one lever, sign by sign; what is done in words with a ``do`` before."""
    kept = proposal(of, Signals(of), group)
    if kept is None:
        return []
    return [f"{sign} {text}" for sign, text in lines(kept.changes)] + [
        f"do {fix.what}" for fix in kept.actions
    ]


SOURCES = Path(sources.__file__).parent
CLIP = Fix("Clip the gradient", "max_grad_norm", None, 2.6)


@pytest.mark.parametrize(
    ("of", "diff"),
    [
        (
            run({"max_grad_norm=grad_clip": 0.05}, file="config.yaml"),
            ["  config.yaml", "- grad_clip: 0.05", "+ grad_clip: 2.6"],
        ),
        (
            run({"max_grad_norm=optim.clip": 0.05}, file="conf/train.json"),
            ["  conf/train.json", '  "optim": {', '-   "clip": 0.05,', '+   "clip": 2.6,'],
        ),
        (
            run({"max_grad_norm": 0.05}, framework="transformers"),
            ["  TrainingArguments(", "-     max_grad_norm=0.05,", "+     max_grad_norm=2.6,",
             "      ...,", "  )"],
        ),
        (
            run(framework="lightning"),
            ["  Trainer(", "+     gradient_clip_val=2.6,", "      ...,", "  )"],
        ),
        (
            run({"max_grad_norm=clip_norm": 0.05}, file="train.log", framework="fairseq"),
            ["  fairseq-train", "- --clip-norm 0.05", "+ --clip-norm 2.6"],
        ),
        (run(framework="keras"),
         ["  the optimizer(", "+     global_clipnorm=2.6,", "      ...,", "  )"]),
        (
            run({"max_grad_norm=actor_rollout_ref.actor.grad_clip": 1.0}, framework="verl"),
            ["  the command line", "- actor_rollout_ref.actor.grad_clip=1",
             "+ actor_rollout_ref.actor.grad_clip=2.6"],
        ),
        (
            run({"max_grad_norm=clip_grad": 1.0}, framework="megatron"),
            ["  the command line", "- --clip-grad 1", "+ --clip-grad 2.6"],
        ),
        (
            run({"max_grad_norm=grad_clip": 1.0}, framework="nanogpt"),
            ["  the config of nanoGPT", "- grad_clip = 1", "+ grad_clip = 2.6"],
        ),
    ],
)  # fmt: skip
def test_a_change_is_written_as_the_run_writes_it(of: Run, diff: list[str]) -> None:
    """The user's own file and spelling first, else the framework's own call."""
    assert shown(of, CLIP) == diff


def test_a_flag_with_dots_is_recorded_as_a_nested_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    """The row of the framework says how it is written: ``--opt.clip 2.6``, not ``opt.clip=2.6``."""
    row = Dialect("flags", "the command line", {"max_grad_norm": "opt.clip"}, "drawn")
    monkeypatch.setattr("runlens.knowledge.dialects.DIALECTS", {"dotted": row})
    for name in ("opt.clip", "opt/clip"):
        of = run({f"max_grad_norm={name}": 1.0}, framework="dotted")
        assert shown(of, CLIP) == ["  the command line", "- --opt.clip 1", "+ --opt.clip 2.6"]


def test_where_nothing_names_a_setting_words_say_what_to_do() -> None:
    """A foreign name is no help: a sentence with the number, no diff line."""
    (told,) = shown(run(), CLIP)
    assert told.startswith("do Clip the gradient")
    assert "2.6" in told


def test_the_record_of_a_default_is_no_line_of_the_users_file() -> None:
    """Axolotl's YAML does not name it: it is added there, without an old value."""
    known = {
        "base_model": Configured("x", "a.yaml", "base_model", "a.yaml"),
        "max_grad_norm": Configured(1.0, "b.wandb", "max_grad_norm", "b.wandb"),
    }
    of = Run(**{**vars(run(framework="axolotl")), "config": known})
    assert shown(of, CLIP) == ["  a.yaml", "+ max_grad_norm: 2.6"]


def test_what_is_set_already_is_not_proposed() -> None:
    """A change that changes nothing is none."""
    assert shown(run({"max_grad_norm": 2.6}), CLIP) == []
    on = Fix("Keep the best model", "load_best_model_at_end", None, new=True)
    assert shown(run({"load_best_model_at_end": "true"}, framework="trl"), on) == []


BEST = Fix("Keep the best model", "load_best_model_at_end", None, new=True)


def test_the_best_model_is_kept_with_what_the_trainer_asks_for() -> None:
    """It raises ValueError where save_steps is no multiple of eval_steps."""
    of = run(
        {"eval_strategy": "steps", "eval_steps": 35, "save_strategy": "no", "save_steps": 500},
        framework="transformers",
    )
    text = "\n".join(shown(of, BEST))
    assert "+     load_best_model_at_end=True," in text
    assert "+     save_strategy='steps'," in text
    assert "+     save_steps=35," in text


def test_without_an_evaluation_there_is_no_best_model() -> None:
    """Nothing beside it would make the Trainer take it."""
    assert shown(run({"eval_strategy": "no"}, framework="transformers"), BEST) == []


@pytest.mark.parametrize(
    ("settings", "key", "task"),
    [
        ({"fp16": True, "bf16": True}, "bf16", "sft"),
        ({"max_steps": 300, "num_train_epochs": 2}, "num_train_epochs", "sft"),
        ({"num_generations": 16, "per_device_train_batch_size": 8}, "num_generations", "grpo"),
        ({"num_generations": 1}, "num_generations", "grpo"),
    ],
)
def test_what_the_framework_refuses_is_not_proposed(
    settings: dict[str, Any], key: str, task: str
) -> None:
    """Each by the row of the constraint."""
    of = run(framework="transformers", task=task)
    assert refused(of, settings, frozenset({key}))
    assert not refused(run(), settings, frozenset({key}))


def test_completions_are_not_masked_where_most_are_cut() -> None:
    """Nothing would be left of the loss."""
    mask = Fix("Leave cut completions out", "mask_truncated_completions", None, new=True)
    grpo: dict[str, Any] = {"task": "grpo", "framework": "trl", "reward": "0:0 1000:1"}
    assert shown(run(len_clipped="0:0.9 1000:0.9", **grpo), mask) == []
    assert shown(run(len_clipped="0:0.1 1000:0.1", **grpo), mask)


def test_new_settings_set_off_no_rule_of_ours() -> None:
    """A limit below the usual norm cuts every step: that is a finding of its own."""
    of = run({"max_grad_norm": 10.0}, grad_norm="0:3 1000:3", task="sft")
    assert objection(of, Signals(of), {"max_grad_norm": 0.5}) == "clip-saturation"
    assert objection(of, Signals(of), {"max_grad_norm": 6.0}) == ""
    tuned = run({"learning_rate": 1e-4, "adapter": "lora"}, task="sft",
                learning_rate="0:1e-4 1000:1e-4")  # fmt: skip
    assert objection(tuned, Signals(tuned), {"learning_rate": 5e-2}) == "lr-out-of-range"


def test_a_lever_goes_the_way_of_its_cause() -> None:
    """A rate that is too high is not raised, whatever a finding proposes."""
    of = run({"learning_rate": 1e-3})
    up = Fix("Raise the learning rate", "learning_rate", 1e-3, 1e-2)
    down = Fix("Lower the learning rate", "learning_rate", 1e-3, 1e-4)
    (lever,) = levers(of, Signals(of), "rate-too-high", [up, down])
    assert lever.changes[0].new == 1e-4
    assert levers(of, Signals(of), "bad-batch", [up, down]) == []


@pytest.mark.parametrize(
    ("floor", "diff"),
    [
        (0.01, ["- learning_rate = 0.01", "+ learning_rate = 6e-4", "- min_lr = 0.01",
                "+ min_lr = 6e-5"]),
        (1e-5, ["- learning_rate = 0.01", "+ learning_rate = 6e-4"]),
    ],
)  # fmt: skip
def test_a_rate_is_not_lowered_below_the_floor_of_its_schedule(
    floor: float, diff: list[str]
) -> None:
    """It would climb to the floor: what was to be lower is raised."""
    of = run({"learning_rate": 0.01, "min_lr": floor}, file="train.py", framework="nanogpt")
    (_, *said) = shown(of, Fix("Lower", "learning_rate", 0.01, 6e-4))
    assert said == diff


def test_every_row_names_its_source_and_a_known_kind() -> None:
    """Knowledge without a place where it was read is hearsay."""
    assert all(row.source for row in CONSTRAINTS)
    assert all(dialect.source for dialect in DIALECTS.values())
    assert LEVERS.keys() <= KINDS.keys()


def test_every_framework_with_a_row_is_named_by_a_reader() -> None:
    """A row of a framework that no run is said to be of would never be asked."""
    code = "".join(path.read_text(encoding="utf-8") for path in SOURCES.rglob("*.py"))
    unnamed = [name for name in DIALECTS if f'"{name}"' not in code]
    assert not unnamed, f"no reader in runlens/sources says reading.framework = one of {unnamed}"


def test_ultralytics_is_changed_in_its_call_not_in_its_record() -> None:
    """``args.yaml`` is what it wrote down; ``model.train(lr0=...)`` is what its user writes."""
    of = run({"learning_rate=lr0": 0.1}, file="args.yaml", framework="ultralytics")
    assert shown(of, Fix("Lower", "learning_rate", 0.1, 0.01)) == [
        "  model.train(", "-     lr0=0.1,", "+     lr0=0.01,", "      ...,", "  )",
    ]  # fmt: skip


def test_a_file_that_lightning_only_writes_is_no_place_for_a_change() -> None:
    """An argument of the Trainer is named; of the rest it is said that the script sets it."""
    file = "logs/hparams.yaml"
    config = {key: Configured(1, file, key, file) for key in ("max_steps", "learning_rate")}
    of = run(framework="lightning")
    of = replace(of, config=config)
    steps, rate = (place_of(of, key) for key in config)
    assert steps is not None
    assert rate is not None
    assert (steps.where, steps.style) == ("Trainer", "arguments")
    assert rate.where == "the script; hparams.yaml only records it"
    changed = [Change(rate, "learning_rate", 0.1, 0.01)]
    assert lines(changed) == ()
    assert told(changed) == "learning_rate from 0.1 to 0.01"


def test_a_flag_is_changed_on_the_command_line_as_it_was_given() -> None:
    """Whatever file records what came of it; of a switch no record tells how it is given."""
    command = "train.py --lr=0.1 --weight-decay 0.2 --bf16 True"
    recorded = {"lr": 0.1, "weight_decay": 0.2, "bf16": True}
    file = "run-1.wandb"
    keys = {"lr": "learning_rate"}
    config = {keys.get(k, k): Configured(v, file, k, file) for k, v in recorded.items()}
    of = replace(run(), config={**config, "command_line": Configured(command, file)})
    places = {key: place_of(of, key) for key in config}
    assert {key: one.where for key, one in places.items() if one} == {
        "learning_rate": "the command line",
        "weight_decay": "the command line",
        "bf16": "the training config",
    }
    decay = places["weight_decay"]
    assert decay is not None
    made = lines([Change(decay, "weight_decay", 0.2, 0.01)])
    assert made[1:] == (("-", "--weight-decay 0.2"), ("+", "--weight-decay 0.01"))


def test_a_score_that_decided_chooses_the_best_model() -> None:
    """The Trainer has to be told, and that lower is better; other loops read which score."""
    trainer, loop = run(framework="transformers"), run(framework="lightning")
    made = {fix.setting: fix.new for fix in keep_best(trainer, "eval_wer")}
    assert made["metric_for_best_model"] == "wer"
    assert made["greater_is_better"] is False
    made = {fix.setting: fix.new for fix in keep_best(trainer, "eval_accuracy")}
    assert "greater_is_better" not in made
    (kept,) = keep_best(loop, "eval_accuracy")
    assert "best eval accuracy: Trainer(callbacks=[ModelCheckpoint(monitor=...)" in (
        in_words(loop, kept).what
    )
