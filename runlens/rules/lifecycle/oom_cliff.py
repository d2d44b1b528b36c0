"""Out of memory: the run ends in a memory error after stable training.

What is seen
    The last error in the log is an out-of-memory message, and no training record follows it. The
    curves before it are undramatic.
Why it matters
    Everything after the last checkpoint is lost, and the same settings end the same way.
Looks alike
    A search for the largest batch size runs out of memory and goes on: a record follows, so it
    is no end. Without a message in a log there is no telling it from a crash, and this rule says
    nothing.
Limits
    long: from this share of the planned steps on the memory was enough for most batches, so a
    single long batch is the likely cause.
Fixes
    Halve the per-device batch size and double the accumulation; gradient checkpointing; 4-bit
    weights or an 8-bit optimizer; a shorter sequence; flash attention; sharding and offload (in
    this order); expandable segments where much is reserved but not allocated; no_grad where it
    happened in an evaluation; a memory snapshot to see what holds it.
"""

from msgspec import Struct

from runlens.diagnosis import (
    Confidence,
    Evidence,
    Finding,
    Moment,
    Outcome,
    RuledOut,
)
from runlens.rules.lifecycle import memory_need, oom_advice
from runlens.rules.lifecycle.ending import (
    UNRECORDED,
    ending,
    how_far,
    log_chart,
    onset_step,
    shortened,
)
from runlens.rules.relations import Relations
from runlens.rules.rule import Rule, drawn, found, message, passed, unmet
from runlens.run import Event, Run, State
from runlens.signals import Signals


class Limits(Struct, frozen=True):
    """What may be tuned."""

    long: float = 0.05


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Look at what ended the run."""
    end = ending(run, signals)
    if end.kind != "oom" or end.proof is None:
        if not run.speaks and not run.events_of("message") and run.state.settled == "unknown":
            return unmet(UNRECORDED)
        return passed("no out-of-memory message ended the run")
    return found(_finding(run, end.proof, limits))


def _finding(run: Run, proof: Event, limits: Limits) -> Finding:
    host = proof.data.get("row") == oom_advice.HOST
    where = "host memory" if host else "GPU memory"
    done = onset_step(run)
    return Finding(
        severity="critical",
        title=f"The run ran out of {where} {how_far(run)}.{_sizes(proof)}",
        metric="gpu_mem",
        onset=Moment(done),
        evidence=(
            Evidence("Last error in the log", shortened(proof.text, 160), where=proof.where),
            *_size_evidence(proof),
            Evidence("Steps before the error", done, where="log"),
            *(() if host else memory_need.estimates(run)),
        ),
        seen="",
        causes=oom_advice.causes(run, proof, limits.long),
        fixes=oom_advice.cures(run, proof),
        ruled_out=(
            RuledOut(
                "An OOM that was retried with a smaller batch", "no record follows the message"
            ),
        ),
        confidence=Confidence(0.98, "the message is the last error of the log"),
        chart=log_chart(run, proof),
    )


def _sizes(proof: Event) -> str:
    data = proof.data
    parts = []
    if "tried_gib" in data:
        parts.append(f"it requested {data['tried_gib']:.2f} GiB more")
    if "allocated_gib" in data and "total_gib" in data:
        held = f"{data['allocated_gib']:.2f} of {data['total_gib']:.2f} GiB were allocated"
        parts.insert(0, held)
    said = ", and ".join(parts)
    return f" {said[0].upper()}{said[1:]}." if said else ""


def _size_evidence(proof: Event) -> tuple[Evidence, ...]:
    words = {
        "tried_gib": "Requested",
        "total_gib": "Capacity of the card",
        "free_gib": "Free",
        "allocated_gib": "Allocated",
        "reserved_gib": "Reserved but not allocated",
        "others_gib": "In use by other processes",
    }
    return tuple(
        Evidence(word, float(proof.data[key]), where=proof.where, unit="GiB")
        for key, word in words.items()
        if key in proof.data
    )


OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."
STABLE = "0:2.2 240:1.4"
BAD = (
    drawn(
        "after stable training",
        (240, 240),
        severity="critical",
        state=State("crashed", OOM, "certain", done_steps=240, planned_steps=500),
        events=(message(OOM, "oom", 1, 240, tried_gib=2.0, total_gib=24.0, allocated_gib=22.1),),
        train_loss=STABLE,
    ),
    drawn(
        "in an evaluation",
        (200, 200),
        state=State("crashed", OOM, "certain", done_steps=200, planned_steps=500),
        events=(message(OOM, "oom", 1, 200),),
        config={"eval_steps": 200, "per_device_eval_batch_size": 16},
        train_loss="0:2.2 200:1.4",
    ),
    drawn(
        "in the first step",
        (0, 0),
        state=State("crashed", OOM, "certain", planned_steps=500),
        events=(message(OOM, "oom", 1, None),),
    ),
)
GOOD = (
    drawn(
        "a retry that goes on",
        state=State("finished", "closing summary", "certain"),
        events=(message(OOM, "oom", 1, 0, last=False),),
        train_loss=STABLE,
    ),
    drawn(
        "another crash",
        state=State("crashed", "ValueError: x", "certain"),
        events=(message("ValueError: x", "fallback", 99, 240, exception="ValueError: x"),),
        train_loss=STABLE,
    ),
)

RULE = Rule(
    slug="oom-cliff",
    title="Out of memory",
    family="RUN",
    severity="critical",
    page=__doc__,
    limits=Limits(),
    check=check,
    relations=Relations(
        ever=("crashed", "stopped-early", "hang"), absorbs=("crashed",), layer="end"
    ),
    bad=BAD,
    good=GOOD,
)
