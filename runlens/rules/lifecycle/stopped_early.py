"""Stopped early: the run ended before its plan, and no error says why.

What is seen
    The closing summary, the exit record or another training in the same log comes well before the
    planned steps or epochs, without a traceback, a signal or an out-of-memory message.
Why it matters
    The schedule was cut: the learning rate was still high, and the best steps were not taken.
Looks alike
    Early stopping by design ends a run too: that is said as info. A log that just ends within the
    plan may have been copied while the run went on: where it ends is said, as info. Of 14 such logs
    of strangers, readers called none stopped for sure. A trainer_state.json inside a
    checkpoint is a snapshot and says nothing about the end. The scores of a test, class by class,
    stand beside the plan of the training that was tested. Epochs that round to the plan are
    the plan. A run that is still going has no end.
Limits
    done: below this share of the plan the run counts as cut. patience: where the trainer closed
    the run in good order and eval loss was best at least so many evaluations before (3 is the
    usual patience), early stopping explains it, and it is told as info. So is a start that logged
    a single row: it was a try.
Fixes
    Resume from the last checkpoint; look for what ended it: a time limit, a full queue, a closed
    terminal.
"""

import numpy as np
from msgspec import Struct

from runlens.diagnosis import Confidence, Evidence, Finding, Moment, Outcome
from runlens.patterns import lazy_re
from runlens.rules.lifecycle.ending import (
    TRAINED,
    UNRECORDED,
    Ending,
    ending,
    how_far,
    onset_step,
    resume,
)
from runlens.rules.relations import Relations
from runlens.rules.rule import Rule, drawn, found, message, passed, unmet
from runlens.run import GAVE_UP, Run, State
from runlens.signals import Signals
from runlens.wording import capitalised, percent, quoted

SAID = {
    "certain": "the log says so",
    "likely": "no closing record follows",
}
SURE = {"certain": 0.95, "likely": 0.75}


LEAST = 0.001  # of the plan: the last digit that is written
_PLACE = lazy_re(
    r"(?:; (?:its|the) last row is|,)? at step [\d,]+(?: of [\d,]+)?$"
)  # which the headline names


