"""Numbers of verdicts are as logged, or named as what they are."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from runlens import diagnose, read, read_all
from runlens.diagnosis import Diagnosis
from runlens.errors import RunLensError
from runlens.history import FloatArray
from runlens.rules import LISTED
from runlens.run import Run

FIXTURES = Path(__file__).parents[1] / "fixtures"
SHARED = Path(__file__).parents[2] / "shared"  # labelled runs, where they are at hand
SETS = ("bench", "bench_b", "bench_c", "corpus", "corpus_b")
NAMES = sorted(
    place.name for place in FIXTURES.iterdir() if place.is_dir() and place.name != "pairs"
)
NUMBER = re.compile(r"(?:(?<!\d)[−-])?\d[\d,]*(?:\.\d+)?(?:e[−-]?\d+)?")
# what a number that was not logged is called, in its own clause
CALLED = re.compile(
    r"median|\bmeans?\b|average|smoothed|percentile|80 % lie between|limit|usual|default|chance|"
    r"\bratio|\bgap\b|\bln\b|noise|schedule over|needed|coin|as planned|must lie in",
    re.IGNORECASE,
)
# ... or right before it: a difference, a border, a length, a name that holds a digit
BEFORE = re.compile(
    r"(?:\b(?:by|spread of|rise of|swings? of(?: about)?|within|every|patience=|below|above|"
    r"samples?|samples \S+ to|"
    r"beyond|over|under|steps and keep|approach|same first|labels? are all|is not|"
    r"seen|entropy bonus of|"
    r"max_grad_norm(?: is)?|learning rate to|Set \w+ to|trend of|multiple of|up to|"
    r"overflow at)|\(p |"
    r"1/|fp|float|beta2?|all|\d-) ?$",
    re.IGNORECASE,
)
# ... or right behind it: a share, a count, a unit, a usual range, what it is above
AFTER = re.compile(
    r"\s?(?:%|×|-fold\b|/\d|-\d|times\b|steps?\b|points?\b|of [\d,]+ points|epochs?\b|"
    r"passes\b|samples\b|"
    r"such (?:swings|updates)\b|decoded\b|more\b|evaluations?\b|vital metrics|gradient norms|"
    r"of its errors|logged points|\S+ values?\b|"
    r"labels\b|(?:GiB|MiB|s|d|tokens|steps?/s)\b|characters|above train loss|gained\b|"
    r"is too high for most|"
    r"of \d|(?:to \S+ )?of (?:epoch|one process)|"
    r"(?:to \S+ )?(?:for (?:RL|GRPO|DPO|SGD|fine-|pre-|continued|policies)))"
)
CLAUSE = re.compile(r"[,;:] |\. |$")
FAMILY = {rule.slug: rule.family for rule in LISTED}
CURVES = {"LOS", "EVL", "GRD", "LRS", "RLX"}  # families whose verdicts speak of values


def logged(run: Run) -> FloatArray:
    """Return every value, step and epoch, and the numbers of the settings, shape (n,)."""
    curves = [run.curve(name) for name in run.history.metrics]
    settings = [
        float(one.value) for one in run.config.values() if isinstance(one.value, int | float)
    ]
    ends = [run.state.done_steps, run.state.planned_steps or 0, run.last_step]
    parts = (part for c in curves for part in (c.value, c.step, c.epoch))
    known = [*parts, np.array([*settings, *ends])]
    whole = np.concatenate([np.asarray(some, dtype=np.float64) for some in known])
    kept: FloatArray = np.abs(whole[np.isfinite(whole)])
    return kept


def invented(sentence: str, known: FloatArray) -> list[str]:
    """Return the numbers of a sentence that are neither in the data nor named."""
    found = []
    for match in NUMBER.finditer(sentence):
        text = match.group().rstrip(",")
        ahead, behind = sentence[: match.start()], sentence[match.start() + len(text) :]
        if BEFORE.search(ahead) or AFTER.match(behind) or CALLED.search(clause(ahead, behind)):
            continue
        value = abs(float(text.replace(",", "").replace("−", "-")))
        digits = len(text.partition(".")[2].partition("e")[0])
        room = 0.06 * value if "e" in text else 0.5000001 * 10.0**-digits
        if not (np.abs(known - value) <= room).any():
            found.append(text)
    return found


def clause(ahead: str, behind: str) -> str:
    """Return the clause about a number: up to the next comma, colon or end on either side."""
    start = max((match.end() for match in CLAUSE.finditer(ahead) if match.group()), default=0)
    end = CLAUSE.search(behind)
    return ahead[start:] + behind[: end.start() if end else None]


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
    strange = {said: odd for said in told if (odd := invented(said, known))}
    assert not strange


def readable(place: Path) -> list[Run]:
    """Return the runs of a place, none where it holds nothing that can be read."""
    try:
        return read_all(place)
    except RunLensError:
        return []


@pytest.mark.skipif(not SHARED.is_dir(), reason="the labelled runs are not at hand")
@pytest.mark.parametrize("name", SETS)
def test_each_number_of_every_sentence_on_labelled_runs(name: str) -> None:
    """As on the fixtures; runs of which several lie at one place are left to their own tests."""
    labels = (SHARED / name / "labels.jsonl").read_text(encoding="utf-8").splitlines()
    places = [SHARED / name / json.loads(line)["path"] for line in labels if line]
    runs = [found[0] for place in places if len(found := readable(place)) == 1]
    assert len(runs) > len(places) / 2
    strange: dict[str, list[str]] = {}
    for run in runs:
        made, known = diagnose(run), np.concatenate([logged(run), quoted(run)])
        told = (*sentences(made), made.verdict.sentence)
        strange |= {said: odd for said in told if said and (odd := invented(said, known))}
    assert not strange


def test_a_number_that_was_never_logged_is_noticed() -> None:
    """So that the test above can fail."""
    known = np.array([3.0, 1.25, 100.0])
    assert invented("train loss fell from 3.000 (step 100) to 1.250.", known) == []
    assert invented("train loss fell from 3.000 to 1.310.", known) == ["1.310"]
    assert invented("train loss fell from 3.000 to 1.310 (median).", known) == []
