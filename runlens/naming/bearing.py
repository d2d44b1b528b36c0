"""Which settings may bear on what a training comes to: no seed, name, place, logging or saving."""

import re
from functools import lru_cache

from runlens.patterns import lazy_re

MODEL_KEYS = ("model_name", "base_model_config", "peft_config.default.base_model_name_or_path")
DATA_KEYS = (
    "dataset_name",
    "dataset",
    "dataset_id",
    "dataset_name_or_path",
    "dataset_path",
    "datasets",
    "data_path",
    "train_file",
    "train_files",
    "train_data",
    "data.train_files",
    "data.train_file",
    "data",
    "data_dir",
    "dataset_dir",
)
LONGEST = 80  # characters of the name of a setting by which it is told
LISTED = lazy_re(r"datasets\.\d+\.(?:path|name)")  # axolotl: one entry a data set
_SEED_KEY = lazy_re(r"(?:\w+_)?seeds?", re.IGNORECASE)
_INSIDE = lazy_re(r"[./]")  # a nested setting: its last name tells what it is
# names, places, logging and saving: they differ from run to run and bear on no loss
_OWN = frozenset(
    {"name", "id", "uuid", "entity", "group", "tag", "tags", "note", "notes", "title", "date"}
    | {"description", "user", "project", "sweep", "sweep_id", "output", "experiment", "trial"}
)
_BEARS_NOT = lazy_re(
    r"(?:run|wandb|exp|experiment|job|project|trial|served_model|tracker)_?(?:name|id|group)"
    r"|(?:\w+_)?(?:dir|directory|folder|prepared_path|host|hostname|port|address|url|timeout)"
    r"|(?:output|log|save|cache)_path|timestamp|datetime|started_at|start_time|command_line"
    r"|(?:wandb|hub|mlflow|comet|logging|log|save|report|push|tensorboard|otel|ddp)_\w+"
    r"|disable_tqdm|local_rank|(?:dataloader_)?num_workers|dataset_num_proc|use_wandb|verbose"
    r"|eval_steps|eval_strategy|per_device_eval_batch_size|debug",
    re.IGNORECASE,
)


@lru_cache(maxsize=10_000)
def is_seed(key: str) -> bool:
    """Whether a setting is a seed."""
    return bool(_SEED_KEY.fullmatch(_INSIDE.split(key[-LONGEST:])[-1]))


@lru_cache(maxsize=10_000)
def bears(key: str) -> bool:
    """Whether a setting may bear on the result: no seed, name, place, logging or saving."""
    if key in MODEL_KEYS or key in DATA_KEYS or LISTED.fullmatch(key):
        return True
    last = _INSIDE.split(key[-LONGEST:])[-1]
    return not (key.lower() in _OWN or is_seed(key) or _BEARS_NOT.fullmatch(last))
