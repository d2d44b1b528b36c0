"""The page in a real browser: quiet, offline, inert, usable by keyboard and on a phone."""

import os
from pathlib import Path

import pytest

from runlens.report.html import render
from tests.report.browser import Browser
from tests.report.diagnoses import SHAPES, hostile, overfitting, reinforcement
from tests.report.seen import NAMES, seen

pytestmark = pytest.mark.browser

FRAME = "document.querySelector('#tl-box').focus(), document.activeElement.id"
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """Return a page of an overfitting run on disk."""
    path = tmp_path / "run.html"
    path.write_text(render(overfitting()), encoding="utf-8")
    return path


@pytest.mark.parametrize("shape", SHAPES)
def test_pages_load_in_silence(shape: str, browser: Browser, tmp_path: Path) -> None:
    """No console message, no refused script or style, no request but the file itself."""
    path = tmp_path / "run.html"
    path.write_text(render(SHAPES[shape]()), encoding="utf-8")
    page = browser.open(path)
    assert page.complaints == []
    assert page.requests == [path.as_uri()]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("width", [390, 768])
def test_pages_never_scroll_sideways(
    shape: str, width: int, browser: Browser, tmp_path: Path
) -> None:
    """Everything fits a phone and a tablet; what is wide scrolls inside its own box."""
    path = tmp_path / "run.html"
    path.write_text(render(SHAPES[shape](), static=True), encoding="utf-8")
    page = browser.open(path, width)
    page.value("document.querySelectorAll('details').forEach(part => part.open = true)")
    assert page.value(OVERFLOW) == 0
    assert page.value("innerWidth") == width


def test_hostile_words_are_inert(browser: Browser, tmp_path: Path) -> None:
    """The document holds no image, no stranger's script and no handler; nothing ran."""
    path = tmp_path / "run.html"
    path.write_text(render(hostile()), encoding="utf-8")
    page = browser.open(path)
    assert (
        page.value("document.querySelectorAll('img, iframe, object, a[href^=javascript]').length")
        == 0
    )
    assert page.value("document.scripts.length") == 2
    assert page.value("document.styleSheets.length") == 1
    assert (
        page.value("[...document.querySelectorAll('*')].some(e => e.onerror || e.onmouseover)")
        is False
    )
    assert "</script><script>alert(1)</script>" in page.value(
        "document.querySelector('h1').textContent"
    )
    assert page.complaints == []


def test_the_policy_refuses_what_is_not_ours(browser: Browser, written: Path) -> None:
    """A script that is put into the page does not run."""
    page = browser.open(written)
    page.value(
        "(() => {const s = document.createElement('script'); s.textContent = 'window.ran = 1';"
        "document.body.append(s)})()"
    )
    assert page.value("window.ran") is None
    assert any("Content Security Policy" in one for one in page.complaints)


AXE = os.environ.get("RUNLENS_AXE", "")  # axe.min.js of npm's axe-core, as .ci/run sets it
VIOLATIONS = """axe.run(document, {resultTypes: ['violations']}).then(done =>
  done.violations.map(one => [one.id, one.nodes[0].html.slice(0, 200)]))"""


@pytest.mark.skipif(not AXE, reason="set RUNLENS_AXE to axe.min.js: npm install axe-core")
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_axe_finds_nothing(name: str, dark: bool, browser: Browser, tmp_path: Path) -> None:
    """Accessible by WCAG A, AA and best practice, folded parts opened, in light and in dark."""
    path = tmp_path / "run.html"
    path.write_text(render(seen(name)), encoding="utf-8")
    page = browser.open(path, dark=dark)
    page.value("document.querySelectorAll('details').forEach(part => part.open = true)")
    page.value(Path(AXE).read_text(encoding="utf-8") + ";1")
    assert page.value(VIOLATIONS) == []


ZOOMED = """[getComputedStyle(document.querySelector('#tl-box canvas')).display,
  getComputedStyle(document.querySelector('#tl-box svg.w-only')).display,
  [...document.querySelectorAll('#timeline button')].filter(one => !one.hidden).length]"""
AT = """(share => (box => [box.left + box.width * share, box.top + 120])(
  document.querySelector('#tl-box svg.w-only').getBoundingClientRect()))"""


