"""How a run ended, from every word that its sources say."""

from pathlib import Path
from typing import Any

import pytest

from runlens import read
from runlens.run import UNNAMED, Event, State
from runlens.sources.merging.state import Plan, concluded
from runlens.sources.reading import Hints, SourceReading


def state(done: int = 200, planned: int | None = 400, kind: str = "x", **hints: Any) -> State:
    """Conclude from one source."""
    reading = SourceReading(Path("r/train.log"), kind, hints=Hints(**hints))
    return concluded([reading], [], Plan(done, planned, None, None), None)


@pytest.mark.parametrize(
    ("known", "wanted"),
    [
        ({"summary": True, "done": 400}, ("finished", "certain")),
        ({"summary": True}, ("stopped_early", "certain")),
        ({"summary": True, "early_stopping": "patience 3 of 3"}, ("finished", "certain")),
        ({"traceback": "ValueError: x"}, ("crashed", "certain")),
        ({"traceback": "TypeError: x", "summary": True, "done": 400}, ("crashed", "certain")),
        ({"traceback": "BrokenPipeError", "summary": True, "done": 400}, ("finished", "certain")),
        ({"traceback": "x", "summary": True, "exit_code": 0, "done": 400}, ("finished", "certain")),
        ({"traceback": "torch.SignalException: got signal: 1"}, ("killed", "certain")),
        ({"traceback": "KeyboardInterrupt"}, ("killed", "certain")),
        ({"traceback": "bdb.BdbQuit"}, ("killed", "certain")),
        ({"traceback": f"{UNNAMED}, in fit", "exit_code": 255}, ("killed", "certain")),
        ({"traceback": f"{UNNAMED}, in fit"}, ("crashed", "certain")),
        ({"exit_code": 1}, ("crashed", "certain")),
        ({"exit_code": 137}, ("killed", "certain")),
        ({"exit_code": -9}, ("killed", "certain")),
        ({"exit_code": 143}, ("killed", "certain")),
        ({"exit_code": 129}, ("killed", "certain")),
        ({"exit_code": 130}, ("killed", "certain")),
        ({"exit_code": 255}, ("killed", "certain")),
        ({"exit_code": 255, "kind": "console"}, ("crashed", "certain")),  # of a scheduler: -1
        ({"exit_code": 1, "done": 400}, ("crashed", "certain")),
        ({"exit_code": 0, "done": 400}, ("finished", "certain")),
        ({"exit_code": 0}, ("stopped_early", "certain")),
        ({"done": 400}, ("finished", "likely")),
        ({"tracker_state": "crashed"}, ("crashed", "likely")),
        ({"tracker_state": "crashed", "done": 400}, ("finished", "likely")),
        ({"tracker_state": "finished", "planned": None}, ("finished", "likely")),
        ({"tracker_state": "failed"}, ("crashed", "likely")),
        ({"tracker_state": "killed"}, ("killed", "likely")),
        ({"tracker_state": "finished"}, ("unknown", "guess")),
        ({"tracker_state": "running"}, ("running", "likely")),
        ({"no_exit_record": True}, ("stopped_early", "likely")),
        ({"kind": "console", "ended_step": 200}, ("stopped_early", "guess")),
        ({"kind": "console", "followed": True}, ("stopped_early", "certain")),
        ({"snapshot": True, "done_steps": 200}, ("unknown", "guess")),
        ({"planned": None, "no_exit_record": True}, ("unknown", "guess")),
        ({}, ("unknown", "guess")),
    ],
)
def test_state_follows_the_strongest_evidence(known: dict[str, Any], wanted: object) -> None:
    """And says how sure it is, and why."""
    found = state(**known)
    assert (found.kind, found.sure) == wanted
    assert found.why


def test_a_kill_message_at_the_end_outranks_a_missing_exit_record() -> None:
    """The shell's word is certain."""
    message = Event("message", 200, text="Killed", data={"class": "kill", "last": True})
    reading = SourceReading(Path("r"), "wandb", hints=Hints(no_exit_record=True))
    found = concluded([reading], [message], Plan(200, 400, None, None), None)
    assert (found.kind, found.sure) == ("killed", "certain")


def test_a_plan_in_epochs_tells_as_much_as_one_in_steps() -> None:
    """Half of the epochs, and the closing summary: stopped early."""
    reading = SourceReading(Path("r/trainer_state.json"), "x", hints=Hints(summary=True))
    found = concluded([reading], [], Plan(200, None, 1.5, 3.0), None)
    assert (found.kind, found.why) == (
        "stopped_early",
        "the trainer wrote its closing summary at epoch 1.5 of 3",
    )


