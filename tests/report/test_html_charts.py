"""Static charts: what is drawn where, and that nothing cited is ever thinned away."""

import math
from dataclasses import replace

import numpy as np
import pytest

from runlens.diagnosis import Chart, Evidence, Mark, Moment, SettingRow, ThinCurve
from runlens.report.html import render
from runlens.report.html.charts.finding import figure_for
from runlens.report.html.charts.points import path, thinned
from runlens.report.html.charts.scale import nice, scale_for
from runlens.report.html.charts.timeline import timeline
from runlens.run import Event, State
from tests.report.diagnoses import (
    INF,
    NAN,
    curve,
    diagnosis,
    finding,
    losses,
    overfitting,
    reinforcement,
    with_values,
)
from tests.report.markup import Document, lines, svg
from tests.report.seen import seen

Drawn = list[list[tuple[float, float]]]


def place(chart: Document, step: float) -> float:
    """Return the pixel of a step by the axis that the chart names for the crosshair."""
    named = chart.all("svg")[0].attributes
    left, right, start, end = (float(named[f"data-{key}"]) for key in "lraz")
    return left + (step - start) / (end - start) * (right - left)


def nearest(drawn: Drawn, x: float) -> float:
    """Return how far the nearest vertex is from a pixel."""
    return min(abs(at - x) for piece in drawn for at, _ in piece)


@pytest.mark.parametrize("title", ["tlwt", "tlnt"])
def test_cited_steps_and_spikes_survive_thinning(title: str) -> None:
    """Onset, mark and evidence steps are vertices of the line, and so is a single spike."""
    values = [2.0 + math.sin(i) * 0.01 for i in range(5000)]
    values[3210] = 9.0
    cited = (1111.0, 2222.0, 3333.0)
    fault = finding(
        metric="train_loss",
        onset=Moment(cited[0]),
        evidence=(Evidence("x", 1.0, step=cited[1]),),
        chart=Chart("curves", ("train_loss",), marks=(Mark(cited[2], 2.0),)),
    )
    page = render(
        diagnosis(
            curves={"train_loss": curve(values, every=1, start=0)},
            findings=(fault,),
            state=State(),
            last_step=4999,
        )
    )
    chart = svg(page, title)
    drawn = lines(chart, "t raw")
    for step in cited:
        assert nearest(drawn, place(chart, step)) < 0.06
    top = min((y, x) for piece in drawn for x, y in piece)
    assert abs(top[1] - place(chart, 3210)) < 0.06
    assert sum(len(piece) for piece in drawn) < 3000


def test_a_gap_of_nan_has_both_of_its_sides() -> None:
    """The line ends at the last number before the gap and begins at the first one after it."""
    values = [1.0 + i % 5 for i in range(4000)]
    values[1500:1510] = [NAN] * 10
    page = render(diagnosis(curves={"grad_norm": curve(values, every=1, start=0)}, state=State()))
    chart = svg(page, "tlwt")
    before, after = lines(chart, "gn")
    assert before[-1][0] == pytest.approx(place(chart, 1499), abs=0.06)
    assert after[0][0] == pytest.approx(place(chart, 1510), abs=0.06)


def test_values_that_are_no_number_are_crosses_or_a_bar() -> None:
    """Up to 20 are crosses at their steps; more are one bar that says from where."""
    few = svg(render(with_values({"train_loss": [1, 2, NAN, 1, INF, 2]})), "tlwt")
    many = svg(render(with_values({"train_loss": [1, 2, *[NAN] * 21]})), "tlwt")
    assert len(few.all("path", class_="nan")) == 2
    assert (
        few.all("path", class_="nan")[0].attributes["d"].startswith(f"M{place(few, 30) - 4:.1f} ")
    )
    assert not many.all("path", class_="nan")
    words = [one.text for one in many.all("text")]
    assert "NaN from 30" in words
    assert "train NaN" in words


