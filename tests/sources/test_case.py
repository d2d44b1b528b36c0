"""Reading a case: what it holds, and one clear line for each thing that can be wrong with it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from runlens import diagnose, read, read_all
from runlens.errors import NothingReadable
from runlens.sources import case

GOOD: dict[str, Any] = {
    "schema": "runlens.case/1",
    "runlens_version": "0.1.0",
    "framework": "trl",
    "task": "sft",
    "state": {"kind": "killed", "sure": "certain", "planned_steps": 100, "last_time": 60.0},
    "beginning_lost": False,
    "findings": [],
    "left_out": [],
    "events": [
        {"kind": "checkpoint", "step": 20, "time": 30.0},
        {"kind": "resume", "step": 25},
        {"kind": "message", "step": 30, "message": "kill", "numbers": {"row": 5, "last": True}},
        {"kind": "message", "step": 30, "message": "kill", "numbers": {"row": 9_999}},
    ],
    "launches": [{"number": 0, "first_step": 10, "last_step": 20, "started": 0.0}],
    "axes": [
        {"step": [10, 20, 30], "epoch": [0.1, 0.2, "NaN"], "time": [0.0, 30.0, 60.0]},
        {"step": [10, 20, 20], "segment": [0, 0, 1]},
    ],
    "metrics": {
        "train_loss": {"axis": 0, "value": [2, "NaN", "-Infinity"]},
        "eval_loss:name1": {"axis": 1, "value": [1.0, 2.0, 3.0]},
    },
}


def put(folder: Path, document: Any, name: str = "it.case.json") -> Path:
    """Write a case; return its path."""
    path = folder / name
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return path


def test_a_case_is_a_run(tmp_path: Path) -> None:
    """With its curves, launches, events and end; named as the file."""
    path = put(tmp_path, GOOD)
    run = read(path)
    assert (run.name, run.id, run.task, run.framework) == ("it", str(path), "sft", "trl")
    assert (run.state.kind, run.state.planned_steps, run.sources) == ("killed", 100, (path.name,))
    loss = run.curve("train_loss")
    np.testing.assert_array_equal(loss.value, [2.0, np.nan, -np.inf])
    np.testing.assert_array_equal(loss.epoch, [0.1, 0.2, np.nan])
    assert loss.time.tolist() == [0.0, 30.0, 60.0]
    assert run.curve("eval_loss:name1").value.tolist() == [1.0, 3.0]  # the resume discards
    assert run.history.segments == (0, 1)
    assert run.checkpoints == ((20, "checkpoint-20"),)
    assert [event.step for event in run.events_of("resume")] == [25]
    assert run.problems == ()
    assert diagnose(path).run_name == "it"


def test_a_message_gets_its_cause_from_the_table(tmp_path: Path) -> None:
    """Its line is not in the case; a row of a later table is one without a cause."""
    known, later = read(put(tmp_path, GOOD)).messages("kill")
    assert known.data["last"] is True
    assert "SIGKILL" in known.data["cause"]
    assert "cause" not in later.data


def test_a_lost_beginning_is_a_problem(tmp_path: Path) -> None:
    """Rules that need the start ask for it."""
    (problem,) = read(put(tmp_path, {**GOOD, "beginning_lost": True})).problems
    assert "earlier" in problem.lost


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"schema": "runlens.case/2"}, "is no runlens.case/1; the RunLens that wrote it reads it"),
        ({"task": "baking"}, "is a damaged case"),
        ({"axes": [{"step": [1.5]}]}, "is a damaged case"),
        ({"axes": [{"step": [10**16]}]}, "is a damaged case"),
        ({"axes": []}, "there is no axis 0"),
        ({"axes": [{"step": [1, 2]}, {"step": [1]}]}, "lists of axis 0 differ in length"),
        ({"axes": [{"step": [1, 2, 3], "time": [0.0]}]}, "lists of axis 0 differ in length"),
    ],
)
def test_a_damaged_case_is_one_clear_line(
    change: dict[str, Any], said: str, tmp_path: Path
) -> None:
    """Where it is, what is wrong, what to do."""
    path = put(tmp_path, {**GOOD, **change})
    with pytest.raises(NothingReadable) as error:
        read_all(path)
    assert said in str(error.value)
    assert str(error.value).startswith(f"{path}: ")
    assert "\n" not in str(error.value)


def test_every_cut_of_a_case_is_one_clear_line(tmp_path: Path) -> None:
    """A half-written file, wherever it ends, and bytes that are no text."""
    text = json.dumps(GOOD)
    for cut in range(60, len(text), 97):
        with pytest.raises(NothingReadable, match="damaged case"):
            read(put(tmp_path, text[:cut]))
    path = tmp_path / "it.case.json"
    path.write_bytes(text.encode().replace(b"trl", b"\xff\xfe\xfd"))
    with pytest.raises(NothingReadable, match="damaged case"):
        read(path)


def test_what_is_no_case(tmp_path: Path) -> None:
    """A folder, a file that is not there, an empty one, another JSON, a text that speaks of one."""
    assert case.is_case(put(tmp_path, GOOD))
    assert not case.is_case(tmp_path)
    assert not case.is_case(tmp_path / "gone")
    assert not case.is_case("a\0b")
    assert not case.is_case(put(tmp_path, "", "empty"))
    assert not case.is_case(put(tmp_path, '{"schema": "runlens.diagnosis/1"}', "other"))
    assert not case.is_case(put(tmp_path, 'about "runlens.case/1"', "text"))


def test_a_case_that_vanishes_is_one_clear_line(tmp_path: Path) -> None:
    """Between looking and reading."""
    with pytest.raises(NothingReadable, match="cannot be read"):
        case.read(tmp_path / "gone")
