"""What notebooks show: reports in a frame, charts as plotly figures."""

import gzip
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace

import nbformat
import numpy as np
import plotly.graph_objects as go
import plotly.io as pio
import pytest

import runlens
from runlens import views
from runlens.comparison import Comparison
from runlens.diagnosis import Diagnosis, ThinCurve
from runlens.errors import NothingToDraw
from runlens.history import History, columns
from runlens.report import views as drawers
from runlens.report.html import assets
from runlens.report.html.charts.model import INK_NAMES, INKS
from runlens.run import Run
from tests.report.comparisons import forbidden, heavy, of_hostile, real, sweep
from tests.report.diagnoses import HOSTILE, crowded, hostile, overfitting, unjudged, with_values
from tests.report.markup import Document
from tests.report.seen import FIXTURES, seen

LARGEST = 60_000
NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
SMALL = 150_000  # bytes of a committed notebook
FIGURES = 1_000  # bytes of a plotly figure, at least


def page_of(shown: Diagnosis | Comparison) -> str:
    """Return the page inside the frame."""
    source = Document(shown._repr_html_()).one("iframe").attributes["srcdoc"]
    assert source is not None
    return source


def gzipped(text: str) -> int:
    """Return its size as it travels."""
    return len(gzip.compress(text.encode()))


def noisy() -> Diagnosis:
    """Return a run with 48 long curves of noise, which pack badly."""
    losses = ("train_loss", "eval_loss", *(f"eval_loss:{name}" for name in "abcd"))
    names = (*losses, "grad_norm", "learning_rate", *(f"m{i}" for i in range(40)))
    rng = np.random.default_rng(7)
    return with_values({name: rng.lognormal(size=5000).tolist() for name in names})


@pytest.mark.parametrize("name", ["preference-collapse", "hidden-nan", "entropy-collapse"])
def test_the_largest_fixtures_are_shown_whole_and_small(name: str) -> None:
    """At most 60 kB gzipped, and no part is left out; these three have the longest reports."""
    shown = seen(name)._repr_html_()
    assert gzipped(shown) < LARGEST
    assert "Left out here" not in shown


@pytest.mark.parametrize("make", [noisy, heavy, crowded])
def test_the_budget_holds_for_any_run(make: Callable[[], Diagnosis | Comparison]) -> None:
    """Whatever has to go for it, the verdict stays."""
    shown = make()
    assert gzipped(shown._repr_html_()) <= LARGEST
    assert Document(page_of(shown)).one("h1").text