def test_a_stretch_of_the_timeline_is_zoomed_by_dragging_and_left_by_escape(
    browser: Browser, tmp_path: Path
) -> None:
    """Nothing is loaded for it; the readout goes on, the keys + and - do the same."""
    path = tmp_path / "run.html"
    path.write_text(render(reinforcement()), encoding="utf-8")
    page = browser.open(path)
    assert page.value(ZOOMED) == ["none", "block", 0]
    page.value("document.querySelector('#timeline').scrollIntoView({behavior: 'instant'})")
    for kind, share in (("mousePressed", 0.3), ("mouseMoved", 0.4), ("mouseReleased", 0.5)):
        x, y = page.value(f"{AT}({share})")
        button = {"button": "left", "buttons": 1, "clickCount": 1}
        page.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **button)
    assert page.value(ZOOMED) == ["block", "none", 1]
    drawn = "document.querySelector('#tl-box canvas').toDataURL().length"
    assert page.value(drawn) > 5_000
    page.call("Input.dispatchKeyEvent", type="keyDown", key="ArrowLeft", code="ArrowLeft")
    assert page.value("document.getElementById('tl-read').textContent").startswith("step ")
    page.call("Input.dispatchKeyEvent", type="keyDown", key="Escape", code="Escape")
    assert page.value(ZOOMED) == ["none", "block", 0]
    page.call("Input.dispatchKeyEvent", type="keyDown", key="+", code="Equal")
    assert page.value(ZOOMED) == ["block", "none", 1]
    page.value("[...document.querySelectorAll('#timeline button')].pop().click()")
    assert page.value(ZOOMED) == ["none", "block", 0]
    assert page.complaints == []
    assert page.requests == [path.as_uri()]


def test_values_are_read_with_the_keyboard(browser: Browser, written: Path) -> None:
    """The timeline takes focus; arrows and End move, and the readout names every series."""
    page = browser.open(written)
    assert page.value(FRAME) == "tl-box"
    page.call("Input.dispatchKeyEvent", type="keyDown", key="End", code="End")
    last = page.value("document.getElementById('tl-read').textContent")
    page.call("Input.dispatchKeyEvent", type="keyDown", key="ArrowLeft", code="ArrowLeft")
    assert last.startswith("step 1,000train_loss 1.03")
    assert "eval_loss 1.45" in last
    assert page.value("document.getElementById('tl-read').textContent").startswith("step 990")


def test_the_values_at_the_cursor_stand_in_each_lane(browser: Browser, written: Path) -> None:
    """One text a lane, beside the line, in the whole chart as in a zoomed one."""
    page = browser.open(written)
    assert page.value(FRAME) == "tl-box"
    page.call("Input.dispatchKeyEvent", type="keyDown", key="End", code="End")
    shown = page.value(
        "[...document.querySelectorAll('#tl-box svg.w-only .xv')].map(one => one.textContent)"
    )
    lanes = page.value("JSON.parse(document.getElementById('data').textContent).panels.length")
    assert len(shown) == lanes
    assert shown[0].startswith("1.03")
    page.call("Input.dispatchKeyEvent", type="keyDown", key="+", code="Equal")
    assert page.complaints == []


def test_without_scripts_the_page_is_complete(browser: Browser, written: Path) -> None:
    """Verdict, advice, charts and tables stand there; buttons that would do nothing do not."""
    page = browser.open(written, scripts=False)
    visible = page.call("DOM.getDocument")["root"]["nodeId"]
    buttons = page.call("DOM.querySelectorAll", nodeId=visible, selector="button")["nodeIds"]
    charts = page.call("DOM.querySelectorAll", nodeId=visible, selector="svg.ch.w-only")["nodeIds"]
    assert all(not _drawn(page.call, node) for node in buttons)
    assert all(_drawn(page.call, node) for node in charts[:2])


def _drawn(call, node: int) -> bool:  # type: ignore[no-untyped-def]  # noqa: ANN001
    try:
        return bool(call("DOM.getBoxModel", nodeId=node)["model"]["width"])
    except AssertionError:
        return False  # no box: it is not displayed


@pytest.mark.parametrize(("width", "shown", "hidden"), [(390, "n", "w"), (1280, "w", "n")])
def test_one_drawing_of_each_chart_is_shown(
    width: int, shown: str, hidden: str, browser: Browser, written: Path
) -> None:
    """Phones see the narrow drawing, wide screens the wide one."""
    page = browser.open(written, width)
    box = "document.querySelector('#tl-box svg.{}-only').getBoundingClientRect().width"
    assert page.value(box.format(shown)) > 300
    assert page.value(box.format(hidden)) == 0