@pytest.mark.parametrize("title", ["tlwt", "tlnt"])
def test_two_curves_that_are_no_number_have_a_row_each(title: str) -> None:
    """Bars, crosses and words of both can be read; with no room left the rest is counted."""
    both = {"train_loss": [1, *[NAN] * 30], "eval_loss": [1, *[NAN] * 25]}
    chart = svg(render(with_values(both)), title)
    bars = [one for one in chart.all("rect", class_="f-c") if one.attributes["height"] == "8"]
    tops = [float(one.attributes["y"]) for one in bars]
    assert tops[1] - tops[0] >= 24
    words = {one.text: float(one.attributes["y"]) for one in chart.all("text")}
    assert words["eval NaN from 20"] - words["train NaN from 20"] >= 24
    some = svg(render(with_values({**both, "eval_loss": [1, *[NAN] * 3]})), title)
    assert {"train NaN from 20", "eval NaN at 3 points"} <= {one.text for one in some.all("text")}
    marks = [one.attributes["d"] for one in some.all("path", class_="nan")]
    assert len(marks) == 3
    losses = {f"eval_loss:{i}": [1, *[NAN] * 30] for i in range(9)}
    many = with_values({"train_loss": [1, *[NAN] * 30], **losses})
    assert svg(render(many), title).all("text")


def test_the_path_of_a_long_curve_is_whole() -> None:
    """Texts of a run are cut where they are huge; the line of 1,500 points is not."""
    values = [1.0 + i % 7 for i in range(1500)]
    page = render(diagnosis(curves={"grad_norm": curve(values, every=1, start=0)}, state=State()))
    (drawn,) = lines(svg(page, "tlwt"), "gn")
    assert len(drawn) == 1500


@pytest.mark.parametrize(
    ("places", "data"),
    [
        ([(0, 5), (1, 5), (2, 5), (3, 5), (4, 6)], "M0 5l3 0 1 1"),
        ([(0, 5), (1, 5)], "M0 5l1 0"),
        ([(0, 5), (4, 5), (2, 5)], "M0 5l4 0-2 0"),
    ],
)
def test_a_level_line_is_its_ends(places: list[tuple[float, float]], data: str) -> None:
    """One that turns back is not level."""
    assert path(places) == data


def test_one_point_is_a_dot() -> None:
    """A curve of one value is seen, with its number."""
    chart = svg(render(with_values({"train_loss": [2.5]})), "tlwt")
    (dot,) = [one for one in chart.all("path") if one.attributes.get("class") == "dot-t"]
    assert str(dot.attributes["d"]).count("h0") == 1
    assert "train 2.500" in [one.text for one in chart.all("text")]


@pytest.mark.parametrize(
    ("metric", "values", "log"),
    [
        ("train_loss", [3.1, 0.1, 2, 2, 2, 2], True),
        ("train_loss", [2.9, 0.1, 2, 2, 2, 2], False),
        ("train_loss", [3.1, 0.0, 2, 2, 2, 2], False),
        ("grad_norm", [99.0, 1, 1, 1, 1, 1], False),
        ("grad_norm", [101.0, 1, 1, 1, 1, 1], True),
        ("learning_rate", [1e-7, 1e-3], False),
    ],
)
def test_axes_are_logarithmic_by_rule(metric: str, values: list[float], *, log: bool) -> None:
    """A loss above a ratio of 30, a norm above 100, where all values are positive; it is said."""
    chart = svg(render(with_values({metric: values}, state=State())), "tlwt")
    assert any(one.text.endswith("(log)") for one in chart.all("text")) == log


def test_a_high_start_leaves_the_panel_and_is_named() -> None:
    """A start that would flatten the rest is cut off, unless a finding points at it."""
    values = {"train_loss": [12.0, *[2 + 0.01 * (i % 3) for i in range(60)]]}
    cut_off = svg(render(with_values(values, state=State())), "tlwt")
    fault = finding(metric="train_loss", onset=Moment(10.0), chart=Chart())
    cited = svg(render(with_values(values, state=State(), findings=(fault,))), "tlwt")
    assert "↑ 12.00 at the start" in [one.text for one in cut_off.all("text")]
    assert not any("at the start" in one.text for one in cited.all("text"))


