"""What a run says stays text: escaping by type, the policy, the embedded data."""

import base64
import hashlib
import json
import re
from pathlib import Path

import pytest

from runlens.report.html import assets, render
from runlens.report.html.element import Markup, el, join, text
from tests.report.diagnoses import HOSTILE, diagnosis, hostile, overfitting, with_values
from tests.report.markup import Document

ASSETS = Path(assets.__file__).parent


@pytest.mark.parametrize("words", HOSTILE)
def test_hostile_words_make_no_markup(words: str) -> None:
    """A page full of hostile strings has the very elements that harmless strings give."""
    bad = Document(render(hostile(words), static=True))
    good = Document(render(hostile(re.sub("[^/]", "w", words)), static=True))
    drawn = {"text", "rect", "path"}  # texts of other widths move and hide labels
    assert [e.tag for e in bad.elements if e.tag not in drawn] == [
        e.tag for e in good.elements if e.tag not in drawn
    ]
    assert [sorted(e.attributes) for e in bad.elements if e.tag not in drawn] == [
        sorted(e.attributes) for e in good.elements if e.tag not in drawn
    ]
    assert bad.comments == []
    assert bad.unbalanced == []


def test_hostile_words_are_shown_as_they_are() -> None:
    """Nothing is filtered: a reader sees the characters that the run wrote."""
    words = '<img src=x onerror="alert(1)"> & more'
    page = Document(render(hostile(words)))
    assert page.one("h1").text == words
    assert words in page.all("title")[0].text


def test_invisible_characters_are_spelled_out() -> None:
    """Escape sequences and marks that turn the reading direction become visible text."""
    assert text("a\x1b[31m\u202eb\x00\ud800\r") == r"a\x1b[31m\u202eb\x00\ud800\x0d"
    assert text("tab\tline\nשלום") == "tab\tline\nשלום"


def test_a_page_can_always_be_written_as_utf8() -> None:
    """Half a surrogate pair in a log line does not break the writing of the file."""
    assert render(hostile()).encode("utf-8")


def test_plain_strings_are_escaped_and_markup_is_not() -> None:
    """Children and attributes are escaped by their type."""
    inner = el("b", "1 < 2", title='"quoted"')
    assert inner == '<b title="&#34;quoted&#34;">1 &lt; 2</b>'
    assert join(inner, "<i>") == inner + Markup("&lt;i&gt;")
    assert el("p", None, ["a", inner], hidden=True, id=None) == f"<p hidden>a{inner}</p>"


@pytest.mark.parametrize("static", [True, False])
def test_the_policy_allows_what_is_embedded_and_nothing_else(*, static: bool) -> None:
    """Each style and script on the page has its hash in the policy; no hash is left over."""
    page = Document(render(overfitting(), static=static))
    policies = [meta.attributes for meta in page.all("meta") if "http-equiv" in meta.attributes]
    assert [one["http-equiv"] for one in policies] == ["Content-Security-Policy"]
    parts = dict(part.split(" ", 1) for part in policies[0]["content"].split("; "))
    scripts = [one.text for one in page.all("script") if "type" not in one.attributes]
    assert bool(scripts) is not static
    assert parts == {
        "default-src": "'none'",
        "style-src": _hash(page.one("style").text),
        "script-src": " ".join(_hash(one) for one in scripts) or "'none'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    assert page.elements.index(page.all("meta")[1]) < page.elements.index(page.one("style"))


def _hash(content: str) -> str:
    digest = hashlib.sha256(content.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def test_embedded_data_cannot_end_their_element() -> None:
    """Metric names are in the data; neither `<` nor a line separator gets there unescaped."""
    name = "</script>\u2028<!--é"
    page = render(with_values({name: [1.0, 2.0]}))
    raw = page[page.index('id="data">') :].partition(">")[2].partition("</script>")[0]
    assert "<" not in raw
    assert raw.isascii()
    shown = name.replace("\u2028", r"\u2028")  # spelled out, as in all text of the page
    assert json.loads(raw)["series"][0]["name"] == shown


def test_numbers_that_json_lacks_are_named_apart() -> None:
    """NaN and infinities are null in the data, and the infinities are named by their index."""
    values = [1.0, float("nan"), float("-inf"), 123456.789, 1.7976931348623157e308]
    page = Document(render(with_values({"train_loss": values})))
    data = json.loads(page.one("script", id="data").text)
    (series,) = data["series"]
    assert series["y"] == [1, None, None, 123460, 1.7976931348623157e308]
    assert series["odd"] == {"2": "−Inf"}
    assert data["xs"][series["x"]] == {"by": [10, 10, 10, 10, 10]}


def test_script_and_style_stay_small() -> None:
    """The scripts have no dependency; that of a run's page is below 10 kB."""
    assert len(assets.script().encode()) < 10_000
    assert not re.search(
        r"\beval\(|innerHTML|document\.write|setAttribute\(.style", assets.script()
    )


def test_the_title_of_the_window_is_cut() -> None:
    """A name of 5,000 characters does not fill the head of the page."""
    page = Document(render(diagnosis(run_name="n" * 5000)))
    assert len(page.all("title")[0].text) <= 160
    assert len(page.one("bdi").text) <= 240
