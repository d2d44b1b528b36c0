"""Settings that lie beside a run: axolotl YAML, adapter and model configs, hparams, model cards.

Nothing is unpickled: ``training_args.bin`` is left alone.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runlens.run import Event, Problem
from runlens.sources.files import MAX_CONFIG, Unreadable, flat, parse_yaml, read_bytes, read_json
from runlens.sources.reading import SourceReading, as_number

LOOKS_FOR = "config.yaml, adapter_config.json, hparams.yaml, config.json, README.md of axolotl"
FRAMEWORK = "axolotl, PEFT, Lightning, LLaMA-Factory, ML-Agents, DeepSpeed"
JSON_NAMES = {
    "adapter_config.json",
    "config.json",
    "args.json",
    "ds_config.json",
    "training_args.json",
    "training_status.json",
}
YAML_NAMES = {
    "hparams.yaml", "config.yaml", "config.yml", "axolotl_config.yaml", "axolotl.yaml",
    "training_args.yaml", "trainer_config.yaml", "llamaboard_config.yaml", "configuration.yaml",
    "opt.yaml", "args.yaml",
}  # fmt: skip
ML_AGENTS_STATUS = "training_status.json"  # written at the final save of ML-Agents
CARD = "README.md"
AXOLOTL_CARD = re.compile(r"```ya?ml\s*\n(.*?)```", re.DOTALL)
AXOLOTL_KEYS = {"base_model", "micro_batch_size", "sequence_len", "datasets"}
# keys of a model's own config.json that are settings of the training
MODEL_KEYS = {
    "vocab_size", "architectures", "model_type", "num_labels", "id2label", "torch_dtype", "dtype",
    "_name_or_path", "hidden_size", "num_hidden_layers", "max_position_embeddings", "problem_type",
}  # fmt: skip


def find(_place: Path, names: Mapping[Path, list[str]]) -> list[Path]:
    """List the configuration files, those of a checkpoint only where its run has none."""
    found = []
    for folder, files in names.items():
        if folder.name in {"files", "logs"} and folder.parent.name.startswith(
            ("run-", "offline-run-")
        ):
            continue  # a tracker's own copy: its reader takes it
        found += [
            folder / name
            for name in files
            if name in JSON_NAMES
            or name in YAML_NAMES
            or (name == CARD and _is_card(folder / name))
        ]
    tops = {path.name for path in found if not path.parent.name.startswith("checkpoint-")}
    last: dict[str, Path] = {}
    for path in found:
        if path.parent.name.startswith("checkpoint-") and path.name not in tops:
            last[path.name] = path
    return [p for p in found if not p.parent.name.startswith("checkpoint-")] + list(last.values())


def _is_card(path: Path) -> bool:
    try:
        with path.open("rb") as handle:
            return b"axolotl" in handle.read(65_536)
    except OSError:
        return False


def read(path: Path) -> SourceReading:
    """Read one file of settings."""
    reading = SourceReading(path, "config")
    try:
        value = _parsed(path)
    except Unreadable as error:
        reading.problems.append(Problem(str(path), str(error), "its settings"))
        return reading
    if not isinstance(value, dict):
        return reading
    if path.name == ML_AGENTS_STATUS:
        _read_status(value, reading)
        return reading
    if path.name == "config.json":
        value = _model_settings(value)
    value = _of_one_behavior(value)
    if path.name == "adapter_config.json" and "r" in value:
        value = {**value, "lora_r": value["r"]}
    reading.config = flat(value)
    if len(AXOLOTL_KEYS & value.keys()) >= 2:  # noqa: PLR2004 - one alone is met elsewhere
        reading.framework = "axolotl"
    elif {"behaviors", "torch_settings"} & value.keys():
        reading.framework = "ml-agents"
    elif path.name == "llamaboard_config.yaml":
        reading.framework = "llama-factory"
    return reading


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
        saved = {"path": f"checkpoint of step {int(max(final))}"}
        reading.events = [Event("checkpoint", int(max(final)), where=str(reading.path), data=saved)]


def _of_one_behavior(value: dict[str, Any]) -> dict[str, Any]:
    """Return ML-Agents settings without the name of the behavior, where there is only one."""
    behaviors = value.get("behaviors")
    if not isinstance(behaviors, dict) or len(behaviors) != 1:
        return value
    (own,) = behaviors.values()
    return {**value, **own} if isinstance(own, dict) else value


def _parsed(path: Path) -> Any:  # noqa: ANN401 - settings are of any type
    if path.name in JSON_NAMES:
        return read_json(path, MAX_CONFIG)
    data = read_bytes(path, MAX_CONFIG)
    if path.name != CARD:
        return parse_yaml(data)
    blocks = AXOLOTL_CARD.findall(data.decode("utf-8", "replace"))
    for block in blocks:
        value = parse_yaml(block)
        if isinstance(value, dict) and AXOLOTL_KEYS & value.keys():
            return value
    return None


def _model_settings(value: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value[key] for key in MODEL_KEYS if key in value and key != "id2label"}
    if isinstance(value.get("id2label"), dict) and "num_labels" not in kept:
        kept["num_labels"] = len(value["id2label"])
    return kept
