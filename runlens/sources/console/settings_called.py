"""Settings that a log prints as a call: ``optimizer: SGD(lr=0.01) with parameter groups ...``.

An optimizer, or a model of scikit-learn whose text may go on over lines:
``MLPClassifier(hidden_layer_sizes=(64,), learning_rate_init=0.5, ...)``. Nothing of it is run.
PyTorch prints the settings of an optimizer below its name, ``Adam (`` and ``Parameter Group 0``.
"""

import ast
from collections.abc import Sequence
from itertools import pairwise

from runlens.config_keys import KNOWN_KEYS, canonical_key
from runlens.patterns import lazy_re
from runlens.run import Setting

MAX_LINES = 60  # of one call: scikit-learn writes some three settings a line
LONGEST = 500  # characters of a line
OPTIM, RATE, SCHEDULE = "optimizer", "learning_rate", "lr_schedule"
_OPTIMIZER = r"(?:Adam[A-Za-z]{0,5}|NAdam|RAdam|SGD|RMSprop|Adagrad|Adadelta|Lion|LAMB|LARS|Ftrl)"
_MODEL = r"(?:MLP(?:Classifier|Regressor)|SGD(?:Classifier|Regressor)|XGB\w{3,12}|LGBM\w{5,12})"
_CALL = lazy_re(rf"(?<!\w)(?:(?P<optimizer>{_OPTIMIZER})|{_MODEL})\((?=\s*\w+=|$)")

_HEADED = lazy_re(rf"\W*(?:.{{0,60}}[:=]\s*)?({_OPTIMIZER}) \(\s*")
GROUP = "Parameter Group "


def called(lines: Sequence[str]) -> dict[str, Setting]:
    """Collect the settings of calls, and which no other call of that name changes.

    Those of several trials, as a search prints them, are of one each.

    >>> called(["optimizer: SGD(lr=0.01) with parameter groups 57 weight(decay=0.0)"])
    {'lr': 0.01, 'optimizer': 'SGD'}
    """
    found: dict[str, dict[str, Setting]] = {}
    changed: set[str] = set()
    for place, line in enumerate(lines):
        begins = _CALL.search(line) if "(" in line and len(line) <= LONGEST else None
        own = _keywords(_whole(lines, place, begins.start())) if begins else {}
        if not begins or not own:
            continue
        if begins["optimizer"]:
            own[OPTIM] = begins["optimizer"]
        if isinstance(own.get(RATE), str):
            own[SCHEDULE] = own.pop(RATE)  # of scikit-learn: 'constant', 'adaptive'
        if found.setdefault(begins[0], own) != own:
            changed.add(begins[0])
    kept = [own for name, own in found.items() if name not in changed]
    names = {
        head[1]
        for line, below in pairwise(lines)
        if GROUP in below and (head := _HEADED.fullmatch(line))
    }
    kept += [{OPTIM: name} for name in names if len(names) == 1]
    return {name: some for own in kept for name, some in own.items()}


def _whole(lines: Sequence[str], place: int, begin: int) -> str:
    """Return the text of the call that begins in a line, up to its last bracket; "" without one."""
    text = lines[place][begin:]
    for line in lines[place + 1 : place + MAX_LINES]:
        if text.count(")") >= text.count("("):
            break
        text = f"{text} {line.strip()}"
    depth = 0
    for at, sign in enumerate(text):
        depth += {"(": 1, ")": -1}.get(sign, 0)
        if sign == ")" and not depth:
            return text[: at + 1]
    return ""


def _keywords(text: str) -> dict[str, Setting]:
    """Return the numbers, words and truth values of a call, one of which is a known setting."""
    try:
        said = ast.parse(text, mode="eval").body if text else None
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return {}
    keywords = said.keywords if isinstance(said, ast.Call) else []
    found: dict[str, Setting] = {
        key.arg: key.value.value
        for key in keywords
        if key.arg
        and isinstance(key.value, ast.Constant)
        and isinstance(key.value.value, int | float | str)
    }
    numbers = {canonical_key(name) for name, some in found.items() if not isinstance(some, str)}
    return found if numbers & KNOWN_KEYS else {}
