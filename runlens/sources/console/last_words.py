"""The error with which a log without a row ends, where no exception is printed below its frames.

What a program says on its way out may follow the error; a line that tells of progress or success
shows that it went on. Where frames, or the end of a process, have no reason of their own, it is
the nearest line above them that says what failed.
"""

from collections.abc import Sequence

from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.run import Sure, unnamed
from runlens.sources.console.error_lines import LONGEST, fails, fatal, reason, says
from runlens.sources.console.events import own_frame, unranked

BEHIND = 4  # lines that say something behind an error: advice, what a script prints at its end
ABOVE = 5  # lines above frames, or above a bare end, in which the reason is looked for
_PYTHON = lazy_re(r'(?:^|\s)File "([^"]+)", line (\d+)(?:, in (\S+))?')
_BLANK = (" ", "\t")


class LastWords(NamedTuple):
    """The error with which a log ends."""

    at: int  # place of the line that names the reason
    end: int  # place of its last line
    text: str
    frame: str  # the last frame of the user's own code, where frames of Python are there
    sure: Sure


class _Tail(NamedTuple):
    """The last lines of a log, from its end up to the error; places, the last first."""

    error: int  # -1: none
    frames: list[int]


def last_words(lines: Sequence[str]) -> LastWords | None:
    """Return the error with which a log ends; `lines` are those of it that are not blank."""
    tail = _tail(lines)
    begin = tail.error if tail.error >= 0 else min(tail.frames, default=-1)
    if begin < 0:
        return None
    bare = tail.error < 0 or says(unranked(lines[begin])) == "ended"
    above = _reason_above(lines, begin) if bare else begin
    python = [found for at in reversed(tail.frames) if (found := _PYTHON.search(lines[at]))]
    frames = [(found[1], found[2], found[3] or "") for found in python]
    at = above if above >= 0 else begin
    text = reason(unranked(lines[at]))
    if above < 0 and frames:
        text = unnamed(frames[-1][2] or frames[-1][0])
    elif (not text or text.endswith((":", "："))) and at + 1 < len(lines):
        text = f"{text} {unranked(lines[at + 1]).strip()}".strip()
    traced = bare or tail.frames or (at > 0 and _of_frame(lines, at - 1))
    sure: Sure = "certain" if traced or fatal(unranked(lines[at])) else "likely"
    end = max([at, tail.error, *tail.frames])
    return LastWords(at, end, text[:LONGEST], own_frame(frames), sure)


def _tail(lines: Sequence[str]) -> _Tail:
    """Go up from the end until an error; what goes on is behind none."""
    frames: list[int] = []
    said = 0
    for at in range(len(lines) - 1, -1, -1):
        line = unranked(lines[at])
        if _of_frame(lines, at):
            frames.append(at)
            continue
        kind = says(line)
        if kind in {"error", "ended"}:
            return _Tail(at, frames)
        said += kind != "nothing"
        if kind == "goes on" or said > BEHIND or frames:
            break
    return _Tail(-1, frames)


def _of_frame(lines: Sequence[str], at: int) -> bool:
    """Whether a line is of a backtrace: a frame, or the source that Python quotes below one."""
    if _PYTHON.search(lines[at]) or says(unranked(lines[at])) == "frame":
        return True
    indented = at > 0 and lines[at].startswith(_BLANK)
    return indented and _PYTHON.search(lines[at - 1]) is not None


def _reason_above(lines: Sequence[str], place: int) -> int:
    """Return the place of the nearest line above that says what failed; -1: none does."""
    left = ABOVE
    for at in range(place - 1, -1, -1):
        if _of_frame(lines, at):
            continue
        line = unranked(lines[at])
        if says(line) == "error" or fails(line):
            return at
        left -= 1
        if not left:
            break
    return -1
