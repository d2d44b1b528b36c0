"""What every line of a log begins with: stamps, levels, loggers, ranks, marks of a quotation.

It is found by what most lines share once their digits are alike, so that no logger has to be known.
What counts or is measured stays: a prefix has no counter, and its numbers are times or constant.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from runlens.metrics import NAMES, base, naming
from runlens.naming.languages import in_english
from runlens.patterns import lazy_re
from runlens.sources.console.mining.counter_names import counter
from runlens.sources.console.mining.phrases import SPLIT, phrase
from runlens.sources.console.mining.slots import Parts, parts
from runlens.sources.console.telling import tells

SHARED = 0.7  # of the lines begin alike: others are of another level, or of another program
SAMPLE = 400  # lines that are compared
COMPARED = 40  # lines whose numbers are compared
HEAD = 40  # lines at the beginning, where the names of a table stand
TRIED = 12  # lines whose beginning is tried
LONGEST = 160  # characters of a prefix
FEWEST = 4  # lines that share it
_GLOG = lazy_re(r"[IWEF]\d{4,8} [\d:.]+ +\d+ [\w./ -]{1,60}:\d+\] ")
# where in its code a program is, each line elsewhere: "/home/me/train.py : train [228] - "
# or "models.py[line:242] - INFO: "
_IN_CODE = lazy_re(
    r".{0,200}?(?<!\S)\S{1,200}\.py\s?(?::\s?[\w<>]+\s?\[\d+\]|\[line:? ?\d+\])\s[-:|]\s"
)
_ITEM = lazy_re(r"\s*\d{1,4}[.)]\s+(?=(?:epoch|step|iter\w{0,6}|round)\W{0,3}\d)", re.IGNORECASE)
_WEIGHTED = lazy_re(r" \(\* \S+ = \S+ loss\)\s*$")
# a table has a column of times, which are no stamps of its lines then
_TIMES = lazy_re(r"[\s|#]*(?:timestamp|datetime)(?:\s{2,}|\s?[|,;\t])", re.IGNORECASE)
_DIGITS = lazy_re(r"\d+")
_WORDS = lazy_re(r"[A-Za-z_]+")
_ENDS = " \t|>]:)-"
# a prefix ends with a mark, a level, a time, a line of code, or the stream that a container names
_MARK = lazy_re(
    r"(?:[|>\]:)}-]|\.(?:py|lua|cc|cpp):\d+|\b(?:INFO|WARN(?:ING)?|DEBUG|ERROR|F|P)|(?<!\S)[\d:.,TZ/-]*\d[\d:.,TZ/-]*)\s*$"
)
_GIVEN = lazy_re(r"(?<=[A-Za-z_\d][:=])[-+]?\d*\.\d")  # the value of a name: "L_adv:0.75"
# cells of a table that never change, as beginnings write their digits: "0.0  0.0"
_MEASURED = lazy_re(r"[|\s]*(?:[-+]?0(?:\.0)?(?:[eE][-+]?0)?[\s|,;]*)+")
# cells that begin a row, the last of them without its number: "size: 0, skip: 0, fold:"
_CELLS = lazy_re(r"(?:\s*[A-Za-z]\w*\s?[:=]\s*0(?:\.0)?\s*[,;|])+\s*[A-Za-z][\w ]*[:=]")
_BRACKETS = {"[]", "()", "<>"}
_BINDING = " :="
_SECONDS = {"s", "m", "h", "ms"}
Line = tuple[int, str]


def without_prefix(lines: Sequence[Line]) -> list[Line]:
    """Return the lines of a log without what most of them begin with."""
    lines = [(at, _without_glog(line)) for at, line in lines]
    found = _prefix([line for _, line in lines if line.strip()])
    if not found:
        return lines
    form = _form(found)
    return [
        (at, line[match.end() :] if (match := form.match(line)) else line) for at, line in lines
    ]


def _without_glog(line: str) -> str:
    """Return a line without the prefix of glog, in which each process and each line has numbers.

    What Caffe, which logs with it, says again of a weighted loss is left out: ``(* 1 = 0.5 loss)``.
    """
    if ".py" in line and (place := _IN_CODE.match(line)):
        return line[place.end() :]
    if item := _ITEM.match(line):  # of a list that someone wrote: "2. epoch 2 -> loss 0.5"
        return line[item.end() :]
    found = _GLOG.match(line) if line[:1] in "IWEF" else None
    return _WEIGHTED.sub("", line[found.end() :]) if found else line


def _form(begin: str) -> re.Pattern[str]:
    """Return what finds a beginning, and one space behind it, in a line with its own digits."""
    return re.compile(r"\d+".join(map(re.escape, begin.split("0"))) + r"\s?")


def _prefix(lines: Sequence[str]) -> str:
    """Return what most lines begin with, each number in it as ``0``; empty: nothing."""
    every = 1 + len(lines) // SAMPLE
    sample = [line[:LONGEST] for line in lines[::every]]
    if any(map(_TIMES.match, lines[:HEAD])):
        return ""
    shapes = [_DIGITS.sub("0", line) for line in sample]
    needed = max(FEWEST, SHARED * len(shapes))
    counts = Counter(shape[:2] for shape in shapes)
    best = ""
    for shape in shapes[:: 1 + len(shapes) // TRIED]:
        if counts[shape[:2]] < needed:
            continue
        for begin in _beginnings(shape, len(best)):
            alike = [n for n, other in enumerate(shapes) if other.startswith(begin)]
            if len(alike) < needed:
                break
            if _passes([sample[n] for n in alike], begin):
                best = begin
    return best


def _beginnings(shape: str, longer: int) -> Iterator[str]:
    """Yield the beginnings of a line that end where a prefix may, the shortest first."""
    for end in range(max(1, longer), len(shape)):
        if shape[end - 1] in _ENDS and (end == len(shape) or shape[end] not in _ENDS):
            yield shape[:end].rstrip()


def _passes(lines: Sequence[str], begin: str) -> bool:
    """Whether a beginning says nothing about the training."""
    if ("0.0" in begin and _MEASURED.fullmatch(begin)) or _CELLS.fullmatch(begin):
        return False
    form = _form(begin)
    every = 1 + len(lines) // COMPARED
    some = [(line, match) for line in lines[::every] if (match := form.match(line))]
    if all(_GIVEN.match(line, match.end()) for line, match in some):
        return False
    if base(naming(begin.rstrip(_BINDING)).metric) in NAMES:  # "lr: 0.05  loss: 2.3"
        return False
    cut = [parts(match[0] + ".") for _, match in some]
    said = phrase(cut[0].text, cut[0].marks)
    if any(column.kind for column in said.columns) or tells(begin):
        return False
    if not _MARK.search(begin) or _counting(begin):
        return False
    if _names_held_out(begin):
        return False
    return all(_steady(cut, place) for place in range(len(cut[0].slots)))


def _names_held_out(begin: str) -> bool:
    """Whether held-out data are the first that a beginning names, or stand in brackets of it.

    A function is called as they are too: ``train - 105 - [eval]``, but ``(train:Eval():net.cc)``.
    """
    for number, split in enumerate(SPLIT.finditer(begin)):
        edges = begin[split.start() - 1 : split.start()] + begin[split.end() : split.end() + 1]
        if split.lastgroup != "train" and (not number or edges in _BRACKETS):
            return True
    return False


def _counting(begin: str) -> bool:
    """Whether the last word of a beginning is that of a counter."""
    words = _WORDS.findall(in_english(begin))
    return bool(words) and counter(words[-1]) != ""


def _steady(cut: Sequence[Parts], place: int) -> bool:
    """Whether a number of the prefix is a time, or the same in all lines."""
    if len({len(one.slots) for one in cut}) > 1:
        return False
    if cut[0].marks[place] in _SECONDS:
        return True
    return len({one.slots[place] for one in cut}) == 1
