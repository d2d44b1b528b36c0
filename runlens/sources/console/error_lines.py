"""What one line of a log says of an error: its level, its words, or that the program went on.

A line is of an error by the level of its logger (``... - ERROR - ...``), by its first word
(``Error: no such class``, ``fatal: ...``), or as it tells of a process that ended (``Segmentation
fault``, ``returned non-zero exit status 1``). An error of 0.31 is a measure, and one that is
skipped or retried ends nothing.
"""

from typing import Literal

from runlens.patterns import lazy_re
from runlens.sources.console.closing import closes

Says = Literal["error", "ended", "frame", "goes on", "nothing", "words"]

LONGEST = 400  # characters of a line that are looked at
MOST_NUMBERS = 0.4  # share of the words of an error, from which they are what was measured
ERRORS = ("ERROR", "CRITICAL", "FATAL", "SEVERE")
FATAL = ("CRITICAL", "FATAL")  # after which no logger's program is meant to go on
GOING = ("INFO", "DEBUG", "TRACE", "NOTICE", "SUCCESS")
_LEVEL = lazy_re(
    rf"(?<![\w.])(?P<level>{'|'.join((*ERRORS, *GOING, 'WARNING', 'WARN'))})(?![\w.])"
    r"(?P<mark>\s*[\])|:>-])?"
)
_LOW_LEVEL = lazy_re(r"\[(error|critical|fatal|info|debug|warning)\]|\blevel=(\w+)")
_WITHIN = 100  # characters of a line in which its level stands
_CLOCK = r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?Z?"
_STAMP = lazy_re(rf"^\W{{0,3}}(?:\d{{4}}[-/.]\d\d[-/.]\d\d[ T])?{_CLOCK}[\])]?")
_CLOCK_LAST = lazy_re(rf"{_CLOCK}[\])]?\s*$")
_CLOCK_WITHIN = lazy_re(_CLOCK)
_DATE = lazy_re(r"\s\d{2,4}[-/]\d")
_GLOG = lazy_re(r"^([EFIW])\d{4} \d\d:\d\d:\d\d\.\d+\s+\d+ [\w.]+:\d+\] ")  # Caffe's, PyTorch's
_GLOG_LEVELS = {"E": "ERROR", "F": "FATAL", "I": "INFO", "W": "WARNING"}
# where in the code a logger was called: "trainer.py:35] ", "__main__:main:35 - "
_ORIGIN = lazy_re(r"^\[?(?:[\w.]+\.py:\d+|[\w.]+:[\w<>]+:\d+)\]?[\s:-]+")
_MARKS = lazy_re(r"^[^\w'\"(\[{<./\\-]+")  # signs before the first word
_LOGGER = lazy_re(r"^(?!\w+(?:Error|Exception):)[\w.]+:(?=\S)")  # of "ERROR:root:no such class"
_SEPARATORS = " \t[](){}<>|:-"
_WORD = r"error|erreur|fehler|erro|errore|ошибка|错误|エラー|오류"
_SAYS_ERROR = lazy_re(
    rf"^\W{{0,6}}(?:[\w./-]{{1,80}}: )?(?:fatal(?: error)?|{_WORD})"
    r"\s*(?:!+ ?[:：]?|[:：])\s*(?P<what>.+)"
    r"|^\W{0,6}(?:an )?error (?:while|when|during|in|occurred|\w{2,20}ing)\b(?P<doing>.+)"
    r"|^[^:]{1,120}: error: "
    r"(?P<usage>(?:argument|the following arguments|unrecognized arguments?)\b.+)"
    r"|^\W{0,3}(?:panic: |thread '.{1,60}' .{0,20}panicked at |terminate called "
    r"|(?:unhandled|uncaught) exception[.:]? |exception in thread .{1,60}\" ?)(?P<panic>.+)",
    2,
)
# the first words of an error that no program outlives: Rust's, C++'s, Go's, Java's, MATLAB's
_UNCAUGHT = lazy_re(
    r"^\W{0,3}(?:panic: |thread '.{1,60}' .{0,20}panicked at |terminate called "
    r"|(?:unhandled|uncaught) exception[.:]? |exception in thread "
    r"|error (?:using|in) .{1,200} \(line \d+\)\s*$)",
    2,
)
_ENDED = lazy_re(
    r"\bnon-?zero (?:exit )?(?:status|code)\b|^\s*make(?:\[\d+\])?: \*\*\* .{1,200} error \d+\W*$"
    r"|\bexited (?:with (?:exit )?(?:status|code) [1-9]|on signal)"
    r"|\bsegmentation fault\b|\bcore dumped\b|^\W{0,3}(?:aborted|bus error|illegal instruction)\W*$"
    r"|\bassertion .{1,200} failed\b|^\W{0,3}execution halted\b",
    2,
)
# an exception of Python whose message stands below: PowerShell breaks the lines of narrow windows
_WRAPPED = lazy_re(r"^[A-Z]\w{2,60}(?:Error|Exception):\s*$")
# a line of a backtrace: glibc's, gdb's, glog's, MXNet's, Java's, Julia's, Lua's, JavaScript's, Go's
_FRAME = lazy_re(
    r"\(\S*\+0x[0-9a-f]+\)|\[0x[0-9a-f]{6,}\]\s*$|^\s*#\d+:? +(?:0x[0-9a-f]+ |\S+ \()"
    r"|^\s*@ +0x[0-9a-f]+|^\s*\[bt\] |^\s+at (?:async |new )?[\w.$<>/]+ ?\("
    r"|^\s+at \S+:\d+(?::\d+)?$|^\s*\[\d+\] .{1,200} at \S+:\d+|^\s+\S+:\d+: in \S+"
    r"|^(?:stacktrace|stack traceback):$|^\*{3} check failure stack trace"
    r"|^goroutine \d+ \[|^\s+\S+\.go:\d+"
    r"|^\s*\S+/bin/luajit\b.{0,80}: .{1,80}:\d+: ",
    2,
)
_ON = lazy_re(  # of an error after which a program goes on
    r"\b(?:skip(?:s|ped|ping)?|ignor(?:e|ed|ing)|retry(?:ing)?|trying again|falling back|fallback"
    r"|continu(?:e|es|ing)|using (?:the )?default)\b",
    2,
)
_NONE = lazy_re(r"\W*(?:none|null|nan|no(?: errors?)?|nothing|n/a)\W*$", 2)
_MEASURE = lazy_re(r"[-+]?\d+(?:\.\d+|\s*%)")
_NUMBER = lazy_re(r"[-+(\[]?\d[\d.,e+%-]*[)\],;]?|%")
_GOOD = lazy_re(
    r"\b(?:done|finished|completed?|success(?:ful(?:ly)?)?|saved|exported|written)\b", 2
)
_BAD = lazy_re(r"\b(?:fail\w*|errors?|not|unable|abort\w*|without)\b|n't\b", 2)
_DOING = lazy_re(r"^\W{0,3}(?!Warning|Missing|During|Nothing|String)[A-Z][a-z]+ing\b")
_WAY_OUT = lazy_re(
    r"\b(?:exit|abort|terminat|clean|shut|clos|stopp|quit|kill|fail|rais)\w*|traceback", 2
)
_FAILS = lazy_re(
    r"\b(?:errors?|fail(?:ed|ure)|cannot|can't|could not|couldn't|unable to|no such|not found"
    r"|does not exist|doesn't exist|invalid|denied|refused)\b",
    2,
)
_LETTERS = lazy_re(r"[^\W\d_]{2}")


