"""Hang: the run stopped making progress without ending.

What is seen
    A collective operation timed out, a watchdog spoke up, or the machine went on living (system
    records of a tracker) long after the last training record.
Why it matters
    A hung run holds its GPUs until someone looks.
Looks alike
    A long evaluation, a save or a first compilation is silent too: the silence is held against
    the longest gap that this run had before. A rank that was killed makes the others lose their
    connection: then the kill is reported. Laptop sleep stops all clocks, the heartbeat too.
Limits
    floor: seconds of silence below which nothing is said. multiple: times the longest earlier gap
    between two records, evaluations and saves included. Both can only be raised.
Fixes
    Find the first traceback of all ranks; TORCH_DISTRIBUTED_DEBUG=DETAIL; fewer data workers;
    the same collectives in the same order on each rank.
"""

from dataclasses import dataclass

from runlens import fixes
from runlens.diagnosis import Cause, Confidence, Evidence, Finding, Moment, Outcome, RuledOut
from runlens.rules.lifecycle.ending import (
    LONGEST,
    SILENCE,
    Ending,
    ending,
    how_far,
    log_chart,
    onset_step,
    resume,
)
from runlens.rules.rule import Rule, drawn, found, message, passed, unmet
from runlens.run import Run, State
from runlens.signals import Signals
from runlens.wording import duration


@dataclass(frozen=True)
class Limits:
    """What may be tuned."""

    floor: float = SILENCE
    multiple: float = LONGEST


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Look at what ended the run."""
    end = ending(run, signals)
    if end.kind == "hang":
        if end.proof is None and end.silent < max(limits.floor, limits.multiple * end.longest):
            return passed(f"{duration(end.silent)} of silence at the end")
        return found(_finding(run, end, limits))
    if end.kind == "unknown" and not len(run.curve("heartbeat")) and not run.log_tail:
        return unmet("no log and no system records: a hang leaves no other trace")
    return passed("no watchdog message and no long silence at the end")


def _finding(run: Run, end: Ending, limits: Limits) -> Finding:
    what = end.text if end.proof else f"{duration(end.silent)} without a record"
    evidence = [Evidence("What says so", end.text, where=end.proof.where if end.proof else "time")]
    if end.silent:
        evidence.insert(
            0,
            Evidence(
                "Silence before the end",
                end.silent,
                limits.floor,
                f"floor; and {limits.multiple:g} times the longest earlier gap",
                "heartbeat",
                unit="s",
            ),
        )
    evidence.append(Evidence("Last step", onset_step(run)))
    cause = str(end.proof.data.get("cause") or "").rstrip(".") if end.proof else ""
    fix = str(end.proof.data.get("fix") or "") if end.proof else ""
    return Finding(
        severity="critical",
        title=f"The run hung {how_far(run)}: {what}.",
        metric="",
        onset=Moment(onset_step(run)),
        evidence=tuple(evidence),
        seen="No training record follows, and nothing in the curves announces it.",
        causes=(
            Cause(
                cause or "A stuck data loader or a rank that waits", "most likely", end.text[:120]
            ),
        ),
        fixes=(
            fixes.action(fix or "Look at every rank's log for the first traceback"),
            *resume(run),
        ),
        ruled_out=(RuledOut("A long evaluation or save", end.why or "a watchdog spoke up"),),
        confidence=Confidence(0.9 if end.proof else 0.75, end.why or "a message of the watchdog"),
        chart=log_chart(run, end.proof),
    )


TIMEOUT = "Watchdog caught collective operation timeout: WorkNCCL(OpType=ALLREDUCE)"
FALLING = "0:2.2 160:1.6"
BAD = (
    drawn(
        "a collective times out",
        (160, 160),
        state=State("crashed", TIMEOUT, "certain", done_steps=160, planned_steps=400),
        events=(message(TIMEOUT, "hang", 27, 160),),
        train_loss=FALLING,
    ),
    drawn(
        "the log is silent, the machine is not",
        (160, 160),
        state=State("stopped_early", "no exit record", "likely", done_steps=160, planned_steps=400),
        seconds_per_step=0.2,
        train_loss=FALLING,
        heartbeat="160:1 1000:1",
    ),
)
GOOD = (
    drawn(
        "a killed rank",
        state=State("killed", "exitcode: -9", "certain", done_steps=160, planned_steps=400),
        events=(
            message("Connection reset by peer", "hang", 30, 160),
            message("exitcode: -9", "kill", 5, 160),
        ),
        train_loss=FALLING,
    ),
    drawn(
        "a short silence",
        state=State("stopped_early", "no exit record", "likely", done_steps=160, planned_steps=400),
        seconds_per_step=5.0,
        train_loss=FALLING,
        heartbeat="160:1 180:1",
    ),
)

RULE = Rule(
    slug="hang",
    title="No progress, no end",
    family="RUN",
    severity="critical",
    page=__doc__,
    limits=Limits(),
    check=check,
    bad=BAD,
    good=GOOD,
)
