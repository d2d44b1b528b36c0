"""A line of a log taken apart: the text of it, and the numbers that stand in that text.

Times, dates, versions, addresses and names of files have digits too, but are no numbers: they
become part of the text. Lines whose text is the same are of one template (Drain, He et al. 2017:
constant tokens and parameters), so what the text means is found out once for all of them.
"""

import re
from functools import lru_cache

from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.sources.console.calls import unwrapped, wrapped
from runlens.sources.console.forms import form, text_of
from runlens.sources.console.pairs import IN_PERCENT, OF_TOP

WIDEST = 20_000  # characters of a line; verl prints some thousand
MOST = 2_000  # numbers of a line

_DATE = (
    r"\d{4}[-/.]\d\d?[-/.]\d\d?|\d\d?[-/.]\d\d?[-/.]\d{4}|\d\d?[-/]\d\d?[-/]\d\d"
    r"|\d\d[-/]\d\d(?= \d\d:\d\d)|\d{8}(?=[-_ T]\d\d:?\d\d)"
)
_HOUR = r"\d{1,4}:\d\d(?::\d\d)?(?:[.,]\d{1,9})?(?: ?[AP]M\b)?"
_DAY = (
    r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\w*,? )?(?:\d\d? )?"
    r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\.?[ -]{1,2}\d{1,4}(?![.\w])"
    r"(?:,? ?(?:" + _HOUR + r"))?(?:,? \d{4})?"
)
_NO_NUMBER = (
    r"(?P<clock>"
    rf"\b{_DAY}|\b[IWEF]\d{{4,8}}(?= [\d:.]+)"
    rf"|(?<![\w.])(?:{_DATE})(?:[T ,_-]+{_HOUR}|[-_ ]\d\d[-_]\d\d[-_]\d\d)?"
    r"(?:Z|[+-]\d\d:?\d\d)?(?![\w.])"
    rf"|(?<![\w.:])(?:\d+ days?, {{0,3}})?{_HOUR}(?:-\d{{6}})?(?![\w:])(?!\.\d)"
    r"|(?<![\w.])(?:\d+ ?d {0,2})?(?:\d+ ?h {0,2})?\d+ ?m(?:in)? {0,2}\d+(?:\.\d+)? ?s(?:ec)?\b"
    r"(?: {0,3}\d+ ?ms\b)?"
    r"|(?<![\w.])\d+ ?h(?:rs?)? ?\d+ ?m(?:in)?\b"
    r")"
    # top 5 accuracy, top 5 of a head: 0.34, mean reward over the last 100 episodes
    rf"|(?P<rank>(?<=\b[Tt]op)[ -]{OF_TOP}"
    r"|(?<=\b[Ll]ast) \d{1,6}"
    r"(?= (?:train(?:ing)? |eval(?:uation)? )?"
    r"(?:episode|game|epoch|step|iteration|(?:mini)?batche?|frame|sample)s?"
    r"(?:\W{0,3}[:=]| (?:is|was) ))"
    r"|(?<=\b[Ll]ast) \d{1,6}(?=\)|\s?[:=]))"
    r"|(?P<other>"
    r"\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b"
    r"|\b0x[0-9a-fA-F]+|(?<![\w.])[vV]?\d+\.\d+\.\d+[\w.+-]*|(?<=\bIoU=)\d\.\d+(?::\d\.\d+)?|(?<=@)0?\.\d+:0?\.\d+|(?<=_)0\.5:0\.95|\bmaxDets=\s*\d+"
    r"|(?<=\x01)[ :]{1,2}\d+\b(?=[)\]])"
    r"|(?<=\w)(?<![Ee]poch)(?<!EPOCH)(?<![Ss]tep)(?<![Ii]ter)(?<!ration)(?<![Rr]ound)"
    r"(?<![Bb]atch)(?<!isode)\[\d{2,8}\]:(?=\s)"
    r"|(?<![\w.:])[\w.]{1,80}:\w{1,80}:\d+(?=\]? *[-|:>)])"
    r")"
)
# a point before a capital, or before the end of the line, ends a sentence: "Step: 2000. Reward"
_DIGITS = (
    r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.(?!\s+[A-Z]|\s*$)\d*)?(?:[eE][-+]?\d+|f-?\d+)?"
    r"|\.\d+(?:[eE][-+]?\d+|f-?\d+)?"
)
_COUNTING = (
    r"(?<=epoch)|(?<=step)|(?<=iter)|(?<=batch)|(?<=Epoch)|(?<=Step)|(?<=Iter)|(?<=Batch)"
    r"|(?<=epoch-)|(?<=step-)|(?<=iter-)|(?<=Epoch-)|(?<=Step-)|(?<=Iter-)|(?<=\d/)|(?<=\bep)|(?<=\bEp)|(?<=\bit)|(?<=\bE)|(?<=\be)|(?<=\bS)|(?<=EPOCH)|(?<=STEP)|(?<=round)|(?<=Round)"
    r"|(?<=^#)|(?<=[Ee]poch #)|(?<=[Ee]poch#)|(?<=[Ss]tep #)|(?<=[Ss]tep#)|(?<=[Ii]teration #)"
    r"|(?<=[Ee]pisode #)|(?<=[Gg]ame #)"
    r"|(?<=[Ll]oss(?=\d*\.\d))|(?<=[Aa]cc(?=\d*\.\d))"  # "disc_loss0.027": no sign was printed
)
_NUMBER = (
    r"(?:(?<![\w@.#/^])(?<!\w-)|(?<=_(?==))|" + _COUNTING + r")"
    r"(?P<number>(?:(?<![\w)\]-])[-+])?(?:"
    + _DIGITS
    + r")|(?:(?<!\w)[-+])?(?:[nN]a[nN]|NAN|[iI]nf(?:inity)?|INF)(?!\w))"
    r"(?:(?P<thousands>[kKM])(?![A-Za-z])|[ ]?(?P<percent>%)"
    r"|(?P<unit>m?s/(?:it|iter|step|batch|epoch|sample)|ms|us|µs|s|m|h|[KMGT]i?B|x|it/s|dB)(?![A-Za-z]|/[A-Za-z]))?"
    r"(?:\s?(?:/\s{0,8}|\bof\b\s?)(?P<total>\d+(?:,\d{3})*)(?P<totals>[kKM](?![A-Za-z]))?(?![\d.]))?"
    r"(?:(?![\w@])(?!-[A-Za-z])(?!\.\d)|(?=(?:epoch|step|iter|batch|ep|it)s?\b))"
)
_TOKEN = lazy_re(rf"(?=[-+.: \[\dnNiIvVmJ_FMASODTW])(?:{_NO_NUMBER}|{_NUMBER})")
_DIGIT = lazy_re(r"\d|[nN][aA][nN]|[iI][nN][fF]")
_FILE = lazy_re(
    r"\.(?:ckpt|pth?|tar|bin|safetensors|h5|hdf5|keras|png|jpe?g|np[yz]|pkl|json|ya?ml|txt|csv|onnx"
    r"|weights|model|gz|zip|py|cpp|cc|cu|wav|mp4)(?::\w+)*\W*$"
)
_FILES = lazy_re(r"\.[a-z][a-z0-9]{1,10}\b")
_WORD = lazy_re(r"[^\s'\"(,=]+")
CLOCK, THING = "\0", "\1"  # stand in the text for a time and for another thing with digits
BAR = "━╸╺█▉▊▋▌▍▎▏▓▒░"  # what bars are drawn with
_KEPT = lazy_re(r"0\.\d+(?::|$)|max")  # pycocotools name their scores by these
_SHORT = lazy_re(r"(?:\d|\d\.\d{1,2})e\+\d\d")  # a large whole number of three digits: 1.2e+05
_NEAR = 16  # characters before a number in which its name ends
_SCALE = {"k": 1e3, "K": 1e3, "M": 1e6}


