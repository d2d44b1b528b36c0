"""Settings that a log repeats: dumps of a configuration, banners, command lines."""

import ast
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import prod
from typing import Any

from runlens.config_keys import KNOWN_KEYS, canonical_key
from runlens.patterns import lazy_re
from runlens.run import Setting
from runlens.sources.configs.plain_settings import IN_NAMESPACE
from runlens.sources.console import commands
from runlens.sources.console.abroad import name_in_english
from runlens.sources.console.forms import by_form
from runlens.sources.console.printed_yaml import printed_yaml
from runlens.sources.console.said_of_data import said_of_data
from runlens.sources.console.settings_called import called
from runlens.sources.console.settings_in_line import beside_each_other, in_python
from runlens.sources.console.tagged import of_tags
from runlens.sources.console.telling import tells
from runlens.sources.files import MAX_SETTING, Unreadable, flat, parse_json

MAX_BLOCK = 3_000  # lines of one dump
MAX_TITLE = 300  # characters at the end of the line before a dump
MAX_DUMP = 400_000  # characters of one dump
MAX_SETTINGS = 3_000
FEWEST = 4  # lines of a list of settings
KNOWN = 2  # of them that are known by name
MAX_SCANNED = 20_000  # lines in which dumps are looked for

_START = lazy_re(
    r"(?:config|configuration|args|arguments|parameters|settings)\b[^{]*:\s*$", re.IGNORECASE
)
# alone above a list: "Hyperparameters:", "=== Training configuration ==="
_TITLE = lazy_re(
    r"\W*(?:[A-Za-z]+ ){0,3}(?:hyper-?param(?:eter)?s|config(?:uration)?|settings|arguments|args"
    r"|parameters|options)\W*$",
    re.IGNORECASE,
)
BULLETS = " \t-*\u2022\u00b7\u2502\u2514\u250c\u251c"  # before the items of a list, or beside a box
_ENTRY = lazy_re(r"\{ *'")  # pprint sets it off by its indent
_ARGUMENTS = lazy_re(r"\b(?:TrainingArguments|\w+Config|Seq2SeqTrainingArguments|\w+Args)\($")
_ARGUMENT = lazy_re(r"^\s*(\w+)=(.*)$")
_NAMESPACE = lazy_re(r"\bNamespace\(")
_BANNERS = lazy_re(
    r"(Num examples|Num Epochs|(?:Instantaneous b|B)atch size per device"
    r"|Total train batch size[^=:|]{0,80}|Total batch size[^=:|]{0,80}"
    r"|Gradient [Aa]ccumulation steps|Total optimization steps|Total steps|Num steps"
    r"|Number of trainable parameters)\s*=\s*([\d,]+(?:\.\d+)?)"
)
EPOCH, EPOCHS = "epoch", "num_train_epochs"
_EPOCHS = lazy_re(
    r"^\W*(?:total|max(?:imum)?|num(?:ber of)?)[ _]?epochs?\s*[:=]\s*(\d{1,6})\b", re.IGNORECASE
)
_FOR = lazy_re(
    r"\btraining for (\d[\d,]{0,15}) (?:(steps|iterations|updates)|epochs)\b", re.IGNORECASE
)
_ALONE = lazy_re(
    r"^\W*(?P<key>KL (?:coef(?:f|ficient)?|beta|weight)|Beta|Rollouts per prompt)\s*[:=]\s*"
    r"(?P<value>\d[\d.]{0,15}(?:e-?\d{1,3})?)\s*$",
    re.IGNORECASE,
)
# rows of the training data, alone in what a line says of it: "Train on 120 samples", "train: 58
# rows"; beside a decimal it is so far, and "samples/sec" is a speed
_ROWS = lazy_re(
    r"^(?!.*\d\.\d)(?:.{0,60} - |\| \S{1,60} )?\W*(?:(?:train(?: on)?"
    r"|training(?: (?:on|set|data(?:set)?))?|train (?:set|data(?:set)?))(?: size)?\s*[:=]?\s{1,4}"
    r"(?P<of>\d[\d,]{0,14}) (?:rows|images|samples|examples|sequences|sentences|pairs)\b"
    r"(?!\s?/| per)"
    r"|(?:(?:num(?:ber)? (?:of )?)?train(?:ing)? (?:rows|images|samples|examples)|n(?:um)?_train)"
    r"\s*[:=]\s*(?P<all>\d[\d,]{0,14})\W*$)",
    re.IGNORECASE,
)
# PEFT's: "trainable params: 18,882,560 || all params: 8,607,498,496 || trainable%: 0.2194"
_TRAINED = lazy_re(r"\btrainable params: (\d[\d,]{0,19}) \|\| all params: (\d[\d,]{0,19})")
# "n_train=5000 batch_size=4096 -> 1 batches per epoch"; beside a decimal it may be a speed
_PER_EPOCH = lazy_re(
    r"^(?!.*\d\.\d).*?(?<![\d.,])(\d{1,9}) (?:batch(?:es)?|steps?|updates?) "
    r"(?:per|an|each) epoch\b",
    re.IGNORECASE,
)
_BETAS = lazy_re(r"\bbetas\s*[:=]\s*(\([^()]{3,60}\))")
_OVERRIDE = lazy_re(
    r"^(?:Overriding:\s*|\s*--)?([A-Za-z_]\w*)\s*=\s*([^=#]\S*(?: \S+)*?)\s*(?:#.*)?$"
)
_DOTTED = lazy_re(r"^\s{2}([a-z_][\w]*) \.{3,} (.+)$")
_ARGV = lazy_re(r"\bargv\W{0,3}(\[.{0,2000}\])\s*$")
_GLUED = lazy_re(r"([A-Za-z]\w{1,40}):([^\s:/\\].{0,80})")
# a name and a value in columns: "INFO  batch_size       6"
_PADDED = lazy_re(r"(?:[^a-z]{0,60}\b(?:INFO|DEBUG)\b[\s:|\]-]{1,6})?\s*([a-z]\w{1,40})\s+(\S+)")
# one of them stands in every line that is looked at below: prose has none
_SIGNS = lazy_re(
    r"[={(]|: |^\w+:\S|betas|/train| \.\.\.|Overriding|--|pochs?:\d|raining for \d"
    r"|rain(?:ing)?(?: on)? \d|[a-z_] {3,}\S+$"
)
# a line of a trainer's own code: of a warning, a log or a traceback
_TRAINER = lazy_re(
    r"\btrl/trainer/(sft|dpo|kto|orpo|cpo|grpo|rloo|ppo|reward)_trainer\.py"
    r"|\bllama_?factory/train/(sft|dpo|kto|rm|ppo|pt)/"
)
_PRODUCT = lazy_re(r"\d{1,9}(?: ?\* ?\d{1,9}){1,3}")
_KEY = lazy_re(r"[A-Za-z]\w*(?:[ .-][A-Za-z]\w*){0,3}")  # no name of a sentence is that short
_LITERALS = {"true": True, "false": False, "none": None, "null": None}

