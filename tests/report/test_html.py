"""The page as a whole: every shape of a diagnosis, its order, its size, the same bytes again."""

import re
import time
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runlens.diagnosis import Chart, Diagnosis, Mark, Moment, ThinCurve
from runlens.report.html import render
from runlens.rules.rule import SOURCES
from tests.report.diagnoses import SHAPES, crowded, curve, diagnosis, finding, losses, overfitting
from tests.report.markup import Document
from tests.report.seen import seen

ORDER = (
    'class="verdict"',
    'id="do-first"',
    'class="key"',
    'id="timeline"',
    'id="incidents"',
    'id="checks"',
    'id="metrics"',
    'id="settings"',
    'id="log"',
    'id="problems"',
    'id="provenance"',
)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_is_a_sound_page(shape: str) -> None:
    """A page is balanced, has one h1, unique ids, and no reference that leads nowhere."""
    page = Document(render(SHAPES[shape](), static=True))
    ids = [element.attributes["id"] for element in page.elements if "id" in element.attributes]
    named = [
        target
        for element in page.elements
        for name in ("aria-labelledby", "data-copy", "data-cross")
        for target in element.attributes.get(name, "").split()
    ]
    anchors = [at for link in page.all("a") if (at := link.attributes["href"])[0] == "#"]
    assert page.unbalanced == []
    assert page.comments == []
    assert len(page.all("h1")) == 1
    assert len(ids) == len(set(ids))
    assert set(named) <= set(ids)
    assert {anchor.removeprefix("#") for anchor in anchors} <= set(ids)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_same_diagnosis_gives_the_same_bytes(shape: str) -> None:
    """No clock, no random name, no order by chance is in a page."""
    assert render(SHAPES[shape]()) == render(SHAPES[shape]())


@pytest.mark.parametrize("shape", SHAPES)
def test_the_page_loads_nothing_and_styles_nothing_inline(shape: str) -> None:
    """No address of another file, no inline style, no handler as an attribute."""
    for element in Document(render(SHAPES[shape]())).elements:
        for name, value in element.attributes.items():
            assert name not in {"src", "style", "srcset", "action", "xlink:href"}
            assert not name.startswith("on")
            assert name != "href" or value.startswith(("#", SOURCES))


def test_a_finding_leads_to_the_page_of_its_rule() -> None:
    """To one of ours; a rule that a user added has none."""
    page = Document(render(seen("hockey-stick"), static=True))
    links = {link.attributes["href"] for link in page.all("a")}
    assert f"{SOURCES}/evaluation/hockey_stick.py" in links
    own = replace(seen("hockey-stick"), pages={})
    links = {link.attributes["href"] for link in Document(render(own, static=True)).all("a")}
    assert all(link.startswith("#") for link in links)


def test_parts_come_in_the_order_of_need() -> None:
    """Verdict, what to do, figures, timeline, incidents, checks, then the rest."""
    whole = replace(overfitting(), curves=losses() | {"tokens": curve([1, 2, 3])})
    page = render(whole, static=True)
    places = [page.index(part) for part in ORDER if part in page]
    assert places == sorted(places)
    assert [part for part in ORDER if part not in page] == ['id="problems"']


def test_a_healthy_page_has_neither_advice_nor_incidents() -> None:
    """A run without a finding keeps the order and says what was checked."""
    page = render(diagnosis())
    assert 'id="do-first"' not in page
    assert 'id="incidents"' not in page
    assert "ends 0.01 above its lowest; 0.50 would count" in page


@pytest.mark.parametrize("shape", SHAPES)
def test_pages_stay_small(shape: str) -> None:
    """Without script a page is below 500 kB, with it below 1 MB."""
    assert len(render(SHAPES[shape](), static=True).encode()) < 500_000
    assert len(render(SHAPES[shape]()).encode()) < 1_000_000


def test_a_crowded_page_stays_small() -> None:
    """60 metrics of 5,000 noisy points with 20 incidents keep the budget too."""
    whole = crowded()
    assert len(render(whole, static=True).encode()) < 500_000
    assert len(render(whole).encode()) < 1_000_000


def test_a_page_is_written_fast() -> None:
    """1,000 steps of 10 metrics take about 30 ms; ten times that would be noticed."""
    whole = replace(overfitting(), curves=_ten_metrics())
    render(whole)
    begin = time.process_time()
    render(whole)
    assert time.process_time() - begin < 0.3


def _ten_metrics() -> dict[str, ThinCurve]:
    extra = {f"metric_{i}": curve(range(1000), every=1) for i in range(6)}
    return losses(1000) | extra


def test_static_leaves_the_script_out_and_nothing_else() -> None:
    """The charts are the same; what would need the script is not there."""
    whole, static = render(overfitting()), render(overfitting(), static=True)
    assert whole.count("<script") == 2
    assert "<script" not in static
    assert re.findall("<svg.*?</svg>", whole) == re.findall("<svg.*?</svg>", static)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(width=64), min_size=1, max_size=40),
    st.lists(st.floats(0, 1e12), min_size=1, max_size=40, unique=True),
    st.sampled_from(["curves", "limit", "zoom", "boundary", "log", ""]),
    st.floats(0, 1e12),
    st.floats(width=64),
)
def test_any_numbers_are_drawn(
    values: list[float], steps: list[float], kind: str, onset: float, limit: float
) -> None:
    """Whatever was logged, wherever it was found: the page is written, in plain coordinates."""
    size = min(len(values), len(steps))
    drawn = ThinCurve(tuple(sorted(steps)[:size]), tuple(values[:size]), size)
    spec = Chart(kind, ("train_loss",), marks=(Mark(onset, limit, "here"),), limit=limit)  # type: ignore[arg-type]
    whole: Diagnosis = diagnosis(
        curves={"train_loss": drawn, "reward": drawn},
        findings=(finding(metric="train_loss", onset=Moment(onset), chart=spec),),
    )
    page = Document(render(whole, static=True))
    assert page.unbalanced == []
    for element in page.elements:
        for name in ("d", "x", "y", "cx", "cy", "width", "height"):
            assert re.fullmatch(r"[-MmlLHVhvz0-9. ]*", element.attributes.get(name, "")), name