class Slot(NamedTuple):
    """A number in a line."""

    value: float
    total: float  # -1: it names none
    whole: bool  # it is written as a whole number


class Parts(NamedTuple):
    """A line: its text, of which one piece more than there are numbers, and the numbers."""

    text: tuple[str, ...]
    marks: tuple[str, ...]  # what belongs to each number: "%", "ms", "/" for a total
    slots: tuple[Slot, ...]


class _Number(NamedTuple):
    """Where a number stands in lines whose characters are of the same kinds, and what it means."""

    begin: int
    end: int
    scale: float
    total: tuple[int, int] | None
    total_scale: float
    thousands: bool


Piece = tuple[str | tuple[int, int], ...]  # what each part of it is, or where it stands


class _Plan(NamedTuple):
    pieces: tuple[Piece, ...]
    text: tuple[str, ...]  # of the pieces, with zeros for digits
    fixed: bool  # no piece has a digit: the text of all lines is the same
    marks: tuple[str, ...]
    numbers: tuple[_Number, ...]


@lru_cache(maxsize=16)  # the next who reads a line takes it apart too
def parts(line: str) -> Parts:
    """Take a line apart."""
    alike = form(line)
    if b"0" not in alike and not _DIGIT.search(line):
        return Parts((line,), (), ())
    if _rewritten(alike):
        line = _WORD.sub(_unnamed, unwrapped(line))
        alike = form(line)
    plan = _plan(alike)
    text = plan.text if plan.fixed else tuple([_joined(line, piece) for piece in plan.pieces])
    return Parts(text, plan.marks, tuple([_slot(line, number) for number in plan.numbers]))


