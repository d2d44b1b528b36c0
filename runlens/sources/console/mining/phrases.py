"""What the text of a line says about its numbers: their names, and which of them count.

A name stands before its number (``loss: 0.5``) or behind it (``0.5 loss``); what stands before a
name and is set off from it (``Validation | loss``) says which data, or which part, it is of.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from runlens.naming.languages import in_english
from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.sources.console.averages import MARK
from runlens.sources.console.mining.brackets import bracketed
from runlens.sources.console.mining.counter_names import MARKS, Kind, counter
from runlens.sources.console.mining.dealt import COUNTED_SO_FAR, counts_of_data, dealt
from runlens.sources.console.mining.slots import BAR
from runlens.sources.console.pairs import names_metric, of_sentence

MOST_TEMPLATES = 20_000  # whose meaning is remembered, from one log to the next
_NEAR = 200  # characters before a number in which its name stands
_LEVELS = lazy_re(
    r"INFO\w*|WARN(?:ING)?|DEBUG|ERROR|CRITICAL|TRACE|NOTICE|SUCCESS|I|W|E|root|__main__|main|stdout"
    r"|stderr|log|logger|(?:rank|pid|gpu|cuda|worker|node|process|proc)[ :=#]?\d*",
    re.IGNORECASE,
)
_MEASURED = {"error", "Error", "success", "Success"}  # in capitals they are levels
_LOGGER = lazy_re(r"[\w.]*(?:\.|__)[\w.]*|\w+(?::\w+){1,3}")
SPLIT = lazy_re(
    r"(?<![A-Za-z])(?:(?:evaluat|validat|test)ing (?:on )?(?:the )?(?=train|val|test|dev))?"
    r"(?:(?P<train>tr(?:ai)?n(?:ing)?|learn)"
    r"|(?P<val>val(?:i(?:d(?:at(?:e|ion|ing))?)?)?|held[- _]?out)"
    r"|(?P<eval>eval(?:uat(?:e|ion|ing))?)|(?P<test>test(?:ing|er)?|tst)|(?P<dev>dev))(?![A-Za-z])",
    re.IGNORECASE,
)
_BREAKS = lazy_re(
    r"[,;|│┃\t()\[\]{}<>\"'`\0\1]|:(?!:)|\s[-–—]+>?(?=\s)|[-=*#~_]{2,}(?![A-Za-z])|(?<![A-Za-z])[-=*#~_]{2,}"
    r"|\s{2,}|=>|->|[•·→]"
)
_SAID = lazy_re(r"\s+(?:(?:so far )?(?:is|was|are|of|at|for|to|=|now)|so far)$", re.IGNORECASE)
_STATED = lazy_re(r" (?:is|was|an? [a-z ]{3,20} of) $", re.IGNORECASE)
_VERB = lazy_re(r"(?:is|was|are|equals|now)", re.IGNORECASE)
# what a sentence has before a name: "and the validation accuracy is 0.8"
_BEFORE = {"and", "with", "the", "a", "an", "its", "this", "then", "has"}
_ARTICLES = {"a", "an"}
_AND = lazy_re(r"and|&|at|of|in|with", re.IGNORECASE)
_PLACED = lazy_re(r"\s*\b(?:at|after|for|in|of|on|during|over|by)(?: the)?$", re.IGNORECASE)
# a word before a level is the name of a logger
_LOGGER_LEVEL = lazy_re(r"[\w.]+[\s\[\]|:-]+(?=(?:INFO|WARNING|DEBUG|ERROR)\b)")
_QUOTED = lazy_re(r"""(['"])([^'"]{1,80})\1\s*[:=]\s*['"]?$""")
_LOSSES = lazy_re(r"\blosses\W{0,4}\{['\"][^{}]*$", re.IGNORECASE)  # spaCy's: each name is of one
_CLOSED = lazy_re(r"[^\w(\[]*[)\]]\s*[=:]?\s*[\[(]?$")
_AVERAGE = lazy_re(r"\s*[(\[]\s*(?:avg|mean|ave)?[:=]?\s*$", re.IGNORECASE)
_DEVIATION = lazy_re(r"\s*\(?(?:±|\+/-|\+-|\+/−)\s*$")
_SAYS_OVER = lazy_re(r"\s*[^\W\d][^()\[\]:=]{0,40}\)\s*[:=]\s*$")  # how many games a mean is of
_LISTED = lazy_re(r"[\s,/\])(\[]*$")
_AREA = lazy_re(r"(?P<what>AP|AR)\)\s*@\[\s*(?P<where>IoU[^\]]*)\]\s*=\s*$")  # pycocotools
_COUNTED = lazy_re(
    r"\s?(?P<word>epochs?|steps?|iter(?:ation)?s?|updates?|episodes?|batch(?:es)?|timesteps?|rounds?|pass(?:es)?"
    r"|it|eps?)(?![\w/])(?!\s*[=#]?\s*$)", re.IGNORECASE
)  # fmt: skip
_NAMES_NEXT = lazy_re(r"\s*[:=][\s\[(]*$")  # "12 Epoch: [0/25]" is no twelfth epoch
_BINDS = lazy_re(r"(?:[:=|│┃\t→]|->)\s*(?:[\[({'\"]+\s*)?$")
_OF_OTHER = lazy_re(  # what counts behind it is another one: "the best model is of epoch 3"
    r"(?:per|/|a|each|every|last|best)$|\bbest (?:model|checkpoint|weights)\b", re.IGNORECASE
)
_PART_OF = lazy_re(r"[~≈]\s*$")
# how fast it went, how long and in how much memory, which measure nothing without a name
_RATE = lazy_re(r"m?s/\w+|\w+/s|[muµ]?s|[KMGT]i?B")
_RATE_APART = lazy_re(r" (?:m?s(?:/[a-z]+)?|[a-z]{2,10}/s(?:ec)?)(?=[\s,|)\]]|$)")
_COUNTED_OVER = lazy_re(
    r"\s?(?:episodes?|eps?|epochs?|games?|runs?)\)"
)  # "reward 3.5 (8 episodes)"
_DURATIONS = {"s", "ms", "us", "µs"}
_PER = lazy_re(r"^/s/\w+(?= )")  # of the rate before it: "250.7/s/gpu LR: 0.1"
# what a mean is of, between its name and itself: "reward over the last 100 episodes is 5"
_OVER_LAST = lazy_re(r"(?: per \w+)? over (?:the )?last\W{1,3}\d{1,6} [a-z]+(?= (?:is|was) $)")
_CLOCK_LIKE = lazy_re(r"time|took|elapsed|eta|sec|dur|_s$", re.IGNORECASE)
_IN_SECONDS = lazy_re(r"\s?(?:second|minute|hour)s?\b", re.IGNORECASE)
_OF = lazy_re(r"\s(?:of|on|for|over|after)\b")
_LETTER = lazy_re(r"[^\W\d_]")
_MOST_TEXT = 240  # characters between two numbers: more is prose
# words of a name with nothing but a space before its number, and of any: more is a sentence
_UNBOUND, _MOST_WORDS = 3, 5


class Column(NamedTuple):
    """What one number of a template is."""

    name: str  # empty: it has none
    kind: Kind = ""  # of a counter
    bound: bool = True  # a mark stands between name and number: "loss: 0.5", no word of a sentence


class Phrase(NamedTuple):
    """What the text of a template says."""

    columns: tuple[Column, ...]  # one a number
    about: str  # what else stands before the first name: which data, which part of the model


@lru_cache(MOST_TEMPLATES)
def phrase(text: tuple[str, ...], marks: tuple[str, ...]) -> Phrase:
    """Read the text around the numbers of a line."""
    reader = _Reader(text, marks)
    for place in range(len(marks)):
        reader.take(place)
    names = dealt([column.name for column in reader.columns], SPLIT.fullmatch)
    columns = (c._replace(name=n) for c, n in zip(reader.columns, names, strict=True))
    return Phrase(tuple(columns), reader.about)


def segments(text: str) -> list[str]:
    """Return the pieces of a text that stand apart from one another and have a letter."""
    found = (part.strip(MARKS) for part in _BREAKS.split(text))
    return [word for word in found if _LETTER.search(word) and not _is_level(word)]


def split_of(text: str) -> str:
    """Return the data that a text names, as a name begins with it: ``val/``; empty: none."""
    found = SPLIT.search(in_english(text))
    return f"{found.lastgroup}/" if found else ""


class _Reader:
    """Goes through the numbers of a template from left to right."""

    def __init__(self, text: Sequence[str], marks: Sequence[str]) -> None:
        self.text = [_OVER_LAST.sub("", _PER.sub("", part))[-_MOST_TEXT:] for part in text]
        self.marks = marks
        self.columns: list[Column] = []
        self.about = ""
        self._split = ""  # of the names from here on
        self._losses = False  # whether they stand in a dict of losses
        self._subject = ""  # what is measured on the data that are named alone
        self._waiting = ""  # a name whose number stands behind a counter
        self._counting = False  # whether the number before counts
        self._behind = len(marks)  # from this number on the names stand behind
        self._seen: set[str] = set()
        self._names: set[str] = set()  # of them, as they stand in the line, in lower case

    def take(self, place: int) -> None:
        left = _LOGGER_LEVEL.sub("", self.text[place])
        parted = segments(left)
        if place >= self._behind or self._turns(place, parted):
            self._behind = min(self._behind, place)
            kind = counter(name := next(iter(segments(self.text[place + 1])), ""))
            self.columns.append(Column(name if kind else self._named(name), kind))
            return
        name = _name(left, parted)
        self._losses = "}" not in left and (self._losses or _LOSSES.search(left) is not None)
        if self._losses and name and not names_metric(name):
            name = f"{name}_loss"
        over = self._is_over(place, left)
        kind, rest = ("", "") if over else self._counter(name, place)
        around = [part for part in parted if part != name] if parted[-1:] != [name] else parted[:-1]
        if kind:
            rest = rest if len(rest.split()) <= _MOST_WORDS and not _AND.fullmatch(rest) else ""
            inner = around[-1] if around and "(" in left else ""
            self._waiting = rest or inner or (self._waiting if self._counting else "")
            around = [*around, rest] if rest and not _PLACED.search(name) else around
        self._surrounded(around)
        self._counting = bool(kind)
        if kind:
            self.columns.append(Column(name, kind))
        elif over or self._is_share(place, name, left):
            self.columns.append(Column("", "share"))
        elif name:
            said = _STATED.search(left) and names_metric(name)  # "episode reward total was 5"
            prose = len(name.split()) > _UNBOUND and not (said or _BINDS.search(left))
            if prose:  # "Accuracy of the network on the 10000 test images: 54 %"
                self._waiting = _OF.split(parted[-1])[0].strip()
            elif self._waiting:
                waiting, self._waiting = self._waiting, ""
                own = not SPLIT.search(name) or SPLIT.fullmatch(waiting) is not None
                own = own or (names_metric(name) and not names_metric(waiting))
                name = name if own else f"{split_of(name)}{waiting}"
            counts = counts_of_data(name, left, self.text[place + 1])
            if SPLIT.fullmatch(name) and (counts or self.marks[place] == "/"):
                self._split = split_of(name)  # "Train: [3/50]", no "train==[0.5=0.4+0.1]"
            name = self._of_subject(name, around)
            named = self._named(name + _unit(name, self.marks[place], self.text[place + 1]))
            bound = _BINDS.search(left) is not None
            self.columns.append(Column("", "share") if prose else Column(named, "", bound))
        else:
            column = self._unnamed(place, left)
            bound = _BINDS.search(left) is not None or bool(self.columns and self.columns[-1].bound)
            self.columns.append(column._replace(bound=bound))

    def _of_subject(self, name: str, around: Sequence[str]) -> str:
        """Return the name of data with what was measured on it, which the first of them says.

        ``Acc: train 0.9 val 0.8``, ``Accuracy Train:6.2%, Dev:5.6%``.
        """
        if not SPLIT.fullmatch(name):
            rest = SPLIT.sub("", name).strip(MARKS) if SPLIT.search(name) else ""
            self._subject = rest if names_metric(rest) else ""
            return name
        if around and names_metric(around[-1]) and not SPLIT.search(around[-1]):
            self._subject = around[-1]
        return f"{name} {self._subject}" if self._subject else name

    def _is_over(self, place: int, left: str) -> bool:
        """Whether a number says how many games or epochs the one before it is a mean of.

        Where no other counts in the line it tells how far it came: ``reward 3.5 (80 episodes)``.
        """
        if not (left.endswith("(") and _COUNTED_OVER.match(self.text[place + 1])):
            return False
        counted = any(column.kind not in {"", "share"} for column in self.columns)
        return counted and not self.columns[-1].kind

    def _is_share(self, place: int, name: str, left: str) -> bool:
        """Whether a number is the change since the last time, or the part of the data measured on.

        Of ``Val~20% 2.31`` and of ``mean reward (25 games) = 7.5`` the name is that of the number
        behind it. ``minibatches 10 to 19`` count once. In a line of no word a sign is none.
        """
        of_data = self.marks[place] == "%" and _PART_OF.search(left) and SPLIT.fullmatch(name)
        over = name and left.rstrip().endswith("(") and _SAYS_OVER.match(self.text[place + 1])
        if of_data or over:
            self._waiting = name
            return True
        if name == "to":
            return bool(self.columns and self.columns[-1].kind)
        words = any(map(_LETTER.search, self.text))
        return self.marks[place] == "+" and words and not (name and _BINDS.search(left))

    def _surrounded(self, around: Sequence[str]) -> None:
        """Take notice of what stands before a name."""
        named = next((part for part in reversed(around) if SPLIT.search(part)), "")
        if named:
            self._split = split_of(named)
        if not any(column.name and not column.kind for column in self.columns):
            said = [part for part in around if not _LOGGER.fullmatch(part)]
            self.about = " ".join([self.about, *said]).strip()

    def _turns(self, place: int, parted: Sequence[str]) -> bool:
        """Whether from here on names stand behind: ``Epoch 3 - 0.52 loss, 0.87 acc``."""
        named = any(
            column.name and not (column.kind or SPLIT.fullmatch(column.name))
            for column in self.columns
        )
        if parted or named or self._waiting:
            return False
        rest = self.text[place + 1 :]
        if rest[0].lstrip()[:1] == ":":  # "1000: done 3 games, reward 10.5, speed 120.1 f/s"
            return False
        return all(segments(part) and not _BINDS.search(part) for part in rest) and not (
            _COUNTED.match(rest[0]) and len(rest) > 1
        )

    def _counter(self, name: str, place: int) -> tuple[Kind, str]:
        """Return what a number counts, and what stands before that in its name."""
        words = [] if self.marks[place] in _DURATIONS else name.split()  # "Step: 2ms" is a time
        for many in (len(words), 2, 1):
            kind = counter(" ".join(words[-many:])) if 0 < many <= len(words) else ""
            if kind:
                before = " ".join(words[:-many])
                if _OF_OTHER.search(before):
                    return "", ""
                return kind, _PLACED.sub("", before).strip(MARKS)
        so_far = name.endswith(" after") and COUNTED_SO_FAR.match(self.text[place + 1])
        follows = so_far or _COUNTED.match(self.text[place + 1])
        if follows and not name and place + 2 < len(self.text):
            follows = None if _NAMES_NEXT.match(self.text[place + 1], follows.end()) else follows
        if follows and (not name or _PLACED.search(f" {name}")):
            self.text[place + 1] = self.text[place + 1][follows.end() :]
            return counter(follows["word"]), _PLACED.sub("", f" {name}").strip(MARKS)
        return "", ""

    def _unnamed(self, place: int, left: str) -> Column:
        """Name a number without a name of its own after the one before it."""
        if area := _AREA.search(left):
            return Column(self._named(f"{area['what']} {' '.join(area['where'].split())}"))
        if self._waiting:
            name, self._waiting = self._waiting, ""
            return Column(self._named(name))
        counts = self.marks[place] == "/" and left.strip() == "["  # "loss: 2.30  [ 6400/60000]"
        alike = _LISTED.match(left) or _DEVIATION.match(left) or _AVERAGE.match(left)
        rate, mark = _RATE.fullmatch(self.marks[place]), self.marks[place - 1]
        speed = (rate and mark != self.marks[place]) or _RATE_APART.match(self.text[place + 1])
        if not self.columns or counts or not alike or speed:
            return Column("", "share" if rate or speed else "")
        before = self.columns[-1]
        if before.kind:
            if self.marks[place] == "%" or (_AVERAGE.match(left) and "[" not in left):
                return Column("", "share")
            return Column("", "batch" if before.kind == "epoch" and "[" in left else "")
        if not before.name:
            return Column("")
        if self.marks[place] == "%" and self.marks[place - 1] == "/":
            return Column("", "share")  # "9813/10000 (98%)"
        if _DEVIATION.match(left):
            return Column(self._named(f"{before.name} std", whole=True))
        if _AVERAGE.match(left) and "(" in left:
            return Column(self._named(f"{before.name}{MARK}", whole=True))
        listed = before.name.partition("[")[0]
        index = sum(c.name.partition("[")[0] == listed for c in self.columns)
        return Column(self._named(f"{listed}[{index}]", whole=True))

    def _named(self, name: str, *, whole: bool = False) -> str:
        """Return a name as it stands for in the whole log: with its data, and only once."""
        if not whole:
            own = split_of(name)
            if not own and self._split:
                name = self._split + name
            if own:
                self._said = own
            elif name.lower() in self._names and (said := getattr(self, "_said", "")):
                name = said + name
            self._names.add(name.lower())
        number, once = 2, name
        while once in self._seen:
            once = f"{name} {number}"
            number += 1
        self._seen.add(once)
        return once


def _name(left: str, parted: Sequence[str]) -> str:
    """Return the name at the end of the text before a number; empty where there is none."""
    left = left[-_NEAR:]
    if quoted := _QUOTED.search(left):
        return quoted[2].strip()
    if _AREA.search(left):
        return ""
    if inner := bracketed(left):
        outer, said = (part.strip(MARKS) for part in inner)
        if counter(outer) and SPLIT.search(said):
            return outer
        if outer and said and not counter(said):
            outer = " ".join(outer.split()[-_MOST_WORDS:])
            return f"{said} {outer}" if SPLIT.search(said) else f"{outer} ({said})"
    if not parted or (_CLOSED.match(left)):
        return ""
    name = parted[-1][-_NEAR:]
    if not left.rstrip(" \t:=-–>~≈|│┃([{\"'`*#_.@\0\1" + BAR).endswith(name):
        return ""  # something else stands between it and the number
    return _said_name(name)


def _said_name(name: str) -> str:
    """Return a name without the words of the sentence around it: ``best loss so far is``."""
    while _SAID.search(name):
        name = _SAID.sub("", name)
    if _VERB.fullmatch(name):
        return ""  # "Loss at epoch 3 is 0.5"
    words = name.split()[-_MOST_WORDS:]
    if article := next((n for n, word in enumerate(words[:-1], 1) if word in _ARTICLES), 0):
        words = words[article:]  # "we got a loss of 0.5 and an accuracy of 0.8"
    while len(words) > 1 and (words[0] in _BEFORE or _is_level(words[0])):
        words = words[1:]
    return of_sentence(" ".join(words))


def _is_level(word: str) -> bool:
    """Whether a word is the level of a message; in small letters some are what was measured."""
    return _LEVELS.fullmatch(word) is not None and (word not in _MEASURED)


def _unit(name: str, mark: str, behind: str) -> str:
    """Return what a name lacks that its unit says: of a time it is none of what is judged."""
    timed = mark in {*_DURATIONS, "m", "h"} or _IN_SECONDS.match(behind)
    return "_ms" if mark == "ms" else "_s" if timed and not _CLOCK_LIKE.search(name) else ""