TOTAL_BATCH = "total_train_batch_size"
BANNER_KEYS = {
    "num examples": "num_examples",
    "num epochs": "num_train_epochs",
    "total optimization steps": "planned_steps",
    "total steps": "planned_steps",
    "num steps": "planned_steps",  # BERT's own scripts
    "gradient accumulation steps": "gradient_accumulation_steps",
    "instantaneous batch size per device": "per_device_train_batch_size",
    "batch size per device": "per_device_train_batch_size",
    "number of trainable parameters": "trainable_parameters",
}


def settings(lines: Sequence[str]) -> dict[str, Setting]:
    """Collect the settings that `lines`, of which none is blank, repeat; the latest mention counts.

    Dumps are looked for in the first MAX_SCANNED lines, where programs print them.
    """
    stop = min(len(lines), MAX_SCANNED)
    found: dict[str, Setting] = dict(said_of_data(lines))
    found |= of_tags(lines[:MAX_BLOCK]) | beside_each_other(lines[:MAX_BLOCK])
    found |= called(lines[:MAX_BLOCK])
    place = listed = 0  # up to `listed` no list begins
    while place < stop and len(found) < MAX_SETTINGS:
        line = lines[place]
        place += 1
        if not _signed(line):
            continue
        if dump := _dump(lines, place - 1) or in_python(lines, place - 1):
            values, place = dump
            found |= values
        elif line.rstrip().endswith("(") and _ARGUMENTS.search(line.rstrip()):
            values, place = _arguments(lines, place)
            found |= values
        elif line.startswith("Overriding config with"):
            values, place = _overrides(lines, place)
            found |= values
        elif values := _single(line):
            found |= values
        elif place > listed:
            values, listed = printed_yaml(lines, place - 1) or _listed(lines, place - 1)
            found |= values
    return dict(list(found.items())[:MAX_SETTINGS])


