"""Killed: something from outside ended the run.

What is seen
    The launcher, the shell, the scheduler or the tracker names a signal (SIGKILL, SIGTERM), a time
    limit, a preemption or an exit code such as 137, 143 or 255; or Ctrl-C was pressed.
Why it matters
    The training itself was not at fault, but what came after the last checkpoint is lost; a kill
    by the out-of-memory killer of the host comes again.
Looks alike
    A launcher that ends the other ranks after one of them failed sends SIGTERM: a consequence,
    the failure is reported instead. A kill after the planned steps were done is none. A log that
    breaks off says nothing about why: that is stopped-early. A tracker's file without a record is
    left by a kill before its first write, and by a run that has only just begun: a warning.
Limits
    complete: from this share of the planned steps on a kill took nothing, if a checkpoint was
    saved there; without one a kill in the last steps is a warning: the final weights are lost.
Fixes
    Resume from the last checkpoint; more host memory or fewer workers after SIGKILL; a longer
    time limit; save so often that at most ten minutes are lost.
"""

from msgspec import Struct

from runlens import fixes
from runlens.cause import INTERRUPTED
from runlens.diagnosis import (
    Confidence,
    Evidence,
    Finding,
    Fix,
    Moment,
    Outcome,
    Severity,
)
from runlens.knowledge.in_force import TRAINER_FRAMEWORKS
from runlens.patterns import lazy_re
from runlens.rules.lifecycle.ending import (
    UNRECORDED,
    Ending,
    ending,
    how_far,
    log_chart,
    onset_step,
    plan_done,
    resume,
)
from runlens.rules.relations import Relations
from runlens.rules.rule import Rule, drawn, found, message, passed, unmet
from runlens.run import BARE_KILL, Run, State
from runlens.signals import Signals
from runlens.wording import capitalised, quoted

SIGKILL = {137, -9}
OUT_OF_HOST_MEMORY = {BARE_KILL, 12, 67, 129}  # rows of the message table
HUNG_UP = lazy_re(r"got signal: 1\b|\bSIGHUP\b(?! handler)|Received 1 death signal")


