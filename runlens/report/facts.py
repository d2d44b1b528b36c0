"""The facts of a run as every report tells them: when, why, how sure, on what, and the checks."""

from collections.abc import Sequence
from itertools import groupby

from runlens.cause import RANKS, UNKNOWN, Cause, Rank
from runlens.cost import HOUR, stands
from runlens.diagnosis import (
    DATED_AT_BEST,
    ENDED,
    MERGED,
    OTHER_TASKS,
    Confidence,
    Diagnosis,
    Evidence,
    Finding,
    Incident,
    Moment,
)
from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.run import State
from runlens.wording import capitalised, count, duration, listed, number, percent, uncapitalised
from runlens.wording import step as step_words

GRADES = 5  # of certainty
MAIN = {"train_loss", "eval_loss", "reward"}
SURE = ((0.95, "very high"), (0.7, "high"), (0.5, "medium"), (0.0, "low"))
KINDS = {  # of ends, as a word of the line about the run
    "finished": "finished",
    "running": "still running",
    "crashed": "crashed",
    "killed": "killed",
    "stopped_early": "stopped early",
    "unknown": "end unknown",
}
DEVICE, DEVICES = "gpu", "gpu_count"  # the settings in which trackers keep the machine's cards
_WORD = lazy_re(r"[a-z]+(?:-[a-z]+)*(?=[\s,;]|$)")
_ENDS = lazy_re(r"\.(?=\s)")
COMPARE = "Compare it with one of them (runlens compare) before its result is used."


class Checks(NamedTuple):
    """The rules by what became of them: slugs with their reasons."""

    found: int
    passed: dict[str, str]
    covered: dict[str, str]  # of a fault that a finding tells by another name; by its slug
    lacking: dict[str, str]  # could not run for want of data
    other: dict[str, str]  # hold for other kinds of runs
    broken: dict[str, str]

    @property
    def counted(self) -> list[str]:
        """How many ended in each way, for a list with commas or dots; as every report says it."""
        return [
            f"{count(len(self.passed), 'check')} passed",
            f"{len(self.lacking)} could not run",
            *([f"{len(self.other)} for other tasks"] if self.other else []),
            *([f"{len(self.broken)} broken"] if self.broken else []),
        ]

    @property
    def all_counted(self) -> list[str]:
        """The same with those that a finding covers, where they are listed."""
        covered = [f"{len(self.covered)} covered above"] if self.covered else []
        return [*self.counted[:1], *covered, *self.counted[1:]]


def checks(diagnosis: Diagnosis) -> Checks:
    """Sort the rules of a diagnosis; the counts add up to the number of rules."""
    merged = (
        (slug, why.removeprefix(MERGED).partition(":")[0])
        for slug, why in diagnosis.reasons("passed").items()
        if why.startswith(MERGED)
    )
    covered = {**diagnosis.covered, **dict(merged)}
    passed, unmet = (
        {slug: why for slug, why in diagnosis.reasons(status).items() if slug not in covered}
        for status in ("passed", "unmet")
    )
    other = {slug: why for slug, why in unmet.items() if why.startswith(OTHER_TASKS)}
    return Checks(
        found=len(diagnosis.reasons("found")),
        passed=passed,
        covered=covered,
        lacking={slug: why for slug, why in unmet.items() if slug not in other},
        other=other,
        broken=diagnosis.reasons("error"),
    )


def covering(ended: Checks, diagnosis: Diagnosis) -> list[str]:
    """Return the checks that a finding covers: ``Stopped early (see Killed or interrupted)``."""
    told = {one.rule: named(one, diagnosis) for one in diagnosis.findings}
    names = {**diagnosis.titles, **told}
    return sorted(
        f"{diagnosis.titles.get(slug) or slug} (see {names.get(by, by) if by else 'End'})"
        for slug, by in ended.covered.items()
    )


def loud(diagnosis: Diagnosis) -> list[Incident]:
    """Return the incidents that are faults; the others only inform."""
    made = [incident for incident in diagnosis.incidents if incident.findings]
    return [incident for incident in made if incident.severity != "info"]


def why(causes: Sequence[Cause], *, brief: bool = False) -> tuple[str, str, str]:
    """Return the first cause, what speaks for it, and where none is known, what would tell.

    `brief`: with the first of what speaks for the cause.
    """
    if not causes:
        return "No cause is known from what was recorded.", "", ""
    cause = causes[0]
    signs = cause.evidence_for
    if cause.kind == UNKNOWN:
        first = cause.experiment.partition(". ")[0]  # what it shows is told with the step
        to_find_out = f"To find out, {uncapitalised(first)}"
        return cause.what, signs, "" if brief else to_find_out
    sure = cause.proved and cause.rank == RANKS[0]  # the log says it: no matter of rank
    return (
        cause.what if sure else ranked(cause),
        signs.split("; ")[0] if brief else signs,
        "",
    )