@by_form
def _signed(line: str) -> bool:
    return _SIGNS.search(line) is not None


def _single(line: str) -> dict[str, Setting]:
    if len(line) > MAX_DUMP // 10:
        return {}
    if "=" in line and (banners := _BANNERS.findall(line)):
        return {_banner_key(name): value(number.replace(",", "")) for name, number in banners}
    if said := _said(line):
        return said
    if line.startswith("{") and line.endswith("}"):
        return _one_line(line)
    space = _NAMESPACE.search(line) if "Namespace(" in line else None
    goes_on = line.count("(") > line.count(")")  # an object in it is printed over lines
    if space and (goes_on or line.rstrip().endswith(")")):
        inside = line.rstrip()[space.end() :].removesuffix(")")
        return {key: value(text) for key, text in IN_NAMESPACE.findall(inside)}
    if " ..." in line and (dotted := _DOTTED.match(line)):
        return {dotted[1]: value(dotted[2])}
    if line.startswith(("Overriding:", "  --")) and (override := _OVERRIDE.match(line)):
        return {override[1]: value(override[2])}
    if options := commands.options(line):
        return _flags(options)
    words = _ARGV.search(line) if "argv" in line else None
    listed = _parse(words[1]) if words else None
    text = " " + " ".join(map(str, listed)) if isinstance(listed, list) else ""
    return _flags(dict(commands.OPTION.findall(text)))


def _said(line: str) -> dict[str, Setting]:
    """Return the one setting that a line says in a form of its own; nothing for other lines."""
    if epochs := _EPOCHS.match(line) if "poch" in line else None:
        return {"num_train_epochs": int(epochs[1])}
    if "raining for" in line and (plan := _FOR.search(line)):
        return {"max_steps" if plan[2] else "num_train_epochs": int(plan[1].replace(",", ""))}
    if "rain" in line and (data := _ROWS.match(line)):
        return {"train_rows": int((data["of"] or data["all"]).replace(",", ""))}
    if ("eta" in line or "KL" in line or "ollouts" in line) and (alone := _ALONE.match(line)):
        key = "num_generations" if "ollouts" in alone["key"] else "beta"
        return {key: value(alone["value"])}
    if "all params" in line and (trained := _TRAINED.search(line)):
        some, whole = (int(one.replace(",", "")) for one in trained.groups())
        return {"trainable_parameters": some, "all_parameters": whole}
    if " epoch" in line and (each := _PER_EPOCH.match(line)):
        return {"steps_per_epoch": int(each[1])}
    if "betas" in line and (pair := _BETAS.search(line)):
        return {"betas": pair[1]}
    if "/train" in line and (trainer := _TRAINER.search(line)):
        return {"trainer_class": f"{trainer[1]}_trainer" if trainer[1] else trainer[2]}
    return {}


def _one_line(line: str) -> dict[str, Setting]:
    """Read a dict of settings, KNOWN of them by name; rows of a training are dicts too."""
    parsed = _parse(line)
    found = flat(parsed) if isinstance(parsed, dict) else {}
    known = sum(canonical_key(key) in KNOWN_KEYS for key in found)
    measures = any(_measures(key, some) for key, some in found.items())
    return found if known >= KNOWN and not measures else {}


def _banner_key(name: str) -> str:
    plain = name.strip().lower()
    if plain.startswith("total") and "batch" in plain:
        return TOTAL_BATCH
    return BANNER_KEYS[plain]


def _flags(called: Mapping[str, str]) -> dict[str, Setting]:
    return {
        key.replace("-", "_"): value(text.strip("'\",")) if text else True
        for key, text in called.items()
        if len(key) > 1
    }


def _arguments(lines: Sequence[str], place: int) -> tuple[dict[str, Setting], int]:
    """Read ``TrainingArguments(`` with one ``key=value,`` a line."""
    found: dict[str, Setting] = {}
    for number in range(place, min(place + MAX_BLOCK, len(lines))):
        if lines[number].strip() == ")":
            return found, number + 1
        argument = _ARGUMENT.match(lines[number])
        if argument:
            found[argument[1]] = value(argument[2].rstrip().removesuffix(","))
        else:
            return found, number
    return found, place


