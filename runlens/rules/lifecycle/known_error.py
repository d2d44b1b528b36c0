"""Known error: a line of the log has a known cause and a known cure.

What is seen
    A line matches a row of the message table: a missing padding token, a label out of range, a
    full disk, mixed dtypes, a driver too old, and some sixty more.
Why it matters
    The cause is known; nobody has to search for it again.
Looks alike
    A line that training went on after was handled, unless it is a warning that one sample after
    the other gets. Memory, hang and
    kill messages feed rules of their own. Source lines inside a traceback are no messages.
Limits
    complete: from this share of the planned steps on the message is a warning, since the training
    itself was done.
Fixes
    The cure of the row, as in common practice and in the frameworks' own documentation.
"""

from msgspec import Struct

from runlens import fixes
from runlens.diagnosis import Confidence, Evidence, Finding, Moment, Outcome, Severity
from runlens.patterns import lazy_re
from runlens.rules.lifecycle.ending import (
    ending,
    how_far,
    log_chart,
    onset_step,
    plan_done,
    shortened,
)
from runlens.rules.relations import Relations
from runlens.rules.rule import Rule, drawn, found, message, passed, unmet
from runlens.run import Event, Run, State
from runlens.signals import Signals
from runlens.wording import capitalised, quoted, unstamped

REPEATED = 10  # times that a warning on single samples is of the data, not of one sample
IN_WORKER = 70  # what the parent of a data worker raises around the worker's own exception
WRAPPER = 28  # NCCL's error, whose cause a line of its own names
CLASSES = ("known", "hardware", "config", "data")


# a logger's line of level INFO or below is no error, whatever it names
TOLD_ONLY = lazy_re(r"(^|[\s\[])(I|INFO|DEBUG)\s*[|:\]]")


class Limits(Struct, frozen=True):
    """What may be tuned."""

    complete: float = 0.99


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Look for messages of the table whose cause is known."""
    messages = [one for one in run.messages(*CLASSES) if not TOLD_ONLY.search(one.text)]
    if names_the_inner(run):  # then it tells no more than where
        messages = [one for one in messages if one.data.get("row") != IN_WORKER]
    if not messages:
        if not run.speaks and not run.events_of("message"):
            return unmet("no console output was found; keep it (tee train.log)")
        return passed("no line of the log is a known error")
    end = ending(run, signals)
    ended = end.kind in {"crashed", "hang"}
    if repeated := [event for event in messages if _of_each_row(event)]:
        return found(_finding(run, repeated[0], "warning", ended=False))
    last = [event for event in messages if event.data.get("last")]
    if not last:
        return passed(f"training went on after this line: {shortened(messages[0].text, 100)}")
    if not ended:
        return passed(f"{end.told}, not by this line: {shortened(last[0].text, 100)}")
    done = plan_done(run, limits.complete)
    inner = [event for event in last if event.data.get("row") != WRAPPER]
    return found(_finding(run, (inner or last)[0], "warning" if done else "critical"))


def names_the_inner(run: Run) -> bool:
    """Whether the exception of a data worker was printed, not only the one around it."""
    raised = (str(one.data.get("exception") or "") for one in run.events_of("message"))
    return any(one and ": Caught " not in one for one in raised)


def _of_each_row(event: Event) -> bool:
    """Whether it is a warning on the data, printed for one sample after the other."""
    printed = event.data.get("count", 1)
    many = isinstance(printed, int) and printed >= REPEATED
    return many and event.data.get("class") == "data" and not event.data.get("exception")


def _finding(run: Run, event: Event, severity: Severity, *, ended: bool = True) -> Finding:
    line = shortened(event.text, 160)
    cause, fix = str(event.data.get("cause", "")), str(event.data.get("fix", ""))
    times, kind = event.data.get("count", 1), str(event.data.get("cause_kind", ""))
    return Finding(
        severity=severity,
        title=f"An error ended the run {how_far(run)}. {cause.rstrip('.')}."
        if ended
        else f"The data has a problem. {cause.rstrip('.')}.",
        metric="",
        onset=Moment(onset_step(run)),
        evidence=(
            Evidence("Line of the log", line, where=event.where),
            Evidence("Occurrences in the log", float(times if isinstance(times, int) else 1)),
        ),
        seen=capitalised(f"{quoted(shortened(unstamped(event.text), 160))}."),
        fixes=(fixes.action(fix.rstrip("."), cures=kind),) if fix else (),
        confidence=Confidence(0.9, "the line is a known error and no record follows it")
        if ended
        else Confidence(0.8, f"it was printed {times} times"),
        chart=log_chart(run, event),
    )


PAD = "ValueError: Asking to pad but the tokenizer does not have a padding token."
HANDLED = "ConnectionError: hf.co, retrying"
IN_A_WORKER = "ValueError: Caught ValueError in DataLoader worker process 0."
BAD = (
    drawn(
        "the exception of a data worker is cut off",
        (160, 160),
        state=State("crashed", IN_A_WORKER, "certain", done_steps=160, planned_steps=400),
        events=(
            message(IN_A_WORKER, "known", IN_WORKER, 160),
            message(IN_A_WORKER, "fallback", 99, 160, exception=IN_A_WORKER),
        ),
        train_loss="0:2.2 160:1.6",
    ),
    drawn(
        "no padding token",
        (0, 0),
        severity="critical",
        state=State("crashed", PAD, "certain", planned_steps=400),
        events=(message(PAD, "known", 50, None, cause="The tokenizer has no padding token."),),
    ),
    drawn(
        "results not serializable",
        (400, 400),
        severity="warning",
        state=State("crashed", "TypeError", "certain", done_steps=400, planned_steps=400),
        events=(message("not JSON serializable", "known", 98, 400, cause="numpy values"),),
        train_loss="0:2.2 400:1.2",
    ),
)
GOOD = (
    drawn(
        "training went on",
        state=State("finished", "summary", "certain", done_steps=400, planned_steps=400),
        events=(message(HANDLED, "known", 59, 10, last=False),),
        train_loss="0:2.2 400:1.2",
    ),
    drawn(
        "the exception of a data worker is named",
        state=State("crashed", "ValueError: x", "certain", done_steps=160, planned_steps=400),
        events=(
            message(IN_A_WORKER, "known", IN_WORKER, 160),
            message("ValueError: x", "fallback", 99, 160, exception="ValueError: x"),
        ),
        train_loss="0:2.2 160:1.6",
    ),
    drawn(
        "an unknown error",
        state=State("crashed", "MyError: x", "certain", done_steps=160, planned_steps=400),
        events=(message("MyError: x", "fallback", 99, 160, exception="MyError: x"),),
        train_loss="0:2.2 160:1.6",
    ),
)

RULE = Rule(
    slug="known-error",
    title="Known error",
    family="RUN",
    severity="critical",
    page=__doc__,
    limits=Limits(),
    check=check,
    relations=Relations(ever=("crashed", "stopped-early", "hang"), layer="end"),
    bad=BAD,
    good=GOOD,
)