def test_other_metrics_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run with 48 long curves that is too large keeps its timeline and its checks."""
    monkeypatch.setattr(drawers, "LARGEST", 10 * LARGEST)
    whole = gzipped(noisy()._repr_html_())
    monkeypatch.setattr(drawers, "LARGEST", whole - 1)
    page = page_of(noisy())
    ids = {part.attributes.get("id") for part in Document(page).all("section")}
    assert {"timeline", "checks"} <= ids
    assert "so that the notebook stays small: metrics." in page


@pytest.mark.parametrize("make", [overfitting, unjudged, hostile, real, forbidden, sweep])
def test_no_script_travels_and_none_may_run(
    make: Callable[[], Diagnosis | Comparison],
) -> None:
    """No script element, no handler; a sandbox and a policy forbid them once more."""
    html = make()._repr_html_()
    frame = Document(html).one("iframe")
    assert frame.attributes["sandbox"] in {None, ""}
    page = Document(str(frame.attributes["srcdoc"]))
    assert page.all("script") == []
    handlers = {name for one in page.elements for name in one.attributes if name.startswith("on")}
    assert handlers == set()
    policy = str(page.one("meta", http_equiv="Content-Security-Policy").attributes["content"])
    assert "default-src 'none'" in policy
    assert "script-src" not in policy


@pytest.mark.parametrize("words", [*HOSTILE, "</iframe><script>alert(1)</script>", "' onload='x"])
def test_hostile_words_do_not_leave_the_frame(words: str) -> None:
    """The notebook gets one box with one frame, whatever the run is called."""
    for shown in (hostile(words), of_hostile(words)):
        outer = Document(shown._repr_html_())
        assert [one.tag for one in outer.elements] == ["div", "iframe"]
        assert sorted(outer.one("iframe").attributes) == ["sandbox", "srcdoc", "style", "title"]
        assert Document(page_of(shown)).unbalanced == []


def test_a_viewer_without_frames_is_left_with_the_verdict() -> None:
    """Some viewers strip frames and keep their text."""
    diagnosis = seen("hockey-stick")
    assert str(diagnosis.verdict) in re.sub(r"srcdoc='[^']*'", "", diagnosis._repr_html_())


def test_what_is_printed_is_one_line() -> None:
    """A run with a thousand points does not flood the cell, nor does a name break it."""
    assert repr(seen("hockey-stick")) == "<Diagnosis of hockey-stick: critical>"
    assert repr(real()).startswith("<Comparison of ")
    assert repr(runlens.read(FIXTURES / "crashed")).startswith("<Run crashed: pretrain, ")
    assert all(len(repr(hostile(words)).splitlines()) == 1 for words in HOSTILE)


def traces(figure: go.Figure) -> dict[str, go.Scatter]:
    """Return the traces of a figure by name."""
    return {trace.name: trace for trace in figure.data}


@pytest.mark.parametrize("name", ["hockey-stick", "nan-loss", "preference-collapse"])
def test_traces_of_the_timeline_are_the_curves(name: str) -> None:
    """Every point that the report has, not-a-numbers included, in the colour of the report."""
    diagnosis = seen(name)
    drawn = traces(diagnosis.figure("timeline"))
    shown = set(drawn) & set(diagnosis.curves)
    assert {"train_loss", "grad_norm", "learning_rate"} <= shown
    for metric in shown:
        np.testing.assert_array_equal(drawn[metric].x, diagnosis.curves[metric].step)
        np.testing.assert_array_equal(drawn[metric].y, diagnosis.curves[metric].value)
    assert drawn["train_loss"].line.color == INKS["t"]


def test_onsets_are_marked_in_the_colour_of_their_severity() -> None:
    """A line at the step of each leading finding, and a bar that names it."""
    diagnosis = seen("hockey-stick")
    figure = diagnosis.figure()
    lines = [shape for shape in figure.layout.shapes if shape.name == "onset"]
    leads = {incident.findings[0].onset.step for incident in diagnosis.incidents}
    assert {line.x0 for line in lines} == leads - {None}
    assert lines[0].line.color == assets.colours(dark=False)["crit"]
    assert any(str(note.text).startswith("Overfitting") for note in figure.layout.annotations)


def test_values_that_are_no_number_have_crosses() -> None:
    """At the top of the panel, where the curve has a gap."""
    diagnosis = seen("nan-loss")
    curve = diagnosis.curves["train_loss"]
    crosses = traces(diagnosis.figure())["train_loss, not finite"]
    bad = [x for x, y in zip(curve.step, curve.value, strict=True) if not np.isfinite(y)]
    assert list(crosses.x) == bad


def test_the_chart_of_a_finding_is_a_figure_too() -> None:
    """By the slug of its rule."""
    drawn = traces(seen("hockey-stick").figure("hockey-stick"))
    assert {"train_loss", "eval_loss"} <= set(drawn)


def test_dark_figures_have_the_dark_colours_of_the_page() -> None:
    """Asked for, or because plotly's default template is dark."""
    colours = assets.colours(dark=True)
    before = pio.templates.default
    pio.templates.default = "plotly_dark"
    try:
        assert overfitting().figure().layout.paper_bgcolor == colours["bg"]
    finally:
        pio.templates.default = before
    assert overfitting().figure(dark=True).layout.font.color == colours["ink"]
    assert overfitting().figure().layout.font.color == assets.colours(dark=False)["ink"]


def test_light_colours_are_those_that_charts_carry() -> None:
    """The style sheet and the drawings name the same colours."""
    light, dark = assets.colours(dark=False), assets.colours(dark=True)
    assert {ink: light[name] for ink, name in INK_NAMES.items() if ink != "so"} == {
        ink: colour for ink, colour in INKS.items() if ink != "so"
    }
    assert light.keys() == dark.keys()


def test_figures_of_a_comparison_hold_both_runs() -> None:
    """Two runs with all their metrics, or one metric of any number of runs."""
    comparison = runlens.compare(FIXTURES / "pairs/p01a", FIXTURES / "pairs/p04b")
    drawn = traces(comparison.figure())
    for label, curve in zip("AB", comparison.curves["train_loss"], strict=True):
        assert isinstance(curve, ThinCurve)
        np.testing.assert_array_equal(drawn[f"{label} train_loss"].x, curve.step)
        np.testing.assert_array_equal(drawn[f"{label} train_loss"].y, curve.value)
    assert "p01a" in comparison.figure().layout.title.text
    assert set(traces(comparison.figure("grad_norm"))) == {"A", "B"}
    assert set(traces(sweep(runs=5).figure("train_loss"))) == set("ABCDE")


