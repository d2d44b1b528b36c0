"""What a report has said already: a fact is told once.

A fact is a number with what it is a number of. A sentence whose numbers all stand above, beside
one of the metrics that it names, says nothing new and is left out, however it is worded.
"""

from collections.abc import Sequence
from typing import Self

from msgspec import Struct

from runlens.cause import UNKNOWN, Cause
from runlens.diagnosis import ENDED, Diagnosis, Finding, Fix
from runlens.metrics import NAMES
from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.report.facts import (
    loud,
    next_step,
    sentence,
    sentences,
    span,
    story,
    why,
)
from runlens.run import RESULTS_ALONE

# the ends of sentences and clauses, but for those within quotation marks
PARTS = lazy_re(r'(?:(?<=[.?])\s+|;\s+)(?=(?:[^"]*"[^"]*")*[^"]*$)')
_NUMBER = lazy_re(r"(?<![\w.])[−-]?(\d[\d,]*(?:\.\d+)?(?:e[−-]?\d+)?)(?:\s?(%|×))?")
_RATIO = lazy_re(r"\b(?:twice|(?:half|tenth) of(?! the (?:run|points)))\b")
_STEP = lazy_re(r"\bsteps? [\d,]+")
_RANK = lazy_re(r"^\[\w* ?\d+\]: ?")  # of a process, before the same line from each
_LOSS = lazy_re(r"^the loss became nan(?= at step [\d,]+$)")
_WORD = lazy_re(r"[a-z][\w.]*[\w]")
REFERS = lazy_re(r"(It|Its|This|That|They|These|Their|Such)\b")
# words that name a metric, and those that report the same one in another way
_METRICS = frozenset(word for name in NAMES for word in name.split("_"))
_METRICS -= {"max", "mean", "min", "of", "seq", "step", "std", "zero"}
# signs that only say where; the headline says why
WHERE = ("the traceback ends", "the error came up")
IN_CODE = " in the program"  # behind an exception of which nothing else is known
QUOTES, QUOTED = 'the log says "', 60  # how a quoted line begins; its characters to know it by
AGAIN = ("resume", "restart", "weights")  # kinds of fixes that say how to go on
SHORT = 1  # digits of a whole number that stands twice by chance: "step 0", "1 of 8"


class Once(Struct):
    """The sentences of a report so far, without their capitals and stops, and their facts."""

    told: list[str] = []
    _beside: dict[str, set[str]] = {}  # metrics told with each number
    _named: set[str] = set()
    _changed: set[str] = set()  # settings that were changed
    _goes_on: bool = False  # whether it was told how to go on

    def tell(self, *sentences: str) -> None:
        """Note what was said."""
        for words in filter(None, sentences):
            self.told.append(_plain(words))
            subject: set[str] = set()
            for one in PARTS.split(words):
                named = _metrics(one)
                subject = subject if REFERS.match(one) and not named else named
                self._named |= subject
                for number in _numbers(one):
                    self._beside.setdefault(number, set()).update(subject or {""})

    def new(self, words: str) -> str:
        """Return those sentences of a text that tell a fact not told before, and note them.

        One that a kept sentence refers to ("Its peak ...") stays with it.
        """
        kept: list[str] = []
        parts = [one for one in PARTS.split(words) if one]
        for place in range(len(parts) - 1, -1, -1):
            refers = bool(kept) and kept[0] == parts[place + 1] and bool(REFERS.match(kept[0]))
            if refers or not self.knows(parts[place]):
                kept.insert(0, parts[place])
        self.tell(words)
        if len(kept) == len(parts):
            return words
        return " ".join(map(sentence, kept))

    def first(self, words: str) -> bool:
        """Whether these very words were not said before; notes them."""
        known = self.said(words)
        self.tell(words)
        return not known

    def sets(self, fix: Fix) -> bool:
        """Whether a value of the setting of a fix was told: a second one would contradict."""
        if fix.kind in AGAIN and self._goes_on:
            return True
        known = bool(fix.setting) and fix.setting in self._changed
        self._changed.add(fix.setting)
        return known

    def knows(self, words: str) -> bool:
        """Whether a sentence was said before, in these words or in others."""
        numbers, named = _numbers(words), _metrics(words)
        counts = _numbers(_STEP.sub("", words))  # of something: a step only says when
        telling = any(set(".e%×").intersection(one) for one in counts)
        telling |= bool(named) and any(len(one) > SHORT for one in counts)
        return self.said(words) or (
            telling and named <= self._named and all(self._tells(one, named) for one in numbers)
        )

    def _tells(self, number: str, named: set[str]) -> bool:
        beside = self._beside.get(number, set())
        return bool(beside) and (not named or "" in beside or bool(beside & named))

    def said(self, words: str) -> bool:
        """Whether these very words stand in what was said."""
        plain = _plain(words)
        if plain.startswith(QUOTES):  # a line of a log, which every place cuts in another way
            plain = _RANK.sub("", plain.removeprefix(QUOTES))[:QUOTED]
        plain = _LOSS.sub("became nan", plain)  # which a sentence about the loss says of it
        return not plain or any(plain in one for one in self.told)


