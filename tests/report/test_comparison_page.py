"""The page of a comparison: order, what it says of each part, size, the same bytes again."""

import json
import math
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runlens.comparison import DiagnosisDiff, Measure, Pair, Parting
from runlens.diagnosis import ThinCurve
from runlens.report.compared import (
    best,
    ranked,
    worst,
)
from runlens.report.html.charts.points import fewer, medians
from runlens.report.html.comparison import render
from tests.report.comparisons import (
    CHECKS,
    SETTINGS,
    SHAPES,
    comparison,
    forbidden,
    heavy,
    of_hostile,
    of_hostile_many,
    pair,
    sweep,
    two,
)
from tests.report.diagnoses import HOSTILE, curve, diagnosis, overfitting
from tests.report.markup import Document, lines, svg

MINUS = "\u2212"
ORDER = ("verdict", "curves", "numbers", "settings", "part", "diagnosis", "fair", "problems")
MANY = ("verdict", "curves", "runs", "cells", "details", "problems", "provenance")


def places(page: str, sections: tuple[str, ...]) -> list[int]:
    """Return where the headings of sections stand in a page."""
    return [page.index(f'aria-labelledby="h-{name}"') for name in sections]


def rows(page: str, section: str) -> list[list[str]]:
    """Return the texts of the cells of a section's tables, row by row."""
    part = page[page.index(f'id="h-{section}"') :]
    part = part[: part.index("</section>")]
    found = re.findall(r"<tr\b[^>]*>(.*?)</tr>", part, re.DOTALL)
    return [
        [one.text for one in Document(row).elements if one.tag in {"th", "td"}] for row in found
    ]


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_is_a_sound_page(shape: str) -> None:
    """A page is balanced, has one h1, unique ids, and no reference that leads nowhere."""
    page = Document(render(SHAPES[shape]()))
    ids = [element.attributes["id"] for element in page.elements if "id" in element.attributes]
    named = [
        target
        for element in page.elements
        for name in ("aria-labelledby", "data-cross")
        for target in element.attributes.get(name, "").split()
    ]
    assert page.unbalanced == []
    assert page.comments == []
    assert len(page.all("h1")) == 1
    assert len(ids) == len(set(ids))
    assert set(named) <= set(ids)
    assert {link.attributes["href"].removeprefix("#") for link in page.all("a")} <= set(ids)
    for element in page.elements:
        assert not {"style", "src", "action"} & set(element.attributes)
        assert not any(name.startswith("on") for name in element.attributes)
    heads = [one for one in page.all("th") if one.attributes.get("scope") not in {"col", "row"}]
    assert heads == []


@pytest.mark.parametrize("shape", SHAPES)
def test_the_same_comparison_gives_the_same_bytes(shape: str) -> None:
    """No clock, no random name, no order by chance is in a page."""
    assert render(SHAPES[shape]()) == render(SHAPES[shape]())


@pytest.mark.parametrize("shape", SHAPES)
def test_pages_stay_small(shape: str) -> None:
    """Without the workbench a page is below 500 kB, with it below 900 kB."""
    assert len(render(SHAPES[shape](), static=True).encode()) < 500_000
    assert len(render(SHAPES[shape]()).encode()) < 900_000


@pytest.mark.parametrize("runs", [2, 3, 20])
def test_pages_of_5000_points_stay_small(runs: int) -> None:
    """Ten metrics of 5,000 points in 2, 3 and 20 runs keep the budget too."""
    whole = heavy(runs)
    assert len(render(whole, static=True).encode()) < 500_000
    assert len(render(whole).encode()) < 900_000


def test_static_leaves_the_workbench_out_and_nothing_else() -> None:
    """The charts are the same."""
    whole, static = render(two()), render(two(), static=True)
    assert 'id="bench"' in whole
    assert 'id="bench"' not in static
    assert re.findall("<svg.*?</svg>", whole) == re.findall("<svg.*?</svg>", static)


