"""Crashed: an exception ended the run.

What is seen
    A traceback after which no training record follows, or a tracker or launcher that reports a
    failure or an exit code other than 0. A log without a row that ends with an error, as a
    logger's line of level ERROR, `Error: ...` or a C program's backtrace.
Why it matters
    The steps since the last checkpoint are lost, and the run will not go on by itself.
Looks alike
    A handled exception is followed by more training records. An interrupt by hand is a kill.
    Out of memory, a hang and a kill from outside have rules of their own, which say more. A
    tracker's "crashed" without a traceback only means that its heartbeat was lost: a run that had
    done its planned steps is finished.
Limits
    complete: from this share of the planned steps on the training itself was done, and the
    exception that came after it is a warning.
Fixes
    Read the exception and its last frame in own code; resume from the last checkpoint.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from runlens import fixes
from runlens.diagnosis import Confidence, Evidence, Finding, Moment, Outcome
from runlens.knowledge.exceptions import fix_of_words, hint, meaning, tells
from runlens.rules.lifecycle.ending import (
    UNRECORDED,
    Ending,
    ending,
    how_far,
    log_chart,
    onset_step,
    plan_done,
    resume,
    shortened,
)
from runlens.rules.relations import Relations
from runlens.rules.rule import Rule, drawn, found, message, passed, unmet
from runlens.run import UNNAMED, Event, Run, State
from runlens.signals import Signals
from runlens.wording import capitalised, quoted

ELSEWHERE = "Look for the exception in the other outputs (stderr, the scheduler's log, other ranks)"


class Limits(Struct, frozen=True):
    """What may be tuned."""

    complete: float = 0.99


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Look at what ended the run."""
    end = ending(run, signals)
    if end.kind == "unknown":
        return unmet(UNRECORDED)
    if end.kind != "crashed":
        return passed(end.told)
    return found(_finding(run, end, limits))


def _finding(run: Run, end: Ending, limits: Limits) -> Finding:
    proof = end.proof
    data = proof.data if proof else {}
    cause = str(data.get("exception") or end.text or end.why)
    exception = shortened(cause if proof else cause.partition(", at ")[0], 160)
    frame = _own(str(data.get("frame") or ""))
    done = plan_done(run, limits.complete)
    after = ", after all planned steps were done" if done else ""
    told = exception.replace(f"{UNNAMED}, in ", "not named in the log; last frame: ")
    evidence = [Evidence("Exception", told, where=proof.where)] if proof else []
    if frame:
        evidence.append(
            Evidence("Last frame in your own code", frame, where=proof.where if proof else "")
        )
    if run.state.exit_code is not None:
        evidence.append(Evidence("Exit code", float(run.state.exit_code), where="state"))
    return Finding(
        severity="warning" if done else "critical",
        title=f"The run crashed{_with(exception)} {how_far(run)}{after}.",
        metric="",
        onset=Moment(onset_step(run)),
        evidence=tuple(evidence),
        seen=_seen(exception) if proof else "No exception was recorded.",
        fixes=(
            fixes.action(
                ELSEWHERE
                if not proof or exception.startswith(UNNAMED)
                else _fix(data, exception, frame),
                f"the last frame is {frame}" if frame else "",
            ),
            *resume(run),
        ),
        confidence=_confidence(proof, data),
        chart=log_chart(run, proof),
    )


def _confidence(proof: Event | None, data: Mapping[str, Any]) -> Confidence:
    if data.get("words") == "likely":
        return Confidence(0.75, "the log ends with this error, without a traceback")
    if data.get("words"):
        return Confidence(0.9, "the log ends with this error")
    return Confidence(
        0.95 if proof else 0.7,
        "a traceback ends the log" if proof else "no traceback was found",
    )


def _seen(exception: str) -> str:
    place = exception.removeprefix(UNNAMED).removeprefix(", in ")
    where = f" (last frame: {place})" if place else ""
    unnamed = f"The log breaks off inside a traceback{where}, before the exception is named."
    bare = ":" not in exception and bool(_with(exception))  # its name, which the headline says
    named = "" if bare else capitalised(f"{quoted(exception)}.")
    return unnamed if exception.startswith(UNNAMED) else named


EXCEPTIONS = ("Error", "Exception", "Exit", "Interrupt", "Timeout")  # how their names end


def _with(exception: str) -> str:
    """Return `` with a KeyError``; empty where the words begin with no name of an exception."""
    name = exception.partition(":")[0].rpartition(".")[2].strip()
    named = name.isidentifier() and name.endswith(EXCEPTIONS) and name != "Error"
    return f" with {'an' if name[0] in 'AEIOX' else 'a'} {name}" if named else ""


def _own(frame: str) -> str:
    """Return the last frame where it lies in a script; a launcher's (torchrun:7) says nothing."""
    return frame if ".py:" in frame else ""


def _fix(data: Mapping[str, Any], exception: str, frame: str) -> str:
    if data.get("words"):
        return fix_of_words(str(data["exception"]), frame)
    proposed = hint(str(data.get("exception") or ""))
    in_no_table = data.get("class") == "fallback"
    told = meaning(exception, raised=bool(data.get("raised"))) if in_no_table else None
    todo = (
        told.todo if told and tells(told, frame) else _of_table(str(data.get("fix") or ""), frame)
    )
    return f"Do what the error proposes: {proposed}" if proposed else todo


def _of_table(known: str, frame: str) -> str:
    if known and (frame or "frame" not in known):
        return known
    return (
        "Fix what the exception names"
        if frame
        else "Read the full traceback in the log (of every rank, if there are several)"
    )


ERROR = "KeyError: 'input_ids'"
FALLING = "0:2.2 160:1.6"
BAD = (
    drawn(
        "traceback at the end",
        (160, 160),
        state=State("crashed", ERROR, "certain", done_steps=160, planned_steps=400),
        events=(message(ERROR, "fallback", 99, 160, exception=ERROR, frame="train.py:12 in main"),),
        train_loss=FALLING,
    ),
    drawn(
        "after the last step",
        (400, 400),
        severity="warning",
        state=State("crashed", ERROR, "certain", done_steps=400, planned_steps=400),
        events=(message(ERROR, "fallback", 99, 400, exception=ERROR),),
        train_loss="0:2.2 400:1.2",
    ),
    drawn(
        "exit code only",
        (160, 160),
        state=State("crashed", "exit code 1, at step 160", "certain", 1, done_steps=160),
        train_loss=FALLING,
    ),
)
GOOD = (
    drawn(
        "a handled exception",
        state=State("finished", "closing summary", "certain", done_steps=400, planned_steps=400),
        events=(message(ERROR, "fallback", 99, 160, last=False, exception=ERROR, handled=True),),
        train_loss="0:2.2 400:1.2",
    ),
    drawn(
        "interrupted by hand",
        state=State("killed", "KeyboardInterrupt", "certain", done_steps=160),
        events=(message("KeyboardInterrupt", "kill", 14, 160),),
        train_loss=FALLING,
    ),
)

RULE = Rule(
    slug="crashed",
    title="Crash",
    family="RUN",
    severity="critical",
    page=__doc__,
    limits=Limits(),
    check=check,
    relations=Relations(layer="end"),
    bad=BAD,
    good=GOOD,
)
