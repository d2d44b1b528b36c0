"""Settings that lie beside a run: YAML and JSON that a trainer was given, or wrote down itself.

axolotl, LLaMA-Factory, ms-swift, PEFT, Lightning, Hydra, DeepSpeed, accelerate, Ultralytics,
ML-Agents. Nothing is unpickled: ``training_args.bin`` is left alone. The closing numbers of the
Trainer (``train_results.json``) are no curve, they tell that it came to its end.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from runlens.config_keys import KNOWN_KEYS, canonical_key
from runlens.patterns import lazy_re
from runlens.run import Event, Problem, Setting
from runlens.sources.configs import plain_settings
from runlens.sources.configs.plain_yaml import parse_yaml
from runlens.sources.files import (
    MAX_CONFIG,
    MAX_LEAVES,
    Unreadable,
    flat,
    parse_json,
    read_bytes,
)
from runlens.sources.reading import SourceReading, as_number
from runlens.wording import step as as_step

LOOKS_FOR = "config.yaml, adapter_config.json, hparams.yaml, args.json, DeepSpeed JSON, .hydra/"
FRAMEWORK = "axolotl, PEFT, Lightning, LLaMA-Factory, ms-swift, ML-Agents, DeepSpeed, accelerate"
NEEDS = ("PyYAML",)
ML_AGENTS_STATUS = "training_status.json"  # written at the final save of ML-Agents
# the Trainer writes them at its end; those of an evaluation alone tell nothing
RESULTS = {"train_results.json", "all_results.json"}
JSON_NAMES = {
    "adapter_config.json", "args.json", "training_args.json", "training_config.json",
    "train_config.json", "hparams.json", "hyperparameters.json", "params.json",
    ML_AGENTS_STATUS, *RESULTS,
}  # fmt: skip
MODEL = "config.json"  # of the model; of the training where an own loop calls it so
YAML_NAMES = {
    "hparams.yaml", "config.yaml", "config.yml", "axolotl_config.yaml", "axolotl.yaml",
    "axolotl.yml", "training_args.yaml", "trainer_config.yaml", "llamaboard_config.yaml",
    "configuration.yaml", "opt.yaml", "args.yaml", "hyp.yaml", "overrides.yaml",
}  # fmt: skip
# met in folders of examples too: only where there is one
_DEEPSPEED = lazy_re(r"(?:ds|deepspeed|zero\d?)(?:[_-][\w-]*)?\.json", re.IGNORECASE)
_ACCELERATE = lazy_re(r"(?:[\w-]*accelerate[\w-]*|default_config|fsdp[\w-]*)\.ya?ml")
SNIFFED = 65_536  # bytes of other YAML that are looked at
OVERRIDES = "overrides.yaml"
WANDB = "wandb_version"  # a file of W&B's holds a mapping with a value for each setting
AXOLOTL_KEYS = {"base_model", "micro_batch_size", "sequence_len", "datasets"}
FACTORY_KEYS = {"finetuning_type", "model_name_or_path", "cutoff_len", "template", "stage"}
# two of these, and a YAML of any name is the one that a training was started with
_STARTED = lazy_re(
    rb"^(base_model|micro_batch_size|sequence_len|model_name_or_path|finetuning_type|stage"
    rb"|per_device_train_batch_size|learning_rate|num_train_epochs|num_epochs):",
    re.MULTILINE,
)
ENOUGH = 3
# keys of a model's own config.json that are settings of the training
MODEL_KEYS = {
    "vocab_size", "architectures", "model_type", "num_labels", "id2label", "torch_dtype", "dtype",
    "_name_or_path", "hidden_size", "num_hidden_layers", "max_position_embeddings", "problem_type",
}  # fmt: skip
OF_A_MODEL = {"architectures", "model_type", "transformers_version", "id2label", "hidden_act"}
OF_A_TRAINING = {
    "learning_rate", "per_device_train_batch_size", "num_train_epochs", "max_steps", "optim",
}  # fmt: skip
# what a program writes beside its own table or log, so that it is of the same run
WRITTEN_WITH = (
    (lazy_re(r"results\.csv"), ("args.yaml", "opt.yaml", "hyp.yaml")),  # Ultralytics, YOLOv5
    (lazy_re(r"metrics\.csv|events\.out\.tfevents.*"), ("hparams.yaml",)),  # Lightning
    (lazy_re(r"metrics\.json"), ("config.yaml",)),  # detectron2
    (
        lazy_re(r"progress\.(?:csv|txt)|result\.json"),
        ("params.json", "variant.json"),
    ),  # rllab
)
NOT_SET = "auto"  # DeepSpeed's word for "as the Trainer has it"
PRECISIONS = {"bf16", "fp16", "fp8"}
DEEPSPEED_NAMES = {
    "train_batch_size": "total_train_batch_size",
    **{f"{name}.enabled": name for name in PRECISIONS},
}


def find(_place: Path, names: Mapping[Path, list[str]]) -> list[Path]:
    """List the configuration files, those of a checkpoint only where its run has none."""
    found: list[Path] = []
    for folder, files in names.items():
        tracked = folder.parent.name.startswith(("run-", "offline-run-")) or any(
            name.endswith(".wandb") for name in names.get(folder.parent, ())
        )
        if tracked and folder.name in {"files", "logs"}:
            continue  # a tracker's own copy: its reader takes it
        known = [name for name in files if name in JSON_NAMES | YAML_NAMES | {MODEL}]
        sole = (
            [name for name in files if _DEEPSPEED.fullmatch(name)],
            [name for name in files if _ACCELERATE.fullmatch(name)],
            [name for name in files if name not in known and _starts_a_training(folder / name)],
        )
        known += [some[0] for some in sole if len(some) == 1]
        paths = [folder / name for name in dict.fromkeys(known)]
        by_content = None if paths else plain_settings.sole(folder, files)
        found += [by_content] if by_content else paths
    return not_repeated(found)


def written_with(path: Path) -> list[Path]:
    """List the settings that the writer of a file put beside it: for a user who points at it."""
    names = next((some for form, some in WRITTEN_WITH if form.fullmatch(path.name)), ())
    beside = (path.parent / name for name in names)
    return [one for one in beside if one.is_file() and not one.is_symlink()]


def not_repeated(found: Iterable[Path]) -> list[Path]:
    """Leave out files of checkpoints that lie in the run as well; of the others keep the last."""
    paths = list(found)
    tops = {path.name for path in paths if not path.parent.name.startswith("checkpoint-")}
    last: dict[str, Path] = {}
    for path in paths:
        if path.parent.name.startswith("checkpoint-") and path.name not in tops:
            last[path.name] = path
    return [p for p in paths if not p.parent.name.startswith("checkpoint-")] + list(last.values())


def _starts_a_training(path: Path) -> bool:
    """Whether a YAML of any name holds the settings that axolotl or LLaMA-Factory is given."""
    if path.suffix.lower() not in {".yaml", ".yml"} or _ACCELERATE.fullmatch(path.name):
        return False
    try:
        head = read_bytes(path, SNIFFED)
    except Unreadable:
        return False
    return len(set(_STARTED.findall(head))) >= ENOUGH


def read(path: Path) -> SourceReading:
    """Read one file of settings."""
    reading = SourceReading(path, "config")
    try:
        data = read_bytes(path, MAX_CONFIG)
        if path.suffix.lower() in plain_settings.ENDINGS:
            value: Any = plain_settings.value_of(path, data)
        else:
            value = parse_json(data) if path.suffix == ".json" else parse_yaml(data)
    except Unreadable as error:
        reading.problems.append(Problem(str(path), str(error), "its settings"))
        return reading
    if path.name == OVERRIDES:
        value = _overridden(value)
    if not isinstance(value, dict):
        return reading
    if path.name == ML_AGENTS_STATUS:
        _read_status(value, reading)
    elif path.name in RESULTS:
        reading.hints.summary = as_number(value.get("train_runtime")) is not None
        reading.hints.done_epochs = as_number(value.get("epoch"))
    else:
        _read_settings(value, reading)
    return reading


def _read_settings(value: dict[str, Any], reading: SourceReading) -> None:
    path = reading.path
    if path.name == MODEL:
        value = _of_a_model(value)
    elif _DEEPSPEED.fullmatch(path.name):
        value = _of_deepspeed(value)
        reading.paths = {name: key for key, name in DEEPSPEED_NAMES.items()}
    elif "compute_environment" in value or _ACCELERATE.fullmatch(path.name):
        value = _of_accelerate(value)
    value = _of_wandb(value) if WANDB in value else plain_settings.of_tracker(value)
    value, section = _of_one_section(_of_one_behavior(value))
    value = _as_used(value)
    if path.name == "adapter_config.json" and "r" in value:
        value = {**value, "lora_r": value["r"]}
        reading.paths["lora_r"] = "r"
    reading.config = flat(value)
    if section:
        reading.paths |= {name: f"{section}.{name}" for name in reading.config}
    reading.framework = framework_of(value)
    if path.name == "llamaboard_config.yaml":
        reading.framework = "llama-factory"
    if len(reading.config) >= MAX_LEAVES:
        text = f"holds more than {MAX_LEAVES:,} settings; the first of them were read"
        reading.problems.append(Problem(str(path), text, "the other settings"))


def _as_used(value: dict[str, Any]) -> dict[str, Any]:
    """Leave out what Ultralytics does not use: its optimizer "auto" finds a rate of its own."""
    ignored = {"lr0", "momentum"} if value.get("optimizer") == NOT_SET and "lr0" in value else set()
    return {key: item for key, item in value.items() if key not in ignored}


def _of_wandb(value: dict[str, Any]) -> dict[str, Any]:
    """Return the settings in the form in which W&B keeps them beside a run."""
    return {
        key: inner["value"] if isinstance(inner, dict) and "value" in inner else inner
        for key, inner in value.items()
        if key not in {WANDB, "_wandb"}
    }


def framework_of(value: Mapping[str, Any]) -> str:
    """Return whose settings these are by their keys; empty where they do not tell."""
    if len(AXOLOTL_KEYS & value.keys()) >= 2:  # noqa: PLR2004 - one alone is met elsewhere
        return "axolotl"
    if {"behaviors", "torch_settings"} & value.keys():
        return "ml-agents"
    if len(FACTORY_KEYS & value.keys()) >= ENOUGH and "finetuning_type" in value:
        return "llama-factory"
    return "ms-swift" if {"swift_version", "tuner_backend"} & value.keys() else ""


def _read_status(value: dict[str, Any], reading: SourceReading) -> None:
    """Take the final save of ML-Agents: it is made at the end, or when the training is stopped."""
    final = [
        step
        for part in value.values()
        if isinstance(part, dict) and isinstance(part.get("final_checkpoint"), dict)
        if (step := as_number(part["final_checkpoint"].get("steps"))) is not None
    ]
    if final and 0 <= max(final) < 1e15:  # noqa: PLR2004 - no step is that large
        reading.framework = "ml-agents"
        reading.hints.summary = True
        reading.hints.done_steps = int(max(final))
        saved = {"path": f"the checkpoint at step {as_step(int(max(final)))}"}
        reading.events = [Event("checkpoint", int(max(final)), where=str(reading.path), data=saved)]


def _of_one_behavior(value: dict[str, Any]) -> dict[str, Any]:
    """Return ML-Agents settings without the name of the behavior, where there is only one."""
    behaviors = value.get("behaviors")
    if not isinstance(behaviors, dict) or len(behaviors) != 1:
        return value
    (own,) = behaviors.values()
    return {**value, **own} if isinstance(own, dict) else value


def _of_one_section(value: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Return settings that all stand below one name without it, and that name.

    ``CartPole-v1: {algo: dqn, learning_rate: 0.001}`` of the RL Zoo: its name is the task's.
    """
    inner = next(iter(value.values()), None) if len(value) == 1 else None
    if not isinstance(inner, dict) or _known_in(value) or not _known_in(inner):
        return value, ""
    return inner, str(next(iter(value)))


