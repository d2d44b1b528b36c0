"""An audit as text, JSON and Markdown."""

import json as plain
import re
from dataclasses import replace
from typing import Any

import jsonschema
import pytest

from runlens.nights import Unread
from runlens.report.audit import json, markdown, text
from runlens.report.terminal import Options
from tests.report import audits
from tests.report.diagnoses import HOSTILE

CHECKER = jsonschema.Draft202012Validator(json.schema())
ESCAPE = re.compile(r"\x1b\[[\d;]*m")


def strict(document: str) -> Any:
    """Read JSON as the standard has it: no NaN."""

    def refuse(word: str) -> None:
        raise AssertionError(word)

    return plain.loads(document, parse_constant=refuse)


@pytest.mark.parametrize("shape", audits.SHAPES)
def test_json_keeps_its_schema(shape: str) -> None:
    """Every shape of an audit."""
    CHECKER.validate(strict(json.render(audits.SHAPES[shape]())))


def test_the_schema_is_valid_and_names_every_field() -> None:
    """A field of the data that the schema forgot would go unnoticed otherwise."""
    jsonschema.Draft202012Validator.check_schema(json.schema())
    document = strict(json.render(audits.night()))
    known = json.schema()
    for name, part in (("issue", document["issues"][0]), ("run", document["runs"][30])):
        assert list(part) == list(known["$defs"][name]["properties"])
    assert list(document) == list(known["properties"])


@pytest.mark.parametrize(
    "change",
    [
        {"schema": "runlens.audit/2"},
        {"counts": {"new": 1}},
        {"issues": [{"fingerprint": "x"}]},
        {"unread": ["a place"]},
        {"expected_false_alarms": "many"},
    ],
)
def test_the_schema_refuses_what_is_no_audit(change: dict[str, Any]) -> None:
    """It would be worthless otherwise."""
    document = strict(json.render(audits.night())) | change
    with pytest.raises(jsonschema.ValidationError):
        CHECKER.validate(document)


def test_json_has_every_run_and_issue_and_numbers_that_are_not_finite_as_words() -> None:
    """Nothing is cut."""
    whole = audits.night()
    odd = replace(whole.runs[0], measures={"train_loss.end": float("nan")})
    document = strict(json.render(replace(whole, runs=(odd, *whole.runs[1:]))))
    CHECKER.validate(document)
    assert document["runs"][0]["measures"] == {"train_loss.end": "NaN"}
    assert len(document["runs"]) == document["counts"]["runs"] == 40
    assert [one["state"] for one in document["issues"]] == [
        "new", "back", "ongoing", "ongoing", "resolved",
    ]  # fmt: skip
    assert "config" not in document["runs"][0]


def test_text_says_the_night_what_is_new_and_what_was_not_read() -> None:
    """One screen: the sentence first."""
    said = text.render(audits.night())
    lines = said.splitlines()
    assert lines[0].startswith("CRITICAL  wandb:acme/llm")
    assert lines[0].endswith("night 12, 21 November 2026")
    assert lines[1].startswith("1 new issue since last night")
    assert "Issues: 1 new, 1 back, 2 ongoing, 1 resolved" in lines
    assert "New, not seen before" in lines
    flat = " ".join(said.split())
    assert "72.0 GPU-hours after onset. Cost 144.00." in flat
    assert "! /data/runs/a: permission denied; let the user" in flat
    assert max(map(len, lines)) <= 80
    assert len(lines) < 45


def test_verbose_text_lists_all_issues_and_the_faulty_runs() -> None:
    """And what short text leaves out is counted there."""
    short, long = (text.render(audits.many(300), Options(verbose=v)) for v in (False, True))
    assert "more issues (-v lists them)" in short
    assert "more issues" not in long
    begin = long.index("Runs with a fault")
    listed = [line for line in long[begin:].splitlines() if re.match(r"  (CRIT|WARN)", line)]
    faulty = [one for one in audits.many(300).runs if one.health in {"critical", "warning"}]
    assert len(listed) == len(faulty) > 10


@pytest.mark.parametrize("shape", audits.SHAPES)
@pytest.mark.parametrize("width", [40, 80, 120])
def test_no_terminal_obeys_a_name(shape: str, width: int) -> None:
    """Control characters are escapes; colour is our own alone."""
    made = audits.SHAPES[shape]()
    for verbose in (False, True):
        said = text.render(made, Options(width, verbose=verbose))
        assert "\x1b" not in said
        assert "\u202e" not in said
        colour = text.render(made, Options(width, color=True, verbose=verbose))
        assert ESCAPE.sub("", colour) == said
    assert text.render(made, Options(width, ascii_only=True)).isascii()


def test_the_quiet_form_is_one_line() -> None:
    """Health and sentence."""
    said = text.verdict(audits.quiet())
    assert said == "Nothing new: 40 runs read, 2 ongoing issues.\n"
    missed = replace(audits.quiet(), unread=(Unread("a", "empty"), Unread("b", "empty", tries=2)))
    assert text.verdict(missed) == f"{said.rstrip()} 1 place could not be read.\n"
    assert text.verdict(audits.hostile()).count("\n") == 1


def test_markdown_has_verdict_counts_news_and_a_link() -> None:
    """What is ongoing is on the page, not in the chat."""
    said = markdown.render(audits.night(), "https://ci.example/audit (1).html")
    assert said.startswith("### Critical: 1 new issue since last night")
    assert "Issues on night 12: 1 new, 1 back, 2 ongoing, 1 resolved." in said
    assert said.count("\n| new |") == 1
    assert said.count("\n| back |") == 1
    assert "Overfitting" not in said
    assert "**2 places could not be read**" in said
    assert said.endswith("[All issues and runs](https://ci.example/audit%20%281%29.html)\n")


def test_markdown_stays_within_60_lines() -> None:
    """Whatever happened in the night."""
    whole = audits.night()
    issues = tuple(audits.issue("divergence", ("a/r00001",), fingerprint=str(i)) for i in range(99))
    loud = replace(whole, issues=issues, unread=audits.UNREAD * 50)
    said = markdown.render(loud, "page.html")
    assert len(said.splitlines()) <= 60
    assert "74 more issues" in said
    assert "95 more places" in said


@pytest.mark.parametrize("words", HOSTILE)
def test_markdown_of_hostile_names_is_text(words: str) -> None:
    """No tag, link, mention, code or cell comes from a name."""
    said = markdown.render(audits.hostile(words))
    assert not re.search(r"[<>`@\x1b]", said)
    rows = [line for line in said.splitlines() if line.startswith("| new")]
    assert len(rows) == 1
    assert rows[0].count("|") == 7