def test_the_workbench_holds_every_metric_of_every_run() -> None:
    """The deciding one first; curves that share an axis hold it once; NaN is null."""
    page = render(sweep(3))
    held = json.loads(re.findall(r'id="data">(.*?)</script>', page)[0])["bench"]
    names = [one["name"] for one in held["metrics"]]
    assert names[0] == "eval_loss"
    assert {"train_loss", "grad_norm", "learning_rate"} <= set(names)
    assert held["labels"] == ["A", "B", "C"]
    for one in held["metrics"]:
        for drawn in one["curves"]:
            assert len(held["xs"][drawn["x"]]) == len(drawn["y"])
    assert len(held["xs"]) < sum(len(one["curves"]) for one in held["metrics"])


def test_the_head_shows_how_both_runs_are() -> None:
    """A run that overfits is no quiet winner."""
    top = render(two())
    top = top[top.index('class="verdict"') : top.index('id="h-curves"')]
    assert "Warning" in top
    assert "Healthy" in top


def test_parts_come_in_the_order_of_need() -> None:
    """Verdict, curves, numbers, settings, partings, diagnosis, fairness, what was lost."""
    page = render(two())
    assert places(page, ORDER) == sorted(places(page, ORDER))


def test_what_forbids_a_comparison_stands_on_top() -> None:
    """The failed point is in the verdict, fairness comes second, losses carry no verdict."""
    page = render(forbidden())
    top = page[page.index('class="verdict"') : page.index('id="h-fair"')]
    assert "Tokenizer: gpt2 in A, llama in B" in top
    assert page.index('id="h-fair"') < page.index('id="h-numbers"')
    verdicts = {row[0]: row[-1] for row in rows(page, "numbers")[1:]}
    assert verdicts["Last eval loss decides the verdict"] == "no verdict: not comparable"
    assert verdicts["Tokens per second"] == "no noise known"


def test_numbers_stand_beside_their_noise_and_its_source() -> None:
    """Each row has both values, the difference with its interval, noise, source, verdict, limit."""
    page = render(two())
    found = rows(page, "numbers")
    assert "Noise: how far the repeats lie apart." in page
    assert found[0] == ["Measure", "A", "B", f"B {MINUS} A", "Noise", "Verdict"]
    assert found[1] == [
        "Last eval loss decides the verdict",
        "1.450",
        "1.200",
        f"{MINUS}0.250{MINUS}0.350 to {MINUS}0.150",
        "0.050",
        "B better, clear: 5 × the noise, limit 2",
    ]
    assert found[3][4:] == ["–", "no noise known"]
    assert found[4][-1] == "not known of A"


def test_the_three_likeliest_settings_are_shown_and_the_rest_is_folded() -> None:
    """Ranks 1 to 3 with their reason; rank 4 folded; paths and names folded below."""
    page = render(two())
    part = page[page.index('id="h-settings"') : page.index('id="h-part"')]
    shown, less, light = part.split("<details>")
    assert all(row.key in shown for row in SETTINGS[:3])
    assert "bears on overfitting" in shown
    assert "warmup_steps" in less
    assert "1 more setting differs" in less
    assert "output_dir" in light
    assert "4 settings differ" in shown


def test_that_no_setting_is_known_to_differ_is_said() -> None:
    """With settings that agree, and without any settings, in other words."""
    assert "2 settings of both runs agree" in render(two(settings=()))
    a, b = overfitting(), diagnosis(settings=())
    assert "B recorded no settings" in render(comparison(a, b, pairs=(pair(a, b, settings=()),)))


def test_the_curves_of_both_runs_share_a_panel_and_are_named_at_their_ends() -> None:
    """A blue, B orange, each with its last value as the table has it; the difference below."""
    chart = svg(render(two()), "cmpwt")
    words = {text.text: text.attributes.get("class") for text in chart.all("text")}
    assert words["A 1.450"] == "fa"
    assert words["B 1.200"] == "fb"
    assert words[f"B {MINUS} A {MINUS}0.250"] == "h"
    assert f"Eval loss, B {MINUS} A" in words
    assert len(chart.all("path", class_="band")) == 1
    assert lines(chart, "sa")
    assert lines(chart, "sb")