def _known_in(value: dict[str, Any]) -> bool:
    return any(canonical_key(key) in KNOWN_KEYS for key in flat(value))


def _of_a_model(value: dict[str, Any]) -> dict[str, Any]:
    """Return what a model's config.json says of the training; all of it where it is no model's."""
    keys = {canonical_key(key) for key in flat(value)}
    if keys & OF_A_TRAINING and not OF_A_MODEL & value.keys():
        return value
    kept = {key: value[key] for key in MODEL_KEYS if key in value and key != "id2label"}
    if isinstance(value.get("id2label"), dict) and "num_labels" not in kept:
        kept["num_labels"] = len(value["id2label"])
    return kept


def _of_deepspeed(value: dict[str, Any]) -> dict[str, Setting]:
    """Return DeepSpeed's settings but those that are only "auto".

    Its ``train_batch_size`` is that of all processes, its precisions are sections.
    """
    found = {key: item for key, item in flat(value).items() if item != NOT_SET}
    return {DEEPSPEED_NAMES.get(key, key): item for key, item in found.items()}


def _of_accelerate(value: dict[str, Any]) -> dict[str, Any]:
    """Return accelerate's settings in the Trainer's words; those for DeepSpeed are a section."""
    inner = value.get("deepspeed_config")
    own = {key: item for key, item in value.items() if key != "deepspeed_config"}
    found = {**(_of_deepspeed(inner) if isinstance(inner, dict) else {}), **own}
    precision = str(found.get("mixed_precision", "")).lower()
    return {**found, precision: True} if precision in PRECISIONS else found


def _overridden(value: Any) -> dict[str, Setting]:  # noqa: ANN401 - settings are of any type
    """Return what Hydra was told on the command line: ``["lr=0.1", "+trainer.max_epochs=3"]``."""
    found: dict[str, Setting] = {}
    for item in value if isinstance(value, list) else []:
        key, equals, text = str(item).partition("=")
        number = as_number(text)
        if equals and not key.startswith("~"):
            found[key.lstrip("+")] = text if number is None else number
    return found
