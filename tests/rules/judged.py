"""What a rule decides of a run, and what it tells besides: words, never whole sentences."""

import re
import warnings
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

import numpy as np

from runlens.diagnosis import Finding
from runlens.engine import examine
from runlens.rules.rule import Rule
from runlens.run import Run
from runlens.signals import Signals

TOLD = " | "  # after it, what a rule tells besides


class Judged(NamedTuple):
    """What a rule says of a run."""

    decided: str  # status; of a finding severity, onset, kinds of causes, whether it yields
    told: tuple[str, ...] = ()  # numbers of lines, settings, and sentences without their numbers

    def with_told(self, some: Collection[str]) -> str:
        """Write what is decided, and which of some words are told besides."""
        words = sorted(word for word in some if word in self.told)
        return TOLD.join(filter(None, (self.decided, " ".join(words))))

    def only(self, other: "Judged") -> str | None:
        """Return the first word that is told here and not there; None where there is none."""
        return next((word for word in self.told if word not in other.told), None)


def judged(rule: Rule[Any], run: Run, signals: Signals) -> Judged:
    """Ask a rule about a run."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # means of what a move left empty
        outcome = examine(rule, run, signals)
    if not outcome.findings:
        return Judged(outcome.status, (_words(str(outcome.reason)),))
    first = outcome.findings[0]
    kinds = sorted({cause.kind for cause in first.causes if cause.kind})
    onset = "none" if first.onset.step is None else f"{first.onset.step:g}"
    yields = ["yields"] if outcome.yields_to else []
    decided = " ".join((outcome.status, first.severity, onset, *kinds, *yields))
    return Judged(decided, tuple(_told(first)))


def _told(finding: Finding) -> Iterator[str]:
    """Yield the words of a finding, those first that change least."""
    yield f"proofs:{len(finding.evidence)}"
    yield f"excluded:{len(finding.ruled_out)}"
    yield f"fixes:{len(finding.fixes)}"
    yield from (f"set:{fix.setting}" for fix in finding.fixes if fix.setting)
    if finding.harmless:
        yield "harmless"
    if finding.end is not None:
        yield f"end:{finding.end.step}"
    yield f"of:{finding.metric}"
    texts = [proof.what for proof in finding.evidence]
    texts += [f"{cause.rank} {cause.what}" for cause in finding.causes]
    texts += [f"{one.what} {one.why}" for one in finding.ruled_out]
    texts += [fix.what for fix in finding.fixes]
    texts += [str(proof.value) for proof in finding.evidence if isinstance(proof.value, str)]
    yield from map(_words, (*texts, finding.seen, finding.confidence.reason, finding.title))


def _words(sentence: str) -> str:
    """Return a sentence without its numbers."""
    return "-".join(re.findall("[A-Za-z]+", sentence))
