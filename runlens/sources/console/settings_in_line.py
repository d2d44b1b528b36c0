"""Settings that stand beside each other in a line: ``cfg: lr=0.05 momentum=0.9 batch=32``.

And those of configurations that are Python: ``optimizer = dict(lr=0.02)``, as mmcv prints them.
"""

import ast
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from runlens.config_keys import KNOWN_KEYS, canonical_key
from runlens.patterns import lazy_re
from runlens.run import Setting
from runlens.sources.console.abroad import name_in_english
from runlens.sources.console.forms import by_form
from runlens.sources.console.telling import tells
from runlens.sources.files import flat

LONGEST = 500  # characters of a line of settings; a longer one is a row or a dump
MAX_LINES = 400  # of one dict
KNOWN = 2  # settings of a line that are known by name
WORDED = 3  # of a line without signs, where prose may have two
_VALUE = (
    r"'[^']*'|\"[^\"]*\"|\([^()]*\)|\[[^\]]*\]|[A-Za-z]\w*\([^()=]*\)(?=[,;\s|]|$)"
    r"|(?:(?!, |; )[^\s|()])+?(?=[,;)]*(?:[\s|]|$))"
)
_NUMBER = r"[-+]?\d\S*?|True|False|None"
_ENDS = r"(?=[,;]?(?:\s|$))"
# the first word of a name of two, which others write with a sign between: "Learning rate = 0.1"
_FIRST = (
    r"(?i:(?:(?:learning|batch|mini-?batch|weight|hidden|warmup|random|clip|grad|max|num|step) )?)"
)
_EQUALS = lazy_re(rf"(?P<name>{_FIRST}[A-Za-z_][\w.\-]{{0,40}})\s?=\s?(?P<value>{_VALUE})")
_FORMS = (  # names and values of a line, and how many of them must be known
    (_EQUALS, KNOWN),
    (lazy_re(rf"(?P<name>[A-Za-z][A-Za-z_ .\-]{{0,40}}):\s?(?P<value>{_VALUE})"), KNOWN),
    (lazy_re(rf"(?<!\S)(?P<name>[A-Za-z]\w{{0,40}}) (?P<value>{_NUMBER}){_ENDS}"), WORDED),
    (
        lazy_re(
            r"(?:^|(?<=\s\s)|(?<=, ))(?P<name>[A-Za-z]\w{0,40}(?: [A-Za-z]\w{0,40})?)"
            rf" (?P<value>{_NUMBER})(?=,? |\s\s|$)"
        ),
        KNOWN,
    ),
)
_DIGIT = lazy_re(r"\d")
_BETWEEN = lazy_re(r"[\s,;|)\]}/]*")
# said beside settings and none itself: ", no baseline"; "ref=frozen sft"
_ASIDE = lazy_re(r",? ?\b(?:no|with|without) [a-z]\w{2,20}(?: [a-z]\w{2,20})?(?=\s*(?:,|;|$))")
# a remark behind a value: "pos_weight=7.3 (sqrt)"
_REMARK = lazy_re(r"(?<=\S) \([a-z][^()=:\d]{1,60}\)(?=[\s,;|]|$)")
# the name of an optimizer among settings: "bs=40 adam lr=0.001"
_OPTIMIZER = lazy_re(
    r"(?<![=\w:])(?<![=:] )((?:n|r)?adam[wx]?|sgd|rmsprop|adagrad|adadelta|lion|lamb)"
    r"(?=[ ,]{1,2}[A-Za-z_]{1,20} ?=)",
    re.IGNORECASE,
)
# where exploration begins and ends: "eps 1.0->0.05"
_EPS = lazy_re(
    r"(?<![\w.])eps(?:ilon)?[ =:]{1,2}(\d[\d.]{0,9}) ?(?:->|→) ?(\d[\d.e-]{0,9})(?![\w.])"
)
_AMID = lazy_re(r"[\s,;|)\]}/]*(?:(?<=[\s,;|])[a-z]{2,12} )?")
_LAST_WORD = lazy_re(r"[\s,;|)\]}/]*(?: [a-z]{2,12})?")
MANY = 4  # settings of a line, beside which one word more is no sentence
_DICT = lazy_re(r"\s*([A-Za-z_]\w{0,60})\s*=\s*dict\(")
# two names of settings that trainings have, each with a value: nearly all other lines end here
_STEM = (
    r"(?:lr\d?|rate|batch|bs|bsz|epochs|steps|beta\d?|decay|wd|dropout|gamma|momentum|seed|clip\w*"
    r"|norm|accum\w*|size|classes|warmup\w*|coeff?|temperature|optimi[sz]er|rank|alpha"
    # of other languages: a rate of learning, a batch, epochs
    r"|apprentissage|apprendimento|aprendizaje|aprendizado|lernrate|lote|lot|epoques|epocas|epochen)"
)
_SIGNS = lazy_re(rf"(?<![a-z]){_STEM}(?: ?[=:] ?| )\S.*[\s_]{_STEM}(?: ?[=:] ?| )\S", re.IGNORECASE)
# a rate beside other settings, of which none need be known: "k=2 lr=0.002 reg=2e-4"
_RATE = lazy_re(r"(?<![A-Za-z_.\-])(?:lr|learning[_ ]rate|lernrate) ?= ?\d", re.IGNORECASE)
# said to be settings: "Args: seq_len=48 train_epochs=10"
_TITLED = lazy_re(r"(?i)^\W*(?:args|arguments|cfg|config|hparams|settings|params)\b\W.*=\S")
# a heading of one setting, of the training below it: "##### seed=2 #####"
_HEADING = lazy_re(
    r"\s*([#=*~-])\1{2,}\s*(?P<name>[A-Za-z]\w{0,40})(?: ?[=:] ?| )"
    rf"(?P<value>{_NUMBER})\s*\1{{3,}}\s*"
)
BESIDE_A_RATE = 3  # settings in all: what a scheduler says of the rate has one or two
# a rate that is proposed, was best or is set anew is not that of the training
_PROPOSED = lazy_re(r"(?i)\b(?:suggest|best|reduc|lower|chang|chose|found|updat(?:ed|ing)|new)")
# known without a rule that asks for them
_KEYS = KNOWN_KEYS | {"dropout", "gamma", "clip"}
# counts that stand beside them: "vocab 94 params 115294 lr 0.004 steps 1200"
_COUNTS = frozenset(("vocab", "params", "steps", "iters", "updates", "classes", "layers", "hidden"))
# what counts the rows of a log: a line that has one of them is a row
_COUNTERS = frozenset(("epoch", "step", "iter", "iteration", "it", "update", "episode", "frame"))