def test_the_axis_runs_to_the_planned_end() -> None:
    """An unfinished run is seen to stop, unless the plan is so long that nothing would be seen."""
    short = svg(render(diagnosis(state=State(planned_steps=2000))), "tlwt").all("svg")[0]
    far = render(diagnosis(state=State(planned_steps=1_000_000)))
    assert short.attributes["data-z"] == "2000"
    assert svg(far, "tlwt").all("svg")[0].attributes["data-z"] == "1300"
    assert "1,000,000 steps were planned; the axis ends earlier." in far


def titles(page: str) -> list[str]:
    """Return the titles of the panels of the timeline."""
    return [one.text for one in svg(page, "tlwt").all("text", class_="b")]


def test_panels_follow_the_task() -> None:
    """Reward, KL, entropy and length for RL; margin and accuracy for preferences."""
    extra = {"dpo_margin": curve([1, 2]), "dpo_acc": curve([0.5, 0.6])}
    assert titles(render(diagnosis())) == ["Loss", "Gradient norm", "Learning rate"]
    assert titles(render(reinforcement())) == [
        "Reward",
        "KL",
        "Entropy",
        "Completion length",
        "Gradient norm",
    ]
    assert titles(render(diagnosis(task="dpo", curves=losses() | extra)))[:3] == [
        "Loss",
        "Reward margin",
        "Pairs ranked right",
    ]
    assert titles(render(with_values({"d_loss": [1, 2], "g_loss": [2, 1]}))) == [
        "Discriminator loss",
        "Generator loss",
    ]


def test_a_finding_about_another_metric_gets_its_panel() -> None:
    """Cause and effect stand over one axis, also where the effect is throughput."""
    curves = losses() | {"throughput_tokens": curve([100, 90, 20])}
    fault = finding(metric="throughput_tokens", chart=Chart())
    page = render(diagnosis(curves=curves, findings=(fault,)))
    assert titles(page)[-1] == "Tokens per second"


def test_lanes_name_findings_and_count_the_rest() -> None:
    """At most four lanes; those of first movers come first; the others are counted."""
    faults = [finding(onset=Moment(100.0 * i)) for i in range(1, 8)]
    texts = [one.text for one in svg(render(diagnosis(findings=faults)), "tlwt").all("text")]
    assert [one for one in texts if one.startswith("Overfitting, from step")] == [
        f"Overfitting, from step {step}" for step in (100, 200, 300, 400)
    ]
    assert "+ 3 more findings, below" in texts


def test_events_and_the_clipping_limit_are_drawn() -> None:
    """Checkpoints, a resume, the last error and max_grad_norm have their signs."""
    events = (
        Event("checkpoint", 100),
        Event("resume", 400),
        Event("message", None, text="torch.OutOfMemoryError: CUDA", data={"last": True}),
        Event("message", 50, text="a warning"),
    )
    settings = (SettingRow("max_grad_norm", 1.0, "x"),)
    chart = svg(render(diagnosis(events=events, settings=settings)), "tlwt")
    texts = [one.text for one in chart.all("text")]
    assert len(chart.all("rect", class_="evf")) == 1
    assert len(chart.all("path", class_="ev")) == 1
    assert len(chart.all("path", class_="nan")) == 1
    assert {"resume", "OutOfMemoryError", "clip 1"} <= set(texts)


def chart_of(chart: Chart, **changes: object) -> Document:
    """Return the wide chart beside the verdict."""
    fault = replace(finding(chart=chart), **changes)  # type: ignore[arg-type]
    return svg(render(diagnosis(findings=(fault,))), "herowt")


