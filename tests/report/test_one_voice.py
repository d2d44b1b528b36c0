"""A report tells one story: each number as logged, the same everywhere, each sentence once."""

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from runlens.diagnosis import Diagnosis, ThinCurve
from runlens.report import facts, markdown, text
from runlens.report.html import render
from runlens.report.html.charts.timeline import timeline
from runlens.report.html.words import short
from runlens.report.once import Once, Top
from runlens.report.terminal import Options
from runlens.report.values import value_of
from tests.report.markup import Document
from tests.report.seen import NAMES, seen

EACH = pytest.mark.parametrize("name", NAMES)
VALUE = r"(?P<value>[−-]?\d[\d,]*(?:\.\d+)?(?:e[−-]?\d+)?)"
AT_STEP = re.compile(VALUE + r" (?:at step|\(step) (?P<step>\d[\d,]*)")
# what a number that was not logged is called, before it or right behind it
CALLED = re.compile(r"median|mean\b|average|smoothed|limit|×|%|SIG")
SENTENCES = re.compile(r"(?<=[.?])\s+|; ")
TOLD = {"p", "h1", "h3", "li", "dd", "summary"}  # what sentences stand in; the rest are names
UNTOLD = {"svg", "script", "style", "head", "nav", "header", "footer", "pre"}
SHORTEST = 30  # characters of a sentence; less is a name
# a formula of a page, no sentence of this run: what a metric means, which file was read
ALIKE = ("First ", "constant at ", "step ")  # two findings may hold at the same steps


class Blocks(HTMLParser):
    """Gathers the visible texts of a page, each with the element it stands in."""

    def __init__(self, page: str) -> None:
        """Read a page."""
        super().__init__()
        self.made: list[tuple[str, str]] = []
        self._open: list[str] = []
        self._words = ""
        self.feed(page)

    def handle_starttag(self, tag: str, _attrs: list[tuple[str, str | None]]) -> None:
        """Close the text before a block."""
        if tag in {*TOLD, "td", "th", "dt", "figcaption", "caption", "div", "section"}:
            self._close()
        if tag not in {"meta", "br", "img", "input", "link"}:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Close the text of a block."""
        if tag in {*TOLD, "td", "th", "dt", "figcaption", "caption", "div", "section"}:
            self._close()
        self._open.pop()

    def handle_data(self, data: str) -> None:
        """Keep what is shown."""
        if not UNTOLD & set(self._open):
            self._words += data

    def _close(self) -> None:
        words = " ".join(self._words.split())
        if words:
            self.made.append((self._open[-1], words))
        self._words = ""


def texts(shown: Diagnosis) -> Iterator[str]:
    """Yield every text of the page, of the terminal, of Markdown and of the JSON contract."""
    yield from (words for _, words in Blocks(render(shown, static=True)).made)
    yield " ".join(text.render(shown, Options(120, verbose=True)).split())
    yield " ".join(markdown.render(shown).split())
    yield from strings(json.loads(json.dumps(shown.to_dict())))


def strings(value: object) -> Iterator[str]:
    """Yield the texts within a JSON document."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for one in value.values() if isinstance(value, dict) else value:
            yield from strings(one)


def number(words: str) -> float:
    """Return a number as the reports write it."""
    return float(words.replace(",", "").replace("−", "-"))


def rounds_to(words: str, value: float) -> bool:
    """Whether a value is written so, with as many digits as there are."""
    mantissa, _, power = words.replace("−", "-").partition("e")
    room = 0.5000001 * 10.0 ** (int(power or 0) - len(mantissa.partition(".")[2]))
    return math.isfinite(value) and abs(number(words) - value) <= max(room, 1e-9 * abs(value))


def logged(shown: Diagnosis, step: float) -> Iterator[float]:
    """Yield what was logged at a step."""
    for curve in shown.curves.values():
        yield from (v for s, v in zip(curve.step, curve.value, strict=True) if s == step)


def untrue(words: str, shown: Diagnosis) -> list[str]:
    """Return the claims ``VALUE at step N`` that no curve bears out."""
    found = []
    for match in AT_STEP.finditer(words):
        around = words[max(0, match.start() - 40) : match.end() + 30]
        values = list(logged(shown, number(match["step"])))
        if not CALLED.search(around) and not any(rounds_to(match["value"], v) for v in values):
            found.append(words[max(0, match.start() - 60) : match.end() + 40])
    return found


@EACH
def test_what_is_told_of_a_step_was_logged_there(name: str) -> None:
    """In whatever report; a median, a mean or a limit is called so."""
    shown = seen(name)
    assert [claim for words in texts(shown) for claim in untrue(words, shown)] == []


def test_a_claim_that_the_curves_do_not_bear_out_is_noticed() -> None:
    """So that the test above can fail."""
    shown = seen("nan-loss")
    assert untrue("the loss was 5.260 at step 68", shown) == []
    assert untrue("the loss was 5.300 at step 68", shown) != []
    assert untrue("the loss was 5.300 (median) at step 68", shown) == []


