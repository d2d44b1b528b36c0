"""Settings that own loops write as plain text, under any name: ``learning_rate 0.01`` a line.

No name says what such a file is: it is known by what it holds. Nearly all of its lines are a name
and a value, no name comes twice, and some are settings that trainings have.
"""

import re
from pathlib import Path
from typing import Any

from runlens.config_keys import KNOWN_KEYS, canonical_key
from runlens.patterns import lazy_re
from runlens.run import Setting
from runlens.sources.configs.plain_yaml import parse_yaml
from runlens.sources.files import Unreadable, flat, parse_json, read_bytes
from runlens.sources.reading import as_number

SCRIPT = ".sh"  # with one command that has options
YAML = (".yaml", ".yml")
ENDINGS = (".txt", ".cfg", ".conf", ".ini", ".args", ".opts", ".params", ".prototxt", SCRIPT)
TEXTS = (*ENDINGS, ".json", *YAML)
LARGEST = 16_384  # bytes: a log is longer, and so is a model's own file
MOST = 40  # files of a folder that are looked at: more are data
FEWEST = 3  # settings that trainings have
MOSTLY = 0.8  # share of the lines that are settings
HALF = 0.5  # of the letters of a command: the rest names what is run
_LINE = lazy_re(
    r"\s*(?:--|-\s)?['\"]?(?P<name>[A-Za-z][\w.-]{0,60}(?: [A-Za-z][\w.-]{0,40}){0,3})['\"]?"
    r"\s*(?:=>|->|[:=|])\s*(?P<value>\S.{0,300}?)[\s,;|]*"
    r"|\s*(?:--)?(?P<word>[A-Za-z][\w.-]{0,60})\s+(?P<token>\S{1,200})\s*"
)
_OPTION = lazy_re(
    r"(?<!\S)--(?P<name>[A-Za-z][\w.-]{0,60})(?:[= ]\s*(?P<value>\"[^\"]{0,200}\"|'[^']{0,200}'|"
    r"(?!--)[^\s'\"\\]{1,200}))?"
)
_SKIPPED = lazy_re(r"\s*(?:[#;%].*|//.*|\[[\w .-]+\]|[-=*_+#\s]*|[\w ]{1,40}:)\s*")  # headings too
# a file that is called so is known by one of them: a small agent has no other
_NAMED = lazy_re(
    r"(?i)(?:settings|config|args|arguments|h?params|hyperparams|options)\.(?:ini|cfg)"
)
# by one that only a training has, where the file may be of a model, its texts or its machine
_CALLED = lazy_re(
    r"(?i)(?!(?:ds|deepspeed|zero\d?|accelerate|fsdp)[_-])"
    r"(?:.{1,60}[_-])?(?:settings|config|conf|cfg|args|h?params)\.(?:json|ya?ml)"
)
_OF_TRAINING = {
    "learning_rate", "per_device_train_batch_size", "num_train_epochs", "max_steps", "optim",
}  # fmt: skip
# printed by argparse, alone in a file: "Namespace(lr=0.1, epochs=3)"
_NAMESPACE = lazy_re(r"\s*Namespace\((?P<all>.*)\)\s*", re.DOTALL)
IN_NAMESPACE = lazy_re(r"\b(\w+)=('[^']*'|\"[^\"]*\"|\[[^\]]*\]|\([^)]*\)|[^,\s][^,]*)")
_VARIABLE = "$"  # of a script: what it stands for is written elsewhere
_SECTION = lazy_re(r"\s*\[(?P<of>[\w .-]+)\]\s*")
# sections of settings that are none of the training: `max_steps` of an episode
OWN = {"_wandb", "wandb_version"}  # what W&B writes for itself
HELD = {"value", "desc"}  # of one setting in its files
_APART = {"env", "environment", "eval", "evaluation", "test", "validation"}
_WORDS = {"true": True, "false": False, "none": None, "null": None}


def sole(folder: Path, names: list[str]) -> Path | None:
    """Return the one file of a folder that is known as settings by what it holds."""
    some = [folder / name for name in names if name.lower().endswith(TEXTS)]
    found = [path for path in some if _holds_settings(path)] if len(some) <= MOST else []
    return found[0] if len(found) == 1 else None