@lru_cache(maxsize=8192)
def _rewritten(alike: bytes) -> bool:
    """Whether numbers of a line may stand in a call, or digits in the name of a file."""
    line = text_of(alike)
    calls = "(" in line and wrapped(line)
    return bool(calls) or ("." in line and _FILES.search(line) is not None)


def _joined(line: str, piece: Piece) -> str:
    return "".join([part if isinstance(part, str) else line[part[0] : part[1]] for part in piece])


@lru_cache(maxsize=8192)
def _plan(alike: bytes) -> _Plan:
    """Find the numbers of all lines that differ in nothing but the values of their digits."""
    line = text_of(alike)
    pieces: list[Piece] = []
    marks: list[str] = []
    numbers: list[_Number] = []
    piece: list[str | tuple[int, int]] = []
    begin = 0
    for found in _TOKEN.finditer(line):
        groups = found.groupdict()
        piece.append((begin, found.start()))
        begin = found.end()
        if groups["number"] is None:
            kept = groups["rank"] or _KEPT.match(found[0])
            piece.append(found.span() if kept else CLOCK if groups["clock"] else THING)
            continue
        pieces.append(tuple(piece))
        piece = []
        marks.append(_mark(groups))
        share = groups["percent"] and groups["total"] is None
        share = share and not IN_PERCENT.search(line[max(0, found.start() - _NEAR) : found.start()])
        scale = 0.01 if share else 1.0
        total = found.span("total") if groups["total"] is not None else None
        numbers.append(
            _Number(
                *found.span("number"),
                _SCALE.get(groups["thousands"] or "", scale),
                total,
                _SCALE.get(groups["totals"] or "", 1.0),
                groups["thousands"] is not None,
            )
        )
        if len(numbers) >= MOST:
            break
    pieces.append((*piece, (begin, len(line))))
    text = tuple([_joined(line, piece) for piece in pieces])
    fixed = not any("0" in part for part in text)
    return _Plan(tuple(pieces), text, fixed, tuple(marks), tuple(numbers))


def _unnamed(word: re.Match[str]) -> str:
    """Return a word without the digits in the name of a file."""
    return THING if _FILE.search(word[0][-40:]) else word[0]


def _slot(line: str, number: _Number) -> Slot:
    text = line[number.begin : number.end].replace(",", "")
    if "f" in text and text[-1] != "f" and text[-1].isdigit():  # Julia's Float32: 2.5f0
        text = text.replace("f", "e")
    value = float(text)
    if number.scale != 1:
        value = value / 100 if number.scale < 1 else value * number.scale
    whole = (
        number.thousands
        or text.lstrip("+-").isdigit()
        or ("e+" in text and _SHORT.fullmatch(text) is not None)
    )
    if number.total is None:
        return Slot(value, -1.0, whole)
    begin, end = number.total
    return Slot(value, float(line[begin:end].replace(",", "")) * number.total_scale, whole)


def _mark(groups: dict[str, str | None]) -> str:
    if groups["total"] is not None:
        return "/"
    if (groups["number"] or "").startswith("+"):
        return "+"
    return groups["percent"] or groups["unit"] or ""