class Limits(Struct, frozen=True):
    """What may be tuned."""

    complete: float = 0.99


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Look at what ended the run."""
    end = ending(run, signals)
    if end.kind == "unknown":
        return unmet(UNRECORDED)
    if end.kind != "killed":
        return passed(end.told)
    if plan_done(run, limits.complete) and (run.state.sure != "certain" or _had_all(run, limits)):
        return passed("the kill came after the planned steps were done")
    return found(_finding(run, end))


def _had_all(run: Run, limits: Limits) -> bool:
    """Whether all planned steps were done, or a checkpoint was saved in the last of them."""
    state, planned = run.state, run.state.planned_steps or 0
    late = any(at >= limits.complete * planned for at, _ in run.checkpoints)
    return late or state.done_steps >= planned


def _finding(run: Run, end: Ending) -> Finding:
    by_hand = run.state.by_hand
    guessed = run.state.sure == "guess" and end.proof is None
    almost = plan_done(run, 0.99)  # the weights of the end may be lost, the training was done
    severity: Severity = "warning" if by_hand or guessed or almost else "critical"
    how = f"{INTERRUPTED[0].lower()}{INTERRUPTED[1:]}" if by_hand else "killed"
    evidence = [
        Evidence("Source", _sign(run, end), where=end.proof.where if end.proof else "state"),
    ]
    if run.state.exit_code is not None:
        evidence.append(Evidence("Exit code", float(run.state.exit_code)))
    advice = _advice(run, end)
    return Finding(
        severity=severity,
        title=f"The run was {how} {how_far(run)}.",
        metric="",
        onset=Moment(onset_step(run)),
        evidence=tuple(evidence),
        seen=capitalised(f"{quoted(_sign(run, end))}.") if end.proof else "",
        fixes=(*resume(run), *(() if by_hand else advice), *(_less_memory(run, end))),
        confidence=_confidence(run, end),
        chart=log_chart(run, end.proof),
    )


def _advice(run: Run, end: Ending) -> tuple[Fix, ...]:
    """Return what to do about what sent the signal."""
    if HUNG_UP.search(end.text):
        what = "Start the training in tmux or screen, or with setsid"
        why = "torchrun exits on SIGHUP even under nohup"
        return (fixes.action(what, why, cures="time-limit"),)
    fix = str(end.proof.data.get("fix") or "") if end.proof else ""
    trainer = (
        run.framework in TRAINER_FRAMEWORKS
    )  # else there may be no workers, under no such name
    workers = [run.number(key) for key in ("dataloader_num_workers", "dataset_num_proc")]
    if end.proof and end.proof.data.get("row") == BARE_KILL and workers == [0.0, None]:
        fix = "If it ran out of memory, request more or stream the data set"
    elif workers == [None, None] and "dataset_num_proc" in fix and not trainer:
        fix = "If it ran out of memory, request more, or keep less of the data in memory at once"
    return (fixes.action(fix),) if fix else ()


def _less_memory(run: Run, end: Ending) -> tuple[Fix, ...]:
    """Halve what reads data where the kernel killed it for the memory of the machine."""
    row = end.proof.data.get("row") if end.proof else None
    hard = row in OUT_OF_HOST_MEMORY or run.state.exit_code in SIGKILL
    return fixes.fewer_readers(run) if hard else ()


def _confidence(run: Run, end: Ending) -> Confidence:
    if end.proof:
        return Confidence(0.95, "the log names it")
    if run.state.sure == "guess":
        return Confidence(0.5, "nothing names it: the tracker's file is empty")
    return Confidence(0.8, "by the exit code alone")


def _sign(run: Run, end: Ending) -> str:
    """Return what says so, without the step: the sentence has it."""
    return end.text.removesuffix(f", {how_far(run)}")


FALLING = "0:2.2 160:1.6"
BAD = (
    drawn(
        "in the last steps, nothing saved",
        (398, 398),
        severity="warning",
        state=State("killed", "SIGHUP", "certain", done_steps=398, planned_steps=400),
        events=(message("got signal: 1", "kill", 9, 398),),
        train_loss="0:2.2 390:1.6",
    ),
    drawn(
        "SIGKILL",
        (160, 160),
        severity="critical",
        state=State("killed", "Killed", "certain", done_steps=160, planned_steps=400),
        events=(message("Killed", "kill", 5, 160, cause="The host ran out of memory."),),
        train_loss=FALLING,
    ),
    drawn(
        "the tracker's file is empty",
        (160, 160),
        severity="warning",
        state=State("killed", "nothing reached the tracker's file", "guess", done_steps=160),
        train_loss=FALLING,
    ),
    drawn(
        "Ctrl-C",
        (160, 160),
        severity="warning",
        state=State("killed", "Ctrl-C (exit code 255)", "certain", 255, 160, by_hand=True),
        train_loss=FALLING,
    ),
)
GOOD = (
    drawn(
        "after the end",
        state=State("killed", "SIGTERM", "certain", done_steps=400, planned_steps=400),
        events=(message("SIGTERM", "kill", 9, 400),),
        train_loss="0:2.2 400:1.2",
    ),
    drawn(
        "the launcher ends the other ranks",
        state=State("crashed", "KeyError: 'x'", "certain", done_steps=160),
        events=(
            message("KeyError: 'x'", "fallback", 99, 160, exception="KeyError: 'x'"),
            message("Received SIGTERM", "kill", 9, 160),
        ),
        train_loss=FALLING,
    ),
)

RULE = Rule(
    slug="killed",
    title="Killed or interrupted",
    family="RUN",
    severity="critical",
    page=__doc__,
    limits=Limits(),
    check=check,
    relations=Relations(layer="end"),
    bad=BAD,
    good=GOOD,
)
