"""How a run ended, and how sure that is: from every word that its sources say about it."""

from collections.abc import Sequence

from runlens.history import History
from runlens.patterns import lazy_re
from runlens.records import NamedTuple
from runlens.run import (
    BARE_KILL,
    BY_HAND,
    GAVE_UP,
    HARD_KILLS,
    UNNAMED,
    Event,
    State,
    StateKind,
    Sure,
)
from runlens.sources.merging.open_end import NOTHING, OpenEnd
from runlens.sources.reading import STOPPED, Hints, SourceReading
from runlens.wording import number, step

_TORN = lazy_re(r"GiB\. GPU$")  # of a line that was cut behind its first sentence
COMPLETE = 0.99  # share of the plan from which a run counts as done
BEGINNING = 0.1  # of the plan: who shows how a log begins shows less of it
SHOWN = 160  # characters of a message
AT_EXIT = lazy_re(r"BrokenPipeError|ConnectionResetError|EOFError$|ImportError: sys\.meta_path")
# what handlers of signals raise: PyTorch's elastic launcher, Paddle's and data workers' for SIGTERM
BY_SIGNAL = ("SignalException", "`Termination signal`", "is killed by signal: Terminated")
CONTROL_C = {130, 255, -2}
OF_CLIENT = 255  # the W&B client writes it on Ctrl-C; what a console shows is exit(-1)
SIGNALS = {
    137: "SIGKILL",
    -9: "SIGKILL",
    143: "SIGTERM",
    -15: "SIGTERM",
    129: "SIGHUP",
    -1: "SIGHUP",
}


class Plan(NamedTuple):
    """Done and planned, in steps and epochs; None where nobody says."""

    done_steps: int
    planned_steps: int | None
    done_epochs: float | None
    planned_epochs: float | None

    @property
    def share(self) -> float | None:
        """Done over planned, 0 to 1; None where the plan is not known."""
        return State(**self._asdict()).done_share

    @property
    def words(self) -> str:
        """The plan in words: "step 200 of 500"."""
        if self.planned_steps:
            return f"step {step(self.done_steps)} of {step(self.planned_steps)}"
        if self.planned_epochs and self.done_epochs is not None:
            return f"epoch {number(self.done_epochs)} of {number(self.planned_epochs)}"
        return f"step {step(self.done_steps)}"


def with_last_epoch(plan: Plan, history: History) -> Plan:
    """Say of a run without a plan in epochs which epoch its last row names, as it names it."""
    if plan.done_epochs is not None or plan.planned_epochs:
        return plan
    ends = (history.curve(name).epoch[-1:] for name in history.metrics)
    epoch = max((float(end[0]) for end in ends if len(end) and end[0] >= 0), default=None)
    return plan._replace(done_epochs=epoch)


def concluded(
    readings: Sequence[SourceReading],
    events: Sequence[Event],
    plan: Plan,
    last_time: float | None,
    *,
    began: bool = True,
    by_itself: OpenEnd = NOTHING,
) -> State:
    """Return the state of a run; what nobody says stays unknown.

    Args:
        readings: what its sources say, of its last launch.
        events: of that launch.
        plan: done and planned.
        last_time: of its last record, in seconds; None where no record has a time.
        began: whether any loss or reward was logged.
        by_itself: what its rows say of an end that no record tells.

    """
    hints = [reading.hints for reading in readings]
    code = next((hint.exit_code for hint in hints if hint.exit_code), None)
    code = next((0 for hint in hints if hint.exit_code == 0), None) if code is None else code
    kind, why, sure = _ending(hints, events, plan, code, readings, began=began, by_itself=by_itself)
    return State(
        kind,
        why,
        sure,
        by_hand=kind == "killed" and _by_hand(events, code),
        exit_code=code,
        last_time=last_time,
        excerpt=bool(hints) and all(hint.excerpt for hint in hints),
        **plan._asdict(),
    )


def _ending(
    hints: Sequence[Hints],
    events: Sequence[Event],
    plan: Plan,
    code: int | None,
    readings: Sequence[SourceReading],
    *,
    began: bool,
    by_itself: OpenEnd,
) -> tuple[StateKind, str, Sure]:
    short = plan.share is not None and plan.share < COMPLETE
    over = began and (any(map(_came_to_its_end, hints)) or not short)
    trace = _trace(hints, over=over, rows=any(reading.series for reading in readings))
    if trace.startswith(UNNAMED) and code in CONTROL_C:
        trace = ""  # what it was, the code says
    return (
        _by_summary(hints, events, plan, trace)
        or _by_message(events, plan, trace, _sure(hints))
        or _of_console(code, readings, plan)
        or _by_code(code, plan, cut=any(hint.excerpt for hint in hints))
        or _by_empty_file(hints, plan)
        or _by_tracker(hints, plan, code)
        or _by_itself(hints, plan, by_itself)
        or _broken_off(hints, plan, readings)
    )