class Limits(Struct, frozen=True):
    """What may be tuned."""

    done: float = 0.95
    patience: int = 3


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Compare what was done with what was planned."""
    end = ending(run, signals)
    share = run.state.done_share
    if share is None:
        return unmet("neither planned steps nor planned epochs are known")
    if share >= limits.done:
        return passed(f"{percent(share)} of the plan was done")
    if run.state.excerpt and run.state.kind != "stopped_early":
        return unmet("an excerpt does not show how many steps were done")
    if run.state.kind == "finished":
        return found(_by_design(run, share))
    if end.kind == "unknown" and share < LEAST and not any(len(run.curve(m)) for m in TRAINED):
        return unmet("scores alone that stand at the very beginning of the plan count no steps")
    if run.state.kind == "stopped_early" and end.kind == "unknown":
        return found(_open(run, share))
    if end.kind == "unknown":
        return unmet(f"{percent(share)} of the plan was done, and {UNRECORDED}")
    if end.kind != "stopped-early":
        return passed(end.told)
    if why := _of_itself(run, signals, limits):
        return found(_finding(run, signals, end, share, limits, why))
    return found(_finding(run, signals, end, share, limits))


def _of_itself(run: Run, signals: Signals, limits: Limits) -> str:
    """Say what makes the end harmless; empty where nothing does.

    A run that logged nothing never began, one that logged a row was a try. A trainer that closed in
    good order, long after the best evaluation, was ended by a patience.
    """
    untold = run.state.exit_code == 0 or not onset_step(run)  # a bar is no training by itself
    rows = max(len(run.curve(metric)) for metric in TRAINED)
    if untold and not rows:
        return "Nothing had been logged yet"
    if rows == 1:
        return "A single row had been logged"
    evals = signals.curve("eval_loss")
    if run.state.sure != "certain" or len(evals) <= limits.patience:
        return ""
    after = len(evals) - 1 - int(np.argmin(evals.value))
    if after < limits.patience:
        return ""
    return f"It looks like early stopping, as eval loss was best {after} evaluations earlier"


def _by_design(run: Run, share: float) -> Finding:
    return Finding(
        severity="info",
        title=f"Early stopping ended the run {how_far(run)}, at {percent(share)} of the plan.",
        metric="",
        onset=Moment(onset_step(run)),
        evidence=(Evidence("Share of the plan", share, unit="%", where="state"),),
        seen="The run ended as configured.",
        harmless=True,
        confidence=Confidence(0.9, run.state.why),
    )


def _open(run: Run, share: float) -> Finding:
    """Say where a log ends that does not show the end of its run."""
    return Finding(
        severity="info",
        title=f"The log ends {how_far(run)}, at {_least(share)} of the plan, without a closing "
        "message.",
        metric="",
        onset=Moment(onset_step(run)),
        evidence=(Evidence("Share of the plan", share, unit="%", where="state"),),
        seen="Either the run was killed, or the log was copied while it was running.",
        fixes=resume(run),
        confidence=Confidence(0.5, run.state.why),
    )


def _finding(
    run: Run, signals: Signals, end: Ending, share: float, limits: Limits, itself: str = ""
) -> Finding:
    rate, peak = signals.learning_rate_at(onset_step(run)), signals.peak_learning_rate
    gave_up = any(GAVE_UP.search(one.text) for one in run.events_of("early_stop"))
    evidence = [
        Evidence(
            "Share of the planned steps",
            share,
            limits.done,
            "from here on a run counts as done",
            "state",
            onset_step(run),
            above=False,
            unit="%",
        ),
        Evidence("Source", end.why, where="state"),
    ]
    cut = ""
    if rate is not None and peak:
        evidence.append(Evidence("Learning rate at the end", rate, where="learning_rate"))
        share_of_peak = "at its peak" if rate >= peak else f"at {percent(rate / peak)} of its peak"
        rises = "rising" if _rises(signals) else share_of_peak
        cut = f" At the end the learning rate was still {rises}."
    return Finding(
        severity="info" if itself else "warning",
        harmless=itself != "",
        title=f"{_stops(run, itself)} {how_far(run)}, at {_least(share)} of the plan."
        + _after(end, itself),
        metric="",
        onset=Moment(onset_step(run)),
        evidence=tuple(evidence),
        seen=f"{_sentence(_PLACE.sub('', end.why))}.{cut}",
        fixes=() if gave_up else resume(run),  # what gave up does so again
        confidence=Confidence(
            SURE[run.state.sure], f"{percent(share)} of the plan was done; {SAID[run.state.sure]}"
        ),
    )


def _stops(run: Run, itself: str) -> str:
    """Say that the run stopped; where nothing says that it ended, that its log does."""
    return "The run stopped early" if itself or run.state.sure == "certain" else "The log ends"


def _least(share: float) -> str:
    """Write a share of the plan; what would round to 0.0 % is below a tenth of a percent."""
    return percent(share) if share >= LEAST else f"less than {percent(LEAST)}"


def _rises(signals: Signals) -> bool:
    """Whether the highest rate is the last one, and above the one before: a warm-up cut short."""
    value = signals.curve("learning_rate").value
    return len(value) > 1 and float(value[-1]) > float(value[:-1].max())


def _after(end: Ending, itself: str) -> str:
    if itself:
        return f" {itself}."
    return f" {capitalised(quoted(end.text))}." if end.proof else ""


def _sentence(text: str) -> str:
    """Begin with a capital letter, but leave the name of a file as it is."""
    first = text.partition(" ")[0]
    return text if "." in first else text[0].upper() + text[1:]


def cut(why: str, done: int, planned: int) -> State:
    """Return the state of a run that ended before its plan."""
    return State("stopped_early", why, "likely", done_steps=done, planned_steps=planned)


FALLING = "0:2.2 200:1.6"
BAD = (
    drawn(
        "a time limit",
        (200, 200),
        severity="warning",
        state=cut("the trainer wrote its closing summary at step 200 of 1,000", 200, 1000),
        train_loss=FALLING,
        learning_rate="0:2e-4 200:1.6e-4",
    ),
    drawn(
        "the file of a tracker breaks off",
        (200, 200),
        severity="warning",
        state=cut("the tracker's file has no exit record", 200, 260),
        train_loss=FALLING,
    ),
    drawn(
        "the log ends within the plan",
        (200, 200),
        severity="info",
        state=State("stopped_early", "train.log", "guess", done_steps=200, planned_steps=260),
        train_loss=FALLING,
    ),
    drawn(
        "a patience that no log names",
        (400, 400),
        severity="info",
        noise=0.001,
        state=State("stopped_early", "summary", "certain", done_steps=400, planned_steps=1000),
        train_loss="0:2.2 400:1.2",
        eval_loss="50:1.9 200:1.4 400:1.42",
    ),
    drawn(
        "closed in good order while it learned",
        (400, 400),
        severity="warning",
        noise=0.001,
        state=State("stopped_early", "summary", "certain", done_steps=400, planned_steps=1000),
        train_loss="0:2.2 400:1.2",
        eval_loss="50:1.9 400:1.3",
    ),
    drawn(
        "a start that was stopped at its first row",
        (0, 0),
        severity="info",
        state=cut("train.log goes on with another training behind step 0 of 1,000", 0, 1000),
        train_loss="0:2.2",
    ),
    drawn(
        "a start that was stopped at its second row",
        (10, 10),
        severity="warning",
        state=cut("train.log goes on with another training behind step 10 of 1,000", 10, 1000),
        train_loss="0:2.2 10:2.1",
    ),
    drawn(
        "early stopping",
        (200, 200),
        severity="info",
        state=State("finished", "patience 3 of 3", "certain", done_steps=200, planned_steps=400),
        train_loss=FALLING,
    ),
)
GOOD = (
    drawn(
        "rounded epochs",
        state=State("finished", "summary", "certain", done_steps=198, planned_steps=200),
        train_loss=FALLING,
    ),
    drawn(
        "a crash",
        state=State("crashed", "ValueError: x", "certain", done_steps=200, planned_steps=400),
        events=(message("ValueError: x", "fallback", 99, 200, exception="ValueError: x"),),
        train_loss=FALLING,
    ),
)

RULE = Rule(
    slug="stopped-early",
    title="Stopped early",
    family="RUN",
    severity="warning",
    page=__doc__,
    limits=Limits(),
    check=check,
    relations=Relations(layer="end"),
    bad=BAD,
    good=GOOD,
)
