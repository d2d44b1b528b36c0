"""JSON is the contract: valid by its schema, the same bytes everywhere."""

import json as plain_json
import math
import os
import subprocess
import sys
from dataclasses import replace
from typing import Any

import jsonschema
import numpy as np
import pytest

from runlens.diagnosis import Confidence, Evidence, Fix, Moment, ThinCurve, unreadable
from runlens.report import json
from tests.report.diagnoses import HOSTILE, INF, NAN, diagnosis, finding
from tests.report.seen import FIXTURES, NAMES, seen

CHECKER = jsonschema.Draft202012Validator(json.schema())


def strict(text: str) -> Any:
    """Read JSON as other languages do: NaN and Infinity are no numbers."""

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    return plain_json.loads(text, parse_constant=refuse)


def test_the_schema_is_one() -> None:
    """A schema that is wrong would accept everything."""
    jsonschema.Draft202012Validator.check_schema(json.schema())
    assert not CHECKER.is_valid({"schema": "runlens.diagnosis/1"})


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("full", [False, True], ids=["short", "full"])
def test_every_fixture_is_valid(name: str, *, full: bool) -> None:
    """Whatever was found."""
    CHECKER.validate(strict(json.render(seen(name), full=full)))


@pytest.mark.parametrize(
    "made",
    [
        diagnosis(),
        diagnosis(findings=(finding(),)),
        diagnosis(curves={}, events=(), settings=(), log_tail=(), sources=(), outcomes={}),
        diagnosis(findings=(finding(onset=Moment(), end=Moment(5.0), evidence=(), fixes=()),)),
    ],
    ids=["healthy", "a finding", "nothing", "no moment"],
)
def test_every_shape_is_valid(made: Any) -> None:
    """Also those that no fixture has."""
    for full in (False, True):
        CHECKER.validate(strict(json.render(made, full=full)))


def test_numbers_that_are_not_finite_are_words() -> None:
    """NaN, Infinity and -Infinity, wherever they stand."""
    bad = finding(
        evidence=(Evidence("Points", NAN, INF, "limit", "train_loss", -INF),),
        fixes=(Fix("Lower it", "learning_rate", INF, NAN),),
    )
    made = diagnosis(findings=(bad,), curves={"x": ThinCurve((0.0, 1.0), (NAN, -INF), 2)})
    document = strict(json.render(made, full=True))
    CHECKER.validate(document)
    evidence = document["findings"][0]["evidence"][0]
    assert (evidence["value"], evidence["limit"], evidence["step"]) == (
        "NaN",
        "Infinity",
        "-Infinity",
    )
    assert document["curves"]["x"]["value"] == ["NaN", "-Infinity"]


def test_numbers_of_numpy_are_numbers() -> None:
    """A rule that hands over what numpy gave costs nobody the report."""
    values: tuple[Any, ...] = (
        np.float64(0.5), np.float32(0.5), np.int64(3), np.float64(NAN), np.float32(INF),
    )  # fmt: skip
    evidence = tuple(Evidence("x", value) for value in values)
    some = finding(evidence=evidence, confidence=Confidence(np.float64(0.5)))
    document = strict(json.render(diagnosis(findings=(some,))))
    CHECKER.validate(document)
    shown = [item["value"] for item in document["findings"][0]["evidence"]]
    assert shown == [0.5, 0.5, 3, "NaN", "Infinity"]


def test_what_has_no_form_in_json_is_refused() -> None:
    """A loud failure in a test, not silent nonsense in a report."""
    with pytest.raises(TypeError, match="object has no form in JSON"):
        json.written({"x": object()})


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_comes_back_as_it_was(text: str) -> None:
    """Escaped by JSON; only halves of surrogate pairs, which UTF-8 lacks, are spelled out."""
    made = diagnosis(run_name=text, log_tail=(text,), curves={text: ThinCurve((0.0,), (1.0,), 1)})
    document = strict(json.render(made, full=True))
    kept = text.encode("utf-8", "backslashreplace").decode()
    assert document["run"]["name"] == kept
    assert document["log_tail"] == [kept]
    assert list(document["curves"]) == [kept]


def test_several_runs_are_a_list_and_none_of_them_is_lost() -> None:
    """One alone is an object."""
    one, two = diagnosis(run_name="one"), diagnosis(run_name="two")
    assert strict(json.render_all([one]))["run"]["name"] == "one"
    assert [d["run"]["name"] for d in strict(json.render_all([one, two]))] == ["one", "two"]


def test_unreadable_is_a_diagnosis_without_findings() -> None:
    """A program that reads the JSON needs no second way of reading."""
    document = strict(json.render(unreadable("runs/x", [("runs/x", "is empty (0 bytes)")])))
    CHECKER.validate(document)
    assert document["verdict"]["health"] == "unknown"
    assert document["problems"] == [
        {"where": "runs/x", "text": "is empty (0 bytes)", "lost": ""},
    ]


def test_curves_are_of_one_length_and_events_keep_their_text() -> None:
    """What --full adds can be drawn."""
    for name in NAMES:
        document = strict(json.render(seen(name), full=True))
        for metric, curve in document["curves"].items():
            assert len(curve["step"]) == len(curve["value"]) > 0, metric


def test_findings_point_at_their_incident() -> None:
    """The index and the list of rules agree."""
    for name in NAMES:
        document = strict(json.render(seen(name)))
        for found in document["findings"]:
            assert found["rule"] in document["incidents"][found["incident"]]["rules"]


SCRIPT = """
import sys
from pathlib import Path
from runlens import diagnose
from runlens.report import json
for name in sys.argv[2:]:
    sys.stdout.buffer.write(json.render(diagnose(Path(sys.argv[1], name)), full=True).encode())
"""


def test_same_input_gives_the_same_bytes_everywhere() -> None:
    """Whatever the hash seed, the time zone and the locale."""
    machines = [
        {"PYTHONHASHSEED": "1", "TZ": "UTC", "LC_ALL": "C"},
        {"PYTHONHASHSEED": "2", "TZ": "Asia/Kathmandu", "LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR"},
    ]
    command = [sys.executable, "-c", SCRIPT, str(FIXTURES), *NAMES]
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ | machine)
        for machine in machines
    ]
    first, second = (process.communicate(timeout=60)[0] for process in running)
    assert len(first) > 100_000
    assert first == second


def test_infinite_confidence_and_state_are_valid() -> None:
    """Plans of strangers may be anything."""
    made = diagnosis()
    odd = replace(made, state=replace(made.state, planned_epochs=math.inf, done_epochs=math.nan))
    document = strict(json.render(odd))
    CHECKER.validate(document)
    assert document["run"]["epochs"] == {"done": "NaN", "planned": "Infinity"}