def ranked(cause: Cause) -> str:
    """Return a cause with how sure it is; behind alternatives that would seem to be of the last."""
    if " or " in cause.what and cause.rank in RANKS[:2]:
        apart = "," if cause.rank == RANKS[0] else ":"  # "Likely wrong template" misleads
        return f"{capitalised(cause.rank)}{apart} {uncapitalised(cause.what)}"
    return f"{cause.what} ({cause.rank})"


def story(diagnosis: Diagnosis) -> str:
    """Return ``the loss doubled at step 94 and it became NaN at step 98``; or nothing."""
    if not loud(diagnosis) or len(diagnosis.story) < 2:  # noqa: PLR2004 - one is no story
        return ""
    at_once = groupby(diagnosis.story, key=lambda one: step_words(one.step))
    return ", then ".join(
        f"{listed([one.what for one in some])} at step {where}" for where, some in at_once
    )


def end_words(state: State) -> str:
    """Return how a run ended: ``finished``, ``probably finished`` of a guess, ``interrupted``."""
    guessed = state.kind == "finished" and state.settled == "unknown"
    if state.by_hand:
        return "interrupted"
    return "probably finished" if guessed else KINDS.get(state.settled, state.settled)


class Certainty(NamedTuple):
    """How sure something is: a word, its grade from 1 to `GRADES`, and on what it rests."""

    of: str
    word: str
    grade: int
    reason: str = ""


def certainties(lead: Finding) -> list[Certainty]:
    """Return how sure the finding is and, apart from it, how sure its first cause."""
    sure = lead.confidence
    grade = GRADES - [word for _, word in SURE].index(_word_of(sure))
    made = [Certainty("finding", sure_word(sure), grade, sure.reason)]
    if not lead.causes or lead.causes[0].kind == UNKNOWN:
        return [*made, Certainty("cause", "not known", 0)]
    rank: Rank = lead.causes[0].rank
    others = len(lead.causes) - 1
    of = f"{count(others, 'other')} considered" if others else "the only one considered"
    return [*made, Certainty("cause", rank, GRADES - 1 - RANKS.index(rank), of)]


def named(finding: Finding, diagnosis: Diagnosis) -> str:
    """Return what a finding is called: by its own heading, its rule's title, or its slug."""
    return finding.heading or diagnosis.titles.get(finding.rule) or finding.rule


def deciding(rows: Sequence[Evidence]) -> Sequence[Evidence]:
    """Return the evidence beyond its threshold; of a finding that needs none, all of it."""
    return [one for one in rows if one.limit is not None and one.beyond] or rows


def lost(diagnosis: Diagnosis) -> str:
    """Return what was trained after the onset of the first fault: steps, GPU-hours, money.

    Empty where the rest of the run is still worth something, or nothing came after the onset.
    """
    faults = loud(diagnosis)
    lead = faults[0].findings[0] if faults else None
    if lead is None or lead.onset.step is None or lead.end is not None:
        return ""
    if stands(lead.rule, lead.metric):
        return ""
    after = diagnosis.last_step - lead.onset.step
    if after <= 0:
        return ""
    told = [f"{step_words(after)} of {count(diagnosis.last_step, 'step')}"]
    told[0] += f" ({percent(after / diagnosis.last_step)})"
    if after >= diagnosis.last_step:
        told = ["the whole run"]
    spent = _spent(diagnosis, lead)
    if spent is not None:
        cards = _cards(diagnosis)
        told.append(duration(spent) + (f" on {cards} GPUs" if cards > 1 else ""))
        if diagnosis.gpu_hour_price is not None:
            price = diagnosis.gpu_hour_price * cards * spent / HOUR
            told.append(f"{price:,.2f} at {number(diagnosis.gpu_hour_price)} per GPU-hour")
    return " · ".join(told)


def _spent(diagnosis: Diagnosis, lead: Finding) -> float | None:
    """Return the seconds from the onset to the last record; None where they are not known."""
    end = diagnosis.state.last_time
    if end is None or lead.onset.time is None or end <= lead.onset.time:
        return None
    return end - lead.onset.time


def _cards(diagnosis: Diagnosis) -> int:
    rows = {row.key: row.value for row in diagnosis.settings}
    many = rows.get(DEVICES)
    return many if isinstance(many, int) and not isinstance(many, bool) and many > 1 else 1


def sure(of: Confidence) -> str:
    """Return ``high (0.8), 30 later evaluations agree``."""
    return sure_word(of) + (f", {of.reason}" if of.reason else "")


def sure_word(of: Confidence) -> str:
    """Return ``high (0.8)``."""
    return f"{_word_of(of)} ({'1.0' if of.value >= 1 else number(of.value, 2)})"


def _word_of(of: Confidence) -> str:
    return next((word for least, word in SURE if of.value >= least), SURE[-1][1])