def test_a_limit_is_drawn_and_its_excess_shaded() -> None:
    """The limit has its line and label; what lies beyond it is an area."""
    limited = chart_of(Chart("limit", ("grad_norm",), limit=0.8), metric="grad_norm")
    assert "limit 0.8" in [one.text for one in limited.all("text")]
    assert limited.one("path", class_="areag").attributes["d"]


def test_parting_curves_are_shaded_from_the_best_on() -> None:
    """The cost of overfitting is what lies above the marked minimum."""
    chart = chart_of(finding().chart)
    assert chart.one("path", class_="area").attributes["d"]
    assert "best 1.200" in [one.text for one in chart.all("text")]


def test_a_boundary_shows_the_median_on_both_sides() -> None:
    """Two dashed levels with their values, and the window in words."""
    chart = chart_of(Chart("boundary", ("train_loss",)), metric="train_loss")
    assert len(chart.all("path", class_="lim")) == 2


def test_a_zoom_shows_a_tenth_of_the_run_around_the_onset() -> None:
    """100 of 1,000 steps, 50 on each side, every point of them."""
    page = render(diagnosis(findings=(finding(chart=Chart("zoom", ("train_loss",))),)))
    assert "Steps 440 to 560." in page  # 12 points, 10 steps apart, need 120
    chart = svg(page, "herowt")
    assert sum(len(piece) for piece in lines(chart, "t")) == 13


def test_a_finding_without_its_curve_has_no_chart() -> None:
    """A metric that was not recorded leaves the evidence alone."""
    fault = finding(metric="gpu_mem", chart=Chart("limit", ("gpu_mem",), limit=1.0))
    assert "herowt" not in render(diagnosis(findings=(fault,)))


def test_thinned_curves_say_so() -> None:
    """A curve that reached the page with fewer points than were logged names both numbers."""
    thin = curve([2.0, 1.0, 1.5])._replace(points=120_000)
    assert "train_loss: 3 of 120,000 points" in render(diagnosis(curves={"train_loss": thin}))
    assert "of 3 points" not in render(with_values({"train_loss": [2.0, 1.0, 1.5]}))


def test_each_chart_exists_for_both_widths_and_says_itself_in_words() -> None:
    """Wide and phone drawing, each with role, title and description."""
    page = Document(render(overfitting()))
    charts = [one for one in page.all("svg") if "ch" in one.attributes.get("class", "").split()]
    wide = [one for one in charts if "w-only" in one.attributes["class"]]
    phone = [one for one in charts if "n-only" in one.attributes["class"]]
    assert len(wide) == len(phone) == 3
    assert all(one.attributes["display"] == "none" for one in phone)
    assert all(one.attributes["role"] == "img" for one in charts)
    said = page.one("desc", id="tlwd").text
    assert "eval_loss: first 1.400, last 1.450, lowest 1.200, highest 1.450." in said
    assert "Overfitting, from step 500." in said


def test_other_metrics_are_small_charts_as_many_as_have_room() -> None:
    """Those that findings name come first; what has no room is counted. About 1 kB each."""
    many = {f"m{i:02}": curve([1, 2]) for i in range(50)}
    page = Document(
        render(diagnosis(curves=losses() | many, findings=(finding(metric="m49", onset=Moment()),)))
    )
    small = [one.text for one in page.all("title") if one.attributes.get("id", "").startswith("m")]
    assert 15 <= len(small) <= 25
    assert small[0] == "m49"
    assert (
        f"{50 - len(small)} more metrics without a finding left out."
        in page.one("section", id="metrics").text
    )


def test_thinning_keeps_low_and_high_of_each_column() -> None:
    """Two points a column, both ends, and what is cited."""
    points = np.array([(i, i % 10) for i in range(1000)], dtype=np.float64)
    kept = thinned(points, 0.0, 100.0, 20, frozenset({555.0})).tolist()
    assert kept[0] == [0, 0]
    assert kept[1] == [9, 9]  # the first of equal ones
    assert kept[-1] == [999, 9]
    assert [555, 5] in kept
    assert len(kept) == 2 * 10 + 2
    assert len(thinned(points[:20], 0.0, 100.0, 20, frozenset())) == 20