MESSAGES: list[tuple[list[dict[str, Any]], dict[str, Any], str]] = [
    # a message of the shell or the scheduler after which no row follows
    ([{"class": "kill", "row": 5, "last": True}], {}, "killed"),
    # it is the cause, what the ranks raise on it is not
    ([{"class": "kill", "row": 5, "last": True}], {"traceback": "DistBackendError: x"}, "killed"),
    ([{"class": "kill", "row": 99, "last": True}], {"traceback": "ChildFailedError"}, "killed"),
    ([{"class": "kill", "row": 99, "last": True}], {"traceback": "ValueError: x"}, "crashed"),
    # Paddle's handler names the signal as an error of its own
    ([], {"traceback": "FatalError: `Termination signal` is detected by the system"}, "killed"),
    # the signal reached its data workers first
    (
        [],
        {"traceback": "RuntimeError: DataLoader worker (pid 7) is killed by signal: Terminated"},
        "killed",
    ),
    # the run went on after it
    ([{"class": "kill", "row": 5, "last": False}], {}, "unknown"),
    # it came to its end before
    ([{"class": "kill", "row": 5, "last": True}], {"done": 400, "summary": True}, "finished"),
    # a warning ends nothing
    ([{"class": "fallback", "row": 7, "last": True}], {}, "unknown"),
]


@pytest.mark.parametrize(("messages", "known", "kind"), MESSAGES)
def test_messages_tell_how_a_run_ended(
    messages: list[dict[str, Any]], known: dict[str, Any], kind: str
) -> None:
    """The last ones, weighed against an exception and the plan."""
    events = [Event("message", 200, text="slurmstepd: killed", data=data) for data in messages]
    done = known.pop("done", 200)
    reading = SourceReading(Path("r/train.log"), "console", hints=Hints(**known))
    assert concluded([reading], events, Plan(done, 400, None, None), None).kind == kind


@pytest.mark.parametrize(
    ("kill", "errors", "kind"),
    [
        ("a.log:8", ("a.log:9", "a.log:12"), "killed"),
        ("a.log:8", ("a.log:7", "a.log:9"), "crashed"),
        ("a.log:8", ("b.log:9",), "crashed"),
        ("", ("a.log:9",), "crashed"),
    ],
)
def test_what_fails_after_a_signal_is_its_work(
    kill: str, errors: tuple[str, ...], kind: str
) -> None:
    """A client that cannot write its last record raises an error of its own."""
    data = {"class": "kill", "row": 9, "last": True}
    raised = {"class": "fallback", "exception": "OSError: handle is closed", "last": True}
    events = [Event("message", 200, text="SIGTERM received", where=kill, data=data)]
    events += [Event("message", 200, text="OSError", where=one, data=raised) for one in errors]
    hints = Hints(traceback="OSError: handle is closed")
    reading = SourceReading(Path("r/train.log"), "console", hints=hints)
    assert concluded([reading], events, Plan(200, 400, None, None), None).kind == kind


def test_early_stopping_is_an_end_by_design() -> None:
    """The log says so, the plan was longer."""
    event = Event("early_stop", 200, text="Early stopping: patience 3 reached")
    reading = SourceReading(Path("r/train.log"), "console")
    found = concluded([reading], [event], Plan(200, 400, None, None), None)
    assert (found.kind, found.sure) == ("finished", "certain")
    assert found.why.startswith("Early stopping")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ValueError: bad.", "ValueError: bad"),
        (
            "OSError: " + "a" * 100 + ". Process 32 has " + "b" * 80,
            "OSError: " + "a" * 100 + " ...",
        ),
        ("OSError: " + "word " * 40, "OSError: " + "word " * 30 + "..."),
        ("OSError:" + "a" * 200, "OSError:" + "a" * 152 + " ..."),
    ],
)
def test_a_long_message_is_cut_behind_a_sentence_or_a_word(text: str, shown: str) -> None:
    """Never within a number."""
    assert state(traceback=text).why == f"{shown}, at step 200 of 400"


def test_a_plan_that_was_passed_by_far_is_told_in_another_unit(tmp_path: Path) -> None:
    """Epochs or a sampler's bar beside steps: 300 of 10 is no share; one step over is rounding."""
    rows = "".join(f"{at},{2 - at / 1000}\n" for at in range(1, 301))
    (tmp_path / "metrics.csv").write_text("step,loss\n" + rows)
    (tmp_path / "args.json").write_text('{"max_steps": 10, "lr": 0.1}')
    assert read(tmp_path).state.planned_steps is None
    (tmp_path / "args.json").write_text('{"max_steps": 299, "lr": 0.1}')
    assert read(tmp_path).state.planned_steps == 299