def test_plot_draws_every_point_that_was_logged() -> None:
    """Losses share a panel; NaN stay what they are."""
    run = runlens.read(FIXTURES / "nan-loss")
    figure = run.plot("train_loss", "grad_norm")
    for metric in ("train_loss", "grad_norm"):
        np.testing.assert_array_equal(traces(figure)[metric].x, run.curve(metric).step)
        np.testing.assert_array_equal(traces(figure)[metric].y, run.curve(metric).value)
    two = runlens.read(FIXTURES / "hockey-stick").plot("train_loss", "eval_loss")
    assert {trace.yaxis for trace in two.data} == {"y"}


def test_a_long_metric_keeps_its_extremes() -> None:
    """Of 200,000 points at most 50,000 are drawn, the single spike among them."""
    value = np.sin(np.arange(200_000.0))
    value[123_456] = 99.0
    run = Run("x", "x", History({"m": columns(np.arange(200_000), value)}, ("s",)))
    drawn = traces(run.plot("m"))["m"]
    assert len(drawn.x) <= 50_002
    assert drawn.x[int(np.argmax(drawn.y))] == 123_456


@pytest.mark.parametrize("words", HOSTILE)
def test_names_in_figures_are_text(words: str) -> None:
    """Plotly reads some tags in texts; what a run wrote holds none."""
    run = Run("x", "x", History({words: columns([1, 2], [1.0, 2.0])}, ("s",)))
    for figure in (run.plot(words), hostile(words).figure(), of_hostile(words).figure()):
        assert "<" not in json.dumps(figure.to_plotly_json(), default=str)


def test_a_chart_that_does_not_exist_names_the_nearest() -> None:
    """One clear line."""
    diagnosis, run = seen("hockey-stick"), runlens.read(FIXTURES / "hockey-stick")
    with pytest.raises(NothingToDraw, match="no figure 'timelin'; did you mean 'timeline'"):
        diagnosis.figure("timelin")
    with pytest.raises(NothingToDraw, match="no metric 'trian_loss'; did you mean 'train_loss'"):
        run.plot("trian_loss")
    with pytest.raises(NothingToDraw, match=r"no figure 'curve'; did you mean 'curves'"):
        real().figure("curve")
    with pytest.raises(NothingToDraw, match="nothing was recorded"):
        with_values({}).figure()


def test_every_view_has_its_drawer() -> None:
    """The module that is looked up has a function for each name."""
    source = Path(views.__file__).read_text() + Path(runlens.run.__file__).read_text()
    assert drawers.__name__ == views.HOME
    assert {*re.findall(r'view\("(\w+)"\)', source)} == {"framed", "show", "figure", "plot"}
    for name in ("framed", "show", "figure", "plot"):
        assert callable(views.view(name))


def test_plotly_is_loaded_by_a_figure_alone() -> None:
    """The report in a notebook costs no plotly."""
    code = (
        "import sys, runlens; d = runlens.diagnose(sys.argv[1]); d._repr_html_();"
        "assert 'plotly' not in sys.modules; d.figure(); assert 'plotly' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code, str(FIXTURES / "hockey-stick")], check=True)


def test_show_opens_the_whole_page(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Outside a notebook, in a browser; the path is told where none opens."""
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for shown in (overfitting(), real()):
        shown.show()
        path = Path(capsys.readouterr().err.removeprefix("Report: ").strip())
        assert opened.pop() == path.as_uri()
        assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
        assert path.is_relative_to(tmp_path)


def test_show_displays_in_a_notebook(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where a kernel runs, no browser is opened."""
    kernel = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", ModuleType("IPython"))
    monkeypatch.setattr(sys.modules["IPython"], "get_ipython", lambda: kernel, raising=False)
    shell = SimpleNamespace(display=print)
    monkeypatch.setitem(sys.modules, "IPython.display", shell)
    overfitting().show()
    assert capsys.readouterr().out.startswith("<Diagnosis of ")


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_committed_notebooks_are_rendered_and_small(path: Path) -> None:
    """Every cell was run, none failed, and no script library travels along."""
    assert path.stat().st_size < SMALL
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == [*range(1, len(code) + 1)]
    outputs = [output for cell in code for output in cell.outputs]
    assert outputs
    assert {output.output_type for output in outputs} <= {
        "stream",
        "execute_result",
        "display_data",
    }
    assert "<script" not in json.dumps(outputs)


def test_the_tour_shows_a_report_and_figures() -> None:
    """What its reader sees without running it."""
    notebook = nbformat.read(NOTEBOOKS / "tour.ipynb", as_version=4)  # type: ignore[no-untyped-call]
    data = [out.get("data", {}) for cell in notebook.cells for out in cell.get("outputs", ())]
    figures = [
        one[kind] for one in data for kind in one if kind.startswith("application/vnd.plotly")
    ]
    assert sum("srcdoc=" in one.get("text/html", "") for one in data) == 1
    assert len([one for one in figures if len(json.dumps(one)) > FIGURES]) >= 3
