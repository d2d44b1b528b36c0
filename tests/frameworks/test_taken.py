"""The frameworks themselves take what the advice proposes: every diff of the fixtures is built."""

import dataclasses
import inspect
import os
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from runlens import read
from runlens.diagnosis import Fix
from runlens.knowledge.dialects import ARGUMENTS, DIALECTS, LORA, place_of
from runlens.knowledge.snippets import SNIPPETS
from runlens.proposals import proposal
from runlens.rules.rule import drawn
from runlens.run import Configured, Run
from runlens.signals import Signals
from tests.report.seen import FIXTURES, NAMES, seen

CLASSES = {
    "TrainingArguments": "transformers",
    "SFTConfig": "trl",
    "DPOConfig": "trl",
    "GRPOConfig": "trl",
    "RewardConfig": "trl",
    "LoraConfig": "peft",
}
os.environ.setdefault("KERAS_BACKEND", "torch")  # the others need no TensorFlow either
# a name that a later version will drop is still taken
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
NOT_HERE = {"bf16", "fp16", "tf32", "bf16_full_eval", "fp16_full_eval"}  # ask for a GPU


def library(name: str) -> Any:
    """Import a framework; skip where it is not installed."""
    if find_spec(name.partition(".")[0]) is None:
        pytest.skip(f"{name} is not installed: pip install -e '.[frameworks]'")
    return import_module(name)


def build(run: Run, new: Mapping[str, Any], name: str, folder: Path) -> Any:
    """Build a configuration class with what a run recorded, and what is new."""
    kind = getattr(library(CLASSES[name]), name)
    fields = {field.name for field in dataclasses.fields(kind) if field.init}
    if name == "LoraConfig":
        return kind(**new)
    keys = [key for part in ARGUMENTS.values() for key in part if key in fields - NOT_HERE]
    known = {key: run.setting(key) for key in keys if key in run.config}
    of_places = {"output_dir": str(folder), "use_cpu": True, "report_to": "none"}
    return kind(**{**known, **of_places, **{k: v for k, v in new.items() if k not in NOT_HERE}})


@pytest.mark.parametrize("name", [name for name in NAMES if seen(name).do_first.changes])
def test_every_diff_of_the_fixtures_is_taken(name: str, tmp_path: Path) -> None:
    """With the settings that the run recorded beside it: no ValueError, no unknown name."""
    changes = seen(name).do_first.changes
    where = changes[0].where
    if where not in CLASSES:
        pytest.skip(f"{where} belongs to no class that can be built here")
    build(read(FIXTURES / name), {one.name: one.new for one in changes}, where, tmp_path)


@pytest.mark.parametrize(
    "known",
    [
        {"eval_strategy": "steps", "eval_steps": 35, "save_strategy": "no"},
        {"eval_strategy": "steps", "eval_steps": 24, "save_steps": 500},
        {"eval_strategy": "epoch", "save_strategy": "steps"},
        {"eval_strategy": "no"},
    ],
)
def test_the_best_model_is_kept_as_the_trainer_asks(known: dict[str, Any], tmp_path: Path) -> None:
    """Alone it is refused; as it is proposed it is taken, or it is not proposed."""
    config = {key: Configured(value, "x", key, "x") for key, value in known.items()}
    made = drawn("r", train_loss="0:3 900:1", framework="transformers").run()
    run = Run(**{**vars(made), "config": config})
    best = Fix("Keep the best model", "load_best_model_at_end", None, new=True)
    with pytest.raises(ValueError, match="load_best_model_at_end"):
        build(run, {best.setting: True}, "TrainingArguments", tmp_path)
    kept = proposal(run, Signals(run), [best])
    assert bool(kept) == (known["eval_strategy"] != "no")
    if kept:
        new = {one.setting: one.new for one in kept.changes}
        assert build(run, new, "TrainingArguments", tmp_path).load_best_model_at_end


@pytest.mark.parametrize("name", ARGUMENTS)
def test_every_argument_is_a_field_of_its_class(name: str) -> None:
    """A name that the class does not know is a TypeError when it is pasted."""
    kind = getattr(library(CLASSES[name]), name)
    assert ARGUMENTS[name] <= {field.name for field in dataclasses.fields(kind)}


def test_every_argument_of_an_adapter_is_one_of_peft() -> None:
    """`lora_r` is `r` there."""
    library("peft").LoraConfig(**dict.fromkeys(LORA.values(), 1))


def _signature(name: str) -> Callable[..., Any]:
    if name == "lightning":
        made: Callable[..., Any] = library("lightning.pytorch").Trainer
    elif name == "keras":
        made = library("keras").optimizers.Adam
    else:
        made = library("stable_baselines3").PPO
    return made


@pytest.mark.parametrize("name", ["lightning", "keras", "stable-baselines3"])
def test_every_name_of_a_dialect_is_an_argument(name: str) -> None:
    """Of Lightning's Trainer, of Keras' optimizers, of an algorithm of stable-baselines3."""
    signature = inspect.signature(_signature(name))
    if any(one.kind is one.VAR_KEYWORD for one in signature.parameters.values()):
        signature = inspect.signature(library("keras").optimizers.Optimizer)
        own = set(inspect.signature(_signature(name)).parameters)
    else:
        own = set()
    assert set(DIALECTS[name].names.values()) <= {*signature.parameters, *own}


def test_lightning_takes_a_clipping_limit_where_it_is_shown() -> None:
    """The place of the advice is the call."""
    run = drawn("r", train_loss="0:3 900:1", framework="lightning").run()
    place = place_of(run, "max_grad_norm")
    assert place is not None
    assert place.where == "Trainer"
    trainer = library("lightning.pytorch").Trainer(**{place.name: 2.6}, logger=False)
    assert trainer.gradient_clip_val == 2.6


@pytest.mark.parametrize(
    ("framework", "callbacks"),
    [("keras", "keras.callbacks"), ("lightning", "lightning.pytorch.callbacks")],
)
def test_callbacks_of_the_advice_can_be_built(framework: str, callbacks: str) -> None:
    """What is shown in words is a call of the framework, with arguments that it knows."""
    shown = SNIPPETS[framework]["load_best_model_at_end"].replace("{patience}", "3")
    _, _, called = shown.partition("callbacks=")
    library(callbacks.partition(".")[0])
    made = eval(called.rstrip(")"), vars(import_module(callbacks)))  # noqa: S307 - our own snippet
    stops = next(one for one in made if type(one).__name__ == "EarlyStopping")
    assert (stops.monitor, stops.patience) == ("val_loss", 3)