class Top(NamedTuple):
    """What every report says first, each fact once: below the verdict's sentence."""

    second: str
    facts: tuple[tuple[str, str], ...]  # when and why, each with its name; none without a fault
    story: str
    steps: tuple[tuple[str, str], ...]  # what to do first, each with its reason
    told: Once

    @classmethod
    def of(cls, diagnosis: Diagnosis, *, brief: bool = False) -> Self:
        """Return the top of a report; `brief`: of what speaks for the cause the first alone."""
        changed = {change.setting for change in diagnosis.do_first.changes}
        changed |= set(diagnosis.do_first.tries)
        once, faults, verdict = (
            Once(_changed=changed, _goes_on=diagnosis.do_first.goes_on),
            loud(diagnosis),
            diagnosis.verdict,
        )
        once.tell(verdict.sentence)
        if brief and faults:  # the exception itself is what a crash is about
            lead = faults[0].findings[0]
            second = once.new(lead.seen) if lead.rule == "crashed" else ""
        else:
            second = once.new(verdict.second)
        facts: list[tuple[str, str]] = []
        if faults:
            lead = faults[0].findings[0]
            alone = any(one.text == RESULTS_ALONE for one in diagnosis.problems)
            # else the headline says all that is known
            if not (alone and lead.rule in ENDED) and (diagnosis.curves or lead.onset.step):
                facts.append(("When", sentence(span(lead))))
            name, signs, to_find_out = why(lead.causes, brief=brief)
            if any(_tells_how(what, to_find_out) for what, _ in diagnosis.do_first.steps):
                to_find_out = ""  # it is a step below
            signs = once.new(signs)
            known = bool(lead.causes) and _known(lead.causes[0].what, once)
            if not known or signs:
                once.tell(name)
                label = "Where" if known and signs.casefold().startswith(WHERE) else "Why"
                facts.append((label, sentences("" if known else name, signs, to_find_out)))
            once.tell(lead.title, *(f"cause {one.kind}" for one in lead.causes[:1]))
        elif verdict.health in {"info", "warning"} or _proposes(diagnosis):
            # a warning without a finding is one beside siblings, and tells what sets it apart
            for note in _told_first(diagnosis) if verdict.health != "warning" else ():
                facts += _of_note(note.causes, brief=brief)
            facts.append(("Next", sentence(next_step(diagnosis))))
        how = story(diagnosis)
        once.tell(how)
        steps = []
        for what, reason in diagnosis.do_first.steps:
            once.tell(what)
            steps.append((what, sentences(once.new(reason))))
        return cls(second, tuple(facts), how, tuple(steps), once)


def _told_first(diagnosis: Diagnosis) -> Sequence[Finding]:
    """Return the note that the verdict tells, whose cause may stand below it; else the first."""
    above = f"{diagnosis.verdict.sentence} {diagnosis.verdict.second}"
    told = [one for one in diagnosis.findings if one.title and one.title in above]
    return (told or diagnosis.findings)[:1]


def _of_note(causes: Sequence[Cause], *, brief: bool) -> list[tuple[str, str]]:
    """Return why, as far as it is known: of a note no experiment is asked for."""
    if not causes or causes[0].kind == UNKNOWN:
        return []
    name, signs, _ = why(causes, brief=brief)
    return [("Why", sentences(name, signs))]


def _proposes(diagnosis: Diagnosis) -> bool:
    """Whether a note leads a run that cannot be judged, and says what would tell."""
    unknown = diagnosis.verdict.health == "unknown"
    return unknown and any(one.fixes for one in diagnosis.findings[:1])


def _known(cause: str, once: Once) -> bool:
    """Whether the name of a cause is told: ``XGBoostError in the program``, by the headline."""
    bare = cause.removesuffix(IN_CODE)
    return once.knows(cause) or (bare != cause and once.said(bare))


def _tells_how(step_: str, to_find_out: str) -> bool:
    """Whether a step is the experiment that would tell: ``To find out, repeat the run``."""
    return bool(to_find_out) and _plain(step_).partition(". ")[0] in _plain(to_find_out)


def _plain(words: str) -> str:
    return " ".join(words.split()).rstrip(".:;").casefold()


def _metrics(words: str) -> set[str]:
    found = {one.rstrip("s") for one in _WORD.findall(words.casefold())}
    return {one for one in found if one in _METRICS or "_" in one or "." in one}


def _numbers(words: str) -> list[str]:
    """Return the numbers of a text with their units, each written in one way."""
    made = [f"{_short(digits)}{unit}" for digits, unit in _NUMBER.findall(words)]
    return [*made, *_RATIO.findall(words.casefold())]


def _short(digits: str) -> str:
    plain = digits.replace(",", "").replace("−", "-")
    return f"{float(plain):g}" if len(plain) < 7 else plain  # noqa: PLR2004 - as it was written