def level(line: str) -> tuple[str, str]:
    """Return the level that a logger wrote into a line, and the message behind it; "" for none.

    A word in capitals within a sentence is none: it stands first, in brackets, between bars or
    dashes, or behind the clock.
    """
    head = line[:_WITHIN]
    if found := _GLOG.match(head):
        return _GLOG_LEVELS[found[1]], line[found.end() :]
    if found := _LOW_LEVEL.search(head):
        return (found[1] or found[2]).upper(), line[found.end() :].strip(_SEPARATORS)
    if not (found := _LEVEL.search(head)):
        return "", line
    before, mark = head[: found.start()].rstrip(), found["mark"]
    alone = not before.strip(_SEPARATORS) and (mark or _DATE.match(line, found.end()))
    marked = before.endswith(("[", "(", "|", "<", ":", "-"))
    timed = _CLOCK_LAST.search(before) or (mark and _CLOCK_WITHIN.search(before))
    if not (alone or marked or timed):
        return "", line
    behind = line[found.end() :]
    message = (_LOGGER.sub("", behind) if alone else behind).lstrip(_SEPARATORS)
    return found["level"], _ORIGIN.sub("", message)


def reason(line: str) -> str:
    """Return what a line says without its clock and its level."""
    named, message = level(line)
    return _MARKS.sub("", message if named else _STAMP.sub("", line)).strip()


def says(line: str) -> Says:
    """Return what a line says: an error, a process that ended, a place in a backtrace...

    A line of level INFO, one of progress or of success, and one that has a time but no error, show
    that the program went on.
    """
    line = line[:LONGEST]
    if not _LETTERS.search(line):
        return "nothing"
    if _FRAME.search(line):
        return "frame"
    named, message = level(line)
    bare = _STAMP.sub("", line)
    if named in ERRORS:
        of_progress = _progress(message)  # printed at a level that has nothing to do with it
        return "error" if not message or (_counts(message) and not of_progress) else "goes on"
    if not named and (found := _SAYS_ERROR.match(bare)):
        what = next(filter(None, found.groups()))
        return "error" if _counts(what) else "goes on" if _ON.search(what) else "words"
    if named in GOING:
        return "words" if _WAY_OUT.search(message) else "goes on"
    if _ENDED.search(line):
        return "ended"
    if not named and _WRAPPED.match(bare):
        return "error"
    return "goes on" if not named and _went_on(line, bare) else "words"


def _counts(what: str) -> bool:
    """Whether the words of an error are no measure, and say of nothing that goes on without."""
    words = what.split()
    numbers = sum(_NUMBER.fullmatch(word) is not None for word in words)
    measured = not words or numbers > MOST_NUMBERS * len(words) or _MEASURE.match(what.strip())
    return not (measured or _NONE.match(what) or _ON.search(what))


def _went_on(line: str, bare: str) -> bool:
    return not _WAY_OUT.search(bare) and (bare != line or closes(line) or _progress(bare))


def _progress(words: str) -> bool:
    """Whether a program says what it does now, or that something is done."""
    if _WAY_OUT.search(words):
        return False
    good = _GOOD.search(words) and not _BAD.search(words)
    return bool(good or _DOING.match(words))


def fatal(line: str) -> bool:
    """Whether a line is of a level, or begins with a word, after which nothing is meant to come."""
    uncaught = _UNCAUGHT.match(line[:LONGEST]) is not None
    return uncaught or level(line)[0] in FATAL or says(line) == "ended"


def fails(line: str) -> bool:
    """Whether a line has words of what failed: beside a backtrace they are its reason."""
    return _FAILS.search(line[:LONGEST]) is not None and _counts(reason(line[:LONGEST]))
