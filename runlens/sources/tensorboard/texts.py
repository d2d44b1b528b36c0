"""Settings in the text summaries of event files."""

import re
from typing import Any

from runlens.patterns import lazy_re
from runlens.run import Setting
from runlens.sources.configs.plain_yaml import parse_yaml
from runlens.sources.files import MAX_CONFIG, MAX_LEAVES, Unreadable, flat, parse_json

SETTINGS = lazy_re(r"(?:args|config|model_config|hparams|hyper_?param(?:eter)?s?)\b", re.IGNORECASE)
# beside each other: "lr=0.001 wd=0.05 epochs=25"
_PAIRS = lazy_re(r"\s*(?:[A-Za-z][\w.-]{0,60}=[^\s,=]{1,100}(?:[\s,]{1,4}|$)){2,200}")
_PAIR = lazy_re(r"([A-Za-z][\w.-]{0,60})=([^\s,=]{1,100})")
MODEL = "model_config"
MODEL_FACTS = {"model_type", "architectures", "vocab_size", "_name_or_path"}


def settings_in(tag: str, text: str) -> dict[str, Setting]:
    """Return the settings, flat, in a text summary; nothing if it holds none.

    Hugging Face writes its arguments and the model's configuration as JSON, ML-Agents its
    hyperparameters as indented lines, others a Markdown table. Of a model's configuration only
    plain facts keep their names: old ones have a max_length and a temperature of their own.
    """
    name = tag.removesuffix("/text_summary")
    if not SETTINGS.match(name) or len(text) > MAX_CONFIG:
        return {}
    try:
        found = _parsed(text.strip("\n"))
    except Unreadable:
        return {}
    if name != MODEL:
        return flat(found)
    facts = {key: value for key, value in found.items() if key in MODEL_FACTS}
    if isinstance(labels := found.get("id2label"), dict):
        facts["num_labels"] = len(labels)
    rest = {key: value for key, value in found.items() if key not in MODEL_FACTS}
    return flat(facts) | flat({MODEL: rest})


def _parsed(text: str) -> dict[str, Any]:
    if text.lstrip().startswith("|"):
        return _table(text)
    if _PAIRS.fullmatch(text):
        return {name: _plain(value) for name, value in _PAIR.findall(text)}
    value = parse_json(text) if text.startswith("{") else parse_yaml(text.replace("\t", " "))
    return value if isinstance(value, dict) else {}


def _table(text: str) -> dict[str, Any]:
    """Read a Markdown table of names and values; its first row is a heading."""
    rows = [line.strip().strip("|").split("|", 1) for line in text.splitlines()[1:MAX_LEAVES]]
    pairs = [(row[0].strip(), row[1].strip()) for row in rows if len(row) > 1]
    return {name: _plain(value) for name, value in pairs if name.strip("-: ")}


def _plain(text: str) -> Setting:
    known = {"True": True, "true": True, "False": False, "false": False, "None": None}
    if text in known:
        return known[text]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
