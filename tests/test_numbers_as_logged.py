"""Numbers of verdicts are as logged, or named as what they are."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from runlens import diagnose, read
from runlens.diagnosis import Diagnosis
from runlens.history import FloatArray
from runlens.rules import LISTED
from runlens.run import Run

FIXTURES = Path(__file__).parents[1] / "fixtures"
NAMES = sorted(
    place.name for place in FIXTURES.iterdir() if place.is_dir() and place.name != "pairs"
)
NUMBER = re.compile(r"[−-]?\d[\d,]*(?:\.\d+)?(?:e[−-]?\d+)?")
# what a number that was not logged is called: before it, or right behind it
CALLED = re.compile(
    r"median|mean|average|smoothed|limit|ratio|gap|\bln \S+$|against a coin|of its start"
)
# beside a verdict: differences, what is usual, what was counted or multiplied
ALSO_CALLED = re.compile(
    r"usual|default|chance|trend|spread|planned|(rose|rise|climbed|fell|swings?|swung|grew) (by|of)"
    r"|gained|above train loss|a tooth|teeth|samples|lowest|highest|tenth|over its start|noise"
    r"|within|each|every|passes|after the last record|patience|coin|too much|twice"
    r"|remembers|means|errors|four of five",
    re.IGNORECASE,
)
# a share, a count or a rate of change, or a line of the log
UNIT = re.compile(
    r"\s*(%|×|times\b|evaluations\b|gradient norms\b|vital\b"
    r"|points?\b|epochs?\b|of \d|GiB|MiB|tokens\b|steps?/s|over\b|years?)"
)
FAMILY = {rule.slug: rule.family for rule in LISTED}
CURVES = {"LOS", "EVL", "GRD", "LRS", "RLX"}  # families whose verdicts speak of values


def logged(run: Run) -> FloatArray:
    """Return every value and step of the run, and every number of its settings, shape (n,)."""
    curves = [run.curve(name) for name in run.history.metrics]
    settings = [
        float(one.value) for one in run.config.values() if isinstance(one.value, int | float)
    ]
    ends = [run.state.done_steps, run.state.planned_steps or 0, run.last_step]
    known = [*(c.value for c in curves), *(c.step for c in curves), np.array([*settings, *ends])]
    whole = np.concatenate([np.asarray(some, dtype=np.float64) for some in known])
    kept: FloatArray = np.abs(whole[np.isfinite(whole)])
    return kept


def invented(sentence: str, known: FloatArray, called: re.Pattern[str] = CALLED) -> list[str]:
    """Return the numbers of a sentence that are neither in the data nor named."""
    found = []
    for match in NUMBER.finditer(sentence):
        text = match.group().rstrip(",")
        clause = sentence[max(0, match.start() - 60) : match.end() + 80]
        if UNIT.match(sentence[match.end() :]) or CALLED.search(clause) or called.search(clause):
            continue
        value = abs(float(text.replace(",", "").replace("−", "-")))
        digits = len(text.partition(".")[2].partition("e")[0])
        room = 0.06 * value if "e" in text else 0.5000001 * 10.0**-digits
        if not (np.abs(known - value) <= room).any():
            found.append(text)
    return found


def sentences(made: Diagnosis) -> Iterator[str]:
    """Return what is said of a run beside its verdict: findings, causes, story, what to do."""
    for finding in made.findings:
        yield finding.title
        yield finding.seen
        yield from (row.why for row in finding.ruled_out)
        yield from (said for one in finding.causes for said in (one.evidence_for, one.against))
    yield from (f"{what}: {why}" for what, why in made.do_first.steps)


def quoted(run: Run) -> FloatArray:
    """Return the numbers of every line of the log that may be quoted, and of settings in words."""
    lines = [*run.log_tail, *(event.text for event in run.events), run.state.why]
    words = " ".join([*lines, *(str(one.value) for one in run.config.values())])
    found = re.findall(r"\d+(?:\.\d+)?(?:e[-+]?\d+)?", words.replace(",", ""))
    return np.array([float(number) for number in found], dtype=np.float64)


def speaks_of_curves(made: Diagnosis) -> bool:
    """Whether the verdict tells values: that of a crash quotes the log."""
    loud = [one for one in made.incidents if one.severity != "info"]
    return not loud or FAMILY.get(loud[0].findings[0].rule, "") in CURVES


@pytest.mark.parametrize("name", NAMES)
def test_each_number_of_a_verdict_is_as_logged(name: str) -> None:
    """Or it is called a median, a mean, a limit."""
    run = read(FIXTURES / name)
    made = diagnose(run)
    if speaks_of_curves(made):
        assert not invented(made.verdict.sentence, logged(run)), made.verdict.sentence
    else:
        assert made.verdict.sentence


@pytest.mark.parametrize("name", NAMES)
def test_each_number_of_every_sentence_is_as_logged_or_named(name: str) -> None:
    """A difference, a usual range, a spread or a length is called so in its own clause."""
    run = read(FIXTURES / name)
    known = np.concatenate([logged(run), quoted(run)])
    made = diagnose(run)
    told = [said for said in sentences(made) if said]
    assert told or not made.findings
    strange = {said: odd for said in told if (odd := invented(said, known, ALSO_CALLED))}
    assert not strange


def test_a_number_that_was_never_logged_is_noticed() -> None:
    """So that the test above can fail."""
    known = np.array([3.0, 1.25, 100.0])
    assert invented("train loss fell from 3.000 (step 100) to 1.250.", known) == []
    assert invented("train loss fell from 3.000 to 1.310.", known) == ["1.310"]
    assert invented("train loss fell from 3.000 to 1.310 (median).", known) == []