def _holds_settings(path: Path) -> bool:
    try:
        if path.stat().st_size > LARGEST:
            return False
        value = value_of(path, read_bytes(path, LARGEST))
    except (Unreadable, OSError):
        return False
    few = 1 if _NAMED.fullmatch(path.name) else FEWEST
    lists = any(isinstance(one, list) and len(one) > FEWEST for one in value.values())
    names = {canonical_key(key) for key in flat(value)}
    if _CALLED.fullmatch(path.name) and names & _OF_TRAINING:
        return not lists
    return not lists and len(names & KNOWN_KEYS) >= few


def value_of(path: Path, data: bytes) -> dict[str, Any]:
    """Return the settings in a text; nothing where it holds something else."""
    ending = path.suffix.lower()
    if ending == ".json" or ending in YAML:
        value = parse_json(data) if ending == ".json" else parse_yaml(data)
        return of_tracker(value) if isinstance(value, dict) else {}
    text = data.decode("utf-8", errors="replace")
    if ending != SCRIPT:
        return settings_in(text)
    told = _options("\n".join(line for line in text.splitlines() if not _SKIPPED.fullmatch(line)))
    return {name: some for name, some in told.items() if _VARIABLE not in str(some)}


def of_tracker(value: dict[str, Any]) -> dict[str, Any]:
    """Return settings without the form in which W&B exports them: ``{"lr": {"value": 0.1}}``.

    >>> of_tracker({"lr": {"value": 0.1, "desc": None}}), of_tracker({"lr": {"value": 1, "to": 2}})
    ({'lr': 0.1}, {'lr': {'value': 1, 'to': 2}})
    """
    kept = {key: some for key, some in value.items() if key not in OWN}
    held = [
        isinstance(one, dict) and "value" in one and one.keys() <= HELD for one in kept.values()
    ]
    return {key: one["value"] for key, one in kept.items()} if held and all(held) else value


def settings_in(text: str) -> dict[str, Any]:
    r"""Return the settings of a text, a name and its value a line; nothing where they are few.

    >>> settings_in("lr 0.1\nbatch size: 8\nepochs = 3\nuse_amp: True\n--seed 7\nnet: 'a'")
    {'lr': 0.1, 'batch size': 8, 'epochs': 3, 'use_amp': True, 'seed': 7, 'net': 'a'}
    """
    if space := _NAMESPACE.fullmatch(text):
        return {key: _setting(some) for key, some in IN_NAMESPACE.findall(space["all"])}
    lines = [line for line in text.splitlines() if not _SKIPPED.fullmatch(line)]
    said = [found for line in lines if (found := _LINE.fullmatch(line))]
    value = {one["name"] or one["word"]: _setting(one["value"] or one["token"]) for one in said}
    value = _by_section(text) if _SECTION.match(text) else value
    whole = len(value) == len(said) >= max(FEWEST, MOSTLY * len(lines))
    return value if whole else _options(text)


def _by_section(text: str) -> dict[str, Any]:
    """Return settings below headings, ``[env]``, with those headings that are of no training."""
    found: dict[str, Any] = {}
    section = ""
    for line in text.splitlines():
        if heading := _SECTION.fullmatch(line):
            of = heading["of"].strip().lower()
            section = f"{of}." if of in _APART else ""
        elif not _SKIPPED.fullmatch(line) and (one := _LINE.fullmatch(line)):
            name = one["name"] or one["word"]
            found[f"{section}{name}"] = _setting(one["value"] or one["token"])
    return found


def _options(text: str) -> dict[str, Any]:
    r"""Return the options of a command line that is nearly all of a text.

    >>> _options("python train.py \\\n  --lr 1e-4 --epochs=3 --bf16 --optim 'adamw'")
    {'lr': 0.0001, 'epochs': 3, 'bf16': True, 'optim': 'adamw'}
    """
    found = list(_OPTION.finditer(text))
    value = {one["name"]: _setting(one["value"] or "True") for one in found}
    written = len("".join(text.replace("\\", "").split()))
    told = sum(len("".join(one[0].split())) for one in found)
    return value if len(value) == len(found) >= FEWEST and told >= HALF * written else {}


def _setting(text: str) -> Setting:
    """Return what a text stands for."""
    word = text.strip("'\"")
    if word.lower() in _WORDS:
        return _WORDS[word.lower()]
    number = as_number(word)
    if number is None:
        return word
    return int(word) if word.lstrip("+-").isdecimal() else number
