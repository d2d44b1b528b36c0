"""Command lines that a log repeats: which program was started, and with which options."""

import re
from collections.abc import Mapping

from runlens.patterns import lazy_re

LINE = lazy_re(
    r"(?:python3?|torchrun|accelerate launch|deepspeed|axolotl|llamafactory-cli|swift)\b"
    r"|^[$+>#] ?(?:\./)?[\w./-]{2,60}(?= -)"  # any program, behind a prompt
    r"|^[\w./-]{1,60}\.(?:py|sh)(?= -)"  # a script that says how it was called
    r"|^(?=--[A-Za-z][\w-]*[ =]\S+ +--[A-Za-z])"  # its options alone
)
OPTION = lazy_re(r"\s--?([A-Za-z][\w.\-]*)(?:[ =]+((?!--)\S+))?")
_LONG = lazy_re(r"\s--\w")
_GOES_ON = lazy_re(r"resume|continue|restore|(?:^|[-_])load|init|ckpt|checkpoint|pretrain", 2)
# of options: how long, and where. A launch that goes on may be given more time and another port
_BESIDE = lazy_re(r"epoch|step|iter|time|port|rank|node|gpu|device|worker", re.IGNORECASE)


def options(line: str) -> dict[str, str]:
    """Return the options of a command line as written; nothing for other lines."""
    command = LINE.search(line) if "--" in line else None
    if not command or not _LONG.search(f" {line}", command.end()):
        return {}
    return dict(OPTION.findall(f" {line}"))


def differ(before: Mapping[str, str], now: Mapping[str, str]) -> bool:
    """Whether two commands have the same options, one that bears on the training with two values.

    So do those of a sweep. With an option more or less, or weights to begin with, the second may
    go on where the first stopped.
    """
    if before.keys() != now.keys() or any(map(_GOES_ON.search, now)):
        return False
    return any(before[key] != now[key] and not _BESIDE.search(key) for key in now)
