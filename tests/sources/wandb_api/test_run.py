"""What the server knows of a run beside its history: settings, system metrics, how it ended."""

import time
from typing import Any

import pytest

import runlens
from runlens.errors import NothingReadable
from tests.wandb_server.server import Server

pytestmark = pytest.mark.usefixtures("connection")
PLACE = "wandb:team/llm/abc"
ROWS = [{"_step": n, "_timestamp": 1.7e9 + 10 * n, "loss": 1 / (n + 1)} for n in range(10)]


@pytest.mark.parametrize(
    ("state", "kind"),
    [
        ("finished", "finished"),
        ("failed", "crashed"),
        ("crashed", "crashed"),
        ("killed", "killed"),
        ("preempted", "killed"),
        ("running", "running"),
        ("pending", "unknown"),
    ],
)
def test_the_state_is_the_servers(server: Server, state: str, kind: str) -> None:
    """In the words of a run's state."""
    server.put("llm", "abc", ROWS, state=state)
    assert runlens.read(PLACE).state.kind == kind


def test_a_run_that_is_not_heard_of_any_more_is_not_running(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the server says."""
    monkeypatch.setattr("tests.wandb_server.stored.NO_HEARTBEAT", 1e9)
    server.put("llm", "abc", ROWS, state="running", created=time.time() - 7200)
    run = runlens.read(PLACE)
    assert run.state.kind == "crashed"
    assert run.problems[0].text.startswith("the server says running, but nothing was heard of it")


def test_the_trainers_closing_row_in_the_summary_is_an_end(server: Server) -> None:
    """Newer Trainers put it there alone."""
    server.put("llm", "abc", ROWS, state="crashed", last_values={"train/train_runtime": 90.0})
    state = runlens.read(PLACE).state
    assert (state.kind, state.why[:33]) == ("finished", "the trainer wrote its closing sum")


def test_the_end_is_dated_by_how_long_the_run_ran(server: Server) -> None:
    """A run that was synced later was heard of later; without that, by its heartbeat."""
    own = {"e": {"w": {"startedAt": "2026-01-01T00:00:00.5Z"}}}
    server.put("llm", "abc", ROWS, own=own, last_values={"_wandb": {"runtime": 90}})
    (event,) = runlens.read(PLACE).events_of("exit")
    assert event.time == 1767225600.5 + 90
    server.put("llm", "abc", ROWS, created=1.7e9)
    (event,) = runlens.read(PLACE).events_of("exit")
    assert event.time == 1.7e9


def test_settings_are_those_of_the_config_and_of_the_machine(server: Server) -> None:
    """Of several launches, the last one's machine."""
    first = {"startedAt": "2026-01-01T00:00:00Z", "program": "old.py", "args": ["--lr", "1"]}
    last = {
        "startedAt": "2026-01-02T00:00:00Z",
        "program": "train.py",
        "gpu": "H200",
        "gpu_count": 2,
    }
    own = {"e": {"b": last, "a": first}, "python_version": "3.11.7", "cli_version": "0.31.0"}
    server.put("llm", "abc", ROWS, config={"lr": 1e-3, "model": {"layers": 2}}, own=own)
    config = {key: known.value for key, known in runlens.read(PLACE).config.items()}
    assert config["learning_rate"] == 1e-3
    assert config["model.layers"] == 2
    assert config["command_line"] == "train.py"
    assert (config["gpu"], config["gpu_count"]) == ("H200", 2)
    assert (config["python_version"], config["wandb_project"]) == ("3.11.7", "llm")


@pytest.mark.parametrize("own", [None, "text", {"m": [], "e": None}, {"m": "x", "e": [1]}])
def test_own_settings_of_another_form_are_passed_over(server: Server, own: Any) -> None:
    """They are W&B's business, and may change."""
    run = server.put("llm", "abc", ROWS)
    run.settings["_wandb"] = {"value": own}
    assert len(runlens.read(PLACE).curve("train_loss")) == 10


def test_a_declared_step_is_the_step(server: Server) -> None:
    """As ``define_metric`` says it to the server: by numbers of fields."""
    own = {"m": [{"1": "tokens"}, {"2": "custom/*", "5": 1}, {"1": "loss", "5": 9}]}
    history = [row | {"custom/x": n * n, "tokens": 512 * n} for n, row in enumerate(ROWS)]
    server.put("llm", "abc", history, own=own)
    assert runlens.read(PLACE).curve("custom/x").step.tolist() == [512 * n for n in range(10)]


def test_directions_are_what_define_metric_said(server: Server) -> None:
    """By a goal, else by the one summary that is kept; both of them say nothing."""
    own = {"m": [{"1": "zog", "8": 2}, {"2": "cost/*", "7": [1]}, {"1": "loss", "7": [1, 2]}]}
    history = [row | {"zog": n, "cost/x": n, "free": n} for n, row in enumerate(ROWS)]
    server.put("llm", "abc", history, own=own)
    assert runlens.read(PLACE).directions == {"zog": "higher", "cost/x": "lower"}


def test_system_metrics_stand_at_the_step_before_them(server: Server) -> None:
    """With a heartbeat; a record without a time says nothing."""
    events: list[dict[str, Any]] = [
        {"_timestamp": 1.7e9 + 25, "_wandb": True, "system.cpu": 50.0, "system.disk": "text"},
        {"_timestamp": 1.7e9 + 95, "_wandb": True, "system.cpu": 70.0},
        {"_wandb": True, "system.cpu": 70.0},
    ]
    server.put("llm", "abc", ROWS, events=events)
    run = runlens.read(PLACE)
    assert run.curve("system/cpu").step.tolist() == [2, 9]
    assert run.curve("system/cpu").value.tolist() == [50.0, 70.0]
    assert len(run.curve("heartbeat")) == 2


def test_the_console_tells_why_a_run_died(server: Server) -> None:
    """Its last lines, and the exception among them."""
    console = ["step 9", "ERROR 2026-01-01T00:00:00.1 torch.OutOfMemoryError: CUDA out of memory."]
    server.put("llm", "abc", ROWS, state="failed", console=console)
    run = runlens.read(PLACE)
    assert run.log_tail == ("step 9", "torch.OutOfMemoryError: CUDA out of memory.")
    assert run.messages("oom")


def test_a_run_that_logged_nothing_is_nothing_readable(server: Server) -> None:
    """With the server's word for its state."""
    server.put("llm", "abc", [], state="failed")
    with pytest.raises(NothingReadable, match="has logged nothing; W&B has it as failed"):
        runlens.read(PLACE)


def test_a_run_without_a_name_has_its_id(server: Server) -> None:
    """Names need not be unique, ids are."""
    server.put("llm", "abc", ROWS, display_name="lucky sun 7")
    run = runlens.read(PLACE)
    assert (run.id, run.name, run.sources) == ("abc", "lucky sun 7", (PLACE,))
