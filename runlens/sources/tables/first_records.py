"""Rows of a log that say how a training begins: ``{"event": "start", "lr": 0.002, "bs": 64}``."""

from collections.abc import Mapping
from typing import Any

from runlens.config_keys import KNOWN_KEYS, canonical_key
from runlens.run import Setting
from runlens.sources.files import flat
from runlens.sources.tables.names import is_step

KINDS = ("event", "type", "kind", "phase", "msg", "message")  # keys that say what a row is
BEGINS = {
    "start", "started", "begin", "init", "config", "configuration", "args", "arguments",
    "hparams", "params", "settings", "run_start", "train_start",
}  # fmt: skip
KNOWN = 2  # settings of it that are known by name


def settings_told(row: Mapping[str, Any]) -> dict[str, Setting]:
    """Return the settings of a row that says that it has them; nothing of one with a step.

    >>> settings_told({"event": "start", "lr": 0.002, "bs": 64})
    {'lr': 0.002, 'bs': 64}
    >>> settings_told({"event": "config", "step": 9, "lr": 0.001, "bs": 64})
    {}
    """
    kinds = [key for key in KINDS if str(row.get(key)).lower() in BEGINS]
    if not kinds or any(is_step(key) for key in row):
        return {}
    found = flat({key: some for key, some in row.items() if key not in kinds})
    known = {canonical_key(key) for key in found} & KNOWN_KEYS
    return found if len(known) >= KNOWN else {}
