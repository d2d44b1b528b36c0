"""The table of error messages and the search for them in the lines of a log.

The table itself is `messages.tsv`, one row a line. A row's regular expression is tried only on
lines that hold one of its `needs`, and these are looked for in the whole text at once.
"""

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from math import inf
from pathlib import Path
from typing import Any

from runlens.cause import OF_CLASS
from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.sources.console.missing_modules import missing_module

SHOWN = 500  # characters of a line that an event keeps
NOT_IMPORTED = 76  # row of a module that is missing, or lacks what is asked of it
TRACEBACK = 99  # row of the header of every traceback; `tracebacks` reads the block itself
MAX_HITS = 20_000  # different lines of one row that are looked at
PIECE = 2**20  # characters of a text whose words are told apart at once
LONG = 8_000  # characters: in a longer line a message is sought near the word that it needs
IN_TOTAL = "reserved in total"
_GIB = {"KiB": 2.0**-20, "MiB": 2.0**-10, "GiB": 1.0, "TiB": 2.0**10, "bytes": 2.0**-30}
_SIZE = r"(\d+(?:\.\d+)?) ?([KMGT]iB)"
_SIZES = (
    ("tried_gib", lazy_re(r"Tried to allocate " + _SIZE + r"|tried to allocate (\d+) (bytes)")),
    ("total_gib", lazy_re(r"total capacity of " + _SIZE + r"|; " + _SIZE + " total capacity")),
    ("free_gib", lazy_re(r"of which " + _SIZE + r" is free|; " + _SIZE + " free")),
    (
        "allocated_gib",
        lazy_re(_SIZE + r" is allocated by PyTorch|; " + _SIZE + " already allocated"),
    ),
    (
        "reserved_gib",
        lazy_re(_SIZE + r" is reserved by PyTorch but unallocated|; " + _SIZE + " reserved in"),
    ),
)
UNSEEN = 0.2  # of the card
_OWN_USE = "this process has"
_SEES_NOTHING = "has 0 bytes memory in use"
_IN_USE = lazy_re(r"Process \d+ has " + _SIZE + r" memory in use")
# a launcher that ends the other ranks says which signal it sends: a consequence, not a cause
# behind such words a line lists what may have happened: none of it is known
_GUESSES = lazy_re(r"\b(common|possible|potential|likely) (causes|reasons)\b", re.IGNORECASE)
# of a launcher that ends the other ranks, and what it then sums up of them
_CONSEQUENCE = lazy_re(
    r"Sending process \d+ closing signal|Sending (signal )?SIGTERM to"
    r"|^\s*(exitcode|traceback)\s*:.*\(SIGTERM\)"
)


class Message:
    """One row of the table."""

    def __init__(self, line: str) -> None:
        """Take the row apart; its expression is compiled when it is first needed."""
        row, self.kind, needs, self.pattern, self.cause, self.fix, *kind = line.split("\t")
        self.cause_kind = kind[0] if kind else OF_CLASS.get(self.kind, "")
        self.row = int(row)
        self.needs = tuple(needs.split(";"))
        self.words = [(need, need.split()) for need in self.needs]

    @cached_property
    def regex(self) -> re.Pattern[str]:
        """The compiled expression; upper and lower case are one."""
        return re.compile(self.pattern, re.IGNORECASE)

    def __repr__(self) -> str:
        return f"<message {self.row} {self.kind}>"


class Hit(NamedTuple):
    """A line that a row of the table matches."""

    line: int  # index into the lines that were searched
    message: Message
    kind: str  # class of the message, here


def _table() -> tuple[Message, ...]:
    text = Path(__file__).with_name("messages.tsv").read_text(encoding="utf-8")
    return tuple(Message(line) for line in text.splitlines() if not line.startswith("#"))


MESSAGES = _table()
TOUCHED, OVER = 128, 12  # rows of Slurm: its memory limit was reached at some point; it killed
_OVER = next(message for message in MESSAGES if message.row == OVER)


def search(lines: Sequence[str]) -> list[Hit]:
    """Find the messages in `lines`, at most one a line: that of the first row that matches.

    Rows that say nothing by themselves (secondary, noise, fallback) yield to all others. A line
    that comes many times is looked at once.
    """
    distinct = list(dict.fromkeys(lines))
    text = _Lowered(distinct)
    known = _words(text.text)
    found: dict[str, Message] = {}
    for message in sorted(MESSAGES, key=_weak):
        needs = tuple(
            need
            for need, words in message.words
            if words[0] in known and all(word in known for word in words[1:])
        )
        for number, at in text.places(needs, MAX_HITS) if needs else ():
            line = distinct[number]
            if line not in found and message.regex.search(line, *_around(line, at)):
                found[line] = message
    return [
        Hit(number, found[line], _kind(found[line], line))
        for number, line in enumerate(lines if found else ())
        if line in found
    ]


