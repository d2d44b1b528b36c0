"""How a run ended, told once.

Of out of memory, hang, kill, crash and early stop only the most specific is reported, so that one
end is never found by two rules.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from runlens import fixes
from runlens.arrays import unique
from runlens.diagnosis import Chart, Fix
from runlens.history import FloatArray
from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.run import (
    BARE_KILL,
    BY_HAND,
    HARD_KILLS,
    LOADING,
    PLACING,
    RESULTS_ALONE,
    SAVING,
    STATES,
    Event,
    Run,
)
from runlens.signals import Signals
from runlens.wording import duration, step

EndingKind = Literal["oom", "hang", "killed", "crashed", "stopped-early", "finished", "unknown"]

WEAK_HANG = 30  # row of the message table: a lost connection, which a killed rank causes too
SILENCE = 30.0  # seconds without a record, at least: two system records of a tracker
LONGEST = 50.0  # times the longest gap that the run had before, evaluations and saves included
ERRORS = {"fallback", "known", "config", "data", "hardware"}
_EPOCHS = lazy_re(r"\bepoch [\d.,]+ of [\d.,]*\d")
_TORN = lazy_re(r"GiB\. GPU$")  # of a line that was cut behind its first sentence
SAVE_EVERY = 100  # steps between checkpoints, in fine-tuning
LEAST_APART = 5  # steps between checkpoints where ten minutes are fewer
MOST_LOST = 600.0  # seconds of work that an end may cost
MOST_SAVES = 100  # checkpoints in a run, however slow it is
FEWEST_SAVES = 10  # checkpoints in a run, however fast it is
# stages of an error
BEFORE_TRAINING = {"reading the settings", "importing", LOADING, PLACING}
IN_TRAINING = {"the forward pass", "the backward pass", STATES}
# a file of stderr alone, in which no row of a training stands: err.txt, job.err, stderr.log
_OF_ERRORS = lazy_re(r"(?i)(?:^|[/\\._-])(?:std)?err(?:ors?)?(?:[._-]|$)")
UNRECORDED = "how the run ended is not recorded; keep the console output (tee train.log)"
HOW: dict[EndingKind, str] = {
    "oom": "ran out of memory",
    "hang": "hung",
    "killed": "was stopped by a signal or by hand",
    "crashed": "crashed",
    "stopped-early": "stopped before its plan, without an error",
    "finished": "ended by itself",
    "unknown": "has no known end",
}
# what a training logs itself; system records go on without it
TRAINED = ("train_loss", "grad_norm", "learning_rate", "reward", "entropy", "eval_loss")


class Ending(NamedTuple):
    """What ended the run, the line that says so, and why this reading was taken."""

    kind: EndingKind
    proof: Event | None = None
    why: str = ""
    silent: float = 0.0  # seconds of life without a record before the end
    longest: float = 0.0  # seconds of the longest gap between two earlier records

    @property
    def text(self) -> str:
        """The proof as text, short."""
        return shortened(self.proof.text, 200) if self.proof else self.why

    @property
    def told(self) -> str:
        """How it ended instead, for a rule that looked for another end."""
        return f"the run {HOW[self.kind]}"


def shortened(text: str, most: int) -> str:
    """Return a line of a log without its last stop or colon; where it was cut, it says so."""
    text = _TORN.sub("GiB. …", " ".join(text.split()))
    return text.rstrip(" .:,") if len(text) <= most else f"{text[:most].rstrip(' .:,')} …"


def ending(run: Run, signals: Signals) -> Ending:
    """Return how the run ended; computed once a run."""
    return signals.keep("ending", lambda: _ending(run, signals))


def _ending(run: Run, signals: Signals) -> Ending:
    if run.state.settled == "finished":
        return Ending("finished", why=run.state.why)
    last = [event for event in run.events_of("message") if event.data.get("last")]
    if said := _by_strong_message(last):
        return said
    silent, longest = silence_at_end(run, signals)
    if silent > 0 and run.state.kind != "crashed":
        why = f"system metrics were recorded for {duration(silent)} after the last logged step"
        return Ending("hang", None, why, silent, longest)
    return _by_state(run, last)


def _by_strong_message(last: Sequence[Event]) -> Ending | None:
    """Out of memory, a time-out of ranks, SIGKILL and Ctrl-C leave no doubt."""
    out_of_memory = _of(last, "oom")
    if out_of_memory:
        return Ending("oom", out_of_memory[-1])
    hangs = [e for e in _of(last, "hang") if e.data.get("row") != WEAK_HANG or _timed_out(e)]
    if hangs:
        return Ending("hang", hangs[0])
    kills = _of(last, "kill")
    hard = [event for event in kills if event.data.get("row") in HARD_KILLS]
    by_hand = [event for event in kills if event.data.get("row") == BY_HAND]
    # the shell's "Killed" says less than the scheduler that names the limit
    said = [event for event in hard if event.data.get("row") != BARE_KILL]
    return Ending("killed", (said or hard or by_hand)[-1]) if hard or by_hand else None


def _by_state(run: Run, last: Sequence[Event]) -> Ending:
    state = run.state
    hangs, kills = _of(last, "hang"), _of(last, "kill")
    if state.kind == "crashed":
        return Ending("crashed", _error(last), state.why)
    if hangs:
        return Ending("hang", hangs[0])
    if state.kind == "stopped_early" and state.sure == "certain":
        return Ending("stopped-early", kills[-1] if kills else None, state.why)  # a clean end
    if kills or state.kind == "killed":
        return Ending("killed", kills[-1] if kills else None, state.why)
    if state.settled == "stopped_early":
        return Ending("stopped-early", None, state.why)
    return Ending("unknown", why=state.why)


def _error(last: Sequence[Event]) -> Event | None:
    """Return the message that names the error, an exception before a mere line."""
    errors = [e for e in last if e.data.get("class") in ERRORS and not e.data.get("handled")]
    named = [event for event in errors if event.data.get("exception")]
    return next(iter(named or errors), None)


def _timed_out(event: Event) -> bool:
    """Whether a lost connection is one that was waited for: the other side hung."""
    return "timed out" in event.text.lower()


def _of(events: Sequence[Event], kind: str) -> list[Event]:
    return [event for event in events if str(event.data.get("class")) == kind]


def silence_at_end(run: Run, signals: Signals) -> tuple[float, float]:
    """Return (silence after the last record, longest gap before it) in seconds; (0, 0) for none.

    Needs a heartbeat that is no metric (system records of a tracker). The silence counts from half
    a minute on where it is 50 times the longest gap between any two earlier records: evaluations
    and saves of this run are among them, so a long evaluation is no hang.
    """
    beat = signals.curve("heartbeat")
    times = _record_times(run)
    if not len(beat) or len(times) < 10 or not np.isfinite(beat.time).any():  # noqa: PLR2004 - too few gaps to compare
        return 0.0, 0.0
    silent = float(np.nanmax(beat.time) - times[-1])
    longest = float(np.diff(times).max())
    return (silent, longest) if silent >= max(SILENCE, LONGEST * longest) else (0.0, 0.0)


def _record_times(run: Run) -> FloatArray:
    known = [curve.time[np.isfinite(curve.time)] for name in TRAINED for curve in [run.curve(name)]]
    return unique(np.concatenate(known)) if known else np.array([], dtype=np.float64)


def plan_done(run: Run, complete: float) -> bool:
    """Whether at least a share of the planned steps was done; False where the plan is not known."""
    share = run.state.done_share
    return share is not None and share >= complete


def how_far(run: Run) -> str:
    """Say where it ended: ``at step 163 of 400`` or ``before the first logged step``."""
    state = run.state
    done = onset_step(run)
    if not done and _results_alone(run):
        return "after its results were logged"
    if not done:
        before = "at an unknown step" if of_unknown_step(run) else "before the first step"
        return "at step 0" if run.history.metrics else before
    if not state.planned_steps and (by_epoch := _EPOCHS.search(state.why)):
        return f"at {by_epoch[0]}"  # as the state says it
    of = f" of {step(state.planned_steps)}" if state.planned_steps else ""
    return f"at step {step(done)}{of}"


def of_unknown_step(run: Run) -> bool:
    """Whether a run without a row may have done steps that its files do not show.

    Lines cut out of a log do not, nor a file of stderr alone whose error is one of a step.
    """
    if run.state.planned_steps or onset_step(run) or run.history.metrics:
        return False
    stages = {event.data.get("stage") for event in run.events_of("message")}
    names = [source.replace("\\", "/").rpartition("/")[2] for source in run.sources]
    errors = bool(stages & IN_TRAINING) and all(map(_OF_ERRORS.search, names))
    return (run.state.excerpt and not stages & BEFORE_TRAINING) or errors


def onset_step(run: Run) -> float:
    """Return the last step that is known: logged, or saved."""
    if _results_alone(run):
        return 0.0
    saved = [at for at, _ in run.checkpoints]
    return float(max(run.last_step, run.state.done_steps, *saved))


def _results_alone(run: Run) -> bool:
    """Whether what was read are results without a course: the step of a single point is made up."""
    return any(problem.text == RESULTS_ALONE for problem in run.problems)


def resume(run: Run) -> tuple[Fix, ...]:
    """Go on from the last checkpoint, where there is one."""
    kept = fixes.last_checkpoint(run)
    saving = any(e.data.get("stage") == SAVING for e in run.events_of("message"))
    if not onset_step(run) or saving:  # what cannot write one checkpoint cannot write more
        return ()
    every = _save_every(run)
    why = "a crash then costs less"
    often = fixes.action(f"Save a checkpoint every {step(every)} steps and keep 5", why)
    if kept is None:
        return (often,) if every and not plan_done(run, 1.0) else ()
    lost = max(0.0, onset_step(run) - kept[0])
    back = fixes.action(f"Resume from {kept[1]}", fixes.lost_steps(lost), kind="resume")
    rare = every and lost > 2 * every
    return (back, replace(often, why=fixes.lost_steps(lost))) if rare else (back,)


def _save_every(run: Run) -> int:
    """Return the steps of ten minutes, else a tenth of the plan; 0 where neither is known.

    At least a hundredth of the plan: nobody keeps more checkpoints than that.
    Also 0 where no plan says that the run is longer than twice that: it would save once or never.
    """
    tenth, least = ((run.state.planned_steps or 0) // saves for saves in (FEWEST_SAVES, MOST_SAVES))
    for metric in TRAINED:
        curve = run.curve(metric)
        curve = curve.at(np.isfinite(curve.time))
        if len(curve) > 1 and curve.time[-1] > curve.time[0] and curve.step[-1] > curve.step[0]:
            pace = (curve.time[-1] - curve.time[0]) / (curve.step[-1] - curve.step[0])
            steps = int(max(MOST_LOST / float(pace), LEAST_APART))
            steps = max(min(steps, tenth), least) if tenth else steps
            if not tenth and onset_step(run) < 2 * steps:
                return 0
            return _rounded(steps)
    return _rounded(max(min(SAVE_EVERY, tenth), least))


def _rounded(steps: int) -> int:
    """Return a number of steps with its first two digits alone: 1,070 is 1,000."""
    unit = 10 ** max(1, len(str(steps)) - 2)
    return steps // unit * unit if steps > unit else steps


def log_chart(run: Run, proof: Event | None, context: int = 5) -> Chart:
    """Return the lines around the proof as a chart of kind `log`."""
    if proof is None:
        return Chart()
    blamed = proof.text.strip()
    tail = [line for line in run.log_tail if line.strip()]
    at = next((n for n in range(len(tail) - 1, -1, -1) if blamed[:80] in tail[n]), None)
    if at is None:
        return Chart("log", log=((proof.where, blamed, True),))
    shown = tail[max(0, at - context) : at + 1]
    rows = tuple(("", line.strip()[:300], False) for line in shown[:-1])
    return Chart("log", log=(*rows, (proof.where, shown[-1].strip()[:300], True)))