def beside_each_other(lines: Sequence[str]) -> dict[str, Setting]:
    """Collect the settings of lines that end with them, and which no other line changes.

    >>> beside_each_other(["cfg: lr=0.05 batch=32", "opt: sgd lr 0.05 wd 0.5 bs 8"])
    {'lr': 0.05, 'batch': 32, 'wd': 0.5, 'bs': 8}
    """
    from runlens.sources.console.printed_settings import value

    found: dict[tuple[str, ...], dict[str, Setting]] = {}
    changed: set[tuple[str, ...]] = set()
    for line in lines:
        abroad = len(line) <= LONGEST and not line.isascii()
        said = name_in_english(line) if abroad else line
        if len(line) > LONGEST or not _holds(said):
            continue
        own = {name: value(text) for name, text in _pairs(said)}
        if abroad:  # of what was put into English a text is none that the log holds
            own = {name: some for name, some in own.items() if not isinstance(some, str)}
        names = tuple(own)
        if found.setdefault(names, own) != own:
            changed.add(names)  # the rows of a log, or of a search
    kept = [own for names, own in found.items() if names not in changed]
    return {name: some for own in kept for name, some in own.items()}


@by_form
def _holds(line: str) -> bool:
    signed = any(known.search(line) for known in (_HEADING, _SIGNS, _RATE, _TITLED))
    return signed and bool(_pairs(line))


def _pairs(line: str) -> list[tuple[str, str]]:
    """Return names and values of the settings that a line ends with; nothing of other lines."""
    if heading := _HEADING.fullmatch(line):
        name = heading["name"]
        return [(name, heading["value"])] if canonical_key(name.lower()) in _KEYS else []
    line = _REMARK.sub("", _ASIDE.sub("", line))
    line = _EPS.sub(r"eps_start=\1 eps_end=\2", _OPTIMIZER.sub(r"optimizer=\1", line))
    for pattern, fewest in _FORMS:
        found = [(one.start(), one.end(), one) for one in pattern.finditer(line)]
        gap = _AMID if pattern is _EQUALS and len(found) >= MANY else _BETWEEN
        gaps = pairwise(found)
        if not all(gap.fullmatch(line, end, start) for (_, end, _), (start, _, _) in gaps):
            continue
        closes = _LAST_WORD if len(found) >= MANY else _BETWEEN
        if found and not closes.fullmatch(line, found[-1][1]):
            continue
        own = {one["name"].strip(): one["value"] for _, _, one in found}
        numbers = [name for name, some in own.items() if _DIGIT.search(some)]
        known = {canonical_key(name.lower()) for name in numbers} & _KEYS
        counted = len(known) + len(_COUNTS & set(numbers)) if known else 0
        measures = any(tells(name) for name in numbers)  # of a text: ``loss=sigmoid``
        row = measures or any(name.lower() in _COUNTERS for name in own)
        enough = counted >= fewest or _is_beside_a_rate(line, pattern, known, len(own))
        if enough and len(own) == len(found) and not row:
            return list(own.items())
    return []


def _is_beside_a_rate(line: str, form: re.Pattern[str], known: set[str], many: int) -> bool:
    """Whether a line sets a rate and more by equals signs, and proposes none."""
    rate = form is _EQUALS and "learning_rate" in known and many >= BESIDE_A_RATE
    return rate and _PROPOSED.search(line) is None


def in_python(lines: Sequence[str], place: int) -> tuple[dict[str, Setting], int] | None:
    """Return the settings of the ``name = dict(...)`` that begins at a line, and where it ends.

    Nothing of it is run: what is neither a literal nor a dict is left out. None for other lines.

    >>> in_python(["optimizer_config = dict(", "  grad_clip=dict(max_norm=0.1))"], 0)
    ({'optimizer_config.grad_clip.max_norm': 0.1}, 2)
    """
    begins = _DICT.match(lines[place])
    if begins is None:
        return None
    text, depth = "", 0
    for number in range(place, min(place + MAX_LINES, len(lines))):
        text += lines[number].strip() + "\n"
        depth += lines[number].count("(") - lines[number].count(")")
        if depth <= 0:
            try:
                said = ast.parse(text[begins.end(1) - begins.start(1) :].lstrip(" ="), mode="eval")
            except (SyntaxError, ValueError, MemoryError, RecursionError):
                return None
            return flat({begins[1]: _plain(said.body)}), number + 1
    return None


def _plain(node: ast.expr) -> Any:  # noqa: ANN401 - a setting is of any type
    """Return what a literal says, and the keywords of a call as a dict; None for anything else."""
    if isinstance(node, ast.Call):
        return {key.arg: _plain(key.value) for key in node.keywords if key.arg}
    if isinstance(node, ast.List | ast.Tuple):
        return [_plain(one) for one in node.elts]
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