def of_broken_off(hits: Sequence[Hit]) -> list[Hit]:
    """Return the messages of a training short of its plan: a limit that was touched ended it.

    By itself Slurm's notice says so little that a run to the end shows it too: page cache counts.
    """
    return [
        hit._replace(message=_OVER, kind=_OVER.kind) if hit.message.row == TOUCHED else hit
        for hit in hits
    ]


def _around(line: str, at: int) -> tuple[int, int]:
    """Return the part of a line in which a message is sought; all of it but in very long ones."""
    guesses = _GUESSES.search(line, 0, LONG)
    known = guesses.start() if guesses else len(line)
    return (0, known) if len(line) <= LONG else (max(0, at - LONG // 2), at + LONG)


def _weak(message: Message) -> bool:
    return message.kind in {"secondary", "noise", "fallback"}


def _kind(message: Message, line: str) -> str:
    return "secondary" if message.kind == "kill" and _CONSEQUENCE.search(line) else message.kind


class _Lowered:
    """Lines as one text in lower case, and where in it each of them begins."""

    def __init__(self, lines: Sequence[str]) -> None:
        joined = "\n".join(lines)
        same = joined.isascii()  # else a letter may change its length
        self.lines = lines if same else [line.lower() for line in lines]
        self.text = joined.lower() if same else "\n".join(self.lines)

    @cached_property
    def starts(self) -> list[int]:
        """Where the lines begin, and one behind the end; few logs hold what is looked for."""
        return [0, *accumulate(len(line) + 1 for line in self.lines)]

    def places(self, needs: tuple[str, ...], most: float = inf) -> list[tuple[int, int]]:
        """Return the numbers of lines that hold one of `needs`, each once, and where in them."""
        found: dict[int, int] = {}
        for need in needs:
            at = self.text.find(need)
            while at >= 0 and len(found) < most:
                number = bisect_right(self.starts, at) - 1
                found.setdefault(number, at - self.starts[number])
                at = self.text.find(need, self.starts[number + 1])
        return sorted(found.items())


def lines_with(needs: tuple[str, ...], lines: Sequence[str]) -> list[int]:
    """Return the numbers of the lines that hold one of `needs`, in upper or lower case."""
    return [number for number, _ in _Lowered(lines).places(needs)]


def _words(text: str) -> str:
    """Return all different words of a text, a line each: what a word must stand in to be there."""
    words: set[str] = set()
    start = 0
    while start < len(text):
        end = text.find("\n", start + PIECE)
        end = end if end >= 0 else len(text)
        words.update(text[start:end].split())
        start = end + 1
    return "\n".join(words)


def details(hit: Hit, line: str) -> dict[str, Any]:
    """Return what an event says about a hit; sizes of memory in GiB where the line has them."""
    message = hit.message
    data: dict[str, Any] = {
        "row": message.row,
        "class": hit.kind,
        "cause": message.cause,
        "cause_kind": message.cause_kind if hit.kind == message.kind else "",
        "fix": message.fix,
    }
    if message.row == NOT_IMPORTED and (told := missing_module(line)):
        data["cause"], data["fix"] = told
    if hit.kind == "oom":
        data |= memory(line)
    return data


def memory(line: str) -> dict[str, float]:
    """Parse the sizes in an out-of-memory message of PyTorch, in GiB."""
    sizes = {}
    for name, pattern in _SIZES:
        if match := pattern.search(line):
            number, unit = [group for group in match.groups() if group]
            sizes[name] = float(number) * _GIB[unit]
    if IN_TOTAL in line and {"reserved_gib", "allocated_gib"} <= sizes.keys():
        sizes["reserved_gib"] -= sizes["allocated_gib"]  # of old versions: what is in use, too
    own = sizes.get("allocated_gib", 0) + sizes.get("reserved_gib", 0)
    of_old = "already allocated" in line  # of a version that says nothing of other processes
    unseen = _unseen(sizes, own) if of_old or _SEES_NOTHING in line else 0.0
    if others := _of_others(line, own) or unseen:
        sizes["others_gib"] = others
    return sizes


def _unseen(sizes: Mapping[str, float], own: float) -> float:
    """Return the GiB that nobody accounts for: those of processes outside a container.

    What CUDA itself needs is far less than a fifth of a card.
    """
    total = sizes.get("total_gib", 0.0)
    left = total - sizes.get("free_gib", 0.0) - own
    return left if own and left > UNSEEN * total else 0.0


def _of_others(line: str, own: float) -> float:
    """Return the GiB that other processes hold; which process is ours, what it allocated tells."""
    used = [float(number) * _GIB[unit] for number, unit in _IN_USE.findall(line)]
    if used and _OWN_USE not in line:
        used.remove(min(used, key=lambda size: abs(size - own)))
    return sum(used)
