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
    Find the first traceback of all ranks; NCCL_DEBUG=INFO and TORCH_DISTRIBUTED_DEBUG=DETAIL;
    MASTER_ADDR and MASTER_PORT where it hung before the first step; drop_last where it hung at
    the end of an epoch; async_prefetch: false with FSDP; the same collectives on each rank.
"""

from msgspec import Struct

from runlens import fixes
from runlens.diagnosis import (
    Cause,
    Confidence,
    Evidence,
    Finding,
    Fix,
    Moment,
    Outcome,
    RuledOut,
)
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
from runlens.rules.relations import Relations
from runlens.rules.rule import Rule, drawn, found, message, passed, unmet
from runlens.run import Run, State
from runlens.signals import Signals
from runlens.wording import capitalised, duration, quoted


class Limits(Struct, frozen=True):
    """What may be tuned."""

    floor: float = SILENCE
    multiple: float = LONGEST


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Look at what ended the run."""
    end = ending(run, signals)
    if end.kind == "hang":
        if end.proof is None and end.silent < max(limits.floor, limits.multiple * end.longest):
            return passed(f"{duration(end.silent)} of silence at the end")
        return found(_finding(run, signals, end, limits))
    if end.kind == "unknown" and not len(run.curve("heartbeat")) and not run.speaks:
        return unmet("no console output and no system records: a hang leaves no other trace")
    return passed("no watchdog message and no long silence at the end")


def _finding(run: Run, signals: Signals, end: Ending, limits: Limits) -> Finding:
    what = (
        capitalised(f"{quoted(end.text)}.")
        if end.proof
        else f"Nothing was logged in the last {duration(end.silent)}."
    )
    evidence = [Evidence("Source", end.text, where=end.proof.where if end.proof else "time")]
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
    cause = str(end.proof.data.get("cause") or "").rstrip(".") if end.proof else ""
    fix = str(end.proof.data.get("fix") or "") if end.proof else ""
    return Finding(
        severity="critical",
        title=f"The run hung {how_far(run)}.",
        metric="",
        onset=Moment(onset_step(run)),
        evidence=tuple(evidence),
        seen=f"{what} The curves gave no warning." if run.history.metrics else what,
        causes=(
            Cause(
                cause or "A stuck data loader, or a rank waiting for another",
                "most likely",
                end.text[:120],
                kind="machine",
            ),
            *_causes(run, signals),
        ),
        fixes=(
            fixes.action(fix)
            if fix
            else fixes.look("Look at every rank's log for the first traceback"),
            *resume(run),
            *_fixes(run, signals, fix),
        ),
        ruled_out=(RuledOut("A long evaluation or save", end.why or "a watchdog spoke up"),),
        confidence=Confidence(0.9 if end.proof else 0.75, end.why or "a message of the watchdog"),
        chart=log_chart(run, end.proof),
    )


def _prefetches(run: Run) -> bool:
    """Whether completions are prefetched in the background: with FSDP that can deadlock."""
    return bool(run.flag("async_prefetch") or run.flag("trl.async_prefetch"))


def _at_epoch_end(run: Run, signals: Signals) -> bool:
    per_epoch = signals.steps_per_epoch
    if not per_epoch or not onset_step(run):
        return False
    off = onset_step(run) / per_epoch
    return round(off) > 0 and abs(off - round(off)) * per_epoch <= max(
        1, signals.interval("train_loss")
    )


def _causes(run: Run, signals: Signals) -> tuple[Cause, ...]:
    made: list[Cause] = []
    if _prefetches(run):
        why = "async_prefetch is set; with FSDP it can deadlock"
        made.append(
            Cause("Prefetch of completions in the background", "likely", why, kind="machine")
        )
    if _at_epoch_end(run, signals):
        why = "it hung at the end of an epoch"
        made.append(
            Cause(
                "An uneven last batch: some ranks had one more batch", "likely", why, kind="machine"
            )
        )
    return tuple(made)


def _fixes(run: Run, signals: Signals, said: str) -> tuple[Fix, ...]:
    """Return what else to try: settings that are known to deadlock, then what names the rank."""
    made: list[Fix] = []
    if _prefetches(run):
        what = "Do not prefetch completions"
        made.append(fixes.setting(run, "async_prefetch", False, what, "with FSDP it can deadlock"))
    if _at_epoch_end(run, signals):
        what, why = "Drop the last batch of an epoch", "all ranks then take as many steps"
        made.append(fixes.setting(run, "dataloader_drop_last", True, what, why))
    if not onset_step(run):
        why = "it hung before the first step: the ranks did not find each other"
        what = "Check MASTER_ADDR, MASTER_PORT and the world size on each node"
        made.append(fixes.look(what, why))
    names = [
        name for name in ("NCCL_DEBUG=INFO", "TORCH_DISTRIBUTED_DEBUG=DETAIL") if name not in said
    ]
    if "gloo" in said.casefold():
        names = names[-1:]
    if names and run.number("num_processes") != 1:
        why = "this names the collective and the rank that is missing"
        made.append(fixes.action(f"Run again with {' and '.join(names)}", why, "one run"))
    return tuple(made)


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
    title="Hang",
    family="RUN",
    severity="critical",
    page=__doc__,
    limits=Limits(),
    check=check,
    relations=Relations(ever=("killed", "stopped-early", "crashed"), layer="end"),
    bad=BAD,
    good=GOOD,
)