def moment(when: Moment) -> str:
    """Return ``step 600 (epoch 1.9)``."""
    if when.step is None:
        return "no single step"
    known = when.epoch is not None and (when.epoch or not when.step)  # a counter from 0 says less
    epoch = f" (epoch {number(when.epoch or 0.0, 2)})" if known else ""
    return f"step {step_words(when.step)}{epoch}"


def began_between(finding: Finding, diagnosis: Diagnosis) -> tuple[float, float] | None:
    """Return the last good and the first bad step at which the finding's metric was logged.

    An onset is the first bad one, and that of an overfitting the best, which is the last good one.
    """
    curve, onset = diagnosis.curves.get(finding.metric), finding.onset.step
    if curve is None or onset is None:
        return None
    if finding.rule in DATED_AT_BEST:
        bad = min((step for step in curve.step if step > onset), default=None)
        return None if bad is None else (onset, bad)
    good = max((step for step in curve.step if step < onset), default=None)
    return None if good is None else (good, onset)


def span(finding: Finding) -> str:
    """Return when a finding holds: ``step 600 to the end``."""
    if finding.onset.step is None:
        return "the whole run"
    if finding.rule in ENDED:
        return moment(finding.onset)
    if finding.end is None or finding.end.step is None:
        return f"{moment(finding.onset)} to the end"
    if finding.end.step == finding.onset.step:
        return moment(finding.onset)
    return f"{moment(finding.onset)} to step {step_words(finding.end.step)}"


def device(diagnosis: Diagnosis) -> tuple[str, str]:
    """Return the card that a run was trained on and who says so: ``2 × NVIDIA A100``."""
    rows = {row.key: row for row in diagnosis.settings}
    card = rows.get(DEVICE)
    if card is None or isinstance(card.value, bool | int | float | None) or not card.value:
        return "", ""
    many = _cards(diagnosis)
    return (f"{many} × {card.value}" if many > 1 else card.value), card.origin


def sentence(words: str) -> str:
    """Return `words` with a capital and a stop; a name such as ``lora_r`` keeps its letters."""
    capital = words[:1].upper() + words[1:] if _WORD.match(words) else words
    return capital if words.endswith((".", "?")) else f"{capital}."


def sentences(*texts: str) -> str:
    """Return texts as sentences; a semicolon parts those of one text."""
    return " ".join(sentence(one) for text in texts for one in text.split("; ") if one)


def fitting(text: str, room: int) -> str:
    """Return as many whole sentences as fit; of a first one that is too long, its beginning."""
    if len(text) <= room:
        return text
    ends = [found.end() for found in _ENDS.finditer(text) if found.end() <= room]
    return _closed(text[: ends[-1]]) if ends else shortened(text, room)


def shortened(text: str, room: int) -> str:
    """Cut a long reason where a sentence ends, else where a word does, with ``…`` for the rest."""
    if len(text) <= room:
        return text
    head = text[: room - 1]
    ends = [found.end() for found in _ENDS.finditer(head)]
    at = next((end for end in reversed(ends) if end >= room // 2), 0) or head.rfind(" ")
    return _closed(f"{head[:at]} …" if at > 0 else f"{head}…")


def _closed(text: str) -> str:
    """Close the quotation mark that a cut left open."""
    return f'{text}"' if text.count('"') % 2 else text


def _of_note(note: Finding) -> str:
    """Return what to do about a note: about its cause where that is known; "" for nothing.

    What looks for a cause, or is for another one, would contradict the one that the report names.
    Which weights to use holds whatever the cause is.
    """
    cause = note.causes[0] if note.causes else Cause("", kind=UNKNOWN)
    named = _named(note)
    tells = cause.experiment.partition(". ")[0]  # what to expect of it stands with the cause
    of_it = [fix for fix in note.fixes if named and fix.cures == cause.kind]
    if not of_it and note.fixes:
        first = note.fixes[0]
        other = first.kind in {"look", "code"} and note.rule not in DATED_AT_BEST
        return (tells if named and other else "") or first.what
    # what may cost something, and has no fix of its own, is looked into
    return of_it[0].what if of_it else "" if note.harmless else tells


def _named(finding: Finding) -> bool:
    """Whether a cause of a finding is named."""
    return any(one.rank in RANKS[:2] and one.kind != UNKNOWN for one in finding.causes[:1])


def next_step(diagnosis: Diagnosis) -> str:
    """Return what to do with a run without a fault: what the cause that is named asks for, if any.

    Else the cure of the note that leads. A fault that shows beside siblings alone is looked for
    there.
    """
    health = diagnosis.verdict.health
    if health == "warning":
        return COMPARE
    ordered = sorted(diagnosis.findings, key=lambda one: (one.harmless, not _named(one)))
    if told := next((_of_note(one) for one in ordered[: health != "healthy"]), ""):
        return told
    if health == "unknown" and not set(diagnosis.curves) & MAIN:
        return "log the training loss, or the reward of a policy, then judge again"
    if health == "unknown":
        return "train for longer or log more often, then judge again"
    return "nothing to change"