def test_where_the_runs_part_is_marked() -> None:
    """The clear step is labelled, and dotted lines stand at the first parting and at that step."""
    chart = svg(render(two()), "cmpwt")
    frame = chart.all("svg")[0].attributes
    left, right = float(frame["data-l"]), float(frame["data-r"])
    expected = [left + step / 1000 * (right - left) for step in (10, 700)]
    dotted = [one for one in chart.all("path") if "onset" in one.attributes.get("class", "")]
    drawn = [float(one.attributes["d"][1:].split(" ")[0]) for one in dotted]
    assert drawn == pytest.approx(expected, abs=0.1)
    assert any(text.text == "clear from step 700" for text in chart.all("text"))


@pytest.mark.parametrize(
    ("shape", "axis", "place_"),
    [("by tokens", "M tokens", "700 tokens"), ("by epoch", "epoch", "epoch 700")],
)
def test_another_axis_is_named_everywhere(shape: str, axis: str, place_: str) -> None:
    """The axis of the chart, the data of the script and the partings use its unit."""
    page = render(SHAPES[shape]())
    assert json.loads(Document(page).one("script", id="data").text)["axis"] == axis
    assert any(text.text == axis for text in svg(page, "cmpwt").all("text"))
    assert place_ in page


def test_partings_tell_the_first_mover() -> None:
    """The sentence about the first mover stands above the table of metrics."""
    page = render(two())
    found = rows(page, "part")
    assert "The learning rate differs first: a setting of the schedule differs." in page
    assert found[2][:4] == ["eval_loss", "step 600", "step 700", "lower"]
    assert found[3][2] == "never"


def test_many_partings_are_folded() -> None:
    """Eight metrics are shown, the others folded."""
    some = tuple(Parting(f"metric_{number}", 10.0) for number in range(11))
    page = render(two(partings=some))
    assert "3 more metrics" in page
    assert "metric_10" in page


def test_the_diagnoses_are_told_apart() -> None:
    """What is fixed, what is new, what both have with its change, what could not be judged."""
    page = render(two())
    part = page[page.index('id="h-diagnosis"') : page.index('id="h-fair"')]
    fixed, rest = part.split("New in B")
    new, both = rest.split("In both")
    assert "Overfitting from step 500" in fixed
    assert "None." in new
    assert "Info in A, warning in B" in both
    assert "200 steps later in B" in both
    assert "plateau, found in A: B could not be judged, eval_loss is not logged" in both


def test_without_findings_each_column_says_none() -> None:
    """An empty diagnosis diff is said, not left out."""
    page = render(two(diff=DiagnosisDiff()))
    part = page[page.index('id="h-diagnosis"') : page.index('id="h-fair"')]
    assert part.count("None.") == 3


def test_points_that_differ_come_before_what_is_not_known() -> None:
    """Fails first, then not known, then what agrees."""
    page = render(two())
    part = page[page.index('id="h-fair"') : page.index('id="h-problems"')]
    order = [part.index(check.why) for check in (CHECKS[2], CHECKS[1], CHECKS[0])]
    assert order == sorted(order)
    assert "3 points: 1 differ, 1 not known, 1 agree." in part


def test_many_runs_come_best_first() -> None:
    """Better, within noise, worse, then what cannot be compared; each with its difference."""
    whole = sweep()
    results = [whole.pairs[index].verdict.result for index in ranked(whole)]
    order = ["better", "cannot_tell", "worse", "not_comparable"]
    assert results == sorted(results, key=order.index)
    found = rows(render(whole), "runs")
    assert found[1][:2] == ["A lr-1e-4", "baseline"]
    assert len(found) == 21
    assert found[-1][0] == "H lr-8e-4"
    assert found[-1][3] == "–"
    assert found[2][4] == "learning_rate 0.0001 to 0.0004"


def test_parts_of_many_runs_come_in_order() -> None:
    """Verdict, table, curves, each run, details, what was lost, where it comes from."""
    page = render(sweep())
    assert places(page, MANY) == sorted(places(page, MANY))
    assert page.count('<details class="noprint">') == 19


