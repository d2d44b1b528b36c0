"""A comparison as text, JSON and Markdown."""

import json
import math
import re
from collections.abc import Callable

import jsonschema
import pytest

from runlens.comparison import Comparison
from runlens.report.comparison import json as json_report
from runlens.report.comparison import markdown, text
from runlens.report.terminal import Options
from tests.report.comparisons import SHAPES, forbidden, of_hostile, sweep, two
from tests.report.diagnoses import HOSTILE

MADE = [pytest.param(make, id=name) for name, make in SHAPES.items()]
VALIDATOR = jsonschema.Draft202012Validator(json_report.schema())


@pytest.mark.parametrize("make", MADE)
def test_json_fits_its_schema(make: Callable[[], Comparison]) -> None:
    """Whatever the runs hold; numbers that are not finite are strings."""
    document = json.loads(json_report.render(make()), parse_constant=pytest.fail)
    VALIDATOR.validate(document)


def test_the_schema_refuses_what_is_not_in_it() -> None:
    """A key too many, a result that does not exist."""
    document = json.loads(json_report.render(two()))
    for wrong in ({"extra": 1}, {"verdict": document["verdict"] | {"result": "great"}}):
        with pytest.raises(jsonschema.ValidationError):
            VALIDATOR.validate(document | wrong)


def test_json_has_b_on_top_and_further_runs_below() -> None:
    """Each with its label, in the order given."""
    document = json.loads(json_report.render(sweep(4)))
    assert [run["label"] for run in document["runs"]] == ["A", "B", "C", "D"]
    assert len(document["more"]) == 2
    assert document["metrics"][0]["align"] == "step"


@pytest.mark.parametrize("make", MADE)
@pytest.mark.parametrize("width", [60, 120])
def test_text_begins_with_the_verdict_and_obeys_nobody(
    make: Callable[[], Comparison], width: int
) -> None:
    """No control characters, with every detail or without."""
    for verbose in (False, True):
        shown = text.render(make(), Options(width, verbose=verbose))
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\x80-\x9f]", shown)
        assert shown.strip()


def test_text_says_what_a_reader_needs() -> None:
    """Result, sentence, numbers, settings, where they part, findings, fairness: in this order."""
    shown = text.render(two(), Options(100))
    wanted = [
        "B BETTER", "B is better at the end", "In numbers", "* Last eval loss", "dropout: 0 in A",
        "learning_rate: step 10", "fixed in B: ", "Is the comparison fair?", "note: Precision",
    ]  # fmt: skip
    places = [shown.index(one) for one in wanted]
    assert places == sorted(places)


def test_text_of_losses_that_do_not_compare_names_no_winner() -> None:
    """Raw losses carry no verdict."""
    shown = text.render(forbidden(), Options(100))
    assert shown.startswith("NOT COMPARABLE")
    assert " better" not in shown.split("Where they differ")[0].split("In numbers")[1]


def test_text_of_several_runs_is_a_table_best_first() -> None:
    """The rest with -v."""
    shown = text.render(sweep(5), Options(80))
    rows = re.findall(r"^  ([B-E])  \S+ +([A-Z ]+?)  ", shown, re.MULTILINE)
    assert sorted(label for label, _ in rows) == ["B", "C", "D", "E"]
    order = ["BETTER", "CANNOT TELL", "WORSE"]
    places = [order.index(word.strip()) for _, word in rows]
    assert places == sorted(places)
    assert "-v" in shown
    assert "In numbers" in text.render(sweep(5), Options(80, verbose=True))


def test_plain_terminals_get_plain_characters() -> None:
    """ASCII alone, and no colour unless asked."""
    shown = text.render(two(), Options(80, ascii_only=True))
    assert shown.isascii()
    assert "\x1b[" not in text.render(two(), Options(80))
    assert "\x1b[" in text.render(two(), Options(80, color=True))


def test_the_verdict_alone_is_one_line_a_run() -> None:
    """For --quiet."""
    lines = text.verdict(sweep(4)).splitlines()
    assert len(lines) == 3
    assert all(re.match(r"(?:[B-D] )?[A-Z ]+ lr-", line) for line in lines)


@pytest.mark.parametrize("make", MADE)
def test_markdown_is_short_and_shows_foreign_text_as_text(make: Callable[[], Comparison]) -> None:
    """No tag, no mention, no link of anybody else's."""
    shown = markdown.render(make())
    assert len(shown.splitlines()) <= 120
    assert not re.search(r"<(?!details|/details|summary|/summary)", shown)
    assert "@" not in shown


def test_markdown_holds_the_numbers_and_the_likeliest_settings() -> None:
    """What a reviewer of a change asks for."""
    shown = markdown.render(two())
    assert shown.startswith("### B better: B is better at the end")
    assert "| Last eval loss (decides) | 1.450 | 1.200 |" in shown
    assert "- Setting dropout: 0 in A, 0.3 in B" in shown.replace("&#95;", "_")
    assert "- Fixed in B: " in shown


def test_hostile_words_stay_words() -> None:
    """In every format."""
    whole = of_hostile()
    for shown in (markdown.render(whole), text.render(whole, Options(80))):
        assert "\x1b]" not in shown
    assert any(word[:5] in json_report.render(whole) for word in HOSTILE)


def test_numbers_that_are_none_are_spelled() -> None:
    """NaN in a measure is a string in JSON."""
    whole = two(measures=(two().pairs[0].measures[0]._replace(b=math.nan, difference=math.nan),))
    assert json.loads(json_report.render(whole))["metrics"][0]["b"] == "NaN"
