"""How a run ended, from every word that its sources say."""

from pathlib import Path
from typing import Any

import pytest

from runlens.run import Event, State
from runlens.sources.reading import Hints, SourceReading
from runlens.sources.state import Plan, concluded


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
        ({"exit_code": 1}, ("crashed", "certain")),
        ({"exit_code": 137}, ("killed", "certain")),
        ({"exit_code": 255}, ("killed", "certain")),
        ({"exit_code": 0, "done": 400}, ("finished", "certain")),
        ({"exit_code": 0}, ("stopped_early", "certain")),
        ({"done": 400}, ("finished", "likely")),
        ({"tracker_state": "crashed"}, ("crashed", "likely")),
        ({"tracker_state": "crashed", "done": 400}, ("finished", "likely")),
        ({"tracker_state": "finished", "planned": None}, ("finished", "likely")),
        ({"tracker_state": "running"}, ("running", "likely")),
        ({"no_exit_record": True}, ("stopped_early", "likely")),
        ({"kind": "console", "ended_step": 200}, ("stopped_early", "likely")),
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
