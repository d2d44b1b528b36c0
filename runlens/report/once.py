"""What a report has said already: a sentence is told once."""

from dataclasses import dataclass, field
from typing import Self

from runlens.diagnosis import Diagnosis
from runlens.report.facts import loud


@dataclass
class Once:
    """The sentences of a report so far, without their capitals and stops."""

    told: list[str] = field(default_factory=list)

    @classmethod
    def above(cls, diagnosis: Diagnosis) -> Self:
        """Begin with what the verdict and "Do this first" say."""
        once = cls()
        once.tell(diagnosis.verdict.sentence, diagnosis.verdict.second)
        for what, why in diagnosis.do_first.steps:
            once.tell(what, why)
        for incident in loud(diagnosis)[:1]:
            lead = incident.findings[0]
            once.tell(lead.title)
            for cause in lead.causes[:1]:
                once.tell(cause.evidence_for)
        return once

    def tell(self, *sentences: str) -> None:
        """Note what was said."""
        self.told += [_plain(one) for one in sentences if one]

    def new(self, words: str) -> str:
        """Return those clauses of a text that were not said before, and note them."""
        clauses = [one for one in words.split("; ") if not self._knows(one)]
        self.tell(words)
        return "; ".join(clauses)

    def _knows(self, clause: str) -> bool:
        plain = _plain(clause)
        return not plain or any(plain in one for one in self.told)


def _plain(words: str) -> str:
    return " ".join(words.split()).rstrip(".:;").casefold()