def _by_summary(
    hints: Sequence[Hints], events: Sequence[Event], plan: Plan, trace: str
) -> tuple[StateKind, str, Sure] | None:
    """Only a trainer that came to its end writes its summary."""
    share = plan.share if _counted(hints, plan) else None
    stops = [event.text for event in events if event.kind == "early_stop"]
    early = next((hint.early_stopping for hint in hints if hint.early_stopping), "")
    early = early or next(iter(stops), "")
    closing = next((hint.closing for hint in hints if hint.closing), "")
    if trace or not (early or closing or any(hint.summary for hint in hints)):
        return None  # an exception after the summary is an end too
    if early and share is not None and share < STOPPED and GAVE_UP.search(early):
        return (
            "stopped_early",
            f"the program gave up, at {plan.words}: {_shortened(early)}",
            "certain",
        )
    if share is None or share >= STOPPED or early:
        words = f'the log says "{_shortened(closing)}"' if closing else ""
        why = early or words or "the trainer wrote its closing summary"
        return "finished", f"{why}, at {plan.words}", "certain"
    return "stopped_early", f"the trainer wrote its closing summary at {plan.words}", "certain"


def _counted(hints: Sequence[Hints], plan: Plan) -> bool:
    """Whether anything says how far the run came, or a trainer's summary that it has none to say.

    A program that says that it is done may have printed no row.
    """
    said = plan.done_steps or plan.done_epochs or any(hint.ended_step is not None for hint in hints)
    return bool(said) or any(hint.summary for hint in hints)


def _by_message(
    events: Sequence[Event], plan: Plan, trace: str, sure: Sure
) -> tuple[StateKind, str, Sure] | None:
    complete = plan.share is not None and plan.share >= COMPLETE
    last = [event for event in events if event.kind == "message" and event.data.get("last")]
    killed = [event for event in last if event.data.get("class") == "kill"]
    hard = [event for event in killed if event.data.get("row") in HARD_KILLS]
    if hard and not complete:
        told = [event for event in hard if event.data.get("row") != BARE_KILL] or hard
        return "killed", f"{_shortened(told[-1].text)}, at {plan.words}", "certain"
    by_hand = "KeyboardInterrupt" in trace or "BdbQuit" in trace
    signalled = any(word in trace for word in BY_SIGNAL)
    signalled = signalled or bool(killed and "ChildFailedError" in trace)
    signalled = signalled or _before(killed, [one for one in last if one.data.get("exception")])
    if trace and not by_hand and not signalled:
        where = "after all planned steps" if complete else f"at {plan.words}"
        return "crashed", f"{trace}, {where}", sure
    if killed or trace:
        text = killed[-1].text if killed and not by_hand else trace
        return "killed", f"{_shortened(text)}, at {plan.words}", "certain"
    return None


def _by_hand(events: Sequence[Event], code: int | None) -> bool:
    """Whether a person ended the run: by the last messages, else by the exit code of Ctrl-C."""
    last = [event for event in events if event.kind == "message" and event.data.get("last")]
    rows = {event.data.get("row") for event in last if event.data.get("class") == "kill"}
    return BY_HAND in rows and not rows & HARD_KILLS if rows else code in CONTROL_C


def _before(kills: Sequence[Event], errors: Sequence[Event]) -> bool:
    """Whether a signal stands above every exception of its log: what fails after it is its work."""
    first = dict(sorted(map(_place, kills), reverse=True))
    places = [_place(error) for error in errors]
    return bool(places) and all(first.get(file, line) < line for file, line in places)


def _place(event: Event) -> tuple[str, int]:
    """Return file and line of an event; line 0 where it names none."""
    file, _, line = event.where.rpartition(":")
    return (file, int(line)) if line.isdigit() else (event.where, 0)


def _came_to_its_end(hint: Hints) -> bool:
    """Whether a source says that the training was done, whatever came at the exit."""
    return bool(
        hint.summary or hint.closing or hint.early_stopping or hint.tracker_state == "finished"
    )


def _trace(hints: Sequence[Hints], *, over: bool, rows: bool) -> str:
    """Return the exception that ended the run, short; nothing for the noise of a clean exit.

    Where a training is far from being `over` there is no exit that could be clean.
    """
    clean = any(hint.summary for hint in hints) and any(hint.exit_code == 0 for hint in hints)
    # beside the rows of another file the last words of a log are of something else
    traces = [hint.traceback for hint in hints if hint.traceback and not (rows and hint.last_words)]
    traces = [trace for trace in traces if not clean and not (over and AT_EXIT.match(trace))]
    return _shortened(traces[0]) if traces else ""


def _sure(hints: Sequence[Hints]) -> Sure:
    """How sure an end is that was an exception, or else the last words of a log without a row."""
    words = [hint.last_words for hint in hints if hint.traceback]
    return (words[0] if words else "") or "certain"