def test_paths_are_short_and_exact_to_a_tenth() -> None:
    """Relative moves whose errors do not add up."""
    assert path([(10.04, 5.0), (10.08, 4.5), (11.0, 4.5)]) == "M10 5l.1-.5 .9 0"
    assert path([(1.0, 2.0)]) == "M1 2l.1 0"


@pytest.mark.parametrize(
    ("low", "high"), [(0, 1), (-3, 17), (1e15, 1e15 + 2), (5, 5), (0, 1e300), (0, INF), (0, 5e-324)]
)
def test_ticks_end_whatever_the_range(low: float, high: float) -> None:
    """Few ticks, in the range, also where a float can hardly be told from the next one."""
    made = nice(low, high, 4)
    assert 1 <= len(made) <= 12
    assert all(math.isfinite(tick) for tick in made)


def test_an_early_onset_is_drawn_on_a_curve_of_one_point() -> None:
    """An onset on the only step does not divide by zero."""
    only = ThinCurve((0.0,), (1.0,), 1)
    fault = finding(metric="train_loss", onset=Moment(0.0), chart=Chart("zoom", ("train_loss",)))
    page = render(
        diagnosis(curves={"train_loss": only}, last_step=0, findings=(fault,), state=State())
    )
    assert "herowt" in page


def test_a_rate_far_above_its_usual_level_is_drawn_in_powers() -> None:
    """On a linear axis a rate that leaps to 800 times its level shows the leap alone."""
    steps = tuple(float(step) for step in range(100))
    leaps = tuple(4e-4 if step < 70 else 4e-4 * 1.25 ** (step - 70) for step in steps)
    falls = tuple(4e-4 * (1 - step / 100) for step in steps)
    for values, log in ((leaps, True), (falls, False)):
        curves = losses() | {"learning_rate": ThinCurve(steps, values, 100)}
        texts = [one.text for one in svg(render(diagnosis(curves=curves)), "tlwt").all("text")]
        assert ("Learning rate (log)" in texts) is log
        assert ("Learning rate" in texts) is not log


def test_an_axis_of_two_powers_has_ticks_between_them() -> None:
    """Of a loss from 0.03 to 3 more than 0.1 and 1 can be read."""
    ticks = scale_for(0.03, 3.0, log=True, zero=False, top=0, bottom=216).ticks()
    assert [value for value, _ in ticks] == pytest.approx([0.05, 0.1, 0.2, 0.5, 1, 2])


def test_a_labelled_median_lies_on_the_curve_that_it_is_about() -> None:
    """Another curve that passes there by chance does not get it."""
    steps = (0.0, 10.0, 20.0)
    curves = {
        "reward": ThinCurve(steps, (0.5, 0.82, 0.2), 3),
        "entropy": ThinCurve(steps, (1.9, 0.8, 0.1), 3),
    }
    chart = Chart("curves", ("reward", "entropy"), marks=(Mark(10.0, 0.8, "best 0.8"),))
    fault = finding(metric="reward", onset=Moment(10.0), chart=chart)
    figure = figure_for(fault, diagnosis(curves=curves, last_step=20), "f")
    assert figure is not None
    assert [len(panel.marks) for panel in figure.panels] == [1, 0]


def test_marks_of_a_rate_that_leaves_its_plan_lie_in_its_lane() -> None:
    """And the onset of a steep rise on its own curve, though a rate passes near its level."""
    drawn = timeline(seen("nan-loss"))
    assert drawn is not None
    marks = {panel.title: [mark.text for mark in panel.marks] for panel in drawn.panels}
    assert marks == {"Loss": ["onset"], "Gradient norm": [], "Learning rate": ["went off schedule"]}