@EACH
def test_tiles_lines_and_terminal_end_in_the_same_value(name: str) -> None:
    """The last value of a curve is the last that was logged, under whatever name it stands."""
    shown = seen(name)
    page = render(shown)
    figure = timeline(shown)
    for line in [line for panel in figure.panels for line in panel.lines] if figure else []:
        last = [value for value in line.curve.value if math.isfinite(value)][-1:]
        if last and math.isfinite(line.curve.value[-1]):
            assert f">{short(line.metric)} {value_of(line.metric, last[0])}<" in page
    hidden = [one.onset.step for one in shown.findings if one.rule == "hidden-nan"]
    for label, words, note in tiles(page):
        metric = {"train loss": "train_loss", "eval loss": "eval_loss", "reward": "reward"}
        kind, _, name_ = label.partition(" ")
        if kind in {"Best", "Last"} and name_ in metric:
            curve = shown.curves[metric[name_]]
            if kind == "Best" and name_ == "train loss" and hidden:  # 0.0 stands for a NaN there
                keep = sum(step < (hidden[0] or 0) for step in curve.step)
                curve = curve._replace(step=curve.step[:keep], value=curve.value[:keep])
            assert agrees(curve, kind, words, note, higher=name_ == "reward")


def tiles(page: str) -> Iterator[tuple[str, str, str]]:
    """Yield the key figures of a page: label, value, note."""
    made = Blocks(page).made
    for (tag, label), (_, words) in pairwise(made):
        if tag == "dt" and label.startswith(("Best ", "Last ")):
            value, _, note = words.partition(" ")
            yield label, value, note


def agrees(curve: ThinCurve, kind: str, words: str, note: str, *, higher: bool) -> bool:
    """Whether a key figure is the best or the last of its curve, at the step that it names."""
    finite = [p for p in zip(curve.step, curve.value, strict=True) if math.isfinite(p[1])]
    if kind == "Last" and not math.isfinite(curve.value[-1]):
        return words in {"NaN", "Inf", "−Inf"}
    step, value = (
        finite[-1]
        if kind == "Last"
        else (max if higher else min)(finite, key=lambda point: point[1])
    )
    return rounds_to(words, value) and note.startswith(f"step {step:,.0f}")


@EACH
def test_marks_and_evidence_stand_on_their_curves(name: str) -> None:
    """A labelled point with a number has that value there, unless it is called a median."""
    shown = seen(name)
    for finding in shown.findings:
        for mark in finding.chart.marks:
            if any(map(str.isdigit, mark.text)) and not CALLED.search(mark.text):
                assert mark.value in list(logged(shown, mark.step)), mark
        for item in finding.evidence:
            curve = shown.curves.get(item.where)
            if curve and item.step in curve.step and item.limit is None and not item.unit:
                named = CALLED.search(item.what) or not item.what.startswith(("Eval", "Best", "La"))
                assert named or item.value in list(logged(shown, item.step)), item


@EACH
def test_the_onset_is_the_same_everywhere(name: str) -> None:
    """In the sentence, under When, in the chart, in JSON."""
    shown = seen(name)
    faults = facts.loud(shown)
    onset = faults[0].findings[0].onset.step if faults else None
    if onset is None:
        return
    when = dict(Top.of(shown).facts)["When"]
    assert when.startswith(f"Step {onset:,.0f}")
    assert shown.to_dict()["findings"][0]["onset"]["step"] == onset
    named = re.search(r"(?:from|at) step ([\d,]+)", shown.verdict.sentence)
    assert named is None or abs(number(named[1]) - onset) <= 0.05 * max(shown.last_step, 20)


@EACH
def test_a_sentence_is_told_once(name: str) -> None:
    """On the page of a run; names, table cells and what a metric means may come again."""
    page = render(seen(name), static=True)
    sentences = [
        sentence.rstrip(".:;")
        for tag, words in Blocks(page).made
        if tag in TOLD
        for sentence in SENTENCES.split(words)
        if len(sentence) >= SHORTEST and not sentence.startswith(ALIKE)
    ]
    assert [one for one, times in Counter(sentences).items() if times > 1] == []


def test_a_clause_that_was_told_is_left_out() -> None:
    """The rest of its sentence stays; capitals and stops do not matter."""
    once = Once()
    assert once.new("Loss rose; the norm rose.") == "Loss rose; the norm rose."
    assert once.new("loss rose") == ""
    assert once.new("Loss rose; the rate was 0.1") == "The rate was 0.1."
    assert once.new("") == ""


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        ("Its peak of 2e-3 is 3.9 × the usual maximum.", ""),
        ("The highest logged rate is 2e-3.", ""),
        ("The gradient norm is exactly 0 on 60 of 60 points.", ""),
        ("The rate of 2e-3 was reached twice.", "The rate of 2e-3 was reached twice."),
        ("The reward of 2e-3 is the lowest.", "The reward of 2e-3 is the lowest."),  # of another
        ("The loss became NaN at step 60.", "The loss became NaN at step 60."),  # only says when
        ("You lose 60 steps.", "You lose 60 steps."),
        ("The peak rate is 2e-3. It ends at 5e-6.", "The peak rate is 2e-3. It ends at 5e-6."),
        ("The loss ended at 5.1. The peak rate is 2e-3.", "The loss ended at 5.1."),
    ],
)
def test_a_fact_is_told_once_in_whatever_words(words: str, kept: str) -> None:
    """A number stands for a fact beside the metric it was told of; a sentence keeps its subject."""
    once = Once()
    once.tell("The peak rate is 2e-3, 3.9 × the usual maximum. Loss rose at step 60.")
    once.tell("The gradient norm was 0 at 60 of 60 points. The reward is lost.")
    assert once.new(words) == kept


def test_the_page_of_a_usual_fault_names_what_it_cost() -> None:
    """What was lost, how sure, and what it is not, beside the curve."""
    top = Document(render(seen("hockey-stick"))).one("section", class_="verdict").text
    assert "Lost 180 of 270 steps" in top
    assert "Certainty finding ●●●●●" in top