def test_only_a_clear_best_and_a_clear_worst_are_emphasised() -> None:
    """A run within noise is not called the best; all others are grey and named by letter."""
    whole = sweep()
    chart = svg(render(whole), "cmpwt")
    words = [text.text for text in chart.all("text")]
    assert best(whole) is None
    assert worst(whole) == ord("R") - ord("B")
    assert "A baseline" in words
    assert "R worst" in words
    assert not any(word.endswith("best") for word in words)
    assert {"C", "H", "T"} <= set(words)
    assert len(chart.all("path", class_="so")) == 18


def test_seeds_give_a_band_around_the_baseline() -> None:
    """With seeds the grey band is drawn around A, without them it is not."""
    with_seeds = svg(render(sweep(seeds=("s1", "s2"))), "cmpwt")
    assert len(with_seeds.all("path", class_="band")) == 1
    assert svg(render(sweep()), "cmpwt").all("path", class_="band") == []


def test_all_runs_are_read_at_one_step_by_letter() -> None:
    """The data of the script hold each run once, in the order of the letters."""
    data = json.loads(Document(render(sweep())).one("script", id="data").text)
    assert [one["name"] for one in data["series"]] == list("ABCDEFGHIJKLMNOPQRST")


def test_cells_share_one_scale() -> None:
    """The line of A has the same place in every cell."""
    page = render(sweep(5))
    drawn = [lines(svg(page, f"c{index}t"), "sa")[0] for index in range(4)]
    assert all(one == drawn[0] for one in drawn)


@pytest.mark.parametrize("words", HOSTILE)
@pytest.mark.parametrize("made", [of_hostile, of_hostile_many])
def test_hostile_words_make_no_markup(words: str, made) -> None:  # type: ignore[no-untyped-def] # noqa: ANN001
    """A page full of hostile strings has the very elements that harmless strings give."""
    bad = Document(render(made(words), static=True))
    good = Document(render(made(re.sub("[^/]", "w", words)), static=True))
    drawn = {"text", "rect", "path"}  # texts of other widths move and hide labels
    assert [e.tag for e in bad.elements if e.tag not in drawn] == [
        e.tag for e in good.elements if e.tag not in drawn
    ]
    assert bad.comments == []
    assert bad.unbalanced == []


def test_thinning_keeps_what_stands_out() -> None:
    """A spike, both ends and where values are no number stay; medians say where all are lost."""
    values = [1.0] * 3000
    values[1234], values[2000] = 9.0, math.nan
    thin = fewer(curve(values, every=1), 200)
    assert len(thin.step) <= 210
    assert 9.0 in thin.value
    assert 2001.0 in thin.step
    assert (thin.step[0], thin.step[-1]) == (1.0, 3000.0)
    lost = medians(curve([*([2.0] * 500), *([math.nan] * 500)], every=1), 10)
    assert lost.value[:5] == (2.0,) * 5
    assert all(math.isnan(value) for value in lost.value[5:])


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.floats(width=64), min_size=1, max_size=30),
    st.lists(st.floats(0, 1e12), min_size=1, max_size=30, unique=True),
    st.floats(width=64),
    st.sampled_from([2, 4]),
)
def test_any_numbers_are_drawn(
    values: list[float], steps: list[float], other: float, runs: int
) -> None:
    """Whatever was logged: the page is written, in plain coordinates."""
    size = min(len(values), len(steps))
    drawn = ThinCurve(tuple(sorted(steps)[:size]), tuple(values[:size]), size)
    one = Measure("train_loss", "Last train loss", values[0], other, other, abs(other), clear=True)
    many = [diagnosis(curves={"train_loss": drawn, "reward": drawn}) for _ in range(runs)]
    made: list[Pair] = [pair(many[0], run, measures=(one,), differences={}) for run in many[1:]]
    page = Document(render(comparison(*many, pairs=tuple(made)), static=True))
    assert page.unbalanced == []
    for element in page.elements:
        for name in ("d", "x", "y", "cx", "cy", "width", "height"):
            assert re.fullmatch(r"[-MmlLHVhvz0-9. ]*", element.attributes.get(name, "")), name