def _listed(lines: Sequence[str], place: int) -> tuple[dict[str, Setting], int]:
    """Read ``epochs: 50`` and the like, one a line, and say up to where lines look like that.

    A list has FEWEST settings and more, or KNOWN below a title, some of which are known by name,
    and measures nothing.
    """
    texts: dict[str, str] = {}
    for number in range(place, min(place + MAX_BLOCK, len(lines))):
        key, text = _item(lines[number])
        if not text or key in texts:
            break
        texts[key] = text
    end = place + len(texts)
    titled = place > 0 and _TITLE.match(lines[place - 1][: MAX_TITLE + 1]) is not None
    if len(texts) < (KNOWN if titled else FEWEST):
        return {}, end
    found = {key: value(text) for key, text in texts.items()}
    known = sum(canonical_key(key) in KNOWN_KEYS for key in found)
    measures = any(_measures(key, some) for key, some in found.items())
    if type(found.get(EPOCH)) is int and EPOCHS not in map(canonical_key, found):
        found[EPOCHS] = found.pop(EPOCH)  # of settings it is the plan; a record measures something
    return (found if known >= KNOWN and not measures else {}), end


@lru_cache(4)  # the line that ends a list may begin one
def _item(line: str) -> tuple[str, str]:
    """Return name and value of ``2024-01-01 10:00:00 - INFO - epochs: 50``; "" for other lines."""
    sign = ": " if ": " in line[:MAX_TITLE] else "= "
    if glued := _GLUED.fullmatch(line):
        return glued[1], glued[2]
    if sign not in line and (padded := _PADDED.fullmatch(line[: MAX_TITLE + 1])):
        return padded[1], padded[2]
    before, _, text = line.partition(sign)
    before = name_in_english(before[-MAX_TITLE:])
    key = before.rpartition(" - ")[2].rpartition("] ")[2].lstrip(BULLETS).rstrip()
    named = len(line) <= MAX_TITLE and _KEY.fullmatch(key)
    return (key, text.strip()) if named else ("", "")


def _measures(key: str, some: Setting) -> bool:
    return isinstance(some, float) and tells(key)


def _overrides(lines: Sequence[str], place: int) -> tuple[dict[str, Setting], int]:
    """Read the Python file that nanoGPT prints: ``key = value`` with comments between."""
    found: dict[str, Setting] = {}
    for number in range(place, min(place + MAX_BLOCK, len(lines))):
        line = lines[number].strip()
        if line.startswith("#"):
            continue
        override = _OVERRIDE.match(line)
        if not override:
            return found, number
        found[override[1]] = value(override[2])
    return found, place


def _opens(lines: Sequence[str], place: int) -> bool:
    """Whether a dict of settings over many lines begins at a line."""
    opens = _bare(lines[place]).rstrip()
    if opens == "{":
        return place > 0 and _START.search(lines[place - 1][-MAX_TITLE:]) is not None
    begins = opens.endswith(",") and _ENTRY.match(opens)
    return bool(begins) and opens.count("{") > opens.count("}")


def _dump(lines: Sequence[str], place: int) -> tuple[dict[str, Setting], int] | None:
    """Read a JSON or Python dict of settings over many lines, and say where it ends."""
    if not _opens(lines, place):
        return None
    depth, text, size = 0, [], 0
    for number in range(place, min(place + MAX_BLOCK, len(lines))):
        if number > place and _opens(lines, number):
            return None  # the first was none
        piece = _bare(lines[number])
        depth += piece.count("{") - piece.count("}")
        size += len(piece)
        text.append(piece)
        if size > MAX_DUMP:
            return None
        if depth <= 0:
            parsed = _parse("\n".join(text))
            return (flat(parsed), number + 1) if isinstance(parsed, dict) else None
    return None


def _parse(text: str) -> Any:  # noqa: ANN401 - JSON is of any type
    try:
        return parse_json(text)
    except Unreadable:
        pass
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None


_PROCESS = lazy_re(r"^\([\w. ]*pid=\d+[^)]*\)\s?")


def _bare(line: str) -> str:
    return _PROCESS.sub("", line) if line.startswith("(") else line


def value(text: str) -> Setting:
    """Return a setting as printed: a number, a truth value, or text without its quotes.

    nanoGPT prints its files of settings, and those say 5 * 8.
    """
    bare = text.strip().strip("'\"")[:MAX_SETTING]
    if _PRODUCT.fullmatch(bare):
        return prod(int(factor) for factor in bare.split("*"))
    if bare.lower() in _LITERALS:
        return _LITERALS[bare.lower()]
    try:
        return int(bare)
    except ValueError:
        pass
    try:
        return float(bare)
    except ValueError:
        return bare
