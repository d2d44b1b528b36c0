"""Programs that never began: what Python or the shell says of one that it could not start.

``python: can't open file 'train.py'``, ``./run.sh: line 3: torchrun: command not found``. Nothing
is behind it but what a script says on its way out, and no row is in such a log.
"""

from collections.abc import Sequence
from pathlib import Path

from runlens.patterns import lazy_re
from runlens.sources.console.last_words import last_words
from runlens.sources.console.text import cleaned
from runlens.sources.files import Unreadable, read_bytes

BEHIND = 5  # lines that launchers and scripts print behind it
SHORT = 65_536  # bytes of a log: a longer one is of a program that ran
LONGEST = 400  # characters of such a line
# what trainings are started with: a script goes on without others (``module: command not found``)
_PROGRAM = (
    r"(?:\S*[/\\])?(?:python[\d.]*|torchrun|accelerate|deepspeed|mpirun|mpiexec|horovodrun|srun"
    r"|uv|poetry|ray|swift|axolotl|xtuner|yolo|llamafactory-cli|[\w.-]*train[\w.-]*"
    r"|[\w.-]+\.(?:sh|py))"
)
_QUOTED = rf"['\u2018\"`]{_PROGRAM}['\u2019\"`]"
_NO_FILE = r"(?:No such file or directory|Permission denied)"
_REFUSED = lazy_re(
    r"^\s*(?:"
    r"(?:\S.*[/\\])?[Pp]ython[\d.]*(?:\.exe)?: "  # a path may have blanks
    r"(?:can't open file|No module named|Error while finding module|can't find '__main__')"
    rf"|\S+: (?:(?:line )?\d+: )?{_PROGRAM}: (?:command )?not found"
    rf"|\S*sh: {_PROGRAM}: {_NO_FILE}"  # at a line of a script it may be one that is sourced
    rf"|\w*sh: command not found: {_PROGRAM}"
    rf"|(?:nohup|timeout|\S*env|exec|nice|stdbuf): (?:failed to run command )?{_QUOTED}: {_NO_FILE}"
    rf"|{_QUOTED} is not recognized as an internal or external command"
    rf"|\w+: error: .{{0,80}}execve\(\): {_PROGRAM}: {_NO_FILE}"
    r"|Python was not found; run without arguments to install"
    r")",
)


def refused(lines: Sequence[str]) -> int:
    """Return the place of the line among the last that says so; -1 where none does."""
    said = [place for place, line in enumerate(lines) if line.strip()]
    ends = reversed(said[-1 - BEHIND :])
    return next((at for at in ends if _REFUSED.match(lines[at][:LONGEST])), -1)


def never_began(path: Path) -> bool:
    """Whether a file is a short log that ends so, or with an error of the program itself."""
    try:
        head = read_bytes(path, SHORT)
    except Unreadable:
        return False
    if len(head) >= SHORT:
        return False
    lines = [line for line in cleaned(head)[0].decode(errors="replace").split("\n") if line.strip()]
    return refused(lines) >= 0 or last_words(lines) is not None