def _shortened(text: str) -> str:
    """Cut a long message behind a sentence, else behind a word."""
    text = _TORN.sub("GiB. …", text)
    if len(text) <= SHOWN:
        return text.rstrip(" .")
    sentence = max(text.rfind(end, SHOWN // 2, SHOWN) for end in (". ", "; "))
    space = text.rfind(" ", SHOWN // 2, SHOWN)
    cut = sentence if sentence > 0 else space if space > 0 else SHOWN
    return f"{text[:cut].rstrip(' .,;:(')} ..."


def _of_console(
    code: int | None, readings: Sequence[SourceReading], plan: Plan
) -> tuple[StateKind, str, Sure] | None:
    """Take a code that only a console shows, and that is one of Ctrl-C to the W&B client alone."""
    kinds = {reading.kind for reading in readings if reading.hints.exit_code == code}
    if code != OF_CLIENT or kinds != {"console"}:
        return None
    return "crashed", f"exit code {code}, at {plan.words}", "certain"


def _by_code(code: int | None, plan: Plan, *, cut: bool) -> tuple[StateKind, str, Sure] | None:
    """Take the exit code's word; of a log that was `cut` its last row is not the run's."""
    if code in SIGNALS or code in CONTROL_C:
        word = SIGNALS.get(code or 0, "Ctrl-C")
        return "killed", f"{word} (exit code {code}), at {plan.words}", "certain"
    if code:
        return "crashed", f"exit code {code}, at {plan.words}", "certain"
    if code == 0 and (cut or plan.share is None or plan.share >= STOPPED):
        return "finished", "exit code 0", "certain"
    return None


def _by_empty_file(hints: Sequence[Hints], plan: Plan) -> tuple[StateKind, str, Sure] | None:
    done = plan.share is not None and plan.share >= COMPLETE
    if done or not any(hint.nothing_written for hint in hints):
        return None
    where = f"at {plan.words}" if plan.done_steps else "before its first write"
    why = f"nothing reached the tracker's file: killed {where}, or still running"
    return "killed", why, "guess"


def _beyond(hint: Hints) -> bool:
    """Whether a source other than a checkpoint tells how far the run came."""
    return not hint.snapshot and (hint.done_steps is not None or hint.ended_step is not None)


def _by_tracker(
    hints: Sequence[Hints], plan: Plan, code: int | None
) -> tuple[StateKind, str, Sure] | None:
    share = plan.share
    tracker = next((hint.tracker_state for hint in hints if hint.tracker_state), "")
    if share is not None and share >= COMPLETE:
        whole = (
            "all planned steps were done"
            if share >= 1
            else "the run came within 1 % of its planned end"
        )
        return "finished", f"{whole} ({plan.words})", "likely"
    if tracker == "finished" and (share is None or share >= STOPPED):
        return "finished", "the tracker's status is finished", "likely"
    if tracker == "running":
        return "running", "the tracker's status is running", "likely"
    if tracker in {"crashed", "failed", "killed"}:
        kind: StateKind = "killed" if tracker == "killed" else "crashed"
        return kind, f"the tracker's status is {tracker}, at {plan.words}", "likely"
    if code == 0:
        return "stopped_early", f"exit code 0 at {plan.words}", "certain"
    return None


def _by_itself(
    hints: Sequence[Hints], plan: Plan, said: OpenEnd
) -> tuple[StateKind, str, Sure] | None:
    """Guess that a run whose plan nobody tells came to its end, as its rows look so.

    Checkpoints and lines cut out of a log end anywhere, and what a tracker knows is more.
    """
    other = any(
        hint.snapshot or (hint.excerpt and said.whole) or hint.no_exit_record or hint.tracker_state
        for hint in hints
    )
    if plan.share is not None or other or not said.why:
        return None
    return "finished", f"{said.why}, but no record says that the run finished", "guess"


def _broken_off(
    hints: Sequence[Hints], plan: Plan, readings: Sequence[SourceReading]
) -> tuple[StateKind, str, Sure]:
    """Say of a run of whose end nothing tells what is known."""
    rows = any(reading.series for reading in readings)
    last = f"the last row is at {plan.words}" if rows else "no row was logged"
    if plan.share is None or plan.share >= STOPPED:
        return (
            "unknown",
            f"no record says how the run ended; {last}",
            "guess",
        )
    if any(hint.no_exit_record for hint in hints):
        return (
            "stopped_early",
            f"no exit was recorded; the last row is at {plan.words}",
            "likely",
        )
    if followed := [r.path.name for r in readings if r.hints.followed]:
        why = f"{followed[0]} goes on with another training behind {plan.words}"
        return "stopped_early", why, "certain"
    cut_out = [hint for hint in hints if hint.excerpt and not hint.from_start]
    if cut_out or (plan.share < BEGINNING and any(hint.excerpt for hint in hints)):
        return (
            "unknown",
            f"an excerpt does not show how the run ended; its last row is at {plan.words}",
            "guess",
        )
    logs = [r for r in readings if r.kind == "console" and r.hints.ended_step is not None]
    if logs:
        why = f"{logs[-1].path.name} ends at {plan.words}, without a closing message"
        return "stopped_early", why, "guess"
    if any(hint.snapshot for hint in hints) and not any(_beyond(hint) for hint in hints):
        return (
            "unknown",
            f"the newest file is a checkpoint ({plan.words}); how the run ended is not recorded",
            "guess",
        )
    return (
        "unknown",
        f"no record says how the run ended; {last}",
        "guess",
    )
